"""Parts that the rows of the page Connections share: states, rows that unfold, commands to copy."""

from PySide6.QtCore import QRectF, QSize, Qt, QTimer
from PySide6.QtGui import QGuiApplication, QPainter, QPaintEvent
from PySide6.QtWidgets import QHBoxLayout, QSizePolicy, QVBoxLayout, QWidget

from kmem_desktop.gui.appearance import appearance, theme
from kmem_desktop.gui.theme import Type
from kmem_desktop.gui.widgets.controls import Button
from kmem_desktop.gui.widgets.labels import Hairline, Label

COPIED_MS = 1500


class StateBadge(Label):
    """A state in words, on a soft ground where it means something."""

    def __init__(self, words: str = "", kind: str = "", parent: QWidget | None = None) -> None:
        """Show the words in the colours of `kind`: good, warn, bad, or none."""
        self._kind = kind
        super().__init__(words, Type.META, kind or "ink2", parent=parent)
        appearance().changed.connect(self._colour)
        self._colour()
        self.setVisible(bool(words))

    def set_state(self, words: str, kind: str = "") -> None:
        """Show another state; none without words."""
        self.setText(words)
        self.setVisible(bool(words))
        self._kind = kind
        self.set_color(kind or "ink2")
        self._colour()

    def _colour(self) -> None:
        look = theme()
        if not self._kind:
            self.setStyleSheet("")
            return
        self.setStyleSheet(
            f"background: {look.color(self._kind + '_soft').name()};"
            f" border-radius: {look.px(8)}px; padding: 1px {look.px(8)}px;"
            f" color: {look.color(self._kind).name()};"
        )


class Row(QWidget):
    """A name with its state, a sentence, buttons at the right, and what unfolds below.

    Attributes:
        name: The name.
        state: The state.
        words: The sentence.
        buttons: Where buttons go.
        body: What unfolds; hidden at first.
    """

    def __init__(self, name: str, parent: QWidget | None = None) -> None:
        """Show the name; the rest is set later."""
        super().__init__(parent)
        self.setAccessibleName(name)
        self.name = Label(name, Type.NAME)
        self.state = StateBadge()
        self.words = Label("", Type.META, "ink3", wrap=True)
        self.problem = Label("", Type.META, "bad", wrap=True)
        self.problem.hide()
        title = QHBoxLayout()
        title.setSpacing(10)
        title.addWidget(self.name)
        title.addWidget(self.state)
        title.addStretch(1)
        texts = QVBoxLayout()
        texts.setSpacing(3)
        texts.addLayout(title)
        texts.addWidget(self.words)
        texts.addWidget(self.problem)
        self.buttons = QHBoxLayout()
        self.buttons.setSpacing(8)
        line = QHBoxLayout()
        line.setSpacing(16)
        line.addLayout(texts, 1)
        line.addLayout(self.buttons)
        self.body = QWidget()
        self.inside = QVBoxLayout(self.body)
        self.inside.setContentsMargins(0, 10, 0, 0)
        self.inside.setSpacing(8)
        self.body.hide()
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 13, 0, 13)
        column.setSpacing(0)
        column.addLayout(line)
        column.addWidget(self.body)

    def add_button(self, button: Button, name: str) -> Button:
        """Put a button at the right, named for those who hear it out of its place."""
        button.setAccessibleName(name)
        self.buttons.addWidget(button, 0, Qt.AlignmentFlag.AlignVCenter)
        return button

    def set_problem(self, words: str) -> None:
        """Say what went wrong; nothing for no words."""
        self.problem.setText(words)
        self.problem.setVisible(bool(words))


class Section(QWidget):
    """A quiet heading with what belongs under it.

    Attributes:
        right: Beside the heading.
        rows: Where rows go, each with a line below it.
    """

    def __init__(self, name: str, words: str = "", parent: QWidget | None = None) -> None:
        """Show the heading."""
        super().__init__(parent)
        self.heading = Label(name, Type.META_STRONG, "ink2")
        self.words = Label(words, Type.META, "ink3", wrap=True)
        self.right = QHBoxLayout()
        self.right.setSpacing(8)
        line = QHBoxLayout()
        line.setSpacing(10)
        line.addWidget(self.heading, 0, Qt.AlignmentFlag.AlignVCenter)
        line.addWidget(self.words, 1, Qt.AlignmentFlag.AlignVCenter)
        line.addLayout(self.right)
        self.rows = QVBoxLayout()
        self.rows.setSpacing(0)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 22, 0, 0)
        column.setSpacing(6)
        column.addLayout(line)
        column.addWidget(Hairline())
        column.addLayout(self.rows)

    def add_row(self, row: QWidget) -> None:
        """Add a row with a line below it that is seen as long as the row is."""
        self.rows.addWidget(Lined(row))


class Lined(QWidget):
    """A row and the line below it."""

    def __init__(self, row: QWidget) -> None:
        """Show both."""
        super().__init__()
        self.row = row
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(row)
        column.addWidget(Hairline())


class CopyButton(Button):
    """Copies a text, and says for a moment that it did."""

    def __init__(self, text: str, name: str, parent: QWidget | None = None) -> None:
        """Copy `text` when it is pressed."""
        super().__init__("Copy", parent=parent)
        self._text = text
        self._name = name
        self.setAccessibleName(name)
        self.clicked.connect(self._on_clicked)

    def _on_clicked(self) -> None:
        QGuiApplication.clipboard().setText(self._text)
        self._say("Copied")
        QTimer.singleShot(COPIED_MS, self, lambda: self._say("Copy"))

    def _say(self, words: str) -> None:
        self.set_words(words)
        self.setAccessibleName(self._name if words == "Copy" else words)


class CommandLine(QWidget):
    """What a person may type in a terminal: a sentence, the command, a button that copies it."""

    def __init__(self, words: str, command: str, parent: QWidget | None = None) -> None:
        """Show the command as code."""
        super().__init__(parent)
        self.command = command
        code = Label(command, Type.CODE, "ink").allow_selection()
        code.setAccessibleName(f"Command: {command}")
        code.setProperty("surface", "code")
        self._code = code
        line = QHBoxLayout(self)
        line.setContentsMargins(0, 9, 0, 9)
        line.setSpacing(10)
        line.addWidget(Label(words, Type.META, "ink2", wrap=True), 1)
        line.addWidget(code)
        line.addWidget(CopyButton(command, f"Copy the command {command}"))
        appearance().changed.connect(self._colour)
        self._colour()

    def _colour(self) -> None:
        look = theme()
        self._code.setStyleSheet(
            f"background: {look.color('code').name()}; border-radius: {look.px(4)}px;"
            f" padding: {look.px(3)}px {look.px(7)}px; color: {look.color('ink').name()};"
        )


class ProgressLine(QWidget):
    """How far something is, as a bar; the words beside it say it too."""

    def __init__(self, name: str, parent: QWidget | None = None) -> None:
        """Name what goes on."""
        super().__init__(parent)
        self.setAccessibleName(name)
        self._name = name
        self._part = 0.0
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def set_progress(self, done: int, total: int) -> None:
        """Show how much of all is done."""
        self._part = min(1.0, done / total) if total else 0.0
        self.setAccessibleDescription(f"{self._part:.0%}")
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(200, theme().px(6))

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        whole = QRectF(self.rect())
        radius = whole.height() / 2
        painter.setBrush(theme().color("line"))
        painter.drawRoundedRect(whole, radius, radius)
        done = whole.adjusted(0, 0, -whole.width() * (1 - self._part), 0)
        if done.width() > 1:
            painter.setBrush(theme().color("accent"))
            painter.drawRoundedRect(done, radius, radius)
