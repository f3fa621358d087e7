"""The settings page: giving space back, and what is kept out."""

from typing import Any

from pytestqt.qtbot import QtBot

from kmem_desktop.bootstrap import Services
from kmem_desktop.domain.sessions.privacy import ExclusionKind
from kmem_desktop.errors import StoreError
from kmem_desktop.gui.pages.settings_page import SettingsPage
from kmem_desktop.gui.widgets.controls import Button
from kmem_desktop.gui.widgets.labels import Label
from tests.gui.conftest import OpenWindow, Runner
from tests.services.memory import CONTENT, WINDOW, stored


def page_of(window: Any) -> SettingsPage:
    """Show the settings and return their page."""
    window.show_page("settings")
    page = window.findChild(SettingsPage)
    assert isinstance(page, SettingsPage)
    return page


def test_space_is_given_back_by_a_button_and_the_outcome_is_said(
    open_window: OpenWindow, services: Services, run: Runner, qtbot: QtBot
) -> None:
    for number in range(3):
        item = run(stored(services, f"Cache rule number {number}"))
        run(services.knowledge.delete(item.id, WINDOW))
    page = page_of(open_window())
    said = page.memory.space.words.text
    qtbot.waitUntil(lambda: "can be given back" in said())
    page.memory.give_back.click()
    qtbot.waitUntil(lambda: not page.memory.give_back.isEnabled())
    qtbot.waitUntil(page.memory.give_back.isEnabled)
    qtbot.waitUntil(lambda: said().startswith("The memory took"))
    assert "MB now" in said()


def test_why_no_space_could_be_given_back_is_said_beside_the_button(
    open_window: OpenWindow, services: Services, qtbot: QtBot, monkeypatch: Any
) -> None:
    page = page_of(open_window())
    qtbot.waitUntil(lambda: "can be given back" in page.memory.space.words.text())

    async def refuse(_tell: object) -> None:
        raise StoreError("The disk is full.", hint="Free some space.")

    monkeypatch.setattr(services.maintenance, "run", refuse)
    page.memory.give_back.click()
    qtbot.waitUntil(lambda: page.memory.space.words.text() == "The disk is full. Free some space.")
    assert page.memory.give_back.isEnabled()


def test_removed_secrets_are_told_by_kind_and_day_and_never_by_value(
    open_window: OpenWindow, services: Services, run: Runner, qtbot: QtBot
) -> None:
    secret = "AK" + "IA" + "Q2W3E4R5T6Y7UIOP"
    run(stored(services, "Where the backups lie", content=f"{CONTENT} The key is {secret}."))
    page = page_of(open_window())
    qtbot.waitUntil(lambda: "So far: AWS key (1)." in page.privacy.removed.text())
    assert page.privacy.days.text().endswith("Claude Code: AWS key (1)")
    texts = [label.text() for label in page.findChildren(Label)]
    assert not any(secret[4:] in text for text in texts)


def test_a_project_is_excluded_and_included_again(
    open_window: OpenWindow, services: Services, run: Runner, qtbot: QtBot
) -> None:
    page = page_of(open_window())
    part = page.privacy
    qtbot.waitUntil(lambda: "There were none so far." in part.removed.text())
    part.exclude.click()
    assert part.lines.count() == 0
    part.name.setText(" Shop ")
    part.exclude.click()
    qtbot.waitUntil(lambda: part.lines.count() == 1)
    assert part.name.text() == ""
    (exclusion,) = run(services.privacy.exclusions())
    assert (exclusion.kind, exclusion.name) == (ExclusionKind.PROJECT, "Shop")
    item = part.lines.itemAt(0)
    assert item is not None
    line = item.widget()
    assert line is not None
    again = line.findChild(Button)
    assert again is not None
    assert again.accessibleName() == "Store project Shop again"
    again.click()
    qtbot.waitUntil(lambda: part.lines.count() == 0)
    assert run(services.privacy.exclusions()) == []
