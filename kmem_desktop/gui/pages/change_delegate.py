"""Paints a change: who did what, when, and the way back at the right."""

from PySide6.QtCore import QAbstractItemModel, QEvent, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QFontMetricsF, QMouseEvent, QPainter
from PySide6.QtWidgets import QStyle, QStyledItemDelegate, QStyleOptionViewItem, QWidget

from kmem_desktop.domain.changes import Action, HistoryEntry, OriginKind
from kmem_desktop.gui.appearance import theme
from kmem_desktop.gui.icons import paint_icon
from kmem_desktop.gui.lists.row_ground import paint_ground
from kmem_desktop.gui.lists.row_table_model import Index
from kmem_desktop.gui.pages.change_table_model import CHANGE_ROLE
from kmem_desktop.gui.theme import LINE_PX, META_LINE_PX, Theme, Type
from kmem_desktop.gui.wording import change_sentence, noun_name, when

_AIR_PX = 10
_ICONS = {
    Action.CREATED: "plus",
    Action.UPDATED: "edit",
    Action.DELETED: "close",
    Action.RESTORED: "undo",
}
_DOORS = {
    OriginKind.CLIENT: "an assistant",
    OriginKind.WINDOW: "in the window",
    OriginKind.COMMAND_LINE: "on the command line",
    OriginKind.IMPORT: "import",
    OriginKind.UPKEEP: "by itself",
}
UNDO_WORDS = "Undo"


class ChangeDelegate(QStyledItemDelegate):
    """Paints changes in rows of one height.

    Signals:
        undo_wanted: Undo was clicked on the change with this number.
    """

    undo_wanted = Signal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        """Paint for `parent`."""
        super().__init__(parent)

    def row_height(self) -> int:
        """Return the height of each row in the theme that is in force."""
        look = theme()
        return 2 * look.px(_AIR_PX) + look.px(LINE_PX) + look.px(META_LINE_PX) + 1

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        return QSize(200, self.row_height())

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        look = theme()
        entry = index.data(CHANGE_ROLE)
        if not isinstance(entry, HistoryEntry):
            return
        rect = QRectF(option.rect)
        state: QStyle.StateFlag = option.state
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        paint_ground(painter, rect, state, look)
        self._paint_words(painter, rect, entry, look)
        painter.restore()

    def _paint_words(
        self, painter: QPainter, rect: QRectF, entry: HistoryEntry, look: Theme
    ) -> None:
        line = look.px(LINE_PX)
        top = rect.y() + look.px(_AIR_PX)
        edge = look.px(16)
        box = QRectF(rect.x() + look.px(20), top + (line - edge) / 2, edge, edge)
        paint_icon(painter, _ICONS[entry.action], look.color("ink3").name(), box)
        button = undo_rect(rect)
        left = rect.x() + look.px(48)
        width = button.left() - left - look.px(90)
        font = look.font(Type.BODY)
        painter.setFont(font)
        painter.setPen(look.color("ink3" if entry.undone else "ink"))
        sentence = QFontMetricsF(font).elidedText(
            change_sentence(entry), Qt.TextElideMode.ElideRight, width
        )
        middle = Qt.AlignmentFlag.AlignVCenter
        painter.drawText(QRectF(left, top, width, line), middle, sentence)
        meta = look.font(Type.META)
        painter.setFont(meta)
        painter.setPen(look.color("ink3"))
        below = QRectF(left, top + line, width, look.px(META_LINE_PX))
        painter.drawText(below, middle, _facts(entry))
        place = QRectF(button.left() - look.px(100), top, look.px(90), line)
        painter.drawText(place, middle | Qt.AlignmentFlag.AlignRight, when(entry.at))
        self._paint_undo(painter, button, entry, look)

    def _paint_undo(
        self, painter: QPainter, rect: QRectF, entry: HistoryEntry, look: Theme
    ) -> None:
        painter.setFont(look.font(Type.META if entry.undone else Type.BUTTON))
        painter.setPen(look.color("ink3" if entry.undone else "accent"))
        words = "taken back" if entry.undone else UNDO_WORDS
        right = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight
        painter.drawText(rect, right, words)

    def editorEvent(
        self,
        event: QEvent,
        model: QAbstractItemModel,
        option: QStyleOptionViewItem,
        index: Index,
    ) -> bool:
        entry = index.data(CHANGE_ROLE)
        if (
            isinstance(event, QMouseEvent)
            and event.type() == QEvent.Type.MouseButtonRelease
            and event.button() == Qt.MouseButton.LeftButton
            and isinstance(entry, HistoryEntry)
            and not entry.undone
            and undo_rect(QRectF(option.rect)).contains(event.position())
        ):
            self.undo_wanted.emit(entry.id)
            return True
        return super().editorEvent(event, model, option, index)


def undo_rect(row: QRectF) -> QRectF:
    """Return where Undo stands in a row."""
    look = theme()
    width = look.px(72)
    return QRectF(
        row.right() - width - look.px(20), row.y() + look.px(_AIR_PX) - 2, width, look.px(24)
    )


def _facts(entry: HistoryEntry) -> str:
    through = entry.origin.tool or _DOORS[entry.origin.kind]
    return f"{noun_name(entry.noun)} · {through}"
