"""The inbox: what is gathered from conversations, and what a person's decisions do."""

import asyncio
from datetime import UTC, datetime, timedelta

import pytest

from kmem_desktop.bootstrap import Services
from kmem_desktop.config import SettingsFile
from kmem_desktop.domain.changes import Noun
from kmem_desktop.domain.found import EntryQuery
from kmem_desktop.domain.knowledge import Category, KnowledgeDraft, KnowledgeQuery
from kmem_desktop.domain.sessions.conversations import Role, TurnDraft
from kmem_desktop.domain.sessions.inbox import Decision, Proposal
from kmem_desktop.errors import DuplicateError, InvalidInputError, NotFoundError
from kmem_desktop.events import Change
from kmem_desktop.services.sessions import gathering
from kmem_desktop.services.sessions.exchanges import SessionDraft
from tests.services.memory import ORIGIN, WINDOW, draft

pytestmark = pytest.mark.anyio

PREFERENCE = "Always run `ruff format` before you commit anything in the billing repository."
FIX = "The root cause was the `utf-8-sig` mark that Excel writes into `invoices.csv`."
CENTS = "We decided to store amounts as integer cents in the ledger table, never as floats."
TALK = (
    ("user", "Hi! Can you look at the importer?"),
    ("assistant", "Sure. Let me read `importer.py` first."),
    ("user", PREFERENCE),
    ("assistant", FIX),
    ("user", CENTS),
    ("assistant", "Shall I go with that?"),
)
LATER = timedelta(minutes=6)


async def talk(
    services: Services,
    *turns: tuple[str, str],
    project: str = "billing",
    session: str | None = None,
    title: str = "Importer",
    tags: tuple[str, ...] = (),
) -> str:
    drafts = [TurnDraft(role, text) for role, text in turns or TALK]
    about = SessionDraft(uuid=session, title=title, project=project, tags=tags)
    return (await services.sessions.add_exchange(about, drafts, ORIGIN)).session_uuid


async def gathered(services: Services, after: timedelta = LATER) -> list[Proposal]:
    while await services.inbox.look_through(datetime.now(UTC) + after):
        pass
    return await services.inbox.page()


async def one_about(services: Services, text: str) -> Proposal:
    (found,) = [each for each in await services.inbox.page() if each.content == text]
    return found


async def test_a_conversation_that_rests_is_looked_through(services: Services) -> None:
    session = await talk(services)
    found = {each.content: each for each in await gathered(services)}
    assert set(found) == {PREFERENCE, FIX, CENTS}
    preference = found[PREFERENCE]
    assert preference.category is Category.GUIDELINE
    assert (preference.session_uuid, preference.position) == (session, 2)
    assert (preference.session_title, preference.role) == ("Importer", Role.USER)
    assert preference.scope == "project:billing"
    assert await services.inbox.count() == 3


async def test_the_surest_come_first_and_pages_join_without_a_seam(services: Services) -> None:
    await talk(services)
    whole = await gathered(services)
    assert [p.score for p in whole] == sorted((p.score for p in whole), reverse=True)
    pages, after = [], None
    while page := await services.inbox.page(after=after, limit=1):
        pages += page
        after = page[-1].place
    assert pages == whole


async def test_a_conversation_that_goes_on_is_left_alone(services: Services) -> None:
    await talk(services)
    assert await gathered(services, after=timedelta(minutes=4)) == []
    assert (await services.inbox.state()).left == 0
    assert (await services.inbox.state(datetime.now(UTC) + LATER)).left == 1


async def test_only_turns_that_are_new_are_looked_through(services: Services) -> None:
    session = await talk(services)
    for proposal in await gathered(services):
        await services.inbox.drop(proposal.uuid, WINDOW)
    added = "We decided to send the `invoices.csv` report by e-mail each Monday at seven."
    await talk(services, ("user", added), session=session)
    (proposal,) = await gathered(services)
    assert (proposal.content, proposal.position) == (added, len(TALK))
    assert (await services.inbox.state(datetime.now(UTC) + LATER)).left == 0


async def test_a_long_conversation_is_looked_through_in_slices(
    services: Services, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gathering, "SLICE_TURNS", 2)
    monkeypatch.setattr(gathering, "CONTEXT_TURNS", 1)
    await talk(services)
    steps = 0
    while await services.inbox.look_through(datetime.now(UTC) + LATER):
        steps += 1
    assert steps > 2
    assert {each.position for each in await services.inbox.page()} == {2, 3, 4}


async def test_the_newest_conversation_comes_first(services: Services) -> None:
    await talk(services, ("user", CENTS), title="Older")
    await talk(services, ("user", PREFERENCE), title="Newer")
    await services.inbox.look_through(datetime.now(UTC) + LATER)
    assert [each.session_title for each in await services.inbox.page()] == ["Newer"]


async def test_while_the_inbox_is_full_old_conversations_wait(
    services: Services, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gathering, "FULL", 1)
    await talk(services, ("user", CENTS), title="One")
    await talk(services, ("user", PREFERENCE), title="Two")
    month_later = timedelta(days=30)
    assert len(await gathered(services, after=month_later)) == 1
    state = await services.inbox.state(datetime.now(UTC) + month_later)
    assert (state.is_full, state.waiting) == (True, 1)
    (first,) = await services.inbox.page()
    await services.inbox.drop(first.uuid, WINDOW)
    assert len(await gathered(services, after=month_later)) == 1


async def test_what_was_decided_once_does_not_come_again(services: Services) -> None:
    await talk(services)
    for proposal in await gathered(services):
        await services.inbox.drop(proposal.uuid, WINDOW)
    await talk(services, title="The same talk on another day")
    again = "We decided to store the amounts as integer cents in the ledger table, never floats."
    await talk(services, ("user", again), title="In nearly the same words")
    assert await gathered(services) == []


async def test_the_same_said_in_another_project_is_another_matter(services: Services) -> None:
    await talk(services, ("user", CENTS))
    await talk(services, ("user", CENTS), project="warehouse")
    assert {p.scope for p in await gathered(services)} == {"project:billing", "project:warehouse"}


async def test_what_is_known_already_is_not_proposed(services: Services) -> None:
    known = KnowledgeDraft("Amounts are cents", CENTS, ("money",), scope="project:billing")
    await services.knowledge.store(known, ORIGIN)
    await talk(services)
    assert {each.content for each in await gathered(services)} == {PREFERENCE, FIX}


async def test_knowledge_that_nearly_says_it_is_named(services: Services) -> None:
    near = "Amounts are integer cents in the ledger table, and never floats, we decided in May."
    known = await services.knowledge.store(
        draft("Amounts are cents", content=near, scope="project:billing"), ORIGIN
    )
    await talk(services)
    await gathered(services)
    proposal = await one_about(services, CENTS)
    assert (proposal.like_uuid, proposal.like_title) == (known.uuid, "Amounts are cents")
    assert 0.4 <= proposal.likeness < 1


async def test_accepting_makes_knowledge_that_links_to_its_turn(services: Services) -> None:
    session = await talk(services, tags=("Import",))
    await gathered(services)
    proposal = await one_about(services, PREFERENCE)
    item = await services.inbox.accept(proposal.uuid, WINDOW)
    assert (item.content, item.scope, item.category) == (
        PREFERENCE,
        "project:billing",
        Category.GUIDELINE,
    )
    assert item.tags == ("import", "billing")
    assert item.source == f"session {session}, turn 3"  # people count from one
    assert await services.knowledge.get(item.uuid) == item
    (link,) = await services.entry_relations.relations_of([item.id])
    assert (link.session_uuid, link.position, link.relation) == (session, 2, "references")
    assert link.text == PREFERENCE
    assert (await services.inbox.get(proposal.uuid)).decision is Decision.ACCEPTED
    assert await services.inbox.count() == 2
    newest = (await services.history.newest(1))[0]
    assert (newest.title, newest.origin.name) == (item.title, "You")


async def test_what_is_edited_before_is_stored_as_edited(services: Services) -> None:
    await talk(services)
    await gathered(services)
    proposal = await one_about(services, CENTS)
    own = await services.inbox.draft(proposal.uuid)
    edited = KnowledgeDraft("Money is integer cents", own.content, ("money",), own.scope)
    item = await services.inbox.accept(proposal.uuid, WINDOW, edited=edited)
    assert (item.title, item.tags) == ("Money is integer cents", ("money",))
    assert item.source.startswith("session ")


async def test_an_edit_out_of_its_limits_decides_nothing(services: Services) -> None:
    await talk(services)
    (first, *_) = await gathered(services)
    with pytest.raises(InvalidInputError, match="Title must be at least"):
        await services.inbox.accept(
            first.uuid, WINDOW, edited=KnowledgeDraft("Short", first.content, ("a",))
        )
    assert (await services.inbox.get(first.uuid)).decision is Decision.PROPOSED


async def test_secrets_that_an_edit_brings_in_are_not_stored(services: Services) -> None:
    await talk(services)
    (first, *_) = await gathered(services)
    key = "AKIA" + "IOSFODNN7" + "EXAMPLQ"
    edited = KnowledgeDraft("The key of the billing bucket", f"{first.content} Key: {key}", ("a",))
    item = await services.inbox.accept(first.uuid, WINDOW, edited=edited)
    assert key not in item.content


async def test_merging_adds_a_paragraph_and_keeps_the_rest(services: Services) -> None:
    known = await services.knowledge.store(
        draft("Formatting rules", tags=("style",), scope="project:billing"), ORIGIN
    )
    await talk(services)
    await gathered(services)
    proposal = await one_about(services, PREFERENCE)
    item = await services.inbox.merge(proposal.uuid, WINDOW, known.uuid)
    assert item.content == f"{known.content}\n\n{PREFERENCE}"
    assert (item.title, item.tags, item.id) == (known.title, known.tags, known.id)
    assert (await services.inbox.get(proposal.uuid)).decision is Decision.MERGED


async def test_merging_needs_something_to_merge_with(services: Services) -> None:
    await talk(services)
    (first, *_) = await gathered(services)
    with pytest.raises(InvalidInputError, match="Nothing that is known is like this"):
        await services.inbox.merge(first.uuid, WINDOW)
    with pytest.raises(NotFoundError):
        await services.inbox.merge(first.uuid, WINDOW, "7f0c8f0e-0000-4000-8000-000000000000")
    assert (await services.inbox.get(first.uuid)).decision is Decision.PROPOSED


async def test_a_decision_is_made_once(services: Services) -> None:
    await talk(services)
    (first, *_) = await gathered(services)
    await services.inbox.drop(first.uuid, WINDOW)
    for decide in (services.inbox.drop, services.inbox.accept, services.inbox.merge):
        with pytest.raises(InvalidInputError, match="dropped already"):
            await decide(first.uuid, WINDOW)
    with pytest.raises(NotFoundError):
        await services.inbox.drop("nothing-like-it", WINDOW)


async def test_decisions_are_taken_back_one_after_the_other(services: Services) -> None:
    known = await services.knowledge.store(draft(scope="project:billing"), ORIGIN)
    await talk(services)
    waiting = await gathered(services)
    one, two, three = waiting
    item = await services.inbox.accept(one.uuid, WINDOW)
    await services.inbox.merge(two.uuid, WINDOW, known.uuid)
    await services.inbox.drop(three.uuid, WINDOW)

    assert (await services.inbox.take_back(None, WINDOW)).uuids == (three.uuid,)
    merged = await services.inbox.take_back(None, WINDOW)
    assert (merged.uuids, merged.decision) == ((two.uuid,), Decision.MERGED)
    assert (await services.knowledge.get(known.uuid)).content == known.content
    assert await services.entry_relations.relations_of([known.id]) == []
    assert (await services.inbox.take_back(None, WINDOW)).title == one.title
    with pytest.raises(NotFoundError):
        await services.knowledge.get(item.uuid)
    assert await services.inbox.page() == waiting
    with pytest.raises(NotFoundError):
        await services.inbox.take_back(None, WINDOW)
    assert (await services.inbox.accept(one.uuid, WINDOW)).content == one.content


async def test_what_was_changed_since_is_not_taken_back(services: Services) -> None:
    await talk(services)
    (first, *_) = await gathered(services)
    item = await services.inbox.accept(first.uuid, WINDOW)
    await services.knowledge.update(item.id, {"title": "A better title for it"}, WINDOW)
    with pytest.raises(InvalidInputError, match="was changed since"):
        await services.inbox.take_back(first.uuid, WINDOW)
    assert (await services.knowledge.get(item.id)).title == "A better title for it"
    assert (await services.inbox.get(first.uuid)).decision is Decision.ACCEPTED


async def test_a_whole_conversation_is_decided_and_taken_back_in_one_step(
    services: Services,
) -> None:
    session = await talk(services)
    await talk(services, ("user", CENTS), project="warehouse", title="Another")
    waiting = await gathered(services)
    outcome = await services.inbox.accept_session(session, WINDOW)
    assert (outcome.done, outcome.left) == (3, ())
    assert [each.session_title for each in await services.inbox.page()] == ["Another"]
    assert len((await services.inbox.take_back(None, WINDOW)).uuids) == 3
    assert await services.inbox.page() == waiting
    assert (await services.inbox.drop_session(session, WINDOW)).done == 3
    assert await services.inbox.count() == 1
    assert (await services.listing.counts()).knowledge == 0


async def test_what_cannot_be_accepted_of_a_conversation_waits_on(services: Services) -> None:
    session = await talk(services)
    waiting = await gathered(services)
    taken = waiting[0]
    await services.knowledge.store(draft(taken.title, scope=taken.scope), ORIGIN)
    outcome = await services.inbox.accept_session(session, WINDOW)
    assert outcome.done == 2
    ((title, reason),) = outcome.left
    assert title == taken.title
    assert "already exists" in reason
    assert [each.uuid for each in await services.inbox.page()] == [taken.uuid]
    with pytest.raises(DuplicateError):
        await services.inbox.accept(taken.uuid, WINDOW)


async def test_the_source_shows_the_turns_around(services: Services) -> None:
    await talk(services)
    await gathered(services)
    proposal = await one_about(services, FIX)
    assert [turn.position for turn in await services.inbox.source(proposal.uuid)] == [1, 2, 3, 4, 5]


async def test_nothing_that_waits_is_served(services: Services) -> None:
    await talk(services)
    waiting = await gathered(services)
    assert len(waiting) == 3
    entries, _ = await services.sessions.search(EntryQuery(CENTS, types=("decision",)), "test")
    assert entries == []
    assert (await services.knowledge.search(KnowledgeQuery(CENTS))).hits == ()
    assert await services.inbox.handed_out(CENTS) == []


async def test_what_waits_is_handed_out_only_where_the_person_says_so(services: Services) -> None:
    await talk(services)
    await gathered(services)
    SettingsFile(services.paths.settings).change(hands_out_proposed_knowledge=True)
    (found, *_) = await services.inbox.handed_out("amounts in the ledger table")
    assert found.content == CENTS
    assert await services.inbox.handed_out("zebra") == []


async def test_conversations_are_looked_through_in_the_background(
    services: Services, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gathering, "START_AFTER_S", 0)
    monkeypatch.setattr(gathering, "REST", timedelta(0))
    await talk(services)
    told = asyncio.Event()
    services.feed.subscribe(lambda c: told.set() if c.noun is Noun.PROPOSAL and c.ids else None)
    services.inbox.start()
    async with asyncio.timeout(20):
        await told.wait()
    assert await services.inbox.count() == 3
    assert (await services.inbox.state()).left == 0


async def test_decisions_are_told_to_whoever_listens(services: Services) -> None:
    await talk(services)
    (one, two, _) = await gathered(services)
    changes: list[Change] = []
    services.feed.subscribe(changes.append)
    item = await services.inbox.accept(one.uuid, WINDOW)
    assert [(c.noun, c.ids) for c in changes] == [
        (Noun.KNOWLEDGE, (item.id,)),
        (Noun.PROPOSAL, ()),
    ]
    await services.inbox.drop(two.uuid, WINDOW)
    assert changes[-1].noun is Noun.PROPOSAL


@pytest.mark.parametrize("limit", [0, 501])
async def test_a_page_has_limits(services: Services, limit: int) -> None:
    with pytest.raises(InvalidInputError, match="limit"):
        await services.inbox.page(limit=limit)
