"""Rows of `imports` and `followed_files`: what was brought in, how far files are read, and undoing.

Undoing goes by steps, each a whole transaction that leaves every session as it should be: so others
can write in between, and what is cut off is done the next time.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from kmem_desktop.domain.sessions.importing import ImportRecord, TranscriptFile, TranscriptKind
from kmem_desktop.store import documents
from kmem_desktop.store.connection import Connection
from kmem_desktop.store.sessions import conversations

USUAL_MERGES = 4
FEWER_MERGES = 8
"""So many parts of the index are merged at once while much is stored: a third less work."""
NEVER_READ = -1
"""The size of a followed file of which something is missing here: it is read anew."""


@dataclass(frozen=True, slots=True)
class FollowedFile:
    """How far a file has been read.

    Attributes:
        offset_bytes: Where its next line begins.
        line: The number of the last line that was read.
        size_bytes: Its size then.
        modified_at: When it was last written to, then.
        session_uuid: The session it holds; empty where it holds none.
        is_kept: Whether that session is still here.
    """

    path: str
    offset_bytes: int
    line: int
    size_bytes: int
    modified_at: str
    session_uuid: str
    is_kept: bool

    def is_as_read(self, file: TranscriptFile) -> bool:
        """Return whether a file is as it was when it was read, and what it says is still here."""
        as_read = (self.size_bytes, self.modified_at) == (file.size_bytes, file.modified_at)
        return as_read and self.is_kept

    @property
    def is_left_out(self) -> bool:
        """Whether what it says was not to be kept: should that change, it is read anew."""
        return self.size_bytes == NEVER_READ and not self.offset_bytes

    @property
    def is_wanted_again(self) -> bool:
        """Whether a person has changed their mind about what was left out."""
        return self.is_left_out and not self.modified_at


def begin(connection: Connection, uuid: str, program: str, path: str, now: datetime) -> int:
    """Note that an import begins; return its number."""
    connection.execute(
        "INSERT INTO imports (uuid, program, path, started_at) VALUES (?, ?, ?, ?)",
        (uuid, program, path, now.isoformat()),
    )
    return connection.last_insert_rowid()


def unfinished(connection: Connection, program: str, path: str) -> tuple[int, str] | None:
    """Return number and UUID of an import that was cut off or goes on; None for none."""
    row = connection.execute(
        "SELECT id, uuid FROM imports WHERE program = ? AND path = ? AND finished_at IS NULL"
        " AND undone_at IS NULL ORDER BY id DESC",
        (program, path),
    ).fetchone()
    return (row[0], row[1]) if row else None


def report(
    connection: Connection, import_id: int, facts: Mapping[str, Any], finished_at: datetime | None
) -> None:
    """Keep what an import found and did."""
    connection.execute(
        "UPDATE imports SET report = ?, finished_at = ? WHERE id = ?",
        (
            json.dumps(facts, ensure_ascii=False, default=str),
            finished_at.isoformat() if finished_at else None,
            import_id,
        ),
    )


def find(connection: Connection, uuid: str) -> tuple[int, ImportRecord] | None:
    """Return the number and record of an import, or None."""
    row = connection.execute("SELECT id FROM imports WHERE uuid = ?", (uuid,)).fetchone()
    records = dict(_records(connection, row[0])) if row else {}
    return (row[0], records[row[0]]) if row else None


def records(connection: Connection) -> list[ImportRecord]:
    """Return all imports, the last one first."""
    return [record for _, record in _records(connection, None)]


def _records(connection: Connection, import_id: int | None) -> list[tuple[int, ImportRecord]]:
    query = (
        "SELECT i.id, i.uuid, i.program, i.path, i.started_at, i.finished_at, i.undone_at,"
        " (SELECT count(*) FROM sessions WHERE import_id = i.id),"
        " (SELECT count(*) FROM turns WHERE import_id = i.id),"
        " i.report"
        " FROM imports AS i WHERE ?1 IS NULL OR i.id = ?1 ORDER BY i.id DESC"
    )
    return [
        (
            row[0],
            ImportRecord(
                uuid=row[1],
                kind=row[2],
                path=row[3],
                started_at=datetime.fromisoformat(row[4]),
                finished_at=datetime.fromisoformat(row[5]) if row[5] else None,
                undone_at=datetime.fromisoformat(row[6]) if row[6] else None,
                session_count=row[7],
                turn_count=row[8],
                is_following=bool(json.loads(row[9]).get("is_following")) if row[9] else False,
                facts=json.loads(row[9]) if row[9] else {},
            ),
        )
        for row in connection.execute(query, (import_id,))
    ]


def note_file(
    connection: Connection,
    file: TranscriptFile,
    offset_bytes: int,
    line: int,
    session_uuid: str,
) -> None:
    """Note how far a file has been read; the session it holds stays known."""
    connection.execute(
        "INSERT INTO followed_files VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7) ON CONFLICT DO UPDATE SET"
        " offset_bytes = ?3, line = ?4, size_bytes = ?5, modified_at = ?6,"
        " session_uuid = CASE WHEN ?7 <> '' THEN ?7 ELSE session_uuid END",
        (
            file.path,
            file.kind.value,
            offset_bytes,
            line,
            file.size_bytes,
            file.modified_at,
            session_uuid,
        ),
    )


def followed(connection: Connection, kind: TranscriptKind) -> dict[str, FollowedFile]:
    """Return how far each file of a program has been read, by path."""
    query = (
        "SELECT path, offset_bytes, line, size_bytes, modified_at, session_uuid, session_uuid = ''"
        " OR EXISTS (SELECT 1 FROM sessions WHERE uuid = session_uuid)"
        " FROM followed_files WHERE program = ?"
    )
    rows = connection.execute(query, (kind.value,))
    found = (FollowedFile(*row) for row in rows)
    return {file.path: file for file in found}


def note_left_out(connection: Connection, file: TranscriptFile, session_uuid: str) -> None:
    """Note that a file was read of which nothing is to be kept.

    It is never read on from where it ended then: what stood there is not here, and only its
    beginning may say which project it belongs to.
    """
    note_file(connection, replace(file, size_bytes=NEVER_READ), 0, 0, session_uuid)


def read_left_out_again(connection: Connection) -> None:
    """Let files be read of which nothing was to be kept: a person has changed their mind."""
    connection.execute(
        "UPDATE followed_files SET modified_at = '' WHERE size_bytes = ? AND offset_bytes = 0",
        (NEVER_READ,),
    )


def turn_count(connection: Connection, session_uuid: str) -> int:
    """Return how many turns of another program a session has."""
    query = (
        "SELECT count(*) FROM turns WHERE source_id <> ''"
        " AND session_id = (SELECT id FROM sessions WHERE uuid = ?)"
    )
    return int(connection.execute(query, (session_uuid,)).get)


@dataclass(frozen=True, slots=True)
class Removed:
    """What a step of undoing removed.

    Attributes:
        turn_count: So many turns; none are left where it is 0.
        session_ids: Sessions that were changed or removed.
    """

    turn_count: int
    session_ids: tuple[int, ...]


def remove_some(connection: Connection, import_id: int, count: int, *, at_once: bool) -> Removed:
    """Remove some turns of an import, and sessions that are left empty.

    Args:
        connection: The writer.
        import_id: The import.
        count: At most so many turns.
        at_once: Whether their words leave the index now, which takes 3 ms a turn; otherwise they
            leave it when it is merged: see `merge_index`.
    """
    rows: list[tuple[Any, ...]] = connection.execute(
        "SELECT id, session_id, position FROM turns WHERE import_id = ?"
        " ORDER BY session_id, position DESC LIMIT ?",
        (import_id, count),
    ).fetchall()
    if not rows:
        return Removed(0, ())
    positions: dict[int, list[int]] = {}
    for _, session_id, position in rows:
        positions.setdefault(session_id, []).append(position)
    _set_secure_delete(connection, on=at_once)
    documents.delete(connection, [row[0] for row in rows])
    _set_secure_delete(connection, on=True)
    for session_id, gone in positions.items():
        _mend(connection, session_id, gone)
    return Removed(len(rows), tuple(positions))


def _set_secure_delete(connection: Connection, *, on: bool) -> None:
    connection.execute(
        "INSERT INTO documents_index (documents_index, rank) VALUES ('secure-delete', ?)", (on,)
    )


def merge_less(connection: Connection, *, on: bool) -> None:
    """Let the index be merged less often while much is stored, or as usual again."""
    connection.execute(
        "INSERT INTO documents_index (documents_index, rank) VALUES ('automerge', ?)",
        (FEWER_MERGES if on else USUAL_MERGES,),
    )


def merge_index(connection: Connection, pages: int) -> bool:
    """Merge a part of the index, so that words of removed texts leave it; return whether to go on.

    Args:
        connection: The writer.
        pages: About so many pages are written.
    """
    before = connection.total_changes()
    connection.execute(
        "INSERT INTO documents_index (documents_index, rank) VALUES ('merge', ?)", (-pages,)
    )
    return connection.total_changes() - before >= 2  # as FTS5's documentation says


def _mend(connection: Connection, session_id: int, gone: list[int]) -> None:
    """Bring a session in step with the turns that are left; remove it where there are none."""
    left = connection.execute(
        "SELECT id, position FROM turns WHERE session_id = ? AND position > ? ORDER BY position",
        (session_id, min(gone)),
    ).fetchall()
    connection.executemany(
        "UPDATE turns SET position = ? WHERE id = ?",
        ((position, turn_id) for position, (turn_id, _) in enumerate(left, start=min(gone))),
    )
    ((uuid, total, tokens, last_at),) = connection.execute(
        "SELECT (SELECT uuid FROM sessions WHERE id = ?1), count(*), coalesce(sum(token_count), 0),"
        " max(at) FROM turns WHERE session_id = ?1",
        (session_id,),
    )
    if not total:
        connection.execute("DELETE FROM sessions WHERE id = ?", (session_id,))
        return
    for turn_id in _beside(connection, session_id, gone):
        context = conversations.context_around(connection, turn_id)
        documents.set_context(connection, turn_id, context)
    # What was made of its turns names them by their old numbers.
    connection.execute(
        "UPDATE sessions SET entry_count = ?, token_count = ?, last_active = ?, summary = NULL,"
        " summarised_turns = NULL, looked_through = 0 WHERE id = ?",
        (total, tokens, last_at, session_id),
    )
    connection.execute("DELETE FROM session_digests WHERE session_id = ?", (session_id,))
    connection.execute(
        "DELETE FROM proposals WHERE session_id = ? AND status = 'proposed'", (session_id,)
    )
    connection.execute(
        "UPDATE followed_files SET size_bytes = ? WHERE session_uuid = ?", (NEVER_READ, uuid)
    )


def _beside(connection: Connection, session_id: int, gone: list[int]) -> list[int]:
    """Return the turns whose context held one that is gone; positions are new already."""
    reach = conversations.NEIGHBOURS
    near = {min(gone) + step for step in range(-reach, reach)}
    for removed_before, position in enumerate(sorted(gone)):
        near |= {position - removed_before + step for step in range(-reach, reach)}
    rows = connection.execute(
        "SELECT id FROM turns WHERE session_id = ?"
        " AND position IN (SELECT value FROM json_each(?))",
        (session_id, json.dumps(sorted(near))),
    )
    return [row[0] for row in rows]


def mark_undone(connection: Connection, import_id: int, now: datetime) -> None:
    """Note that an import was undone as a whole."""
    connection.execute(
        "UPDATE imports SET undone_at = ?1, finished_at = coalesce(finished_at, ?1) WHERE id = ?2",
        (now.isoformat(), import_id),
    )
