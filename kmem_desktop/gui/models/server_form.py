"""The form that adds a server by its address."""

from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QHBoxLayout, QLineEdit, QVBoxLayout, QWidget

from kmem_desktop.errors import KmemError
from kmem_desktop.gui.theme import Type
from kmem_desktop.gui.widgets.controls import Button, Look
from kmem_desktop.gui.widgets.fields import Field
from kmem_desktop.gui.widgets.labels import Label


class ServerForm(QWidget):
    """A name and an address.

    Signals:
        add_wanted: The server is to be added (name, address).
        cancelled: It is not.
    """

    add_wanted = Signal(str, str)
    cancelled = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        """Lay out both fields."""
        super().__init__(parent)
        self.name, self.address = QLineEdit(), QLineEdit()
        self.name.setPlaceholderText("workstation")
        self.address.setPlaceholderText("http://192.168.1.20:8000")
        self.fields = {
            "name": Field("Name", self.name, hint="letters, digits and hyphens"),
            "address": Field("Address", self.address, hint="where it speaks OpenAI's language"),
        }
        self.add = Button("Add it", look=Look.PRIMARY)
        self.add.clicked.connect(self._on_add)
        self.cancel = Button("Cancel", key="Esc")
        self.cancel.clicked.connect(self.cancelled)
        self._problem = Label("", Type.META, "bad", wrap=True)
        self._problem.hide()
        line = QHBoxLayout()
        line.setSpacing(12)
        line.addWidget(self.fields["name"], 1, Qt.AlignmentFlag.AlignTop)
        line.addWidget(self.fields["address"], 2, Qt.AlignmentFlag.AlignTop)
        buttons = QHBoxLayout()
        buttons.setSpacing(8)
        buttons.addWidget(self.add)
        buttons.addWidget(self.cancel)
        buttons.addStretch(1)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 14, 0, 14)
        column.setSpacing(12)
        column.addLayout(line)
        column.addWidget(self._problem)
        column.addLayout(buttons)
        for edit in (self.name, self.address):
            edit.returnPressed.connect(self._on_add)
            edit.installEventFilter(self)

    def start(self) -> None:
        """Begin anew."""
        for edit in (self.name, self.address):
            edit.clear()
        self._clear_errors()
        self.add.setEnabled(True)
        self.show()
        self.name.setFocus()

    def show_error(self, error: KmemError) -> None:
        """Say under each field what is wrong with it, and the rest below."""
        self._clear_errors()
        self.add.setEnabled(True)
        problems = error.details.get("errors", ())
        for problem in reversed(list(problems)):
            if (field := self.fields.get(problem["field"])) is not None:
                field.set_error(problem["message"])
                field.editor.setFocus()
        if not problems:
            self._problem.setText(f"{error.message} {error.hint}".strip())
            self._problem.show()

    def has_something_to_lose(self) -> bool:
        """Return whether something was typed."""
        return self.isVisible() and bool(self.name.text() or self.address.text())

    def _clear_errors(self) -> None:
        self._problem.hide()
        for field in self.fields.values():
            field.set_error("")

    def _on_add(self) -> None:
        self.add.setEnabled(False)
        self.add_wanted.emit(self.name.text(), self.address.text())

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        is_key = isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress
        if is_key and event.key() == Qt.Key.Key_Escape:  # type: ignore[attr-defined]
            self.cancelled.emit()
            return True
        return super().eventFilter(watched, event)
