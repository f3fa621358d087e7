"""How much of the processor a thread of the background may take from the others."""

import contextlib
import os
import sys
import threading

BACKGROUND_NICENESS = 10


def step_back() -> None:
    """Let the calling thread run only when others do not want to, for the rest of its life.

    Linux counts niceness by thread. Elsewhere it belongs to the whole process, and nothing is done.
    """
    if sys.platform == "linux":
        thread = threading.get_native_id()
        with contextlib.suppress(OSError):
            niceness = os.getpriority(os.PRIO_PROCESS, thread)
            os.setpriority(os.PRIO_PROCESS, thread, max(niceness, BACKGROUND_NICENESS))
