"""Words and steps that several tests of the window share."""

from collections.abc import Callable

from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLineEdit, QPlainTextEdit
from pytestqt.qtbot import QtBot

from kmem_desktop.bootstrap import Services
from kmem_desktop.domain.changes import Origin, OriginKind
from kmem_desktop.domain.graph import Entity
from kmem_desktop.domain.knowledge import KnowledgeDraft, KnowledgeItem
from kmem_desktop.gui.main_window import MainWindow
from kmem_desktop.gui.pages.list_page import ListPage
from tests.gui.conftest import WAIT_MS, Runner

BY_CLIENT = Origin(OriginKind.CLIENT, "Claude Code", "memory_storeKnowledge")
HOSTILE = "<img src=http://x.invalid/y.png><script>alert(1)</script><a href=file:///etc>go</a>"


def draft(title: str, content: str = "", **more: object) -> KnowledgeDraft:
    words = content or f"{title}: what it is for, where it applies, and why it was decided then."
    values: dict[str, object] = {"tags": ("queue",), "scope": "project:shopfront"}
    return KnowledgeDraft(title, words, **{**values, **more})  # type: ignore[arg-type]


def store(run: Runner, services: Services, title: str, content: str = "") -> KnowledgeItem:
    return run(services.knowledge.store(draft(title, content), BY_CLIENT))


def store_entity(run: Runner, services: Services, name: str, *observations: str) -> int:
    run(services.graph.create_entities([Entity(name, "service", observations)], BY_CLIENT))
    found = run(services.graph.find(name))
    assert found is not None
    return found


def page_of(window: MainWindow, name: str = "search") -> ListPage:
    window.show_page(name)
    page = window.current_page
    assert isinstance(page, ListPage)
    return page


def titles(page: ListPage) -> list[str]:
    rows = [page.model.row_at(row) for row in range(page.model.rowCount())]
    return [row.title for row in rows if row is not None]


def wait_for_titles(qtbot: QtBot, page: ListPage, *expected: str) -> None:
    qtbot.waitUntil(lambda: titles(page) == list(expected), timeout=WAIT_MS)


def wait_for(qtbot: QtBot, condition: Callable[[], bool]) -> None:
    qtbot.waitUntil(condition, timeout=WAIT_MS)


def type_into(editor: object, text: str) -> None:
    assert isinstance(editor, QLineEdit | QPlainTextEdit)
    editor.setFocus()
    editor.selectAll()
    QTest.keyClicks(editor, text)
