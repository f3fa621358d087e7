"""The inbox page: one key decides, the next is selected, and what was decided can be taken back."""

from collections.abc import Callable

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from kmem_desktop.bootstrap import Services
from kmem_desktop.domain.knowledge import KnowledgeItem, KnowledgeQuery
from kmem_desktop.domain.sessions.inbox import Proposal
from kmem_desktop.errors import StoreError
from kmem_desktop.gui.inbox.inbox_page import InboxPage
from kmem_desktop.gui.main_window import MainWindow
from kmem_desktop.gui.popups.key_list import KeyList
from kmem_desktop.gui.widgets.labels import KeyHint
from tests.gui.conftest import OpenWindow, Runner
from tests.gui.inbox_scenes import ALERT, CENTS, STORM, inbox_page, look_through, talk
from tests.gui.scenes import type_into, wait_for
from tests.services.memory import WINDOW

pytestmark = pytest.mark.qt_log_ignore("This plugin does not support")

Key = Qt.Key


@pytest.fixture(autouse=True)
def _fast(_only_words: None) -> None:
    """Words alone decide what is alike: loading a model takes longer than a test."""


@pytest.fixture
def window(open_window: OpenWindow, services: Services, run: Runner) -> MainWindow:
    """The window on a memory with invented conversations that were looked through."""
    run(talk(services))
    return open_window()


@pytest.fixture
def page(window: MainWindow, qtbot: QtBot) -> InboxPage:
    """The inbox with its first proposal shown."""
    page = inbox_page(window)
    wait_for(qtbot, lambda: shown(page) is not None)
    return page


def shown(page: InboxPage) -> Proposal | None:
    """Return what the pane shows, where that is what is selected."""
    details, current = page.pane.view.details, page.list.current()
    if details is None or current is None or not page.pane.view.isVisible():
        return None
    return details.proposal if details.proposal.uuid == current.uuid else None


def go_to(page: InboxPage, qtbot: QtBot, wanted: Callable[[Proposal], bool]) -> Proposal:
    """Select the first proposal that is wanted, and wait until it is shown."""
    rows = [page.model.at(row) for row in range(page.model.rowCount())]
    proposal = next(row for row in rows if row is not None and wanted(row))
    page.list.select(rows.index(proposal))
    wait_for(qtbot, lambda: shown(page) == proposal)
    return proposal


def press(page: InboxPage, key: Qt.Key, modifier: Qt.KeyboardModifier | None = None) -> None:
    QTest.keyClick(page.list, key, modifier or Qt.KeyboardModifier.NoModifier)


def knowledge(run: Runner, services: Services, text: str) -> list[KnowledgeItem]:
    hits = run(services.knowledge.search(KnowledgeQuery(text, limit=20))).hits
    return [hit.item for hit in hits]


def badge(window: MainWindow) -> str:
    return window.rail.buttons["inbox"].accessibleName()


def test_what_waits_is_listed_and_counted_on_the_rail(
    page: InboxPage, window: MainWindow, services: Services, run: Runner, qtbot: QtBot
) -> None:
    count = run(services.inbox.count())
    assert count == 6
    assert page.model.rowCount() == count
    assert page._count.text() == "6 to review, the surest first"
    wait_for(qtbot, lambda: badge(window) == "Inbox, 6 wait for you")
    index = page.model.index(0, 0)
    spoken = index.data(Qt.ItemDataRole.AccessibleTextRole)
    assert page.model.at(0).title in spoken  # type: ignore[union-attr]
    assert "shopfront" in spoken


def test_the_pane_quotes_the_turn_and_marks_the_passage(page: InboxPage, qtbot: QtBot) -> None:
    go_to(page, qtbot, lambda p: p.content == STORM)
    (quote,) = page.pane.view.source.quotes
    assert quote.marked() == [STORM]
    assert quote.text().startswith("Found it.\n\n")
    assert page.pane.view.would_be.words("Kind") == "Solution"
    assert page.pane.view.would_be.words("Where") == "project shopfront"
    page.pane.view.source._around.click()
    assert len(page.pane.view.source.quotes) == 5


def test_a_accepts_and_selects_the_next(
    page: InboxPage, window: MainWindow, services: Services, run: Runner, qtbot: QtBot
) -> None:
    first, second = page.model.at(0), page.model.at(1)
    assert first is not None
    press(page, Key.Key_A)
    assert page.list.current() == second
    wait_for(qtbot, lambda: "Accepted" in window.notice.words())
    wait_for(qtbot, lambda: shown(page) == second)
    assert first.content in [item.content for item in knowledge(run, services, first.content[:60])]
    wait_for(qtbot, lambda: badge(window) == "Inbox, 5 wait for you")
    assert page.model.row_of(first.uuid) is None


def test_keys_in_quick_succession_decide_one_after_the_other(
    page: InboxPage, services: Services, run: Runner, qtbot: QtBot
) -> None:
    uuids = [page.model.at(row).uuid for row in range(3)]  # type: ignore[union-attr]
    press(page, Key.Key_D)
    press(page, Key.Key_Delete)
    press(page, Key.Key_D)
    assert page.model.rowCount() == 3
    wait_for(qtbot, lambda: run(services.inbox.count()) == 3)
    decisions = {run(services.inbox.get(uuid)).decision for uuid in uuids}
    assert decisions == {"dropped"}


@pytest.mark.parametrize("by_notice", [False, True], ids=["Z", "Ctrl+Z"])
def test_the_last_decision_is_taken_back_and_selected(
    page: InboxPage,
    window: MainWindow,
    services: Services,
    run: Runner,
    qtbot: QtBot,
    by_notice: bool,
) -> None:
    dropped = go_to(page, qtbot, lambda p: p.content == CENTS)
    press(page, Key.Key_D)
    wait_for(qtbot, lambda: "Dropped" in window.notice.words())
    if by_notice:
        window.undo_last()
    else:
        press(page, Key.Key_Z)
    wait_for(qtbot, lambda: page.list.current() == dropped)
    assert run(services.inbox.count()) == 6
    assert "waits for you again" in window.notice.words()


def test_e_edits_before_accepting(
    page: InboxPage, window: MainWindow, services: Services, run: Runner, qtbot: QtBot
) -> None:
    go_to(page, qtbot, lambda p: p.content == ALERT)
    press(page, Key.Key_E)
    assert page.pane.is_editing
    form = page.pane.form
    assert form.draft().content == ALERT
    type_into(form.fields["title"].editor, "Alert when the oldest job is over five minutes")
    assert page.has_something_to_lose()
    QTest.keyClick(form, Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    wait_for(qtbot, lambda: "Accepted" in window.notice.words())
    wait_for(qtbot, lambda: not page.pane.is_editing)
    titles = [item.title for item in knowledge(run, services, "oldest job alert")]
    assert "Alert when the oldest job is over five minutes" in titles
    assert page.model.rowCount() == 5


def test_what_is_wrong_is_told_under_its_field_and_nothing_is_decided(
    page: InboxPage, services: Services, run: Runner, qtbot: QtBot
) -> None:
    press(page, Key.Key_E)
    type_into(page.pane.form.fields["title"].editor, "Short")
    page.pane.save()
    wait_for(qtbot, lambda: "at least 10" in page.pane.form.fields["title"].error())
    assert run(services.inbox.count()) == 6
    page.pane.leave()
    assert not page.pane.is_busy
    assert page.list.hasFocus()


def test_a_title_that_is_taken_is_said_in_the_form(
    page: InboxPage, services: Services, run: Runner, qtbot: QtBot
) -> None:
    first = page.list.current()
    assert first is not None
    press(page, Key.Key_E)
    type_into(page.pane.form.fields["title"].editor, "Prices are integers in the smallest unit")
    page.pane.save()
    wait_for(qtbot, lambda: "already exists" in page.pane.form._problem.text())
    assert run(services.inbox.get(first.uuid)).decision == "proposed"


def test_letters_rest_while_something_is_typed(page: InboxPage) -> None:
    press(page, Key.Key_E)
    QTest.keyClicks(page.pane.form.fields["content"].editor, "adz")
    assert page.model.rowCount() == 6
    assert page.pane.is_editing


def test_m_adds_to_what_is_alike(
    page: InboxPage, window: MainWindow, services: Services, run: Runner, qtbot: QtBot
) -> None:
    proposal = go_to(page, qtbot, lambda p: bool(p.like_uuid))
    view = page.pane.view
    assert view.comparison_card.isVisible()
    assert proposal.like_title in view.comparison.known.view.toPlainText()
    press(page, Key.Key_M)
    wait_for(qtbot, lambda: "Added to" in window.notice.words())
    item = run(services.knowledge.get(proposal.like_uuid))
    assert item.content.endswith(proposal.content)


def test_m_lets_be_chosen_what_to_add_to(
    page: InboxPage, window: MainWindow, services: Services, run: Runner, qtbot: QtBot
) -> None:
    proposal = go_to(page, qtbot, lambda p: p.content == ALERT)
    press(page, Key.Key_M)
    merging = page.pane.merging
    assert merging.isVisible()
    type_into(merging.field.edit, "prices smallest unit")
    wait_for(qtbot, lambda: merging.list.current_id() is not None)
    QTest.keyClick(merging.field.edit, Key.Key_Return)
    wait_for(qtbot, lambda: "Added to" in window.notice.words())
    (item,) = [i for i in knowledge(run, services, "prices") if i.title.startswith("Prices")]
    assert item.content.endswith(proposal.content)
    assert not page.pane.is_busy


def test_a_whole_conversation_is_decided_at_once(
    page: InboxPage, window: MainWindow, services: Services, run: Runner, qtbot: QtBot
) -> None:
    proposal = go_to(page, qtbot, lambda p: p.content == CENTS)
    count = len(page.model.of_session(proposal.session_uuid))
    assert count == 2
    assert page.accept_all.text() == "Accept all 2 of this conversation"
    press(page, Key.Key_D, Qt.KeyboardModifier.ShiftModifier)
    wait_for(qtbot, lambda: "Dropped 2 proposals" in window.notice.words())
    wait_for(qtbot, lambda: page.model.rowCount() == 4)
    window.undo_last()
    wait_for(qtbot, lambda: page.model.rowCount() == 6)


def test_where_only_one_waits_of_a_conversation_nothing_is_offered_for_all(
    page: InboxPage, qtbot: QtBot
) -> None:
    go_to(page, qtbot, lambda p: len(page.model.of_session(p.session_uuid)) == 1)
    assert not page.accept_all.isVisible()


def test_when_all_is_decided_the_page_says_so_and_z_still_works(
    page: InboxPage, window: MainWindow, qtbot: QtBot
) -> None:
    for _ in range(6):
        press(page, Key.Key_D)
    wait_for(qtbot, lambda: page.empty.isVisible())
    assert page.empty.title() == "That was all"
    wait_for(qtbot, lambda: badge(window) == "Inbox")
    assert page.empty.hasFocus()
    QTest.keyClick(page.empty, Key.Key_Z)
    wait_for(qtbot, lambda: page.model.rowCount() == 1)
    wait_for(qtbot, lambda: page.list.hasFocus())


def test_an_empty_inbox_says_what_comes_here(open_window: OpenWindow, qtbot: QtBot) -> None:
    page = inbox_page(open_window())
    wait_for(qtbot, lambda: page.empty.isVisible())
    assert page.empty.title() == "Nothing waits for you"


def test_what_cannot_be_decided_comes_back_with_the_reason(
    page: InboxPage,
    window: MainWindow,
    services: Services,
    qtbot: QtBot,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def refuse(*_: object, **__: object) -> None:
        raise StoreError("The disk is full.", hint="Make room.")

    monkeypatch.setattr(type(services.inbox), "accept", refuse)
    first = page.list.current()
    press(page, Key.Key_A)
    wait_for(qtbot, lambda: "The disk is full." in window.notice.words())
    wait_for(qtbot, lambda: page.list.current() == first)
    assert page.model.rowCount() == 6


def test_an_inbox_that_cannot_be_read_says_why(
    open_window: OpenWindow,
    services: Services,
    qtbot: QtBot,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def refuse(*_: object, **__: object) -> None:
        raise StoreError("The memory cannot be read.")

    monkeypatch.setattr(type(services.inbox), "page", refuse)
    page = inbox_page(open_window())
    wait_for(qtbot, lambda: page.empty.title() == "The inbox could not be read")
    monkeypatch.undo()
    page.reload()
    wait_for(qtbot, lambda: page.empty.title() == "Nothing waits for you")


def test_what_is_proposed_meanwhile_moves_nothing(
    page: InboxPage, services: Services, run: Runner, qtbot: QtBot
) -> None:
    from kmem_desktop.domain.sessions.conversations import TurnDraft
    from kmem_desktop.services.sessions.exchanges import SessionDraft

    selected = go_to(page, qtbot, lambda p: p.content == CENTS)
    words = "Never write to `audit_log` from a worker in the web process of the shop."
    about = SessionDraft(title="Another day", project="shopfront")
    run(services.sessions.add_exchange(about, [TurnDraft("user", words)], WINDOW))
    run(look_through(services))
    wait_for(qtbot, lambda: page.model.rowCount() == 7)
    assert page.list.current() == selected


def test_o_opens_the_conversation_at_its_turn(
    page: InboxPage, window: MainWindow, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[tuple[str, int | None]] = []
    monkeypatch.setattr(
        type(window.context.shell), "open_session", lambda _, uuid, at: opened.append((uuid, at))
    )
    proposal = go_to(page, qtbot, lambda p: p.content == STORM)
    press(page, Key.Key_O)
    assert opened == [(proposal.session_uuid, proposal.position)]


def test_in_a_narrow_window_the_pane_covers_the_list(
    page: InboxPage, window: MainWindow, qtbot: QtBot
) -> None:
    window.resize(800, 640)
    wait_for(qtbot, lambda: not page.pane.isVisible())
    press(page, Key.Key_Return)
    assert page.pane.isVisible()
    assert not page.list.isVisible()
    assert page.go_back()
    assert page.list.isVisible()


def test_the_keys_that_have_no_room_are_not_cut(
    page: InboxPage, window: MainWindow, qtbot: QtBot
) -> None:
    assert all(hint.isVisible() for hint in page._key_hints)
    window.resize(1000, 640)
    wait_for(qtbot, lambda: not page._key_hints[-1].isVisible())
    shown_hints = [hint for hint in page._key_hints if hint.isVisible()]
    assert shown_hints
    wait_for(qtbot, lambda: all(h.width() >= h.sizeHint().width() for h in shown_hints))


def test_the_key_list_has_the_inbox(page: InboxPage, window: MainWindow) -> None:
    keys = KeyList(window.actions_of_window, window)
    caps = [hint._keys for hint in keys.findChildren(KeyHint)]
    assert ("A",) in caps
    assert ("M",) in caps
    keys.deleteLater()
    QApplication.processEvents()
