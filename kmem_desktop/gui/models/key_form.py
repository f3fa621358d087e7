"""Where a key is entered; it is shown to nobody, and forgotten here as soon as it is handed on."""

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QLineEdit, QVBoxLayout, QWidget

from kmem_desktop.domain.models import KeyPlace
from kmem_desktop.gui.models.sentences import key_words
from kmem_desktop.gui.theme import Type
from kmem_desktop.gui.widgets.controls import Button
from kmem_desktop.gui.widgets.fields import Field
from kmem_desktop.gui.widgets.labels import Label


class KeyForm(QWidget):
    """Says where a key is, and takes another one.

    Signals:
        key_wanted: This key is to be kept.
        forget_wanted: The key is to be forgotten.
    """

    key_wanted = Signal(str)
    forget_wanted = Signal()

    def __init__(self, name: str, parent: QWidget | None = None) -> None:
        """Take the key of the provider with this name."""
        super().__init__(parent)
        self._words = Label("Looking for its key…", Type.META, "ink2", wrap=True)
        self.edit = QLineEdit()
        self.edit.setEchoMode(QLineEdit.EchoMode.Password)
        self.edit.setInputMethodHints(Qt.InputMethodHint.ImhHiddenText)
        self.edit.returnPressed.connect(self._on_keep)
        self.field = Field(f"Key for {name}", self.edit)
        self.keep = Button("Keep this key")
        self.keep.setAccessibleName(f"Keep this key for {name}")
        self.keep.clicked.connect(self._on_keep)
        self.forget = Button("Forget the key")
        self.forget.setAccessibleName(f"Forget the key for {name}")
        self.forget.clicked.connect(self.forget_wanted)
        self.forget.hide()
        line = QHBoxLayout()
        line.setSpacing(8)
        line.addWidget(self.field, 1)
        line.addWidget(self.keep, 0, Qt.AlignmentFlag.AlignBottom)
        line.addWidget(self.forget, 0, Qt.AlignmentFlag.AlignBottom)
        column = QVBoxLayout(self)
        column.setContentsMargins(14, 0, 0, 4)
        column.setSpacing(8)
        column.addWidget(self._words)
        column.addLayout(line)

    def words(self) -> str:
        """Return what is said of the key."""
        return self._words.text()

    def set_place(self, place: KeyPlace, *, has_keychain: bool) -> None:
        """Say where the key is."""
        self._words.setText(key_words(place, has_keychain=has_keychain))
        self.forget.setVisible(place in (KeyPlace.KEYCHAIN, KeyPlace.THIS_RUN))
        self.keep.setEnabled(True)

    def set_error(self, message: str) -> None:
        """Say what is wrong with the key that was entered."""
        self.keep.setEnabled(True)
        self.field.set_error(message)
        self.edit.setFocus()

    def _on_keep(self) -> None:
        key = self.edit.text()
        # Neither undo nor a screenshot of the memory of this field is to bring it back.
        self.edit.clear()
        if not key.strip():
            self.set_error("Enter the key first.")
            return
        self.field.set_error("")
        self.keep.setEnabled(False)
        self.key_wanted.emit(key)
