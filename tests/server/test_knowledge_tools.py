import json

import pytest

from kmem_desktop.bootstrap import Services
from kmem_desktop.server.tools.knowledge_tools import QUOTED
from kmem_desktop.server.tools.tool import RESULT_SIZE
from tests.server.clients import draft, error_of, in_memory, size_of, structure_of, text_of


async def test_what_was_stored_comes_back_with_every_field(services: Services) -> None:
    given = draft(
        1, scope="Repo:MyOrg/my-monorepo", category="decision", priority=8, confidence=0.9,
        source="review",
    )  # fmt: skip
    async with in_memory(services) as client:
        stored = structure_of(await client.call_tool("memory_storeKnowledge", given))
        result = await client.call_tool(
            "memory_searchKnowledge",
            {"query": "shared client", "scope": "repo:myorg/my-monorepo", "explain": True},
        )
    structure = structure_of(result)
    (hit,) = structure["results"]
    assert (structure["totalMatches"], structure["query"]) == (1, "shared client")
    assert hit["id"] == stored["id"]
    assert hit["scope"] == "repo:myorg/my-monorepo"
    for field in ("title", "content", "tags", "category", "priority", "confidence", "source"):
        assert hit[field] == given[field]
    explained = hit["explanation"]
    assert hit["score"] == pytest.approx(
        explained["relevance"]
        * explained["priorityBoost"]
        * explained["confidence"]
        * explained["tagBoost"]
        + explained["scopeBoost"],
        abs=1e-3,
    )
    assert {"shared", "client"} <= set(explained["words"])


async def test_what_is_found_goes_out_as_quoted_data(services: Services) -> None:
    async with in_memory(services) as client:
        await client.call_tool("memory_storeKnowledge", draft(1))
        await services.embedding.settled()
        found = await client.call_tool("memory_searchKnowledge", {"query": "shared client"})
        nothing = await client.call_tool("memory_searchKnowledge", {"query": "zebra"})
    assert json.loads(text_of(found)) == structure_of(found)
    assert found.content[1].text == QUOTED  # type: ignore[union-attr]
    assert structure_of(nothing) == {"results": [], "totalMatches": 0, "query": "zebra"}


async def test_an_update_changes_the_given_fields_alone(services: Services) -> None:
    async with in_memory(services) as client:
        stored = structure_of(await client.call_tool("memory_storeKnowledge", draft(1)))
        await client.call_tool("memory_updateKnowledge", {"id": stored["id"], "priority": 9})
        found = await client.call_tool("memory_searchKnowledge", {"query": "shared client"})
        (hit,) = structure_of(found)["results"]
        assert (hit["priority"], hit["title"]) == (9, draft(1)["title"])
        wrong = {"id": stored["id"], "title": "short"}
        assert error_of(await client.call_tool("memory_updateKnowledge", wrong))


async def test_what_was_deleted_is_not_found_again(services: Services) -> None:
    async with in_memory(services) as client:
        stored = structure_of(await client.call_tool("memory_storeKnowledge", draft(1)))
        structure_of(await client.call_tool("memory_deleteKnowledge", {"id": stored["id"]}))
        found = await client.call_tool("memory_searchKnowledge", {"query": "shared client"})
        again = error_of(await client.call_tool("memory_deleteKnowledge", {"id": stored["id"]}))
    assert structure_of(found)["totalMatches"] == 0
    assert again["error"] == "NOT_FOUND_ERROR"


async def test_an_integer_id_is_as_good_as_a_uuid(services: Services) -> None:
    async with in_memory(services) as client:
        stored = structure_of(await client.call_tool("memory_storeKnowledge", draft(1)))
        item = await services.knowledge.get(stored["id"])
        updated = await client.call_tool(
            "memory_updateKnowledge", {"id": str(item.id), "priority": 2}
        )
    assert structure_of(updated)["id"] == stored["id"]


async def test_internal_columns_cannot_be_set_from_outside(services: Services) -> None:
    given = draft(1, id="00000000-0000-0000-0000-000000000000", created_at="1970", stored_by="x")
    async with in_memory(services) as client:
        stored = structure_of(await client.call_tool("memory_storeKnowledge", given))
    item = await services.knowledge.get(stored["id"])
    assert stored["id"] != given["id"]
    assert item.created_at.year > 2000
    assert item.stored_by != "x"


@pytest.mark.parametrize("alphabet", ["plain words ", '"\\', "\x01", "漢字"], ids=ascii)
async def test_many_long_hits_come_in_pages_that_hold_all_of_them(
    services: Services, alphabet: str
) -> None:
    ids = set()
    async with in_memory(services) as client:
        for number in range(20):
            content = f"The zebra rule {number}: {alphabet * 5_000}"[:5_000]
            given = draft(number, content=content)
            stored = await client.call_tool("memory_storeKnowledge", given)
            ids.add(structure_of(stored)["id"])
        found: list[str] = []
        arguments = {"query": "zebra rule", "limit": 20, "explain": True}
        while True:
            result = await client.call_tool("memory_searchKnowledge", arguments)
            structure = structure_of(result)
            assert structure["results"]
            assert len(structure["results"]) == 1 or size_of(result) <= RESULT_SIZE
            assert structure["totalMatches"] == 20
            found += [hit["id"] for hit in structure["results"]]
            if "nextCursor" not in structure:
                break
            arguments["cursor"] = structure["nextCursor"]
    assert len(found) == len(ids)
    assert set(found) == ids


async def test_a_search_cursor_that_no_answer_gave_is_refused(services: Services) -> None:
    async with in_memory(services) as client:
        for cursor in ("x", "-1", "1.5", "²", "9" * 5_000):
            arguments = {"query": "zebra rule", "cursor": cursor}
            error = error_of(await client.call_tool("memory_searchKnowledge", arguments))
            assert error["error"] == "VALIDATION_ERROR"
