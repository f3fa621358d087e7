"""Meaning: keeps a vector for every text, in the background, and compares questions with them.

A store never waits for it. Texts without a vector are found in the database, embedded in batches by
a thread of their own, and written in one transaction a batch: what is done survives a crash, and
what is not done is found again. All vectors are in memory too, for exact comparison.
"""

import asyncio
import contextlib
import functools
import importlib
import logging
import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from kmem_desktop.domain.changes import Noun
from kmem_desktop.errors import KmemError, ProviderError
from kmem_desktop.events import Change, ChangeFeed
from kmem_desktop.store import fulltext
from kmem_desktop.store import vectors as vector_rows
from kmem_desktop.store.connection import Connection
from kmem_desktop.store.database import Database
from kmem_desktop.store.documents import text_hash

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from kmem_desktop.search.matrix import VectorMatrix

log = logging.getLogger(__name__)

BATCH_COUNT = 32
LOAD_COUNT = 20_000
RELEASE_AFTER_S = 60.0
REMEMBERED_QUESTIONS = 256
LONGEST_TEXT = 8_000


class Model(Protocol):
    """What turns texts into vectors."""

    name: str
    dimension: int

    def is_available(self) -> bool:
        """Return whether it can be used."""

    def is_loaded(self) -> bool:
        """Return whether it is in memory."""

    def embed(self, texts: Sequence[str]) -> "NDArray[np.float32]":
        """Return normalised vectors, shape (n, dimension). Blocks."""

    def release(self) -> None:
        """Give its memory back."""


@dataclass(frozen=True, slots=True)
class Progress:
    """How far the background work is.

    Attributes:
        done: Texts that have a vector.
        total: Texts that are to have one.
    """

    done: int
    total: int


class Meaning:
    """A question's meaning, ready to be compared; used on the database's reader threads."""

    def __init__(self, question: "NDArray[np.float32]", index: "EmbeddingService") -> None:
        """Compare `question` with the vectors of `index`."""
        self._question = question
        self._index = index

    def nearest(self, count: int) -> list[int]:
        """Return the ids of the most similar documents, best first."""
        ids, _ = self._index.locked(lambda matrix: matrix.nearest(self._question, count))
        return [int(document_id) for document_id in ids]

    def cosines(
        self, ids: Sequence[int], neighbours: Sequence[tuple[int, int, int]]
    ) -> dict[int, float]:
        """Return how similar these documents are; those without a vector are left out.

        Args:
            ids: The documents.
            neighbours: (document, neighbour, distance) for those that are read with neighbours.
        """
        row_of = {document_id: row for row, document_id in enumerate(ids)}
        places = [(row_of[here], distance) for here, _, distance in neighbours if here in row_of]
        around = [there for here, there, _ in neighbours if here in row_of]

        def work(matrix: "VectorMatrix") -> tuple[Any, Any, list[bool]]:
            known = [document_id in matrix for document_id in ids]
            return matrix.rows(ids), matrix.rows(around), known

        own, others, known = self._index.locked(work)
        matrix_module = importlib.import_module("kmem_desktop.search.matrix")
        cosines = matrix_module.with_neighbours(own, others, places) @ self._question
        return {
            document_id: float(cosine)
            for document_id, cosine, has_vector in zip(ids, cosines, known, strict=True)
            if has_vector
        }


class EmbeddingService:
    """Keeps the vectors and answers questions about meaning."""

    def __init__(self, database: Database, feed: ChangeFeed, model: Model) -> None:
        """Work on `database`, hear of new texts by `feed`, and use `model`."""
        self._database = database
        self._feed = feed
        self._model = model
        self._model_id = 0
        self._matrix: VectorMatrix | None = None
        self._lock = threading.Lock()
        self._news = asyncio.Event()
        self._is_ready = asyncio.Event()
        self._maybe_gone: set[int] = set()
        self._remembered: OrderedDict[str, NDArray[np.float32]] = OrderedDict()
        self._batches = ThreadPoolExecutor(1, thread_name_prefix="kmem-embedding")
        self._questions = ThreadPoolExecutor(1, thread_name_prefix="kmem-question")
        self._task: asyncio.Task[None] | None = None
        self._forget: Callable[[], None] | None = None
        self.progress = Progress(0, 0)
        self.failure = ""

    @property
    def is_available(self) -> bool:
        """Whether meaning can be compared; where not, search goes by words alone."""
        return not self.failure and self._model.is_available()

    def start(self) -> None:
        """Begin to work in the background."""
        if not self._model.is_available():
            self.failure = "The embedding model is not available: search goes by words alone."
            log.info(self.failure)
            return
        self._forget = self._feed.subscribe(self._on_change)
        self._task = asyncio.ensure_future(self._run())

    async def stop(self) -> None:
        """End the background work; what is not done is done after the next start."""
        if self._forget is not None:
            self._forget()
        if self._task is not None:
            self._task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._task
        loop = asyncio.get_running_loop()
        for pool in (self._batches, self._questions):
            shut_down = functools.partial(pool.shutdown, cancel_futures=True)
            await loop.run_in_executor(None, shut_down)

    async def measured(self) -> Progress:
        """Count in the database how far the work is, whoever does it."""
        name, dimension = self._model.name, self._model.dimension

        def work(connection: Connection) -> Progress:
            model = vector_rows.model_id(connection, name, dimension)
            total = vector_rows.count_documents(connection)
            return Progress(total - vector_rows.count_pending(connection, model), total)

        return await self._database.write(work)

    async def settled(self) -> None:
        """Wait until every text that is there now has its vector, or the work has failed."""
        while self.is_available and self._task is not None and not self._task.done():
            if await self._database.read(lambda c: self._is_ready.is_set() and self._left(c) == 0):
                return
            await asyncio.sleep(0.02)

    async def meaning_of(self, question: str, *, wait: bool = True) -> Meaning | None:
        """Return a question's meaning; None where it cannot be had.

        Args:
            question: Any text.
            wait: Wait for the model to load; else return None until it is there.
        """
        if not self.is_available or self._task is None:
            return None
        if not self._is_ready.is_set() or not self._model.is_loaded():
            if not wait:
                self._questions.submit(self._embed_quietly, "warm up")
                return None
            await self._is_ready.wait()
        vector = self._remembered.get(question)
        if vector is None:
            loop = asyncio.get_running_loop()
            vector = await loop.run_in_executor(self._questions, self._embed_quietly, question)
            if vector is None:
                return None
            self._remembered[question] = vector
            if len(self._remembered) > REMEMBERED_QUESTIONS:
                self._remembered.popitem(last=False)
        return Meaning(vector, self)

    def locked(self, work: "Callable[[VectorMatrix], Any]") -> Any:
        """Run `work` on the vectors in memory, alone."""
        if self._matrix is None:
            raise ProviderError("The vectors are not loaded yet.")
        with self._lock:
            return work(self._matrix)

    def _embed_quietly(self, question: str) -> "NDArray[np.float32] | None":
        try:
            vector: NDArray[np.float32] = self._model.embed([question[:LONGEST_TEXT]])[0]
        except KmemError as error:
            self._fail(error)
            return None
        return vector

    def _fail(self, error: KmemError) -> None:
        if not self.failure:
            self.failure = f"{error.message} Search goes by words alone."
            log.warning(self.failure)

    def _on_change(self, change: Change) -> None:
        self._maybe_gone.update(change.ids)
        self._news.set()

    async def _run(self) -> None:
        try:
            await self._load()
            while True:
                await self._embed_all()
                await self._wait_for_news()
        except KmemError as error:
            self._fail(error)
            self._is_ready.set()
        except Exception:
            log.exception("The background embedding failed")
            self.failure = "Embedding failed; search goes by words alone."
            self._is_ready.set()

    async def _load(self) -> None:
        """Bring the vectors into memory; numpy is first imported here, off the loop's thread."""
        loop = asyncio.get_running_loop()
        matrix_module = await loop.run_in_executor(
            self._batches, importlib.import_module, "kmem_desktop.search.matrix"
        )
        self._to_int8 = matrix_module.to_int8
        matrix = matrix_module.VectorMatrix(self._model.dimension)
        self._model_id = await self._database.write(
            lambda c: vector_rows.model_id(c, self._model.name, self._model.dimension)
        )
        after_id = 0
        while True:
            after_id, count = await self._database.read(
                functools.partial(self._load_some, matrix, after_id)
            )
            if count < LOAD_COUNT:
                break
        self._matrix = matrix
        self._is_ready.set()

    def _load_some(
        self, matrix: "VectorMatrix", after_id: int, connection: Connection
    ) -> tuple[int, int]:
        rows = vector_rows.some_after(connection, self._model_id, after_id, LOAD_COUNT)
        matrix.put(rows)
        return (rows[-1][0] if rows else after_id), len(rows)

    async def _wait_for_news(self) -> None:
        while not self._news.is_set():
            try:
                async with asyncio.timeout(RELEASE_AFTER_S):
                    await self._news.wait()
            except TimeoutError:
                self._model.release()
        self._news.clear()
        await self._drop_gone()

    async def _drop_gone(self) -> None:
        ids = list(self._maybe_gone)
        self._maybe_gone.clear()
        if ids:
            there = await self._database.read(
                lambda c: fulltext.passing(c, fulltext.Filters(), ids)
            )
            gone = [document_id for document_id in ids if document_id not in there]
            self.locked(lambda matrix: matrix.remove(gone))

    async def _embed_all(self) -> None:
        total, left = await self._database.read(
            lambda c: (vector_rows.count_documents(c), self._left(c))
        )
        after_id = 0
        while True:
            self.progress = Progress(total - max(0, left), total)
            rows = await self._database.read(functools.partial(self._pending, after_id))
            if not rows:
                return
            await self._embed_batch(rows)
            after_id = rows[-1][0]
            left -= len(rows)

    def _pending(self, after_id: int, connection: Connection) -> list[tuple[int, Noun, str, str]]:
        return vector_rows.pending(connection, self._model_id, after_id, BATCH_COUNT)

    def _left(self, connection: Connection) -> int:
        return vector_rows.count_pending(connection, self._model_id)

    async def _embed_batch(self, rows: list[tuple[int, Noun, str, str]]) -> None:
        loop = asyncio.get_running_loop()
        texts = [embedded_text(noun, title, body) for _, noun, title, body in rows]
        # The same short text is said often ("thanks", "go on"): it is embedded once.
        distinct = list(dict.fromkeys(texts))
        found = await loop.run_in_executor(self._batches, self._model.embed, distinct)
        packed = [vector.tobytes() for vector in self._to_int8(found)]
        vector_of = dict(zip(distinct, packed, strict=True))
        vectors = [
            (row[0], text_hash(row[2], row[3]), vector_of[text])
            for row, text in zip(rows, texts, strict=True)
        ]
        kept = await self._database.write(lambda c: vector_rows.put(c, self._model_id, vectors))
        is_kept = set(kept)
        self.locked(lambda matrix: matrix.put((i, v) for i, _, v in vectors if i in is_kept))


def embedded_text(noun: Noun, title: str, body: str) -> str:
    """Return the text whose vector stands for a document."""
    if noun is Noun.TURN or not title:
        return body[:LONGEST_TEXT]
    separator = ": " if noun is Noun.OBSERVATION else ". "
    return f"{title}{separator}{body}"[:LONGEST_TEXT]
