"""The services of the library, together."""

from kmem_desktop.events import ChangeFeed
from kmem_desktop.services.library.analysis import AnalysisService
from kmem_desktop.services.library.catalogue import CatalogueService
from kmem_desktop.services.library.exporting import ExportingService
from kmem_desktop.services.library.knowledge_import import KnowledgeImport
from kmem_desktop.services.library.picture import PictureService
from kmem_desktop.services.library.tags import TagService
from kmem_desktop.store.database import Database


class LibraryServices:
    """What can be done with the memory as a whole.

    Attributes:
        tags: Which tags there are, and changing many at once.
        exporting: Copies of the memory.
        importing: Bringing copies in.
        analysis: What the memory is made of.
        picture: Parts of the graph, to be drawn.
        catalogue: Short lists of conversations and knowledge, newest first.
    """

    def __init__(self, database: Database, feed: ChangeFeed) -> None:
        """Work on `database`, and tell `feed` what changed."""
        self.tags = TagService(database, feed)
        self.exporting = ExportingService(database)
        self.importing = KnowledgeImport(database, feed)
        self.analysis = AnalysisService(database)
        self.picture = PictureService(database)
        self.catalogue = CatalogueService(database)

    def start(self) -> None:
        """Go on with what an earlier run did not finish."""
        self.tags.start()

    async def stop(self) -> None:
        """End the work in the background."""
        await self.tags.stop()
