"""A lock that one process holds while it lives, and that the system frees when it dies."""

import os
import sys
from pathlib import Path

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl


class InstanceLock:
    """The right to be the one resident of a database."""

    def __init__(self, path: Path) -> None:
        """Name the lock file; it is made when the lock is taken."""
        self._path = path
        self._descriptor: int | None = None

    def acquire(self) -> bool:
        """Take the lock without waiting; return whether it is held now."""
        descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            if sys.platform == "win32":
                msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
            else:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(descriptor)
            return False
        self._descriptor = descriptor
        return True

    def release(self) -> None:
        """Give the lock up."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None
