"""Rows of `knowledge`: the classified items of seed 000, whose text is in `documents`."""

import dataclasses
import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from kmem_desktop.domain.changes import Noun
from kmem_desktop.domain.knowledge import Category, KnowledgeItem
from kmem_desktop.store import documents
from kmem_desktop.store.connection import Connection
from kmem_desktop.text import content_hash, normalise_title

_SELECT = (
    "SELECT k.id, k.uuid, d.title, d.body, k.tags, k.scope, k.category, k.priority, k.confidence,"
    " k.source, d.stored_by, d.created_at, d.updated_at"
    " FROM knowledge AS k JOIN documents AS d USING (id)"
)


def insert(connection: Connection, item: KnowledgeItem) -> KnowledgeItem:
    """Add an item, under a new id where its own is 0, and return it with its id."""
    document_id = documents.insert_dated(
        connection,
        _document(item),
        item.created_at.isoformat(),
        item.updated_at.isoformat(),
        item.id or None,
    )
    connection.execute(
        "INSERT INTO knowledge (id, uuid, tags, scope, category, priority, confidence,"
        " normalised_title, content_hash, source) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (document_id, item.uuid, *_own_columns(item)),
    )
    return dataclasses.replace(item, id=document_id)


def replace(connection: Connection, item: KnowledgeItem) -> None:
    """Write every field of an existing item."""
    documents.replace(connection, item.id, _document(item), item.updated_at)
    connection.execute(
        "UPDATE knowledge SET tags = ?, scope = ?, category = ?, priority = ?, confidence = ?,"
        " normalised_title = ?, content_hash = ?, source = ? WHERE id = ?",
        (*_own_columns(item), item.id),
    )


def delete(connection: Connection, item_id: int) -> None:
    """Remove an item with its text and index entries."""
    documents.delete(connection, [item_id])


def get(connection: Connection, item_id: int) -> KnowledgeItem | None:
    """Return the item with this integer id, or None."""
    row = connection.execute(f"{_SELECT} WHERE k.id = ?", (item_id,)).fetchone()
    return _item(row) if row else None


def get_by_uuid(connection: Connection, uuid: str) -> KnowledgeItem | None:
    """Return the item with this UUID, or None."""
    row = connection.execute(f"{_SELECT} WHERE k.uuid = ?", (uuid.lower(),)).fetchone()
    return _item(row) if row else None


@dataclasses.dataclass(frozen=True, slots=True)
class Facts:
    """What the ranking needs of an item: a hundred candidates are ranked, five are shown."""

    id: int
    tags: tuple[str, ...]
    scope: str
    priority: int
    confidence: float


def get_facts(connection: Connection, ids: Sequence[int]) -> dict[int, Facts]:
    """Return the facts of the items that exist among `ids`."""
    query = (
        "SELECT id, tags, scope, priority, confidence FROM knowledge"
        " WHERE id IN (SELECT value FROM json_each(?))"
    )
    rows = connection.execute(query, (json.dumps(list(ids)),))
    return {row[0]: Facts(row[0], tuple(json.loads(row[1])), *row[2:]) for row in rows}


def get_many(connection: Connection, ids: Sequence[int]) -> dict[int, KnowledgeItem]:
    """Return the items that exist among `ids`."""
    query = f"{_SELECT} WHERE k.id IN (SELECT value FROM json_each(?))"
    rows = connection.execute(query, (json.dumps(list(ids)),))
    return {row[0]: _item(row) for row in rows}


def find_duplicate(
    connection: Connection, item: KnowledgeItem, *, except_id: int = 0
) -> tuple[str, str] | None:
    """Return (UUID, "title" or "content") of another item in the same scope that says the same."""
    for column, value, kind in (
        ("normalised_title", normalise_title(item.title), "title"),
        ("content_hash", content_hash(item.content), "content"),
    ):
        query = f"SELECT uuid FROM knowledge WHERE {column} = ? AND scope = ? AND id <> ?"
        row = connection.execute(query, (value, item.scope, except_id)).fetchone()
        if row:
            return row[0], kind
    return None


def has_title(connection: Connection, title: str, scope: str) -> bool:
    """Return whether an item of this scope has this title."""
    query = "SELECT 1 FROM knowledge WHERE normalised_title = ? AND scope = ?"
    return connection.execute(query, (normalise_title(title), scope)).fetchone() is not None


def has_content(connection: Connection, content: str, scope: str) -> bool:
    """Return whether an item of this scope has this content."""
    query = "SELECT 1 FROM knowledge WHERE content_hash = ? AND scope = ?"
    return connection.execute(query, (content_hash(content), scope)).fetchone() is not None


def scopes(connection: Connection) -> list[str]:
    """Return every scope in use, in alphabetical order."""
    return [row[0] for row in connection.execute("SELECT DISTINCT scope FROM knowledge ORDER BY 1")]


def to_json(item: KnowledgeItem) -> dict[str, Any]:
    """Return the item as the history keeps it."""
    fields = dataclasses.asdict(item)
    fields["tags"] = list(item.tags)
    fields["category"] = item.category.value
    fields["created_at"] = item.created_at.isoformat()
    fields["updated_at"] = item.updated_at.isoformat()
    return fields


def from_json(fields: Mapping[str, Any]) -> KnowledgeItem:
    """Return the item that the history kept."""
    return KnowledgeItem(
        **{
            **fields,
            "tags": tuple(fields["tags"]),
            "category": Category(fields["category"]),
            "created_at": datetime.fromisoformat(fields["created_at"]),
            "updated_at": datetime.fromisoformat(fields["updated_at"]),
        }
    )


def _document(item: KnowledgeItem) -> documents.Document:
    return documents.Document(
        Noun.KNOWLEDGE, item.title, item.content, item.stored_by, item.tags, item.scope
    )


def _own_columns(item: KnowledgeItem) -> tuple[str, str, str, int, float, str, str, str]:
    return (
        json.dumps(item.tags, ensure_ascii=False),
        item.scope,
        item.category.value,
        item.priority,
        item.confidence,
        normalise_title(item.title),
        content_hash(item.content),
        item.source,
    )


def _item(row: tuple[Any, ...]) -> KnowledgeItem:
    return KnowledgeItem(
        id=row[0],
        uuid=row[1],
        title=row[2],
        content=row[3],
        tags=tuple(json.loads(row[4])),
        scope=row[5],
        category=Category(row[6]),
        priority=row[7],
        confidence=row[8],
        source=row[9],
        stored_by=row[10],
        created_at=datetime.fromisoformat(row[11]),
        updated_at=datetime.fromisoformat(row[12]),
    )
