"""The life of rows of `sessions`: what a person changes, what is due, removing them, restoring.

Taking a text out of the index costs some 2 ms, so a session is removed in two steps: its rows go at
once, in one transaction, and its texts are noted in `documents_to_remove`, from where they are
taken out a few at a time. A text without the row of its turn is found by nobody.
"""

import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from kmem_desktop.domain.changes import Noun
from kmem_desktop.domain.sessions.recall import SessionFacts
from kmem_desktop.errors import DuplicateError
from kmem_desktop.store import documents
from kmem_desktop.store.connection import Connection
from kmem_desktop.store.sessions.conversations import FACTS, context_of, facts_of, scope_of

Values = dict[str, Any]
EDITED = ("title", "project", "tags", "is_pinned", "is_renamed", "status", "archived_at")
"""The columns that a person changes, by a word or by a deed."""


def values(connection: Connection, session_id: int) -> Values:
    """Return what a person can change of a session: its before-image."""
    columns = ", ".join(EDITED)
    row = connection.execute(
        f"SELECT {columns} FROM sessions WHERE id = ?", (session_id,)
    ).fetchone()
    return dict(zip(EDITED, row or (), strict=True))


def set_values(connection: Connection, session_id: int, changed: Mapping[str, Any]) -> None:
    """Change some of `EDITED`; a new project moves what was said to its scope."""
    names = [name for name in EDITED if name in changed]
    settings = ", ".join(f"{name} = ?" for name in names)
    connection.execute(
        f"UPDATE sessions SET {settings} WHERE id = ?",
        (*(changed[name] for name in names), session_id),
    )
    if "project" in changed:
        connection.execute(
            "UPDATE documents SET scope = ? WHERE id IN"
            " (SELECT id FROM turns WHERE session_id = ?)",
            (scope_of(changed["project"]), session_id),
        )


def mark(connection: Connection, session_id: int, position: int, *, is_important: bool) -> bool:
    """Mark a turn as important, or not; return whether there is such a turn."""
    connection.execute(
        "UPDATE turns SET is_important = ? WHERE session_id = ? AND position = ?",
        (is_important, session_id, position),
    )
    return connection.changes() > 0


def is_marked(connection: Connection, session_id: int, position: int) -> bool:
    """Return whether a turn is marked as important."""
    query = "SELECT is_important FROM turns WHERE session_id = ? AND position = ?"
    return bool(connection.execute(query, (session_id, position)).get)


def archive_idle(connection: Connection, before: datetime, now: datetime, limit: int) -> list[int]:
    """Archive sessions that were last active before a time and are not pinned; return which."""
    found = [
        row[0]
        for row in connection.execute(
            "SELECT id FROM sessions WHERE status IN ('active', 'summarized') AND last_active <= ?"
            " AND is_pinned = 0 LIMIT ?",
            (before.isoformat(), limit),
        )
    ]
    connection.execute(
        "UPDATE sessions SET status = 'archived', archived_at = ?"
        " WHERE id IN (SELECT value FROM json_each(?))",
        (now.isoformat(), json.dumps(found)),
    )
    return found


def archived(connection: Connection, before: datetime) -> list[SessionFacts]:
    """Return archived sessions that were last active before a time."""
    query = f"SELECT {FACTS} FROM sessions WHERE status = 'archived' AND last_active <= ?"
    return [facts_of(row) for row in connection.execute(query, (before.isoformat(),))]


def first_to_summarise(
    connection: Connection, is_due: Callable[[SessionFacts], bool]
) -> SessionFacts | None:
    """Return the session last active whose summary is missing or stale and due, or None."""
    query = (
        f"SELECT {FACTS} FROM sessions WHERE entry_count > coalesce(summarised_turns, 20)"
        " ORDER BY last_active DESC, id DESC"
    )
    found = (facts_of(row) for row in connection.execute(query))
    return next((facts for facts in found if is_due(facts)), None)


def packed(connection: Connection, session_id: int) -> Values:
    """Return everything that is kept of a session, as JSON takes it."""
    turns = (
        "SELECT t.*, d.body, d.stored_by, d.created_at, d.updated_at FROM turns AS t"
        " JOIN documents AS d USING (id) WHERE t.session_id = ? ORDER BY t.position"
    )
    relations = (
        "SELECT * FROM entry_relations"
        " WHERE from_id IN (SELECT id FROM turns WHERE session_id = ?1)"
        " OR to_id IN (SELECT id FROM turns WHERE session_id = ?1)"
    )
    return {
        "session": next(_rows(connection, "SELECT * FROM sessions WHERE id = ?", session_id)),
        "turns": list(_rows(connection, turns, session_id)),
        "relations": list(_rows(connection, relations, session_id)),
        **{
            table: list(
                _rows(connection, f"SELECT * FROM {table} WHERE session_id = ?", session_id)
            )
            for table in _PARTS
        },
    }


_PARTS = ("proposals", "context_snapshots")


def _rows(connection: Connection, query: str, session_id: int) -> Iterator[Values]:
    cursor = connection.execute(query, (session_id,))
    names: list[str] = []
    for row in cursor:
        names = names or [column[0] for column in cursor.get_description()]
        yield dict(zip(names, row, strict=True))


def remove(connection: Connection, session_id: int) -> list[int]:
    """Remove a session with all that hangs on it; return the ids of its turns.

    Their texts are taken out of the index by `take_out_some`.
    """
    ids = [
        row[0]
        for row in connection.execute("SELECT id FROM turns WHERE session_id = ?", (session_id,))
    ]
    listed = json.dumps(ids)
    connection.execute("INSERT INTO documents_to_remove SELECT value FROM json_each(?)", (listed,))
    for end in ("from_id", "to_id"):
        connection.execute(
            f"DELETE FROM entry_relations WHERE {end} IN (SELECT value FROM json_each(?))",
            (listed,),
        )
    connection.execute("DELETE FROM sessions WHERE id = ?", (session_id,))
    return ids


def take_out_some(connection: Connection, longest_s: float) -> list[int]:
    """Take texts of removed sessions out of the index for some time; return which."""
    end = time.monotonic() + longest_s
    taken: list[int] = []
    query = "SELECT id FROM documents_to_remove LIMIT 1000"
    waiting: list[int] = [row[0] for row in connection.execute(query)]
    for document_id in waiting:
        documents.delete(connection, [document_id])
        taken.append(document_id)
        if time.monotonic() >= end:
            break
    return taken


def is_any_to_take_out(connection: Connection) -> bool:
    """Return whether texts of removed sessions still stand in the index."""
    return connection.execute("SELECT 1 FROM documents_to_remove LIMIT 1").get is not None


def forget_searches(connection: Connection, uuid: str) -> None:
    """Forget what was looked for within a session."""
    connection.execute("DELETE FROM search_history WHERE session_uuid = ?", (uuid,))


def restore(connection: Connection, kept: Mapping[str, Any]) -> tuple[int, list[int]]:
    """Bring a removed session back as it was; return its number and the ids of its turns.

    Turns and texts get the ids they had, where these are free.

    Raises:
        DuplicateError: It is there, or was imported again.
    """
    session = dict(kept["session"])
    _require_absent(connection, session)
    if _is_taken(connection, "sessions", session["id"]):
        session["id"] = None
    session["import_id"] = _standing_import(connection, session.get("import_id"))
    _insert(connection, "sessions", session)
    session_id = connection.last_insert_rowid()
    ids = _restore_turns(connection, session, session_id, kept["turns"])
    for relation in kept["relations"]:
        ends = {name: ids.get(relation[name], relation[name]) for name in ("from_id", "to_id")}
        if all(_is_text(connection, end) for end in ends.values()):
            _insert(connection, "entry_relations", {**relation, **ends})
    for table in _PARTS:
        for row in kept.get(table, ()):
            _insert(connection, table, {**row, "id": None, "session_id": session_id})
    return session_id, list(ids.values())


def _require_absent(connection: Connection, session: Mapping[str, Any]) -> None:
    known = connection.execute(
        "SELECT title FROM sessions WHERE uuid = ?1"
        " OR (source_id <> '' AND source = ?2 AND source_id = ?3)",
        (session["uuid"], session["source"], session["source_id"]),
    ).fetchone()
    if known is not None:
        raise DuplicateError(
            f"The session {known[0]} is there again.", hint="Delete that one first."
        )


def _standing_import(connection: Connection, import_id: int | None) -> int | None:
    query = "SELECT id FROM imports WHERE id = ? AND undone_at IS NULL"
    found = connection.execute(query, (import_id,)).fetchone()
    return found[0] if found else None


def _restore_turns(
    connection: Connection,
    session: Mapping[str, Any],
    session_id: int,
    turns: Sequence[Mapping[str, Any]],
) -> dict[int, int]:
    """Insert turns again; return the new id of each, which is the old one where that is free."""
    scope = scope_of(session["project"])
    texts = [turn["body"] for turn in turns]
    ids: dict[int, int] = {}
    for index, turn in enumerate(turns):
        old_id = turn["id"]
        # Nobody has taken it out of the index yet: then it just stays.
        connection.execute("DELETE FROM documents_to_remove WHERE id = ?", (old_id,))
        if not connection.changes():
            document = documents.Document(
                Noun.TURN,
                "",
                turn["body"],
                turn["stored_by"],
                scope=scope,
                context=context_of(texts, index),
                more_words=turn["speaker"],
            )
            free_id = None if _is_taken(connection, "documents", old_id) else old_id
            ids[old_id] = documents.insert_dated(
                connection, document, turn["created_at"], turn["updated_at"], free_id
            )
        else:
            ids[old_id] = old_id
        _insert(
            connection,
            "turns",
            {
                **turn,
                "id": ids[old_id],
                "session_id": session_id,
                "import_id": _standing_import(connection, turn.get("import_id")),
            },
        )
    return ids


def _is_taken(connection: Connection, table: str, row_id: int) -> bool:
    return connection.execute(f"SELECT 1 FROM {table} WHERE id = ?", (row_id,)).get is not None


def _is_text(connection: Connection, document_id: int) -> bool:
    query = (
        "SELECT 1 FROM documents WHERE id = ?1"
        " AND NOT EXISTS (SELECT 1 FROM documents_to_remove WHERE id = ?1)"
    )
    return connection.execute(query, (document_id,)).get is not None


def _insert(connection: Connection, table: str, row: Mapping[str, Any]) -> None:
    """Insert a row that was packed, maybe by an older kmem; what is there already stays."""
    query = "SELECT name FROM pragma_table_info(?)"
    names = [name for (name,) in connection.execute(query, (table,)) if name in row]
    marks = ", ".join("?" * len(names))
    connection.execute(
        f"INSERT OR IGNORE INTO {table} ({', '.join(names)}) VALUES ({marks})",
        [row[name] for name in names],
    )
