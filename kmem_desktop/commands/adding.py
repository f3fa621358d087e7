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
