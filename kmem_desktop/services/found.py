"""From a query to ranked hits on one snapshot: parse, look up, rank, and say why."""

from collections.abc import Sequence
from dataclasses import replace

from kmem_desktop.domain import KnowledgeHit, KnowledgeQuery, KnowledgeResults
from kmem_desktop.search import ranking
from kmem_desktop.search.query import ParsedQuery, parse
from kmem_desktop.store import fulltext
from kmem_desktop.store import knowledge as knowledge_rows
from kmem_desktop.store.connection import Connection

CANDIDATE_COUNT = 100


def marked_ranges(text: str) -> tuple[str, tuple[tuple[int, int], ...]]:
    """Take the mark characters out of a text; return it with the ranges they enclosed."""
    plain: list[str] = []
    ranges: list[tuple[int, int]] = []
    length = 0
    for piece in text.replace(fulltext.MARK_END, fulltext.MARK_END + fulltext.MARK_START).split(
        fulltext.MARK_START
    ):
        inside = piece.endswith(fulltext.MARK_END)
        content = piece.rstrip(fulltext.MARK_END)
        start = length
        plain.append(content)
        length += len(content)
        if inside and content:
            ranges.append((start, length))
    return "".join(plain), tuple(ranges)


def shortened(
    text: str, ranges: tuple[tuple[int, int], ...], longest: int
) -> tuple[str, tuple[tuple[int, int], ...]]:
    """Cut a marked text to `longest` characters that show the first mark."""
    if len(text) <= longest:
        return text, ranges
    start = max(0, ranges[0][0] - longest // 4) if ranges and ranges[0][1] > longest else 0
    text = text[start : start + longest]
    moved = [(low - start, min(high - start, longest)) for low, high in ranges]
    return text, tuple((low, high) for low, high in moved if 0 <= low < high)


def matched_words(marked: Sequence[str]) -> tuple[str, ...]:
    """Return the distinct words that were marked in these texts, lower-case."""
    words: dict[str, None] = {}
    for text in marked:
        plain, ranges = marked_ranges(text)
        words.update((plain[start:end].lower(), None) for start, end in ranges)
    return tuple(words)


def candidates(
    connection: Connection, parsed: ParsedQuery, filters: fulltext.Filters, limit: int
) -> list[fulltext.Candidate]:
    """Return the best lexical matches; none for a query without anything to look up."""
    if not parsed.match:
        return []
    return fulltext.candidates(connection, parsed.match, filters, ranking.COLUMN_WEIGHTS, limit)


def knowledge(
    connection: Connection, query: KnowledgeQuery, filters: fulltext.Filters
) -> KnowledgeResults:
    """Return the knowledge that answers a checked query, best first."""
    parsed = parse(query.text)
    filters = replace(
        filters,
        scopes=filters.scopes or ((parsed.scope,) if parsed.scope else ()),
        tags=parsed.tags,
        kind=parsed.kind,
        before=parsed.before,
        after=parsed.after,
    )
    rows = candidates(connection, parsed, filters, CANDIDATE_COUNT)
    items = knowledge_rows.get_many(connection, [row.id for row in rows])
    relevances = ranking.relevances([row.bm25 for row in rows])
    hits = []
    for row, relevance in zip(rows, relevances, strict=True):
        explanation = ranking.explain(
            items[row.id],
            row.bm25,
            relevance,
            scope=query.scope,
            context_tags=query.context_tags,
        )
        hits.append(KnowledgeHit(items[row.id], ranking.score(explanation), explanation))
    hits.sort(key=lambda hit: (-hit.score, hit.item.id))
    total = len(rows)
    if total == CANDIDATE_COUNT:
        total = fulltext.count(connection, parsed.match, filters)
    best = _with_words(connection, parsed, hits[: query.limit], query)
    return KnowledgeResults(tuple(best), total, query.text)


def _with_words(
    connection: Connection, parsed: ParsedQuery, hits: list[KnowledgeHit], query: KnowledgeQuery
) -> list[KnowledgeHit]:
    """Name the words that matched, for the few hits that are shown."""
    if not hits:
        return []
    marked = fulltext.marked(connection, parsed.match, [hit.item.id for hit in hits])
    named = []
    for hit in hits:
        texts = marked.get(hit.item.id)
        words = matched_words((texts.title, texts.snippet)) if texts else ()
        explanation = ranking.explain(
            hit.item,
            hit.explanation.bm25,
            hit.explanation.relevance,
            scope=query.scope,
            context_tags=query.context_tags,
            words=words,
        )
        named.append(KnowledgeHit(hit.item, hit.score, explanation))
    return named
