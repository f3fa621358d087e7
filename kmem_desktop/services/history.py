"""What was changed, by whom, and taking it back."""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any

from kmem_desktop.domain.changes import Action, HistoryEntry, Noun, Origin
from kmem_desktop.domain.graph import Relation
from kmem_desktop.errors import DuplicateError, NotFoundError
from kmem_desktop.events import Change, ChangeFeed
from kmem_desktop.services import graph
from kmem_desktop.services.sessions import life
from kmem_desktop.store import graph as graph_rows
from kmem_desktop.store import history as history_rows
from kmem_desktop.store import knowledge as knowledge_rows
from kmem_desktop.store.connection import Connection
from kmem_desktop.store.database import Database

UNDO_STEP = 500
"""So many changes are taken back in one transaction: under a second."""


class HistoryService:
    """What can be done with the record of changes."""

    def __init__(self, database: Database, feed: ChangeFeed) -> None:
        """Work on `database` and tell `feed` what changed."""
        self._database = database
        self._feed = feed

    async def newest(self, limit: int = 50, *, before_id: int | None = None) -> list[HistoryEntry]:
        """Return the newest changes, newest first."""
        return await self._database.read(
            lambda c: history_rows.newest(c, limit, before_id=before_id)
        )

    async def of_item(self, item_uuid: str) -> list[HistoryEntry]:
        """Return all changes of one item or entity, newest first."""
        return await self._database.read(lambda c: history_rows.of_item(c, item_uuid))

    async def undo(self, entry_id: int, origin: Origin) -> HistoryEntry:
        """Take one change back. The undoing is a change of its own and can be undone too.

        Raises:
            NotFoundError: There is no such change, or what it changed is gone.
            DuplicateError: Something else now stands where the deleted row would come back.
        """

        def work(connection: Connection) -> HistoryEntry:
            entry = history_rows.get(connection, entry_id)
            if entry is None or entry.undone:
                raise NotFoundError("This change has already been undone.")
            take_back(connection, entry, origin, datetime.now(UTC))
            return entry

        entry = await self._database.write(work)
        # A restored entity has a new id, and observations and relations have ids of their own.
        ids = (entry.item_id,) if entry.noun is Noun.KNOWLEDGE else ()
        self._feed.publish(Change(_shown_noun(entry.noun), ids, origin))
        if entry.noun is Noun.SESSION:  # its turns may have gone or come back
            self._feed.publish(Change(Noun.TURN, (), origin))
        return entry

    async def undo_batch(self, batch: str, origin: Origin) -> int:
        """Take back all changes of an import; return how many there were.

        Many are taken back in steps, so that others can write in between; what is cut off there can
        be undone again.
        """
        if not batch:  # all changes that belong to no import have this one
            return 0

        def work(connection: Connection) -> int:
            entries = history_rows.of_batch(connection, batch)[:UNDO_STEP]
            for entry in entries:
                try:
                    take_back(connection, entry, origin, datetime.now(UTC))
                except NotFoundError:
                    # Somebody deleted it since: there is nothing left to take back.
                    history_rows.mark_undone(connection, entry.id)
            return len(entries)

        count = done = await self._database.write(work)
        while done == UNDO_STEP:
            done = await self._database.write(work)
            count += done
        for noun in (Noun.ENTITY, Noun.KNOWLEDGE, Noun.SESSION, Noun.TURN):
            self._feed.publish(Change(noun, (), origin))
        return count


def _shown_noun(noun: Noun) -> Noun:
    return noun if noun in (Noun.KNOWLEDGE, Noun.SESSION) else Noun.ENTITY


def take_back(connection: Connection, entry: HistoryEntry, origin: Origin, now: datetime) -> None:
    """Take one change back, within a transaction of the caller's.

    Raises:
        NotFoundError: What it changed is gone.
        DuplicateError: Something else now stands where the deleted row would come back.
    """
    _UNDO[entry.noun](connection, entry, origin, now)
    history_rows.mark_undone(connection, entry.id)


def _undo_knowledge(
    connection: Connection, entry: HistoryEntry, origin: Origin, now: datetime
) -> None:
    current = knowledge_rows.get_by_uuid(connection, entry.item_uuid)
    if current is None and entry.before is None:
        raise NotFoundError("It has been deleted since.")
    action = Action.UPDATED
    if entry.before is None:
        assert current is not None  # noqa: S101 - shown two lines above, for the type checker
        knowledge_rows.delete(connection, current.id)
        action = Action.DELETED
    else:
        old = knowledge_rows.from_json(entry.before)
        if duplicate := knowledge_rows.find_duplicate(
            connection, old, except_id=current.id if current else 0
        ):
            raise DuplicateError(
                "Another item now has this title or content.",
                hint="Change or delete that one first.",
                details={"existingId": duplicate[0], "duplicateType": duplicate[1]},
            )
        if current is None:
            knowledge_rows.insert(connection, old)
            action = Action.RESTORED
        else:
            knowledge_rows.replace(connection, old)
    before = knowledge_rows.to_json(current) if current else None
    record = history_rows.Record(
        action, Noun.KNOWLEDGE, entry.item_uuid, entry.item_id, entry.title, before
    )
    history_rows.add(connection, record, origin, now)


def _undo_entity(
    connection: Connection, entry: HistoryEntry, origin: Origin, now: datetime
) -> None:
    entity_id = graph_rows.entity_of_uuid(connection, entry.item_uuid)
    if entry.action in (Action.CREATED, Action.RESTORED):
        if entity_id is None:
            raise NotFoundError("It has been deleted since.")
        graph.remove_entity(connection, entity_id, origin, now)
    elif entry.action is Action.UPDATED and entry.before is not None:
        _restore_type(connection, entry, entity_id, origin, now)
    elif entry.before is not None:
        _restore_entity(connection, entry, entry.before, origin, now)


def _restore_type(
    connection: Connection,
    entry: HistoryEntry,
    entity_id: int | None,
    origin: Origin,
    now: datetime,
) -> None:
    details = graph_rows.get_details(connection, entity_id) if entity_id else None
    if details is None or entry.before is None:
        raise NotFoundError("It has been deleted since.")
    graph_rows.set_entity_type(connection, details.id, entry.before["entity_type"], now)
    record = history_rows.Record(
        Action.UPDATED,
        Noun.ENTITY,
        entry.item_uuid,
        details.id,
        entry.title,
        graph_rows.to_json(details),
    )
    history_rows.add(connection, record, origin, now)


def _restore_entity(
    connection: Connection,
    entry: HistoryEntry,
    before: Mapping[str, Any],
    origin: Origin,
    now: datetime,
) -> None:
    entity, relations, stored_by = graph_rows.from_json(before)
    if graph_rows.find_entity(connection, entity.name) is not None:
        raise DuplicateError(
            f"There is an entity named {entity.name} again.", hint="Delete that one first."
        )
    entity_id, uuid = graph_rows.insert_entity(connection, entity, stored_by, now, entry.item_uuid)
    record = history_rows.Record(Action.RESTORED, Noun.ENTITY, uuid, entity_id, entity.name)
    history_rows.add(connection, record, origin, now)
    for relation in relations:
        graph_rows.insert_relation(connection, relation, stored_by, now)


def _undo_observation(
    connection: Connection, entry: HistoryEntry, origin: Origin, now: datetime
) -> None:
    if entry.before is None:
        row = graph_rows.observation_of_uuid(connection, entry.item_uuid)
        entity = graph_rows.find_entity(connection, row[1]) if row else None
        if row is None or entity is None:
            raise NotFoundError("It has been deleted since.")
        graph.remove_observation(connection, (entity[0], row[1]), row[2], origin, now)
        return
    name = entry.before["entity"]
    entity = graph_rows.find_entity(connection, name)
    if entity is None:
        raise NotFoundError(f"The entity {name} has been deleted since.")
    graph.add_contents(connection, (entity[0], name), [entry.before["content"]], origin, now)


def _undo_relation(
    connection: Connection, entry: HistoryEntry, origin: Origin, now: datetime
) -> None:
    if entry.before is not None:
        graph.add_relation(connection, Relation(*entry.before["relation"]), origin, now)
        return
    row = graph_rows.relation_of_uuid(connection, entry.item_uuid)
    if row is None:
        raise NotFoundError("It has been deleted since.")
    graph.remove_relation(connection, row[1], origin, now)


_UNDO: dict[Noun, Callable[[Connection, HistoryEntry, Origin, datetime], None]] = {
    Noun.KNOWLEDGE: _undo_knowledge,
    Noun.ENTITY: _undo_entity,
    Noun.OBSERVATION: _undo_observation,
    Noun.RELATION: _undo_relation,
    Noun.SESSION: life.take_back,
}
