"""Vectors of one model in memory, and a question that is compared with them, for several threads.

numpy is imported only when the first vectors are there: see `search.matrix`.
"""

import importlib
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from kmem_desktop.search.matrix import VectorMatrix

T = TypeVar("T")

REMEMBERED_QUESTIONS = 256


class VectorIndex:
    """The vectors of one model in memory, for any thread.

    Attributes:
        is_scaled: Whether it is settled how its vectors become int8.
        remembered: The vectors of the last questions, oldest first.
    """

    def __init__(self, matrix: "VectorMatrix") -> None:
        """Guard `matrix`, which nobody else may use."""
        self.is_scaled = False
        self.remembered: OrderedDict[str, NDArray[np.float32]] = OrderedDict()
        self._matrix = matrix
        self._lock = threading.Lock()

    def locked(self, work: "Callable[[VectorMatrix], T]") -> T:
        """Run `work` on the vectors, alone."""
        with self._lock:
            return work(self._matrix)

    def ids(self) -> set[int]:
        """Return the documents that have a vector."""
        return self.locked(lambda matrix: set(matrix.ids()))

    def put(self, vectors: Iterable[tuple[int, bytes]]) -> None:
        """Add vectors, or replace those that are there."""
        self.locked(lambda matrix: matrix.put(vectors))

    def remove(self, document_ids: Iterable[int]) -> None:
        """Take vectors out."""
        self.locked(lambda matrix: matrix.remove(document_ids))

    def scale_by(self, scale: float) -> None:
        """Settle how vectors become int8."""

        def work(matrix: "VectorMatrix") -> None:
            matrix.scale = scale

        self.locked(work)
        self.is_scaled = True

    def packed(self, vectors: "NDArray[np.float32]") -> list[bytes]:
        """Return vectors as they are kept."""
        return self.locked(lambda matrix: matrix.packed(vectors))

    def remember(self, question: str, vector: "NDArray[np.float32]") -> None:
        """Keep the vector of a question, and the oldest no longer."""
        self.remembered[question] = vector
        if len(self.remembered) > REMEMBERED_QUESTIONS:
            self.remembered.popitem(last=False)


class Meaning:
    """A question's meaning, ready to be compared; used on the database's reader threads."""

    def __init__(self, question: "NDArray[np.float32]", index: VectorIndex) -> None:
        """Compare `question` with the vectors of `index`, which the same model made."""
        self._question = question
        self._index = index

    @property
    def question(self) -> "NDArray[np.float32]":
        """The question's vector, L2-normalised, shape (dimension,)."""
        return self._question

    def asking(self, question: "NDArray[np.float32]") -> "Meaning":
        """Return another question's meaning, compared with the same vectors.

        Args:
            question: Its vector, of the same model: L2-normalised, shape (dimension,).
        """
        return Meaning(question, self._index)

    def vectors(self, ids: Sequence[int]) -> "dict[int, NDArray[np.float32]]":
        """Return the vectors of these documents; those without one are left out."""

        def work(matrix: "VectorMatrix") -> "tuple[list[int], NDArray[np.float32]]":
            known = [document_id for document_id in ids if document_id in matrix]
            return known, matrix.rows(known)

        known, rows = self._index.locked(work)
        return dict(zip(known, rows, strict=True))

    def nearest(self, count: int) -> list[int]:
        """Return the ids of the most similar documents, best first."""
        ids, _ = self._index.locked(lambda matrix: matrix.nearest(self._question, count))
        return [int(document_id) for document_id in ids]

    def cosines(
        self, ids: Sequence[int], neighbours: Sequence[tuple[int, int, int]]
    ) -> dict[int, float]:
        """Return how similar these documents are; those without a vector are left out.

        Args:
            ids: The documents.
            neighbours: (document, neighbour, distance) for those that are read with neighbours.
        """
        row_of = {document_id: row for row, document_id in enumerate(ids)}
        places = [(row_of[here], distance) for here, _, distance in neighbours if here in row_of]
        around = [there for here, there, _ in neighbours if here in row_of]

        def work(matrix: "VectorMatrix") -> tuple[Any, Any, list[bool]]:
            known = [document_id in matrix for document_id in ids]
            return matrix.rows(ids), matrix.rows(around), known

        own, others, known = self._index.locked(work)
        matrix_module = importlib.import_module("kmem_desktop.search.matrix")
        cosines = matrix_module.with_neighbours(own, others, places) @ self._question
        return {
            document_id: float(cosine)
            for document_id, cosine, has_vector in zip(ids, cosines, known, strict=True)
            if has_vector
        }
