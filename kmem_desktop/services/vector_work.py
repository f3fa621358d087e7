"""The vectors of one model: which are in memory, and which texts lack theirs."""

from dataclasses import dataclass

from kmem_desktop.providers.model import Model
from kmem_desktop.search.meaning import VectorIndex
from kmem_desktop.store import fulltext
from kmem_desktop.store import vectors as vector_rows
from kmem_desktop.store.connection import Connection

BATCH_COUNT = 32
LOAD_COUNT = 20_000


@dataclass(eq=False, slots=True)
class VectorWork:
    """The vectors of one model, and how far they are.

    Attributes:
        id: The model's number in the database.
        seen_to: Every text up to this id has a vector, but for what changed since.
    """

    model: Model
    id: int
    index: VectorIndex
    seen_to: int = 0


def load_some(
    index: VectorIndex, model_id: int, after_id: int, connection: Connection
) -> tuple[int, int]:
    """Bring some vectors into memory; return the last id, and how many there were."""
    rows = vector_rows.some_after(connection, model_id, after_id, LOAD_COUNT)
    index.put(rows)
    return (rows[-1][0] if rows else after_id), len(rows)


def drop_gone(index: VectorIndex, changed: list[int], connection: Connection) -> None:
    """Forget the vectors of those of the changed texts that are gone."""
    there = fulltext.passing(connection, fulltext.Filters(), changed)
    index.remove(document_id for document_id in changed if document_id not in there)


def compare(work: VectorWork, connection: Connection) -> None:
    """Bring the vectors in memory in step with those in the database."""
    stored, held = set(vector_rows.ids(connection, work.id)), work.index.ids()
    work.index.remove(held - stored)
    work.index.put(vector_rows.of_documents(connection, work.id, list(stored - held)))


def count(work: VectorWork, connection: Connection) -> tuple[int, int]:
    """Return how many texts there are, and how many may lack a vector of this model."""
    left = vector_rows.count_pending_after(connection, work.id, work.seen_to)
    return vector_rows.count_documents(connection), left


def pending(
    work: VectorWork, after_id: int, connection: Connection
) -> tuple[list[vector_rows.Pending], int]:
    """Return the next texts without a vector, and the newest id of all."""
    rows = vector_rows.pending(connection, work.id, after_id, BATCH_COUNT)
    return rows, vector_rows.newest_id(connection)
