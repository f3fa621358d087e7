"""The list itself: one column, fixed rows, the keyboard."""

from PySide6.QtCore import QItemSelectionModel, QModelIndex, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QTableView, QWidget

from kmem_desktop.gui.appearance import appearance, theme
from kmem_desktop.gui.lists.one_column import show_one_column
from kmem_desktop.gui.lists.row_delegate import Density, RowDelegate
from kmem_desktop.gui.lists.row_table_model import RowTableModel

_STEPS = {Qt.Key.Key_J: 1, Qt.Key.Key_K: -1}


class RowListView(QTableView):
    """A list of rows.

    Signals:
        current_changed: Another id is selected; 0 for none.
        chosen: A row was double-clicked or Enter was pressed on it.
    """

    current_changed = Signal(int)
    chosen = Signal(int)

    def __init__(
        self, model: RowTableModel, name: str, density: Density, parent: QWidget | None = None
    ) -> None:
        """Show `model`; `name` is for screen readers."""
        super().__init__(parent)
        self.row_model = model
        self._rows = RowDelegate(density, self)
        self._keeps_quiet = False
        self.setAccessibleName(name)
        self.setModel(model)
        self.setItemDelegate(self._rows)
        show_one_column(self)
        self.selectionModel().currentRowChanged.connect(self._on_current_changed)
        self.doubleClicked.connect(lambda index: self._choose(index.row()))
        appearance().changed.connect(self._on_appearance_changed)
        self._on_appearance_changed()

    def current_id(self) -> int | None:
        """Return the id of the selected row, or None."""
        index = self.currentIndex()
        return self.row_model.id_at(index.row()) if index.isValid() else None

    def select_id(self, item_id: int | None, *, quietly: bool = False) -> bool:
        """Select a row by its id; return whether it is in the list.

        Args:
            item_id: The id; None selects nothing.
            quietly: Whether nobody is told, because the same item stays selected.
        """
        row = None if item_id is None else self.row_model.row_of(item_id)
        self._keeps_quiet = quietly
        try:
            if row is None:
                self.selectionModel().clear()
            else:
                self._set_current(row)
        finally:
            self._keeps_quiet = False
        return row is not None

    def move(self, step: int) -> None:  # type: ignore[override]
        """Select the row `step` further down."""
        count = self.row_model.rowCount()
        if count:
            index = self.currentIndex()
            row = min(max(index.row() + step, 0), count - 1) if index.isValid() else 0
            self._set_current(row)
            self.scrollTo(self.row_model.index(row, 0))

    def choose_current(self) -> None:
        """Act as if Enter was pressed on the selected row."""
        if self.currentIndex().isValid():
            self._choose(self.currentIndex().row())

    def _set_current(self, row: int) -> None:
        flags = QItemSelectionModel.SelectionFlag
        self.selectionModel().setCurrentIndex(
            self.row_model.index(row, 0), flags.ClearAndSelect | flags.Rows
        )

    def _choose(self, row: int) -> None:
        if (item_id := self.row_model.id_at(row)) is not None:
            self.chosen.emit(item_id)

    def _on_current_changed(self, current: QModelIndex, previous: QModelIndex) -> None:
        if not self._keeps_quiet:
            self.current_changed.emit(self.row_model.id_at(current.row()) or 0)

    def _on_appearance_changed(self) -> None:
        height = self._rows.row_height()
        self.verticalHeader().setMinimumSectionSize(1)
        self.verticalHeader().setDefaultSectionSize(height)
        self.verticalScrollBar().setSingleStep(theme().px(36))
        self.viewport().update()

    def keyboardSearch(self, search: str) -> None:
        """Do nothing: letters are keys of the program here."""

    def keyPressEvent(self, event: QKeyEvent) -> None:
        plain = event.modifiers() in (
            Qt.KeyboardModifier.NoModifier,
            Qt.KeyboardModifier.KeypadModifier,
        )
        if plain and event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.choose_current()
        elif plain and event.key() in _STEPS:
            self.move(_STEPS[Qt.Key(event.key())])
        else:
            super().keyPressEvent(event)
