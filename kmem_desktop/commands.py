"""The commands of `kmem` besides the bridge; each prints for people, or JSON with `--json`."""

import argparse
import asyncio
import json
import os
import sys
from collections.abc import Awaitable, Callable
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path
from typing import Any, TypeVar

from kmem_desktop.address import chosen_database
from kmem_desktop.bootstrap import Services, opened_services
from kmem_desktop.config import Paths, paths
from kmem_desktop.domain.importing import ImportReport
from kmem_desktop.domain.knowledge import KnowledgeQuery
from kmem_desktop.errors import KmemError
from kmem_desktop.log import log_to_file
from kmem_desktop.services.connecting import connection_help, recipes
from kmem_desktop.services.maintenance import Health
from kmem_desktop.services.residence import Residence

T = TypeVar("T")


def run(arguments: list[str]) -> int:
    """Run a command line without its program name; return the exit code."""
    options = _parser().parse_args(arguments)
    profile = paths(chosen_database(options.db))
    try:
        return int(options.run(options, profile))
    except KmemError as error:
        _print_error(options, error)
        return 1
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        # The reader of our output is gone; keep Python from complaining about it at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="kmem", description="One memory for all your AI assistants."
    )
    _add_common(parser, default=None)
    parser.add_argument("--version", action="version", version=f"kmem {version('kmem')}")
    parser.add_argument("--background", action="store_true", help="start in the tray only")
    parser.set_defaults(run=_run_app)
    commands = parser.add_subparsers(metavar="COMMAND")

    def add(
        name: str, summary: str, action: Callable[[argparse.Namespace, Paths], int]
    ) -> argparse.ArgumentParser:
        command = commands.add_parser(name, help=summary, description=summary)
        # Without a default here, what was given before the command's name still counts.
        _add_common(command, default=argparse.SUPPRESS)
        command.set_defaults(run=action)
        return command

    serve = add("serve", "serve assistants without a window", _run_serve)
    serve.add_argument("--while-needed", action="store_true", help="end when nobody needs it")
    mcp = add("mcp", "what an assistant launches: connects it to kmem", _run_mcp)
    mcp.add_argument("--tools", default="", help="profiles: graph, knowledge, or all")
    mcp.add_argument("--standalone", action="store_true", help="serve in this process, alone")
    search = add("search", "search the stored knowledge", _run_search)
    search.add_argument("query", nargs="+")
    search.add_argument("--scope", help="project:<name> or repo:<name>")
    search.add_argument("--limit", type=int, default=5)
    importing = add("import", "import the reference memory server's memory.jsonl", _run_import)
    importing.add_argument("file", type=Path)
    importing.add_argument("--dry-run", action="store_true", help="only tell what would happen")
    add("doctor", "check the memory and what belongs to it", _run_doctor)
    add("connect", "tell how to connect an assistant", _run_connect)
    return parser


def _add_common(parser: argparse.ArgumentParser, default: Any) -> None:
    parser.add_argument(
        "--db", metavar="PATH", default=default, help="another database (or the variable KMEM_DB)"
    )
    parser.add_argument(
        "--json", action="store_true", default=default, help="print JSON for programs"
    )


def _run_app(options: argparse.Namespace, profile: Paths) -> int:
    if not _has_display():
        print("There is no display: kmem serves without a window. Stop it with Ctrl+C.\n")
        print(connection_help(profile), flush=True)
        return _run_serve(options, profile)
    from kmem_desktop.app import run as run_app

    return run_app(profile, in_background=options.background)


def _has_display() -> bool:
    if sys.platform in ("win32", "darwin"):
        return True
    names = ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM")
    return any(os.environ.get(name) for name in names)


def _run_serve(options: argparse.Namespace, profile: Paths) -> int:
    from kmem_desktop.resident import serve

    log_to_file(profile.log)
    while_needed = getattr(options, "while_needed", False)
    return _loop_run(serve(profile, while_needed=while_needed))


def _loop_run(work: Awaitable[T]) -> T:
    """Run a coroutine on the loop that this system's local socket needs."""
    if sys.platform == "win32":
        from kmem_desktop.app import run_without_window

        return run_without_window(work)

    async def main() -> T:
        return await work

    return asyncio.run(main())


def _run_mcp(options: argparse.Namespace, profile: Paths) -> int:
    if not options.standalone:
        from kmem_desktop.bridge import run as run_bridge

        return run_bridge(chosen_database(options.db), options.tools)
    from kmem_desktop.server.standalone import serve_standard_streams

    log_to_file(profile.log)
    asyncio.run(serve_standard_streams(profile, options.tools))
    return 0


def _run_search(options: argparse.Namespace, profile: Paths) -> int:
    query = KnowledgeQuery(" ".join(options.query), scope=options.scope, limit=options.limit)
    results = _with_services(profile, lambda services: services.knowledge.search(query))
    if options.json:
        _print_json(asdict(results))
        return 0
    for hit in results.hits:
        item = hit.item
        print(f"{printable(item.title)}  [{item.category}, {printable(item.scope)}]")
        print(f"  {printable(item.content[:300])}")
        print(f"  {hit.explanation.sentence} Score {hit.score:.2f}. {item.uuid}\n")
    print(f"{len(results.hits)} of {results.total_matches} shown.")
    return 0


def _run_import(options: argparse.Namespace, profile: Paths) -> int:
    report = _with_services(
        profile,
        lambda services: services.importing.import_reference_memory(
            options.file, dry_run=options.dry_run
        ),
    )
    if options.json:
        _print_json(asdict(report))
    else:
        _print_report(report)
    return 0


def _print_report(report: ImportReport) -> None:
    would = "would be " if report.dry_run else ""
    print(f"{printable(report.path)}:")
    print(f"  {report.entities_new} entities {would}imported, {report.entities_known} known")
    print(f"  {report.observations_new} observations {would}added")
    print(f"  {report.relations_new} relations {would}added, {report.relations_known} known")
    if report.dangling_relations:
        print(f"  {report.dangling_relations} relations name an entity that is not there; kept")
    for problem in report.problems:
        print(f"  line {problem.line}: {problem.message}: {printable(problem.text[:80])}")
    if report.kept_lines_path:
        kept = printable(report.kept_lines_path)
        print(f"  the lines that were not understood are kept in {kept}")


def _run_doctor(options: argparse.Namespace, profile: Paths) -> int:
    residence = Residence(profile)
    try:
        resident = residence.ask("status")
    except TimeoutError:
        resident = None
    health = _with_services(profile, lambda services: services.maintenance.check())
    if options.json:
        _print_json({"database": profile.database, "resident": resident, **asdict(health)})
    else:
        _print_health(profile, residence, resident, health)
    return 0 if health.is_whole else 1


def _print_health(
    profile: Paths, residence: Residence, resident: dict[str, Any] | None, health: Health
) -> None:
    print(f"kmem {version('kmem')}")
    print(f"  database   {profile.database}")
    print(f"  log        {profile.log}")
    print(f"  socket     {residence.address}")
    if resident is None:
        print("  serving    no; the first assistant that needs it starts it")
    else:
        face = "with a window" if resident.get("windows") else "without a window"
        clients = resident.get("clients", 0)
        print(f"  serving    yes, {face}, process {resident.get('pid')}, {clients} connected")
    print(f"  texts      {health.texts}, {health.without_vector} of them wait for their vector")
    print(f"  meaning    {health.meaning or 'compared by the bundled model'}")
    for problem in health.problems:
        print(f"  PROBLEM    {printable(problem)}")
    print("The memory is whole." if health.is_whole else "The memory is damaged.")


def _run_connect(options: argparse.Namespace, profile: Paths) -> int:
    if options.json:
        _print_json([asdict(recipe) for recipe in recipes(profile)])
    else:
        print(connection_help(profile))
    return 0


def _with_services(profile: Paths, work: Callable[[Services], Awaitable[T]]) -> T:
    async def main() -> T:
        async with opened_services(profile) as services:
            return await work(services)

    return asyncio.run(main())


def printable(text: str) -> str:
    """Return text that cannot steer a terminal: control characters become visible."""
    return "".join(c if c.isprintable() else f"\\x{ord(c):02x}" for c in " ".join(text.split()))


def _print_json(value: Any) -> None:
    print(json.dumps(value, ensure_ascii=True, indent=2, default=str))


def _print_error(options: argparse.Namespace, error: KmemError) -> None:
    if options.json:
        _print_json({"error": error.code, "message": error.message, "details": error.details})
    else:
        print(f"kmem: {printable(error.message)} {printable(error.hint)}".rstrip(), file=sys.stderr)
