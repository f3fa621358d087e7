"""Which colour stands for which type."""

from collections.abc import Sequence

from PySide6.QtCore import QPointF, QSize, Qt
from PySide6.QtGui import QFontMetricsF, QPainter, QPaintEvent
from PySide6.QtWidgets import QWidget

from kmem_desktop.gui.appearance import appearance, theme
from kmem_desktop.gui.graph_picture.picture_view import HUES, colour_of, short_name
from kmem_desktop.gui.theme import Type

_HEIGHT_PX = 30
_DOT_PX = 5


class Legend(QWidget):
    """A line of dots with the names of their types."""

    def __init__(self, parent: QWidget | None = None) -> None:
        """Show no type yet."""
        super().__init__(parent)
        self._kinds: list[str] = []
        appearance().changed.connect(self.update)

    def show_kinds(self, kinds: Sequence[str]) -> None:
        """Show these types, the most frequent first."""
        self._kinds = list(kinds)
        named = ", ".join(self._kinds[: len(HUES)])
        self.setAccessibleName(f"Types by colour: {named}" if named else "No types")
        self.setVisible(bool(self._kinds))
        self.update()

    def sizeHint(self) -> QSize:
        """Return the height of one line."""
        return QSize(theme().px(200), theme().px(_HEIGHT_PX))

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw as many types as there is room for, then how many more there are."""
        look = theme()
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        font = look.font(Type.META)
        painter.setFont(font)
        metrics = QFontMetricsF(font)
        middle = self.height() / 2
        left = float(look.px(14))
        radius = look.px(_DOT_PX)
        for number, kind in enumerate(self._kinds):
            name = short_name(kind)
            width = metrics.horizontalAdvance(name) + 2 * radius + look.px(22)
            rest = len(self._kinds) - number
            if number == len(HUES) or left + width > self.width() - look.px(70):
                painter.setPen(look.color("ink3"))
                baseline = middle + metrics.capHeight() / 2
                painter.drawText(QPointF(left, baseline), f"{rest} more")
                return
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(colour_of(kind, self._kinds))
            painter.drawEllipse(QPointF(left + radius, middle), radius, radius)
            painter.setPen(look.color("ink2"))
            text_left = left + 2 * radius + look.px(6)
            painter.drawText(QPointF(text_left, middle + metrics.capHeight() / 2), name)
            left += width
