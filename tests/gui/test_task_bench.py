"""The workbench: which rules a task would get, and why."""

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from kmem_desktop.bootstrap import Services
from kmem_desktop.domain.rule_library import RuleAnswer, SubmittedDocument
from kmem_desktop.domain.rules import Layer, RuleStatus, TaskContext
from kmem_desktop.gui.context import BY_WINDOW
from kmem_desktop.gui.rules.rule_lists import Face
from kmem_desktop.gui.rules.rules_page import RulesPage
from kmem_desktop.gui.rules.sentences import context_words, saving_words
from tests.gui.conftest import OpenWindow, Runner
from tests.gui.rule_documents import PROPOSED, write_project
from tests.gui.rule_scenes import BY_ASSISTANT, TASK, directive_id, rules_page
from tests.gui.scenes import type_into, wait_for

pytestmark = pytest.mark.qt_log_ignore("This plugin does not support")


def answer_of(page: RulesPage) -> RuleAnswer | None:
    """Return what is answered; a call, because a type checker trusts attributes."""
    return page.bench.answer


@pytest.fixture
def page(
    open_window: OpenWindow, run: Runner, services: Services, tmp_path: Path, qtbot: QtBot
) -> RulesPage:
    """The page with a project's rules, ready for a task."""
    run(services.rules.folders.allow(str(write_project(tmp_path)), BY_WINDOW))
    page = rules_page(open_window())
    wait_for(qtbot, lambda: page.library is not None)
    page.show_face(Face.TASK)
    return page


def ask(page: RulesPage, qtbot: QtBot, task: str = TASK) -> RuleAnswer:
    type_into(page.field.edit, task)
    wait_for(qtbot, lambda: answer_of(page) is not None and page.bench._shown_task == task)
    answer = page.bench.answer
    assert answer is not None
    return answer


def test_a_task_is_answered_after_a_pause_with_what_an_assistant_would_get(
    page: RulesPage, qtbot: QtBot
) -> None:
    assert page.bench.empty.title() == "What is to be done?"
    answer = ask(page, qtbot)
    first = page.bench.list.rows.lines[0]
    assert first.statements[0].text == "Verify a new e-mail address before it replaces the old one."
    assert first.facts.startswith(".github/instructions/security.instructions.md, line 10")
    assert page.bench.context_line.words().startswith("Looks almost surely like application layer")
    assert page.bench.block.words().startswith(f"{answer.tokens} tokens instead of ")
    assert "Verify a new e-mail address" in page.bench.block.shown_text()
    assert " ms" in page.field.note.text()


def test_the_block_is_shown_as_it_is_sent_and_copied_as_it_is_sent(
    page: RulesPage, qtbot: QtBot
) -> None:
    answer = ask(page, qtbot)
    assert "**[MUST]**" not in page.bench.block.shown_text()
    page.bench.list.setFocus()
    QTest.keyClick(page.bench.list, Qt.Key.Key_V)
    assert "**[MUST]**" in page.bench.block.shown_text()
    QTest.keyClick(page.bench.list, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    assert QGuiApplication.clipboard().text() == answer.block


def test_letters_are_typed_while_the_field_has_the_keyboard(page: RulesPage, qtbot: QtBot) -> None:
    page.focus_search()
    focus = QApplication.focusWidget()
    assert focus is page.field.edit
    QTest.keyClicks(focus, "later we copy")
    assert page.face is Face.TASK
    assert page.field.edit.text() == "later we copy"


def test_what_is_not_seen_beside_a_task_is_not_judged_by_a_key(
    page: RulesPage, run: Runner, services: Services, qtbot: QtBot
) -> None:
    wanted = run(directive_id(services, "Verify a new"))
    page.open_directive(wanted)
    wait_for(qtbot, lambda: page.pane.stored is not None)
    page.show_face(Face.TASK)
    ask(page, qtbot)
    page.bench.list.setFocus()
    for key in (Qt.Key.Key_R, Qt.Key.Key_E, Qt.Key.Key_Delete):
        QTest.keyClick(page.bench.list, key)
    assert not page.pane.is_editing
    assert run(services.rules.library.directive(wanted)).status is RuleStatus.APPROVED


def test_the_reason_of_the_selected_rule_is_a_sentence_with_numbers_on_demand(
    page: RulesPage, qtbot: QtBot
) -> None:
    ask(page, qtbot)
    why = page.bench.why
    assert why.words().startswith("Application layer")
    assert "binding." in why.words()
    before = why.words()
    page.field.moved.emit(1)
    assert why.words() != before
    assert why._numbers.isHidden()
    why._toggle.click()
    assert not why._numbers.isHidden()


def test_limits_narrow_the_answer_and_say_what_had_no_room(page: RulesPage, qtbot: QtBot) -> None:
    ask(page, qtbot)
    page.bench.options.items.setValue(1)
    wait_for(qtbot, lambda: page.bench.answer.selected == 1)  # type: ignore[union-attr]
    marks = [line.mark for line in page.bench.list.rows.lines]
    assert marks[0] == ""
    assert set(marks[1:]) <= {"not sent: no room"}
    assert page.bench.foot.text().startswith("1 of 24 go to the assistant")


def test_a_rule_for_the_task_leads_to_its_place_in_the_library(
    page: RulesPage, qtbot: QtBot
) -> None:
    ask(page, qtbot)
    page.focus_list()
    QTest.keyClick(page.bench.list, Qt.Key.Key_Return)
    wait_for(qtbot, lambda: page.face is Face.LIBRARY)
    wait_for(qtbot, lambda: page.pane.stored is not None)
    assert page.pane.stored is not None
    assert page.pane.stored.directive.text.startswith("Verify a new")
    page.show_face(Face.TASK)
    assert page.field.edit.text() == TASK


def test_without_rules_the_baseline_is_told_in_words(open_window: OpenWindow, qtbot: QtBot) -> None:
    page = rules_page(open_window())
    wait_for(qtbot, lambda: page.library is not None)
    page.show_face(Face.TASK)
    ask(page, qtbot)
    assert "There are no rules yet; these are the baseline rules" in page.bench.block.words()
    assert page.bench.foot.text().endswith("baseline rules of kmem's own.")
    before = page.face
    page.bench.list.choose_current()
    assert page.face is before


def test_proposed_rules_are_marked_and_lead_to_their_review(
    page: RulesPage, run: Runner, services: Services, qtbot: QtBot
) -> None:
    document = SubmittedDocument("templates.md", PROPOSED)
    run(services.rules.ingestion.upsert([document], BY_ASSISTANT, scope="project:shopfront"))
    ask(page, qtbot, "Render an e-mail template for the invoice")
    assert "proposed" in [line.mark for line in page.bench.list.rows.lines]
    assert page.bench.block._waiting.isVisible()
    page.bench.block.review_wanted.emit()
    assert page.face is Face.WAITING


def test_how_sure_a_layer_is_is_said_in_words() -> None:
    sure = [
        context_words(TaskContext(Layer.DOMAIN, confidence=share, method="words"))
        for share in (0.95, 0.7, 0.5, 0.1)
    ]
    assert sure == [
        "Looks almost surely like",
        "Looks probably like",
        "Looks perhaps like",
        "A guess:",
    ]
    assert context_words(TaskContext(Layer.ANY)) == "No layer stands out"


@pytest.mark.parametrize(
    ("tokens", "source", "words"),
    [
        (565, 44_000, "565 tokens instead of 44,000: 1.3 %."),
        (238, 769, "238 tokens instead of 769: 31 %."),
        (53, 49, "53 tokens; the files have 49 as a whole."),
        (521, 0, "521 tokens."),
    ],
)
def test_what_is_saved_is_a_sentence(tokens: int, source: int, words: str) -> None:
    context = TaskContext(Layer.ANY)
    answer = RuleAnswer("", (), context, "", 0, 0, 0, tokens, source, 1.0)
    assert saving_words(answer) == words
