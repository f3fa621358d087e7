"""Rows of `history`: each change with what was there before it.

Old ones are packed away (store/history_packs.py); who reads or undoes them here does not notice.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from kmem_desktop.domain.changes import Action, HistoryEntry, Noun, Origin, OriginKind
from kmem_desktop.store import history_packs as packs
from kmem_desktop.store.connection import Connection

_SELECT = f"SELECT {', '.join(packs.COLUMNS)} FROM history"


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
    row = connection.execute(f"{_SELECT} WHERE id = ?", (entry_id,)).fetchone()
    row = row or packs.get(connection, entry_id)
    return _entry(row) if row else None


def newest(
    connection: Connection, limit: int, *, before_id: int | None = None
) -> list[HistoryEntry]:
    """Return the newest changes, newest first, optionally those before a number.

    Args:
        connection: A snapshot.
        limit: How many, at least one.
        before_id: Only changes with smaller numbers.
    """
    query = f"{_SELECT} WHERE ?1 IS NULL OR id < ?1 ORDER BY id DESC LIMIT ?2"
    rows: list[packs.Row] = connection.execute(query, (before_id, limit)).fetchall()
    after_id = rows[-1][packs.ID] if len(rows) == limit else 0
    for packed in packs.newest_first(connection, before_id, after_id):
        if len(rows) == limit and rows[-1][packs.ID] > packed[0][packs.ID]:
            break
        older = (row for row in packed if before_id is None or row[packs.ID] < before_id)
        rows = _newest_first([*rows, *older])[:limit]
    return [_entry(row) for row in rows]


def of_item(connection: Connection, item_uuid: str) -> list[HistoryEntry]:
    """Return all changes of one row, newest first."""
    rows = connection.execute(f"{_SELECT} WHERE item_uuid = ?", (item_uuid,)).fetchall()
    rows += packs.having(connection, packs.ITEM_UUID, item_uuid)
    return [_entry(row) for row in _newest_first(rows)]


def of_batch(connection: Connection, batch: str) -> list[HistoryEntry]:
    """Return the changes of one batch that still stand, newest first."""
    query = f"{_SELECT} WHERE batch = ? AND undone = 0"
    rows = connection.execute(query, (batch,)).fetchall()
    packed = packs.having(connection, packs.BATCH, batch)
    rows += (row for row in packed if not row[packs.UNDONE])
    return [_entry(row) for row in _newest_first(rows)]


def mark_undone(connection: Connection, entry_id: int) -> None:
    """Say that a change has been taken back."""
    mark = "UPDATE history SET undone = 1 WHERE id = ?"
    connection.execute(mark, (entry_id,))
    if not connection.changes():
        packs.thaw(connection, entry_id)
        connection.execute(mark, (entry_id,))


def forget(connection: Connection, item_uuid: str) -> None:
    """Remove every change of one row for good, so that nothing of it can be read or undone.

    The row itself is deleted by its own noun. An entity's observations have UUIDs of their own. On
    the disk the bytes are gone once the write-ahead log is folded into the file: see
    `store.space.fold_log`.
    """
    connection.execute("DELETE FROM history WHERE item_uuid = ?", (item_uuid,))
    packs.forget(connection, item_uuid)


def _newest_first(rows: list[packs.Row]) -> list[packs.Row]:
    return sorted(rows, key=lambda row: row[packs.ID], reverse=True)


def _entry(row: packs.Row) -> HistoryEntry:
    (
        number,
        at,
        action,
        noun,
        uuid,
        item_id,
        title,
        before,
        kind,
        name,
        tool,
        batch,
        _device,
        undone,
    ) = row
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
