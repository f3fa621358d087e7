"""The full-text index: candidates for an FTS5 expression, and what of a text matched."""

import json
import time
from array import array
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from weakref import WeakKeyDictionary

import apsw

from kmem_desktop.domain.changes import Noun
from kmem_desktop.store.connection import Connection

# Private-use characters mark what matched; text cannot hold them by accident and keep a meaning.
MARK_START = "\ue000"
MARK_END = "\ue001"
SNIPPET_TOKENS = 36
TOKENIZER_ARGUMENTS = ("unicode61", "remove_diacritics", "2")
TOKENIZER = " ".join(("porter", *TOKENIZER_ARGUMENTS))
MOST_MARKED = 200_000
"""What stands further behind in a text is found, but not marked."""
LEAST_REMEMBERED = 1_000
REMEMBERED_S = 60.0
_frequent: WeakKeyDictionary[Connection, dict[str, tuple[int, float]]] = WeakKeyDictionary()
"""Of each connection: frequent words with in how many documents they stood, and when."""
LEAST_EXAMINED = 200
"""At least so many of the best matches are looked up and filtered."""
_NOUNS = {noun.value: noun for noun in Noun}


@dataclass(frozen=True, slots=True)
class Filters:
    """What candidates must be, besides matching.

    Attributes:
        nouns: Which nouns; empty for all.
        scopes: Which scopes; empty for all.
        tags: All of these tags, lower-case.
        kind: A category or an entity's type, lower-case; None for any.
        before: Changed before.
        after: Changed at or after.
        category: Knowledge of this category only.
        min_confidence: Knowledge of at least this confidence only.
        session_id: Turns of this session only.
        types: Categories of knowledge, or question and answer for turns; empty for all.
    """

    nouns: tuple[Noun, ...] = ()
    scopes: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    kind: str | None = None
    before: datetime | None = None
    after: datetime | None = None
    category: str | None = None
    min_confidence: float = 0.0
    session_id: int | None = None
    types: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Candidate:
    """A document that matches.

    Attributes:
        id: The document's id.
        noun: What it is.
        bm25: Its lexical score; larger is better.
    """

    id: int
    noun: Noun
    bm25: float


@dataclass(frozen=True, slots=True)
class Marked:
    """A document's title and a piece of its body, with what matched between the mark characters."""

    title: str
    snippet: str


def candidates(
    connection: Connection,
    match: str,
    filters: Filters,
    weights: Sequence[float],
    limit: int,
    also: Sequence[int] = (),
) -> tuple[list[Candidate], int]:
    """Return the best matches for an FTS5 expression, best first, and how many match in all.

    The index alone says which are best; only those are looked up and filtered, for looking up every
    match costs four times as much as finding it.

    Args:
        connection: A snapshot.
        match: The expression.
        filters: What they must be.
        weights: The columns' weights.
        limit: At most this many.
        also: Documents whose score is wanted too, where they match; they follow the best.

    Returns:
        The candidates, and how many match and pass: exactly where at most
        `LEAST_EXAMINED` match,
        else by the share of those that were looked up.
    """
    examined = max(limit, LEAST_EXAMINED)
    while True:
        scores, best, total = _scores(connection, match, weights, examined, also)
        nouns = passing(connection, filters, list(scores))
        passed = [document_id for document_id in best if document_id in nouns]
        if len(passed) >= limit or len(best) >= total:
            break
        # As many as the share that passed lets one expect: to keep more in order is dear.
        expected = round(1.5 * examined * limit / (len(passed) + 1))
        examined = min(max(2 * examined, expected), 8 * examined)
    chosen = dict.fromkeys([*passed[:limit], *(i for i in also if i in scores and i in nouns)])
    hits = [Candidate(i, nouns[i], scores[i]) for i in chosen]
    in_all = round(total * len(passed) / len(best)) if best else 0
    return sorted(hits, key=lambda hit: (-hit.bm25, hit.id)), in_all


def _scores(
    connection: Connection, match: str, weights: Sequence[float], limit: int, also: Sequence[int]
) -> tuple[dict[int, float], list[int], int]:
    """Return scores by document, those of the best, and how many match, in one scan.

    Asked for by its rowid, each match of `also` would begin the scan anew.
    """
    marks = ", ?" * len(weights)
    query = (
        f"WITH hits AS MATERIALIZED (SELECT rowid AS id, -bm25(documents_index{marks}) AS score"
        " FROM documents_index WHERE documents_index MATCH ?)"
        " SELECT * FROM (SELECT id, score, (SELECT count(*) FROM hits) FROM hits"
        " ORDER BY score DESC, id LIMIT ?)"
    )
    bound = [*weights, match, limit]
    if also:
        query += (
            " UNION ALL SELECT id, score, 0 FROM hits WHERE id IN (SELECT value FROM json_each(?))"
        )
        bound.append(json.dumps(list(also)))
    rows: list[tuple[Any, ...]] = connection.execute(query, bound).fetchall()
    best = [row[0] for row in rows if row[2]]
    return {row[0]: row[1] for row in rows}, best, rows[0][2] if rows else 0


def document_counts(connection: Connection, words: Iterable[str]) -> dict[str, int]:
    """Return for each word in how many documents it, or a form of it, stands.

    Counting a frequent word reads all its places, so the counts of such are remembered for a while.
    """
    stems = {word: _stems(connection, word) for word in words}
    remembered = _frequent.setdefault(connection, {})
    now = time.monotonic()
    counts = {
        stem: remembered[stem][0]
        for found in stems.values()
        for stem in found
        if stem in remembered and now - remembered[stem][1] < REMEMBERED_S
    }
    unknown = json.dumps([stem for word in stems for stem in stems[word] if stem not in counts])
    query = "SELECT term, doc FROM documents_words WHERE term IN (SELECT value FROM json_each(?))"
    for stem, count in connection.execute(query, (unknown,)):
        counts[stem] = count
        if count >= LEAST_REMEMBERED:
            remembered[stem] = (count, now)
    return {
        word: min((counts.get(stem, 0) for stem in found), default=0)
        for word, found in stems.items()
    }


def _stems(connection: Connection, word: str) -> list[str]:
    tokenizer = connection.fts5_tokenizer("porter", list(TOKENIZER_ARGUMENTS))
    groups = tokenizer(word.encode(), apsw.FTS5_TOKENIZE_QUERY, None, include_offsets=False)
    return [str(stem) for group in groups for stem in group]


def matching(connection: Connection, match: str, ids: Sequence[int]) -> set[int]:
    """Return those of a few documents that match an FTS5 expression."""
    query = (
        "SELECT rowid FROM documents_index"
        " WHERE documents_index MATCH ? AND rowid IN (SELECT value FROM json_each(?))"
    )
    return {row[0] for row in connection.execute(query, (match, json.dumps(list(ids))))}


def passing(connection: Connection, filters: Filters, ids: Sequence[int]) -> dict[int, Noun]:
    """Return those of `ids` that pass the filters, with their noun."""
    conditions, values = _conditions(filters)
    # CROSS: begin with the few ids. The planner would begin with an index of all of a noun.
    query = (
        "SELECT d.id, d.noun FROM json_each(?) AS wanted"
        f" CROSS JOIN documents AS d ON d.id = wanted.value WHERE 1{conditions}"
    )
    rows = connection.execute(query, (json.dumps(list(ids)), *values))
    return {row[0]: _NOUNS[row[1]] for row in rows}


def newest(connection: Connection, filters: Filters) -> "array[int]":
    """Return the ids of all documents that pass the filters, last changed first (type "q").

    They come as one JSON text: fetched row by row, 100,000 ids would keep the interpreter, and with
    it the window, busy for a third of a second.
    """
    conditions, values = _conditions(filters)
    query = (
        "SELECT json_group_array(id) FROM (SELECT d.id AS id FROM documents AS d"
        f" WHERE 1{conditions} ORDER BY d.updated_at DESC, d.id DESC)"
    )
    return array("q", json.loads(connection.execute(query, values).get))


def count_by_noun(connection: Connection, filters: Filters) -> dict[Noun, int]:
    """Return how many documents of each noun pass the filters."""
    conditions, values = _conditions(filters)
    query = f"SELECT d.noun, count(*) FROM documents AS d WHERE 1{conditions} GROUP BY d.noun"
    return {Noun(row[0]): row[1] for row in connection.execute(query, values)}


def marked(connection: Connection, match: str, ids: Sequence[int]) -> dict[int, Marked]:
    """Return title and snippet of these documents with exactly the matching words marked."""
    query = (
        "SELECT id, title, substr(body, 1, ?) FROM documents"
        " WHERE id IN (SELECT value FROM json_each(?))"
    )
    rows = connection.execute(query, (MOST_MARKED, json.dumps(list(ids))))
    return marked_texts(match, {row[0]: (row[1], row[2]) for row in rows})


def marked_texts(match: str, texts: Mapping[int, tuple[str, str]]) -> dict[int, Marked]:
    """Return texts with the matching words marked; those that do not match are left out.

    They are put into an index of their own, in memory: asked of the index of all documents, a word
    that is still being typed would be looked up anew for each of them, 45 ms a row among 100,000.

    Args:
        match: The FTS5 expression.
        texts: Title and body under any number.
    """
    if not texts:
        return {}
    rows = ((key, title, body[:MOST_MARKED]) for key, (title, body) in texts.items())
    query = (
        "SELECT rowid, highlight(texts, 0, ?1, ?2), snippet(texts, 1, ?1, ?2, '…', ?3)"
        " FROM texts WHERE texts MATCH ?4"
    )
    bench = Connection(":memory:")
    try:
        bench.execute(f"CREATE VIRTUAL TABLE texts USING fts5(title, body, tokenize='{TOKENIZER}')")
        with bench:
            bench.executemany("INSERT INTO texts (rowid, title, body) VALUES (?, ?, ?)", rows)
        values = (MARK_START, MARK_END, SNIPPET_TOKENS, match)
        return {row[0]: Marked(row[1], row[2]) for row in bench.execute(query, values)}
    finally:
        bench.close()


def refresh(connection: Connection) -> None:
    """Let a reader see which parts the index has now.

    It remembers them, looks again when it searches, but not when it checks the file: then it would
    miss parts that were removed since, and call the index corrupt.
    """
    connection.execute("SELECT rowid FROM documents_index WHERE documents_index MATCH 'a' LIMIT 1")


def is_sound(connection: Connection) -> bool:
    """Return whether the index says the same as the documents."""
    try:
        connection.execute(
            "INSERT INTO documents_index (documents_index, rank) VALUES ('integrity-check', 1)"
        )
    except Exception as error:
        if "malformed" in str(error) or "corrupt" in type(error).__name__.lower():
            return False
        raise
    return True


def _conditions(filters: Filters) -> tuple[str, list[Any]]:
    text = ""
    values: list[Any] = []

    def add(condition: str, *bound: Any) -> None:
        nonlocal text
        text += f" AND {condition}"
        values.extend(bound)

    if filters.nouns:
        marks = ", ".join("?" * len(filters.nouns))
        add(f"d.noun IN ({marks})", *(noun.value for noun in filters.nouns))
    if not filters.nouns or Noun.DIRECTIVE in filters.nouns:
        # What a person rejected is never found, and takes no place from what is.
        add("NOT EXISTS (SELECT 1 FROM directives WHERE id = d.id AND status = 'rejected')")
    if filters.scopes:
        add(f"d.scope IN ({', '.join('?' * len(filters.scopes))})", *filters.scopes)
    for tag in filters.tags:
        add("instr(' ' || lower(d.tags) || ' ', ?) > 0", f" {tag} ")
    if filters.kind is not None:
        add(
            "(d.noun = ? OR EXISTS (SELECT 1 FROM knowledge WHERE id = d.id AND category = ?)"
            " OR EXISTS (SELECT 1 FROM entities WHERE id = d.id AND lower(entity_type) = ?)"
            # An observation is found for the sake of its entity.
            " OR EXISTS (SELECT 1 FROM observations AS o JOIN entities AS e ON e.id = o.entity_id"
            " WHERE o.id = d.id AND ? IN ('entity', lower(e.entity_type))))",
            *[filters.kind] * 4,
        )
    if filters.before is not None:
        add("d.updated_at < ?", filters.before.isoformat())
    if filters.after is not None:
        add("d.updated_at >= ?", filters.after.isoformat())
    _add_entry_conditions(filters, add)
    if filters.category is not None or filters.min_confidence > 0:
        add(
            "EXISTS (SELECT 1 FROM knowledge WHERE id = d.id AND confidence >= ?"
            " AND (? IS NULL OR category = ?))",
            filters.min_confidence,
            filters.category,
            filters.category,
        )
    return text, values


def _add_entry_conditions(filters: Filters, add: Callable[..., None]) -> None:
    if filters.session_id is not None:
        add("d.id IN (SELECT id FROM turns WHERE session_id = ?)", filters.session_id)
    if filters.types:
        marks = ", ".join("?" * len(filters.types))
        add(
            f"coalesce((SELECT category FROM knowledge WHERE id = d.id),"
            " (SELECT CASE role WHEN 'user' THEN 'question' ELSE 'answer' END"
            f" FROM turns WHERE id = d.id), d.noun) IN ({marks})",
            *filters.types,
        )
