"""What every form has: Save and Cancel on top, fields below, and knowing what would be lost."""

from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QVBoxLayout, QWidget

from kmem_desktop.errors import InvalidInputError
from kmem_desktop.gui.detail.parts import PaneBar, ScrolledColumn
from kmem_desktop.gui.theme import Type
from kmem_desktop.gui.widgets.controls import Button, Look
from kmem_desktop.gui.widgets.fields import Field
from kmem_desktop.gui.widgets.labels import Label

LOSS_WORTH_ASKING = 20
"""Leaving a form asks only where more than this many typed characters would be lost."""


class FormFrame(QWidget):
    """The frame of a form.

    Signals:
        save_wanted: Save was pressed, or Ctrl+S, or Ctrl+Enter.
        cancel_wanted: Cancel was pressed, or Esc.
        duplicate_wanted: The item that is there already is to be shown (its id).
    """

    save_wanted = Signal()
    cancel_wanted = Signal()
    duplicate_wanted = Signal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        """Lay out the bar and an empty column of fields."""
        super().__init__(parent)
        self.fields: dict[str, Field] = {}
        self._start: dict[str, str] = {}
        self._duplicate_id = 0
        self._save = Button("Save", key="Ctrl S", look=Look.PRIMARY)
        self._save.clicked.connect(self.save_wanted)
        self._cancel = Button("Cancel", key="Esc")
        self._cancel.clicked.connect(self.cancel_wanted)
        self._heading = Label("", Type.BODY, "ink3")
        bar = PaneBar()
        bar.line.addWidget(self._save)
        bar.line.addWidget(self._cancel)
        bar.line.addStretch(1)
        bar.line.addWidget(self._heading)
        self.area = ScrolledColumn("Form", fills=True)
        self.area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.area.column.setSpacing(14)
        self._problem = Label("", Type.BODY, "bad", wrap=True)
        self._problem.hide()
        self._open_other = Button("Show it", look=Look.LINK)
        self._open_other.clicked.connect(self._on_open_other)
        self._open_other.hide()
        self.area.column.addWidget(self._problem)
        self.area.column.addWidget(self._open_other)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(bar)
        column.addWidget(self.area, 1)

    def set_heading(self, words: str) -> None:
        """Say what is being written."""
        self._heading.setText(words)

    def add_field(self, key: str, field: Field) -> Field:
        """Register a field under the name that validation uses."""
        self.fields[key] = field
        field.editor.installEventFilter(self)
        return field

    def note_start(self) -> None:
        """Remember the present texts as those that Cancel goes back to."""
        self._start = {key: field.text() for key, field in self.fields.items()}
        self.clear_errors()

    def lost_characters(self) -> int:
        """Return how many characters leaving would lose, roughly."""
        lost = 0
        for key, field in self.fields.items():
            before, now = self._start.get(key, ""), field.text()
            if now != before:
                lost += max(abs(len(now) - len(before)), _differing(before, now))
        return lost

    def clear_errors(self) -> None:
        """Take back what was said to be wrong."""
        for field in self.fields.values():
            field.set_error("")
        self._problem.hide()
        self._open_other.hide()

    def show_invalid(self, error: InvalidInputError) -> None:
        """Say under each field what is wrong with it, and the rest above."""
        self.clear_errors()
        rest = []
        for problem in error.details.get("errors", ()):
            field = self.fields.get(self.field_of(problem["field"]))
            if field is None:
                rest.append(self.worded(problem["message"]))
            else:
                field.set_error(self.worded(problem["message"]))
        if not error.details.get("errors"):
            rest.append(f"{error.message} {error.hint}".strip())
        self._problem.setText(" ".join(rest))
        self._problem.setVisible(bool(rest))
        self._duplicate_id = int(error.details.get("entryId", 0))
        self._open_other.setVisible(self._duplicate_id != 0)
        self._focus_first_error()

    def field_of(self, name: str) -> str:
        """Return which field a name of the validation means."""
        return name

    def worded(self, message: str) -> str:
        """Return a message of the validation in this form's words."""
        return message

    def _focus_first_error(self) -> None:
        for field in self.fields.values():
            if field.error():
                field.editor.setFocus()
                self.area.ensureWidgetVisible(field)
                return
        self.area.verticalScrollBar().setValue(0)

    def _on_open_other(self) -> None:
        self.duplicate_wanted.emit(self._duplicate_id)

    def _take_key(self, event: QKeyEvent) -> bool:
        enter = event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter)
        if enter and event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            self.save_wanted.emit()
            return True
        if event.key() == Qt.Key.Key_Escape and not event.modifiers():
            self.cancel_wanted.emit()
            return True
        return False

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress:
            return self._take_key(event)
        return super().eventFilter(watched, event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if not self._take_key(event):
            super().keyPressEvent(event)


def _differing(before: str, now: str) -> int:
    """Return how many characters stand between the common start and the common end."""
    shortest = min(len(before), len(now))
    start = 0
    while start < shortest and before[start] == now[start]:
        start += 1
    end = 0
    while end < shortest - start and before[-1 - end] == now[-1 - end]:
        end += 1
    return max(len(before), len(now)) - start - end
