from dataclasses import replace
from datetime import UTC, datetime

import pytest

from kmem_desktop.domain.knowledge import Category, KnowledgeItem
from kmem_desktop.search import ranking
from kmem_desktop.search.ranking import explain, score, words_sentence

NOW = datetime(2026, 5, 3, tzinfo=UTC)
ITEM = KnowledgeItem(
    id=1,
    uuid="u",
    title="Build API responses from DTO classes",
    content="...",
    tags=("api", "dto"),
    scope="project:shop",
    category=Category.RULE,
    priority=5,
    confidence=1.0,
    source="manual",
    stored_by="test",
    created_at=NOW,
    updated_at=NOW,
)


def scored(item: KnowledgeItem = ITEM, relevance: float = 1.0, **query: object) -> float:
    """Return the score of an item for a query."""
    scope = query.get("scope")
    tags = query.get("tags", ())
    assert scope is None or isinstance(scope, str)
    assert isinstance(tags, tuple)
    return score(explain(item, 3.0, relevance, scope=scope, context_tags=tags))


def test_the_title_weighs_ten_the_content_five_and_tags_one() -> None:
    title, content, tags = ranking.COLUMN_WEIGHTS[:3]
    assert (title / tags, content / tags) == (10.0, 5.0)


@pytest.mark.parametrize(("priority", "boost"), [(1, 0.8), (5, 1.0), (6, 1.05), (10, 1.25)])
def test_priority_boosts_by_a_twentieth_a_step(priority: int, boost: float) -> None:
    assert scored(replace(ITEM, priority=priority)) == pytest.approx(boost)


@pytest.mark.parametrize("confidence", [0.0, 0.8, 1.0])
def test_confidence_is_a_factor(confidence: float) -> None:
    assert scored(replace(ITEM, confidence=confidence)) == pytest.approx(confidence)


@pytest.mark.parametrize(
    ("tags", "boost"), [((), 1.0), (("api",), 1.1), (("API", "dto", "x"), 1.2), (("ap",), 1.0)]
)
def test_each_matching_tag_boosts_by_a_tenth(tags: tuple[str, ...], boost: float) -> None:
    assert scored(tags=tags) == pytest.approx(boost)


@pytest.mark.parametrize(
    ("item_scope", "asked", "boost"),
    [
        ("project:shop", "project:shop", 0.5),
        ("global", "global", 0.5),
        ("global", "project:shop", 0.2),
        ("global", None, 0.2),
        ("project:other", "project:shop", 0.0),
        ("project:shop", None, 0.0),
    ],
)
def test_the_scope_is_added(item_scope: str, asked: str | None, boost: float) -> None:
    item = replace(ITEM, scope=item_scope)
    assert scored(item, 0.0, scope=asked) == pytest.approx(boost)


def test_the_formula_is_the_one_of_the_design() -> None:
    item = replace(ITEM, priority=8, confidence=0.7)
    expected = 0.6 * (1 + 3 * 0.05) * 0.7 * 1.1 + 0.5
    assert scored(item, 0.6, scope="project:shop", tags=("api",)) == pytest.approx(expected)


def test_the_factors_are_in_the_explanation() -> None:
    item = replace(ITEM, priority=8, confidence=0.7)
    explanation = explain(item, 3.0, 0.6, scope="project:shop", context_tags=("api",))
    assert explanation.bm25 == 3.0
    assert explanation.relevance == 0.6
    assert explanation.priority_boost == pytest.approx(1.15)
    assert explanation.confidence == 0.7
    assert explanation.tag_boost == pytest.approx(1.1)
    assert explanation.scope_boost == 0.5


def test_the_scope_does_not_decide_everything() -> None:
    strong = replace(ITEM, scope="project:other")
    assert scored(strong, 1.0) > scored(replace(ITEM, scope="global"), 0.5)


@pytest.mark.parametrize("scope", [None, "project:shop"])
def test_more_of_anything_never_lowers_the_score(scope: str | None) -> None:
    by_relevance = [scored(ITEM, r / 10, scope=scope) for r in range(11)]
    by_priority = [scored(replace(ITEM, priority=p), scope=scope) for p in range(1, 11)]
    by_confidence = [scored(replace(ITEM, confidence=c / 10), scope=scope) for c in range(11)]
    by_tags = [scored(ITEM, scope=scope, tags=t) for t in ((), ("api",), ("api", "dto"))]
    for scores in (by_relevance, by_priority, by_confidence, by_tags):
        assert scores == sorted(scores)
        assert scores[0] < scores[-1]


def test_the_reason_says_words_tags_scope_and_priority() -> None:
    item = replace(ITEM, priority=8)
    explanation = explain(
        item, 3.0, 1.0, scope="project:shop", context_tags=("api",), words=("build", "dto")
    )
    assert explanation.sentence == (
        "Has the words build and dto; tagged api; same project; priority 8."
    )


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ((), ""),
        (("a",), "Has the word a"),
        (("a", "b", "c"), "Has the words a, b and c"),
    ],
)
def test_words_are_listed_as_people_do(words: tuple[str, ...], sentence: str) -> None:
    assert words_sentence(words) == sentence
