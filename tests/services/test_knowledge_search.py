from datetime import UTC, datetime

import pytest

from kmem_desktop.bootstrap import Services
from kmem_desktop.domain.knowledge import Category, KnowledgeQuery, KnowledgeResults
from kmem_desktop.errors import InvalidInputError
from tests.services.memory import ORIGIN, entity, stored


async def search(services: Services, text: str, **fields: object) -> KnowledgeResults:
    """Search with some fields of the query."""
    return await services.knowledge.search(KnowledgeQuery(text, **fields))  # type: ignore[arg-type]


def titles(results: KnowledgeResults) -> list[str]:
    """Return the titles of the hits."""
    return [hit.item.title for hit in results.hits]


async def test_an_empty_memory_has_no_answer(services: Services) -> None:
    results = await search(services, "anything at all")
    assert results == KnowledgeResults((), 0, "anything at all")


async def test_a_question_finds_what_shares_a_word_with_it(services: Services) -> None:
    await stored(services, "Use pnpm as package manager")
    await stored(services, "Deploy on Tuesdays only", content="Friday deploys woke people up. " * 3)
    results = await search(services, "Which package manager should I use?")
    assert titles(results) == ["Use pnpm as package manager"]


async def test_the_title_weighs_more_than_the_content(services: Services) -> None:
    in_content = "The retry policy is three times with a growing delay between the tries."
    await stored(services, "How failing calls are treated", content=in_content)
    await stored(services, "Retry policy of the client", content="Three times with a delay. " * 3)
    assert titles(await search(services, "retry policy"))[0] == "Retry policy of the client"


async def test_the_scope_does_not_decide_a_store_of_two(services: Services) -> None:
    await stored(services, "Use pnpm as package manager", scope="repo:shop")
    await stored(
        services,
        "Build responses from DTO classes",
        content="A package of classes that stands between the schema and the wire, for all APIs.",
    )
    results = await search(services, "which package manager should I use?")
    assert titles(results)[0] == "Use pnpm as package manager"


async def test_a_scope_finds_itself_and_global_but_no_other(services: Services) -> None:
    for scope in ("global", "project:a", "project:b"):
        await stored(services, f"Cache rule of {scope}", scope=scope)
    found = await search(services, "cache rule", scope="PROJECT:A", limit=20)
    assert {hit.item.scope for hit in found.hits} == {"global", "project:a"}
    assert found.hits[0].item.scope == "project:a"
    everything = await search(services, "cache rule", limit=20)
    assert everything.total_matches == 3


async def test_category_and_confidence_narrow(services: Services) -> None:
    await stored(services, "Cache rule number one", category="rule", confidence=0.9)
    await stored(services, "Cache decision number two", category="decision", confidence=0.4)
    decisions = await search(services, "cache", category=Category.DECISION)
    assert titles(decisions) == ["Cache decision number two"]
    assert decisions.total_matches == 1
    sure = await search(services, "cache", min_confidence=0.9)
    assert titles(sure) == ["Cache rule number one"]
    assert (await search(services, "cache", min_confidence=0.91)).hits == ()


async def test_the_limit_cuts_the_hits_but_not_the_count(services: Services) -> None:
    for number in range(25):
        await stored(services, f"Cache rule number {number}")
    results = await search(services, "cache rule")
    assert (len(results.hits), results.total_matches) == (5, 25)
    assert len((await search(services, "cache rule", limit=20)).hits) == 20
    assert len((await search(services, "cache rule", limit=1)).hits) == 1


async def test_more_matches_than_candidates_are_counted(services: Services) -> None:
    for number in range(130):
        await stored(services, f"Cache rule number {number}")
    assert (await search(services, "cache rule")).total_matches == 130


async def test_the_factors_of_a_hit_make_its_score(services: Services) -> None:
    await stored(services, "Cache rule for the shop", scope="project:shop", priority=9)
    await stored(services, "Cache rule for everyone", tags=("api", "cache"), confidence=0.5)
    results = await search(
        services, "cache rule", scope="project:shop", context_tags=("api", "CACHE", "x")
    )
    assert len(results.hits) == 2
    for hit in results.hits:
        e = hit.explanation
        product = e.relevance * e.priority_boost * e.confidence * e.tag_boost
        assert hit.score == pytest.approx(product + e.scope_boost)
        assert 0 <= e.relevance <= 1
        assert e.words == ("cache", "rule")
        assert e.sentence.startswith("Has the words cache and rule")
    shop, everyone = results.hits
    assert shop.explanation.scope_boost == 0.5
    assert shop.explanation.priority_boost == pytest.approx(1.2)
    assert everyone.explanation.scope_boost == 0.2
    assert everyone.explanation.tag_boost == pytest.approx(1.2)
    assert max(hit.explanation.relevance for hit in results.hits) == 1.0


async def test_hits_stand_in_the_order_of_their_scores(services: Services) -> None:
    for number in range(10):
        await stored(services, f"Cache rule number {number}", priority=number + 1)
    hits = (await search(services, "cache rule number", limit=20)).hits
    scores = [hit.score for hit in hits]
    assert scores == sorted(scores, reverse=True)
    assert hits[0].item.priority == 10


async def test_operators_in_a_question_narrow_it(services: Services) -> None:
    await stored(services, "Cache rule of the api", tags=("api",))
    await stored(services, "Cache rule of the web", tags=("web",), category="decision")
    await stored(services, "Cache rule of a project", tags=("cli",), scope="project:a")
    assert titles(await search(services, "cache tag:web")) == ["Cache rule of the web"]
    assert titles(await search(services, "cache type:decision")) == ["Cache rule of the web"]
    assert titles(await search(services, "cache scope:project:a")) == ["Cache rule of a project"]
    assert (await search(services, "cache before:2020")).hits == ()
    year = datetime.now(UTC).year
    assert (await search(services, f"cache after:{year}")).total_matches == 3
    assert (await search(services, "cache -web")).total_matches == 2


async def test_entities_are_not_knowledge(services: Services) -> None:
    await entity(services, "Cache", "the cache rule of the graph")
    assert (await search(services, "cache rule")).hits == ()


async def test_a_deleted_item_is_not_found(services: Services) -> None:
    item = await stored(services, "Cache rule for the shop")
    await services.knowledge.delete(item.id, ORIGIN)
    assert (await search(services, "cache rule")).total_matches == 0


async def test_a_tag_is_found_as_a_word(services: Services) -> None:
    await stored(services, "Where the settings are kept", tags=("kubernetes",))
    assert (await search(services, "kubernetes")).total_matches == 1


async def test_a_query_of_marks_finds_nothing(services: Services) -> None:
    await stored(services, "Cache rule for the shop")
    assert (await search(services, "???")).hits == ()


async def test_a_query_that_is_too_short_is_refused(services: Services) -> None:
    with pytest.raises(InvalidInputError, match="at least 3"):
        await search(services, "  ?  ")
