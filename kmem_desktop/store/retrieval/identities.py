"""Which searchable row an id or a UUID names, and where in it words stand."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from kmem_desktop.domain.changes import Noun
from kmem_desktop.store.connection import Connection
from kmem_desktop.text import one_line

COLUMNS = ("title", "body", "tags", "hidden_words", "context")
"""The columns of the index, in its order."""
TITLE_LENGTH = 120


@dataclass(frozen=True, slots=True)
class Identity:
    """A searchable row.

    Attributes:
        id: Its integer id.
        uuid: Its UUID.
        noun: What it is.
        title: What people call it: of a turn and of a directive the beginning of its text.
        scope: Its scope.
        tags: Its tags.
        kind: The category, the entity's type, question and answer for turns, or the severity.
        confidence: Of knowledge; None for the rest.
        session_id: Of a turn; None for the rest.
        created_at: When it was stored.
        updated_at: When it was last changed, or said.
        owner_id: Of an observation its entity; else its own id.
    """

    id: int
    uuid: str
    noun: Noun
    title: str
    scope: str
    tags: tuple[str, ...]
    kind: str
    confidence: float | None
    session_id: int | None
    created_at: datetime
    updated_at: datetime
    owner_id: int


_SELECT = (
    "SELECT d.id, coalesce(k.uuid, o.uuid, e.uuid, t.uuid, r.uuid), d.noun,"
    " CASE WHEN r.id IS NULL THEN d.title ELSE '' END,"
    f" substr(d.body, 1, {TITLE_LENGTH}), d.scope, coalesce(k.tags, '[]'),"
    " coalesce(k.category, e.entity_type,"
    " CASE WHEN t.role = 'user' THEN 'question' WHEN t.role IS NOT NULL THEN 'answer' END,"
    " r.severity),"
    " k.confidence, t.session_id, d.created_at, d.updated_at, coalesce(o.entity_id, d.id)"
    " FROM documents AS d LEFT JOIN knowledge AS k ON k.id = d.id"
    " LEFT JOIN observations AS o ON o.id = d.id"
    " LEFT JOIN entities AS e ON e.id = coalesce(o.entity_id, d.id)"
    " LEFT JOIN turns AS t ON t.id = d.id"
    " LEFT JOIN directives AS r ON r.id = d.id"
)


def of_id(connection: Connection, document_id: int) -> Identity | None:
    """Return the row with this integer id, or None."""
    row = connection.execute(f"{_SELECT} WHERE d.id = ?", (document_id,)).fetchone()
    return _identity(row) if row else None


def of_uuids(connection: Connection, uuids: Iterable[str]) -> dict[str, Identity]:
    """Return the rows that exist among these UUIDs."""
    query = (
        "WITH wanted AS MATERIALIZED (SELECT value AS uuid FROM json_each(?)),"
        " ids AS MATERIALIZED ("
        " SELECT id FROM knowledge WHERE uuid IN (SELECT uuid FROM wanted)"
        " UNION ALL SELECT id FROM entities WHERE uuid IN (SELECT uuid FROM wanted)"
        " UNION ALL SELECT id FROM observations WHERE uuid IN (SELECT uuid FROM wanted)"
        " UNION ALL SELECT id FROM turns WHERE uuid IN (SELECT uuid FROM wanted)"
        " UNION ALL SELECT id FROM directives WHERE uuid IN (SELECT uuid FROM wanted))"
        f" {_SELECT} WHERE d.id IN (SELECT id FROM ids)"
    )
    chosen = json.dumps([uuid.lower() for uuid in uuids])
    found = [_identity(row) for row in connection.execute(query, (chosen,))]
    return {identity.uuid: identity for identity in found}


def deleted_uuid(connection: Connection, document_id: int) -> str | None:
    """Return the UUID of what was deleted under this integer id, or None."""
    query = (
        "SELECT item_uuid FROM history WHERE item_id = ? AND action = 'deleted'"
        " ORDER BY id DESC LIMIT 1"
    )
    row = connection.execute(query, (document_id,)).fetchone()
    return row[0] if row else None


def columns_with(
    connection: Connection, document_id: int, terms: Sequence[str]
) -> dict[str, tuple[str, ...]]:
    """Return for each term that a document has in which columns of the index it stands.

    Args:
        connection: A snapshot.
        document_id: The document.
        terms: FTS5 expressions without a column of their own.
    """
    places = {}
    for term in terms:
        if _matches(connection, document_id, term):
            places[term] = tuple(
                column
                for column in COLUMNS
                if _matches(connection, document_id, f"{column} : ({term})")
            )
    return places


def _matches(connection: Connection, document_id: int, match: str) -> bool:
    query = "SELECT 1 FROM documents_index WHERE documents_index MATCH ? AND rowid = ?"
    return connection.execute(query, (match, document_id)).fetchone() is not None


def _identity(row: tuple[Any, ...]) -> Identity:
    noun = Noun(row[2])
    title = f"{row[3]}: {row[4]}" if noun is Noun.OBSERVATION else row[3] or row[4]
    return Identity(
        id=row[0],
        uuid=row[1],
        noun=noun,
        title=one_line(title)[:TITLE_LENGTH],
        scope=row[5],
        tags=tuple(json.loads(row[6])),
        kind=row[7] or "",
        confidence=row[8],
        session_id=row[9],
        created_at=datetime.fromisoformat(row[10]),
        updated_at=datetime.fromisoformat(row[11]),
        owner_id=row[12],
    )
