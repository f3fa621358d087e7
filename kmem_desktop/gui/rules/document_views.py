"""What stands above directives: a document, a section, a project; and what became of reading."""

from collections.abc import Sequence
from itertools import groupby

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from kmem_desktop.domain.rule_library import IngestionReport, RuleFolder, StoredRule
from kmem_desktop.domain.rules import ParseNote, RuleSection
from kmem_desktop.gui.detail.parts import CutText, ScrolledColumn
from kmem_desktop.gui.rules.rule_parts import ExportCard, NamedRows, clear
from kmem_desktop.gui.rules.sentences import (
    document_facts,
    document_rows,
    inside,
    project_name,
    report_summary,
)
from kmem_desktop.gui.theme import Type
from kmem_desktop.gui.widgets.controls import Button, Look
from kmem_desktop.gui.widgets.labels import Card, Label
from kmem_desktop.gui.wording import counted, scope_name

_SHOWN_NOTES = 40
_LOOKED_FOR = (
    "kmem reads CLAUDE.md, AGENTS.md, .claude/rules, .cursor/rules, Copilot instructions and style"
    " guides. The folder is watched: a rule file that appears is read then."
)


class NotesCard(Card):
    """What was understood of a document and what was passed over, line by line."""

    def __init__(self, parent: QWidget | None = None) -> None:
        """Start hidden."""
        super().__init__("How it was read", parent)
        self._notes: Sequence[ParseNote] = ()
        self._summary = Label("", Type.BODY, wrap=True)
        self._warnings = Label("", Type.META, "warn", wrap=True)
        self._lines = Label("", Type.META, "ink2", wrap=True).allow_selection()
        self._lines.hide()
        self._toggle = Button("Show every line", look=Look.LINK)
        self._toggle.clicked.connect(self._on_toggle)
        for widget in (self._summary, self._warnings, self._toggle, self._lines):
            self.body.addWidget(widget)

    def show_notes(self, notes: Sequence[ParseNote]) -> None:
        """Show these notes, those to look at first; nothing without any."""
        self._notes = notes
        warnings = [note for note in notes if note.is_warning]
        read = sum(note.message.startswith(("Read", "Part of")) for note in notes)
        passed = len(notes) - read - len(warnings)
        parts = [f"{counted(read, 'line')} understood"] if read else []
        parts += [f"{passed:,} passed over"] if passed > 0 else []
        parts += [f"{len(warnings):,} to look at"] if warnings else []
        self._summary.setText(", ".join(parts) + ".")
        self._warnings.setText(_lines(warnings[:_SHOWN_NOTES]))
        self._warnings.setVisible(bool(warnings))
        self._lines.hide()
        self._toggle.set_words("Show every line")
        self.setVisible(bool(notes))

    def _on_toggle(self) -> None:
        shown = self._lines.isHidden()
        if shown:
            self._lines.setText(_lines(self._notes))
        self._lines.setVisible(shown)
        self._toggle.set_words("Hide the lines" if shown else "Show every line")


def _lines(notes: Sequence[ParseNote]) -> str:
    return "\n".join(
        f"Line {note.line}: {note.message}" if note.line else note.message for note in notes
    )


class DocumentView(ScrolledColumn):
    """Shows a document, or one section of it.

    Signals:
        settle_wanted: Whether to take what the file says now (True), or to keep the edits.
    """

    settle_wanted = Signal(bool)

    def __init__(self, parent: QWidget | None = None) -> None:
        """Start without a document."""
        super().__init__("Document", parent=parent)
        self.rule: StoredRule | None = None
        self._title = Label("", Type.TITLE, wrap=True).allow_selection()
        self._name = Label("", Type.BODY, "ink2", wrap=True)
        self._facts = Label("", Type.META, "ink3", wrap=True)
        self._rows = NamedRows()
        self._news = self._build_news()
        self._text = CutText("Section")
        self.export = ExportCard()
        self.notes = NotesCard()
        column = self.column
        column.addWidget(self._title)
        column.addWidget(self._name)
        column.addSpacing(6)
        column.addWidget(self._facts)
        column.addSpacing(12)
        column.addWidget(self._rows)
        cards = QVBoxLayout()
        cards.setSpacing(10)
        for card in (self._news, self._text, self.notes, self.export):
            cards.addWidget(card)
        column.addSpacing(14)
        column.addLayout(cards)

    def _build_news(self) -> Card:
        card = Card()
        self._news_words = Label("", Type.BODY, wrap=True)
        take = Button("Compare with the file…", key="F")
        keep = Button("Keep yours", key="M")
        take.clicked.connect(lambda: self.settle_wanted.emit(True))
        keep.clicked.connect(lambda: self.settle_wanted.emit(False))
        self._keep = keep
        line = QHBoxLayout()
        line.setSpacing(8)
        line.addWidget(take)
        line.addWidget(keep)
        line.addStretch(1)
        card.body.addWidget(self._news_words)
        card.body.addLayout(line)
        card.hide()
        return card

    def show_document(self, rule: StoredRule) -> None:
        """Show a document."""
        self._title.setText(rule.place)
        same = rule.name.strip() in ("", rule.place)
        self._name.setText("" if same else rule.name)
        self._name.setVisible(not same)
        self._facts.setText(document_facts(rule))
        self._facts.setToolTip(rule.path)
        rows = document_rows(rule)
        if rule.description:
            rows.insert(0, ("Says", rule.description))
        self._rows.set_rows(rows)
        self._news_words.setText(_news_words(rule))
        self._news.setVisible(rule.has_news or rule.is_edited)
        self._keep.setVisible(rule.has_news)
        self._text.hide()
        self.export.show()
        self.notes.show_notes(rule.notes)
        self._begin(rule)

    def show_section(self, rule: StoredRule, heading: str, section: RuleSection | None) -> None:
        """Show a section as it is written."""
        self._title.setText(heading)
        line = f", line {section.line}" if section is not None else ""
        self._name.setText(f"{rule.place}{line}")
        self._name.show()
        self._facts.setText("")
        self._rows.set_rows(())
        self._news.hide()
        self.export.hide()
        self.notes.hide()
        self._text.set_markdown(section.content if section is not None else "")
        self._text.show()
        self._begin(rule)

    def _begin(self, rule: StoredRule) -> None:
        if self.rule is None or self.rule.id != rule.id:
            self.verticalScrollBar().setValue(0)
        self.rule = rule


def _news_words(rule: StoredRule) -> str:
    if not rule.has_news:
        return "Edited here. Your words are kept when the file is read again."
    if rule.folder_id is None:
        words = "Another version was handed in since you edited it here."
    else:
        words = "Its file changed since you edited it here."
    return f"{words} Your words are kept until you say."


class FolderView(ScrolledColumn):
    """Shows a project's folder, or what belongs to no folder.

    Signals:
        take_back_wanted: A file that was forgotten is to be read again (its path).
    """

    take_back_wanted = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        """Start without a folder."""
        super().__init__("Project", parent=parent)
        self.rules: Sequence[StoredRule] = ()
        self._title = Label("", Type.TITLE, wrap=True)
        self._path = Label("", Type.BODY, "ink2", wrap=True).allow_selection()
        self._facts = Label("", Type.META, "ink3", wrap=True)
        self._missing = Card()
        words = "The folder is not there now. What was read from it stays until you forget it."
        self._missing.body.addWidget(Label(words, Type.BODY, wrap=True))
        self._look_at = Card("To look at")
        self._look_at_lines = Label("", Type.META, "warn", wrap=True).allow_selection()
        self._look_at.body.addWidget(self._look_at_lines)
        self._forgotten = Card("Forgotten, and not read again")
        self._forgotten_lines = QVBoxLayout()
        self._forgotten_lines.setSpacing(6)
        self._forgotten.body.addLayout(self._forgotten_lines)
        self.export = ExportCard()
        column = self.column
        column.addWidget(self._title)
        column.addWidget(self._path)
        column.addSpacing(6)
        column.addWidget(self._facts)
        cards = QVBoxLayout()
        cards.setSpacing(10)
        for card in (self._missing, self._look_at, self._forgotten, self.export):
            cards.addWidget(card)
        column.addSpacing(14)
        column.addLayout(cards)

    def show_folder(self, folder: RuleFolder, rules: Sequence[StoredRule]) -> None:
        """Show a folder that is read."""
        self._path.setText(folder.path)
        self._path.show()
        self._missing.setVisible(not folder.is_there)
        self._show_forgotten(folder)
        words = f"{_counts(rules)} Only for work on {scope_name(folder.scope)}."
        if folder.is_there:
            words += " The folder is watched: a file that changes is read again by itself."
        self._show(project_name(folder), words, rules)

    def show_shelf(self, title: str, rules: Sequence[StoredRule]) -> None:
        """Show documents that belong to no folder."""
        self._path.hide()
        self._missing.hide()
        self._forgotten.hide()
        self._show(title, f"{_counts(rules)} Handed in by assistants, or imported by you.", rules)

    def _show_forgotten(self, folder: RuleFolder) -> None:
        clear(self._forgotten_lines)
        for path in folder.ignored:
            line = QWidget()
            parts = QHBoxLayout(line)
            parts.setContentsMargins(0, 0, 0, 0)
            name = inside(path, folder)
            parts.addWidget(Label(name, Type.BODY, wrap=True), 1)
            again = Button("Read it again")
            again.setAccessibleName(f"Read {name} again")
            again.clicked.connect(lambda _=False, path=path: self.take_back_wanted.emit(path))
            parts.addWidget(again)
            self._forgotten_lines.addWidget(line)
        self._forgotten.setVisible(bool(folder.ignored))

    def _show(self, title: str, facts: str, rules: Sequence[StoredRule]) -> None:
        self._title.setText(title)
        self._facts.setText(facts)
        self.rules = rules
        lines = [
            f"{rule.place}, line {note.line}: {note.message}"
            for rule in rules
            for note in rule.notes
            if note.is_warning
        ]
        self._look_at_lines.setText("\n".join(lines[:_SHOWN_NOTES]))
        self._look_at.setVisible(bool(lines))
        self.export.setVisible(bool(rules))
        self.verticalScrollBar().setValue(0)


def _counts(rules: Sequence[StoredRule]) -> str:
    directives = sum(rule.directives for rule in rules)
    tokens = sum(rule.tokens for rule in rules)
    if not rules:
        return "No rule files were found in it so far."
    return (
        f"{counted(len(rules), 'file')}, {counted(directives, 'directive')},"
        f" about {tokens:,} tokens as a whole."
    )


class ReportView(ScrolledColumn):
    """Shows a report."""

    def __init__(self, parent: QWidget | None = None) -> None:
        """Start without a report."""
        super().__init__("What was read", parent=parent)
        self.report: IngestionReport | None = None
        self._title = Label("", Type.TITLE, wrap=True)
        self._summary = Label("", Type.BODY, "ink2", wrap=True)
        self._cards = QVBoxLayout()
        self._cards.setSpacing(10)
        self.column.addWidget(self._title)
        self.column.addSpacing(4)
        self.column.addWidget(self._summary)
        self.column.addSpacing(14)
        self.column.addLayout(self._cards)

    def show_report(self, title: str, report: IngestionReport, base: str = "") -> None:
        """Show what became of documents.

        Args:
            title: What was read.
            report: What became of it.
            base: The folder, which is not repeated in front of each file.
        """
        self.report = report
        self._title.setText(title)
        words = report_summary(report)
        if base and not report.rules and not report.unchanged and not report.errors:
            words += f" {_LOOKED_FOR}"
        self._summary.setText(words)
        clear(self._cards)
        if report.errors:
            lines = "\n".join(_once(_shorter(error, base), base) for error in report.errors)
            self._add(f"Not read ({len(report.errors):,})", lines, "bad")
        if report.warnings:
            self._add_warnings(report, base)
        self.verticalScrollBar().setValue(0)

    def words(self) -> str:
        """Return everything that is said."""
        labels = (label.text() for label in self.findChildren(Label) if not label.isHidden())
        return "\n".join(labels)

    def _add_warnings(self, report: IngestionReport, base: str) -> None:
        split = [_split(_shorter(warning, base)) for warning in report.warnings]
        for place, warnings in groupby(split, key=lambda warning: warning[0]):
            lines = "\n".join(words for _, words in warnings)
            self._add(place, lines, "ink")

    def _add(self, title: str, lines: str, color: str) -> None:
        card = Card(title)
        card.body.addWidget(Label(lines, Type.BODY, color, wrap=True).allow_selection())
        self._cards.addWidget(card)


def _shorter(words: str, base: str) -> str:
    return words.removeprefix(base).lstrip("/\\") if base and words.startswith(base) else words


def _once(error: str, base: str) -> str:
    """Return "a.md is no file." of "a.md: /project/a.md is no file."."""
    place, separator, words = error.partition(": ")
    return _shorter(words, base) if separator and place in words else error


def _split(warning: str) -> tuple[str, str]:
    """Return document and words of "docs/api.md, line 3: Nothing stands here"."""
    place, separator, words = warning.partition(": ")
    if not separator:
        return "", warning
    document, comma, line = place.rpartition(", line ")
    return (document, f"Line {line}: {words}") if comma else (place, words)
