"""The life of sessions by a person's hand: each change can be undone, and what is gone is gone."""

from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from kmem_desktop.bootstrap import Services
from kmem_desktop.config import Paths
from kmem_desktop.domain.changes import Action, Noun
from kmem_desktop.domain.found import EntryQuery
from kmem_desktop.domain.sessions.conversations import SummaryFormat
from kmem_desktop.domain.sessions.recall import SessionState, SnapshotReason
from kmem_desktop.errors import InvalidInputError, NotFoundError
from kmem_desktop.events import Change
from kmem_desktop.services.sessions.life import KEPT_SNAPSHOTS, SNAPSHOT_EVERY_TURNS
from kmem_desktop.store.connection import Connection
from kmem_desktop.store.sessions import deleted as deleted_rows
from tests.services.memory import ORIGIN, WINDOW
from tests.services.sessions.talks import TALK, bytes_of, long_talk, talk


async def found_texts(services: Services, question: str) -> list[str]:
    entries, _ = await services.sessions.search(EntryQuery(question), "a test")
    return [entry.content for entry in entries]


async def read(services: Services, query: str, *values: Any) -> list[tuple[Any, ...]]:
    return await services.sessions._database.read(lambda c: c.execute(query, values).fetchall())


async def test_a_session_is_renamed_moved_tagged_and_pinned(services: Services) -> None:
    uuid = await talk(services)
    life = services.session_life
    await life.rename(uuid, "  The shop's\n database ", WINDOW)
    await life.set_project(uuid, "Shop", WINDOW)
    await life.set_tags(uuid, ["Orders", "orders", " cache "], WINDOW)
    await life.pin(uuid, True, WINDOW)
    facts = await services.recall.facts(uuid)
    assert (facts.title, facts.is_renamed) == ("The shop's database", True)
    assert (facts.project, facts.tags, facts.is_pinned) == ("Shop", ("orders", "cache"), True)
    scopes = await read(services, "SELECT DISTINCT scope FROM documents WHERE noun = 'turn'")
    assert scopes == [("project:shop",)]


async def test_each_change_is_recorded_and_taken_back(services: Services) -> None:
    uuid = await talk(services)
    life = services.session_life
    before = await services.recall.facts(uuid)
    await life.rename(uuid, "Another", WINDOW)
    await life.archive(uuid, WINDOW)
    renamed_then_archived = await services.history.of_item(uuid)
    assert [entry.noun for entry in renamed_then_archived] == [Noun.SESSION] * 2
    for entry in renamed_then_archived:
        await services.history.undo(entry.id, WINDOW)
    assert await services.recall.facts(uuid) == before


async def test_what_changes_nothing_leaves_no_record(services: Services) -> None:
    uuid = await talk(services)
    await services.session_life.pin(uuid, False, WINDOW)
    await services.session_life.unarchive(uuid, WINDOW)
    assert await services.history.of_item(uuid) == []


async def test_the_feed_tells_which_session_changed(services: Services) -> None:
    uuid = await talk(services)
    told: list[Change] = []
    services.feed.subscribe(told.append)
    await services.session_life.pin(uuid, True, WINDOW)
    facts = await services.recall.facts(uuid)
    assert told == [Change(Noun.SESSION, (facts.id,), WINDOW)]


@pytest.mark.parametrize(
    ("deed", "field"),
    [
        (lambda life, uuid: life.rename(uuid, "   ", WINDOW), "title"),
        (lambda life, uuid: life.rename(uuid, "x" * 201, WINDOW), "title"),
        (lambda life, uuid: life.set_project(uuid, "x" * 201, WINDOW), "project"),
        (lambda life, uuid: life.set_tags(uuid, ["x" * 51], WINDOW), "tags"),
        (lambda life, uuid: life.set_tags(uuid, [f"t{n}" for n in range(21)], WINDOW), "tags"),
    ],
)
async def test_what_is_too_long_is_refused_with_its_limit(
    services: Services, deed: Callable[..., Coroutine[Any, Any, None]], field: str
) -> None:
    uuid = await talk(services)
    before = await services.recall.facts(uuid)
    with pytest.raises(InvalidInputError) as refused:
        await deed(services.session_life, uuid)
    assert refused.value.details["errors"][0]["field"] == field
    assert await services.recall.facts(uuid) == before


async def test_an_archived_session_comes_back_when_it_is_gone_on_with(services: Services) -> None:
    uuid = await talk(services)
    await services.session_life.archive(uuid, WINDOW)
    archived = await services.recall.facts(uuid)
    assert archived.state is SessionState.ARCHIVED
    assert archived.archived_at is not None
    await talk(services, ["One more thing."], uuid=uuid)
    facts = await services.recall.facts(uuid)
    assert (facts.state, facts.archived_at) == (SessionState.ACTIVE, None)


async def test_a_turn_that_is_marked_comes_before_others(services: Services) -> None:
    texts = long_talk(200)
    texts[20] = "The pager number of the night shift is 4711, ask for Ada."
    uuid = await talk(services, texts)
    unmarked = await services.recall.load(uuid, budget_tokens=300)
    await services.session_life.mark_important(uuid, 20, True, WINDOW)
    marked = await services.recall.load(uuid, budget_tokens=300)
    assert "4711" not in unmarked.context.text
    assert "4711" in marked.context.text
    await services.history.undo((await services.history.newest(1))[0].id, WINDOW)
    assert (await services.recall.load(uuid, budget_tokens=300)).context == unmarked.context
    with pytest.raises(NotFoundError):
        await services.session_life.mark_important(uuid, 200, True, WINDOW)


async def test_a_deleted_session_is_found_by_nobody_and_comes_back_as_it_was(
    services: Services,
) -> None:
    await talk(services, ["Something else is talked about.", "Yes, PostgreSQL too."])
    uuid = await talk(services)
    await services.session_life.mark_important(uuid, 1, True, WINDOW)
    await services.session_life.take_snapshot(uuid, WINDOW)
    before = await services.recall.load(uuid)
    turns = "SELECT * FROM turns WHERE session_id = ? ORDER BY position"
    rows = await read(services, turns, before.facts.id)
    snapshots = await services.session_life.snapshots(uuid)
    await services.session_life.delete(uuid, WINDOW)
    found = await found_texts(services, "PostgreSQL transactions")
    assert "Yes, PostgreSQL too." in found
    assert not set(found) & set(TALK)
    with pytest.raises(NotFoundError):
        await services.recall.facts(uuid)
    await services.session_life.taken_out()
    assert await read(services, "SELECT count(*) FROM documents") == [(2,)]
    (deleted,) = await services.session_life.deleted()
    assert (deleted.uuid, deleted.title, deleted.turn_count) == (uuid, "Shop", 4)
    assert deleted.deleted_by == WINDOW.name
    await services.session_life.restore_deleted(uuid, WINDOW)
    assert await services.recall.load(uuid) == before
    assert await read(services, turns, before.facts.id) == rows
    assert await services.session_life.snapshots(uuid) == snapshots
    assert TALK[1] in await found_texts(services, "transactions of orders")
    assert await services.session_life.deleted() == []
    health = await services.maintenance.check()
    assert health.is_whole


async def test_a_session_is_restored_before_its_texts_have_left_the_index(
    services: Services,
) -> None:
    uuid = await talk(services, long_talk(60))
    before = await services.recall.load(uuid)
    await services.session_life.delete(uuid, WINDOW)
    await services.session_life.stop()
    await services.session_life.restore_deleted(uuid, WINDOW)
    await services.session_life.taken_out()
    assert await services.recall.load(uuid) == before
    assert (await services.maintenance.check()).is_whole
    assert await found_texts(services, "step 31")


async def test_deleting_and_restoring_can_each_be_undone(services: Services) -> None:
    uuid = await talk(services)
    await services.session_life.delete(uuid, WINDOW)
    await services.history.undo((await services.history.newest(1))[0].id, WINDOW)
    assert (await services.recall.facts(uuid)).entry_count == 4
    newest = (await services.history.newest(1))[0]
    assert newest.action is Action.RESTORED
    await services.history.undo(newest.id, WINDOW)
    with pytest.raises(NotFoundError):
        await services.recall.facts(uuid)
    assert [each.uuid for each in await services.session_life.deleted()] == [uuid]


async def test_relations_and_proposals_come_back_with_their_session(services: Services) -> None:
    def relate(connection: Connection) -> None:
        ids = [row[0] for row in connection.execute("SELECT id FROM turns ORDER BY id")]
        connection.execute(
            "INSERT INTO entry_relations VALUES (?, ?, 'supersedes', 0.8, 'instead', '2026')",
            (ids[3], ids[1]),
        )
        connection.execute(
            "INSERT INTO proposals (uuid, title, content, content_hash, category, scope, score,"
            " session_id, position, also_positions, like_uuid, likeness, created_at)"
            " SELECT 'p', 't', 'c', 'h', 'decision', 'global', 0.5, session_id, 1, '[]', '', 0.0,"
            " '2026' FROM turns WHERE id = ?",
            (ids[1],),
        )

    uuid = await talk(services)
    await services.sessions._database.write(relate)
    queries = (
        "SELECT * FROM entry_relations",
        "SELECT uuid, content_hash, session_id, position, status FROM proposals",
    )
    before = [await read(services, query) for query in queries]
    await services.session_life.delete(uuid, WINDOW)
    assert [await read(services, query) for query in queries] == [[], []]
    await services.session_life.restore_deleted(uuid, WINDOW)
    assert [await read(services, query) for query in queries] == before


async def test_a_deleted_session_of_another_program_is_known(services: Services) -> None:
    uuid = await talk(services)

    def imported(connection: Connection) -> None:
        connection.execute("UPDATE sessions SET source = 'claude_code', source_id = 'abc'")

    async def is_deleted() -> bool:
        return await services.sessions._database.read(
            lambda c: deleted_rows.is_deleted(c, "claude_code", "abc")
        )

    await services.sessions._database.write(imported)
    assert not await is_deleted()
    await services.session_life.delete(uuid, WINDOW)
    assert await is_deleted()
    await services.session_life.restore_deleted(uuid, WINDOW)
    assert not await is_deleted()
    await services.session_life.delete_for_good(uuid, WINDOW)
    assert await is_deleted()


@pytest.mark.parametrize("is_deleted_before", [True, False])
async def test_nothing_is_left_of_what_is_deleted_for_good(
    services: Services, profile: Paths, is_deleted_before: bool
) -> None:
    other = await talk(services, ["Another talk stays.", "Yes."], title="Other")
    uuid = await talk(services, ["Kilimanjaro is the word.", "Zanzibar answers it."], title="Tanga")
    await services.session_life.rename(uuid, "Serengeti", WINDOW)
    await services.sessions.search(EntryQuery("Dodoma", session_uuid=uuid), "a test")
    await services.sessions.settle()
    if is_deleted_before:
        await services.session_life.delete(uuid, WINDOW)
    words = [word.encode() for word in ("Kilimanjaro", "Zanzibar", "Tanga", "Serengeti", "Dodoma")]
    stems = [word.encode() for word in ("kilimanjaro", "zanzibar")]
    await services.session_life.delete_for_good(uuid, WINDOW)
    there = bytes_of(profile.database)
    assert [word for word in (*words, *stems, uuid.encode()) if word in there] == []
    assert b"Another talk stays" in there
    assert await services.session_life.deleted() == []
    assert await services.history.of_item(uuid) == []
    assert (await services.recall.facts(other)).entry_count == 2
    with pytest.raises(NotFoundError):
        await services.session_life.delete_for_good(uuid, WINDOW)
    with pytest.raises(NotFoundError):
        await services.session_life.restore_deleted(uuid, WINDOW)


async def test_a_snapshot_keeps_what_was_given_back_then(services: Services) -> None:
    uuid = await talk(services)
    _, summary = await services.recall.summarise(uuid, SummaryFormat.NARRATIVE, ORIGIN)
    taken = await services.session_life.take_snapshot(uuid, WINDOW, 500)
    await talk(services, ["No, we take MySQL instead."], uuid=uuid)
    assert await services.session_life.snapshots(uuid) == [taken]
    assert [turn.text for turn in taken.turns] == list(TALK)
    assert (taken.reason, taken.turn_count) == (SnapshotReason.ASKED, 4)
    assert taken.summary == summary.text != ""


async def test_snapshots_by_themselves_are_bounded(services: Services) -> None:
    uuid = await talk(services, long_talk(SNAPSHOT_EVERY_TURNS - 1))
    await services.session_life.snapshot_if_grown(uuid)
    assert await services.session_life.snapshots(uuid) == []
    asked = await services.session_life.take_snapshot(uuid, WINDOW)
    for _ in range(KEPT_SNAPSHOTS + 2):
        await talk(services, long_talk(SNAPSHOT_EVERY_TURNS), uuid=uuid)
        await services.session_life.snapshot_if_grown(uuid)
        await services.session_life.snapshot_if_grown(uuid)
    *by_itself, oldest = await services.session_life.snapshots(uuid)
    assert [snapshot.reason for snapshot in by_itself] == [SnapshotReason.TURNS] * KEPT_SNAPSHOTS
    assert oldest == asked
