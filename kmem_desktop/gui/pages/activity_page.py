"""Activity: what was done to the memory, by whom, when; and taking it back."""

from PySide6.QtCore import QModelIndex, Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import (
    QStackedWidget,
    QTableView,
    QVBoxLayout,
    QWidget,
)

from kmem_desktop.domain.changes import HistoryEntry, Noun
from kmem_desktop.events import Change
from kmem_desktop.gui.appearance import appearance, theme
from kmem_desktop.gui.context import Context
from kmem_desktop.gui.lists.one_column import show_one_column
from kmem_desktop.gui.pages.change_delegate import ChangeDelegate
from kmem_desktop.gui.pages.change_table_model import PAGE_SIZE, ChangeTableModel
from kmem_desktop.gui.pages.page import Page, PageHead
from kmem_desktop.gui.widgets.empty import EmptyState
from kmem_desktop.gui.widgets.labels import KeyHint


class ChangeListView(QTableView):
    """The list of changes; U takes the selected one back, Enter shows what it was about."""

    def __init__(self, page: "ActivityPage") -> None:
        """Show the changes of `page`."""
        super().__init__(page)
        self._page = page
        self.setAccessibleName("Changes")
        self.setModel(page.model)
        self.setItemDelegate(page.delegate)
        show_one_column(self)
        self.verticalHeader().setMinimumSectionSize(1)
        appearance().changed.connect(self._on_appearance_changed)
        self._on_appearance_changed()

    def current_entry(self) -> HistoryEntry | None:
        """Return the selected change."""
        return self._page.model.entry_at(self.currentIndex().row())

    def _on_appearance_changed(self) -> None:
        self.verticalHeader().setDefaultSectionSize(self._page.delegate.row_height())
        self.verticalScrollBar().setSingleStep(theme().px(36))
        self.viewport().update()

    def keyboardSearch(self, search: str) -> None:
        """Do nothing: letters are keys of the program here."""

    def keyPressEvent(self, event: QKeyEvent) -> None:
        entry = self.current_entry()
        row = self.currentIndex().row()
        if event.key() == Qt.Key.Key_U and entry is not None and not entry.undone:
            self._page.context.shell.undo_change(entry.id)
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and entry is not None:
            self._page.open_entry(entry)
        elif event.key() == Qt.Key.Key_J:
            self.selectRow(min(row + 1, self._page.model.rowCount() - 1))
        elif event.key() == Qt.Key.Key_K:
            self.selectRow(max(row - 1, 0))
        else:
            super().keyPressEvent(event)


class ActivityPage(Page):
    """The list of all changes."""

    def __init__(self, context: Context, parent: QWidget | None = None) -> None:
        """Lay out the page."""
        super().__init__(context, parent)
        self.model = ChangeTableModel()
        self.delegate = ChangeDelegate(self)
        self.list = ChangeListView(self)
        head = PageHead(
            "Activity", "Every change to the memory: who, what and when. Each can be taken back."
        )
        head.right.addWidget(KeyHint(("↵",), "show"))
        head.right.addWidget(KeyHint(("U",), "undo"))
        self._empty = EmptyState()
        self._empty.set_words(
            "Nothing has happened yet",
            "What assistants and you store, change and forget is listed here.",
        )
        self._stack = QStackedWidget()
        self._stack.setProperty("surface", "panel")
        self._stack.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        for widget in (QWidget(), self.list, self._empty):
            self._stack.addWidget(widget)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(head)
        column.addWidget(self._stack, 1)
        self.delegate.undo_wanted.connect(context.shell.undo_change)
        self.list.doubleClicked.connect(self._on_double_clicked)
        self.model.more_wanted.connect(self._load_more)

    def activate(self) -> None:
        self.context.tasks.run(
            self.context.services.history.newest(PAGE_SIZE), self._show, topic="activity"
        )

    def take_change(self, change: Change) -> None:
        if self.isVisible():
            self.activate()

    def focus_columns(self) -> list[QWidget]:
        return [self.list]

    def open_entry(self, entry: HistoryEntry) -> None:
        """Show what a change was about."""
        if entry.noun in (Noun.KNOWLEDGE, Noun.ENTITY):
            self.context.shell.open_item(entry.noun, entry.item_id)
        elif entry.noun is Noun.OBSERVATION:
            self.context.shell.open_entity_named(entry.title)

    def _show(self, entries: list[HistoryEntry]) -> None:
        self.model.set_newest(entries)
        self._stack.setCurrentWidget(self.list if entries else self._empty)
        if entries and not self.list.selectionModel().hasSelection():
            self.list.selectRow(0)

    def _load_more(self, before_id: int) -> None:
        self.context.tasks.run(
            self.context.services.history.newest(PAGE_SIZE, before_id=before_id),
            self.model.append,
            topic="older activity",
        )

    def _on_double_clicked(self, index: QModelIndex) -> None:
        if (entry := self.model.entry_at(index.row())) is not None:
            self.open_entry(entry)
