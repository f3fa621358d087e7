"""The page Import: a dry run first, progress and an end, programs to follow, undoing."""

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QFileDialog
from pytestqt.qtbot import QtBot

from kmem_desktop.bootstrap import Services
from kmem_desktop.config import SettingsFile
from kmem_desktop.domain.sessions.importing import TranscriptKind
from kmem_desktop.gui.pages.import_page import ImportPage
from tests.gui.conftest import OpenWindow, Runner
from tests.gui.import_scenes import page_of, programs_in
from tests.gui.scenes import wait_for
from tests.services.importing.transcripts import YOU, claude_export, grow, said


@pytest.fixture
def projects(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Transcripts of Claude Code and Codex in folders of their own."""
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "claude"))
    monkeypatch.setenv("CODEX_HOME", str(tmp_path / "codex"))
    monkeypatch.setattr(Path, "home", lambda: tmp_path / "user")
    return programs_in(tmp_path)


def session_count(run: Runner, services: Services) -> int:
    return len(run(services.recall.list_sessions(limit=100)))


def is_settled(page: ImportPage) -> bool:
    return page.report is not None and not page._is_running


def test_conversations_are_shown_first_then_imported_then_undone(
    open_window: OpenWindow, services: Services, run: Runner, qtbot: QtBot, projects: Path
) -> None:
    grow(min(projects.rglob("*.jsonl")), ["cut of"])
    window = open_window()
    window.open_import(str(projects))
    page = window.current_page
    assert isinstance(page, ImportPage)
    wait_for(qtbot, lambda: is_settled(page))
    assert page.title() == "Claude Code would bring 12 conversations with 108 turns"
    assert page.view.problems.isVisible()
    assert not page.programs.isVisible()
    assert session_count(run, services) == 0
    page.go.click()
    wait_for(qtbot, lambda: page.undo.isVisible())
    assert page.title() == "12 conversations with 108 turns brought in from Claude Code"
    assert session_count(run, services) == 12
    page.undo.click()
    wait_for(qtbot, lambda: page.title() == "The import was taken back")
    assert session_count(run, services) == 0
    wait_for(qtbot, lambda: [row.state.text() for row in page.past.lines] == ["undone"])
    assert not page.past.lines[0].button.isVisible()


def test_escape_goes_back_to_the_choice_and_done_to_what_was_brought_in(
    open_window: OpenWindow, services: Services, qtbot: QtBot, projects: Path, tmp_path: Path
) -> None:
    window = open_window()
    page = page_of(window)
    wait_for(qtbot, lambda: page.programs.isVisible())
    export = str(claude_export(tmp_path / "export.zip", ("c", 3)))
    page.start(export)
    wait_for(qtbot, lambda: is_settled(page))
    QTest.keyClick(window, Qt.Key.Key_Escape)
    assert page.title() == ""
    assert page.programs.isVisible()
    page.start(export)
    wait_for(qtbot, lambda: page.go.isVisible())
    QTest.keyClick(page.go, Qt.Key.Key_Return)
    wait_for(qtbot, lambda: page.undo.isVisible())
    page.cancel.click()
    assert window.current_page is not page


def test_programs_are_offered_followed_and_told_to_be_safe(
    open_window: OpenWindow, services: Services, run: Runner, qtbot: QtBot, projects: Path
) -> None:
    page = page_of(open_window())
    wait_for(qtbot, lambda: page.programs.isVisible())
    claude, codex = page.programs.lines
    assert "12 conversations are on this computer, 4 of them go" in claude.words.text()
    assert claude.state.text() == "4 expire soon"
    assert codex.name.text() == "Codex CLI"
    claude.button.click()
    wait_for(qtbot, lambda: is_settled(page))
    assert session_count(run, services) == 12
    page.go_back()
    wait_for(qtbot, lambda: page.programs.lines[0].state.text() == "all safe here")
    assert page.programs.lines[0].words.text().endswith("expire in the next 7 days, all safe here.")
    assert page.past.lines[0].name.text() == "Claude Code, as it writes"
    page.programs.lines[0].button.click()
    wait_for(qtbot, lambda: page.programs.lines[0].state.text() != "all safe here")
    assert session_count(run, services) == 12


def test_past_imports_are_undone_after_a_question(
    open_window: OpenWindow, services: Services, run: Runner, qtbot: QtBot, projects: Path
) -> None:
    run(services.transcripts.follow(TranscriptKind.CLAUDE_CODE, YOU))
    window = open_window()
    page = page_of(window)
    wait_for(qtbot, lambda: bool(page.past.lines))
    page.past.lines[0].button.click()
    assert window.notice.is_asking
    assert "no longer followed" in window.notice.words()
    window.notice.press()
    wait_for(qtbot, lambda: page.title() == "The import was taken back")
    assert session_count(run, services) == 0
    wait_for(qtbot, lambda: "Keep them here?" in page.programs.lines[0].words.text())


def test_an_import_is_stopped_and_says_so(
    open_window: OpenWindow, services: Services, run: Runner, qtbot: QtBot, tmp_path: Path
) -> None:
    file = tmp_path / "long.jsonl"
    grow(file, [said("long", n, f"Turn {n} about many words. " * 20) for n in range(6000)])
    window = open_window()
    window.open_import(str(file))
    page = window.current_page
    assert isinstance(page, ImportPage)
    wait_for(qtbot, lambda: page.go.isVisible())
    page.go.click()
    assert not page.choose_file.isEnabled()
    page.running.cancel.click()
    wait_for(qtbot, lambda: is_settled(page))
    assert "ended early" in page.view.words.text()
    assert page.choose_file.isEnabled()


def test_what_cannot_be_read_is_told_on_the_page(
    open_window: OpenWindow, qtbot: QtBot, tmp_path: Path
) -> None:
    (tmp_path / "empty").mkdir()
    window = open_window()
    window.open_import(str(tmp_path / "empty"))
    page = window.current_page
    assert isinstance(page, ImportPage)
    wait_for(qtbot, lambda: "nothing that kmem can read" in page.view.words.text())
    assert page.title() == "empty"
    assert not page.go.isVisible()


def test_the_page_grows_with_what_is_imported_elsewhere(
    open_window: OpenWindow, services: Services, run: Runner, qtbot: QtBot, tmp_path: Path
) -> None:
    page = page_of(open_window())
    run(services.transcripts.run(claude_export(tmp_path / "export.zip", ("c", 3)), YOU))
    wait_for(qtbot, lambda: [row.name.text() for row in page.past.lines] == ["export.zip"])


@pytest.mark.qt_log_ignore("propagateSizeHints")
def test_files_and_folders_are_chosen_without_holding_up_the_program(
    open_window: OpenWindow, qtbot: QtBot
) -> None:
    window = open_window()
    window.choose_import()
    page = window.current_page
    assert isinstance(page, ImportPage)
    for button in (page.choose_file, page.choose_folder):
        button.click()
        (dialog,) = page.findChildren(QFileDialog)
        assert dialog.isVisible()
        with qtbot.waitSignal(dialog.destroyed):
            dialog.reject()


def test_the_first_run_asks_once_and_keeps_what_it_is_told_to(
    open_window: OpenWindow,
    services: Services,
    settings: SettingsFile,
    run: Runner,
    qtbot: QtBot,
    projects: Path,
) -> None:
    settings.change(asked_about_transcripts=False)
    window = open_window()
    wait_for(qtbot, lambda: window.notice.is_asking)
    assert window.notice.words().startswith("Claude Code deletes its transcripts after 30 days.")
    window.notice.press()
    page = window.current_page
    assert isinstance(page, ImportPage)
    wait_for(qtbot, lambda: is_settled(page))
    assert session_count(run, services) == 12
    assert settings.refresh().follows_transcripts == ["claude-code"]
    again = open_window()
    page_of(again)
    wait_for(qtbot, lambda: bool(page_of(again).programs.lines))
    assert not again.notice.is_asking
