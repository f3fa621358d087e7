"""Builds database, change feed and services, the same way for every program of kmem."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from kmem_desktop.config import Paths, resource_path
from kmem_desktop.events import ChangeFeed
from kmem_desktop.platforms.allocator import share_heaps
from kmem_desktop.providers.embedded import EmbeddedModel
from kmem_desktop.services.activity import ActivityService
from kmem_desktop.services.embedding import EmbeddingService
from kmem_desktop.services.graph import GraphService
from kmem_desktop.services.history import HistoryService
from kmem_desktop.services.importing import ImportingService
from kmem_desktop.services.knowledge import KnowledgeService
from kmem_desktop.services.listing import ListingService
from kmem_desktop.services.maintenance import MaintenanceService
from kmem_desktop.services.sessions import SessionService
from kmem_desktop.store.database import Database


@dataclass(frozen=True, slots=True)
class Services:
    """Every use case, ready to be called."""

    paths: Paths
    feed: ChangeFeed
    knowledge: KnowledgeService
    graph: GraphService
    history: HistoryService
    listing: ListingService
    importing: ImportingService
    sessions: SessionService
    embedding: EmbeddingService
    maintenance: MaintenanceService
    activity: ActivityService


@asynccontextmanager
async def opened_services(paths: Paths) -> AsyncIterator[Services]:
    """Open the memory and build the services on it, for the length of a `with` block.

    Raises:
        StoreError: The database is of another program, too new, damaged, or not to be opened.
    """
    share_heaps()
    async with Database.opened(paths.database) as database:
        feed = ChangeFeed()
        model = EmbeddedModel(resource_path("embedding"))
        embedding = EmbeddingService(database, feed, model)
        embedding.start()
        sessions = SessionService(database, feed, embedding)
        try:
            yield Services(
                paths=paths,
                feed=feed,
                knowledge=KnowledgeService(database, feed, embedding),
                graph=GraphService(database, feed, embedding),
                history=HistoryService(database, feed),
                listing=ListingService(database, embedding),
                importing=ImportingService(database, feed),
                sessions=sessions,
                embedding=embedding,
                maintenance=MaintenanceService(database, embedding),
                activity=ActivityService(),
            )
        finally:
            await sessions.settle()
            await embedding.stop()
