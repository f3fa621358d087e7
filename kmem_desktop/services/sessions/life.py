"""The life of sessions by a person's hand: named, tagged, pinned, archived, deleted, restored.

Each change is recorded with what was there before, and can be undone. A deleted session waits,
packed, among those that can be restored; `delete_for_good` leaves nothing of it but a hash by which
an import knows that it is not wanted.

A session is deleted in two steps: its rows go at once, and its texts leave the index a few at a
time, so that who stores something meanwhile does not wait (see store/sessions/life.py). What is not
done when kmem ends is done after the next start.

Context snapshots (seed 004 has one after each turn) hold what was given back at one time. As turns
are only ever added, and any earlier state can be restored from them, one is kept where it tells
something: when a person asks for it, each `SNAPSHOT_EVERY_TURNS` turns of a session that grows
here, and when such a session is archived; of those taken by themselves the newest few.
"""

import asyncio
import functools
import json
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from kmem_desktop.domain.changes import Action, HistoryEntry, Noun, Origin
from kmem_desktop.domain.sessions.conversations import SESSION_TITLE_LENGTH
from kmem_desktop.domain.sessions.recall import (
    RESTORE_TOKENS,
    USUAL_RESTORE_TOKENS,
    ContextSnapshot,
    DeletedSession,
    RestoredSession,
    SessionState,
    SnapshotReason,
)
from kmem_desktop.errors import InvalidInputError, NotFoundError, StoreBusyError
from kmem_desktop.events import Change, ChangeFeed
from kmem_desktop.services.sessions.exchanges import checked_tags, require_session
from kmem_desktop.services.sessions.recall import SessionRecall
from kmem_desktop.services.sessions.redacting import SecretFilter
from kmem_desktop.services.validation import Problems
from kmem_desktop.store import history, space
from kmem_desktop.store.connection import Connection
from kmem_desktop.store.database import Database
from kmem_desktop.store.sessions import conversations as session_rows
from kmem_desktop.store.sessions import deleted as deleted_rows
from kmem_desktop.store.sessions import life as life_rows
from kmem_desktop.store.sessions import snapshots as snapshot_rows
from kmem_desktop.text import one_line

SLICE_S = 0.01
"""So long others wait at most while texts are taken out of the index."""
FOLD_TRIES = 3
SNAPSHOT_EVERY_TURNS = 40
SNAPSHOT_TOKENS = 2_000
KEPT_SNAPSHOTS = 5
MOST_SNAPSHOTS = 50
"""Those that a person took are kept up to so many."""


class SessionLife:
    """What can be done with a session as a whole."""

    def __init__(self, database: Database, feed: ChangeFeed, recall: SessionRecall) -> None:
        """Work on `database`, tell `feed`, and restore contexts by `recall`."""
        self._database = database
        self._feed = feed
        self._recall = recall
        self._taking_out: asyncio.Task[None] | None = None

    # What a person says of it

    async def rename(self, uuid: str, title: str, origin: Origin) -> None:
        """Give a session another title; an import leaves it alone from now on.

        Raises:
            InvalidInputError: The title is empty or too long.
            NotFoundError: There is no such session.
        """
        changed = {"title": _checked("title", title, least=1), "is_renamed": 1}
        await self._change(uuid, changed, origin)

    async def set_project(self, uuid: str, project: str, origin: Origin) -> None:
        """Move a session to another project; empty for none.

        Raises:
            InvalidInputError: The project's name is too long.
            NotFoundError: There is no such session.
        """
        await self._change(uuid, {"project": _checked("project", project, least=0)}, origin)

    async def set_tags(self, uuid: str, tags: Sequence[str], origin: Origin) -> None:
        """Give a session these tags instead of those it has.

        Raises:
            InvalidInputError: There are too many, or one is too long.
            NotFoundError: There is no such session.
        """
        kept = checked_tags(tags)
        await self._change(uuid, {"tags": json.dumps(kept, ensure_ascii=False)}, origin)

    async def pin(self, uuid: str, on: bool, origin: Origin) -> None:  # noqa: FBT001
        """Keep a session at hand: it is neither archived nor deleted by itself; or no longer.

        Raises:
            NotFoundError: There is no such session.
        """
        await self._change(uuid, {"is_pinned": int(on)}, origin)

    async def archive(self, uuid: str, origin: Origin) -> None:
        """Put a session aside; it is found and restored as before.

        Raises:
            NotFoundError: There is no such session.
        """
        facts = await self._recall.facts(uuid)
        if facts.state is SessionState.ARCHIVED:
            return
        await self._take(facts.uuid, SnapshotReason.ARCHIVED)
        now = datetime.now(UTC).isoformat()
        await self._change(uuid, {"status": SessionState.ARCHIVED, "archived_at": now}, origin)

    async def unarchive(self, uuid: str, origin: Origin) -> None:
        """Take a session back from the archive.

        Raises:
            NotFoundError: There is no such session.
        """
        facts = await self._recall.facts(uuid)
        if facts.state is not SessionState.ARCHIVED:
            return
        is_told = facts.summary is not None and not facts.is_stale
        state = SessionState.SUMMARIZED if is_told else SessionState.ACTIVE
        await self._change(uuid, {"status": state, "archived_at": None}, origin)

    async def mark_important(
        self,
        uuid: str,
        position: int,
        on: bool,  # noqa: FBT001
        origin: Origin,
    ) -> None:
        """Mark a turn, which is then given back before others; or take the mark away.

        Raises:
            NotFoundError: There is no such session, or no such turn.
        """

        def work(connection: Connection) -> int:
            session = require_session(connection, uuid)
            _mark(connection, session, position, is_important=on)
            before = {"important": {"position": position, "on": not on}}
            _record(connection, session, Action.UPDATED, before, origin)
            return session.id

        self._tell(await self._database.write(work), origin)

    async def _change(self, uuid: str, changed: dict[str, Any], origin: Origin) -> None:
        secrets = SecretFilter(origin.name)
        changed = {name: secrets.value(value) for name, value in changed.items()}

        def work(connection: Connection) -> int:
            session = require_session(connection, uuid)
            before = life_rows.values(connection, session.id)
            if any(before[name] != value for name, value in changed.items()):
                life_rows.set_values(connection, session.id, changed)
                secrets.note(connection, datetime.now(UTC))
                _record(connection, session, Action.UPDATED, before, origin)
            return session.id

        self._tell(await self._database.write(work), origin)

    def _tell(self, session_id: int, origin: Origin) -> None:
        self._feed.publish(Change(Noun.SESSION, (session_id,), origin))

    # Deleting and restoring

    async def delete(self, uuid: str, origin: Origin, now: datetime | None = None) -> None:
        """Delete a session; it can be restored until it is deleted for good.

        Raises:
            NotFoundError: There is no such session.
        """

        def work(connection: Connection) -> tuple[int, list[int]]:
            session = require_session(connection, uuid)
            return session.id, remove(connection, session, origin, now or datetime.now(UTC))

        session_id, turn_ids = await self._database.write(work)
        self._feed.publish(Change(Noun.TURN, tuple(turn_ids), origin))
        self._tell(session_id, origin)
        self.take_out()

    async def deleted(self) -> list[DeletedSession]:
        """Return the sessions that can be restored, the last deleted first."""
        return await self._database.read(deleted_rows.all_deleted)

    async def restore_deleted(self, uuid: str, origin: Origin) -> None:
        """Bring a deleted session back: the same ids, the same turns at the same places.

        Raises:
            NotFoundError: There is no such deleted session.
            DuplicateError: It is there again.
        """
        session_id, turn_ids = await self._database.write(
            lambda c: restore(c, _known_as(uuid), origin, datetime.now(UTC))
        )
        self._feed.publish(Change(Noun.TURN, tuple(turn_ids), origin))
        self._tell(session_id, origin)

    async def delete_for_good(self, uuid: str, origin: Origin) -> None:
        """Leave nothing of a session, deleted before or not: nobody can restore it.

        Rows, index, vectors, history and the pages they stood on go; a hash of where it came from
        stays, so that no import brings it back.

        Raises:
            NotFoundError: There is no such session, nor a deleted one.
            StoreBusyError: It is gone, but what stood on the disk could not be overwritten yet.
        """
        uuid = _known_as(uuid)
        kept = await self._database.read(lambda c: deleted_rows.packed_session(c, uuid))
        if kept is None:
            await self.delete(uuid, origin)
        await self.taken_out()
        await self._database.write(lambda c: _forget(c, uuid))
        self._feed.publish(Change(Noun.SESSION, (), origin))
        for _ in range(FOLD_TRIES):
            if await self._database.alone(space.fold_log):
                return
        raise StoreBusyError(
            "The session is gone, but another program keeps its text from being overwritten.",
            hint="It is overwritten when that program ends.",
        )

    def take_out(self) -> None:
        """Begin to take the texts of removed sessions out of the index, a few at a time."""
        if self._taking_out is None or self._taking_out.done():
            self._taking_out = asyncio.ensure_future(self._take_out())

    async def taken_out(self) -> None:
        """Wait until no text of a removed session is left in the index."""
        self.take_out()
        if self._taking_out is not None:
            await asyncio.shield(self._taking_out)

    async def stop(self) -> None:
        """End the work in the background; what is not done is done after the next start."""
        if self._taking_out is not None:
            self._taking_out.cancel()
            await asyncio.gather(self._taking_out, return_exceptions=True)

    async def _take_out(self) -> None:
        while await self._database.read(life_rows.is_any_to_take_out):
            taken = await self._database.write(lambda c: life_rows.take_out_some(c, SLICE_S))
            self._feed.publish(Change(Noun.TURN, tuple(taken), None))
            await asyncio.sleep(SLICE_S)

    # Snapshots

    async def take_snapshot(
        self, uuid: str, origin: Origin, budget_tokens: int = USUAL_RESTORE_TOKENS
    ) -> ContextSnapshot:
        """Keep what is given back of a session now.

        Raises:
            InvalidInputError: The budget is out of its limits, or there are too many snapshots.
            NotFoundError: There is no such session.
        """
        restored = await self._recall.load(uuid, budget_tokens=budget_tokens)

        def work(connection: Connection) -> ContextSnapshot:
            asked = [SnapshotReason.ASKED]
            if snapshot_rows.count(connection, restored.facts.id, asked) >= MOST_SNAPSHOTS:
                raise InvalidInputError(f"A session keeps at most {MOST_SNAPSHOTS} snapshots.")
            return _keep(connection, restored, SnapshotReason.ASKED)

        snapshot = await self._database.write(work)
        self._tell(restored.facts.id, origin)
        return snapshot

    async def snapshots(self, uuid: str) -> list[ContextSnapshot]:
        """Return a session's snapshots, the newest first.

        Raises:
            NotFoundError: There is no such session.
        """
        return await self._database.read(
            lambda c: snapshot_rows.of_session(c, require_session(c, uuid).id)
        )

    async def snapshot_if_grown(self, uuid: str) -> None:
        """Take a snapshot of a session that has grown by so many turns since the last."""
        await self._take(uuid, SnapshotReason.TURNS)

    async def _take(self, uuid: str, reason: SnapshotReason) -> None:
        facts = await self._recall.facts(uuid)
        if facts.source or not facts.entry_count:
            return  # an imported conversation does not grow here
        known = await self._database.read(lambda c: snapshot_rows.last_turn_count(c, facts.id))
        least = SNAPSHOT_EVERY_TURNS if reason is SnapshotReason.TURNS else 1
        if facts.entry_count - known >= least:
            budget = max(RESTORE_TOKENS[0], SNAPSHOT_TOKENS)
            restored = await self._recall.load(uuid, budget_tokens=budget)
            await self._database.write(functools.partial(_keep, restored=restored, reason=reason))


def _keep(
    connection: Connection, restored: RestoredSession, reason: SnapshotReason
) -> ContextSnapshot:
    require_session(connection, restored.facts.uuid)
    snapshot = snapshot_rows.add(
        connection, restored.facts, restored.context, reason, datetime.now(UTC)
    )
    by_itself = (SnapshotReason.TURNS, SnapshotReason.ARCHIVED)
    snapshot_rows.keep_newest(connection, restored.facts.id, by_itself, KEPT_SNAPSHOTS)
    return snapshot


def remove(
    connection: Connection, session: session_rows.SessionRow, origin: Origin, now: datetime
) -> list[int]:
    """Remove a session so that it can be restored, and record it; return the ids of its turns."""
    packed = life_rows.packed(connection, session.id)
    deleted = DeletedSession(session.uuid, session.title, session.entry_count, now, origin.name)
    deleted_rows.put(connection, deleted, packed)
    source = packed["session"]
    deleted_rows.note_source(connection, source["source"], source["source_id"])
    turn_ids = life_rows.remove(connection, session.id)
    # What is needed to restore it is kept once, with the deleted sessions.
    _record(connection, session, Action.DELETED, {"turn_count": session.entry_count}, origin)
    return turn_ids


def restore(
    connection: Connection, uuid: str, origin: Origin, now: datetime
) -> tuple[int, list[int]]:
    """Bring a deleted session back and record it; return its number and the ids of its turns.

    Raises:
        NotFoundError: There is no such deleted session.
        DuplicateError: It is there again.
    """
    kept = deleted_rows.packed_session(connection, uuid)
    if kept is None:
        raise NotFoundError(
            "This session cannot be restored: it was deleted for good.",
            details={"session_id": uuid[:80]},
        )
    session_id, turn_ids = life_rows.restore(connection, kept)
    if kept["session"]["status"] == SessionState.ARCHIVED:
        # Its time in the archive begins anew, or it would be deleted by itself at once.
        life_rows.set_values(connection, session_id, {"archived_at": now.isoformat()})
    deleted_rows.remove(connection, uuid)
    deleted_rows.forget_source(connection, kept["session"]["source"], kept["session"]["source_id"])
    title = str(kept["session"]["title"])
    record = history.Record(Action.RESTORED, Noun.SESSION, uuid, session_id, title)
    history.add(connection, record, origin, now)
    return session_id, turn_ids


def take_back(connection: Connection, entry: HistoryEntry, origin: Origin, now: datetime) -> None:
    """Undo a recorded change of a session, and record that.

    Raises:
        NotFoundError: The session is gone.
        DuplicateError: It is there again.
    """
    if entry.action is Action.DELETED:
        restore(connection, entry.item_uuid, origin, now)
        return
    session = session_rows.find(connection, entry.item_uuid)
    if session is None:
        raise NotFoundError("It has been deleted since.")
    if entry.before is None:
        remove(connection, session, origin, now)
        return
    if (important := entry.before.get("important")) is not None:
        _mark(connection, session, important["position"], is_important=important["on"])
        before: dict[str, Any] = {"important": {**important, "on": not important["on"]}}
    else:
        before = life_rows.values(connection, session.id)
        life_rows.set_values(connection, session.id, entry.before)
    _record(connection, session, Action.UPDATED, before, origin)


def _mark(
    connection: Connection, session: session_rows.SessionRow, position: int, *, is_important: bool
) -> None:
    if not life_rows.mark(connection, session.id, position, is_important=is_important):
        raise NotFoundError(f"The session has no turn {position}.", details={"position": position})


def _record(
    connection: Connection,
    session: session_rows.SessionRow,
    action: Action,
    before: dict[str, Any],
    origin: Origin,
) -> None:
    record = history.Record(action, Noun.SESSION, session.uuid, session.id, session.title, before)
    history.add(connection, record, origin, datetime.now(UTC))


def _forget(connection: Connection, uuid: str) -> None:
    kept = deleted_rows.packed_session(connection, uuid)
    deleted_rows.remove(connection, uuid)
    for row_uuid in (uuid, *(row["uuid"] for row in (kept or {}).get("proposals", ()))):
        history.forget(connection, row_uuid)
    life_rows.forget_searches(connection, uuid)


def _known_as(uuid: str) -> str:
    return uuid.strip().lower()


def _checked(field: str, value: str, *, least: int) -> str:
    problems = Problems()
    text = one_line(value)
    if not least <= len(text) <= SESSION_TITLE_LENGTH:
        low = f"{least} to " if least else "at most "
        problems.add(field, f"{field} must be {low}{SESSION_TITLE_LENGTH} characters.")
    problems.raise_if_any()
    return text
