"""What left this computer: when, to whom, what for and how much, never the texts."""

from collections.abc import Sequence

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QGridLayout, QVBoxLayout, QWidget

from kmem_desktop.domain.models import Sent
from kmem_desktop.gui.models.sentences import host_words, sent_in_short, sent_words
from kmem_desktop.gui.theme import Type
from kmem_desktop.gui.widgets.controls import Button, Look
from kmem_desktop.gui.widgets.labels import Label
from kmem_desktop.gui.wording import exactly, when

SHOWN = 6


class SentList(QWidget):
    """The record, the newest first."""

    def __init__(self, parent: QWidget | None = None) -> None:
        """Start empty."""
        super().__init__(parent)
        self.words = Label("", Type.META, "ink2", wrap=True)
        self._sent: tuple[Sent, ...] = ()
        self._shows_all = False
        self._grid_holder = QWidget()
        self._grid = QGridLayout(self._grid_holder)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setHorizontalSpacing(20)
        self._grid.setVerticalSpacing(4)
        self._grid.setColumnStretch(2, 1)
        self.cells: list[Label] = []
        self._all = Button("Show more", look=Look.LINK)
        self._all.clicked.connect(self._on_show_all)
        self._all.hide()
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 12, 0, 12)
        column.setSpacing(8)
        column.addWidget(self.words)
        column.addWidget(self._grid_holder)
        column.addWidget(self._all, 0, Qt.AlignmentFlag.AlignLeft)

    def set_sent(self, sent: Sequence[Sent]) -> None:
        """Show this record."""
        self.words.setText(sent_in_short(sent))
        if tuple(sent) != self._sent:
            self._sent = tuple(sent)
            self._fill()

    def _fill(self) -> None:
        for cell in self.cells:
            cell.deleteLater()
        self.cells = []
        shown = self._sent if self._shows_all else self._sent[:SHOWN]
        for line, sent in enumerate(shown):
            texts = (when(sent.minute), host_words(sent.host), sent_words(sent))
            for column, text in enumerate(texts):
                cell = Label(text, Type.META, "ink3" if column == 0 else "ink2", wrap=column == 2)
                cell.setToolTip(exactly(sent.minute))
                self._grid.addWidget(cell, line, column, Qt.AlignmentFlag.AlignTop)
                self.cells.append(cell)
        self._grid_holder.setVisible(bool(shown))
        rest = len(self._sent) - len(shown)
        self._all.set_words(f"Show {rest:,} more")
        self._all.setVisible(rest > 0)

    def _on_show_all(self) -> None:
        self._shows_all = True
        self._fill()
