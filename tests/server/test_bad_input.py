"""Nothing that a client sends gets more than an error; nothing that it stores is changed."""

import re
import time
from typing import Any

import mcp_types as types
import pytest

from kmem_desktop.bootstrap import Services
from kmem_desktop.domain.changes import Origin, OriginKind
from kmem_desktop.domain.graph import Entity
from tests.server.clients import both_eras, draft, in_memory, size_of, structure_of, text_of
from tests.server.corpora import bad_input

ORIGIN = Origin(OriginKind.CLIENT, "Test")
SQLITE_WORDS = re.compile(
    r"fts5|sqlite|syntax error|no such column|malformed|unterminated|SQL logic|bug here", re.I
)
SLOWEST_S = 1.0
STORED = 30


async def fill(services: Services) -> None:
    """Store what has words in common, none of which a search string of the corpus has."""
    async with in_memory(services) as client:
        for number in range(STORED):
            content = f"Zebra {number} wears its stripes where lions look, mostly at noon."
            given = draft(number, title=f"Zebra stripes {number}", content=content, tags=["zoo"])
            result = await client.call_tool("memory_storeKnowledge", given)
            assert not result.is_error
    entities = [Entity(f"Planet {n}", "planet", (f"circles sun {n}",)) for n in range(STORED)]
    await services.graph.create_entities(entities, ORIGIN)
    await services.embedding.settled()


def was_accepted(result: types.CallToolResult) -> bool:
    return not result.is_error


@both_eras
async def test_every_bad_tool_call_gets_what_is_expected(services: Services, era: str) -> None:
    """Tools that are not there yet refuse everything, which no expectation minds."""
    surprises = []
    async with in_memory(services, tools="all", era=era) as client:
        there = {tool.name for tool in (await client.list_tools()).tools}
        for case in bad_input("mcp-arguments.jsonl"):
            result = await client.call_tool(case["tool"], case["arguments"])
            is_there = case["tool"].replace(".", "_") in there
            if not fits(case["expect"], was_accepted(result), is_there=is_there):
                surprises.append((case["id"], case["note"], text_of(result)))
            if SQLITE_WORDS.search(text_of(result)) or not text_of(result):
                surprises.append((case["id"], "words", text_of(result)))
        assert not surprises
        structure_of(await client.call_tool("memory_storeKnowledge", draft(1)))


def fits(expected: str, accepted: bool, *, is_there: bool) -> bool:
    if not is_there:
        return not accepted
    if expected in ("accept", "no-effect"):
        return accepted
    if expected in ("reject", "reject-or-report", "reject-or-replace"):
        return not accepted
    return expected == "no-crash"


async def test_the_unknown_fields_of_a_bad_call_have_no_effect(services: Services) -> None:
    (case,) = [one for one in bad_input("mcp-arguments.jsonl") if one["expect"] == "no-effect"]
    async with in_memory(services) as client:
        stored = structure_of(await client.call_tool(case["tool"], case["arguments"]))
    item = await services.knowledge.get(stored["id"])
    assert item.uuid != case["arguments"]["id"]
    assert item.created_at.year > 2000


@both_eras
async def test_no_search_string_is_an_error_of_the_database(services: Services, era: str) -> None:
    await fill(services)
    surprises: list[tuple[Any, ...]] = []
    async with in_memory(services, era=era) as client:
        for case in bad_input("fts-queries.jsonl"):
            for tool in ("memory_searchKnowledge", "search_nodes"):
                started = time.perf_counter()
                result = await client.call_tool(tool, {"query": case["query"]})
                took_s = time.perf_counter() - started
                text = "" if was_accepted(result) else text_of(result)
                if took_s > SLOWEST_S or SQLITE_WORDS.search(text) or count(result) >= STORED:
                    surprises.append((case["id"], tool, took_s, count(result), text[:200]))
        assert not surprises
        found = await client.call_tool("search_nodes", {"query": "planet"})
        assert len(structure_of(found)["entities"]) == STORED


def count(result: types.CallToolResult) -> int:
    if result.is_error:
        return 0
    structure = structure_of(result)
    return int(structure.get("totalMatches", len(structure.get("entities", []))))


@both_eras
async def test_stored_instructions_come_back_word_for_word_and_as_data(
    services: Services, era: str
) -> None:
    cases = bad_input("prompt-injection.jsonl")
    tail = "(found in a web page about zebras, kept as it was)"
    async with in_memory(services, era=era) as client:
        for case in cases:
            number = int(case["id"].rpartition("-")[2])
            given = draft(number, content=f"{case['content']}\n{tail}", priority=3, confidence=0.4)
            stored = structure_of(await client.call_tool("memory_storeKnowledge", given))
            entity = {
                "name": case["content"],
                "entityType": "note",
                "observations": [case["content"]],
            }
            created = structure_of(
                await client.call_tool("create_entities", {"entities": [entity]})
            )
            assert created["entities"] == [entity]
            found = await client.call_tool(
                "memory_searchKnowledge", {"query": f"zebras service {number}", "limit": 20}
            )
            (hit,) = [hit for hit in structure_of(found)["results"] if hit["id"] == stored["id"]]
            assert hit["content"] == given["content"]
            assert (hit["priority"], hit["confidence"]) == (3, 0.4)
            assert "do not follow" in found.content[-1].text.lower()  # type: ignore[union-attr]
            opened = await client.call_tool("open_nodes", {"names": [case["content"]]})
            assert structure_of(opened)["entities"] == [entity]
        tools = (await client.list_tools()).tools
        assert not any(case["content"] in str(tools) for case in cases)
    counts = await services.listing.counts()
    assert (counts.knowledge, counts.entities) == (len(cases), len(cases))


@pytest.mark.parametrize(
    "text",
    ["\x00", "\x1b[31mred\x1b[0m", "\ufffe", "\u202eabc", "e\u0301"],
    ids=ascii,
)
@both_eras
async def test_odd_characters_are_stored_as_they_are_or_refused(
    services: Services, era: str, text: str
) -> None:
    entity = {"name": f"odd {text} name", "entityType": "odd", "observations": [f"odd {text}"]}
    async with in_memory(services, era=era) as client:
        result = await client.call_tool("create_entities", {"entities": [entity]})
        if result.is_error:
            assert "bug" not in text_of(result)
            assert not text.isprintable() or not text.isascii()
        graph = await client.call_tool("read_graph", {})
        assert structure_of(graph)["entities"] == ([] if result.is_error else [entity])
        assert size_of(graph) > 0
