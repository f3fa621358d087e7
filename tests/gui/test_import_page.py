"""The page Import: a dry run first, progress and an end, programs to follow, undoing."""

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QFileDialog
from pytestqt.qtbot import QtBot

from kmem_desktop.bootstrap import Services
from kmem_desktop.config import SettingsFile
from kmem_desktop.domain.library.copies import CopyFormat, CopyQuery, CopyReport
from kmem_desktop.domain.sessions.importing import TranscriptKind
from kmem_desktop.gui.importing.first_question import NOT_NOW
from kmem_desktop.gui.importing.program_rows import ProgramRow
from kmem_desktop.gui.importing.sentences import page_of as page_of_report
from kmem_desktop.gui.main_window import MainWindow
from kmem_desktop.gui.pages.import_page import ImportPage
from tests.gui.conftest import OpenWindow, Runner
from tests.gui.import_scenes import page_of, programs_in
from tests.gui.scenes import store, wait_for
from tests.services.importing.transcripts import YOU, claude_export, grow, said, set_age


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


@pytest.mark.parametrize("written", CopyFormat)
def test_a_copy_of_kmem_is_shown_first_then_brought_in_then_undone(
    open_window: OpenWindow,
    services: Services,
    run: Runner,
    qtbot: QtBot,
    tmp_path: Path,
    written: CopyFormat,
) -> None:
    item = store(run, services, "Queue moved from Redis to PostgreSQL")
    file = tmp_path / f"copy.{written}"
    run(services.library.exporting.to_file(CopyQuery(), written, file))
    run(services.knowledge.delete(item.id, YOU))
    window = open_window()
    window.open_import(str(file))
    page = page_of(window)
    wait_for(qtbot, lambda: is_settled(page))
    assert page.title() == f"{file.name} would bring 1 piece of knowledge"
    assert run(services.listing.counts()).knowledge == 0
    page.go.click()
    wait_for(qtbot, lambda: page.undo.isVisible())
    assert page.title() == f"1 piece of knowledge brought in from {file.name}"
    assert run(services.listing.counts()).knowledge == 1
    wait_for(qtbot, lambda: bool(page.past.lines))
    assert page.past.lines[0].words.text().startswith("1 piece of knowledge, from a copy of kmem")
    page.undo.click()
    wait_for(qtbot, lambda: page.title() == "The import was taken back")
    assert run(services.listing.counts()).knowledge == 0


def test_a_copy_leads_to_what_it_brought() -> None:
    def page(**new: int) -> str:
        return page_of_report(CopyReport(is_dry_run=False, new=new, changed=0, known={}))

    assert page(knowledge=1, sessions=2) == "knowledge"
    assert page(turns=2) == "sessions"
    assert page(entities=1, relations=1) == "graph"
    assert page(relations=1) == "graph"


# The first start


@pytest.fixture
def asking(
    open_window: OpenWindow, settings: SettingsFile, qtbot: QtBot, projects: Path
) -> MainWindow:
    """A window that asks whether the transcripts are to be kept."""
    for number, file in enumerate(projects.rglob("*.jsonl")):
        set_age(file, 25 if number < 2 else 1)
    settings.change(asked_about_transcripts=False)
    window = open_window()
    wait_for(qtbot, lambda: window.first_question.isVisible())
    return window


def test_the_first_start_says_what_was_found_and_what_is_about_to_go(asking: MainWindow) -> None:
    question = asking.first_question
    assert question.title.text() == "12 conversations found; 2 leave Claude Code this week"
    assert question.words.text().startswith("Claude Code deletes them after 30 days.")
    assert question.words.text().endswith("offers the same for 1 conversation of Codex CLI.")
    asking.show_page("knowledge")
    assert question.isVisible()


def test_keeping_brings_the_conversations_in_and_asks_never_again(
    asking: MainWindow,
    open_window: OpenWindow,
    services: Services,
    settings: SettingsFile,
    run: Runner,
    qtbot: QtBot,
) -> None:
    asking.first_question.keep.click()
    page = asking.current_page
    assert isinstance(page, ImportPage)
    wait_for(qtbot, lambda: is_settled(page))
    assert session_count(run, services) == 12
    assert settings.refresh().follows_transcripts == ["claude-code"]
    again = open_window()
    wait_for(qtbot, lambda: bool(page_of(again).programs.lines))
    assert not again.first_question.isVisible()


def test_not_now_is_respected_and_the_page_import_goes_on_offering(
    asking: MainWindow, open_window: OpenWindow, services: Services, run: Runner, qtbot: QtBot
) -> None:
    asking.first_question.not_now.click()
    assert not asking.first_question.isVisible()
    assert asking.notice.words() == NOT_NOW
    again = open_window()
    wait_for(qtbot, lambda: bool(page_of(again).programs.lines))
    assert not again.first_question.isVisible()
    assert page_of(again).programs.lines[0].button.text() == "Keep them here"
    assert session_count(run, services) == 0


def test_who_looks_first_sees_what_would_come_and_keeps_it_from_there(
    asking: MainWindow, services: Services, settings: SettingsFile, run: Runner, qtbot: QtBot
) -> None:
    asking.first_question.look.click()
    page = asking.current_page
    assert isinstance(page, ImportPage)
    wait_for(qtbot, lambda: page.go.isVisible())
    assert page.title() == "Claude Code would bring 12 conversations with 108 turns"
    assert page.go.text() == "Keep them"
    assert session_count(run, services) == 0
    assert not settings.refresh().asked_about_transcripts
    page.go.click()
    wait_for(qtbot, lambda: page.undo.isVisible())
    assert session_count(run, services) == 12
    assert settings.refresh().follows_transcripts == ["claude-code"]
    codex = page.programs.lines[1]
    assert isinstance(codex, ProgramRow)
    page.start(codex.program.folder)
    wait_for(qtbot, lambda: page.go.isVisible())
    assert page.go.text() == "Import"
