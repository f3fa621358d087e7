"""Everyone who is connected to the resident, whatever the system's local socket is.

A connection begins with one line of kmem's own. `{"kmem":1,"open":"mcp",...}` makes the rest of the
stream plain MCP; `{"kmem":1,"ask":"status"}` (or "show", "hand_over") is answered with one line.
"""

import asyncio
import json
import logging
from collections.abc import AsyncIterator, Callable
from typing import Any, Protocol

from kmem_desktop.bootstrap import Services
from kmem_desktop.errors import KmemError
from kmem_desktop.server.lines import LineSession
from kmem_desktop.server.tools.profiles import profile_names

log = logging.getLogger(__name__)

MOST_CLIENTS = 64
MOST_CONNECTIONS = 80
"""There is room for other kmem processes to ask something even where no client finds any."""
TOO_MANY = "kmem serves too many clients already."

HELLO_PATIENCE_S = 10.0
CLOSE_PATIENCE_S = 2.0

Ask = Callable[[str], dict[str, Any]]


class Stream(Protocol):
    """One connection of a local socket: lines in, bytes out."""

    async def line(self) -> bytes | None:
        """Return the next line; None where the other side left or sent one that is too long."""

    def write(self, data: bytes) -> None:
        """Send bytes; a client that does not read its answers is let go."""

    def close(self) -> None:
        """Send what is left and close."""


class Listener(Protocol):
    """The local socket of one system."""

    async def listen(self, address: str) -> None:
        """Begin to accept connections. The caller holds the instance lock of this address.

        Raises:
            StoreError: The socket could not be made.
        """

    def stop_listening(self) -> None:
        """Accept nothing more."""


class Connections:
    """Serves every connection as a task of the running event loop."""

    def __init__(self, services: Services, database: str, answer: Ask) -> None:
        """Serve `services`.

        Args:
            services: The use cases.
            database: The database as bridges name it: its path, or "" for the default one.
            answer: Answers what other kmem processes ask.
        """
        self._services = services
        self._database = database
        self._answer = answer
        self._tasks: set[asyncio.Task[None]] = set()
        self._streams: set[Stream] = set()
        self._sessions: set[LineSession] = set()

    @property
    def client_count(self) -> int:
        """How many clients are being served."""
        return len(self._sessions)

    def accept(self, stream: Stream) -> None:
        """Serve a new connection."""
        if len(self._streams) >= MOST_CONNECTIONS:
            _write_json(stream, {"kmem": 1, "refused": TOO_MANY})
            stream.close()
            return
        self._streams.add(stream)
        task = asyncio.ensure_future(self._serve(stream))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def stop(self) -> None:
        """Refuse new calls, let those in flight finish, and close every connection."""
        await asyncio.gather(*(session.settle() for session in list(self._sessions)))
        for stream in list(self._streams):
            stream.close()
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=CLOSE_PATIENCE_S)
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _serve(self, stream: Stream) -> None:
        try:
            hello = await _hello(stream)
            if hello is None:
                return
            if "ask" in hello:
                _write_json(stream, {"kmem": 1, **self._answer(str(hello["ask"]))})
            elif refusal := self._refusal(hello):
                _write_json(stream, {"kmem": 1, "refused": refusal})
            else:
                await self._serve_client(stream, str(hello.get("tools") or ""))
        except Exception:
            log.exception("A connection failed")
        finally:
            self._streams.discard(stream)
            stream.close()

    def _refusal(self, hello: dict[str, Any]) -> str:
        """Return why a client cannot be served here; empty where it can."""
        if hello.get("kmem") != 1 or hello.get("open") != "mcp":
            return "kmem does not understand this connection; are two versions installed?"
        if hello.get("database", "") != self._database:
            return "Another database is served on this socket; give the same --db everywhere."
        if len(self._sessions) >= MOST_CLIENTS:
            return TOO_MANY
        try:
            profile_names(str(hello.get("tools") or ""))
        except KmemError as error:
            return error.message
        return ""

    async def _serve_client(self, stream: Stream, tools: str) -> None:
        session = LineSession(self._services, profile_names(tools), _lines(stream), stream.write)
        self._sessions.add(session)
        try:
            await session.serve()
        finally:
            self._sessions.discard(session)


async def _hello(stream: Stream) -> dict[str, Any] | None:
    """Return the first line; None where the other side left, or waited, before it was whole."""
    try:
        async with asyncio.timeout(HELLO_PATIENCE_S):
            line = await stream.line()
    except TimeoutError:
        return None
    if line is None:
        return None
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        value = None
    return value if isinstance(value, dict) else {}


async def _lines(stream: Stream) -> AsyncIterator[bytes]:
    while (line := await stream.line()) is not None:
        yield line


def _write_json(stream: Stream, value: dict[str, Any]) -> None:
    stream.write(json.dumps(value).encode() + b"\n")
