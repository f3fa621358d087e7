"""How alike what conversations say is: by words first, then by meaning for the few that remain.

Statements have no vectors of their own in the database. Those that were compared lately are kept in
memory, so that the same statement is not embedded for each conversation anew.
"""

from collections import OrderedDict
from collections.abc import Sequence
from typing import TYPE_CHECKING

from kmem_desktop.services.embedding import EmbeddingService
from kmem_desktop.sessions.words import content_words
from kmem_desktop.store.sessions.proposals import Statement

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

REMEMBERED = 2_000
SHORTLIST = 20
WORDS_NEEDED = 2


class Likeness:
    """Compares statements."""

    def __init__(self, embedding: EmbeddingService) -> None:
        """Compare meaning by `embedding`, where it can be compared."""
        self._embedding = embedding
        self._vectors: OrderedDict[str, NDArray[np.float32]] = OrderedDict()
        self._words: OrderedDict[str, frozenset[str]] = OrderedDict()
        self._model = ""

    async def vectors(self, texts: Sequence[str]) -> "dict[str, NDArray[np.float32]]":
        """Return the vectors of texts, L2-normalised; empty where there is no model.

        Raises:
            ProviderError: The model failed.
        """
        if self._model != self._embedding.serving:
            self._vectors.clear()
            self._model = self._embedding.serving
        missing = [text for text in dict.fromkeys(texts) if text not in self._vectors]
        if missing:
            made = await self._embedding.vectors_of(missing)
            if made is None:
                return {}
            self._vectors.update(zip(missing, made, strict=True))
        found = {text: self._vectors[text] for text in texts}
        while len(self._vectors) > REMEMBERED:
            self._vectors.popitem(last=False)
        return found

    def shortlist(
        self,
        text: str,
        statements: Sequence[Statement],
        *,
        count: int = SHORTLIST,
        words_needed: int = WORDS_NEEDED,
    ) -> list[tuple[Statement, float]]:
        """Return the statements with the most words in common, and their share; the nearest first.

        Blocks for some microseconds a statement.

        Args:
            text: What they are compared with.
            statements: What is compared.
            count: At most so many are returned.
            words_needed: So many words must be in both.
        """
        ours = self._words_of(text)
        found: list[tuple[Statement, float]] = []
        for statement in statements:
            theirs = self._words_of(statement.text)
            shared = len(ours & theirs)
            if shared >= words_needed:
                found.append((statement, shared / len(ours | theirs)))
        return sorted(found, key=lambda each: -each[1])[:count]

    def _words_of(self, text: str) -> frozenset[str]:
        words = self._words.get(text)
        if words is None:
            words = self._words[text] = content_words(text)
            if len(self._words) > REMEMBERED:
                self._words.popitem(last=False)
        return words
