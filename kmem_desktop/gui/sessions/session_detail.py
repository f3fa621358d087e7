"""The pane beside the list of sessions: what a session was about, and what can be done with it."""

from collections.abc import Callable, Sequence

from PySide6.QtCore import Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QLineEdit, QStackedWidget, QVBoxLayout, QWidget

from kmem_desktop.domain.sessions.browsing import ShownTurn
from kmem_desktop.domain.sessions.conversations import SESSION_TITLE_LENGTH
from kmem_desktop.domain.sessions.recall import SessionFacts, SessionState
from kmem_desktop.errors import InvalidInputError, KmemError, NotFoundError
from kmem_desktop.gui.context import Context
from kmem_desktop.gui.conversation.wording import STATES, span_words
from kmem_desktop.gui.detail.form_frame import LOSS_WORTH_ASKING, FormFrame
from kmem_desktop.gui.detail.parts import PaneBar, ScrolledColumn
from kmem_desktop.gui.lists.snippets import plain_snippet
from kmem_desktop.gui.rules.rule_parts import NamedRows, clear
from kmem_desktop.gui.sessions.session_deeds import SessionDeeds
from kmem_desktop.gui.sessions.summary_view import BulletCard, told_apart
from kmem_desktop.gui.theme import Type
from kmem_desktop.gui.widgets.controls import Button, IconButton, Look, TagButton
from kmem_desktop.gui.widgets.fields import Field
from kmem_desktop.gui.widgets.flow_layout import FlowLayout
from kmem_desktop.gui.widgets.labels import Card, Label
from kmem_desktop.gui.wording import counted, exactly
from kmem_desktop.services.sessions.browsing import speaker_name
from kmem_desktop.text import one_line

_FIRST_TURNS = 4
_BEGINNING_LENGTH = 400


class SessionBar(QWidget):
    """The buttons above a session, each with its key.

    Signals:
        wanted: A button was pressed (its name).
    """

    wanted = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        """Show the buttons."""
        super().__init__(parent)
        self.back = IconButton("arrow-left", "Back to the list (Esc)")
        self.back.hide()
        self.buttons = {
            "open": Button("Open", key="↵", look=Look.PRIMARY),
            "pin": Button("Pin", key="P"),
            "edit": Button("Edit", key="E"),
            "archive": Button("Archive", key="A"),
            "delete": Button("Delete", key="Del"),
        }
        line = QHBoxLayout(self)
        line.setContentsMargins(0, 0, 0, 0)
        line.setSpacing(6)
        line.addWidget(self.back)
        for name, button in self.buttons.items():
            if name == "delete":
                line.addStretch(1)
            button.clicked.connect(lambda _=False, name=name: self.wanted.emit(name))
            line.addWidget(button)

    def show_state(self, facts: SessionFacts) -> None:
        """Word the buttons by what they do to this session."""
        self.buttons["pin"].set_words("Unpin" if facts.is_pinned else "Pin", "P")
        archived = facts.state is SessionState.ARCHIVED
        self.buttons["archive"].set_words("Unarchive" if archived else "Archive", "A")
        self._fit()

    def _fit(self) -> None:
        needed = sum(button.full_width() + 6 for button in self.buttons.values())
        needed += self.back.width() + 6 if self.back.isVisible() else 0
        for button in self.buttons.values():
            button.set_key_shown(needed <= self.width())
        # Pinning has its key and the palette where not even the words fit.
        words = sum(button.sizeHint().width() + 6 for button in self.buttons.values())
        self.buttons["pin"].setVisible(words <= self.width())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()


class SessionForm(FormFrame):
    """Changes what a session is called and where it belongs."""

    def __init__(self, parent: QWidget | None = None) -> None:
        """Lay out the fields."""
        super().__init__(parent)
        self.facts: SessionFacts | None = None
        self.title = QLineEdit()
        self.project = QLineEdit()
        self.project.setPlaceholderText("none")
        self.tags = QLineEdit()
        self.tags.setPlaceholderText("queue, postgres")
        limits = (1, SESSION_TITLE_LENGTH)
        column = self.area.column
        for key, field in (
            ("title", Field("Title", self.title, limits=limits)),
            ("project", Field("Project", self.project, hint="may be empty")),
            ("tags", Field("Tags", self.tags, hint="separated by commas")),
        ):
            column.addWidget(self.add_field(key, field))
        column.addStretch(1)

    def start_edit(self, facts: SessionFacts) -> None:
        """Begin to change a session."""
        self.facts = facts
        self.set_heading("Editing")
        self.title.setText(facts.title)
        self.project.setText(facts.project)
        self.tags.setText(", ".join(facts.tags))
        self.note_start()
        self.title.setFocus()

    def chosen_tags(self) -> tuple[str, ...]:
        """Return the tags that are typed."""
        typed = (tag.strip() for tag in self.tags.text().split(","))
        return tuple(dict.fromkeys(tag for tag in typed if tag))

    def field_of(self, name: str) -> str:
        return "tags" if name.startswith("tags") else name

    def worded(self, message: str) -> str:
        return message[:1].upper() + message[1:]


class SessionView(ScrolledColumn):
    """Shows a session: its facts, what was decided, what it was about.

    Signals:
        turn_wanted: A turn is to be shown (its position).
        tag_wanted: Sessions with a tag are to be listed.
        summary_wanted: It is to be summarised now.
    """

    turn_wanted = Signal(int)
    tag_wanted = Signal(str)
    summary_wanted = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        """Start without a session."""
        super().__init__("Session", parent=parent)
        self._title = Label("", Type.TITLE, wrap=True).allow_selection()
        self._facts = Label("", Type.META, "ink3", wrap=True)
        self._tags = QWidget()
        self._tag_flow = FlowLayout(self._tags)
        self._stale = Card()
        self._stale_words = Label("", Type.BODY, "ink2", wrap=True)
        again = Button("Summarise now", key="S", is_small=True)
        again.clicked.connect(self.summary_wanted)
        self._stale.body.addWidget(self._stale_words)
        self._stale.body.addWidget(again)
        self.decisions = BulletCard("What was decided")
        self.questions = BulletCard("Still open")
        self.summary = BulletCard("Summary", is_labelled=True)
        self._beginning = Card("How it begins")
        self._first = QVBoxLayout()
        self._first.setSpacing(8)
        self._beginning.body.addLayout(self._first)
        self._rows = NamedRows()
        column = self.column
        column.addWidget(self._title)
        column.addSpacing(4)
        column.addWidget(self._facts)
        column.addSpacing(10)
        column.addWidget(self._tags)
        column.addSpacing(12)
        cards = QVBoxLayout()
        cards.setSpacing(10)
        for card in (
            self.decisions,
            self.questions,
            self.summary,
            self._stale,
            self._beginning,
            self._rows,
        ):
            cards.addWidget(card)
        column.addLayout(cards)
        for card in (self.decisions, self.questions, self.summary):
            card.turn_wanted.connect(self.turn_wanted)

    def title(self) -> str:
        """Return the title that is shown."""
        return self._title.text()

    def facts_words(self) -> str:
        """Return the facts that are shown."""
        return self._facts.text()

    def show_session(self, facts: SessionFacts, first: Sequence[ShownTurn]) -> None:
        """Show a session, and how it begins where it has no summary."""
        self._title.setText(facts.title)
        span = span_words(facts.created_at, facts.last_active)
        parts = (counted(facts.entry_count, "turn"), span, facts.client, facts.project)
        state = "" if facts.state is SessionState.SUMMARIZED else STATES[facts.state].lower()
        pinned = "pinned" if facts.is_pinned else ""
        self._facts.setText(" · ".join(part for part in (*parts, pinned, state) if part))
        self._show_tags(facts.tags)
        bullets = facts.summary.bullets if facts.summary is not None else ()
        decisions, questions, rest = told_apart(bullets)
        self.decisions.set_bullets(decisions)
        self.questions.set_bullets(questions)
        self.summary.set_bullets(rest)
        self._show_staleness(facts)
        self._show_beginning(facts, first)
        self._rows.set_rows(
            [
                ("Began", exactly(facts.created_at)),
                ("Last turn", exactly(facts.last_active)),
                ("Length", f"about {counted(facts.token_count, 'token')}"),
            ]
        )
        self.verticalScrollBar().setValue(0)

    def _show_tags(self, tags: Sequence[str]) -> None:
        clear(self._tag_flow)
        for tag in tags:
            button = TagButton(tag)
            button.setToolTip(f"Sessions with the tag {tag}")
            button.clicked.connect(lambda _=False, tag=tag: self.tag_wanted.emit(tag))
            self._tag_flow.addWidget(button)
        self._tags.setVisible(bool(tags))

    def _show_staleness(self, facts: SessionFacts) -> None:
        if facts.summary is None:
            self._stale_words.setText("It is not summarised yet.")
        else:
            added = facts.entry_count - facts.summary.turn_count
            self._stale_words.setText(
                f"{counted(added, 'turn was', 'turns were')} added since it was summarised."
            )
        self._stale.setVisible(facts.summary is None or facts.is_stale)

    def _show_beginning(self, facts: SessionFacts, first: Sequence[ShownTurn]) -> None:
        clear(self._first)
        for turn in first:
            name = speaker_name(turn.role, turn.speaker, facts.client)
            text = plain_snippet(one_line(turn.text[: _BEGINNING_LENGTH * 2]), ())[0]
            cut = text[:_BEGINNING_LENGTH] + ("…" if len(text) > _BEGINNING_LENGTH else "")
            self._first.addWidget(Label(name, Type.BODY_STRONG))
            self._first.addWidget(Label(cut, Type.BODY, wrap=True))
        self._beginning.setVisible(bool(first))


class SessionDetail(QWidget):
    """The pane.

    Signals:
        open_wanted: The session is to be opened in its window (its id, and a position or -1).
        tag_wanted: Sessions with a tag are to be listed.
        closed: The pane is to be left for the list.
        left: The form was left.
    """

    open_wanted = Signal(str, int)
    tag_wanted = Signal(str)
    closed = Signal()
    left = Signal()

    def __init__(self, context: Context, parent: QWidget | None = None) -> None:
        """Start with nothing to show."""
        super().__init__(parent)
        self._context = context
        self._pages = context.services.session_pages
        self._topic = f"session detail {id(self)}"
        self.deeds = SessionDeeds(context)
        self.facts: SessionFacts | None = None
        self._uuid = ""
        self._position = -1
        self.bar = SessionBar()
        self.view = SessionView()
        self.form = SessionForm()
        self._empty = QWidget()
        self._pane_bar = PaneBar()
        self._pane_bar.line.addWidget(self.bar)
        reading = QWidget()
        column = QVBoxLayout(reading)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self._pane_bar)
        column.addWidget(self.view, 1)
        self._modes = QStackedWidget()
        for mode in (self._empty, reading, self.form):
            self._modes.addWidget(mode)
        self._reading = reading
        whole = QVBoxLayout(self)
        whole.setContentsMargins(0, 0, 0, 0)
        whole.addWidget(self._modes)
        self.bar.wanted.connect(self.do)
        self.bar.back.clicked.connect(self.closed)
        self.view.turn_wanted.connect(lambda position: self._open(position))
        self.view.tag_wanted.connect(self.tag_wanted)
        self.view.summary_wanted.connect(lambda: self.do("summarise"))
        self.form.save_wanted.connect(self.save)
        self.form.cancel_wanted.connect(self.cancel_edit)

    @property
    def is_editing(self) -> bool:
        """Whether the form is open."""
        return self._modes.currentWidget() is self.form

    def has_something_to_lose(self) -> bool:
        """Return whether leaving the form would lose more than a few characters."""
        return self.is_editing and self.form.lost_characters() > LOSS_WORTH_ASKING

    def show_nothing(self) -> None:
        """Show that nothing is selected."""
        self._context.tasks.drop(self._topic)
        self.facts = None
        self._uuid = ""
        if not self.is_editing:
            self._modes.setCurrentWidget(self._empty)

    def show_session(self, uuid: str, position: int | None = None) -> None:
        """Show a session; opening it goes to the turn at `position`."""
        self._uuid = uuid
        self._position = -1 if position is None else position
        self._context.tasks.run(
            self._read(uuid), self._show, failed=self._on_failed, topic=self._topic
        )

    def reload(self) -> None:
        """Read again what is shown."""
        if self._uuid:
            self.show_session(self._uuid, None if self._position < 0 else self._position)

    async def _read(self, uuid: str) -> tuple[SessionFacts, list[ShownTurn]]:
        facts = await self._pages.facts(uuid)
        first = [] if facts.summary else await self._pages.turns(uuid, 0, _FIRST_TURNS)
        return facts, first

    def _show(self, answer: tuple[SessionFacts, list[ShownTurn]]) -> None:
        facts, first = answer
        self.facts = facts
        self.bar.show_state(facts)
        self.view.show_session(facts, first)
        if not self.is_editing:
            self._modes.setCurrentWidget(self._reading)

    def _on_failed(self, error: KmemError) -> bool:
        if isinstance(error, NotFoundError):  # it was deleted meanwhile
            self.show_nothing()
            return True
        return False

    def set_narrow(self, narrow: bool) -> None:  # noqa: FBT001 - a state, named like Qt's setters
        """Offer the way back to the list where the pane covers it."""
        self.bar.back.setVisible(narrow)

    def focus_shown(self) -> None:
        """Put the keyboard on what is shown, which it scrolls then."""
        self.view.setFocus()

    # What is done

    def do(self, name: str) -> None:
        """Do what a button of the bar says, to the session that is shown."""
        facts = self.facts
        if facts is None or self.is_editing:
            return
        deeds: dict[str, Callable[[], object]] = {
            "open": lambda: self._open(self._position),
            "pin": lambda: self.deeds.pin(facts),
            "edit": self.edit,
            "archive": lambda: self.deeds.archive(facts),
            "delete": lambda: self.deeds.delete(facts),
            "summarise": lambda: self.deeds.summarise(facts),
        }
        deeds[name]()

    def _open(self, position: int) -> None:
        if self._uuid:
            self.open_wanted.emit(self._uuid, position)

    def edit(self) -> None:
        """Open the form for title, project and tags."""
        if self.facts is not None:
            self._modes.setCurrentWidget(self.form)
            self.form.start_edit(self.facts)

    def save(self) -> None:
        """Save what is typed; where it is not valid, say so under each field."""
        facts = self.form.facts
        if not self.is_editing or facts is None:
            return
        self.deeds.change(
            facts,
            title=one_line(self.form.title.text()),
            project=one_line(self.form.project.text()),
            tags=self.form.chosen_tags(),
            done=self._leave_form,
            failed=self._on_invalid,
        )

    def _on_invalid(self, error: KmemError) -> bool:
        if isinstance(error, InvalidInputError):
            self.form.show_invalid(error)
            return True
        return False

    def cancel_edit(self) -> None:
        """Leave the form; ask first where much would be lost."""
        if self.has_something_to_lose():
            self._context.shell.ask(
                "Leave without saving what you typed?", "Discard", self._leave_form
            )
        else:
            self._leave_form()

    def _leave_form(self) -> None:
        self._modes.setCurrentWidget(self._reading)
        self.left.emit()
