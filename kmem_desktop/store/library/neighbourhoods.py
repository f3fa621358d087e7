"""What is next to what: entities by their relations, items by how they relate to each other."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from kmem_desktop.domain.graph import Relation
from kmem_desktop.store.connection import Connection

MOST_RELATIONS = 5_000
"""So many relations of a neighbourhood are read at most."""


@dataclass(frozen=True, slots=True)
class NodeFacts:
    """An entity or item as a picture shows it.

    Attributes:
        number: Its id.
        uuid: Its UUID.
        title: The name, or the title.
        kind: The type, or the category.
        links: How many relations it has.
    """

    number: int
    uuid: str
    title: str
    kind: str
    links: int


def find_name(connection: Connection, name: str) -> str | None:
    """Return the name of the entity, or of an end of a relation, that is called so in any case."""
    for query in (
        "SELECT name FROM entities WHERE name = ?",
        "SELECT name FROM entities WHERE name = ? COLLATE NOCASE ORDER BY id",
        "SELECT ?1 FROM relations WHERE from_name = ?1 OR to_name = ?1",
    ):
        row = connection.execute(f"{query} LIMIT 1", (name,)).fetchone()
        if row:
            return str(row[0])
    return None


def most_connected_names(connection: Connection, limit: int) -> list[str]:
    """Return entities, those with most relations first, then those without any."""
    query = (
        "SELECT e.name FROM entities AS e LEFT JOIN (SELECT name, count(*) AS links FROM"
        " (SELECT from_name AS name FROM relations UNION ALL SELECT to_name FROM relations)"
        " GROUP BY name) AS ends USING (name) ORDER BY coalesce(links, 0) DESC, e.id LIMIT ?"
    )
    return [row[0] for row in connection.execute(query, (limit,))]


def relations_at(connection: Connection, names: Iterable[str]) -> list[Relation]:
    """Return the relations with at least one end among `names`, in stored order."""
    query = (
        "WITH chosen AS (SELECT value AS name FROM json_each(?))"
        " SELECT from_name, to_name, relation_type FROM relations"
        " WHERE from_name IN chosen OR to_name IN chosen ORDER BY id LIMIT ?"
    )
    rows = connection.execute(query, (json.dumps(list(names)), MOST_RELATIONS))
    return [Relation(*row) for row in rows]


def entity_facts(connection: Connection, names: Iterable[str]) -> dict[str, NodeFacts]:
    """Return what is known of the entities among `names`, by name."""
    query = (
        "SELECT id, uuid, name, entity_type,"
        " (SELECT count(*) FROM relations WHERE from_name = e.name OR to_name = e.name)"
        " FROM entities AS e WHERE name IN (SELECT value FROM json_each(?))"
    )
    rows = connection.execute(query, (json.dumps(list(names)),))
    return {row[2]: NodeFacts(*row) for row in rows}


def related_items(connection: Connection, limit: int) -> list[int]:
    """Return items that relate to other items, those with most relations first."""
    query = (
        "SELECT id FROM (SELECT from_id AS id FROM entry_relations"
        " UNION ALL SELECT to_id FROM entry_relations) JOIN knowledge USING (id)"
        " GROUP BY id ORDER BY count(*) DESC, id LIMIT ?"
    )
    return [row[0] for row in connection.execute(query, (limit,))]


def item_links(connection: Connection, ids: Sequence[int]) -> list[tuple[int, int, str]]:
    """Return (later item, earlier item, relation) where one of both is among `ids`."""
    query = (
        "WITH chosen AS (SELECT value AS id FROM json_each(?))"
        " SELECT from_id, to_id, relation FROM entry_relations AS r"
        " JOIN knowledge AS f ON f.id = r.from_id JOIN knowledge AS t ON t.id = r.to_id"
        " WHERE from_id IN chosen OR to_id IN chosen"
        " ORDER BY strength DESC, from_id, to_id LIMIT ?"
    )
    rows = connection.execute(query, (json.dumps(list(ids)), MOST_RELATIONS))
    return [(row[0], row[1], row[2]) for row in rows]


def item_facts(connection: Connection, ids: Sequence[int]) -> dict[int, NodeFacts]:
    """Return what is known of these items, by their numbers."""
    query = (
        "SELECT k.id, k.uuid, d.title, k.category,"
        " (SELECT count(*) FROM entry_relations WHERE from_id = k.id OR to_id = k.id)"
        " FROM knowledge AS k JOIN documents AS d USING (id)"
        " WHERE k.id IN (SELECT value FROM json_each(?))"
    )
    rows = connection.execute(query, (json.dumps(list(ids)),))
    return {row[0]: NodeFacts(*row) for row in rows}
