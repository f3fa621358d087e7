"""Everything about rules in one place, for bootstrap and the front doors."""

from collections.abc import Callable

from kmem_desktop.events import ChangeFeed
from kmem_desktop.services.embedding import EmbeddingService
from kmem_desktop.services.rules.detecting import ContextDetector, ModelDetector
from kmem_desktop.services.rules.folders import RuleFolders
from kmem_desktop.services.rules.ingestion import RuleIngestion
from kmem_desktop.services.rules.library import RuleLibrary
from kmem_desktop.services.rules.querying import RuleQueries
from kmem_desktop.services.rules.relating import RuleRelations
from kmem_desktop.store.database import Database


class RuleServices:
    """The use cases of rules.

    Attributes:
        detector: Tells what a task is about.
        ingestion: Takes documents in.
        folders: The folders that are read and watched.
        library: What is kept.
        queries: Directives for a task.
        relations: What is worked out in the background.
    """

    def __init__(
        self,
        database: Database,
        feed: ChangeFeed,
        embedding: EmbeddingService,
        model: ModelDetector | None = None,
        shows_proposed: Callable[[], bool] = lambda: True,
    ) -> None:
        """Work on `database`, tell and hear of changes by `feed`, compare by `embedding`.

        `model` is asked what a task is about; None for kmem's own head alone. `shows_proposed`
        tells whether rules are handed out that no person has approved.
        """
        self.detector = ContextDetector(embedding, model)
        self.ingestion = RuleIngestion(database, feed)
        self.folders = RuleFolders(database, feed, self.ingestion)
        self.library = RuleLibrary(database, feed)
        self.queries = RuleQueries(database, feed, self.detector, shows_proposed)
        self.relations = RuleRelations(database, feed, embedding)

    def start(self) -> None:
        """Begin to work in the background and to watch the folders: what a resident does."""
        self.relations.start()
        self.folders.start()

    async def stop(self) -> None:
        """End the background work."""
        await self.folders.stop()
        await self.relations.stop()
