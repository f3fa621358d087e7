"""An import while it runs: how far it is, and a button that ends it."""

import asyncio

from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from kmem_desktop.domain.importing import MemoryProgress
from kmem_desktop.domain.sessions.importing import ImportProgress
from kmem_desktop.gui.importing import sentences
from kmem_desktop.gui.models.parts import ProgressLine
from kmem_desktop.gui.theme import Type
from kmem_desktop.gui.widgets.controls import Button
from kmem_desktop.gui.widgets.labels import Label


class RunningView(QWidget):
    """Shown as long as something is imported or undone.

    Attributes:
        cancel: Ends it; hidden where it cannot be ended.
        words: How far it is.
    """

    def __init__(self, parent: QWidget | None = None) -> None:
        """Start hidden."""
        super().__init__(parent)
        self._cancel = asyncio.Event()
        self._line = ProgressLine("Import")
        self.words = Label("", Type.META, "ink2")
        self.cancel = Button("Stop", key="Esc")
        self.cancel.setAccessibleName("Stop the import")
        self.cancel.clicked.connect(self.stop)
        texts = QHBoxLayout()
        texts.setSpacing(12)
        texts.addWidget(self.words, 1)
        texts.addWidget(self.cancel)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(8)
        column.addLayout(texts)
        column.addWidget(self._line)
        self.hide()

    def begin(self, words: str, *, can_stop: bool = True) -> asyncio.Event:
        """Show that something begins; return what ends it early once it is set."""
        self._cancel = asyncio.Event()
        self.words.setText(words)
        self._line.set_progress(0, 1)
        self.cancel.setEnabled(True)
        self.cancel.setVisible(can_stop)
        self.show()
        if can_stop:
            self.cancel.setFocus()
        return self._cancel

    def tell(self, progress: ImportProgress | MemoryProgress) -> None:
        """Show how far it is."""
        words, done, total = sentences.progress(progress)
        self.words.setText(words)
        self._line.set_progress(done, total)

    def tell_removed(self, done: int, total: int) -> None:
        """Show how much of an import is undone."""
        self.words.setText(f"{done:,} of {total:,} turns undone")
        self._line.set_progress(done, total)

    def stop(self) -> None:
        """End it as soon as what is being stored is stored."""
        self.cancel.setEnabled(False)
        self.words.setText("Stopping\u2026")
        self._cancel.set()

    def end(self) -> None:
        """Hide again."""
        self.hide()
