"""From a query to ranked hits on one snapshot: parse, look up, rank, and say why."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from kmem_desktop.domain.changes import Noun
from kmem_desktop.domain.found import Entry, EntryQuery, Explanation
from kmem_desktop.domain.knowledge import (
    KnowledgeHit,
    KnowledgeItem,
    KnowledgeQuery,
    KnowledgeResults,
)
from kmem_desktop.domain.sessions import Role, Turn
from kmem_desktop.search import fusion, ranking
from kmem_desktop.search.conversation import AskedFor, understand
from kmem_desktop.search.query import ParsedQuery, parse
from kmem_desktop.services.embedding import Meaning
from kmem_desktop.store import fulltext
from kmem_desktop.store import graph as graph_rows
from kmem_desktop.store import knowledge as knowledge_rows
from kmem_desktop.store import sessions as session_rows
from kmem_desktop.store.connection import Connection
from kmem_desktop.store.graph import GraphText

CANDIDATE_COUNT = 60
ENTRY_CANDIDATE_COUNT = 150
CLOSE_COUNT = 150
"""At most so many candidates come from meaning alone."""
MOST_CANDIDATES = 20_000
MOST_MATCHES = 1_000
MOST_SCORED = 30_000
"""How many texts may have a word that still tells something."""
LEAST_COSINE = 0.35
LEAST_TURN_COSINE = 0.2
"""Without a word in common, less than this is no likeness; a turn is read with its neighbours, and
what answers a question there often says it in other words."""


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


@dataclass(frozen=True, slots=True)
class Hit:
    """A document that a search found.

    Attributes:
        id: Its id.
        noun: What it is.
        bm25: Its lexical score; 0 where no word matched.
        cosine: How close in meaning; None where only words were compared.
        priors: Named additions for turns of a conversation.
        relevance: 0..1.
        turn: The turn, where it is one.
    """

    id: int
    noun: Noun
    bm25: float
    cosine: float | None
    priors: tuple[tuple[str, float], ...]
    relevance: float
    turn: Turn | None = None


def ranked(
    connection: Connection,
    parsed: ParsedQuery,
    filters: fulltext.Filters,
    meaning: Meaning | None,
    asked: AskedFor,
    limit: int = CANDIDATE_COUNT,
) -> tuple[list[Hit], int]:
    """Return what a query finds, best first, and how many match in all.

    Words and meaning are compared exactly for all candidates of either.

    Args:
        connection: A snapshot.
        parsed: The query.
        filters: What hits must be.
        meaning: The question's meaning; None to compare words alone.
        asked: What the question asks of a conversation.
        limit: So many candidates by words, and at most as many by meaning.
    """
    close: dict[int, Noun] = {}
    if meaning is not None and parsed.words:
        close = _close(connection, parsed, filters, meaning, min(limit, CLOSE_COUNT))
    lexical: list[fulltext.Candidate] = []
    total = 0
    if parsed.match:
        weights = ranking.COLUMN_WEIGHTS
        lexical, total = fulltext.candidates(
            connection, parsed.narrowed or parsed.match, filters, weights, limit, also=list(close)
        )
    bm25 = {row.id: row.bm25 for row in lexical}
    nouns = {row.id: row.noun for row in lexical} | close
    hits = _scored(connection, nouns, bm25, meaning, asked)
    return hits, max(total, len(hits))


def folded(
    connection: Connection,
    parsed: ParsedQuery,
    filters: fulltext.Filters,
    meaning: Meaning | None,
    asked: AskedFor,
    wanted: int,
) -> tuple[dict[int, Hit], int]:
    """Return what a query finds, best first, each entity once however much of it matches.

    Returns:
        The best hit under the id of its item or entity, and how many texts match in all; more
        candidates are looked at while one entity's many observations keep others out.
    """
    limit = wanted
    while True:
        hits, total = ranked(connection, parsed, filters, meaning, asked, limit)
        owners = graph_rows.entities_of_observations(
            connection, [hit.id for hit in hits if hit.noun is Noun.OBSERVATION]
        )
        best: dict[int, Hit] = {}
        for hit in hits:
            best.setdefault(owners.get(hit.id, hit.id), hit)
        if len(best) >= wanted or len(hits) < limit or limit >= MOST_CANDIDATES:
            return best, total
        limit *= 8


def readable(connection: Connection, text: str, *, typing: bool = False) -> ParsedQuery:
    """Read a query so that looking it up costs the same in a large memory as in a small one.

    Texts with its rarest words are looked up, until about `MOST_MATCHES` match; the other words
    count for their score. A word that stands in more than `MOST_SCORED` texts tells nothing (bm25
    weighs it near zero) and is passed over, unless all do.
    """
    parsed = parse(text, typing=typing)
    words = tuple(dict.fromkeys((*parsed.words, *parsed.parts)))
    if len(words) < 2:
        return parsed
    counts = fulltext.document_counts(connection, words)
    rarest: set[str] = set()
    total = 0
    for word in sorted(words, key=lambda word: counts[word]):
        total += counts[word]
        if total <= MOST_MATCHES or not rarest:
            rarest.add(word)
    telling = rarest | {word for word in words if counts[word] <= MOST_SCORED}
    if len(rarest) == len(words):
        return parsed
    scored = parse(text, typing=typing, without=frozenset(words) - telling)
    if len(rarest) == len(telling):
        return scored
    looked_up = parse(text, typing=typing, without=frozenset(words) - rarest)
    return replace(scored, narrowed=f"({looked_up.match}) AND ({scored.match})")


def _close(
    connection: Connection,
    parsed: ParsedQuery,
    filters: fulltext.Filters,
    meaning: Meaning,
    limit: int,
) -> dict[int, Noun]:
    """Return the documents closest in meaning that pass the filters and have nothing unwanted."""
    count = limit * 2
    while True:
        ids = meaning.nearest(count)
        passing = fulltext.passing(connection, filters, ids)
        if len(passing) >= limit or len(ids) < count:
            break
        count *= 8
    if parsed.unwanted:
        unwanted = fulltext.matching(connection, parsed.unwanted, list(passing))
        passing = {i: noun for i, noun in passing.items() if i not in unwanted}
    chosen = [document_id for document_id in ids if document_id in passing][:limit]
    return {document_id: passing[document_id] for document_id in chosen}


def _scored(
    connection: Connection,
    nouns: Mapping[int, Noun],
    bm25: Mapping[int, float],
    meaning: Meaning | None,
    asked: AskedFor,
) -> list[Hit]:
    turn_ids = [document_id for document_id, noun in nouns.items() if noun is Noun.TURN]
    turns = session_rows.get_turns(connection, turn_ids) if turn_ids else {}
    cosines: Mapping[int, float] = {}
    if meaning is not None:
        neighbours = session_rows.neighbours(connection, turn_ids) if turn_ids else []
        cosines = meaning.cosines(list(nouns), neighbours)
    best_bm25 = max(bm25.values(), default=0.0)
    relevances: dict[int, float] = {}
    priors: dict[int, tuple[tuple[str, float], ...]] = {}
    for document_id, noun in nouns.items():
        words = bm25.get(document_id, 0.0)
        cosine = cosines.get(document_id)
        least = LEAST_TURN_COSINE if noun is Noun.TURN else LEAST_COSINE
        if not words and (cosine is None or cosine < least):
            continue
        turn = turns.get(document_id)
        added = fusion.turn_priors(asked, turn) if turn else ()
        share = words / best_bm25 if best_bm25 > 0 else 0.0
        relevances[document_id] = fusion.relevance(
            share, cosine, added, knows_meaning=meaning is not None
        )
        priors[document_id] = added
    scored = [
        Hit(i, nouns[i], bm25.get(i, 0.0), cosines.get(i), priors[i], relevance, turns.get(i))
        for i, relevance in fusion.bounded(relevances).items()
    ]
    return sorted(scored, key=lambda hit: (-hit.relevance, hit.id))


def knowledge(
    connection: Connection,
    query: KnowledgeQuery,
    filters: fulltext.Filters,
    meaning: Meaning | None = None,
) -> KnowledgeResults:
    """Return the knowledge that answers a checked query, best first."""
    parsed = readable(connection, query.text)
    filters = replace(
        filters,
        scopes=filters.scopes or ((parsed.scope,) if parsed.scope else ()),
        tags=parsed.tags,
        kind=parsed.kind,
        before=parsed.before,
        after=parsed.after,
    )
    hits, total = ranked(connection, parsed, filters, meaning, understand(query.text, ()))
    facts = knowledge_rows.get_facts(connection, [hit.id for hit in hits])
    # The boosts are added to what is 1 for the best: else they would weigh more in weak results.
    best_relevance = max((hit.relevance for hit in hits), default=0.0) or 1.0
    scores = {
        hit.id: ranking.boosts(
            facts[hit.id], scope=query.scope, context_tags=query.context_tags
        ).applied_to(hit.relevance / best_relevance)
        for hit in hits
    }
    best = sorted(hits, key=lambda hit: (-scores[hit.id], hit.id))[: query.limit]
    shown = _shown(connection, parsed, best, query, best_relevance)
    return KnowledgeResults(shown, total, query.text)


def _explained(
    hit: Hit,
    item: ranking.Classified,
    query: KnowledgeQuery,
    best_relevance: float,
    words: tuple[str, ...] = (),
) -> Explanation:
    return ranking.explain(
        item,
        hit.bm25,
        hit.relevance / best_relevance,
        scope=query.scope,
        context_tags=query.context_tags,
        words=words,
        cosine=hit.cosine,
    )


def _shown(
    connection: Connection,
    parsed: ParsedQuery,
    hits: Sequence[Hit],
    query: KnowledgeQuery,
    best_relevance: float,
) -> tuple[KnowledgeHit, ...]:
    """Fetch the few items that are shown, and name the words that matched."""
    ids = [hit.id for hit in hits]
    items = knowledge_rows.get_many(connection, ids)
    marked: dict[int, fulltext.Marked] = {}
    if query.explain and parsed.match:
        marked = fulltext.marked(connection, parsed.match, ids)
    shown = []
    for hit in hits:
        texts = marked.get(hit.id)
        words = matched_words((texts.title, texts.snippet)) if texts else ()
        explanation = _explained(hit, items[hit.id], query, best_relevance, words)
        shown.append(KnowledgeHit(items[hit.id], ranking.score(explanation), explanation))
    return tuple(shown)


def entries(
    connection: Connection,
    query: EntryQuery,
    session_id: int | None,
    asked: AskedFor,
    meaning: Meaning | None = None,
) -> tuple[list[Entry], int]:
    """Return everything remembered that answers a checked query, best first, and how many."""
    parsed = readable(connection, query.text)
    filters = fulltext.Filters(
        nouns=(Noun.KNOWLEDGE, Noun.TURN, Noun.OBSERVATION, Noun.ENTITY),
        scopes=(parsed.scope,) if parsed.scope else (),
        tags=(*parsed.tags, *query.tags),
        kind=parsed.kind,
        before=parsed.before,
        after=parsed.after,
        session_id=session_id,
        types=query.types,
    )
    ranked_hits, _ = ranked(connection, parsed, filters, meaning, asked, ENTRY_CANDIDATE_COUNT)
    hits = [hit for hit in ranked_hits if hit.relevance >= query.min_relevance]
    shown = hits[: query.limit]
    marked: dict[int, fulltext.Marked] = {}
    if query.explain and shown and parsed.match:
        marked = fulltext.marked(connection, parsed.match, [hit.id for hit in shown])
    texts = found_texts(connection, shown)
    return [
        _entry(hit, texts[hit.id], marked.get(hit.id)) for hit in shown if hit.id in texts
    ], len(hits)


def found_texts(
    connection: Connection, hits: Sequence[Hit]
) -> dict[int, Turn | KnowledgeItem | GraphText]:
    """Return what the hits stand for."""
    texts: dict[int, Turn | KnowledgeItem | GraphText] = {
        hit.id: hit.turn for hit in hits if hit.turn is not None
    }
    texts.update(
        knowledge_rows.get_many(connection, [hit.id for hit in hits if hit.noun is Noun.KNOWLEDGE])
    )
    graph_nouns = (Noun.ENTITY, Noun.OBSERVATION)
    texts.update(graph_rows.texts(connection, [hit.id for hit in hits if hit.noun in graph_nouns]))
    return texts


def _entry(
    hit: Hit, text: Turn | KnowledgeItem | GraphText, marked: fulltext.Marked | None
) -> Entry:
    words = matched_words((marked.title, marked.snippet)) if marked else ()
    explanation = Explanation(
        sentence=ranking.found_sentence(words, hit.cosine, [name for name, _ in hit.priors]),
        words=words,
        bm25=hit.bm25,
        relevance=hit.relevance,
        cosine=hit.cosine,
        priors=hit.priors,
    )
    if isinstance(text, Turn):
        return Entry(
            id=hit.id,
            uuid=text.uuid,
            type="question" if text.role is Role.USER else "answer",
            title=text.session_title,
            content=text.text,
            tags=(),
            session_uuid=text.session_uuid,
            at=text.at,
            relevance=hit.relevance,
            explanation=explanation,
            metadata=text.metadata,
        )
    if isinstance(text, KnowledgeItem):
        return Entry(
            id=hit.id,
            uuid=text.uuid,
            type=text.category.value,
            title=text.title,
            content=text.content,
            tags=text.tags,
            session_uuid="",
            at=text.updated_at,
            relevance=hit.relevance,
            explanation=explanation,
        )
    return Entry(
        id=hit.id,
        uuid=text.uuid,
        type="entity",
        title=text.name,
        content=text.content,
        tags=(),
        session_uuid="",
        at=text.updated_at,
        relevance=hit.relevance,
        explanation=explanation,
    )
