"""The changes of the history as rows, newest first, read on as one scrolls."""

from collections.abc import Sequence
from typing import Any

from PySide6.QtCore import QAbstractTableModel, QModelIndex, Qt, Signal

from kmem_desktop.domain.changes import HistoryEntry
from kmem_desktop.gui.lists.row_table_model import Index
from kmem_desktop.gui.wording import change_sentence, exactly, when

CHANGE_ROLE = int(Qt.ItemDataRole.UserRole) + 1
PAGE_SIZE = 200


class ChangeTableModel(QAbstractTableModel):
    """One column of changes.

    Signals:
        more_wanted: The changes before this number are wanted.
    """

    more_wanted = Signal(int)

    def __init__(self) -> None:
        """Start empty."""
        super().__init__()
        self._entries: list[HistoryEntry] = []
        self._is_complete = False

    def set_newest(self, entries: Sequence[HistoryEntry]) -> None:
        """Show these, newest first; older ones that were read stay below them."""
        fresh = list(entries)
        if fresh and self._entries:
            oldest = fresh[-1].id
            fresh += [entry for entry in self._entries if entry.id < oldest]
        if len(entries) < PAGE_SIZE:
            self._is_complete = True
        if [e.id for e in fresh] == [e.id for e in self._entries]:
            self._entries = fresh
            if fresh:
                self.dataChanged.emit(self.index(0, 0), self.index(len(fresh) - 1, 0))
            return
        added = len(fresh) - len(self._entries)
        if added > 0 and self._entries and fresh[added].id == self._entries[0].id:
            self.beginInsertRows(QModelIndex(), 0, added - 1)
            self._entries = fresh
            self.endInsertRows()
            return
        self.beginResetModel()
        self._entries = fresh
        self.endResetModel()

    def append(self, entries: Sequence[HistoryEntry]) -> None:
        """Add older changes at the end."""
        older = [e for e in entries if not self._entries or e.id < self._entries[-1].id]
        self._is_complete = len(entries) < PAGE_SIZE
        if older:
            count = len(self._entries)
            self.beginInsertRows(QModelIndex(), count, count + len(older) - 1)
            self._entries.extend(older)
            self.endInsertRows()

    def entry_at(self, row: int) -> HistoryEntry | None:
        """Return the change of a row."""
        return self._entries[row] if 0 <= row < len(self._entries) else None

    def rowCount(self, parent: Index = QModelIndex()) -> int:
        return 0 if parent.isValid() else len(self._entries)

    def columnCount(self, parent: Index = QModelIndex()) -> int:
        return 0 if parent.isValid() else 1

    def canFetchMore(self, parent: Index) -> bool:
        return not parent.isValid() and not self._is_complete and bool(self._entries)

    def fetchMore(self, parent: Index) -> None:
        if self._entries:
            self.more_wanted.emit(self._entries[-1].id)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        entry = self.entry_at(index.row()) if index.isValid() else None
        if entry is None:
            return None
        if role == CHANGE_ROLE:
            return entry
        if role == Qt.ItemDataRole.DisplayRole:
            return change_sentence(entry)
        if role == Qt.ItemDataRole.AccessibleTextRole:
            undone = ", taken back" if entry.undone else ""
            return f"{change_sentence(entry)}, {when(entry.at)}{undone}"
        if role == Qt.ItemDataRole.ToolTipRole:
            return exactly(entry.at)
        return None
