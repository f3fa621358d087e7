"""Every action of the program, with its key; buttons, palette and key list show the same ones."""

import re
from collections.abc import Callable
from dataclasses import dataclass

from PySide6.QtCore import Qt
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QWidget


@dataclass(frozen=True, slots=True)
class ActionGroup:
    """Actions that belong together, under the name that the key list shows."""

    name: str
    actions: tuple[QAction, ...]


class Actions:
    """Builds the actions of a window and keeps them by name."""

    def __init__(self, owner: QWidget) -> None:
        """Add the actions to `owner`, in whose window their keys work."""
        self._owner = owner
        self._by_name: dict[str, QAction] = {}
        self._groups: dict[str, list[QAction]] = {}

    def add(
        self, name: str, words: str, keys: str, run: Callable[[], object], *, group: str
    ) -> QAction:
        """Add an action.

        Args:
            name: What the program calls it.
            words: What people read.
            keys: Its keys, separated by spaces; may be empty.
            run: What it does.
            group: The heading in the key list.
        """
        action = QAction(words, self._owner)
        action.setObjectName(name)
        action.setShortcuts([QKeySequence(key) for key in keys.split()])
        action.setShortcutContext(Qt.ShortcutContext.WindowShortcut)
        action.triggered.connect(lambda _checked=False: run())
        self._owner.addAction(action)
        self._by_name[name] = action
        self._groups.setdefault(group, []).append(action)
        return action

    def enable(self, *names: str, on: bool) -> None:
        """Let actions work, or rest."""
        for name in names:
            self._by_name[name].setEnabled(on)

    def __getitem__(self, name: str) -> QAction:
        return self._by_name[name]

    def groups(self) -> list[ActionGroup]:
        """Return all actions, group by group."""
        return [ActionGroup(name, tuple(actions)) for name, actions in self._groups.items()]

    def all(self) -> list[QAction]:
        """Return all actions."""
        return list(self._by_name.values())


def key_text(action: QAction) -> str:
    """Return an action's first key as it is printed on buttons; empty where it has none."""
    keys = action.shortcuts()
    if not keys:
        return ""
    text = keys[0].toString(QKeySequence.SequenceFormat.NativeText)
    return re.sub(r"\+(?=.)", " ", text).replace("Return", "↵")
