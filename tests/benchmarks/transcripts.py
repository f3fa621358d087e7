"""Import of 2,500 transcripts with 500,000 turns: how fast, in how much memory, who has to wait.

The turns' texts are those of the corpora's conversations, put together anew with numbers in them,
in the lines that Claude Code writes; where the corpora are not, sentences of about such lengths are
made up, and this says so. A process imports them without an embedding model: embeddings follow
later. Beside it an assistant stores a turn ten times a second.

    python -m tests.benchmarks.transcripts [SESSIONS TURNS_EACH]
"""

import asyncio
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest.mock import patch

import psutil  # type: ignore[import-untyped]
from _pytest.outcomes import Skipped

from kmem_desktop import bootstrap
from kmem_desktop.bootstrap import Services, opened_services
from kmem_desktop.config import paths
from kmem_desktop.domain.changes import Origin, OriginKind
from kmem_desktop.domain.found import EntryQuery
from kmem_desktop.domain.sessions.conversations import TurnDraft
from kmem_desktop.services.sessions.exchanges import SessionDraft
from tests.benchmarks.measures import Measure, milliseconds, percentile
from tests.server.corpora import corpora

SESSIONS = 2_500
TURNS_EACH = 200
EXPORT_MB = 200
YOU = Origin(OriginKind.COMMAND_LINE, "Benchmark")


def transcripts() -> list[Measure]:
    """Measure a large import, importing it again, undoing a small one, and a large export."""
    return [*_folder(SESSIONS, TURNS_EACH), *_export()]


def _folder(sessions: int, turns_each: int) -> list[Measure]:
    texts, where = _texts()
    with tempfile.TemporaryDirectory() as folder:
        projects = Path(folder) / "projects"
        size = write_projects(projects, texts, sessions, turns_each)
        figures = _in_a_process("folder", projects, Path(folder) / "kmem.db")
    count = sessions * turns_each
    what = f"{sessions:,} transcripts, {count:,} turns, {size / 1e6:.0f} MB"
    return [
        Measure(what, f"{figures['turns'] / figures['s']:.0f} turns/s", where, "5,000 turns/s"),
        Measure("  processor: importing, reading", _seconds(figures, "cpu_s", "child_cpu_s")),
        Measure("  memory at most, of both processes", f"{figures['mb']:.0f} MB", "", "300 MB"),
        Measure("  load while it ran", f"{figures['load']:.1f} on {os.cpu_count()} processors"),
        Measure("  an assistant's store meanwhile", _spread(figures["stores"]), "", "p95 100 ms"),
        Measure("  the event loop came round late", _spread(figures["stalls"]), "", "15 ms"),
        Measure("  words found afterwards", milliseconds(figures["search_s"])),
        Measure("  database", f"{figures['database_mb']:.0f} MB"),
        Measure("the same again: nothing is new", f"{figures['again_s']:.2f} s"),
        Measure("the same as a dry run, read anew", f"{figures['dry_s']:.1f} s"),
        Measure("all of it undone", f"{figures['undo_s']:.1f} s"),
    ]


def _export() -> list[Measure]:
    texts, _ = _texts()
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "conversations.json"
        write_export(file, texts, EXPORT_MB * 1_000_000)
        figures = _in_a_process("export", file, Path(folder) / "kmem.db")
    return [
        Measure(f"export of {EXPORT_MB} MB", f"{figures['turns'] / figures['s']:.0f} turns/s"),
        Measure("  memory at most, of both processes", f"{figures['mb']:.0f} MB", "", "300 MB"),
        Measure("  the event loop came round late", _spread(figures["stalls"]), "", "15 ms"),
    ]


def _seconds(figures: dict[str, Any], *names: str) -> str:
    return ", ".join(f"{figures[name]:.1f} s" for name in names)


def _spread(seconds: list[float]) -> str:
    parts = [percentile(seconds, 0.5), percentile(seconds, 0.95), max(seconds)]
    return "p50 {}, p95 {}, max {}".format(*map(milliseconds, parts))


def _texts() -> tuple[list[str], str]:
    try:
        files = sorted((corpora() / "conversations").glob("conv-*.json"))
    except Skipped as reason:
        chance = random.Random(5)
        words = [
            "the",
            "index",
            "of",
            "invoices",
            "was",
            "rebuilt",
            "because",
            "retries",
            "of",
            "a",
            "worker",
            "failed",
        ]
        lengths = [chance.choice((8, 15, 30, 90, 200)) for _ in range(400)]
        made = [" ".join(chance.choice(words) for _ in range(count)) for count in lengths]
        return made, f"made-up texts: {reason}"
    turns = [turn for file in files for turn in json.loads(file.read_text("utf-8"))["turns"]]
    return [turn["text"] for turn in turns], f"texts of {len(files)} real conversations"


def write_projects(folder: Path, texts: list[str], sessions: int, turns_each: int) -> int:
    """Write transcripts as Claude Code does; return their bytes."""
    chance = random.Random(3)
    size = 0
    for number in range(sessions):
        session = f"{number:08d}-0000-4000-8000-000000000000"
        file = folder / f"-home-ann-project-{number % 40}" / f"{session}.jsonl"
        file.parent.mkdir(parents=True, exist_ok=True)
        with file.open("w", encoding="utf-8") as stream:
            for line in _lines(chance, texts, session, number, turns_each):
                size += stream.write(json.dumps(line) + "\n")
    return size


def _lines(
    chance: random.Random, texts: list[str], session: str, number: int, count: int
) -> Iterator[dict[str, Any]]:
    for turn in range(count):
        kind = "assistant" if turn % 2 else "user"
        text = f"{chance.choice(texts)} ({kind} {turn} of {number}, case {chance.randrange(10**6)})"
        yield {
            "type": kind,
            "uuid": f"{session[:8]}-{turn:04d}-4000-8000-{chance.getrandbits(48):012x}",
            "parentUuid": f"{session[:8]}-{turn - 1:04d}",
            "isSidechain": False,
            "sessionId": session,
            "timestamp": f"2026-0{1 + number % 9}-10T{turn // 60 % 24:02d}:{turn % 60:02d}:00.000Z",
            "cwd": f"/home/ann/project-{number % 40}",
            "gitBranch": "main",
            "version": "2.1.230",
            "message": {
                "role": kind,
                "model": "claude",
                "content": [{"type": "text", "text": text}] if turn % 2 else text,
            },
        }


def write_export(file: Path, texts: list[str], size_bytes: int) -> None:
    """Write an export of claude.ai of about this size."""
    chance = random.Random(4)
    number = written = 0
    with file.open("w", encoding="utf-8") as stream:
        stream.write("[")
        while written < size_bytes:
            messages = [
                {
                    "uuid": f"m{number}-{turn}",
                    "sender": ("human", "assistant")[turn % 2],
                    "created_at": "2026-05-03T14:00:00Z",
                    "text": f"{chance.choice(texts)} ({turn} of {number})",
                }
                for turn in range(100)
            ]
            chat = {"uuid": f"c{number}", "name": f"Chat {number}", "chat_messages": messages}
            written += stream.write(("," if number else "") + json.dumps(chat))
            number += 1
        stream.write("]")


def _in_a_process(what: str, source: Path, database: Path) -> dict[str, Any]:
    command = [sys.executable, "-m", "tests.benchmarks.transcripts", what]
    done = subprocess.run(
        [*command, str(source), str(database)], capture_output=True, text=True, check=True
    )
    figures: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return figures


async def _measured(what: str, source: Path, database: Path) -> dict[str, Any]:
    figures: dict[str, Any] = {}
    with patch.object(bootstrap, "resource_path", lambda name: Path("/nowhere") / name):
        async with opened_services(paths(str(database))) as services:
            figures |= await _imported(services, source)
            figures["database_mb"] = os.stat(database).st_size / 1e6  # noqa: PTH116
            if what == "folder":
                figures |= await _afterwards(services, source)
    return figures


async def _imported(services: Services, source: Path) -> dict[str, Any]:
    stalls: list[float] = []
    stores: list[float] = []
    largest = [0.0]
    watchers = [
        asyncio.ensure_future(_beat(stalls)),
        asyncio.ensure_future(_store(services, stores)),
        asyncio.ensure_future(_weigh(largest)),
    ]
    before = psutil.Process().cpu_times()
    started = time.perf_counter()
    report = await services.transcripts.run(source, YOU)
    took_s = time.perf_counter() - started
    after = psutil.Process().cpu_times()
    load = os.getloadavg()[0]
    for watcher in watchers:
        watcher.cancel()
    await asyncio.gather(*watchers, return_exceptions=True)
    assert report.problem_count == 0, report.problems
    started = time.perf_counter()
    found, _ = await services.sessions.search(EntryQuery("release process audit"), "benchmark")
    assert found
    return {
        "turns": report.turns_new,
        "s": took_s,
        "cpu_s": after.user + after.system - before.user - before.system,
        "child_cpu_s": after.children_user + after.children_system,
        "mb": largest[0],
        "load": load,
        "stalls": stalls,
        "stores": stores,
        "search_s": time.perf_counter() - started,
    }


async def _afterwards(services: Services, source: Path) -> dict[str, float]:
    figures: dict[str, float] = {}
    started = time.perf_counter()
    again = await services.transcripts.run(source, YOU)
    figures["again_s"] = time.perf_counter() - started
    assert again.turns_new == 0
    for file in list(source.rglob("*.jsonl")):  # noqa: ASYNC240
        os.utime(file)
    started = time.perf_counter()
    dry = await services.transcripts.run(source, YOU, dry_run=True)
    figures["dry_s"] = time.perf_counter() - started
    assert dry.turns_new == 0
    (record,) = await services.transcripts.imports()
    started = time.perf_counter()
    await services.transcripts.undo(record.uuid, YOU)
    figures["undo_s"] = time.perf_counter() - started
    return figures


async def _beat(stalls: list[float]) -> None:
    while True:
        started = time.perf_counter()
        await asyncio.sleep(0.005)
        stalls.append(time.perf_counter() - started - 0.005)


async def _store(services: Services, stores: list[float]) -> None:
    draft = SessionDraft(title="An assistant's own")
    while True:
        started = time.perf_counter()
        turn = [TurnDraft("user", "What was the release process again?")]
        await services.sessions.add_exchange(draft, turn, YOU)
        stores.append(time.perf_counter() - started)
        await asyncio.sleep(0.1)


async def _weigh(largest: list[float]) -> None:
    own = psutil.Process()
    while True:
        family = [own, *own.children()]
        held = 0
        for process in family:
            try:
                held += process.memory_info().rss
            except psutil.NoSuchProcess:
                continue
        largest[0] = max(largest[0], held / 1e6)
        await asyncio.sleep(0.2)


def main(arguments: list[str]) -> int:
    """Measure in this process, or print the table."""
    if arguments[:1] in (["folder"], ["export"]):
        figures = asyncio.run(_measured(arguments[0], Path(arguments[1]), Path(arguments[2])))
        print(json.dumps(figures))
        return 0
    sizes = [int(argument) for argument in arguments]
    for measure in _folder(*sizes) if sizes else transcripts():
        print(f"{measure.what:52} {measure.value:44} {measure.beside:34} {measure.bound}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
