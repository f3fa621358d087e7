import dataclasses

import pytest

from kmem_desktop.bootstrap import Services
from kmem_desktop.domain.changes import Action, Noun
from kmem_desktop.domain.graph import Entity, Relation
from kmem_desktop.errors import DuplicateError, NotFoundError
from kmem_desktop.events import Change
from kmem_desktop.services.listing import View
from kmem_desktop.store import history_packs
from tests.services.memory import (
    EVERYTHING,
    ORIGIN,
    WINDOW,
    content_of,
    draft,
    entity,
    relate,
    stored,
)

TITLE = "Where the cafe keeps its keys"


async def undo(services: Services, entry_id: int | None = None) -> None:
    """Take back a change; the newest where none is named."""
    if entry_id is None:
        entry_id = (await services.history.newest(1))[0].id
    await services.history.undo(entry_id, WINDOW)


async def test_a_change_is_recorded_with_what_was_there_before(services: Services) -> None:
    item = await stored(services, TITLE)
    await services.knowledge.update(item.id, {"priority": 9}, WINDOW)
    changed, created = await services.history.of_item(item.uuid)
    assert (created.action, created.noun, created.before) == (
        Action.CREATED,
        Noun.KNOWLEDGE,
        None,
    )
    assert created.origin == ORIGIN
    assert changed.origin == WINDOW
    assert changed.before is not None
    assert changed.before["priority"] == 5
    assert (changed.item_id, changed.item_uuid, changed.title) == (item.id, item.uuid, TITLE)
    assert not changed.undone
    assert changed.at > created.at


async def test_the_history_is_read_in_pages(services: Services) -> None:
    for number in range(7):
        await stored(services, f"Cache rule number {number}")
    first = await services.history.newest(4)
    rest = await services.history.newest(4, before_id=first[-1].id)
    assert [e.title[-1] for e in first + rest] == list("6543210")


async def test_a_deleted_item_comes_back_as_it_was(services: Services) -> None:
    item = await stored(services, TITLE, tags=("a", "b"), scope="repo:a/b", priority=9)
    _, change = await services.knowledge.delete(item.id, WINDOW)
    await undo(services, change)
    assert await services.knowledge.get(item.id) == item
    assert list((await services.listing.show(View("keys"))).ids) == [item.id]


async def test_undoing_can_be_undone_again_and_again(services: Services) -> None:
    item = await stored(services, TITLE)
    await services.knowledge.delete(item.id, WINDOW)
    for _ in range(3):
        await undo(services)
        assert await services.knowledge.get(item.id) == item
        await undo(services)
        with pytest.raises(NotFoundError):
            await services.knowledge.get(item.id)


async def test_an_update_is_taken_back_and_put_back(services: Services) -> None:
    item = await stored(services, TITLE)
    new = await services.knowledge.update(item.id, {"priority": 9, "tags": ("x",)}, ORIGIN)
    await undo(services)
    assert await services.knowledge.get(item.id) == item
    await undo(services)
    assert await services.knowledge.get(item.id) == new


async def test_a_creation_is_taken_back(services: Services) -> None:
    item = await stored(services, TITLE)
    await undo(services)
    with pytest.raises(NotFoundError):
        await services.knowledge.get(item.id)
    await undo(services)
    assert await services.knowledge.get(item.id) == item


async def test_a_change_is_taken_back_once(services: Services) -> None:
    await stored(services, TITLE)
    entry = (await services.history.newest(1))[0]
    await undo(services, entry.id)
    with pytest.raises(NotFoundError, match="already"):
        await undo(services, entry.id)
    assert (await services.history.of_item(entry.item_uuid))[-1].undone


async def test_a_change_that_never_was_is_not_found(services: Services) -> None:
    with pytest.raises(NotFoundError):
        await undo(services, 4711)


async def test_nothing_comes_back_over_what_took_its_place(services: Services) -> None:
    item = await stored(services, TITLE)
    _, change = await services.knowledge.delete(item.id, ORIGIN)
    other = await stored(services, TITLE)
    with pytest.raises(DuplicateError) as caught:
        await undo(services, change)
    assert caught.value.details["existingId"] == other.uuid
    await services.knowledge.delete(other.id, ORIGIN)
    await undo(services, change)
    assert await services.knowledge.get(item.id) == item


async def test_a_deleted_entity_comes_back_whole(services: Services) -> None:
    entity_id = await entity(services, "Ada", "likes tea", "writes", kind="person")
    await entity(services, "Bob")
    await relate(services, ("Ada", "knows", "Bob"), ("Bob", "knows", "Ada"))
    details = await services.graph.details(entity_id)
    before = await content_of(services)
    changes = await services.graph.delete_entities(["Ada"], WINDOW)
    await undo(services, changes[0])
    assert await content_of(services) == before
    restored_id = await services.graph.find("Ada")
    assert restored_id is not None
    restored = await services.graph.details(restored_id)
    assert (restored.uuid, restored.stored_by) == (details.uuid, "Claude Code")
    assert await services.history.of_item(details.uuid)


async def test_every_change_of_the_graph_is_taken_back_and_put_back(services: Services) -> None:
    ada = await entity(services, "Ada", "likes tea", kind="person")
    await entity(services, "Bob")
    await relate(services, ("Ada", "knows", "Bob"))
    bob = Relation("Ada", "Bob", "knows")
    graph = services.graph
    for change in (
        lambda: graph.create_entities([Entity("Cleo", "cat", ("purrs",))], ORIGIN),
        lambda: graph.create_relations([Relation("Bob", "Ada", "likes")], ORIGIN),
        lambda: graph.add_observations([("Ada", ["is tall"])], ORIGIN),
        lambda: graph.delete_observations([("Ada", ["likes tea"])], ORIGIN),
        lambda: graph.delete_relations([bob], ORIGIN),
        lambda: graph.set_type(ada, "engineer", ORIGIN),
        lambda: graph.delete_entities(["Bob"], ORIGIN),
    ):
        before = await content_of(services)
        await change()
        after = await content_of(services)
        assert after != before
        for _ in range(2):
            await undo(services)
            assert await content_of(services) == before
            await undo(services)
            assert await content_of(services) == after
        await undo(services)
        assert await content_of(services) == before


async def test_an_observation_of_a_deleted_entity_does_not_come_back(services: Services) -> None:
    await entity(services, "Ada", "likes tea")
    await services.graph.delete_observations([("Ada", ["likes tea"])], ORIGIN)
    entry = (await services.history.newest(1))[0]
    await services.graph.delete_entities(["Ada"], ORIGIN)
    with pytest.raises(NotFoundError):
        await undo(services, entry.id)


async def test_an_entity_does_not_come_back_over_a_new_one(services: Services) -> None:
    await entity(services, "Ada", "likes tea")
    changes = await services.graph.delete_entities(["Ada"], ORIGIN)
    await entity(services, "Ada", "is somebody else")
    with pytest.raises(DuplicateError, match="an entity named Ada"):
        await undo(services, changes[0])


async def test_undoing_a_creation_twice_removed_is_not_found(services: Services) -> None:
    await entity(services, "Ada")
    await relate(services, ("Ada", "knows", "Bob"))
    relation, created = await services.history.newest(2)
    await services.graph.delete_entities(["Ada"], ORIGIN)
    for entry in (relation, created):
        with pytest.raises(NotFoundError):
            await undo(services, entry.id)


async def test_an_undo_is_published(services: Services) -> None:
    item = await stored(services, TITLE)
    await relate(services, ("Ada", "knows", "Bob"))
    relation, knowledge = await services.history.newest(2)
    seen: list[Change] = []
    services.feed.subscribe(seen.append)
    await undo(services, knowledge.id)
    await undo(services, relation.id)
    assert seen == [Change(Noun.KNOWLEDGE, (item.id,), WINDOW), Change(Noun.ENTITY, (), WINDOW)]


async def test_what_belongs_to_no_batch_is_not_taken_back_with_one(services: Services) -> None:
    await stored(services, TITLE)
    assert await services.history.undo_batch("", WINDOW) == 0
    assert await services.history.undo_batch("nope", WINDOW) == 0
    assert (await services.listing.counts()).knowledge == 1


async def test_a_restored_relation_keeps_its_ends(services: Services) -> None:
    await relate(services, ("a b", "c d", "e"))
    await services.graph.delete_relations([Relation("a b", "e", "c d")], ORIGIN)
    await undo(services)
    graph = await services.graph.read(None, EVERYTHING)
    assert graph.relations == (Relation("a b", "e", "c d"),)


@pytest.fixture
def _packed_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Packs hold a few changes, and none is kept open."""
    monkeypatch.setattr(history_packs, "PACK_COUNT", 3)


async def pack_all(services: Services) -> int:
    """Pack the history; return how many changes stay open."""
    database = services.history._database
    while await database.write(lambda c: history_packs.freeze_some(c, kept_open=0)):
        pass
    return int(await database.read(lambda c: c.execute("SELECT count(*) FROM history").get))


@pytest.mark.usefixtures("_packed_at_once")
async def test_a_packed_deletion_is_undone_and_brings_the_item_back_whole(
    services: Services,
) -> None:
    item = await stored(services, TITLE, tags=("a", "b"), scope="repo:a/b", priority=9)
    _, change = await services.knowledge.delete(item.id, WINDOW)
    await stored(services, "Something else altogether")
    assert await pack_all(services) == 0
    await undo(services, change)
    assert await services.knowledge.get(item.id) == item
    assert list((await services.listing.show(View("keys"))).ids) == [item.id]
    with pytest.raises(NotFoundError, match="already"):
        await undo(services, change)
    await pack_all(services)
    with pytest.raises(NotFoundError, match="already"):
        await undo(services, change)


@pytest.mark.usefixtures("_packed_at_once")
async def test_a_batch_is_undone_over_several_packs(services: Services) -> None:
    origin = dataclasses.replace(ORIGIN, batch="an-import")
    before = await content_of(services)
    kept = await stored(services, "This one belongs to nobody's batch")
    items = [await services.knowledge.store(draft(f"Rule {n} of all"), origin) for n in range(8)]
    await entity(services, "Ada", "likes tea", kind="person")
    await undo(services, (await services.history.of_item(items[3].uuid))[0].id)
    assert await pack_all(services) < 3
    assert await services.history.undo_batch("an-import", WINDOW) == 7
    assert await services.history.undo_batch("an-import", WINDOW) == 0
    assert (await services.knowledge.get(kept.id)) == kept
    assert await content_of(services) != before
    for item in items:
        with pytest.raises(NotFoundError):
            await services.knowledge.get(item.id)


@pytest.mark.usefixtures("_packed_at_once")
async def test_a_packed_deletion_of_an_entity_is_undone_whole(services: Services) -> None:
    await entity(services, "Ada", "likes tea", "writes", kind="person")
    await relate(services, ("Ada", "knows", "Bob"))
    before = await content_of(services)
    changes = await services.graph.delete_entities(["Ada"], WINDOW)
    await stored(services, "Something else altogether")
    await stored(services, "And one more thing besides")
    await pack_all(services)
    await undo(services, changes[0])
    assert (await content_of(services))[:2] == before[:2]
