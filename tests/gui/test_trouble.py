"""What is said where kmem cannot start."""

from pathlib import Path

import pytest
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QLabel
from pytestqt.qtbot import QtBot

from kmem_desktop.config import Paths, SettingsFile
from kmem_desktop.errors import (
    DamagedStoreError,
    NotOurFileError,
    StoreBusyError,
    StoreError,
    StoreTooNewError,
)
from kmem_desktop.gui.trouble import TroubleWindow, trouble_of
from kmem_desktop.gui.widgets.controls import Button

pytestmark = pytest.mark.qt_log_ignore("This plugin does not support")

FILE = Path("/somewhere/kmem.db")


@pytest.mark.parametrize(
    ("error", "title"),
    [
        (NotOurFileError("/somewhere/kmem.db is no database."), "This file is not a memory"),
        (StoreTooNewError("It was written by a newer kmem."), "A newer kmem wrote this"),
        (DamagedStoreError("The database file is damaged."), "The memory file is damaged"),
        (StoreBusyError("Another program has it."), "Another program keeps the memory"),
        (StoreError("The folder cannot be used.", hint="Choose one."), "The memory could not be"),
        (ZeroDivisionError("secret details"), "kmem could not start"),
    ],
)
def test_each_trouble_says_what_happened_what_is_safe_and_what_to_do(
    error: Exception, title: str
) -> None:
    trouble = trouble_of(error, FILE)
    assert trouble.title.startswith(title)
    assert trouble.what
    assert trouble.safe
    assert trouble.todo
    assert "secret" not in str(trouble)


def test_trouble_with_a_file_names_it() -> None:
    assert str(FILE) in trouble_of(DamagedStoreError("The database file is damaged."), FILE).what


def test_the_window_shows_all_of_it_and_copies_it(
    settings: SettingsFile, profile: Paths, qtbot: QtBot
) -> None:
    trouble = trouble_of(NotOurFileError("It is a text."), profile.database)
    window = TroubleWindow(trouble, profile)
    qtbot.addWidget(window)
    shown = " ".join(label.text() for label in window.findChildren(QLabel))
    for words in (trouble.title, trouble.what, trouble.safe, trouble.todo):
        assert words in shown
    copy = next(b for b in window.findChildren(Button) if b.text() == "Copy the details")
    copy.click()
    assert trouble.title in QGuiApplication.clipboard().text()
    assert str(profile.log) in QGuiApplication.clipboard().text()
