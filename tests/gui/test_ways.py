"""How one gets from place to place in the window: rail, palette, keys."""

import pytest
from PySide6.QtGui import QAction
from pytestqt.qtbot import QtBot

from kmem_desktop.gui.main_window import MainWindow
from kmem_desktop.gui.pages.registry import PAGES
from kmem_desktop.gui.shell.actions import Actions, key_text
from tests.gui.conftest import OpenWindow
from tests.gui.scenes import wait_for

ORDER = "Search, Inbox, Sessions, Knowledge, Graph, Rules, Activity, Connections, Settings"


def went_to(window: MainWindow, action: QAction) -> str:
    """Return the page that an action leads to from the search page."""
    window.show_page("search")
    action.trigger()
    return window.page_name


def going(actions: Actions) -> list[QAction]:
    names = [f"go_{entry.name}" for entry in PAGES if entry.in_rail]
    return [actions[name] for name in (*names, "go_tests", "picture", "deleted", "import")]


def test_every_page_is_gone_to_by_an_action_of_the_palette(open_window: OpenWindow) -> None:
    window = open_window()
    reached = {went_to(window, action) for action in going(window.actions_of_window)}
    assert reached == {entry.name for entry in PAGES}


def test_the_rail_stands_in_the_order_of_its_numbers(open_window: OpenWindow) -> None:
    window = open_window()
    buttons = list(window.rail.buttons.values())
    assert ", ".join(button.text() for button in buttons) == ORDER
    assert [button.y() for button in buttons] == sorted(button.y() for button in buttons)
    for number, button in enumerate(buttons, start=1):
        action = window.actions_of_window[f"go_{button.entry.name}"]
        assert key_text(action) == f"Ctrl {number}"
        assert f"Ctrl+{number}" in button.toolTip()


def test_the_rail_marks_where_a_page_that_it_does_not_list_belongs(
    open_window: OpenWindow,
) -> None:
    window = open_window()
    for entry in PAGES:
        window.show_page(entry.name)
        marked = [name for name, button in window.rail.buttons.items() if button.isChecked()]
        assert marked == [entry.under or entry.name]


@pytest.mark.parametrize("size", [(1024, 640), (800, 600), (640, 440)])
def test_all_of_the_rail_is_in_sight_in_a_small_window(
    open_window: OpenWindow, qtbot: QtBot, size: tuple[int, int]
) -> None:
    window = open_window()
    window.resize(*size)
    wait_for(qtbot, lambda: window.rail.height() == window.height())
    for button in window.rail.buttons.values():
        assert button.height() >= 24
        assert button.geometry().bottom() < window.rail.state.geometry().top()


def test_f6_reaches_the_question_of_the_first_start_only_while_it_is_asked(
    open_window: OpenWindow,
) -> None:
    window = open_window()
    question = window.first_question
    question.show()
    window.rail.buttons["search"].setFocus()
    window.cycle_columns()
    assert question.not_now.hasFocus()
    question.not_now.click()
    window.rail.buttons["search"].setFocus()
    window.cycle_columns()
    assert not question.not_now.hasFocus()
