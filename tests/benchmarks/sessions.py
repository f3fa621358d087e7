"""Sessions: what summaries and restored contexts hold of a conversation, and what they cost.

The corpora are no part of the project; where they are not, this says so and measures nothing of
them. The conversations' key facts are counted as the corpora's score.py does; what they list as
superseded is looked for by patterns, outside of what is told as reversed.
"""

import asyncio
import contextlib
import json
import re
import resource
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, BinaryIO, cast

from _pytest.outcomes import Skipped

from kmem_desktop.bootstrap import Services, opened_services
from kmem_desktop.config import paths
from kmem_desktop.domain.sessions.conversations import (
    BulletKind,
    Role,
    SpokenTurn,
    Summary,
    SummaryFormat,
)
from kmem_desktop.domain.sessions.recall import USUAL_RESTORE_TOKENS
from kmem_desktop.providers.embedded import EmbeddedModel
from kmem_desktop.sessions.candidates import candidates
from kmem_desktop.sessions.context_window import restore
from kmem_desktop.sessions.digest import digest
from kmem_desktop.sessions.salience import Outline, outline
from kmem_desktop.sessions.secrets import redact
from kmem_desktop.sessions.summary import summarise
from kmem_desktop.sessions.transcripts import claude_code, exports
from kmem_desktop.text import count_tokens
from tests.benchmarks.measures import Measure, milliseconds, percentile, spread, timed
from tests.server.corpora import corpora
from tests.services.sessions.talks import long_talk, talk
from tests.sessions.conversations import missing_facts, spoken
from tests.sessions.fakes import fakes

MODEL = Path(__file__).parents[2] / "resources" / "embedding"
BUDGETS = (512, 1024, 2048)
LONG_TURNS = 2_000

SUPERSEDED = {
    "conv-d3": re.compile(
        r"resume\W+needs? the \W*native transcript|rawData\W{0,4} is dropped|drop \W?rawData"
        r"|(?<![\w-])\./docs/CLOUD-RESUME\.md|[Ee]xclu\w+[- ]my[- ]machine|machine exclusion"
    )
}
"""What conv-d3 lists under `superseded`, as it was said."""


def sessions() -> list[Measure]:
    """Measure summaries, contexts, candidates, secrets and readers."""
    return [*conversations(), *long_session(), *going_on(), *secrets(), *readers()]


def conversations() -> list[Measure]:
    """Measure the key facts in each format, for each conversation, with and without vectors."""
    try:
        folder = corpora()
    except Skipped as reason:
        return [Measure(f"not measured: {reason}", "", "", "")]
    files = sorted((folder / "conversations").glob("conv-*.json"))
    known = [json.loads(file.read_text(encoding="utf-8")) for file in files]
    measures: list[Measure] = []
    for name, embed in (("with vectors", _embed()), ("words alone", None)):
        taken = [_Taken(conversation, embed) for conversation in known]
        measures += [_summary_measure(taken, told, name) for told in SummaryFormat]
        measures += [_context_measure(taken, budget, name) for budget in BUDGETS]
    return measures


def _embed() -> Callable[[Outline], Any] | None:
    model = EmbeddedModel(MODEL)
    if not model.is_available():
        return None
    return lambda found: model.embed(found.texts)


class _Taken:
    """A conversation taken apart, with its vectors."""

    def __init__(
        self, conversation: dict[str, Any], embed: Callable[[Outline], Any] | None
    ) -> None:
        self.conversation = conversation
        self.turns = spoken(conversation)
        self.outline = outline(self.turns)
        self.vectors = embed(self.outline) if embed else None
        self.size = sum(len(turn.text) for turn in self.turns)

    def held(self, text: str) -> tuple[int, int]:
        """Return how many of the key facts a text holds, and how many there are."""
        count = len(self.conversation["key_facts"])
        return count - len(missing_facts(self.conversation, text)), count

    def told_as_present(self, texts: Iterator[str]) -> int:
        """Return how many statements are told that were taken back."""
        shape = SUPERSEDED.get(self.conversation["id"])
        return sum(len(shape.findall(text)) for text in texts) if shape else 0


def _facts(held: list[tuple[int, int]]) -> str:
    share = sum(h for h, _ in held) / sum(n for _, n in held)
    return f"{share:.3f} ({' '.join(f'{h}/{n}' for h, n in held)})"


def _summary_measure(taken: list[_Taken], summary_format: SummaryFormat, name: str) -> Measure:
    summaries = [summarise(t.outline, summary_format, t.vectors) for t in taken]
    held = [t.held(s.text) for t, s in zip(taken, summaries, strict=True)]
    shares = [len(s.text) / t.size for t, s in zip(taken, summaries, strict=True)]
    old = sum(t.told_as_present(_present(s)) for t, s in zip(taken, summaries, strict=True))
    beside = f"at most {max(shares):.3f} of the characters, {old} superseded"
    return Measure(f"summary, {summary_format}, {name}", _facts(held), beside, "0.78, 0.15, 0")


def _present(summary: Summary) -> Iterator[str]:
    yield from (b.text for b in summary.bullets if b.kind is not BulletKind.REVERSAL)


def _context_measure(taken: list[_Taken], budget: int, name: str) -> Measure:
    contexts = [restore(t.turns, budget, digest(t.outline, t.vectors)) for t in taken]
    held = [t.held(c.text) for t, c in zip(taken, contexts, strict=True)]
    old = sum(
        t.told_as_present(turn.text for turn in c.turns)
        for t, c in zip(taken, contexts, strict=True)
    )
    bound = "0.88, 0" if budget == 1024 else ""
    return Measure(f"context of {budget} tokens, {name}", _facts(held), f"{old} superseded", bound)


def long_session() -> list[Measure]:
    """Measure a session of 2,000 turns: reading it, its digest, a context out of that."""
    nouns = [
        "invoice",
        "cache",
        "worker",
        "schema",
        "release",
        "tenant",
        "index",
        "queue",
        "retry",
        "token",
    ]
    turns = []
    for number in range(LONG_TURNS):
        one, two = nouns[number % 10], nouns[number // 10 % 10]
        text = f"The {one} of `{two}_{number}.py` was fixed because {two} {number} failed. " * 4
        role = Role.USER if number % 2 == 0 else Role.ASSISTANT
        turns.append(SpokenTurn(number, role, text, token_count=count_tokens(text)))
    started = time.perf_counter()
    found = outline(turns)
    read_s = time.perf_counter() - started
    kept = digest(found)
    times = [timed(lambda: restore(turns, 4096, kept)) for _ in range(40)]
    unmarked = [replace(turn, token_count=None) for turn in turns[:200]]
    return [
        Measure(f"taking {LONG_TURNS} turns apart", milliseconds(read_s)),
        Measure("its digest, by words", milliseconds(timed(lambda: digest(found)))),
        Measure("its summary, by words", milliseconds(timed(lambda: summarise(found)))),
        Measure("its candidates", milliseconds(timed(lambda: candidates(found)))),
        Measure("a context out of the digest", spread(times), "", "p95 50 ms"),
        Measure("200 turns without a digest", milliseconds(timed(lambda: restore(unmarked, 1024)))),
    ]


def going_on() -> list[Measure]:
    """Measure load_session of 2,000 turns: with the kept digest, after a start, and without one."""
    return asyncio.run(_going_on())


async def _going_on() -> list[Measure]:
    texts = long_talk(LONG_TURNS)
    with tempfile.TemporaryDirectory() as folder:
        profile = paths(str(Path(folder) / "kmem.db"))
        async with opened_services(profile) as services:
            uuid = await talk(services, texts[:500])
            for start in range(500, LONG_TURNS, 500):
                await talk(services, texts[start : start + 500], uuid=uuid)
            services.recall.digests.is_kept_up = True  # and has not come to it yet
            without = [await _loading(services, uuid) for _ in range(20)]
            await services.session_upkeep.catch_up(datetime.now(UTC))
            kept = [await _loading(services, uuid) for _ in range(40)]
            await talk(services, texts[:30], uuid=uuid)
            newer = [await _loading(services, uuid) for _ in range(20)]
        starts = []
        for _ in range(10):
            async with opened_services(profile) as services:
                starts.append(await _loading(services, uuid))
    what = f"load_session, {LONG_TURNS} turns"
    return [
        Measure(f"{what}, kept digest", _clocks(kept), "", "p95 50 ms"),
        Measure(f"{what}, 30 turns newer", _clocks(newer), "", "p95 50 ms"),
        Measure(f"{what}, first after a start", _clocks(starts), "", "p95 50 ms"),
        Measure(f"{what}, no digest yet", _clocks(without), "preliminary", "p95 50 ms"),
    ]


async def _loading(services: Services, uuid: str) -> tuple[float, float]:
    wall, processor = time.perf_counter(), time.process_time()
    await services.recall.load(uuid, budget_tokens=USUAL_RESTORE_TOKENS)
    return time.perf_counter() - wall, time.process_time() - processor


def _clocks(times: list[tuple[float, float]]) -> str:
    processor = milliseconds(percentile([c for _, c in times], 0.5))
    return f"{spread([t for t, _ in times])}; CPU {processor}"


def secrets() -> list[Measure]:
    """Measure the hits of the own table, its false lines and its speed, beside kingfisher's."""
    cases = fakes()
    hits = sum(secret not in redact(line).text for _, secret, line in cases)
    lines = _ordinary_lines()
    false = sum(bool(redact(line).counts) for line in lines)
    text = "\n".join(lines)[:200_000]
    took_s = percentile([timed(lambda: redact(text)) for _ in range(3)], 0.5)
    own = f"{hits}/{len(cases)}, {false} false of {len(lines)} lines"
    return [
        Measure("secrets: own table", own, f"{took_s / len(text) * 1e7:.2f} ms/10 kB"),
        *_kingfisher(cases, lines, text),
    ]


def _ordinary_lines() -> list[str]:
    files = sorted((Path(__file__).parents[2] / "kmem_desktop").rglob("*.py"))
    with contextlib.suppress(Skipped):
        files += sorted((corpora() / "rules" / "real").iterdir())
    return [
        line for file in files for line in file.read_text("utf-8", errors="replace").splitlines()
    ]


def _kingfisher(cases: list[tuple[str, str, str]], lines: list[str], text: str) -> list[Measure]:
    try:
        from kingfisher_sdk import _native as kingfisher
    except ImportError:
        return [Measure("secrets: kingfisher is not installed", "", "", "")]
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    started = time.perf_counter()
    scanner = kingfisher.Scanner(
        kingfisher.Rules([], True, "medium", cache=False), True, False, False, None
    )
    loaded_s = time.perf_counter() - started

    def found(line: str) -> list[Any]:
        scanner.reset_dedup()
        hits: list[Any] = scanner.scan_bytes(line.encode("utf-8", "replace"))
        return hits

    hits = sum(
        any(f.secret in secret or secret in f.secret for f in found(line) if f.secret)
        for _, secret, line in cases
    )
    false = sum(bool(found(line)) for line in lines)
    took_s = percentile([timed(lambda: found(text)) for _ in range(3)], 0.5)
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    own = f"{hits}/{len(cases)}, {false} false of {len(lines)} lines"
    cost = f"{took_s / len(text) * 1e7:.2f} ms/10 kB, {loaded_s:.1f} s to load, {grown:.0f} MB"
    return [Measure("secrets: kingfisher 1.5", own, cost)]


class _Made:
    """A binary file that is made while it is read: no disk, no memory."""

    def __init__(self, parts: Iterator[bytes]) -> None:
        self._parts = parts
        self._rest = b""

    def seek(self, _offset: int, _whence: int = 0) -> int:
        """Stay: what is read once is not read again."""
        return 0

    def read(self, size: int) -> bytes:
        """Return the next bytes; two of them are only looked at."""
        if size == 2:
            return b"[ "
        while len(self._rest) < size and (part := next(self._parts, b"")):
            self._rest += part
        found, self._rest = self._rest[:size], self._rest[size:]
        return found


def _export(count: int) -> Iterator[bytes]:
    messages = [
        {"uuid": f"m{n}", "sender": ("human", "assistant")[n % 2], "text": "words \u00e9 " * 300}
        for n in range(20)
    ]
    yield b"["
    for number in range(count):
        body = {"uuid": f"c{number}", "name": "a", "chat_messages": messages}
        yield (b"," if number else b"") + json.dumps(body).encode()
    yield b"]"


def readers() -> list[Measure]:
    """Measure the readers: an export of 200 MB, a transcript of 20,000 lines."""
    import io
    import tracemalloc

    megabytes = sum(map(len, _export(10))) / 10 / 1e6
    count = int(200 / megabytes)
    started = time.perf_counter()
    found = 0
    for _ in exports.read_export(cast("BinaryIO", _Made(_export(count)))):
        found += 1
    took_s = time.perf_counter() - started
    tracemalloc.start()
    for _ in exports.read_export(cast("BinaryIO", _Made(_export(count // 10)))):
        pass
    peak = tracemalloc.get_traced_memory()[1] / 1e6
    tracemalloc.stop()
    line = {
        "type": "assistant",
        "uuid": "u",
        "sessionId": "s",
        "timestamp": "2026-08-10T12:00:00.000Z",
        "message": {"content": [{"type": "text", "text": "words of an answer " * 40}]},
    }
    data = b"".join(json.dumps({**line, "uuid": f"u{n}"}).encode() + b"\n" for n in range(20_000))
    transcript_s = timed(lambda: list(claude_code.read(io.BytesIO(data), "x")))
    return [
        Measure(
            f"export of 200 MB, {found} sessions and turns",
            f"{took_s:.1f} s",
            f"{peak:.0f} MB of Python's memory",
            "300 MB",
        ),
        Measure("transcript lines a second", f"{20_000 / transcript_s:.0f}", "", "5,000 turns"),
    ]


def main() -> int:
    """Print the table by itself: `python -m tests.benchmarks.sessions`."""
    for measure in sessions():
        print(f"{measure.what:44} {measure.value:36} {measure.beside:44} {measure.bound}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
