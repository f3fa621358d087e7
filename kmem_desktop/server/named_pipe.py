"""The local socket of Windows: a named pipe by `QLocalServer`, for the owner alone.

`QLocalServer` is a Unix socket elsewhere, which is how the tests reach this file.
"""

import asyncio
import logging

from PySide6.QtCore import QObject
from PySide6.QtNetwork import QLocalServer, QLocalSocket

from kmem_desktop.errors import StoreError
from kmem_desktop.server.connections import Connections
from kmem_desktop.server.lines import LONGEST_LINE_BYTES, MOST_UNSENT_BYTES

log = logging.getLogger(__name__)

_CONNECTED = QLocalSocket.LocalSocketState.ConnectedState


class NamedPipeListener(QObject):
    """Accepts connections on a named pipe; needs Qt's event loop."""

    def __init__(self, connections: Connections) -> None:
        """Hand what connects to `connections`."""
        super().__init__()
        self._connections = connections
        self._server = QLocalServer(self)
        self._server.setSocketOptions(QLocalServer.SocketOption.UserAccessOption)
        self._server.newConnection.connect(self._on_new_connection)

    async def listen(self, address: str) -> None:
        """Begin to accept connections. The caller holds the instance lock of this address.

        Raises:
            StoreError: The pipe could not be made.
        """
        QLocalServer.removeServer(address)
        if not self._server.listen(address):
            raise StoreError(
                f"The socket {address} could not be made: {self._server.errorString()}."
            )

    def stop_listening(self) -> None:
        """Accept nothing more."""
        self._server.close()

    def _on_new_connection(self) -> None:
        while self._server.hasPendingConnections():
            self._connections.accept(_PipeStream(self._server.nextPendingConnection()))


class _PipeStream:
    """A `QLocalSocket` as lines in and bytes out. What is not read yet stays with the sender."""

    def __init__(self, socket: QLocalSocket) -> None:
        self._socket = socket
        self._news = asyncio.Event()
        self._is_closed = False
        # The listener may stop while this connection still finishes its calls.
        socket.setParent(None)
        socket.setReadBufferSize(LONGEST_LINE_BYTES + 1)
        socket.readyRead.connect(self._news.set)
        socket.disconnected.connect(self._news.set)

    async def line(self) -> bytes | None:
        while not self._is_closed:
            if self._socket.canReadLine():
                return bytes(self._socket.readLine().data())
            if self._socket.bytesAvailable() > LONGEST_LINE_BYTES:
                log.warning("A client sent a line of more than %d bytes", LONGEST_LINE_BYTES)
                return None
            if self._socket.state() is not _CONNECTED:
                return None
            self._news.clear()
            await self._news.wait()
        return None

    def write(self, data: bytes) -> None:
        if self._is_closed or self._socket.state() is not _CONNECTED:
            return
        self._socket.write(data)
        self._socket.flush()
        if self._socket.bytesToWrite() > MOST_UNSENT_BYTES:
            log.warning("A client does not read its answers; it is disconnected")
            self._socket.abort()

    def close(self) -> None:
        if not self._is_closed:
            self._is_closed = True
            self._news.set()
            self._socket.disconnectFromServer()
            self._socket.deleteLater()
