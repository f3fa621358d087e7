"""The settings page: giving space back."""

from typing import Any

from pytestqt.qtbot import QtBot

from kmem_desktop.bootstrap import Services
from kmem_desktop.errors import StoreError
from kmem_desktop.gui.pages.settings_page import SettingsPage
from tests.gui.conftest import OpenWindow, Runner
from tests.services.memory import WINDOW, stored


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
    said = page.space.words.text
    qtbot.waitUntil(lambda: "can be given back" in said())
    page.give_back.click()
    qtbot.waitUntil(lambda: not page.give_back.isEnabled())
    qtbot.waitUntil(page.give_back.isEnabled)
    qtbot.waitUntil(lambda: said().startswith("The memory took"))
    assert "MB now" in said()


def test_why_no_space_could_be_given_back_is_said_beside_the_button(
    open_window: OpenWindow, services: Services, qtbot: QtBot, monkeypatch: Any
) -> None:
    page = page_of(open_window())
    qtbot.waitUntil(lambda: "can be given back" in page.space.words.text())

    async def refuse(_tell: object) -> None:
        raise StoreError("The disk is full.", hint="Free some space.")

    monkeypatch.setattr(services.maintenance, "run", refuse)
    page.give_back.click()
    qtbot.waitUntil(lambda: page.space.words.text() == "The disk is full. Free some space.")
    assert page.give_back.isEnabled()
