"""Builds database, change feed and services, the same way for every program of kmem."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from kmem_desktop.config import Paths, SettingsFile, resource_path
from kmem_desktop.events import ChangeFeed
from kmem_desktop.platforms.allocator import share_heaps
from kmem_desktop.providers.embedded import EmbeddedModel
from kmem_desktop.providers.model import Model
from kmem_desktop.services.activity import ActivityService
from kmem_desktop.services.embedding import EmbeddingService
from kmem_desktop.services.graph import GraphService
from kmem_desktop.services.history import HistoryService
from kmem_desktop.services.importing.any_import import AnyImport
from kmem_desktop.services.importing.memories import MemoriesImport
from kmem_desktop.services.importing.reference_memory import ImportingService
from kmem_desktop.services.importing.transcripts import TranscriptService
from kmem_desktop.services.knowledge import KnowledgeService
from kmem_desktop.services.library.service import LibraryServices
from kmem_desktop.services.listing import ListingService
from kmem_desktop.services.maintenance import MaintenanceService
from kmem_desktop.services.models.service import ModelService
from kmem_desktop.services.retrieval.absence import AbsenceService
from kmem_desktop.services.retrieval.retrieval_tests import RetrievalTestService
from kmem_desktop.services.rules.service import RuleServices
from kmem_desktop.services.sessions.browsing import SessionPages
from kmem_desktop.services.sessions.digests import SessionDigests
from kmem_desktop.services.sessions.exchanges import SessionService
from kmem_desktop.services.sessions.inbox import InboxService
from kmem_desktop.services.sessions.life import SessionLife
from kmem_desktop.services.sessions.privacy import PrivacyService
from kmem_desktop.services.sessions.recall import SessionRecall
from kmem_desktop.services.sessions.relating import EntryRelationService
from kmem_desktop.services.sessions.saving import KnowledgeSaving
from kmem_desktop.services.sessions.summaries import SessionSummaries, SummaryModel
from kmem_desktop.services.sessions.upkeep import SessionUpkeep, lifecycle_rules
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
    memories_import: MemoriesImport
    transcripts: TranscriptService
    imports: AnyImport
    rules: RuleServices
    sessions: SessionService
    recall: SessionRecall
    session_life: SessionLife
    session_upkeep: SessionUpkeep
    session_pages: SessionPages
    saving: KnowledgeSaving
    library: LibraryServices
    privacy: PrivacyService
    inbox: InboxService
    entry_relations: EntryRelationService
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
        services = _built(paths, database)
        services.embedding.start()
        services.retrieval_tests.start()
        try:
            yield services
        finally:
            await _stop(services)


def _built(paths: Paths, database: Database) -> Services:
    feed, settings = ChangeFeed(), SettingsFile(paths.settings)
    models = ModelService(database, paths.settings)
    embedding = _embedding(database, feed, models)
    history = HistoryService(database, feed)
    sessions = SessionService(database, feed, embedding, models)
    importing = ImportingService(database, feed)
    memories = MemoriesImport(database, feed, history)
    transcripts = TranscriptService(database, feed, settings)
    library = LibraryServices(database, feed)
    rules = RuleServices(
        database,
        feed,
        embedding,
        models.detect,
        lambda: settings.refresh().hands_out_proposed_rules,
    )
    knowledge = KnowledgeService(database, feed, embedding, models)
    digests = SessionDigests(database)
    model = SummaryModel(models.chat, models.is_chat_chosen, models.is_chat_local)
    summaries = SessionSummaries(database, embedding, model)
    recall = SessionRecall(database, feed, sessions, digests, summaries, models.chat)
    life = SessionLife(database, feed, recall)
    return Services(
        paths=paths,
        feed=feed,
        knowledge=knowledge,
        graph=GraphService(database, feed, embedding),
        history=history,
        listing=ListingService(database, embedding),
        importing=importing,
        memories_import=memories,
        transcripts=transcripts,
        imports=AnyImport(transcripts, memories, importing, library.importing),
        rules=rules,
        sessions=sessions,
        recall=recall,
        session_life=life,
        session_upkeep=SessionUpkeep(
            database,
            feed,
            recall,
            life,
            digests,
            summaries,
            lambda: lifecycle_rules(settings.refresh()),
        ),
        session_pages=SessionPages(database, feed, embedding, recall, knowledge, rules),
        saving=KnowledgeSaving(database, feed),
        library=library,
        privacy=PrivacyService(database, feed),
        inbox=InboxService(
            database, feed, embedding, lambda: settings.refresh().hands_out_proposed_knowledge
        ),
        entry_relations=EntryRelationService(database, feed, embedding),
        embedding=embedding,
        maintenance=MaintenanceService(database, embedding),
        models=models,
        activity=ActivityService(),
        absence=AbsenceService(database, embedding, sessions),
        retrieval_tests=RetrievalTestService(database, embedding, sessions),
    )


def _embedding(database: Database, feed: ChangeFeed, models: ModelService) -> EmbeddingService:
    """Return the service on the model that a person chose, with those that stand in for it."""
    bundled = EmbeddedModel(resource_path("embedding"))
    chosen, before = models.embeddings.model(), models.embeddings.models_before()
    stand_ins: tuple[Model, ...] = (bundled, *before) if chosen else before
    embedding = EmbeddingService(database, feed, chosen or bundled, stand_ins)
    models.embeddings.on_model = lambda model: embedding.switch_to(model or bundled)
    models.embeddings.on_stay = embedding.cancel_switch
    return embedding


async def _stop(services: Services) -> None:
    await services.library.stop()
    await services.inbox.stop()
    await services.entry_relations.stop()
    await services.session_life.stop()
    await services.rules.stop()
    await services.retrieval_tests.stop()
    await services.sessions.settle()
    await services.models.stop()
    await services.embedding.stop()
