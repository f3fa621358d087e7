"""Fields of a form: a name above, a counter at the right, and below it what is wrong."""

from PySide6.QtWidgets import (
    QAbstractSpinBox,
    QComboBox,
    QHBoxLayout,
    QLineEdit,
    QPlainTextEdit,
    QVBoxLayout,
    QWidget,
)

from kmem_desktop.gui.appearance import appearance, theme
from kmem_desktop.gui.theme import Type
from kmem_desktop.gui.widgets.labels import Label

Editor = QLineEdit | QPlainTextEdit | QAbstractSpinBox | QComboBox


class Field(QWidget):
    """An editor with its name, its counter and its error.

    Attributes:
        editor: What is typed into.
    """

    def __init__(
        self,
        name: str,
        editor: Editor,
        *,
        hint: str = "",
        limits: tuple[int, int] | None = None,
        parent: QWidget | None = None,
    ) -> None:
        """Wrap `editor`; with limits, its length is counted against them."""
        super().__init__(parent)
        self.editor = editor
        self._limits = limits
        editor.setAccessibleName(name)
        editor.setAccessibleDescription(hint)
        self._counter = Label("", Type.META, "ink3")
        self._error = Label("", Type.META, "bad", wrap=True)
        self._error.hide()
        head = QHBoxLayout()
        head.setSpacing(8)
        head.addWidget(Label(name, Type.META_STRONG, "ink2"))
        head.addWidget(Label(hint, Type.META, "ink3"), 1)
        head.addWidget(self._counter)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(4)
        column.addLayout(head)
        column.addWidget(editor, 1 if isinstance(editor, QPlainTextEdit) else 0)
        column.addWidget(self._error)
        if isinstance(editor, QLineEdit | QPlainTextEdit):
            editor.textChanged.connect(self._on_changed)
        elif isinstance(editor, QComboBox):
            editor.currentTextChanged.connect(self._on_changed)
        self._count()

    def text(self) -> str:
        """Return what stands in the editor."""
        if isinstance(self.editor, QPlainTextEdit):
            return self.editor.toPlainText()
        if isinstance(self.editor, QComboBox):
            return self.editor.currentText()
        return self.editor.text()

    def error(self) -> str:
        """Return what is said to be wrong; empty where nothing is."""
        return self._error.text()

    def set_error(self, message: str) -> None:
        """Say what is wrong; nothing for an empty message."""
        self._error.setText(message)
        self._error.setVisible(bool(message))
        self._mark(invalid=bool(message))

    def _mark(self, *, invalid: bool) -> None:
        if bool(self.editor.property("invalid")) != invalid:
            self.editor.setProperty("invalid", invalid)
            self.editor.style().unpolish(self.editor)
            self.editor.style().polish(self.editor)
            self.editor.update()

    def _on_changed(self) -> None:
        self._count()
        if self._error.text():
            self.set_error("")

    def _count(self) -> None:
        if self._limits is None:
            self._counter.hide()
            return
        low, high = self._limits
        length = len(self.text().strip())
        self._counter.setText(
            f"{length:,}/{high:,}" if length >= low else f"{length} of at least {low}"
        )
        self._counter.set_color("bad" if length > high else "ink3")


class TextEditor(QPlainTextEdit):
    """Several lines of plain text; Tab leaves the field."""

    def __init__(self, lines: int) -> None:
        """Be at least so many lines tall."""
        super().__init__()
        self._lines = lines
        self.setTabChangesFocus(True)
        appearance().changed.connect(self._on_appearance_changed)
        self._on_appearance_changed()

    def _on_appearance_changed(self) -> None:
        self.setMinimumHeight(theme().px(20) * self._lines + theme().px(16))
