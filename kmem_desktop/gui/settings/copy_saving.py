"""A copy of the memory as a file: choosing where, writing it in the background, and telling."""

from collections.abc import Callable
from datetime import date
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFileDialog, QWidget

from kmem_desktop.domain.library.copies import CopyFormat, CopyPart, CopyQuery
from kmem_desktop.errors import KmemError
from kmem_desktop.gui.context import Context
from kmem_desktop.gui.importing.sentences import copied_words

_KINDS = {
    "JSON, to be brought in again (*.json)": "json",
    "Markdown, to be read and brought in again (*.md)": "md",
}
_NAME = "kmem-{day:%Y-%m-%d}.json"


def choose_copy(
    context: Context, parent: QWidget, done: Callable[[], object] = lambda: None
) -> None:
    """Let a file be chosen, and write a copy of the whole memory into it.

    Args:
        context: Does it.
        parent: What the dialog belongs to.
        done: Called when the copy is written or has failed.
    """
    dialog = QFileDialog(parent, "Save a copy of the memory")
    dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
    dialog.setNameFilters(list(_KINDS))
    dialog.setDefaultSuffix("json")
    dialog.filterSelected.connect(lambda words: dialog.setDefaultSuffix(_KINDS.get(words, "json")))
    dialog.selectFile(_NAME.format(day=date.today()))  # noqa: DTZ011 - the person's own day
    dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    dialog.fileSelected.connect(lambda path: save_copy(context, Path(path), done))
    # Not exec(): a nested loop inside a task would end the program's own loop.
    dialog.open()


def save_copy(context: Context, path: Path, done: Callable[[], object] = lambda: None) -> None:
    """Write a copy of the whole memory into a file: markdown by its ending, else JSON."""
    is_markdown = path.suffix.lower() in (".md", ".markdown")
    written = CopyFormat.MARKDOWN if is_markdown else CopyFormat.JSON
    query = CopyQuery(parts=tuple(CopyPart))

    def told(counts: dict[str, int]) -> None:
        context.shell.say(f"A copy was saved as {path}: {copied_words(counts)}.")
        done()

    def failed(_error: KmemError) -> bool:
        done()
        return False

    context.shell.say(f"A copy is being written to {path}…")
    context.tasks.run(
        context.services.library.exporting.to_file(query, written, path), told, failed=failed
    )
