"""Search in 10,000, 100,000 and a million documents, beside plain FTS5 over the same texts.

The vectors are made up: comparing with them costs what comparing with real ones does, and making a
million real ones takes hours. The question is embedded by the real model.
"""

import asyncio
import gc
import os
import random
import tempfile
import time
import uuid
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import apsw
import numpy as np
import psutil  # type: ignore[import-untyped]

from kmem_desktop.bootstrap import opened_services
from kmem_desktop.config import paths
from kmem_desktop.domain.knowledge import Category, KnowledgeItem, KnowledgeQuery
from kmem_desktop.providers.embedded import EmbeddedModel
from kmem_desktop.search.matrix import to_int8
from kmem_desktop.search.query import parse
from kmem_desktop.store import knowledge, vectors
from kmem_desktop.store.connection import open_connection
from kmem_desktop.store.database import transaction
from kmem_desktop.store.documents import text_hash
from kmem_desktop.store.migrations import prepare_database
from tests.benchmarks.measures import Measure, percentile, spread
from tests.benchmarks.texts import english_draft, question

SIZES = {10_000: 15, 100_000: 25, 1_000_000: 120}
"""How many documents, and the bound of DESIGN.md for p95 in milliseconds."""
BATCH_COUNT = 5_000
QUESTIONS = 200
LARGEST_RESIDENT_MB = {100_000: 300}


def scale(sizes: tuple[int, ...] = (10_000, 100_000)) -> list[Measure]:
    """Measure search at each size."""
    return [measure for size in sizes for measure in _at(size)]


def million() -> list[Measure]:
    """Measure search in a million documents: some minutes, and 3 GB of disk."""
    return scale((1_000_000,))


def _at(size: int) -> list[Measure]:
    folder = os.environ.get("KMEM_BENCHMARKS_FOLDER")
    if folder:  # kept from one run to the next
        file = Path(folder) / f"{size}.db"
        if not file.exists():
            fill(file, size)
        return asyncio.run(_measured(file, size))
    with tempfile.TemporaryDirectory() as temporary:
        file = Path(temporary) / "kmem.db"
        fill(file, size)
        return asyncio.run(_measured(file, size))


def fill(file: Path, size: int) -> None:
    """Make a database of so many items, each with a vector."""
    prepare_database(file)
    connection = open_connection(file)
    connection.execute("PRAGMA synchronous=OFF")
    model = vectors.model_id(connection, EmbeddedModel.name, EmbeddedModel.dimension)
    numbers = np.random.default_rng(1)
    items = _items(size)
    for _ in range(0, size, BATCH_COUNT):
        made = numbers.standard_normal((BATCH_COUNT, EmbeddedModel.dimension), np.float32)
        packed = to_int8(made / np.linalg.norm(made, axis=1, keepdims=True))
        with transaction(connection):
            stored = [knowledge.insert(connection, next(items)) for _ in range(BATCH_COUNT)]
            rows = [
                (item.id, text_hash(item.title, item.content), vector.tobytes())
                for item, vector in zip(stored, packed, strict=True)
            ]
            vectors.put(connection, model, rows)
    connection.close()


def _items(size: int) -> Iterator[KnowledgeItem]:
    chance = random.Random(8)
    now = datetime.now(UTC)
    for number in range(size):
        draft = english_draft(number, chance)
        yield KnowledgeItem(
            id=0,
            uuid=str(uuid.UUID(int=chance.getrandbits(128))),
            title=draft.title,
            content=draft.content,
            tags=draft.tags,
            scope=draft.scope,
            category=Category.RULE,
            priority=5,
            confidence=0.8,
            source="benchmark",
            stored_by="Benchmark",
            created_at=now,
            updated_at=now,
        )


async def _measured(file: Path, size: int) -> list[Measure]:
    gc.collect()
    before = psutil.Process().memory_info().rss
    chance = random.Random(9)
    async with opened_services(paths(str(file))) as services:
        await services.embedding.settled()
        await services.knowledge.search(KnowledgeQuery("warm up"))
        hybrid = []
        for _ in range(QUESTIONS):
            query = KnowledgeQuery(question(chance), explain=False)
            started = time.perf_counter()
            await services.knowledge.search(query)
            hybrid.append(time.perf_counter() - started)
        grown = psutil.Process().memory_info().rss - before
        services.embedding.failure = "switched off for the measurement"
        lexical = []
        for _ in range(QUESTIONS):
            query = KnowledgeQuery(question(chance), explain=False)
            started = time.perf_counter()
            await services.knowledge.search(query)
            lexical.append(time.perf_counter() - started)
    plain = _plain_fts5(file, chance)
    ratio = percentile(hybrid, 0.95) / percentile(plain, 0.95)
    return [
        Measure(
            f"hybrid search at {size:,}, question of 8 words",
            spread(hybrid),
            f"p95 {ratio:.2f} x plain",
            f"p95 {SIZES[size]} ms",
        ),
        Measure(f"search by words alone at {size:,}", spread(lexical)),
        Measure(f"plain FTS5 at {size:,}: OR, ORDER BY rank LIMIT 10", spread(plain)),
        Measure(f"memory that it takes at {size:,}, model loaded", f"{grown / 1e6:.0f} MB"),
        Measure(f"database per 1,000 items at {size:,}", f"{_bytes(file) / size / 1e3:.2f} MB"),
    ]


def _bytes(file: Path) -> int:
    return sum(part.stat().st_size for part in file.parent.glob(f"{file.name}*"))


def _plain_fts5(file: Path, chance: random.Random) -> list[float]:
    connection = apsw.Connection(str(file), flags=apsw.SQLITE_OPEN_READONLY)
    query = "SELECT rowid FROM documents_index WHERE documents_index MATCH ? ORDER BY rank LIMIT 10"
    times = []
    for _ in range(QUESTIONS):
        match = parse(question(chance)).match
        started = time.perf_counter()
        connection.execute(query, (match,)).fetchall()
        times.append(time.perf_counter() - started)
    connection.close()
    return times
