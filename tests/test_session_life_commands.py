"""`kmem sessions rename` and the like: what they print, and what they do."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from kmem_desktop.bootstrap import opened_services
from kmem_desktop.config import paths
from tests.end_to_end.programs import Memory
from tests.services.sessions.talks import talk


@pytest.fixture
def memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Memory]:
    """A fresh database; whatever serves it is ended."""
    monkeypatch.delenv("KMEM_DB", raising=False)
    memory = Memory(tmp_path / "kmem.db")
    yield memory
    memory.close()


async def test_a_session_is_named_tagged_pinned_and_archived(memory: Memory) -> None:
    async with opened_services(paths(str(memory.database))) as services:
        uuid = await talk(services)
    renamed = memory.run("sessions", "rename", uuid, "The \x1b[2Jshop")
    assert renamed.stdout == f"{uuid}  The \\x1b[2Jshop\n  active\n"
    memory.run("sessions", "tag", uuid, "orders", "cache")
    memory.run("sessions", "pin", uuid)
    archived = memory.run("sessions", "archive", uuid)
    assert archived.stdout.endswith("\n  archived, pinned, tags orders, cache\n")
    facts = json.loads(memory.run("sessions", "unarchive", uuid, "--json").stdout)
    assert (facts["state"], facts["is_pinned"]) == ("active", True)
    wrong = memory.run("sessions", "mark", uuid, "99")
    assert (wrong.returncode, wrong.stderr) == (1, "kmem: The session has no turn 99.\n")


async def test_a_session_is_deleted_restored_and_deleted_for_good(memory: Memory) -> None:
    async with opened_services(paths(str(memory.database))) as services:
        uuid = await talk(services)
    assert memory.run("sessions", "delete", uuid).stdout == "Deleted.\n"
    assert "There are no sessions." in memory.run("sessions").stdout
    listed = memory.run("sessions", "deleted").stdout
    assert uuid in listed
    assert "4 turns, deleted by You" in listed
    assert uuid in memory.run("sessions", "restore", uuid).stdout
    assert "PostgreSQL" in memory.run("sessions", "show", uuid).stdout
    assert memory.run("sessions", "delete", uuid, "--for-good").returncode == 0
    assert memory.run("sessions", "deleted").stdout == "No deleted session can be restored.\n"
    assert memory.run("sessions", "restore", uuid).returncode == 1
