"""What a person does to items in the window, each with the number by which it is taken back."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from kmem_desktop.bootstrap import Services
from kmem_desktop.domain.changes import Noun, OriginKind
from kmem_desktop.domain.graph import Entity, EntityDetails, Relation
from kmem_desktop.domain.knowledge import KnowledgeDraft, KnowledgeItem
from kmem_desktop.gui.context import BY_WINDOW
from kmem_desktop.services.listing import View

_RECENT = 10
_OFFERED = 12


@dataclass(frozen=True, slots=True)
class Deed:
    """Something that was done.

    Attributes:
        item_id: To which item or entity; 0 where there is none any more.
        title: What people call it.
        change_id: The number by which it is taken back; 0 where nothing changed.
    """

    item_id: int
    title: str
    change_id: int


async def store(services: Services, draft: KnowledgeDraft) -> Deed:
    """Store a new item."""
    item = await services.knowledge.store(draft, BY_WINDOW)
    return Deed(item.id, item.title, await _newest_of(services, item.uuid))


async def update(
    services: Services, item: KnowledgeItem, changes: Mapping[str, Any], expected: datetime
) -> Deed:
    """Change an item as it was seen at `expected`."""
    changed = await services.knowledge.update(item.id, changes, BY_WINDOW, expected=expected)
    if changed.updated_at == item.updated_at:
        return Deed(changed.id, changed.title, 0)
    return Deed(changed.id, changed.title, await _newest_of(services, item.uuid))


async def forget_knowledge(services: Services, item: KnowledgeItem) -> Deed:
    """Take an item out of the memory."""
    _, change_id = await services.knowledge.delete(item.id, BY_WINDOW)
    return Deed(0, item.title, change_id)


async def forget_entity(services: Services, details: EntityDetails) -> Deed:
    """Take an entity and its relations out of the graph."""
    changes = await services.graph.delete_entities([details.entity.name], BY_WINDOW)
    return Deed(0, details.entity.name, changes[0] if changes else 0)


async def create_entity(services: Services, entity: Entity) -> tuple[Deed, bool]:
    """Store a new entity; return it, or the one that has its name, and whether it is new."""
    created = await services.graph.create_entities([entity], BY_WINDOW)
    entity_id = await services.graph.find(entity.name) or 0
    change_id = await _newest_own(services) if created else 0
    return Deed(entity_id, entity.name, change_id), bool(created)


async def set_type(services: Services, details: EntityDetails, kind: str) -> Deed:
    """Change what kind of thing an entity is."""
    if kind == details.entity.entity_type:
        return Deed(details.id, details.entity.name, 0)
    await services.graph.set_type(details.id, kind, BY_WINDOW)
    return Deed(details.id, details.entity.name, await _newest_of(services, details.uuid))


async def add_observation(services: Services, details: EntityDetails, text: str) -> Deed:
    """Add an observation to an entity."""
    name = details.entity.name
    added = await services.graph.add_observations([(name, [text])], BY_WINDOW)
    return Deed(details.id, name, await _newest_own(services) if added[0][1] else 0)


async def remove_observation(services: Services, details: EntityDetails, text: str) -> Deed:
    """Take an observation from an entity."""
    name = details.entity.name
    await services.graph.delete_observations([(name, [text])], BY_WINDOW)
    return Deed(details.id, name, await _newest_own(services))


async def add_relation(services: Services, details: EntityDetails, relation: Relation) -> Deed:
    """Relate an entity to another."""
    created = await services.graph.create_relations([relation], BY_WINDOW)
    change_id = await _newest_own(services) if created else 0
    return Deed(details.id, details.entity.name, change_id)


async def entity_names(services: Services, start: str) -> list[str]:
    """Return names of entities that these words find, for choosing one."""
    listing = await services.listing.show(View(start, (Noun.ENTITY,)))
    rows = await services.listing.rows(listing, listing.ids[:_OFFERED].tolist())
    return [row.title for row in rows]


async def remove_relation(services: Services, details: EntityDetails, relation: Relation) -> Deed:
    """Take a relation out of the graph."""
    await services.graph.delete_relations([relation], BY_WINDOW)
    return Deed(details.id, details.entity.name, await _newest_own(services))


async def _newest_of(services: Services, item_uuid: str) -> int:
    entries = await services.history.of_item(item_uuid)
    return entries[0].id if entries else 0


async def _newest_own(services: Services) -> int:
    for entry in await services.history.newest(_RECENT):
        if entry.origin.kind is OriginKind.WINDOW:
            return entry.id
    return 0
