"""Rows of `context_snapshots`: what was given back of a session at one time (seed 004)."""

import json
import uuid as uuids
from collections.abc import Sequence
from dataclasses import asdict
from datetime import datetime
from typing import Any

from kmem_desktop.domain.sessions.conversations import RestoredContext, RestoredTurn, Role
from kmem_desktop.domain.sessions.recall import ContextSnapshot, SessionFacts, SnapshotReason
from kmem_desktop.store.connection import Connection

_COLUMNS = "uuid, snapshot_at, reason, context_window, token_count, turn_count, summary"


def add(
    connection: Connection,
    facts: SessionFacts,
    context: RestoredContext,
    reason: SnapshotReason,
    now: datetime,
) -> ContextSnapshot:
    """Keep what is restored of a session now."""
    snapshot = ContextSnapshot(
        uuid=str(uuids.uuid4()),
        at=now,
        reason=reason,
        turns=context.turns,
        token_count=context.token_count,
        turn_count=facts.entry_count,
        summary=facts.summary.text if facts.summary else "",
    )
    turns = [{**asdict(turn), "at": turn.at and turn.at.isoformat()} for turn in context.turns]
    connection.execute(
        f"INSERT INTO context_snapshots (session_id, {_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        (
            facts.id,
            snapshot.uuid,
            now.isoformat(),
            reason.value,
            json.dumps(turns, ensure_ascii=False),
            snapshot.token_count,
            snapshot.turn_count,
            snapshot.summary,
        ),
    )
    return snapshot


def keep_newest(
    connection: Connection, session_id: int, reasons: Sequence[SnapshotReason], kept: int
) -> None:
    """Drop the oldest snapshots that were taken for one of these reasons, but so many."""
    connection.execute(
        "DELETE FROM context_snapshots WHERE id IN (SELECT id FROM context_snapshots"
        " WHERE session_id = ? AND reason IN (SELECT value FROM json_each(?))"
        " ORDER BY id DESC LIMIT -1 OFFSET ?)",
        (session_id, json.dumps(reasons), kept),
    )


def of_session(connection: Connection, session_id: int) -> list[ContextSnapshot]:
    """Return a session's snapshots, the newest first."""
    query = f"SELECT {_COLUMNS} FROM context_snapshots WHERE session_id = ? ORDER BY id DESC"
    return [_snapshot(row) for row in connection.execute(query, (session_id,))]


def count(connection: Connection, session_id: int, reasons: Sequence[SnapshotReason]) -> int:
    """Return how many snapshots of a session were taken for one of these reasons."""
    query = (
        "SELECT count(*) FROM context_snapshots WHERE session_id = ?"
        " AND reason IN (SELECT value FROM json_each(?))"
    )
    return int(connection.execute(query, (session_id, json.dumps(reasons))).get)


def last_turn_count(connection: Connection, session_id: int) -> int:
    """Return how many turns the session had at its last snapshot; 0 without one."""
    query = "SELECT coalesce(max(turn_count), 0) FROM context_snapshots WHERE session_id = ?"
    return int(connection.execute(query, (session_id,)).get)


def _snapshot(row: tuple[Any, ...]) -> ContextSnapshot:
    return ContextSnapshot(
        uuid=row[0],
        at=datetime.fromisoformat(row[1]),
        reason=SnapshotReason(row[2]),
        turns=tuple(_turn(turn) for turn in json.loads(row[3])),
        token_count=row[4],
        turn_count=row[5],
        summary=row[6] or "",
    )


def _turn(kept: dict[str, Any]) -> RestoredTurn:
    at = datetime.fromisoformat(kept["at"]) if kept["at"] else None
    return RestoredTurn(**{**kept, "role": Role(kept["role"]), "at": at})
