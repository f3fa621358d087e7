"""Draws lines of text with exactly the matching words marked."""

from collections.abc import Sequence

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import (
    QColor,
    QFont,
    QFontMetricsF,
    QPainter,
    QTextCharFormat,
    QTextLayout,
    QTextOption,
)

from kmem_desktop.gui.widgets.text_view import line_x

Marks = Sequence[tuple[int, int]]

_AIR = 2.0


class MarkedText:
    """A text in one colour, its marks on a ground of another."""

    def __init__(self, font: QFont, ink: QColor, mark: QColor, mark_ink: QColor) -> None:
        """Draw in this font and these colours."""
        self._font = font
        self._ink = ink
        self._mark = mark
        self._mark_ink = mark_ink

    def paint(
        self, painter: QPainter, rect: QRectF, text: str, marks: Marks, line_height: int
    ) -> int:
        """Draw as many lines as fit into `rect`, the last one elided; return how many."""
        most = max(1, round(rect.height() / line_height))
        layout = self._laid_out(text, marks, rect.width(), most)
        count = min(layout.lineCount(), most)
        if layout.lineCount() > most:
            text = self._elided(layout, text, rect.width(), most)
            marks = [(s, min(e, len(text) - 1)) for s, e in marks if s < len(text) - 1]
            layout = self._laid_out(text, marks, rect.width(), most, self._slack())
            count = min(layout.lineCount(), most)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        for index in range(count):
            line = layout.lineAt(index)
            top = rect.y() + index * line_height + (line_height - line.height()) / 2
            line.setPosition(QPointF(0, top - rect.y()))
            for start, end in marks:
                first = max(start, line.textStart())
                last = min(end, line.textStart() + line.textLength())
                if first < last:
                    left = rect.x() + line_x(line.cursorToX(first)) - _AIR
                    right = rect.x() + line_x(line.cursorToX(last))
                    box = QRectF(left, top - 0.5, right - left, line.height() + 1)
                    painter.setPen(Qt.PenStyle.NoPen)
                    painter.setBrush(self._mark)
                    painter.drawRoundedRect(box, 3, 3)
        painter.setPen(self._ink)
        for index in range(count):
            layout.lineAt(index).draw(painter, rect.topLeft())
        return count

    def _slack(self) -> float:
        return QFontMetricsF(self._font).averageCharWidth() * 4

    def line_count(self, text: str, marks: Marks, width: float, most: int) -> int:
        """Return how many lines a text takes, at most `most`."""
        return min(most, self._laid_out(text, marks, width, most).lineCount())

    def _laid_out(
        self, text: str, marks: Marks, width: float, most: int, last_extra: float = 0.0
    ) -> QTextLayout:
        layout = QTextLayout(text, self._font)
        option = QTextOption()
        option.setWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        layout.setTextOption(option)
        layout.setFormats([piece for mark in marks for piece in self._ranges(*mark)])
        layout.beginLayout()
        for number in range(most + 1):
            line = layout.createLine()
            if not line.isValid():
                break
            line.setLineWidth(width + (last_extra if number >= most - 1 else 0.0))
        layout.endLayout()
        return layout

    def _ranges(self, start: int, end: int) -> list[QTextLayout.FormatRange]:
        """Return the formats of a mark: bold, with air before and after it."""
        before = QTextCharFormat()
        _add_air(before)
        marked = QTextCharFormat()
        marked.setFontWeight(QFont.Weight.Bold)
        marked.setForeground(self._mark_ink)
        last = QTextCharFormat(marked)
        _add_air(last)
        pieces = ((start - 1, start, before), (start, end - 1, marked), (end - 1, end, last))
        return [_format_range(*piece) for piece in pieces if 0 <= piece[0] < piece[1]]

    def _elided(self, layout: QTextLayout, text: str, width: float, most: int) -> str:
        start = layout.lineAt(most - 1).textStart()
        metrics = QFontMetricsF(self._font)
        rest = text[start : start + 400]
        return text[:start] + metrics.elidedText(
            rest, Qt.TextElideMode.ElideRight, width - self._slack()
        )


def _add_air(characters: QTextCharFormat) -> None:
    characters.setFontLetterSpacingType(QFont.SpacingType.AbsoluteSpacing)
    characters.setFontLetterSpacing(_AIR)


def _format_range(start: int, end: int, characters: QTextCharFormat) -> QTextLayout.FormatRange:
    piece = QTextLayout.FormatRange()
    piece.start, piece.length, piece.format = start, end - start, characters
    return piece
