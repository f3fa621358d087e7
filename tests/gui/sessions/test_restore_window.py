"""A session in its window: read as it was, searched, gone on with."""

from datetime import timedelta
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QDesktopServices, QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

from kmem_desktop.bootstrap import Services
from kmem_desktop.domain.knowledge import KnowledgeDraft
from kmem_desktop.domain.models import Choice, Purpose
from kmem_desktop.domain.sessions.browsing import RestorePreview
from kmem_desktop.domain.sessions.conversations import Role, SummaryFormat, TurnDraft
from kmem_desktop.gui.context import BY_WINDOW
from kmem_desktop.gui.sessions.budget import BUDGETS, budgets_for
from kmem_desktop.gui.sessions.export_file import file_name
from kmem_desktop.gui.sessions.going_on import LinkRow
from kmem_desktop.gui.sessions.restore_window import RestoreWindow
from kmem_desktop.services.sessions.exchanges import SessionDraft
from tests.gui.conftest import OpenWindow, Runner
from tests.gui.scenes import BY_CLIENT, HOSTILE, type_into, wait_for
from tests.gui.sessions.talks import (
    QUEUE,
    long_talk,
    open_sessions,
    open_talk,
    reads,
    store_talk,
)

pytestmark = [
    pytest.mark.qt_log_ignore("This plugin does not support"),
    pytest.mark.usefixtures("_only_words"),
]

Key = Qt.Key
CONTROL = Qt.KeyboardModifier.ControlModifier


def press(
    window: QWidget, key: Qt.Key, modifier: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier
) -> None:
    """Press a key on whatever has the keyboard."""
    QTest.keyClick(QApplication.focusWidget() or window, key, modifier)


def clipboard() -> str:
    return QGuiApplication.clipboard().text()


@pytest.fixture
def queue(
    open_window: OpenWindow, qtbot: QtBot, run: Runner, services: Services
) -> tuple[RestoreWindow, str]:
    """The window of a short session that is summarised, and its id."""
    uuid = store_talk(run, services, "Retry storm", project="shopfront")
    run(services.recall.summarise(uuid, SummaryFormat.BULLET_POINTS, BY_WINDOW))
    page = open_sessions(open_window(), qtbot)
    return open_talk(page, qtbot, uuid), uuid


@pytest.fixture
def long(
    open_window: OpenWindow, qtbot: QtBot, run: Runner, services: Services
) -> tuple[RestoreWindow, str]:
    """The window of a session of 300 turns, and its id."""
    uuid = store_talk(run, services, "The long one", long_talk(300))
    page = open_sessions(open_window(), qtbot)
    return open_talk(page, qtbot, uuid), uuid


def test_the_conversation_is_shown_as_it_was_from_its_end(
    queue: tuple[RestoreWindow, str], qtbot: QtBot
) -> None:
    window, _ = queue
    wait_for(qtbot, lambda: "Nobody yet." in reads(window))

    turns = window.view.turns
    assert window.windowTitle() == "Retry storm - kmem"
    assert [turns.speaker(row) for row in range(3)] == ["You", "Claude Code", "Tool"]
    assert window.view.verticalScrollBar().value() == window.view.verticalScrollBar().maximum()
    assert window.view.current_position() == len(QUEUE) - 1
    assert window.view.hasFocus()
    assert turns.decisions >= {5}


def test_only_what_is_in_sight_is_read_and_laid_out(
    long: tuple[RestoreWindow, str], qtbot: QtBot
) -> None:
    window, _ = long
    wait_for(qtbot, lambda: "Turn number 299." in reads(window))
    items = window.view.turns.items

    assert sum(item.turn is not None for item in items) <= 120
    assert items[0].turn is None
    window.view.setFocus()
    press(window, Key.Key_Home)
    wait_for(qtbot, lambda: "Turn number 0." in reads(window))
    assert items[150].turn is None
    assert items[150].height > 0, "there is room for it"


def test_what_is_in_sight_stays_there_while_guesses_are_replaced_and_the_width_changes(
    long: tuple[RestoreWindow, str], qtbot: QtBot
) -> None:
    window, _ = long
    view = window.view
    window.go_to(150)
    wait_for(qtbot, lambda: "Turn number 150." in reads(window))
    assert view.rowAt(2) == 150

    for width in (700, 1240, 900):
        window.resize(width, 640)
        wait_for(qtbot, lambda: "Turn number 150." in reads(window))
        assert view.rowAt(view.viewport().height() // 20) in (149, 150)
    bar = view.verticalScrollBar()
    for _ in range(30):
        bar.setValue(bar.value() - bar.singleStep())
        QApplication.processEvents()
    for _ in range(30):
        bar.setValue(bar.value() + bar.singleStep())
        QApplication.processEvents()
    wait_for(qtbot, lambda: "Turn number 150." in reads(window))


def test_j_and_k_walk_from_turn_to_turn(long: tuple[RestoreWindow, str], qtbot: QtBot) -> None:
    window, _ = long
    window.go_to(10)
    window.view.setFocus()

    press(window, Key.Key_J)
    assert window.view.current_position() == 11
    press(window, Key.Key_K)
    press(window, Key.Key_K)
    assert window.view.current_position() == 9
    wait_for(qtbot, lambda: "Turn number 9." in reads(window))


def test_steps_of_tools_are_folded_into_one_line_and_enter_unfolds_them(
    queue: tuple[RestoreWindow, str], qtbot: QtBot
) -> None:
    window, _ = queue
    view = window.view
    turns = view.turns
    assert turns.fold_words(2) == "2 tool steps"
    assert turns.items[3].height == 0

    view.setFocus()
    window.go_to(1)
    press(window, Key.Key_J)
    assert view.current_position() == 3 - 1
    press(window, Key.Key_J)
    assert view.current_position() == 4, "what is folded away is passed over"
    press(window, Key.Key_K)
    press(window, Key.Key_Return)
    wait_for(qtbot, lambda: "41 passed" in reads(window))
    assert turns.items[3].height > 0
    press(window, Key.Key_Return)
    assert turns.items[3].height == 0


def test_a_turn_that_is_folded_away_is_unfolded_when_one_goes_there(
    queue: tuple[RestoreWindow, str], qtbot: QtBot
) -> None:
    window, _ = queue

    window.go_to(3)

    wait_for(qtbot, lambda: "41 passed" in reads(window))
    assert window.view.current_position() == 3


def test_pauses_and_days_are_told(
    open_window: OpenWindow, qtbot: QtBot, run: Runner, services: Services
) -> None:
    talk = [("user", "Before."), ("assistant", "After."), ("user", "Much after.")]
    uuid = store_talk(run, services, "Pauses", talk, gap=timedelta(hours=14))
    window = open_talk(open_sessions(open_window(), qtbot), qtbot, uuid)

    assert [item.gap for item in window.view.turns.items] == ["", *["14 hours later"] * 2]


def test_ctrl_f_finds_words_and_goes_from_match_to_match(
    long: tuple[RestoreWindow, str], qtbot: QtBot
) -> None:
    window, _ = long
    window.go_to(100)
    window.search.open()
    assert window.search.field.edit.hasFocus()

    type_into(window.search.field.edit, "number 12")
    wait_for(qtbot, lambda: window.search.count_words() == "2 of 13")
    wait_for(qtbot, lambda: window.view.current_position() == 112)
    press(window, Key.Key_Return)
    assert window.view.current_position() == 120
    wait_for(qtbot, lambda: "Turn number 120." in reads(window))
    window.search.step(-1)
    window.search.step(-1)
    assert window.view.current_position() == 12
    part = next(p for p in window.view.turns.items[120].parts or ())
    part.lay_out(window.view._geometry.text_width, window.view._geometry.look)
    assert len(part.found(("number", "12"))) == 2
    type_into(window.search.field.edit, "nowhere at all")
    wait_for(qtbot, lambda: window.search.count_words() == "Nothing found")
    press(window, Key.Key_Escape)
    assert window.search.field.edit.text() == ""


def test_the_slider_shows_what_would_be_given_back(
    long: tuple[RestoreWindow, str], qtbot: QtBot
) -> None:
    window, _ = long
    turns, budget = window.view.turns, window.panel.budget
    budget.slider.setValue(1)
    wait_for(qtbot, lambda: window.preview is not None and window.preview.budget_tokens == 750)

    shares = {turns.share_of(item.outline.position) for item in turns.items}
    assert shares >= {"kept", "none"}
    gaps = [turns.gap_at(n) for n in range(300) if turns.gap_at(n)]
    assert gaps
    assert gaps[0].endswith("tokens left out")
    assert "turns," in budget.left_out_words()
    assert budget.words().startswith("The best of it fits: ")
    role = Qt.ItemDataRole.AccessibleDescriptionRole
    left_out = next(n for n in range(300) if turns.share_of(n) == "none")
    assert "left out" in turns.index(left_out, 0).data(role)

    budget.slider.setValue(budget.slider.maximum())
    wait_for(qtbot, lambda: budget.left_out_words() == "Nothing is left out.")
    assert {turns.share_of(item.outline.position) for item in turns.items} == {"kept"}
    assert budget.slider.accessibleDescription().endswith("tokens")


def test_of_many_budgets_in_a_row_only_the_last_one_counts(
    long: tuple[RestoreWindow, str], qtbot: QtBot
) -> None:
    window, _ = long
    slider = window.panel.budget.slider
    shown: list[int] = []
    show = window.panel.show_preview

    def note(preview: RestorePreview) -> None:
        shown.append(preview.budget_tokens)
        show(preview)

    window.panel.show_preview = note  # type: ignore[method-assign]
    for value in (0, 1, 2, 3, 2):
        slider.setValue(value)

    wait_for(qtbot, lambda: bool(shown))
    assert shown == [BUDGETS[2]]


def test_budgets_end_where_the_whole_session_fits() -> None:
    assert budgets_for(100) == BUDGETS[:4]
    assert budgets_for(3_000)[-1] == 4_000
    assert budgets_for(10**7) == BUDGETS


def test_the_text_is_copied_for_any_assistant_and_the_prompt_for_a_connected_one(
    queue: tuple[RestoreWindow, str], qtbot: QtBot
) -> None:
    window, uuid = queue

    window.do("prompt")
    assert clipboard() == (
        f"Load session {uuid} with kmem's load_session (token_budget"
        f" {window.panel.budget.slider.budget()}) and go on from there."
    )
    window.do("copy")
    wait_for(qtbot, lambda: clipboard().startswith("Between the two lines"))
    assert "visibility_timeout = 30" in clipboard()
    assert window.notice.words().startswith("Copied ")


def test_a_conversation_is_exported_whole_and_a_failure_is_told(
    queue: tuple[RestoreWindow, str], qtbot: QtBot, tmp_path: Path
) -> None:
    window, _ = queue
    target = tmp_path / "talk.md"

    window.export_to(str(target))
    wait_for(qtbot, lambda: window.notice.words() == f"Written to {target}.")
    text = target.read_text(encoding="utf-8")
    assert text.startswith("# Retry storm\n")
    assert all(said in text for _, said in QUEUE)

    window.export_to(str(tmp_path / "no" / "such" / "folder.md"))
    wait_for(qtbot, lambda: "was not written" in window.notice.words())


def test_a_file_is_named_after_the_session() -> None:
    assert file_name("Retry storm: what/now?") == "Retry-storm-what-now.md"
    assert file_name("../..") == "session.md"
    assert file_name("") == "session.md"


def test_m_marks_a_turn_as_important(
    queue: tuple[RestoreWindow, str], qtbot: QtBot, run: Runner, services: Services
) -> None:
    window, uuid = queue
    window.go_to(0)
    window.view.setFocus()

    press(window, Key.Key_M)
    wait_for(qtbot, lambda: window.view.turns.items[0].outline.is_important)
    assert run(services.session_pages.outline(uuid))[0].is_important
    press(window, Key.Key_M)
    wait_for(qtbot, lambda: not window.view.turns.items[0].outline.is_important)


def test_turns_that_are_added_appear_at_once(
    queue: tuple[RestoreWindow, str], qtbot: QtBot, run: Runner, services: Services
) -> None:
    window, uuid = queue
    wait_for(qtbot, lambda: "Nobody yet." in reads(window))

    drafts = [TurnDraft("user", "Then page on the age of the oldest job.")]
    run(services.sessions.add_exchange(SessionDraft(uuid=uuid), drafts, BY_CLIENT))

    wait_for(qtbot, lambda: "oldest job" in reads(window))
    assert len(window.view.turns.items) == len(QUEUE) + 1


def test_what_a_person_reads_does_not_move_when_turns_are_added(
    long: tuple[RestoreWindow, str], qtbot: QtBot, run: Runner, services: Services
) -> None:
    window, uuid = long
    window.go_to(40)
    wait_for(qtbot, lambda: "Turn number 40." in reads(window))

    run(
        services.sessions.add_exchange(
            SessionDraft(uuid=uuid), [TurnDraft("user", "One more.")], BY_CLIENT
        )
    )

    wait_for(qtbot, lambda: len(window.view.turns.items) == 301)
    assert window.view.rowAt(2) == 40
    wait_for(qtbot, lambda: "Turn number 40." in reads(window))


def test_a_deleted_session_is_told(
    queue: tuple[RestoreWindow, str], qtbot: QtBot, run: Runner, services: Services
) -> None:
    window, uuid = queue

    run(services.session_life.delete(uuid, BY_WINDOW))

    wait_for(qtbot, lambda: window.notice.words() == "This session was deleted.")


def test_without_a_model_the_chat_says_why_and_keeps_the_message(
    queue: tuple[RestoreWindow, str], qtbot: QtBot, run: Runner, services: Services
) -> None:
    window, _ = queue
    run(services.models.choose(Purpose.CHAT, Choice("off")))
    window.do("chat")
    assert window.chat.edit.hasFocus()
    wait_for(qtbot, lambda: window.chat.connect_button.isVisible())

    window.chat.edit.setPlainText("What is still open?")
    press(window, Key.Key_Return, CONTROL)

    wait_for(qtbot, lambda: "No model answered" in window.chat.words.text())
    wait_for(qtbot, lambda: "What is still open?" in reads(window))
    wanted: list[str] = []
    window.page_wanted.connect(wanted.append)
    window.chat.connect_button.click()
    assert wanted == ["connections"]
    press(window, Key.Key_Escape)
    assert not window.chat.isVisible()


def test_what_belongs_to_the_session_is_shown_and_gone_to(
    open_window: OpenWindow, qtbot: QtBot, run: Runner, services: Services
) -> None:
    uuid = store_talk(run, services, "The job queue moves from Redis to PostgreSQL")
    item = run(
        services.knowledge.store(
            KnowledgeDraft(
                "The job queue runs on PostgreSQL",
                "The job queue moved from Redis to PostgreSQL with SKIP LOCKED in May.",
                ("queue",),
            ),
            BY_CLIENT,
        )
    )
    run(services.recall.summarise(uuid, SummaryFormat.BULLET_POINTS, BY_WINDOW))
    run(services.session_life.take_snapshot(uuid, BY_WINDOW, 1_000))
    main = open_window()
    window = open_talk(open_sessions(main, qtbot), qtbot, uuid)
    wait_for(qtbot, lambda: bool(window.panel.findChildren(LinkRow)))
    row = next(row for row in window.panel.findChildren(LinkRow) if row.text() == item.title)

    row.click()

    assert main.page_name == "knowledge"
    wait_for(qtbot, lambda: window.panel._snapshots.isVisibleTo(window.panel))


def test_links_open_only_after_a_yes_and_only_to_the_web(
    queue: tuple[RestoreWindow, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    window, _ = queue
    opened: list[str] = []
    monkeypatch.setattr(QDesktopServices, "openUrl", lambda url: opened.append(url.toString()))

    window.view.link_wanted.emit("file:///etc/passwd")
    assert "Open" not in window.notice.words()
    window.view.link_wanted.emit("https://kmem.test/a")
    assert window.notice.is_asking
    assert opened == []
    window.notice.press()
    assert opened == ["https://kmem.test/a"]


def test_a_link_in_a_turn_is_clicked_and_text_is_selected_with_the_mouse(
    open_window: OpenWindow, qtbot: QtBot, run: Runner, services: Services
) -> None:
    talk = [
        ("user", "[site](https://kmem.test/a)\n\nSecond paragraph of it."),
        ("assistant", "Yes."),
    ]
    uuid = store_talk(run, services, "Links", talk)
    window = open_talk(open_sessions(open_window(), qtbot), qtbot, uuid)
    view = window.view
    wait_for(qtbot, lambda: "Second paragraph" in reads(window))
    place = view._geometry
    top = view.rowViewportPosition(0) + place.body_top(view.turns.items[0])
    left, button = place.side, Qt.MouseButton.LeftButton

    wanted: list[str] = []
    view.link_wanted.connect(wanted.append)
    QTest.mouseClick(view.viewport(), button, pos=QPoint(left + 6, top + 9))
    assert wanted == ["https://kmem.test/a"]
    bottom = view.rowViewportPosition(1) + place.body_top(view.turns.items[1]) + 8
    QTest.mousePress(view.viewport(), button, pos=QPoint(left + 1, top + 38))
    QTest.mouseMove(view.viewport(), QPoint(left + 300, bottom))
    QTest.mouseRelease(view.viewport(), button, pos=QPoint(left + 300, bottom))
    view.copy()
    assert clipboard() == "Second paragraph of it.\n\nYes."
    QTest.mouseClick(view.viewport(), button, pos=QPoint(left + 200, bottom))
    view.copy()
    assert clipboard() == "Yes.", "without a selection the whole turn"


def test_the_star_is_clicked_with_the_mouse(queue: tuple[RestoreWindow, str], qtbot: QtBot) -> None:
    window, _ = queue
    view = window.view
    window.go_to(0)
    item = view.turns.items[0]
    right = view._geometry.side + view._geometry.text_width
    star = view._geometry.star_box(item, right).center().toPoint()
    top = view.rowViewportPosition(0)

    QTest.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=star + QPoint(0, top))

    wait_for(qtbot, lambda: view.turns.items[0].outline.is_important)


def test_nothing_of_a_conversation_is_markup(
    open_window: OpenWindow, qtbot: QtBot, run: Runner, services: Services
) -> None:
    talk = [("user", HOSTILE), ("assistant", HOSTILE), ("tool", HOSTILE)]
    uuid = store_talk(run, services, HOSTILE[:100], talk)
    window = open_talk(open_sessions(open_window(), qtbot), qtbot, uuid)

    wait_for(qtbot, lambda: reads(window).count(HOSTILE) == 2)
    window.go_to(2)
    wait_for(qtbot, lambda: reads(window).count(HOSTILE) == 3)


def test_everything_has_a_name_and_the_keyboard_reaches_all_of_it(
    queue: tuple[RestoreWindow, str], qtbot: QtBot
) -> None:
    window, _ = queue
    nameless = [
        child
        for child in window.findChildren(QWidget)
        if child.isVisible()
        and child.focusPolicy() & Qt.FocusPolicy.TabFocus
        and not child.accessibleName()
    ]
    assert nameless == []
    said = window.view.turns.index(0, 0).data(Qt.ItemDataRole.AccessibleTextRole)
    assert said.startswith("You, ")
    assert "Half of the jobs ran twice" in said
    stops = []
    for _ in range(4):
        window.cycle_columns()
        stops.append(QApplication.focusWidget())
    assert len(set(stops)) == 4
    assert Role.TOOL is window.view.turns.items[2].outline.role


def test_where_there_is_little_width_one_side_is_shown_at_a_time(
    queue: tuple[RestoreWindow, str], qtbot: QtBot
) -> None:
    window, _ = queue
    window.resize(600, 600)
    wait_for(qtbot, lambda: not window.panel.isVisible())

    window.toggle_side()
    assert window.panel.isVisible()
    assert window.panel.budget.slider.hasFocus()
    press(window, Key.Key_Escape)
    wait_for(qtbot, lambda: window.view.isVisible())
    press(window, Key.Key_Escape)
    wait_for(qtbot, lambda: not window.isVisible())


def test_a_session_is_pinned_from_its_window_and_back(
    queue: tuple[RestoreWindow, str], qtbot: QtBot
) -> None:
    window, _ = queue

    window.pin_button.click()
    wait_for(qtbot, lambda: window.pin_button.text() == "Unpin")
    assert window.notice.offers_undo
    press(window, Key.Key_Z, CONTROL)
    wait_for(qtbot, lambda: window.pin_button.text() == "Pin")
