"""Background embedding: texts a second, and what searches and stores take meanwhile."""

import asyncio
import os
import random
import tempfile
import time
from collections.abc import Awaitable
from pathlib import Path

from kmem_desktop.bootstrap import Services, opened_services
from kmem_desktop.config import paths
from kmem_desktop.domain.knowledge import KnowledgeQuery
from tests.benchmarks.measures import ORIGIN, Measure, spread
from tests.benchmarks.texts import english_draft, question

ITEMS = 10_000
PAUSE_S = 0.1
"""A search and a store ten times a second: more than any assistant asks for."""


def embedding(items: int = ITEMS) -> list[Measure]:
    """Store items, and search and store while their vectors are made."""
    with tempfile.TemporaryDirectory() as folder:
        return asyncio.run(_measured(Path(folder) / "kmem.db", items))


async def _measured(file: Path, items: int) -> list[Measure]:
    chance = random.Random(4)
    async with opened_services(paths(str(file))) as services:
        for start in range(0, items, 100):
            drafts = [english_draft(number, chance) for number in range(start, start + 100)]
            await asyncio.gather(*(services.knowledge.store(one, ORIGIN) for one in drafts))
        begun = await services.embedding.measured()
        started = time.perf_counter()
        settled = asyncio.ensure_future(services.embedding.settled())
        searches, stores, loads = await _meanwhile(services, settled, items, chance)
        took_s = time.perf_counter() - started
        done = await services.embedding.measured()
    rate = (done.done - begun.done) / took_s
    load = f"load {max(loads):.1f} at most"
    return [
        Measure(f"embedding {done.done - begun.done} texts", f"{rate:.0f} a second", load, "150"),
        Measure("hybrid search meanwhile", spread(searches), "", "p95 50 ms"),
        Measure("store meanwhile, durable", spread(stores), "", "p95 5 ms"),
    ]


async def _meanwhile(
    services: Services, settled: "asyncio.Future[None]", items: int, chance: random.Random
) -> tuple[list[float], list[float], list[float]]:
    """Search and store until all vectors are there; return the times and the machine's load."""
    searches, stores, loads = [], [], [os.getloadavg()[0]]
    number = items
    while not settled.done():
        query = KnowledgeQuery(question(chance), explain=False)
        searches.append(await _timed(services.knowledge.search(query)))
        number += 1
        stores.append(await _timed(services.knowledge.store(english_draft(number, chance), ORIGIN)))
        loads.append(os.getloadavg()[0])
        await asyncio.wait({settled}, timeout=PAUSE_S)
    return searches, stores, loads


async def _timed(work: Awaitable[object]) -> float:
    started = time.perf_counter()
    await work
    return time.perf_counter() - started
