"""Import: what a memory file would bring, then what it brought, and undoing it."""

from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QVBoxLayout, QWidget

from kmem_desktop.domain.importing import ImportReport
from kmem_desktop.errors import KmemError
from kmem_desktop.gui.context import BY_WINDOW, Context
from kmem_desktop.gui.detail.parts import ScrolledColumn
from kmem_desktop.gui.pages.page import Page, PageHead
from kmem_desktop.gui.theme import Type
from kmem_desktop.gui.widgets.controls import Button, Look
from kmem_desktop.gui.widgets.labels import Card, Label
from kmem_desktop.gui.wording import counted

SHOWN_PROBLEMS = 100


class ImportPage(Page):
    """Shows a dry run first; nothing is written before Import is pressed."""

    def __init__(self, context: Context, parent: QWidget | None = None) -> None:
        """Lay out the page."""
        super().__init__(context, parent)
        self._path = ""
        self.report: ImportReport | None = None
        self.head = PageHead("Import", "The memory file of the reference memory server.")
        self.go = Button("Import", key="↵", look=Look.PRIMARY)
        self.go.setAutoDefault(True)
        self.go.clicked.connect(self._on_import)
        self.undo = Button("Undo the import")
        self.undo.clicked.connect(self._on_undo)
        self.cancel = Button("Cancel", key="Esc")
        self.cancel.clicked.connect(self.leave)
        self.choose = Button("Choose another file…")
        self.choose.clicked.connect(context.shell.choose_import)
        self._title = Label("", Type.NAME, wrap=True)
        self._words = Label("", Type.BODY, "ink2", wrap=True)
        self._found = Card("Found")
        self._problems = Card("Lines that were not understood")
        self._build()
        self._show_waiting("")

    def _build(self) -> None:
        area = ScrolledColumn("Import report", margins=(20, 18, 20, 24))
        area.column.setSpacing(14)
        self._grid = QGridLayout()
        self._grid.setHorizontalSpacing(24)
        self._grid.setVerticalSpacing(6)
        self._grid.setColumnStretch(3, 1)
        self._found.body.addLayout(self._grid)
        self._problem_grid = QGridLayout()
        self._problem_grid.setHorizontalSpacing(16)
        self._problem_grid.setVerticalSpacing(8)
        self._problem_grid.setColumnStretch(1, 1)
        self._problems.body.addLayout(self._problem_grid)
        buttons = QHBoxLayout()
        buttons.setSpacing(8)
        for button in (self.go, self.undo, self.cancel, self.choose):
            buttons.addWidget(button)
        buttons.addStretch(1)
        area.column.addWidget(self._title)
        area.column.addWidget(self._words)
        area.column.addWidget(self._found)
        area.column.addLayout(buttons)
        area.column.addWidget(self._problems)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.head)
        column.addWidget(area, 1)

    def start(self, path: str) -> None:
        """Look what importing this file would do."""
        self._path = path
        self._show_waiting("Reading the file; nothing is written yet.")
        self.context.tasks.run(
            self.context.services.importing.import_reference_memory(Path(path), dry_run=True),
            self._show_report,
            failed=self._on_failed,
            topic="import",
        )

    def go_back(self) -> bool:
        self.leave()
        return True

    def leave(self) -> None:
        """Go to what was, or was not, brought in."""
        self.context.tasks.drop("import")
        self.context.shell.show_page("graph")

    def title(self) -> str:
        """Return what the page says first."""
        return self._title.text()

    def _show_waiting(self, words: str) -> None:
        self.report = None
        self._title.setText(Path(self._path).name or "No file chosen")
        self._words.setText(words)
        for widget in (self._found, self._problems, self.go, self.undo):
            widget.hide()
        self.cancel.set_words("Cancel", "Esc")

    def _show_report(self, report: ImportReport) -> None:
        self.report = report
        new = report.entities_new + report.observations_new + report.relations_new
        self._title.setText(_headline(report, new))
        self._words.setText(_explanation(report, new))
        _fill(self._grid, _numbers(report))
        self._found.show()
        self._show_problems(report)
        self.go.setVisible(report.dry_run and new > 0)
        self.undo.setVisible(bool(report.batch))
        self.cancel.set_words("Cancel" if report.dry_run and new else "Done", "Esc")
        (self.go if report.dry_run and new else self.cancel).setFocus()

    def _show_problems(self, report: ImportReport) -> None:
        lines = [
            (f"{problem.line:,}", problem.message, problem.text)
            for problem in report.problems[:SHOWN_PROBLEMS]
        ]
        _clear(self._problem_grid)
        for row, (number, message, text) in enumerate(lines):
            line = Label(f"line {number}", Type.META, "ink3")
            self._problem_grid.addWidget(line, row, 0, Qt.AlignmentFlag.AlignTop)
            cell = QVBoxLayout()
            cell.setSpacing(1)
            cell.addWidget(Label(message, Type.META, "bad", wrap=True))
            cell.addWidget(Label(text[:120], Type.CODE, "ink2", wrap=True))
            holder = QWidget()
            holder.setLayout(cell)
            cell.setContentsMargins(0, 0, 0, 0)
            self._problem_grid.addWidget(holder, row, 1)
        self._problems.setVisible(bool(lines))

    def _on_import(self) -> None:
        self.go.setEnabled(False)

        def done(report: ImportReport) -> None:
            self.go.setEnabled(True)
            self._show_report(report)

        def failed(error: KmemError) -> bool:
            self.go.setEnabled(True)
            return self._on_failed(error)

        self.context.tasks.run(
            self.context.services.importing.import_reference_memory(
                Path(self._path), dry_run=False
            ),
            done,
            failed=failed,
        )

    def _on_undo(self) -> None:
        if self.report is None:
            return
        self.undo.setEnabled(False)

        def done(count: int) -> None:
            self.undo.setEnabled(True)
            self.undo.hide()
            self._title.setText("The import was taken back")
            self._words.setText(f"{counted(count, 'change')} undone; the file is as it was.")

        self.context.tasks.run(
            self.context.services.history.undo_batch(self.report.batch, BY_WINDOW), done
        )

    def _on_failed(self, error: KmemError) -> bool:
        self._show_waiting(f"{error.message} {error.hint}".strip())
        return True


def _headline(report: ImportReport, new: int) -> str:
    name = Path(report.path).name
    if report.dry_run:
        return (
            f"{name} would bring {counted(new, 'new thing')}" if new else f"{name} has nothing new"
        )
    return f"{counted(new, 'thing')} brought in from {name}"


def _explanation(report: ImportReport, new: int) -> str:
    if report.dry_run:
        words = "Nothing is written yet. " if new else ""
        words += "What is known already stays as it is; importing twice changes nothing."
    else:
        words = "They can be searched now, and the import can be undone as a whole."
    if report.dangling_relations:
        count = counted(report.dangling_relations, "relation names", "relations name")
        words += f" {count} an entity that is not there; kept all the same."
    if report.problems:
        count = counted(len(report.problems), "line")
        words += f" {count} could not be understood"
        words += "." if report.dry_run else f"; kept in {report.kept_lines_path}."
    return words


def _numbers(report: ImportReport) -> list[tuple[str, str, str]]:
    return [
        ("Entities", f"{report.entities_new:,} new", f"{report.entities_known:,} known"),
        ("Observations", f"{report.observations_new:,} new", ""),
        ("Relations", f"{report.relations_new:,} new", f"{report.relations_known:,} known"),
        ("Broken lines", f"{len(report.problems):,}", ""),
    ]


def _clear(grid: QGridLayout) -> None:
    while item := grid.takeAt(0):
        if (widget := item.widget()) is not None:
            widget.hide()
            widget.deleteLater()


def _fill(grid: QGridLayout, rows: list[tuple[str, str, str]]) -> None:
    _clear(grid)
    for line, cells in enumerate(rows):
        for column, text in enumerate(cells):
            label = Label(text, Type.BODY, "ink3" if column in (0, 2) else "ink")
            if column:
                label.setAlignment(Qt.AlignmentFlag.AlignRight)
            grid.addWidget(label, line, column)
