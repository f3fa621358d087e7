"""Space: what comes back after nine of ten items were deleted, and that they can still be undone.

The vectors are made up: they take what real ones take, and making those takes a minute.
"""

import asyncio
import random
import tempfile
import time
from pathlib import Path

import numpy as np

from kmem_desktop.config import resource_path
from kmem_desktop.domain.knowledge import KnowledgeItem
from kmem_desktop.events import ChangeFeed
from kmem_desktop.providers.embedded import EmbeddedModel
from kmem_desktop.search.matrix import to_int8
from kmem_desktop.services.embedding import EmbeddingService
from kmem_desktop.services.history import HistoryService
from kmem_desktop.services.knowledge import KnowledgeService
from kmem_desktop.services.maintenance import MaintenanceService
from kmem_desktop.store import vectors
from kmem_desktop.store.connection import Connection
from kmem_desktop.store.database import Database
from tests.benchmarks.measures import ORIGIN, Measure
from tests.benchmarks.texts import english_draft

ITEMS = 10_000
DELETED_SHARE = 0.9
UNDONE = 100


def space(items: int = ITEMS) -> list[Measure]:
    """Store items with vectors, delete most of them here and there, and give space back."""
    with tempfile.TemporaryDirectory() as folder:
        return asyncio.run(_measured(Path(folder) / "kmem.db", items))


async def _measured(file: Path, items: int) -> list[Measure]:
    async with Database.opened(file) as database:
        feed = ChangeFeed()
        embedding = EmbeddingService(database, feed, EmbeddedModel(resource_path("embedding")))
        knowledge = KnowledgeService(database, feed, embedding)
        history = HistoryService(database, feed)
        maintenance = MaintenanceService(database, embedding)
        chance = random.Random(4)
        stored: list[KnowledgeItem] = []
        for start in range(0, items, 100):
            drafts = [english_draft(number, chance) for number in range(start, start + 100)]
            stored += await asyncio.gather(*(knowledge.store(one, ORIGIN) for one in drafts))
        await database.write(_make_vectors)
        full_bytes = (await maintenance.space()).file_bytes
        doomed = chance.sample(stored, int(items * DELETED_SHARE))
        deletions = {}
        for start in range(0, len(doomed), 100):
            part = doomed[start : start + 100]
            done = await asyncio.gather(*(knowledge.delete(one.id, ORIGIN) for one in part))
            deletions.update({item.id: (item, change) for item, change in done})
        emptied = await maintenance.space()
        outcome = await maintenance.run()
        started = time.perf_counter()
        for item, change in chance.sample(list(deletions.values()), UNDONE):
            await history.undo(change, ORIGIN)
            assert await knowledge.get(item.id) == item
        undo_s = (time.perf_counter() - started) / UNDONE
        assert (await maintenance.check()).is_whole
    ratio = outcome.after_bytes / full_bytes
    return [
        Measure(f"{items} items with vectors, and the log", _megabytes(full_bytes)),
        Measure(
            f"after {len(doomed)} scattered deletes",
            _megabytes(emptied.file_bytes),
            f"{emptied.spare_bytes / 1e6:.1f} MB to give back",
        ),
        Measure(
            "after giving space back",
            _megabytes(outcome.after_bytes),
            f"{ratio:.1%} of full",
            "25 %",
        ),
        Measure("giving space back", f"{outcome.took_s:.2f} s"),
        Measure(f"undoing a packed deletion (of {UNDONE})", f"{undo_s * 1000:.1f} ms"),
    ]


def _megabytes(size_bytes: int) -> str:
    return f"{size_bytes / 1e6:.1f} MB"


def _make_vectors(connection: Connection) -> None:
    """Give each text a vector."""
    model = vectors.model_id(connection, EmbeddedModel.name, EmbeddedModel.dimension)
    vectors.serve(connection, model)
    texts = vectors.pending(connection, model, 0, ITEMS)
    made = np.random.default_rng(1).standard_normal((len(texts), EmbeddedModel.dimension))
    packed = to_int8((made / np.linalg.norm(made, axis=1, keepdims=True)).astype(np.float32))
    rows = [(t.id, t.text_hash, v.tobytes()) for t, v in zip(texts, packed, strict=True)]
    vectors.put(connection, model, rows)
