"""A copy of the memory: saved in the background, told with its path, and brought in again."""

from pathlib import Path

import pytest
from PySide6.QtWidgets import QFileDialog
from pytestqt.qtbot import QtBot

from kmem_desktop.bootstrap import Services
from kmem_desktop.domain.library.copies import CopyFormat
from kmem_desktop.gui.settings.copy_saving import save_copy
from kmem_desktop.services.library.knowledge_import import copy_format
from tests.gui.conftest import OpenWindow, Runner
from tests.gui.scenes import store, wait_for
from tests.gui.settings_scenes import settings_page_of


@pytest.mark.parametrize(("name", "written"), [("m.json", "json"), ("m.md", "markdown")])
def test_the_name_of_the_file_decides_how_the_copy_is_written(
    open_window: OpenWindow,
    services: Services,
    run: Runner,
    qtbot: QtBot,
    tmp_path: Path,
    name: str,
    written: str,
) -> None:
    store(run, services, "Queue moved from Redis to PostgreSQL")
    window = open_window()
    save_copy(window.context, tmp_path / name)
    wait_for(qtbot, lambda: window.notice.words().startswith("A copy was saved as"))
    assert window.notice.words() == (
        f"A copy was saved as {tmp_path / name}: 1 piece of knowledge."
    )
    assert copy_format(tmp_path / name) is CopyFormat(written)


def test_a_place_that_cannot_be_written_is_told(
    open_window: OpenWindow, qtbot: QtBot, tmp_path: Path
) -> None:
    window = open_window()
    save_copy(window.context, tmp_path / "nowhere" / "m.json")
    wait_for(qtbot, lambda: "cannot be written" in window.notice.words())


@pytest.mark.qt_log_ignore("propagateSizeHints")
def test_the_file_is_chosen_without_holding_up_the_program(
    open_window: OpenWindow, services: Services, qtbot: QtBot, tmp_path: Path
) -> None:
    window = open_window()
    page = settings_page_of(window)
    page.memory.save.click()
    (dialog,) = page.findChildren(QFileDialog)
    assert dialog.isVisible()
    dialog.setDirectory(str(tmp_path))
    markdown = dialog.nameFilters()[1]
    dialog.selectNameFilter(markdown)
    dialog.filterSelected.emit(markdown)
    assert dialog.defaultSuffix() == "md"
    dialog.reject()
    wait_for(qtbot, lambda: not page.findChildren(QFileDialog))
    window.actions_of_window["save_copy"].trigger()
    (dialog,) = page.findChildren(QFileDialog)
    dialog.fileSelected.emit(str(tmp_path / "by-key.json"))
    dialog.reject()
    wait_for(qtbot, lambda: not page.findChildren(QFileDialog))
    wait_for(qtbot, (tmp_path / "by-key.json").exists)
