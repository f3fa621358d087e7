"""What an import would bring or brought: a headline, numbers, lines that were not understood."""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QGridLayout, QVBoxLayout, QWidget

from kmem_desktop.gui.importing import sentences
from kmem_desktop.gui.importing.sentences import Report
from kmem_desktop.gui.theme import Type
from kmem_desktop.gui.widgets.labels import Card, Label

SHOWN_PROBLEMS = 100


class ReportView(QWidget):
    """A report; without one only what is said instead.

    Attributes:
        title: The headline.
        words: What else there is to know.
        problems: The lines that were not understood.
    """

    def __init__(self, parent: QWidget | None = None) -> None:
        """Lay it out, empty."""
        super().__init__(parent)
        self.title = Label("", Type.NAME, wrap=True)
        self.words = Label("", Type.BODY, "ink2", wrap=True)
        self._found = Card("Found")
        self._grid = QGridLayout()
        self._grid.setHorizontalSpacing(24)
        self._grid.setVerticalSpacing(6)
        self._grid.setColumnStretch(3, 1)
        self._found.body.addLayout(self._grid)
        self.problems = Card("Lines that were not understood")
        self._problem_grid = QGridLayout()
        self._problem_grid.setHorizontalSpacing(16)
        self._problem_grid.setVerticalSpacing(8)
        self._problem_grid.setColumnStretch(1, 1)
        self.problems.body.addLayout(self._problem_grid)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(14)
        for widget in (self.title, self.words, self._found):
            column.addWidget(widget)
        self.say("", "")

    def say(self, title: str, words: str) -> None:
        """Say something instead of a report."""
        self.title.setText(title)
        self.words.setText(words)
        self._found.hide()
        self.problems.hide()

    def show_report(self, report: Report) -> None:
        """Show a report."""
        self.title.setText(sentences.headline(report))
        self.words.setText(sentences.explanation(report))
        _clear(self._grid)
        for line, cells in enumerate(sentences.numbers(report)):
            for column, text in enumerate(cells):
                label = Label(text, Type.BODY, "ink3" if column in (0, 2) else "ink")
                if column:
                    label.setAlignment(Qt.AlignmentFlag.AlignRight)
                self._grid.addWidget(label, line, column)
        self._found.show()
        self._show_problems(report)

    def _show_problems(self, report: Report) -> None:
        _clear(self._problem_grid)
        lines = sentences.problems(report)
        for row, (where, message, text) in enumerate(lines[:SHOWN_PROBLEMS]):
            line = Label(where, Type.META, "ink3")
            self._problem_grid.addWidget(line, row, 0, Qt.AlignmentFlag.AlignTop)
            holder = QWidget()
            cell = QVBoxLayout(holder)
            cell.setContentsMargins(0, 0, 0, 0)
            cell.setSpacing(1)
            cell.addWidget(Label(message, Type.META, "bad", wrap=True))
            cell.addWidget(Label(text[:120], Type.CODE, "ink2", wrap=True))
            self._problem_grid.addWidget(holder, row, 1)
        self.problems.setVisible(bool(lines))


def _clear(grid: QGridLayout) -> None:
    while item := grid.takeAt(0):
        if (widget := item.widget()) is not None:
            widget.hide()
            widget.deleteLater()
