"""The fixed bar above an item: what can be done with it, each with its key."""

from PySide6.QtCore import Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QWidget

from kmem_desktop.gui.widgets.controls import Button, IconButton, Look


class ItemToolbar(QWidget):
    """Edit, Copy, History and, apart from them, Forget; or Open, where an item has its own page.

    Signals:
        open_wanted: Open was pressed.
        edit_wanted: Edit was pressed.
        copy_wanted: Copy was pressed.
        history_wanted: History was pressed.
        forget_wanted: Forget was pressed.
        back_wanted: The arrow back to the list was pressed.
    """

    open_wanted = Signal()
    edit_wanted = Signal()
    copy_wanted = Signal()
    history_wanted = Signal()
    forget_wanted = Signal()
    back_wanted = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        """Show the buttons of knowledge and entities."""
        super().__init__(parent)
        self.back = IconButton("arrow-left", "Back to the list (Esc)")
        self.back.hide()
        self.open = Button("Open", key="↵", look=Look.PRIMARY)
        self.open.hide()
        self.edit = Button("Edit", key="E")
        self.copy = Button("Copy", key="Ctrl ↵")
        self.history = Button("History", key="H")
        self.forget = Button("Forget…", key="Del")
        line = QHBoxLayout(self)
        line.setContentsMargins(0, 0, 0, 0)
        line.setSpacing(6)
        for button in (self.back, self.open, self.edit, self.copy, self.history):
            line.addWidget(button)
        line.addStretch(1)
        line.addWidget(self.forget)
        self._buttons = {
            "open": self.open,
            "edit": self.edit,
            "copy": self.copy,
            "history": self.history,
            "forget": self.forget,
        }
        self.back.clicked.connect(self.back_wanted)
        self.open.clicked.connect(self.open_wanted)
        self.edit.clicked.connect(self.edit_wanted)
        self.copy.clicked.connect(self.copy_wanted)
        self.history.clicked.connect(self.history_wanted)
        self.forget.clicked.connect(self.forget_wanted)

    def offer(self, *names: str, opens: str = "Open") -> None:
        """Show these buttons and no others; `opens` says what Open opens."""
        self.open.set_words(opens, "↵")
        for name, button in self._buttons.items():
            button.setVisible(name in names)
        self._fit()

    def _fit(self) -> None:
        shown = [button for button in self._buttons.values() if not button.isHidden()]
        needed = sum(button.full_width() + 6 for button in shown)
        needed += self.back.width() if self.back.isVisible() else 0
        for button in shown:
            button.set_key_shown(needed <= self.width())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()
