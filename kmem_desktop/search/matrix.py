"""Every vector of the active embedding model in memory, as int8, for exact similarity.

100,000 vectors of 384 dimensions are 38 MB, and comparing a question with all of them takes 2 ms;
no approximate index is needed up to a million. numkong does the comparison: numpy has no int8
product and takes four times as long by way of floats.
"""

import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

# numpy first: numkong begins with a part of it, and two threads that import a package from its
# inside and from its outside at once get half of it.
import numpy as np  # isort: split

import numkong

if TYPE_CHECKING:
    from numpy.typing import NDArray

INT8_SCALE = 508.0
"""Components of a normalised MiniLM vector lie within 127/508 = 0.25, nearly all of them; recall of
the true best 20 is 0.99 with it and 0.98 with 127."""
LARGEST = 127
LEAST_REACH = 4.9
"""Of any model, components up to this many times their mean size, which is 1 / sqrt(dimension),
keep their value: for MiniLM's 384 dimensions that is the 0.25 above."""
FIRST_CAPACITY = 1024
NEIGHBOUR_SHARES = (0.3, 0.15)
"""How much of the vectors one and two turns away belongs to a turn's own."""


def fitting_scale(vectors: "NDArray[np.float32]") -> float:
    """Return what a model's components are multiplied with to become int8.

    All but one in a thousand of these keep their value; the few larger ones are cut. It is chosen
    once for each model, since vectors of different scales cannot be compared.

    Args:
        vectors: Normalised vectors that the model made, shape (n, dimension), n at least 1.
    """
    usual = float(np.quantile(np.abs(vectors), 0.999))
    return LARGEST / max(usual, LEAST_REACH / math.sqrt(vectors.shape[1]))


def to_int8(vectors: "NDArray[np.float32]", scale: float = INT8_SCALE) -> "NDArray[np.int8]":
    """Return normalised vectors, shape (n, dimension), as int8."""
    scaled = np.clip(np.rint(vectors * scale), -LARGEST, LARGEST)
    return np.asarray(scaled, np.int8)


class VectorMatrix:
    """Rows of int8 vectors, each under the id of its document.

    Not for several threads at once: its owner holds a lock.

    Attributes:
        scale: What the vectors were multiplied with; set before the first is put.
    """

    def __init__(self, dimension: int, scale: float = INT8_SCALE) -> None:
        """Start without rows."""
        self.dimension = dimension
        self.scale = scale
        self._rows = np.empty((FIRST_CAPACITY, dimension), np.int8)
        self._ids = np.empty(FIRST_CAPACITY, np.int64)
        self._row_of: dict[int, int] = {}

    def __len__(self) -> int:
        """Return how many vectors there are."""
        return len(self._row_of)

    def __contains__(self, document_id: int) -> bool:
        """Return whether this document has a vector."""
        return document_id in self._row_of

    def ids(self) -> list[int]:
        """Return the documents that have a vector."""
        return list(self._row_of)

    def packed(self, vectors: "NDArray[np.float32]") -> list[bytes]:
        """Return vectors, shape (n, dimension), as `put` takes them."""
        return [vector.tobytes() for vector in to_int8(vectors, self.scale)]

    def put(self, vectors: Iterable[tuple[int, bytes]]) -> None:
        """Add vectors, or replace those that are there."""
        for document_id, vector in vectors:
            row = self._row_of.setdefault(document_id, len(self._row_of))
            if row == len(self._rows):
                self._grow()
            self._rows[row] = np.frombuffer(vector, np.int8)
            self._ids[row] = document_id

    def remove(self, document_ids: Iterable[int]) -> None:
        """Take vectors out; the last row fills the gap."""
        for document_id in document_ids:
            row = self._row_of.pop(document_id, None)
            if row is None:
                continue
            last = len(self._row_of)
            if row != last:
                self._rows[row] = self._rows[last]
                self._ids[row] = self._ids[last]
                self._row_of[int(self._ids[row])] = row

    def nearest(
        self, question: "NDArray[np.float32]", count: int
    ) -> tuple["NDArray[np.int64]", "NDArray[np.float32]"]:
        """Return ids and cosines of the most similar documents, best first.

        Args:
            question: The normalised vector of the question, shape (dimension,).
            count: At most this many.
        """
        cosines = self._cosines(question)
        count = min(count, len(cosines))
        if count == 0:
            return np.empty(0, np.int64), np.empty(0, np.float32)
        best = np.argpartition(cosines, len(cosines) - count)[len(cosines) - count :]
        best = best[np.argsort(-cosines[best], kind="stable")]
        return self._ids[best], cosines[best]

    def rows(self, document_ids: Sequence[int]) -> "NDArray[np.float32]":
        """Return the vectors of these documents; zeros where there is none."""
        found = np.zeros((len(document_ids), self.dimension), np.float32)
        for index, document_id in enumerate(document_ids):
            row = self._row_of.get(document_id)
            if row is not None:
                found[index] = self._rows[row]
        return found / np.float32(self.scale)

    def _cosines(self, question: "NDArray[np.float32]") -> "NDArray[np.float32]":
        used = self._rows[: len(self._row_of)]
        if not len(used):
            return np.empty(0, np.float32)
        products = numkong.cdist(to_int8(question[np.newaxis], self.scale), used, "dot")
        return np.asarray(products, np.float32).ravel() / np.float32(self.scale * self.scale)

    def _grow(self) -> None:
        capacity = 2 * len(self._rows)
        rows = np.empty((capacity, self.dimension), np.int8)
        ids = np.empty(capacity, np.int64)
        rows[: len(self._rows)] = self._rows
        ids[: len(self._ids)] = self._ids
        self._rows, self._ids = rows, ids


def with_neighbours(
    own: "NDArray[np.float32]",
    neighbours: "NDArray[np.float32]",
    places: Sequence[tuple[int, int]],
) -> "NDArray[np.float32]":
    """Return turns' vectors mixed with their neighbours', normalised.

    Args:
        own: The turns' own vectors, shape (n, dimension).
        neighbours: The vectors of their neighbours, shape (m, dimension).
        places: For each neighbour the row of `own` it belongs to, and its distance, 1 or 2.
    """
    mixed = own.copy()
    if places:
        rows = np.array([row for row, _ in places])
        shares = np.array([NEIGHBOUR_SHARES[distance - 1] for _, distance in places], np.float32)
        np.add.at(mixed, rows, neighbours * shares[:, np.newaxis])
    lengths = np.linalg.norm(mixed, axis=1, keepdims=True)
    return np.asarray(mixed / np.maximum(lengths, 1e-6), np.float32)
