"""The record of what left the computer."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

from kmem_desktop.domain.models import Purpose
from kmem_desktop.services.models.outgoing import OutgoingRecord
from kmem_desktop.store.database import Database

TIME = datetime(2026, 11, 22, 8, 30, 59, 999, tzinfo=UTC)
TEXT = "the secret of the zebra"


async def test_each_minute_host_and_purpose_has_one_line_that_grows(tmp_path: Path) -> None:
    now = TIME
    async with Database.opened(tmp_path / "kmem.db") as database:
        record = OutgoingRecord(database, now=lambda: now)
        for _ in range(3):
            await record.note("a.example", Purpose.CHAT, "openai", "m", [TEXT, "x"])
        await record.note("a.example", Purpose.EMBEDDINGS, "openai", "m", [TEXT])
        now += timedelta(minutes=1)
        await record.note("b.example", Purpose.CHAT, "mine", "n", [])
        newest, second, third = await record.newest()
        assert len(await record.newest(1)) == 1
    assert (newest.host, newest.characters, newest.tokens) == ("b.example", 0, 0)
    assert newest.minute == datetime(2026, 11, 22, 8, 31, tzinfo=UTC)
    assert (second.purpose, second.calls, second.characters) == (
        Purpose.CHAT, 3, 3 * (len(TEXT) + 1),
    )  # fmt: skip
    assert third.purpose is Purpose.EMBEDDINGS
    assert second.tokens > 0


async def test_the_text_itself_is_not_kept(tmp_path: Path) -> None:
    async with Database.opened(tmp_path / "kmem.db") as database:
        await OutgoingRecord(database).note("a.example", Purpose.CHAT, "openai", "m", [TEXT])
    assert not is_in_a_file(TEXT, tmp_path)


def is_in_a_file(text: str, folder: Path) -> bool:
    return any(text.encode() in path.read_bytes() for path in folder.iterdir())
