"""Rows of `documents`: every searchable text; triggers keep the index in step with them."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from kmem_desktop.domain.changes import Noun
from kmem_desktop.domain.knowledge import GLOBAL_SCOPE
from kmem_desktop.store.connection import Connection
from kmem_desktop.text import content_hash, hidden_words


@dataclass(frozen=True, slots=True)
class Document:
    """A searchable text on its way into the index.

    Attributes:
        context: Text around this one that helps to find it.
        more_words: Words that find it although it does not contain them.
    """

    noun: Noun
    title: str
    body: str
    stored_by: str
    tags: tuple[str, ...] = ()
    scope: str = GLOBAL_SCOPE
    context: str = ""
    more_words: str = ""


def text_hash(title: str, body: str) -> str:
    """Return the hash that a row keeps of its own text."""
    return content_hash(f"{title}\0{body}")


def insert(connection: Connection, document: Document, now: datetime) -> int:
    """Add a document and return its id."""
    at = now.isoformat()
    return insert_dated(connection, document, at, at)


def insert_dated(
    connection: Connection,
    document: Document,
    created_at: str,
    updated_at: str,
    document_id: int | None = None,
) -> int:
    """Add a document with the times, and maybe the id, it had before (restore); return its id."""
    connection.execute(
        "INSERT INTO documents (id, noun, title, body, tags, hidden_words, context, scope,"
        " stored_by, created_at, updated_at, text_hash)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            document_id,
            document.noun.value,
            document.title,
            document.body,
            " ".join(document.tags),
            f"{document.more_words} {hidden_words(document.title, document.body)}".strip(),
            document.context,
            document.scope,
            document.stored_by,
            created_at,
            updated_at,
            text_hash(document.title, document.body),
        ),
    )
    return connection.last_insert_rowid()


def replace(connection: Connection, document_id: int, document: Document, now: datetime) -> None:
    """Change a document's text, tags and scope; who stored it first stays."""
    connection.execute(
        "UPDATE documents SET title = ?, body = ?, tags = ?, hidden_words = ?, scope = ?,"
        " updated_at = ?, text_hash = ? WHERE id = ?",
        (
            document.title,
            document.body,
            " ".join(document.tags),
            hidden_words(document.title, document.body),
            document.scope,
            now.isoformat(),
            text_hash(document.title, document.body),
            document_id,
        ),
    )


def set_context(connection: Connection, document_id: int, context: str) -> None:
    """Change the text around a document that helps to find it."""
    connection.execute("UPDATE documents SET context = ? WHERE id = ?", (context, document_id))


def touch(connection: Connection, document_id: int, now: datetime) -> None:
    """Say that what the document stands for was changed now."""
    connection.execute(
        "UPDATE documents SET updated_at = ? WHERE id = ?", (now.isoformat(), document_id)
    )


def delete(connection: Connection, document_ids: Iterable[int]) -> None:
    """Remove documents; the nouns' own rows go with them."""
    connection.executemany("DELETE FROM documents WHERE id = ?", ((i,) for i in document_ids))


def damaged_ids(connection: Connection) -> list[int]:
    """Return the ids of documents whose text no longer has the hash it was stored with."""
    # As bytes: rot can leave what is no text at all.
    rows = connection.execute(
        "SELECT id, CAST(title AS BLOB), CAST(body AS BLOB), CAST(text_hash AS BLOB) FROM documents"
    )
    return [row[0] for row in rows if _hash_of_bytes(row[1], row[2]) != row[3]]


def _hash_of_bytes(title: bytes, body: bytes) -> bytes:
    return text_hash(title.decode(errors="replace"), body.decode(errors="replace")).encode()
