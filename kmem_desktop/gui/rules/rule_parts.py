"""Parts that the views of rules share: the loud text, code, links to others, names with words."""

import re
from collections.abc import Sequence

from PySide6.QtCore import QRectF, Qt, Signal
from PySide6.QtGui import QFontMetricsF, QPainter, QTextBlockFormat, QTextCursor
from PySide6.QtWidgets import QGridLayout, QLayout, QWidget

from kmem_desktop.domain.rule_library import StoredDirective
from kmem_desktop.domain.rules import CodeExample, RuleFormat
from kmem_desktop.gui.appearance import theme
from kmem_desktop.gui.lists.snippets import plain_snippet
from kmem_desktop.gui.markdown import Markdown, plain_format
from kmem_desktop.gui.rules.sentences import EXPORT_NAMES, source_of
from kmem_desktop.gui.theme import LINE_PX, META_LINE_PX, Theme, Type
from kmem_desktop.gui.widgets.controls import Button, Choice
from kmem_desktop.gui.widgets.flow_layout import FlowLayout
from kmem_desktop.gui.widgets.labels import Card, Label
from kmem_desktop.gui.widgets.text_view import TextView
from kmem_desktop.gui.widgets.two_line_link import TwoLineLink
from kmem_desktop.services.rules.explaining import severity_words

_LOUD_LINE_PX = 22
_BACKTICKS = re.compile(r"`{3,}")


class LoudMarkdown(Markdown):
    """Markdown in the size of a name: the text that a page is about."""

    def __init__(self, look: Theme) -> None:
        """Write in this theme."""
        super().__init__(look)
        self._base = plain_format(look, Type.NAME, "ink")

    def paragraph_format(self, *, above: int = 0, line: int = LINE_PX) -> QTextBlockFormat:
        """Return the block format of running text, with room for its larger size."""
        return super().paragraph_format(
            above=above, line=_LOUD_LINE_PX if line == LINE_PX else line
        )


class LoudText(TextView):
    """A text that is the loudest on its page."""

    def _render(self) -> None:
        super()._render()
        if self._source is not None:
            self.document().clear()
            LoudMarkdown(theme()).write(self._source, QTextCursor(self.document()))
            self._fitting_width = -1
            self._fit()


def fenced(example: CodeExample) -> str:
    """Return code as a fenced block that nothing in it can end."""
    longest = max((len(run) for run in _BACKTICKS.findall(example.code)), default=2)
    fence = "`" * (longest + 1)
    return f"{fence}\n{example.code}\n{fence}"


def clear(layout: QLayout) -> None:
    """Remove everything from a layout."""
    while item := layout.takeAt(0):
        if (widget := item.widget()) is not None:
            widget.hide()
            widget.deleteLater()


class DirectiveLink(TwoLineLink):
    """Another directive, in two lines, to go to."""

    def __init__(self, stored: StoredDirective, parent: QWidget | None = None) -> None:
        """Show its words and where it stands."""
        self._severity = severity_words(stored.directive)
        self._words = plain_snippet(stored.directive.text, ())[0]
        self._source = source_of(stored)
        name = f"{self._severity} {self._words}, {self._source}"
        super().__init__(self._words, name, stored.directive.text, parent)

    def paint_words(self, painter: QPainter, rect: QRectF) -> None:
        look = theme()
        top, side = look.px(4), look.px(6)
        line = QRectF(side, top, rect.width() - 2 * side, look.px(LINE_PX))
        middle = Qt.AlignmentFlag.AlignVCenter
        strong = look.font(Type.META_STRONG)
        painter.setFont(strong)
        painter.setPen(look.color("ink2"))
        painter.drawText(line, middle, self._severity)
        taken = QFontMetricsF(strong).horizontalAdvance(self._severity) + look.px(8)
        rest = line.adjusted(taken, 0, 0, 0)
        font = look.font(Type.BODY)
        painter.setFont(font)
        painter.setPen(look.color("accent"))
        elide = Qt.TextElideMode.ElideRight
        words = QFontMetricsF(font).elidedText(self._words, elide, rest.width())
        painter.drawText(rest, middle, words)
        below = QRectF(side, top + line.height(), line.width(), look.px(META_LINE_PX))
        meta = look.font(Type.META)
        painter.setFont(meta)
        painter.setPen(look.color("ink3"))
        source = QFontMetricsF(meta).elidedText(
            self._source, Qt.TextElideMode.ElideMiddle, below.width()
        )
        painter.drawText(below, middle, source)


class NamedRows(QWidget):
    """Names at the left, what is known at the right."""

    def __init__(self, parent: QWidget | None = None) -> None:
        """Start without rows."""
        super().__init__(parent)
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setHorizontalSpacing(16)
        self._grid.setVerticalSpacing(4)
        self._grid.setColumnStretch(1, 1)

    def set_rows(self, rows: Sequence[tuple[str, str]]) -> None:
        """Show these rows; nothing without any."""
        clear(self._grid)
        for line, (name, words) in enumerate(rows):
            top = Qt.AlignmentFlag.AlignTop
            self._grid.addWidget(Label(name, Type.META, "ink3"), line, 0, top)
            self._grid.addWidget(Label(words, Type.META, "ink2", wrap=True), line, 1)
        self.setVisible(bool(rows))


class ExportCard(Card):
    """Writes rules back into a notation: to the clipboard, or into a file.

    Signals:
        copy_wanted: The text is to go to the clipboard (`RuleFormat`).
        save_wanted: It is to go into a file (`RuleFormat`).
    """

    copy_wanted = Signal(object)
    save_wanted = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        """Offer every notation."""
        super().__init__("Write them out again", parent)
        self.choice = Choice("Notation")
        for rule_format, name in EXPORT_NAMES.items():
            self.choice.addItem(name, rule_format)
        self.copy_button = Button("Copy", key="Ctrl ↵")
        self.save_button = Button("Save as…", key="S")
        self.copy_button.clicked.connect(lambda: self.copy_wanted.emit(self.chosen()))
        self.save_button.clicked.connect(lambda: self.save_wanted.emit(self.chosen()))
        line = QWidget()
        flow = FlowLayout(line, gap=8)
        for widget in (self.choice, self.copy_button, self.save_button):
            flow.addWidget(widget)
        words = "The approved ones; what is proposed or rejected is left out."
        self.body.addWidget(line)
        self.body.addWidget(Label(words, Type.META, "ink3", wrap=True))

    def chosen(self) -> RuleFormat:
        """Return the notation that is chosen."""
        return RuleFormat(self.choice.currentData())
