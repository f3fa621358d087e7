"""Where a person goes on with a conversation by the configured model: a field under it."""

from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from kmem_desktop.domain.models import Purpose, Use
from kmem_desktop.domain.sessions.recall import RememberedAnswer
from kmem_desktop.errors import KmemError
from kmem_desktop.gui.appearance import appearance, theme
from kmem_desktop.gui.context import BY_WINDOW, Context
from kmem_desktop.gui.theme import Type
from kmem_desktop.gui.widgets.controls import Button, IconButton, Look
from kmem_desktop.gui.widgets.fields import TextEditor
from kmem_desktop.gui.widgets.labels import Hairline, Label

_EDIT_PX = 76
_ASKING = "Asking the model…"


class ChatLine(QWidget):
    """A field for a message; question and answer become turns of the conversation.

    Signals:
        models_wanted: A model is to be connected.
        closed: The field is to be left for the conversation.
        answered: A message was answered, or stored without an answer.
    """

    models_wanted = Signal()
    closed = Signal()
    answered = Signal()

    def __init__(self, context: Context, uuid: str, parent: QWidget | None = None) -> None:
        """Go on with the session `uuid`; hidden at first."""
        super().__init__(parent)
        self._context = context
        self._uuid = uuid
        self._is_asking = False
        self.setProperty("surface", "panel")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.words = Label("", Type.META, "ink2", wrap=True)
        self.connect_button = Button("Connect a model", is_small=True)
        self.connect_button.clicked.connect(self.models_wanted)
        self.edit = TextEditor(2)
        self.edit.setAccessibleName("Message to the model")
        self.edit.setPlaceholderText("What next?")
        self.edit.installEventFilter(self)
        self.send_button = Button("Send", key="Ctrl ↵", look=Look.PRIMARY)
        self.send_button.clicked.connect(self.send)
        close = IconButton("close", "Close the chat (Esc)")
        close.clicked.connect(self.closed)
        head = QHBoxLayout()
        head.setSpacing(10)
        head.addWidget(self.words, 1)
        head.addWidget(self.connect_button)
        head.addWidget(close)
        line = QHBoxLayout()
        line.setSpacing(8)
        line.addWidget(self.edit, 1)
        line.addWidget(self.send_button, 0, Qt.AlignmentFlag.AlignBottom)
        self._inner = QVBoxLayout()
        self._inner.addLayout(head)
        self._inner.addLayout(line)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(Hairline())
        column.addLayout(self._inner)
        appearance().changed.connect(self._space)
        self._space()
        self.hide()

    def _space(self) -> None:
        look = theme()
        self.edit.setMaximumHeight(look.px(_EDIT_PX))
        self._inner.setContentsMargins(look.px(22), look.px(8), look.px(22), look.px(12))
        self._inner.setSpacing(look.px(6))

    def open(self) -> None:
        """Show the field, and who would answer."""
        self.show()
        self.connect_button.hide()
        self.words.setText("The model gets the last turns and what is related.")
        self.edit.setFocus()
        self._context.tasks.run(self._who_answers(), self._show_who, topic=f"chat {id(self)}")

    async def _who_answers(self) -> Use:
        models = self._context.services.models
        await models.discover()
        return (await models.uses())[Purpose.CHAT]

    def _show_who(self, use: Use) -> None:
        if self._is_asking:
            return
        if use.problem or not use.provider:
            self._show_missing(use.problem or "No model is set up for chat.")
            return
        name = f"{use.model} ({use.provider})" if use.model else use.provider
        place = f", which means at {use.host}" if use.host else " on this computer"
        self.words.setText(f"{name} answers{place}. It gets the last turns and what is related.")

    def _show_missing(self, why: str) -> None:
        self.words.setText(
            f"{why} What you write is kept in the conversation all the same. A model on this"
            " computer (Ollama, LM Studio, LocalAI) or a service is set up on the page"
            " Connections."
        )
        self.connect_button.show()

    def send(self) -> None:
        """Ask what is typed."""
        message = self.edit.toPlainText().strip()
        if not message or self._is_asking:
            return
        self._set_asking(True)
        self.words.setText(_ASKING)
        self.connect_button.hide()
        chat = self._context.services.recall.chat(message, BY_WINDOW, session_uuid=self._uuid)
        self._context.tasks.run(self._ended(chat), self._on_answer, failed=self._on_failed)

    async def _ended(self, chat: object) -> RememberedAnswer:
        try:
            answer: RememberedAnswer = await chat  # type: ignore[misc]
            return answer
        finally:
            self._set_asking(False)

    def _set_asking(self, asking: bool) -> None:  # noqa: FBT001 - a state, named like Qt's setters
        self._is_asking = asking
        self.send_button.setEnabled(not asking)

    def _on_answer(self, answer: RememberedAnswer) -> None:
        self.edit.clear()
        if answer.answer:
            model = answer.model or "The model"
            self.words.setText(f"{model} answered. Question and answer are part of the session.")
        else:
            self._show_missing(f"No model answered: {answer.why_no_answer}")
        self.answered.emit()

    def _on_failed(self, error: KmemError) -> bool:
        self.words.setText(f"{error.message} {error.hint}".strip())
        return True

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if not isinstance(event, QKeyEvent):
            return super().eventFilter(watched, event)
        enter = event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter)
        sends = enter and bool(event.modifiers() & Qt.KeyboardModifier.ControlModifier)
        if not sends and event.key() != Qt.Key.Key_Escape:
            return super().eventFilter(watched, event)
        if event.type() == QEvent.Type.ShortcutOverride:
            event.accept()  # here these keys are not the window's
        elif event.type() == QEvent.Type.KeyPress and sends:
            self.send()
        elif event.type() == QEvent.Type.KeyPress:
            self.closed.emit()
        return True
