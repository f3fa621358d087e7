"""What happened to one item: who changed what, and taking a change back."""

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from kmem_desktop.domain.changes import Action, HistoryEntry
from kmem_desktop.gui.detail.parts import ScrolledColumn
from kmem_desktop.gui.theme import Type
from kmem_desktop.gui.widgets.controls import Button
from kmem_desktop.gui.widgets.labels import Hairline, Label
from kmem_desktop.gui.wording import capitalised, exactly, when

_DEEDS = {
    Action.CREATED: "stored it",
    Action.UPDATED: "changed it",
    Action.DELETED: "forgot it",
    Action.RESTORED: "brought it back",
}
_SHOWN_LENGTH = 400


class HistoryView(ScrolledColumn):
    """The changes of an item, newest first.

    Signals:
        undo_wanted: The change with this number is to be taken back.
        closed: The view is to be left.
    """

    undo_wanted = Signal(int)
    closed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        """Start empty."""
        super().__init__("History", parent=parent)
        head = QHBoxLayout()
        head.addWidget(Label("History", Type.TITLE), 1)
        back = Button("Back", key="Esc")
        back.clicked.connect(self.closed)
        head.addWidget(back)
        self._entries = QVBoxLayout()
        self._entries.setSpacing(0)
        self.column.addLayout(head)
        self.column.addSpacing(4)
        self._title = Label("", Type.BODY, "ink2", wrap=True)
        self.column.addWidget(self._title)
        self.column.addSpacing(10)
        self.column.addWidget(Hairline())
        self.column.addLayout(self._entries)

    def show_entries(self, title: str, entries: Sequence[HistoryEntry]) -> None:
        """Show the changes of the item with this title."""
        self._title.setText(title)
        while item := self._entries.takeAt(0):
            if (widget := item.widget()) is not None:
                widget.deleteLater()
        for entry in entries:
            self._entries.addWidget(self._entry(entry))
            self._entries.addWidget(Hairline())
        self.verticalScrollBar().setValue(0)

    def _entry(self, entry: HistoryEntry) -> QWidget:
        row = QWidget()
        line = QHBoxLayout(row)
        line.setContentsMargins(0, 10, 0, 10)
        line.setSpacing(12)
        words = QVBoxLayout()
        words.setSpacing(2)
        words.addWidget(Label(f"{entry.origin.name} {_DEEDS[entry.action]}", Type.BODY_STRONG))
        through = f" · {entry.origin.tool}" if entry.origin.tool else ""
        undone = " · taken back since" if entry.undone else ""
        moment = Label(f"{capitalised(when(entry.at))}{through}{undone}", Type.META, "ink3")
        moment.setToolTip(exactly(entry.at))
        words.addWidget(moment)
        if before := _before(entry):
            words.addWidget(Label(before, Type.META, "ink2", wrap=True).allow_selection())
        line.addLayout(words, 1)
        if entry.before is not None and not entry.undone:
            undo = Button("Undo this")
            undo.clicked.connect(lambda: self.undo_wanted.emit(entry.id))
            line.addWidget(undo, 0, Qt.AlignmentFlag.AlignTop)
        return row


def _before(entry: HistoryEntry) -> str:
    """Return what stood there before a change, cut to what is read at a glance."""
    if entry.before is None or entry.action is Action.CREATED:
        return ""
    title = str(entry.before.get("title", ""))
    content = str(entry.before.get("content", ""))
    text = f"Before: {title}\n{content}" if content else ""
    return text if len(text) <= _SHOWN_LENGTH else text[:_SHOWN_LENGTH].rstrip() + "…"
