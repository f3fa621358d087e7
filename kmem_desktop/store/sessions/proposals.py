"""Rows of `proposals`: what was taken from conversations, and which were looked through for it."""

import json
import uuid as uuids
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from kmem_desktop.domain.knowledge import Category
from kmem_desktop.domain.sessions.conversations import Candidate, Role, SpokenTurn
from kmem_desktop.domain.sessions.inbox import Decision, Proposal
from kmem_desktop.store.connection import Connection
from kmem_desktop.text import content_hash, normalise_content

_SELECT = (
    "SELECT p.id, p.uuid, p.title, p.content, p.category, p.scope, p.score, s.uuid, s.title,"
    " s.client, p.position, coalesce(t.role, 'assistant'), coalesce(t.at, s.last_active),"
    " p.also_positions, p.like_uuid, coalesce(like_text.title, ''), p.likeness, p.status,"
    " p.knowledge_uuid, p.created_at, p.decided_at"
    " FROM proposals AS p JOIN sessions AS s ON s.id = p.session_id"
    " LEFT JOIN turns AS t ON t.session_id = p.session_id AND t.position = p.position"
    " LEFT JOIN knowledge AS like_item ON like_item.uuid = p.like_uuid"
    " LEFT JOIN documents AS like_text ON like_text.id = like_item.id"
)
_PROJECT_SCOPE = "CASE project WHEN '' THEN 'global' ELSE 'project:' || project END"


@dataclass(frozen=True, slots=True)
class Unread:
    """A conversation with turns that were not looked through yet.

    Attributes:
        id: Its number.
        uuid: Its id on the wire.
        scope: Where its knowledge would hold.
        looked_through: So many of its turns were.
        entry_count: So many it has.
    """

    id: int
    uuid: str
    scope: str
    looked_through: int
    entry_count: int


@dataclass(frozen=True, slots=True)
class Statement:
    """What a proposal says, for comparing.

    Attributes:
        proposal_id: Its number.
        uuid: Its UUID.
        turn_id: The turn it stands in, as the search index knows it.
        session_id: Its conversation.
        kind: Its category.
        title: Its title.
        text: Its content.
        at: When it was said.
        scope: Where it would hold.
        decision: What became of it.
        knowledge_uuid: What it became; empty for nothing.
    """

    proposal_id: int
    uuid: str
    turn_id: int
    session_id: int
    kind: str
    title: str
    text: str
    at: datetime
    scope: str
    decision: Decision
    knowledge_uuid: str


def unread(connection: Connection, rested_since: datetime, after: datetime | None) -> Unread | None:
    """Return the conversation to look through next: the newest that rests.

    Args:
        connection: A snapshot.
        rested_since: Nothing may have been said in it since then.
        after: Only one in which something was said after this; None for any.
    """
    query = (
        f"SELECT id, uuid, {_PROJECT_SCOPE}, looked_through, entry_count FROM sessions"
        " WHERE looked_through <> entry_count AND last_active <= ?1"
        " AND (?2 IS NULL OR last_active > ?2) ORDER BY last_active DESC, id DESC LIMIT 1"
    )
    times = (rested_since.isoformat(), after.isoformat() if after else None)
    row = connection.execute(query, times).fetchone()
    return Unread(row[0], row[1], row[2].casefold(), row[3], row[4]) if row else None


def count_unread(connection: Connection, rested_since: datetime, after: datetime | None) -> int:
    """Return how many conversations are to be looked through."""
    query = (
        "SELECT count(*) FROM sessions WHERE looked_through <> entry_count AND last_active <= ?1"
        " AND (?2 IS NULL OR last_active > ?2)"
    )
    times = (rested_since.isoformat(), after.isoformat() if after else None)
    return int(connection.execute(query, times).get)


def some_turns(connection: Connection, session_id: int, first: int, count: int) -> list[SpokenTurn]:
    """Return some of a conversation's turns, from a position on."""
    query = (
        "SELECT t.position, t.role, d.body, t.speaker, t.at, t.token_count, t.is_important"
        " FROM turns AS t JOIN documents AS d USING (id)"
        " WHERE t.session_id = ? AND t.position >= ? ORDER BY t.position LIMIT ?"
    )
    return [
        SpokenTurn(
            position=row[0],
            role=Role(row[1]),
            text=row[2],
            speaker=row[3],
            at=datetime.fromisoformat(row[4]),
            token_count=row[5],
            is_important=bool(row[6]),
        )
        for row in connection.execute(query, (session_id, first, count))
    ]


def note_looked_through(connection: Connection, session_id: int, count: int) -> None:
    """Say that so many turns of a conversation were looked through."""
    connection.execute("UPDATE sessions SET looked_through = ? WHERE id = ?", (count, session_id))


def add(
    connection: Connection,
    session: Unread,
    candidate: Candidate,
    like: tuple[str, float],
    now: datetime,
) -> int | None:
    """Propose something; return its number, or None where the same was proposed before.

    Args:
        connection: The writer.
        session: Where it was said.
        candidate: What was said.
        like: The UUID of knowledge that nearly says it, and how near it is; ("", 0.0) for none.
        now: When.
    """
    connection.execute(
        "INSERT OR IGNORE INTO proposals (uuid, title, content, content_hash, category, scope,"
        " score, session_id, position, also_positions, like_uuid, likeness, created_at)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            str(uuids.uuid4()),
            candidate.title,
            candidate.content,
            _hash(candidate.content),
            candidate.category.value,
            session.scope,
            candidate.score,
            session.id,
            candidate.position,
            json.dumps(candidate.also_positions),
            *like,
            now.isoformat(),
        ),
    )
    return connection.last_insert_rowid() if connection.changes() else None


def is_known(connection: Connection, content: str, scope: str) -> bool:
    """Return whether this was proposed before, whatever became of it."""
    query = "SELECT 1 FROM proposals WHERE content_hash = ? AND scope = ?"
    return connection.execute(query, (_hash(content), scope)).fetchone() is not None


def add_position(connection: Connection, proposal_id: int, position: int) -> None:
    """Note another turn of the same conversation that says what a proposal says."""
    query = "SELECT position, also_positions FROM proposals WHERE id = ?"
    row = connection.execute(query, (proposal_id,)).fetchone()
    if row is not None:
        positions = sorted({*json.loads(row[1]), position} - {row[0]})
        connection.execute(
            "UPDATE proposals SET also_positions = ? WHERE id = ?",
            (json.dumps(positions), proposal_id),
        )


def count_open(connection: Connection) -> int:
    """Return how many proposals wait for a decision."""
    return int(connection.execute("SELECT count(*) FROM proposals WHERE status = 'proposed'").get)


def open_page(
    connection: Connection, after: tuple[float, int] | None, limit: int
) -> list[Proposal]:
    """Return proposals that wait, the surest first, from a place in the list on."""
    score, last_id = after if after is not None else (2.0, 0)
    query = (
        f"{_SELECT} WHERE p.status = 'proposed' AND (p.score < ?1 OR (p.score = ?1 AND p.id > ?2))"
        " ORDER BY p.score DESC, p.id LIMIT ?3"
    )
    return [_proposal(row) for row in connection.execute(query, (score, last_id, limit))]


def open_of_session(connection: Connection, session_uuid: str) -> list[Proposal]:
    """Return what waits of one conversation, in the order it was said."""
    query = f"{_SELECT} WHERE p.status = 'proposed' AND s.uuid = ? ORDER BY p.position, p.id"
    return [_proposal(row) for row in connection.execute(query, (session_uuid,))]


def get(connection: Connection, name: str) -> Proposal | None:
    """Return a proposal by its UUID, or by its number as text; None where there is none."""
    column = "CAST(p.id AS TEXT)" if name.isdecimal() else "p.uuid"
    row = connection.execute(f"{_SELECT} WHERE {column} = ?", (name,)).fetchone()
    return _proposal(row) if row else None


def decide(
    connection: Connection,
    proposal_id: int,
    decision: Decision,
    knowledge_uuid: str,
    now: datetime,
) -> None:
    """Note what became of a proposal."""
    decided_at = None if decision is Decision.PROPOSED else now.isoformat()
    connection.execute(
        "UPDATE proposals SET status = ?, knowledge_uuid = ?, decided_at = ? WHERE id = ?",
        (decision.value, knowledge_uuid, decided_at, proposal_id),
    )


def last_decision(connection: Connection) -> datetime | None:
    """Return when something was decided last; None for never."""
    at = connection.execute("SELECT max(decided_at) FROM proposals").get
    return datetime.fromisoformat(at) if at else None


def session_tags(connection: Connection, session_uuid: str) -> tuple[str, ...]:
    """Return a conversation's tags."""
    row = connection.execute("SELECT tags FROM sessions WHERE uuid = ?", (session_uuid,)).fetchone()
    return tuple(json.loads(row[0])) if row else ()


def turns_around(
    connection: Connection, session_uuid: str, position: int, count: int
) -> list[SpokenTurn]:
    """Return a turn with so many before and after it."""
    row = connection.execute("SELECT id FROM sessions WHERE uuid = ?", (session_uuid,)).fetchone()
    first = max(0, position - count)
    turns = some_turns(connection, row[0], first, 2 * count + 1) if row else []
    return [turn for turn in turns if turn.position <= position + count]


def last_decided(connection: Connection) -> list[Proposal]:
    """Return what was decided last: one proposal, or all that were decided in one step."""
    query = (
        f"{_SELECT} WHERE p.status <> 'proposed'"
        " AND p.decided_at = (SELECT max(decided_at) FROM proposals) ORDER BY p.id"
    )
    return [_proposal(row) for row in connection.execute(query)]


def turn_id(connection: Connection, session_uuid: str, position: int) -> int | None:
    """Return the document of a turn, or None where it is gone."""
    query = (
        "SELECT t.id FROM turns AS t JOIN sessions AS s ON s.id = t.session_id"
        " WHERE s.uuid = ? AND t.position = ?"
    )
    row = connection.execute(query, (session_uuid, position)).fetchone()
    return int(row[0]) if row else None


def statements(
    connection: Connection, scopes: Sequence[str], *, after_id: int = 0, limit: int = -1
) -> list[Statement]:
    """Return what proposals of these scopes say, whatever became of them; the oldest first.

    Args:
        connection: A snapshot.
        scopes: Where they would hold; empty for all.
        after_id: Only those with a larger number.
        limit: At most so many; -1 for all.
    """
    query = (
        "SELECT p.id, p.uuid, t.id, p.session_id, p.category, p.title, p.content, t.at, p.scope,"
        " p.status, p.knowledge_uuid FROM proposals AS p"
        " JOIN turns AS t ON t.session_id = p.session_id AND t.position = p.position"
        " WHERE p.id > ?1 AND (?2 = '[]' OR p.scope IN (SELECT value FROM json_each(?2)))"
        " ORDER BY p.id LIMIT ?3"
    )
    rows = connection.execute(query, (after_id, json.dumps(list(scopes)), limit))
    return [
        Statement(
            proposal_id=row[0],
            uuid=row[1],
            turn_id=row[2],
            session_id=row[3],
            kind=row[4],
            title=row[5],
            text=row[6],
            at=datetime.fromisoformat(row[7]),
            scope=row[8],
            decision=Decision(row[9]),
            knowledge_uuid=row[10],
        )
        for row in rows
    ]


def _hash(content: str) -> str:
    return content_hash(normalise_content(content).casefold())


def _proposal(row: tuple[Any, ...]) -> Proposal:
    return Proposal(
        id=row[0],
        uuid=row[1],
        title=row[2],
        content=row[3],
        category=Category(row[4]),
        scope=row[5],
        score=row[6],
        session_uuid=row[7],
        session_title=row[8],
        client=row[9],
        position=row[10],
        role=Role(row[11]),
        said_at=datetime.fromisoformat(row[12]),
        also_positions=tuple(json.loads(row[13])),
        like_uuid=row[14] if row[15] else "",
        like_title=row[15],
        likeness=row[16] if row[15] else 0.0,
        decision=Decision(row[17]),
        knowledge_uuid=row[18],
        created_at=datetime.fromisoformat(row[19]),
        decided_at=datetime.fromisoformat(row[20]) if row[20] else None,
    )
