import subprocess
import sys
from pathlib import Path

import pytest

from kmem_desktop.config import paths
from kmem_desktop.errors import StoreError
from kmem_desktop.services.residence import Residence
from tests.store.databases import run_python

HOLD = """
import asyncio, sys
from kmem_desktop.config import paths
from kmem_desktop.services.residence import Residence

residence = Residence(paths(sys.argv[1]))
print(asyncio.run(residence.claim()), flush=True)
sys.stdin.readline()
"""


@pytest.fixture
def database(tmp_path: Path) -> str:
    return str(tmp_path / "kmem.db")


def start(database: str) -> tuple["subprocess.Popen[str]", str]:
    """Start a process that claims the place; return it and what it was told."""
    process = run_python(HOLD, database)
    assert process.stdout is not None
    return process, process.stdout.readline().strip()


def end(process: "subprocess.Popen[str]") -> None:
    """Let a process go, and wait for it."""
    process.communicate("go\n", timeout=60)


async def test_only_one_process_is_the_resident(database: str) -> None:
    first, told_first = start(database)
    second, told_second = start(database)
    assert (told_first, told_second) == ("True", "False")
    assert not await Residence(paths(database)).claim()
    end(second)
    end(first)
    mine = Residence(paths(database))
    assert await mine.claim()
    mine.release()


@pytest.mark.skipif(sys.platform == "win32", reason="SIGKILL")
async def test_a_killed_resident_gives_the_place_up(database: str) -> None:
    holder, told = start(database)
    assert told == "True"
    mine = Residence(paths(database))
    assert not await mine.claim()
    holder.kill()
    assert await mine.claim(patience_s=30)
    mine.release()
    end(holder)


async def test_each_database_has_a_place_of_its_own(tmp_path: Path) -> None:
    first = Residence(paths(str(tmp_path / "a.db")))
    second = Residence(paths(str(tmp_path / "b.db")))
    assert await first.claim()
    assert await second.claim()
    assert first.address != second.address
    first.release()
    second.release()


async def test_a_place_that_was_given_up_can_be_taken_again(database: str) -> None:
    first, second = Residence(paths(database)), Residence(paths(database))
    assert await first.claim()
    assert not await second.claim()
    first.release()
    assert await second.claim()
    second.release()
    second.release()


def test_nobody_answers_where_nobody_serves(database: str) -> None:
    assert Residence(paths(database)).ask("hello") is None


def test_a_folder_that_cannot_be_made_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(StoreError):
        Residence(paths(str(tmp_path / "file" / "kmem.db")))
