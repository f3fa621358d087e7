"""The programs on this computer that keep transcripts, and whether these are kept here."""

from collections.abc import Callable, Sequence

from PySide6.QtWidgets import QWidget

from kmem_desktop.domain.sessions.importing import ImportRecord, TranscriptProgram
from kmem_desktop.gui.importing import sentences
from kmem_desktop.gui.models.parts import Lined, Row, Section
from kmem_desktop.gui.widgets.controls import Button, Look


class ProgramRow(Row):
    """A program: what it keeps for how long, and the one button that keeps it here."""

    def __init__(
        self, program: TranscriptProgram, follow: Callable[[TranscriptProgram, bool], object]
    ) -> None:
        """Show the program."""
        super().__init__(program.name)
        self.program = program
        self.words.setText(sentences.program_words(program))
        self.setToolTip(program.folder)
        if program.is_followed:
            is_here = program.stored_count == program.session_count
            self.state.set_state("all safe here" if is_here else "kept here", "good")
            self.button = self.add_button(
                Button("Keep no more"), f"No longer keep the transcripts of {program.name}"
            )
        else:
            if program.expiring_count > program.expiring_stored_count:
                self.state.set_state(f"{program.expiring_count:,} expire soon", "warn")
            self.button = self.add_button(
                Button("Keep them here", look=Look.PRIMARY),
                f"Keep the transcripts of {program.name} here",
            )
        self.button.clicked.connect(lambda: follow(program, not program.is_followed))


class ImportRow(Row):
    """An import of the past, and how it is undone."""

    def __init__(self, record: ImportRecord, undo: Callable[[ImportRecord], object]) -> None:
        """Show the import."""
        super().__init__(sentences.import_name(record))
        self.record = record
        self.words.setText(sentences.import_words(record))
        self.state.set_state(*sentences.import_state(record))
        self.setToolTip(record.path)
        self.button = Button("Undo")
        self.add_button(self.button, f"Undo the import of {sentences.import_name(record)}")
        self.button.setVisible(record.undone_at is None)
        self.button.clicked.connect(lambda: undo(record))


class RowSection(Section):
    """A section whose rows are made anew when they change."""

    def __init__(self, name: str, words: str = "", parent: QWidget | None = None) -> None:
        """Start without rows."""
        super().__init__(name, words, parent)
        self._shown: Sequence[object] = ()
        self.lines: list[ProgramRow | ImportRow] = []
        self.hide()

    def show_rows(
        self, facts: Sequence[object], make: Callable[[], Sequence[ProgramRow | ImportRow]]
    ) -> None:
        """Show rows, unless they would be as they are.

        Args:
            facts: What the rows show.
            make: Makes them.
        """
        if tuple(facts) == tuple(self._shown):
            return
        self._shown = tuple(facts)
        while item := self.rows.takeAt(0):
            if (widget := item.widget()) is not None:
                widget.hide()
                widget.deleteLater()
        self.lines = list(make())
        for row in self.lines:
            self.rows.addWidget(Lined(row))

    def has_rows(self) -> bool:
        """Return whether there is anything to see."""
        return bool(self.lines)
