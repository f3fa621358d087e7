"""`kmem tags`: which tags there are, and changing many of them at once."""

import argparse
from collections.abc import Awaitable, Callable
from dataclasses import asdict

from kmem_desktop.bootstrap import Services
from kmem_desktop.commands.adding import Add, actions_of
from kmem_desktop.commands.opening import with_services
from kmem_desktop.commands.printing import print_json, printable
from kmem_desktop.config import Paths
from kmem_desktop.domain.changes import Origin, OriginKind
from kmem_desktop.domain.library.reports import Tagging
from kmem_desktop.errors import NotFoundError

YOU = Origin(OriginKind.COMMAND_LINE, "You")


def add_commands(add: Add) -> None:
    """Add `tags` with its own commands."""
    tags = add("tags", "the tags of knowledge and conversations", _run_list)
    _add_list_options(tags)
    action = actions_of(tags)
    _add_list_options(action("list", "list tags, those used most first", _run_list))
    rename = action("rename", "give a tag another name everywhere", _run_rename)
    rename.add_argument("old")
    rename.add_argument("new")
    merge = action("merge", "put one tag in the place of several", _run_merge)
    merge.add_argument("tags", nargs="+")
    merge.add_argument("--into", required=True, metavar="TAG")
    delete = action("delete", "take tags from everything", _run_delete)
    delete.add_argument("tags", nargs="+")
    adding = action("add", "put tags on items or sessions", _run_add)
    adding.add_argument("tags", nargs="+")
    adding.add_argument("--on", required=True, nargs="+", metavar="ID")
    undo = action("undo", "take a change of tags back as a whole", _run_undo)
    undo.add_argument("id", help="as the change told it")
    remove = action("remove", "take tags from items or sessions", _run_remove)
    remove.add_argument("tags", nargs="+")
    remove.add_argument("--from", dest="on", required=True, nargs="+", metavar="ID")


def _add_list_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--query", default="", help="only tags with this text")
    parser.add_argument("--limit", type=int, default=100)


def _run_list(options: argparse.Namespace, profile: Paths) -> int:
    page = with_services(
        profile,
        lambda services: services.library.tags.page(containing=options.query, limit=options.limit),
    )
    if options.json:
        print_json(asdict(page))
        return 0
    for tag in page.tags:
        sessions = f", {tag.sessions} sessions" if tag.sessions else ""
        print(f"{printable(tag.name):<30} {tag.items:>5} items{sessions}")
    print(f"{len(page.tags)} of {page.total} shown.")
    return 0


def _run_rename(options: argparse.Namespace, profile: Paths) -> int:
    return _run(options, profile, lambda s: s.library.tags.rename(options.old, options.new, YOU))


def _run_merge(options: argparse.Namespace, profile: Paths) -> int:
    return _run(options, profile, lambda s: s.library.tags.merge(options.tags, options.into, YOU))


def _run_delete(options: argparse.Namespace, profile: Paths) -> int:
    return _run(options, profile, lambda s: s.library.tags.delete(options.tags, YOU))


def _run_add(options: argparse.Namespace, profile: Paths) -> int:
    return _run(options, profile, lambda s: s.library.tags.add(options.tags, options.on, YOU))


def _run_remove(options: argparse.Namespace, profile: Paths) -> int:
    return _run(options, profile, lambda s: s.library.tags.remove(options.tags, options.on, YOU))


def _run(
    options: argparse.Namespace,
    profile: Paths,
    work: Callable[[Services], Awaitable[Tagging]],
) -> int:
    async def whole(services: Services) -> Tagging:
        tagging = await work(services)
        await services.library.tags.settle()
        return tagging

    tagging = with_services(profile, whole)
    if options.json:
        print_json(asdict(tagging))
    else:
        print(f"{tagging.items} items and {tagging.sessions} sessions changed.")
        if tagging.batch:
            print(f"To undo it: kmem tags undo {tagging.batch}")
    return 0


def _run_undo(options: argparse.Namespace, profile: Paths) -> int:
    count = with_services(
        profile, lambda services: services.history.undo_batch(options.id.strip().lower(), YOU)
    )
    if not count:
        raise NotFoundError("There is no such change, or it was undone already.")
    if options.json:
        print_json({"undone": count})
    else:
        print(f"{count} changes were taken back.")
    return 0
