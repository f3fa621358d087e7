"""What the window's lists show: which rows, in which order, and the text of those in sight."""

import time
from array import array
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from kmem_desktop.domain.changes import Noun
from kmem_desktop.domain.found import Counts, Explanation, Row, TurnPlace
from kmem_desktop.errors import NotFoundError
from kmem_desktop.search.conversation import understand
from kmem_desktop.search.query import ParsedQuery
from kmem_desktop.services import found
from kmem_desktop.services.embedding import EmbeddingService, Meaning
from kmem_desktop.services.retrieval.hits import Breadth, Hit, Ranking, Reading
from kmem_desktop.services.retrieval.rows import rows_of
from kmem_desktop.store import fulltext
from kmem_desktop.store.connection import Connection
from kmem_desktop.store.database import Database
from kmem_desktop.store.sessions import conversations as session_rows
from kmem_desktop.store.sessions import found_turns

EVERYTHING = (Noun.KNOWLEDGE, Noun.ENTITY, Noun.TURN, Noun.DIRECTIVE)
BROWSED = (Noun.KNOWLEDGE, Noun.ENTITY)
"""What is listed where nothing is asked; conversations and rules have pages of their own."""
MOST_RESULTS = 500
"""A search shows at most this many rows; the count says how many there are in all."""
BREADTH = Breadth(MOST_RESULTS, MOST_RESULTS, least_cosine=found.LEAST_COSINE)


@dataclass(frozen=True, slots=True)
class View:
    """What a list is to show.

    Attributes:
        text: The query as typed; empty to show what is browsed, last changed first.
        nouns: Which of `EVERYTHING`. Observations count for their entity, and of turns that follow
            each other the best is shown.
    """

    text: str = ""
    nouns: tuple[Noun, ...] = EVERYTHING


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

        def work(connection: Connection) -> list[Row]:
            parsed = found.readable(connection, listing.view.text, typing=True)
            return rows_of(connection, ids, parsed.match, listing.scores)

        return await self._database.read(work)

    async def turn_place(self, turn_id: int) -> TurnPlace:
        """Return where a turn stands.

        Raises:
            NotFoundError: There is no such turn, or none any more.
        """
        turns = await self._database.read(lambda c: found_turns.get(c, [turn_id], 0))
        if turn_id not in turns:
            raise NotFoundError(f"There is no turn {turn_id}.", details={"id": turn_id})
        return turns[turn_id].place

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
    counts = dict.fromkeys(filters.nouns, 0)
    total = 0
    if parsed.match:
        ranked = _rank(connection, read, filters, meaning, view.text, BREADTH)
        explanations, nouns = _explained(ranked)
        ids = array("q", nouns)
        counts.update(Counter(nouns.values()))
        total = ranked.total if ranked.is_cut else len(nouns)
    elif _is_listed(view, parsed, filters):
        ids = fulltext.newest(connection, filters)
        counts.update(fulltext.count_by_noun(connection, filters))
        total = len(ids)
    elapsed_ms = (time.perf_counter() - started) * 1000
    return Listing(view, ids, total, counts, elapsed_ms, explanations)


def filters_of(view: View, parsed: ParsedQuery) -> fulltext.Filters:
    """Return what the rows of a view must be."""
    is_asked = bool(view.text.strip())
    return fulltext.Filters(
        nouns=tuple(noun for noun in view.nouns if is_asked or noun in BROWSED),
        scopes=(parsed.scope,) if parsed.scope else (),
        tags=parsed.tags,
        kind=parsed.kind,
        before=parsed.before,
        after=parsed.after,
    )


def _is_listed(view: View, parsed: ParsedQuery, filters: fulltext.Filters) -> bool:
    """Return whether everything that passes is to be listed."""
    return bool(filters.nouns) and (parsed.has_filters or not view.text.strip())


def rank_view(
    connection: Connection, view: View, meaning: Meaning | None, breadth: Breadth = BREADTH
) -> Ranking:
    """Return all that a view finds, best first, before it is cut to its rows."""
    read = found.reading(connection, view.text, typing=True)
    filters = filters_of(view, read.parsed)
    if not read.parsed.match and _is_listed(view, read.parsed, filters):
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
    """Return matches best first, each entity and each passage of a conversation once."""
    nouns = filters.nouns
    if Noun.ENTITY in nouns:
        nouns = (*nouns, Noun.OBSERVATION)
    widened = breadth.applied_to(replace(filters, nouns=nouns))
    speakers = session_rows.speakers(connection) if Noun.TURN in nouns else ()
    asked = understand(text, speakers)
    if breadth.expected:
        every, total = found.ranked(connection, read.parsed, widened, meaning, asked, breadth)
        hits = found.folded_hits(connection, every)
    else:
        words, least = breadth.words, breadth.least_cosine
        hits, total = found.folded(
            connection, read.parsed, widened, meaning, asked, words, least_cosine=least
        )
    is_cut = len(hits) >= MOST_RESULTS
    hits = found.passages(hits, breadth.expected)
    scores = {row_id: hit.relevance for row_id, hit in hits.items()}
    best = max(scores.values(), default=1.0)
    return Ranking(read, widened, hits, scores, total, best, is_cut=is_cut)


def _explained(ranked: Ranking) -> tuple[dict[int, Explanation], dict[int, Noun]]:
    """Return for each row that is shown its numbers and its noun."""
    explanations: dict[int, Explanation] = {}
    shown: dict[int, Noun] = {}
    for row_id, hit in list(ranked.hits.items())[:MOST_RESULTS]:
        shown[row_id] = Noun.ENTITY if hit.noun is Noun.OBSERVATION else hit.noun
        explanations[row_id] = Explanation(
            "", (), hit.bm25, hit.relevance, cosine=hit.cosine, priors=hit.priors
        )
    return explanations, shown


def _counts(connection: Connection) -> Counts:
    tables = ("knowledge", "entities", "observations", "relations")
    numbers = [int(connection.execute(f"SELECT count(*) FROM {table}").get) for table in tables]
    return Counts(*numbers)
