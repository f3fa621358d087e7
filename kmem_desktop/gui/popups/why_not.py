"""Why was it not found: pick what was expected, and read why the answer does not have it."""

from collections.abc import Callable

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QHBoxLayout, QStackedWidget, QVBoxLayout, QWidget

from kmem_desktop.domain.absence import Absence, ExpectedItem
from kmem_desktop.domain.changes import Noun
from kmem_desktop.domain.found import EntryQuery
from kmem_desktop.errors import KmemError
from kmem_desktop.gui.appearance import appearance, theme
from kmem_desktop.gui.context import Context, Question
from kmem_desktop.gui.detail.absence_view import AbsenceView
from kmem_desktop.gui.lists.list_loader import ListLoader
from kmem_desktop.gui.lists.row_delegate import Density
from kmem_desktop.gui.lists.row_list_view import RowListView
from kmem_desktop.gui.lists.row_table_model import RowTableModel
from kmem_desktop.gui.popups.overlay import Overlay
from kmem_desktop.gui.theme import Type
from kmem_desktop.gui.widgets.controls import Button, IconButton, Look
from kmem_desktop.gui.widgets.empty import EmptyState
from kmem_desktop.gui.widgets.labels import Hairline, KeyHint, Label
from kmem_desktop.gui.widgets.search_field import SearchField
from kmem_desktop.gui.wording import quoted
from kmem_desktop.services.listing import EVERYTHING

_WIDTH_PX = 640
_HEIGHT_PX = 480
_TOPIC = "why not"
_TESTABLE = (Noun.KNOWLEDGE, Noun.ENTITY, Noun.TURN)
"""What the tools find; rules are asked for in another way."""


class WhyNotPanel(Overlay):
    """A panel with two faces: a search for the expected item, and the explanation."""

    def __init__(self, context: Context, window: QWidget) -> None:
        """Cover `window`, hidden at first."""
        super().__init__(_WIDTH_PX, _HEIGHT_PX, window)
        self._context = context
        self._question: Question | None = None
        self._then: Callable[[int | str], None] | None = None
        self._is_picked = False
        self._title = Label("", Type.TITLE)
        self._asked = Label("", Type.META, "ink2", wrap=True)
        self._close = IconButton("close", "Close (Esc)")
        self._close.clicked.connect(self.dismiss)
        self.field = SearchField("Words of the item's title, or its id", large=True)
        self.field.set_frameless()
        self.model = RowTableModel()
        self.list = RowListView(self.model, "Items", Density.COMPACT)
        self.list.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.loader = ListLoader(context.services.listing, context.tasks, self.list)
        self._nothing = EmptyState()
        self._nothing.set_words(
            "No item has these words", "Other words may find it; its id or UUID always does: ↵."
        )
        self.view = AbsenceView()
        self.open_button = Button("Open it", key="↵", look=Look.PRIMARY)
        self.keep_button = Button("Keep as a test", key="T")
        self.other_button = Button("Another item", key="⌫")
        self._head, self._picker_foot, self._answer_foot = (
            QVBoxLayout(),
            QHBoxLayout(),
            QHBoxLayout(),
        )
        self._lists = QStackedWidget()
        for face in (QWidget(), self.list, self._nothing):
            self._lists.addWidget(face)
        self._faces = QStackedWidget()
        self._faces.addWidget(self._build_picker())
        self._faces.addWidget(self._build_answer())
        self.body.addLayout(self._build_head())
        self.body.addWidget(Hairline())
        self.body.addWidget(self._faces, 1)
        self._connect()
        appearance().changed.connect(self._space)
        self._space()

    def _space(self) -> None:
        look = theme()
        self._head.setContentsMargins(look.px(20), look.px(14), look.px(12), look.px(10))
        self._picker_foot.setContentsMargins(look.px(16), look.px(7), look.px(16), look.px(7))
        self._picker_foot.setSpacing(look.px(16))
        self._answer_foot.setContentsMargins(look.px(20), look.px(12), look.px(20), look.px(14))
        self._answer_foot.setSpacing(look.px(8))

    def _build_head(self) -> QVBoxLayout:
        line = QHBoxLayout()
        line.addWidget(self._title, 1)
        line.addWidget(self._close)
        self._head.setSpacing(2)
        self._head.addLayout(line)
        self._head.addWidget(self._asked)
        return self._head

    def _build_picker(self) -> QWidget:
        self._enter_words = QStackedWidget()
        for words in ("why not", "must be found"):
            self._enter_words.addWidget(KeyHint(("↵",), words))
        foot = self._picker_foot
        foot.addWidget(KeyHint(("↑", "↓"), "browse"))
        foot.addWidget(self._enter_words)
        foot.addStretch(1)
        foot.addWidget(KeyHint(("Esc",), "close"))
        return _column(self.field, Hairline(), (self._lists, 1), Hairline(), foot)

    def _build_answer(self) -> QWidget:
        foot = self._answer_foot
        for button in (self.open_button, self.keep_button, self.other_button):
            foot.addWidget(button)
        foot.addStretch(1)
        return _column((self.view, 1), Hairline(), foot)

    def _connect(self) -> None:
        self.field.asked.connect(lambda text: self.loader.ask(text, self._nouns()))
        self.field.moved.connect(self.list.move)
        self.field.entered.connect(self._on_entered)
        self.field.left.connect(self.dismiss)
        self.list.clicked.connect(lambda _index: self.list.choose_current())
        self.list.chosen.connect(self._pick)
        self.loader.loaded.connect(self._on_loaded)
        self.view.question_wanted.connect(self._ask_instead)
        self.open_button.clicked.connect(self._open_item)
        self.keep_button.clicked.connect(self._keep)
        self.other_button.clicked.connect(self._choose_another)

    @property
    def explains(self) -> bool:
        """Whether the explanation is shown, not the search for an item."""
        return self._faces.currentIndex() == 1

    def ask(self, question: Question, key: int | str | None = None) -> None:
        """Ask which item was expected, or explain at once why this one was not there."""
        self._title.setText("Not what you expected?")
        self._asked.setText(f"You asked {quoted(question.text.strip(), 160)}. What did you expect?")
        self._enter_words.setCurrentIndex(0)
        # A question of the tools' form comes from a test that is kept already.
        self.keep_button.setVisible(not isinstance(question, EntryQuery))
        self._begin(question, None)
        if key is not None:
            self._pick(key)

    def choose(self, question: str, then: Callable[[int | str], None]) -> None:
        """Let an item be picked that a question must find, and hand its id to `then`."""
        self._title.setText("What must it find?")
        self._asked.setText(quoted(question, 160))
        self._enter_words.setCurrentIndex(1)
        self._begin(EntryQuery(question), then)
        self.loader.ask(question, _TESTABLE)

    def _begin(self, question: Question, then: Callable[[int | str], None] | None) -> None:
        self._question, self._then = question, then
        self._context.tasks.drop(_TOPIC)
        self._faces.setCurrentIndex(0)
        self.field.edit.clear()
        self.loader.ask("", self._nouns())
        self.open()

    def _nouns(self) -> tuple[Noun, ...]:
        """Return what can be picked."""
        return EVERYTHING if self._then is None else _TESTABLE

    def take_focus(self) -> None:
        if self.explains:
            self.open_button.setFocus()
        else:
            self.field.edit.setFocus()

    def _on_loaded(self) -> None:
        has_rows = bool(len(self.model.listing.ids))
        self._lists.setCurrentWidget(self.list if has_rows else self._nothing)
        if has_rows and self.list.current_id() is None:
            self.list.move(0)

    def _on_entered(self) -> None:
        text = self.field.edit.text().strip()
        if _is_id(text):
            self._pick(text)
        else:
            self.list.choose_current()

    def _pick(self, key: int | str) -> None:
        if self._then is not None:
            then = self._then
            self.dismiss()
            then(key)
        elif self._question is not None:
            self._asked.setText("Asking again, with more compared…")
            self._context.tasks.run(
                self._context.services.absence.why_not(self._question, key),
                self._show,
                failed=self._on_failed,
                topic=_TOPIC,
            )

    def _on_failed(self, error: KmemError) -> bool:
        self._asked.setText(f"{error.message} {error.hint}".strip())
        return True

    def _show(self, absence: Absence) -> None:
        self._asked.setText(f"You asked {quoted(absence.question.strip(), 160)}.")
        self.view.show_absence(absence)
        is_there = bool(absence.item.id)
        self.open_button.setEnabled(is_there)
        self.keep_button.setEnabled(is_there and absence.item.noun is not Noun.DIRECTIVE)
        self._faces.setCurrentIndex(1)
        self.take_focus()

    def _choose_another(self) -> None:
        self._context.tasks.drop(_TOPIC)
        self._faces.setCurrentIndex(0)
        self.field.edit.selectAll()
        self.take_focus()

    def _item(self) -> ExpectedItem | None:
        absence = self.view.absence
        return absence.item if self.explains and absence is not None else None

    def _open_item(self) -> None:
        item = self._item()
        if item is not None and self.open_button.isEnabled():
            self.dismiss()
            noun = Noun.ENTITY if item.noun is Noun.OBSERVATION else item.noun
            self._context.shell.open_item(noun, item.owner_id)

    def _keep(self) -> None:
        item, question = self._item(), self._question
        if item is None or question is None or not self.keep_button.isEnabled():
            return
        if isinstance(question, EntryQuery):
            return
        self.dismiss()
        self._context.shell.keep_as_test(question.text, item.uuid)

    def _ask_instead(self, question: str) -> None:
        self.dismiss()
        self._context.shell.search_for(question)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        key = event.key()
        if not self.explains or event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier:
            super().keyPressEvent(event)
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self._press_focused()
        elif key == Qt.Key.Key_T:
            self._keep()
        elif key == Qt.Key.Key_Backspace:
            self._choose_another()
        else:
            super().keyPressEvent(event)

    def focusNextPrevChild(self, forward: bool) -> bool:  # noqa: FBT001 - Qt's own signature
        """Keep the keyboard in the panel while it is open."""
        tab = Qt.FocusPolicy.TabFocus
        stops = [
            stop
            for stop in self.findChildren(QWidget)
            if stop.isVisible() and stop.isEnabled() and stop.focusPolicy() & tab
        ]
        here = next((place for place, stop in enumerate(stops) if stop.hasFocus()), -1)
        if stops:
            step = 1 if forward else -1
            stops[(here + step) % len(stops)].setFocus(Qt.FocusReason.TabFocusReason)
        return True

    def _press_focused(self) -> None:
        focused = self.focusWidget()
        if isinstance(focused, Button) and focused is not self.open_button:
            focused.click()
        else:
            self._open_item()


def _is_id(text: str) -> bool:
    """Return whether a text is an integer id or a UUID."""
    hexadecimal = text.replace("-", "")
    is_uuid = len(hexadecimal) == 32 and all(c in "0123456789abcdefABCDEF" for c in hexadecimal)
    return is_uuid or text.isdecimal()


def _column(*parts: QWidget | QHBoxLayout | tuple[QWidget, int]) -> QWidget:
    widget = QWidget()
    column = QVBoxLayout(widget)
    column.setContentsMargins(0, 0, 0, 0)
    column.setSpacing(0)
    for part in parts:
        if isinstance(part, tuple):
            column.addWidget(*part)
        elif isinstance(part, QHBoxLayout):
            column.addLayout(part)
        else:
            column.addWidget(part)
    return widget
