"""Import: programs to follow, files and folders to bring in, and what was brought in so far."""

from pathlib import Path

from PySide6.QtCore import Qt, QTimer
from PySide6.QtWidgets import QFileDialog, QHBoxLayout, QVBoxLayout, QWidget

from kmem_desktop.domain.changes import Noun
from kmem_desktop.domain.library.copies import CopyReport
from kmem_desktop.domain.sessions.importing import (
    ImportRecord,
    SessionImportReport,
    TranscriptProgram,
)
from kmem_desktop.errors import KmemError
from kmem_desktop.events import Change
from kmem_desktop.gui.context import BY_WINDOW, Context
from kmem_desktop.gui.detail.parts import ScrolledColumn
from kmem_desktop.gui.importing import sentences
from kmem_desktop.gui.importing.program_rows import ImportRow, ProgramRow, RowSection
from kmem_desktop.gui.importing.report_view import ReportView
from kmem_desktop.gui.importing.running_view import RunningView
from kmem_desktop.gui.importing.sentences import Report
from kmem_desktop.gui.models.parts import Section
from kmem_desktop.gui.pages.page import Page, PageHead
from kmem_desktop.gui.settings.setting_row import SettingRow
from kmem_desktop.gui.widgets.controls import Button, Look
from kmem_desktop.gui.wording import counted

LOOK_AGAIN_MS = 700
FILE_KINDS = [
    "Conversations, memories and copies (*.jsonl *.json *.zip *.db *.md)",
    "All files (*)",
]


class ImportPage(Page):
    """Shows a dry run first; nothing is written before Import is pressed."""

    def __init__(self, context: Context, parent: QWidget | None = None) -> None:
        """Lay out the page."""
        super().__init__(context, parent)
        self._path = ""
        self._program: TranscriptProgram | None = None
        self._is_running = False
        self.report: Report | None = None
        words = "Conversations and memories of other programs, and copies that kmem saved."
        self.head = PageHead("Import", words)
        self.choose_file = Button("Choose a file\u2026")
        self.choose_file.clicked.connect(self._on_choose_file)
        self.choose_folder = Button("Choose a folder\u2026")
        self.choose_folder.clicked.connect(self._on_choose_folder)
        self.go = Button("Import", key="\u21b5", look=Look.PRIMARY)
        self.go.setAutoDefault(True)
        self.go.clicked.connect(self._on_import)
        self.undo = Button("Undo the import")
        self.undo.clicked.connect(self._on_undo)
        self.cancel = Button("Cancel", key="Esc")
        self.cancel.clicked.connect(self.leave)
        self.view = ReportView()
        self.running = RunningView()
        self.programs = RowSection("Programs on this computer")
        self.past = RowSection("Imported so far")
        self.kinds = Section("What can be brought in")
        for name, words in sentences.KINDS:
            self.kinds.add_row(SettingRow(name, words))
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.timeout.connect(self.refresh)
        self._build()
        self._rest()

    def _build(self) -> None:
        area = ScrolledColumn("Import", margins=(20, 18, 20, 24))
        area.column.setSpacing(14)
        buttons = QHBoxLayout()
        buttons.setSpacing(8)
        for button in (self.go, self.undo, self.cancel):
            buttons.addWidget(button)
        buttons.addStretch(1)
        self.head.right.addWidget(self.choose_file)
        self.head.right.addWidget(self.choose_folder)
        area.column.addWidget(self.view)
        area.column.addWidget(self.running)
        area.column.addLayout(buttons)
        area.column.addWidget(self.view.problems)
        area.column.addWidget(self.programs)
        area.column.addWidget(self.past)
        area.column.addWidget(self.kinds)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.head)
        panel = QWidget()
        panel.setProperty("surface", "panel")
        panel.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        inside = QVBoxLayout(panel)
        inside.setContentsMargins(0, 0, 0, 0)
        inside.addWidget(area)
        column.addWidget(panel, 1)

    def activate(self) -> None:
        self.refresh()

    def take_change(self, change: Change) -> None:
        is_of_interest = change.noun in (Noun.SESSION, Noun.TURN, Noun.ENTITY, Noun.KNOWLEDGE)
        is_free = self.isVisible() and not self._is_running and not self._timer.isActive()
        if is_of_interest and is_free:
            self._timer.start(LOOK_AGAIN_MS)

    def refresh(self) -> None:
        """Look again which programs are there, and what was imported."""
        services = self.context.services
        self.context.tasks.run(
            services.transcripts.programs(), self._show_programs, topic="programs"
        )
        self.context.tasks.run(services.imports.list_imports(), self._show_past, topic="imports")

    def look_at(self, program: TranscriptProgram) -> None:
        """Look what keeping a program's transcripts would bring."""
        if not self._is_running:
            self.start(program.folder)
            self._program = program

    def start(self, path: str) -> None:
        """Look what importing this file or folder would do."""
        if self._is_running:
            return
        self._path, self._program = path, None
        name = Path(path).name or path
        self._begin(name, "Reading; nothing is written yet.")
        cancel = self.running.begin("Reading\u2026")
        self.context.tasks.run(
            self.context.services.imports.run(
                Path(path), BY_WINDOW, dry_run=True, tell=self.running.tell, cancel=cancel
            ),
            self._on_looked,
            failed=self._on_failed,
        )

    def go_back(self) -> bool:
        if self._is_running:
            self.running.stop()
            return True
        has_report = bool(self.title())
        self._rest()
        return has_report

    def leave(self) -> None:
        """Go to what was brought in, or back to the choice."""
        report = self.report
        self._rest()
        if report is not None and not sentences.is_rehearsal(report) and report.batch:
            self.context.shell.show_page(sentences.page_of(report))

    def title(self) -> str:
        """Return what the page says first."""
        return self.view.title.text()

    def _rest(self) -> None:
        """Show no report: there is a choice to be made."""
        self.report = None
        self._show_choice(on=True)
        self.view.say("", "")
        self.view.hide()
        self.running.end()
        self._is_running = False
        for button in (self.go, self.undo, self.cancel):
            button.hide()

    def _begin(self, title: str, words: str) -> None:
        self._is_running = True
        self.report = None
        self.view.say(title, words)
        self.view.show()
        for button in (self.go, self.undo, self.cancel):
            button.hide()
        self._show_choice(on=False)

    def _show_choice(self, *, on: bool) -> None:
        """Show what can be chosen, or only what was chosen."""
        self.choose_file.setEnabled(on)
        self.choose_folder.setEnabled(on)
        self.programs.setVisible(on and self.programs.has_rows())
        self.past.setVisible(on and self.past.has_rows())
        self.kinds.setVisible(on)

    def _on_looked(self, report: Report) -> None:
        if report.was_cancelled:
            self._rest()
            return
        self._show_report(report)

    def _show_report(self, report: Report) -> None:
        self._is_running = False
        self.report = report
        self.running.end()
        self.choose_file.setEnabled(True)
        self.choose_folder.setEnabled(True)
        self.view.show_report(report)
        self.view.show()
        would_bring = sentences.is_rehearsal(report) and sentences.new_count(report) > 0
        self.go.setVisible(would_bring)
        self.go.set_words("Keep them" if self._program else "Import", "\u21b5")
        self.undo.setVisible(bool(report.batch))
        self.cancel.set_words("Cancel" if would_bring else "Done", "Esc")
        self.cancel.show()
        (self.go if would_bring else self.cancel).setFocus()

    def _on_import(self) -> None:
        if self._program is not None:
            self.follow(self._program, on=True)
            return
        self._begin(Path(self._path).name or self._path, "It can be stopped, and undone later.")
        cancel = self.running.begin("Importing\u2026")
        self.context.tasks.run(
            self.context.services.imports.run(
                Path(self._path), BY_WINDOW, tell=self.running.tell, cancel=cancel
            ),
            self._on_done,
            failed=self._on_failed,
        )

    def _on_done(self, report: Report) -> None:
        if isinstance(report, CopyReport) and report.was_cancelled:
            self._rest()
            self.view.say("The import was stopped", "Nothing was brought in.")
            self.view.show()
        else:
            self._show_report(report)
        self.refresh()

    def follow(self, program: TranscriptProgram, on: bool) -> None:  # noqa: FBT001 - a switch
        """Keep a program's transcripts here from now on, those that are there too; or no longer."""
        if self._is_running:
            return
        transcripts = self.context.services.transcripts
        if not on:
            self.context.tasks.run(
                transcripts.follow(program.key, BY_WINDOW, on=False), lambda _report: self.refresh()
            )
            return
        self._begin(program.name, "Its conversations are brought in, and kept as it writes.")
        cancel = self.running.begin("Importing\u2026")
        self.context.tasks.run(
            transcripts.follow(program.key, BY_WINDOW, tell=self.running.tell, cancel=cancel),
            self._on_followed,
            failed=self._on_failed,
        )

    def _on_followed(self, report: SessionImportReport | None) -> None:
        if report is not None:
            self._show_report(report)
        self.refresh()

    def _on_undo(self) -> None:
        if self.report is not None:
            self._undo(self.report.batch)

    def _ask_undo(self, record: ImportRecord) -> None:
        name = sentences.import_name(record)
        more = " It is no longer followed then." if record.is_following else ""
        self.context.shell.ask(
            f"Undo the import of {name}? What others added since stays.{more}",
            "Undo",
            lambda: self._undo(record.uuid),
        )

    def _undo(self, batch: str) -> None:
        self._begin("Undoing the import", "What others added since stays.")
        self.running.begin("Undoing\u2026", can_stop=False)

        def done(count: int) -> None:
            self._rest()
            words = f"{counted(count, 'turn or change', 'turns and changes')} undone."
            self.view.say("The import was taken back", words)
            self.view.show()
            self.refresh()

        self.context.tasks.run(
            self.context.services.imports.undo(batch, BY_WINDOW, tell=self.running.tell_removed),
            done,
            failed=self._on_failed,
        )

    def _on_failed(self, error: KmemError) -> bool:
        title = self.title()
        self._rest()
        self.view.say(title, f"{error.message} {error.hint}".strip())
        self.view.show()
        return True

    def _show_programs(self, programs: list[TranscriptProgram]) -> None:
        self.programs.show_rows(
            programs, lambda: [ProgramRow(program, self.follow) for program in programs]
        )
        self._show_choice_again()

    def _show_past(self, records: list[ImportRecord]) -> None:
        self.past.show_rows(
            [(r.uuid, r.turn_count, r.undone_at, r.finished_at) for r in records],
            lambda: [ImportRow(record, self._ask_undo) for record in records],
        )
        self._show_choice_again()

    def _show_choice_again(self) -> None:
        if self.report is None and not self._is_running:
            self._show_choice(on=True)

    def _on_choose_file(self) -> None:
        dialog = QFileDialog(self, "Choose a file of conversations or memories")
        dialog.setFileMode(QFileDialog.FileMode.ExistingFile)
        dialog.setNameFilters(FILE_KINDS)
        self._open(dialog)

    def _on_choose_folder(self) -> None:
        dialog = QFileDialog(self, "Choose a folder of conversations or memories")
        dialog.setFileMode(QFileDialog.FileMode.Directory)
        self._open(dialog)

    def _open(self, dialog: QFileDialog) -> None:
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.fileSelected.connect(self.start)
        # Not exec(): a nested loop inside a task would end the program's own loop.
        dialog.open()
