"""Writes at once, and kills in between: nothing that was acknowledged may be lost.

The large versions: `python -m tests.end_to_end.storm [--kills 100] [--clients 4] [--creates 250]`.
"""

import argparse
import contextlib
import sqlite3
import sys
import tempfile
import threading
import time
from collections import deque
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from tests.end_to_end.programs import TIMEOUT_S, Memory, StdioClient, entity

IN_FLIGHT = 4


def parallel_creates(memory: Memory, count: int) -> set[str]:
    """Let one client create entities all at once; return the names that were acknowledged."""
    client = memory.client()
    calls = [client.start_call("create_entities", entity(f"Entity {n}")) for n in range(count)]
    return set().union(*(created(client, call) for call in calls))


def create_in_turn(clients: list[StdioClient], count: int) -> set[str]:
    """Let each client create entities one by one, all clients at once; no error is allowed."""

    def work(number: int) -> set[str]:
        names = [f"Entity {number}.{n}" for n in range(count)]
        for name in names:
            result = clients[number].call("create_entities", entity(name))
            assert not result.get("isError"), result
            assert result["structuredContent"] == entity(name)
        return set(names)

    with ThreadPoolExecutor(len(clients)) as pool:
        return set().union(*pool.map(work, range(len(clients))))


def created(client: StdioClient, call: int) -> set[str]:
    """Return the names that an answer says were created; none where it is an error."""
    answer = client.answer(call)
    if "error" in answer or answer["result"].get("isError"):
        return set()
    return {one["name"] for one in answer["result"]["structuredContent"]["entities"]}


def kept_names(memory: Memory) -> set[str]:
    """Return the names in the file, read past kmem."""
    with contextlib.closing(sqlite3.connect(memory.database)) as connection:
        return {name for (name,) in connection.execute("SELECT name FROM entities")}


@dataclass
class StormReport:
    """What a kill storm did and found."""

    kills: int = 0
    acknowledged: int = 0
    errors: int = 0
    unanswered: int = 0
    lost: set[str] = field(default_factory=set)
    integrity: str = ""
    seconds: float = 0.0

    def __str__(self) -> str:
        return (
            f"{self.kills} kills in {self.seconds:.0f} s: {self.acknowledged} acknowledged,"
            f" {len(self.lost)} of them lost; {self.errors} errors, {self.unanswered} unanswered;"
            f" integrity_check {self.integrity}"
        )


class _Storm:
    """Clients that store without a break, each with some requests in flight."""

    def __init__(self, memory: Memory, client_count: int, *, is_impatient: bool) -> None:
        self.memory = memory
        start = memory.impatient_client if is_impatient else memory.client
        self.clients = [start() for _ in range(client_count)]
        self.acknowledged: set[str] = set()
        self.sent = 0
        self.errors = 0
        self.news = threading.Condition()
        self.is_over = False

    def store(self, number: int) -> None:
        client = self.clients[number]
        flying: deque[int] = deque()
        count = 0
        while not self.is_over or flying:
            while not self.is_over and len(flying) < IN_FLIGHT:
                count += 1
                flying.append(client.start_call("create_entities", entity(f"{number}.{count}")))
            names = created(client, flying.popleft())
            with self.news:
                self.sent += 1
                self.errors += not names
                self.acknowledged |= names
                self.news.notify_all()

    def wait_for_more(self, count: int) -> None:
        """Wait until more has been acknowledged since `count` was."""
        with self.news:
            assert self.news.wait_for(lambda: len(self.acknowledged) > count, TIMEOUT_S)


def kill_storm(
    memory: Memory, kills: int, client_count: int, *, is_impatient: bool = False
) -> StormReport:
    """Kill the resident again and again under clients that store; tell what became of it."""
    started = time.monotonic()
    report = StormReport()
    storm = _Storm(memory, client_count, is_impatient=is_impatient)
    with ThreadPoolExecutor(client_count) as pool:
        workers = [pool.submit(storm.store, number) for number in range(client_count)]
        try:
            for number in range(kills):
                storm.wait_for_more(len(storm.acknowledged) + number * 7 % 20)
                memory.kill_resident()
                report.kills += 1
            storm.wait_for_more(len(storm.acknowledged))
        finally:
            storm.is_over = True
        for worker in workers:
            worker.result(TIMEOUT_S)
    for client in storm.clients:  # the same clients work on, none was started anew
        assert client.process.poll() is None
        assert not client.call("read_graph", {}).get("isError")
    report.acknowledged = len(storm.acknowledged)
    report.errors = storm.errors
    report.unanswered = 0  # each request was waited for; one without an answer has raised
    report.lost = storm.acknowledged - kept_names(memory)
    with contextlib.closing(sqlite3.connect(memory.database)) as connection:
        report.integrity = connection.execute("PRAGMA integrity_check").fetchone()[0]
    report.seconds = time.monotonic() - started
    return report


def main() -> int:
    """Run the large versions and print what came out."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=0)
    parser.add_argument("--clients", type=int, default=4)
    parser.add_argument("--creates", type=int, default=0)
    parser.add_argument("--impatient", action="store_true", help="start residents at once")
    options = parser.parse_args()
    is_fine = True
    with tempfile.TemporaryDirectory() as folder:
        if options.creates:
            memory = Memory(Path(folder) / "creates.db")
            try:
                clients = [memory.client() for _ in range(options.clients)]
                wanted = create_in_turn(clients, options.creates)
                kept = kept_names(memory)
            finally:
                memory.close()
            print(f"{options.clients} x {options.creates}: {len(kept)} of {len(wanted)} kept")
            is_fine = kept == wanted
        if options.kills:
            memory = Memory(Path(folder) / "kills.db")
            try:
                report = kill_storm(
                    memory, options.kills, options.clients, is_impatient=options.impatient
                )
            finally:
                memory.close()
            print(report)
            is_fine = is_fine and not report.lost and report.integrity == "ok"
    return 0 if is_fine else 1


if __name__ == "__main__":
    sys.exit(main())
