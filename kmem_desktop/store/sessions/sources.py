"""Rows of `sessions` and `turns` that come from other programs, many at a time.

What is stored is what `conversations.append` stores, turn by turn. A statement takes all rows of a
batch as one JSON text: so the interpreter is free while SQLite indexes them, and a turn costs a
fraction of what it costs by itself.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from kmem_desktop.domain.changes import Noun
from kmem_desktop.domain.sessions.importing import IncomingSession, IncomingTurns, TurnColumn
from kmem_desktop.store import documents
from kmem_desktop.store.connection import Connection
from kmem_desktop.store.sessions import conversations

TITLE_RANK = "title_rank"
"""How much a session's title counts; one that counts less does not take its place."""
COUNTED = "other_lines"
"""What is counted in a session's metadata adds up where a file is read on."""
_C = TurnColumn


@dataclass(frozen=True, slots=True)
class SourceRow:
    """A session of another program as it is stored.

    Attributes:
        id: Its number.
        uuid: Its id here.
        turn_count: How many turns it has.
    """

    id: int
    uuid: str
    title: str
    project: str
    turn_count: int


def find(connection: Connection, source: str, source_id: str) -> SourceRow | None:
    """Return the session that a program keeps under this id, or None."""
    row = connection.execute(
        "SELECT id, uuid, title, project, entry_count FROM sessions"
        " WHERE source = ? AND source_id = ? AND source_id <> ''",
        (source, source_id),
    ).fetchone()
    return SourceRow(*row) if row else None


def known(connection: Connection, session_id: int, turns: IncomingTurns) -> set[str]:
    """Return the source ids of those turns that are there already."""
    query = (
        "SELECT t.source_id FROM json_each(?) AS new CROSS JOIN turns AS t"
        f" ON t.session_id = ? AND t.source_id = new.value->>{_C.SOURCE_ID}"
        " WHERE t.source_id <> ''"
    )
    return {row[0] for row in connection.execute(query, (turns.rows, session_id))}


def begin(
    connection: Connection, session: IncomingSession, uuid: str, import_id: int, now: datetime
) -> SourceRow:
    """Begin a session as its program has it.

    Args:
        connection: The writer.
        session: The session.
        uuid: Its new id here.
        import_id: The import it comes with.
        now: When it began, should nobody know.
    """
    title = session.title or session.other_title or f"{session.client}, untitled"
    connection.execute(
        "INSERT INTO sessions (uuid, title, project, tags, client, created_at, last_active, source,"
        " source_id, import_id, metadata) VALUES (?1, ?2, ?3, '[]', ?4, ?5, ?5, ?6, ?7, ?8, ?9)",
        (
            uuid,
            title,
            session.project,
            session.client,
            session.started_at or now.isoformat(),
            session.source,
            session.source_id,
            import_id,
            _json(session.metadata),
        ),
    )
    return SourceRow(connection.last_insert_rowid(), uuid, title, session.project, 0)


def update(connection: Connection, session: IncomingSession) -> int | None:
    """Take over what a program knows of a session by now; return its number, None for unknown.

    A title that a person chose here stays.
    """
    row = connection.execute(
        "SELECT id, metadata FROM sessions"
        " WHERE source = ? AND source_id = ? AND source_id <> ''",  # as its index is told
        (session.source, session.source_id),
    ).fetchone()
    if row is None:
        return None
    old: dict[str, Any] = json.loads(row[1]) if row[1] else {}
    metadata = _merged(old, session)
    rank, old_rank = (each.get(TITLE_RANK, 0) for each in (session.metadata or {}, old))
    title = session.title if rank >= old_rank else ""
    connection.execute(
        "UPDATE sessions SET metadata = ?1,"
        " title = CASE WHEN ?2 <> '' AND NOT is_renamed THEN ?2 ELSE title END,"
        " created_at = CASE WHEN ?3 <> '' THEN min(created_at, ?3) ELSE created_at END"
        " WHERE id = ?4",
        (_json(metadata), title, session.started_at, row[0]),
    )
    return int(row[0])


def _merged(old: dict[str, Any], session: IncomingSession) -> dict[str, Any]:
    new = session.metadata or {}
    if not session.is_read_on:
        return {**old, **new}
    ranks = [each[TITLE_RANK] for each in (new, old) if TITLE_RANK in each]
    counts = dict(old.get(COUNTED) or {})
    for kind, count in (new.get(COUNTED) or {}).items():
        counts[kind] = counts.get(kind, 0) + count
    # What was known first, such as the folder it began in, stays.
    merged = {**new, **old}
    if counts:
        merged[COUNTED] = counts
    if ranks:
        merged[TITLE_RANK] = max(ranks)
    return merged


def add(
    connection: Connection,
    row: SourceRow,
    turns: IncomingTurns,
    import_id: int,
    now: datetime,
    *,
    goes_on: bool,
) -> tuple[int, int]:
    """Add turns of which none is known to the end of a session; return the first and last id.

    Args:
        connection: The writer.
        row: The session as it is now.
        turns: The turns.
        import_id: The import they come with.
        now: When.
        goes_on: Whether what stands before them was stored by the same reading of the same file.
    """
    before: Sequence[str] = turns.before
    earlier: list[tuple[int, str]] = []
    if not goes_on or _last_source_id(connection, row) != turns.after:
        earlier = conversations.last_texts(connection, row.id)
        before = [text[: conversations.CONTEXT_LENGTH] for _, text in earlier]
    first_id = _next_id(connection)
    scope = conversations.scope_of(row.project)
    at = now.isoformat()
    connection.execute(
        _INSERT_DOCUMENTS,
        (
            turns.rows,
            first_id,
            scope,
            turns.session.client,
            at,
            Noun.TURN.value,
            json.dumps([*before, *([None] * turns.count), *turns.behind], ensure_ascii=False),
            len(before),
        ),
    )
    connection.execute(_INSERT_TURNS, (turns.rows, first_id, row.id, row.turn_count, at, import_id))
    for turn_id, _ in earlier:
        context = conversations.context_around(connection, turn_id)
        documents.set_context(connection, turn_id, context)
    last_at = turns.last_at or at
    connection.execute(
        "UPDATE sessions SET last_active = CASE entry_count WHEN 0 THEN ?1"
        " ELSE max(last_active, ?1) END, entry_count = entry_count + ?2,"
        " token_count = token_count + ?3, status = 'active', archived_at = NULL WHERE id = ?4",
        (last_at, turns.count, turns.token_count, row.id),
    )
    return first_id, first_id + turns.count - 1


# ?7 has a place for each text, empty for those that are in the rows.
_INSERT_DOCUMENTS = (
    f"WITH rows AS MATERIALIZED (SELECT key AS place, value->>{_C.BODY} AS body,"
    f" value->>{_C.HIDDEN_WORDS} AS hidden_words, value->>{_C.AT} AS at,"
    f" value->>{_C.TEXT_HASH} AS text_hash FROM jsonb_each(jsonb(?1))),"
    " contexts AS (SELECT place, body, hidden_words, at, text_hash,"
    f" group_concat(substr(text, 1, {conversations.CONTEXT_LENGTH}), char(10)) OVER (ORDER BY place"
    f" ROWS BETWEEN {conversations.NEIGHBOURS} PRECEDING AND {conversations.NEIGHBOURS} FOLLOWING"
    " EXCLUDE CURRENT ROW) AS context"
    " FROM (SELECT t.key - ?8 AS place, coalesce(t.value, r.body) AS text, r.body, r.hidden_words,"
    " r.at, r.text_hash FROM json_each(?7) AS t LEFT JOIN rows AS r ON r.place = t.key - ?8))"
    "INSERT INTO documents (id, noun, title, body, tags, hidden_words, context, scope, stored_by,"
    " created_at, updated_at, text_hash)"
    " SELECT ?2 + place, ?6, '', body, '', hidden_words, coalesce(context, ''), ?3, ?4, ?5,"
    " coalesce(at, ?5), text_hash FROM contexts WHERE body IS NOT NULL ORDER BY place"
)
_INSERT_TURNS = (
    "INSERT INTO turns (id, uuid, session_id, position, role, speaker, at, token_count, metadata,"
    " source_id, import_id)"
    f" SELECT ?2 + key, value->>{_C.UUID}, ?3, ?4 + key, value->>{_C.ROLE}, '',"
    f" coalesce(value->>{_C.AT}, ?5), value->>{_C.TOKEN_COUNT}, value->>{_C.METADATA},"
    f" value->>{_C.SOURCE_ID}, ?6 FROM jsonb_each(jsonb(?1))"
)


def _last_source_id(connection: Connection, row: SourceRow) -> str:
    if not row.turn_count:
        return ""
    query = "SELECT source_id FROM turns WHERE session_id = ? ORDER BY position DESC LIMIT 1"
    # A turn without a source id was stored here by an assistant: it is nobody's predecessor.
    return connection.execute(query, (row.id,)).get or "\0"


def _next_id(connection: Connection) -> int:
    """Return the id that the next document gets; nobody else writes in this transaction."""
    query = "SELECT seq + 1 FROM sqlite_sequence WHERE name = 'documents'"
    return connection.execute(query).get or 1


def _json(metadata: Mapping[str, Any] | None) -> str | None:
    return json.dumps(metadata, ensure_ascii=False) if metadata else None


def without(turns: IncomingTurns, known_ids: set[str]) -> IncomingTurns:
    """Return those of some turns whose source ids are not among these."""
    values = json.loads(turns.rows)
    kept = [i for i, value in enumerate(values) if value[_C.SOURCE_ID] not in known_ids]
    places = {old: new for new, old in enumerate(kept)}
    rows = [values[i] for i in kept]
    return replace(
        turns,
        count=len(rows),
        token_count=sum(row[_C.TOKEN_COUNT] for row in rows if len(row) > 1),
        last_at=max((row[_C.AT] or "" for row in rows if len(row) > 1), default=""),
        secrets=tuple((places[i], kind, n) for i, kind, n in turns.secrets if i in places),
        rows=json.dumps(rows, ensure_ascii=False),
        after="",
    )


def source_ids(turns: IncomingTurns) -> list[str]:
    """Return the source ids of some turns, in their order."""
    return [row[_C.SOURCE_ID] for row in json.loads(turns.rows)]
