"""`kmem inbox`: what it prints, what it does, and how it ends."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from kmem_desktop.bootstrap import opened_services
from kmem_desktop.config import paths
from kmem_desktop.domain.changes import Origin, OriginKind
from kmem_desktop.domain.sessions.conversations import TurnDraft
from kmem_desktop.services.sessions.exchanges import SessionDraft
from tests.end_to_end.programs import Memory

ORIGIN = Origin(OriginKind.CLIENT, "Test")
EVIL = "\x1b]0;owned\x07"
CENTS = "We decided to store amounts as integer cents in the ledger table, never as floats."
FORMAT = "Always run `ruff format` before you commit anything in the billing repository."

pytestmark = pytest.mark.anyio


@pytest.fixture
def memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Memory]:
    """A fresh database; whatever serves it is ended."""
    monkeypatch.delenv("KMEM_DB", raising=False)
    memory = Memory(tmp_path / "kmem.db")
    yield memory
    memory.close()


async def fill(memory: Memory) -> None:
    async with opened_services(paths(str(memory.database))) as services:
        about = SessionDraft(title=f"Ledger{EVIL}", project="billing")
        turns = [TurnDraft("user", CENTS), TurnDraft("user", FORMAT)]
        await services.sessions.add_exchange(about, turns, ORIGIN)
        while await services.inbox.look_through(datetime.now(UTC) + timedelta(hours=1)):
            pass


async def test_what_waits_is_listed_and_decided(memory: Memory) -> None:
    assert memory.run("inbox").stdout == "Nothing waits for you.\n"
    await fill(memory)
    listed = memory.run("inbox")
    assert "We decided to store amounts as integer cents" in listed.stdout
    assert "decision, project:billing, 0." in listed.stdout
    assert EVIL not in listed.stdout
    assert listed.stdout == memory.run("inbox", "list").stdout
    numbers = [each["id"] for each in json.loads(memory.run("inbox", "--json").stdout)["proposals"]]
    accepted = memory.run("inbox", "accept", str(numbers[0]))
    assert accepted.returncode == 0
    assert accepted.stdout.startswith("Accepted: ")
    assert memory.run("inbox", "drop", str(numbers[1])).stdout.startswith("Dropped: ")
    assert memory.run("inbox").stdout == "Nothing waits for you.\n"
    assert memory.run("inbox", "undo").stdout.startswith("Waits again: ")
    knowledge = json.loads(memory.run("search", "--json", "amounts OR format").stdout)
    assert knowledge


async def test_what_cannot_be_done_says_why(memory: Memory) -> None:
    await fill(memory)
    merged = memory.run("inbox", "merge", "1")
    assert (merged.returncode, merged.stdout) == (1, "")
    assert "Nothing that is known is like this" in merged.stderr
    assert memory.run("inbox", "accept", "99").returncode == 1
    assert memory.run("inbox", "undo").returncode == 1
    assert "No conversation that rests is new" in memory.run("inbox", "look").stdout
