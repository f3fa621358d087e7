"""Directives for tasks through the services: what is found, how many tokens it takes, how fast.

The documents of the development half are imported as they are. Directives outside the labelled pool
are passed over when ranks are compared: nobody has said whether they help. Still they take places
that labelled ones would have had, so the labelled pool is measured by itself as well.
"""

import asyncio
import json
import random
import statistics
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from _pytest.outcomes import Skipped

from kmem_desktop.bootstrap import Services, opened_services
from kmem_desktop.config import paths
from kmem_desktop.domain.changes import Origin, OriginKind
from kmem_desktop.domain.models import Choice, Purpose
from kmem_desktop.domain.rule_library import RuleAnswer, RuleQuery, SubmittedDocument
from kmem_desktop.store import documents
from kmem_desktop.store.connection import Connection
from kmem_desktop.store.database import Database
from kmem_desktop.store.rules import library
from kmem_desktop.text import normalise_title
from tests.benchmarks.measures import Measure, percentile, spread
from tests.benchmarks.quality import ndcg as ndcg_of
from tests.benchmarks.texts import run
from tests.providers.openai_server import openai_routes
from tests.providers.servers import hanging, serving
from tests.server.corpora import corpora

YOU = Origin(OriginKind.COMMAND_LINE, "Benchmark")
MANY = 10_000
ASKED = 150
AT_ONCE = 10


def rule_queries() -> list[Measure]:
    """Measure what a task is handed, and how fast among 10,000 directives."""
    try:
        folder = corpora()
    except Skipped as reason:
        return [Measure(f"not measured: {reason}", "", "", "")]
    return asyncio.run(_measured(folder))


async def _measured(folder: Path) -> list[Measure]:
    pool = _lines(folder / "directives" / "directives-dev.jsonl")
    tasks = _lines(folder / "directives" / "relevance-dev.jsonl")
    with tempfile.TemporaryDirectory() as place:
        profile = paths(str(Path(place) / "kmem.db"))
        async with opened_services(profile) as services:
            await _import(services, sorted({str(folder / "rules" / d["doc"]) for d in pool}))
            quality = await _quality(services, pool, tasks)
        await _leave_only(profile.database, pool)
        async with opened_services(profile) as services:
            quality.append(await _quality_of_pool(services, pool, tasks))
    with tempfile.TemporaryDirectory() as place:
        async with opened_services(paths(str(Path(place) / "kmem.db"))) as services:
            files = sorted((folder / "rules" / "real").iterdir())
            started = time.perf_counter()
            await _import(services, [str(file) for file in files])
            imported_s = time.perf_counter() - started
            speed = await _speed(services, tasks)
    return [
        *quality,
        Measure(f"{len(files)} documents read and embedded", f"{imported_s:.1f} s"),
        *speed,
    ]


async def _import(services: Services, files: Sequence[str]) -> None:
    report = await services.rules.ingestion.upsert([SubmittedDocument(f) for f in files], YOU)
    assert not report.errors, report.errors
    await services.embedding.settled()
    services.rules.relations.start()
    await services.rules.relations.settled()


async def _leave_only(database: Path, pool: list[dict[str, Any]]) -> None:
    """Delete the directives that nobody has labelled."""
    labelled = {_key(d["doc"], d["text"]) for d in pool}

    def work(connection: Connection) -> None:
        rules = {rule.id: rule.path for rule in library.list_rules(connection)}
        rows: list[tuple[Any, ...]] = connection.execute(
            "SELECT id, rule_id, text FROM directives"
        ).fetchall()
        gone = [row[0] for row in rows if _key(rules[row[1]], row[2]) not in labelled]
        documents.delete(connection, gone)

    async with Database.opened(database) as opened:
        await opened.write(work)


async def _quality_of_pool(
    services: Services, pool: list[dict[str, Any]], tasks: list[dict[str, Any]]
) -> Measure:
    found = [await _ndcg(services, pool, task) for task in tasks]
    return Measure("the same among the labelled ones", f"nDCG@10 {statistics.mean(found):.3f}")


async def _ndcg(services: Services, pool: list[dict[str, Any]], task: dict[str, Any]) -> float:
    id_of = {_key(d["doc"], d["text"]): d["id"] for d in pool}
    query = RuleQuery(task["task"], max_items=50, token_budget=20_000)
    answer = await services.rules.queries.query(query)
    ids = [id_of.get(_key(each.path, each.text)) for each in answer.citations]
    return ndcg_of([i for i in ids if i], task["grades"])


async def _quality(
    services: Services, pool: list[dict[str, Any]], tasks: list[dict[str, Any]]
) -> list[Measure]:
    ndcg, tokens, shares, shown = [], [], [], []
    for task in tasks:
        ndcg.append(await _ndcg(services, pool, task))
        usual: RuleAnswer = await services.rules.queries.query(RuleQuery(task["task"]))
        tokens.append(usual.tokens)
        shares.append(usual.tokens / usual.source_tokens)
        shown.append(usual.selected)
    return [
        Measure(
            f"directives for {len(tasks)} tasks", f"nDCG@10 {statistics.mean(ndcg):.3f}", "", "0.80"
        ),
        Measure(
            "a block at the default budget",
            f"{statistics.mean(tokens):.0f} tokens, {statistics.mean(shown):.1f} directives",
            f"{statistics.mean(shares):.1%} of the files",
            "15 %",
        ),
    ]


async def _speed(services: Services, tasks: list[dict[str, Any]]) -> list[Measure]:
    chance = random.Random(3)
    answer = await services.rules.queries.query(RuleQuery("warm up"))
    more = [f"- You SHOULD {run(chance, 14)} {number}." for number in range(MANY - answer.searched)]
    files = [
        SubmittedDocument(
            f"more/{n}.md", f"# Rules {n}\n\n" + "\n".join(more[n * 100 : n * 100 + 100])
        )
        for n in range(len(more) // 100 + 1)
    ]
    await services.rules.ingestion.upsert(files, YOU)
    await services.embedding.settled()
    await services.rules.relations.settled()
    times = []
    for number in range(ASKED):
        query = RuleQuery(f"{tasks[number % len(tasks)]['task']} ({number})")
        started = time.perf_counter()
        answer = await services.rules.queries.query(query)
        times.append(time.perf_counter() - started)
    together = []
    for round_number in range(10):
        queries = [RuleQuery(f"{t['task']} [{round_number}]") for t in tasks[:AT_ONCE]]
        started = time.perf_counter()
        await asyncio.gather(*(services.rules.queries.query(query) for query in queries))
        together.append(time.perf_counter() - started)
    with serving({**openai_routes("tiny"), "POST /v1/chat/completions": hanging()}) as server:
        await services.models.add_server("slow", server.address)
        await services.models.discover()
        await services.models.choose(Purpose.DETECTION, Choice("slow", "tiny"))
        hung = []
        for number in range(20):
            query = RuleQuery(f"{tasks[number % len(tasks)]['task']} <{number}>")
            started = time.perf_counter()
            await services.rules.queries.query(query)
            hung.append(time.perf_counter() - started)
    return [
        Measure("a query with a model that hangs", spread(hung), "", "400 ms"),
        Measure(f"a query among {answer.searched:,} directives", spread(times), "", "p95 20 ms"),
        Measure(
            f"{AT_ONCE} queries at once, the last of them",
            f"p95 {percentile(together, 0.95) * 1000:.0f} ms",
            "",
            "200 ms",
        ),
    ]


def _key(path: str, text: str) -> tuple[str, str]:
    return Path(path).name, _words(text)


def _words(text: str) -> str:
    return "".join(c for c in normalise_title(text) if c.isalnum())


def _lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line]
