"""Deleted conversations: restored as they were, or gone for good after a question."""

from datetime import UTC, datetime
from typing import cast

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from kmem_desktop.bootstrap import Services
from kmem_desktop.domain.sessions.recall import DeletedSession
from kmem_desktop.gui.main_window import MainWindow
from kmem_desktop.gui.settings.deleted_page import SHOWN, DeletedPage, deleted_words
from tests.gui.conftest import OpenWindow, Runner
from tests.gui.scenes import HOSTILE, wait_for
from tests.gui.settings_scenes import deleted_session

NOW = datetime(2026, 5, 3, 12, tzinfo=UTC)


def page_of(window: MainWindow) -> DeletedPage:
    window.show_page("deleted")
    return cast("DeletedPage", window.current_page)


def session_count(run: Runner, services: Services) -> int:
    return len(run(services.recall.list_sessions(limit=100)))


def is_asking(window: MainWindow) -> bool:
    """Return whether an answer is waited for; a call, because a type checker trusts properties."""
    return window.notice.is_asking


def test_a_deleted_conversation_is_restored_and_the_undo_deletes_it_again(
    open_window: OpenWindow, services: Services, run: Runner, qtbot: QtBot
) -> None:
    uuid = run(deleted_session(services, HOSTILE, 5))
    window = open_window()
    page = page_of(window)
    wait_for(qtbot, lambda: len(page.rows) == 1)
    assert page.rows[0].words.text() == "5 turns, deleted by you, just now"
    page.rows[0].restore.click()
    wait_for(qtbot, lambda: not page.rows)
    wait_for(qtbot, lambda: window.notice.words().startswith("Restored: "))
    assert run(services.recall.facts(uuid)).entry_count == 5
    window.undo_last()
    wait_for(qtbot, lambda: len(page.rows) == 1)
    assert session_count(run, services) == 0


def test_the_keyboard_stays_in_the_list_while_one_after_the_other_is_restored(
    open_window: OpenWindow, services: Services, run: Runner, qtbot: QtBot
) -> None:
    for title in ("First", "Second"):
        run(deleted_session(services, title))
    page = page_of(open_window())
    wait_for(qtbot, lambda: len(page.rows) == 2)
    page.rows[0].restore.setFocus()
    QTest.keyClick(page.rows[0].restore, Qt.Key.Key_Space)
    wait_for(qtbot, lambda: len(page.rows) == 1)
    assert page.rows[0].restore.hasFocus()
    QTest.keyClick(page.rows[0].restore, Qt.Key.Key_Space)
    wait_for(qtbot, lambda: not page.rows)
    assert page._back.hasFocus()
    assert session_count(run, services) == 2


def test_for_good_is_asked_first_and_escape_is_a_no(
    open_window: OpenWindow, services: Services, run: Runner, qtbot: QtBot
) -> None:
    run(deleted_session(services, "Prices in cents"))
    window = open_window()
    page = page_of(window)
    wait_for(qtbot, lambda: len(page.rows) == 1)
    page.rows[0].for_good.click()
    assert is_asking(window)
    QTest.keyClick(window, Qt.Key.Key_Escape)
    assert not is_asking(window)
    assert len(run(services.session_life.deleted())) == 1
    page.rows[0].for_good.click()
    window.notice.press()
    wait_for(qtbot, lambda: window.notice.words() == "Deleted for good: “Prices in cents”.")
    wait_for(qtbot, lambda: not page.rows)
    assert run(services.session_life.deleted()) == []


def test_of_many_the_first_are_shown_and_the_rest_on_demand(
    open_window: OpenWindow, services: Services, run: Runner, qtbot: QtBot
) -> None:
    for number in range(SHOWN + 3):
        run(deleted_session(services, f"Talk {number}", 1))
    page = page_of(open_window())
    wait_for(qtbot, lambda: len(page.rows) == SHOWN)
    assert page.more.text() == "Show more (3 are not shown)"
    page.more.click()
    assert len(page.rows) == SHOWN + 3
    assert not page.more.isVisible()


def test_without_any_the_page_says_what_waits_here_and_escape_leads_to_sessions(
    open_window: OpenWindow, qtbot: QtBot
) -> None:
    window = open_window()
    page = page_of(window)
    wait_for(qtbot, lambda: page._empty.isVisible())
    assert page._empty.title() == "Nothing deleted"
    QTest.keyClick(window, Qt.Key.Key_Escape)
    assert window.page_name == "sessions"


def test_what_went_by_itself_tells_until_when_it_can_be_restored() -> None:
    gone = DeletedSession("u", "Old", 4, datetime(2026, 4, 1, 12, tzinfo=UTC), "kmem")
    assert deleted_words(gone, 90, NOW) == (
        "4 turns, deleted from the archive by itself, 1 Apr; gone for good on 30 Jun"
    )
