"""The page of sessions as a person uses it: finding one, looking at it, and putting it in order."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

from kmem_desktop.bootstrap import Services
from kmem_desktop.domain.changes import Origin, OriginKind
from kmem_desktop.domain.sessions.conversations import SummaryFormat
from kmem_desktop.domain.sessions.recall import SessionState
from kmem_desktop.errors import StoreError
from kmem_desktop.gui.context import BY_WINDOW
from kmem_desktop.gui.sessions.sessions_page import SessionsPage
from kmem_desktop.gui.widgets.controls import Button, TagButton
from tests.gui.conftest import OpenWindow, Runner
from tests.gui.scenes import HOSTILE, type_into, wait_for
from tests.gui.sessions.talks import QUEUE, listed, open_sessions, store_many, store_talk

pytestmark = [
    pytest.mark.qt_log_ignore("This plugin does not support"),
    pytest.mark.usefixtures("_only_words"),
]

Key = Qt.Key
CURSOR = Origin(OriginKind.CLIENT, "Cursor", "add_exchange")
NONE = Qt.KeyboardModifier.NoModifier


def press(
    window: QWidget, key: Qt.Key, modifier: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier
) -> None:
    """Press a key on whatever has the keyboard."""
    QTest.keyClick(QApplication.focusWidget() or window, key, modifier)


def shows(page: SessionsPage, title: str) -> bool:
    return page.pane.facts is not None and page.pane.facts.title == title


def test_an_empty_memory_tells_how_conversations_get_here(
    open_window: OpenWindow, qtbot: QtBot
) -> None:
    window = open_window()
    page = open_sessions(window, qtbot)

    assert page.empty.title() == "No conversations yet"
    buttons = {button.text(): button for button in page.empty.findChildren(Button)}
    assert QApplication.focusWidget() is buttons["Connect an assistant"]
    buttons["Import transcripts…"].click()
    assert window.page_name == "import"


def test_sessions_stand_under_their_days_pinned_ones_above(
    open_window: OpenWindow, qtbot: QtBot, run: Runner, services: Services
) -> None:
    store_talk(run, services, "Long ago", days_ago=400)
    store_talk(run, services, "Yesterday's", days_ago=1)
    kept = store_talk(run, services, "Kept", days_ago=30)
    run(services.session_life.pin(kept, True, BY_WINDOW))
    store_talk(run, services, "This one")

    page = open_sessions(open_window(), qtbot)

    lines = listed(page)
    assert lines[:6] == ["Pinned", "Kept", "Today", "This one", "Yesterday", "Yesterday's"]
    assert lines[7] == "Long ago"
    assert lines[6].split()[-1].isdigit(), "another year is named"
    header = page.list.verticalHeader()
    heights = {bool(page.list.rows.heading_at(n)): header.sectionSize(n) for n in range(8)}
    assert heights[True] < heights[False]


def test_arrows_walk_from_session_to_session_and_the_detail_follows(
    open_window: OpenWindow, qtbot: QtBot, run: Runner, services: Services
) -> None:
    store_talk(run, services, "Second", days_ago=2)
    store_talk(run, services, "First")
    window = open_window()
    page = open_sessions(window, qtbot)
    wait_for(qtbot, lambda: shows(page, "First"))
    assert page.list.hasFocus()

    press(window, Key.Key_Down)
    wait_for(qtbot, lambda: shows(page, "Second"))
    press(window, Key.Key_K)
    wait_for(qtbot, lambda: shows(page, "First"))
    press(window, Key.Key_End)
    wait_for(qtbot, lambda: shows(page, "Second"))


def test_what_is_typed_narrows_the_list_and_shows_the_words_that_were_said(
    open_window: OpenWindow, qtbot: QtBot, run: Runner, services: Services
) -> None:
    store_talk(run, services, "Retry storm")
    other = [("user", "Which blue is it?"), ("assistant", "The second one.")]
    store_talk(run, services, "Colours", other)
    window = open_window()
    page = open_sessions(window, qtbot)

    type_into(page.field.edit, "visibility timeout")
    wait_for(qtbot, lambda: listed(page)[:1] == ["Retry storm"])
    row = page.list.rows.row_at(0)

    assert row is not None
    assert row.position == 1
    marked = [row.snippet[a:b].lower() for a, b in row.snippet_marks]
    assert "visibility" in marked
    assert "best match first" in page.field.note.text()
    press(window, Key.Key_Escape)
    wait_for(qtbot, lambda: "Colours" in listed(page))
    header = page.list.verticalHeader()
    assert header.sectionSize(0) < header.sectionSize(1), "days are lower than sessions again"


def test_filters_narrow_the_list_and_escape_clears_them(
    open_window: OpenWindow, qtbot: QtBot, run: Runner, services: Services
) -> None:
    store_talk(run, services, "Queue", project="shopfront", tags=["redis"])
    store_talk(run, services, "Lint", project="tools", origin=CURSOR, days_ago=9)
    window = open_window()
    page = open_sessions(window, qtbot)
    offered = [page.filters.project.itemText(n) for n in range(page.filters.project.count())]
    assert offered == ["Any project", "shopfront  1", "tools  1"]

    page.filters.project.setCurrentIndex(2)
    wait_for(qtbot, lambda: listed(page)[1:] == ["Lint"])
    assert page.field.note.text() == "1 of 2 sessions"
    page.filters.time.setCurrentIndex(2)
    wait_for(qtbot, lambda: page.empty.isVisible())
    assert page.empty.title() == "None of 2 sessions is like that"
    page.focus_list()
    press(window, Key.Key_Escape)
    wait_for(qtbot, lambda: len(page.list.rows.listing.ids) == 2)
    assert not page.filters.is_narrowing
    assert page.list.isVisible()


def test_a_tag_of_a_session_lists_its_like(
    open_window: OpenWindow, qtbot: QtBot, run: Runner, services: Services
) -> None:
    store_talk(run, services, "Lint", days_ago=1)
    store_talk(run, services, "Queue", tags=["redis"])
    page = open_sessions(open_window(), qtbot)
    wait_for(qtbot, lambda: shows(page, "Queue"))

    (tag,) = page.pane.view.findChildren(TagButton)
    tag.click()

    wait_for(qtbot, lambda: listed(page)[1:] == ["Queue"])
    assert page.filters.tag.currentData() == "redis"


def test_the_detail_tells_what_was_decided_with_links_to_the_turns(
    open_window: OpenWindow, qtbot: QtBot, run: Runner, services: Services
) -> None:
    uuid = store_talk(run, services, "Retry storm")
    run(services.recall.summarise(uuid, SummaryFormat.BULLET_POINTS, BY_WINDOW))
    page = open_sessions(open_window(), qtbot)
    wait_for(qtbot, lambda: page.pane.view.decisions.isVisible())

    text = page.pane.view.decisions.text.toPlainText()
    assert "PostgreSQL" in text
    assert "turn 6" in text
    page.pane.view.decisions.text.link_wanted.emit("turn:5")
    window = page.windows[uuid]
    wait_for(qtbot, lambda: window.view.current_position() == 5)


def test_a_session_without_a_summary_shows_how_it_begins_and_is_summarised_by_a_key(
    open_window: OpenWindow, qtbot: QtBot, run: Runner, services: Services
) -> None:
    store_talk(run, services, "Retry storm")
    window = open_window()
    page = open_sessions(window, qtbot)
    wait_for(qtbot, lambda: shows(page, "Retry storm"))
    facts = page.pane.facts
    assert facts is not None
    assert facts.summary is None

    press(window, Key.Key_S)

    wait_for(qtbot, lambda: page.pane.facts is not None and page.pane.facts.summary is not None)
    wait_for(qtbot, lambda: page.pane.view.decisions.isVisible())


def test_stored_text_is_never_markup(
    open_window: OpenWindow, qtbot: QtBot, run: Runner, services: Services
) -> None:
    store_talk(
        run, services, HOSTILE, [("user", HOSTILE), ("assistant", HOSTILE)], tags=["<b>go</b>"]
    )
    page = open_sessions(open_window(), qtbot)
    wait_for(qtbot, lambda: page.pane.facts is not None)

    assert page.pane.view.title() == HOSTILE


def test_p_pins_and_ctrl_z_takes_it_back(
    open_window: OpenWindow, qtbot: QtBot, run: Runner, services: Services
) -> None:
    store_talk(run, services, "Newer")
    store_talk(run, services, "Older", days_ago=3)
    window = open_window()
    page = open_sessions(window, qtbot)
    press(window, Key.Key_Down)
    wait_for(qtbot, lambda: shows(page, "Older"))

    press(window, Key.Key_P)
    wait_for(qtbot, lambda: listed(page)[:2] == ["Pinned", "Older"])
    assert page.list.current_row() is not None
    assert page.list.current_row().title == "Older"  # type: ignore[union-attr]
    assert "Pinned: “Older”" in window.notice.words()
    window.undo_last()
    wait_for(qtbot, lambda: listed(page)[:2] == ["Today", "Newer"])


def test_a_archives_and_again_takes_it_out(
    open_window: OpenWindow, qtbot: QtBot, run: Runner, services: Services
) -> None:
    uuid = store_talk(run, services, "Queue")
    window = open_window()
    page = open_sessions(window, qtbot)
    wait_for(qtbot, lambda: shows(page, "Queue"))

    press(window, Key.Key_A)
    wait_for(qtbot, lambda: page.pane.bar.buttons["archive"].text() == "Unarchive")
    assert run(services.session_pages.facts(uuid)).state is SessionState.ARCHIVED
    press(window, Key.Key_A)
    wait_for(qtbot, lambda: page.pane.bar.buttons["archive"].text() == "Archive")


def test_delete_takes_a_session_away_and_undo_brings_it_back_whole(
    open_window: OpenWindow, qtbot: QtBot, run: Runner, services: Services
) -> None:
    uuid = store_talk(run, services, "Queue")
    store_talk(run, services, "Other", days_ago=1)
    window = open_window()
    page = open_sessions(window, qtbot)
    wait_for(qtbot, lambda: shows(page, "Queue"))

    press(window, Key.Key_Delete)
    wait_for(qtbot, lambda: "Queue" not in listed(page))
    wait_for(qtbot, lambda: shows(page, "Other"))
    assert "Deleted: “Queue”" in window.notice.words()
    window.undo_last()
    wait_for(qtbot, lambda: "Queue" in listed(page))
    assert len(run(services.session_pages.outline(uuid))) == len(QUEUE)


def test_title_project_and_tags_are_edited_in_one_form(
    open_window: OpenWindow, qtbot: QtBot, run: Runner, services: Services
) -> None:
    uuid = store_talk(run, services, "Queue", project="shop", tags=["redis"])
    window = open_window()
    page = open_sessions(window, qtbot)
    wait_for(qtbot, lambda: shows(page, "Queue"))

    press(window, Key.Key_E)
    assert page.pane.form.title.hasFocus()
    type_into(page.pane.form.title, "Queue moved in May")
    type_into(page.pane.form.project, "shopfront")
    type_into(page.pane.form.tags, "queue, postgres, queue")
    press(window, Key.Key_Return, Qt.KeyboardModifier.ControlModifier)

    wait_for(qtbot, lambda: not page.pane.is_editing)
    facts = run(services.session_pages.facts(uuid))
    assert (facts.title, facts.project, facts.tags) == (
        "Queue moved in May",
        "shopfront",
        ("queue", "postgres"),
    )
    wait_for(qtbot, lambda: "Queue moved in May" in listed(page))
    window.undo_last()
    wait_for(qtbot, lambda: "Queue" in listed(page))
    facts = run(services.session_pages.facts(uuid))
    assert (facts.project, facts.tags) == ("shop", ("redis",))


def test_a_title_that_is_not_valid_is_said_under_its_field(
    open_window: OpenWindow, qtbot: QtBot, run: Runner, services: Services
) -> None:
    store_talk(run, services, "Queue")
    window = open_window()
    page = open_sessions(window, qtbot)
    wait_for(qtbot, lambda: shows(page, "Queue"))
    page.pane.do("edit")
    page.pane.form.title.setText("")

    page.pane.save()

    wait_for(qtbot, lambda: page.pane.form.fields["title"].error() != "")
    assert page.pane.is_editing
    page.pane.form.title.setText("x" * 60)
    assert page.has_something_to_lose()
    press(window, Key.Key_Escape)
    assert window.notice.is_asking


def test_letters_rest_while_something_is_typed(
    open_window: OpenWindow, qtbot: QtBot, run: Runner, services: Services
) -> None:
    store_talk(run, services, "Queue")
    page = open_sessions(open_window(), qtbot)
    wait_for(qtbot, lambda: shows(page, "Queue"))

    type_into(page.field.edit, "pea")

    assert page.field.edit.text() == "pea"
    assert page.pane.facts is not None
    assert not page.pane.facts.is_pinned
    assert not page.pane.is_editing


def test_a_session_that_an_assistant_stores_appears_and_the_selection_stays(
    open_window: OpenWindow, qtbot: QtBot, run: Runner, services: Services
) -> None:
    store_talk(run, services, "Mine", days_ago=1)
    window = open_window()
    page = open_sessions(window, qtbot)
    wait_for(qtbot, lambda: shows(page, "Mine"))

    store_talk(run, services, "New", origin=CURSOR)

    wait_for(qtbot, lambda: "New" in listed(page))
    assert page.list.current_row() is not None
    assert page.list.current_row().title == "Mine"  # type: ignore[union-attr]


def test_enter_opens_a_window_of_its_own_and_only_one(
    open_window: OpenWindow, qtbot: QtBot, run: Runner, services: Services
) -> None:
    uuid = store_talk(run, services, "Queue")
    window = open_window()
    page = open_sessions(window, qtbot)
    wait_for(qtbot, lambda: page.list.current_row() is not None)

    press(window, Key.Key_Return)
    first = page.windows[uuid]
    page.open_session(uuid, 2)

    assert page.windows[uuid] is first
    assert first.isVisible()
    first.close()
    assert page.windows == {}


def test_where_there_is_little_width_the_detail_covers_the_list(
    open_window: OpenWindow, qtbot: QtBot, run: Runner, services: Services
) -> None:
    store_talk(run, services, "Queue")
    window = open_window()
    page = open_sessions(window, qtbot)
    wait_for(qtbot, lambda: shows(page, "Queue"))
    window.resize(700, 600)
    wait_for(qtbot, lambda: not page.pane.isVisible())

    page.list.setFocus()
    press(window, Key.Key_Right)
    assert page.pane.isVisible()
    assert not page.list.isVisible()
    press(window, Key.Key_Escape)
    assert page.list.isVisible()
    assert page.list.hasFocus()


def test_rows_and_days_are_read_out(
    open_window: OpenWindow, qtbot: QtBot, run: Runner, services: Services
) -> None:
    uuid = store_talk(run, services, "Queue", project="shopfront", tags=["redis"])
    run(services.session_life.archive(uuid, BY_WINDOW))
    page = open_sessions(open_window(), qtbot)
    role = Qt.ItemDataRole.AccessibleTextRole
    said = [page.list.rows.index(line, 0).data(role) for line in range(2)]

    assert said[0] == "Today"
    assert said[1].startswith("Queue. 10 turns · Claude Code · shopfront · redis, archived, ")
    for widget in (page.list, page.field.edit, *page.filters.choices(), page.filters.pinned):
        assert widget.accessibleName()


def test_an_error_is_said_in_place_of_the_list(
    open_window: OpenWindow,
    qtbot: QtBot,
    run: Runner,
    services: Services,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    store_talk(run, services, "Queue")
    page = open_sessions(open_window(), qtbot)

    async def broken(_view: object) -> None:
        raise StoreError("The database cannot be read.", hint="Free some space.")

    with monkeypatch.context() as patch:
        patch.setattr(services.session_pages, "show", broken)
        page.ask()
        wait_for(qtbot, lambda: page.empty.title() == "The sessions could not be read")
    page.empty.findChildren(Button)[-1].click()
    wait_for(qtbot, lambda: page.list.isVisible())


def test_thousands_of_sessions_are_read_where_they_are_looked_at(
    open_window: OpenWindow, qtbot: QtBot, services: Services
) -> None:
    store_many(services, 230)
    page = open_sessions(open_window(), qtbot)
    rows = page.list.rows
    assert rows.rowCount() == 231
    assert rows.row_at(225) is None

    page.list.scrollToBottom()

    wait_for(qtbot, lambda: rows.row_at(230) is not None)
    assert rows.row_at(230).title == "Session 000"  # type: ignore[union-attr]
