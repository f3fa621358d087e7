"""Text that is only read: labels in the type scale, key hints, hairlines, cards."""

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import (
    QFontMetricsF,
    QPainter,
    QPaintEvent,
    QPalette,
    QPen,
    QTextLayout,
    QTextOption,
)
from PySide6.QtWidgets import QFrame, QLabel, QSizePolicy, QVBoxLayout, QWidget

from kmem_desktop.gui.appearance import appearance, theme
from kmem_desktop.gui.theme import LINE_PX, META_LINE_PX, Type

LINE_HEIGHTS = {
    Type.META: META_LINE_PX,
    Type.META_STRONG: META_LINE_PX,
    Type.CODE: META_LINE_PX,
    Type.TITLE: 25,
}


class Label(QLabel):
    """Words in one step of the type scale; always plain text."""

    def __init__(
        self,
        text: str = "",
        style: Type = Type.BODY,
        color: str = "ink",
        *,
        wrap: bool = False,
        parent: QWidget | None = None,
    ) -> None:
        """Show `text`; stored text may be given, it never becomes markup."""
        super().__init__(parent)
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setText(text)
        self.setWordWrap(wrap)
        self._style = style
        self._color = color
        if wrap:
            policy = QSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Minimum)
            policy.setHeightForWidth(True)
            self.setSizePolicy(policy)
        appearance().changed.connect(self._on_appearance_changed)
        self._on_appearance_changed()

    def set_color(self, color: str) -> None:
        """Show the words in another token's colour."""
        self._color = color
        self._on_appearance_changed()

    def _has_own_lines(self) -> bool:
        selectable = Qt.TextInteractionFlag.TextSelectableByMouse
        return self.wordWrap() and not self.textInteractionFlags() & selectable

    def _line_height(self) -> int:
        return theme().px(LINE_HEIGHTS.get(self._style, LINE_PX))

    def _laid_out(self, width: float) -> QTextLayout:
        layout = QTextLayout(self.text().replace("\n", "\u2028"), self.font())
        option = QTextOption()
        option.setWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        layout.setTextOption(option)
        layout.beginLayout()
        while (line := layout.createLine()).isValid():
            line.setLineWidth(max(width, 1.0))
        layout.endLayout()
        return layout

    def heightForWidth(self, width: int) -> int:
        if not self._has_own_lines():
            return super().heightForWidth(width)
        margins = self.contentsMargins()
        inner = width - margins.left() - margins.right()
        lines = max(1, self._laid_out(inner).lineCount())
        return lines * self._line_height() + margins.top() + margins.bottom()

    def minimumSizeHint(self) -> QSize:
        if not self._has_own_lines():
            return super().minimumSizeHint()
        return QSize(theme().px(40), self._line_height())

    def paintEvent(self, event: QPaintEvent) -> None:
        if not self._has_own_lines():
            super().paintEvent(event)
            return
        painter = QPainter(self)
        painter.setPen(theme().color(self._color))
        area = self.contentsRect()
        height = self._line_height()
        layout = self._laid_out(area.width())
        for number in range(layout.lineCount()):
            line = layout.lineAt(number)
            top = number * height + (height - line.height()) / 2
            line.setPosition(QPointF(0, top))
            line.draw(painter, QPointF(area.topLeft()))

    def allow_selection(self) -> "Label":
        """Let people select the words with the mouse."""
        self.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        return self

    def _on_appearance_changed(self) -> None:
        look = theme()
        self.setFont(look.font(self._style))
        palette = self.palette()
        palette.setColor(QPalette.ColorRole.WindowText, look.color(self._color))
        self.setPalette(palette)


class KeyHint(QWidget):
    """A key cap with what the key does."""

    def __init__(self, keys: tuple[str, ...], words: str, parent: QWidget | None = None) -> None:
        """Show the caps and then the words."""
        super().__init__(parent)
        self._keys = keys
        self._words = words
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        appearance().changed.connect(self.updateGeometry)

    def _cap_width(self, metrics: QFontMetricsF, key: str) -> float:
        return max(metrics.horizontalAdvance(key) + theme().px(12), theme().px(22))

    def sizeHint(self) -> QSize:
        look = theme()
        metrics = QFontMetricsF(look.font(Type.META))
        caps = sum(self._cap_width(metrics, key) + look.px(4) for key in self._keys)
        return QSize(round(caps + metrics.horizontalAdvance(self._words) + 2), look.px(20))

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        look = theme()
        metrics = QFontMetricsF(look.font(Type.META))
        painter.setFont(look.font(Type.META))
        x = 0.0
        for key in self._keys:
            cap = QRectF(x + 0.5, 1.5, self._cap_width(metrics, key) - 1, look.px(18) - 1)
            painter.setPen(QPen(look.color("line"), 1))
            painter.setBrush(look.color("bg"))
            painter.drawRoundedRect(cap, look.px(4), look.px(4))
            painter.setPen(look.color("ink2"))
            painter.drawText(cap, Qt.AlignmentFlag.AlignCenter, key)
            x += cap.width() + 1 + look.px(4)
        painter.setPen(look.color("ink3"))
        rest = QRectF(x, 0, self.width() - x, self.height())
        painter.drawText(rest, Qt.AlignmentFlag.AlignVCenter, self._words)


class Hairline(QFrame):
    """A line of one pixel."""

    def __init__(self, *, vertical: bool = False, parent: QWidget | None = None) -> None:
        """Lie, or stand."""
        super().__init__(parent)
        self.setProperty("role", "hairline")
        if vertical:
            self.setFixedWidth(1)
        else:
            self.setFixedHeight(1)


class Card(QFrame):
    """A titled surface for what belongs together.

    Attributes:
        body: Where the contents go.
    """

    def __init__(self, title: str = "", parent: QWidget | None = None) -> None:
        """Show the title, if there is one."""
        super().__init__(parent)
        self.setProperty("role", "card")
        self.body = QVBoxLayout(self)
        self.body.setContentsMargins(15, 12, 15, 13)
        self.body.setSpacing(8)
        if title:
            self.body.addWidget(Label(title, Type.META, "ink3"))
