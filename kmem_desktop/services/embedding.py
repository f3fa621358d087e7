"""Meaning: keeps a vector for every text, in the background, and compares questions with them.

A store never waits for it. Texts without a vector are found in the database, embedded in batches by
a thread of their own, and written in one transaction a batch: what is done survives a crash, and
what is not done is found again. All vectors are in memory too, for exact comparison.

One model serves, and the database says which. When another one is wanted, it gets its vectors
beside those of the old one, which new texts still get first; questions are compared with the old
ones until every text has both. Then the new one serves, and the old vectors are removed. While the
wanted model fails, a stand-in takes over in the same way; the wanted one's vectors stay.
"""

import asyncio
import contextlib
import functools
import importlib
import logging
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from kmem_desktop.domain.changes import Noun
from kmem_desktop.errors import KmemError, ProviderError, ProviderUnavailableError
from kmem_desktop.events import Change, ChangeFeed
from kmem_desktop.platforms.priority import step_back
from kmem_desktop.providers.choice import RETRY_AFTER_S, ModelChoice
from kmem_desktop.providers.model import PROBE, Model, vectors_of
from kmem_desktop.search.meaning import Meaning as Meaning
from kmem_desktop.search.meaning import VectorIndex
from kmem_desktop.services import vector_work
from kmem_desktop.services.background import BackgroundTask
from kmem_desktop.services.vector_work import VectorWork
from kmem_desktop.store import vectors as vector_rows
from kmem_desktop.store.connection import Connection
from kmem_desktop.store.database import Database

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

log = logging.getLogger(__name__)

DROP_COUNT = 5_000
RELEASE_AFTER_S = 60.0
MOST_FRESH = 8
FRESH_PATIENCE_S = 0.04
"""A question waits so long for the vectors of up to so many texts that were just stored."""


@dataclass(frozen=True, slots=True)
class Progress:
    """How far the background work is: texts that have a vector, of those that are to have one."""

    done: int
    total: int


class EmbeddingService:
    """Keeps the vectors and answers questions about meaning.

    Attributes:
        progress: How far the model that is being worked for is.
        failure: Why meaning cannot be compared now; empty where it can.
    """

    def __init__(
        self, database: Database, feed: ChangeFeed, model: Model, stand_ins: Sequence[Model] = ()
    ) -> None:
        """Work on `database`, hear of new texts by `feed`.

        Args:
            database: Where texts and vectors are.
            feed: Tells of changes.
            model: The wanted model; where another one serves so far, a switch begins.
            stand_ins: Models that may serve where the wanted one cannot, the best first. One that
                the database was served by is named here too, to serve until a switch is done.
        """
        self._database = database
        self._feed = feed
        self._choice = ModelChoice(model, stand_ins)
        self._serving: VectorWork | None = None
        self._next: VectorWork | None = None
        self._goal: Model | None = None
        self._news = asyncio.Event()
        self._is_ready = asyncio.Event()
        self._is_calm = asyncio.Event()
        self._is_unfinished = False
        self._has_foreign_news = False
        self._foreign_version = 0
        self._changed: set[int] = set()
        self._fresh_count = 0
        self._batches = ThreadPoolExecutor(
            1, thread_name_prefix="kmem-embedding", initializer=step_back
        )
        self._questions = ThreadPoolExecutor(1, thread_name_prefix="kmem-question")
        self._work = BackgroundTask()
        self.progress = Progress(0, 0)
        self.failure = ""

    @property
    def is_available(self) -> bool:
        """Whether meaning can be compared; where not, search goes by words alone."""
        return not self.failure

    @property
    def serving(self) -> str:
        """The name of the model that questions are compared by; empty where none is ready."""
        return self._serving.model.name if self._serving else ""

    @property
    def switching_to(self) -> str:
        """The name of the model that is getting its vectors to serve next; empty where none is."""
        if self._next is None or self._goal is not self._next.model:
            return ""
        return self._next.model.name if self._choice.works(self._next.model) else ""

    def start(self) -> None:
        """Begin to work in the background."""
        if self._choice.goal(None, patience_s=0) is None:
            self._say_unavailable("The embedding model is not available")
        self._work.begin(self._run(), forget=self._feed.subscribe(self._on_change))

    async def stop(self) -> None:
        """End the background work; what is not done is done after the next start."""
        await self._work.end()
        loop = asyncio.get_running_loop()
        for pool in (self._batches, self._questions):
            shut_down = functools.partial(pool.shutdown, cancel_futures=True)
            await loop.run_in_executor(None, shut_down)

    async def switch_to(self, model: Model) -> None:
        """Let another model serve as soon as every text has a vector of it.

        What is missing is made in the background: see `switching_to` and `progress`.

        Raises:
            ProviderUnavailableError: It cannot be used; nothing has changed.
        """
        if not model.is_available():
            raise ProviderUnavailableError(
                f"The model {model.name} cannot be used.", hint="Check that it is there and runs."
            )
        self._choice.want(model)
        self._wake()

    async def cancel_switch(self) -> None:
        """Stay with the model that serves; what the other one has made is removed."""
        if self._serving is not None:
            self._goal = self._serving.model
            self._choice.want(self._serving.model)
            self._wake()

    def _wake(self) -> None:
        self._is_calm.clear()
        self._news.set()

    async def measured(self) -> Progress:
        """Count in the database how far the work is, whoever does it."""

        def work(connection: Connection) -> Progress:
            model = vector_rows.serving_model(connection)
            total = vector_rows.count_documents(connection)
            left = vector_rows.count_pending(connection, model.id) if model else total
            return Progress(total - left, total)

        return await self._database.read(work)

    async def settled(self) -> None:
        """Wait until every text that is there now has its vector, or the work has failed."""
        if self._work.is_running:
            await self._is_calm.wait()

    async def meaning_of(self, question: str, *, wait: bool = True) -> Meaning | None:
        """Return a question's meaning; None where it cannot be had.

        Args:
            question: Any text.
            wait: Wait for the model to load, and a moment for texts that were just stored; else
                return None until it is there.
        """
        if not self.is_available or not self._work.is_running:
            return None
        if self._serving is None or not self._serving.model.is_loaded():
            if not wait:
                model = self._serving.model if self._serving else self._choice.wanted
                if model is not None:
                    self._questions.submit(model.embed, [PROBE])
                return None
            await self._is_ready.wait()
        serving = self._serving
        if serving is None or not self.is_available:
            return None
        meaning = await self._meaning_by(serving, question)
        if wait:
            await self._await_fresh()
        return meaning

    async def _await_fresh(self) -> None:
        """Give the vectors of a few texts that were just stored a moment to be made.

        Who stores something and asks for it at once in other words is to find it. In a stream of
        changes, or while many texts wait, nobody waits for them.
        """
        if 0 < self._fresh_count <= MOST_FRESH and not self._is_calm.is_set():
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(FRESH_PATIENCE_S):
                    await self._is_calm.wait()

    async def vectors_of(self, texts: Sequence[str]) -> "NDArray[np.float32] | None":
        """Return the texts' vectors, shape (n, dimension), or None; raises ProviderError."""
        serving = self._serving
        if serving is None or not self.is_available or not texts:
            return None
        return await asyncio.to_thread(vectors_of, serving.model, texts)

    async def _meaning_by(self, serving: VectorWork, question: str) -> Meaning | None:
        vector = serving.index.remembered.get(question)
        if vector is None:
            loop = asyncio.get_running_loop()
            text = question[: vector_rows.LONGEST_TEXT]
            try:
                found = await loop.run_in_executor(
                    self._questions, serving.model.embed_questions, [text]
                )
            except KmemError as error:
                self._note_failing(serving.model, error)
                self._wake()  # so that it is tried again soon
                return None
            vector = found[0]
            serving.index.remember(question, vector)
        return Meaning(vector, serving.index)

    def _note_failing(self, model: Model, error: KmemError) -> None:
        if self._choice.note_failing(model):
            log.warning("The embedding model %s fails: %s", model.name, error.message)
        if self._serving is None or self._serving.model is model:
            self._say_unavailable(error.message.rstrip("."))

    def _note_working(self, model: Model) -> None:
        self._choice.note_working(model)
        if self._serving is not None and self._serving.model is model:
            self.failure = ""

    def _say_unavailable(self, reason: str) -> None:
        failure = f"{reason}: search goes by words alone."
        if failure != self.failure:
            self.failure = failure
            log.info(failure)

    def _on_change(self, change: Change) -> None:
        if change.noun in (Noun.SESSION, Noun.PROPOSAL):  # no texts: their ids are others
            return
        if self._is_calm.is_set():
            self._fresh_count = 0
        self._fresh_count += len(change.ids) or MOST_FRESH + 1
        self._changed.update(change.ids)
        self._has_foreign_news |= not change.ids
        self._wake()

    async def _run(self) -> None:
        try:
            while True:
                self._is_calm.clear()
                try:
                    await self._round()
                except KmemError as error:
                    self._say_unavailable(error.message.rstrip("."))
                    self._is_unfinished = True
                    self._has_foreign_news = True  # look at everything again
                self._is_ready.set()
                if self.failure or not self._news.is_set():
                    self._is_calm.set()
                await self._wait_for_news()
        except Exception:
            log.exception("The background embedding failed")
            self.failure = "Embedding failed; search goes by words alone."
        finally:
            self._is_ready.set()
            self._is_calm.set()

    async def _wait_for_news(self) -> None:
        while not self._news.is_set():
            is_in_trouble = self._choice.has_trouble or self._is_unfinished
            try:
                async with asyncio.timeout(RETRY_AFTER_S if is_in_trouble else RELEASE_AFTER_S):
                    await self._news.wait()
            except TimeoutError:
                if self._is_unfinished or await self._is_better():
                    return
                if not is_in_trouble and self._serving is not None:
                    await self._on_batches(self._serving.model.release)
        self._news.clear()

    async def _is_better(self) -> bool:
        """Return whether there is reason for another round; asks models, but not the database."""
        has_recovered = await self._try_failing()
        serving = self._serving.model if self._serving else None
        return has_recovered or self._choice.goal(serving) is not self._goal

    async def _on_batches(self, work: Callable[..., Any], *arguments: object) -> Any:
        return await asyncio.get_running_loop().run_in_executor(self._batches, work, *arguments)

    async def _round(self) -> None:
        """Do what there is to do: first for the model that serves, then for the next one."""
        self._is_unfinished = False
        await self._try_failing()
        await self._find_serving()
        self._is_ready.set()
        await self._take_changes()
        serving = self._serving
        if serving is not None and await self._fill(serving):
            self.failure = ""
        goal = self._goal = self._choice.goal(serving.model if serving else None)
        if goal is not None and (serving is None or goal is not serving.model):
            await self._move_to(goal)
        elif goal is not None:
            if self._next is not None:
                await self._on_batches(self._next.model.release)
            self._next = None
            await self._drop_others()

    async def _try_failing(self) -> bool:
        """Try the models that fail; return whether one works again."""
        has_recovered = False
        for model in self._choice.to_retry():
            try:
                await self._on_batches(model.embed, [PROBE])
                self._note_working(model)
                has_recovered = True
            except ProviderError as error:
                self._note_failing(model, error)
        return has_recovered

    async def _find_serving(self) -> None:
        """Make the model serve that the database names; name one where it names none."""
        recorded = await self._database.read(vector_rows.serving_model)
        if recorded is None:
            if (goal := self._choice.goal(None, patience_s=0)) is not None:
                work = await self._load(goal)
                await self._database.write(lambda c: vector_rows.serve(c, work.id))
                self._serving = work
            return
        if self._serving is not None and self._serving.id == recorded.id:
            return
        model = self._choice.named(recorded.name)
        if self._serving is not None:
            # Another process has switched. To go along with it is better than to fight.
            self._choice.wanted = model
            self._serving = self._next = None
        if model is None or not self._choice.works(model):
            self._say_unavailable(f"The model {recorded.name} is not available")
        else:
            self._serving = await self._load(model)

    async def _load(self, model: Model) -> VectorWork:
        """Bring a model's vectors into memory; numpy is first imported here, off the loop."""
        self._matrix_module = await self._on_batches(
            importlib.import_module, "kmem_desktop.search.matrix"
        )

        def begin(connection: Connection) -> vector_rows.EmbeddingModel | None:
            vector_rows.model_id(connection, model.name, model.dimension)
            return vector_rows.model_named(connection, model.name)

        row = await self._database.write(begin)
        assert row is not None  # noqa: S101 - it was made just now, for the type checker
        scale = row.scale or self._matrix_module.INT8_SCALE
        index = VectorIndex(self._matrix_module.VectorMatrix(model.dimension, scale))
        after_id, count = 0, vector_work.LOAD_COUNT
        while count == vector_work.LOAD_COUNT:
            after_id, count = await self._database.read(
                functools.partial(vector_work.load_some, index, row.id, after_id)
            )
            index.is_scaled |= bool(row.scale or count)
        return VectorWork(model, row.id, index)

    async def _take_changes(self) -> None:
        """Drop the vectors of texts that are gone, and fetch those that other processes made."""
        version = await self._database.foreign_version()
        is_foreign = self._has_foreign_news or version != (self._foreign_version or version)
        self._has_foreign_news, self._foreign_version = False, version
        changed, self._changed = list(self._changed), set()
        for work in (self._serving, self._next):
            if work is not None and is_foreign:
                work.seen_to = 0
                await self._database.read(functools.partial(vector_work.compare, work))
            elif work is not None and changed:
                work.seen_to = min(work.seen_to, min(changed) - 1)
                await self._database.read(
                    functools.partial(vector_work.drop_gone, work.index, changed)
                )

    async def _move_to(self, goal: Model) -> None:
        """Make vectors of another model; when every text has one, it serves."""
        if self._next is None or self._next.model is not goal:
            self._next = await self._load(goal)
        work = self._next
        if not await self._fill(work, until_news=True) or self._goal is not goal:
            return  # there is more to do, or a person has given it up meanwhile

        def serve(connection: Connection) -> bool:
            is_complete = vector_rows.count_pending(connection, work.id) == 0
            if is_complete:
                vector_rows.serve(connection, work.id)
            return is_complete

        if not await self._database.write(serve):
            # A text came in from another process: it is found when all are looked at again.
            work.seen_to = 0
            self._is_unfinished = True
            return
        log.info("Texts are compared by the model %s now", goal.name)
        old, self._serving, self._next = self._serving, work, None
        self.failure = ""
        if old is not None:
            await self._on_batches(old.model.release)
        await self._drop_others()

    async def _drop_others(self) -> None:
        """Remove the vectors of models that neither serve nor are wanted."""
        wanted = self._choice.wanted
        kept = {wanted.name} if wanted else set()
        if await self._database.read(lambda c: vector_rows.has_others(c, kept)):
            while await self._database.write(lambda c: vector_rows.drop_some(c, kept, DROP_COUNT)):
                pass

    async def _fill(self, work: VectorWork, *, until_news: bool = False) -> bool:
        """Make vectors for the texts without one; return whether none is left.

        Args:
            work: For its model.
            until_news: End when something has changed, but make one batch at least.
        """
        total, left = await self._database.read(functools.partial(vector_work.count, work))
        writing: asyncio.Future[None] | None = None
        rows, newest_id = await self._database.read(
            functools.partial(vector_work.pending, work, work.seen_to)
        )
        try:
            while rows:
                self.progress = Progress(total - left, total)
                texts = [row.text for row in rows]
                # While a batch is embedded, the next is read and the last is written.
                vectors, (following, newest_id) = await asyncio.gather(
                    self._on_batches(vectors_of, work.model, texts),
                    self._database.read(functools.partial(vector_work.pending, work, rows[-1].id)),
                )
                if writing is not None:
                    await writing
                writing = asyncio.ensure_future(self._keep(work, rows, vectors))
                self._note_working(work.model)
                left = max(0, left - len(rows))
                rows = following
                if until_news and self._news.is_set():
                    break
        except ProviderError as error:
            self._note_failing(work.model, error)
            return False
        finally:
            if writing is not None:
                await writing
        self.progress = Progress(total - left, total)
        if not rows:
            work.seen_to = newest_id
        return not rows and self._choice.works(work.model)

    async def _keep(
        self, work: VectorWork, rows: Sequence[vector_rows.Pending], vectors: "NDArray[np.float32]"
    ) -> None:
        """Write vectors to the disk, then show them to whoever compares."""
        loop = asyncio.get_running_loop()
        if not work.index.is_scaled:
            fitting = await loop.run_in_executor(None, self._matrix_module.fitting_scale, vectors)
            scale = await self._database.write(lambda c: vector_rows.set_scale(c, work.id, fitting))
            work.index.scale_by(scale)
        packed = await loop.run_in_executor(None, work.index.packed, vectors)
        new = [(row.id, row.text_hash, vector) for row, vector in zip(rows, packed, strict=True)]
        kept = set(await self._database.write(lambda c: vector_rows.put(c, work.id, new)))
        shown = [(document_id, vector) for document_id, _, vector in new if document_id in kept]
        await loop.run_in_executor(None, work.index.put, shown)
