"""Rows of `sessions` and `turns` (seed 004); the text of a turn is a document.

Each turn's document also holds the turns around it, with less weight: people ask for what was said
in an exchange, and the words of the question often stand one turn before the answer.
"""

import json
import uuid as uuids
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

from kmem_desktop.domain.changes import Noun
from kmem_desktop.domain.sessions.conversations import (
    Bullet,
    BulletKind,
    Role,
    SpokenTurn,
    Summary,
    SummaryFormat,
    Turn,
)
from kmem_desktop.domain.sessions.recall import SessionFacts, SessionOrder, SessionState
from kmem_desktop.store import documents
from kmem_desktop.store.connection import Connection

NEIGHBOURS = 2
"""So many turns before and after a turn belong to its context."""
CONTEXT_LENGTH = 2_000
"""So many characters of each neighbour."""

FACTS = (
    "id, uuid, title, project, tags, status, client, created_at, last_active, entry_count,"
    " token_count, summary, is_pinned, archived_at, metadata, source, is_renamed"
)
"""The columns that `facts_of` reads."""


@dataclass(frozen=True, slots=True)
class NewTurn:
    """A checked turn on its way into the store."""

    role: Role
    text: str
    speaker: str
    at: datetime
    token_count: int
    metadata: str | None


@dataclass(frozen=True, slots=True)
class SessionRow:
    """What a session needs to be continued."""

    id: int
    uuid: str
    title: str
    scope: str
    client: str
    entry_count: int


def insert(
    connection: Connection,
    *,
    title: str,
    project: str,
    tags: Sequence[str],
    client: str,
    now: datetime,
) -> SessionRow:
    """Begin a session."""
    uuid = str(uuids.uuid4())
    connection.execute(
        "INSERT INTO sessions (uuid, title, project, tags, client, created_at, last_active)"
        " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?6)",
        (uuid, title, project, json.dumps(list(tags)), client, now.isoformat()),
    )
    return SessionRow(connection.last_insert_rowid(), uuid, title, scope_of(project), client, 0)


def find(connection: Connection, uuid: str) -> SessionRow | None:
    """Return the session with this id, or None."""
    row = connection.execute(
        "SELECT id, uuid, title, project, client, entry_count FROM sessions WHERE uuid = ?",
        (uuid,),
    ).fetchone()
    if row is None:
        return None
    return SessionRow(row[0], row[1], row[2], scope_of(row[3]), row[4], row[5])


def append(
    connection: Connection, session: SessionRow, turns: Sequence[NewTurn], now: datetime
) -> list[int]:
    """Add turns to the end of a session; return their ids."""
    earlier = last_texts(connection, session.id)
    texts = [text for _, text in earlier] + [turn.text for turn in turns]
    ids: list[int] = []
    for index, turn in enumerate(turns, start=len(earlier)):
        ids.append(_insert_turn(connection, session, turn, len(ids), context_of(texts, index), now))
    for turn_id, _ in earlier:
        documents.set_context(connection, turn_id, context_around(connection, turn_id))
    connection.execute(
        "UPDATE sessions SET last_active = ?, entry_count = entry_count + ?,"
        " token_count = token_count + ?, status = 'active', archived_at = NULL WHERE id = ?",
        (now.isoformat(), len(turns), sum(turn.token_count for turn in turns), session.id),
    )
    return ids


def _insert_turn(
    connection: Connection,
    session: SessionRow,
    turn: NewTurn,
    offset: int,
    context: str,
    now: datetime,
) -> int:
    document = documents.Document(
        Noun.TURN,
        "",
        turn.text,
        session.client,
        scope=session.scope,
        context=context,
        more_words=turn.speaker,
    )
    at = turn.at.isoformat()
    turn_id = documents.insert_dated(connection, document, now.isoformat(), at)
    connection.execute(
        "INSERT INTO turns (id, uuid, session_id, position, role, speaker, at, token_count,"
        " metadata) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            turn_id,
            str(uuids.uuid4()),
            session.id,
            session.entry_count + offset,
            turn.role.value,
            turn.speaker,
            at,
            turn.token_count,
            turn.metadata,
        ),
    )
    return turn_id


def last_texts(connection: Connection, session_id: int) -> list[tuple[int, str]]:
    """Return id and text of the last turns, whose context changes when turns follow."""
    rows = connection.execute(
        "SELECT t.id, d.body FROM turns AS t JOIN documents AS d USING (id)"
        " WHERE session_id = ? ORDER BY position DESC LIMIT ?",
        (session_id, NEIGHBOURS),
    )
    return list(reversed([(row[0], row[1]) for row in rows]))


def context_of(texts: Sequence[str], index: int) -> str:
    """Return the context of one of these texts, which follow each other."""
    """Return the text around one of the turns of a conversation."""
    around = [
        texts[i][:CONTEXT_LENGTH]
        for i in range(index - NEIGHBOURS, index + NEIGHBOURS + 1)
        if i != index and 0 <= i < len(texts)
    ]
    return "\n".join(around)


def context_around(connection: Connection, turn_id: int) -> str:
    """Return the context of a stored turn."""
    rows = connection.execute(
        "SELECT substr(d.body, 1, ?) FROM turns AS here JOIN turns AS t"
        " ON t.session_id = here.session_id AND t.id <> here.id"
        " AND t.position BETWEEN here.position - ? AND here.position + ?"
        " JOIN documents AS d ON d.id = t.id WHERE here.id = ? ORDER BY t.position",
        (CONTEXT_LENGTH, NEIGHBOURS, NEIGHBOURS, turn_id),
    )
    return "\n".join(row[0] for row in rows)


def get_turns(connection: Connection, ids: Iterable[int]) -> dict[int, Turn]:
    """Return the turns that exist among `ids`."""
    query = (
        "SELECT t.id, t.uuid, s.uuid, s.title, t.position, t.role, t.speaker, d.body, t.at,"
        " t.metadata FROM turns AS t JOIN sessions AS s ON s.id = t.session_id"
        " JOIN documents AS d ON d.id = t.id WHERE t.id IN (SELECT value FROM json_each(?))"
    )
    return {row[0]: _turn(row) for row in connection.execute(query, (json.dumps(list(ids)),))}


def neighbours(connection: Connection, ids: Iterable[int]) -> list[tuple[int, int, int]]:
    """Return (turn, neighbour, distance 1 or 2) for each neighbour of these turns."""
    query = (
        "SELECT here.id, t.id, abs(t.position - here.position) FROM turns AS here"
        " JOIN turns AS t ON t.session_id = here.session_id AND t.id <> here.id"
        " AND t.position BETWEEN here.position - ? AND here.position + ?"
        " WHERE here.id IN (SELECT value FROM json_each(?))"
    )
    rows = connection.execute(query, (NEIGHBOURS, NEIGHBOURS, json.dumps(list(ids))))
    return [(row[0], row[1], row[2]) for row in rows]


def speakers(connection: Connection) -> list[str]:
    """Return every speaker's name; the index is jumped along, not scanned."""
    query = (
        "WITH RECURSIVE names (name) AS ("
        " SELECT min(speaker) FROM turns WHERE speaker <> ''"
        " UNION ALL SELECT (SELECT min(speaker) FROM turns WHERE speaker > name)"
        " FROM names WHERE name IS NOT NULL)"
        " SELECT name FROM names WHERE name IS NOT NULL"
    )
    return [row[0] for row in connection.execute(query)]


def add_search(
    connection: Connection, query: str, session_uuid: str, asked_by: str, count: int, now: datetime
) -> None:
    """Note what was looked for (seed 004, search_history)."""
    connection.execute(
        "INSERT INTO search_history (at, query, session_uuid, asked_by, result_count)"
        " VALUES (?, ?, ?, ?, ?)",
        (now.isoformat(), query, session_uuid, asked_by, count),
    )


def scope_of(project: str) -> str:
    """Return the scope of a session's turns."""
    """Return the scope of what is said in a project's sessions."""
    return f"project:{project.casefold()}" if project else "global"


def _turn(row: tuple[Any, ...]) -> Turn:
    return Turn(
        id=row[0],
        uuid=row[1],
        session_uuid=row[2],
        session_title=row[3],
        position=row[4],
        role=Role(row[5]),
        speaker=row[6],
        text=row[7],
        at=datetime.fromisoformat(row[8]),
        metadata=json.loads(row[9]) if row[9] else None,
    )


def list_facts(
    connection: Connection, *, state: str | None, order: str, limit: int, uuid: str | None = None
) -> list[SessionFacts]:
    """Return sessions without their turns.

    Args:
        connection: A snapshot.
        state: Only those in this state; None for all.
        order: "last_active", "created_at" or "entry_count"; the highest come first.
        limit: At most so many.
        uuid: Only this one.
    """
    column = SessionOrder(order).value
    query = (
        f"SELECT {FACTS} FROM sessions"
        # A session that has a summary goes on all the same.
        " WHERE (?1 IS NULL OR status = ?1 OR (?1 = 'active' AND status = 'summarized'))"
        " AND (?2 IS NULL OR uuid = ?2)"
        f" ORDER BY {column} DESC, id DESC LIMIT ?3"
    )
    return [facts_of(row) for row in connection.execute(query, (state, uuid, limit))]


def spoken_turns(connection: Connection, session_id: int) -> list[SpokenTurn]:
    """Return a session's turns in their order, as summaries read them."""
    query = (
        "SELECT t.position, t.role, d.body, t.speaker, t.at, t.token_count, t.is_important"
        " FROM turns AS t JOIN documents AS d USING (id) WHERE t.session_id = ? ORDER BY t.position"
    )
    return [
        SpokenTurn(
            row[0],
            Role(row[1]),
            row[2],
            row[3],
            datetime.fromisoformat(row[4]),
            row[5],
            bool(row[6]),
        )
        for row in connection.execute(query, (session_id,))
    ]


def set_summary(connection: Connection, session_id: int, summary: Summary) -> None:
    """Keep a session's summary."""
    connection.execute(
        "UPDATE sessions SET summary = ?1, summarised_turns = ?2, status = CASE"
        " WHEN status = 'active' AND entry_count = ?2 THEN 'summarized' ELSE status END"
        " WHERE id = ?3",
        (json.dumps(asdict(summary), ensure_ascii=False), summary.turn_count, session_id),
    )


def facts_of(row: tuple[Any, ...]) -> SessionFacts:
    """Return what the columns `FACTS` of a session say."""
    return SessionFacts(
        id=row[0],
        uuid=row[1],
        title=row[2],
        project=row[3],
        tags=tuple(json.loads(row[4])),
        state=SessionState(row[5]),
        client=row[6],
        created_at=datetime.fromisoformat(row[7]),
        last_active=datetime.fromisoformat(row[8]),
        entry_count=row[9],
        token_count=row[10],
        summary=_summary(row[11]),
        is_pinned=bool(row[12]),
        archived_at=datetime.fromisoformat(row[13]) if row[13] else None,
        metadata=json.loads(row[14]) if row[14] else None,
        source=row[15],
        is_renamed=bool(row[16]),
    )


def _summary(text: str | None) -> Summary | None:
    if not text:
        return None
    kept = json.loads(text)
    return Summary(
        format=SummaryFormat(kept["format"]),
        text=kept["text"],
        bullets=tuple(
            Bullet(BulletKind(b["kind"]), b["text"], b["position"], b.get("was_position"))
            for b in kept["bullets"]
        ),
        turn_count=kept["turn_count"],
        dropped_count=kept.get("dropped_count", 0),
        model=kept.get("model", ""),
    )
