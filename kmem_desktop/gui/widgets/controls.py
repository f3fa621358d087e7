"""Buttons, chips, choices and ticks, drawn by the tokens."""

from enum import Enum

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QPushButton,
    QSizePolicy,
    QStyle,
    QStyleOptionComboBox,
    QStylePainter,
    QWidget,
)

from kmem_desktop.gui.appearance import appearance, theme
from kmem_desktop.gui.icons import paint_icon
from kmem_desktop.gui.theme import CHIP_PX, CONTROL_PX, FOCUS_PX, RADIUS_BUTTON, Theme, Type


class Look(Enum):
    """How much a button asks for attention."""

    PLAIN = "plain"
    PRIMARY = "primary"
    LINK = "link"


def paint_focus_ring(painter: QPainter, rect: QRectF, radius: float, color: QColor) -> None:
    """Draw the accent ring of what has the keyboard focus."""
    half = FOCUS_PX / 2
    painter.setPen(QPen(color, FOCUS_PX))
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.drawRoundedRect(rect.adjusted(half, half, -half, -half), radius, radius)


class Button(QPushButton):
    """A button with the key that does the same at its right end."""

    def __init__(
        self,
        text: str,
        *,
        key: str = "",
        look: Look = Look.PLAIN,
        icon_name: str = "",
        is_small: bool = False,
        parent: QWidget | None = None,
    ) -> None:
        """Word the button; `key` is only shown."""
        super().__init__(text, parent)
        self._key = key
        self._look = look
        self._icon_name = icon_name
        self._is_small = is_small
        self._shows_key = True
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setAccessibleName(text)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        if key:
            self.setToolTip(f"{text}  ({key})")
        appearance().changed.connect(self._on_appearance_changed)

    def full_width(self) -> int:
        """Return how wide the button is with its key."""
        return self.minimumSizeHint().width() + self._key_width()

    def set_key_shown(self, shown: bool) -> None:  # noqa: FBT001 - named like Qt's setters
        """Show the key, or leave it to the tooltip where there is no room."""
        if shown != self._shows_key:
            self._shows_key = shown
            self.updateGeometry()

    def _key_width(self) -> int:
        if not self._key:
            return 0
        look = theme()
        width = QFontMetricsF(look.font(Type.META)).horizontalAdvance(self._key)
        return round(width) + look.px(10)

    @property
    def _type(self) -> Type:
        return Type.BODY if self._look is Look.LINK else Type.BUTTON

    def set_words(self, text: str, key: str = "") -> None:
        """Change what the button says."""
        self.setText(text)
        self.setAccessibleName(text)
        self._key = key
        self.updateGeometry()

    def _on_appearance_changed(self) -> None:
        self.updateGeometry()
        self.update()

    def _padding(self, look: Theme) -> int:
        if self._look is Look.LINK:
            return 0
        return look.px(10 if self._is_small else 12)

    def sizeHint(self) -> QSize:
        size = self.minimumSizeHint()
        if self._shows_key:
            size.setWidth(self.full_width())
        return size

    def minimumSizeHint(self) -> QSize:
        look = theme()
        width = 2.0 * self._padding(look)
        if self.text():
            width += QFontMetricsF(look.font(self._type)).horizontalAdvance(self.text())
        if self._icon_name:
            width += look.px(16) + (look.px(8) if self.text() else 0)
        height = look.px(24 if self._look is Look.LINK else 26 if self._is_small else CONTROL_PX)
        return QSize(max(round(width + 0.5), height if not self.text() else 0), height)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        look = theme()
        ink = self._paint_ground(painter, look)
        rect = QRectF(self.rect())
        x = float(self._padding(look))
        if self._icon_name:
            edge = look.px(16)
            left = x if self.text() else (rect.width() - edge) / 2
            top = (rect.height() - edge) / 2
            paint_icon(painter, self._icon_name, ink.name(), QRectF(left, top, edge, edge))
            x += edge + look.px(8)
        painter.setFont(look.font(self._type))
        painter.setPen(ink)
        flags = Qt.AlignmentFlag.AlignVCenter | Qt.TextFlag.TextSingleLine
        painter.drawText(rect.adjusted(x, 0, 0, 0), flags, self.text())
        if self._key and self.width() >= self.full_width():
            painter.setFont(look.font(Type.META))
            painter.setPen(ink if self._look is Look.PRIMARY else look.color("ink3"))
            right = rect.adjusted(0, 0, -self._padding(look), 0)
            painter.drawText(right, flags | Qt.AlignmentFlag.AlignRight, self._key)
        if self.hasFocus():
            if self._look is Look.PRIMARY:
                inner = rect.adjusted(2, 2, -2, -2)
                paint_focus_ring(painter, inner, look.px(4), look.color("on_accent"))
            else:
                paint_focus_ring(painter, rect, look.px(RADIUS_BUTTON), look.color("accent"))

    def _paint_ground(self, painter: QPainter, look: Theme) -> QColor:
        """Paint what is under the text; return the colour of the text."""
        rect = QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5)
        radius = look.px(RADIUS_BUTTON)
        if self._look is Look.LINK:
            if self.underMouse() and self.isEnabled():
                painter.setPen(Qt.PenStyle.NoPen)
                painter.setBrush(look.color("accent_soft"))
                painter.drawRoundedRect(rect, radius, radius)
            quiet = not self.text() and not self.underMouse()
            return look.color("ink3" if quiet or not self.isEnabled() else "accent")
        fill, outline, ink = look.color("panel"), look.color("edge"), look.color("ink")
        if self._look is Look.PRIMARY:
            fill, outline, ink = look.color("accent"), look.color("accent"), look.color("on_accent")
        if not self.isEnabled():
            fill, outline, ink = look.color("bg"), look.color("line"), look.color("ink3")
        elif self.isDown():
            fill = fill.darker(108) if self._look is Look.PRIMARY else look.color("code")
        elif self.underMouse():
            fill = fill.lighter(110) if self._look is Look.PRIMARY else look.color("hover")
        painter.setPen(QPen(outline, 1))
        painter.setBrush(fill)
        painter.drawRoundedRect(rect, radius, radius)
        return ink


class IconButton(Button):
    """A small square button that shows only an icon."""

    def __init__(self, icon_name: str, name: str, parent: QWidget | None = None) -> None:
        """Name the button for those who do not see the icon."""
        super().__init__("", look=Look.LINK, icon_name=icon_name, parent=parent)
        self.setAccessibleName(name)
        self.setToolTip(name)

    def minimumSizeHint(self) -> QSize:
        edge = theme().px(24)
        return QSize(edge, edge)


class Chip(QPushButton):
    """A round-ended choice: one of a row is on."""

    def __init__(self, text: str, parent: QWidget | None = None) -> None:
        """Word the chip."""
        super().__init__(text, parent)
        self.setCheckable(True)
        self.setAutoExclusive(True)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.setAccessibleName(text)
        appearance().changed.connect(self.updateGeometry)

    def set_words(self, text: str) -> None:
        """Change what the chip says."""
        if text != self.text():
            self.setText(text)
            self.setAccessibleName(text)
            self.updateGeometry()

    def sizeHint(self) -> QSize:
        look = theme()
        metrics = QFontMetricsF(look.font(Type.BUTTON))
        width = metrics.horizontalAdvance(self.text()) + 2 * look.px(11)
        return QSize(round(width + 0.5), look.px(CHIP_PX))

    def minimumSizeHint(self) -> QSize:
        return self.sizeHint()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        look = theme()
        rect = QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5)
        fill, outline, ink = look.color("panel"), look.color("edge"), look.color("ink2")
        if self.isChecked():
            fill, outline, ink = (look.color(n) for n in ("accent_soft", "accent", "accent"))
        elif self.underMouse():
            fill = look.color("hover")
        painter.setPen(QPen(outline, 1))
        painter.setBrush(fill)
        painter.drawRoundedRect(rect, rect.height() / 2, rect.height() / 2)
        painter.setFont(look.font(Type.BUTTON if self.isChecked() else Type.BODY))
        painter.setPen(ink)
        painter.drawText(rect, Qt.AlignmentFlag.AlignCenter, self.text())
        if self.hasFocus():
            ring = QRectF(self.rect())
            paint_focus_ring(painter, ring, ring.height() / 2, look.color("accent"))


class TagButton(QPushButton):
    """A tag of an item; clicking it searches for its like."""

    def __init__(self, tag: str, parent: QWidget | None = None) -> None:
        """Show the tag."""
        super().__init__(tag, parent)
        self.setAccessibleName(f"Tag {tag}")
        self.setToolTip(f"Search tag:{tag}")
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)

    def sizeHint(self) -> QSize:
        look = theme()
        metrics = QFontMetricsF(look.font(Type.META))
        width = min(metrics.horizontalAdvance(self.text()), look.px(280)) + 2 * look.px(8)
        return QSize(round(width + 0.5), look.px(24))

    def minimumSizeHint(self) -> QSize:
        return self.sizeHint()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        look = theme()
        rect = QRectF(self.rect())
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(look.color("accent_soft" if self.underMouse() else "code"))
        painter.drawRoundedRect(rect, look.px(4), look.px(4))
        font = look.font(Type.META)
        painter.setFont(font)
        painter.setPen(look.color("ink2"))
        inner = rect.adjusted(look.px(8), 0, -look.px(8), 0)
        text = QFontMetricsF(font).elidedText(
            self.text(), Qt.TextElideMode.ElideRight, inner.width() + 1
        )
        painter.drawText(inner, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, text)
        if self.hasFocus():
            paint_focus_ring(painter, rect, look.px(4), look.color("accent"))


class Choice(QComboBox):
    """A drop-down list in the style of the fields."""

    def __init__(self, name: str, parent: QWidget | None = None) -> None:
        """Name the choice for screen readers."""
        super().__init__(parent)
        self.setAccessibleName(name)
        self.setMaxVisibleItems(12)
        self.view().setAccessibleName(name)
        appearance().changed.connect(self._on_appearance_changed)
        self._on_appearance_changed()

    def setEditable(self, editable: bool) -> None:  # noqa: FBT001 - Qt's own signature
        super().setEditable(editable)
        if (edit := self.lineEdit()) is not None:
            edit.setTextMargins(6, 0, 0, 0)
            edit.setAccessibleName(self.accessibleName())

    def _on_appearance_changed(self) -> None:
        self.setMinimumHeight(theme().px(CONTROL_PX))
        self.update()

    def sizeHint(self) -> QSize:
        look = theme()
        metrics = QFontMetricsF(look.font(Type.BODY))
        texts = [self.itemText(index) for index in range(self.count())] or [""]
        width = min(max(metrics.horizontalAdvance(text) for text in texts), look.px(320))
        return QSize(round(width) + look.px(46), look.px(CONTROL_PX))

    def minimumSizeHint(self) -> QSize:
        return QSize(theme().px(72), theme().px(CONTROL_PX))

    def wheelEvent(self, event: QEvent) -> None:
        """Leave the wheel to what scrolls: a choice is not changed by passing over it."""
        event.ignore()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QStylePainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        look = theme()
        rect = QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5)
        radius = look.px(RADIUS_BUTTON)
        invalid = bool(self.property("invalid"))
        painter.setPen(QPen(look.color("bad" if invalid else "edge"), 1))
        painter.setBrush(look.color("panel"))
        painter.drawRoundedRect(rect, radius, radius)
        edge = look.px(16)
        box = QRectF(rect.right() - edge - look.px(7), (self.height() - edge) / 2, edge, edge)
        paint_icon(painter, "chevron-down", look.color("ink3").name(), box)
        if not self.isEditable():
            painter.setPen(look.color("ink"))
            painter.setFont(look.font(Type.BODY))
            inner = rect.adjusted(look.px(9), 0, -look.px(28), 0)
            text = QFontMetricsF(look.font(Type.BODY)).elidedText(
                self.currentText(), Qt.TextElideMode.ElideRight, inner.width() + 1
            )
            painter.drawText(inner, Qt.AlignmentFlag.AlignVCenter, text)
        edit = self.lineEdit()
        if self.hasFocus() or (edit is not None and edit.hasFocus()):
            paint_focus_ring(painter, QRectF(self.rect()), radius, look.color("accent"))

    def initStyleOption(self, option: QStyleOptionComboBox) -> None:
        super().initStyleOption(option)
        option.state &= ~QStyle.StateFlag.State_HasFocus


class Tick(QCheckBox):
    """A box to tick, with its sentence."""

    def __init__(self, text: str, parent: QWidget | None = None) -> None:
        """Word what is switched on."""
        super().__init__(text, parent)
        self.setAccessibleName(text)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        appearance().changed.connect(self.updateGeometry)

    def sizeHint(self) -> QSize:
        look = theme()
        width = QFontMetricsF(look.font(Type.BODY)).horizontalAdvance(self.text())
        return QSize(round(width) + look.px(30), look.px(26))

    def minimumSizeHint(self) -> QSize:
        return self.sizeHint()

    def hitButton(self, pos: QPointF) -> bool:  # type: ignore[override]
        return self.rect().contains(pos)  # type: ignore[call-overload,no-any-return]

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        look = theme()
        edge = look.px(16)
        top = (self.height() - edge) / 2
        box = QRectF(1, top, edge, edge).adjusted(0.5, 0.5, -0.5, -0.5)
        on = self.isChecked()
        painter.setPen(QPen(look.color("accent" if on else "edge"), 1))
        painter.setBrush(look.color("accent" if on else "panel"))
        painter.drawRoundedRect(box, look.px(4), look.px(4))
        if on:
            inner = box.adjusted(look.px(2), look.px(2), -look.px(2), -look.px(2))
            paint_icon(painter, "check", look.color("on_accent").name(), inner)
        painter.setFont(look.font(Type.BODY))
        painter.setPen(look.color("ink" if self.isEnabled() else "ink3"))
        words = QRectF(self.rect()).adjusted(edge + look.px(9), 0, 0, 0)
        painter.drawText(words, Qt.AlignmentFlag.AlignVCenter, self.text())
        if self.hasFocus():
            ring = box.adjusted(-2, -2, 2, 2)
            paint_focus_ring(painter, ring, look.px(5), look.color("accent"))
