"""The rail at the left: where one is, where one can go, and how things stand."""

from collections.abc import Sequence

from PySide6.QtCore import QRectF, QSize, Qt, Signal
from PySide6.QtGui import QFontMetricsF, QPainter, QPaintEvent
from PySide6.QtWidgets import QButtonGroup, QHBoxLayout, QPushButton, QVBoxLayout, QWidget

from kmem_desktop.gui.appearance import appearance, theme
from kmem_desktop.gui.icons import paint_icon
from kmem_desktop.gui.pages.registry import PageEntry
from kmem_desktop.gui.theme import BAR_PX, RADIUS_BUTTON, Type
from kmem_desktop.gui.widgets.controls import Button, paint_focus_ring
from kmem_desktop.gui.widgets.labels import Hairline, Label
from kmem_desktop.gui.wording import counted

_WIDTH_PX = 196
_NARROW_PX = 56
_MOST_WAITING = 1_000


class RailButton(QPushButton):
    """An entry of the rail."""

    def __init__(self, entry: PageEntry, key: str, parent: QWidget | None = None) -> None:
        """Show the page's icon and title."""
        super().__init__(entry.title, parent)
        self.entry = entry
        self.is_narrow = False
        self._waiting = 0
        self.setCheckable(True)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setAccessibleName(entry.title)
        self.setToolTip(f"{entry.title}  ({key})")
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        appearance().changed.connect(self.updateGeometry)

    def set_waiting(self, count: int) -> None:
        """Show how much waits for the person there; nothing where nothing does."""
        self._waiting = count
        title = self.entry.title
        self.setAccessibleName(f"{title}, {count:,} wait for you" if count else title)
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(60, theme().px(32))

    def minimumSizeHint(self) -> QSize:
        return QSize(24, theme().px(32))

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        look = theme()
        rect = QRectF(self.rect())
        radius = look.px(RADIUS_BUTTON)
        on = self.isChecked()
        if on or self.underMouse():
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(look.color("panel" if on else "line"))
            painter.setOpacity(1.0 if on else 0.55)
            painter.drawRoundedRect(rect, radius, radius)
            painter.setOpacity(1.0)
        if on:
            painter.save()
            painter.setClipRect(QRectF(0, 0, BAR_PX, rect.height()))
            painter.setBrush(look.color("accent"))
            painter.drawRoundedRect(rect, radius, radius)
            painter.restore()
        edge = look.px(16)
        left = (rect.width() - edge) / 2 if self.is_narrow else look.px(9)
        box = QRectF(left, (rect.height() - edge) / 2, edge, edge)
        ink = look.color("accent" if on else "ink2")
        paint_icon(painter, self.entry.icon, ink.name(), box)
        if not self.is_narrow:
            painter.setFont(look.font(Type.BUTTON if on else Type.BODY))
            painter.setPen(look.color("ink" if on else "ink2"))
            words = rect.adjusted(look.px(34), 0, 0, 0)
            painter.drawText(words, Qt.AlignmentFlag.AlignVCenter, self.text())
        if self._waiting:
            self._paint_waiting(painter, rect)
        if self.hasFocus():
            paint_focus_ring(painter, rect, radius, look.color("accent"))

    def _paint_waiting(self, painter: QPainter, rect: QRectF) -> None:
        look = theme()
        words = f"{self._waiting}" if self._waiting < _MOST_WAITING else f"{_MOST_WAITING - 1}+"
        font = look.font(Type.META_STRONG)
        height = look.px(15 if self.is_narrow else 18)
        width = max(height, QFontMetricsF(font).horizontalAdvance(words) + look.px(10))
        top = 1 if self.is_narrow else (rect.height() - height) / 2
        right = rect.right() - look.px(1 if self.is_narrow else 7)
        badge = QRectF(right - width, top, width, height)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(look.color("accent"))
        painter.drawRoundedRect(badge, height / 2, height / 2)
        painter.setFont(font)
        painter.setPen(look.color("on_accent"))
        painter.drawText(badge, Qt.AlignmentFlag.AlignCenter, words)


class Logo(QWidget):
    """The program's sign and name."""

    def __init__(self, parent: QWidget | None = None) -> None:
        """Show sign and name."""
        super().__init__(parent)
        self.is_narrow = False
        appearance().changed.connect(self.updateGeometry)

    def sizeHint(self) -> QSize:
        return QSize(theme().px(24 if self.is_narrow else 80), theme().px(30))

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        look = theme()
        edge = look.px(16)
        left = (self.width() - edge) / 2 if self.is_narrow else 0
        box = QRectF(left, (self.height() - edge) / 2, edge, edge)
        paint_icon(painter, "logo", look.color("accent").name(), box)
        if not self.is_narrow:
            painter.setFont(look.font(Type.NAME))
            painter.setPen(look.color("ink"))
            words = QRectF(self.rect()).adjusted(edge + look.px(8), 0, 0, 0)
            painter.drawText(words, Qt.AlignmentFlag.AlignVCenter, "kmem")


class StateLine(QWidget):
    """A dot and how things stand, in words."""

    def __init__(self, parent: QWidget | None = None) -> None:
        """Start without words."""
        super().__init__(parent)
        self._color = "good"
        self.label = Label("", Type.META, "ink2", wrap=True)
        self._line = QHBoxLayout(self)
        self._line.addWidget(self.label)
        self.is_narrow = False
        appearance().changed.connect(self._space)
        self._space()

    def set_state(self, words: str, color: str) -> None:
        """Say how things stand."""
        self._color = color
        self.label.setText(words)
        self.setToolTip(words)
        self.update()

    def set_narrow(self, narrow: bool) -> None:  # noqa: FBT001 - a state, named like Qt's setters
        """Show only the dot."""
        self.is_narrow = narrow
        self.label.setVisible(not narrow)
        self._space()

    def _space(self) -> None:
        left = 0 if self.is_narrow else theme().px(14)
        self._line.setContentsMargins(left, 0, 0, 0)
        self.setMinimumHeight(theme().px(18))

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        look = theme()
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(look.color(self._color))
        dot = look.px(8)
        left = (self.width() - dot) / 2 if self.is_narrow else 0
        painter.drawEllipse(QRectF(left, (look.px(18) - dot) / 2, dot, dot))


class Rail(QWidget):
    """The rail.

    Signals:
        page_wanted: A page was clicked (its name).
        new_wanted: New was clicked.
    """

    page_wanted = Signal(str)
    new_wanted = Signal()

    def __init__(self, entries: Sequence[PageEntry], parent: QWidget | None = None) -> None:
        """List the pages."""
        super().__init__(parent)
        self.setProperty("surface", "rail")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self._narrow = False
        self._logo = Logo()
        self._new = Button("New", is_small=True)
        self._new.setToolTip("New knowledge  (Ctrl+N)")
        self._new.setAccessibleName("New knowledge")
        self._new.clicked.connect(self.new_wanted)
        self._sections: list[Label] = []
        self._group = QButtonGroup(self)
        self.buttons: dict[str, RailButton] = {}
        self._under = {entry.name: entry.under for entry in entries}
        self.state = StateLine()
        self.left = Label("Nothing left this computer", Type.META, "ink2", wrap=True)
        self._column = QVBoxLayout(self)
        self._column.setSpacing(2)
        self._head = QHBoxLayout()
        self._head.addWidget(self._logo)
        self._head.addStretch(1)
        self._head.addWidget(self._new)
        self._column.addLayout(self._head)
        self._column.addSpacing(10)
        self._list(entries)
        self._column.addStretch(1)
        self._column.addWidget(Hairline())
        self._foot = QVBoxLayout()
        self._foot.setSpacing(1)
        self._foot.addWidget(self.state)
        self._foot.addWidget(self.left)
        self._column.addLayout(self._foot)
        appearance().changed.connect(self._arrange)
        self._arrange()

    def _list(self, entries: Sequence[PageEntry]) -> None:
        section = ""
        for number, entry in enumerate((e for e in entries if e.in_rail), start=1):
            if entry.section != section:
                section = entry.section
                heading = Label(section, Type.META, "ink3")
                self._sections.append(heading)
                self._column.addSpacing(10)
                self._column.addWidget(heading)
                self._column.addSpacing(2)
            button = RailButton(entry, f"Ctrl+{number}")
            button.clicked.connect(lambda _=False, name=entry.name: self.page_wanted.emit(name))
            self._group.addButton(button)
            self.buttons[entry.name] = button
            self._column.addWidget(button)

    def show_page(self, name: str) -> None:
        """Mark the page that is shown, or the one to which it belongs."""
        name = self._under.get(name) or name
        self._group.setExclusive(False)
        for button in self.buttons.values():
            button.setChecked(button.entry.name == name)
        self._group.setExclusive(True)

    def show_waiting(self, name: str, count: int) -> None:
        """Show at a page's entry how much waits for the person there."""
        if (button := self.buttons.get(name)) is not None:
            button.set_waiting(count)

    def show_state(self, connected: int, *, is_paused: bool) -> None:
        """Say how many assistants are connected, or that serving is paused."""
        if is_paused:
            self.state.set_state("Serving is paused", "warn")
        else:
            words = f"{counted(connected, 'assistant') if connected else 'No assistant'} connected"
            self.state.set_state(words, "good" if connected else "edge")

    def set_narrow(self, narrow: bool) -> None:  # noqa: FBT001 - a state, named like Qt's setters
        """Show icons only, or icons and words."""
        self._narrow = narrow
        self._arrange()

    def _arrange(self) -> None:
        look = theme()
        self.setFixedWidth(look.px(_NARROW_PX if self._narrow else _WIDTH_PX))
        side = look.px(8 if self._narrow else 10)
        self._column.setContentsMargins(side, look.px(12), side, look.px(14))
        self._head.setContentsMargins(0 if self._narrow else look.px(9), 0, look.px(0), 0)
        self._foot.setContentsMargins(0 if self._narrow else look.px(9), look.px(8), 0, 0)
        self._new.setVisible(not self._narrow)
        self.left.setVisible(not self._narrow)
        self._logo.is_narrow = self._narrow
        self._logo.setMinimumWidth(look.px(_NARROW_PX) - 2 * side if self._narrow else 0)
        self._logo.updateGeometry()
        self.state.set_narrow(self._narrow)
        for heading in self._sections:
            heading.setVisible(not self._narrow)
            heading.setContentsMargins(look.px(9), 0, 0, 0)
        for button in self.buttons.values():
            button.is_narrow = self._narrow
            button.updateGeometry()
        self.update()
