"""JSON-RPC as lines of bytes, between a transport and the MCP server.

What the SDK leaves to the transport is done here: a line that is no message gets an answer, so that
no client waits for ever; and a stop lets the calls in flight finish.
"""

import asyncio
import json
import logging
from collections.abc import AsyncIterator, Callable
from typing import Any

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.shared.message import SessionMessage
from mcp_types import (
    JSONRPCError,
    JSONRPCNotification,
    JSONRPCRequest,
    JSONRPCResponse,
    jsonrpc_message_adapter,
)
from pydantic import ValidationError

from kmem_desktop.bootstrap import Services
from kmem_desktop.events import Change
from kmem_desktop.server.tool_server import ToolServer

log = logging.getLogger(__name__)

LONGEST_LINE_BYTES = 8 * 1024 * 1024
PARSE_ERROR = -32700
INVALID_REQUEST = -32600
UNAVAILABLE = -32000
MOST_UNSENT_BYTES = 64 * 1024 * 1024
STOP_PATIENCE_S = 5.0

Write = Callable[[bytes], None]


class LineSession:
    """One client's conversation, from its first line to the end of its stream."""

    def __init__(
        self,
        services: Services,
        profiles: tuple[str, ...],
        lines: AsyncIterator[bytes],
        write: Write,
    ) -> None:
        """Serve the client whose lines come from `lines` and go to `write`."""
        self._services = services
        self._profiles = profiles
        self._lines = lines
        self._write = write
        self._unanswered: set[int | str] = set()
        self._all_answered = asyncio.Event()
        self._all_answered.set()
        self._notices: set[asyncio.Task[None]] = set()
        self._is_stopping = False

    async def serve(self) -> None:
        """Serve until the client closes its side."""
        visit = self._services.activity.arrive()
        tools = ToolServer(self._services, self._profiles, visit)
        forget = self._services.feed.subscribe(lambda change: self._announce(tools, change))
        inbox, received = anyio.create_memory_object_stream[SessionMessage | Exception](64)
        sent, outbox = anyio.create_memory_object_stream[SessionMessage](64)
        try:
            async with anyio.create_task_group() as group:
                group.start_soon(self._read, inbox)
                group.start_soon(self._send, outbox)
                await tools.server.run(received, sent, tools.options())
                group.cancel_scope.cancel()
        finally:
            forget()
            for notice in self._notices:
                notice.cancel()
            self._services.activity.leave(visit)
            for stream in (inbox, received, sent, outbox):
                stream.close()

    async def settle(self) -> None:
        """Refuse new requests and wait until those that came before have been answered."""
        self._is_stopping = True
        try:
            async with asyncio.timeout(STOP_PATIENCE_S):
                await self._all_answered.wait()
        except TimeoutError:
            log.warning("%d calls were cut off by the stop", len(self._unanswered))

    def _announce(self, tools: ToolServer, change: Change) -> None:
        task = asyncio.ensure_future(tools.on_change(change))
        self._notices.add(task)
        task.add_done_callback(self._notices.discard)

    async def _read(self, inbox: MemoryObjectSendStream[SessionMessage | Exception]) -> None:
        async with inbox:
            async for line in self._lines:
                if line.strip() and (message := self._parse(line)) is not None:
                    await inbox.send(message)
            # The end of the inbox cancels what is still being worked on.
            await self.settle()

    def _parse(self, line: bytes) -> SessionMessage | None:
        try:
            message = jsonrpc_message_adapter.validate_json(line, by_name=False)
        except (ValidationError, ValueError):
            self._write(_refusal(line))
            return None
        if isinstance(message, JSONRPCNotification) and _has_id(line):
            # The SDK takes a request with an impossible id for a notification.
            self._write(_refusal(line))
            return None
        if isinstance(message, JSONRPCRequest) and message.method != "subscriptions/listen":
            if self._is_stopping:
                self._write(_error(message.id, UNAVAILABLE, "kmem is restarting. Try again."))
                return None
            self._unanswered.add(message.id)
            self._all_answered.clear()
        return SessionMessage(message)

    async def _send(self, outbox: MemoryObjectReceiveStream[SessionMessage]) -> None:
        async for envelope in outbox:
            message = envelope.message
            text = message.model_dump_json(by_alias=True, exclude_unset=True)
            self._write(text.encode("utf-8", errors="replace") + b"\n")
            if isinstance(message, JSONRPCResponse | JSONRPCError) and message.id is not None:
                self._unanswered.discard(message.id)
                if not self._unanswered:
                    self._all_answered.set()


def _has_id(line: bytes) -> bool:
    return b'"id"' in line and "id" in json.loads(line)


def _refusal(line: bytes) -> bytes:
    """Answer a line that is no JSON-RPC message, under its id where it has one."""
    code, message, request_id = PARSE_ERROR, "This line is not valid JSON.", None
    try:
        value: Any = json.loads(line)
    except (ValueError, RecursionError):
        pass
    else:
        code, message = INVALID_REQUEST, "This line is not a JSON-RPC 2.0 message."
        if isinstance(value, dict) and isinstance(value.get("id"), int | str):
            request_id = value["id"]
    return _error(request_id, code, message)


def _error(request_id: int | str | None, code: int, message: str) -> bytes:
    answer = {"jsonrpc": "2.0", "id": request_id, "error": {"code": code, "message": message}}
    return json.dumps(answer).encode() + b"\n"
