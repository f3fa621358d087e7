"""Why something was not found, asked by the keyboard in the window."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

from kmem_desktop.bootstrap import Services
from kmem_desktop.domain.absence import Cause
from kmem_desktop.domain.retrieval_tests import State
from kmem_desktop.gui.main_window import MainWindow
from kmem_desktop.gui.pages.list_page import ListPage
from tests.gui.conftest import OpenWindow, Runner
from tests.gui.scenes import HOSTILE, page_of, store, store_entity, wait_for

pytestmark = pytest.mark.qt_log_ignore("This plugin does not support")

Key = Qt.Key
REDIS = "Queue moved from Redis to PostgreSQL"
PRICES = "Prices are integers in cents"


def press(window: QWidget, key: Qt.Key, modifier: Qt.KeyboardModifier | None = None) -> None:
    """Press a key on whatever has the keyboard."""
    target = QApplication.focusWidget() or window
    QTest.keyClick(target, key, modifier or Qt.KeyboardModifier.NoModifier)


def asked(open_window: OpenWindow, qtbot: QtBot, question: str) -> tuple[MainWindow, ListPage]:
    """Open the window and ask something."""
    window = open_window()
    page = page_of(window)
    page.field.edit.setFocus()
    qtbot.keyClicks(page.field.edit, question)
    wait_for(qtbot, lambda: page.model.listing.view.text == question)
    return window, page


def test_a_search_offers_to_say_why_only_while_something_is_asked(
    open_window: OpenWindow, services: Services, run: Runner, qtbot: QtBot
) -> None:
    store(run, services, REDIS)
    window, page = asked(open_window, qtbot, "redis")
    actions = window.actions_of_window
    assert page.foot.isVisible()
    assert actions["why_not"].isEnabled()
    page.field.edit.clear()
    wait_for(qtbot, lambda: not page.foot.isVisible())
    assert not actions["why_not"].isEnabled()
    assert not actions["keep_test"].isEnabled()


def test_the_expected_item_is_picked_and_explained_by_the_keyboard(
    open_window: OpenWindow, services: Services, run: Runner, qtbot: QtBot
) -> None:
    store(run, services, REDIS)
    prices = store(run, services, PRICES)
    window, page = asked(open_window, qtbot, "redis")
    press(window, Key.Key_W, Qt.KeyboardModifier.AltModifier)
    panel = window.why_not
    assert panel.isVisible()
    assert QApplication.focusWidget() is panel.field.edit
    qtbot.keyClicks(panel.field.edit, "prices")
    wait_for(qtbot, lambda: panel.list.current_id() == prices.id)
    press(window, Key.Key_Return)
    wait_for(qtbot, lambda: panel.explains)
    absence = panel.view.absence
    assert absence is not None
    assert absence.item.title == PRICES
    assert Cause.NO_SHARED_WORD in [reason.cause for reason in absence.reasons]
    assert "does not have the word “redis”" in panel.view.words()
    press(window, Key.Key_Backspace)
    assert QApplication.focusWidget() is panel.field.edit
    press(window, Key.Key_Return)
    wait_for(qtbot, lambda: panel.explains)
    press(window, Key.Key_Return)
    assert not panel.isVisible()
    wait_for(qtbot, lambda: page.detail.knowledge_view.item is not None)
    wait_for(qtbot, lambda: page.detail.shown is not None and page.detail.shown.id == prices.id)


def test_a_pasted_id_is_explained_and_a_wrong_one_told(
    open_window: OpenWindow, services: Services, run: Runner, qtbot: QtBot
) -> None:
    item = store(run, services, PRICES)
    window, page = asked(open_window, qtbot, "redis")
    page.ask_why_not()
    panel = window.why_not
    panel.field.edit.setText("999")
    press(window, Key.Key_Return)
    wait_for(qtbot, lambda: "There is no item 999." in panel._asked.text())
    panel.field.edit.setText(item.uuid)
    press(window, Key.Key_Return)
    wait_for(qtbot, lambda: panel.explains)
    assert panel.view.absence is not None
    assert panel.view.absence.item.uuid == item.uuid


def test_what_was_explained_is_kept_as_a_test(
    open_window: OpenWindow, services: Services, run: Runner, qtbot: QtBot
) -> None:
    item = store(run, services, PRICES)
    window, page = asked(open_window, qtbot, "redis")
    window.ask_why_not(page.loader.asked, item.id)
    panel = window.why_not
    wait_for(qtbot, lambda: panel.explains)
    press(window, Key.Key_T)
    assert not panel.isVisible()
    wait_for(qtbot, window.notice.isVisible)
    assert "Kept as a test: “redis” must find “Prices are integers in cents”" in (
        window.notice.words()
    )
    (test,) = run(services.retrieval_tests.tests())
    assert (test.question, test.item.uuid, test.state) == ("redis", item.uuid, State.RED)
    window.undo_last()
    wait_for(qtbot, lambda: not run(services.retrieval_tests.tests()))


def test_a_hit_is_kept_as_a_test_by_a_key_and_by_its_link(
    open_window: OpenWindow, services: Services, run: Runner, qtbot: QtBot
) -> None:
    store(run, services, REDIS)
    window, page = asked(open_window, qtbot, "redis")
    wait_for(qtbot, lambda: page.model.rowCount() == 1)
    page.list.setFocus()
    wait_for(qtbot, lambda: window.actions_of_window["keep_test"].isEnabled())
    press(window, Key.Key_T)
    wait_for(qtbot, window.notice.isVisible)
    assert window.notice.words().endswith("among the first 5. Now: place 1.")
    window.notice.hide()
    page.detail.knowledge_view.why.test_wanted.emit()
    wait_for(qtbot, window.notice.isVisible)
    assert window.notice.words() == "That is a test already."


def test_a_better_question_is_asked_with_one_click(
    open_window: OpenWindow, services: Services, run: Runner, qtbot: QtBot
) -> None:
    store(run, services, REDIS)
    prices = store(run, services, PRICES)
    window, page = asked(open_window, qtbot, "redis")
    window.ask_why_not(page.loader.asked, prices.id)
    panel = window.why_not
    wait_for(qtbot, lambda: panel.explains)
    absence = panel.view.absence
    assert absence is not None
    question = absence.suggestions[0].question
    panel.view.question_wanted.emit(question)
    assert not panel.isVisible()
    assert page.field.edit.text() == question
    wait_for(qtbot, lambda: prices.id in page.model.listing.ids)


def test_escape_leads_back_to_where_one_was(
    open_window: OpenWindow, services: Services, run: Runner, qtbot: QtBot
) -> None:
    store(run, services, REDIS)
    window, page = asked(open_window, qtbot, "redis")
    page.ask_why_not()
    press(window, Key.Key_Escape)
    assert not window.why_not.isVisible()
    assert QApplication.focusWidget() is page.field.edit
    assert page.field.edit.text() == "redis"


def test_an_entity_is_explained_and_opened(
    open_window: OpenWindow, services: Services, run: Runner, qtbot: QtBot
) -> None:
    entity_id = store_entity(run, services, "worker", "drains the queue")
    window, page = asked(open_window, qtbot, "zebra")
    window.ask_why_not(page.loader.asked, entity_id)
    wait_for(qtbot, lambda: window.why_not.explains)
    window.why_not.open_button.click()
    wait_for(qtbot, lambda: page.detail.shown is not None and page.detail.shown.id == entity_id)


def test_stored_text_stays_text_in_the_explanation(
    open_window: OpenWindow, services: Services, run: Runner, qtbot: QtBot
) -> None:
    item = store(run, services, HOSTILE[:90])
    window, page = asked(open_window, qtbot, "zebra")
    window.ask_why_not(page.loader.asked, item.id)
    panel = window.why_not
    wait_for(qtbot, lambda: panel.explains)
    assert panel.view._title.text() == item.title
    assert panel.view._title.textFormat() is Qt.TextFormat.PlainText


def test_the_numbers_stand_behind_a_link(
    open_window: OpenWindow, services: Services, run: Runner, qtbot: QtBot
) -> None:
    item = store(run, services, PRICES)
    store(run, services, REDIS)
    window, page = asked(open_window, qtbot, "redis")
    window.ask_why_not(page.loader.asked, item.id)
    view = window.why_not.view
    wait_for(qtbot, lambda: window.why_not.explains)
    assert not view._numbers.isVisible()
    view._toggle.click()
    assert view._numbers.isVisible()
    assert view._toggle.text() == "Hide the numbers"


def test_tab_stays_in_the_panel(
    open_window: OpenWindow, services: Services, run: Runner, qtbot: QtBot
) -> None:
    item = store(run, services, PRICES)
    window, page = asked(open_window, qtbot, "redis")
    window.ask_why_not(page.loader.asked, item.id)
    panel = window.why_not
    wait_for(qtbot, lambda: panel.explains)
    seen = set()
    for _ in range(12):
        press(window, Key.Key_Tab)
        focused = QApplication.focusWidget()
        assert focused is not None
        assert panel.isAncestorOf(focused)
        seen.add(focused)
    assert {panel.open_button, panel.keep_button, panel.other_button} <= seen
