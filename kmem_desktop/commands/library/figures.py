"""`kmem analyze`: what the memory is made of, what is asked of it, what may no longer hold."""

import argparse
from collections.abc import Iterable, Mapping
from dataclasses import asdict

from kmem_desktop.commands.adding import Add
from kmem_desktop.commands.opening import with_services
from kmem_desktop.commands.printing import print_json, printable
from kmem_desktop.config import Paths
from kmem_desktop.domain.library.reports import USUAL_ANALYSIS_DAYS, Analysis


def add_commands(add: Add) -> None:
    """Add `analyze`."""
    analyze = add("analyze", "what the memory is made of, in figures", _run_analyze)
    analyze.add_argument("--scope", help="only knowledge of this scope")
    analyze.add_argument(
        "--days", type=int, default=USUAL_ANALYSIS_DAYS, help="how far back to look at searches"
    )


def _run_analyze(options: argparse.Namespace, profile: Paths) -> int:
    analysis = with_services(
        profile,
        lambda services: services.library.analysis.analyse(scope=options.scope, days=options.days),
    )
    if options.json:
        print_json(asdict(analysis))
    else:
        _print_analysis(analysis)
    return 0


def _print_analysis(analysis: Analysis) -> None:
    _print_counts("There are", analysis.totals)
    _print_counts("By category", analysis.by_category)
    _print_counts("By scope", analysis.by_scope)
    _print_counts("By client", analysis.by_client)
    _print_counts("By month", analysis.by_month)
    _print_counts("Tags", {tag.name: tag.items + tag.sessions for tag in analysis.tags})
    _print_list("Referred to most", (f"{e.title} ({e.count})" for e in analysis.referenced))
    _print_list("Most connected", (f"{e.title} ({e.count})" for e in analysis.entities))
    sessions = analysis.sessions
    print(
        f"Conversations: {sessions.count} with {sessions.turns} turns,"
        f" {sessions.active_in_period} active in the last {analysis.days} days"
    )
    _print_list("Asked most", (f"{s.text} ({s.count} times)" for s in analysis.asked))
    _print_list("Asked and not found", (s.text for s in analysis.unanswered))
    _print_list(
        "May no longer hold",
        (f"{item.updated_at:%Y-%m-%d} {item.title}" for item in analysis.stale),
    )
    _print_list("Nearly the same", (" = ".join(pair.titles) for pair in analysis.alike))
    _print_list("Contradict", (" / ".join(pair.titles) for pair in analysis.contradictions))


def _print_counts(heading: str, counts: Mapping[str, int]) -> None:
    if counts:
        told = ", ".join(f"{printable(name)} {count}" for name, count in counts.items())
        print(f"{heading}: {told}")


def _print_list(heading: str, lines: Iterable[str]) -> None:
    found = list(lines)
    if found:
        print(f"{heading}:")
    for line in found:
        print(f"  {printable(line)}")
