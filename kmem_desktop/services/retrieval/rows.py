"""From ids to the rows of the window's lists: the text of any noun, what scored in it marked."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from kmem_desktop.domain.changes import Noun
from kmem_desktop.domain.found import Explanation, Row
from kmem_desktop.domain.knowledge import KnowledgeItem
from kmem_desktop.domain.rule_library import StoredDirective
from kmem_desktop.domain.rules import RuleStatus
from kmem_desktop.search import ranking
from kmem_desktop.services import found
from kmem_desktop.services.rules.explaining import severity_words
from kmem_desktop.services.sessions.browsing import speaker_name
from kmem_desktop.store import fulltext
from kmem_desktop.store import graph as graph_rows
from kmem_desktop.store import knowledge as knowledge_rows
from kmem_desktop.store.connection import Connection
from kmem_desktop.store.rules import library as rule_rows
from kmem_desktop.store.sessions import found_turns
from kmem_desktop.store.sessions.found_turns import TurnRow
from kmem_desktop.text import one_line

SNIPPET_LENGTH = 240

Texts = dict[int, tuple[str, str]]
"""Under a row's id what is marked in its title and in its snippet."""


def rows_of(
    connection: Connection,
    ids: Sequence[int],
    match: str = "",
    scores: Mapping[int, Explanation] | None = None,
) -> list[Row]:
    """Return the rows with these ids, in their order; those that were deleted are left out.

    Args:
        connection: A snapshot.
        ids: Documents, of any noun but observations.
        match: The FTS5 expression that found them; empty to mark nothing.
        scores: Their scores.
    """
    rows: dict[int, Row] = {}
    texts: Texts = {}
    for item in knowledge_rows.get_many(connection, ids).values():
        rows[item.id] = _knowledge_row(item)
        texts[item.id] = (item.title, item.content)
    entities = _entity_rows(connection, [row_id for row_id in ids if row_id not in rows])
    rows |= entities
    texts |= {row_id: (row.title, "") for row_id, row in entities.items()}
    _add_turns(connection, [row_id for row_id in ids if row_id not in rows], rows, texts)
    _add_directives(connection, [row_id for row_id in ids if row_id not in rows], rows, texts)
    if match:
        _mark(connection, match, rows, texts, scores or {})
    return [rows[row_id] for row_id in ids if row_id in rows]


def _beginning(text: str) -> str:
    return one_line(text[: SNIPPET_LENGTH * 2])[:SNIPPET_LENGTH]


def _knowledge_row(item: KnowledgeItem) -> Row:
    return Row(
        id=item.id,
        noun=Noun.KNOWLEDGE,
        title=item.title,
        snippet=_beginning(item.content),
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
    ) in graph_rows.row_facts(connection, ids) if ids else ():
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


def _add_turns(
    connection: Connection, ids: Sequence[int], rows: dict[int, Row], texts: Texts
) -> None:
    turns = found_turns.get(connection, ids, fulltext.MOST_MARKED) if ids else {}
    for row_id, turn in turns.items():
        rows[row_id] = _turn_row(row_id, turn)
        texts[row_id] = (rows[row_id].title, turn.text)


def _turn_row(row_id: int, turn: TurnRow) -> Row:
    place = turn.place
    return Row(
        id=row_id,
        noun=Noun.TURN,
        title=one_line(place.session_title),
        snippet=_beginning(turn.text),
        kind=one_line(speaker_name(turn.role, turn.speaker, place.client)),
        scope=place.scope,
        detail=f"turn {place.position + 1:,} of {place.entry_count:,}",
        stored_by=place.client,
        updated_at=turn.at,
    )


def _add_directives(
    connection: Connection, ids: Sequence[int], rows: dict[int, Row], texts: Texts
) -> None:
    directives = rule_rows.get_directives(connection, ids) if ids else {}
    for row_id, stored in directives.items():
        rows[row_id] = _directive_row(stored)
        texts[row_id] = (rows[row_id].title, _reason(stored))


def _reason(stored: StoredDirective) -> str:
    """Return what a directive says besides its words: why, else under which heading it stands."""
    return stored.directive.rationale or stored.directive.section.replace(" > ", ", ")


def _directive_row(stored: StoredDirective) -> Row:
    line = f", line {stored.directive.line}" if stored.directive.line else ""
    kind = "proposed rule" if stored.status is RuleStatus.PROPOSED else "rule"
    return Row(
        id=stored.id,
        noun=Noun.DIRECTIVE,
        # Without it a prohibition would read as a demand.
        title=one_line(f"{severity_words(stored.directive)} {stored.directive.text}"),
        snippet=_beginning(_reason(stored)),
        kind=kind,
        scope=stored.rule.scope,
        detail=f"{stored.rule.place}{line}",
        stored_by=stored.rule.stored_by,
        updated_at=stored.rule.updated_at,
    )


def _mark(
    connection: Connection,
    match: str,
    rows: dict[int, Row],
    texts: Texts,
    scores: Mapping[int, Explanation],
) -> None:
    """Mark exactly what scored, in place; an entity shows its best observation."""
    marked = fulltext.marked_texts(match, texts)
    owners = graph_rows.observations_of(
        connection, [row_id for row_id, row in rows.items() if row.noun is Noun.ENTITY]
    )
    snippets: dict[int, str] = {}
    for observation_id, own in fulltext.marked(connection, match, list(owners)).items():
        snippets.setdefault(owners[observation_id], own.snippet)
    for row_id, row in rows.items():
        found_here = marked.get(row_id)
        rows[row_id] = _marked_row(
            row,
            found_here.title if found_here else row.title,
            snippets.get(row_id, found_here.snippet if found_here else ""),
            scores.get(row_id),
        )


def _marked_row(row: Row, title: str, snippet: str, score: Explanation | None) -> Row:
    plain_title, title_marks = found.marked_ranges(one_line(title))
    plain_snippet, snippet_marks = found.shortened(
        *found.marked_ranges(one_line(snippet)), SNIPPET_LENGTH * 2
    )
    words = found.matched_words((title, snippet))
    explanation = None
    if score is not None:
        names = [name for name, _ in score.priors]
        sentence = ranking.found_sentence(words, score.cosine, names)
        explanation = replace(score, sentence=sentence, words=words)
    return replace(
        row,
        title=plain_title,
        snippet=plain_snippet or row.snippet,
        title_marks=title_marks,
        snippet_marks=snippet_marks,
        explanation=explanation,
    )
