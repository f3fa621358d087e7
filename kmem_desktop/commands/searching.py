"""`kmem search`."""

import argparse
from dataclasses import asdict

from kmem_desktop.bootstrap import Services
from kmem_desktop.commands.adding import Add
from kmem_desktop.commands.opening import with_services
from kmem_desktop.commands.printing import print_json, printable
from kmem_desktop.config import Paths
from kmem_desktop.domain.absence import Absence
from kmem_desktop.domain.knowledge import KnowledgeQuery, KnowledgeResults


def add_commands(add: Add) -> None:
    """Add `search`."""
    search = add("search", "search the stored knowledge", _run_search)
    search.add_argument("query", nargs="+")
    search.add_argument("--scope", help="project:<name> or repo:<name>")
    search.add_argument("--limit", type=int, default=5)
    search.add_argument("--why-not", metavar="ID", help="an item you expected: tell why not")


def _run_search(options: argparse.Namespace, profile: Paths) -> int:
    query = KnowledgeQuery(" ".join(options.query), scope=options.scope, limit=options.limit)

    async def work(services: Services) -> tuple[KnowledgeResults, Absence | None]:
        results = await services.knowledge.search(query)
        absence = None
        if options.why_not:
            absence = await services.absence.why_not(query, options.why_not)
        return results, absence

    results, absence = with_services(profile, work)
    if options.json:
        value = asdict(results)
        if absence is not None:
            value["why_not"] = {**asdict(absence), "sentence": absence.sentence}
        print_json(value)
        return 0
    for hit in results.hits:
        item = hit.item
        print(f"{printable(item.title)}  [{item.category}, {printable(item.scope)}]")
        print(f"  {printable(item.content[:300])}")
        print(f"  {hit.explanation.sentence} Score {hit.score:.2f}. {item.uuid}\n")
    print(f"{len(results.hits)} of {results.total_matches} shown.")
    if absence is not None:
        _print_absence(absence)
    return 0


def _print_absence(absence: Absence) -> None:
    print(f"\nWhy not {printable(absence.item.title)}?")
    for sentence in absence.sentences:
        print(f"  {printable(sentence)}")
