"""List and detail side by side, or, where there is little width, one over the other."""

from PySide6.QtCore import QRect
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QWidget

from kmem_desktop.gui.appearance import appearance, theme
from kmem_desktop.gui.widgets.labels import Hairline

_DETAIL_SHARE = 0.415
_DETAIL_PX = (340, 600)


class Columns(QWidget):
    """Two columns with a hairline between them."""

    def __init__(self, left: QWidget, right: QWidget, parent: QWidget | None = None) -> None:
        """Put `left` and `right` side by side."""
        super().__init__(parent)
        self._left, self._right = left, right
        self._line = Hairline(vertical=True, parent=self)
        left.setParent(self)
        right.setParent(self)
        self._narrow = False
        self._right_is_open = False
        appearance().changed.connect(self._arrange)

    @property
    def right_covers(self) -> bool:
        """Whether the right column lies over the left one now."""
        return self._narrow and self._right_is_open

    def set_narrow(self, narrow: bool) -> None:  # noqa: FBT001 - a state, named like Qt's setters
        """Show one column at a time, or both."""
        self._narrow = narrow
        self._arrange()

    def open_right(self, is_open: bool) -> None:  # noqa: FBT001 - a state, named like Qt's setters
        """Show the right column where only one has room."""
        self._right_is_open = is_open
        self._arrange()

    def _arrange(self) -> None:
        width, height = self.width(), self.height()
        self._line.setVisible(not self._narrow)
        self._left.setVisible(not self.right_covers)
        self._right.setVisible(not self._narrow or self._right_is_open)
        if self._narrow:
            self._left.setGeometry(QRect(0, 0, width, height))
            self._right.setGeometry(QRect(0, 0, width, height))
            return
        least, most = (theme().px(edge) for edge in _DETAIL_PX)
        detail = min(max(round(width * _DETAIL_SHARE), least), most, max(width - least, 1))
        self._left.setGeometry(QRect(0, 0, width - detail - 1, height))
        self._line.setGeometry(QRect(width - detail - 1, 0, 1, height))
        self._right.setGeometry(QRect(width - detail, 0, detail, height))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._arrange()
