"""The file that a conversation is written to: choosing it, naming it, writing it."""

import asyncio
import re
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFileDialog, QWidget

from kmem_desktop.text import one_line

_LONGEST_NAME = 60
_NOT_IN_NAMES = re.compile(r"[^\w\s.-]+")


def choose_target(parent: QWidget, title: str, then: Callable[[str], None]) -> None:
    """Let a file be chosen for a session of this title; what is there is asked about."""
    dialog = QFileDialog(parent, "Write the conversation to")
    dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
    dialog.setDefaultSuffix("md")
    dialog.setNameFilters(["Markdown (*.md)", "All files (*)"])
    dialog.selectFile(file_name(title))
    dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    dialog.fileSelected.connect(then)
    # Not exec(): a nested loop inside a task would end the program's own loop.
    dialog.open()


def file_name(title: str) -> str:
    """Return a name for the file of a conversation."""
    name = "-".join(_NOT_IN_NAMES.sub(" ", one_line(title)).split())[:_LONGEST_NAME].strip("-.")
    return f"{name or 'session'}.md"


async def written(text: Coroutine[Any, Any, str], target: Path) -> str:
    """Write a text into a file; return what went wrong, or nothing."""
    said = await text
    try:
        await asyncio.to_thread(target.write_text, said, encoding="utf-8")
    except OSError as error:
        return error.strerror or str(error)
    return ""
