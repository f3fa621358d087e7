"""The two wires of the bridge on Windows: stdio to the client, a named pipe to the resident.

Windows has no call that waits for stdio and for a pipe at once, so every direction has a thread.
Whatever they see ends in one queue, which the bridge reads in its own thread.
"""

from __future__ import annotations

import os
import sys
import threading
from _queue import Empty, SimpleQueue

from kmem_desktop.bridge_wires import (
    CHUNK_BYTES,
    CLIENT,
    CLIENT_GONE,
    RESIDENT,
    TAKEN,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Protocol

    from kmem_desktop.bridge_wires import Event

    class Channel(Protocol):
        """A connection which one thread may read while another writes."""

        def read(self) -> bytes:
            """Wait for a chunk; it is empty when the other end has closed."""

        def write(self, data: bytes) -> None:
            """Write everything."""

        def close(self) -> None:
            """End the connection, and every read and write that waits."""


class Writer:
    """A thread which writes blocks in their order, so that nobody else waits for the reader."""

    def __init__(
        self,
        write: Callable[[bytes], object],
        on_taken: Callable[[], object],
        on_failure: Callable[[], object],
    ) -> None:
        self._write = write
        self._on_taken = on_taken
        self._on_failure = on_failure
        self._blocks: list[tuple[bytes, bool]] = []
        self._taken: list[bytes] = []
        self._has_ended = False
        self._change = threading.Condition()
        # Two counters, one for each thread, need no lock.
        self._put_bytes = 0
        self._written_bytes = 0
        threading.Thread(target=self._run, daemon=True).start()

    @property
    def waiting_bytes(self) -> int:
        """What has not been written yet."""
        return max(0, self._put_bytes - self._written_bytes)

    def put(self, block: bytes, *, is_reported: bool = False) -> None:
        """Add a block."""
        if block:
            self._put_bytes += len(block)
            with self._change:
                self._blocks.append((block, is_reported))
                self._change.notify()

    def report(self) -> bytes:
        """Return what the thread has begun to write since the last report."""
        with self._change:
            taken, self._taken = self._taken, []
        return b"".join(taken)

    def end(self) -> bytes:
        """End the thread, and return what was to be reported and has not been taken."""
        with self._change:
            untaken = b"".join(block for block, is_reported in self._blocks if is_reported)
            self._blocks.clear()
            self._has_ended = True
            self._change.notify()
        return untaken

    def _take(self) -> bytes:
        with self._change:
            while not self._blocks and not self._has_ended:
                self._change.wait()
            if self._has_ended:
                return b""
            block, is_reported = self._blocks.pop(0)
            if is_reported:
                self._taken.append(block)
        return block

    def _run(self) -> None:
        try:
            while block := self._take():
                self._write(block)
                self._written_bytes += len(block)
                self._on_taken()
        except OSError:
            self._written_bytes = sys.maxsize  # nothing waits any more
            self._on_failure()


class ThreadedWires:
    """Both wires, each direction in a thread of its own."""

    def __init__(
        self, dial: Callable[[], Channel | None], *, stdin: int = 0, stdout: int = 1
    ) -> None:
        self._dial = dial
        self._stdin = stdin
        self._stdout = stdout
        self._channel: Channel | None = None
        self._to_resident: Writer | None = None
        # An event of an earlier connection has an earlier number, and is passed over.
        self._number = 0
        self._events: SimpleQueue[tuple[int | None, Event]] = SimpleQueue()
        self._sent = b""
        self._to_client = Writer(self._write_to_client, self._on_taken, self._on_client_gone)
        self._may_hear_client = threading.Event()
        threading.Thread(target=self._read_client, daemon=True).start()

    @property
    def unsent(self) -> int:
        """Bytes which the resident has yet to take."""
        return self._to_resident.waiting_bytes if self._to_resident else 0

    @property
    def undelivered(self) -> int:
        """Bytes which the client has yet to take."""
        return self._to_client.waiting_bytes

    def connect(self) -> bool:
        """Connect to the resident; False when nobody listens."""
        channel = self._channel = self._dial()
        if channel is None:
            return False
        self._number += 1
        # The reading thread sees the end as well, and tells it after all that came before.
        self._to_resident = Writer(channel.write, self._on_taken, self._on_taken)
        arguments = (channel, self._number)
        threading.Thread(target=self._read_resident, args=arguments, daemon=True).start()
        return True

    def greet(self, lines: bytes) -> None:
        """Send lines of the bridge's own to the resident."""
        if self._to_resident is not None:
            self._to_resident.put(lines)

    def to_resident(self, lines: bytes) -> None:
        """Send whole lines of the client.

        They are out as soon as the thread takes them: while it writes, it cannot tell how far it
        has come.
        """
        if self._to_resident is not None:
            self._to_resident.put(lines, is_reported=True)

    def to_client(self, lines: bytes) -> None:
        """Send whole lines to the client."""
        self._to_client.put(lines)

    def finish(self) -> None:
        """Tell the resident that nothing more will be asked: a pipe has no half-closed state."""
        if self._channel is not None:
            self._channel.close()

    def take_sent(self) -> bytes:
        """Return the client's lines that are out since the last time it was asked."""
        sent, self._sent = self._sent, b""
        return sent + self._to_resident.report() if self._to_resident is not None else sent

    def hang_up(self) -> bytes:
        """Close the connection, and return the client's lines that are not out."""
        self._number += 1
        unsent = b""
        if self._channel is not None and self._to_resident is not None:
            self._channel.close()
            unsent = self._to_resident.end()
            self._sent = self.take_sent()
        self._channel = self._to_resident = None
        return unsent

    def wait(self, timeout_s: float | None, *, hear_client: bool) -> list[Event]:
        """Wait until something happens; no event means that the time is over."""
        if hear_client:
            self._may_hear_client.set()
        else:
            self._may_hear_client.clear()
        try:
            number, event = self._events.get(timeout=timeout_s)
        except Empty:
            return []
        return [event if number in (None, self._number) else (TAKEN, b"")]

    def close(self) -> None:
        """Leave the client's end as it was found: the threads end with the program."""

    def _read_client(self) -> None:
        chunk = b"start"
        while chunk:
            self._may_hear_client.wait()
            try:
                chunk = os.read(self._stdin, CHUNK_BYTES)
            except OSError:
                chunk = b""
            self._events.put((None, (CLIENT, chunk)))

    def _read_resident(self, channel: Channel, number: int) -> None:
        chunk = b"start"
        while chunk:
            try:
                chunk = channel.read()
            except OSError:
                chunk = b""
            self._events.put((number, (RESIDENT, chunk)))

    def _write_to_client(self, block: bytes) -> None:
        rest = memoryview(block)
        while rest:
            rest = rest[os.write(self._stdout, rest[:CHUNK_BYTES]) :]

    def _on_taken(self) -> None:
        self._events.put((None, (TAKEN, b"")))

    def _on_client_gone(self) -> None:
        self._events.put((None, (CLIENT_GONE, b"")))


if sys.platform == "win32":
    import _winapi

    ERROR_PIPE_BUSY = 231
    # A server that took the name before ours did must not act in the name of this user.
    SECURITY_SQOS_PRESENT = 0x00100000

    class Pipe:
        """A named pipe, opened for overlapped use: without it a read keeps a write waiting."""

        def __init__(self, handle: int) -> None:
            self._handle: int | None = handle
            self._reading: _winapi.Overlapped | None = None

        def read(self, timeout_ms: int = _winapi.INFINITE) -> bytes:
            """Wait for a chunk; it is empty when the other end has closed."""
            if self._handle is None:
                return b""
            reading, _ = _winapi.ReadFile(self._handle, CHUNK_BYTES, overlapped=True)
            self._reading = reading
            if _winapi.WaitForSingleObject(reading.event, timeout_ms) == _winapi.WAIT_TIMEOUT:
                reading.cancel()
                raise TimeoutError("the resident did not answer in time")
            reading.GetOverlappedResult(True)
            return reading.getbuffer() or b""

        def write(self, data: bytes) -> None:
            """Write everything."""
            rest = memoryview(data)
            while rest and self._handle is not None:
                writing, _ = _winapi.WriteFile(self._handle, bytes(rest[:CHUNK_BYTES]), True)
                rest = rest[writing.GetOverlappedResult(True)[0] :]

        def close(self) -> None:
            """End the connection, and every read that waits."""
            handle, self._handle = self._handle, None
            if handle is not None:
                if self._reading is not None:
                    self._reading.cancel()
                _winapi.CloseHandle(handle)

    def open_pipe(name: str) -> Pipe | None:
        """Open a named pipe; None when nobody listens.

        Raises:
            OSError: there is no permission to open it.
        """
        access = _winapi.GENERIC_READ | _winapi.GENERIC_WRITE
        flags = _winapi.FILE_FLAG_OVERLAPPED | SECURITY_SQOS_PRESENT
        try:
            handle = _winapi.CreateFile(
                rf"\\.\pipe\{name}", access, 0, 0, _winapi.OPEN_EXISTING, flags, 0
            )
        except FileNotFoundError:
            return None
        except OSError as error:
            if error.winerror == ERROR_PIPE_BUSY:  # between two clients, Qt opens the next end
                return None
            raise
        return Pipe(handle)

    def exchange(address: str, question: bytes, timeout_s: float) -> bytes:
        """Send a line and receive one; less than a line when there was none to receive.

        Raises:
            TimeoutError: somebody listens, but did not answer in time.
        """
        answer = b""
        pipe = open_pipe(address)
        if pipe is None:
            return answer
        try:
            pipe.write(question)
            while not answer.endswith(b"\n") and (chunk := pipe.read(int(timeout_s * 1000))):
                answer += chunk
        except TimeoutError:
            raise
        except OSError:
            return answer
        finally:
            pipe.close()
        return answer
