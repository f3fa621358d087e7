"""What leads to something else and takes two lines: its ground, its size and its focus."""

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QPushButton, QSizePolicy, QWidget

from kmem_desktop.gui.appearance import appearance, theme
from kmem_desktop.gui.theme import LINE_PX, META_LINE_PX, RADIUS_CODE
from kmem_desktop.gui.widgets.controls import paint_focus_ring


class TwoLineLink(QPushButton):
    """A link in two lines; what it is made for paints its words."""

    def __init__(self, caption: str, name: str, tip: str, parent: QWidget | None = None) -> None:
        """Take two lines of whatever width there is.

        Args:
            caption: The button's text, for keys and screen readers.
            name: The accessible name.
            tip: All of its words, for where they are cut.
            parent: The parent.
        """
        super().__init__(caption, parent)
        self.setAccessibleName(name)
        self.setToolTip(tip)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        appearance().changed.connect(self.updateGeometry)

    def sizeHint(self) -> QSize:
        look = theme()
        return QSize(200, look.px(LINE_PX) + look.px(META_LINE_PX) + look.px(8))

    def minimumSizeHint(self) -> QSize:
        return QSize(60, self.sizeHint().height())

    def paint_words(self, painter: QPainter, rect: QRectF) -> None:
        """Paint the two lines."""

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        look = theme()
        rect = QRectF(self.rect())
        radius = look.px(RADIUS_CODE)
        if self.underMouse():
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(look.color("hover"))
            painter.drawRoundedRect(rect, radius, radius)
        self.paint_words(painter, rect)
        if self.hasFocus():
            paint_focus_ring(painter, rect, radius, look.color("accent"))
