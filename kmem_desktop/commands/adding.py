"""How a subcommand is added."""

import argparse
from collections.abc import Callable
from typing import Protocol

from kmem_desktop.config import Paths

Action = Callable[[argparse.Namespace, Paths], int]


class Add(Protocol):
    """Adds a subcommand and returns its parser, to which options can be added."""

    def __call__(self, name: str, summary: str, action: Action) -> argparse.ArgumentParser:
        """Add the subcommand `name`, which calls `action`."""


def actions_of(parser: argparse.ArgumentParser) -> Add:
    """Return what adds commands of its own to a command: `kmem rules query`."""
    actions = parser.add_subparsers(metavar="ACTION")

    def add(name: str, summary: str, action: Action) -> argparse.ArgumentParser:
        added = actions.add_parser(name, help=summary, description=summary)
        # Without a default here, what was given before the action's name still counts.
        added.add_argument("--db", metavar="PATH", default=argparse.SUPPRESS)
        added.add_argument("--json", action="store_true", default=argparse.SUPPRESS)
        added.set_defaults(run=action)
        return added

    return add
