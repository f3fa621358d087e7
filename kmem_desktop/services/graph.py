"""The knowledge graph: entities, observations and relations (seed 003).

The rules are the reference memory server's: what exists is skipped, unknown names are ignored where
it ignores them, relations may name entities that do not exist. Each call is one transaction.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from datetime import UTC, datetime

from kmem_desktop.domain.changes import Action, Noun, Origin
from kmem_desktop.domain.graph import (
    ENTITY_NAME_LENGTH,
    ENTITY_TYPE_LENGTH,
    GRAPH_BATCH,
    OBSERVATION_LENGTH,
    RELATION_TYPE_LENGTH,
    Entity,
    EntityDetails,
    Graph,
    Relation,
)
from kmem_desktop.errors import NotFoundError
from kmem_desktop.events import Change, ChangeFeed
from kmem_desktop.search.conversation import understand
from kmem_desktop.services import found
from kmem_desktop.services.embedding import EmbeddingService, Meaning
from kmem_desktop.services.graph_pages import PageLimit, page_of_entities, page_of_graph
from kmem_desktop.services.sessions.redacting import SecretFilter, without_secrets
from kmem_desktop.services.validation import Problems
from kmem_desktop.store import fulltext, history
from kmem_desktop.store import graph as graph_rows
from kmem_desktop.store.connection import Connection
from kmem_desktop.store.database import Database

SEARCH_ENTITY_COUNT = 100
"""A search for nodes finds at most this many entities."""


class GraphService:
    """What can be done with the knowledge graph."""

    def __init__(self, database: Database, feed: ChangeFeed, embedding: EmbeddingService) -> None:
        """Work on `database`, tell `feed` what changed, and compare meaning by `embedding`."""
        self._database = database
        self._feed = feed
        self._embedding = embedding

    async def create_entities(
        self, entities: Sequence[Entity], origin: Origin
    ) -> tuple[Entity, ...]:
        """Store entities; those whose name exists are skipped.

        Returns:
            The new ones only.

        Raises:
            InvalidInputError: A name, type or observation is empty or too long; none was stored.
        """
        secrets = SecretFilter(origin.name)
        checked = _checked_entities([secrets.entity(entity) for entity in entities])
        now = datetime.now(UTC)

        def work(connection: Connection) -> list[tuple[int, Entity]]:
            added = [
                (entity_id, entity)
                for entity in checked
                if (entity_id := add_entity(connection, entity, origin, now)) is not None
            ]
            if added:
                secrets.note(connection, now)
            return added

        created = await self._database.write(work)
        self._publish(Noun.ENTITY, (entity_id for entity_id, _ in created), origin)
        return tuple(entity for _, entity in created)

    async def create_relations(
        self, relations: Sequence[Relation], origin: Origin
    ) -> tuple[Relation, ...]:
        """Store relations; those that exist are skipped.

        Returns:
            The new ones only.

        Raises:
            InvalidInputError: A name or type is empty or too long; none was stored.
        """
        secrets = SecretFilter(origin.name)
        clean = [secrets.relation(relation) for relation in relations]
        _check_relations(clean)
        now = datetime.now(UTC)

        def work(connection: Connection) -> list[tuple[int, Relation]]:
            added = [
                (relation_id, relation)
                for relation in clean
                if (relation_id := add_relation(connection, relation, origin, now)) is not None
            ]
            if added:
                secrets.note(connection, now)
            return added

        created = await self._database.write(work)
        self._publish(Noun.RELATION, (relation_id for relation_id, _ in created), origin)
        return tuple(relation for _, relation in created)

    async def add_observations(
        self, additions: Sequence[tuple[str, Sequence[str]]], origin: Origin
    ) -> list[tuple[str, list[str]]]:
        """Add observations to entities, given as (entity name, texts).

        Returns:
            For each addition the entity's name and the texts that were new.

        Raises:
            NotFoundError: An entity does not exist; nothing was added.
            InvalidInputError: A text is empty or too long; nothing was added.
        """
        secrets = SecretFilter(origin.name)
        clean = [(name, secrets.texts(contents)) for name, contents in additions]
        _check_observations(clean, "observations", "contents")
        now = datetime.now(UTC)

        def work(connection: Connection) -> tuple[list[int], list[tuple[str, list[str]]]]:
            ids: list[int] = []
            results = []
            for name, contents in clean:
                entity = _find_entity(connection, name)
                if entity is None:
                    shown = name[:ENTITY_NAME_LENGTH]
                    raise NotFoundError(f"Entity with name {shown} not found")
                ids.append(entity[0])
                results.append((entity[1], add_contents(connection, entity, contents, origin, now)))
            if any(added for _, added in results):
                secrets.note(connection, now)
            return ids, results

        ids, results = await self._database.write(work)
        self._publish(Noun.ENTITY, ids, origin)
        return results

    async def delete_entities(self, names: Sequence[str], origin: Origin) -> list[int]:
        """Take entities and their relations out of the graph; unknown names are ignored.

        Returns:
            The numbers of the changes, for undo.
        """
        now = datetime.now(UTC)

        def work(connection: Connection) -> tuple[list[int], list[int]]:
            ids = graph_rows.entity_ids(connection, _as_stored(names))
            return ids, [remove_entity(connection, entity_id, origin, now) for entity_id in ids]

        ids, changes = await self._database.write(work)
        self._publish(Noun.ENTITY, ids, origin)
        return changes

    async def delete_observations(
        self, deletions: Sequence[tuple[str, Sequence[str]]], origin: Origin
    ) -> None:
        """Take observations from entities; what is not there is ignored."""
        now = datetime.now(UTC)

        def work(connection: Connection) -> list[int]:
            ids = []
            for name, contents in deletions:
                entity = _find_entity(connection, name)
                if entity is not None:
                    ids.append(entity[0])
                    for content in _as_stored(contents):
                        remove_observation(connection, entity, content, origin, now)
            return ids

        ids = await self._database.write(work)
        self._publish(Noun.ENTITY, ids, origin)

    async def delete_relations(self, relations: Sequence[Relation], origin: Origin) -> None:
        """Take relations out of the graph; what is not there is ignored."""
        now = datetime.now(UTC)

        def work(connection: Connection) -> list[int]:
            return [
                relation_id
                for relation in dict.fromkeys((*relations, *map(_stored_relation, relations)))
                if (relation_id := remove_relation(connection, relation, origin, now)) is not None
            ]

        ids = await self._database.write(work)
        self._publish(Noun.RELATION, ids, origin)

    async def set_type(self, entity_id: int, entity_type: str, origin: Origin) -> None:
        """Change what kind of thing an entity is.

        Raises:
            NotFoundError: There is no such entity.
            InvalidInputError: The type is empty or too long.
        """
        problems = Problems()
        _check_text(problems, "entityType", entity_type, ENTITY_TYPE_LENGTH)
        problems.raise_if_any()
        now = datetime.now(UTC)
        secrets = SecretFilter(origin.name)
        clean_type = secrets.text(entity_type)

        def work(connection: Connection) -> None:
            details = _require(connection, entity_id)
            secrets.note(connection, now)
            graph_rows.set_entity_type(connection, entity_id, clean_type, now)
            record = history.Record(
                Action.UPDATED,
                Noun.ENTITY,
                details.uuid,
                entity_id,
                details.entity.name,
                graph_rows.to_json(details),
            )
            history.add(connection, record, origin, now)

        await self._database.write(work)
        self._publish(Noun.ENTITY, [entity_id], origin)

    async def details(self, entity_id: int) -> EntityDetails:
        """Return one entity with its relations.

        Raises:
            NotFoundError: There is no such entity.
        """
        return await self._database.read(lambda connection: _require(connection, entity_id))

    async def find(self, name: str) -> int | None:
        """Return the id of the entity with this name, or None."""
        row = await self._database.read(lambda c: _find_entity(c, name))
        return row[0] if row else None

    async def read(self, cursor: str | None, limit: PageLimit) -> Graph:
        """Return the whole graph, a page at a time.

        Raises:
            InvalidInputError: The cursor is none of ours.
        """
        return await self._database.read(lambda c: page_of_graph(c, cursor, limit))

    async def open(self, names: Sequence[str], cursor: str | None, limit: PageLimit) -> Graph:
        """Return the entities with these names and every relation that touches them."""
        return await self._page(
            lambda c: graph_rows.entity_ids(c, _as_stored(names)), cursor, limit
        )

    async def search(self, text: str, cursor: str | None, limit: PageLimit) -> Graph:
        """Return the entities that a question is about, best first, with their relations.

        Words are looked up in names, types and observations. Where no word is found, a text that
        contains the whole query is (the reference server's only way).
        """
        meaning = await self._embedding.meaning_of(text)
        return await self._page(lambda c: _matching_entities(c, text, meaning), cursor, limit)

    async def _page(
        self, choose: Callable[[Connection], list[int]], cursor: str | None, limit: PageLimit
    ) -> Graph:
        return await self._database.read(lambda c: page_of_entities(c, choose(c), cursor, limit))

    def _publish(self, noun: Noun, ids: Iterable[int], origin: Origin) -> None:
        changed = tuple(dict.fromkeys(ids))
        if changed:
            self._feed.publish(Change(noun, changed, origin))


def add_entity(connection: Connection, entity: Entity, origin: Origin, now: datetime) -> int | None:
    """Add an entity and its history inside a transaction; None where the name exists."""
    if graph_rows.find_entity(connection, entity.name) is not None:
        return None
    entity_id, uuid = graph_rows.insert_entity(connection, entity, origin.name, now)
    record = history.Record(Action.CREATED, Noun.ENTITY, uuid, entity_id, entity.name)
    history.add(connection, record, origin, now)
    return entity_id


def add_contents(
    connection: Connection,
    entity: tuple[int, str],
    contents: Iterable[str],
    origin: Origin,
    now: datetime,
) -> list[str]:
    """Add new texts to the entity (id, name) inside a transaction; return those that were new."""
    entity_id, name = entity
    added = []
    for content in dict.fromkeys(contents):
        if graph_rows.find_observation(connection, entity_id, content) is None:
            row = graph_rows.insert_observation(connection, entity, content, origin.name, now)
            record = history.Record(Action.CREATED, Noun.OBSERVATION, row[1], row[0], name)
            history.add(connection, record, origin, now)
            added.append(content)
    if added:
        graph_rows.touch_entity(connection, entity_id, now)
    return added


def add_relation(
    connection: Connection, relation: Relation, origin: Origin, now: datetime
) -> int | None:
    """Add a relation and its history inside a transaction; None where it exists."""
    row = graph_rows.insert_relation(connection, relation, origin.name, now)
    if row is None:
        return None
    history.add(connection, _relation_record(Action.CREATED, row, relation), origin, now)
    return row[0]


def remove_entity(connection: Connection, entity_id: int, origin: Origin, now: datetime) -> int:
    """Remove an entity inside a transaction; return the number of the change."""
    details = _require(connection, entity_id)
    graph_rows.delete_entity(connection, entity_id)
    record = history.Record(
        Action.DELETED,
        Noun.ENTITY,
        details.uuid,
        entity_id,
        details.entity.name,
        graph_rows.to_json(details),
    )
    return history.add(connection, record, origin, now)


def remove_observation(
    connection: Connection, entity: tuple[int, str], content: str, origin: Origin, now: datetime
) -> None:
    """Remove a text from the entity (id, name) inside a transaction, if it is there."""
    entity_id, name = entity
    row = graph_rows.find_observation(connection, entity_id, content)
    if row is None:
        return
    graph_rows.delete_observation(connection, row[0])
    graph_rows.touch_entity(connection, entity_id, now)
    before = {"entity": name, "content": content}
    record = history.Record(Action.DELETED, Noun.OBSERVATION, row[1], row[0], name, before)
    history.add(connection, record, origin, now)


def remove_relation(
    connection: Connection, relation: Relation, origin: Origin, now: datetime
) -> int | None:
    """Remove a relation inside a transaction; None where it is not there."""
    row = graph_rows.find_relation(connection, relation)
    if row is None:
        return None
    graph_rows.delete_relation(connection, row[0])
    history.add(connection, _relation_record(Action.DELETED, row, relation), origin, now)
    return row[0]


def _find_entity(connection: Connection, name: str) -> tuple[int, str] | None:
    """Return the id and name of the entity of this name, as given or as it would be stored."""
    for each in _as_stored([name]):
        if found := graph_rows.find_entity(connection, each):
            return found[0], each
    return None


def _as_stored(texts: Sequence[str]) -> list[str]:
    """Return texts as given, and as they would have been stored, each once."""
    return list(dict.fromkeys((*texts, *map(without_secrets, texts))))


def _stored_relation(relation: Relation) -> Relation:
    return Relation(
        without_secrets(relation.from_name),
        without_secrets(relation.to_name),
        without_secrets(relation.relation_type),
    )


def _relation_record(action: Action, row: tuple[int, str], relation: Relation) -> history.Record:
    ends = [relation.from_name, relation.to_name, relation.relation_type]
    title = f"{relation.from_name} {relation.relation_type} {relation.to_name}"
    before = {"relation": ends} if action is Action.DELETED else None
    return history.Record(action, Noun.RELATION, row[1], row[0], title, before)


def _require(connection: Connection, entity_id: int) -> EntityDetails:
    details = graph_rows.get_details(connection, entity_id)
    if details is None:
        raise NotFoundError("This entity is no longer there.", details={"id": entity_id})
    return details


def _matching_entities(connection: Connection, text: str, meaning: Meaning | None) -> list[int]:
    parsed = found.readable(connection, text)
    filters = fulltext.Filters(nouns=(Noun.ENTITY, Noun.OBSERVATION))
    asked = understand(text, ())
    hits, _ = found.folded(connection, parsed, filters, meaning, asked, SEARCH_ENTITY_COUNT)
    ids = list(hits)
    if not ids and text.strip() and (parsed.words or not parsed.match):
        ids = _containing(connection, text.strip())
    return ids[:SEARCH_ENTITY_COUNT]


def _containing(connection: Connection, text: str) -> list[int]:
    # One character or mark would be "contained" nearly everywhere: that is no answer.
    if sum(character.isalnum() for character in text) < 2:
        return []
    return graph_rows.entity_ids_containing(connection, text, SEARCH_ENTITY_COUNT)


def _checked_entities(entities: Sequence[Entity]) -> list[Entity]:
    problems = Problems()
    _check_batch(problems, "entities", len(entities))
    for index, entity in enumerate(entities):
        field = f"entities[{index}]"
        _check_text(problems, f"{field}.name", entity.name, ENTITY_NAME_LENGTH)
        _check_text(problems, f"{field}.entityType", entity.entity_type, ENTITY_TYPE_LENGTH)
        _check_batch(problems, f"{field}.observations", len(entity.observations))
        for number, content in enumerate(entity.observations):
            name = f"{field}.observations[{number}]"
            _check_text(problems, name, content, OBSERVATION_LENGTH)
    problems.raise_if_any()
    return [
        replace(entity, observations=tuple(dict.fromkeys(entity.observations)))
        for entity in entities
    ]


def _check_relations(relations: Sequence[Relation]) -> None:
    problems = Problems()
    _check_batch(problems, "relations", len(relations))
    for index, relation in enumerate(relations):
        field = f"relations[{index}]"
        _check_text(problems, f"{field}.from", relation.from_name, ENTITY_NAME_LENGTH)
        _check_text(problems, f"{field}.to", relation.to_name, ENTITY_NAME_LENGTH)
        _check_text(problems, f"{field}.relationType", relation.relation_type, RELATION_TYPE_LENGTH)
    problems.raise_if_any()


def _check_observations(
    additions: Sequence[tuple[str, Sequence[str]]], list_field: str, text_field: str
) -> None:
    problems = Problems()
    _check_batch(problems, list_field, len(additions))
    for index, (_, contents) in enumerate(additions):
        field = f"{list_field}[{index}].{text_field}"
        _check_batch(problems, field, len(contents))
        for number, content in enumerate(contents):
            _check_text(problems, f"{field}[{number}]", content, OBSERVATION_LENGTH)
    problems.raise_if_any()


def _check_batch(problems: Problems, field: str, count: int) -> None:
    if count > GRAPH_BATCH:
        problems.add(field, f"{field} must have at most {GRAPH_BATCH} entries.")


def _check_text(problems: Problems, field: str, text: str, longest: int) -> None:
    if not text.strip():
        problems.add(field, f"{field} must not be empty.")
    elif len(text) > longest:
        problems.add(field, f"{field} must be at most {longest} characters (it has {len(text)}).")
