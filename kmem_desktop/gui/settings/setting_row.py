"""A setting as a row, groups of rows, and a number of days that is checked."""

from collections.abc import Callable

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHBoxLayout, QLineEdit, QVBoxLayout, QWidget

from kmem_desktop.gui.appearance import appearance, theme
from kmem_desktop.gui.models.parts import Lined
from kmem_desktop.gui.theme import CONTROL_PX, Type
from kmem_desktop.gui.widgets.labels import Hairline, Label

DAYS = (1, 3_650)
_DAYS_WIDTH_PX = 64


class SettingRow(QWidget):
    """A name, a sentence, and at the right what is chosen.

    Attributes:
        words: The sentence.
    """

    def __init__(self, name: str, words: str, *controls: QWidget) -> None:
        """Show the setting."""
        super().__init__()
        self.words = Label(words, Type.META, "ink3", wrap=True)
        self._problem = Label("", Type.META, "bad", wrap=True)
        self._problem.hide()
        texts = QVBoxLayout()
        texts.setSpacing(2)
        texts.addWidget(Label(name, Type.BODY_STRONG, wrap=True))
        texts.addWidget(self.words)
        texts.addWidget(self._problem)
        line = QHBoxLayout(self)
        line.setContentsMargins(0, 14, 0, 14)
        line.setSpacing(6)
        line.addLayout(texts, 1)
        line.addSpacing(16)
        for control in controls:
            line.addWidget(control, 0, Qt.AlignmentFlag.AlignVCenter)

    def problem(self) -> str:
        """Return what is said to be wrong; empty where nothing is."""
        return self._problem.text()

    def set_problem(self, words: str) -> None:
        """Say what is wrong with what was typed; nothing for no words."""
        self._problem.setText(words)
        self._problem.setVisible(bool(words))


class SettingGroup(QWidget):
    """A quiet heading, and rows with hairlines between them."""

    def __init__(self, name: str) -> None:
        """Start without rows."""
        super().__init__()
        self.setAccessibleName(name)
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 22, 0, 0)
        self._column.setSpacing(0)
        self._column.addWidget(Label(name, Type.META_STRONG, "ink2"))
        self._column.addSpacing(6)
        self._column.addWidget(Hairline())

    def add_rows(self, *rows: QWidget) -> None:
        """Add rows, each with a line below it."""
        for row in rows:
            self._column.addWidget(Lined(row))


class DaysField(QLineEdit):
    """A number of days; what is out of the limits is told, and changes nothing."""

    def __init__(
        self,
        name: str,
        change: Callable[[int], object],
        tell: Callable[[str], object],
        parent: QWidget | None = None,
    ) -> None:
        """Name the field for screen readers.

        Args:
            name: What the number is.
            change: Called with a number that was typed and is within the limits.
            tell: Called with what is wrong; with nothing, when it is right again.
            parent: Where it lies.
        """
        super().__init__(parent)
        self._change = change
        self._tell = tell
        self._shown = ""
        least, most = DAYS
        self.setAccessibleName(name)
        self.setAccessibleDescription(f"{least} to {most:,} days")
        self.setToolTip(f"{least} to {most:,} days")
        self.setMaxLength(9)
        self.setAlignment(Qt.AlignmentFlag.AlignRight)
        self.editingFinished.connect(self._on_finished)
        appearance().changed.connect(self._fit)
        self._fit()

    def show_days(self, days: int) -> None:
        """Show what is set, unless something else is being typed."""
        if not (self.hasFocus() and self.isModified()):
            self._shown = str(days)
            self.setText(self._shown)
            self._mark("")

    def _fit(self) -> None:
        self.setFixedWidth(theme().px(_DAYS_WIDTH_PX))
        self.setMinimumHeight(theme().px(CONTROL_PX))

    def _on_finished(self) -> None:
        text = self.text().strip().replace(",", "")
        least, most = DAYS
        if not (text.isascii() and text.isdigit() and least <= int(text) <= most):
            self._mark(f"Whole days from {least} to {most:,}, please. It stays at {self._shown}.")
            return
        self._mark("")
        if text != self._shown:
            self._shown = text
            self._change(int(text))

    def _mark(self, problem: str) -> None:
        self._tell(problem)
        if bool(self.property("invalid")) != bool(problem):
            self.setProperty("invalid", bool(problem))
            self.style().unpolish(self)
            self.style().polish(self)
