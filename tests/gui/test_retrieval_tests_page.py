"""The retrieval tests in the window: listed, run, changed, removed, and told of."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

from kmem_desktop.bootstrap import Services
from kmem_desktop.domain.retrieval_tests import RetrievalTest, State
from kmem_desktop.gui.context import BY_WINDOW
from kmem_desktop.gui.lists.retrieval_test_model import TEST_ROLE, place_words
from kmem_desktop.gui.main_window import MainWindow
from kmem_desktop.gui.pages.retrieval_tests_page import RetrievalTestsPage
from tests.gui.conftest import OpenWindow, Runner
from tests.gui.scenes import store, wait_for

pytestmark = pytest.mark.qt_log_ignore("This plugin does not support")

Key = Qt.Key
REDIS = "Queue moved from Redis to PostgreSQL"
PRICES = "Prices are integers in cents"


def press(window: QWidget, key: Qt.Key, modifier: Qt.KeyboardModifier | None = None) -> None:
    """Press a key on whatever has the keyboard."""
    target = QApplication.focusWidget() or window
    QTest.keyClick(target, key, modifier or Qt.KeyboardModifier.NoModifier)


def page_of_tests(window: MainWindow) -> RetrievalTestsPage:
    window.show_page("tests")
    page = window.current_page
    assert isinstance(page, RetrievalTestsPage)
    return page


def shown(page: RetrievalTestsPage) -> list[RetrievalTest]:
    model = page.model
    return [model.data(model.index(row, 0), TEST_ROLE) for row in range(model.rowCount())]


def green_and_red(run: Runner, services: Services) -> tuple[RetrievalTest, RetrievalTest]:
    """Keep a test that finds its item and one that does not."""
    redis = store(run, services, REDIS)
    prices = store(run, services, PRICES)
    green = run(services.retrieval_tests.add("redis queue", redis.id))
    red = run(services.retrieval_tests.add("zebra crossing", prices.id))
    return green, red


def test_an_empty_page_says_what_tests_are_good_for(open_window: OpenWindow, qtbot: QtBot) -> None:
    page = page_of_tests(open_window())
    wait_for(qtbot, page.empty.isVisible)
    assert page.empty.title() == "No tests yet"
    assert not page.run_all_button.isVisible()
    assert not page.choose_button.isEnabled()


def test_red_tests_are_listed_first_in_words(
    open_window: OpenWindow, services: Services, run: Runner, qtbot: QtBot
) -> None:
    green_and_red(run, services)
    page = page_of_tests(open_window())
    wait_for(qtbot, lambda: page.model.rowCount() == 2)
    assert [test.state for test in shown(page)] == [State.RED, State.GREEN]
    assert page.pane.toolbar.why.isVisible()
    spoken = page.model.data(page.model.index(0, 0), Qt.ItemDataRole.AccessibleTextRole)
    assert spoken.startswith("zebra crossing. must find “Prices are integers in cents”. not found")


def test_the_list_is_a_sound_model(
    open_window: OpenWindow,
    services: Services,
    run: Runner,
    qtbot: QtBot,
    qtmodeltester: object,
) -> None:
    green_and_red(run, services)
    page = page_of_tests(open_window())
    wait_for(qtbot, lambda: page.model.rowCount() == 2)
    qtmodeltester.check(page.model)  # type: ignore[attr-defined]


def test_everything_about_a_test_is_done_by_the_keyboard(
    open_window: OpenWindow, services: Services, run: Runner, qtbot: QtBot
) -> None:
    _, red = green_and_red(run, services)
    window = open_window()
    press(window, Key.Key_T, Qt.KeyboardModifier.ControlModifier)
    page = window.current_page
    assert isinstance(page, RetrievalTestsPage)
    wait_for(qtbot, lambda: page.model.rowCount() == 2)
    page.list.setFocus()
    press(window, Key.Key_W)
    wait_for(qtbot, lambda: window.why_not.explains)
    assert window.why_not.view.absence is not None
    assert window.why_not.view.absence.item.uuid == red.item.uuid
    assert not window.why_not.keep_button.isVisible()
    press(window, Key.Key_Escape)
    assert page.list.hasFocus()
    press(window, Key.Key_Delete)
    wait_for(qtbot, lambda: page.model.rowCount() == 1)
    assert window.notice.words() == "Removed the test “zebra crossing”."
    press(window, Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    wait_for(qtbot, lambda: page.model.rowCount() == 2)
    press(window, Key.Key_J)
    press(window, Key.Key_K)
    press(window, Key.Key_J)
    press(window, Key.Key_Return)
    wait_for(qtbot, lambda: window.page_name == "knowledge")


def test_running_all_says_how_they_came_out(
    open_window: OpenWindow, services: Services, run: Runner, qtbot: QtBot
) -> None:
    green_and_red(run, services)
    window = open_window()
    page = page_of_tests(window)
    wait_for(qtbot, lambda: page.model.rowCount() == 2)
    page.list.setFocus()
    press(window, Key.Key_R, Qt.KeyboardModifier.ShiftModifier)
    assert not page.run_all_button.isEnabled()
    wait_for(qtbot, window.notice.isVisible)
    assert window.notice.words() == "2 tests run: 1 question does not find what it must."
    assert page.run_all_button.isEnabled()


def test_one_test_is_run_and_its_limit_changed(
    open_window: OpenWindow, services: Services, run: Runner, qtbot: QtBot
) -> None:
    redis = store(run, services, REDIS)
    run(services.retrieval_tests.add("redis", redis.id))
    for number in range(2):
        store(
            run, services, f"Redis of Redis number {number}", f"Redis, Redis, {number}: {'x' * 50}"
        )
    page = page_of_tests(open_window())
    wait_for(qtbot, lambda: page.model.rowCount() == 1)
    page.list.setFocus()
    press(page, Key.Key_R)
    wait_for(qtbot, lambda: place_words(shown(page)[0]) != "place 1")
    page.pane.limit.setValue(1)
    wait_for(qtbot, lambda: shown(page)[0].state is State.RED)
    assert page.pane.toolbar.why.isVisible()
    assert "Until" in page.pane._before.text()


def test_a_test_whose_item_was_deleted_is_grey_and_says_so(
    open_window: OpenWindow, services: Services, run: Runner, qtbot: QtBot
) -> None:
    green, _ = green_and_red(run, services)
    run(services.knowledge.delete(green.item.uuid, BY_WINDOW))
    page = page_of_tests(open_window())
    wait_for(qtbot, lambda: page.model.rowCount() == 2)
    page.list.selectRow(1)
    assert shown(page)[1].state is State.GREY
    assert "Its item was deleted" in page.pane._result.text()
    assert page.pane.toolbar.remove.text() == "Remove test"
    assert not page.pane.toolbar.open.isEnabled()


def test_a_test_is_made_on_the_page_itself(
    open_window: OpenWindow, services: Services, run: Runner, qtbot: QtBot
) -> None:
    item = store(run, services, REDIS)
    window = open_window()
    page = page_of_tests(window)
    wait_for(qtbot, page.empty.isVisible)
    page.question.setFocus()
    qtbot.keyClicks(page.question, "where is the redis queue")
    press(window, Key.Key_Return)
    panel = window.why_not
    assert panel.isVisible()
    wait_for(qtbot, lambda: panel.list.current_id() == item.id)
    press(window, Key.Key_Return)
    assert not panel.isVisible()
    wait_for(qtbot, lambda: page.model.rowCount() == 1)
    assert shown(page)[0].item.uuid == item.uuid
    assert page.question.text() == ""


def test_a_test_that_turned_red_by_itself_is_told_once(
    open_window: OpenWindow, services: Services, run: Runner, qtbot: QtBot
) -> None:
    redis = store(run, services, REDIS)
    run(services.retrieval_tests.add("redis", redis.id, among_first=1))
    for number in range(2):
        store(
            run, services, f"Redis of Redis number {number}", f"Redis, Redis, {number}: {'x' * 50}"
        )
    window = open_window()
    services.retrieval_tests.program = "9.9.9"
    run(services.retrieval_tests.run_due())
    wait_for(qtbot, window.notice.isVisible)
    assert "“redis” no longer finds “Queue moved from Redis to PostgreSQL”: place" in (
        window.notice.words()
    )
    window.notice.press()
    assert window.page_name == "tests"
    wait_for(qtbot, lambda: not run(services.retrieval_tests.turned_red()))


def test_the_narrow_window_shows_one_column_at_a_time(
    open_window: OpenWindow, services: Services, run: Runner, qtbot: QtBot
) -> None:
    green_and_red(run, services)
    window = open_window()
    window.resize(800, 600)
    page = page_of_tests(window)
    wait_for(qtbot, lambda: page.model.rowCount() == 2)
    page.list.setFocus()
    press(window, Key.Key_Return)
    assert page.pane.isVisible()
    assert not page.list.isVisible()
    press(window, Key.Key_Escape)
    assert page.list.isVisible()
