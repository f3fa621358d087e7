"""Looking after the memory: whether it is whole, and giving back the space that it no longer needs.

Space is given back on demand, and by itself at most once a day, when nobody has used the memory for
some minutes and a good part of the file is not needed. Old history is packed, the index is merged,
and the file is written anew; everything that can be undone before can be undone afterwards.
"""

import asyncio
import logging
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from kmem_desktop.domain.space import Space, SpaceGivenBack
from kmem_desktop.errors import DamagedStoreError, KmemError, StoreBusyError
from kmem_desktop.services.background import BackgroundTask
from kmem_desktop.services.embedding import EmbeddingService
from kmem_desktop.store import documents, fulltext, history_packs, space
from kmem_desktop.store.connection import Connection
from kmem_desktop.store.database import Database

log = logging.getLogger(__name__)

IDLE_S = 300.0
LOOK_EVERY_S = 60.0
AT_MOST_EVERY = timedelta(days=1)
LEAST_SPARE_SHARE = 0.25
LEAST_SPARE_BYTES = 8_000_000
FOLD_TRIES = 3


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
    """Checks the memory and gives back space."""

    def __init__(self, database: Database, embedding: EmbeddingService) -> None:
        """Look after `database` and what `embedding` keeps of it."""
        self._database = database
        self._embedding = embedding
        self._is_running = False
        self._watch = BackgroundTask()

    def start(self) -> None:
        """Begin to look now and then whether space is to be given back."""
        self._watch.begin(self._look_now_and_then())

    async def stop(self) -> None:
        """End that; work that has begun is finished or interrupted when the database closes."""
        await self._watch.end()

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

    async def space(self) -> Space:
        """Return what the memory takes on the disk, and how much of that can be given back."""
        return await self._database.read(lambda c: space.measure(c, self._database.path))

    async def run(self, tell: Callable[[str], None] = lambda _step: None) -> SpaceGivenBack:
        """Check the memory, then give back the space that it does not need.

        Other writes wait while the file is written anew: a second or so for each 50 MB.

        Args:
            tell: Hears what is being done, in a few words.

        Raises:
            DamagedStoreError: The memory is damaged; nothing was changed.
            StoreBusyError: It is being done already, or another program is writing.
            StoreError: The disk has too little room; nothing was changed.
        """
        if self._is_running:
            raise StoreBusyError("This is being done already.", hint="It takes a moment.")
        self._is_running = True
        try:
            return await self._run(tell)
        finally:
            self._is_running = False

    async def _run(self, tell: Callable[[str], None]) -> SpaceGivenBack:
        database, started = self._database, time.monotonic()
        before = await self.space()
        # Not on the loop's thread: it asks the disk.
        await database.read(lambda _: space.require_room(before, database.path))
        now = datetime.now(UTC)
        await database.write(lambda c: space.note_run(c, now))
        tell("Checking the memory")
        health = await self.check()
        if not health.is_whole:
            raise DamagedStoreError(
                f"The memory is damaged: {health.problems[0]} Nothing was changed.",
                hint="Copy the file and its -wal before anything else.",
            )
        tell("Packing old history")
        kept_open = history_packs.KEPT_OPEN
        while await database.write(lambda c: history_packs.freeze_some(c, kept_open=kept_open)):
            pass
        tell("Tidying the search index")
        is_more = await database.write(lambda c: space.merge_index(c, is_first=True))
        while is_more:
            is_more = await database.write(lambda c: space.merge_index(c, is_first=False))
        tell("Giving space back")
        await database.alone(space.compact)
        is_folded = await self._fold_log()
        after = await self.space()
        return SpaceGivenBack(
            before.file_bytes,
            after.file_bytes,
            time.monotonic() - started,
            waits_for_others=not is_folded,
        )

    async def _fold_log(self) -> bool:
        for _ in range(FOLD_TRIES):
            if await self._database.alone(space.fold_log):
                return True
        return False

    async def run_if_due(self, now: datetime) -> SpaceGivenBack | None:
        """Give space back if nobody uses the memory, it is worth it, and a day has passed.

        Returns:
            None where nothing was done.
        """
        if time.monotonic() - self._database.used_at < IDLE_S:
            return None
        last = await self._database.read(space.last_run)
        if last is not None and now - last < AT_MOST_EVERY:
            return None
        found = await self.space()
        if found.spare_share < LEAST_SPARE_SHARE or found.spare_bytes < LEAST_SPARE_BYTES:
            return None
        return await self.run()

    async def _look_now_and_then(self) -> None:
        while True:
            await asyncio.sleep(LOOK_EVERY_S)
            try:
                if outcome := await self.run_if_due(datetime.now(UTC)):
                    megabytes = (outcome.before_bytes - outcome.after_bytes) / 1e6
                    log.info("Gave %.1f MB back in %.1f s", megabytes, outcome.took_s)
            except KmemError as error:
                log.info("No space was given back: %s", error.message)
            except Exception:
                log.exception("Giving space back failed")


def _problems(connection: Connection) -> list[str]:
    fulltext.refresh(connection)
    found = [str(row[0]) for row in connection.execute("PRAGMA integrity_check(20)")]
    problems = [] if found == ["ok"] else found
    damaged = documents.damaged_ids(connection)
    if damaged:
        problems.append(f"{len(damaged)} texts are not as they were stored.")
    if damaged_packs := history_packs.count_damaged(connection):
        problems.append(f"{damaged_packs} packs of old history cannot be read.")
    return problems
