import asyncio
import time
from datetime import UTC, datetime, timedelta

import apsw
import pytest

from kmem_desktop.bootstrap import Services
from kmem_desktop.config import Paths
from kmem_desktop.domain.changes import Origin
from kmem_desktop.domain.knowledge import KnowledgeDraft
from kmem_desktop.errors import DamagedStoreError, StoreBusyError
from kmem_desktop.services import maintenance
from kmem_desktop.store import history_packs, space
from tests.services.memory import WINDOW, content_of, stored

DRAFT = KnowledgeDraft(
    "Queue moved from Redis to PostgreSQL",
    "Jobs were lost when Redis was restarted without persistence on the worker hosts.",
    ("queue",),
)


async def test_a_sound_memory_is_whole(services: Services, origin: Origin) -> None:
    await services.knowledge.store(DRAFT, origin)
    health = await services.maintenance.check()
    assert health.is_whole
    assert (health.texts, health.without_vector) == (1, 1)
    assert "words alone" in health.meaning


async def test_a_memory_is_whole_after_something_was_deleted(services: Services) -> None:
    # The reader that checks still knows the part of the index that went with the item.
    await stored(services, "Where the cafe keeps its keys")
    item = await stored(services, "Where the theatre keeps its umbrellas")
    for _ in range(4):
        assert (await services.maintenance.check()).is_whole
    await services.knowledge.delete(item.id, WINDOW)
    for _ in range(4):
        health = await services.maintenance.check()
        assert health.problems == ()


async def test_a_text_that_changed_by_itself_is_noticed(
    services: Services, origin: Origin, profile: Paths
) -> None:
    item = await services.knowledge.store(DRAFT, origin)
    connection = apsw.Connection(str(profile.database))
    connection.execute("DROP TRIGGER documents_after_update")
    connection.execute("UPDATE documents SET body = 'rotten' WHERE id = ?", (item.id,))
    connection.close()
    health = await services.maintenance.check()
    assert not health.is_whole
    assert "1 texts are not as they were stored." in health.problems
    assert "The search index does not fit the texts." in health.problems


@pytest.fixture
def _small_packs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(history_packs, "PACK_COUNT", 8)
    monkeypatch.setattr(history_packs, "KEPT_OPEN", 4)


@pytest.mark.usefixtures("_small_packs")
async def test_after_giving_space_back_every_deletion_can_still_be_undone(
    services: Services,
) -> None:
    items = [await stored(services, f"Cache rule number {number}") for number in range(30)]
    changes = {item: (await services.knowledge.delete(item.id, WINDOW))[1] for item in items}
    log = await services.history.newest(1_000)
    histories = [await services.history.of_item(item.uuid) for item in items]
    steps: list[str] = []
    outcome = await services.maintenance.run(steps.append)
    assert steps == [
        "Checking the memory",
        "Packing old history",
        "Tidying the search index",
        "Giving space back",
    ]
    assert outcome.after_bytes < outcome.before_bytes
    assert not outcome.waits_for_others
    assert await services.history.newest(1_000) == log
    assert [await services.history.of_item(item.uuid) for item in items] == histories
    assert (await services.maintenance.check()).is_whole
    for item, change in changes.items():
        await services.history.undo(change, WINDOW)
        assert await services.knowledge.get(item.id) == item
    assert (await services.maintenance.check()).is_whole
    before = await content_of(services)
    await services.maintenance.run()
    assert await content_of(services) == before


async def test_only_one_gives_space_back_at_a_time(services: Services) -> None:
    first = asyncio.ensure_future(services.maintenance.run())
    await asyncio.sleep(0)  # it begins
    with pytest.raises(StoreBusyError):
        await services.maintenance.run()
    await first
    await services.maintenance.run()


async def test_a_damaged_memory_is_left_as_it_is(
    services: Services, origin: Origin, profile: Paths
) -> None:
    item = await services.knowledge.store(DRAFT, origin)
    connection = apsw.Connection(str(profile.database))
    connection.execute("DROP TRIGGER documents_after_update")
    connection.execute("UPDATE documents SET body = 'rotten' WHERE id = ?", (item.id,))
    connection.close()
    with pytest.raises(DamagedStoreError, match="Nothing was changed"):
        await services.maintenance.run()


async def test_stores_and_searches_go_on_while_space_is_given_back(services: Services) -> None:
    for number in range(20):
        await stored(services, f"Cache rule number {number}")
    running = asyncio.ensure_future(services.maintenance.run())
    items = [await stored(services, f"Queue rule number {number}") for number in range(20)]
    await running
    for item in items:
        assert await services.knowledge.get(item.id) == item


async def test_what_another_program_still_reads_comes_back_later(
    services: Services, profile: Paths, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(space, "PATIENCE_MS", 1)
    await stored(services, "Cache rule")
    reader = apsw.Connection(str(profile.database), flags=apsw.SQLITE_OPEN_READONLY)
    reader.execute("BEGIN")
    reader.execute("SELECT count(*) FROM documents").fetchall()
    assert (await services.maintenance.run()).waits_for_others
    reader.execute("COMMIT")
    reader.close()
    assert not (await services.maintenance.run()).waits_for_others


async def test_a_program_that_writes_is_named_instead_of_waited_for_without_end(
    services: Services, profile: Paths, monkeypatch: pytest.MonkeyPatch
) -> None:
    item = await stored(services, "Cache rule")
    monkeypatch.setattr(space, "PATIENCE_MS", 1)
    writer = apsw.Connection(str(profile.database))

    def begin_writing(step: str) -> None:
        if step == "Giving space back":
            writer.execute("BEGIN IMMEDIATE")

    with pytest.raises(StoreBusyError, match="Another program"):
        await services.maintenance.run(begin_writing)
    writer.execute("COMMIT")
    writer.close()
    assert await services.knowledge.get(item.id) == item


async def test_space_is_given_back_by_itself_when_idle_worth_it_and_not_done_today(
    services: Services, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = datetime(2026, 5, 3, tzinfo=UTC)
    await stored(services, "Cache rule")
    database = services.maintenance._database

    def be_idle() -> None:
        database.used_at = time.monotonic() - maintenance.IDLE_S

    assert await services.maintenance.run_if_due(now) is None  # somebody has just stored
    be_idle()
    assert await services.maintenance.run_if_due(now) is None  # not worth it
    monkeypatch.setattr(maintenance, "LEAST_SPARE_SHARE", 0.0)
    monkeypatch.setattr(maintenance, "LEAST_SPARE_BYTES", 0)
    be_idle()
    assert await services.maintenance.run_if_due(now) is not None
    tomorrow = datetime.now(UTC) + timedelta(days=1)
    be_idle()
    assert await services.maintenance.run_if_due(tomorrow - timedelta(hours=1)) is None
    be_idle()
    assert await services.maintenance.run_if_due(tomorrow) is not None


async def test_the_watch_ends_when_it_is_told_to(services: Services) -> None:
    services.maintenance.start()
    await services.maintenance.stop()
    await services.maintenance.stop()
