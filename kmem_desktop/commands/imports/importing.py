"""`kmem import`: conversations and memories of other programs, and undoing what was imported."""

import argparse
import asyncio
import contextlib
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path

from kmem_desktop.bootstrap import Services
from kmem_desktop.commands.adding import Add
from kmem_desktop.commands.library.copying import print_copy_report
from kmem_desktop.commands.opening import with_services
from kmem_desktop.commands.printing import print_json, printable
from kmem_desktop.config import Paths
from kmem_desktop.domain.changes import Origin, OriginKind
from kmem_desktop.domain.importing import ImportReport, MemoryProgress
from kmem_desktop.domain.library.copies import CopyReport
from kmem_desktop.domain.sessions.importing import (
    ImportProgress,
    ImportRecord,
    SessionImportReport,
    TranscriptKind,
)
from kmem_desktop.services.importing.any_import import Report

YOU = Origin(OriginKind.COMMAND_LINE, "You")
TELL_EVERY_S = 0.2
SHOWN_PROBLEMS = 20


def add_commands(add: Add) -> None:
    """Add `import`."""
    importing = add("import", "import conversations or memories of other programs", _run_import)
    importing.add_argument(
        "file", type=Path, nargs="?", help="a file or folder; what it is is found out by itself"
    )
    importing.add_argument("--dry-run", action="store_true", help="only tell what would happen")
    importing.add_argument("--list", action="store_true", help="list what was imported")
    importing.add_argument("--undo", metavar="ID", help="take an import back as a whole")
    importing.set_defaults(usage=importing.error)


def _run_import(options: argparse.Namespace, profile: Paths) -> int:
    if options.list:
        return _list(options, profile)
    if options.undo:
        return _undo(options, profile)
    if options.file is None:
        options.usage("name a file or folder, or --list, or --undo ID")
    report = with_services(profile, lambda services: _imported(services, options))
    if options.json:
        print_json(asdict(report))
    elif isinstance(report, SessionImportReport):
        print_sessions_report(report)
    elif isinstance(report, CopyReport):
        print_copy_report(report)
    else:
        _print_report(report)
    return 130 if report.was_cancelled else 0


async def _imported(services: Services, options: argparse.Namespace) -> Report:
    with cancelled_by_ctrl_c() as cancel:
        telling = Telling(is_on=not options.json)
        try:
            return await services.imports.run(
                options.file,
                YOU,
                dry_run=options.dry_run,
                tell=telling.tell,
                cancel=cancel,
            )
        finally:
            telling.end()


@contextmanager
def cancelled_by_ctrl_c() -> Iterator[asyncio.Event]:
    """Give an event that Ctrl+C sets, instead of breaking off."""
    cancel = asyncio.Event()
    loop = asyncio.get_running_loop()
    with contextlib.suppress(NotImplementedError, RuntimeError, ValueError):
        loop.add_signal_handler(signal.SIGINT, cancel.set)
    try:
        yield cancel
    finally:
        with contextlib.suppress(NotImplementedError, RuntimeError, ValueError):
            loop.remove_signal_handler(signal.SIGINT)


class Telling:
    """Tells on stderr how far an import is, in one line that is written anew."""

    def __init__(self, *, is_on: bool) -> None:
        """Tell only where somebody looks; stderr may be closed."""
        self._is_on = is_on and sys.stderr is not None and sys.stderr.isatty()
        self._told_at = 0.0
        self._has_told = False

    def tell(self, progress: ImportProgress | MemoryProgress) -> None:
        """Say how far it is, a few times a second."""
        if isinstance(progress, MemoryProgress):
            self.say(f"{progress.done:,} of {progress.total:,} memories")
            return
        share = progress.bytes_done / progress.bytes_total if progress.bytes_total else 1.0
        self.say(
            f"{share:4.0%}  {progress.files_done:,} of {progress.files_total:,} files,"
            f" {progress.turns:,} turns, {progress.turns_new:,} of them new"
        )

    def tell_removed(self, done: int, total: int) -> None:
        """Say how much of an import is undone."""
        self.say(f"{done:,} of {total:,} turns undone")

    def say(self, words: str) -> None:
        """Write the line anew, if it is time."""
        now = time.monotonic()
        if self._is_on and now - self._told_at >= TELL_EVERY_S:
            self._told_at = now
            self._has_told = True
            print(f"\r{words:<76}", end="", file=sys.stderr, flush=True)

    def end(self) -> None:
        """Leave the line empty."""
        if self._has_told:
            print(f"\r{'':<76}\r", end="", file=sys.stderr, flush=True)


def _list(options: argparse.Namespace, profile: Paths) -> int:
    records = with_services(profile, lambda services: services.imports.list_imports())
    if options.json:
        print_json([asdict(record) for record in records])
        return 0
    for record in records:
        print(f"{record.uuid}  {record.started_at:%Y-%m-%d %H:%M}  {_state(record)}")
        print(f"  {_brought(record)} from {record.kind}, {printable(record.path)}")
    if not records:
        print("Nothing was imported.")
    return 0


def _state(record: ImportRecord) -> str:
    if record.undone_at is not None:
        return "undone"
    if record.is_following:
        return "goes on as the program writes"
    return "done" if record.finished_at else "cut off: import it again to finish it"


def _brought(record: ImportRecord) -> str:
    if record.kind in set(TranscriptKind):
        return f"{record.session_count} sessions, {record.turn_count} turns"
    counts = {
        name: int(record.facts.get(f"{name}_new") or 0)
        for name in ("knowledge", "entities", "observations", "relations")
    }
    return ", ".join(f"{count} {name}" for name, count in counts.items() if count) or "nothing"


def _undo(options: argparse.Namespace, profile: Paths) -> int:
    telling = Telling(is_on=not options.json)

    async def work(services: Services) -> int:
        try:
            return await services.imports.undo(options.undo, YOU, tell=telling.tell_removed)
        finally:
            telling.end()

    count = with_services(profile, work)
    if options.json:
        print_json({"undone": count})
    else:
        print(f"The import was taken back: {count} turns or changes.")
    return 0


def print_sessions_report(report: SessionImportReport) -> None:
    """Print what an import of conversations found and did."""
    would = "would be " if report.dry_run else ""
    print(f"{printable(report.path)} ({report.kind}, {report.files} files):")
    print(f"  {report.sessions_new} sessions {would}imported, {report.sessions_known} known")
    print(f"  {report.turns_new} turns {would}imported, {report.turns_known} known")
    if report.sessions_excluded:
        print(f"  {report.sessions_excluded} sessions are excluded and were left out")
    if report.sessions_deleted:
        print(f"  {report.sessions_deleted} sessions were deleted here and were left out")
    if report.secrets_removed:
        kinds = ", ".join(f"{count} {kind}" for kind, count in report.secrets_removed.items())
        print(f"  secrets {would}replaced: {printable(kinds)}")
    for problem in report.problems[:SHOWN_PROBLEMS]:
        name = printable(Path(problem.file).name)
        text = printable(problem.text[:80])
        print(f"  {name}, line {problem.line}: {printable(problem.message)}: {text}")
    if report.problem_count > SHOWN_PROBLEMS:
        print(f"  and {report.problem_count - SHOWN_PROBLEMS} more lines that were not understood")
    if report.was_cancelled:
        print("  cancelled: what was stored stays; import it again to finish it")
    if report.batch:
        print(f"  to undo it: kmem import --undo {report.batch}")


def _print_report(report: ImportReport) -> None:
    would = "would be " if report.dry_run else ""
    print(f"{printable(report.path)}:")
    if report.knowledge_new or report.knowledge_known:
        print(f"  {report.knowledge_new} knowledge {would}imported, {report.knowledge_known} known")
    print(f"  {report.entities_new} entities {would}imported, {report.entities_known} known")
    print(f"  {report.observations_new} observations {would}added")
    print(f"  {report.relations_new} relations {would}added, {report.relations_known} known")
    if report.dangling_relations:
        print(f"  {report.dangling_relations} relations name an entity that is not there; kept")
    if report.excluded:
        print(f"  {report.excluded} of excluded projects were left out")
    if report.secrets_removed:
        kinds = ", ".join(f"{count} {kind}" for kind, count in report.secrets_removed.items())
        print(f"  secrets {would}replaced: {printable(kinds)}")
    for problem in report.problems:
        print(f"  line {problem.line}: {problem.message}: {printable(problem.text[:80])}")
    if report.kept_lines_path:
        kept = printable(report.kept_lines_path)
        print(f"  the lines that were not understood are kept in {kept}")
    if report.was_cancelled:
        print("  cancelled: what was stored stays; import it again to finish it")
