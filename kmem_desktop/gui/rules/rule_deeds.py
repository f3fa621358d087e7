"""What a person does to rules in the window; each says what happened, and how to take it back."""

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from pathlib import Path
from typing import Any

from PySide6.QtCore import Qt, QUrl
from PySide6.QtGui import QDesktopServices, QGuiApplication
from PySide6.QtWidgets import QFileDialog, QWidget

from kmem_desktop.domain.rule_library import (
    IngestionReport,
    RuleChanges,
    RuleConflict,
    RuleFolder,
    StoredDirective,
    StoredRule,
    SubmittedDocument,
)
from kmem_desktop.domain.rules import RuleFormat, RuleRelationKind, RuleStatus
from kmem_desktop.errors import KmemError
from kmem_desktop.gui.context import BY_WINDOW, Context, Undo
from kmem_desktop.gui.rules.directive_form import as_it_was
from kmem_desktop.gui.rules.sentences import EXPORT_NAMES, inside, project_name
from kmem_desktop.gui.wording import counted, quoted

_STATUS_SENTENCES = {
    RuleStatus.APPROVED: "Approved: {what}. Assistants get it from now on.",
    RuleStatus.REJECTED: "Rejected: {what}. Assistants no longer get it, even when its file is"
    " read again.",
    RuleStatus.PROPOSED: "Proposed again: {what}. It waits for you.",
}
_MOST_RELATED = 5
_FILES = "Rule files (*.md *.mdc *.markdown *.txt .cursorrules .windsurfrules)"
_FILE_NAMES = {
    RuleFormat.CLAUDE: "CLAUDE.md",
    RuleFormat.AGENTS: "AGENTS.md",
    RuleFormat.CURSOR: "rules.mdc",
    RuleFormat.COPILOT: "copilot-instructions.md",
}

Reported = Callable[[str, IngestionReport, str], None]


class RuleDeeds:
    """The deeds, each off the Qt thread."""

    def __init__(self, context: Context, take_keyboard: Callable[[], object]) -> None:
        """Do everything by the services of `context`; give the keyboard back after a question."""
        self._context = context
        self._take_keyboard = take_keyboard
        self._rules = context.services.rules

    def set_status(self, stored: StoredDirective, status: RuleStatus) -> None:
        """Approve, reject or propose again."""
        if stored.status is status:
            return
        library, before = self._rules.library, stored.status

        def back() -> None:
            self._run(library.set_status([stored.id], before, BY_WINDOW))

        def done(_count: int) -> None:
            words = _STATUS_SENTENCES[status].format(what=quoted(stored.directive.text))
            self._context.shell.say(words, Undo("Undo", back))

        self._run(library.set_status([stored.id], status, BY_WINDOW), done)

    def edit(
        self,
        stored: StoredDirective,
        changes: RuleChanges,
        done: Callable[[], None],
        failed: Callable[[KmemError], bool],
    ) -> None:
        """Change a directive."""
        library = self._rules.library

        def back() -> None:
            self._run(library.edit(stored.id, as_it_was(stored, changes), BY_WINDOW))

        def changed(new: StoredDirective) -> None:
            self._context.shell.say(
                f"Changed {quoted(new.directive.text)}. Its file stays as it is.",
                Undo("Undo", back),
            )
            done()

        self._context.tasks.run(library.edit(stored.id, changes, BY_WINDOW), changed, failed=failed)

    def settle(
        self, rule: StoredRule, *, take: bool, done: Callable[[], None] = lambda: None
    ) -> None:
        """Take what a document's file says now, or keep what was edited here."""
        words = "says what its file says again." if take else "keeps your words."

        def settled(_: object) -> None:
            self._context.shell.say(f"{rule.place} {words}")
            done()

        self._run(self._rules.library.settle_news(rule.id, BY_WINDOW, take=take), settled)

    def forget_rule(self, rule: StoredRule) -> None:
        """Let go of a document, after saying what stays; a file in a project can be had back."""
        count = counted(rule.directives, "directive")
        if rule.folder_id is None:
            stays = "This cannot be taken back here; whoever handed it in can do so again."
        else:
            stays = "The file stays on the disk, and is not read again until you take it back."

        def back() -> None:
            self._run(self._rules.folders.take_back(rule.path, BY_WINDOW))

        def done(gone: StoredRule) -> None:
            undo = Undo("Undo", back) if gone.folder_id is not None else None
            self._context.shell.say(f"Forgotten: {gone.place}, {count}.", undo)

        self._ask(
            f"Forget {rule.place} with its {count}? {stays}",
            "Forget",
            lambda: self._run(self._rules.library.delete(rule.id, BY_WINDOW), done),
        )

    def take_back(self, path: str, folder: RuleFolder) -> None:
        """Read a file again that was forgotten."""
        name = inside(path, folder)

        def done(_answer: tuple[RuleFolder, IngestionReport]) -> None:
            self._context.shell.say(f"{name} is read again, and watched.")

        self._run(self._rules.folders.take_back(path, BY_WINDOW), done)

    def forget_folder(self, folder: RuleFolder) -> None:
        """Let go of a project, after saying what stays; adding it again takes it back."""
        name = project_name(folder)
        shell = self._context.shell

        def again() -> None:
            self._run(self._rules.folders.allow(folder.path, BY_WINDOW))

        def done(_folder: RuleFolder) -> None:
            shell.say(
                f"{name} is no longer read. Its files are where they were.",
                Undo("Add it again", again),
            )

        self._ask(
            f"Forget {name} and the {counted(folder.rules, 'file')} read from it? Nothing on the"
            " disk changes; what you edited or rejected here is lost.",
            "Forget",
            lambda: self._run(self._rules.folders.forget(folder.path, BY_WINDOW), done),
        )

    def add_project(self, path: str, reported: Reported) -> None:
        """Let a project's rule files be read and watched; report what was understood."""
        self._context.shell.say(f"Reading the rule files of {path}…")

        def done(answer: tuple[RuleFolder, IngestionReport]) -> None:
            folder, report = answer
            self._context.shell.say(f"{project_name(folder)} is read, and watched from now on.")
            reported(project_name(folder), report, folder.path)

        self._run(self._rules.folders.allow(path, BY_WINDOW), done)

    def read_again(self, folder: RuleFolder, reported: Reported) -> None:
        """Read all files of a folder now."""
        self._run(
            self._rules.folders.read(folder, BY_WINDOW),
            lambda report: reported(project_name(folder), report, folder.path),
        )

    def import_files(self, paths: Sequence[str], reported: Reported) -> None:
        """Read files once, wherever they lie."""
        documents = [SubmittedDocument(path) for path in paths]
        title = paths[0] if len(paths) == 1 else counted(len(paths), "file")
        self._run(
            self._rules.ingestion.upsert(documents, BY_WINDOW, overwrite=True),
            lambda report: reported(title, report, ""),
        )

    def copy_export(self, rules: Sequence[StoredRule], rule_format: RuleFormat) -> None:
        """Put documents in a notation on the clipboard."""

        def done(text: str) -> None:
            QGuiApplication.clipboard().setText(text)
            self._context.shell.say(f"Copied {_what(rules)} as {EXPORT_NAMES[rule_format]}.")

        self._run(self._rules.library.export([rule.id for rule in rules], rule_format), done)

    def save_export(
        self, rules: Sequence[StoredRule], rule_format: RuleFormat, target: str
    ) -> None:
        """Write documents in a notation into a file that was chosen."""
        export = self._rules.library.export(
            [rule.id for rule in rules], rule_format, target=Path(target)
        )
        self._context.tasks.run(
            _write(export, Path(target)),
            lambda problem: self._say_written(target, problem),
        )

    def _say_written(self, target: str, problem: str) -> None:
        if problem:
            hint = "Choose another folder, or free some space."
            self._context.shell.show_error(f"{target} was not written: {problem}.", hint)
        else:
            self._context.shell.say(f"Written to {target}.")

    def open_file(self, rule: StoredRule) -> None:
        """Show a document's file in the program for it; only where it lies in a project."""
        if rule.folder_id is None:
            self._context.shell.say(f"{rule.place} lies in no project that kmem reads.")
        elif not QDesktopServices.openUrl(QUrl.fromLocalFile(rule.path)):
            self._context.shell.say(f"No program opened {rule.path}.")

    def copy(self, text: str, what: str) -> None:
        """Put a text on the clipboard."""
        QGuiApplication.clipboard().setText(text)
        self._context.shell.say(f"Copied {what}.")

    async def related(
        self, stored: StoredDirective, conflicts: Sequence[RuleConflict]
    ) -> list[StoredDirective]:
        """Return what else speaks of the same as a directive, the nearest first."""
        library = self._rules.library
        shown = {side.id for each in conflicts for side in (each.first, each.second)}
        own = f"directive:{stored.id}"
        found: list[StoredDirective] = []
        for relation in await library.relations(stored.rule.id):
            ends = (relation.source, relation.target)
            if relation.kind is not RuleRelationKind.RELATED_TO or own not in ends:
                continue
            other = int(ends[ends[0] == own].partition(":")[2])
            if other not in shown and len(found) < _MOST_RELATED:
                found.append(await library.directive(other))
        return found

    def _ask(self, words: str, answer: str, then: Callable[[], None]) -> None:
        """Ask something, and leave the keyboard where it was: the button it goes to is hidden."""

        def answered() -> None:
            self._take_keyboard()
            then()

        self._context.shell.ask(words, answer, answered)

    def _run(
        self, coroutine: Coroutine[Any, Any, Any], done: Callable[[Any], None] | None = None
    ) -> None:
        self._context.tasks.run(coroutine, done)


def choose_folder(parent: QWidget, then: Callable[[str], None]) -> None:
    """Let a folder be chosen."""
    dialog = QFileDialog(parent, "Choose a project's folder")
    dialog.setFileMode(QFileDialog.FileMode.Directory)
    dialog.setOption(QFileDialog.Option.ShowDirsOnly)
    dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    dialog.fileSelected.connect(then)
    # Not exec(): a nested loop inside a task would end the program's own loop.
    dialog.open()


def choose_rule_files(parent: QWidget, then: Callable[[list[str]], None]) -> None:
    """Let files be chosen."""
    dialog = QFileDialog(parent, "Choose rule files")
    dialog.setFileMode(QFileDialog.FileMode.ExistingFiles)
    dialog.setNameFilters([_FILES, "All files (*)"])
    dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    dialog.filesSelected.connect(then)
    dialog.open()


def choose_target(parent: QWidget, name: str, then: Callable[[str], None]) -> None:
    """Let a file be chosen that is to be written; what is there is asked about."""
    dialog = QFileDialog(parent, "Write the rules to", name)
    dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
    dialog.selectFile(name)
    dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    dialog.fileSelected.connect(then)
    dialog.open()


def file_name(rules: Sequence[StoredRule], rule_format: RuleFormat) -> str:
    """Return the name, and where it is known the folder, that a file of rules would have."""
    name = _FILE_NAMES.get(rule_format, "rules.md")
    folders = {rule.folder for rule in rules}
    return str(Path(folders.pop(), name)) if len(folders) == 1 and "" not in folders else name


async def _write(export: Coroutine[Any, Any, str], target: Path) -> str:
    """Write a text into a file; return what went wrong, or nothing."""
    text = await export
    try:
        await asyncio.to_thread(target.write_text, text, encoding="utf-8")
    except OSError as error:
        return error.strerror or str(error)
    return ""


def _what(rules: Sequence[StoredRule]) -> str:
    return rules[0].place if len(rules) == 1 else counted(len(rules), "file")
