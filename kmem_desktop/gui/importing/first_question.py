"""Asks at the first start whether the conversations on this computer are to be kept here."""

from collections.abc import Callable, Sequence

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from kmem_desktop.domain.sessions.importing import TranscriptProgram
from kmem_desktop.gui.appearance import appearance, theme
from kmem_desktop.gui.context import Context
from kmem_desktop.gui.importing import sentences
from kmem_desktop.gui.theme import Type
from kmem_desktop.gui.widgets.controls import Button, Look
from kmem_desktop.gui.widgets.labels import Hairline, Label

NOT_NOW = "Nothing is copied. The page Import (Ctrl I) goes on offering it."


class FirstQuestion(QWidget):
    """The question, above every page until it is answered; the page Import offers the same.

    Attributes:
        program: Whose conversations it is about; None where nothing is asked.
        title: How many there are, and how many are about to go.
        words: What is done with them.
        keep: Yes.
        look: First to see what would come.
        not_now: No.
    """

    def __init__(
        self,
        context: Context,
        keep: Callable[[TranscriptProgram], object],
        look: Callable[[TranscriptProgram], object],
    ) -> None:
        """Look whether there is something to be asked; hidden until there is.

        Args:
            context: Knows the programs.
            keep: Called with the program whose conversations a person wants to keep.
            look: Called with the program whose conversations are to be looked at first.
        """
        super().__init__()
        self._context = context
        self.program: TranscriptProgram | None = None
        self.setAutoFillBackground(True)
        self.setAccessibleName("Question of the first start")
        self.title = Label("", Type.BODY_STRONG, wrap=True)
        self.words = Label("", Type.META, "ink2", wrap=True)
        self.not_now = Button("Not now", look=Look.LINK)
        self.look = Button("Look first")
        self.keep = Button("Keep them", look=Look.PRIMARY)
        self.not_now.clicked.connect(self._on_not_now)
        self.look.clicked.connect(lambda: self._answer(look, is_last=False))
        self.keep.clicked.connect(lambda: self._answer(keep, is_last=True))
        self._lay_out()
        self.hide()
        if not context.settings.current.asked_about_transcripts:
            context.tasks.run(context.services.transcripts.programs(), self._ask)

    def _lay_out(self) -> None:
        texts = QVBoxLayout()
        texts.setSpacing(2)
        texts.addWidget(self.title)
        texts.addWidget(self.words)
        self._line = QHBoxLayout()
        self._line.setSpacing(8)
        self._line.addLayout(texts, 1)
        self._line.addSpacing(12)
        for button in (self.not_now, self.look, self.keep):
            self._line.addWidget(button, 0, Qt.AlignmentFlag.AlignVCenter)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addLayout(self._line)
        column.addWidget(Hairline())
        appearance().changed.connect(self._on_appearance_changed)
        self._on_appearance_changed()

    def _on_appearance_changed(self) -> None:
        look = theme()
        self._line.setContentsMargins(look.px(20), look.px(12), look.px(20), look.px(12))
        palette = self.palette()
        palette.setColor(self.backgroundRole(), look.color("accent_soft"))
        self.setPalette(palette)

    def _ask(self, programs: Sequence[TranscriptProgram]) -> None:
        """Ask about the program that deletes most of what it has soon; of others by their size."""
        found = [each for each in programs if each.session_count and not each.is_followed]
        if not found:
            return
        self.program = max(
            found, key=lambda each: (each.expiring_count, each.kept_days or 0, each.session_count)
        )
        others = [each for each in found if each is not self.program]
        self.title.setText(sentences.found_title(self.program))
        self.words.setText(sentences.found_words(self.program, others))
        self.show()

    def _answer(self, then: Callable[[TranscriptProgram], object], *, is_last: bool) -> None:
        self.hide()
        if is_last:
            self._context.settings.change(asked_about_transcripts=True)
        if self.program is not None:
            then(self.program)

    def _on_not_now(self) -> None:
        self.hide()
        self._context.settings.change(asked_about_transcripts=True)
        self._context.shell.say(NOT_NOW)
