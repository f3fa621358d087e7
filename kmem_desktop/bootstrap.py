"""Builds database, change feed and services, the same way for every program of kmem."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from kmem_desktop.config import Paths, SettingsFile, resource_path
from kmem_desktop.events import ChangeFeed
from kmem_desktop.platforms.allocator import share_heaps
from kmem_desktop.providers.embedded import EmbeddedModel
from kmem_desktop.services.activity import ActivityService
from kmem_desktop.services.embedding import EmbeddingService
from kmem_desktop.services.graph import GraphService
from kmem_desktop.services.history import HistoryService
from kmem_desktop.services.importing.reference_memory import ImportingService
from kmem_desktop.services.knowledge import KnowledgeService
from kmem_desktop.services.listing import ListingService
from kmem_desktop.services.maintenance import MaintenanceService
from kmem_desktop.services.models.service import ModelService
from kmem_desktop.services.retrieval.absence import AbsenceService
from kmem_desktop.services.retrieval.retrieval_tests import RetrievalTestService
from kmem_desktop.services.rules.service import RuleServices
from kmem_desktop.services.sessions.exchanges import SessionService
from kmem_desktop.services.sessions.recall import SessionRecall
from kmem_desktop.services.sessions.saving import KnowledgeSaving
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
    rules: RuleServices
    sessions: SessionService
    recall: SessionRecall
    saving: KnowledgeSaving
    embedding: EmbeddingService
    maintenance: MaintenanceService
    models: ModelService
    activity: ActivityService
    absence: AbsenceService
    retrieval_tests: RetrievalTestService


@asynccontextmanager
async def opened_services(paths: Paths) -> AsyncIterator[Services]:
    """Open the memory and build the services on it, for the length of a `with` block.

    Raises:
        StoreError: The database is of another program, too new, damaged, or not to be opened.
    """
    share_heaps()
    async with Database.opened(paths.database) as database:
        feed = ChangeFeed()
        bundled = EmbeddedModel(resource_path("embedding"))
        models = ModelService(database, paths.settings)
        chosen = models.embedding_model()
        embedding = EmbeddingService(
            database, feed, chosen or bundled, (bundled,) if chosen else ()
        )
        models.on_embedding_model = lambda model: embedding.switch_to(model or bundled)
        embedding.start()
        sessions = SessionService(database, feed, embedding, models)
        settings = SettingsFile(paths.settings)
        rules = RuleServices(
            database,
            feed,
            embedding,
            models.detect,
            lambda: settings.refresh().hands_out_proposed_rules,
        )
        retrieval_tests = RetrievalTestService(database, embedding, sessions)
        retrieval_tests.start()
        try:
            yield Services(
                paths=paths,
                feed=feed,
                knowledge=KnowledgeService(database, feed, embedding, models),
                graph=GraphService(database, feed, embedding),
                history=HistoryService(database, feed),
                listing=ListingService(database, embedding),
                importing=ImportingService(database, feed),
                rules=rules,
                sessions=sessions,
                recall=SessionRecall(database, feed, embedding, sessions, models.chat),
                saving=KnowledgeSaving(database, feed),
                embedding=embedding,
                maintenance=MaintenanceService(database, embedding),
                models=models,
                activity=ActivityService(),
                absence=AbsenceService(database, embedding, sessions),
                retrieval_tests=retrieval_tests,
            )
        finally:
            await rules.stop()
            await retrieval_tests.stop()
            await sessions.settle()
            await models.stop()
            await embedding.stop()
