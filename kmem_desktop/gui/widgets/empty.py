"""What stands where a list has nothing to show."""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from kmem_desktop.gui.theme import Type
from kmem_desktop.gui.widgets.controls import Button
from kmem_desktop.gui.widgets.labels import Label


class EmptyState(QWidget):
    """A title, a sentence, and what to do."""

    def __init__(self, parent: QWidget | None = None) -> None:
        """Start without words."""
        super().__init__(parent)
        self._title = Label("", Type.NAME, wrap=True)
        self._words = Label("", Type.BODY, "ink2", wrap=True)
        self._buttons = QHBoxLayout()
        self._buttons.setSpacing(8)
        self._shown: list[Button] = []
        column = QVBoxLayout(self)
        column.setContentsMargins(48, 44, 40, 24)
        column.setSpacing(6)
        column.addWidget(self._title)
        column.addWidget(self._words)
        column.addSpacing(10)
        column.addLayout(self._buttons)
        column.addStretch(1)
        column.setAlignment(Qt.AlignmentFlag.AlignTop)

    def title(self) -> str:
        """Return the title that is shown."""
        return self._title.text()

    def set_words(self, title: str, words: str, *buttons: Button) -> None:
        """Say why there is nothing, and offer these buttons."""
        self._title.setText(title)
        self._words.setText(words)
        while self._buttons.count():
            self._buttons.takeAt(0)
        for old in self._shown:
            old.deleteLater()
        self._shown = list(buttons)
        for button in buttons:
            self._buttons.addWidget(button)
        self._buttons.addStretch(1)
