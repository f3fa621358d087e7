"""The C library's heap: glibc gives each thread one of its own, which a resident pays for.

With two for all threads kmem's window takes 15 MB less, and is as fast: its threads wait far more
than they allocate.
"""

import ctypes
import sys

M_ARENA_MAX = -8  # malloc.h
ARENA_COUNT = 2


def share_heaps() -> None:
    """Let all threads share two heaps, where the C library is glibc."""
    if not sys.platform.startswith("linux"):
        return
    # musl has no such function, and needs none.
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        mallopt(M_ARENA_MAX, ARENA_COUNT)
