"""The knowledge graph: entities, observations and relations (seed 003), with their limits."""

from dataclasses import dataclass
from datetime import datetime

ENTITY_NAME_LENGTH = 500
ENTITY_TYPE_LENGTH = 200
RELATION_TYPE_LENGTH = 200
OBSERVATION_LENGTH = 20_000
GRAPH_BATCH = 1_000
"""At most this many entities, relations or observations in one call."""


@dataclass(frozen=True, slots=True)
class Entity:
    """A node of the knowledge graph with what is known about it."""

    name: str
    entity_type: str
    observations: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class EntityDetails:
    """An entity with the facts the window shows beside it."""

    id: int
    uuid: str
    entity: Entity
    relations: tuple["Relation", ...]
    stored_by: str
    created_at: datetime
    updated_at: datetime


@dataclass(frozen=True, slots=True)
class Relation:
    """A directed edge of the knowledge graph; its ends need not exist (as in the reference)."""

    from_name: str
    to_name: str
    relation_type: str


@dataclass(frozen=True, slots=True)
class Graph:
    """Entities and relations, in the order they were stored.

    Attributes:
        entities: The entities of this page.
        relations: The relations of this page.
        next_cursor: Where the next page begins; None where this is all.
        entity_count: How many entities the whole answer has, not only this page.
    """

    entities: tuple[Entity, ...]
    relations: tuple[Relation, ...]
    next_cursor: str | None = None
    entity_count: int = 0
