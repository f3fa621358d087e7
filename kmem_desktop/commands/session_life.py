"""`kmem sessions rename`, `archive`, `delete` and the like: the life of a session by hand."""

import argparse
from collections.abc import Awaitable, Callable
from dataclasses import asdict
from typing import Any

from kmem_desktop.bootstrap import Services
from kmem_desktop.commands.adding import Add
from kmem_desktop.commands.opening import with_services
from kmem_desktop.commands.printing import print_json, printable
from kmem_desktop.config import Paths
from kmem_desktop.domain.changes import Origin, OriginKind
from kmem_desktop.services.sessions.life import SessionLife

YOU = Origin(OriginKind.COMMAND_LINE, "You")

Deed = Callable[[SessionLife, argparse.Namespace], Awaitable[None]]


def add_actions(action: Add) -> None:
    """Add what is done to one session, and `deleted`, which lists those that can be restored."""
    for name, summary, deed, done in _DEEDS:
        added = action(name, summary, _doing(deed, done))
        added.add_argument("session", help="its id")
        for argument, options in _ARGUMENTS.get(name, {}).items():
            added.add_argument(argument, **options)
    action("deleted", "list deleted sessions that can be restored", _run_deleted)


async def _delete(life: SessionLife, options: argparse.Namespace) -> None:
    if options.for_good:
        await life.delete_for_good(options.session, YOU)
        return
    await life.delete(options.session, YOU)
    await life.taken_out()


_DEEDS: tuple[tuple[str, str, Deed, str], ...] = (
    ("rename", "give a session another title", lambda s, o: s.rename(o.session, o.title, YOU), ""),
    (
        "project",
        "move a session to a project",
        lambda s, o: s.set_project(o.session, o.project, YOU),
        "",
    ),
    ("tag", "give a session these tags", lambda s, o: s.set_tags(o.session, o.tags, YOU), ""),
    (
        "pin",
        "keep a session at hand: it is not archived by itself",
        lambda s, o: s.pin(o.session, not o.off, YOU),
        "",
    ),
    ("archive", "put a session aside", lambda s, o: s.archive(o.session, YOU), ""),
    ("unarchive", "take a session back", lambda s, o: s.unarchive(o.session, YOU), ""),
    (
        "mark",
        "mark a turn as important",
        lambda s, o: s.mark_important(o.session, o.turn, not o.off, YOU),
        "",
    ),
    ("delete", "delete a session; it can be restored", _delete, "Deleted."),
    (
        "restore",
        "bring a deleted session back",
        lambda s, o: s.restore_deleted(o.session, YOU),
        "",
    ),
)
_ARGUMENTS: dict[str, dict[str, dict[str, Any]]] = {
    "rename": {"title": {"help": "what it is to be called"}},
    "project": {"project": {"help": "its name; '' for none"}},
    "tag": {"tags": {"nargs": "*", "metavar": "TAG", "help": "none removes all"}},
    "pin": {"--off": {"action": "store_true", "help": "no longer"}},
    "mark": {
        "turn": {"type": int, "help": "its number"},
        "--off": {"action": "store_true", "help": "no longer"},
    },
    "delete": {
        "--for-good": {"action": "store_true", "help": "leave nothing that could be restored"}
    },
}


def _doing(deed: Deed, done: str) -> Callable[[argparse.Namespace, Paths], int]:
    def run(options: argparse.Namespace, profile: Paths) -> int:
        async def work(services: Services) -> str:
            await deed(services.session_life, options)
            if done:
                return done
            facts = await services.recall.facts(options.session)
            if options.json:
                print_json(asdict(facts))
                return ""
            pinned = ", pinned" if facts.is_pinned else ""
            tags = f", tags {', '.join(map(printable, facts.tags))}" if facts.tags else ""
            project = f", project {printable(facts.project)}" if facts.project else ""
            return f"{facts.uuid}  {printable(facts.title)}\n  {facts.state}{pinned}{project}{tags}"

        said = with_services(profile, work)
        if options.json and said:
            print_json({"session": options.session, "done": said})
        elif said:
            print(said)
        return 0

    return run


def _run_deleted(options: argparse.Namespace, profile: Paths) -> int:
    deleted = with_services(profile, lambda services: services.session_life.deleted())
    if options.json:
        print_json([asdict(each) for each in deleted])
        return 0
    for each in deleted:
        at = f"{each.deleted_at.astimezone():%Y-%m-%d %H:%M}"
        print(f"{each.uuid}  {at}  {printable(each.title)}")
        print(f"  {each.turn_count} turns, deleted by {printable(each.deleted_by)}")
    if not deleted:
        print("No deleted session can be restored.")
    return 0
