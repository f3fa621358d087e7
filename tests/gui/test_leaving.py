"""Closing and quitting: with a tray, without one, and with something that is not saved."""

from collections.abc import Callable

import pytest
from pytestqt.qtbot import QtBot

from kmem_desktop.bootstrap import Services
from kmem_desktop.config import SettingsFile
from kmem_desktop.gui.shell import leaving
from kmem_desktop.gui.tray import Tray
from tests.gui.conftest import OpenWindow, Runner
from tests.gui.scenes import page_of, type_into, wait_for

pytestmark = pytest.mark.qt_log_ignore("This plugin does not support", "systemTrayWindowChanged")

SetTray = Callable[[bool], None]


@pytest.fixture
def set_tray(monkeypatch: pytest.MonkeyPatch) -> SetTray:
    """Lets the desktop have a tray, or none."""

    def set_it(there: bool) -> None:
        monkeypatch.setattr(leaving, "has_tray", lambda: there)
        monkeypatch.setattr("kmem_desktop.gui.tray.has_tray", lambda: there)

    return set_it


def test_the_first_close_hides_and_is_explained_once_on_return(
    open_window: OpenWindow, settings: SettingsFile, set_tray: SetTray, quits: list[str]
) -> None:
    set_tray(True)
    settings.change(told_that_closing_hides=False)
    window = open_window()
    assert not window.notice.isVisible()
    window.close()
    assert not window.isVisible()
    assert settings.current.told_that_closing_hides
    assert settings.current.window_geometry
    window.bring_to_front()
    assert window.notice.words() == "kmem went on in the tray."
    window.notice.hide()
    window.close()
    window.bring_to_front()
    assert not window.notice.isVisible()
    assert quits == []


def test_quit_instead_quits(
    open_window: OpenWindow, settings: SettingsFile, set_tray: SetTray, quits: list[str]
) -> None:
    set_tray(True)
    settings.change(told_that_closing_hides=False)
    window = open_window()
    window.close()
    window.bring_to_front()
    window.notice.press()
    assert quits == ["quit"]


def test_the_tray_says_that_kmem_goes_on(
    open_window: OpenWindow,
    services: Services,
    settings: SettingsFile,
    set_tray: SetTray,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    set_tray(True)
    settings.change(told_that_closing_hides=False)
    window = open_window()
    tray = Tray(window, services)
    said: list[str] = []
    monkeypatch.setattr(tray.icon, "supportsMessages", lambda: True)
    monkeypatch.setattr(tray.icon, "showMessage", lambda *words: said.extend(words[:2]))
    window.close()
    window.bring_to_front()
    window.close()
    assert said == ["kmem goes on in the tray.", leaving.WHERE_QUIT_IS]
    tray.release()


def test_without_a_tray_the_window_says_that_closing_quits_and_it_does(
    open_window: OpenWindow, settings: SettingsFile, set_tray: SetTray, quits: list[str]
) -> None:
    set_tray(False)
    settings.change(told_that_closing_hides=False)
    window = open_window()
    assert window.notice.words() == leaving.NO_TRAY
    window.close()
    assert quits == ["quit"]


def test_quitting_asks_where_typed_text_would_be_lost(
    open_window: OpenWindow, quits: list[str]
) -> None:
    window = open_window()
    page = page_of(window, "knowledge")
    window.new_knowledge()
    form = page.detail.editing.knowledge_form
    type_into(form.fields["content"].editor, "A sentence that took a while to be written.")
    window.show_page("settings")
    window.hide()
    window.quit()
    assert quits == []
    assert window.isVisible()
    assert window.page_name == "knowledge"
    assert window.notice.is_asking
    window.notice.press()
    assert quits == ["quit"]


def test_at_login_kmem_waits_for_a_tray_that_comes_later(
    open_window: OpenWindow, services: Services, set_tray: SetTray, run: Runner, qtbot: QtBot
) -> None:
    set_tray(False)
    tray = Tray(open_window(), services)
    answers: list[bool] = []
    tray._window.tasks.run(tray.comes_up(), answers.append)
    set_tray(True)
    wait_for(qtbot, lambda: answers == [True])
    tray.release()
