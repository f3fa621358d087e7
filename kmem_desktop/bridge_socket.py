"""The two wires of the bridge on POSIX: stdio to the client, a Unix socket to the resident.

Everything happens in one thread, and nothing blocks: whichever side does not read what it is sent
only fills an outbox here, while both sides are read on.
"""

from __future__ import annotations

import _socket
import os
import select

from kmem_desktop.bridge_wires import (
    CHUNK_BYTES,
    CLIENT,
    CLIENT_GONE,
    MAX_WAITING_BYTES,
    RESIDENT,
    TAKEN,
    Outbox,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kmem_desktop.bridge_wires import Event


class SocketWires:
    """Both wires, watched by one poll."""

    def __init__(self, address: str, *, stdin: int = 0, stdout: int = 1) -> None:
        self._address = address
        self._stdin = stdin
        self._stdout = stdout
        self._client_outbox = Outbox()
        self._greeting = Outbox()
        self._resident_outbox = Outbox()
        self._socket: _socket.socket | None = None
        self._takes = True
        self._is_client_gone = False
        self._sent: list[bytes] = []
        # A terminal is shared with the shell, which would stumble over this.
        self._is_unblocked = not os.isatty(stdout) and os.get_blocking(stdout)
        if self._is_unblocked:
            os.set_blocking(stdout, False)

    @property
    def unsent(self) -> int:
        """Bytes which the resident has yet to take."""
        return self._greeting.size + self._resident_outbox.size if self._takes else 0

    @property
    def undelivered(self) -> int:
        """Bytes which the client has yet to take."""
        return self._client_outbox.size

    def connect(self) -> bool:
        """Connect to the resident; False when nobody listens."""
        self._socket = connected_socket(self._address)
        self._takes = True
        return self._socket is not None

    def greet(self, lines: bytes) -> None:
        """Send lines of the bridge's own to the resident."""
        self._greeting.put(lines)
        self._flush_to_resident()

    def to_resident(self, lines: bytes) -> None:
        """Send whole lines of the client."""
        self._resident_outbox.put(lines)
        self._flush_to_resident()

    def to_client(self, lines: bytes) -> None:
        """Send whole lines to the client."""
        self._client_outbox.put(lines)
        self._flush_to_client()

    def finish(self) -> None:
        """Tell the resident that nothing more will be asked."""
        if self._socket is not None and self._takes:
            try:
                self._socket.shutdown(_socket.SHUT_WR)
            except OSError:
                self._takes = False

    def take_sent(self) -> bytes:
        """Return the client's lines that are out since the last time it was asked."""
        sent, self._sent = b"".join(self._sent), []
        return sent

    def hang_up(self) -> bytes:
        """Close the connection, and return the client's lines that are not out."""
        if self._socket is not None:
            self._socket.close()
            self._socket = None
        self._greeting.take_back()
        return self._resident_outbox.take_back()

    def wait(self, timeout_s: float | None, *, hear_client: bool) -> list[Event]:
        """Wait until something happens; no event means that the time is over."""
        if self._is_client_gone:
            return [(CLIENT_GONE, b"")]
        ready = dict(self._poll(hear_client=hear_client).poll(_milliseconds(timeout_s)))
        events = [(TAKEN, b"")] if ready else []
        self._flush_to_resident()
        self._flush_to_client()
        if self._socket is not None and self._socket.fileno() in ready:
            events += self._read_resident()
        if self._stdin in ready:
            events += self._read_client()
        if ready.get(self._stdout, 0) & ~select.POLLOUT:
            events.append((CLIENT_GONE, b""))
        return events

    def close(self) -> None:
        """Leave the client's end as it was found."""
        if self._is_unblocked:
            os.set_blocking(self._stdout, True)

    def _poll(self, *, hear_client: bool) -> select.poll:
        poll = select.poll()
        # With nothing to write this still tells when the client has closed its end.
        poll.register(self._stdout, select.POLLOUT if self._client_outbox.size else 0)
        if hear_client:
            poll.register(self._stdin, select.POLLIN)
        if self._socket is not None:
            mask = select.POLLOUT if self.unsent else 0
            if self._client_outbox.size < MAX_WAITING_BYTES:
                mask |= select.POLLIN
            if mask:  # a hang-up is always told, and would keep us busy until we can read
                poll.register(self._socket, mask)
        return poll

    def _read_client(self) -> list[Event]:
        try:
            return [(CLIENT, os.read(self._stdin, CHUNK_BYTES))]
        except BlockingIOError:
            return []
        except OSError:
            return [(CLIENT, b"")]

    def _read_resident(self) -> list[Event]:
        if self._socket is None or self._client_outbox.size >= MAX_WAITING_BYTES:
            return []
        try:
            return [(RESIDENT, self._socket.recv(CHUNK_BYTES))]
        except BlockingIOError:
            return []
        except OSError:
            return [(RESIDENT, b"")]

    def _flush_to_resident(self) -> None:
        if self._socket is None or not self._takes:
            return
        try:
            self._greeting.flush(self._socket.send, [])
            if not self._greeting.size:
                self._resident_outbox.flush(self._socket.send, self._sent)
        except OSError:
            # It may have said why before it closed: the end is declared by reading alone.
            self._takes = False

    def _flush_to_client(self) -> None:
        try:
            self._client_outbox.flush(self._write_to_client, [])
        except OSError:
            self._is_client_gone = True

    def _write_to_client(self, block: memoryview) -> int:
        return os.write(self._stdout, block)


def connected_socket(address: str) -> _socket.socket | None:
    """Connect to a Unix socket without blocking; None when nobody listens.

    Raises:
        OSError: there is something else, or no permission to connect.
    """
    connection = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
    try:
        connection.setblocking(False)
        connection.connect(address)
    except (FileNotFoundError, ConnectionRefusedError, BlockingIOError):
        connection.close()
        return None
    except BaseException:
        connection.close()
        raise
    return connection


def _milliseconds(timeout_s: float | None) -> int | None:
    return None if timeout_s is None else int(timeout_s * 1000 + 0.999)  # never a turn too early


def exchange(address: str, question: bytes, timeout_s: float) -> bytes:
    """Send a line and receive one; less than a line when there was none to receive.

    Raises:
        TimeoutError: somebody listens, but did not answer in time.
    """
    answer = b""
    connection = connected_socket(address)
    if connection is None:
        return answer
    try:
        connection.settimeout(timeout_s)
        connection.sendall(question)
        while not answer.endswith(b"\n") and (chunk := connection.recv(CHUNK_BYTES)):
            answer += chunk
    except (ConnectionResetError, BrokenPipeError):
        return answer
    finally:
        connection.close()
    return answer
