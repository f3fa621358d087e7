"""Paints a retrieval test: how it stands, the question, what must be found, and its place."""

from typing import NamedTuple

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QPainter, QPen
from PySide6.QtWidgets import QStyle, QStyledItemDelegate, QStyleOptionViewItem

from kmem_desktop.domain.retrieval_tests import RetrievalTest, State
from kmem_desktop.gui.appearance import theme
from kmem_desktop.gui.icons import paint_icon
from kmem_desktop.gui.lists.retrieval_test_model import (
    TEST_ROLE,
    place_words,
    run_words,
    wanted_words,
)
from kmem_desktop.gui.lists.row_ground import paint_ground
from kmem_desktop.gui.lists.row_table_model import Index
from kmem_desktop.gui.theme import LINE_PX, Theme, Type

_AIR_PX = 11
STATE_COLORS = {State.GREEN: "good", State.RED: "bad", State.GREY: "ink3", State.NEW: "ink3"}
_ICONS = {State.GREEN: "check", State.RED: "close"}


class RetrievalTestDelegate(QStyledItemDelegate):
    """Paints tests in rows of one height."""

    def row_height(self) -> int:
        """Return the height of each row in the theme that is in force."""
        look = theme()
        return 2 * look.px(_AIR_PX) + 2 * look.px(LINE_PX) + 1

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        return QSize(200, self.row_height())

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        look = theme()
        test = index.data(TEST_ROLE)
        if not isinstance(test, RetrievalTest):
            return
        rect = QRectF(option.rect)
        state: QStyle.StateFlag = option.state
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        paint_ground(painter, rect, state, look)
        self._paint_words(painter, rect, test, look)
        painter.restore()

    def _paint_words(
        self, painter: QPainter, rect: QRectF, test: RetrievalTest, look: Theme
    ) -> None:
        line = look.px(LINE_PX)
        first = QRectF(
            rect.x() + look.px(48),
            rect.y() + look.px(_AIR_PX),
            rect.width() - look.px(48) - look.px(20),
            line,
        )
        self._paint_state(painter, rect, first, test, look)
        ink = look.color("ink3" if test.state is State.GREY else "ink")
        question = Words(test.question, Type.ROW_TITLE, ink)
        place = Words(place_words(test), Type.BUTTON, look.color(STATE_COLORS[test.state]))
        _paint_line(painter, first, question, place, look)
        wanted = Words(wanted_words(test), Type.BODY, look.color("ink2"))
        ran = Words(run_words(test), Type.META, look.color("ink3"))
        _paint_line(painter, first.translated(0, line), wanted, ran, look)

    def _paint_state(
        self, painter: QPainter, rect: QRectF, first: QRectF, test: RetrievalTest, look: Theme
    ) -> None:
        edge = look.px(16)
        box = QRectF(rect.x() + look.px(20), first.y() + (first.height() - edge) / 2, edge, edge)
        color = look.color(STATE_COLORS[test.state])
        if test.state in _ICONS:
            paint_icon(painter, _ICONS[test.state], color.name(), box)
        else:
            inset = look.px(4)
            painter.setPen(QPen(color, 1.6))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawEllipse(box.adjusted(inset, inset, -inset, -inset))


class Words(NamedTuple):
    """A text in its font and colour."""

    text: str
    style: Type
    color: QColor


def _paint_line(painter: QPainter, place: QRectF, left: Words, right: Words, look: Theme) -> None:
    """Paint words at the left, elided where those at the right begin."""
    middle = Qt.AlignmentFlag.AlignVCenter
    font = look.font(right.style)
    width = QFontMetricsF(font).horizontalAdvance(right.text)
    painter.setFont(font)
    painter.setPen(right.color)
    painter.drawText(place, middle | Qt.AlignmentFlag.AlignRight, right.text)
    rest = place.adjusted(0, 0, -(width + look.px(16)), 0)
    font = look.font(left.style)
    painter.setFont(font)
    painter.setPen(left.color)
    elided = QFontMetricsF(font).elidedText(left.text, Qt.TextElideMode.ElideRight, rest.width())
    painter.drawText(rest, middle, elided)
