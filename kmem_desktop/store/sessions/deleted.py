"""Rows of `deleted_sessions` and `deleted_sources`: what was deleted, and what may not come back.

A deleted session waits here, packed, until it is restored or deleted for good. A conversation of
another program is known by a hash of its id there, so that the next import of the same transcript
leaves it alone: also once nothing else is left of it.
"""

import json
import zlib
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from kmem_desktop.domain.sessions.recall import DeletedSession
from kmem_desktop.errors import DamagedStoreError
from kmem_desktop.store.connection import Connection
from kmem_desktop.store.sessions import imports
from kmem_desktop.text import content_hash


def is_deleted(connection: Connection, source: str, source_id: str) -> bool:
    """Return whether a person deleted the session that a program keeps under this id."""
    if not source_id:
        return False
    found = connection.execute(
        "SELECT 1 FROM deleted_sources WHERE source_hash = ?", (_source_hash(source, source_id),)
    ).fetchone()
    return found is not None


def note_source(connection: Connection, source: str, source_id: str) -> None:
    """Keep a program's session from being imported again."""
    if source_id:
        connection.execute(
            "INSERT OR IGNORE INTO deleted_sources VALUES (?)", (_source_hash(source, source_id),)
        )


def forget_source(connection: Connection, source: str, source_id: str) -> None:
    """Let a program's session be imported and followed again."""
    connection.execute(
        "DELETE FROM deleted_sources WHERE source_hash = ?", (_source_hash(source, source_id),)
    )
    imports.read_left_out_again(connection)


def _source_hash(source: str, source_id: str) -> str:
    return content_hash(f"{source}\0{source_id}")


def put(connection: Connection, session: DeletedSession, packed: Mapping[str, Any]) -> None:
    """Keep a session that is about to be removed."""
    text = json.dumps(packed, ensure_ascii=False, separators=(",", ":"))
    connection.execute(
        "INSERT OR REPLACE INTO deleted_sessions"
        " (uuid, title, turn_count, deleted_at, deleted_by, packed) VALUES (?, ?, ?, ?, ?, ?)",
        (
            session.uuid,
            session.title,
            session.turn_count,
            session.deleted_at.isoformat(),
            session.deleted_by,
            zlib.compress(text.encode(), 6),
        ),
    )


def all_deleted(connection: Connection) -> list[DeletedSession]:
    """Return the sessions that can be restored, the last deleted first."""
    query = (
        "SELECT uuid, title, turn_count, deleted_at, deleted_by FROM deleted_sessions"
        " ORDER BY deleted_at DESC, uuid"
    )
    return [
        DeletedSession(row[0], row[1], row[2], datetime.fromisoformat(row[3]), row[4])
        for row in connection.execute(query)
    ]


def packed_session(connection: Connection, uuid: str) -> dict[str, Any] | None:
    """Return what was kept of a deleted session, or None.

    Raises:
        DamagedStoreError: It cannot be read any more.
    """
    row = connection.execute(
        "SELECT packed FROM deleted_sessions WHERE uuid = ?", (uuid,)
    ).fetchone()
    if row is None:
        return None
    try:
        found: dict[str, Any] = json.loads(zlib.decompress(row[0]))
    except (zlib.error, ValueError) as error:
        raise DamagedStoreError(
            f"The deleted session {uuid} cannot be read.",
            hint="Everything else is readable; a backup may still have it.",
        ) from error
    return found


def remove(connection: Connection, uuid: str) -> None:
    """Drop what was kept of a deleted session."""
    connection.execute("DELETE FROM deleted_sessions WHERE uuid = ?", (uuid,))
