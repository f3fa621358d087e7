import asyncio
import json
from pathlib import Path

import mcp_types as types
import pytest
from mcp import Client
from mcp.client.subscriptions import ResourceUpdated
from mcp.shared.exceptions import MCPError

from kmem_desktop.bootstrap import Services
from kmem_desktop.server import resources, tool_server
from kmem_desktop.server.tools.profiles import profile_names, tools_of
from tests.server.clients import (
    LEGACY,
    MODERN,
    TIMEOUT_S,
    both_eras,
    draft,
    error_of,
    in_memory,
    over_socket,
    serving,
    structure_of,
    text_of,
)

ADA = {"name": "Ada", "entityType": "person", "observations": ["likes tea"]}


@both_eras
async def test_what_one_client_stores_another_finds(services: Services, era: str) -> None:
    async with in_memory(services, era=LEGACY) as one, in_memory(services, era=era) as other:
        stored = structure_of(await one.call_tool("memory_storeKnowledge", draft(1)))
        found = await other.call_tool("memory_searchKnowledge", {"query": "shared client"})
    results = structure_of(found)["results"]
    assert [hit["id"] for hit in results] == [stored["id"]]


@both_eras
async def test_dotted_names_are_accepted_when_called(services: Services, era: str) -> None:
    async with in_memory(services, era=era) as client:
        stored = structure_of(await client.call_tool("memory.storeKnowledge", draft(1)))
        assert stored["success"] is True
        assert stored["message"] == "Knowledge stored successfully"
        found = structure_of(await client.call_tool("memory.searchKnowledge", {"query": "service"}))
        assert found["totalMatches"] == 1


@both_eras
async def test_an_unknown_tool_is_refused_in_the_reference_servers_words(
    services: Services, era: str
) -> None:
    async with in_memory(services, era=era) as client:
        result = await client.call_tool("nope", {})
    assert result.is_error
    assert text_of(result) == "MCP error -32602: Tool nope not found"


async def test_the_tools_of_another_profile_cannot_be_called(services: Services) -> None:
    async with in_memory(services, tools="graph") as client:
        assert (await client.call_tool("memory_storeKnowledge", draft(1))).is_error


@both_eras
async def test_wrong_arguments_of_the_graph_tools_are_refused_in_the_reference_servers_words(
    services: Services, era: str
) -> None:
    async with in_memory(services, era=era) as client:
        missing = await client.call_tool("create_entities", {"entities": [{"name": "Ada"}]})
        wrong = await client.call_tool("open_nodes", {"names": "Ada"})
        unknown = await client.call_tool(
            "add_observations", {"observations": [{"entityName": "Nope", "contents": ["x"]}]}
        )
    assert text_of(missing) == (
        "MCP error -32602: Input validation error: Invalid arguments for tool create_entities:"
        " Invalid input: expected string, received undefined at entities[0].entityType\n"
        "Invalid input: expected array, received undefined at entities[0].observations"
    )
    assert text_of(wrong).endswith("Invalid input: expected array, received string at names")
    assert text_of(unknown) == "Entity with name Nope not found"
    assert missing.is_error
    assert wrong.is_error
    assert unknown.is_error


@both_eras
async def test_wrong_arguments_of_the_knowledge_tools_are_named_one_by_one(
    services: Services, era: str
) -> None:
    wrong = draft(1, title="short", priority=11, scope="nowhere", confidence="high")
    async with in_memory(services, era=era) as client:
        error = error_of(await client.call_tool("memory_storeKnowledge", wrong))
    assert error["error"] == "VALIDATION_ERROR"
    assert error["details"]["tool"] == "memory_storeKnowledge"
    fields = {problem["field"] for problem in error["details"]["errors"]}
    assert fields == {"title", "priority", "confidence"}
    assert "title must be at least 10 characters (it has 5)" in error["message"]
    assert error["fallback"] is None


async def test_duplicates_are_refused_and_name_what_is_there(services: Services) -> None:
    async with in_memory(services) as client:
        stored = structure_of(await client.call_tool("memory_storeKnowledge", draft(1)))
        title = draft(2, title=draft(1)["title"].upper())
        content = draft(1, title="Something else altogether")
        errors = [
            error_of(await client.call_tool("memory_storeKnowledge", arguments))
            for arguments in (title, content)
        ]
        elsewhere = await client.call_tool("memory_storeKnowledge", draft(1, scope="project:x"))
    assert [error["error"] for error in errors] == ["DUPLICATE_ERROR", "DUPLICATE_ERROR"]
    assert [error["details"]["duplicateType"] for error in errors] == ["title", "content"]
    assert {error["details"]["existingId"] for error in errors} == {stored["id"]}
    assert not elsewhere.is_error


async def test_an_unknown_id_is_not_found(services: Services) -> None:
    async with in_memory(services) as client:
        for tool in ("memory_updateKnowledge", "memory_deleteKnowledge"):
            for item_id in ("nope", "4711", "0", "9" * 40, "Ⅷ", "²"):
                error = error_of(await client.call_tool(tool, {"id": item_id}))
                assert error["error"] == "NOT_FOUND_ERROR", item_id


async def test_a_paused_kmem_says_so_and_does_nothing(services: Services) -> None:
    async with in_memory(services) as client:
        services.activity.pause(paused=True)
        refused = await client.call_tool("create_entities", {"entities": [ADA]})
        error = error_of(await client.call_tool("memory_storeKnowledge", draft(1)))
        with pytest.raises(MCPError, match="paused"):
            await client.read_resource(resources.GRAPH_URI)
        services.activity.pause(paused=False)
        graph = structure_of(await client.call_tool("read_graph", {}))
        found = structure_of(await client.call_tool("memory_searchKnowledge", {"query": "service"}))
    assert refused.is_error
    assert "paused" in text_of(refused)
    assert error["error"] == "STORAGE_ERROR"
    assert error["details"]["paused"] is True
    assert graph == {"entities": [], "relations": []}
    assert found["totalMatches"] == 0


async def test_the_rate_limit_slows_a_flood_down_and_loses_nothing(
    services: Services, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tool_server, "CALLS_PER_SECOND", 40.0)
    monkeypatch.setattr(tool_server, "CALLS_AT_ONCE", 10.0)
    loop = asyncio.get_running_loop()
    async with in_memory(services) as client:
        started = loop.time()
        calls = [
            client.call_tool("create_entities", {"entities": [{**ADA, "name": f"n{number}"}]})
            for number in range(40)
        ]
        results = await asyncio.gather(*calls)
        took_s = loop.time() - started
        graph = structure_of(await client.call_tool("read_graph", {}))
    assert not any(result.is_error for result in results)
    assert len(graph["entities"]) == 40
    assert took_s >= 30 / 40.0 * 0.9


async def test_more_calls_at_once_than_can_be_held_are_refused_one_by_one(
    services: Services, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tool_server, "MOST_CALLS_IN_FLIGHT", 4)
    async with in_memory(services) as client:
        calls = [
            client.call_tool("create_entities", {"entities": [{**ADA, "name": f"n{number}"}]})
            for number in range(20)
        ]
        results = await asyncio.gather(*calls)
        graph = structure_of(await client.call_tool("read_graph", {}))
    kept = [result for result in results if not result.is_error]
    assert 4 <= len(kept) < 20
    assert len(graph["entities"]) == len(kept)
    assert all("Wait" in text_of(result) for result in results if result.is_error)


async def test_a_slow_tool_is_given_up_with_an_error(
    services: Services, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tool_server, "TOOL_TIMEOUT_S", 0.0)
    async with in_memory(services) as client:
        error = error_of(await client.call_tool("memory_searchKnowledge", {"query": "service"}))
    assert error["error"] == "STORAGE_ERROR"
    assert "took longer" in error["message"]


async def test_a_bug_is_logged_and_told_in_general_words(
    services: Services, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async def broken(text: object) -> None:
        raise RuntimeError("secret inner workings")

    monkeypatch.setattr(type(services.knowledge), "search", lambda self, query: broken(query))
    async with in_memory(services) as client:
        result = await client.call_tool("memory_searchKnowledge", {"query": "service"})
    assert error_of(result)["error"] == "INTERNAL_ERROR"
    assert "secret" not in text_of(result)
    assert "secret inner workings" in caplog.text


@pytest.mark.parametrize(
    ("name", "title", "shown"),
    [("claude-code", None, "Claude Code"), ("some-tool", "Some Tool", "Some Tool")],
)
@both_eras
async def test_the_history_names_the_client_and_the_tool(
    services: Services, era: str, name: str, title: str | None, shown: str
) -> None:
    info = types.Implementation(name=name, title=title, version="3.2")
    async with in_memory(services, era=era, info=info) as client:
        await client.call_tool("memory_storeKnowledge", draft(1))
        clients = services.activity.clients()
    entries = await services.history.newest(1)
    assert [(entry.origin.name, entry.origin.tool) for entry in entries] == [
        (shown, "memory_storeKnowledge")
    ]
    assert [(one.name, one.version, one.calls) for one in clients] == [(shown, "3.2", 1)]
    assert services.activity.clients() == []


@both_eras
async def test_the_graph_is_a_resource_as_in_the_reference_server(
    services: Services, era: str
) -> None:
    async with in_memory(services, era=era) as client:
        await client.call_tool("create_entities", {"entities": [ADA]})
        (resource,) = (await client.list_resources()).resources
        (contents,) = (await client.read_resource(resource.uri)).contents
    assert str(resource.uri) == "memory://knowledge-graph"
    assert (resource.name, resource.title) == ("knowledge-graph", "Knowledge Graph")
    assert resource.mime_type == contents.mime_type == "application/json"
    assert isinstance(contents, types.TextResourceContents)
    assert json.loads(contents.text) == {"entities": [ADA], "relations": []}


@both_eras
async def test_an_unknown_resource_is_refused(services: Services, era: str) -> None:
    async with in_memory(services, era=era) as client:
        with pytest.raises(MCPError, match="not found"):
            await client.read_resource("memory://nothing")


async def test_the_graph_is_no_resource_where_its_tools_are_not_served(services: Services) -> None:
    async with in_memory(services, tools="knowledge", era=LEGACY) as client:
        assert client.server_capabilities.resources is None


@pytest.mark.filterwarnings("ignore:resources/:mcp.shared.exceptions.MCPDeprecationWarning")
async def test_an_older_client_that_subscribed_hears_of_another_clients_change(
    services: Services, tmp_path: Path
) -> None:
    socket, database = tmp_path / "s.sock", services.paths.database
    heard: asyncio.Queue[str] = asyncio.Queue()

    async def on_message(message: object) -> None:
        if isinstance(message, types.ResourceUpdatedNotification):
            heard.put_nowait(str(message.params.uri))

    async with (
        serving(services, socket),
        over_socket(socket, database, mode=LEGACY, message_handler=on_message) as listener,
        over_socket(socket, database, mode=LEGACY) as writer,
    ):
        await listener.subscribe_resource(resources.GRAPH_URI)
        await writer.call_tool("create_entities", {"entities": [ADA]})
        async with asyncio.timeout(TIMEOUT_S):
            assert await heard.get() == resources.GRAPH_URI
        await listener.unsubscribe_resource(resources.GRAPH_URI)
        await writer.call_tool("create_entities", {"entities": [{**ADA, "name": "Bob"}]})
        await listener.call_tool("read_graph", {})
        assert heard.empty()


async def test_a_client_of_today_that_listens_hears_of_another_clients_change(
    services: Services, tmp_path: Path
) -> None:
    socket, database = tmp_path / "s.sock", services.paths.database
    async with (
        serving(services, socket),
        over_socket(socket, database, mode=MODERN) as listener,
        over_socket(socket, database, mode=MODERN) as writer,
        listener.listen(resource_subscriptions=[resources.GRAPH_URI]) as news,
    ):
        await writer.call_tool("memory_storeKnowledge", draft(1))
        await writer.call_tool("create_entities", {"entities": [ADA]})
        async with asyncio.timeout(TIMEOUT_S):
            event = await anext(aiter(news))
        assert isinstance(event, ResourceUpdated)
        assert str(event.uri) == resources.GRAPH_URI


@pytest.mark.parametrize("mode", [LEGACY, "auto", MODERN])
async def test_both_eras_are_served_on_one_stream(
    services: Services, tmp_path: Path, mode: str
) -> None:
    socket = tmp_path / "s.sock"
    async with (
        serving(services, socket) as connections,
        over_socket(socket, services.paths.database, mode=mode) as client,
    ):
        listed = [tool.name for tool in (await client.list_tools()).tools]
        assert listed == list(tools_of(profile_names("")))
        assert connections.client_count == 1
        assert is_modern(client) == (mode != LEGACY)


def is_modern(client: Client) -> bool:
    return client.protocol_version == MODERN
