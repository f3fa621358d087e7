"""The tray: state in words, a short menu, and quiet where there is no tray."""

import pytest
from pytestqt.qtbot import QtBot

from kmem_desktop.bootstrap import Services
from kmem_desktop.gui.icons import icon_pixmap
from kmem_desktop.gui.tray import Tray
from tests.gui.conftest import LoginEntryInMemory, OpenWindow
from tests.gui.scenes import wait_for

pytestmark = pytest.mark.qt_log_ignore("This plugin does not support", "systemTrayWindowChanged")


def words(tray: Tray) -> list[str]:
    return [action.text() for action in tray.menu.actions() if not action.isSeparator()]


def test_the_menu_says_how_things_stand_and_is_short(
    open_window: OpenWindow, services: Services
) -> None:
    tray = Tray(open_window(), services)
    assert words(tray)[0] == "No assistant connected"
    visit = services.activity.arrive()
    assert words(tray)[0] == "1 assistant connected"
    assert tray.icon.toolTip() == "kmem: 1 assistant connected"
    services.activity.leave(visit)
    assert len(words(tray)) <= 9
    tray.release()


def test_pausing_changes_words_and_the_icons_shape(
    open_window: OpenWindow, services: Services
) -> None:
    tray = Tray(open_window(), services)
    assert tray.state()[1] == "tray-serving"
    next(a for a in tray.menu.actions() if a.text() == "Pause serving").trigger()
    assert tray.state() == ("Serving is paused", "tray-paused")
    assert "Resume serving" in words(tray)
    tray.set_attention("The backup failed twice")
    assert tray.state() == ("The backup failed twice", "tray-attention")
    images = [
        icon_pixmap(name, "#ffffff", 32, 1.0).toImage().createAlphaMask()
        for name in ("tray-serving", "tray-paused", "tray-attention")
    ]
    assert images[0] != images[1] != images[2] != images[0]
    services.activity.pause(paused=False)
    tray.release()


def test_start_at_login_is_ticked_in_the_menu(
    open_window: OpenWindow, services: Services, login_entry: LoginEntryInMemory, qtbot: QtBot
) -> None:
    tray = Tray(open_window(), services)
    action = next(a for a in tray.menu.actions() if a.text() == "Start at login")
    assert not action.isChecked()
    action.trigger()
    wait_for(qtbot, lambda: login_entry.is_there)
    tray.release()


def test_quit_in_the_menu_quits(
    open_window: OpenWindow, services: Services, quits: list[str]
) -> None:
    tray = Tray(open_window(), services)
    next(a for a in tray.menu.actions() if a.text() == "Quit kmem").trigger()
    assert quits == ["quit"]
    tray.release()
