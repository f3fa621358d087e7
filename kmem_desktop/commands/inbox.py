"""`kmem inbox`: what was taken from conversations, until a person decides about it."""

import argparse
from dataclasses import asdict

from kmem_desktop.bootstrap import Services
from kmem_desktop.commands.adding import Add, actions_of
from kmem_desktop.commands.opening import with_services
from kmem_desktop.commands.printing import print_json, printable
from kmem_desktop.config import Paths
from kmem_desktop.domain.changes import Origin, OriginKind
from kmem_desktop.domain.knowledge import KnowledgeItem
from kmem_desktop.domain.sessions.inbox import InboxState, Proposal

YOU = Origin(OriginKind.COMMAND_LINE, "You")


def add_commands(add: Add) -> None:
    """Add `inbox` with its own commands."""
    inbox = add("inbox", "knowledge taken from conversations, waiting for you", _run_list)
    _add_list_options(inbox)
    action = actions_of(inbox)
    _add_list_options(action("list", "what waits, the surest first", _run_list))
    _add_name(action("accept", "make knowledge of it", _run_accept))
    merge = action("merge", "add it to knowledge that is there", _run_merge)
    _add_name(merge)
    merge.add_argument(
        "--into", metavar="ID", help="the knowledge's id; without it, what is most like it"
    )
    _add_name(action("drop", "let it go; it does not come again", _run_drop))
    action("undo", "take the last decision back", _run_undo)
    action("look", "look the conversations through that rest, now", _run_look)


def _add_list_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--limit", type=int, default=20)


def _add_name(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("proposal", help="its number, as the list shows it, or its UUID")


def _run_list(options: argparse.Namespace, profile: Paths) -> int:
    async def work(services: Services) -> tuple[list[Proposal], InboxState]:
        return await services.inbox.page(limit=options.limit), await services.inbox.state()

    waiting, state = with_services(profile, work)
    if options.json:
        print_json({"state": asdict(state), "proposals": [asdict(each) for each in waiting]})
        return 0
    for each in waiting:
        print(f"{each.id:>4}  {printable(each.title)}")
        like = f", like \u201c{printable(each.like_title)}\u201d" if each.like_uuid else ""
        print(
            f"      {each.category}, {printable(each.scope)}, {each.score:.2f}, turn"
            f" {each.position + 1} of \u201c{printable(each.session_title)}\u201d{like}"
        )
    if not waiting:
        print("Nothing waits for you.")
    elif state.waiting > len(waiting):
        print(f"{state.waiting - len(waiting)} more wait.")
    if state.left:
        print(f"Conversations that are still to be looked through: {state.left}.")
    return 0


def _run_accept(options: argparse.Namespace, profile: Paths) -> int:
    item = with_services(profile, lambda s: s.inbox.accept(options.proposal, YOU))
    return _tell_item(options, "Accepted", item)


def _run_merge(options: argparse.Namespace, profile: Paths) -> int:
    item = with_services(profile, lambda s: s.inbox.merge(options.proposal, YOU, options.into))
    return _tell_item(options, "Added to", item)


def _tell_item(options: argparse.Namespace, what: str, item: KnowledgeItem) -> int:
    if options.json:
        print_json(asdict(item))
    else:
        print(f"{what}: {printable(item.title)} (id {item.id})")
    return 0


def _run_drop(options: argparse.Namespace, profile: Paths) -> int:
    async def work(services: Services) -> Proposal:
        await services.inbox.drop(options.proposal, YOU)
        return await services.inbox.get(options.proposal)

    dropped = with_services(profile, work)
    if options.json:
        print_json(asdict(dropped))
    else:
        print(f"Dropped: {printable(dropped.title)}")
    return 0


def _run_undo(options: argparse.Namespace, profile: Paths) -> int:
    back = with_services(profile, lambda services: services.inbox.take_back(None, YOU))
    if options.json:
        print_json(asdict(back))
    else:
        more = f" and {len(back.uuids) - 1} more" if len(back.uuids) > 1 else ""
        print(f"Waits again: {printable(back.title)}{more}")
    return 0


def _run_look(options: argparse.Namespace, profile: Paths) -> int:
    async def work(services: Services) -> tuple[int, int]:
        before, slices = await services.inbox.count(), 0
        while await services.inbox.look_through():
            slices += 1
        return await services.inbox.count() - before, slices

    found, slices = with_services(profile, work)
    if options.json:
        print_json({"found": found, "looked_through": slices})
    elif slices:
        print(f"Found {found} to decide about.")
    else:
        print("No conversation that rests is new.")
    return 0
