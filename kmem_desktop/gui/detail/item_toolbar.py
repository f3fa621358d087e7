"""The fixed bar above an item: what can be done with it, each with its key."""

from PySide6.QtCore import Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QWidget

from kmem_desktop.gui.widgets.controls import Button, IconButton


class ItemToolbar(QWidget):
    """Edit, Copy, History and, apart from them, Forget.

    Signals:
        edit_wanted: Edit was pressed.
        copy_wanted: Copy was pressed.
        history_wanted: History was pressed.
        forget_wanted: Forget was pressed.
        back_wanted: The arrow back to the list was pressed.
    """

    edit_wanted = Signal()
    copy_wanted = Signal()
    history_wanted = Signal()
    forget_wanted = Signal()
    back_wanted = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        """Show the four buttons."""
        super().__init__(parent)
        self.back = IconButton("arrow-left", "Back to the list (Esc)")
        self.back.hide()
        self.edit = Button("Edit", key="E")
        self.copy = Button("Copy", key="Ctrl ↵")
        self.history = Button("History", key="H")
        self.forget = Button("Forget…", key="Del")
        line = QHBoxLayout(self)
        line.setContentsMargins(0, 0, 0, 0)
        line.setSpacing(6)
        for button in (self.back, self.edit, self.copy, self.history):
            line.addWidget(button)
        line.addStretch(1)
        line.addWidget(self.forget)
        self._buttons = (self.edit, self.copy, self.history, self.forget)
        self.back.clicked.connect(self.back_wanted)
        self.edit.clicked.connect(self.edit_wanted)
        self.copy.clicked.connect(self.copy_wanted)
        self.history.clicked.connect(self.history_wanted)
        self.forget.clicked.connect(self.forget_wanted)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        needed = sum(button.full_width() + 6 for button in self._buttons)
        needed += self.back.width() if self.back.isVisible() else 0
        for button in self._buttons:
            button.set_key_shown(needed <= self.width())
