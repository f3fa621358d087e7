"""Real HTTP servers on loopback that answer as they are told, or fail in every way there is."""

import asyncio
import contextlib
import json
import socket
import struct
import threading
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

PATIENCE_S = 10.0


@dataclass(frozen=True, slots=True)
class Request:
    """What a client asked."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: Any


Answer = Callable[[asyncio.StreamWriter], Awaitable[None]]
Route = Answer | Callable[[Request], Answer]


@dataclass
class Server:
    """A server in a thread of its own.

    Attributes:
        routes: What is answered, by "METHOD path"; "*" for everything else.
        requests: What was asked, in order.
        asked: Set by the first request.
        left: Set when a client closed the connection before it had its answer.
    """

    port: int = 0
    routes: dict[str, Any] = field(default_factory=dict)
    requests: list[Request] = field(default_factory=list)
    asked: threading.Event = field(default_factory=threading.Event)
    left: threading.Event = field(default_factory=threading.Event)
    ending: asyncio.Event | None = None

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def count(self, path: str) -> int:
        return sum(1 for request in self.requests if request.path == path)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        # asyncio's own streams complain about a handler that was cancelled.
        with contextlib.suppress(OSError, asyncio.IncompleteReadError, asyncio.CancelledError):
            request = await read_request(reader)
            self.requests.append(request)
            self.asked.set()
            answering = asyncio.ensure_future(self.answer(request)(writer))
            leaving = asyncio.ensure_future(reader.read(1))
            try:
                await asyncio.wait((answering, leaving), return_when=asyncio.FIRST_COMPLETED)
                if not answering.done():
                    self.left.set()
            finally:
                answering.cancel()
                leaving.cancel()
                await asyncio.gather(answering, leaving, return_exceptions=True)
        with contextlib.suppress(OSError, asyncio.CancelledError):
            writer.close()
            await writer.wait_closed()

    def answer(self, request: Request) -> Answer:
        path = request.path.partition("?")[0]
        for key in (f"{request.method} {request.path}", f"{request.method} {path}", "*"):
            if key in self.routes:
                route = self.routes[key]
                if isinstance(route, list):
                    route = route.pop(0) if len(route) > 1 else route[0]
                made: Answer = route(request) if getattr(route, "reads", False) else route
                return made
        return reply({"error": "not found"}, status=404)


def reading(route: Callable[[Request], Answer]) -> Callable[[Request], Answer]:
    """Mark a route that looks at the request."""
    route.reads = True  # type: ignore[attr-defined]
    return route


async def read_request(reader: asyncio.StreamReader) -> Request:
    head = await reader.readuntil(b"\r\n\r\n")
    first, *lines = head.decode().split("\r\n")
    method, path, _ = first.split(" ")
    headers = {}
    for line in lines:
        name, colon, value = line.partition(":")
        if colon:
            headers[name.lower()] = value.strip()
    body = await reader.readexactly(int(headers.get("content-length", "0")))
    return Request(method, path, headers, json.loads(body) if body else None)


@contextmanager
def serving(routes: Mapping[str, Any] | None = None) -> Iterator[Server]:
    """Serve for the length of a `with` block."""
    server = Server(routes=dict(routes or {}))
    loop = asyncio.new_event_loop()
    ready = threading.Event()

    async def main() -> None:
        server.ending = asyncio.Event()
        listening = await asyncio.start_server(server.serve, "127.0.0.1", 0)
        server.port = listening.sockets[0].getsockname()[1]
        ready.set()
        await server.ending.wait()
        listening.close()
        this = asyncio.current_task()
        others = [task for task in asyncio.all_tasks() if task is not this]
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)

    thread = threading.Thread(target=lambda: loop.run_until_complete(main()))
    thread.start()
    assert ready.wait(PATIENCE_S)
    try:
        yield server
    finally:
        assert server.ending is not None
        loop.call_soon_threadsafe(server.ending.set)
        thread.join(PATIENCE_S)
        loop.close()


def free_address() -> str:
    """Return an address where nobody listens."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{taken.getsockname()[1]}"


def head(status: int, headers: Mapping[str, str]) -> bytes:
    lines = [f"HTTP/1.1 {status} Whatever"] + [f"{n}: {v}" for n, v in headers.items()]
    return ("\r\n".join(lines) + "\r\nConnection: close\r\n\r\n").encode()


def reply(value: Any, *, status: int = 200, headers: Mapping[str, str] | None = None) -> Answer:
    """Answer JSON, or the bytes as they are."""
    content = value if isinstance(value, bytes) else json.dumps(value).encode()

    async def answer(writer: asyncio.StreamWriter) -> None:
        told = {"Content-Length": str(len(content)), **(headers or {})}
        writer.write(head(status, told) + content)
        await writer.drain()

    return answer


def streamed(*pieces: str, ends: bool = True) -> Answer:
    """Answer pieces as they come; without an end the connection breaks off."""

    async def answer(writer: asyncio.StreamWriter) -> None:
        writer.write(head(200, {"Transfer-Encoding": "chunked"}))
        for piece in pieces:
            data = piece.encode()
            writer.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")
            await writer.drain()
        if ends:
            writer.write(b"0\r\n\r\n")
            await writer.drain()

    return answer


def hanging() -> Answer:
    """Answer nothing."""

    async def answer(writer: asyncio.StreamWriter) -> None:
        await asyncio.Event().wait()

    return answer


def after(event: threading.Event, then: Answer) -> Answer:
    """Answer once something has happened."""

    async def answer(writer: asyncio.StreamWriter) -> None:
        await asyncio.to_thread(event.wait, PATIENCE_S)
        await then(writer)

    return answer


def dripping(piece: bytes = b" ") -> Answer:
    """Answer byte by byte, for ever."""

    async def answer(writer: asyncio.StreamWriter) -> None:
        writer.write(head(200, {}))
        while True:
            writer.write(piece)
            await writer.drain()
            await asyncio.sleep(0.005)

    return answer


def cut_off(content: bytes = b'{"half":', *, promised: int = 1000) -> Answer:
    """Promise more than is sent."""

    async def answer(writer: asyncio.StreamWriter) -> None:
        writer.write(head(200, {"Content-Length": str(promised)}) + content)
        await writer.drain()

    return answer


def reset() -> Answer:
    """Reset the connection instead of answering."""

    async def answer(writer: asyncio.StreamWriter) -> None:
        raw = writer.get_extra_info("socket")
        raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        writer.transport.abort()

    return answer


def endless(piece: bytes = b"x" * 65536) -> Answer:
    """Answer more and more."""

    async def answer(writer: asyncio.StreamWriter) -> None:
        writer.write(head(200, {}))
        while True:
            writer.write(piece)
            await writer.drain()

    return answer
