"""A panel that lies over the window until Esc, a click beside it, or a choice closes it."""

from PySide6.QtCore import QEvent, QObject, QRect, Qt
from PySide6.QtGui import QColor, QKeyEvent, QMouseEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QApplication, QFrame, QVBoxLayout, QWidget

from kmem_desktop.gui.appearance import theme


class Overlay(QWidget):
    """Covers the window with a veil and shows a panel on it.

    Attributes:
        panel: The panel.
        body: Where the contents of the panel go.
    """

    def __init__(self, width_px: int, height_px: int, window: QWidget) -> None:
        """Cover `window`, hidden at first."""
        super().__init__(window)
        self._window = window
        self._width_px = width_px
        self._height_px = height_px
        self._focus_before: QWidget | None = None
        self.panel = QFrame(self)
        self.panel.setProperty("role", "popup")
        self.body = QVBoxLayout(self.panel)
        self.body.setContentsMargins(1, 1, 1, 1)
        self.body.setSpacing(0)
        window.installEventFilter(self)
        self.hide()

    def open(self) -> None:
        """Show the panel and take the keyboard."""
        self._focus_before = QApplication.focusWidget()
        self._arrange()
        self.show()
        self.raise_()
        self.take_focus()

    def dismiss(self) -> None:
        """Hide the panel; the keyboard goes back to where it was."""
        self.hide()
        if self._focus_before is not None and self._focus_before.isVisible():
            self._focus_before.setFocus()

    def take_focus(self) -> None:
        """Put the keyboard into the panel."""
        self.panel.setFocus()

    def _arrange(self) -> None:
        look = theme()
        window = self._window
        self.setGeometry(window.rect())
        width = min(look.px(self._width_px), window.width() - 32)
        height = min(look.px(self._height_px), window.height() - 64)
        top = max(16, min(look.px(72), (window.height() - height) // 2))
        self.panel.setGeometry(QRect((window.width() - width) // 2, top, width, height))

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if watched is self.parent() and event.type() == QEvent.Type.Resize and self.isVisible():
            self._arrange()
        return super().eventFilter(watched, event)

    def event(self, event: QEvent) -> bool:
        # Esc belongs to the panel, not to the window's own action, while it is open.
        if isinstance(event, QKeyEvent) and event.type() == QEvent.Type.ShortcutOverride:
            event.accept()
            return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape:
            self.dismiss()
        else:
            super().keyPressEvent(event)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if not self.panel.geometry().contains(event.position().toPoint()):
            self.dismiss()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        veil = QColor(0, 0, 0, 110) if theme().is_dark else QColor(40, 36, 28, 60)
        painter.fillRect(self.rect(), veil)
