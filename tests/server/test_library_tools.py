import json
from typing import Any

import pytest
from mcp import Client

from kmem_desktop.bootstrap import Services
from kmem_desktop.domain.library.copies import LARGEST_IMPORT
from kmem_desktop.server.tools import library_tools
from kmem_desktop.server.tools.tool import RESULT_SIZE
from tests.server.clients import (
    both_eras,
    draft,
    error_of,
    in_memory,
    size_of,
    structure_of,
    text_of,
)

ADA = {"name": "Ada", "entityType": "person", "observations": ["likes tea"]}
BOB = {"name": "Bob", "entityType": "person", "observations": []}
KNOWS = {"from": "Ada", "to": "Bob", "relationType": "knows"}


async def filled(client: Client, items: int = 3) -> list[str]:
    """Store items, two entities and a session; return the items' ids."""
    ids = [
        structure_of(await client.call_tool("memory_storeKnowledge", draft(number)))["id"]
        for number in range(items)
    ]
    await client.call_tool("create_entities", {"entities": [ADA, BOB]})
    await client.call_tool("create_relations", {"relations": [KNOWS]})
    return ids


async def session_of(client: Client) -> str:
    exchange = {"question": "Which database?", "answer": "PostgreSQL.", "tags": ["db"]}
    stored = structure_of(await client.call_tool("add_exchange", exchange))
    return str(stored["session_id"])


async def tag_names(client: Client) -> dict[str, tuple[int, int]]:
    listed = structure_of(await client.call_tool("manage_tags", {"action": "list"}))
    return {tag["tag"]: (tag["items"], tag["sessions"]) for tag in listed["tags"]}


@both_eras
async def test_the_library_is_served_where_it_was_asked_for(services: Services, era: str) -> None:
    async with in_memory(services, era=era) as client:
        assert (await client.call_tool("analyze_knowledge", {})).is_error
    async with in_memory(services, tools="library", era=era) as client:
        names = {tool.name for tool in (await client.list_tools()).tools}
    assert names == {
        "archive_session",
        "export_knowledge",
        "import_knowledge",
        "analyze_knowledge",
        "manage_tags",
        "visualize_knowledge_graph",
    }


@both_eras
async def test_a_session_is_archived_and_taken_back(services: Services, era: str) -> None:
    async with in_memory(services, tools="all", era=era) as client:
        session = await session_of(client)
        arguments = {"session_id": session}
        archived = structure_of(await client.call_tool("archive_session", arguments))
        again = structure_of(await client.call_tool("archive_session", arguments))
        listed = structure_of(await client.call_tool("list_sessions", {}))
        back = structure_of(
            await client.call_tool("archive_session", {**arguments, "archive": False})
        )
        missing = error_of(await client.call_tool("archive_session", {"session_id": "nope"}))
    assert (archived["status"], again["status"]) == ("archived", "archived")
    assert listed["sessions"] == []
    assert back["status"] == "active"
    assert missing["error"] == "NOT_FOUND_ERROR"


@both_eras
@pytest.mark.parametrize("written", ["markdown", "json"])
async def test_pages_of_an_export_can_be_imported_as_they_are(
    services: Services, era: str, written: str
) -> None:
    async with in_memory(services, tools="all", era=era) as client:
        await filled(client, 60)
        await session_of(client)
        asked: dict[str, Any] = {
            "format": written,
            "include": ["knowledge", "graph", "sessions"],
        }
        pages: list[str] = []
        while True:
            result = await client.call_tool("export_knowledge", asked)
            assert size_of(result) <= RESULT_SIZE + 1_000
            page = structure_of(result)
            assert json.loads(text_of(result)) == page
            pages.append(page["text"])
            if "next_cursor" not in page:
                break
            asked["cursor"] = page["next_cursor"]
        assert len(pages) > 1
        for text in pages:
            report = structure_of(await client.call_tool("import_knowledge", {"content": text}))
            assert (report["new"], report["changed"], report["problem_count"]) == ({}, 0, 0)
            assert "undo_id" not in report


async def test_a_filter_leaves_the_graph_out_unless_it_was_asked_for(services: Services) -> None:
    async with in_memory(services, tools="all") as client:
        await filled(client)
        counts = [
            structure_of(await client.call_tool("export_knowledge", arguments))["counts"]
            for arguments in (
                {},
                {"tags": ["http"]},
                {"tags": ["http"], "include": ["knowledge", "graph"]},
                {"category": "error"},
            )
        ]
    assert counts == [
        {"knowledge": 3, "entities": 2, "relations": 1},
        {"knowledge": 3},
        {"knowledge": 3, "entities": 2, "relations": 1},
        {},
    ]


async def test_quotation_marks_and_line_ends_do_not_make_a_page_too_large(
    services: Services,
) -> None:
    async with in_memory(services, tools="all") as client:
        nasty = '"\\\n' * 1_600 + "and so on"
        for number in range(3):
            item = draft(number, content=f"{number} {nasty}")
            assert not (await client.call_tool("memory_storeKnowledge", item)).is_error
        for written in ("markdown", "json"):
            cursor: dict[str, str] = {}
            for _ in range(10):
                result = await client.call_tool("export_knowledge", {"format": written, **cursor})
                assert size_of(result) <= RESULT_SIZE + 1_000
                page = structure_of(result)
                if "next_cursor" not in page:
                    break
                cursor = {"cursor": page["next_cursor"]}
            else:
                pytest.fail("The pages have no end.")


async def test_an_import_is_dry_on_request_and_undone_as_a_whole(services: Services) -> None:
    lines = "\n".join(json.dumps({"type": "entity", **each}) for each in (ADA, BOB))
    async with in_memory(services, tools="all") as client:
        dry = structure_of(
            await client.call_tool("import_knowledge", {"content": lines, "dry_run": True})
        )
        empty = structure_of(await client.call_tool("read_graph", {}))
        done = structure_of(await client.call_tool("import_knowledge", {"content": lines}))
        full = structure_of(await client.call_tool("read_graph", {}))
    assert dry["new"] == done["new"] == {"entities": 2, "observations": 1}
    assert "undo_id" not in dry
    assert (len(empty["entities"]), len(full["entities"])) == (0, 2)
    entries = await services.history.newest()
    assert {entry.origin.batch for entry in entries} == {done["undo_id"]}
    assert entries[0].origin.tool == "import_knowledge"


async def test_a_path_is_no_content(services: Services) -> None:
    async with in_memory(services, tools="all") as client:
        error = error_of(await client.call_tool("import_knowledge", {"content": "/etc/passwd"}))
    assert error["error"] == "PARSING_ERROR"
    assert "root:" not in json.dumps(error)


async def test_the_analysis_counts_and_names(services: Services) -> None:
    async with in_memory(services, tools="all") as client:
        await filled(client)
        twin = "Call the payment service through the shared HTTP client: it retries and logs all."
        for number in (7, 8):
            await client.call_tool(
                "memory_storeKnowledge",
                draft(number, content=f"{twin} {number}", category="decision", tags=["pay"]),
            )
        await session_of(client)
        for query in ("shared client", "Shared client ", "zebras"):
            await client.call_tool("search_knowledge", {"query": query})
        await services.sessions.settle()
        found = structure_of(await client.call_tool("analyze_knowledge", {}))
        wrong = error_of(await client.call_tool("analyze_knowledge", {"days": 0}))
    assert found["totals"]["knowledge"] == 5
    assert found["totals"]["turns"] == 2
    assert found["by_category"] == {"rule": 3, "decision": 2}
    assert found["by_scope"] == {"global": 5}
    assert sum(found["by_month"].values()) == 5
    assert {tag["tag"] for tag in found["tags"]} == {"http", "client", "pay", "db"}
    assert found["most_connected_entities"][0]["count"] == 1
    assert found["sessions"]["count"] == 1
    assert found["searches"]["most_asked"][0]["times"] == 2
    assert [one["query"] for one in found["searches"]["found_nothing"]] == ["zebras"]
    assert found["suspected_duplicates"][0]["strength"] > 0.5
    assert "days must be at least 1" in wrong["message"]


@both_eras
async def test_tags_are_listed_renamed_merged_and_deleted(services: Services, era: str) -> None:
    async with in_memory(services, tools="all", era=era) as client:
        ids = await filled(client)
        session = await session_of(client)

        async def manage(**arguments: Any) -> dict[str, Any]:
            return structure_of(await client.call_tool("manage_tags", arguments))

        assert await tag_names(client) == {"http": (3, 0), "client": (3, 0), "db": (0, 1)}
        renamed = await manage(action="rename", tags=["HTTP"], to="Web ")
        assert (renamed["items_changed"], renamed["sessions_changed"]) == (3, 0)
        added = await manage(action="add", tags=["web", "new"], ids=[ids[0], session])
        assert (added["items_changed"], added["sessions_changed"]) == (1, 1)
        merged = await manage(action="merge", tags=["client", "db"], to="web")
        assert (merged["items_changed"], merged["sessions_changed"]) == (3, 1)
        assert await tag_names(client) == {"web": (3, 1), "new": (1, 1)}
        await manage(action="delete", tags=["new"])
        nothing = await manage(action="remove", tags=["new"], ids=ids)
        assert nothing["items_changed"] == 0
        assert "undo_id" not in nothing
        assert await tag_names(client) == {"web": (3, 1)}


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ({"action": "rename", "tags": ["http"]}, "rename needs to"),
        ({"action": "rename", "tags": ["http", "client"], "to": "x"}, "use merge"),
        ({"action": "rename", "tags": ["http"], "to": "client"}, "already"),
        ({"action": "rename", "tags": ["http"], "to": "x" * 51}, "at most 50 characters"),
        ({"action": "rename", "tags": ["nope"], "to": "x"}, "Nothing has the tag 'nope'"),
        ({"action": "delete", "tags": ["http", "client"]}, "without any tag"),
        ({"action": "delete"}, "delete needs tags"),
        ({"action": "add", "tags": ["x"]}, "add needs ids"),
        ({"action": "add", "tags": ["x"], "ids": ["nope"]}, "no item and no session"),
        ({"action": "add", "tags": [f"t{n}" for n in range(9)], "ids": [1]}, "more than 10 tags"),
        ({"action": "nope"}, "action must be one of list, rename"),
        ({"action": "list", "cursor": "x"}, "cursor"),
        ({"action": "list", "limit": 501}, "limit must be at most 500"),
    ],
)
async def test_what_cannot_be_done_with_tags_is_told_and_changes_nothing(
    services: Services, arguments: dict[str, Any], told: str
) -> None:
    async with in_memory(services, tools="all") as client:
        await filled(client)
        before = await tag_names(client)
        error = error_of(await client.call_tool("manage_tags", arguments))
        assert told in error["message"]
        assert await tag_names(client) == before


async def test_many_tags_come_in_pages(services: Services) -> None:
    async with in_memory(services, tools="all") as client:
        for number in range(30):
            tags = [f"tag {number} {letter} {'x' * 30}" for letter in "abcdefghij"]
            await client.call_tool("memory_storeKnowledge", draft(number, tags=tags))
        seen: list[str] = []
        arguments: dict[str, Any] = {"action": "list", "limit": 500}
        while True:
            result = await client.call_tool("manage_tags", arguments)
            assert size_of(result) <= RESULT_SIZE
            page = structure_of(result)
            seen += [tag["tag"] for tag in page["tags"]]
            if "next_cursor" not in page:
                break
            arguments["cursor"] = page["next_cursor"]
    assert page["total"] == len(seen) == len(set(seen)) == 300


@both_eras
async def test_the_graph_is_drawn_as_mermaid_and_as_json(services: Services, era: str) -> None:
    async with in_memory(services, tools="all", era=era) as client:
        await filled(client)
        drawn = structure_of(await client.call_tool("visualize_knowledge_graph", {}))
        arguments = {"center": "ada", "format": "json"}
        listed = structure_of(await client.call_tool("visualize_knowledge_graph", arguments))
        missing = error_of(await client.call_tool("visualize_knowledge_graph", {"center": "Eve"}))
    assert drawn["mermaid"].startswith("flowchart LR\n")
    assert drawn["node_count"] == 2
    assert 'n0 -->|"knows"| n1' in drawn["mermaid"]
    assert [node["title"] for node in listed["nodes"]] == ["Ada", "Bob"]
    assert listed["edges"] == [{"from": "n0", "to": "n1", "label": "knows"}]
    assert listed["center"] == "n0"
    assert missing["error"] == "NOT_FOUND_ERROR"


async def test_a_large_picture_still_fits_an_answer(services: Services) -> None:
    async with in_memory(services, tools="all") as client:
        names = [f"{number} {'ü' * 450}" for number in range(300)]
        entities = [{"name": name, "entityType": "x" * 200, "observations": []} for name in names]
        relations = [
            {"from": names[0], "to": name, "relationType": "y" * 190} for name in names[1:]
        ]
        await client.call_tool("create_entities", {"entities": entities})
        await client.call_tool("create_relations", {"relations": relations})
        for written in ("json", "mermaid"):
            arguments = {"center": names[0], "limit": 300, "format": written}
            result = await client.call_tool("visualize_knowledge_graph", arguments)
            assert not result.is_error
            assert size_of(result) <= RESULT_SIZE
            assert structure_of(result)["left_out"] > 0


def test_no_tool_of_the_library_takes_a_path_or_writes_a_file() -> None:
    fields = {name for tool in library_tools.TOOLS for name in tool.input_schema["properties"]}
    assert not fields & {"path", "file", "filename", "directory", "folder"}
    assert LARGEST_IMPORT <= 8 * 1024 * 1024
