"""A question exactly as it was asked, by either tool or in the window, ready to be ranked."""

import sys
from collections.abc import Callable
from dataclasses import dataclass, replace

from kmem_desktop.domain.found import ENTRY_SEARCH_LIMIT, EntryQuery, Explanation
from kmem_desktop.domain.knowledge import SEARCH_LIMIT, KnowledgeQuery
from kmem_desktop.search.query import parse
from kmem_desktop.services import found, listing
from kmem_desktop.services import knowledge as knowledge_service
from kmem_desktop.services.embedding import EmbeddingService, Meaning
from kmem_desktop.services.listing import MOST_RESULTS, View
from kmem_desktop.services.retrieval import showing
from kmem_desktop.services.retrieval.hits import Breadth, Hit, Ranking
from kmem_desktop.services.sessions.exchanges import SessionService, session_of
from kmem_desktop.services.validation import checked_query
from kmem_desktop.store import knowledge as knowledge_rows
from kmem_desktop.store.connection import Connection

Question = KnowledgeQuery | EntryQuery | View


@dataclass(frozen=True, slots=True)
class Prepared:
    """A checked question whose meaning is known.

    Attributes:
        text: Its text.
        limit: So many hits are shown.
        most: So many could be asked for.
        least_relevance: Hits below are left out.
        breadth: How much is compared for the answer.
        meaning: What it means; None where words alone are compared.
        is_typed: Whether its last word may be unfinished.
        folds: Whether observations are shown as their entity.
        rank: Ranks on a snapshot, as the answer does.
        explain: Returns the factors of a hit's score.
        total: Returns how many the answer says there are.
    """

    text: str
    limit: int
    most: int
    least_relevance: float
    breadth: Breadth
    meaning: Meaning | None
    is_typed: bool
    folds: bool
    rank: Callable[[Connection, Breadth], Ranking]
    explain: Callable[[Connection, Hit, Ranking], Explanation]
    total: Callable[[Ranking, int], int]

    def answer(self, ranking: Ranking) -> list[int]:
        """Return the ids of all hits that may be shown, best first."""
        least = self.least_relevance
        return [shown_id for shown_id, hit in ranking.hits.items() if hit.relevance >= least]


async def prepare(
    question: Question, embedding: EmbeddingService, sessions: SessionService
) -> Prepared:
    """Check a question and find out what it means.

    Raises:
        InvalidInputError: A field is out of its limits.
    """
    if isinstance(question, KnowledgeQuery):
        return await _prepare_knowledge(question, embedding)
    if isinstance(question, EntryQuery):
        return await _prepare_entries(question, sessions)
    return await _prepare_view(question, embedding)


def with_text(question: Question, text: str) -> Question:
    """Return the same question with another text."""
    return replace(question, text=text)


async def _prepare_knowledge(question: KnowledgeQuery, embedding: EmbeddingService) -> Prepared:
    query = checked_query(question)
    filters = knowledge_service.filters_of(query)
    meaning = await embedding.meaning_of(query.text)

    def explain(connection: Connection, hit: Hit, ranking: Ranking) -> Explanation:
        facts = knowledge_rows.get_facts(connection, [hit.id])[hit.id]
        return showing.item_explanation(hit, facts, query, ranking.best_relevance)

    return Prepared(
        text=query.text,
        limit=query.limit,
        most=SEARCH_LIMIT[1],
        least_relevance=0.0,
        breadth=found.KNOWLEDGE_BREADTH,
        meaning=meaning,
        is_typed=False,
        folds=False,
        rank=lambda c, breadth: found.rank_knowledge(c, query, filters, meaning, breadth),
        explain=explain,
        total=lambda ranking, _: ranking.total,
    )


async def _prepare_entries(query: EntryQuery, sessions: SessionService) -> Prepared:
    asked, meaning = await sessions.understood(query)
    return Prepared(
        text=query.text,
        limit=query.limit,
        most=ENTRY_SEARCH_LIMIT[1],
        least_relevance=query.min_relevance,
        breadth=found.ENTRY_BREADTH,
        meaning=meaning,
        is_typed=False,
        folds=False,
        rank=lambda c, breadth: found.rank_entries(
            c, query, session_of(c, query), asked, meaning, breadth
        ),
        explain=lambda _, hit, __: showing.explanation(hit),
        total=lambda _, passing: passing,
    )


async def _prepare_view(view: View, embedding: EmbeddingService) -> Prepared:
    meaning = await embedding.meaning_of(view.text) if view.text.strip() else None
    # Without words to look up, everything that passes is listed.
    limit = MOST_RESULTS if parse(view.text, typing=True).match else sys.maxsize
    return Prepared(
        text=view.text,
        limit=limit,
        most=limit,
        least_relevance=0.0,
        breadth=listing.BREADTH,
        meaning=meaning,
        is_typed=True,
        folds=True,
        rank=lambda c, breadth: listing.rank_view(c, view, meaning, breadth),
        explain=lambda _, hit, __: showing.explanation(hit),
        total=lambda ranking, passing: max(ranking.total, passing) if passing >= limit else passing,
    )
