"""From a query to ranked hits on one snapshot: parse, look up, rank, and say why."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from kmem_desktop.domain.changes import Noun
from kmem_desktop.domain.found import Entry, EntryQuery
from kmem_desktop.domain.knowledge import GLOBAL_SCOPE, KnowledgeQuery, KnowledgeResults
from kmem_desktop.search import fusion, ranking
from kmem_desktop.search.conversation import AskedFor, understand
from kmem_desktop.search.query import ParsedQuery, parse
from kmem_desktop.services.embedding import Meaning
from kmem_desktop.services.retrieval import showing
from kmem_desktop.services.retrieval.hits import Breadth, Hit, Ranking, Reading
from kmem_desktop.store import fulltext
from kmem_desktop.store import graph as graph_rows
from kmem_desktop.store import knowledge as knowledge_rows
from kmem_desktop.store.connection import Connection
from kmem_desktop.store.sessions import conversations as session_rows

CANDIDATE_COUNT = 60
ENTRY_CANDIDATE_COUNT = 150
CLOSE_COUNT = 150
"""At most so many candidates come from meaning alone."""
MOST_CANDIDATES = 20_000
MOST_MATCHES = 1_000
ENOUGH_MATCHES = 500
MOST_SCORED = 30_000
"""How many texts may have a word that still tells something."""
LEAST_COSINE = 0.3
"""Without a word in common, less than this is no likeness."""
_LEAST_COSINES = {Noun.TURN: 0.2, Noun.DIRECTIVE: 0.1}
"""A turn is read with its neighbours, and what answers a question there often says it in other
words; which directives are near enough to a task is for their own ranking to say."""


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


KNOWLEDGE_BREADTH = Breadth(CANDIDATE_COUNT, CANDIDATE_COUNT)
ENTRY_BREADTH = Breadth(ENTRY_CANDIDATE_COUNT, CLOSE_COUNT)


def ranked(
    connection: Connection,
    parsed: ParsedQuery,
    filters: fulltext.Filters,
    meaning: Meaning | None,
    asked: AskedFor,
    breadth: Breadth = KNOWLEDGE_BREADTH,
) -> tuple[list[Hit], int]:
    """Return what a query finds, best first, and how many match in all.

    Words and meaning are compared exactly for all candidates of either.

    Args:
        connection: A snapshot.
        parsed: The query.
        filters: What hits must be.
        meaning: The question's meaning; None to compare words alone.
        asked: What the question asks of a conversation.
        breadth: How much is compared.
    """
    close: dict[int, Noun] = {}
    if meaning is not None and parsed.words:
        close = _close(connection, parsed, filters, meaning, breadth.close)
    if breadth.expected and parsed.words:
        close |= allowed(connection, parsed, filters, breadth.expected)
    lexical: list[fulltext.Candidate] = []
    total = 0
    if parsed.match:
        is_rules = filters.nouns == (Noun.DIRECTIVE,)
        weights = ranking.RULE_COLUMN_WEIGHTS if is_rules else ranking.COLUMN_WEIGHTS
        lexical, total = fulltext.candidates(
            connection,
            parsed.narrowed or parsed.match,
            filters,
            weights,
            breadth.words,
            also=list(close),
        )
    bm25 = {row.id: row.bm25 for row in lexical}
    nouns = {row.id: row.noun for row in lexical} | close
    hits = _scored(connection, nouns, bm25, meaning, asked, breadth)
    return hits, max(total, len(hits))


def folded(
    connection: Connection,
    parsed: ParsedQuery,
    filters: fulltext.Filters,
    meaning: Meaning | None,
    asked: AskedFor,
    wanted: int,
    *,
    least_cosine: float | None = None,
) -> tuple[dict[int, Hit], int]:
    """Return what a query finds, best first, each entity once however much of it matches.

    Returns:
        The best hit under the id of its item or entity, and how many texts match in all; more
        candidates are looked at while one entity's many observations keep others out.
    """
    limit = wanted
    while True:
        breadth = Breadth(limit, min(limit, CLOSE_COUNT), least_cosine=least_cosine)
        hits, total = ranked(connection, parsed, filters, meaning, asked, breadth)
        best = folded_hits(connection, hits)
        if len(best) >= wanted or len(hits) < limit or limit >= MOST_CANDIDATES:
            return best, total
        limit *= 8


def folded_hits(connection: Connection, hits: Sequence[Hit]) -> dict[int, Hit]:
    """Return hits under the id of their item or entity, each entity once, with its best."""
    owners = graph_rows.entities_of_observations(
        connection, [hit.id for hit in hits if hit.noun is Noun.OBSERVATION]
    )
    best: dict[int, Hit] = {}
    for hit in hits:
        best.setdefault(owners.get(hit.id, hit.id), hit)
    return best


def passages(hits: Mapping[int, Hit], kept: Collection[int] = ()) -> dict[int, Hit]:
    """Return hits with each passage of a conversation once: its turn that is found best.

    A turn is found by the words around it too, so that one mention brings in five turns. Turns
    belong together while each stands no further from the next one.

    Args:
        hits: Under the id that is shown, best first.
        kept: Turns that stay wherever they stand.
    """
    taken: set[tuple[str, int]] = set()
    shown: dict[int, Hit] = {}
    for shown_id, hit in hits.items():
        if hit.turn is not None:
            here, around = hit.turn.position, session_rows.NEIGHBOURS
            is_beside = (hit.turn.session_uuid, here) in taken
            near = range(here - around, here + around + 1)
            taken.update((hit.turn.session_uuid, position) for position in near)
            if is_beside and shown_id not in kept:
                continue
        shown[shown_id] = hit
    return shown


def readable(connection: Connection, text: str, *, typing: bool = False) -> ParsedQuery:
    """Return a query as it is looked up."""
    return reading(connection, text, typing=typing).parsed


def reading(connection: Connection, text: str, *, typing: bool = False) -> Reading:
    """Read a query so that looking it up costs the same in a large memory as in a small one.

    Texts with its rarest words are looked up, until about `MOST_MATCHES` match; the other words
    count for their score, and so does one that is still being typed where the finished ones find
    `ENOUGH_MATCHES`. A word that stands in more than `MOST_SCORED` texts tells nothing (bm25 weighs
    it near zero) and is passed over, unless all do.
    """
    parsed = parse(text, typing=typing)
    words = tuple(dict.fromkeys((*parsed.words, *parsed.parts)))
    every = frozenset(words)
    if len(words) < 2:
        return Reading(parsed, words, every, every)
    counts = fulltext.document_counts(connection, words)
    rarest: set[str] = set()
    total = 0
    for word in sorted(words, key=lambda word: counts[word]):
        total += counts[word]
        if total <= MOST_MATCHES or total == counts[word]:  # a word that nothing has finds nothing
            rarest.add(word)
    finished = sum(counts[word] for word in rarest if word != parsed.begun)
    is_enough = bool(parsed.begun) and finished >= ENOUGH_MATCHES
    if len(rarest) == len(words) and not is_enough:
        return Reading(parsed, words, every, every)
    telling = frozenset(rarest | {word for word in words if counts[word] <= MOST_SCORED})
    scored = parse(text, typing=typing, without=every - telling)
    if is_enough or len(rarest) < len(telling):
        looked_up = parse(text, typing=typing and not is_enough, without=every - rarest)
        if looked_up.match != scored.match:
            scored = replace(scored, narrowed=f"({looked_up.match}) AND ({scored.match})")
    return Reading(scored, words, frozenset(rarest), telling)


def allowed(
    connection: Connection,
    parsed: ParsedQuery,
    filters: fulltext.Filters,
    document_ids: Sequence[int],
) -> dict[int, Noun]:
    """Return those documents that pass the filters and have nothing unwanted."""
    passing = fulltext.passing(connection, filters, document_ids)
    if parsed.unwanted:
        unwanted = fulltext.matching(connection, parsed.unwanted, list(passing))
        passing = {i: noun for i, noun in passing.items() if i not in unwanted}
    return passing


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
        passing = allowed(connection, parsed, filters, ids)
        if len(passing) >= limit or len(ids) < count:
            break
        count *= 8
    chosen = [document_id for document_id in ids if document_id in passing][:limit]
    return {document_id: passing[document_id] for document_id in chosen}


def closeness(
    connection: Connection, nouns: Mapping[int, Noun], meaning: Meaning | None
) -> dict[int, float]:
    """Return how close in meaning documents are; those without a vector are left out."""
    if meaning is None:
        return {}
    turn_ids = [document_id for document_id, noun in nouns.items() if noun is Noun.TURN]
    neighbours = session_rows.neighbours(connection, turn_ids) if turn_ids else []
    return meaning.cosines(list(nouns), neighbours)


def least_cosine(noun: Noun, breadth: Breadth) -> float:
    """Return how close a text without a word in common must be to be found."""
    if breadth.least_cosine is not None:
        return breadth.least_cosine
    return _LEAST_COSINES.get(noun, LEAST_COSINE)


def _scored(
    connection: Connection,
    nouns: Mapping[int, Noun],
    bm25: Mapping[int, float],
    meaning: Meaning | None,
    asked: AskedFor,
    breadth: Breadth,
) -> list[Hit]:
    turn_ids = [document_id for document_id, noun in nouns.items() if noun is Noun.TURN]
    turns = session_rows.get_turns(connection, turn_ids) if turn_ids else {}
    cosines = closeness(connection, nouns, meaning)
    best_bm25 = max(bm25.values(), default=0.0)
    relevances: dict[int, float] = {}
    priors: dict[int, tuple[tuple[str, float], ...]] = {}
    for document_id, noun in nouns.items():
        words = bm25.get(document_id, 0.0)
        cosine = cosines.get(document_id)
        if not words and (cosine is None or cosine < least_cosine(noun, breadth)):
            continue
        turn = turns.get(document_id)
        if turn is None and noun is Noun.TURN:  # removed: its text is about to leave the index
            continue
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
    found = rank_knowledge(connection, query, filters, meaning)
    best = list(found.hits.values())[: query.limit]
    words = _matched(connection, found, best) if query.explain else {}
    shown = showing.knowledge_hits(connection, found, best, query, words)
    return KnowledgeResults(shown, found.total, query.text)


def rank_knowledge(
    connection: Connection,
    query: KnowledgeQuery,
    filters: fulltext.Filters,
    meaning: Meaning | None,
    breadth: Breadth = KNOWLEDGE_BREADTH,
) -> Ranking:
    """Return all knowledge that a checked query finds, best first."""
    read = reading(connection, query.text)
    parsed = read.parsed
    filters = replace(
        filters,
        scopes=filters.scopes or ((parsed.scope,) if parsed.scope else ()),
        tags=parsed.tags,
        kind=parsed.kind,
        before=parsed.before,
        after=parsed.after,
    )
    filters = breadth.applied_to(filters)
    asked = understand(query.text, ())
    hits, total = ranked(connection, parsed, filters, meaning, asked, breadth)
    facts = knowledge_rows.get_facts(connection, [hit.id for hit in hits])
    # The boosts are added to what is 1 for the best: else they would weigh more in weak results.
    best_relevance = max((hit.relevance for hit in hits), default=0.0) or 1.0
    scores = {
        hit.id: ranking.boosts(
            facts[hit.id], scope=query.scope, context_tags=query.context_tags
        ).applied_to(hit.relevance / best_relevance)
        for hit in hits
    }
    ordered = sorted(hits, key=lambda hit: (-scores[hit.id], hit.id))
    by_id = {hit.id: hit for hit in ordered}
    return Ranking(read, filters, by_id, scores, total, best_relevance)


def entries(
    connection: Connection,
    query: EntryQuery,
    session_id: int | None,
    asked: AskedFor,
    meaning: Meaning | None = None,
) -> tuple[list[Entry], int]:
    """Return everything remembered that answers a checked query, best first, and how many."""
    found = rank_entries(connection, query, session_id, asked, meaning)
    hits = [hit for hit in found.hits.values() if hit.relevance >= query.min_relevance]
    shown = hits[: query.limit]
    words = _matched(connection, found, shown) if query.explain else {}
    return showing.entries(connection, shown, words), len(hits)


def _matched(
    connection: Connection, found: Ranking, hits: Sequence[Hit]
) -> dict[int, tuple[str, ...]]:
    """Return for each hit the words that matched."""
    if not hits or not found.reading.parsed.match:
        return {}
    marked = fulltext.marked(connection, found.reading.parsed.match, [hit.id for hit in hits])
    return {
        document_id: matched_words((texts.title, texts.snippet))
        for document_id, texts in marked.items()
    }


def rank_entries(
    connection: Connection,
    query: EntryQuery,
    session_id: int | None,
    asked: AskedFor,
    meaning: Meaning | None,
    breadth: Breadth = ENTRY_BREADTH,
) -> Ranking:
    """Return everything that a checked query finds, best first, however little relevant."""
    read = reading(connection, query.text)
    parsed = read.parsed
    scopes = (query.scope, GLOBAL_SCOPE) if query.scope else ()
    filters = fulltext.Filters(
        nouns=(Noun.KNOWLEDGE, Noun.TURN, Noun.OBSERVATION, Noun.ENTITY),
        scopes=scopes or ((parsed.scope,) if parsed.scope else ()),
        tags=(*parsed.tags, *query.tags),
        kind=parsed.kind,
        before=parsed.before,
        after=parsed.after,
        session_id=session_id,
        types=query.types,
    )
    filters = breadth.applied_to(filters)
    hits, total = ranked(connection, parsed, filters, meaning, asked, breadth)
    by_id = {hit.id: hit for hit in hits}
    scores = {hit.id: hit.relevance for hit in hits}
    return Ranking(read, filters, by_id, scores, total, hits[0].relevance if hits else 1.0)
