import subprocess
import sys

import pytest

CODE = """
import ctypes, sys, threading
from kmem_desktop.platforms.allocator import share_heaps
if sys.argv[1] == "shared":
    share_heaps()
began = threading.Barrier(12)
def allocate():
    began.wait()
    kept = [bytes(1000) for _ in range(100)]
    began.wait()
threads = [threading.Thread(target=allocate) for _ in range(12)]
for thread in threads: thread.start()
for thread in threads: thread.join()
ctypes.CDLL(None).malloc_stats()
"""


def heaps(how: str) -> int:
    done = subprocess.run(
        [sys.executable, "-c", CODE, how], capture_output=True, text=True, check=True
    )
    return done.stderr.count("Arena ")


@pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason="the heaps of threads are glibc's, on Linux"
)
def test_all_threads_share_two_heaps():
    assert heaps("shared") <= 2 < heaps("as it was")
