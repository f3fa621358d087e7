"""The list of what waits: how a row is painted, and what the keyboard does in it."""

from PySide6.QtCore import QItemSelectionModel, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QFontMetricsF, QKeyEvent, QPainter
from PySide6.QtWidgets import (
    QAbstractItemView,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTableView,
    QWidget,
)

from kmem_desktop.domain.sessions.inbox import Proposal
from kmem_desktop.gui.appearance import appearance, theme
from kmem_desktop.gui.icons import paint_icon
from kmem_desktop.gui.inbox.proposal_model import PROPOSAL_ROLE, Index, ProposalModel
from kmem_desktop.gui.inbox.sentences import row_facts, row_words
from kmem_desktop.gui.lists.one_column import show_one_column
from kmem_desktop.gui.lists.row_ground import paint_ground
from kmem_desktop.gui.theme import LINE_PX, META_LINE_PX, Theme, Type
from kmem_desktop.gui.wording import when

_AIR_PX = 12
_LEFT_PX = 48
_RIGHT_PX = 20
_STEPS = {Qt.Key.Key_J: 1, Qt.Key.Key_K: -1}


class ProposalDelegate(QStyledItemDelegate):
    """Paints proposals in rows of one height: title and day, where from, and the facts."""

    def row_height(self) -> int:
        """Return the height of each row in the theme that is in force."""
        look = theme()
        lines = 2 * look.px(LINE_PX) + look.px(META_LINE_PX) + look.px(2)
        return 2 * look.px(_AIR_PX) + lines + 1

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        return QSize(200, self.row_height())

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        proposal = index.data(PROPOSAL_ROLE)
        if not isinstance(proposal, Proposal):
            return
        rect, state = QRectF(option.rect), option.state
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        paint_ground(painter, rect, state, theme())
        selected = bool(state & QStyle.StateFlag.State_Selected)
        self._paint_words(painter, rect, proposal, theme(), selected=selected)
        painter.restore()

    def _paint_words(
        self, painter: QPainter, rect: QRectF, proposal: Proposal, look: Theme, *, selected: bool
    ) -> None:
        line, left = look.px(LINE_PX), rect.x() + look.px(_LEFT_PX)
        top = rect.y() + look.px(_AIR_PX)
        right = rect.right() - look.px(_RIGHT_PX) + self._bar_width()
        edge = look.px(16)
        box = QRectF(rect.x() + look.px(20), top + (line - edge) / 2, edge, edge)
        paint_icon(painter, "bookmark", look.color("ink" if selected else "ink2").name(), box)
        day = when(proposal.said_at)
        day_width = QFontMetricsF(look.font(Type.META)).horizontalAdvance(day)
        place = QRectF(right - day_width - 2, top, day_width + 2, line)
        self._text(painter, place, day, Type.META, "ink3")
        title = QRectF(left, top, place.left() - look.px(16) - left, line)
        self._text(painter, title, proposal.title, Type.ROW_TITLE, "ink")
        below = QRectF(left, title.bottom(), right - left, line)
        self._text(painter, below, row_words(proposal), Type.BODY, "ink2")
        facts = QRectF(
            QPointF(left, below.bottom() + look.px(2)),
            QPointF(right, below.bottom() + look.px(2) + look.px(META_LINE_PX)),
        )
        self._text(painter, facts, row_facts(proposal), Type.META, "ink3")

    @staticmethod
    def _text(painter: QPainter, rect: QRectF, words: str, style: Type, color: str) -> None:
        look = theme()
        font = look.font(style)
        painter.setFont(font)
        painter.setPen(look.color(color))
        fitting = QFontMetricsF(font).elidedText(
            words, Qt.TextElideMode.ElideRight, rect.width() + 1
        )
        flags = Qt.AlignmentFlag.AlignVCenter | Qt.TextFlag.TextSingleLine
        painter.drawText(rect, flags, fitting)

    def _bar_width(self) -> int:
        """Return how much of the right margin the scroll bar takes already."""
        view = self.parent()
        if isinstance(view, QAbstractItemView) and view.verticalScrollBar().isVisible():
            return view.verticalScrollBar().width()
        return 0


class ProposalListView(QTableView):
    """The list.

    Signals:
        current_changed: Another proposal is selected, or none.
        chosen: Enter was pressed on the selected one, or it was double-clicked.
    """

    current_changed = Signal()
    chosen = Signal()

    def __init__(self, model: ProposalModel, parent: QWidget | None = None) -> None:
        """Show `model`."""
        super().__init__(parent)
        self.rows = model
        self._painter = ProposalDelegate(self)
        self.setAccessibleName("What waits for you")
        self.setModel(model)
        self.setItemDelegate(self._painter)
        show_one_column(self)
        self.verticalHeader().setMinimumSectionSize(1)
        self.selectionModel().currentRowChanged.connect(lambda *_: self.current_changed.emit())
        self.doubleClicked.connect(lambda _index: self.chosen.emit())
        appearance().changed.connect(self._on_appearance_changed)
        self._on_appearance_changed()

    def current(self) -> Proposal | None:
        """Return the selected proposal."""
        index = self.currentIndex()
        return self.rows.at(index.row()) if index.isValid() else None

    def select(self, row: int) -> None:
        """Select a row, or the last where there are fewer; nothing where there is none."""
        count = self.rows.rowCount()
        if not count:
            self.selectionModel().clear()
            return
        index = self.rows.index(max(0, min(row, count - 1)), 0)
        flags = QItemSelectionModel.SelectionFlag
        self.selectionModel().setCurrentIndex(index, flags.ClearAndSelect | flags.Rows)
        self.scrollTo(index)

    def keyboardSearch(self, search: str) -> None:
        """Do nothing: letters are keys of the page."""

    def keyPressEvent(self, event: QKeyEvent) -> None:
        plain = not event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier
        if plain and event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.chosen.emit()
        elif plain and event.key() in _STEPS:
            self.select(self.currentIndex().row() + _STEPS[Qt.Key(event.key())])
        elif event.text().isalpha() or event.key() == Qt.Key.Key_Delete:
            event.ignore()  # the page's own keys
        else:
            super().keyPressEvent(event)

    def _on_appearance_changed(self) -> None:
        self.verticalHeader().setDefaultSectionSize(self._painter.row_height())
        self.verticalScrollBar().setSingleStep(theme().px(36))
        self.viewport().update()
