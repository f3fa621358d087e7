import json
from typing import Any

import pytest
from jsonschema import Draft7Validator
from mcp import Client

from kmem_desktop.bootstrap import Services
from kmem_desktop.domain.changes import Origin, OriginKind
from kmem_desktop.domain.graph import Entity, Relation
from kmem_desktop.server.tools.tool import RESULT_SIZE
from tests.server.clients import both_eras, in_memory, size_of, structure_of, text_of
from tests.server.corpora import golden_tools

ORIGIN = Origin(OriginKind.CLIENT, "Test")
ADA = {"name": "Ada", "entityType": "person", "observations": ["likes tea"]}
BOB = {"name": "Bob", "entityType": "person", "observations": []}
KNOWS = {"from": "Ada", "to": "Bob", "relationType": "knows"}
ENTITIES = {"entities": [ADA, BOB]}
RELATIONS = {"relations": [KNOWS]}

# One after the other on one memory: arguments, structure, and text where it is not the structure.
DIALOGUE: list[tuple[str, dict[str, Any], dict[str, Any], str | None]] = [
    ("create_entities", ENTITIES, ENTITIES, None),
    ("create_entities", ENTITIES, {"entities": []}, None),
    ("create_relations", RELATIONS, RELATIONS, None),
    ("create_relations", RELATIONS, {"relations": []}, None),
    (
        "add_observations",
        {"observations": [{"entityName": "Ada", "contents": ["likes tea", "is 36"]}]},
        {"results": [{"entityName": "Ada", "addedObservations": ["is 36"]}]},
        None,
    ),
    (
        "delete_observations",
        {"deletions": [{"entityName": "Ada", "observations": ["is 36", "nothing"]}]},
        {"success": True, "message": "Observations deleted successfully"},
        "Observations deleted successfully",
    ),
    ("read_graph", {}, {**ENTITIES, **RELATIONS}, None),
    ("search_nodes", {"query": "tea"}, {"entities": [ADA], **RELATIONS}, None),
    ("open_nodes", {"names": ["Bob", "Nope"]}, {"entities": [BOB], **RELATIONS}, None),
    (
        "delete_relations",
        RELATIONS,
        {"success": True, "message": "Relations deleted successfully"},
        "Relations deleted successfully",
    ),
    (
        "delete_entities",
        {"entityNames": ["Ada", "Nope"]},
        {"success": True, "message": "Entities deleted successfully"},
        "Entities deleted successfully",
    ),
    ("read_graph", {}, {"entities": [BOB], "relations": []}, None),
]


@both_eras
async def test_all_nine_tools_answer_as_the_reference_server_does(
    services: Services, era: str
) -> None:
    schemas = {tool["name"]: Draft7Validator(tool["outputSchema"]) for tool in golden_tools()}
    async with in_memory(services, tools="graph", era=era) as client:
        for tool, arguments, structure, text in DIALOGUE:
            result = await client.call_tool(tool, arguments)
            assert structure_of(result) == structure, tool
            schemas[tool].validate(result.structured_content)
            (only,) = structure.values() if tool.startswith(("create", "add")) else (structure,)
            assert text_of(result) == (text or json.dumps(only, ensure_ascii=False, indent=2))
            assert len(result.content) == 1
            assert "kmem/nextCursor" not in (result.meta or {})


async def everything(client: Client, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
    """Page through an answer; every page has to keep the limit and to bring something."""
    entities: list[dict[str, Any]] = []
    relations: list[dict[str, Any]] = []
    cursor: str | None = None
    while True:
        page = {**arguments, "cursor": cursor} if cursor else arguments
        result = await client.call_tool(tool, page)
        assert size_of(result) <= RESULT_SIZE
        structure = structure_of(result)
        assert json.loads(text_of(result)) == structure
        assert structure["entities"] or structure["relations"] or cursor is None
        entities += structure["entities"]
        relations += structure["relations"]
        cursor = (result.meta or {}).get("kmem/nextCursor")
        if cursor is None:
            return {"entities": joined(entities), "relations": relations}
        assert f'cursor "{cursor}"' in result.content[1].text  # type: ignore[union-attr]
        assert (result.meta or {})["kmem/truncated"] is True


def joined(entities: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Put an entity that came in several pages together again."""
    whole: dict[str, dict[str, Any]] = {}
    for entity in entities:
        known = whole.setdefault(entity["name"], {**entity, "observations": []})
        known["observations"] += entity["observations"]
    return list(whole.values())


async def test_a_graph_of_3000_entities_comes_in_pages_that_hold_exactly_all_of_it(
    services: Services,
) -> None:
    entities = [
        Entity(f"Entity {n}", "thing", tuple(f"fact {k} of {n}" for k in range(n % 4)))
        for n in range(3_000)
    ]
    relations = [Relation(f"Entity {n}", f"Entity {n + 1}", "precedes") for n in range(500)]
    for start in range(0, 3_000, 1_000):
        await services.graph.create_entities(entities[start : start + 1_000], ORIGIN)
    await services.graph.create_relations(relations, ORIGIN)
    async with in_memory(services) as client:
        graph = await everything(client, "read_graph", {})
        found = await everything(client, "search_nodes", {"query": "fact"})
        opened = await everything(client, "open_nodes", {"names": [e.name for e in entities]})
    assert [entity["name"] for entity in graph["entities"]] == [e.name for e in entities]
    assert sum(len(entity["observations"]) for entity in graph["entities"]) == 4_500
    assert [relation["from"] for relation in graph["relations"]] == [
        relation.from_name for relation in relations
    ]
    assert opened == graph
    assert 0 < len(found["entities"]) < 3_000


@pytest.mark.parametrize(
    "alphabet",
    ["plain words ", '"', "\\", '"\\', "\x00\x01\x1b\x7f", "\n\t", "漢字", "😀", "\u2028</"],
    ids=ascii,
)
async def test_a_large_entity_comes_in_pages_whatever_its_text_is_made_of(
    services: Services, alphabet: str
) -> None:
    observations = tuple(f"{n} {alphabet * (1_000 // len(alphabet))}" for n in range(200))
    await services.graph.create_entities([Entity("Big", "thing", observations)], ORIGIN)
    async with in_memory(services) as client:
        for tool, arguments in (("read_graph", {}), ("open_nodes", {"names": ["Big"]})):
            graph = await everything(client, tool, arguments)
            assert [tuple(one["observations"]) for one in graph["entities"]] == [observations]


async def test_an_observation_that_is_larger_than_a_page_still_comes_whole(
    services: Services,
) -> None:
    observations = ("\x01" * 20_000, "small")
    await services.graph.create_entities([Entity("Big", "thing", observations)], ORIGIN)
    async with in_memory(services) as client:
        first = await client.call_tool("read_graph", {})
        cursor = (first.meta or {})["kmem/nextCursor"]
        second = await client.call_tool("read_graph", {"cursor": cursor})
    assert structure_of(first)["entities"][0]["observations"] == [observations[0]]
    assert structure_of(second)["entities"][0]["observations"] == [observations[1]]


@pytest.mark.parametrize("cursor", ["x", "e1", "e-1.0", "r", "e1.1;r2", "e" + "9" * 30 + ".0"])
async def test_a_cursor_that_no_answer_gave_is_refused(services: Services, cursor: str) -> None:
    async with in_memory(services) as client:
        for tool, arguments in (("read_graph", {}), ("search_nodes", {"query": "tea"})):
            result = await client.call_tool(tool, {**arguments, "cursor": cursor})
            assert result.is_error
            assert "cursor" in text_of(result)


async def test_a_page_that_was_deleted_meanwhile_does_not_stop_the_reading(
    services: Services,
) -> None:
    entities = [Entity(f"Entity {n}", "thing", ("x" * 500,)) for n in range(200)]
    await services.graph.create_entities(entities, ORIGIN)
    async with in_memory(services) as client:
        first = await client.call_tool("read_graph", {})
        shown = len(structure_of(first)["entities"])
        names = [entity.name for entity in entities[shown : shown + 5]]
        await client.call_tool("delete_entities", {"entityNames": names})
        cursor = (first.meta or {})["kmem/nextCursor"]
        second = await client.call_tool("read_graph", {"cursor": cursor})
    assert structure_of(second)["entities"][0]["name"] == f"Entity {shown + 5}"


async def test_arguments_that_are_wrong_a_thousandfold_get_a_short_answer(
    services: Services,
) -> None:
    wrong: list[tuple[str, dict[str, Any]]] = [
        ("create_entities", {"entities": [1] * 5_000}),
        ("create_entities", {"entities": [{**ADA, "name": ""}] * 1_000}),
        ("create_entities", {"entities": [{**ADA, "observations": [""] * 1_000}] * 10}),
        ("add_observations", {"observations": [{"entityName": "n" * 90_000, "contents": []}]}),
        ("memory_storeKnowledge", {"title": "t" * 90_000, "tags": [1] * 5_000}),
        ("memory_storeKnowledge", {"scope": "s" * 90_000, "category": "c" * 90_000}),
        ("memory_deleteKnowledge", {"id": "i" * 90_000}),
        ("n" * 90_000, {}),
    ]
    async with in_memory(services) as client:
        for tool, arguments in wrong:
            result = await client.call_tool(tool, arguments)
            assert result.is_error
            assert size_of(result) <= RESULT_SIZE, (tool[:40], size_of(result))


async def test_a_number_with_ten_thousand_digits_is_just_a_wrong_number(
    services: Services,
) -> None:
    async with in_memory(services) as client:
        result = await client.call_tool(
            "memory_searchKnowledge", {"query": "some words", "limit": 10**4_200}
        )
    assert "limit must be at most 20" in text_of(result)


async def test_names_by_the_ten_thousand_are_looked_up(services: Services) -> None:
    names = [f"name {n}" for n in range(40_000)]
    async with in_memory(services) as client:
        await client.call_tool("create_entities", {"entities": [{**ADA, "name": names[-1]}]})
        opened = structure_of(await client.call_tool("open_nodes", {"names": names}))
        assert len(opened["entities"]) == 1
        structure_of(await client.call_tool("delete_entities", {"entityNames": names}))
        assert structure_of(await client.call_tool("read_graph", {}))["entities"] == []
