"""What an item relates to is shown with it, above its text where it may no longer hold."""

from datetime import UTC, datetime

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from kmem_desktop.bootstrap import Services
from kmem_desktop.domain.changes import Noun
from kmem_desktop.domain.knowledge import KnowledgeItem
from kmem_desktop.domain.sessions.conversations import EntryRelation, TurnDraft
from kmem_desktop.domain.sessions.inbox import EntryLink
from kmem_desktop.gui.detail.detail_pane import DetailPane
from kmem_desktop.gui.detail.relations_view import (
    EntryButton,
    RelationsCard,
    doubts,
    relation_words,
)
from kmem_desktop.gui.widgets.controls import Button
from kmem_desktop.services.sessions.exchanges import SessionDraft
from tests.gui.conftest import OpenWindow, Runner
from tests.gui.scenes import page_of, wait_for
from tests.services.memory import ORIGIN, draft

pytestmark = pytest.mark.qt_log_ignore("This plugin does not support")

LONG = "The queue is in Redis, and each of the workers reads it by a connection of its own"
NOW = datetime(2026, 5, 3, 12, tzinfo=UTC)


def link(relation: str, *, outgoing: bool, title: str = "The queue is in PostgreSQL") -> EntryLink:
    ends = (1, 2) if outgoing else (2, 1)
    return EntryLink(
        *ends, EntryRelation(relation), 0.8, "instead of", 2, title, "Text", NOW, "", None
    )


def view_width(detail: DetailPane) -> int:
    """Return how wide the contents of the pane are."""
    contents = detail.knowledge_view.widget()
    assert contents is not None
    return contents.width()


def test_a_relation_is_worded_from_the_item_that_is_shown() -> None:
    assert relation_words(link("supersedes", outgoing=True)) == "Supersedes"
    assert relation_words(link("supersedes", outgoing=False)) == "Superseded by"
    assert relation_words(link("builds_on", outgoing=True)) == "Builds on"


def test_only_what_a_later_entry_does_speaks_against_an_item() -> None:
    links = [link(name, outgoing=False) for name in ("supersedes", "contradicts", "references")]
    assert len(doubts(links)) == 2
    assert doubts([link("supersedes", outgoing=True)]) == []


def test_a_long_list_is_cut_and_says_so(qtbot: QtBot) -> None:
    card = RelationsCard()
    qtbot.addWidget(card)
    card.show_links([link("references", outgoing=False, title=f"Item {n}") for n in range(15)])
    assert len(card.findChildren(Button)) == 12
    assert card._more.text() == "And 3 more."
    card.show_links([])
    assert card.isHidden()


def test_the_other_end_is_opened_by_its_link(
    open_window: OpenWindow, services: Services, run: Runner, qtbot: QtBot
) -> None:
    turn = run(
        services.sessions.add_exchange(
            SessionDraft(title="Moving the queue"), [TurnDraft("user", "Redis it is.")], ORIGIN
        )
    )
    old: KnowledgeItem = run(services.knowledge.store(draft(LONG), ORIGIN))
    told = (old.id, *turn.entry_ids)
    text = "The queue moved from Redis to PostgreSQL, one table for all kinds of jobs."
    new = run(services.saving.save(text, old.category, ORIGIN, related_to=told))
    window = open_window()
    window.show_page("knowledge")
    page = page_of(window)
    wait_for(qtbot, lambda: page.model.rowCount() == 2)
    window.open_item(Noun.KNOWLEDGE, new.id)
    card = page.detail.knowledge_view.relations
    wait_for(qtbot, lambda: card.isVisible() and len(card.links) == 2)
    assert {each.title for each in card.links} == {LONG, "Moving the queue"}
    button = next(b for b in card.findChildren(EntryButton) if "in Redis" in b.title)
    assert view_width(page.detail) <= page.detail.width()
    QTest.mouseClick(button, Qt.MouseButton.LeftButton)
    view = page.detail.knowledge_view
    wait_for(qtbot, lambda: view.item is not None and view.item.id == old.id)
    wait_for(qtbot, lambda: [e.is_outgoing for e in view.relations.links] == [False])
    assert not view.doubt.isVisible()
