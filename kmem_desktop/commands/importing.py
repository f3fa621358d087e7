"""`kmem import`."""

import argparse
from dataclasses import asdict
from pathlib import Path

from kmem_desktop.commands.adding import Add
from kmem_desktop.commands.opening import with_services
from kmem_desktop.commands.printing import print_json, printable
from kmem_desktop.config import Paths
from kmem_desktop.domain.importing import ImportReport


def add_commands(add: Add) -> None:
    """Add `import`."""
    importing = add("import", "import the reference memory server's memory.jsonl", _run_import)
    importing.add_argument("file", type=Path)
    importing.add_argument("--dry-run", action="store_true", help="only tell what would happen")


def _run_import(options: argparse.Namespace, profile: Paths) -> int:
    report = with_services(
        profile,
        lambda services: services.importing.import_reference_memory(
            options.file, dry_run=options.dry_run
        ),
    )
    if options.json:
        print_json(asdict(report))
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
