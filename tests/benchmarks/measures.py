"""What is measured, beside floors, bounds of DESIGN.md, and the reference server."""

import asyncio
import contextlib
import os
import random
import shutil
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from kmem_desktop.bootstrap import opened_services
from kmem_desktop.config import paths
from kmem_desktop.domain.changes import Origin, OriginKind
from kmem_desktop.domain.knowledge import KnowledgeQuery
from kmem_desktop.services.embedding import RELEASE_AFTER_S
from tests.benchmarks.texts import english_draft, question, run
from tests.end_to_end.programs import (
    NPM_REFERENCE,
    PROTOCOL,
    Memory,
    Message,
    StdioClient,
    end_resident,
    entity,
    npm_is_cached,
    npm_program,
    resident_bytes,
)

ORIGIN = Origin(OriginKind.CLIENT, "Benchmark")
ITEMS = 10_000
STARTS = 15
CALLS = 300


@dataclass(frozen=True)
class Measure:
    """One line of the table.

    Attributes:
        what: What was measured.
        value: What came out, with its unit.
        beside: What it is compared with, and the ratio.
        bound: What DESIGN.md allows; empty where it says nothing.
    """

    what: str
    value: str
    beside: str = ""
    bound: str = ""


def percentile(values: list[float], share: float) -> float:
    """Return the value below which `share` of the values lie."""
    return sorted(values)[min(len(values) - 1, int(len(values) * share))]


def milliseconds(seconds: float) -> str:
    """Write a time."""
    return f"{seconds * 1000:.2f} ms"


def spread(values: list[float]) -> str:
    """Write p50 and p95 of times."""
    return (
        f"p50 {milliseconds(percentile(values, 0.5))}, p95 {milliseconds(percentile(values, 0.95))}"
    )


def timed(work: Callable[[], object]) -> float:
    """Return how long something takes."""
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def timed_call(client: StdioClient, tool: str, arguments: Message) -> float:
    """Return how long a call takes, which has to succeed."""
    started = time.perf_counter()
    result = client.call(tool, arguments)
    took_s = time.perf_counter() - started
    assert not result.get("isError"), result
    return took_s


@contextmanager
def fresh_memory(database: Path | None = None) -> Iterator[Memory]:
    """Give a database in a folder of its own, a copy of `database` where one is named."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "kmem.db"
        if database is not None:
            shutil.copy(database, file)
        memory = Memory(file)
        try:
            yield memory
        finally:
            memory.close()


def first_answer(command: list[str], **variables: str) -> float:
    """Return how long it takes from the start of a server to its first answer."""
    started = time.perf_counter()
    client = StdioClient(command, variables)
    client.request(
        "initialize",
        {
            "protocolVersion": PROTOCOL,
            "capabilities": {},
            "clientInfo": {"name": "benchmark", "version": "1"},
        },
    )
    took_s = time.perf_counter() - started
    client.close()
    return took_s


def reference_command() -> list[str] | None:
    """Return the command of the npm reference server; None where it is not in the cache."""
    if not npm_is_cached(NPM_REFERENCE, "mcp-server-memory"):
        return None
    return npm_program(NPM_REFERENCE, "mcp-server-memory")


def starts() -> list[Measure]:
    """Start of the bridge with a resident there, and without."""
    floor = [sys.executable, "-I", "-S", "-c", "pass"]
    plain = [sys.executable, "-c", "pass"]
    installed = [str(Path(sys.executable).with_name("kmem")), "mcp"]
    root = str(Path(__file__).parents[2])
    code = (
        f"import sys; sys.path.insert(0, {root!r}); sys.argv[0] = 'kmem';"
        "from kmem_desktop.__main__ import main; sys.exit(main())"
    )
    isolated = [sys.executable, "-I", "-S", "-c", code, "mcp"]
    reference = reference_command()
    times: dict[str, list[float]] = {name: [] for name in ("floor", "plain", "kmem", "isolated")}
    theirs = []
    with default_memory() as home:
        first_answer(installed, HOME=home)
        for _ in range(STARTS):
            times["floor"].append(timed(lambda: subprocess.run(floor, check=True)))
            times["plain"].append(timed(lambda: subprocess.run(plain, check=True)))
            times["kmem"].append(first_answer(installed, HOME=home))
            times["isolated"].append(first_answer(isolated, HOME=home))
            if reference:
                theirs.append(first_answer(reference, MEMORY_FILE_PATH=f"{home}/memory.jsonl"))
    median = {name: statistics.median(values) for name, values in times.items()}
    base = median["floor"]

    def line(what: str, name: str, bound: str = "") -> Measure:
        return Measure(
            what, milliseconds(median[name]), f"{median[name] / base:.2f} x floor", bound
        )

    measures = [
        line("python -I -S -c pass (floor)", "floor"),
        line("python -c pass: this environment's site-packages", "plain"),
        line("kmem mcp as installed here, resident running", "kmem", "3 x floor"),
        line("kmem mcp by python -I -S, resident running", "isolated", "3 x floor"),
        *cold_starts(),
    ]
    if theirs:
        value = statistics.median(theirs)
        ratio = f"{value / median['kmem']:.1f} x kmem"
        measures.append(Measure("npm reference server", milliseconds(value), ratio))
    return measures


def cold_starts() -> list[Measure]:
    """Start of the bridge where no resident is there yet."""
    times, cpu = [], []
    for _ in range(5):
        with fresh_memory() as memory:
            started = time.perf_counter()
            memory.client()
            times.append(time.perf_counter() - started)
            used = memory.resident().cpu_times()
            cpu.append(used.user + used.system)
    value = milliseconds(statistics.median(times))
    beside = f"CPU {statistics.median(cpu):.2f} s"
    return [Measure("kmem mcp with no resident running (of 5)", value, beside, "1.5 s")]


@contextmanager
def default_memory() -> Iterator[str]:
    """Give a home folder, so that the default database is a fresh one."""
    with tempfile.TemporaryDirectory() as home:
        try:
            yield home
        finally:
            end_resident(f"{home}/.local/state/kmem/default.sock")


def calls() -> list[Measure]:
    """Warm calls through the bridge, on a small memory."""
    with fresh_memory() as memory, tempfile.TemporaryDirectory() as folder:
        ours = memory.client()
        fsync = fsync_times(Path(folder), 100)
        measures = [
            Measure("bare fsync'd SQLite insert (floor)", spread(fsync)),
            *_warm_calls("kmem", ours, "2.5 / 5 ms + fsync"),
        ]
        if reference := reference_command():
            file = str(Path(folder) / "memory.jsonl")
            theirs = StdioClient(reference, {"MEMORY_FILE_PATH": file})
            theirs.initialize()
            measures += _warm_calls("reference", theirs, "")
            theirs.close()
    return measures


def _warm_calls(name: str, client: StdioClient, bound: str) -> list[Measure]:
    creates, searches, opens, pings = [], [], [], []
    for number in range(CALLS):
        entity_name = f"e{number}"
        creates.append(timed_call(client, "create_entities", entity(entity_name)))
        opens.append(timed_call(client, "open_nodes", {"names": [entity_name]}))
        searches.append(timed_call(client, "search_nodes", {"query": entity_name}))
        pings.append(timed(lambda: client.request("ping")))
    return [
        Measure(f"{name}: ping", spread(pings)),
        Measure(f"{name}: open_nodes", spread(opens), "", bound and "2.5 / 5 ms"),
        Measure(f"{name}: search_nodes", spread(searches)),
        Measure(f"{name}: create_entities", spread(creates), "", bound),
    ]


def fsync_times(folder: Path, count: int) -> list[float]:
    """Time bare inserts, each durable on its own."""
    connection = sqlite3.connect(folder / "floor.db", isolation_level=None)
    with contextlib.closing(connection):
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("PRAGMA synchronous=FULL")
        connection.execute("CREATE TABLE t (a TEXT)")
        text = "x" * 500
        return [
            timed(lambda: connection.execute("INSERT INTO t VALUES (?)", (text,)))
            for _ in range(count)
        ]


async def fill(database: Path, count: int) -> None:
    """Store items."""
    chance = random.Random(4)
    async with opened_services(paths(str(database))) as services:
        for start in range(0, count, 100):
            drafts = [english_draft(number, chance) for number in range(start, start + 100)]
            await asyncio.gather(*(services.knowledge.store(one, ORIGIN) for one in drafts))


async def settle(database: Path) -> None:
    """Wait until each text has its vector: else they would be made beside what is measured."""
    async with opened_services(paths(str(database))) as services:
        await services.embedding.settled()


async def stores_and_floors(database: Path) -> tuple[list[float], list[float]]:
    """Return times of stores, and of their floor in turn with them."""
    chance = random.Random(5)
    stores, floors = [], []
    floor = sqlite3.connect(database.with_name("floor.db"), isolation_level=None)
    floor.execute("PRAGMA journal_mode=WAL")
    floor.execute("PRAGMA synchronous=FULL")
    floor.execute("CREATE TABLE t (a TEXT)")
    async with opened_services(paths(str(database))) as services:
        await services.embedding.settled()
        services.embedding.failure = "switched off for the measurement"
        for number in range(CALLS):
            one = english_draft(ITEMS + number, chance)
            started = time.perf_counter()
            await services.knowledge.store(one, ORIGIN)
            stores.append(time.perf_counter() - started)
            started = time.perf_counter()
            floor.execute("INSERT INTO t VALUES (?)", (one.content,))
            floors.append(time.perf_counter() - started)
    floor.close()
    return stores, floors


async def searches(database: Path, *, by_meaning: bool) -> list[float]:
    """Return times of searches in process, for questions that were not asked before."""
    chance = random.Random(6)
    times = []
    async with opened_services(paths(str(database))) as services:
        await services.knowledge.search(KnowledgeQuery("warm up"))
        if not by_meaning:
            services.embedding.failure = "switched off for the measurement"
        for _ in range(CALLS):
            query = KnowledgeQuery(question(chance), explain=False)
            started = time.perf_counter()
            await services.knowledge.search(query)
            times.append(time.perf_counter() - started)
    return times


def large() -> list[Measure]:
    """A memory of 10,000 items whose vectors are all made: store, search, size, memory."""
    with tempfile.TemporaryDirectory() as folder:
        database = Path(folder) / "kmem.db"
        filling_s = timed(lambda: asyncio.run(fill(database, ITEMS)))
        asyncio.run(settle(database))
        size = sum(file.stat().st_size for file in Path(folder).glob("kmem.db*"))
        by_words = asyncio.run(searches(database, by_meaning=False))
        hybrid = asyncio.run(searches(database, by_meaning=True))
        with fresh_memory(database) as memory:
            client = memory.client()
            resident = memory.resident()
            idle = resident.memory_info().rss
            chance = random.Random(7)
            client.call("memory_searchKnowledge", {"query": "first words"})
            through = [
                timed_call(client, "memory_searchKnowledge", {"query": question(chance)})
                for _ in range(CALLS)
            ]
            loaded = resident.memory_info().rss
            time.sleep(RELEASE_AFTER_S + 5)
            released = resident.memory_info().rss
        stores, floors = asyncio.run(stores_and_floors(database))
    ratio = percentile(stores, 0.95) / percentile(floors, 0.95)
    return [
        Measure(f"storing {ITEMS} items", f"{filling_s:.1f} s"),
        Measure("store at 10,000, durable", spread(stores), f"p95 {ratio:.2f} x floor", "p95 5 ms"),
        Measure("bare fsync'd SQLite insert (floor)", spread(floors)),
        Measure("search by words, 8 of them", spread(by_words), "", "p50 5 ms, p95 10 ms"),
        Measure("search by words and meaning", spread(hybrid), "", "p95 15 ms"),
        Measure("the same through the bridge", spread(through)),
        Measure("resident set, idle", f"{idle / 1e6:.0f} MB", "", "125 MB"),
        Measure(f"resident set after {CALLS} searches", f"{loaded / 1e6:.0f} MB", "", "225 MB"),
        Measure("resident set a minute later", f"{released / 1e6:.0f} MB"),
        Measure(
            "database per 1,000 items", f"{size / ITEMS / 1e3:.2f} MB", "", "5 MB with vectors"
        ),
    ]


def reference_at_ten_thousand() -> list[Measure]:
    """The graph tools at 10,000 entities, ours and the reference server's."""
    measures = []
    with fresh_memory() as memory, tempfile.TemporaryDirectory() as folder:
        servers = {"kmem": memory.client("--tools", "graph")}
        if reference := reference_command():
            variables = {"MEMORY_FILE_PATH": str(Path(folder) / "memory.jsonl")}
            servers["reference"] = StdioClient(reference, variables)
            servers["reference"].initialize()
        for name, client in servers.items():
            chance = random.Random(7)
            for start in range(0, ITEMS, 1_000):
                entities = [
                    {
                        "name": f"Entity {n}",
                        "entityType": "thing",
                        "observations": [run(chance, 8) for _ in range(3)],
                    }
                    for n in range(start, start + 1_000)
                ]
                client.call("create_entities", {"entities": entities})
            adds, searches, opens = [], [], []
            for number in range(50):
                addition = {"entityName": f"Entity {number}", "contents": ["is new"]}
                adds.append(timed_call(client, "add_observations", {"observations": [addition]}))
                query = {"query": question(chance, 1)}
                searches.append(timed_call(client, "search_nodes", query))
                opens.append(timed_call(client, "open_nodes", {"names": [f"Entity {number}"]}))
            measures += [
                Measure(f"{name}: add_observations at 10,000 entities", spread(adds)),
                Measure(f"{name}: search_nodes at 10,000 entities", spread(searches)),
                Measure(f"{name}: open_nodes at 10,000 entities", spread(opens)),
            ]
            if name == "reference":
                rss = resident_bytes(client.process.pid)
                measures.append(Measure("reference: resident set", f"{rss / 1e6:.0f} MB"))
                client.close()
    return measures


BENCHMARKS: dict[str, Callable[[], list[Measure]]] = {
    "starts": starts,
    "calls": calls,
    "large": large,
    "graph": reference_at_ten_thousand,
}


def machine() -> str:
    """Say on what, and how busy it is."""
    load = ", ".join(f"{value:.1f}" for value in os.getloadavg())
    return f"{os.cpu_count()} cores, load {load}, Python {sys.version.split()[0]}"
