"""Rows of `entities`, `observations` and `relations` (seed 003).

An entity's name and each of its observations are documents of their own, so that adding one
observation to an entity that has a thousand costs what adding the first one did.
"""

import json
import uuid as uuids
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from kmem_desktop.domain.changes import Noun
from kmem_desktop.domain.graph import Entity, EntityDetails, Relation
from kmem_desktop.store import documents
from kmem_desktop.store.connection import Connection


@dataclass(frozen=True, slots=True)
class GraphText:
    """An entity, or one of its observations, as a search shows it.

    Attributes:
        uuid: The UUID of the entity or the observation.
        name: The entity's name.
        content: The observation, or the entity's type.
        updated_at: When it was last changed.
    """

    uuid: str
    name: str
    content: str
    updated_at: datetime


def insert_entity(
    connection: Connection, entity: Entity, stored_by: str, now: datetime, uuid: str = ""
) -> tuple[int, str]:
    """Add an entity with its observations, maybe under the UUID it had; return its id and UUID."""
    uuid = uuid or str(uuids.uuid4())
    entity_id = documents.insert(
        connection,
        documents.Document(Noun.ENTITY, entity.name, entity.entity_type, stored_by),
        now,
    )
    connection.execute(
        "INSERT INTO entities (id, uuid, name, entity_type) VALUES (?, ?, ?, ?)",
        (entity_id, uuid, entity.name, entity.entity_type),
    )
    for content in entity.observations:
        insert_observation(connection, (entity_id, entity.name), content, stored_by, now)
    return entity_id, uuid


def insert_observation(
    connection: Connection,
    entity: tuple[int, str],
    content: str,
    stored_by: str,
    now: datetime,
) -> tuple[int, str]:
    """Add an observation to the entity (id, name); return the observation's id and UUID."""
    entity_id, name = entity
    uuid = str(uuids.uuid4())
    observation_id = documents.insert(
        connection, documents.Document(Noun.OBSERVATION, name, content, stored_by), now
    )
    connection.execute(
        "INSERT INTO observations (id, uuid, entity_id, content) VALUES (?, ?, ?, ?)",
        (observation_id, uuid, entity_id, content),
    )
    return observation_id, uuid


def insert_relation(
    connection: Connection, relation: Relation, stored_by: str, now: datetime
) -> tuple[int, str] | None:
    """Add a relation; return its id and UUID, or None where it was there already."""
    uuid = str(uuids.uuid4())
    connection.execute(
        "INSERT INTO relations (uuid, from_name, to_name, relation_type, stored_by, created_at)"
        " VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
        (
            uuid,
            relation.from_name,
            relation.to_name,
            relation.relation_type,
            stored_by,
            now.isoformat(),
        ),
    )
    return (connection.last_insert_rowid(), uuid) if connection.changes() else None


def delete_entity(connection: Connection, entity_id: int) -> None:
    """Remove an entity, its observations, and every relation that names it."""
    row = connection.execute("SELECT name FROM entities WHERE id = ?", (entity_id,)).fetchone()
    if row is None:
        return
    connection.execute("DELETE FROM relations WHERE from_name = ?1 OR to_name = ?1", row)
    documents.delete(connection, [*observations_of(connection, [entity_id]), entity_id])


def delete_observation(connection: Connection, observation_id: int) -> None:
    """Remove one observation."""
    documents.delete(connection, [observation_id])


def delete_relation(connection: Connection, relation_id: int) -> None:
    """Remove one relation."""
    connection.execute("DELETE FROM relations WHERE id = ?", (relation_id,))


def set_entity_type(
    connection: Connection, entity_id: int, entity_type: str, now: datetime
) -> None:
    """Change what kind of thing an entity is."""
    connection.execute("UPDATE entities SET entity_type = ? WHERE id = ?", (entity_type, entity_id))
    name, stored_by = connection.execute(
        "SELECT title, stored_by FROM documents WHERE id = ?", (entity_id,)
    ).get
    document = documents.Document(Noun.ENTITY, name, entity_type, stored_by)
    documents.replace(connection, entity_id, document, now)


def find_entity(connection: Connection, name: str) -> tuple[int, str] | None:
    """Return id and UUID of the entity with this name, or None."""
    return connection.execute("SELECT id, uuid FROM entities WHERE name = ?", (name,)).fetchone()


def find_observation(
    connection: Connection, entity_id: int, content: str
) -> tuple[int, str] | None:
    """Return id and UUID of an entity's observation with this text, or None."""
    return connection.execute(
        "SELECT id, uuid FROM observations WHERE entity_id = ? AND content = ?",
        (entity_id, content),
    ).fetchone()


def find_relation(connection: Connection, relation: Relation) -> tuple[int, str] | None:
    """Return id and UUID of this relation, or None."""
    return connection.execute(
        "SELECT id, uuid FROM relations WHERE from_name = ? AND to_name = ? AND relation_type = ?",
        (relation.from_name, relation.to_name, relation.relation_type),
    ).fetchone()


def entity_ids(connection: Connection, names: Iterable[str]) -> list[int]:
    """Return the ids of the entities among `names` that exist, in stored order."""
    query = "SELECT id FROM entities WHERE name IN (SELECT value FROM json_each(?)) ORDER BY id"
    return [row[0] for row in connection.execute(query, (json.dumps(list(names)),))]


def entity_ids_after(connection: Connection, after_id: int, limit: int) -> list[int]:
    """Return ids of entities in stored order, those after `after_id`."""
    query = "SELECT id FROM entities WHERE id > ? ORDER BY id LIMIT ?"
    return [row[0] for row in connection.execute(query, (after_id, limit))]


def count_entities(connection: Connection) -> int:
    """Return how many entities there are."""
    return int(connection.execute("SELECT count(*) FROM entities").get)


def get_entities(connection: Connection, ids: Sequence[int]) -> dict[int, Entity]:
    """Return the entities with these ids and all their observations, in the order of `ids`."""
    chosen = json.dumps(list(ids))
    found = {
        row[0]: (row[1], row[2])
        for row in connection.execute(
            "SELECT id, name, entity_type FROM entities"
            " WHERE id IN (SELECT value FROM json_each(?))",
            (chosen,),
        )
    }
    observations: dict[int, list[str]] = {entity_id: [] for entity_id in found}
    for entity_id, content in connection.execute(
        "SELECT entity_id, content FROM observations"
        " WHERE entity_id IN (SELECT value FROM json_each(?)) ORDER BY id",
        (chosen,),
    ):
        observations[entity_id].append(content)
    return {i: Entity(*found[i], tuple(observations[i])) for i in ids if i in found}


def relations_of(connection: Connection, names: Iterable[str]) -> list[Relation]:
    """Return the relations with at least one end among `names`, in stored order."""
    query = (
        "WITH chosen AS (SELECT value AS name FROM json_each(?)) "
        "SELECT from_name, to_name, relation_type FROM relations"
        " WHERE from_name IN chosen OR to_name IN chosen ORDER BY id"
    )
    return [Relation(*row) for row in connection.execute(query, (json.dumps(list(names)),))]


def relations_after(
    connection: Connection, after_id: int, limit: int
) -> list[tuple[int, Relation]]:
    """Return (id, relation) in stored order, those after `after_id`."""
    query = (
        "SELECT id, from_name, to_name, relation_type FROM relations"
        " WHERE id > ? ORDER BY id LIMIT ?"
    )
    return [(row[0], Relation(*row[1:])) for row in connection.execute(query, (after_id, limit))]


def get_details(connection: Connection, entity_id: int) -> EntityDetails | None:
    """Return one entity with its relations and times, or None."""
    entity = get_entities(connection, [entity_id]).get(entity_id)
    if entity is None:
        return None
    uuid, stored_by, created_at, updated_at = connection.execute(
        "SELECT e.uuid, d.stored_by, d.created_at, d.updated_at"
        " FROM entities AS e JOIN documents AS d USING (id) WHERE id = ?",
        (entity_id,),
    ).get
    return EntityDetails(
        id=entity_id,
        uuid=uuid,
        entity=entity,
        relations=tuple(relations_of(connection, [entity.name])),
        stored_by=stored_by,
        created_at=datetime.fromisoformat(created_at),
        updated_at=datetime.fromisoformat(updated_at),
    )


def entities_of_observations(connection: Connection, ids: Iterable[int]) -> dict[int, int]:
    """Return which entity each of these observations belongs to."""
    query = "SELECT id, entity_id FROM observations WHERE id IN (SELECT value FROM json_each(?))"
    return dict(connection.execute(query, (json.dumps(list(ids)),)))


def row_facts(connection: Connection, ids: Iterable[int]) -> list[tuple[Any, ...]]:
    """Return what a list shows of each entity.

    Returns:
        (id, name, type, stored by, updated at, observations, relations, start of the observations).
    """
    query = (
        "SELECT e.id, e.name, e.entity_type, d.stored_by, d.updated_at,"
        " (SELECT count(*) FROM observations WHERE entity_id = e.id),"
        " (SELECT count(*) FROM relations WHERE from_name = e.name OR to_name = e.name),"
        " coalesce((SELECT group_concat(substr(content, 1, 240), ' · ') FROM"
        "   (SELECT content FROM observations WHERE entity_id = e.id ORDER BY id LIMIT 4)), '')"
        " FROM entities AS e JOIN documents AS d USING (id)"
        " WHERE e.id IN (SELECT value FROM json_each(?))"
    )
    return connection.execute(query, (json.dumps(list(ids)),)).fetchall()


def texts(connection: Connection, ids: Iterable[int]) -> dict[int, GraphText]:
    """Return what these entities and observations say."""
    query = (
        "SELECT d.id, coalesce(e.uuid, o.uuid), d.title, d.body, d.updated_at FROM documents AS d"
        " LEFT JOIN entities AS e ON e.id = d.id LEFT JOIN observations AS o ON o.id = d.id"
        " WHERE d.id IN (SELECT value FROM json_each(?))"
    )
    rows = connection.execute(query, (json.dumps(list(ids)),))
    return {
        row[0]: GraphText(row[1], row[2], row[3], datetime.fromisoformat(row[4])) for row in rows
    }


def observations_of(connection: Connection, entity_ids: Iterable[int]) -> dict[int, int]:
    """Return the observations of these entities, each with its entity."""
    query = (
        "SELECT id, entity_id FROM observations"
        " WHERE entity_id IN (SELECT value FROM json_each(?)) ORDER BY id"
    )
    return dict(connection.execute(query, (json.dumps(list(entity_ids)),)))


def entity_of_uuid(connection: Connection, uuid: str) -> int | None:
    """Return the id of the entity with this UUID, or None."""
    row = connection.execute("SELECT id FROM entities WHERE uuid = ?", (uuid,)).fetchone()
    return row[0] if row else None


def observation_of_uuid(connection: Connection, uuid: str) -> tuple[int, str, str] | None:
    """Return id, entity name and text of the observation with this UUID, or None."""
    return connection.execute(
        "SELECT o.id, e.name, o.content FROM observations AS o"
        " JOIN entities AS e ON e.id = o.entity_id WHERE o.uuid = ?",
        (uuid,),
    ).fetchone()


def relation_of_uuid(connection: Connection, uuid: str) -> tuple[int, Relation] | None:
    """Return id and value of the relation with this UUID, or None."""
    row = connection.execute(
        "SELECT id, from_name, to_name, relation_type FROM relations WHERE uuid = ?", (uuid,)
    ).fetchone()
    return (row[0], Relation(*row[1:])) if row else None


def entity_ids_containing(connection: Connection, text: str, limit: int) -> list[int]:
    """Return entities whose name, type or an observation contains `text` in any case."""
    fold = "lower"
    if not text.isascii():  # SQLite's own function knows the case of A to Z only
        fold = "fold_case"
        connection.create_scalar_function(fold, _lower, 1, deterministic=True)
    query = (
        f"SELECT id FROM entities WHERE instr({fold}(name), ?1) OR instr({fold}(entity_type), ?1)"
        f" UNION SELECT entity_id FROM observations WHERE instr({fold}(content), ?1)"
        " ORDER BY 1 LIMIT ?2"
    )
    return [row[0] for row in connection.execute(query, (text.lower(), limit))]


def _lower(*texts: Any) -> str:
    return str(texts[0]).lower()


def to_json(details: EntityDetails) -> dict[str, Any]:
    """Return an entity as the history keeps it."""
    return {
        "name": details.entity.name,
        "entity_type": details.entity.entity_type,
        "observations": list(details.entity.observations),
        "relations": [[r.from_name, r.to_name, r.relation_type] for r in details.relations],
        "stored_by": details.stored_by,
    }


def from_json(fields: Mapping[str, Any]) -> tuple[Entity, list[Relation], str]:
    """Return entity, relations and who stored it, as the history kept them."""
    entity = Entity(fields["name"], fields["entity_type"], tuple(fields["observations"]))
    return entity, [Relation(*ends) for ends in fields["relations"]], fields["stored_by"]


def touch_entity(connection: Connection, entity_id: int, now: datetime) -> None:
    """Say that what is known about an entity was changed now."""
    documents.touch(connection, entity_id, now)
