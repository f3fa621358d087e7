"""The SDK's own client, in memory and over a real socket, in both protocol eras."""

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import mcp_types as types
import pytest
from mcp import Client
from mcp.shared.message import SessionMessage
from mcp_types import jsonrpc_message_adapter

from kmem_desktop.bootstrap import Services
from kmem_desktop.server.connections import Connections
from kmem_desktop.server.tool_server import ToolServer
from kmem_desktop.server.tools.profiles import profile_names
from kmem_desktop.server.unix_socket import UnixSocketListener
from kmem_desktop.services.activity import Visit

LEGACY = "legacy"
MODERN = "2026-07-28"
ERAS = (LEGACY, MODERN)
both_eras = pytest.mark.parametrize("era", ERAS)
TIMEOUT_S = 30.0
LONGEST_ANSWER_BYTES = 64 * 1024 * 1024


@asynccontextmanager
async def in_memory(
    services: Services,
    *,
    tools: str = "",
    era: str = MODERN,
    info: types.Implementation | None = None,
) -> AsyncIterator[Client]:
    """Connect a client to a tool server of its own, without a wire."""
    visit: Visit = services.activity.arrive()
    server = ToolServer(services, profile_names(tools), visit).server
    try:
        async with Client(
            server, mode=era, client_info=info, read_timeout_seconds=TIMEOUT_S
        ) as client:
            yield client
    finally:
        services.activity.leave(visit)


@asynccontextmanager
async def serving(services: Services, socket: Path) -> AsyncIterator[Connections]:
    """Serve on a Unix socket in this process."""
    database = str(services.paths.database)
    connections = Connections(services, database, lambda what: {"asked": what})
    listener = UnixSocketListener(connections)
    await listener.listen(str(socket))
    try:
        yield connections
    finally:
        listener.stop_listening()
        await connections.stop()


@asynccontextmanager
async def over_socket(socket: Path, database: Path, **options: Any) -> AsyncIterator[Client]:
    """Connect a client as the bridge does: one line of kmem's own, then plain MCP."""
    transport = _socket_transport(socket, database)
    async with Client(transport, read_timeout_seconds=TIMEOUT_S, **options) as client:
        yield client


@asynccontextmanager
async def _socket_transport(socket: Path, database: Path) -> AsyncIterator[Any]:
    reader, writer = await asyncio.open_unix_connection(str(socket), limit=LONGEST_ANSWER_BYTES)
    hello = {"kmem": 1, "open": "mcp", "database": str(database), "tools": ""}
    writer.write(json.dumps(hello).encode() + b"\n")
    inbox, received = anyio.create_memory_object_stream[SessionMessage | Exception](64)
    sent, outbox = anyio.create_memory_object_stream[SessionMessage](64)

    async def read() -> None:
        async with inbox:
            while line := await reader.readline():
                message = jsonrpc_message_adapter.validate_json(line, by_name=False)
                await inbox.send(SessionMessage(message))

    async def write() -> None:
        async for envelope in outbox:
            text = envelope.message.model_dump_json(by_alias=True, exclude_unset=True)
            writer.write(text.encode() + b"\n")
            await writer.drain()

    try:
        async with anyio.create_task_group() as group:
            group.start_soon(read)
            group.start_soon(write)
            yield received, sent
            group.cancel_scope.cancel()
    finally:
        for stream in (inbox, received, sent, outbox):
            stream.close()
        writer.close()
        with contextlib.suppress(ConnectionError):
            await writer.wait_closed()


def text_of(result: types.CallToolResult) -> str:
    """Return the first text of a result."""
    content = result.content[0]
    assert isinstance(content, types.TextContent)
    return content.text


def structure_of(result: types.CallToolResult) -> dict[str, Any]:
    """Return the structure of a result that has to be a success."""
    assert not result.is_error, text_of(result)
    structure = result.structured_content
    assert isinstance(structure, dict)
    return structure


def error_of(result: types.CallToolResult) -> dict[str, Any]:
    """Return the error object of a result that has to be an error."""
    assert result.is_error, text_of(result)
    error = json.loads(text_of(result))
    assert isinstance(error, dict)
    assert set(error) == {"error", "message", "details", "fallback"}
    return error


def size_of(result: types.CallToolResult) -> int:
    """Return how many characters a result has on the wire."""
    text = result.model_dump_json(by_alias=True, exclude_none=True)
    return len(text)


def draft(number: int, **fields: Any) -> dict[str, Any]:
    """Return arguments of memory_storeKnowledge that are right."""
    return {
        "title": f"Use the shared client for service {number}",
        "content": f"Call service {number} through the shared HTTP client: it retries and logs.",
        "tags": ["http", "client"],
        **fields,
    }
