"""Looking after the memory: whether it is whole, and whether what belongs to it works."""

from dataclasses import dataclass

from kmem_desktop.services.embedding import EmbeddingService
from kmem_desktop.store import documents, fulltext
from kmem_desktop.store.connection import Connection
from kmem_desktop.store.database import Database


@dataclass(frozen=True, slots=True)
class Health:
    """What a check of the memory found.

    Attributes:
        is_whole: Whether nothing is wrong.
        problems: What is wrong, in sentences.
        texts: How many searchable texts there are.
        without_vector: How many of them wait for their vector.
        meaning: Why meaning cannot be compared; empty where it can.
    """

    is_whole: bool
    problems: tuple[str, ...]
    texts: int
    without_vector: int
    meaning: str


class MaintenanceService:
    """Checks the memory."""

    def __init__(self, database: Database, embedding: EmbeddingService) -> None:
        """Look after `database` and what `embedding` keeps of it."""
        self._database = database
        self._embedding = embedding

    async def check(self) -> Health:
        """Read everything once: the file's structure, the index, and each text's own hash."""
        problems = await self._database.read(_problems)
        if not await self._database.write(fulltext.is_sound):
            problems.append("The search index does not fit the texts.")
        progress = await self._embedding.measured()
        return Health(
            is_whole=not problems,
            problems=tuple(problems),
            texts=progress.total,
            without_vector=progress.total - progress.done,
            meaning=self._embedding.failure,
        )


def _problems(connection: Connection) -> list[str]:
    found = [str(row[0]) for row in connection.execute("PRAGMA integrity_check(20)")]
    problems = [] if found == ["ok"] else found
    damaged = documents.damaged_ids(connection)
    if damaged:
        problems.append(f"{len(damaged)} texts are not as they were stored.")
    return problems
