"""The list of all keys."""

from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QVBoxLayout, QWidget

from kmem_desktop.gui.detail.parts import ScrolledColumn
from kmem_desktop.gui.popups.overlay import Overlay
from kmem_desktop.gui.shell.actions import Actions, key_text
from kmem_desktop.gui.theme import Type
from kmem_desktop.gui.widgets.controls import IconButton
from kmem_desktop.gui.widgets.labels import Hairline, KeyHint, Label

_IN_LISTS = (
    (("↑", "↓"), "Walk through the list"),
    (("J", "K"), "The same, in the list"),
    (("↵",), "Open what is selected"),
)


class KeyList(Overlay):
    """Shows every action that has a key, group by group."""

    def __init__(self, actions: Actions, window: QWidget) -> None:
        """Read the keys from the actions themselves."""
        super().__init__(640, 580, window)
        head = QHBoxLayout()
        head.setContentsMargins(20, 14, 12, 10)
        head.addWidget(Label("Keys", Type.TITLE), 1)
        self._close = IconButton("close", "Close (Esc)")
        self._close.clicked.connect(self.dismiss)
        head.addWidget(self._close)
        area = ScrolledColumn("Keys")
        columns = QHBoxLayout()
        columns.setSpacing(36)
        left, right = QVBoxLayout(), QVBoxLayout()
        for layout in (left, right):
            layout.setSpacing(14)
            columns.addLayout(layout, 1)
        for number, group in enumerate(actions.groups()):
            rows = [
                ((key_text(action),), action.text()) for action in group.actions if key_text(action)
            ]
            (right if number % 2 else left).addLayout(_group(group.name, rows))
        right.addLayout(_group("In a list", _IN_LISTS))
        left.addStretch(1)
        right.addStretch(1)
        area.column.addLayout(columns)
        self.body.addLayout(head)
        self.body.addWidget(Hairline())
        self.body.addWidget(area, 1)

    def take_focus(self) -> None:
        self._close.setFocus()


def _group(
    name: str, rows: "list[tuple[tuple[str], str]] | tuple[tuple[tuple[str, ...], str], ...]"
) -> QGridLayout:
    grid = QGridLayout()
    grid.setVerticalSpacing(5)
    grid.setHorizontalSpacing(10)
    grid.setColumnMinimumWidth(0, 96)
    grid.setColumnStretch(1, 1)
    grid.addWidget(Label(name, Type.META, "ink3"), 0, 0, 1, 2)
    for line, (keys, words) in enumerate(rows, start=1):
        grid.addWidget(KeyHint(keys, ""), line, 0)
        grid.addWidget(Label(words, Type.BODY, wrap=True), line, 1)
    return grid
