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
        feed = ChangeFeed()
        bundled = EmbeddedModel(resource_path("embedding"))
        models = ModelService(database, paths.settings)
        chosen, before = models.embeddings.model(), models.embeddings.models_before()
        stand_ins: tuple[Model, ...] = (bundled, *before) if chosen else before
        embedding = EmbeddingService(database, feed, chosen or bundled, stand_ins)
        models.embeddings.on_model = lambda model: embedding.switch_to(model or bundled)
        models.embeddings.on_stay = embedding.cancel_switch
        embedding.start()
        history = HistoryService(database, feed)
        sessions = SessionService(database, feed, embedding, models)
        settings = SettingsFile(paths.settings)
        importing = ImportingService(database, feed)
        memories = MemoriesImport(database, feed, history)
        transcripts = TranscriptService(database, feed, settings)
        rules = RuleServices(
            database,
            feed,
            embedding,
            models.detect,
            lambda: settings.refresh().hands_out_proposed_rules,
        )
        knowledge = KnowledgeService(database, feed, embedding, models)
        digests = SessionDigests(database)
        summaries = SessionSummaries(
            database,
            embedding,
            SummaryModel(models.chat, models.is_chat_chosen, models.is_chat_local),
        )
        recall = SessionRecall(database, feed, sessions, digests, summaries, models.chat)
        session_life = SessionLife(database, feed, recall)
        retrieval_tests = RetrievalTestService(database, embedding, sessions)
        retrieval_tests.start()
        inbox = InboxService(
            database, feed, embedding, lambda: settings.refresh().hands_out_proposed_knowledge
        )
        entry_relations = EntryRelationService(database, feed, embedding)
        library = LibraryServices(database, feed)
        try:
            yield Services(
                paths=paths,
                feed=feed,
                knowledge=knowledge,
                graph=GraphService(database, feed, embedding),
                history=history,
                listing=ListingService(database, embedding),
                importing=importing,
                memories_import=memories,
                transcripts=transcripts,
                imports=AnyImport(transcripts, memories, importing),
                rules=rules,
                sessions=sessions,
                recall=recall,
                session_life=session_life,
                session_upkeep=SessionUpkeep(
                    database,
                    feed,
                    recall,
                    session_life,
                    digests,
                    summaries,
                    lambda: lifecycle_rules(settings.refresh()),
                ),
                session_pages=SessionPages(database, feed, embedding, recall, knowledge, rules),
                saving=KnowledgeSaving(database, feed),
                library=library,
                privacy=PrivacyService(database, feed),
                inbox=inbox,
                entry_relations=entry_relations,
                embedding=embedding,
                maintenance=MaintenanceService(database, embedding),
                models=models,
                activity=ActivityService(),
                absence=AbsenceService(database, embedding, sessions),
                retrieval_tests=retrieval_tests,
            )
        finally:
            await library.stop()
            await inbox.stop()
            await entry_relations.stop()
            await session_life.stop()
            await rules.stop()
            await retrieval_tests.stop()
            await sessions.settle()
            await models.stop()
            await embedding.stop()
