"""What the bridge knows of its two wires, to the client and to the resident, on every system."""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Protocol

    Event = tuple[str, bytes]

    class Wires(Protocol):
        """What the bridge needs of an operating system; lines go in, chunks come out."""

        @property
        def unsent(self) -> int:
            """Bytes which the resident has yet to take."""

        @property
        def undelivered(self) -> int:
            """Bytes which the client has yet to take."""

        def connect(self) -> bool:
            """Connect to the resident; False when nobody listens."""

        def greet(self, lines: bytes) -> None:
            """Send lines of the bridge's own to the resident, which are never handed back."""

        def to_resident(self, lines: bytes) -> None:
            """Send whole lines of the client."""

        def take_sent(self) -> bytes:
            """Return the client's lines that are out since the last time it was asked."""

        def to_client(self, lines: bytes) -> None:
            """Send whole lines to the client."""

        def finish(self) -> None:
            """Tell the resident that nothing more will be asked."""

        def hang_up(self) -> bytes:
            """Close the connection, and return the client's lines that are not out."""

        def wait(self, timeout_s: float | None, *, hear_client: bool) -> list[Event]:
            """Wait until something happens; no event means that the time is over."""

        def close(self) -> None:
            """Leave the client's end as it was found."""


CLIENT = "the client sent a chunk, or ended when it is empty"
RESIDENT = "the resident sent a chunk, or ended when it is empty"
CLIENT_GONE = "the client reads no more"
TAKEN = "the client or the resident took something of what waits for it"

CHUNK_BYTES = 1 << 16
MAX_WAITING_BYTES = 8 << 20
"""One side is not read while as much as this waits for the other to read."""


class Lines:
    """Puts the chunks of a stream together to whole lines."""

    def __init__(self, max_bytes: int = sys.maxsize) -> None:
        self._tail = bytearray()
        self._max_bytes = max_bytes
        self._is_dropping = False

    def feed(self, chunk: bytes) -> tuple[bytes, bool]:
        """Take a chunk.

        Returns:
            The lines that it completes, and whether it made a line too long, which is dropped.
        """
        if self._is_dropping:
            _, end_of_line, chunk = chunk.partition(b"\n")
            self._is_dropping = not end_of_line
        end = chunk.rfind(b"\n") + 1
        lines = b""
        if end:
            lines = b"".join((self._tail, chunk[:end]))
            self._tail.clear()
        self._tail += chunk[end:]
        is_too_long = len(self._tail) > self._max_bytes
        if is_too_long:
            self._tail.clear()
            self._is_dropping = True
        return lines, is_too_long

    def end(self) -> bytes:
        """Return the last line where the stream ended without a line break."""
        last = bytes(self._tail)
        self._tail.clear()
        return last + b"\n" if last.strip() else b""


class Outbox:
    """Blocks of whole lines which wait until the other end takes them."""

    def __init__(self) -> None:
        self.size = 0
        self._blocks: list[bytes] = []
        self._offset = 0

    def put(self, lines: bytes) -> None:
        """Add whole lines."""
        if lines:
            self._blocks.append(lines)
            self.size += len(lines)

    def flush(self, write: Callable[[memoryview], int], done: list[bytes]) -> None:
        """Write as much as is taken, and add the lines which are out completely to `done`."""
        try:
            while self._blocks:
                self._offset += write(memoryview(self._blocks[0])[self._offset :])
                if self._offset == len(self._blocks[0]):
                    done.append(self._blocks.pop(0))
                    self._count_out(len(done[-1]))
        except BlockingIOError:
            pass
        finally:
            self._split_block(done)

    def take_back(self) -> bytes:
        """Empty the outbox: the lines which are not out, the half-written one in full."""
        waiting = b"".join(self._blocks)
        self._blocks, self._offset, self.size = [], 0, 0
        return waiting

    def _split_block(self, done: list[bytes]) -> None:
        """Take the written lines off a block: their answers may come before the block is out."""
        cut = self._blocks[0].rfind(b"\n", 0, self._offset) + 1 if self._blocks else 0
        if cut:
            done.append(self._blocks[0][:cut])
            self._blocks[0] = self._blocks[0][cut:]
            self._count_out(cut)

    def _count_out(self, count: int) -> None:
        self._offset -= count
        self.size -= count
