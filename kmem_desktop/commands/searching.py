"""`kmem search`."""

import argparse
from dataclasses import asdict

from kmem_desktop.commands.adding import Add
from kmem_desktop.commands.opening import with_services
from kmem_desktop.commands.printing import print_json, printable
from kmem_desktop.config import Paths
from kmem_desktop.domain.knowledge import KnowledgeQuery


def add_commands(add: Add) -> None:
    """Add `search`."""
    search = add("search", "search the stored knowledge", _run_search)
    search.add_argument("query", nargs="+")
    search.add_argument("--scope", help="project:<name> or repo:<name>")
    search.add_argument("--limit", type=int, default=5)


def _run_search(options: argparse.Namespace, profile: Paths) -> int:
    query = KnowledgeQuery(" ".join(options.query), scope=options.scope, limit=options.limit)
    results = with_services(profile, lambda services: services.knowledge.search(query))
    if options.json:
        print_json(asdict(results))
        return 0
    for hit in results.hits:
        item = hit.item
        print(f"{printable(item.title)}  [{item.category}, {printable(item.scope)}]")
        print(f"  {printable(item.content[:300])}")
        print(f"  {hit.explanation.sentence} Score {hit.score:.2f}. {item.uuid}\n")
    print(f"{len(results.hits)} of {results.total_matches} shown.")
    return 0
