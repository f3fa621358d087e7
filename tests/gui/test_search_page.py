"""The search page shows conversations and rules beside knowledge, and leads to their own pages."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from kmem_desktop.bootstrap import Services
from kmem_desktop.domain.changes import Noun
from kmem_desktop.gui.detail.parts import SHOWN_CHARACTERS
from kmem_desktop.gui.main_window import MainWindow
from kmem_desktop.gui.pages.search_page import SearchPage
from kmem_desktop.gui.rules.rules_page import RulesPage
from kmem_desktop.gui.sessions.sessions_page import SessionsPage
from kmem_desktop.gui.shell.window_actions import ITEM
from kmem_desktop.gui.widgets.labels import Label
from tests.gui.conftest import OpenWindow, Runner
from tests.gui.scenes import page_of, store, type_into, wait_for
from tests.gui.search_scenes import fill_conversations, select_noun
from tests.gui.sessions.talks import store_talk

pytestmark = pytest.mark.qt_log_ignore("This plugin does not support")

Key = Qt.Key


def search_page(window: MainWindow) -> SearchPage:
    page = page_of(window)
    assert isinstance(page, SearchPage)
    return page


@pytest.fixture
def found(
    open_window: OpenWindow, services: Services, run: Runner, qtbot: QtBot
) -> tuple[MainWindow, SearchPage]:
    """A window in which everything about Redis was found."""
    store(run, services, "Queue moved from Redis to PostgreSQL")
    run(fill_conversations(services))
    window = open_window()
    page = search_page(window)
    type_into(page.field.edit, "redis")
    wait_for(qtbot, lambda: page.model.rowCount() == 4)
    wait_for(qtbot, lambda: page.detail.has_item)
    return window, page


def select(page: SearchPage, noun: Noun, qtbot: QtBot) -> None:
    """Select the first row of a noun, and wait until it is shown."""
    select_noun(page, noun)
    shown = lambda: page.detail.shown is not None and page.detail.shown.noun is noun  # noqa: E731
    wait_for(qtbot, lambda: shown() and page.detail.has_item)
    views = {Noun.TURN: page.detail.turn_view, Noun.DIRECTIVE: page.detail.directive_view}
    wait_for(qtbot, lambda: views[noun].isVisible())


def words_of(page: SearchPage) -> str:
    """Return what the detail says in labels."""
    labels = page.detail.findChildren(Label)
    return "\n".join(label.text() for label in labels if label.isVisible())


def offered(page: SearchPage) -> set[str]:
    return {name for name, button in page.detail.toolbar._buttons.items() if not button.isHidden()}


def test_each_noun_is_counted_on_its_chip_and_chosen_by_it(
    found: tuple[MainWindow, SearchPage], qtbot: QtBot
) -> None:
    _, page = found
    words = [chip.text() for chip in page.chips.values()]
    assert words == ["Everything", "Sessions 2", "Knowledge 1", "Graph 0", "Rules 1"]
    page.chips[Noun.TURN,].click()
    wait_for(qtbot, lambda: page.model.rowCount() == 2)
    assert [chip.text() for chip in page.chips.values()] == words
    assert page.widen()
    wait_for(qtbot, lambda: page.model.rowCount() == 4)


def test_a_turn_is_shown_between_what_was_said_around_it(
    found: tuple[MainWindow, SearchPage], qtbot: QtBot
) -> None:
    window, page = found
    page.chips[Noun.TURN,].click()
    wait_for(qtbot, lambda: page.model.rowCount() == 2)
    title = "Retry storm after the deploy"
    row = next(r for n in range(2) if (r := page.model.row_at(n)) and r.title == title)
    page.list.select_id(row.id)
    wait_for(qtbot, lambda: title in words_of(page))
    view = page.detail.turn_view
    assert "Turn 4 of 6 with Claude Code in shopfront" in words_of(page)
    assert view.text.view.toPlainText().startswith("It came from Redis evicting keys")
    assert "And where does the backlog come from?" in words_of(page)
    assert "Agreed, let us move. Write the migration first." in words_of(page)
    assert "Has the word" in view.why._sentence.toPlainText()
    assert offered(page) == {"open", "copy"}
    for action in window.actions_of_window.groups():
        if action.name == ITEM:
            on = {each.objectName() for each in action.actions if each.isEnabled()}
            assert on == {"copy", "keep_test"}
    page.detail.copy()
    assert QApplication.clipboard().text().startswith("It came from Redis")


def test_a_directive_is_shown_with_its_place_and_its_reason(
    found: tuple[MainWindow, SearchPage], qtbot: QtBot
) -> None:
    _, page = found
    select(page, Noun.DIRECTIVE, qtbot)
    view = page.detail.directive_view
    assert view.text.toPlainText() == "Add a new data store without a decision record."
    assert "MUST NOT" in words_of(page)
    assert view._source.text() == "docs/architecture.md, line 5"
    assert "ADR-004" in view._why.text.toPlainText()
    assert offered(page) == {"open", "copy"}
    page.detail.copy()
    assert QApplication.clipboard().text() == (
        "MUST NOT Add a new data store without a decision record."
    )


def test_enter_opens_a_directive_on_the_page_of_rules_even_when_that_was_never_shown(
    found: tuple[MainWindow, SearchPage], qtbot: QtBot
) -> None:
    window, page = found
    select(page, Noun.DIRECTIVE, qtbot)
    assert "rules" not in window.pages
    page.list.setFocus()
    QTest.keyClick(page.list, Key.Key_Return)
    rules = window.current_page
    assert isinstance(rules, RulesPage)
    wait_for(qtbot, lambda: rules.pane.stored is not None)
    assert rules.pane.stored is not None
    assert rules.pane.stored.directive.text.startswith("Add a new data store")


def test_enter_opens_a_turn_in_its_conversation(
    found: tuple[MainWindow, SearchPage], qtbot: QtBot
) -> None:
    window, page = found
    select(page, Noun.TURN, qtbot)
    page.list.setFocus()
    QTest.keyClick(page.list, Key.Key_Return)
    sessions = window.page("sessions")
    assert isinstance(sessions, SessionsPage)
    wait_for(qtbot, lambda: len(sessions.windows) == 1)
    sessions.close_windows()


def test_a_long_turn_is_shown_around_the_words(
    open_window: OpenWindow, services: Services, run: Runner, qtbot: QtBot
) -> None:
    long = "A line of a log that says nothing.\n" * 2_000
    store_talk(run, services, "A log", [("user", f"{long}The needle is here.\n{long}")])
    window = open_window()
    page = search_page(window)
    type_into(page.field.edit, "needle")
    wait_for(qtbot, lambda: page.detail.turn_view.isVisible())
    text = page.detail.turn_view.text.view.toPlainText()
    assert "The needle is here." in text
    assert len(text) < SHOWN_CHARACTERS * 1.1
    assert page.detail.turn_view.text._all.text().startswith("Show all ")


def test_nothing_asked_of_conversations_says_where_they_all_are(
    open_window: OpenWindow, services: Services, run: Runner, qtbot: QtBot
) -> None:
    store(run, services, "Queue moved from Redis to PostgreSQL")
    window = open_window()
    page = search_page(window)
    wait_for(qtbot, lambda: page.detail.has_item)
    for noun, place in ((Noun.TURN, "sessions"), (Noun.DIRECTIVE, "rules")):
        page.chips[noun,].click()
        wait_for(qtbot, lambda: page.empty.isVisible())
        assert "found by" in page.empty.title()
        window.show_page(place)
        window.show_page("search")
        page.chips[Noun.KNOWLEDGE,].click()
        wait_for(qtbot, lambda: page.list.isVisible())


def test_the_quick_search_finds_a_turn_and_opens_its_conversation(
    found: tuple[MainWindow, SearchPage], qtbot: QtBot
) -> None:
    window, _ = found
    quick = window.quick_search
    quick.field.edit.setText("redis evicting keys")
    window.open_quick_search()
    wait_for(qtbot, lambda: quick.model.rowCount() > 0 and quick.list.current_id() is not None)
    row = quick.model.row_at(0)
    assert row is not None
    assert (row.noun, row.title) == (Noun.TURN, "Retry storm after the deploy")
    quick.list.select_id(row.id)
    QTest.keyClick(quick.field.edit, Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    wait_for(qtbot, lambda: QApplication.clipboard().text().startswith("It came from Redis"))
    window.open_quick_search()
    QTest.keyClick(quick.field.edit, Key.Key_Return)
    sessions = window.page("sessions")
    assert isinstance(sessions, SessionsPage)
    wait_for(qtbot, lambda: len(sessions.windows) == 1)
    sessions.close_windows()
