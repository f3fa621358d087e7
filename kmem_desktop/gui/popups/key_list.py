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
IN_RULES = (
    (("L",), "All rules"),
    (("T",), "A task, and what it gets"),
    (("W",), "What waits for you"),
    (("C",), "Contradictions"),
    (("A",), "Approve"),
    (("R",), "Reject"),
    (("P",), "Propose again"),
    (("E",), "Edit"),
    (("O",), "Open the file"),
    (("G",), "Read the folder again"),
    (("Del",), "Forget a file or a folder"),
    (("F",), "Compare with the file, then take it"),
    (("M",), "Keep your words"),
    (("S",), "Write the rules to a file"),
    (("V",), "What the assistant gets, as it is sent"),
    (("1", "2"), "Show a side of a contradiction"),
    (("Alt 1", "Alt 2"), "Reject that side"),
    (("Ctrl O",), "Add a project"),
    (("Ctrl ⇧ O",), "Read files once"),
)
_IN_INBOX = (
    (("A",), "Accept"),
    (("E",), "Edit, then accept"),
    (("M",), "Merge with what is known"),
    (("D",), "Drop (or Del)"),
    (("Z",), "Take the last decision back"),
    (("O",), "Open the conversation"),
    (("Shift", "A"), "Accept all of the conversation"),
    (("Shift", "D"), "Drop all of it"),
)
_IN_SESSIONS = (
    (("O",), "Open the session (or ↵)"),
    (("P",), "Pin, or let go"),
    (("E",), "Title, project, tags"),
    (("A",), "Archive, or take out"),
    (("S",), "Summarise now"),
    (("Del",), "Delete"),
    (("→",), "Go to the detail"),
)
_IN_A_SESSION = (
    (("J", "K"), "Next turn, turn before"),
    (("M",), "Mark the turn as important"),
    (("↵",), "Unfold what tools did"),
    (("Ctrl F",), "Find in the session"),
    (("F3",), "Next match (back with Shift)"),
    (("Ctrl ⇧ C",), "Copy for any assistant"),
    (("Ctrl L",), "Copy the one-line prompt"),
    (("Ctrl ↵",), "Open as a chat here"),
    (("Ctrl S",), "Export as markdown"),
    (("Ctrl P",), "Pin, or let go"),
    (("Ctrl B",), "The other side, where one has room"),
)
_IN_PICTURE = (
    (("←", "→"), "The next dot that way"),
    (("↵",), "Make it the centre"),
    (("+", "-"), "Nearer, further"),
    (("0",), "Show all"),
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
        left.addLayout(_group("In a session's window", _IN_A_SESSION))
        right.addLayout(_group("On the page Sessions", _IN_SESSIONS))
        right.addLayout(_group("In the inbox", _IN_INBOX))
        left.addLayout(_group("In the picture of the graph", _IN_PICTURE))
        left.addLayout(_group("In the rules", IN_RULES))
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
