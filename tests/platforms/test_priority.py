import os
import sys
import threading

import pytest

from kmem_desktop.platforms.priority import BACKGROUND_NICENESS, step_back


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux counts niceness by thread")
def test_only_the_thread_that_asks_steps_back() -> None:
    before = os.getpriority(os.PRIO_PROCESS, 0)
    seen: list[int] = []

    def work() -> None:
        step_back()
        seen.append(os.getpriority(os.PRIO_PROCESS, threading.get_native_id()))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert seen == [max(before, BACKGROUND_NICENESS)]
    assert os.getpriority(os.PRIO_PROCESS, 0) == before
