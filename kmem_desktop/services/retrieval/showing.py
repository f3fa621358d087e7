"""From hits to what is shown of them: items and entries, each with the reasons for it."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from kmem_desktop.domain.changes import Noun
from kmem_desktop.domain.found import Entry, Explanation
from kmem_desktop.domain.knowledge import KnowledgeHit, KnowledgeItem, KnowledgeQuery
from kmem_desktop.domain.sessions.conversations import Role, Turn
from kmem_desktop.search import ranking
from kmem_desktop.services.retrieval.hits import Hit, Ranking
from kmem_desktop.store import graph as graph_rows
from kmem_desktop.store import knowledge as knowledge_rows
from kmem_desktop.store.connection import Connection
from kmem_desktop.store.graph import GraphText
from kmem_desktop.store.sessions import relations

Words = Mapping[int, tuple[str, ...]]
"""Under a document's id the words of the question that it has."""


def item_explanation(
    hit: Hit,
    item: ranking.Classified,
    query: KnowledgeQuery,
    best_relevance: float,
    words: tuple[str, ...] = (),
) -> Explanation:
    """Return each factor of the score of a piece of knowledge."""
    return ranking.explain(
        item,
        hit.bm25,
        hit.relevance / best_relevance,
        scope=query.scope,
        context_tags=query.context_tags,
        words=words,
        cosine=hit.cosine,
    )


def explanation(hit: Hit, words: tuple[str, ...] = ()) -> Explanation:
    """Return each factor of the score of an entry."""
    return Explanation(
        sentence=ranking.found_sentence(words, hit.cosine, [name for name, _ in hit.priors]),
        words=words,
        bm25=hit.bm25,
        relevance=hit.relevance,
        cosine=hit.cosine,
        priors=hit.priors,
    )


def knowledge_hits(
    connection: Connection,
    found: Ranking,
    hits: Sequence[Hit],
    query: KnowledgeQuery,
    words: Words,
) -> tuple[KnowledgeHit, ...]:
    """Fetch the few items that are shown."""
    items = knowledge_rows.get_many(connection, [hit.id for hit in hits])
    notes = relations.notes_of(connection, list(items))
    shown = []
    for hit in hits:
        reasons = item_explanation(
            hit, items[hit.id], query, found.best_relevance, words.get(hit.id, ())
        )
        score = ranking.score(reasons)
        shown.append(KnowledgeHit(items[hit.id], score, reasons, notes.get(hit.id, ())))
    return tuple(shown)


def entries(connection: Connection, hits: Sequence[Hit], words: Words) -> list[Entry]:
    """Fetch the few texts of any kind that are shown."""
    texts = _texts(connection, hits)
    notes = relations.notes_of(connection, list(texts))
    shown = [_entry(hit, texts[hit.id], words.get(hit.id, ())) for hit in hits if hit.id in texts]
    return [replace(entry, notes=notes.get(entry.id, ())) for entry in shown]


def _texts(
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


def _entry(hit: Hit, text: Turn | KnowledgeItem | GraphText, words: tuple[str, ...]) -> Entry:
    reasons = explanation(hit, words)
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
            explanation=reasons,
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
            explanation=reasons,
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
        explanation=reasons,
    )
