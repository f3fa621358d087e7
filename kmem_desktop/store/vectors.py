"""Rows of `vectors`: one int8 vector for each searchable text and embedding model.

A plain table, not sqlite-vec's vec0: that one keeps the room of scattered deletes for ever, and a
scan of it takes five times what the matrix in memory does (46 ms against 2 ms for 100,000).
"""

import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from kmem_desktop.domain.changes import Noun
from kmem_desktop.store.connection import Connection

LONGEST_TEXT = 8_000
"""No model reads more of a text."""
_SELECT_MODEL = "SELECT id, name, dimension, scale, is_serving FROM embedding_models"


@dataclass(frozen=True, slots=True)
class EmbeddingModel:
    """A model that texts have vectors of, or are to have.

    Attributes:
        id: Its number.
        name: What it is called.
        dimension: How many components its vectors have.
        scale: What a component is multiplied with to become int8; None until it is known.
        is_serving: Whether questions are compared with its vectors; at most one does.
    """

    id: int
    name: str
    dimension: int
    scale: float | None
    is_serving: bool


def model_id(connection: Connection, name: str, dimension: int) -> int:
    """Return the number of an embedding model, giving it one where it has none.

    Vectors that a model of the same name but another dimension made are removed.
    """
    row = connection.execute(f"{_SELECT_MODEL} WHERE name = ?", (name,)).fetchone()
    if row is not None and row[2] == dimension:
        return int(row[0])
    connection.execute("DELETE FROM embedding_models WHERE name = ?", (name,))
    connection.execute(
        "INSERT INTO embedding_models (name, dimension) VALUES (?, ?)", (name, dimension)
    )
    return connection.last_insert_rowid()


def model_named(connection: Connection, name: str) -> EmbeddingModel | None:
    """Return the model of this name, or None where it never made a vector."""
    row = connection.execute(f"{_SELECT_MODEL} WHERE name = ?", (name,)).fetchone()
    return _model(row) if row else None


def serving_model(connection: Connection) -> EmbeddingModel | None:
    """Return the model whose vectors questions are compared with, or None before the first."""
    row = connection.execute(f"{_SELECT_MODEL} WHERE is_serving").fetchone()
    return _model(row) if row else None


def serve(connection: Connection, model: int) -> None:
    """Say that questions are compared with the vectors of this model from now on."""
    connection.execute("UPDATE embedding_models SET is_serving = (id = ?)", (model,))


def set_scale(connection: Connection, model: int, scale: float) -> float:
    """Give a model its scale, unless it has one; return the one it has."""
    connection.execute(
        "UPDATE embedding_models SET scale = ? WHERE id = ? AND scale IS NULL", (scale, model)
    )
    kept = connection.execute("SELECT scale FROM embedding_models WHERE id = ?", (model,)).get
    return scale if kept is None else float(kept)


def has_others(connection: Connection, kept: Collection[str]) -> bool:
    """Return whether a model is there that does not serve and is not among those kept."""
    return _other(connection, kept) is not None


def drop_some(connection: Connection, kept: Collection[str], limit: int) -> bool:
    """Remove some vectors of a model that does not serve and is not among those kept.

    Args:
        connection: The writer.
        kept: The names of models that may be needed again.
        limit: At most so many texts lose theirs: between two calls, others can write.

    Returns:
        False when there was nothing to remove.
    """
    model = _other(connection, kept)
    if model is None:
        return False
    connection.execute(
        "DELETE FROM vectors WHERE model_id = ?1 AND document_id IN"
        " (SELECT document_id FROM vectors WHERE model_id = ?1 LIMIT ?2)",
        (model, limit),
    )
    if connection.changes() < limit:
        connection.execute("DELETE FROM embedding_models WHERE id = ?", (model,))
    return True


def _other(connection: Connection, kept: Collection[str]) -> int | None:
    models = [_model(row) for row in connection.execute(_SELECT_MODEL)]
    return next((m.id for m in models if not m.is_serving and m.name not in kept), None)


def _model(row: tuple[Any, ...]) -> EmbeddingModel:
    return EmbeddingModel(row[0], row[1], row[2], row[3], bool(row[4]))


@dataclass(frozen=True, slots=True)
class Pending:
    """A text that waits for its vector.

    Attributes:
        id: Of the document.
        text_hash: Tells whether the text changes until the vector is made.
    """

    id: int
    noun: Noun
    title: str
    body: str
    text_hash: str

    @property
    def text(self) -> str:
        """What the vector is made of."""
        if self.noun is Noun.TURN or not self.title:
            return self.body[:LONGEST_TEXT]
        separator = ": " if self.noun is Noun.OBSERVATION else ". "
        return f"{self.title}{separator}{self.body}"[:LONGEST_TEXT]


def pending(connection: Connection, model: int, after_id: int, limit: int) -> list[Pending]:
    """Return texts without a vector of this model in the order of their ids, after an id."""
    query = (
        "SELECT id, noun, title, body, text_hash FROM documents AS d WHERE id > ? AND NOT EXISTS"
        " (SELECT 1 FROM vectors WHERE document_id = d.id AND model_id = ?)"
        " ORDER BY id LIMIT ?"
    )
    rows = connection.execute(query, (after_id, model, limit))
    return [Pending(row[0], Noun(row[1]), *row[2:]) for row in rows]


def count_pending_after(connection: Connection, model: int, after_id: int) -> int:
    """Return how many texts after an id have no vector of this model."""
    query = (
        "SELECT count(*) FROM documents AS d WHERE id > ? AND NOT EXISTS"
        " (SELECT 1 FROM vectors WHERE document_id = d.id AND model_id = ?)"
    )
    return int(connection.execute(query, (after_id, model)).get)


def count_pending(connection: Connection, model: int) -> int:
    """Return how many texts have no vector of this model."""
    vectors = connection.execute("SELECT count(*) FROM vectors WHERE model_id = ?", (model,)).get
    return count_documents(connection) - int(vectors)


def put(connection: Connection, model: int, vectors: Sequence[tuple[int, str, bytes]]) -> list[int]:
    """Keep vectors, given as (document id, the text hash it was made from, vector).

    Returns:
        The ids that were kept: a text that changed or went meanwhile gets none, and where another
        process has removed the model none does.
    """
    kept = []
    for document_id, text_hash, vector in vectors:
        connection.execute(
            "INSERT INTO vectors (document_id, model_id, vector)"
            " SELECT d.id, m.id, ?3 FROM documents AS d, embedding_models AS m"
            " WHERE d.id = ?1 AND d.text_hash = ?4 AND m.id = ?2"
            " ON CONFLICT DO UPDATE SET vector = excluded.vector",
            (document_id, model, vector, text_hash),
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


def ids(connection: Connection, model: int) -> list[int]:
    """Return the ids of all documents that have a vector of this model."""
    query = "SELECT document_id FROM vectors WHERE model_id = ?"
    return [row[0] for row in connection.execute(query, (model,))]


def of_documents(
    connection: Connection, model: int, document_ids: Sequence[int]
) -> list[tuple[int, bytes]]:
    """Return (document id, vector) of those of these documents that have one."""
    query = (
        "SELECT document_id, vector FROM vectors WHERE model_id = ?"
        " AND document_id IN (SELECT value FROM json_each(?))"
    )
    return list(connection.execute(query, (model, json.dumps(list(document_ids)))))


def count_documents(connection: Connection) -> int:
    """Return how many searchable texts there are."""
    return int(connection.execute("SELECT count(*) FROM documents").get)


def newest_id(connection: Connection) -> int:
    """Return the largest id of a searchable text; 0 where there is none."""
    return int(connection.execute("SELECT coalesce(max(id), 0) FROM documents").get)
