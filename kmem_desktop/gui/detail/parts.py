"""Parts that the views of items share: a scrolled column, a cut text, the reason it was found."""

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFrame, QGridLayout, QHBoxLayout, QScrollArea, QVBoxLayout, QWidget

from kmem_desktop.domain.found import Explanation
from kmem_desktop.gui.appearance import appearance, theme
from kmem_desktop.gui.theme import Type
from kmem_desktop.gui.widgets.controls import Button, Look
from kmem_desktop.gui.widgets.flow_layout import FlowLayout
from kmem_desktop.gui.widgets.labels import Card, Hairline, Label
from kmem_desktop.gui.widgets.text_view import TextView

SHOWN_CHARACTERS = 8_000
"""Of a longer text the rest is shown on demand."""


class ScrolledColumn(QScrollArea):
    """A column of widgets, scrolled as one.

    Attributes:
        column: Where the widgets go.
    """

    def __init__(
        self,
        name: str,
        *,
        fills: bool = False,
        margins: tuple[int, int, int, int] = (22, 14, 22, 24),
        parent: QWidget | None = None,
    ) -> None:
        """Name what is scrolled; the contents may fill the height, or stand at the top."""
        super().__init__(parent)
        self.setAccessibleName(name)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setWidgetResizable(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        inner = QWidget()
        around = QVBoxLayout(inner)
        around.setContentsMargins(0, 0, 0, 0)
        self.column = QVBoxLayout()
        around.addLayout(self.column, 1 if fills else 0)
        if not fills:
            around.addStretch(1)
        self.column.setSpacing(0)
        self.setWidget(inner)
        self._margins = margins
        appearance().changed.connect(self._on_appearance_changed)
        self._on_appearance_changed()

    def _on_appearance_changed(self) -> None:
        self.column.setContentsMargins(*(theme().px(margin) for margin in self._margins))


class PaneBar(QWidget):
    """The bar that stands fixed above what is scrolled, with a hairline below it.

    Attributes:
        line: Where the contents go.
    """

    def __init__(self, parent: QWidget | None = None) -> None:
        """Start without contents."""
        super().__init__(parent)
        self.line = QHBoxLayout()
        self.line.setContentsMargins(0, 0, 0, 0)
        self.line.setSpacing(6)
        self._column = QVBoxLayout(self)
        self._column.addLayout(self.line)
        self._column.addWidget(Hairline())
        appearance().changed.connect(self._on_appearance_changed)
        self._on_appearance_changed()

    def _on_appearance_changed(self) -> None:
        look = theme()
        self._column.setContentsMargins(look.px(22), look.px(16), look.px(22), 0)
        self._column.setSpacing(look.px(12))


class CutText(QWidget):
    """Markdown of which only the beginning is shown until all is asked for."""

    def __init__(self, name: str, parent: QWidget | None = None) -> None:
        """Name the text for screen readers."""
        super().__init__(parent)
        self._text = ""
        self.view = TextView(name)
        self._all = Button("Show all", look=Look.LINK)
        self._all.clicked.connect(self._on_show_all)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(2)
        column.addWidget(self.view)
        column.addWidget(self._all)

    def set_markdown(self, text: str, around: int = 0) -> None:
        """Show the text, or where it is long its beginning, or what stands around a place."""
        self._text = text
        cut = len(text) > SHOWN_CHARACTERS
        self._all.setVisible(cut)
        if cut:
            self._all.set_words(f"Show all {len(text):,} characters")
        start = 0
        if around > SHOWN_CHARACTERS // 2:  # from the line that begins a little before it
            start = text.rfind("\n", 0, around - SHOWN_CHARACTERS // 8) + 1
            start = max(start, around - SHOWN_CHARACTERS // 2)
        shown = text[start : start + SHOWN_CHARACTERS]
        after = "…" if start + len(shown) < len(text) else ""
        self.view.set_markdown(f"{'…' if start else ''}{shown}{after}")

    def _on_show_all(self) -> None:
        self._all.hide()
        self.view.set_markdown(self._text)


class WhyCard(Card):
    """Why an item was found: a sentence, the numbers, and what to do about the answer.

    Signals:
        other_expected: Something else was expected.
        test_wanted: The question must find this item from now on.
    """

    other_expected = Signal()
    test_wanted = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        """Start hidden."""
        super().__init__("Why it was found", parent)
        self._sentence = TextView("Why it was found")
        self._toggle = Button("Show the numbers", look=Look.LINK)
        self._toggle.clicked.connect(self._on_toggle)
        self._other = Button("Not what I expected", look=Look.LINK)
        self._other.setToolTip("Why was it not found?  (Alt W)")
        self._other.clicked.connect(self.other_expected)
        self._keep = Button("Must find this", look=Look.LINK)
        self._keep.setToolTip("Keep this question and item as a test  (T)")
        self._keep.clicked.connect(self.test_wanted)
        self._links = QWidget()
        links = FlowLayout(self._links, gap=12)
        for button in (self._toggle, self._other, self._keep):
            links.addWidget(button)
        self._numbers = QWidget()
        self._grid = QGridLayout(self._numbers)
        self._grid.setContentsMargins(0, 2, 0, 0)
        self._grid.setHorizontalSpacing(20)
        self._grid.setVerticalSpacing(4)
        self._grid.setColumnStretch(2, 1)
        self._cells: list[Label] = []
        self._numbers.hide()
        self.body.setSpacing(6)
        self.body.addWidget(self._sentence)
        self.body.addWidget(self._links)
        self.body.addWidget(self._numbers)
        self.hide()

    def refuse_tests(self) -> None:
        """Offer no test: what is shown is nothing that the tools' search finds."""
        self._keep.hide()

    def show_explanation(self, explanation: Explanation | None) -> None:
        """Explain a hit; nothing without a question."""
        self.setVisible(explanation is not None)
        if explanation is None:
            return
        self._sentence.set_runs(emphasised(explanation.sentence, explanation.words))
        for cell in self._cells:
            cell.deleteLater()
        self._cells = []
        for line, (name, value) in enumerate(_numbers(explanation)):
            for column, text in enumerate((name, value)):
                cell = Label(text, Type.META, "ink2" if column else "ink3")
                if column:
                    cell.setAlignment(Qt.AlignmentFlag.AlignRight)
                self._grid.addWidget(cell, line, column)
                self._cells.append(cell)

    def _on_toggle(self) -> None:
        shown = self._numbers.isHidden()
        self._numbers.setVisible(shown)
        self._toggle.set_words("Hide the numbers" if shown else "Show the numbers")


def _numbers(explanation: Explanation) -> list[tuple[str, str]]:
    numbers = [
        ("Weight of the words (bm25)", f"{explanation.bm25:.2f}"),
        ("Of the best hit", f"{explanation.relevance:.0%}"),
    ]
    factors = (
        ("times priority", explanation.priority_boost, 1.0),
        ("times confidence", explanation.confidence, 1.0),
        ("times tags", explanation.tag_boost, 1.0),
        ("plus scope", explanation.scope_boost, 0.0),
    )
    numbers += [(name, f"{value:.2f}") for name, value, idle in factors if value != idle]
    return numbers


def emphasised(sentence: str, words: Sequence[str]) -> list[tuple[str, bool]]:
    """Split a sentence into runs, those of the words that matched being bold."""
    runs: list[tuple[str, bool]] = []
    rest = sentence
    for word in words:
        before, found, after = rest.partition(word)
        if found:
            runs += [(before, False), (word, True)]
            rest = after
    return [run for run in [*runs, (rest, False)] if run[0]]
