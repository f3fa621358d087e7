"""What the window's lists show: which rows, in which order, and the text of those in sight."""

import time
from array import array
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from kmem_desktop.domain.changes import Noun
from kmem_desktop.domain.found import Counts, Explanation, Row
from kmem_desktop.domain.knowledge import KnowledgeItem
from kmem_desktop.search import ranking
from kmem_desktop.search.conversation import understand
from kmem_desktop.search.query import ParsedQuery
from kmem_desktop.services import found
from kmem_desktop.services.embedding import EmbeddingService, Meaning
from kmem_desktop.services.retrieval.hits import Breadth, Hit, Ranking, Reading
from kmem_desktop.store import fulltext
from kmem_desktop.store import graph as graph_rows
from kmem_desktop.store import knowledge as knowledge_rows
from kmem_desktop.store.connection import Connection
from kmem_desktop.store.database import Database
from kmem_desktop.text import one_line

SNIPPET_LENGTH = 240
MOST_RESULTS = 500
"""A search shows at most this many rows; the count says how many there are in all."""
BREADTH = Breadth(MOST_RESULTS, MOST_RESULTS)


@dataclass(frozen=True, slots=True)
class View:
    """What a list is to show.

    Attributes:
        text: The query as typed; empty to show everything, last changed first.
        nouns: Which nouns: KNOWLEDGE, ENTITY, or both. Observations count for their entity.
    """

    text: str = ""
    nouns: tuple[Noun, ...] = (Noun.KNOWLEDGE, Noun.ENTITY)


@dataclass(frozen=True, slots=True)
class Listing:
    """Which rows a view has, in order.

    Attributes:
        view: What was asked for.
        ids: The ids of the rows (type "q").
        total: How many match in all, which may be more than there are rows.
        counts: Matches for each noun among the rows.
        elapsed_ms: How long it took.
        scores: For each row its relevance, 0..1; empty without a query.
    """

    view: View
    ids: "array[int]"
    total: int
    counts: dict[Noun, int]
    elapsed_ms: float
    scores: dict[int, Explanation]


class ListingService:
    """Answers the window's lists."""

    def __init__(self, database: Database, embedding: EmbeddingService) -> None:
        """Read from `database` and compare meaning by `embedding`."""
        self._database = database
        self._embedding = embedding

    async def show(self, view: View) -> Listing:
        """Return which rows a view shows. Never raises for anything that was typed."""
        meaning = None
        if view.text.strip():
            meaning = await self._embedding.meaning_of(view.text, wait=False)
        return await self._database.read(lambda connection: _list(connection, view, meaning))

    async def rows(self, listing: Listing, ids: Sequence[int]) -> list[Row]:
        """Return the text of some rows of a listing; rows that were deleted since are left out."""
        return await self._database.read(lambda connection: _rows(connection, listing, ids))

    async def counts(self) -> Counts:
        """Return how much is remembered."""
        return await self._database.read(_counts)

    async def foreign_version(self) -> int:
        """Return a number that changes when another process has written to the memory."""
        return await self._database.foreign_version()


def _list(connection: Connection, view: View, meaning: Meaning | None) -> Listing:
    started = time.perf_counter()
    read = found.reading(connection, view.text, typing=True)
    parsed, filters = read.parsed, filters_of(view, read.parsed)
    explanations: dict[int, Explanation] = {}
    ids = array("q")
    counts = dict.fromkeys(view.nouns, 0)
    total = 0
    if parsed.match:
        ranking_of_view = _rank(connection, read, filters, meaning, view.text, BREADTH)
        explanations, nouns = _explained(ranking_of_view)
        matching = ranking_of_view.total
        ids = array("q", nouns)
        counts.update(Counter(nouns.values()))
        total = matching if len(nouns) >= MOST_RESULTS else len(nouns)
    elif parsed.has_filters or not view.text.strip():
        ids = fulltext.newest(connection, filters)
        counts.update(fulltext.count_by_noun(connection, filters))
        total = len(ids)
    elapsed_ms = (time.perf_counter() - started) * 1000
    return Listing(view, ids, total, counts, elapsed_ms, explanations)


def filters_of(view: View, parsed: ParsedQuery) -> fulltext.Filters:
    """Return what the rows of a view must be."""
    return fulltext.Filters(
        nouns=view.nouns,
        scopes=(parsed.scope,) if parsed.scope else (),
        tags=parsed.tags,
        kind=parsed.kind,
        before=parsed.before,
        after=parsed.after,
    )


def rank_view(
    connection: Connection, view: View, meaning: Meaning | None, breadth: Breadth = BREADTH
) -> Ranking:
    """Return all that a view finds, best first, before it is cut to its rows."""
    read = found.reading(connection, view.text, typing=True)
    filters = filters_of(view, read.parsed)
    if not read.parsed.match and (read.parsed.has_filters or not view.text.strip()):
        return _newest(connection, read, breadth.applied_to(filters))
    return _rank(connection, read, filters, meaning, view.text, breadth)


def _newest(connection: Connection, read: Reading, filters: fulltext.Filters) -> Ranking:
    """Return everything that passes, last changed first."""
    ids = fulltext.newest(connection, filters)
    nouns = fulltext.passing(connection, filters, ids)
    hits = {row_id: Hit(row_id, nouns[row_id], 0.0, None, (), 1.0) for row_id in ids}
    return Ranking(read, filters, hits, dict.fromkeys(hits, 1.0), len(hits), 1.0)


def _rank(
    connection: Connection,
    read: Reading,
    filters: fulltext.Filters,
    meaning: Meaning | None,
    text: str,
    breadth: Breadth,
) -> Ranking:
    """Return matches best first, observations folded into their entity."""
    nouns = filters.nouns
    if Noun.ENTITY in nouns:
        nouns = (*nouns, Noun.OBSERVATION)
    widened = breadth.applied_to(replace(filters, nouns=nouns))
    asked = understand(text, ())
    if breadth.expected:
        every, total = found.ranked(connection, read.parsed, widened, meaning, asked, breadth)
        hits = found.folded_hits(connection, every)
    else:
        hits, total = found.folded(connection, read.parsed, widened, meaning, asked, breadth.words)
    scores = {row_id: hit.relevance for row_id, hit in hits.items()}
    return Ranking(read, widened, hits, scores, total, max(scores.values(), default=1.0))


def _explained(ranked: Ranking) -> tuple[dict[int, Explanation], dict[int, Noun]]:
    """Return for each row that is shown its numbers and its noun."""
    explanations: dict[int, Explanation] = {}
    shown: dict[int, Noun] = {}
    for row_id, hit in list(ranked.hits.items())[:MOST_RESULTS]:
        shown[row_id] = Noun.KNOWLEDGE if hit.noun is Noun.KNOWLEDGE else Noun.ENTITY
        explanations[row_id] = Explanation("", (), hit.bm25, hit.relevance, cosine=hit.cosine)
    return explanations, shown


def _rows(connection: Connection, listing: Listing, ids: Sequence[int]) -> list[Row]:
    items = knowledge_rows.get_many(connection, ids)
    entity_ids = [row_id for row_id in ids if row_id not in items]
    parsed = found.readable(connection, listing.view.text, typing=True)
    rows = {row_id: _knowledge_row(item) for row_id, item in items.items()}
    rows.update(_entity_rows(connection, entity_ids))
    if parsed.match:
        _mark(connection, parsed, listing, rows)
    return [rows[row_id] for row_id in ids if row_id in rows]


def _knowledge_row(item: KnowledgeItem) -> Row:
    return Row(
        id=item.id,
        noun=Noun.KNOWLEDGE,
        title=item.title,
        snippet=one_line(item.content[: SNIPPET_LENGTH * 2])[:SNIPPET_LENGTH],
        kind=item.category.value,
        scope=item.scope,
        detail="",
        stored_by=item.stored_by,
        updated_at=item.updated_at,
    )


def _entity_rows(connection: Connection, ids: Sequence[int]) -> dict[int, Row]:
    rows = {}
    for (
        row_id,
        name,
        entity_type,
        stored_by,
        updated_at,
        observations,
        relations,
        start,
    ) in graph_rows.row_facts(connection, ids):
        rows[row_id] = Row(
            id=row_id,
            noun=Noun.ENTITY,
            title=one_line(name),
            snippet=one_line(start)[:SNIPPET_LENGTH],
            kind=entity_type,
            scope="",
            detail=f"{_counted(observations, 'observation')}, {_counted(relations, 'relation')}",
            stored_by=stored_by,
            updated_at=datetime.fromisoformat(updated_at),
        )
    return rows


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def _mark(
    connection: Connection, parsed: ParsedQuery, listing: Listing, rows: dict[int, Row]
) -> None:
    """Mark exactly what scored, in place; an entity shows its best observation."""
    texts = fulltext.marked(connection, parsed.match, list(rows))
    owners = graph_rows.observations_of(
        connection, [row_id for row_id, row in rows.items() if row.noun is Noun.ENTITY]
    )
    snippets: dict[int, str] = {}
    for observation_id, marked in fulltext.marked(connection, parsed.match, list(owners)).items():
        snippets.setdefault(owners[observation_id], marked.snippet)
    for row_id, row in rows.items():
        own = texts.get(row_id)
        rows[row_id] = _marked_row(
            row,
            own.title if own else row.title,
            snippets.get(row_id, own.snippet if own and row.noun is Noun.KNOWLEDGE else ""),
            listing.scores.get(row_id),
        )


def _marked_row(row: Row, title: str, snippet: str, score: Explanation | None) -> Row:
    plain_title, title_marks = found.marked_ranges(one_line(title))
    plain_snippet, snippet_marks = found.shortened(
        *found.marked_ranges(one_line(snippet)), SNIPPET_LENGTH * 2
    )
    words = found.matched_words((title, snippet))
    explanation = None
    if score is not None:
        explanation = Explanation(
            sentence=ranking.found_sentence(words, score.cosine),
            words=words,
            bm25=score.bm25,
            relevance=score.relevance,
            cosine=score.cosine,
        )
    return Row(
        id=row.id,
        noun=row.noun,
        title=plain_title,
        snippet=plain_snippet or row.snippet,
        kind=row.kind,
        scope=row.scope,
        detail=row.detail,
        stored_by=row.stored_by,
        updated_at=row.updated_at,
        title_marks=title_marks,
        snippet_marks=snippet_marks,
        explanation=explanation,
    )


def _counts(connection: Connection) -> Counts:
    tables = ("knowledge", "entities", "observations", "relations")
    numbers = [int(connection.execute(f"SELECT count(*) FROM {table}").get) for table in tables]
    return Counts(*numbers)
