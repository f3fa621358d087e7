"""List and detail stay in step: with the question, with what is stored, with what is opened."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QInputMethodEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from kmem_desktop.bootstrap import Services
from kmem_desktop.domain.changes import Noun
from kmem_desktop.gui.detail.detail_pane import DetailPane
from tests.gui.conftest import OpenWindow, Runner
from tests.gui.scenes import (
    page_of,
    store,
    store_entity,
    type_into,
    wait_for,
    wait_for_titles,
)

pytestmark = pytest.mark.qt_log_ignore("This plugin does not support")


def why(detail: DetailPane) -> str:
    """Return what the card says about the item that is shown."""
    card = detail.knowledge_view.why
    return card._sentence.toPlainText() if card.isVisible() else ""


def shown_title(detail: DetailPane) -> str:
    item = detail.knowledge_view.item
    return item.title if detail.has_item and item is not None else ""


def test_the_reason_follows_the_question_while_the_same_row_stays_selected(
    open_window: OpenWindow, services: Services, run: Runner, qtbot: QtBot
) -> None:
    store(run, services, "Queue moved from Redis to PostgreSQL")
    window = open_window()
    page = page_of(window)
    wait_for(qtbot, lambda: page.detail.has_item)
    assert why(page.detail) == ""
    type_into(page.field.edit, "queue")
    wait_for(qtbot, lambda: "queue" in why(page.detail).lower())
    type_into(page.field.edit, "redis")
    wait_for(qtbot, lambda: "redis" in why(page.detail).lower())
    assert "queue" not in why(page.detail).lower()
    page.field.edit.clear()
    wait_for(qtbot, lambda: why(page.detail) == "")


def test_what_is_stored_outside_of_the_question_is_shown_without_a_row(
    open_window: OpenWindow, services: Services, run: Runner, qtbot: QtBot
) -> None:
    store(run, services, "Queue moved from Redis to PostgreSQL")
    window = open_window()
    page = page_of(window)
    type_into(page.field.edit, "redis")
    wait_for(qtbot, lambda: shown_title(page.detail).startswith("Queue") and bool(why(page.detail)))
    window.new_knowledge()
    form = page.detail.editing.knowledge_form
    type_into(form.fields["title"].editor, "Prices are integers")
    type_into(form.fields["content"].editor, "All prices are integers in the smallest unit there.")
    type_into(form.fields["tags"].editor, "money")
    page.detail.save()
    wait_for(qtbot, lambda: shown_title(page.detail) == "Prices are integers")
    wait_for(qtbot, lambda: page.list.current_id() is None)
    assert why(page.detail) == ""
    store(run, services, "Redis is gone for good from here")
    wait_for(qtbot, lambda: page.model.rowCount() == 2)
    assert shown_title(page.detail) == "Prices are integers"


def test_what_is_there_already_is_named_and_shown(
    open_window: OpenWindow, services: Services, run: Runner, qtbot: QtBot
) -> None:
    known = store(run, services, "Queue moved from Redis to PostgreSQL")
    store(run, services, "Prices are integers everywhere")
    window = open_window()
    page = page_of(window)
    window.new_knowledge()
    form = page.detail.editing.knowledge_form
    type_into(form.fields["title"].editor, known.title)
    type_into(
        form.fields["content"].editor, "Jobs were lost when Redis restarted; so the queue moved."
    )
    type_into(form.fields["tags"].editor, "queue")
    form._scope.setEditText(known.scope)
    page.detail.save()
    wait_for(qtbot, form._open_other.isVisible)
    assert "already exists" in form._problem.text()
    form._open_other.click()
    wait_for(qtbot, lambda: shown_title(page.detail) == known.title)


def test_an_item_that_is_opened_stays_when_others_are_stored(
    open_window: OpenWindow, services: Services, run: Runner, qtbot: QtBot
) -> None:
    hidden = store(run, services, "Prices are integers in cents")
    store(run, services, "Queue moved from Redis to PostgreSQL")
    window = open_window()
    page = page_of(window)
    type_into(page.field.edit, "redis")
    wait_for_titles(qtbot, page, "Queue moved from Redis to PostgreSQL")
    window.open_item(Noun.KNOWLEDGE, hidden.id)
    wait_for(qtbot, lambda: shown_title(page.detail) == "Prices are integers in cents")
    store(run, services, "Redis is gone for good from here")
    wait_for(qtbot, lambda: page.model.rowCount() == 2)
    assert shown_title(page.detail) == "Prices are integers in cents"


def test_a_row_far_down_is_shown_once_its_text_was_read(
    open_window: OpenWindow, services: Services, run: Runner, qtbot: QtBot
) -> None:
    first = store(run, services, "The first decision of the project")
    for number in range(150):
        store(run, services, f"Decision number {number} of the project")
    window = open_window()
    page = page_of(window)
    wait_for(qtbot, lambda: page.model.rowCount() == 151)
    page.list.setFocus()
    QTest.keyClick(page.list, Qt.Key.Key_End, Qt.KeyboardModifier.ControlModifier)
    wait_for(qtbot, lambda: page.list.current_id() == first.id)
    wait_for(qtbot, lambda: shown_title(page.detail) == first.title)


def test_what_an_input_method_still_composes_is_not_asked(
    open_window: OpenWindow, services: Services, run: Runner, qtbot: QtBot
) -> None:
    store(run, services, "待ち行列を移した話 (the queue moved)", "待ち行列を移した。" * 12)
    window = open_window()
    page = page_of(window)
    wait_for(qtbot, lambda: page.model.rowCount() == 1)
    asked: list[str] = []
    page.field.asked.connect(asked.append)
    QApplication.sendEvent(page.field.edit, QInputMethodEvent("まち", []))
    assert page.field.edit.text() == ""
    assert asked == []
    assert page.loader.asked.text == ""
    committed = QInputMethodEvent("", [])
    committed.setCommitString("待ち行列")
    QApplication.sendEvent(page.field.edit, committed)
    assert asked == ["待ち行列"]
    wait_for(qtbot, lambda: page.loader.asked.text == "待ち行列")


def test_a_relation_is_typed_added_and_taken_back(
    open_window: OpenWindow, services: Services, run: Runner, qtbot: QtBot
) -> None:
    store_entity(run, services, "PostgreSQL", "version 17")
    entity_id = store_entity(run, services, "worker")
    window = open_window()
    page = page_of(window, "graph")
    view = page.detail.entity_view
    window.open_item(Noun.ENTITY, entity_id)
    wait_for(qtbot, lambda: view.details is not None and view.details.entity.name == "worker")
    editor = view.new_relation
    type_into(editor.kind, "uses")
    QTest.keyClick(editor.kind, Qt.Key.Key_Return)
    assert editor.other.hasFocus()
    QTest.keyClicks(editor.other, "postg")
    wait_for(qtbot, lambda: "PostgreSQL" in editor._names.stringList())
    type_into(editor.other, "PostgreSQL")
    QTest.keyClick(editor.other, Qt.Key.Key_Return)
    wait_for(qtbot, lambda: view.details is not None and len(view.details.relations) == 1)
    wait_for(qtbot, window.notice.isVisible)
    assert window.notice.words() == "Added the relation “worker uses PostgreSQL”."
    window.notice.press()
    wait_for(qtbot, lambda: view.details is not None and not view.details.relations)
