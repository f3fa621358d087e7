"""A flat list of directives: for a task, waiting for a person, or contradicting each other."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import QAbstractListModel, QModelIndex, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QFontMetricsF, QKeyEvent, QPainter
from PySide6.QtWidgets import (
    QAbstractItemView,
    QFrame,
    QListView,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QWidget,
)

from kmem_desktop.gui.appearance import appearance, theme
from kmem_desktop.gui.lists.row_ground import paint_ground
from kmem_desktop.gui.lists.row_painting import MarkedText
from kmem_desktop.gui.lists.row_table_model import Index
from kmem_desktop.gui.lists.snippets import plain_snippet
from kmem_desktop.gui.rules.rule_tree_view import severity_color
from kmem_desktop.gui.theme import LINE_PX, META_LINE_PX, Theme, Type

LINE_ROLE = int(Qt.ItemDataRole.UserRole) + 1
_AIR_PX = 11
_SEVERITY_PX = 84
_STEPS = {Qt.Key.Key_J: 1, Qt.Key.Key_K: -1}
_OWN_KEYS = frozenset(
    {
        Qt.Key.Key_Up,
        Qt.Key.Key_Down,
        Qt.Key.Key_PageUp,
        Qt.Key.Key_PageDown,
        Qt.Key.Key_Home,
        Qt.Key.Key_End,
    }
)


@dataclass(frozen=True, slots=True)
class Statement:
    """A directive in a row.

    Attributes:
        severity: How binding it is.
        text: What it says.
    """

    severity: str
    text: str


@dataclass(frozen=True, slots=True)
class DirectiveLine:
    """A row: one directive, or two that contradict each other.

    Attributes:
        key: By which it is found again.
        statements: What it says.
        facts: Where it stands, and why it is here.
        mark: What a person should know, at the right end; may be empty.
    """

    key: str
    statements: tuple[Statement, ...]
    facts: str
    mark: str = ""


class DirectiveListModel(QAbstractListModel):
    """The rows."""

    def __init__(self) -> None:
        """Start empty."""
        super().__init__()
        self.lines: Sequence[DirectiveLine] = ()

    def set_lines(self, lines: Sequence[DirectiveLine]) -> None:
        """Show other rows."""
        if list(lines) == list(self.lines):
            return
        self.beginResetModel()
        self.lines = lines
        self.endResetModel()

    def line_at(self, row: int) -> DirectiveLine | None:
        """Return a row, or None past the end."""
        return self.lines[row] if 0 <= row < len(self.lines) else None

    def row_of(self, key: str) -> int | None:
        """Return where a row stands, or None."""
        return next((row for row, line in enumerate(self.lines) if line.key == key), None)

    def rowCount(self, parent: Index = QModelIndex()) -> int:
        return 0 if parent.isValid() else len(self.lines)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        line = self.line_at(index.row()) if index.isValid() else None
        if line is None:
            return None
        if role == LINE_ROLE:
            return line
        if role == Qt.ItemDataRole.DisplayRole:
            return line.statements[0].text
        if role == Qt.ItemDataRole.AccessibleTextRole:
            said = "; against: ".join(f"{each.severity} {each.text}" for each in line.statements)
            return ". ".join(part for part in (said, line.facts, line.mark) if part)
        return None


class DirectiveDelegate(QStyledItemDelegate):
    """Paints rows of one height: the severity, the text, and where it stands."""

    def __init__(self, statements: int, lines: int, parent: QWidget) -> None:
        """Paint so many directives a row, with so many lines of text each."""
        super().__init__(parent)
        self._statements = statements
        self._lines = lines

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        look = theme()
        text = look.px(LINE_PX) * self._statements * self._lines
        return QSize(200, 2 * look.px(_AIR_PX) + text + look.px(META_LINE_PX) + look.px(3))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        look = theme()
        line = index.data(LINE_ROLE)
        if not isinstance(line, DirectiveLine):
            return
        rect = QRectF(option.rect)
        state: QStyle.StateFlag = option.state
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        paint_ground(painter, rect, state, look)
        self._paint_line(painter, rect, line, look)
        painter.restore()

    def _paint_line(
        self, painter: QPainter, rect: QRectF, line: DirectiveLine, look: Theme
    ) -> None:
        height = look.px(LINE_PX)
        left = rect.x() + look.px(20) + look.px(_SEVERITY_PX)
        width = rect.right() - look.px(20) - left
        title = Type.ROW_TITLE if self._statements == 1 else Type.BUTTON
        ink = look.color("ink")
        text = MarkedText(look.font(title), ink, look.color("mark"), ink)
        shown = [(each, plain_snippet(each.text, ())[0]) for each in line.statements]
        used = [text.line_count(words, (), width, self._lines) for _, words in shown]
        # A row has one height; what is shorter stands in its middle.
        spare = self._statements * self._lines - sum(used)
        top = rect.y() + look.px(_AIR_PX) + height * spare / 2
        for (statement, words), lines in zip(shown, used, strict=True):
            painter.setFont(look.font(Type.META_STRONG))
            painter.setPen(look.color(severity_color(statement.severity)))
            place = QRectF(rect.x() + look.px(20), top, look.px(_SEVERITY_PX), height)
            painter.drawText(place, Qt.AlignmentFlag.AlignVCenter, statement.severity)
            text.paint(painter, QRectF(left, top, width, height * lines), words, (), height)
            top += height * lines
        self._paint_facts(painter, QRectF(left, top + look.px(2), width, 0), line, look)

    def _paint_facts(self, painter: QPainter, at: QRectF, line: DirectiveLine, look: Theme) -> None:
        middle = Qt.AlignmentFlag.AlignVCenter
        font = look.font(Type.META)
        metrics = QFontMetricsF(font)
        place = QRectF(at.x(), at.y(), at.width(), look.px(META_LINE_PX))
        painter.setFont(font)
        if line.mark:
            painter.setPen(look.color("accent"))
            painter.drawText(place, middle | Qt.AlignmentFlag.AlignRight, line.mark)
            place.setWidth(place.width() - metrics.horizontalAdvance(line.mark) - look.px(12))
        painter.setPen(look.color("ink3"))
        words = metrics.elidedText(line.facts, Qt.TextElideMode.ElideRight, place.width())
        painter.drawText(place, middle, words)


class DirectiveListView(QListView):
    """The list.

    Signals:
        current_changed: Another row is selected (its key), or none (empty).
        chosen: Enter was pressed on a row, or it was double-clicked (its key).
    """

    current_changed = Signal(str)
    chosen = Signal(str)

    def __init__(
        self, name: str, *, statements: int = 1, lines: int = 1, parent: QWidget | None = None
    ) -> None:
        """Name the list for screen readers; rows have so many directives of so many lines."""
        super().__init__(parent)
        self.rows = DirectiveListModel()
        self._is_keeping = False
        self.setAccessibleName(name)
        self.setModel(self.rows)
        self.setItemDelegate(DirectiveDelegate(statements, lines, self))
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setMouseTracking(True)
        self.setUniformItemSizes(True)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.selectionModel().currentChanged.connect(self._on_current_changed)
        self.doubleClicked.connect(lambda index: self._choose(index.row()))
        appearance().changed.connect(self._on_appearance_changed)
        self._on_appearance_changed()

    def current_key(self) -> str:
        """Return the key of the selected row; empty for none."""
        line = self.rows.line_at(self.currentIndex().row())
        return line.key if line is not None else ""

    def set_lines(self, lines: Sequence[DirectiveLine], *, anew: bool = False) -> None:
        """Show other rows; the same row stays selected, or what stands in its place now.

        Args:
            lines: The rows.
            anew: Whether they answer another question: then the first is selected.
        """
        key, row = self.current_key(), max(0, self.currentIndex().row())
        if anew:
            key, row = "", 0
        self._is_keeping = True
        try:
            self.rows.set_lines(lines)
            found = self.rows.row_of(key) if key else None
            if lines:
                self._select(found if found is not None else min(row, len(lines) - 1))
        finally:
            self._is_keeping = False
        if self.current_key() != key:
            self.current_changed.emit(self.current_key())

    def select(self, key: str) -> bool:
        """Select a row; return whether it is there."""
        row = self.rows.row_of(key)
        if row is not None:
            self._select(row)
        return row is not None

    def move(self, step: int) -> None:  # type: ignore[override]
        """Select the row `step` further down."""
        if self.rows.lines:
            row = self.currentIndex().row() + step
            self._select(min(max(row, 0), len(self.rows.lines) - 1))

    def choose_current(self) -> None:
        """Act as if Enter was pressed on the selected row."""
        self._choose(self.currentIndex().row())

    def _select(self, row: int) -> None:
        self.setCurrentIndex(self.rows.index(row))
        self.scrollTo(self.rows.index(row))

    def _choose(self, row: int) -> None:
        if (line := self.rows.line_at(row)) is not None:
            self.chosen.emit(line.key)

    def _on_current_changed(self, current: QModelIndex, previous: QModelIndex) -> None:
        if not self._is_keeping:
            self.current_changed.emit(self.current_key())

    def _on_appearance_changed(self) -> None:
        self.verticalScrollBar().setSingleStep(theme().px(36))
        self.scheduleDelayedItemsLayout()
        self.viewport().update()

    def keyboardSearch(self, search: str) -> None:
        """Do nothing: letters are keys of the program here."""

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier:
            event.ignore()
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.choose_current()
        elif event.key() in _STEPS:
            self.move(_STEPS[Qt.Key(event.key())])
        elif event.key() in _OWN_KEYS:
            super().keyPressEvent(event)
        else:
            event.ignore()
