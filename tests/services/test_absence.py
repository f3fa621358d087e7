"""Why an item was not in an answer: the reasons, the places, and what was tried."""

import re
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from typing import Any

import apsw
import pytest

from kmem_desktop.bootstrap import Services, opened_services
from kmem_desktop.config import Paths
from kmem_desktop.domain.absence import Absence, Cause
from kmem_desktop.domain.changes import Noun
from kmem_desktop.domain.found import EntryQuery
from kmem_desktop.domain.knowledge import Category, KnowledgeQuery
from kmem_desktop.domain.sessions.conversations import TurnDraft
from kmem_desktop.errors import InvalidInputError, NotFoundError
from kmem_desktop.search.meaning import Meaning
from kmem_desktop.services import found
from kmem_desktop.services.listing import View
from kmem_desktop.services.retrieval import absence as absence_module
from kmem_desktop.services.retrieval.hits import Breadth
from kmem_desktop.services.sessions.exchanges import SessionDraft
from tests.services.memory import ORIGIN, WINDOW, entity, stored

AT_WORK = "The night crew keeps a list of what was done at work, on paper, in the hall."


@pytest.fixture
async def meaningful(profile: Paths) -> AsyncIterator[Services]:
    """The use cases with the bundled embedding model."""
    async with opened_services(profile) as opened:
        yield opened


def causes(absence: Absence) -> list[Cause]:
    return [reason.cause for reason in absence.reasons]


async def three_caches(services: Services) -> list[int]:
    """Store three items, each a weaker answer to "cache rule" than the one before."""
    first = await stored(
        services, "Cache rule of the web pages", content=f"The cache rule. {AT_WORK}"
    )
    second = await stored(services, "Cache of the worker", content=f"One rule is kept. {AT_WORK}")
    third = await stored(services, "Letters of the night crew", content=f"A rule. {AT_WORK} No.")
    return [first.id, second.id, third.id]


async def test_what_was_there_is_told_with_its_place(services: Services) -> None:
    ids = await three_caches(services)
    query = KnowledgeQuery("cache rule", limit=2)
    absence = await services.absence.why_not(query, ids[1])
    assert (absence.place, absence.rank, causes(absence)) == (2, 2, [Cause.THERE])
    assert absence.sentence.startswith("It was there: place 2 of 3. “Cache rule of the web pages”,")
    hits = (await services.knowledge.search(query)).hits
    assert [hit.item.id for hit in hits] == ids[:2]


async def test_what_ranked_too_low_is_told_with_its_rank_and_what_was_better(
    services: Services,
) -> None:
    ids = await three_caches(services)
    absence = await services.absence.why_not(KnowledgeQuery("cache rule", limit=2), ids[2])
    assert absence.place is None
    assert (absence.rank, absence.total, absence.shown) == (3, 3, 2)
    assert causes(absence) == [Cause.BEYOND_LIMIT, Cause.WEAKER]
    said = absence.sentence
    assert "Ranked 3 of 3; the first 2 were shown." in said
    assert "It has “rule” only in its text, but not “cache”." in said
    assert "“Cache of the worker”, the last one shown, has “cache” too." in said
    assert absence.own is not None
    assert absence.other is not None
    assert absence.own.columns == {"rule": ("body",)}
    assert (absence.other.item.id, absence.other.place) == (ids[1], 2)
    assert absence.own.explanation.bm25 < absence.other.explanation.bm25


async def test_what_is_suggested_finds_the_item(services: Services) -> None:
    ids = await three_caches(services)
    query = KnowledgeQuery("cache rule", limit=2)
    absence = await services.absence.why_not(query, ids[2])
    by_limit, by_word = absence.suggestions
    assert by_limit.sentence == "Asking for 3 results would show it."
    wider = await services.knowledge.search(KnowledgeQuery("cache rule", limit=by_limit.limit or 0))
    assert ids[2] in [hit.item.id for hit in wider.hits]
    found_ids = [
        hit.item.id
        for hit in (await services.knowledge.search(KnowledgeQuery(by_word.question, limit=2))).hits
    ]
    assert found_ids.index(ids[2]) + 1 == by_word.place


async def test_every_filter_that_keeps_an_item_out_is_named(services: Services) -> None:
    item = await stored(
        services, "Cache rule of the shop", scope="project:shop", category="rule", confidence=0.4
    )
    query = KnowledgeQuery(
        "cache tag:web",
        scope="project:site",
        category=Category.DECISION,
        min_confidence=0.5,
    )
    absence = await services.absence.why_not(query, item.uuid)
    assert causes(absence) == [
        Cause.OTHER_SCOPE,
        Cause.OTHER_TAGS,
        Cause.OTHER_TYPE,
        Cause.LOW_CONFIDENCE,
    ]
    assert absence.sentence == (
        "It is of scope project:shop; the question was asked in project:site and global."
        " It does not have the tag “web”, which the question asks for."
        " It is of type rule; the question asks for decision."
        " Its confidence 0.4 is below the 0.5 that the question asks for."
        " Without the scope, the tag, the category and the least confidence it would be at place 1."
    )


async def test_dates_and_sessions_keep_items_out_too(services: Services) -> None:
    item = await stored(services, "Cache rule of the shop")
    said = await services.sessions.add_exchange(
        SessionDraft(), [TurnDraft("user", "Where is the cache?")], ORIGIN
    )
    now = datetime.now(UTC)
    query = EntryQuery(
        f"cache after:{now.year + 1}", session_uuid=said.session_uuid, types=("question",)
    )
    absence = await services.absence.why_not(query, item.id)
    assert set(causes(absence)) == {Cause.TOO_OLD, Cause.OTHER_SESSION, Cause.OTHER_TYPE}
    assert f"not older than 1 Jan {now.year + 1}." in absence.sentence
    assert "It belongs to no session" in absence.sentence
    older = await services.absence.why_not(KnowledgeQuery("cache before:2020"), item.id)
    assert causes(older) == [Cause.TOO_NEW]


async def test_an_excluded_word_is_named(services: Services) -> None:
    item = await stored(services, "Cache rule of the shop", tags=("redis",))
    absence = await services.absence.why_not(KnowledgeQuery("cache -redis -pnpm"), item.id)
    assert causes(absence) == [Cause.UNWANTED_WORD]
    assert absence.sentence == "It has “redis”, which the question excludes."


async def test_a_tool_that_looks_elsewhere_says_so(services: Services) -> None:
    entity_id = await entity(services, "cache", "keeps pages")
    absence = await services.absence.why_not(KnowledgeQuery("cache"), entity_id)
    assert absence.sentence == "It is an entity; the question was asked of knowledge only."
    view = View("cache", (Noun.KNOWLEDGE,))
    absence = await services.absence.why_not(view, entity_id)
    assert absence.suggestions[0].sentence == "Without that limit it would be at place 1."


async def test_a_question_without_a_shared_word_is_told_so(services: Services) -> None:
    item = await stored(services, "Cache rule of the shop")
    await stored(services, "Deploy on Tuesdays only")
    absence = await services.absence.why_not(KnowledgeQuery("deploy tuesdays"), item.id)
    assert causes(absence) == [Cause.NO_SHARED_WORD, Cause.NO_MEANING]
    assert "It has none of your words. Its meaning was not compared: " in absence.sentence
    assert (absence.rank, absence.place) == (None, None)


async def test_a_question_of_signs_asks_for_nothing(services: Services) -> None:
    item = await stored(services, "Cache rule of the shop")
    absence = await services.absence.why_not(KnowledgeQuery("?!?"), item.id)
    assert causes(absence) == [Cause.NOTHING_ASKED]


async def test_words_that_stand_everywhere_are_named(
    services: Services, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(found, "MOST_MATCHES", 3)
    for number in range(6):
        await stored(services, f"Error in the file number {number}")
    item = await stored(services, "Error in the file of all files")
    await stored(services, "The zebra is in another file", content=f"Zebra. {AT_WORK}")
    absence = await services.absence.why_not(KnowledgeQuery("zebra error file"), item.id)
    assert Cause.FREQUENT_WORDS in causes(absence)
    assert (
        "The words you share, “error” and “file”, stand in so many texts that they were not"
        " looked up." in absence.sentence
    )


async def test_a_low_relevance_is_told_with_what_was_asked_for(services: Services) -> None:
    ids = await three_caches(services)
    query = EntryQuery("cache rule", min_relevance=0.9)
    absence = await services.absence.why_not(query, ids[2])
    assert causes(absence)[0] is Cause.LOW_RELEVANCE
    assert "is below the 0.9 that the question asks for." in absence.sentence


async def test_what_was_never_compared_is_told_so(
    services: Services, monkeypatch: pytest.MonkeyPatch
) -> None:
    ids = await three_caches(services)
    monkeypatch.setattr(found, "ENTRY_BREADTH", Breadth(2, 2))
    absence = await services.absence.why_not(EntryQuery("cache rule", limit=2), ids[2])
    assert causes(absence)[0] is Cause.NOT_COMPARED
    assert "It would have been number 3 of 3." in absence.sentence


async def test_a_place_behind_all_that_is_compared_is_no_number(
    services: Services, monkeypatch: pytest.MonkeyPatch
) -> None:
    ids = await three_caches(services)
    monkeypatch.setattr(found, "ENTRY_BREADTH", Breadth(1, 1))
    monkeypatch.setattr(absence_module, "WIDE_WORDS", 2)
    absence = await services.absence.why_not(EntryQuery("cache rule", limit=1), ids[2])
    assert absence.rank is None
    assert "It would have stood after the first 2 of 3." in absence.sentence


async def test_an_item_of_the_history_is_told_as_deleted(services: Services) -> None:
    item = await stored(services, "Cache rule of the shop")
    await services.knowledge.delete(item.id, WINDOW)
    for key in (item.id, item.uuid, str(item.id)):
        absence = await services.absence.why_not(KnowledgeQuery("cache"), key)
        assert causes(absence) == [Cause.DELETED]
        assert absence.sentence.startswith("It was deleted on ")
        assert absence.sentence.endswith(" by You.")
        assert absence.item.title == "Cache rule of the shop"


@pytest.mark.parametrize("key", [0, 999, "999", "9" * 30, "nothing", "", "-1"])
async def test_an_unknown_id_is_an_error(services: Services, key: int | str) -> None:
    with pytest.raises(NotFoundError, match="There is no item"):
        await services.absence.why_not(KnowledgeQuery("cache"), key)


async def test_a_question_out_of_its_limits_is_refused_as_the_search_refuses_it(
    services: Services,
) -> None:
    item = await stored(services, "Cache rule of the shop")
    for question in (KnowledgeQuery("ab"), EntryQuery("cache", limit=51)):
        with pytest.raises(InvalidInputError):
            await services.absence.why_not(question, item.id)


async def test_an_entity_is_there_when_one_of_its_observations_is(services: Services) -> None:
    entity_id = await entity(services, "worker", "drains the queue", "sleeps at night")
    absence = await services.absence.why_not(EntryQuery("queue drains"), entity_id)
    assert (absence.place, absence.item.title) == (1, "worker")
    listed = await services.absence.why_not(View("queue drains"), entity_id)
    assert listed.place == 1


async def test_a_turn_is_explained_like_anything_else(services: Services) -> None:
    said = await services.sessions.add_exchange(
        SessionDraft(title="Caches"),
        [
            TurnDraft("user", "Where does the cache live?"),
            TurnDraft("assistant", "In the process."),
        ],
        ORIGIN,
    )
    absence = await services.absence.why_not(EntryQuery("cache", limit=1), said.entry_ids[1])
    assert absence.item.noun is Noun.TURN
    assert absence.rank == 2
    assert "It has “cache” only in the turns around it." in absence.sentence


async def test_the_window_counts_an_unfinished_word(services: Services) -> None:
    item = await stored(services, "Cache rule of the shop")
    absence = await services.absence.why_not(View("cac"), item.id)
    assert absence.place == 1
    assert absence.own is not None
    assert absence.own.columns["cac"][0] == "title"


async def test_a_list_without_words_places_everything_that_passes(services: Services) -> None:
    older = await stored(services, "Cache rule of the shop", tags=("web",))
    await stored(services, "Deploy on Tuesdays only", tags=("web",))
    absence = await services.absence.why_not(View("tag:web"), older.id)
    assert absence.place == 2


async def test_explaining_is_no_search_that_is_noted(services: Services, profile: Paths) -> None:
    ids = await three_caches(services)
    await services.absence.why_not(EntryQuery("cache rule"), ids[0])
    await services.sessions.settle()
    connection = apsw.Connection(str(profile.database))
    assert connection.execute("SELECT count(*) FROM search_history").get == 0
    connection.close()


async def test_an_item_that_waits_for_its_vector_says_so(
    meaningful: Services, monkeypatch: pytest.MonkeyPatch
) -> None:
    ids = await three_caches(meaningful)
    await meaningful.embedding.settled()
    cosines = Meaning.cosines

    def without_the_third(self: Meaning, *arguments: Any) -> dict[int, float]:
        return {i: c for i, c in cosines(self, *arguments).items() if i != ids[2]}

    monkeypatch.setattr(Meaning, "cosines", without_the_third)
    absence = await meaningful.absence.why_not(KnowledgeQuery("cache rule", limit=1), ids[2])
    assert causes(absence)[-1] is Cause.NO_VECTOR
    assert re.search(
        r"It has no vector yet \(it was stored \d+ s ago\): only its words were compared.",
        absence.sentence,
    )
    absence = await meaningful.absence.why_not(KnowledgeQuery("what cats eat"), ids[2])
    assert causes(absence) == [Cause.NO_SHARED_WORD, Cause.NO_VECTOR]


async def test_meaning_that_is_too_far_is_told_in_numbers(meaningful: Services) -> None:
    item = await stored(meaningful, "Deploy on Tuesdays only")
    await meaningful.embedding.settled()
    query = KnowledgeQuery("what does the cat eat")
    absence = await meaningful.absence.why_not(query, item.id)
    assert causes(absence) == [Cause.NO_SHARED_WORD, Cause.TOO_FAR]
    assert "at least 0.30 is needed" in absence.sentence
    assert absence.own is not None
    assert absence.own.explanation.cosine is not None


async def test_the_explanation_has_the_factors_of_the_search_itself(meaningful: Services) -> None:
    ids = await three_caches(meaningful)
    await meaningful.embedding.settled()
    query = KnowledgeQuery("cache rule", limit=2, explain=True)
    hits = {hit.item.id: hit for hit in (await meaningful.knowledge.search(query)).hits}
    absence = await meaningful.absence.why_not(query, ids[2])
    assert absence.other is not None
    last = hits[absence.other.item.id]
    assert absence.other.score == pytest.approx(last.score)
    assert absence.other.explanation.cosine == pytest.approx(last.explanation.cosine)
    assert absence.other.explanation.bm25 == pytest.approx(last.explanation.bm25)
    wider = await meaningful.knowledge.search(KnowledgeQuery("cache rule", limit=3))
    assert absence.own is not None
    assert absence.own.score == pytest.approx(wider.hits[2].score)
