"""The tree of rules as it is seen: rows of one height, the keyboard, what is open."""

from collections.abc import Iterable

from PySide6.QtCore import QItemSelectionModel, QModelIndex, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QFontMetricsF, QKeyEvent, QMouseEvent, QPainter
from PySide6.QtWidgets import (
    QAbstractItemView,
    QFrame,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTreeView,
    QWidget,
)

from kmem_desktop.gui.appearance import appearance, theme
from kmem_desktop.gui.icons import paint_icon
from kmem_desktop.gui.lists.row_ground import paint_ground
from kmem_desktop.gui.lists.row_table_model import Index
from kmem_desktop.gui.lists.snippets import plain_snippet
from kmem_desktop.gui.rules.rule_tree_model import Key, Kind, Mark, Node, RuleTreeModel
from kmem_desktop.gui.theme import Theme, Type

_ROW_PX = 32
_INDENT_PX = 18
_STEPS = {Qt.Key.Key_J: 1, Qt.Key.Key_K: -1}
_OWN_KEYS = frozenset(
    {
        Qt.Key.Key_Up,
        Qt.Key.Key_Down,
        Qt.Key.Key_Left,
        Qt.Key.Key_Right,
        Qt.Key.Key_PageUp,
        Qt.Key.Key_PageDown,
        Qt.Key.Key_Home,
        Qt.Key.Key_End,
        Qt.Key.Key_Asterisk,
        Qt.Key.Key_Plus,
        Qt.Key.Key_Minus,
    }
)
MOST_OPENED = 400
"""So many matches of a filter are shown opened; of more only the files."""
_STYLES = {
    Kind.FOLDER: (Type.ROW_TITLE, "ink"),
    Kind.SHELF: (Type.ROW_TITLE, "ink"),
    Kind.RULE: (Type.BUTTON, "ink"),
    Kind.SECTION: (Type.BODY, "ink2"),
    Kind.DIRECTIVE: (Type.BODY, "ink"),
}
_ICONS = {Kind.FOLDER: "folder", Kind.SHELF: "folder", Kind.RULE: "file"}
SEVERITY_COLORS = {"MUST": "ink", "SHOULD": "ink2", "MAY": "ink3"}


def severity_color(words: str) -> str:
    """Return the colour of a severity: weight of ink, for red would say that something broke."""
    return SEVERITY_COLORS.get(words.partition(" ")[0], "ink2")


class RowHeight(QStyledItemDelegate):
    """Gives each row its height; the tree paints whole rows itself."""

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        return QSize(120, theme().px(_ROW_PX))


class RuleTreeView(QTreeView):
    """The tree.

    Signals:
        current_changed: Another node is selected, or none.
        chosen: Enter was pressed on a node, or it was double-clicked.
    """

    current_changed = Signal()
    chosen = Signal()

    def __init__(self, model: RuleTreeModel, parent: QWidget | None = None) -> None:
        """Show `model`."""
        super().__init__(parent)
        self.rule_model = model
        self._open: set[Key] = set()
        self._is_restoring = False
        self.setAccessibleName("Rules by project, file and section")
        self.setModel(model)
        self.setItemDelegate(RowHeight(self))
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHeaderHidden(True)
        self.setUniformRowHeights(True)
        self.setMouseTracking(True)
        self.setExpandsOnDoubleClick(True)
        self.setAnimated(False)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.selectionModel().currentChanged.connect(self._on_current_changed)
        self.expanded.connect(lambda index: self._note(index, is_open=True))
        self.collapsed.connect(lambda index: self._note(index, is_open=False))
        self.doubleClicked.connect(lambda _index: self.chosen.emit())
        appearance().changed.connect(self._on_appearance_changed)
        self._on_appearance_changed()

    def current_node(self) -> Node | None:
        """Return what is selected."""
        index = self.currentIndex()
        return self.rule_model.node(index) if index.isValid() else None

    def select(self, key: Key | None, *, quietly: bool = False) -> bool:
        """Select something and bring it into sight; return whether it is shown.

        Args:
            key: What; None selects nothing.
            quietly: Whether nobody is told, because the same stays selected.
        """
        index = QModelIndex() if key is None else self.rule_model.index_of(key)
        self._is_restoring = quietly
        try:
            if index.isValid():
                flags = QItemSelectionModel.SelectionFlag.ClearAndSelect
                self.selectionModel().setCurrentIndex(index, flags)
                if not quietly:
                    self.scrollTo(index)
            else:
                self.selectionModel().clear()
        finally:
            self._is_restoring = False
        return index.isValid()

    def move(self, step: int) -> None:  # type: ignore[override]
        """Select the row `step` further down, of those that are open."""
        index = self.currentIndex()
        if not index.isValid():
            self.select_first()
            return
        for _ in range(abs(step)):
            following = self.indexBelow(index) if step > 0 else self.indexAbove(index)
            if not following.isValid():
                break
            index = following
        flags = QItemSelectionModel.SelectionFlag.ClearAndSelect
        self.selectionModel().setCurrentIndex(index, flags)

    def select_first(self) -> None:
        """Select the first directive of a filter, else the first row."""
        index = self.rule_model.index(0, 0)
        if self.rule_model.is_filtered:
            first = next(self.rule_model.node(QModelIndex()).directives(), None)
            if first is not None:
                index = self.rule_model.index_of_node(first)
        if index.isValid():
            flags = QItemSelectionModel.SelectionFlag.ClearAndSelect
            self.selectionModel().setCurrentIndex(index, flags)

    def open_keys(self, keys: Iterable[Key]) -> None:
        """Let these be open, now and after the tree was built anew."""
        self._open |= set(keys)
        self.restore_open()

    def restore_open(self) -> None:
        """Open again what was open before the tree was built anew."""
        self._is_restoring = True
        self.setUpdatesEnabled(False)
        try:
            if self.rule_model.is_filtered:
                self._open_matches()
            else:
                # From the top down: what stands in something closed is laid out when that opens.
                for key in sorted(self._open, key=_depth):
                    index = self.rule_model.index_of(key)
                    if index.isValid():
                        self.setExpanded(index, True)
        finally:
            self.setUpdatesEnabled(True)
            self._is_restoring = False

    def _open_matches(self) -> None:
        if self.rule_model.matches <= MOST_OPENED:
            self.expandAll()
        else:
            self.expandToDepth(0)

    def _note(self, index: QModelIndex, *, is_open: bool) -> None:
        """Remember what a person opened and closed, but not what a filter did."""
        if self._is_restoring or self.rule_model.is_filtered:
            return
        key = self.rule_model.node(index).key
        (self._open.add if is_open else self._open.discard)(key)

    def _on_current_changed(self, current: QModelIndex, previous: QModelIndex) -> None:
        if not self._is_restoring:
            self.current_changed.emit()

    def _on_appearance_changed(self) -> None:
        look = theme()
        self.setIndentation(look.px(_INDENT_PX))
        self.verticalScrollBar().setSingleStep(look.px(_ROW_PX))
        self.scheduleDelayedItemsLayout()
        self.viewport().update()

    def keyboardSearch(self, search: str) -> None:
        """Do nothing: letters are keys of the program here."""

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier:
            event.ignore()
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self._enter()
        elif event.key() in _STEPS:
            self.move(_STEPS[Qt.Key(event.key())])
        elif event.key() in _OWN_KEYS:
            super().keyPressEvent(event)
        else:
            event.ignore()

    def _enter(self) -> None:
        node = self.current_node()
        if node is not None and node.kind in (Kind.FOLDER, Kind.SHELF, Kind.SECTION):
            self.setExpanded(self.currentIndex(), not self.isExpanded(self.currentIndex()))
        elif node is not None:
            self.chosen.emit()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Open and close at the arrow, which stands further in than Qt's own."""
        index = self.indexAt(event.position().toPoint())
        if index.isValid() and self.rule_model.hasChildren(index):
            left = self._arrow_left(self.rule_model.node(index), theme())
            if left - theme().px(5) <= event.position().x() < left + theme().px(19):
                self.setExpanded(index, not self.isExpanded(index))
                return
        super().mousePressEvent(event)

    def _arrow_left(self, node: Node, look: Theme) -> int:
        return look.px(14) + _depth_of(node) * look.px(_INDENT_PX)

    def drawBranches(self, painter: QPainter, rect: QRect, index: Index) -> None:
        """Draw nothing here: the row draws its own arrow."""

    def drawRow(self, painter: QPainter, options: QStyleOptionViewItem, index: Index) -> None:
        look = theme()
        rect = QRectF(options.rect)
        rect.setLeft(0)
        rect.setRight(self.viewport().width())
        node = self.rule_model.node(index)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        paint_ground(painter, rect, self._ground_state(rect, index), look, has_line=False)
        left = self._arrow_left(node, look)
        if self.rule_model.hasChildren(index):
            self._paint_arrow(painter, rect, left, look, is_open=self.isExpanded(index))
        self._paint_words(painter, rect, left + look.px(20), node, look)
        painter.restore()

    def _ground_state(self, rect: QRectF, index: Index) -> QStyle.StateFlag:
        """Return what a row shows by its ground; it reaches further left than Qt's own."""
        state = QStyle.StateFlag.State_None
        if self.selectionModel().isSelected(index):
            state |= QStyle.StateFlag.State_Selected
        if self.hasFocus():
            state |= QStyle.StateFlag.State_HasFocus
        is_below = rect.contains(self.viewport().mapFromGlobal(self.cursor().pos()).toPointF())
        if is_below and self.underMouse():
            state |= QStyle.StateFlag.State_MouseOver
        return state

    def _paint_arrow(
        self, painter: QPainter, rect: QRectF, left: float, look: Theme, *, is_open: bool
    ) -> None:
        edge = look.px(14)
        box = QRectF(left, rect.y() + (rect.height() - edge) / 2, edge, edge)
        icon = "chevron-down" if is_open else "chevron-right"
        paint_icon(painter, icon, look.color("ink3").name(), box)

    def _paint_words(
        self, painter: QPainter, rect: QRectF, left: float, node: Node, look: Theme
    ) -> None:
        middle = Qt.AlignmentFlag.AlignVCenter
        if node.kind in _ICONS:
            edge = look.px(16)
            box = QRectF(left, rect.y() + (rect.height() - edge) / 2, edge, edge)
            paint_icon(painter, _ICONS[node.kind], look.color("ink2").name(), box)
            left += edge + look.px(8)
        right = self._paint_marks(painter, rect, node, look)
        if node.severity:
            font = look.font(Type.META_STRONG)
            metrics = QFontMetricsF(font)
            painter.setFont(font)
            painter.setPen(look.color(severity_color(node.severity)))
            place = QRectF(left, rect.y(), rect.width() - left, rect.height())
            painter.drawText(place, middle, node.severity)
            widest = metrics.horizontalAdvance("SHOULD")
            left += max(widest, metrics.horizontalAdvance(node.severity)) + look.px(12)
        style, color = _STYLES[node.kind]
        is_rejected = bool(node.marks) and node.marks[-1].words == "rejected"
        font = look.font(style)
        painter.setFont(font)
        painter.setPen(look.color("ink3" if is_rejected else color))
        words = plain_snippet(node.words, ())[0] if node.stored is not None else node.words
        elide = Qt.TextElideMode.ElideRight
        if node.kind is Kind.RULE:
            elide = Qt.TextElideMode.ElideMiddle
        room = right - left
        shown = QFontMetricsF(font).elidedText(words, elide, room)
        painter.drawText(QRectF(left, rect.y(), room, rect.height()), middle, shown)

    def _paint_marks(self, painter: QPainter, rect: QRectF, node: Node, look: Theme) -> float:
        """Paint the words at the right end; return where they begin."""
        font = look.font(Type.META)
        metrics = QFontMetricsF(font)
        painter.setFont(font)
        right = rect.right() - look.px(20)
        # A bar that overlays the margin must not move what stands there.
        if self.verticalScrollBar().isVisible():
            right += self.verticalScrollBar().width()
        marks = (*node.marks, Mark(node.count, "ink3")) if node.count else node.marks
        for mark in reversed(marks):
            width = metrics.horizontalAdvance(mark.words)
            painter.setPen(look.color(mark.color))
            place = QRectF(right - width - 1, rect.y(), width + 1, rect.height())
            painter.drawText(place, Qt.AlignmentFlag.AlignVCenter, mark.words)
            right -= width + look.px(14)
        return right


def _depth(key: Key) -> int:
    return {"folder": 0, "shelf": 0, "rule": 1, "section": 2}.get(str(key[0]), 3)


def _depth_of(node: Node) -> int:
    depth = -1
    while node.parent is not None:
        depth += 1
        node = node.parent
    return depth
