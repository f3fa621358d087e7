"""The best of what was found, put in order by a model that a person chose for it.

Off unless chosen. A search never waits longer than a fraction of a second: a model that is slower
orders the same answer the next time. Its mark counts beside the relevance, so that a small model's
whim does not turn everything over, and it stands in explain.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Protocol, TypeVar

from kmem_desktop.domain.found import Explanation

MARK_SHARE = 0.5
MOST_MARKED = 12
DEADLINE_S = 0.25
PRIOR = "reranked"

T = TypeVar("T")


class Marker(Protocol):
    """Marks texts; `ModelService` is one."""

    @property
    def is_reranking(self) -> bool:
        """Whether a model was chosen for it."""

    async def rerank(
        self, question: str, texts: Sequence[str], *, deadline_s: float
    ) -> tuple[float | None, ...] | None:
        """Return how well each text answers, 0..1; None where nobody says it in time."""


class Reranker:
    """Puts hits in a model's order, where there is one."""

    def __init__(self, marker: Marker | None) -> None:
        """Ask `marker`; None for nobody."""
        self._marker = marker

    @property
    def is_on(self) -> bool:
        """Whether a model was chosen."""
        return self._marker is not None and self._marker.is_reranking

    async def ordered(
        self,
        question: str,
        hits: Sequence[T],
        score: Callable[[T], float],
        text: Callable[[T], str],
    ) -> list[tuple[T, float | None]]:
        """Return hits in a model's order with its marks, or as they are.

        Args:
            question: What was asked.
            hits: Best first; only the first few are marked.
            score: A hit's own score.
            text: What a hit says.
        """
        head = hits[:MOST_MARKED]
        marks = None
        if self._marker is not None and len(head) > 1:
            texts = [text(hit) for hit in head]
            marks = await self._marker.rerank(question, texts, deadline_s=DEADLINE_S)
        if marks is None:
            return [(hit, None) for hit in hits]
        best = max(score(hit) for hit in head) or 1.0

        def place(marked: tuple[T, float | None]) -> float:
            hit, mark = marked
            share = score(hit) / best
            return -(share if mark is None else (1 - MARK_SHARE) * share + MARK_SHARE * mark)

        first = sorted(zip(head, marks, strict=True), key=place)
        return [*first, *((hit, None) for hit in hits[MOST_MARKED:])]


def reranked(explanation: Explanation, mark: float) -> Explanation:
    """Return an explanation that tells a model's mark too."""
    sentence = f"{explanation.sentence.rstrip('.')}; marked {mark:.1f} of 1 by the model you chose."
    return replace(
        explanation, sentence=sentence, priors=(*explanation.priors, (PRIOR, round(mark, 4)))
    )
