"""The optional argument of the two search tools: why an expected item was not there."""

import json
from typing import Any

from kmem_desktop.bootstrap import Services
from kmem_desktop.server.tools.knowledge_tools import QUOTED
from tests.server.clients import both_eras, in_memory
from tests.services.memory import stored

AT_WORK = "The night crew keeps a list of what was done at work, on paper, in the hall."


async def called(services: Services, era: str, tool: str, arguments: dict[str, Any]) -> Any:
    async with in_memory(services, era=era) as client:
        return await client.call_tool(tool, arguments)


async def two_caches(services: Services) -> tuple[str, str]:
    """Store a better and a worse answer to "cache rule"; return their UUIDs."""
    better = await stored(services, "Cache rule of the web pages")
    worse = await stored(services, "Letters of the night crew", content=f"One cache. {AT_WORK}")
    return better.uuid, worse.uuid


@both_eras
async def test_knowledge_search_tells_why_not(services: Services, era: str) -> None:
    better, worse = await two_caches(services)
    arguments = {"query": "cache rule", "limit": 1, "whyNot": worse}
    answer = await called(services, era, "memory_searchKnowledge", arguments)
    assert not answer.is_error
    value = answer.structured_content
    assert json.loads(answer.content[0].text) == value
    assert [hit["id"] for hit in value["results"]] == [better]
    told = value["whyNot"]
    assert (told["id"], told["title"], told["place"]) == (worse, "Letters of the night crew", None)
    assert (told["rank"], told["total"], told["shown"]) == (2, 2, 1)
    assert told["causes"] == ["beyond_limit", "weaker"]
    assert told["sentence"].startswith("Ranked 2 of 2; the first was shown.")
    assert told["expected"]["words"] == ["cache"]
    assert told["comparedWith"]["id"] == better
    assert told["tried"][0] == {"place": 2, "limit": 2}
    assert answer.content[1].text == QUOTED


@both_eras
async def test_search_of_everything_tells_why_not_by_either_id(
    services: Services, era: str
) -> None:
    better, worse = await two_caches(services)
    item = await services.knowledge.get(worse)
    for key in (worse, str(item.id)):
        arguments = {"query": "cache rule", "limit": 1, "why_not": key}
        answer = await called(services, era, "search_knowledge", arguments)
        value = answer.structured_content
        assert [entry["id"] for entry in value["results"]] == [better]
        assert value["why_not"]["id"] == worse
        assert value["why_not"]["rank"] == 2


@both_eras
async def test_without_the_argument_the_answer_is_as_before(services: Services, era: str) -> None:
    await two_caches(services)
    for tool, name in (("memory_searchKnowledge", "whyNot"), ("search_knowledge", "why_not")):
        answer = await called(services, era, tool, {"query": "cache rule"})
        assert name not in answer.structured_content


@both_eras
async def test_an_unknown_id_is_an_error_of_the_tool(services: Services, era: str) -> None:
    for tool, name in (("memory_searchKnowledge", "whyNot"), ("search_knowledge", "why_not")):
        answer = await called(services, era, tool, {"query": "cache rule", name: "nothing"})
        assert answer.is_error
        error = json.loads(answer.content[0].text)
        assert error["error"] == "NOT_FOUND_ERROR"
        assert error["message"] == "There is no item nothing."


async def test_the_answer_stays_within_its_size_with_the_longest_texts(services: Services) -> None:
    for number in range(20):
        await stored(
            services,
            f"Cache rule number {number} " + "of a very long title " * 3,
            content=f"{number} cache rule " + "ü “quoted” text " * 300,
        )
    expected = await stored(services, "Letters of the night crew " + "and of the day crew " * 3)
    for tool, name, limit in (
        ("memory_searchKnowledge", "whyNot", 20),
        ("search_knowledge", "why_not", 50),
    ):
        arguments = {"query": "cache rule", "limit": limit, name: expected.uuid}
        answer = await called(services, "legacy", tool, arguments)
        size = len(json.dumps(answer.structured_content, ensure_ascii=False))
        size += sum(len(content.text) for content in answer.content)
        assert size <= 40_000
        assert answer.structured_content[name]["id"] == expected.uuid
