"""The window's search finds turns of conversations and directives beside the rest, in one order."""

import pytest

from kmem_desktop.bootstrap import Services
from kmem_desktop.domain.absence import Cause
from kmem_desktop.domain.changes import Noun, Origin, OriginKind
from kmem_desktop.domain.found import Row
from kmem_desktop.domain.knowledge import KnowledgeQuery
from kmem_desktop.domain.rule_library import SubmittedDocument
from kmem_desktop.domain.rules import RuleStatus
from kmem_desktop.domain.sessions.conversations import TurnDraft
from kmem_desktop.errors import NotFoundError
from kmem_desktop.services.listing import EVERYTHING, Listing, View
from kmem_desktop.services.sessions.exchanges import SessionDraft
from tests.services.memory import ORIGIN, entity, stored

YOU = Origin(OriginKind.WINDOW, "You")
STORES = """\
# Architecture

## Stores

- **MUST NOT** Add a data store without a record.
  - Why: Redis was taken out in May.
- **SHOULD** Move data by a migration.
"""


async def talk(services: Services, *texts: str, title: str = "Retry storm") -> str:
    """Store a conversation in which a person and an assistant take turns; return its id."""
    roles = ("user", "assistant")
    drafts = [TurnDraft(roles[number % 2], text) for number, text in enumerate(texts)]
    draft = SessionDraft(title=title, project="shopfront")
    return (await services.sessions.add_exchange(draft, drafts, ORIGIN)).session_uuid


async def rules(services: Services, origin: Origin = YOU) -> None:
    document = SubmittedDocument("docs/stores.md", STORES)
    await services.rules.ingestion.upsert([document], origin, scope="project:shopfront")


async def shown(services: Services, text: str, *nouns: Noun) -> tuple[Listing, list[Row]]:
    listing = await services.listing.show(View(text, nouns or EVERYTHING))
    return listing, await services.listing.rows(listing, list(listing.ids))


def marked(text: str, ranges: tuple[tuple[int, int], ...]) -> list[str]:
    return [text[low:high] for low, high in ranges]


async def test_one_question_finds_every_noun_and_counts_each(services: Services) -> None:
    await stored(services, "The queue moved from Redis")
    await entity(services, "Redis", "was the queue")
    await talk(services, "Where does it come from?", "From Redis evicting keys.")
    await rules(services)
    listing, rows = await shown(services, "redis")
    assert {row.noun for row in rows} == set(EVERYTHING)
    assert listing.counts == dict.fromkeys(EVERYTHING, 1)
    assert listing.total == len(rows) == 4
    scores = [row.explanation.relevance for row in rows if row.explanation]
    assert scores == sorted(scores, reverse=True)
    assert len(scores) == 4
    assert all(row.explanation and "redis" in row.explanation.words for row in rows)
    for noun in EVERYTHING:
        alone, rows = await shown(services, "redis", noun)
        assert [row.noun for row in rows] == [noun]
        assert alone.counts == {noun: 1}


async def test_a_turn_says_who_spoke_where_in_which_conversation(services: Services) -> None:
    uuid = await talk(services, "Where does it come from?", "From **Redis** evicting keys.")
    _, (row,) = await shown(services, "redis evicting")
    assert (row.noun, row.title, row.kind) == (Noun.TURN, "Retry storm", "Claude Code")
    assert (row.detail, row.scope) == ("turn 2 of 2", "project:shopfront")
    assert marked(row.snippet, row.snippet_marks) == ["Redis", "evicting"]
    place = await services.listing.turn_place(row.id)
    assert (place.session_uuid, place.position, place.entry_count) == (uuid, 1, 2)


async def test_a_directive_says_how_binding_it_is_and_where_it_stands(services: Services) -> None:
    await rules(services)
    _, (row,) = await shown(services, "redis")
    assert (row.noun, row.title) == (Noun.DIRECTIVE, "MUST NOT Add a data store without a record.")
    assert (row.kind, row.detail, row.scope) == (
        "rule",
        "docs/stores.md, line 5",
        "project:shopfront",
    )
    assert marked(row.snippet, row.snippet_marks) == ["Redis"]
    _, (row,) = await shown(services, "record")
    assert marked(row.title, row.title_marks) == ["record"]


async def test_a_proposed_directive_is_called_that_and_a_rejected_one_is_not_found(
    services: Services,
) -> None:
    await rules(services, ORIGIN)
    _, (row,) = await shown(services, "redis")
    assert row.kind == "proposed rule"
    await services.rules.library.set_status([row.id], RuleStatus.REJECTED, YOU)
    assert (await shown(services, "redis"))[1] == []


async def test_of_turns_that_follow_each_other_the_best_is_shown(services: Services) -> None:
    texts = [f"Something else, number {number}." for number in range(12)]
    texts[2] = "Redis is the queue."
    texts[3] = "The queue is slow."
    texts[10] = "And Redis again, the queue."
    await talk(services, *texts)
    listing, rows = await shown(services, "redis queue")
    assert sorted(row.detail for row in rows) == ["turn 11 of 12", "turn 3 of 12"]
    assert listing.total == 2


async def test_nothing_asked_lists_neither_turns_nor_directives(services: Services) -> None:
    item = await stored(services, "The queue moved from Redis")
    await talk(services, "Where does it come from?", "From Redis evicting keys.")
    await rules(services)
    listing, _ = await shown(services, "")
    assert (list(listing.ids), listing.counts[Noun.KNOWLEDGE]) == ([item.id], 1)
    for noun in (Noun.TURN, Noun.DIRECTIVE):
        listing, rows = await shown(services, "", noun)
        assert (len(listing.ids), rows, listing.total) == (0, [], 0)


async def test_a_filter_alone_lists_what_passes_it(services: Services) -> None:
    await stored(services, "The queue moved from Redis")
    await talk(services, "Where does it come from?", "From Redis evicting keys.")
    _, rows = await shown(services, "type:turn")
    assert [row.noun for row in rows] == [Noun.TURN, Noun.TURN]
    _, rows = await shown(services, "scope:project:shopfront redis")
    assert [row.noun for row in rows] == [Noun.TURN]


async def test_the_tool_for_knowledge_still_finds_knowledge_alone(services: Services) -> None:
    item = await stored(services, "The queue moved from Redis")
    await talk(services, "Where does it come from?", "From Redis evicting keys.")
    await rules(services)
    found = await services.knowledge.search(KnowledgeQuery("redis", limit=20))
    assert [hit.item.id for hit in found.hits] == [item.id]


async def test_a_turn_that_is_gone_is_told(services: Services) -> None:
    with pytest.raises(NotFoundError):
        await services.listing.turn_place(4711)


async def test_why_a_directive_or_a_turn_was_not_found_is_told(services: Services) -> None:
    await rules(services)
    await talk(services, "Where does it come from?", "From Redis evicting keys.")
    _, found = await shown(services, "redis")
    assert len(found) == 2
    for row in found:
        absence = await services.absence.why_not(View("redis"), row.id)
        assert absence.reasons[0].cause is Cause.THERE
        absence = await services.absence.why_not(View("redis", (Noun.KNOWLEDGE,)), row.id)
        assert absence.reasons[0].cause is Cause.OTHER_NOUN
        absence = await services.absence.why_not(View("kubernetes"), row.id)
        assert absence.reasons


async def test_a_turn_beside_the_one_that_is_shown_counts_as_there(services: Services) -> None:
    await talk(services, "Is Redis the queue?", "Yes, Redis is the queue for Redis jobs.")
    _, (row,) = await shown(services, "redis queue jobs")
    place = await services.listing.turn_place(row.id)
    turns = await services.session_pages.turns(place.session_uuid, 0, 2)
    for turn in turns:
        absence = await services.absence.why_not(View("redis queue jobs"), turn.id)
        assert absence.place == 1


async def test_a_word_that_nothing_has_keeps_a_frequent_one_from_nothing(
    services: Services, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kmem_desktop.services.found.MOST_MATCHES", 1)
    for number in range(3):
        await stored(services, f"The queue, number {number}")
    listing, _ = await shown(services, "xyzzy queue ")
    assert listing.total == 3
