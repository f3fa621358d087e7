"""The retrieval tests as rows."""

from collections.abc import Sequence
from typing import Any

from PySide6.QtCore import QAbstractTableModel, QModelIndex, Qt

from kmem_desktop.domain.retrieval_tests import RetrievalTest, State
from kmem_desktop.gui.lists.row_table_model import Index
from kmem_desktop.gui.wording import quoted, when

TEST_ROLE = int(Qt.ItemDataRole.UserRole) + 1


class RetrievalTestModel(QAbstractTableModel):
    """One column of tests."""

    def __init__(self) -> None:
        """Start empty."""
        super().__init__()
        self._tests: list[RetrievalTest] = []

    def set_tests(self, tests: Sequence[RetrievalTest]) -> None:
        """Show these; where they are the same ones in the same order, rows stay."""
        fresh = list(tests)
        if [test.id for test in fresh] == [test.id for test in self._tests]:
            self._tests = fresh
            if fresh:
                self.dataChanged.emit(self.index(0, 0), self.index(len(fresh) - 1, 0))
            return
        self.beginResetModel()
        self._tests = fresh
        self.endResetModel()

    def test_at(self, row: int) -> RetrievalTest | None:
        """Return the test of a row."""
        return self._tests[row] if 0 <= row < len(self._tests) else None

    def row_of(self, test_id: int) -> int | None:
        """Return where a test stands, or None."""
        return next((row for row, test in enumerate(self._tests) if test.id == test_id), None)

    def rowCount(self, parent: Index = QModelIndex()) -> int:
        return 0 if parent.isValid() else len(self._tests)

    def columnCount(self, parent: Index = QModelIndex()) -> int:
        return 0 if parent.isValid() else 1

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        test = self.test_at(index.row()) if index.isValid() else None
        if test is None:
            return None
        if role == TEST_ROLE:
            return test
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.ToolTipRole):
            return test.question
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return f"{test.question}. {wanted_words(test)}. {place_words(test)}. {run_words(test)}"
        return None


def place_words(test: RetrievalTest) -> str:
    """Return where the item stands now: "place 2", "not found"."""
    if test.state is State.GREY:
        return "its item was deleted"
    if test.last is None:
        return "not run yet"
    return "not found" if test.last.place is None else f"place {test.last.place}"


def before_words(test: RetrievalTest) -> str:
    """Return where the item stood before: "was 2"; empty where nothing else came out."""
    if test.before is None or test.state is State.GREY:
        return ""
    place = test.before.place
    return "was not found" if place is None else f"was {place}"


def run_words(test: RetrievalTest) -> str:
    """Return how far down the item may stand, where it stood before, and when that was seen."""
    ran = f"ran {when(test.last.last_at)}" if test.last is not None else ""
    return " · ".join(part for part in (among_words(test), before_words(test), ran) if part)


def among_words(test: RetrievalTest) -> str:
    """Return how far down the item may stand: "among the first 5"."""
    return "first" if test.among_first == 1 else f"among the first {test.among_first}"


def wanted_words(test: RetrievalTest) -> str:
    """Return what must be found."""
    title = quoted(test.item.title, 80) if test.item.title else "an item that is gone for good"
    scope = f", in {test.scope}" if test.scope else ""
    return f"must find {title}{scope}"
