"""`kmem mcp --standalone`: one client served over standard input and output, in this process."""

import asyncio
import os
import sys
import threading
from collections.abc import AsyncIterator

from kmem_desktop.bootstrap import opened_services
from kmem_desktop.config import Paths
from kmem_desktop.server.lines import LONGEST_LINE_BYTES, LineSession
from kmem_desktop.server.tools.profiles import profile_names

QUEUED_LINES = 256


async def serve_standard_streams(paths: Paths, tools: str) -> None:
    """Serve until standard input ends.

    Raises:
        InvalidInputError: `tools` names an unknown profile.
        StoreError: The database cannot be opened.
    """
    profiles = profile_names(tools)
    wire = _claim_standard_output()
    lines = StandardInput()
    async with opened_services(paths) as services:
        session = LineSession(
            services, profiles, lines.lines(), lambda data: _write_all(wire, data)
        )
        await session.serve()


def _claim_standard_output() -> int:
    """Keep the client's stream for the protocol; what anything prints goes to standard error."""
    wire = os.dup(sys.stdout.fileno())
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    return wire


def _write_all(descriptor: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        try:
            view = view[os.write(descriptor, view) :]
        except BrokenPipeError:
            return


class StandardInput:
    """Lines of standard input, read by a thread, since not every system can wait on it."""

    def __init__(self) -> None:
        """Prepare to read; `lines` begins."""
        self._queue: asyncio.Queue[bytes | None] = asyncio.Queue()
        self._room = threading.Semaphore(QUEUED_LINES)

    async def lines(self) -> AsyncIterator[bytes]:
        """Yield each line until the input ends or a line is too long."""
        loop = asyncio.get_running_loop()
        thread = threading.Thread(target=self._read, args=(loop,), daemon=True)
        thread.start()
        while (line := await self._queue.get()) is not None:
            self._room.release()
            yield line

    def _read(self, loop: asyncio.AbstractEventLoop) -> None:
        stream = sys.stdin.buffer
        while line := stream.readline(LONGEST_LINE_BYTES + 1):
            if len(line) > LONGEST_LINE_BYTES:
                break
            self._room.acquire()
            loop.call_soon_threadsafe(self._queue.put_nowait, line)
        loop.call_soon_threadsafe(self._queue.put_nowait, None)
