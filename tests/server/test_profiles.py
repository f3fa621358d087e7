import json
import re
from typing import Any

import pytest

from kmem_desktop.bootstrap import Services
from kmem_desktop.errors import InvalidInputError
from kmem_desktop.server.tools.profiles import (
    DEFAULT_PROFILES,
    PROFILES,
    called_name,
    profile_names,
    tools_of,
)
from kmem_desktop.server.tools.tool import ASSUMED
from tests.server.clients import both_eras, error_of, in_memory
from tests.server.corpora import golden_tools

REFERENCE_SIZE = 10_750
LARGEST_TOOL = 700
# The seeds give these so many fields, each with its limits.
LARGER_TOOLS = {
    "memory_storeKnowledge": 1_020,
    "memory_searchKnowledge": 810,
    "memory_updateKnowledge": 760,
    "add_exchange": 740,
    "search_knowledge": 850,
    "memory_rules_query_directives": 810,
}
NAME = re.compile(r"^[a-zA-Z0-9_]{1,40}$")
HINTS = ("readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint")


async def listed(services: Services, era: str, tools: str = "") -> list[dict[str, Any]]:
    async with in_memory(services, tools=tools, era=era) as client:
        found = await client.list_tools()
    return [tool.model_dump(mode="json", by_alias=True, exclude_none=True) for tool in found.tools]


def wire_size(value: Any) -> int:
    return len(json.dumps(value, ensure_ascii=False, separators=(",", ":")))


def without_descriptions(schema: Any) -> Any:
    if isinstance(schema, dict):
        return {
            key: without_descriptions(value)
            for key, value in schema.items()
            if key != "$schema" and not (key == "description" and isinstance(value, str))
        }
    if isinstance(schema, list):
        return [without_descriptions(value) for value in schema]
    return schema


@both_eras
async def test_every_client_accepts_the_listed_names(services: Services, era: str) -> None:
    for tool in await listed(services, era, "all"):
        assert NAME.match(tool["name"]), tool["name"]
        assert "__" not in tool["name"]


@both_eras
async def test_every_tool_has_a_title_a_description_and_its_hints(
    services: Services, era: str
) -> None:
    known = {tool.name: tool for tools in PROFILES.values() for tool in tools}
    for tool in await listed(services, era, "all"):
        assert tool["title"]
        assert tool["description"]
        assert tool["inputSchema"]["type"] == "object"
        whole = known[tool["name"]].annotations
        assert sorted(whole) == sorted(HINTS)
        told = {**ASSUMED, **tool["annotations"]}
        wrong = {hint for hint in HINTS if told[hint] is not whole[hint]}
        # What is only read is not destroyed, and reading again changes nothing.
        assert wrong <= ({"destructiveHint", "idempotentHint"} if told["readOnlyHint"] else set())


async def test_limits_are_checked_although_they_are_not_listed(services: Services) -> None:
    async with in_memory(services) as client:
        error = error_of(await client.call_tool("memory_searchKnowledge", {"query": "a" * 501}))
    assert "query must be at most 500 characters" in error["message"]


async def test_the_default_profile_costs_no_more_than_the_reference_server_alone(
    services: Services,
) -> None:
    tools = await listed(services, "legacy")
    sizes = {tool["name"]: wire_size(tool) for tool in tools}
    total = wire_size({"tools": tools})
    for name, size in sizes.items():
        print(f"{name:26} {size:6}")
    print(f"{'tools/list':26} {total:6} of {REFERENCE_SIZE}")
    assert total <= REFERENCE_SIZE
    too_large = {
        name: size for name, size in sizes.items() if size > LARGER_TOOLS.get(name, LARGEST_TOOL)
    }
    assert not too_large


@both_eras
async def test_the_tools_are_listed_in_the_same_order_each_time(
    services: Services, era: str
) -> None:
    names = [tool["name"] for tool in await listed(services, era, "all")]
    assert names == [tool["name"] for tool in await listed(services, era, "all")]
    assert names == [tool.name for profile in PROFILES.values() for tool in profile]


async def test_output_schemas_are_listed_in_the_drop_in_profile_only(services: Services) -> None:
    assert all("outputSchema" in tool for tool in await listed(services, "legacy", "graph"))
    assert not any("outputSchema" in tool for tool in await listed(services, "legacy"))


async def test_the_drop_in_profile_lists_the_reference_servers_tools(services: Services) -> None:
    ours = await listed(services, "legacy", "graph")
    assert [tool["name"] for tool in ours] == [tool["name"] for tool in golden_tools()]
    for tool, golden in zip(ours, golden_tools(), strict=True):
        assert tool["title"] == golden["title"]
        assert tool["annotations"] == golden["annotations"]
        assert tool["outputSchema"] == without_descriptions(golden["outputSchema"])


async def test_the_drop_in_profile_takes_the_reference_servers_arguments(
    services: Services,
) -> None:
    """What is ours is the optional cursor where an answer may be large."""
    for tool, golden in zip(await listed(services, "legacy", "graph"), golden_tools(), strict=True):
        schema = without_descriptions(tool["inputSchema"])
        has_cursor = schema["properties"].pop("cursor", None) is not None
        assert has_cursor == tool["annotations"]["readOnlyHint"]
        expected = {"required": [], **without_descriptions(golden["inputSchema"])}
        assert schema == expected


def test_no_profiles_mean_the_default_ones() -> None:
    assert profile_names("") == profile_names(" , ") == DEFAULT_PROFILES


def test_all_means_every_profile() -> None:
    assert profile_names("ALL") == tuple(PROFILES)


def test_a_profile_named_twice_counts_once() -> None:
    assert profile_names("graph, Graph") == ("graph",)


def test_an_unknown_profile_is_named_with_those_there_are() -> None:
    there_are = f"{', '.join(PROFILES)} and all, not nope"
    with pytest.raises(InvalidInputError, match=there_are) as caught:
        profile_names("graph,nope")
    assert caught.value.code == "VALIDATION_ERROR"


def test_the_seeds_dotted_names_lead_to_the_listed_ones() -> None:
    tools = tools_of(profile_names("all"))
    dotted = ("memory.storeKnowledge", "memory.searchKnowledge", "mcp__kmem__read_graph")
    assert all(called_name(name) in tools for name in dotted)
