"""What was expected in an answer: finding it by its id, and which filter keeps it out."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from datetime import datetime

from kmem_desktop.domain.absence import Cause, ExpectedItem, Reason
from kmem_desktop.domain.changes import Action, HistoryEntry, Noun
from kmem_desktop.errors import NotFoundError
from kmem_desktop.services.retrieval.comparing import day, listed, quoted_words
from kmem_desktop.store import fulltext
from kmem_desktop.store import graph as graph_rows
from kmem_desktop.store import history as history_rows
from kmem_desktop.store.connection import Connection
from kmem_desktop.store.retrieval import identities
from kmem_desktop.store.retrieval.identities import Identity
from kmem_desktop.store.sessions import conversations as session_rows

LARGEST_ID = 2**63 - 1
MOST_OBSERVATIONS = 1_000
"""An entity is looked for by at most so many of its observations."""
_NOUN_WORDS = {
    Noun.KNOWLEDGE: "knowledge",
    Noun.ENTITY: "an entity",
    Noun.OBSERVATION: "an observation",
    Noun.TURN: "a turn of a conversation",
    Noun.DIRECTIVE: "a directive of the rules",
}
_PLACE_WORDS = {
    Noun.KNOWLEDGE: "knowledge",
    Noun.ENTITY: "entities",
    Noun.OBSERVATION: "observations",
    Noun.TURN: "turns",
    Noun.DIRECTIVE: "directives",
}


@dataclass(frozen=True, slots=True)
class Target:
    """What is looked for in an answer.

    Attributes:
        identity: The row that was named.
        documents: Its documents: of an entity also its observations.
        shown_ids: The ids under which an answer may show it.
    """

    identity: Identity
    documents: tuple[int, ...]
    shown_ids: frozenset[int]

    @property
    def item(self) -> ExpectedItem:
        """The row, for people."""
        return item_of(self.identity)


def item_of(identity: Identity) -> ExpectedItem:
    """Return a row as it is told of."""
    return ExpectedItem(
        identity.id, identity.uuid, identity.noun, identity.title, identity.owner_id
    )


def find(connection: Connection, key: int | str) -> Identity | HistoryEntry:
    """Return what an id or UUID names, or the change by which it was deleted.

    Raises:
        NotFoundError: Nothing is or was known by that id.
    """
    text = str(key).strip().lower()
    uuid = text
    if text.isdecimal() and len(text) <= len(str(LARGEST_ID)) and int(text) <= LARGEST_ID:
        identity = identities.of_id(connection, int(text))
        if identity is not None:
            return identity
        uuid = identities.deleted_uuid(connection, int(text)) or ""
    identity = identities.of_uuids(connection, [uuid]).get(uuid)
    if identity is not None:
        return identity
    changes = history_rows.of_item(connection, uuid) if uuid else []
    if changes and changes[0].action is Action.DELETED:
        return changes[0]
    raise NotFoundError(f"There is no item {text[:80]}.", details={"id": text[:80]})


def target_of(connection: Connection, identity: Identity, *, folds: bool) -> Target:
    """Return what is to be looked for.

    Args:
        connection: A snapshot.
        identity: The row that was named.
        folds: Whether the answer shows observations as their entity, and of turns that follow each
            other the best.
    """
    if folds and identity.noun is Noun.OBSERVATION:
        return Target(identity, (identity.id,), frozenset({identity.owner_id}))
    if folds and identity.noun is Noun.TURN:
        around = session_rows.neighbours(connection, [identity.id])
        shown = {identity.id, *(neighbour for _, neighbour, _ in around)}
        return Target(identity, (identity.id,), frozenset(shown))
    if identity.noun is not Noun.ENTITY:
        return Target(identity, (identity.id,), frozenset({identity.id}))
    observations = list(graph_rows.observations_of(connection, [identity.id]))
    documents = (identity.id, *observations[:MOST_OBSERVATIONS])
    return Target(identity, documents, frozenset({identity.id} if folds else documents))


def blocking_filters(
    connection: Connection, filters: fulltext.Filters, target: Target
) -> list[str]:
    """Return the names of the filters that nothing of the target passes."""
    idle = fulltext.Filters()
    blocking = []
    for field in fields(filters):
        value = getattr(filters, field.name)
        if value == getattr(idle, field.name):
            continue
        alone = replace(idle, **{field.name: value})
        if not fulltext.passing(connection, alone, target.documents):
            blocking.append(field.name)
    return blocking


def filter_reason(name: str, filters: fulltext.Filters, item: Identity) -> Reason:
    """Say why a filter keeps an item out."""
    cause, words = _FILTER_WORDS[name]
    return Reason(cause, words(filters, item))


def unwanted_reason(connection: Connection, phrases: Sequence[str], target: Target) -> Reason:
    """Say which excluded words an item has."""
    has: dict[str, None] = {}
    for document_id in target.documents:
        has.update(dict.fromkeys(identities.columns_with(connection, document_id, phrases)))
    words = quoted_words([phrase.strip('"') for phrase in has])
    return Reason(Cause.UNWANTED_WORD, f"It has {words}, which the question excludes.")


def _noun_words(filters: fulltext.Filters, item: Identity) -> str:
    places = listed([_PLACE_WORDS[noun] for noun in filters.nouns])
    return f"It is {_NOUN_WORDS[item.noun]}; the question was asked of {places} only."


def _scope_words(filters: fulltext.Filters, item: Identity) -> str:
    asked = " and ".join(filters.scopes)
    return f"It is of scope {item.scope}; the question was asked in {asked}."


def _tag_words(filters: fulltext.Filters, item: Identity) -> str:
    own = {tag.lower() for tag in item.tags}
    missing = [tag for tag in filters.tags if tag not in own] or list(filters.tags)
    noun = "tag" if len(missing) == 1 else "tags"
    return f"It does not have the {noun} {quoted_words(missing)}, which the question asks for."


def _kind_words(filters: fulltext.Filters, item: Identity) -> str:
    asked = filters.types or tuple(kind for kind in (filters.category, filters.kind) if kind)
    return f"It is of type {item.kind}; the question asks for {' or '.join(asked)}."


def _age_words(asked: datetime | None, relation: str, item: Identity) -> str:
    limit = day(asked) if asked else ""
    return f"It is of {day(item.updated_at)}; the question asks for what is {relation} {limit}."


def _confidence_words(filters: fulltext.Filters, item: Identity) -> str:
    if item.confidence is None:
        return "It has no confidence, and the question asks for one."
    least = filters.min_confidence
    return f"Its confidence {item.confidence:g} is below the {least:g} that the question asks for."


def _session_words(_filters: fulltext.Filters, item: Identity) -> str:
    if item.session_id is None:
        return "It belongs to no session; the question was asked of one."
    return "It belongs to another session than the one that was asked."


_FILTER_WORDS: dict[str, tuple[Cause, Callable[[fulltext.Filters, Identity], str]]] = {
    "nouns": (Cause.OTHER_NOUN, _noun_words),
    "scopes": (Cause.OTHER_SCOPE, _scope_words),
    "tags": (Cause.OTHER_TAGS, _tag_words),
    "kind": (Cause.OTHER_TYPE, _kind_words),
    "category": (Cause.OTHER_TYPE, _kind_words),
    "types": (Cause.OTHER_TYPE, _kind_words),
    "before": (Cause.TOO_NEW, lambda f, item: _age_words(f.before, "older than", item)),
    "after": (Cause.TOO_OLD, lambda f, item: _age_words(f.after, "not older than", item)),
    "min_confidence": (Cause.LOW_CONFIDENCE, _confidence_words),
    "session_id": (Cause.OTHER_SESSION, _session_words),
}
LIFTED_WORDS = {
    "nouns": "that limit",
    "scopes": "the scope",
    "tags": "the tag",
    "kind": "the type",
    "category": "the category",
    "types": "the type",
    "before": "the date",
    "after": "the date",
    "min_confidence": "the least confidence",
    "session_id": "the session",
}
