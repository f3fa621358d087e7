"""Paints a row: icon, title, date, what matched, and the facts."""

from enum import Enum

from PySide6.QtCore import QEvent, QPointF, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QFontMetricsF, QHelpEvent, QPainter
from PySide6.QtWidgets import (
    QAbstractItemView,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QToolTip,
    QWidget,
)

from kmem_desktop.domain.changes import Noun
from kmem_desktop.domain.found import Row
from kmem_desktop.gui.appearance import theme
from kmem_desktop.gui.icons import paint_icon
from kmem_desktop.gui.lists.row_ground import paint_ground
from kmem_desktop.gui.lists.row_painting import MarkedText
from kmem_desktop.gui.lists.row_table_model import ROW_ROLE, Index, tooltip
from kmem_desktop.gui.lists.snippets import plain_snippet
from kmem_desktop.gui.theme import LINE_PX, META_LINE_PX, Theme, Type
from kmem_desktop.gui.wording import row_facts, when

NOUN_ICONS = {
    Noun.KNOWLEDGE: "bookmark",
    Noun.ENTITY: "graph",
    Noun.TURN: "sessions",
    Noun.DIRECTIVE: "rules",
}


class Density(Enum):
    """How many lines of text a row has, and how much air."""

    FULL = (2, True, 12)
    SHORT = (1, True, 12)
    COMPACT = (1, False, 7)


class RowDelegate(QStyledItemDelegate):
    """Paints rows of one fixed height."""

    def __init__(self, density: Density, parent: QWidget | None = None) -> None:
        """Paint full rows or compact ones."""
        super().__init__(parent)
        self._lines, self._has_facts, self._air = density.value

    def row_height(self) -> int:
        """Return the height of each row in the theme that is in force."""
        look = theme()
        height = 2 * look.px(self._air) + look.px(LINE_PX) * (1 + self._lines) + 1
        return height + (look.px(META_LINE_PX) + look.px(2) if self._has_facts else 0)

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        return QSize(200, self.row_height())

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        look = theme()
        rect = QRectF(option.rect)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        paint_ground(painter, rect, option.state, look, has_line=self._has_facts)
        selected = bool(option.state & QStyle.StateFlag.State_Selected)
        row = index.data(ROW_ROLE)
        if isinstance(row, Row):
            self._paint_row(painter, rect, row, look, selected=selected)
        else:
            self._paint_placeholder(painter, rect, look)
        painter.restore()

    def _paint_row(
        self, painter: QPainter, rect: QRectF, row: Row, look: Theme, *, selected: bool
    ) -> None:
        line, left = look.px(LINE_PX), look.px(48)
        right = look.px(20) - self._bar_width()
        width = rect.width() - left - right
        mark, ink = look.color("mark"), look.color("ink")
        text = MarkedText(look.font(Type.BODY), look.color("ink2"), mark, ink)
        snippet, marks = plain_snippet(row.snippet, row.snippet_marks)
        used = text.line_count(snippet, marks, width, self._lines) if snippet else 0
        # A row has one height; what is shorter stands in its middle.
        top = rect.y() + look.px(self._air) + line * (self._lines - used) / 2
        edge = look.px(16)
        color = look.color("ink" if selected else "ink2").name()
        box = QRectF(rect.x() + look.px(20), top + (line - edge) / 2, edge, edge)
        paint_icon(painter, NOUN_ICONS[row.noun], color, box)
        date = when(row.updated_at)
        meta = look.font(Type.META)
        date_width = QFontMetricsF(meta).horizontalAdvance(date)
        painter.setFont(meta)
        painter.setPen(look.color("ink3"))
        place = QRectF(rect.right() - right - date_width - 2, top, date_width + 2, line)
        flags = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
        painter.drawText(place, flags, date)
        title = MarkedText(look.font(Type.ROW_TITLE), ink, mark, ink)
        title_rect = QRectF(rect.x() + left, top, width - date_width - look.px(16), line)
        title.paint(painter, title_rect, row.title, row.title_marks, line)
        top += line
        if snippet:
            text_rect = QRectF(rect.x() + left, top, width, line * self._lines)
            text.paint(painter, text_rect, snippet, marks, line)
        if self._has_facts:
            top += line * used + look.px(2)
            self._paint_facts(painter, QPointF(rect.x() + left, top), width, row, look)

    def _bar_width(self) -> int:
        """Return how much of the right margin the scroll bar takes."""
        view = self.parent()
        if isinstance(view, QAbstractItemView) and view.verticalScrollBar().isVisible():
            return view.verticalScrollBar().width()
        return 0

    def _paint_facts(
        self, painter: QPainter, at: QPointF, width: float, row: Row, look: Theme
    ) -> None:
        font = look.font(Type.META)
        painter.setFont(font)
        painter.setPen(look.color("ink3"))
        words = QFontMetricsF(font).elidedText(row_facts(row), Qt.TextElideMode.ElideRight, width)
        place = QRectF(at.x(), at.y(), width, look.px(META_LINE_PX))
        painter.drawText(place, Qt.AlignmentFlag.AlignVCenter, words)

    def _paint_placeholder(self, painter: QPainter, rect: QRectF, look: Theme) -> None:
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(look.color("line"))
        left, top = rect.x() + look.px(48), rect.y() + look.px(self._air) + look.px(5)
        for share in (0.4, 0.75, 0.6)[: 1 + self._lines]:
            width = (rect.width() - look.px(68)) * share
            painter.drawRoundedRect(QRectF(left, top, width, look.px(9)), 3, 3)
            top += look.px(LINE_PX)

    def helpEvent(
        self,
        event: QHelpEvent,
        view: QAbstractItemView,
        option: QStyleOptionViewItem,
        index: Index,
    ) -> bool:
        row = index.data(ROW_ROLE)
        if event.type() == QEvent.Type.ToolTip and isinstance(row, Row):
            area: QRect = option.rect
            QToolTip.showText(event.globalPos(), tooltip(row), view, area)
            return True
        return False
