"""The search field: an icon, what is typed, and at the right what came of it."""

from PySide6.QtCore import QEvent, QObject, QRectF, Qt, Signal
from PySide6.QtGui import QKeyEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLineEdit, QWidget

from kmem_desktop.gui.appearance import appearance, theme
from kmem_desktop.gui.icons import paint_icon
from kmem_desktop.gui.theme import RADIUS_CARD, Type
from kmem_desktop.gui.widgets.labels import Label

_STEPS = {
    Qt.Key.Key_Up: -1,
    Qt.Key.Key_Down: 1,
    Qt.Key.Key_PageUp: -5,
    Qt.Key.Key_PageDown: 5,
}


class SearchField(QFrame):
    """A field whose arrows walk in the list below it.

    Signals:
        asked: Another text stands in the field; what an input method still composes does not.
        moved: The selection is to go so many rows down.
        entered: Enter was pressed.
        left: Escape was pressed in the empty field.
    """

    asked = Signal(str)
    moved = Signal(int)
    entered = Signal()
    left = Signal()

    def __init__(self, name: str, *, large: bool = True, parent: QWidget | None = None) -> None:
        """Invite with `name`; a large field stands at the head of a page."""
        super().__init__(parent)
        self._large = large
        self._has_frame = True
        self.edit = QLineEdit()
        self.edit.setProperty("role", "bare")
        self.edit.setPlaceholderText(name)
        self.edit.setAccessibleName(name)
        self.edit.textChanged.connect(self.asked)
        self.edit.installEventFilter(self)
        self.note = Label("", Type.META, "ink3")
        self._row = QHBoxLayout(self)
        self._row.addWidget(self.edit, 1)
        self._row.addWidget(self.note)
        self.setFocusProxy(self.edit)
        appearance().changed.connect(self._on_appearance_changed)
        self._on_appearance_changed()

    def set_frameless(self) -> None:
        """Draw no frame: the field is the head of a popup that has one."""
        self._has_frame = False
        self._on_appearance_changed()

    def _on_appearance_changed(self) -> None:
        look = theme()
        height = 40 if self._large else 32
        self.setFixedHeight(look.px(height if self._has_frame else 50))
        self._row.setContentsMargins(look.px(38 if self._large else 32), 0, look.px(13), 0)
        self._row.setSpacing(look.px(12))
        self.edit.setFont(look.font(Type.FIELD if self._large else Type.BODY))

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() in (QEvent.Type.FocusIn, QEvent.Type.FocusOut):
            self.update()
        if isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress:
            return self._take_key(event)
        return super().eventFilter(watched, event)

    def _take_key(self, event: QKeyEvent) -> bool:
        key = Qt.Key(event.key())
        if event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier:
            return False
        if key in _STEPS:
            self.moved.emit(_STEPS[key])
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.entered.emit()
        elif key == Qt.Key.Key_Escape:
            if self.edit.text():
                self.edit.clear()
            else:
                self.left.emit()
        else:
            return False
        return True

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        look = theme()
        focused = self.edit.hasFocus()
        pen = QPen(look.color("accent" if focused else "edge"), 2 if focused else 1)
        inset = pen.widthF() / 2
        painter.setPen(pen)
        painter.setBrush(look.color("panel"))
        radius = look.px(RADIUS_CARD if self._large else 6)
        rect = QRectF(self.rect()).adjusted(inset, inset, -inset, -inset)
        if self._has_frame:
            painter.drawRoundedRect(rect, radius, radius)
        edge = look.px(16)
        left = look.px(13 if self._large else 10)
        box = QRectF(left, (self.height() - edge) / 2, edge, edge)
        paint_icon(painter, "search", look.color("ink" if focused else "ink3").name(), box)
