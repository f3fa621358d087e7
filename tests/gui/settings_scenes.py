"""The settings, deleted conversations, copies and the question of the first start, as pictures."""

import asyncio
import os
from pathlib import Path
from typing import TYPE_CHECKING
from unittest.mock import patch

from kmem_desktop.bootstrap import Services
from kmem_desktop.domain.library.copies import CopyFormat, CopyPart, CopyQuery
from kmem_desktop.domain.sessions.conversations import TurnDraft
from kmem_desktop.gui.context import BY_WINDOW
from kmem_desktop.gui.importing.first_question import FirstQuestion
from kmem_desktop.gui.main_window import MainWindow
from kmem_desktop.gui.pages.settings_page import SettingsPage
from kmem_desktop.services.sessions.exchanges import SessionDraft
from tests.gui.import_scenes import page_of as import_page_of
from tests.gui.import_scenes import programs_in, reported
from tests.gui.scenes import BY_CLIENT
from tests.services.importing.transcripts import set_age

if TYPE_CHECKING:
    from tests.gui.gallery import Gallery

DELETED = ("Retry storm after the deploy", "Prices in cents", "What a lease is", "Hello")


def settings_page_of(window: MainWindow) -> SettingsPage:
    """Go to the settings."""
    window.show_page("settings")
    page = window.current_page
    assert isinstance(page, SettingsPage)
    return page


async def deleted_session(services: Services, title: str, turn_count: int = 2) -> str:
    """Store a conversation and delete it; return its id."""
    turns = [
        TurnDraft("assistant" if n % 2 else "user", f"Turn {n} is about {title}.")
        for n in range(turn_count)
    ]
    stored = await services.sessions.add_exchange(SessionDraft(title=title), turns, BY_CLIENT)
    await services.session_life.delete(stored.session_uuid, BY_WINDOW)
    return stored.session_uuid


async def settings_pictures(
    gallery: "Gallery", window: MainWindow, services: Services, folder: Path
) -> None:
    """The groups of the settings, what is wrong with a number, what was deleted, a copy."""
    window.show_page("deleted")
    await gallery.take("deleted-empty", window)
    for number, title in enumerate(DELETED):
        await deleted_session(services, title, 2 + 3 * number)
    page = settings_page_of(window)
    await gallery.settle()
    bar = page._area.verticalScrollBar()
    bar.setValue(page.conversations.y() - 20)
    page.conversations.deletes.click()
    await gallery.both("settings-conversations", window)
    page.conversations.archive_days.setText("4000")
    page.conversations.archive_days.editingFinished.emit()
    await gallery.both("settings-wrong-number", window)
    page.conversations.archive_days.setText("7")
    page.conversations.archive_days.editingFinished.emit()
    page.conversations.deletes.click()
    window.notice.hide()
    bar.setValue(bar.maximum())
    await gallery.both("settings-memory", window)
    window.resize(800, 600)
    bar.setValue(page.conversations.y() - 20)
    await gallery.take("settings-800", window)
    window.resize(1280, 800)
    window.show_page("deleted")
    await gallery.both("deleted", window)
    window.current_page.rows[0].for_good.click()  # type: ignore[attr-defined]
    await gallery.take("deleted-for-good", window)
    window.notice.hide()
    copy = folder / "kmem-2026-05-03.json"
    await services.library.exporting.to_file(
        CopyQuery(parts=tuple(CopyPart)), CopyFormat.JSON, copy
    )
    importing = import_page_of(window)
    importing.start(str(copy))
    await reported(importing)
    await gallery.take("import-copy", window)
    importing.go_back()


async def first_pictures(gallery: "Gallery", window: MainWindow, folder: Path) -> None:
    """The question of the first start, above an empty memory."""
    variables = {
        "CLAUDE_CONFIG_DIR": str(folder / "first" / "claude"),
        "CODEX_HOME": str(folder / "first" / "codex"),
    }
    with patch.dict(os.environ, variables):
        projects = programs_in(folder / "first", 3)
        for file in sorted(projects.rglob("*.jsonl"))[:2]:
            set_age(file, 25)
        question = FirstQuestion(
            window.context, window.keep_transcripts, window.look_at_transcripts
        )
        question._ask(await window.context.services.transcripts.programs())
        content = window.first_question.parentWidget()
        content.layout().replaceWidget(window.first_question, question)  # type: ignore[union-attr]
        question.show()
        window.show_page("search")
        await gallery.both("first-question", window)
        window.resize(800, 600)
        await gallery.take("first-question-800", window)
        window.resize(1280, 800)
        question.look.click()
        page = import_page_of(window)
        await reported(page)
        await gallery.take("first-question-look", window)
        page.go_back()
        content.layout().replaceWidget(question, window.first_question)  # type: ignore[union-attr]
        question.deleteLater()
        window.show_page("search")
        await asyncio.sleep(0)
