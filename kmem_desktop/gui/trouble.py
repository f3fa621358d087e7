"""What is shown where kmem cannot start: what happened, what is safe, what to do."""

from dataclasses import dataclass
from pathlib import Path

from PySide6.QtCore import Qt, QUrl
from PySide6.QtGui import QDesktopServices, QGuiApplication, QPainter, QPaintEvent
from PySide6.QtWidgets import QDialog, QHBoxLayout, QVBoxLayout, QWidget

from kmem_desktop.config import Paths
from kmem_desktop.errors import (
    DamagedStoreError,
    KmemError,
    NotOurFileError,
    StoreBusyError,
    StoreError,
    StoreTooNewError,
)
from kmem_desktop.gui.appearance import theme
from kmem_desktop.gui.icons import paint_icon
from kmem_desktop.gui.theme import Type
from kmem_desktop.gui.widgets.controls import Button, Look
from kmem_desktop.gui.widgets.labels import Card, Label

_WIDTH_PX = 620


@dataclass(frozen=True, slots=True)
class Trouble:
    """What a person has to know.

    Attributes:
        title: What happened, in one sentence.
        what: More about it.
        safe: What is safe.
        todo: What to do.
    """

    title: str
    what: str
    safe: str
    todo: str


_KNOWN: tuple[tuple[type[KmemError], str, str, str], ...] = (
    (
        NotOurFileError,
        "This file is not a memory of kmem.",
        "The file was only looked at, and is as it was.",
        "Start kmem without --db for your own memory, or name another file with it.",
    ),
    (
        StoreTooNewError,
        "A newer kmem wrote this memory.",
        "All of it. This version does not touch what it may not understand.",
        "Update kmem, then start it again.",
    ),
    (
        DamagedStoreError,
        "The memory file is damaged.",
        "The file was not changed. Assistants are told that they cannot store or search now, so"
        " none of them takes something for stored that is not.",
        "Copy the file, and those beside it whose names begin with its name, before anything else."
        " If you have a copy of another day, put it in the file's place and start kmem again.",
    ),
    (
        StoreBusyError,
        "Another program keeps the memory locked.",
        "Everything that was stored before.",
        "Close the program that has the file open, then start kmem again.",
    ),
)


def trouble_of(error: Exception, database: Path) -> Trouble:
    """Word why kmem could not start on this database."""
    if not isinstance(error, KmemError):
        return Trouble(
            "kmem could not start.",
            "Something went wrong inside kmem; it is not about anything that you did.",
            "What you and your assistants stored before.",
            "Start kmem again. If it stays like this, the log says what went wrong where.",
        )
    for kind, title, safe, todo in _KNOWN:
        if isinstance(error, kind):
            named = error.message if str(database) in error.message else str(database)
            return Trouble(title, named, safe, todo)
    safe = "What you and your assistants stored before."
    if isinstance(error, StoreError):
        return Trouble("The memory could not be opened.", error.message, safe, error.hint)
    return Trouble("kmem could not start.", error.message, safe, error.hint)


class _Sign(QWidget):
    """The sign for trouble."""

    def __init__(self) -> None:
        super().__init__()
        edge = theme().px(24)
        self.setFixedSize(edge, edge)

    def paintEvent(self, event: QPaintEvent) -> None:
        paint_icon(QPainter(self), "warning", theme().color("warn").name(), self.rect().toRectF())


class TroubleWindow(QDialog):
    """Says it, and offers the files."""

    def __init__(self, trouble: Trouble, paths: Paths) -> None:
        """Word the window by `trouble`."""
        super().__init__()
        self.setWindowTitle("kmem")
        self.setProperty("surface", "bg")
        self.trouble = trouble
        self._paths = paths
        look = theme()
        self.setFixedWidth(look.px(_WIDTH_PX))
        column = QVBoxLayout(self)
        column.setContentsMargins(look.px(28), look.px(26), look.px(28), look.px(24))
        column.setSpacing(look.px(12))
        head = QHBoxLayout()
        head.setSpacing(look.px(12))
        head.addWidget(_Sign(), 0, Qt.AlignmentFlag.AlignTop)
        words = QVBoxLayout()
        words.setSpacing(look.px(4))
        words.addWidget(Label(trouble.title, Type.TITLE, wrap=True))
        words.addWidget(Label(trouble.what, Type.BODY, "ink2", wrap=True))
        head.addLayout(words, 1)
        column.addLayout(head)
        column.addSpacing(look.px(4))
        for title, text in (("What is safe", trouble.safe), ("What to do", trouble.todo)):
            if text:
                card = Card(title)
                card.body.addWidget(Label(text, Type.BODY, wrap=True))
                column.addWidget(card)
        column.addSpacing(look.px(6))
        column.addLayout(self._buttons())
        # A dialog does not ask its layout how tall wrapped words are at this width.
        self.setFixedHeight(column.totalHeightForWidth(self.width()))

    def _buttons(self) -> QHBoxLayout:
        close = Button("Close kmem", key="Esc", look=Look.PRIMARY)
        folder = Button("Open folder")
        log_file = Button("Open log")
        copy = Button("Copy the details")
        close.clicked.connect(self.reject)
        folder.clicked.connect(lambda: _open(self._paths.database.parent))
        log_file.clicked.connect(lambda: _open(self._paths.log))
        copy.clicked.connect(self._copy)
        close.setDefault(True)
        line = QHBoxLayout()
        line.setSpacing(theme().px(8))
        for button in (close, folder, log_file, copy):
            line.addWidget(button)
        line.addStretch(1)
        return line

    def _copy(self) -> None:
        trouble, paths = self.trouble, self._paths
        lines = (trouble.title, trouble.what, trouble.safe, trouble.todo)
        files = (f"Memory: {paths.database}", f"Log: {paths.log}")
        QGuiApplication.clipboard().setText("\n".join(line for line in (*lines, *files) if line))


def _open(path: Path) -> None:
    QDesktopServices.openUrl(QUrl.fromLocalFile(str(path)))


def tell(error: Exception, paths: Paths) -> None:
    """Show why kmem could not start, until the window is closed."""
    TroubleWindow(trouble_of(error, paths.database), paths).exec()
