"""What a model is used for, and which one is."""

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QFontMetricsF, QKeyEvent
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from kmem_desktop.domain.models import AUTOMATIC, OFF, Choice, Offer, Purpose, Use
from kmem_desktop.gui.appearance import appearance, theme
from kmem_desktop.gui.models.parts import ProgressLine, Row
from kmem_desktop.gui.models.sentences import (
    PURPOSE_NAMES,
    PURPOSE_WORDS,
    change_words,
    chosen_words,
    fixed_words,
    host_words,
    leaving_words,
    meanwhile_words,
    offer_words,
    use_words,
)
from kmem_desktop.gui.theme import Type
from kmem_desktop.gui.widgets.controls import Button
from kmem_desktop.gui.widgets.controls import Choice as ChoiceBox
from kmem_desktop.gui.widgets.labels import Label

BOX_PX = 270
_OPENING = (
    Qt.Key.Key_Up,
    Qt.Key.Key_Down,
    Qt.Key.Key_Home,
    Qt.Key.Key_End,
    Qt.Key.Key_PageUp,
    Qt.Key.Key_PageDown,
    Qt.Key.Key_Return,
    Qt.Key.Key_Enter,
)
_FIXED = {
    Purpose.CHAT: (AUTOMATIC, OFF),
    Purpose.EMBEDDINGS: (AUTOMATIC,),
    Purpose.DETECTION: (AUTOMATIC, OFF),
    Purpose.RERANKING: (OFF,),
}


class ModelBox(ChoiceBox):
    """A list that keys open: passing over a model by an arrow key must not choose it."""

    def keyPressEvent(self, event: QKeyEvent) -> None:
        is_leaving = event.key() in (Qt.Key.Key_Escape, Qt.Key.Key_Tab, Qt.Key.Key_Backtab)
        if is_leaving or event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            super().keyPressEvent(event)
        elif event.key() in _OPENING or (event.text() and event.text().isprintable()):
            self.showPopup()
        else:
            super().keyPressEvent(event)


class LeaveQuestion(QWidget):
    """Asks before texts leave the computer, with the host named.

    Signals:
        allowed: They may.
        refused: They may not.
    """

    allowed = Signal()
    refused = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        """Start hidden."""
        super().__init__(parent)
        self.words = Label("", Type.BODY, "warn", wrap=True)
        self.allow = Button("Send them")
        self.refuse = Button("Keep them here")
        self.allow.clicked.connect(self.allowed)
        self.refuse.clicked.connect(self.refused)
        buttons = QHBoxLayout()
        buttons.setSpacing(8)
        buttons.addWidget(self.refuse)
        buttons.addWidget(self.allow)
        buttons.addStretch(1)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 4)
        column.setSpacing(8)
        column.addWidget(self.words)
        column.addLayout(buttons)
        self.hide()

    def ask(self, purpose: Purpose, host: str) -> None:
        """Ask for a purpose and a host."""
        self.words.setText(leaving_words(purpose, host))
        self.allow.set_words(f"Send them to {host_words(host)}")
        self.show()
        self.refuse.setFocus()


class Change(QWidget):
    """How far the change to another embedding model is.

    Signals:
        cancel_wanted: It is to be given up.
    """

    cancel_wanted = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        """Start hidden."""
        super().__init__(parent)
        self.words = Label("", Type.META, "ink2", wrap=True)
        self.line = ProgressLine("Vectors of the next embedding model")
        self.cancel = Button("Cancel the change")
        self.cancel.clicked.connect(self.cancel_wanted)
        texts = QVBoxLayout()
        texts.setSpacing(6)
        texts.addWidget(self.words)
        texts.addWidget(self.line)
        line = QHBoxLayout(self)
        line.setContentsMargins(0, 0, 0, 4)
        line.setSpacing(16)
        line.addLayout(texts, 1)
        line.addWidget(self.cancel, 0, Qt.AlignmentFlag.AlignVCenter)
        self.hide()

    def set_progress(self, model: str, done: int, total: int) -> None:
        """Show how many texts of all have a vector of the model."""
        self.words.setText(change_words(model, done, total))
        self.words.set_color("ink2")
        self.line.set_progress(done, total)
        self._show_more(more=True)

    def set_trouble(self, words: str) -> None:
        """Say why the model that was chosen does not serve; nothing without words."""
        self.words.setText(words)
        self.words.set_color("warn")
        self._show_more(more=False)
        self.setVisible(bool(words))

    def _show_more(self, *, more: bool) -> None:
        self.line.setVisible(more)
        self.cancel.setVisible(more)
        self.show()


class PurposeRow(Row):
    """A purpose, what serves it now, and a list to choose from.

    Signals:
        chosen: Something is to serve it (`Choice`).
        cancel_wanted: The change to another embedding model is to be given up.
    """

    chosen = Signal(object)
    cancel_wanted = Signal()

    def __init__(self, purpose: Purpose, parent: QWidget | None = None) -> None:
        """Show a purpose."""
        name = PURPOSE_NAMES[purpose]
        super().__init__(name, parent)
        self.purpose = purpose
        self.state.set_state(PURPOSE_WORDS[purpose])
        self.box = ModelBox(f"Model for {name.lower()}: {PURPOSE_WORDS[purpose]}")
        self.buttons.addWidget(self.box, 0, Qt.AlignmentFlag.AlignVCenter)
        appearance().changed.connect(self._fit_box)
        self._fit_box()
        self.question = LeaveQuestion()
        self.change = Change()
        self.inside.addWidget(self.question)
        self.inside.addWidget(self.change)
        self._present = Choice()
        self._wanted: Choice | None = None
        self._use = Use(Choice())
        self.box.activated.connect(self._on_activated)
        self.question.allowed.connect(self._on_allowed)
        self.question.refused.connect(self.show_present)
        self.change.cancel_wanted.connect(self.cancel_wanted)

    def set_facts(self, use: Use, offers: Sequence[Offer]) -> None:
        """Show what serves now and what could; a list that is open is left alone."""
        self._use = use
        if self._wanted is None:
            self.words.setText(use_words(self.purpose, use))
        if self.box.view().isVisible():
            return
        items = [
            (fixed_words(self.purpose, Choice(name)), Choice(name)) for name in _FIXED[self.purpose]
        ]
        items += [(offer_words(offer), offer.choice) for offer in offers]
        present = self._among(use.choice, [choice for _, choice in items])
        if present is None:
            present = use.choice
            items.append((chosen_words(use), present))
        self._present = present
        shown = [(self.box.itemText(n), self.box.itemData(n)) for n in range(self.box.count())]
        if shown != items:
            self.box.clear()
            for words, choice in items:
                self.box.addItem(words, choice)
            self._fit_box()
        if self._wanted is None:
            self._select(present)

    def _among(self, choice: Choice, offered: Sequence[Choice]) -> Choice | None:
        """Return the one of those offered that means the same; None where none does."""
        if choice.provider in (AUTOMATIC, OFF):
            is_off = choice.provider == OFF or self.purpose is Purpose.RERANKING
            name = OFF if is_off and self.purpose is not Purpose.EMBEDDINGS else AUTOMATIC
            return Choice(name)
        return next((each for each in offered if str(each) == str(choice)), None)

    def _select(self, choice: Choice) -> None:
        for place in range(self.box.count()):
            if str(self.box.itemData(place)) == str(choice):
                self.box.setCurrentIndex(place)

    def _on_activated(self, place: int) -> None:
        choice = self.box.itemData(place)
        if not isinstance(choice, Choice) or str(choice) == str(self._present):
            self.show_present()
            return
        self.set_problem("")
        self._wanted = choice
        is_known = choice.send_to == self._use.choice.send_to
        if choice.send_to and not is_known:
            self.question.ask(self.purpose, choice.send_to)
            self._fit_body()
            self.question.refuse.setFocus()
            return
        self._choose(choice)

    def _on_allowed(self) -> None:
        if self._wanted is not None:
            self._choose(self._wanted)

    def _choose(self, choice: Choice) -> None:
        self.question.hide()
        self._fit_body()
        self.box.setEnabled(False)
        if self.purpose is Purpose.EMBEDDINGS and choice.provider != AUTOMATIC:
            self.words.setText("Asking it for a first vector…")
        self.chosen.emit(choice)

    def show_present(self) -> None:
        """Show what is chosen, whatever was about to be chosen."""
        self._wanted = None
        self.question.hide()
        self._fit_body()
        self.box.setEnabled(True)
        self.words.setText(use_words(self.purpose, self._use))
        self._select(self._present)

    def show_failure(self, words: str) -> None:
        """Say why something could not be chosen."""
        self.show_present()
        self.set_problem(words)
        self.box.setFocus()

    def show_change(self, model: str, done: int, total: int) -> None:
        """Show how far the change to another embedding model is; nothing without a model."""
        if model:
            self.change.set_progress(model, done, total)
        else:
            self.change.hide()
        self._fit_body()

    def show_trouble(self, serving: str, failure: str) -> None:
        """Say that something else than was chosen compares meanings, or nothing does."""
        choice = self._use.choice
        is_other = choice.provider not in (AUTOMATIC, OFF) and serving not in ("", str(choice))
        words = failure or (meanwhile_words(choice, serving) if is_other else "")
        self.change.set_trouble(words)
        self._fit_body()

    def _fit_box(self) -> None:
        look = theme()
        metrics = QFontMetricsF(look.font(Type.BODY))
        texts = [self.box.itemText(place) for place in range(self.box.count())]
        widest = max((metrics.horizontalAdvance(text) for text in texts), default=0)
        self.box.setFixedWidth(look.px(BOX_PX))
        self.box.view().setMinimumWidth(round(widest) + look.px(40))

    def _fit_body(self) -> None:
        self.body.setVisible(not self.question.isHidden() or not self.change.isHidden())
