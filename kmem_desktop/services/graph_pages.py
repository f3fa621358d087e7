"""Answers about the graph in pages that fit what a client can take.

A cursor says where the next page begins: `e12.3` before the fourth observation of entity 12 (of the
whole graph) or of the twelfth hit; `r7` after relation 7. It holds no state of the server.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from kmem_desktop.domain.graph import Entity, Graph, Relation
from kmem_desktop.errors import InvalidInputError
from kmem_desktop.store import graph as graph_rows
from kmem_desktop.store.connection import Connection

_CURSOR = re.compile(r"e(\d{1,18})\.(\d{1,9})|r(\d{1,18})")
_BATCH = 200


@dataclass(frozen=True, slots=True)
class PageLimit:
    """How much one answer may hold.

    Attributes:
        size: The most that the costs of a page may sum up to.
        cost: What an entity or a relation costs.
    """

    size: int
    cost: Callable[[Entity | Relation], int]


class _Page:
    """Entities and relations collected until the limit is reached."""

    def __init__(self, limit: PageLimit) -> None:
        self._limit = limit
        self._left = limit.size
        self.entities: list[Entity] = []
        self.relations: list[Relation] = []
        self.next_cursor: str | None = None

    def add_entity(self, entity: Entity, first_observation: int) -> int | None:
        """Add as many of the entity's observations as fit.

        Returns:
            The number of the first observation that did not fit; None where all did.
        """
        rest = Entity(entity.name, entity.entity_type, entity.observations[first_observation:])
        cost = self._limit.cost(rest)
        if cost <= self._left:
            self._left -= cost
            self.entities.append(rest)
            return None
        kept = self._fitting(rest)
        # An empty page would never get on: its first entity goes out even when it is too big.
        if not kept and not self.entities:
            kept = 1
        self._left = 0
        if kept:
            self.entities.append(Entity(rest.name, rest.entity_type, rest.observations[:kept]))
            if kept >= len(rest.observations):
                return None
        return first_observation + kept

    def _fitting(self, entity: Entity) -> int:
        left = self._left - self._limit.cost(Entity(entity.name, entity.entity_type))
        kept = 0
        for content in entity.observations:
            left -= self._limit.cost(Entity("", "", (content,)))
            if left < 0:
                break
            kept += 1
        return kept

    def add_relation(self, relation: Relation) -> bool:
        """Add a relation if it fits."""
        cost = self._limit.cost(relation)
        if cost > self._left and (self.entities or self.relations):
            return False
        self._left -= cost
        self.relations.append(relation)
        return True

    def graph(self, entity_count: int) -> Graph:
        return Graph(tuple(self.entities), tuple(self.relations), self.next_cursor, entity_count)


def page_of_graph(connection: Connection, cursor: str | None, limit: PageLimit) -> Graph:
    """Return a page of the whole graph: first all entities, then all relations.

    Raises:
        InvalidInputError: The cursor is none of ours.
    """
    entity_id, observation, relation_id = _read_cursor(cursor)
    page = _Page(limit)
    count = graph_rows.count_entities(connection)
    if relation_id is None:
        for found_id, entity in _entities_from(connection, entity_id):
            first = observation if found_id == entity_id else 0
            left_out = page.add_entity(entity, first)
            if left_out is not None:
                page.next_cursor = f"e{found_id}.{left_out}"
                return page.graph(count)
        relation_id = 0
    for found_id, relation in _relations_after(connection, relation_id):
        if not page.add_relation(relation):
            page.next_cursor = f"r{relation_id}"
            return page.graph(count)
        relation_id = found_id
    return page.graph(count)


def page_of_entities(
    connection: Connection, ids: Sequence[int], cursor: str | None, limit: PageLimit
) -> Graph:
    """Return a page of chosen entities, then of the relations that touch any of them.

    Raises:
        InvalidInputError: The cursor is none of ours.
    """
    start, observation, relation_start = _read_cursor(cursor)
    page = _Page(limit)
    entities = list(graph_rows.get_entities(connection, ids).values())
    if relation_start is None:
        for index in range(start, len(entities)):
            left_out = page.add_entity(entities[index], observation if index == start else 0)
            if left_out is not None:
                page.next_cursor = f"e{index}.{left_out}"
                return page.graph(len(entities))
        relation_start = 0
    relations = graph_rows.relations_of(connection, [entity.name for entity in entities])
    for index in range(relation_start, len(relations)):
        if not page.add_relation(relations[index]):
            page.next_cursor = f"r{index}"
            break
    return page.graph(len(entities))


def _read_cursor(cursor: str | None) -> tuple[int, int, int | None]:
    if not cursor:
        return 0, 0, None
    found = _CURSOR.fullmatch(cursor)
    if found is None:
        raise InvalidInputError(
            "cursor is not one that an earlier answer gave.",
            details={"errors": [{"field": "cursor", "message": "unknown cursor"}]},
        )
    entity, observation, relation = found.groups()
    if relation is not None:
        return 0, 0, int(relation)
    return int(entity), int(observation), None


def _entities_from(connection: Connection, first_id: int) -> Iterator[tuple[int, Entity]]:
    last_id = first_id - 1
    while ids := graph_rows.entity_ids_after(connection, last_id, _BATCH):
        yield from graph_rows.get_entities(connection, ids).items()
        last_id = ids[-1]


def _relations_after(connection: Connection, last_id: int) -> Iterator[tuple[int, Relation]]:
    while rows := graph_rows.relations_after(connection, last_id, _BATCH):
        yield from rows
        last_id = rows[-1][0]
