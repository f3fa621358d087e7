"""How long conversations stay: numbers that are checked, deletion that is off until it is asked."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from kmem_desktop.bootstrap import Services
from kmem_desktop.config import SettingsFile
from kmem_desktop.gui.settings.conversations_part import ConversationsPart
from kmem_desktop.gui.settings.setting_row import DaysField
from kmem_desktop.gui.widgets.controls import Button
from tests.gui.conftest import OpenWindow, Runner
from tests.gui.scenes import wait_for
from tests.gui.settings_scenes import deleted_session, settings_page_of


@pytest.fixture
def part(open_window: OpenWindow) -> ConversationsPart:
    return settings_page_of(open_window()).conversations


def type_days(field: DaysField, text: str) -> None:
    field.selectAll()
    QTest.keyClicks(field, text)
    QTest.keyClick(field, Qt.Key.Key_Return)


def test_idle_days_apply_at_once_for_the_part_that_archives(
    part: ConversationsPart, settings: SettingsFile, services: Services
) -> None:
    assert part.archive_days.text() == "7"
    type_days(part.archive_days, "30")
    assert SettingsFile(services.paths.settings).current.archive_after_days == 30
    assert services.session_upkeep._rules().archive_after_days == 30


@pytest.mark.parametrize("typed", ["0", "3651", "a week", "1.5", "-3", "²"])
def test_days_out_of_their_limits_are_told_and_change_nothing(
    part: ConversationsPart, settings: SettingsFile, typed: str
) -> None:
    type_days(part.archive_days, typed)
    assert part.archiving.problem().startswith("Whole days from 1 to 3,650")
    assert part.archive_days.property("invalid") is True
    assert settings.refresh().archive_after_days == 7
    type_days(part.archive_days, "3650")
    assert part.archiving.problem() == ""
    assert part.archive_days.property("invalid") is False
    assert settings.refresh().archive_after_days == 3650


def test_deletion_is_off_until_it_is_ticked_and_undone_by_one_key(
    part: ConversationsPart, settings: SettingsFile
) -> None:
    assert not part.deletes.isChecked()
    assert not part.delete_days.isEnabled()
    part.deletes.click()
    assert settings.refresh().deletes_archived_sessions
    assert part.delete_days.isEnabled()
    type_days(part.delete_days, "365")
    assert settings.refresh().delete_after_days == 365
    window = part._context.shell
    assert "can be restored for 90 days more" in window.notice.words()  # type: ignore[attr-defined]
    window.undo_last()  # type: ignore[attr-defined]
    assert not settings.refresh().deletes_archived_sessions
    assert not part.deletes.isChecked()


def test_what_can_be_restored_is_counted_and_led_to(
    open_window: OpenWindow, services: Services, run: Runner, qtbot: QtBot
) -> None:
    run(deleted_session(services, "Prices in cents"))
    window = open_window()
    part = settings_page_of(window).conversations
    wait_for(qtbot, lambda: part.deleted.words.text() == "1 conversation can be restored.")
    run(deleted_session(services, "What a lease is"))
    wait_for(qtbot, lambda: part.deleted.words.text() == "2 conversations can be restored.")
    show = part.deleted.findChild(Button)
    assert show is not None
    show.click()
    assert window.page_name == "deleted"
    assert window.rail.buttons["sessions"].isChecked()
