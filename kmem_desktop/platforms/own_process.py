"""Another process of kmem itself, which is told something and answers line by line."""

import contextlib
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

ENDED_IN_S = 5.0
BUFFER_BYTES = 1024 * 1024
_ROOT = Path(__file__).resolve().parents[2]


class OwnProcess:
    """A process that runs one of kmem's commands.

    Its methods block: they are called from a thread. `stop` may be called from any.
    """

    def __init__(self, command: str, told: bytes) -> None:
        """Start it.

        Args:
            command: The command of kmem.
            told: What it reads from its standard input.

        Raises:
            OSError: It cannot be started.
        """
        is_frozen = getattr(sys, "frozen", False)
        program = [sys.executable] if is_frozen else [sys.executable, "-m", "kmem_desktop"]
        flags = 0
        if sys.platform == "win32":
            flags = subprocess.CREATE_NO_WINDOW
        self._process = subprocess.Popen(  # noqa: S603 - our own program, no shell
            [*program, command],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            bufsize=BUFFER_BYTES,
            # -m looks into the working folder first, which may be any project.
            cwd=_ROOT,
            creationflags=flags,
        )
        self._told = told

    def lines(self) -> Iterator[bytes]:
        """Tell it what it is to know, and yield its lines until it ends."""
        told, answers = self._process.stdin, self._process.stdout
        if told is None or answers is None:
            return
        with contextlib.suppress(OSError), told:
            told.write(self._told)
        yield from answers

    def has_succeeded(self) -> bool:
        """Wait for its end, and return whether it did what it was to do."""
        try:
            return self._process.wait(ENDED_IN_S) == 0
        except subprocess.TimeoutExpired:
            return False

    def stop(self) -> None:
        """End it, whatever it is doing."""
        with contextlib.suppress(OSError):
            self._process.kill()

    def close(self) -> None:
        """End it, and let go of its streams."""
        self.stop()
        self._process.wait()
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                with contextlib.suppress(OSError):
                    stream.close()
