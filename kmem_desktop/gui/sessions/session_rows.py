"""The rows of the list of sessions, under the days they belong to; and how they are painted."""

from array import array
from collections import OrderedDict
from collections.abc import Sequence
from datetime import UTC, date, datetime
from typing import Any

from PySide6.QtCore import (
    QAbstractTableModel,
    QModelIndex,
    QPersistentModelIndex,
    QRectF,
    Qt,
    Signal,
)
from PySide6.QtCore import QSize as Size
from PySide6.QtGui import QFontMetricsF, QPainter
from PySide6.QtWidgets import QAbstractItemView, QStyle, QStyledItemDelegate, QStyleOptionViewItem

from kmem_desktop.domain.sessions.browsing import SessionListing, SessionRow, SessionView, day_of
from kmem_desktop.domain.sessions.recall import SessionState
from kmem_desktop.gui.appearance import theme
from kmem_desktop.gui.conversation.wording import STATES, clock, day_words, row_words, spoken_row
from kmem_desktop.gui.icons import paint_icon
from kmem_desktop.gui.lists.row_ground import paint_ground
from kmem_desktop.gui.lists.row_painting import MarkedText
from kmem_desktop.gui.lists.snippets import plain_snippet
from kmem_desktop.gui.theme import LINE_PX, META_LINE_PX, Theme, Type
from kmem_desktop.gui.wording import exactly, when

BLOCK_SIZE = 100
MOST_BLOCKS = 40
ROW_ROLE = int(Qt.ItemDataRole.UserRole) + 1
_AIR = 12
_HEADING_PX = 32
_PINNED = "Pinned"

Index = QModelIndex | QPersistentModelIndex


class SessionTableModel(QAbstractTableModel):
    """One column: headings of days, and sessions whose lines are read when they are looked at.

    Signals:
        block_wanted: The sessions from this one on are in sight and not loaded.
    """

    block_wanted = Signal(int)

    def __init__(self) -> None:
        """Start empty."""
        super().__init__()
        self.listing = SessionListing(SessionView(), array("q"), array("q"), 0, 0.0)
        self._headings: list[str] = []
        # Of each line the session's place in the listing or, below zero, its heading.
        self._lines = array("q")
        self._line_of: dict[int, int] = {}
        self._blocks: OrderedDict[int, dict[int, SessionRow]] = OrderedDict()
        self._wanted: set[int] = set()

    def set_listing(
        self, listing: SessionListing, first_rows: Sequence[SessionRow], start: int = 0
    ) -> bool:
        """Show another listing; return whether other lines are shown than before.

        Args:
            listing: The sessions.
            first_rows: The lines of its block at `start`.
            start: A place in the listing.
        """
        same = listing.ids == self.listing.ids and listing.days == self.listing.days
        if not same:
            self.beginResetModel()
            self._arrange(listing)
        self.listing = listing
        self._blocks.clear()
        self._wanted.clear()
        self._keep(start // BLOCK_SIZE, first_rows)
        if not same:
            self.endResetModel()
        elif count := self.rowCount():
            self.dataChanged.emit(self.index(0, 0), self.index(count - 1, 0))
        return not same

    def _arrange(self, listing: SessionListing) -> None:
        today = datetime.now(UTC).astimezone().date()
        self._headings = []
        self._lines = array("q")
        last = -1
        for place, ordinal in enumerate(listing.days or array("q", [-1]) * len(listing.ids)):
            if ordinal not in (last, -1):
                self._headings.append(_heading(day_of(ordinal), today))
                self._lines.append(-len(self._headings))
                last = ordinal
            self._lines.append(place)
        self._line_of = {
            listing.ids[place]: line for line, place in enumerate(self._lines) if place >= 0
        }

    def set_rows(self, listing: SessionListing, start: int, rows: Sequence[SessionRow]) -> None:
        """Take the lines of a block, if they are of the listing that is shown."""
        if listing is not self.listing:
            return
        self._wanted.discard(start // BLOCK_SIZE)
        self._keep(start // BLOCK_SIZE, rows)
        ids = self.ids_of_block(start)
        if ids:
            first, last = self._line_of[ids[0]], self._line_of[ids[-1]]
            self.dataChanged.emit(self.index(first, 0), self.index(last, 0))

    def ids_of_block(self, start: int) -> list[int]:
        """Return the numbers of the sessions of the block that begins at a place."""
        return self.listing.ids[start : start + BLOCK_SIZE].tolist()

    def headings(self) -> list[int]:
        """Return the lines that are headings."""
        return [line for line, place in enumerate(self._lines) if place < 0]

    def heading_at(self, line: int) -> str:
        """Return the words of a heading; empty for a session."""
        place = self._lines[line] if 0 <= line < len(self._lines) else 0
        return self._headings[-place - 1] if place < 0 else ""

    def place_at(self, line: int) -> int | None:
        """Return the place in the listing that a line shows, or None."""
        place = self._lines[line] if 0 <= line < len(self._lines) else -1
        return place if place >= 0 else None

    def id_at(self, line: int) -> int | None:
        """Return the number of the session at a line, or None."""
        place = self.place_at(line)
        return None if place is None else self.listing.ids[place]

    def line_of(self, session_id: int) -> int | None:
        """Return where a session stands, or None."""
        return self._line_of.get(session_id)

    def row_at(self, line: int) -> SessionRow | None:
        """Return what a line says, or None while it is not loaded."""
        place = self.place_at(line)
        if place is None:
            return None
        rows = self._blocks.get(place // BLOCK_SIZE)
        return rows.get(self.listing.ids[place]) if rows else None

    def _keep(self, block: int, rows: Sequence[SessionRow]) -> None:
        self._blocks[block] = {row.id: row for row in rows}
        while len(self._blocks) > MOST_BLOCKS:
            self._blocks.popitem(last=False)

    def _want(self, line: int) -> None:
        block = (self.place_at(line) or 0) // BLOCK_SIZE
        if block not in self._wanted and block not in self._blocks:
            self._wanted.add(block)
            self.block_wanted.emit(block * BLOCK_SIZE)

    def rowCount(self, parent: Index = QModelIndex()) -> int:
        return 0 if parent.isValid() else len(self._lines)

    def columnCount(self, parent: Index = QModelIndex()) -> int:
        return 0 if parent.isValid() else 1

    def flags(self, index: Index) -> Qt.ItemFlag:
        if self.heading_at(index.row()):
            return Qt.ItemFlag.ItemIsEnabled
        return Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if not index.isValid():
            return None
        if heading := self.heading_at(index.row()):
            texts = (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole)
            return heading if role in (ROW_ROLE, *texts) else None
        row = self.row_at(index.row())
        if row is None:
            if role == ROW_ROLE:
                self._want(index.row())
            return None
        if role == ROW_ROLE:
            return row
        if role == Qt.ItemDataRole.ToolTipRole:
            return f"Last turn {exactly(row.last_active)}"
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return spoken_row(row)
        if role == Qt.ItemDataRole.AccessibleDescriptionRole:
            return row.snippet
        return row.title if role == Qt.ItemDataRole.DisplayRole else None


def _heading(day: date | None, today: date) -> str:
    return _PINNED if day is None else day_words(day, today)


class SessionDelegate(QStyledItemDelegate):
    """Paints sessions in three lines, and the days above them."""

    def row_height(self) -> int:
        """Return the height of a session."""
        look = theme()
        return 2 * look.px(_AIR) + 2 * look.px(LINE_PX) + look.px(META_LINE_PX + 2) + 1

    def heading_height(self) -> int:
        """Return the height of a day."""
        return theme().px(_HEADING_PX)

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> Size:
        is_heading = isinstance(index.data(ROW_ROLE), str)
        return Size(200, self.heading_height() if is_heading else self.row_height())

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        look = theme()
        rect = QRectF(option.rect)
        row = index.data(ROW_ROLE)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if isinstance(row, str):
            self._paint_heading(painter, rect, row, look)
        else:
            paint_ground(painter, rect, option.state, look)
            if isinstance(row, SessionRow):
                selected = bool(option.state & QStyle.StateFlag.State_Selected)
                self._paint_row(painter, rect, row, look, selected=selected)
            else:
                _paint_placeholder(painter, rect, look)
        painter.restore()

    def _paint_heading(self, painter: QPainter, rect: QRectF, words: str, look: Theme) -> None:
        painter.fillRect(rect, look.color("bg"))
        line = QRectF(rect.x(), rect.bottom() - 1, rect.width(), 1)
        painter.fillRect(line, look.color("line"))
        painter.setFont(look.font(Type.META_STRONG))
        painter.setPen(look.color("ink2"))
        inner = rect.adjusted(look.px(20), 0, -look.px(20), 0)
        painter.drawText(inner, Qt.AlignmentFlag.AlignVCenter, words)

    def _paint_row(
        self, painter: QPainter, rect: QRectF, row: SessionRow, look: Theme, *, selected: bool
    ) -> None:
        line, left = look.px(LINE_PX), look.px(48)
        right = look.px(20) - self._bar_width()
        top = rect.y() + look.px(_AIR)
        edge = look.px(16)
        box = QRectF(rect.x() + look.px(20), top + (line - edge) / 2, edge, edge)
        color = look.color("ink" if selected else "ink2").name()
        paint_icon(painter, "pin" if row.is_pinned else "sessions", color, box)
        taken = self._paint_right(painter, rect, row, look, top, right)
        width = rect.width() - left - right
        mark, ink = look.color("mark"), look.color("ink")
        title = MarkedText(look.font(Type.ROW_TITLE), ink, mark, ink)
        title_rect = QRectF(rect.x() + left, top, width - taken - look.px(12), line)
        title.paint(painter, title_rect, row.title, row.title_marks, line)
        snippet, marks = plain_snippet(row.snippet, row.snippet_marks)
        text = MarkedText(look.font(Type.BODY), look.color("ink2"), mark, ink)
        text_rect = QRectF(rect.x() + left, top + line, width, line)
        text.paint(painter, text_rect, snippet, marks, line)
        meta = look.font(Type.META)
        painter.setFont(meta)
        painter.setPen(look.color("ink3"))
        words = QFontMetricsF(meta).elidedText(row_words(row), Qt.TextElideMode.ElideRight, width)
        place = QRectF(rect.x() + left, top + 2 * line + look.px(2), width, look.px(META_LINE_PX))
        painter.drawText(place, Qt.AlignmentFlag.AlignVCenter, words)

    def _paint_right(
        self, painter: QPainter, rect: QRectF, row: SessionRow, look: Theme, top: float, right: int
    ) -> float:
        """Paint time and state at the right end; return how much room they take."""
        line = look.px(LINE_PX)
        model = self._model()
        grouped = model is not None and bool(model.listing.days) and not row.is_pinned
        date_words = clock(row.last_active) if grouped else when(row.last_active)
        meta = look.font(Type.META)
        metrics = QFontMetricsF(meta)
        taken = metrics.horizontalAdvance(date_words) + 2
        painter.setFont(meta)
        painter.setPen(look.color("ink3"))
        place = QRectF(rect.right() - right - taken, top, taken, line)
        flags = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
        painter.drawText(place, flags, date_words)
        if row.state is SessionState.SUMMARIZED:
            return taken
        words = STATES[row.state]
        is_active = row.state is SessionState.ACTIVE
        badge_width = metrics.horizontalAdvance(words) + look.px(14)
        badge = QRectF(place.x() - look.px(10) - badge_width, top + 1, badge_width, line - 2)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(look.color("good_soft" if is_active else "code"))
        painter.drawRoundedRect(badge, badge.height() / 2, badge.height() / 2)
        painter.setPen(look.color("good" if is_active else "ink2"))
        painter.drawText(badge, Qt.AlignmentFlag.AlignCenter, words)
        return taken + look.px(10) + badge_width

    def _model(self) -> SessionTableModel | None:
        view = self.parent()
        model = view.model() if isinstance(view, QAbstractItemView) else None
        return model if isinstance(model, SessionTableModel) else None

    def _bar_width(self) -> int:
        """Return how much of the right margin the scroll bar takes."""
        view = self.parent()
        if isinstance(view, QAbstractItemView) and view.verticalScrollBar().isVisible():
            return view.verticalScrollBar().width()
        return 0


def _paint_placeholder(painter: QPainter, rect: QRectF, look: Theme) -> None:
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(look.color("line"))
    left, top = rect.x() + look.px(48), rect.y() + look.px(_AIR + 5)
    for share in (0.4, 0.75, 0.5):
        width = (rect.width() - look.px(68)) * share
        painter.drawRoundedRect(QRectF(left, top, width, look.px(9)), 3, 3)
        top += look.px(LINE_PX)
