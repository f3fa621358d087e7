"""The local socket of Linux and macOS: a Unix socket on the event loop, for the owner alone.

Not `QLocalServer`: asyncio's own is faster, and `kmem serve` needs no Qt and none of the system
libraries that Qt wants. Windows has no Unix sockets in Python; see `named_pipe`.
"""

import asyncio
import contextlib
import logging
import os

from kmem_desktop.errors import StoreError
from kmem_desktop.server.connections import Connections
from kmem_desktop.server.lines import LONGEST_LINE_BYTES, MOST_UNSENT_BYTES

log = logging.getLogger(__name__)


class UnixSocketListener:
    """Accepts connections on a Unix socket."""

    def __init__(self, connections: Connections) -> None:
        """Hand what connects to `connections`."""
        self._connections = connections
        self._server: asyncio.Server | None = None
        self._address = ""

    async def listen(self, address: str) -> None:
        """Begin to accept connections. The caller holds the instance lock of this address.

        Raises:
            StoreError: The socket could not be made.
        """
        # Only a dead resident can have left this socket behind: a living one has the lock.
        self._address = address
        self._unlink()
        old_mask = os.umask(0o177)
        try:
            self._server = await asyncio.start_unix_server(
                self._on_connection, address, limit=LONGEST_LINE_BYTES
            )
        except OSError as error:
            raise StoreError(f"The socket {address} could not be made: {error}.") from error
        finally:
            os.umask(old_mask)

    def stop_listening(self) -> None:
        """Accept nothing more."""
        if self._server is not None:
            self._server.close()
            # The lock is still held: this cannot be the next resident's socket.
            self._unlink()

    def _unlink(self) -> None:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(self._address)  # noqa: PTH108 - a file name, gone in microseconds

    async def _on_connection(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        self._connections.accept(_UnixStream(reader, writer))


class _UnixStream:
    """A connected Unix socket as lines in and bytes out."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    async def line(self) -> bytes | None:
        try:
            return await self._reader.readline() or None
        except ValueError:
            log.warning("A client sent a line of more than %d bytes", LONGEST_LINE_BYTES)
            return None
        except ConnectionError:
            return None

    def write(self, data: bytes) -> None:
        if self._writer.is_closing():
            return
        with contextlib.suppress(ConnectionError):
            self._writer.write(data)
        if self._writer.transport.get_write_buffer_size() > MOST_UNSENT_BYTES:
            log.warning("A client does not read its answers; it is disconnected")
            self._writer.transport.abort()

    def close(self) -> None:
        with contextlib.suppress(ConnectionError):
            self._writer.close()
