"""The line under an answer: the way on for who expected something else."""

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from kmem_desktop.gui.appearance import appearance, theme
from kmem_desktop.gui.widgets.controls import Button, Look
from kmem_desktop.gui.widgets.labels import Hairline, KeyHint


class AnswerFoot(QWidget):
    """A quiet line with two links.

    Signals:
        other_expected: Something else was expected.
        tests_wanted: The retrieval tests are to be shown.
    """

    other_expected = Signal()
    tests_wanted = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        """Start hidden."""
        super().__init__(parent)
        self.why = Button("Not what you expected?", look=Look.LINK)
        self.why.clicked.connect(self.other_expected)
        self._tests = Button("Retrieval tests", look=Look.LINK)
        self._tests.clicked.connect(self.tests_wanted)
        self._line = QHBoxLayout()
        self._line.addWidget(self.why)
        self._line.addWidget(KeyHint(("Alt W",), ""))
        self._line.addStretch(1)
        self._line.addWidget(self._tests)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(Hairline())
        column.addLayout(self._line)
        appearance().changed.connect(self._space)
        self._space()
        self.hide()

    def _space(self) -> None:
        look = theme()
        self._line.setContentsMargins(look.px(20), look.px(3), look.px(20), look.px(3))
        self._line.setSpacing(look.px(8))
