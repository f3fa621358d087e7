"""`kmem privacy`: what is kept out of the memory."""

import argparse
from collections import Counter
from dataclasses import asdict

from kmem_desktop.bootstrap import Services
from kmem_desktop.commands.adding import Add, actions_of
from kmem_desktop.commands.opening import with_services
from kmem_desktop.commands.printing import print_json, printable
from kmem_desktop.config import Paths
from kmem_desktop.domain.changes import Origin, OriginKind
from kmem_desktop.domain.sessions.privacy import Exclusion, ExclusionKind, SecretCount

YOU = Origin(OriginKind.COMMAND_LINE, "You")


def add_commands(add: Add) -> None:
    """Add `privacy` with its own commands."""
    privacy = add("privacy", "what is kept out of the memory", _run_list)
    action = actions_of(privacy)
    action("list", "secrets that were removed, by kind, and what is excluded", _run_list)
    for name, summary, run in (
        ("exclude", "store nothing more of a project or session", _run_exclude),
        ("include", "store what comes of a project or session again", _run_include),
    ):
        command = action(name, summary, run)
        command.add_argument("kind", choices=list(ExclusionKind))
        command.add_argument("name", help="the project's name, or the session's id")


async def _look(services: Services) -> tuple[list[SecretCount], list[Exclusion]]:
    return await services.privacy.removed(), await services.privacy.exclusions()


def _run_list(options: argparse.Namespace, profile: Paths) -> int:
    removed, exclusions = with_services(profile, _look)
    if options.json:
        print_json(
            {
                "secrets_removed": [asdict(each) for each in removed],
                "exclusions": [asdict(each) for each in exclusions],
            }
        )
        return 0
    kinds: Counter[str] = Counter()
    for each in removed:
        kinds[each.kind] += each.count
    print(f"Secrets that were replaced before storing: {sum(kinds.values())}")
    for kind, count in sorted(kinds.items(), key=lambda item: (-item[1], item[0])):
        last = max(each.day for each in removed if each.kind == kind)
        print(f"  {count:6}  {printable(kind)}, last on {last}")
    print("Nothing is stored of:")
    for exclusion in exclusions:
        print(
            f"  {exclusion.kind} {printable(exclusion.name)}, since {exclusion.added_at:%Y-%m-%d}"
        )
    if not exclusions:
        print("  (no project or session is excluded)")
    return 0


def _run_exclude(options: argparse.Namespace, profile: Paths) -> int:
    kind = ExclusionKind(options.kind)
    is_new = with_services(
        profile, lambda services: services.privacy.exclude(kind, options.name, YOU)
    )
    if options.json:
        print_json({"kind": kind, "name": options.name, "excluded": True, "changed": is_new})
    elif is_new:
        print(f"Nothing more is stored of the {kind} {printable(options.name)}.")
        print("What is there already stays until you delete it.")
    else:
        print(f"The {kind} {printable(options.name)} was excluded already.")
    return 0


def _run_include(options: argparse.Namespace, profile: Paths) -> int:
    kind = ExclusionKind(options.kind)
    was_excluded = with_services(
        profile, lambda services: services.privacy.include(kind, options.name, YOU)
    )
    if options.json:
        print_json({"kind": kind, "name": options.name, "excluded": False, "changed": was_excluded})
    elif was_excluded:
        print(f"What comes of the {kind} {printable(options.name)} is stored again.")
    else:
        print(f"The {kind} {printable(options.name)} was not excluded.")
    return 0 if was_excluded else 1
