import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from kmem_desktop.platforms.instance_lock import InstanceLock

HOLD = """
import sys
from pathlib import Path
from kmem_desktop.platforms.instance_lock import InstanceLock

lock = InstanceLock(Path(sys.argv[1]))
print(lock.acquire(), flush=True)
sys.stdin.readline()
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "kmem.db.lock"


def start(path: Path) -> tuple["subprocess.Popen[str]", str]:
    """Start a process that wants the lock; return it and what it was told."""
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(path)],
        cwd=Path(__file__).parents[2],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    return process, process.stdout.readline().strip()


def test_one_holder_at_a_time(path: Path) -> None:
    first, second = InstanceLock(path), InstanceLock(path)
    assert first.acquire()
    assert not second.acquire()
    first.release()
    assert second.acquire()
    second.release()


def test_only_one_of_many_processes_holds_it(path: Path) -> None:
    started = [start(path) for _ in range(4)]
    assert sorted(told for _, told in started) == ["False", "False", "False", "True"]
    assert not InstanceLock(path).acquire()
    for process, _ in started:
        process.communicate("go\n", timeout=60)
    lock = InstanceLock(path)
    assert lock.acquire()
    lock.release()


def test_the_lock_of_a_killed_process_is_free(path: Path) -> None:
    process, told = start(path)
    assert told == "True"
    process.kill()
    process.communicate(timeout=60)
    lock = InstanceLock(path)
    assert lock.acquire()
    lock.release()


def test_what_is_not_held_can_be_released(path: Path) -> None:
    InstanceLock(path).release()


@pytest.mark.skipif(os.name != "posix", reason="Windows keeps rights otherwise")
def test_the_lock_file_is_private(path: Path) -> None:
    lock = InstanceLock(path)
    lock.acquire()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    lock.release()
