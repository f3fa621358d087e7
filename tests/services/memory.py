"""Short ways to fill a memory."""

from typing import Any

from kmem_desktop.bootstrap import Services
from kmem_desktop.domain.changes import Origin, OriginKind
from kmem_desktop.domain.graph import Entity, Relation
from kmem_desktop.domain.knowledge import KnowledgeDraft, KnowledgeItem
from kmem_desktop.services.graph_pages import PageLimit

ORIGIN = Origin(OriginKind.CLIENT, "Claude Code", tool="a_tool")
WINDOW = Origin(OriginKind.WINDOW, "You")
EVERYTHING = PageLimit(10**9, lambda part: 1)
CONTENT = "The service answers with DTO classes, so that the database schema can change freely."


def draft(title: str = "Build API responses from DTO classes", **fields: Any) -> KnowledgeDraft:
    """Return a draft that can be stored; its content holds its title."""
    fields.setdefault("content", f"{title}: {CONTENT}")
    fields.setdefault("tags", ("api",))
    return KnowledgeDraft(title, **fields)


async def stored(services: Services, title: str, **fields: Any) -> KnowledgeItem:
    """Store an item and return it."""
    return await services.knowledge.store(draft(title, **fields), ORIGIN)


async def entity(services: Services, name: str, *observations: str, kind: str = "thing") -> int:
    """Store an entity and return its id."""
    await services.graph.create_entities([Entity(name, kind, observations)], ORIGIN)
    entity_id = await services.graph.find(name)
    assert entity_id is not None
    return entity_id


async def relate(services: Services, *ends: tuple[str, str, str]) -> None:
    """Store relations, given as (from, type, to)."""
    relations = [Relation(start, end, kind) for start, kind, end in ends]
    await services.graph.create_relations(relations, ORIGIN)


async def content_of(services: Services) -> tuple[object, ...]:
    """Return everything in the memory but its ids and times."""
    graph = await services.graph.read(None, EVERYTHING)
    counts = await services.listing.counts()
    return sorted(graph.entities, key=lambda e: e.name), set(graph.relations), counts
