"""`kmem export`, and what is told when a copy was brought in."""

import argparse
from datetime import datetime
from pathlib import Path

from kmem_desktop.commands.adding import Add
from kmem_desktop.commands.opening import with_services
from kmem_desktop.commands.printing import print_json, printable
from kmem_desktop.config import Paths
from kmem_desktop.domain.knowledge import Category
from kmem_desktop.domain.library.copies import CopyFormat, CopyPart, CopyQuery, CopyReport
from kmem_desktop.errors import InvalidInputError

NOUNS = ("knowledge", "entities", "observations", "relations", "sessions", "turns", "links")


def add_commands(add: Add) -> None:
    """Add `export`."""
    export = add("export", "write a copy of the memory into a file", _run_export)
    export.add_argument("path", type=Path, help="the file; .json gives JSON, all else markdown")
    export.add_argument("--format", choices=list(CopyFormat), help="whatever the file's name says")
    export.add_argument("--force", action="store_true", help="replace a file that is there")
    export.add_argument("--scope", help="only knowledge of this scope")
    export.add_argument("--category", choices=list(Category), help="only this kind of knowledge")
    export.add_argument("--tag", action="append", default=[], help="only what has this tag")
    export.add_argument("--session", metavar="ID", help="only what was saved out of this session")
    export.add_argument("--since", type=_date, help="only what was changed since this date")
    export.add_argument(
        "--include",
        nargs="+",
        choices=list(CopyPart),
        help="what to copy; without it everything, with a filter what the filter fits",
    )


def _date(text: str) -> datetime:
    try:
        return datetime.fromisoformat(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"{text!r} is no date such as 2026-05-03") from error


def _run_export(options: argparse.Namespace, profile: Paths) -> int:
    path = options.path.absolute()
    if path.exists() and not options.force:
        raise InvalidInputError(f"{path} is there already.", hint="To replace it, use --force.")
    by_name = CopyFormat.JSON if path.suffix.lower() == ".json" else CopyFormat.MARKDOWN
    written = CopyFormat(options.format) if options.format else by_name
    query = CopyQuery(
        parts=_parts(options),
        scope=options.scope,
        category=Category(options.category) if options.category else None,
        tags=tuple(options.tag),
        session_uuid=options.session,
        since=options.since,
    )
    counts = with_services(
        profile, lambda services: services.library.exporting.to_file(query, written, path)
    )
    if options.json:
        print_json({"path": path, "format": written, "counts": counts})
        return 0
    print(f"{printable(str(path))}: {_told(counts)}, as {written}.")
    return 0


def _parts(options: argparse.Namespace) -> tuple[CopyPart, ...]:
    if options.include:
        return tuple(part for part in CopyPart if part in options.include)
    if options.scope or options.category:
        return (CopyPart.KNOWLEDGE,)
    if options.tag or options.session:
        return (CopyPart.KNOWLEDGE, CopyPart.SESSIONS)
    return tuple(CopyPart)


def print_copy_report(report: CopyReport) -> None:
    """Print what bringing a copy in did."""
    if report.was_cancelled:
        print("  cancelled: nothing of the copy was brought in")
        return
    would = "would be " if report.is_dry_run else ""
    print(f"  {_told(report.new)} {would}imported")
    if report.changed:
        print(f"  {report.changed} items that were older here {would}changed")
    print(f"  {_told(report.known)} known")
    for kind, count in report.secrets.items():
        print(f"  {count} secrets ({printable(kind)}) {would}replaced")
    for problem in report.problems:
        print(f"  {printable(problem.place)}: {printable(problem.message)}")
    if report.batch:
        print(f"  to undo it: kmem import --undo {report.batch}")


def _told(counts: object) -> str:
    values = dict(counts) if isinstance(counts, dict) else {}
    told = [f"{values[noun]} {noun}" for noun in NOUNS if values.get(noun)]
    return ", ".join(told) or "nothing"
