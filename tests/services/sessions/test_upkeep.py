"""What is done for sessions by itself, and that it does no more than it should."""

import asyncio
from datetime import UTC, datetime, timedelta

import pytest

from kmem_desktop.bootstrap import Services, opened_services
from kmem_desktop.config import Paths, SettingsFile
from kmem_desktop.domain.sessions.recall import SessionState, SnapshotReason
from kmem_desktop.errors import NotFoundError
from kmem_desktop.services.sessions import upkeep
from kmem_desktop.store.connection import Connection
from kmem_desktop.store.sessions import digests as digest_rows
from tests.services.memory import WINDOW
from tests.services.sessions.talks import TALK, long_talk, talk


async def catch_up(services: Services, after_days: float = 0) -> None:
    await services.session_upkeep.catch_up(
        datetime.now(UTC) + timedelta(days=after_days, minutes=1)
    )


async def digest_size(services: Services, uuid: str) -> int | None:
    """Return how many turns a session's digest has read; None without one."""
    facts = await services.recall.facts(uuid)
    kept = await services.sessions._database.read(lambda c: digest_rows.get(c, facts.id))
    return kept.digest.turn_count if kept else None


async def test_a_session_past_twenty_turns_is_summarised(services: Services) -> None:
    short = await talk(services, long_talk(20))
    long = await talk(services, long_talk(21))
    await catch_up(services)
    assert (await services.recall.facts(short)).summary is None
    facts = await services.recall.facts(long)
    assert facts.state is SessionState.SUMMARIZED
    assert facts.summary is not None
    assert facts.summary.bullets
    assert facts.summary.turn_count == 21


async def test_a_stale_summary_is_refreshed_once_it_is_worth_it(services: Services) -> None:
    uuid = await talk(services, long_talk(40))
    await catch_up(services)
    await talk(services, TALK[:2], uuid=uuid)
    await catch_up(services)
    stale = await services.recall.facts(uuid)
    assert (stale.is_stale, stale.state) == (True, SessionState.ACTIVE)
    await talk(services, TALK[2:], uuid=uuid)
    await catch_up(services)
    fresh = await services.recall.facts(uuid)
    assert (fresh.is_stale, fresh.state) == (False, SessionState.SUMMARIZED)


async def test_an_idle_session_is_archived_with_a_fresh_summary(services: Services) -> None:
    uuid = await talk(services, long_talk(40))
    await catch_up(services, 6)
    await talk(services, TALK[:1], uuid=uuid)
    pinned = await talk(services)
    await services.session_life.pin(pinned, True, WINDOW)
    await catch_up(services, 6.9)
    assert (await services.recall.facts(uuid)).state is SessionState.ACTIVE
    await catch_up(services, 7)
    facts = await services.recall.facts(uuid)
    assert (facts.state, facts.is_stale) == (SessionState.ARCHIVED, False)
    assert facts.archived_at is not None
    assert (await services.recall.facts(pinned)).state is SessionState.ACTIVE


async def test_an_old_imported_session_is_archived_and_summarised(services: Services) -> None:
    uuid = await talk(services, long_talk(30))
    month_ago = (datetime.now(UTC) - timedelta(days=30)).isoformat()

    def imported(connection: Connection) -> None:
        connection.execute(
            "UPDATE sessions SET source = 'codex', source_id = 'a', last_active = ?", (month_ago,)
        )

    await services.sessions._database.write(imported)
    await catch_up(services)
    facts = await services.recall.facts(uuid)
    assert facts.state is SessionState.ARCHIVED
    assert facts.summary is not None
    assert await services.session_life.snapshots(uuid) == []


async def test_archiving_by_itself_leaves_no_record(services: Services) -> None:
    uuid = await talk(services)
    await catch_up(services, 8)
    assert (await services.recall.facts(uuid)).state is SessionState.ARCHIVED
    assert await services.history.of_item(uuid) == []


async def test_nothing_is_deleted_unless_it_was_switched_on(
    services: Services, profile: Paths
) -> None:
    uuid = await talk(services)
    await catch_up(services, 8)
    await catch_up(services, 1_000)
    assert (await services.recall.facts(uuid)).state is SessionState.ARCHIVED
    SettingsFile(profile.settings).change(deletes_archived_sessions=True)
    await catch_up(services, 8 + 89)
    assert (await services.recall.facts(uuid)).state is SessionState.ARCHIVED
    await catch_up(services, 8 + 91)
    with pytest.raises(NotFoundError):
        await services.recall.facts(uuid)
    assert [each.uuid for each in await services.session_life.deleted()] == [uuid]
    (entry,) = await services.history.of_item(uuid)
    assert entry.origin.name == "kmem"
    await catch_up(services, 8 + 91 + 89)
    assert len(await services.session_life.deleted()) == 1
    await catch_up(services, 8 + 91 + 91)
    assert await services.session_life.deleted() == []


async def test_what_a_person_restored_is_not_deleted_again_at_once(
    services: Services, profile: Paths
) -> None:
    uuid = await talk(services)
    long_ago = (datetime.now(UTC) - timedelta(days=200)).isoformat()
    await services.session_life.archive(uuid, WINDOW)
    await services.sessions._database.write(
        lambda c: c.execute(
            "UPDATE sessions SET last_active = ?1, archived_at = ?1", (long_ago,)
        ).fetchall()
    )
    SettingsFile(profile.settings).change(deletes_archived_sessions=True)
    await catch_up(services)
    await services.session_life.restore_deleted(uuid, WINDOW)
    await catch_up(services, 89)
    assert (await services.recall.facts(uuid)).state is SessionState.ARCHIVED
    await catch_up(services, 91)
    assert [each.uuid for each in await services.session_life.deleted()] == [uuid]


async def test_the_days_are_the_persons(services: Services, profile: Paths) -> None:
    uuid = await talk(services)
    SettingsFile(profile.settings).change(archive_after_days=30)
    await catch_up(services, 29)
    assert (await services.recall.facts(uuid)).state is SessionState.ACTIVE
    await catch_up(services, 30)
    assert (await services.recall.facts(uuid)).state is SessionState.ARCHIVED


async def test_a_long_session_gets_its_digest_and_keeps_it_up(services: Services) -> None:
    short = await talk(services, long_talk(30))
    uuid = await talk(services, long_talk(200))
    await catch_up(services)
    assert await digest_size(services, short) is None
    assert await digest_size(services, uuid) == 200
    await talk(services, TALK, uuid=uuid)
    await catch_up(services)
    assert await digest_size(services, uuid) == 200
    await talk(services, long_talk(30), uuid=uuid)
    await catch_up(services)
    assert await digest_size(services, uuid) == 234


@pytest.mark.usefixtures("_only_words")
async def test_what_is_kept_survives_a_restart(profile: Paths) -> None:
    async with opened_services(profile) as first:
        uuid = await talk(first, long_talk(200))
        await catch_up(first)
        restored = await first.recall.load(uuid, budget_tokens=1_000)
    async with opened_services(profile) as second:
        assert await second.recall.load(uuid, budget_tokens=1_000) == restored
        assert not restored.is_preliminary


async def test_a_digest_of_turns_that_were_taken_away_says_nothing(services: Services) -> None:
    uuid = await talk(services, long_talk(200))
    await catch_up(services)

    def cut(connection: Connection) -> None:
        connection.execute("DELETE FROM documents WHERE id IN (SELECT id FROM turns WHERE"
                           " position >= 190)")  # fmt: skip
        connection.execute("UPDATE sessions SET entry_count = 190")

    await services.sessions._database.write(cut)
    restored = await services.recall.load(uuid, budget_tokens=1_000)
    assert restored.context.turns[-1].position == 189
    assert await digest_size(services, uuid) == 190


async def test_grown_sessions_get_a_snapshot(services: Services) -> None:
    uuid = await talk(services, long_talk(150))
    await catch_up(services)
    (snapshot,) = await services.session_life.snapshots(uuid)
    assert (snapshot.reason, snapshot.turn_count) == (SnapshotReason.TURNS, 150)


async def test_who_goes_on_without_a_digest_is_answered_and_gets_it_next(
    services: Services, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(upkeep, "QUIET_S", 0.0)
    uuid = await talk(services, long_talk(300))
    # As if the upkeep ran and had not come to it.
    services.recall.digests.is_kept_up = True
    quick = await services.recall.load(uuid, budget_tokens=1_000)
    assert quick.is_preliminary
    assert quick.context.turns[-1].position == 299
    assert quick.summary.text == ""
    services.session_upkeep.start()
    async with asyncio.timeout(20):
        await services.session_upkeep.settled()
    full = await services.recall.load(uuid, budget_tokens=1_000)
    await services.session_upkeep.stop()
    assert not full.is_preliminary
    assert full.context.token_count <= 1_000
    assert full.summary.text


async def test_it_begins_by_itself_and_loads_no_model(
    services: Services, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(upkeep, "QUIET_S", 0.05)
    monkeypatch.setattr(upkeep, "REST", 0.0)
    asked: list[object] = []
    monkeypatch.setattr(services.embedding, "vectors_of", asked.append)
    services.session_upkeep.start()
    uuids = [await talk(services, long_talk(25)) for _ in range(3)]
    async with asyncio.timeout(20):
        await services.session_upkeep.settled()
    await services.session_upkeep.stop()
    for uuid in uuids:
        assert (await services.recall.facts(uuid)).summary is not None
    assert asked == []
