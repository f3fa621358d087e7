"""`kmem tests` and `kmem search --why-not`: what they print, and how they end."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from kmem_desktop.bootstrap import opened_services
from kmem_desktop.config import paths
from kmem_desktop.domain.changes import Origin, OriginKind
from kmem_desktop.domain.knowledge import KnowledgeDraft
from tests.end_to_end.programs import Memory

ORIGIN = Origin(OriginKind.CLIENT, "Test")
EVIL = "\x1b]0;owned\x07\x1b[2J"


@pytest.fixture
def memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Memory]:
    """A fresh database; whatever serves it is ended."""
    monkeypatch.delenv("KMEM_DB", raising=False)
    memory = Memory(tmp_path / "kmem.db")
    yield memory
    memory.close()


async def store(memory: Memory, title: str, content: str) -> str:
    async with opened_services(paths(str(memory.database))) as services:
        draft = KnowledgeDraft(title, content + " " + "It holds for all of them. " * 3, ("zoo",))
        return (await services.knowledge.store(draft, ORIGIN)).uuid


async def test_a_test_is_kept_listed_run_and_removed(memory: Memory) -> None:
    uuid = await store(memory, "Zebras are handled apart", "They are striped.")
    done = memory.run("tests", "add", "zebra stripes", uuid, "--within", "3")
    assert done.returncode == 0
    assert "   1  green  zebra stripes\n" in done.stdout
    assert "must find Zebras are handled apart: place 1, wanted among the first 3" in done.stdout
    assert memory.run("tests", "list").stdout == done.stdout
    assert memory.run("tests").stdout == done.stdout
    ran = memory.run("tests", "run")
    assert (ran.returncode, ran.stdout.splitlines()[-1]) == (0, "1 test: 1 green.")
    assert memory.run("tests", "remove", "1").stdout == "Removed: zebra stripes\n"
    assert "There are no tests." in memory.run("tests", "list").stdout


async def test_a_red_test_ends_the_run_with_one(memory: Memory) -> None:
    uuid = await store(memory, "Zebras are handled apart", "They are striped.")
    memory.run("tests", "add", "quarterly invoices of the bank", uuid)
    ran = memory.run("tests", "run", "--json")
    assert ran.returncode == 1
    value = json.loads(ran.stdout)
    assert (value["red"], value["tests"][0]["state"]) == (1, "red")
    assert memory.run("tests", "run", "1").returncode == 1


async def test_what_is_wrong_is_told_by_name(memory: Memory) -> None:
    uuid = await store(memory, "Zebras are handled apart", "They are striped.")
    for wrong, said in (
        (("add", "zebra", uuid, "--within", "99"), "within must be from 1 to 50 (it is 99)."),
        (("add", "x" * 2001, uuid), "question must be 1 to 2,000 characters"),
        (("add", "zebra", "nothing"), "There is no item nothing."),
        (("remove", "7"), "There is no test 7."),
        (("run", "7"), "There is no test 7."),
    ):
        done = memory.run("tests", *wrong)
        assert done.returncode == 1
        assert said in done.stderr


async def test_search_tells_why_not(memory: Memory) -> None:
    uuid = await store(memory, "Zebras are handled apart", "They are striped.")
    await store(memory, "Horses are handled together", "They have no stripes.")
    done = memory.run("search", "horses", "--limit", "1", "--why-not", uuid)
    assert done.returncode == 0
    assert "\nWhy not Zebras are handled apart?\n  " in done.stdout
    value = json.loads(memory.run("search", "horses", "--why-not", uuid, "--json").stdout)
    assert value["why_not"]["item"]["uuid"] == uuid
    assert value["why_not"]["sentence"]
    assert memory.run("search", "horses", "--why-not", "nothing").returncode == 1


async def test_a_question_cannot_steer_the_terminal(memory: Memory) -> None:
    uuid = await store(memory, "Zebras are handled apart", "They are striped.")
    memory.run("tests", "add", f"zebra {EVIL}", uuid)
    for command in (("tests",), ("tests", "run"), ("tests", "remove", "1")):
        assert "\x1b" not in memory.run(*command).stdout
