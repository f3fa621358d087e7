"""Space comes back, and nothing that was acknowledged is lost on the way."""

import asyncio
import random
import shutil
import signal
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

import apsw
import pytest

from kmem_desktop.domain.changes import Action, Noun, Origin, OriginKind
from kmem_desktop.domain.space import Space
from kmem_desktop.errors import StoreBusyError, StoreError
from kmem_desktop.store import documents, fulltext, history, history_packs, space
from kmem_desktop.store.connection import Connection, open_connection, translated_errors
from kmem_desktop.store.database import Database, transaction
from tests.store.databases import NOW, add, fresh, run_python

ORIGIN = Origin(OriginKind.WINDOW, "You")
WORDS = ("harbour", "meadow", "forest", "desert", "island", "valley", "tundra", "canyon")
KILLS = 6
TIMEOUT_S = 30


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "kmem.db"


@pytest.fixture
def connection(path: Path) -> Iterator[Connection]:
    with fresh(path) as opened:
        yield opened


def fill(connection: Connection, count: int) -> None:
    """Store texts, and delete nine of ten with a record of each."""
    chance = random.Random(1)
    ids = [
        add(connection, f"Text {n}", " ".join(chance.choices(WORDS, k=80))) for n in range(count)
    ]
    for number in ids:
        if number % 10:
            with transaction(connection):
                before = {"content": " ".join(chance.choices(WORDS, k=80))}
                record = history.Record(
                    Action.DELETED, Noun.KNOWLEDGE, f"uuid-{number}", number, f"T {number}", before
                )
                documents.delete(connection, [number])
                history.add(connection, record, ORIGIN, NOW)


def content(connection: Connection) -> tuple[Any, ...]:
    """Return everything that is remembered."""
    texts = connection.execute("SELECT id, title, body FROM documents ORDER BY id").fetchall()
    return texts, history.newest(connection, 10_000)


def test_free_pages_are_measured_and_given_back(connection: Connection, path: Path) -> None:
    fill(connection, 700)
    space.fold_log(connection)
    before, remembered = space.measure(connection, path), content(connection)
    assert before.spare_share > 0.2
    assert before.file_bytes == path.stat().st_size
    space.compact(connection)
    # The log holds the new file still.
    assert space.measure(connection, path).file_bytes > path.stat().st_size
    assert space.fold_log(connection)
    after = space.measure(connection, path)
    assert after.spare_bytes < before.spare_bytes / 2
    assert after.file_bytes == pytest.approx(before.file_bytes - before.spare_bytes, rel=0.4)
    assert content(connection) == remembered
    assert fulltext.is_sound(connection)
    assert connection.pragma("integrity_check") == "ok"


def test_a_large_file_is_compacted_by_way_of_the_disk(
    connection: Connection, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(space, "LARGEST_IN_MEMORY_BYTES", 0)
    fill(connection, 50)
    remembered = content(connection)
    space.compact(connection)
    assert space.fold_log(connection)
    assert content(connection) == remembered
    assert connection.pragma("temp_store") == 0


def test_the_index_is_merged_in_steps_and_finds_the_same(connection: Connection) -> None:
    for number in range(200):
        add(connection, f"Text {number}", f"about {WORDS[number % 8]} and more {number}")
    found = fulltext.matching(connection, '"harbour"', range(300))
    segments = "SELECT count(DISTINCT segid) FROM documents_index_idx"
    assert connection.execute(segments).get > 1
    steps = 1
    with transaction(connection):
        is_more = space.merge_index(connection, is_first=True)
    while is_more:
        steps += 1
        assert steps < 100
        with transaction(connection):
            is_more = space.merge_index(connection, is_first=False)
    assert connection.execute(segments).get == 1
    assert fulltext.matching(connection, '"harbour"', range(300)) == found
    assert fulltext.is_sound(connection)


def test_readers_go_on_while_the_file_is_written_anew(
    connection: Connection, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(space, "PATIENCE_MS", 1)
    fill(connection, 100)
    reader = open_connection(path, read_only=True)
    reader.execute("BEGIN")
    remembered = content(reader)
    space.compact(connection)
    assert content(reader) == remembered
    assert not space.fold_log(connection)
    reader.execute("COMMIT")
    assert space.fold_log(connection)
    assert content(reader) == remembered
    reader.close()


def test_another_process_that_writes_is_waited_for_and_then_named(
    connection: Connection, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(space, "PATIENCE_MS", 1)
    fill(connection, 20)
    other = open_connection(path)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(StoreBusyError), translated_errors():
        space.compact(connection)
    other.execute("COMMIT")
    other.close()
    space.compact(connection)


class _Usage(NamedTuple):
    total: int
    used: int
    free: int


def test_a_disk_without_room_is_refused_before_anything_is_done(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    free_bytes = 100_000_000
    monkeypatch.setattr(shutil, "disk_usage", lambda _: _Usage(10**12, 0, free_bytes))
    space.require_room(Space(90_000_000, 10_000_000), path)
    space.require_room(Space(900_000_000, 850_000_000), path)
    with pytest.raises(StoreError, match="116 MB must be free") as caught:
        space.require_room(Space(110_000_000, 10_000_000), path)
    assert "Nothing was changed" in caught.value.message


def test_the_last_run_is_remembered(connection: Connection) -> None:
    assert space.last_run(connection) is None
    for now in (NOW, datetime(2026, 6, 1, tzinfo=UTC)):
        space.note_run(connection, now)
        assert space.last_run(connection) == now


async def test_long_work_is_interrupted_when_the_database_closes(path: Path) -> None:
    endless = (
        "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n"
    )
    async with Database.opened(path) as database:
        begun = asyncio.Event()
        loop = asyncio.get_running_loop()

        def work(connection: Connection) -> None:
            loop.call_soon_threadsafe(begun.set)
            connection.execute(endless).fetchall()

        running = asyncio.ensure_future(database.alone(work))
        await begun.wait()
        async with asyncio.timeout(TIMEOUT_S):
            await database.close()
        with pytest.raises(StoreError, match="kmem is ending"):
            await running


async def test_a_write_that_comes_meanwhile_waits_and_is_kept(path: Path) -> None:
    async with Database.opened(path) as database:
        compacted = asyncio.ensure_future(database.alone(space.compact))
        document = documents.Document(Noun.KNOWLEDGE, "A title", "a body", "test")
        number = await database.write(lambda c: documents.insert(c, document, NOW))
        await compacted
        await database.alone(space.fold_log)
        count = "SELECT count(*) FROM documents WHERE id = ?"
        assert await database.read(lambda c: c.execute(count, (number,)).get) == 1


def test_history_that_can_be_packed_counts_as_spare(connection: Connection, path: Path) -> None:
    def change(count: int) -> None:
        record = history.Record(
            Action.UPDATED, Noun.KNOWLEDGE, "uuid", 1, "A title", {"content": "text " * 100}
        )
        with transaction(connection):
            for _ in range(count):
                history.add(connection, record, ORIGIN, NOW)

    change(history_packs.KEPT_OPEN + history_packs.PACK_COUNT)
    before = space.measure(connection, path).spare_bytes
    change(1_000)
    assert space.measure(connection, path).spare_bytes - before > 300_000


MAINTAINS = """
import sys
from pathlib import Path
from kmem_desktop.store import history_packs, space
from kmem_desktop.store.connection import open_connection
from kmem_desktop.store.database import transaction

connection = open_connection(Path(sys.argv[1]))
while True:
    print("round", flush=True)
    is_more = True
    while is_more:
        with transaction(connection):
            is_more = history_packs.freeze_some(connection, kept_open=10)
    with transaction(connection):
        space.merge_index(connection, is_first=True)
    space.compact(connection)
    space.fold_log(connection)
    for (first_id,) in connection.execute("SELECT first_id FROM history_packs").fetchall():
        with transaction(connection):
            history_packs.thaw(connection, first_id)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="kill -9 is a signal")
def test_killed_at_any_moment_it_leaves_everything_that_was_remembered(path: Path) -> None:
    chance = random.Random(3)
    with fresh(path) as connection:
        fill(connection, 700)
        remembered = content(connection)
    for _ in range(KILLS):
        process = run_python(MAINTAINS, path)
        assert process.stdout is not None
        for _ in range(chance.randint(1, 2)):
            assert process.stdout.readline() == "round\n"
        _let_it_work(path, chance)
        process.send_signal(signal.SIGKILL)
        process.communicate()
        assert process.returncode == -signal.SIGKILL
        connection = open_connection(path)
        assert connection.pragma("integrity_check") == "ok"
        assert content(connection) == remembered
        assert fulltext.is_sound(connection)
        assert history_packs.count_damaged(connection) == 0
        connection.close()


def _let_it_work(path: Path, chance: random.Random) -> None:
    """Read the file some times meanwhile: as good a measure of time as any, and a test of it."""
    reader = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)
    reader.set_busy_timeout(10_000)
    for _ in range(chance.randint(0, 60)):
        assert reader.execute("SELECT count(*) FROM documents").get == 70
    reader.close()
