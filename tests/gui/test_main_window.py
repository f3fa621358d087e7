"""The window as a person uses it: by the keyboard, while assistants store."""

import json
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QAction, QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QApplication, QLineEdit, QWidget
from pytestqt.qtbot import QtBot

from kmem_desktop.bootstrap import Services
from kmem_desktop.config import SettingsFile
from kmem_desktop.domain.changes import Noun
from kmem_desktop.errors import StoreError
from kmem_desktop.gui.context import BY_WINDOW
from kmem_desktop.gui.main_window import MainWindow
from kmem_desktop.gui.pages.list_page import ListPage
from kmem_desktop.gui.pages.registry import PAGES
from kmem_desktop.gui.tasks import GENERIC_MESSAGE
from tests.gui.conftest import LoginEntryInMemory, OpenWindow, Runner
from tests.gui.scenes import (
    BY_CLIENT,
    HOSTILE,
    draft,
    page_of,
    store,
    store_entity,
    titles,
    type_into,
    wait_for,
    wait_for_titles,
)

pytestmark = pytest.mark.qt_log_ignore("This plugin does not support")

Key = Qt.Key
CONTROL = Qt.KeyboardModifier.ControlModifier


def press(window: QWidget, key: Qt.Key, modifier: Qt.KeyboardModifier | None = None) -> None:
    """Press a key on whatever has the keyboard."""
    target = QApplication.focusWidget() or window
    QTest.keyClick(target, key, modifier or Qt.KeyboardModifier.NoModifier)


def type_text(text: str) -> None:
    """Type into whatever has the keyboard."""
    target = QApplication.focusWidget()
    assert target is not None
    QTest.keyClicks(target, text)


def is_editing(page: ListPage) -> bool:
    """Return whether a form is open; a call, because a type checker trusts properties."""
    return page.detail.is_editing


def test_search_as_you_type_shows_the_hits(
    open_window: OpenWindow, services: Services, run: Runner, qtbot: QtBot
) -> None:
    store(run, services, "Queue moved from Redis to PostgreSQL")
    store(run, services, "Prices are integers in cents")
    window = open_window()
    page = page_of(window)
    wait_for(qtbot, lambda: page.model.rowCount() == 2)
    qtbot.keyClicks(page.field.edit, "redi")
    wait_for_titles(qtbot, page, "Queue moved from Redis to PostgreSQL")
    assert page.sort_name.text() == "Best match"
    assert page.field.note.text().startswith("1 result in ")
    row = page.model.row_at(0)
    assert row is not None
    assert [row.title[start:end] for start, end in row.title_marks] == ["Redis"]


def test_a_client_that_stores_something_appears_with_its_name(
    open_window: OpenWindow, services: Services, run: Runner, qtbot: QtBot
) -> None:
    store(run, services, "Queue moved from Redis to PostgreSQL")
    window = open_window()
    page = page_of(window)
    wait_for_titles(qtbot, page, "Queue moved from Redis to PostgreSQL")
    store(run, services, "Alert when the oldest job is old")
    wait_for_titles(
        qtbot, page, "Alert when the oldest job is old", "Queue moved from Redis to PostgreSQL"
    )
    wait_for(qtbot, window.live.isVisible)
    assert window.live.words() == "Claude Code stored “Alert when the oldest job is old”"
    window.live.clicked.emit()
    wait_for(qtbot, lambda: page.detail.knowledge_view.item is not None)
    wait_for(
        qtbot,
        lambda: page.detail.knowledge_view.item.title.startswith("Alert"),  # type: ignore[union-attr]
    )


def test_what_the_window_stores_itself_is_no_news(
    open_window: OpenWindow, services: Services, run: Runner, qtbot: QtBot
) -> None:
    window = open_window()
    run(services.knowledge.store(draft("Written in the window itself"), BY_WINDOW))
    wait_for_titles(qtbot, page_of(window), "Written in the window itself")
    assert not window.live.isVisible()


def test_a_refresh_keeps_the_selection_and_the_place(
    open_window: OpenWindow, services: Services, run: Runner, qtbot: QtBot
) -> None:
    for number in range(30):
        store(run, services, f"Decision number {number} of the project")
    window = open_window()
    page = page_of(window)
    wait_for(qtbot, lambda: page.model.rowCount() == 30)
    page.list.move(12)
    selected = page.list.current_id()
    bar = page.list.verticalScrollBar()
    bar.setValue(700)
    top = page.model.id_at(page.list.rowAt(0))
    offset = page.list.rowViewportPosition(page.list.rowAt(0))
    store(run, services, "Something new from an assistant")
    wait_for(qtbot, lambda: page.model.rowCount() == 31)
    assert page.list.current_id() == selected
    assert page.model.id_at(page.list.rowAt(0)) == top
    assert page.list.rowViewportPosition(page.list.rowAt(0)) == offset


def test_everything_about_an_item_is_done_by_the_keyboard(
    open_window: OpenWindow, services: Services, run: Runner, qtbot: QtBot
) -> None:
    window = open_window()
    page = page_of(window)
    press(window, Key.Key_N, CONTROL)
    wait_for(qtbot, lambda: page.detail.is_editing)
    form = page.detail.editing.knowledge_form
    assert QApplication.focusWidget() is form.fields["title"].editor
    type_text("Queue moved to PostgreSQL")
    press(window, Key.Key_Tab)
    type_text(
        "Jobs were lost when Redis was restarted without persistence; edit history here.",
    )
    press(window, Key.Key_Tab)
    type_text("queue, postgres")
    press(window, Key.Key_S, CONTROL)
    wait_for_titles(qtbot, page, "Queue moved to PostgreSQL")
    wait_for(qtbot, lambda: page.detail.has_item)
    assert page.list.hasFocus()

    press(window, Key.Key_E)
    wait_for(qtbot, lambda: page.detail.is_editing)
    type_into(form.fields["title"].editor, "Queue moved to PostgreSQL in May")
    press(window, Key.Key_Return, CONTROL)
    wait_for_titles(qtbot, page, "Queue moved to PostgreSQL in May")
    wait_for(qtbot, lambda: page.detail.has_item and page.list.hasFocus())

    press(window, Key.Key_Delete)
    wait_for_titles(qtbot, page)
    assert window.notice.words().startswith("Forgotten: “Queue moved to PostgreSQL in May”")
    press(window, Key.Key_Z, CONTROL)
    wait_for_titles(qtbot, page, "Queue moved to PostgreSQL in May")


def test_letters_rest_while_a_text_field_has_the_keyboard(
    open_window: OpenWindow, services: Services, run: Runner, qtbot: QtBot
) -> None:
    store(run, services, "Queue moved from Redis to PostgreSQL")
    window = open_window()
    page = page_of(window)
    wait_for(qtbot, lambda: page.detail.has_item)
    page.field.edit.setFocus()
    QTest.keyClicks(page.field.edit, "eh?/")
    assert page.field.edit.text() == "eh?/"
    assert not page.detail.is_editing
    assert not window.key_list.isVisible()


def test_arrows_walk_the_list_while_the_search_field_has_the_keyboard(
    open_window: OpenWindow, services: Services, run: Runner, qtbot: QtBot
) -> None:
    first = store(run, services, "The first decision of the project")
    second = store(run, services, "The second decision of the project")
    window = open_window()
    page = page_of(window)
    wait_for(qtbot, lambda: page.list.current_id() == second.id)
    page.field.edit.setFocus()
    press(window, Key.Key_Down)
    assert page.list.current_id() == first.id
    assert page.field.edit.hasFocus()
    press(window, Key.Key_Up)
    assert page.list.current_id() == second.id
    page.list.setFocus()
    press(window, Key.Key_J)
    assert page.list.current_id() == first.id


def test_the_form_says_the_same_sentences_as_the_tools_under_each_field(
    open_window: OpenWindow, qtbot: QtBot
) -> None:
    window = open_window()
    page = page_of(window)
    window.new_knowledge()
    form = page.detail.editing.knowledge_form
    type_into(form.fields["title"].editor, "Short")
    window.actions_of_window["save"].trigger()
    wait_for(qtbot, lambda: form.fields["title"].error() != "")
    assert form.fields["title"].error() == "Title must be at least 10 characters (it has 5)."
    assert form.fields["content"].error().startswith("Content must be at least 50")
    assert form.fields["tags"].error() == "Tags must be 1 to 10 words (there are 0)."
    assert form.fields["scope"].error() == ""


def test_leaving_a_form_asks_only_where_something_would_be_lost(
    open_window: OpenWindow, qtbot: QtBot
) -> None:
    window = open_window()
    page = page_of(window)
    window.new_knowledge()
    form = page.detail.editing.knowledge_form
    type_into(form.fields["title"].editor, "A few words")
    press(window, Key.Key_Escape)
    assert not is_editing(page)
    window.new_knowledge()
    type_into(form.fields["content"].editor, "A sentence that took a while to be written.")
    press(window, Key.Key_Escape)
    assert is_editing(page)
    assert window.notice.is_asking
    press(window, Key.Key_Escape)
    assert is_editing(page)
    assert not window.notice.isVisible()
    page.detail.editing.cancel()
    window.notice.press()
    assert not is_editing(page)


def test_two_people_at_one_item_choose_between_both_versions(
    open_window: OpenWindow, services: Services, run: Runner, qtbot: QtBot
) -> None:
    item = store(run, services, "Queue moved from Redis to PostgreSQL")
    window = open_window()
    page = page_of(window)
    wait_for(qtbot, lambda: page.detail.has_item)
    page.detail.edit()
    form = page.detail.editing.knowledge_form
    type_into(form.fields["title"].editor, "What I make of the title")
    run(services.knowledge.update(item.id, {"title": "What the assistant makes of it"}, BY_CLIENT))
    page.detail.save()
    wait_for(qtbot, form.is_in_conflict)
    assert form.fields["title"].text() == "What I make of the title"
    assert run(services.knowledge.get(item.id)).title == "What the assistant makes of it"
    form.keep_mine_wanted.emit()
    wait_for(qtbot, lambda: not page.detail.is_editing)
    assert run(services.knowledge.get(item.id)).title == "What I make of the title"


def test_an_entity_gets_and_loses_an_observation(
    open_window: OpenWindow, services: Services, run: Runner, qtbot: QtBot
) -> None:
    entity_id = store_entity(run, services, "worker", "uses PostgreSQL")
    window = open_window()
    page = page_of(window, "graph")
    view = page.detail.entity_view
    wait_for(qtbot, lambda: page.detail.has_item)
    type_into(view.new_observation, "drains before a deploy")
    press(window, Key.Key_Return)
    wait_for(qtbot, lambda: view.details is not None and len(view.details.entity.observations) == 2)
    view.observation_removed.emit("uses PostgreSQL")
    wait_for(qtbot, lambda: view.details is not None and len(view.details.entity.observations) == 1)
    wait_for(qtbot, lambda: window.notice.words().startswith("Forgot an observation"))
    window.notice.press()
    wait_for(qtbot, lambda: view.details is not None and len(view.details.entity.observations) == 2)
    assert set(run(services.graph.details(entity_id)).entity.observations) == {
        "uses PostgreSQL",
        "drains before a deploy",
    }


def test_a_name_that_is_taken_is_said_at_the_name(
    open_window: OpenWindow, services: Services, run: Runner, qtbot: QtBot
) -> None:
    store_entity(run, services, "worker")
    window = open_window()
    page = page_of(window, "graph")
    page.new_entity()
    form = page.detail.editing.entity_form
    type_into(form.fields["name"].editor, "worker")
    page.detail.save()
    wait_for(qtbot, lambda: form.fields["type"].error() != "")
    assert form.fields["type"].error() == "Type must not be empty."
    type_into(form.fields["type"].editor, "service")
    page.detail.save()
    wait_for(qtbot, lambda: form.fields["name"].error() != "")
    assert "already" in form.fields["name"].error()


def test_hostile_text_is_shown_as_text_and_loads_nothing(
    open_window: OpenWindow, services: Services, run: Runner, qtbot: QtBot
) -> None:
    content = f"{HOSTILE}\n\n![picture](http://x.invalid/y.png) [go](file:///etc/passwd) {HOSTILE}"
    store(run, services, f"{HOSTILE[:60]} is the title", content)
    window = open_window()
    page = page_of(window)
    wait_for(qtbot, lambda: page.detail.has_item)
    view = page.detail.knowledge_view._text.view
    shown = view.toPlainText()
    assert "<script>alert(1)</script>" in shown
    assert "picture (http://x.invalid/y.png)" in shown
    html = view.document().toHtml()
    assert "<img" not in html
    assert "<a " not in html
    assert view.loadResource(2, "http://x.invalid/y.png") is None
    assert page.detail.knowledge_view._title.textFormat() == Qt.TextFormat.PlainText


def test_a_link_is_opened_only_after_its_address_was_shown(
    open_window: OpenWindow,
    services: Services,
    run: Runner,
    qtbot: QtBot,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    opened: list[str] = []
    monkeypatch.setattr(
        "kmem_desktop.gui.detail.detail_pane.QDesktopServices.openUrl",
        lambda url: opened.append(url.toString()),
    )
    store(
        run,
        services,
        "Where the flags are kept here",
        "[the bank](https://evil.invalid/page) has a page about flags, their owners and ends.",
    )
    window = open_window()
    page = page_of(window)
    wait_for(qtbot, lambda: page.detail.has_item)
    page.detail.knowledge_view.link_wanted.emit("https://evil.invalid/page")
    assert "https://evil.invalid/page" in window.notice.words()
    assert opened == []
    window.notice.press()
    assert opened == ["https://evil.invalid/page"]
    page.detail.knowledge_view.link_wanted.emit("file:///etc/passwd")
    assert opened == ["https://evil.invalid/page"]


def test_an_empty_memory_says_what_to_do_first(open_window: OpenWindow, qtbot: QtBot) -> None:
    page = page_of(open_window())
    wait_for(qtbot, page.empty.isVisible)
    assert page.empty.title() == "Nothing is remembered yet"


def test_filtered_to_nothing_names_what_is_elsewhere_and_a_key_to_widen(
    open_window: OpenWindow, services: Services, run: Runner, qtbot: QtBot
) -> None:
    store(run, services, "Queue moved from Redis to PostgreSQL")
    window = open_window()
    page = page_of(window, "graph")
    type_into(page.field.edit, "redis")
    wait_for(qtbot, lambda: page.empty.isVisible() and "redis" in page.loader.asked.text)
    assert page.empty.title() == "0 in Graph, 1 in Everything"
    press(window, Key.Key_A, Qt.KeyboardModifier.AltModifier)
    search = page_of(window)
    wait_for_titles(qtbot, search, "Queue moved from Redis to PostgreSQL")
    assert search.field.edit.text() == "redis"
    type_into(search.field.edit, "zebra")
    wait_for(qtbot, search.empty.isVisible)
    assert search.empty.title() == "Nothing has “zebra”"


def test_an_error_of_the_store_is_said_in_the_window(
    open_window: OpenWindow, services: Services, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    window = open_window()

    async def fail() -> None:
        raise StoreError("The disk is full.", hint="Make room, then try again.")

    window.tasks.run(fail())
    wait_for(qtbot, window.notice.isVisible)
    assert window.notice.words() == "The disk is full."


def test_a_bug_is_logged_and_worded_generically(
    open_window: OpenWindow, qtbot: QtBot, caplog: pytest.LogCaptureFixture
) -> None:
    window = open_window()

    async def fail() -> None:
        raise ZeroDivisionError("secret details")

    window.tasks.run(fail())
    wait_for(qtbot, window.notice.isVisible)
    assert window.notice.words() == GENERIC_MESSAGE
    assert "ZeroDivisionError" in caplog.text


def test_everything_that_takes_the_keyboard_has_a_name(
    open_window: OpenWindow, services: Services, run: Runner, qtbot: QtBot
) -> None:
    store(run, services, "Queue moved from Redis to PostgreSQL")
    store_entity(run, services, "worker", "uses PostgreSQL")
    window = open_window()
    for name in ("search", "knowledge", "graph", "activity", "connections", "settings", "import"):
        window.show_page(name)
    wait_for(qtbot, lambda: page_of(window, "graph").detail.has_item)
    nameless = [
        f"{type(widget).__name__} in {type(widget.parent()).__name__}"
        for widget in window.findChildren(QWidget)
        if widget.focusPolicy() & Qt.FocusPolicy.TabFocus
        and not widget.accessibleName()
        and not widget.objectName().startswith("qt_")
        and not (isinstance(widget, QAbstractButton) and widget.text())
    ]
    assert nameless == []


def test_nothing_that_is_clicked_is_under_24_pixels(open_window: OpenWindow, qtbot: QtBot) -> None:
    window = open_window()
    window.show_page("settings")
    small = [
        button
        for button in window.findChildren(QAbstractButton)
        if not button.objectName().startswith("qt_") and button.sizeHint().height() < 24
    ]
    assert small == []


def test_the_palette_lists_every_action_of_the_window(open_window: OpenWindow) -> None:
    window = open_window()
    window.palette_overlay.open()
    model = window.palette_overlay.model
    listed = {model.action_at(row) for row in range(model.rowCount())}
    assert listed == set(
        window.findChildren(QAction, options=Qt.FindChildOption.FindDirectChildrenOnly)
    )


def test_the_palette_does_what_its_letters_find(open_window: OpenWindow) -> None:
    window = open_window()
    press(window, Key.Key_K, CONTROL)
    field = window.palette_overlay.field.edit
    assert QApplication.focusWidget() is field
    QTest.keyClicks(field, "gset")
    QTest.keyClick(field, Key.Key_Return)
    assert window.page_name == "settings"
    assert not window.palette_overlay.isVisible()


def test_the_numbers_go_to_the_pages_and_escape_goes_back(
    open_window: OpenWindow, qtbot: QtBot
) -> None:
    window = open_window()
    names = [entry.name for entry in PAGES if entry.in_rail]
    for number, name in enumerate(names):
        press(window, Qt.Key(Key.Key_1 + number), CONTROL)
        assert window.page_name == name
    window.key_list.open()
    press(window, Key.Key_Escape)
    assert not window.key_list.isVisible()


def test_the_zoom_is_kept(open_window: OpenWindow, settings: SettingsFile) -> None:
    window = open_window()
    window.actions_of_window["larger"].trigger()
    assert settings.current.zoom_percent == 110
    window.actions_of_window["normal"].trigger()
    assert json.loads(settings._path.read_text())["zoom_percent"] == 100


def test_little_width_shows_icons_and_the_detail_over_the_list(
    open_window: OpenWindow, services: Services, run: Runner, qtbot: QtBot
) -> None:
    store(run, services, "Queue moved from Redis to PostgreSQL")
    window = open_window()
    page = page_of(window)
    wait_for(qtbot, lambda: page.detail.has_item)
    window.resize(800, 600)
    assert window.rail.width() < 80
    assert not page.detail.isVisible()
    page.list.setFocus()
    press(window, Key.Key_Return)
    assert page.detail.isVisible()
    press(window, Key.Key_Escape)
    assert not page.detail.isVisible()


def test_activity_lists_changes_and_takes_one_back(
    open_window: OpenWindow, services: Services, run: Runner, qtbot: QtBot
) -> None:
    store(run, services, "Queue moved from Redis to PostgreSQL")
    window = open_window()
    window.show_page("activity")
    page = window.current_page
    wait_for(qtbot, lambda: page.model.rowCount() == 1)  # type: ignore[attr-defined]
    press(window, Key.Key_U)
    wait_for(qtbot, lambda: page.model.rowCount() == 2)  # type: ignore[attr-defined]
    assert run(services.listing.counts()).knowledge == 0


def test_connections_show_who_is_connected(open_window: OpenWindow, services: Services) -> None:
    window = open_window()
    window.show_page("connections")
    visit = services.activity.arrive()
    services.activity.name(visit, "Claude Code", "2.1.0")
    page = window.current_page
    assert page.head._words.text() == "1 assistant connected."  # type: ignore[attr-defined]
    assert window.rail.state.label.text() == "1 assistant connected"
    services.activity.pause(paused=True)
    assert window.rail.state.label.text() == "Serving is paused"
    services.activity.leave(visit)


def test_start_at_login_is_off_until_it_is_ticked(
    open_window: OpenWindow, login_entry: LoginEntryInMemory, qtbot: QtBot
) -> None:
    window = open_window()
    window.show_page("settings")
    tick = window.current_page.at_login  # type: ignore[attr-defined]
    assert not tick.isChecked()
    assert not login_entry.is_there
    tick.click()
    wait_for(qtbot, lambda: login_entry.is_there)
    tick.click()
    wait_for(qtbot, lambda: not login_entry.is_there)


def test_an_import_is_shown_first_then_done_then_undone(
    open_window: OpenWindow, services: Services, run: Runner, qtbot: QtBot, memory_file: Path
) -> None:
    window = open_window()
    window.open_import(str(memory_file))
    page = window.current_page
    wait_for(qtbot, lambda: page.report is not None)  # type: ignore[attr-defined]
    assert page.title() == "memory.jsonl would bring 3 new things"  # type: ignore[attr-defined]
    assert run(services.listing.counts()).entities == 0
    page.go.click()  # type: ignore[attr-defined]
    wait_for(qtbot, lambda: page.undo.isVisible())  # type: ignore[attr-defined]
    assert run(services.listing.counts()).entities == 1
    page.undo.click()  # type: ignore[attr-defined]
    wait_for(qtbot, lambda: page.title() == "The import was taken back")  # type: ignore[attr-defined]
    assert run(services.listing.counts()).entities == 0


def test_quick_search_opens_and_copies(
    open_window: OpenWindow, services: Services, run: Runner, qtbot: QtBot
) -> None:
    store(run, services, "Queue moved from Redis to PostgreSQL")
    window = open_window()
    popup = window.quick_search
    window.open_quick_search()
    type_into(popup.field.edit, "redis")
    wait_for(qtbot, lambda: popup.model.rowCount() == 1 and bool(popup.loader.asked.text))
    QTest.keyClick(popup.field.edit, Key.Key_Return, CONTROL)
    wait_for(qtbot, lambda: not popup.isVisible())
    assert QGuiApplication.clipboard().text().startswith("Queue moved from Redis")
    window.open_quick_search()
    QTest.keyClick(popup.field.edit, Key.Key_Return)
    assert not popup.isVisible()
    wait_for(qtbot, lambda: page_of(window).detail.has_item)


def test_history_of_an_item_is_opened_and_left_by_keys(
    open_window: OpenWindow, services: Services, run: Runner, qtbot: QtBot
) -> None:
    store(run, services, "Queue moved from Redis to PostgreSQL")
    window = open_window()
    page = page_of(window)
    wait_for(qtbot, lambda: page.detail.has_item)
    page.list.setFocus()
    press(window, Key.Key_H)
    wait_for(qtbot, lambda: page.detail.shows_history)
    press(window, Key.Key_Escape)
    wait_for(qtbot, lambda: page.detail.has_item)


def test_a_relation_leads_to_the_other_entity(
    open_window: OpenWindow, services: Services, run: Runner, qtbot: QtBot
) -> None:
    store_entity(run, services, "worker")
    other = store_entity(run, services, "PostgreSQL", "version 17")
    window = open_window()
    page = page_of(window, "graph")
    wait_for(qtbot, lambda: len(titles(page)) == 2)
    window.open_entity_named("PostgreSQL")
    wait_for(qtbot, lambda: page.detail.shown is not None and page.detail.shown.id == other)
    assert page.detail.shown is not None
    assert page.detail.shown.noun is Noun.ENTITY


def test_f6_walks_through_the_columns(
    open_window: OpenWindow, services: Services, run: Runner, qtbot: QtBot
) -> None:
    store(run, services, "Queue moved from Redis to PostgreSQL")
    window: MainWindow = open_window()
    page = page_of(window)
    wait_for(qtbot, lambda: page.detail.has_item)
    page.field.edit.setFocus()
    assert isinstance(QApplication.focusWidget(), QLineEdit)
    press(window, Key.Key_F6)
    assert page.list.hasFocus()
    press(window, Key.Key_F6)
    focused = QApplication.focusWidget()
    assert focused is not None
    assert page.detail.isAncestorOf(focused)
