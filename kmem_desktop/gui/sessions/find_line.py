"""Searching inside a conversation: a field, how many turns have the words, one after another."""

from bisect import bisect_left
from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from kmem_desktop.gui.appearance import appearance, theme
from kmem_desktop.gui.theme import Type
from kmem_desktop.gui.widgets.controls import IconButton
from kmem_desktop.gui.widgets.labels import Hairline, Label
from kmem_desktop.gui.widgets.search_field import SearchField


class FindLine(QWidget):
    """The line above a conversation.

    Signals:
        asked: Another text is looked for.
        turn_wanted: A turn that has it is to be shown (its position).
        left: The field is left for the conversation.
    """

    asked = Signal(str)
    turn_wanted = Signal(int)
    left = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        """Look for nothing yet."""
        super().__init__(parent)
        self._positions: Sequence[int] = ()
        self._here = -1
        self.field = SearchField("Find in this session", large=False)
        self.field.note.hide()
        self._count = Label("", Type.META, "ink2")
        self._note = Label("", Type.META, "ink3")
        self._before = IconButton("chevron-up", "The match before (Shift F3)")
        self._after = IconButton("chevron-down", "The next match (F3)")
        self._row = QHBoxLayout()
        self._row.addWidget(self.field, 1)
        for widget in (self._count, self._before, self._after, self._note):
            self._row.addWidget(widget)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addLayout(self._row)
        column.addWidget(Hairline())
        self.field.asked.connect(self._on_asked)
        self.field.entered.connect(lambda: self.step(1))
        self.field.moved.connect(lambda step: self.step(1 if step > 0 else -1))
        self.field.left.connect(self.left)
        self._before.clicked.connect(lambda: self.step(-1))
        self._after.clicked.connect(lambda: self.step(1))
        appearance().changed.connect(self._space)
        self._space()
        self._show_count()

    def _space(self) -> None:
        look = theme()
        self._row.setContentsMargins(look.px(20), look.px(7), look.px(20), look.px(7))
        self._row.setSpacing(look.px(8))

    @property
    def is_open(self) -> bool:
        """Whether something is looked for."""
        return bool(self.field.edit.text())

    def count_words(self) -> str:
        """Return how many turns have the words."""
        return self._count.text()

    def set_note(self, words: str) -> None:
        """Say what there is to be found."""
        self._note.setText(words)
        self._show_count()

    def open(self) -> None:
        """Put the caret into the field."""
        self.field.edit.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.field.edit.selectAll()

    def close_search(self) -> None:
        """Look for nothing any more."""
        self.field.edit.clear()
        self.left.emit()

    def _on_asked(self, text: str) -> None:
        if not text.strip():
            self._positions, self._here = (), -1
            self._show_count()
        self.asked.emit(text)

    def show_found(self, positions: Sequence[int], near: int | None) -> None:
        """Take the turns that have the words, and show the one nearest below `near`."""
        self._positions = positions if self.is_open else ()
        self._here = -1
        if self._positions:
            place = bisect_left(positions, near or 0)
            self._here = place if place < len(positions) else 0
            self.turn_wanted.emit(positions[self._here])
        self._show_count()

    def step(self, direction: int) -> None:
        """Show the next match (1), or the one before (-1)."""
        if self._positions:
            self._here = (self._here + direction) % len(self._positions)
            self.turn_wanted.emit(self._positions[self._here])
            self._show_count()

    def _show_count(self) -> None:
        found = len(self._positions)
        if not self.is_open:
            self._count.setText("")
        elif found:
            self._count.setText(f"{self._here + 1:,} of {found:,}")
        else:
            self._count.setText("Nothing found")
        for button in (self._before, self._after):
            button.setVisible(found > 1)
        self._count.setVisible(self.is_open)
        self._note.setVisible(not self.is_open and bool(self._note.text()))
