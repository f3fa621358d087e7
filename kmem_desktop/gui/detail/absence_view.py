"""Why an item was not found: sentences first, what was tried, and the numbers behind them."""

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QVBoxLayout, QWidget

from kmem_desktop.domain.absence import Absence, Standing, Suggestion
from kmem_desktop.gui.detail.parts import ScrolledColumn
from kmem_desktop.gui.theme import Type
from kmem_desktop.gui.widgets.controls import Button, Look
from kmem_desktop.gui.widgets.labels import Card, Label
from kmem_desktop.gui.wording import noun_name


class AbsenceView(ScrolledColumn):
    """Shows an explanation.

    Signals:
        question_wanted: Another question, which finds the item, is to be asked.
    """

    question_wanted = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        """Start without an explanation."""
        super().__init__("Why it was not found", margins=(20, 16, 20, 16), parent=parent)
        self.absence: Absence | None = None
        self._title = Label("", Type.NAME, wrap=True)
        self._facts = Label("", Type.META, "ink3", wrap=True)
        self._sentences = QVBoxLayout()
        self._sentences.setSpacing(6)
        self._tried_card = Card("Tried, and it works")
        self._tried = QVBoxLayout()
        self._tried.setSpacing(4)
        self._tried_card.body.addLayout(self._tried)
        self._toggle = Button("Show the numbers", look=Look.LINK)
        self._toggle.clicked.connect(self._on_toggle)
        self._numbers = QWidget()
        self._grid = QGridLayout(self._numbers)
        self._grid.setContentsMargins(0, 6, 0, 0)
        self._grid.setHorizontalSpacing(24)
        self._grid.setVerticalSpacing(4)
        self._grid.setColumnStretch(0, 1)
        self._numbers.hide()
        self.column.addWidget(self._title)
        self.column.addSpacing(2)
        self.column.addWidget(self._facts)
        self.column.addSpacing(12)
        self.column.addLayout(self._sentences)
        self.column.addSpacing(14)
        self.column.addWidget(self._tried_card)
        self.column.addSpacing(8)
        self.column.addWidget(self._toggle)
        self.column.addWidget(self._numbers)

    def words(self) -> str:
        """Return what is said."""
        return " ".join(reason.sentence for reason in self.absence.reasons) if self.absence else ""

    def show_absence(self, absence: Absence) -> None:
        """Explain why an item was not there."""
        self.absence = absence
        self._title.setText(absence.item.title or "An item without words")
        self._facts.setText(noun_name(absence.item.noun))
        _clear(self._sentences)
        for reason in absence.reasons:
            self._sentences.addWidget(Label(reason.sentence, Type.BODY, wrap=True))
        _clear(self._tried)
        for suggestion in absence.suggestions:
            self._tried.addWidget(self._suggestion(suggestion))
        self._tried_card.setVisible(bool(absence.suggestions))
        self._fill_numbers(absence)
        self.verticalScrollBar().setValue(0)

    def _suggestion(self, suggestion: Suggestion) -> QWidget:
        row = QWidget()
        line = QHBoxLayout(row)
        line.setContentsMargins(0, 0, 0, 0)
        line.setSpacing(12)
        line.addWidget(Label(suggestion.sentence, Type.BODY, wrap=True), 1)
        if suggestion.question:
            button = Button("Ask this", look=Look.LINK)
            button.setAccessibleName(f"Ask {suggestion.question}")
            button.setToolTip(suggestion.question)
            button.clicked.connect(lambda: self.question_wanted.emit(suggestion.question))
            line.addWidget(button)
        return row

    def _fill_numbers(self, absence: Absence) -> None:
        _clear(self._grid)
        own, other = absence.own, absence.other
        self._toggle.setVisible(own is not None)
        if own is None:
            self._numbers.hide()
            return
        heads = ["", "This item"]
        columns = [_numbers(own)]
        if other is not None and other.item.uuid != own.item.uuid:
            heads.append("The first" if absence.place else "The last one shown")
            columns.append(_numbers(other))
        for column, words in enumerate(heads):
            self._add_cell(0, column, words, "ink3")
        for line, name in enumerate(_NUMBER_NAMES, start=1):
            self._add_cell(line, 0, name, "ink2")
            for column, numbers in enumerate(columns, start=1):
                self._add_cell(line, column, numbers[line - 1], "ink")

    def _on_toggle(self) -> None:
        shown = self._numbers.isHidden()
        self._numbers.setVisible(shown)
        self._toggle.set_words("Hide the numbers" if shown else "Show the numbers")

    def _add_cell(self, line: int, column: int, words: str, color: str) -> None:
        cell = Label(words, Type.META, color)
        if column:
            cell.setAlignment(Qt.AlignmentFlag.AlignRight)
        self._grid.addWidget(cell, line, column)


_NUMBER_NAMES = (
    "Place",
    "Of your words",
    "Weight of the words (bm25)",
    "Closeness in meaning",
    "Score",
)


def _numbers(standing: Standing) -> tuple[str, ...]:
    reasons = standing.explanation
    return (
        "none" if standing.place is None else f"{standing.place:,}",
        str(len(standing.columns)),
        f"{reasons.bm25:.2f}",
        "not compared" if reasons.cosine is None else f"{reasons.cosine:.2f}",
        "none" if standing.score is None else f"{standing.score:.2f}",
    )


def _clear(layout: QVBoxLayout | QGridLayout) -> None:
    while item := layout.takeAt(0):
        if (widget := item.widget()) is not None:
            widget.hide()
            widget.deleteLater()
