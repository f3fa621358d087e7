"""The command palette: every action of the program by a few of its letters."""

from typing import Any

from PySide6.QtCore import QAbstractListModel, QModelIndex, QRectF, QSize, Qt
from PySide6.QtGui import QAction, QKeyEvent, QPainter
from PySide6.QtWidgets import (
    QFrame,
    QListView,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QWidget,
)

from kmem_desktop.gui.appearance import theme
from kmem_desktop.gui.lists.row_table_model import Index
from kmem_desktop.gui.popups.overlay import Overlay
from kmem_desktop.gui.shell.actions import Actions, key_text
from kmem_desktop.gui.theme import BAR_PX, Type
from kmem_desktop.gui.widgets.labels import Hairline
from kmem_desktop.gui.widgets.search_field import SearchField

_ROW_PX = 34


def fuzzy_score(query: str, words: str) -> int | None:
    """Return how well the letters of `query` stand in `words`; None where they do not.

    The letters must come in their order. The query as it stands counts most, then beginnings of
    words, then runs.
    """
    letters = query.lower().replace(" ", "")
    text = words.lower()
    whole = text.find(query.lower()) if query else -1
    score = 0 if whole < 0 else 4 if whole and text[whole - 1].isalnum() else 90
    place, run = -1, 0
    for letter in letters:
        found = text.find(letter, place + 1)
        starts = [
            i
            for i in range(place + 1, len(text))
            if text[i] == letter and (i == 0 or not text[i - 1].isalnum())
        ]
        if found < 0:
            return None
        run = run + 1 if found == place + 1 else 0
        if run == 0 and starts:
            found = starts[0]
        score += 8 * (found in starts) + 4 * run - (found - place - 1 > 0)
        place = found
    return score


class ActionListModel(QAbstractListModel):
    """The actions whose words have the letters, best first."""

    def __init__(self, actions: Actions) -> None:
        """Offer these actions."""
        super().__init__()
        self._source = actions
        self._recent: list[QAction] = []
        self._shown: list[QAction] = []

    def filter(self, query: str) -> None:
        """Show what matches, what rests now below the rest; what was used last is before others."""
        self.beginResetModel()
        scored = []
        for order, action in enumerate(self._source.all()):
            score = fuzzy_score(query, action.text())
            if score is not None:
                recency = self._recent.index(action) if action in self._recent else 99
                scored.append((not action.isEnabled(), -score, recency, order, action))
        scored.sort(key=lambda entry: entry[:4])
        self._shown = [entry[4] for entry in scored]
        self.endResetModel()

    def action_at(self, row: int) -> QAction | None:
        """Return the action of a row."""
        return self._shown[row] if 0 <= row < len(self._shown) else None

    def note_use(self, action: QAction) -> None:
        """Remember that an action was used."""
        if action in self._recent:
            self._recent.remove(action)
        self._recent.insert(0, action)

    def rowCount(self, parent: Index = QModelIndex()) -> int:
        return 0 if parent.isValid() else len(self._shown)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        action = self.action_at(index.row()) if index.isValid() else None
        if action is None:
            return None
        if role == Qt.ItemDataRole.DisplayRole:
            return action.text()
        if role == Qt.ItemDataRole.AccessibleTextRole:
            rests = "" if action.isEnabled() else ", rests now"
            return f"{action.text()}, {key_text(action) or 'no key'}{rests}"
        return action if role == Qt.ItemDataRole.UserRole else None


class ActionDelegate(QStyledItemDelegate):
    """Paints an action with its key at the right."""

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        return QSize(100, theme().px(_ROW_PX))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        look = theme()
        action = index.data(Qt.ItemDataRole.UserRole)
        rect = QRectF(option.rect)
        state: QStyle.StateFlag = option.state
        if state & QStyle.StateFlag.State_Selected:
            painter.fillRect(rect, look.color("accent_soft"))
            bar = QRectF(rect.x(), rect.y(), BAR_PX, rect.height())
            painter.fillRect(bar, look.color("accent"))
        elif state & QStyle.StateFlag.State_MouseOver:
            painter.fillRect(rect, look.color("hover"))
        inner = rect.adjusted(look.px(16), 0, -look.px(16), 0)
        painter.setFont(look.font(Type.BODY))
        painter.setPen(look.color("ink" if action.isEnabled() else "ink3"))
        painter.drawText(inner, Qt.AlignmentFlag.AlignVCenter, action.text())
        painter.setFont(look.font(Type.META))
        painter.setPen(look.color("ink3"))
        words = key_text(action) if action.isEnabled() else "rests now"
        right = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight
        painter.drawText(inner, right, words)


class CommandPalette(Overlay):
    """Lists every action; letters narrow, Enter does."""

    def __init__(self, actions: Actions, window: QWidget) -> None:
        """Offer the actions of `window`."""
        super().__init__(540, 432, window)
        self.model = ActionListModel(actions)
        self.field = SearchField("What do you want to do?", large=True)
        self.field.set_frameless()
        self.view = QListView()
        self.view.setAccessibleName("Actions")
        self.view.setModel(self.model)
        self.view.setItemDelegate(ActionDelegate(self.view))
        self.view.setFrameShape(QFrame.Shape.NoFrame)
        self.view.setMouseTracking(True)
        self.view.setUniformItemSizes(True)
        self.view.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.view.clicked.connect(lambda index: self._run(index.row()))
        self.field.asked.connect(self._filter)
        self.field.moved.connect(self._move)
        self.field.entered.connect(lambda: self._run(self.view.currentIndex().row()))
        self.field.left.connect(self.dismiss)
        self.body.addWidget(self.field)
        self.body.addWidget(Hairline())
        self.body.addWidget(self.view, 1)
        self.body.addSpacing(4)

    def open(self) -> None:
        """Show all actions."""
        self.field.edit.clear()
        self._filter("")
        super().open()

    def take_focus(self) -> None:
        self.field.edit.setFocus()

    def _filter(self, text: str) -> None:
        self.model.filter(text)
        self.view.setCurrentIndex(self.model.index(0))

    def _move(self, step: int) -> None:
        row = self.view.currentIndex().row() + step
        row = min(max(row, 0), self.model.rowCount() - 1)
        self.view.setCurrentIndex(self.model.index(row))

    def _run(self, row: int) -> None:
        action = self.model.action_at(row)
        if action is not None and action.isEnabled():
            self.model.note_use(action)
            self.dismiss()
            action.trigger()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_K and event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            self.dismiss()
        else:
            super().keyPressEvent(event)
