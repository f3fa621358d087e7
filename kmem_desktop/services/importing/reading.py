"""Reads conversations of other programs in a process of its own, which sends what it has prepared.

Taking a transcript apart is hundreds of microseconds of Python for each turn. In a thread that
would keep the interpreter from the window and from the assistants for as long as an import takes.
Little is read in a thread all the same: starting a process takes longer.
"""

import contextlib
import json
import logging
import os
import queue
import sys
import threading
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict

from kmem_desktop.domain.sessions.importing import (
    FileDone,
    Incoming,
    IncomingSession,
    IncomingTurns,
    TranscriptFile,
    TranscriptKind,
    TranscriptProblem,
)
from kmem_desktop.errors import FormatError
from kmem_desktop.platforms.own_process import OwnProcess
from kmem_desktop.services.importing.preparing import BATCH_CHARACTERS, BATCH_TURNS, prepared

log = logging.getLogger(__name__)

COMMAND = "read-conversations"
LITTLE_BYTES = 512 * 1024
BATCH_ITEMS = 100
READ_AHEAD = 4
"""So many batches wait to be stored: 2 to 4 MB."""
GIVEN_UP_AFTER_S = 0.05

Batch = tuple[Incoming, ...]


class Reading:
    """What some files hold, batch by batch; a few batches are read ahead."""

    def __init__(self, files: Sequence[TranscriptFile], *, only_counted: bool) -> None:
        """Begin to read these files.

        Args:
            files: The files.
            only_counted: Whether turns are to be counted only: a dry run.
        """
        self._files = files
        self._only_counted = only_counted
        self._process: OwnProcess | None = None
        self._is_stopped = threading.Event()
        self._ready: queue.Queue[Batch | Exception | None] = queue.Queue(READ_AHEAD)
        self._thread = threading.Thread(target=self._read, name="kmem-reading", daemon=True)
        self._thread.start()

    def next_batch(self) -> Batch | None:
        """Wait for what comes next; None at the end. It blocks, and is called from a thread.

        Raises:
            FormatError: Reading failed.
        """
        found = self._ready.get()
        if isinstance(found, Exception):
            raise found
        return found

    def close(self) -> None:
        """Give up what was not read yet; a batch that is waited for is the end. It blocks."""
        self._is_stopped.set()
        process = self._process
        if process is not None:
            process.stop()
        self._thread.join()
        if process is not None:
            process.close()

    def _read(self) -> None:
        try:
            for batch in _batches(self._incoming()):
                self._give(batch)
                if self._is_stopped.is_set():
                    break
        except Exception as error:  # noqa: BLE001 - it is raised where the batch is waited for
            self._give(error)
        self._give(None)

    def _give(self, found: Batch | Exception | None) -> None:
        while True:
            try:
                self._ready.put(found, timeout=GIVEN_UP_AFTER_S)
            except queue.Full:
                if not self._is_stopped.is_set():
                    continue
                with contextlib.suppress(queue.Empty):
                    self._ready.get_nowait()  # nobody wants it any more
                continue
            return

    def _incoming(self) -> Iterator[Incoming]:
        if amount_bytes(self._files) > LITTLE_BYTES:
            try:
                plan = {
                    "files": [asdict(file) for file in self._files],
                    "only_counted": self._only_counted,
                }
                self._process = OwnProcess(COMMAND, json.dumps(plan).encode())
            except OSError as error:
                log.warning("No process for reading could be started: %s", error)
        if self._process is None:
            yield from prepared(self._files, only_counted=self._only_counted)
            return
        yield from _received(self._process.lines())
        if not self._is_stopped.is_set() and not self._process.has_succeeded():
            raise FormatError(
                "Reading the conversations was cut off.",
                hint="What was stored stays; import it again to go on.",
            )


def amount_bytes(files: Iterable[TranscriptFile]) -> int:
    """Return how much is to be read of some files."""
    return sum(file.size_bytes - file.offset_bytes for file in files)


def _batches(incoming: Iterator[Incoming]) -> Iterator[Batch]:
    batch: list[Incoming] = []
    turns = size = 0
    for each in incoming:
        if isinstance(each, IncomingTurns):
            if batch and (turns + each.count > BATCH_TURNS or size + each.size > BATCH_CHARACTERS):
                yield tuple(batch)
                batch, turns, size = [], 0, 0
            turns, size = turns + each.count, size + each.size
        batch.append(each)
        if len(batch) >= BATCH_ITEMS:
            yield tuple(batch)
            batch, turns, size = [], 0, 0
    if batch:
        yield tuple(batch)


def _sent(incoming: Incoming) -> Iterator[str]:
    """Yield the lines that something is sent as; the rows of turns are a line by themselves."""
    if isinstance(incoming, IncomingTurns):
        facts = {
            name: getattr(incoming, name) for name in IncomingTurns.__slots__ if name != "rows"
        }
        yield json.dumps({"turns": {**facts, "session": asdict(incoming.session)}})
        yield incoming.rows
    else:
        yield json.dumps({_WORDS[type(incoming)]: asdict(incoming)})


_WORDS = {IncomingSession: "session", TranscriptProblem: "problem", FileDone: "done"}


def _received(lines: Iterator[bytes]) -> Iterator[Incoming]:
    for line in lines:
        if not line.endswith(b"\n"):
            return  # it was ended in the middle
        ((word, facts),) = json.loads(line).items()
        if word == "turns":
            rows = next(lines, b"")
            if not rows.endswith(b"\n"):
                return
            facts["session"] = IncomingSession(**facts["session"])
            facts["secrets"] = tuple(
                (place, kind, count) for place, kind, count in facts["secrets"]
            )
            facts["before"], facts["behind"] = tuple(facts["before"]), tuple(facts["behind"])
            yield IncomingTurns(**facts, rows=rows.decode())
        elif word == "session":
            yield IncomingSession(**facts)
        elif word == "problem":
            yield TranscriptProblem(**facts)
        else:
            yield FileDone(**{**facts, "file": _file(facts["file"])})


def _file(facts: dict[str, object]) -> TranscriptFile:
    return TranscriptFile(**{**facts, "kind": TranscriptKind(str(facts["kind"]))})  # type: ignore[arg-type]


def run_reader() -> int:
    """Be the process that reads: stdin says what, and stdout takes what was read."""
    plan = json.loads(sys.stdin.buffer.read())
    files = [_file(facts) for facts in plan["files"]]
    try:
        with open(1, "wb", closefd=False) as answers:
            for incoming in prepared(files, only_counted=plan["only_counted"]):
                for line in _sent(incoming):
                    answers.write(line.encode() + b"\n")
                answers.flush()
    except BrokenPipeError:
        os._exit(1)  # nobody listens any more
    return 0
