"""What a row stands on: selection, hover, focus, and the line below it."""

from PySide6.QtCore import QRectF
from PySide6.QtGui import QPainter
from PySide6.QtWidgets import QStyle

from kmem_desktop.gui.theme import BAR_PX, Theme
from kmem_desktop.gui.widgets.controls import paint_focus_ring


def paint_ground(
    painter: QPainter,
    rect: QRectF,
    state: QStyle.StateFlag,
    look: Theme,
    *,
    has_line: bool = True,
) -> None:
    """Paint a row's ground; a bar and a ring show selection and focus without colour.

    The line lies under bar and ring: what tells where one is must not be cut.
    """
    selected = bool(state & QStyle.StateFlag.State_Selected)
    if selected:
        painter.fillRect(rect, look.color("accent_soft"))
    elif state & QStyle.StateFlag.State_MouseOver:
        painter.fillRect(rect, look.color("hover"))
    if has_line:
        line = QRectF(rect.x(), rect.bottom() - 1, rect.width(), 1)
        painter.fillRect(line, look.color("line"))
    if selected:
        bar = QRectF(rect.x(), rect.y(), BAR_PX, rect.height())
        painter.fillRect(bar, look.color("accent"))
        if state & QStyle.StateFlag.State_HasFocus:
            paint_focus_ring(painter, rect.adjusted(0, 0, 0, -1), 2, look.color("accent"))
