"""The rows of a list: ids of all of them, texts of those that were looked at."""

from array import array
from collections import OrderedDict
from collections.abc import Sequence
from typing import Any

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QPersistentModelIndex, Qt, Signal

from kmem_desktop.domain.changes import Noun
from kmem_desktop.domain.found import Row
from kmem_desktop.gui.wording import exactly, noun_name, row_facts, when
from kmem_desktop.services.listing import Listing, View

BLOCK_SIZE = 100
MOST_BLOCKS = 40
ROW_ROLE = int(Qt.ItemDataRole.UserRole) + 1

Index = QModelIndex | QPersistentModelIndex


class RowTableModel(QAbstractTableModel):
    """One column of rows; a row that is looked at and not there yet asks for its block.

    Signals:
        block_wanted: The rows from this number on are in sight and not loaded.
    """

    block_wanted = Signal(int)

    def __init__(self) -> None:
        """Start empty."""
        super().__init__()
        self.listing = Listing(View(), array("q"), 0, {}, 0.0, {})
        self._blocks: OrderedDict[int, dict[int, Row]] = OrderedDict()
        self._wanted: set[int] = set()

    def set_listing(self, listing: Listing, first_rows: Sequence[Row], start: int = 0) -> None:
        """Show another listing; `first_rows` are the texts of its block at `start`."""
        same = listing.ids == self.listing.ids
        if not same:
            self.beginResetModel()
        self.listing = listing
        self._blocks.clear()
        self._wanted.clear()
        self._keep(start // BLOCK_SIZE, first_rows)
        if same:
            self._tell_all_changed()
        else:
            self.endResetModel()

    def set_rows(self, listing: Listing, start: int, rows: Sequence[Row]) -> None:
        """Take the texts of a block, if they are of the listing that is shown."""
        if listing is not self.listing:
            return
        block = start // BLOCK_SIZE
        self._wanted.discard(block)
        self._keep(block, rows)
        last = min(start + BLOCK_SIZE, len(listing.ids)) - 1
        self.dataChanged.emit(self.index(start, 0), self.index(last, 0))

    def ids_of_block(self, start: int) -> list[int]:
        """Return the ids of the block that begins at a row."""
        return self.listing.ids[start : start + BLOCK_SIZE].tolist()

    def id_at(self, row: int) -> int | None:
        """Return the id at a row, or None past the end."""
        return self.listing.ids[row] if 0 <= row < len(self.listing.ids) else None

    def row_of(self, item_id: int) -> int | None:
        """Return where an id stands, or None."""
        try:
            return self.listing.ids.index(item_id)
        except ValueError:
            return None

    def row_at(self, row: int) -> Row | None:
        """Return the text at a row, or None while it is not loaded."""
        item_id = self.id_at(row)
        rows = self._blocks.get(row // BLOCK_SIZE)
        return rows.get(item_id) if rows and item_id is not None else None

    def _keep(self, block: int, rows: Sequence[Row]) -> None:
        self._blocks[block] = {row.id: row for row in rows}
        while len(self._blocks) > MOST_BLOCKS:
            self._blocks.popitem(last=False)

    def _want(self, block: int) -> None:
        if block not in self._wanted and block not in self._blocks:
            self._wanted.add(block)
            self.block_wanted.emit(block * BLOCK_SIZE)

    def _tell_all_changed(self) -> None:
        if count := self.rowCount():
            self.dataChanged.emit(self.index(0, 0), self.index(count - 1, 0))

    def rowCount(self, parent: Index = QModelIndex()) -> int:
        return 0 if parent.isValid() else len(self.listing.ids)

    def columnCount(self, parent: Index = QModelIndex()) -> int:
        return 0 if parent.isValid() else 1

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if not index.isValid() or index.row() >= len(self.listing.ids):
            return None
        row = self.row_at(index.row())
        if row is None:
            if role == ROW_ROLE:
                self._want(index.row() // BLOCK_SIZE)
            return None
        if role == ROW_ROLE:
            return row
        if role == Qt.ItemDataRole.DisplayRole:
            return row.title
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return spoken(row)
        if role == Qt.ItemDataRole.AccessibleDescriptionRole:
            return row.snippet
        return None


def spoken(row: Row) -> str:
    """Return a row as a screen reader says it."""
    return f"{row.title}. {noun_name(row.noun)}, {row_facts(row)}, {when(row.updated_at)}"


def tooltip(row: Row) -> str:
    """Return what a row says when the mouse rests on its date."""
    if row.noun is Noun.TURN:
        return f"Said {exactly(row.updated_at)}"
    return f"Changed {exactly(row.updated_at)}"
