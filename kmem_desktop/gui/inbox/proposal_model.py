"""What waits in the inbox as rows, the surest first, read on as one scrolls."""

from collections.abc import Sequence
from typing import Any

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QPersistentModelIndex, Qt, Signal

from kmem_desktop.domain.sessions.inbox import Proposal
from kmem_desktop.gui.inbox.sentences import spoken_row, tooltip

PROPOSAL_ROLE = int(Qt.ItemDataRole.UserRole) + 1
PAGE_SIZE = 200

Index = QModelIndex | QPersistentModelIndex


class ProposalModel(QAbstractTableModel):
    """One column of proposals.

    Signals:
        more_wanted: The proposals after the last one are wanted.
    """

    more_wanted = Signal()

    def __init__(self) -> None:
        """Start empty."""
        super().__init__()
        self._rows: list[Proposal] = []
        self._is_complete = True

    def set_rows(self, rows: Sequence[Proposal], *, is_complete: bool) -> bool:
        """Show these; return whether others are shown than before."""
        self._is_complete = is_complete
        if list(rows) == self._rows:
            return False
        self.beginResetModel()
        self._rows = list(rows)
        self.endResetModel()
        return True

    def append(self, rows: Sequence[Proposal], *, is_complete: bool) -> None:
        """Add further ones at the end."""
        self._is_complete = is_complete
        known = {row.uuid for row in self._rows}
        fresh = [row for row in rows if row.uuid not in known]
        if fresh:
            count = len(self._rows)
            self.beginInsertRows(QModelIndex(), count, count + len(fresh) - 1)
            self._rows.extend(fresh)
            self.endInsertRows()

    def remove(self, uuid: str) -> int | None:
        """Take one out; return where it was."""
        row = self.row_of(uuid)
        if row is not None:
            self.beginRemoveRows(QModelIndex(), row, row)
            del self._rows[row]
            self.endRemoveRows()
        return row

    def at(self, row: int) -> Proposal | None:
        """Return the proposal of a row."""
        return self._rows[row] if 0 <= row < len(self._rows) else None

    def row_of(self, uuid: str) -> int | None:
        """Return the row of a proposal, or None."""
        return next((n for n, row in enumerate(self._rows) if row.uuid == uuid), None)

    def of_session(self, session_uuid: str) -> list[Proposal]:
        """Return those of one conversation."""
        return [row for row in self._rows if row.session_uuid == session_uuid]

    @property
    def last_place(self) -> tuple[float, int] | None:
        """Where the next page begins."""
        return self._rows[-1].place if self._rows else None

    def rowCount(self, parent: Index = QModelIndex()) -> int:
        return 0 if parent.isValid() else len(self._rows)

    def columnCount(self, parent: Index = QModelIndex()) -> int:
        return 0 if parent.isValid() else 1

    def canFetchMore(self, parent: Index) -> bool:
        return not parent.isValid() and not self._is_complete and bool(self._rows)

    def fetchMore(self, parent: Index) -> None:
        if not self._is_complete:
            self._is_complete = True  # until the answer is there
            self.more_wanted.emit()

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        proposal = self.at(index.row()) if index.isValid() else None
        if proposal is None:
            return None
        if role == PROPOSAL_ROLE:
            return proposal
        if role == Qt.ItemDataRole.DisplayRole:
            return proposal.title
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return spoken_row(proposal)
        if role == Qt.ItemDataRole.ToolTipRole:
            return tooltip(proposal)
        return None
