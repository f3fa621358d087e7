"""The lines at the foot of a page: what happened and how to undo it, and what clients store."""

from collections.abc import Callable

from PySide6.QtCore import QTimer, Signal
from PySide6.QtWidgets import QHBoxLayout, QSizePolicy, QVBoxLayout, QWidget

from kmem_desktop.gui.appearance import appearance, theme
from kmem_desktop.gui.theme import Type
from kmem_desktop.gui.widgets.controls import Button, IconButton, Look
from kmem_desktop.gui.widgets.labels import Hairline, Label

_LIVE_MS = 12_000


class NoticeLine(QWidget):
    """One notice: a sentence, what can be done about it, and a cross."""

    def __init__(self, parent: QWidget | None = None) -> None:
        """Start hidden."""
        super().__init__(parent)
        self.setAutoFillBackground(True)
        self.setAccessibleName("Notice")
        self._ground = "panel"
        self._words = Label("", Type.BUTTON, wrap=True)
        self._hint = Label("", Type.BODY, "ink2", wrap=True)
        self._button = Button("Undo")
        self._close = IconButton("close", "Close this notice")
        self._close.clicked.connect(self.hide)
        self._button.clicked.connect(self._on_button)
        self._then: Callable[[], object] | None = None
        texts = QVBoxLayout()
        texts.setSpacing(0)
        texts.addWidget(self._words)
        texts.addWidget(self._hint)
        line = QHBoxLayout()
        line.setSpacing(12)
        self._line = line
        line.addLayout(texts, 1)
        line.addWidget(self._button)
        line.addWidget(self._close)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(Hairline())
        column.addLayout(line)
        appearance().changed.connect(self._on_appearance_changed)
        self._on_appearance_changed()
        self.hide()

    @property
    def offers_undo(self) -> bool:
        """Whether the button takes something back."""
        return self.isVisible() and self._then is not None and self._ground == "panel"

    @property
    def is_asking(self) -> bool:
        """Whether an answer is waited for."""
        return self.isVisible() and self._ground == "warn_soft"

    def take_focus(self) -> None:
        """Put the keyboard on the button."""
        self._button.setFocus()

    def words(self) -> str:
        """Return what is said."""
        return self._words.text()

    def press(self) -> None:
        """Do what the button does."""
        self._button.click()

    def show_words(
        self,
        words: str,
        *,
        hint: str = "",
        button: str = "",
        key: str = "",
        then: Callable[[], object] | None = None,
        ground: str = "panel",
    ) -> None:
        """Say something, with a button where something can be done."""
        self._ground = ground
        self._words.setText(words)
        self._hint.setText(hint)
        self._hint.setVisible(bool(hint))
        self._then = then
        self._button.set_words(button, key)
        self._button.setVisible(bool(button))
        self._paint_ground()
        self.show()

    def _on_button(self) -> None:
        then, self._then = self._then, None
        self.hide()
        if then is not None:
            then()

    def _on_appearance_changed(self) -> None:
        look = theme()
        self._line.setContentsMargins(look.px(20), look.px(8), look.px(14), look.px(8))
        self._paint_ground()

    def _paint_ground(self) -> None:
        palette = self.palette()
        palette.setColor(self.backgroundRole(), theme().color(self._ground))
        self.setPalette(palette)


class LiveLine(QWidget):
    """What a client has just done, in one quiet line.

    Signals:
        clicked: A person wants to see it.
    """

    clicked = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        """Start hidden."""
        super().__init__(parent)
        self._button = Button("What happened", look=Look.LINK)
        self._button.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self._button.clicked.connect(self._on_clicked)
        self._more = Label("", Type.META, "ink3")
        line = QHBoxLayout()
        line.setSpacing(7)
        self._line = line
        line.addWidget(self._button)
        line.addWidget(self._more, 1)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(Hairline())
        column.addLayout(line)
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.timeout.connect(self._on_timeout)
        appearance().changed.connect(self._on_appearance_changed)
        self._on_appearance_changed()
        self.hide()

    def words(self) -> str:
        """Return what is said."""
        return self._button.text()

    def tell(self, words: str, more: str = "") -> None:
        """Say what happened; it leaves by itself."""
        self._button.set_words(words)
        self._more.setText(more)
        self.show()
        self._timer.start(_LIVE_MS)

    def _on_appearance_changed(self) -> None:
        look = theme()
        self._line.setContentsMargins(look.px(20), look.px(3), look.px(14), look.px(3))

    def _on_clicked(self) -> None:
        self.hide()
        self.clicked.emit()

    def _on_timeout(self) -> None:
        if self.underMouse():
            self._timer.start(_LIVE_MS)
        else:
            self.hide()
