"""The model of lists: blocks on demand, rows by id, and Qt's own tester."""

from array import array
from datetime import UTC, datetime

from PySide6.QtCore import Qt
from PySide6.QtTest import QAbstractItemModelTester
from pytestqt.qtbot import QtBot

from kmem_desktop.domain.changes import Noun
from kmem_desktop.domain.found import Row
from kmem_desktop.gui.lists.row_delegate import Density
from kmem_desktop.gui.lists.row_list_view import RowListView
from kmem_desktop.gui.lists.row_table_model import (
    BLOCK_SIZE,
    MOST_BLOCKS,
    ROW_ROLE,
    RowTableModel,
)
from kmem_desktop.services.listing import Listing, View


def row(number: int, title: str = "") -> Row:
    return Row(
        id=number,
        noun=Noun.KNOWLEDGE,
        title=title or f"Item {number}",
        snippet="what it says",
        kind="decision",
        scope="project:shopfront",
        detail="",
        stored_by="Claude Code",
        updated_at=datetime(2026, 5, 3, tzinfo=UTC),
    )


def listing(count: int) -> Listing:
    return Listing(View(), array("q", range(1, count + 1)), count, {}, 1.0, {})


def test_it_passes_qts_own_tester(qtbot: QtBot) -> None:
    model = RowTableModel()
    tester = QAbstractItemModelTester(model)
    model.set_listing(listing(250), [row(number) for number in range(1, 101)])
    model.set_rows(model.listing, 100, [row(number) for number in range(101, 201)])
    model.set_listing(listing(250), [row(number) for number in range(1, 101)])
    model.set_listing(listing(3), [row(1)])
    assert model.rowCount() == 3
    del tester


def test_a_row_that_is_looked_at_asks_for_its_block_once(qtbot: QtBot) -> None:
    model = RowTableModel()
    asked: list[int] = []
    model.block_wanted.connect(asked.append)
    model.set_listing(listing(1000), [])
    for _ in range(2):
        assert model.data(model.index(250, 0), ROW_ROLE) is None
    assert asked == [200]
    model.set_rows(model.listing, 200, [row(251)])
    assert model.data(model.index(250, 0)) == "Item 251"


def test_rows_of_an_older_listing_are_not_taken(qtbot: QtBot) -> None:
    model = RowTableModel()
    old = listing(10)
    model.set_listing(old, [])
    model.set_listing(listing(10), [row(1, "new")])
    model.set_rows(old, 0, [row(1, "stale")])
    assert model.row_at(0) == row(1, "new")


def test_it_keeps_only_so_many_blocks(qtbot: QtBot) -> None:
    model = RowTableModel()
    model.set_listing(listing(BLOCK_SIZE * (MOST_BLOCKS + 5)), [])
    for block in range(1, MOST_BLOCKS + 3):
        start = block * BLOCK_SIZE
        model.set_rows(model.listing, start, [row(start + 1)])
    assert model.row_at(BLOCK_SIZE) is None
    assert model.row_at(BLOCK_SIZE * (MOST_BLOCKS + 2)) is not None


def test_a_screen_reader_is_told_the_whole_row(qtbot: QtBot) -> None:
    model = RowTableModel()
    model.set_listing(listing(1), [row(1, "Queue moved")])
    text = model.data(model.index(0, 0), Qt.ItemDataRole.AccessibleTextRole)
    assert text.startswith("Queue moved. Knowledge, Decision · shopfront · from Claude Code, ")


def test_of_a_hundred_thousand_rows_only_those_in_sight_are_asked_for(qtbot: QtBot) -> None:
    model = RowTableModel()
    view = RowListView(model, "Items", Density.FULL)
    qtbot.addWidget(view)
    asked: list[int] = []
    model.block_wanted.connect(asked.append)
    view.resize(600, 800)
    with qtbot.waitExposed(view):
        view.show()
    model.set_listing(listing(100_000), [row(number) for number in range(1, 101)])
    view.grab()
    assert asked == []
    view.scrollToBottom()
    view.grab()
    assert asked == [99_900]
    height = view.verticalHeader().defaultSectionSize()
    assert view.verticalScrollBar().maximum() == 100_000 * height - view.viewport().height()


def test_the_selection_is_found_again_by_its_id(qtbot: QtBot) -> None:
    model = RowTableModel()
    view = RowListView(model, "Items", Density.FULL)
    qtbot.addWidget(view)
    heard: list[int] = []
    view.current_changed.connect(heard.append)
    model.set_listing(listing(5), [row(number) for number in range(1, 6)])
    assert view.select_id(4)
    model.set_listing(Listing(View(), array("q", [9, 4, 2]), 3, {}, 1.0, {}), [])
    assert view.select_id(4, quietly=True)
    assert view.current_id() == 4
    assert view.currentIndex().row() == 1
    assert heard[0] == 4
    assert 9 not in heard
