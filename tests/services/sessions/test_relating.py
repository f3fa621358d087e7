"""How entries relate: found in the background by likeness and wording, and said where recalled."""

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta

import pytest

from kmem_desktop.bootstrap import Services, opened_services
from kmem_desktop.config import Paths, resource_path
from kmem_desktop.domain.found import Doubt, EntryQuery
from kmem_desktop.domain.knowledge import Category, KnowledgeHit, KnowledgeItem, KnowledgeQuery
from kmem_desktop.domain.sessions.conversations import EntryRelation, TurnDraft
from kmem_desktop.services.sessions.exchanges import SessionDraft
from tests.services.memory import ORIGIN, WINDOW, draft

pytestmark = pytest.mark.anyio

REDIS = "We decided that the `jobs` queue lives in Redis lists, one list for each kind of job."
POSTGRES = (
    "We decided that the `jobs` queue lives in PostgreSQL instead of Redis lists: one table for it."
)
UNLIKE = "The colours of the printed poster are chosen by the designer of the summer festival."


@pytest.fixture
async def services(profile: Paths) -> AsyncIterator[Services]:
    """The use cases with the bundled embedding model."""
    if not resource_path("embedding").exists():
        pytest.skip("the embedding model is not built")
    async with opened_services(profile) as opened:
        yield opened


async def related(services: Services) -> None:
    await services.embedding.settled()
    while await services.entry_relations.relate_some():
        pass
    assert not await services.entry_relations.is_behind()


async def known(services: Services, title: str, content: str, **fields: str) -> KnowledgeItem:
    made = draft(title, content=content, category="decision", **fields)
    return await services.knowledge.store(made, ORIGIN)


async def relations(services: Services) -> set[tuple[int, str, int]]:
    entries = [item.item.id for item in (await _all(services))]
    links = await services.entry_relations.relations_of(entries)
    return {(link.from_id, link.relation.value, link.to_id) for link in links}


async def _all(services: Services) -> tuple[KnowledgeHit, ...]:
    return (await services.knowledge.search(KnowledgeQuery("queue jobs", limit=20))).hits


async def test_a_decision_that_was_replaced_says_so_where_it_is_recalled(
    services: Services,
) -> None:
    old = await known(services, "The queue is in Redis", REDIS)
    await known(services, "Colours of the poster", UNLIKE)
    new = await known(services, "The queue is in PostgreSQL", POSTGRES)
    await related(services)
    assert await relations(services) == {(new.id, "supersedes", old.id)}
    hits = (await services.knowledge.search(KnowledgeQuery("job queue in Redis"))).hits
    notes = {hit.item.id: hit.notes for hit in hits}
    (note,) = notes[old.id]
    assert (note.doubt, note.by_id) == (Doubt.SUPERSEDED, new.id)
    day = datetime.now(UTC)
    assert note.sentence == (
        f"Superseded by \u201cThe queue is in PostgreSQL\u201d (#{new.id})"
        f" on {day.day} {day:%B %Y}."
    )
    assert notes[new.id] == ()
    entries, _ = await services.sessions.search(EntryQuery("job queue in Redis"), "test")
    assert [entry.notes for entry in entries if entry.id == old.id] == [(note,)]


async def test_both_ends_of_a_relation_are_told(services: Services) -> None:
    old = await known(services, "The queue is in Redis", REDIS)
    new = await known(services, "The queue is in PostgreSQL", POSTGRES)
    await related(services)
    (of_old,) = await services.entry_relations.relations_of([old.id])
    (of_new,) = await services.entry_relations.relations_of([new.id])
    assert (of_old.is_outgoing, of_old.other_id, of_old.title) == (False, new.id, new.title)
    assert (of_new.is_outgoing, of_new.other_id, of_new.title) == (True, old.id, old.title)
    assert of_new.strength >= 0.7
    assert of_new.words.lower() == "instead of"


async def test_what_is_edited_is_related_anew(services: Services) -> None:
    old = await known(services, "The queue is in Redis", REDIS)
    new = await known(services, "The queue is in PostgreSQL", POSTGRES)
    await related(services)
    await services.knowledge.update(
        new.id, {"title": "A poster in colours", "content": UNLIKE}, WINDOW
    )
    await related(services)
    assert await services.entry_relations.relations_of([old.id, new.id]) == []
    await services.knowledge.update(new.id, {"title": new.title, "content": new.content}, WINDOW)
    await related(services)
    assert await relations(services) == {(new.id, "supersedes", old.id)}


async def test_what_was_told_stays_when_relations_are_found_anew(services: Services) -> None:
    old = await known(services, "Colours of the poster", UNLIKE)
    saved = await services.saving.save(REDIS, Category.DECISION, ORIGIN, related_to=[old.id])
    await related(services)
    await services.knowledge.update(saved.id, {"priority": 9, "tags": ("queue",)}, WINDOW)
    await related(services)
    (link,) = await services.entry_relations.relations_of([saved.id])
    assert (link.to_id, link.relation, link.words) == (old.id, EntryRelation.REFERENCES, "")


async def test_relations_go_with_their_entries(services: Services) -> None:
    old = await known(services, "The queue is in Redis", REDIS)
    new = await known(services, "The queue is in PostgreSQL", POSTGRES)
    await related(services)
    _, change = await services.knowledge.delete(new.id, WINDOW)
    assert await services.entry_relations.notes_of([old.id]) == {}
    await services.history.undo(change, WINDOW)
    await related(services)
    assert list(await services.entry_relations.notes_of([old.id])) == [old.id]


async def test_what_holds_elsewhere_replaces_nothing_here(services: Services) -> None:
    await known(services, "The queue is in Redis", REDIS, scope="project:shop")
    await known(services, "The queue is in PostgreSQL", POSTGRES, scope="project:bank")
    await related(services)
    assert await relations(services) == set()


async def test_what_was_stored_before_a_restart_is_related_after_it(profile: Paths) -> None:
    if not resource_path("embedding").exists():
        pytest.skip("the embedding model is not built")
    async with opened_services(profile) as first:
        await known(first, "Colours of the poster", UNLIKE)
        await related(first)
        old = await known(first, "The queue is in Redis", REDIS)
    async with opened_services(profile) as second:
        new = await known(second, "The queue is in PostgreSQL", POSTGRES)
        await related(second)
        assert await relations(second) == {(new.id, "supersedes", old.id)}


async def test_knowledge_of_an_older_kmem_is_related_too(services: Services) -> None:
    old = await known(services, "The queue is in Redis", REDIS)
    new = await known(services, "The queue is in PostgreSQL", POSTGRES)
    # Nothing was ever related here: the first run takes everything, not only what changes.
    await services.embedding.settled()
    assert await services.entry_relations.is_behind()
    await related(services)
    assert await relations(services) == {(new.id, "supersedes", old.id)}


async def test_a_turn_says_that_a_later_conversation_replaced_it(services: Services) -> None:
    sessions = []
    for title, text in (("In March", REDIS), ("In June", POSTGRES)):
        about = SessionDraft(title=title, project="shop")
        stored = await services.sessions.add_exchange(about, [TurnDraft("user", text)], ORIGIN)
        sessions.append(stored)
        while await services.inbox.look_through(datetime.now(UTC) + timedelta(hours=1)):
            pass
    assert await services.inbox.count() == 2
    await related(services)
    notes = await services.entry_relations.notes_of_session(sessions[0].session_uuid)
    assert [note.by_id for note in notes[0]] == [sessions[1].entry_ids[0]]
    assert notes[0][0].by_title.startswith("We decided that the `jobs` queue lives in PostgreSQL")
    assert await services.entry_relations.notes_of_session(sessions[1].session_uuid) == {}

    later = next(p for p in await services.inbox.page() if p.content == POSTGRES)
    await services.inbox.drop(later.uuid, WINDOW)
    assert await services.entry_relations.notes_of_session(sessions[0].session_uuid) == {}
    await services.inbox.take_back(later.uuid, WINDOW)
    assert list(await services.entry_relations.notes_of_session(sessions[0].session_uuid)) == [0]


async def test_what_replaces_accepted_knowledge_replaces_its_turn_too(services: Services) -> None:
    about = SessionDraft(title="In March", project="shop")
    stored = await services.sessions.add_exchange(about, [TurnDraft("user", REDIS)], ORIGIN)
    while await services.inbox.look_through(datetime.now(UTC) + timedelta(hours=1)):
        pass
    (proposal,) = await services.inbox.page()
    old = await services.inbox.accept(proposal.uuid, WINDOW)
    new = await known(services, "The queue is in PostgreSQL", POSTGRES, scope="project:shop")
    await related(services)
    notes = await services.entry_relations.notes_of_session(stored.session_uuid)
    assert [note.by_id for note in notes[0]] == [new.id]
    both = await services.entry_relations.notes_of([old.id, *stored.entry_ids])
    assert set(both) == {old.id, *stored.entry_ids}
    entries, _ = await services.sessions.search(EntryQuery("queue in Redis lists"), "test")
    assert all(entry.notes for entry in entries if "Redis lists, one" in entry.content)


async def test_it_is_done_in_the_background(services: Services) -> None:
    old = await known(services, "The queue is in Redis", REDIS)
    new = await known(services, "The queue is in PostgreSQL", POSTGRES)
    told = asyncio.Event()
    services.feed.subscribe(lambda change: told.set() if change.noun == "proposal" else None)
    services.entry_relations.start()
    async with asyncio.timeout(20):
        await told.wait()
    await services.entry_relations.stop()
    assert await relations(services) == {(new.id, "supersedes", old.id)}
