"""The quick search: a small window of its own with one field and the best few rows."""

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import QCursor, QGuiApplication, QKeyEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QVBoxLayout, QWidget

from kmem_desktop.domain.changes import Noun
from kmem_desktop.domain.found import Row
from kmem_desktop.gui.appearance import appearance, theme
from kmem_desktop.gui.context import Context
from kmem_desktop.gui.detail.detail_pane import Item, as_text, read_item
from kmem_desktop.gui.lists.list_loader import ListLoader
from kmem_desktop.gui.lists.row_delegate import Density, RowDelegate
from kmem_desktop.gui.lists.row_list_view import RowListView
from kmem_desktop.gui.lists.row_table_model import RowTableModel
from kmem_desktop.gui.widgets.labels import Hairline, KeyHint
from kmem_desktop.gui.widgets.search_field import SearchField
from kmem_desktop.services.listing import EVERYTHING

SHOWN_ROWS = 8
_WIDTH_PX = 640


class QuickSearch(QWidget):
    """A frameless popup; built once, hidden until it is wanted."""

    def __init__(self, context: Context, owner: QWidget) -> None:
        """Build it, hidden."""
        super().__init__(owner, Qt.WindowType.Dialog | Qt.WindowType.FramelessWindowHint)
        self._context = context
        self._owner = owner
        self._is_open = False
        self.setWindowTitle("Quick search")
        self.setAttribute(Qt.WidgetAttribute.WA_TranslucentBackground)
        self.field = SearchField("Search everything", large=True)
        self.field.set_frameless()
        self.model = RowTableModel()
        self.list = RowListView(self.model, "Results", Density.COMPACT)
        self.list.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.list.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.loader = ListLoader(context.services.listing, context.tasks, self.list)
        panel = QFrame()
        panel.setProperty("role", "popup")
        column = QVBoxLayout(panel)
        column.setContentsMargins(1, 1, 1, 1)
        column.setSpacing(0)
        self._foot = QHBoxLayout()
        for keys, words in ((("↵",), "open"), (("Ctrl ↵",), "copy"), (("Ctrl N",), "save as new")):
            self._foot.addWidget(KeyHint(keys, words))
        self._foot.addStretch(1)
        self._foot.addWidget(KeyHint(("Esc",), "close"))
        column.addWidget(self.field)
        column.addWidget(Hairline())
        column.addWidget(self.list, 1)
        column.addWidget(Hairline())
        column.addLayout(self._foot)
        around = QVBoxLayout(self)
        around.setContentsMargins(0, 0, 0, 0)
        around.addWidget(panel)
        self.field.asked.connect(self._on_asked)
        self.field.moved.connect(self.list.move)
        self.field.entered.connect(self.list.choose_current)
        self.field.left.connect(self.hide)
        self.field.edit.installEventFilter(self)
        self.list.chosen.connect(self._on_chosen)
        self.list.clicked.connect(lambda _index: self.list.choose_current())
        appearance().changed.connect(self._arrange)
        self._arrange()

    def open(self) -> None:
        """Show it on the screen with the mouse, the last words marked."""
        screen = QGuiApplication.screenAt(QCursor.pos()) or self.screen()
        area = screen.availableGeometry()
        left = area.x() + (area.width() - self.width()) // 2
        self.move(left, area.y() + area.height() // 6)
        self.show()
        self.raise_()
        self.activateWindow()
        self.field.edit.setFocus()
        self.field.edit.selectAll()
        self._on_asked(self.field.edit.text())

    def take_change(self) -> None:
        """Learn that something in the memory changed."""
        if self.isVisible():
            self.loader.refresh()

    def _on_asked(self, text: str) -> None:
        self.loader.ask(text, EVERYTHING)

    def _on_chosen(self, item_id: int) -> None:
        row = self._row(item_id)
        self.hide()
        if row is None:
            return
        if row.noun is not Noun.TURN:  # a conversation has a window of its own
            window = self._owner.window()
            window.show()
            window.raise_()
            window.activateWindow()
        self._context.shell.open_item(row.noun, row.id)

    def _copy(self) -> None:
        row = self._row(self.list.current_id() or 0)
        if row is None:
            return

        def done(item: Item) -> None:
            QGuiApplication.clipboard().setText(as_text(item)[1])
            self.hide()

        self._context.tasks.run(read_item(self._context.services, row.noun, row.id), done)

    def _save_as_new(self) -> None:
        self.hide()
        self._owner.window().show()
        self._context.shell.new_knowledge(self.field.edit.text())

    def _row(self, item_id: int) -> Row | None:
        place = self.model.row_of(item_id)
        return None if place is None else self.model.row_at(place)

    def _arrange(self) -> None:
        look = theme()
        self._foot.setContentsMargins(look.px(16), look.px(7), look.px(16), look.px(7))
        self._foot.setSpacing(look.px(16))
        rows = RowDelegate(Density.COMPACT).row_height() * SHOWN_ROWS
        self.setFixedSize(look.px(_WIDTH_PX), rows + look.px(50) + look.px(34) + 4)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress:
            control = bool(event.modifiers() & Qt.KeyboardModifier.ControlModifier)
            if control and event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
                self._copy()
                return True
            if control and event.key() == Qt.Key.Key_N:
                self._save_as_new()
                return True
            if event.key() == Qt.Key.Key_Escape:
                self.hide()
                return True
        return super().eventFilter(watched, event)

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.ActivationChange:
            if self.isActiveWindow():
                self._is_open = True
            elif self._is_open:
                self._is_open = False
                self.hide()
