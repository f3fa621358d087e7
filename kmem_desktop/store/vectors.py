"""Rows of `vectors`: one int8 vector for each searchable text and embedding model.

A plain table, not sqlite-vec's vec0: that one keeps the room of scattered deletes for ever, and a
scan of it takes five times what the matrix in memory does (46 ms against 2 ms for 100,000).
"""

from collections.abc import Sequence

from kmem_desktop.domain.changes import Noun
from kmem_desktop.store.connection import Connection


def model_id(connection: Connection, name: str, dimension: int) -> int:
    """Return the number of an embedding model, giving it one where it has none."""
    connection.execute(
        "INSERT INTO embedding_models (name, dimension) VALUES (?, ?) ON CONFLICT DO NOTHING",
        (name, dimension),
    )
    row = connection.execute("SELECT id FROM embedding_models WHERE name = ?", (name,)).get
    return int(row)


def pending(
    connection: Connection, model: int, after_id: int, limit: int
) -> list[tuple[int, Noun, str, str]]:
    """Return (id, noun, title, body) of texts without a vector, those after an id."""
    query = (
        "SELECT id, noun, title, body FROM documents AS d WHERE id > ? AND NOT EXISTS"
        " (SELECT 1 FROM vectors WHERE document_id = d.id AND model_id = ?)"
        " ORDER BY id LIMIT ?"
    )
    rows = connection.execute(query, (after_id, model, limit))
    return [(row[0], Noun(row[1]), row[2], row[3]) for row in rows]


def count_pending(connection: Connection, model: int) -> int:
    """Return how many texts have no vector of this model."""
    vectors = connection.execute("SELECT count(*) FROM vectors WHERE model_id = ?", (model,)).get
    return count_documents(connection) - int(vectors)


def put(connection: Connection, model: int, vectors: Sequence[tuple[int, str, bytes]]) -> list[int]:
    """Keep vectors, given as (document id, the text hash it was made from, vector).

    Returns:
        The ids that were kept: a text that changed or went meanwhile gets none.
    """
    kept = []
    for document_id, text_hash, vector in vectors:
        connection.execute(
            "INSERT INTO vectors (document_id, model_id, vector)"
            " SELECT id, ?, ? FROM documents WHERE id = ? AND text_hash = ?"
            " ON CONFLICT DO UPDATE SET vector = excluded.vector",
            (model, vector, document_id, text_hash),
        )
        if connection.changes():
            kept.append(document_id)
    return kept


def some_after(
    connection: Connection, model: int, after_id: int, limit: int
) -> list[tuple[int, bytes]]:
    """Return (document id, vector) in the order of the ids, those after an id."""
    query = (
        "SELECT document_id, vector FROM vectors WHERE model_id = ? AND document_id > ?"
        " ORDER BY document_id LIMIT ?"
    )
    rows = connection.execute(query, (model, after_id, limit))
    return [(row[0], row[1]) for row in rows]


def count_documents(connection: Connection) -> int:
    """Return how many searchable texts there are."""
    return int(connection.execute("SELECT count(*) FROM documents").get)
