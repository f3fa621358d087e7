"""Rows of `history`: each change with what was there before it."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from kmem_desktop.domain.changes import Action, HistoryEntry, Noun, Origin, OriginKind
from kmem_desktop.store.connection import Connection

_COLUMNS = (
    "id, at, action, noun, item_uuid, item_id, title, before,"
    " origin_kind, origin_name, tool, batch, undone"
)


@dataclass(frozen=True, slots=True)
class Record:
    """A change on its way into the history."""

    action: Action
    noun: Noun
    item_uuid: str
    item_id: int
    title: str
    before: Mapping[str, Any] | None = None


def add(connection: Connection, record: Record, origin: Origin, now: datetime) -> int:
    """Record a change and return its number."""
    connection.execute(
        "INSERT INTO history (at, action, noun, item_uuid, item_id, title, before, origin_kind,"
        " origin_name, tool, batch, device) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?,"
        " (SELECT value FROM meta WHERE key = 'device'))",
        (
            now.isoformat(),
            record.action.value,
            record.noun.value,
            record.item_uuid,
            record.item_id,
            record.title,
            None if record.before is None else json.dumps(record.before, ensure_ascii=False),
            origin.kind.value,
            origin.name,
            origin.tool,
            origin.batch,
        ),
    )
    return connection.last_insert_rowid()


def get(connection: Connection, entry_id: int) -> HistoryEntry | None:
    """Return one change, or None."""
    query = f"SELECT {_COLUMNS} FROM history WHERE id = ?"
    row = connection.execute(query, (entry_id,)).fetchone()
    return _entry(row) if row else None


def newest(
    connection: Connection, limit: int, *, before_id: int | None = None
) -> list[HistoryEntry]:
    """Return the newest changes, newest first, optionally those before a number."""
    query = f"SELECT {_COLUMNS} FROM history WHERE ?1 IS NULL OR id < ?1 ORDER BY id DESC LIMIT ?2"
    return [_entry(row) for row in connection.execute(query, (before_id, limit))]


def of_item(connection: Connection, item_uuid: str) -> list[HistoryEntry]:
    """Return all changes of one row, newest first."""
    query = f"SELECT {_COLUMNS} FROM history WHERE item_uuid = ? ORDER BY id DESC"
    return [_entry(row) for row in connection.execute(query, (item_uuid,))]


def of_batch(connection: Connection, batch: str) -> list[HistoryEntry]:
    """Return the changes of one batch that still stand, newest first."""
    query = f"SELECT {_COLUMNS} FROM history WHERE batch = ? AND undone = 0 ORDER BY id DESC"
    return [_entry(row) for row in connection.execute(query, (batch,))]


def mark_undone(connection: Connection, entry_id: int) -> None:
    """Say that a change has been taken back."""
    connection.execute("UPDATE history SET undone = 1 WHERE id = ?", (entry_id,))


def _entry(row: tuple[Any, ...]) -> HistoryEntry:
    (number, at, action, noun, uuid, item_id, title, before, kind, name, tool, batch, undone) = row
    return HistoryEntry(
        id=number,
        at=datetime.fromisoformat(at),
        action=Action(action),
        noun=Noun(noun),
        item_uuid=uuid,
        item_id=item_id,
        title=title,
        before=None if before is None else json.loads(before),
        origin=Origin(OriginKind(kind), name, tool, batch),
        undone=bool(undone),
    )
