"""A session in a window of its own: the conversation as it was, and how to go on from it."""

from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import Qt, QTimer, QUrl, Signal
from PySide6.QtGui import (
    QCloseEvent,
    QDesktopServices,
    QGuiApplication,
    QKeySequence,
    QResizeEvent,
    QShortcut,
)
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from kmem_desktop.domain.changes import Noun
from kmem_desktop.domain.sessions.browsing import RestorePreview, TurnOutline
from kmem_desktop.domain.sessions.conversations import BulletKind
from kmem_desktop.domain.sessions.recall import SessionFacts, SessionState
from kmem_desktop.errors import KmemError, NotFoundError
from kmem_desktop.events import Change
from kmem_desktop.gui.appearance import appearance, theme
from kmem_desktop.gui.context import Context, Undo
from kmem_desktop.gui.conversation.conversation_view import ConversationView
from kmem_desktop.gui.conversation.wording import span_words
from kmem_desktop.gui.markdown import is_link
from kmem_desktop.gui.pages.columns import Columns
from kmem_desktop.gui.sessions.chat_line import ChatLine
from kmem_desktop.gui.sessions.export_file import choose_target, written
from kmem_desktop.gui.sessions.find_line import FindLine
from kmem_desktop.gui.sessions.going_on import GoOnPanel
from kmem_desktop.gui.sessions.session_deeds import SessionDeeds
from kmem_desktop.gui.theme import Type
from kmem_desktop.gui.widgets.controls import Button
from kmem_desktop.gui.widgets.labels import Hairline, Label
from kmem_desktop.gui.widgets.notices import NoticeLine
from kmem_desktop.gui.wording import counted
from kmem_desktop.services.sessions.browsing import (
    one_line_prompt,
    search_words,
    text_for_assistants,
)

_SIZE = (1240, 800)
_SMALLEST = (480, 400)
_NARROW_PX = 800
_DEBOUNCE_MS = 140
_RELOAD_MS = 60
_FIRST_PREVIEW_MS = 120
_RELATED_MS = 300
_AGAIN_MS = 900


class RestoreWindow(QWidget):
    """The window.

    Signals:
        closed: It was closed (the session's id).
        page_wanted: The main window is to show a page.
        rule_wanted: The main window is to show a directive (its id).
    """

    closed = Signal(str)
    page_wanted = Signal(str)
    rule_wanted = Signal(int)

    def __init__(self, context: Context, uuid: str, parent: QWidget | None = None) -> None:
        """Read the session `uuid` and show it."""
        super().__init__(parent, Qt.WindowType.Window)
        self.context = context
        self.uuid = uuid
        self.facts: SessionFacts | None = None
        self.preview: RestorePreview | None = None
        self._pages = context.services.session_pages
        self._topic = f"restore {id(self)}"
        self._goal: int | None = None
        self._has_outline = False
        self._is_outdated = False
        self.setWindowTitle("Session")
        self.setProperty("surface", "bg")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.setMinimumSize(*_SMALLEST)
        self.resize(*_SIZE)
        self.notice = NoticeLine()
        self.deeds = SessionDeeds(context, self)
        self.view = ConversationView()
        self.search = FindLine()
        self.chat = ChatLine(context, uuid)
        self.panel = GoOnPanel()
        self.columns = Columns(self._build_left(), self.panel)
        self._debounce = QTimer(self)
        self._debounce.setSingleShot(True)
        self._debounce.timeout.connect(self._preview_now)
        self._again = QTimer(self)
        self._again.setSingleShot(True)
        self._again.timeout.connect(self.reload)
        self._lay_out()
        self._connect()
        self._add_keys()
        self.reload()

    def _build_left(self) -> QWidget:
        left = QWidget()
        left.setProperty("surface", "panel")
        left.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        column = QVBoxLayout(left)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.search)
        column.addWidget(self.view, 1)
        column.addWidget(self.chat)
        return left

    def _lay_out(self) -> None:
        self._title = Label("", Type.TITLE, wrap=True)
        self._meta = Label("", Type.META, "ink3", wrap=True)
        self.pin_button = Button("Pin", key="Ctrl P")
        self.side_button = Button("Go on from here", key="Ctrl B")
        self.side_button.hide()
        texts = QVBoxLayout()
        texts.setSpacing(2)
        texts.addWidget(self._title)
        texts.addWidget(self._meta)
        self._head = QHBoxLayout()
        self._head.addLayout(texts, 1)
        self._head.addWidget(self.side_button, 0, Qt.AlignmentFlag.AlignTop)
        self._head.addWidget(self.pin_button, 0, Qt.AlignmentFlag.AlignTop)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addLayout(self._head)
        column.addWidget(Hairline())
        column.addWidget(self.columns, 1)
        column.addWidget(self.notice)
        self._space()

    def _connect(self) -> None:
        appearance().changed.connect(self._space)
        self.pin_button.clicked.connect(self._pin)
        self.side_button.clicked.connect(self.toggle_side)
        self.view.turns.block_wanted.connect(self._load_turns)
        self.view.link_wanted.connect(self._on_link)
        self.view.importance_wanted.connect(self._mark)
        self.search.asked.connect(self._find)
        self.search.turn_wanted.connect(self.view.go_to)
        self.search.left.connect(self.view.setFocus)
        self.panel.budget_changed.connect(lambda: self._debounce.start(_DEBOUNCE_MS))
        self.panel.turn_wanted.connect(self._show_turn)
        self.panel.knowledge_wanted.connect(self._open_knowledge)
        self.panel.rule_wanted.connect(self._open_rule)
        self.panel.wanted.connect(self.do)
        self.chat.closed.connect(self._close_chat)
        self.chat.models_wanted.connect(lambda: self.page_wanted.emit("connections"))
        self.chat.answered.connect(self.view.go_to_end)

    def _add_keys(self) -> None:
        for keys, run in (
            ("Ctrl+F", self.search.open),
            ("F3", lambda: self.search.step(1)),
            ("Shift+F3", lambda: self.search.step(-1)),
            ("Ctrl+Shift+C", lambda: self.do("copy")),
            ("Ctrl+L", lambda: self.do("prompt")),
            ("Ctrl+Return", lambda: self.do("chat")),
            ("Ctrl+S", lambda: self.do("export")),
            ("Ctrl+P", self._pin),
            ("Ctrl+B", self.toggle_side),
            ("Ctrl+Z", self._undo),
            ("Ctrl+W", self.close),
            ("F6", self.cycle_columns),
            ("Esc", self.go_back),
        ):
            QShortcut(QKeySequence(keys), self).activated.connect(run)

    def _space(self) -> None:
        look = theme()
        self._head.setContentsMargins(look.px(20), look.px(14), look.px(20), look.px(13))
        self._head.setSpacing(look.px(8))
        self._fit_width()

    # What is shown

    def reload(self) -> None:
        """Read the session again; what is in sight stays there."""
        self.context.tasks.run(
            self._read(), self._show, failed=self._on_failed, topic=f"{self._topic} turns"
        )

    async def _read(self) -> tuple[SessionFacts, list[TurnOutline] | None]:
        """Return the session, and its turns where it is not the one that is shown."""
        facts = await self._pages.facts(self.uuid)
        if self._has_outline and facts == self.facts and not self._is_outdated:
            return facts, None
        self._is_outdated = False
        return facts, await self._pages.outline(self.uuid)

    def _show(self, answer: tuple[SessionFacts, list[TurnOutline] | None]) -> None:
        facts, outline = answer
        if outline is None:
            return
        is_first = not self._has_outline
        known = [item.outline for item in self.view.turns.items]
        self.facts = facts
        self._has_outline = True
        self.setWindowTitle(f"{facts.title} - kmem")
        self._title.setText(facts.title)
        self._meta.setText(meta_words(facts))
        self.pin_button.set_words("Unpin" if facts.is_pinned else "Pin", "Ctrl P")
        if is_first:
            self.view.show_outline(outline, facts.client)
        elif outline != known:
            self.view.turns.set_outline(outline, facts.client)
        self.search.set_note(note_words(facts, outline))
        self.panel.budget.set_length(facts.token_count)
        if is_first:
            self._show_first()
        elif outline != known:
            self._debounce.start(_DEBOUNCE_MS)

    def _show_first(self) -> None:
        if self._goal is not None:
            self.view.go_to(self._goal)
        else:
            self.view.go_to_end()
        self.view.setFocus()
        # First the conversation is to be read: what is worked out beside it would only slow it.
        self._debounce.start(_FIRST_PREVIEW_MS)
        QTimer.singleShot(_RELATED_MS, self, self._ask_related)

    def _ask_related(self) -> None:
        tasks, life = self.context.tasks, self.context.services.session_life
        tasks.run(
            self._pages.related(self.uuid),
            self.panel.show_related,
            failed=lambda _error: True,
            topic=f"{self._topic} related",
        )
        tasks.run(
            life.snapshots(self.uuid),
            self.panel.show_snapshots,
            failed=lambda _error: True,
            topic=f"{self._topic} snapshots",
        )

    def _on_failed(self, error: KmemError) -> bool:
        if isinstance(error, NotFoundError):
            self.show_error("This session was deleted.", "Close the window, or take it back there.")
        else:
            self.show_error(error.message, error.hint)
        return True

    def _load_turns(self, position: int, count: int) -> None:
        def failed(error: KmemError) -> bool:
            self.view.turns.unwant(position)
            return self._on_failed(error)

        self.context.tasks.run(
            self._pages.turns(self.uuid, position, count), self.view.set_turns, failed=failed
        )

    def go_to(self, position: int) -> None:
        """Show a turn."""
        self._goal = position
        if self._has_outline:
            self.view.go_to(position)

    def _show_turn(self, position: int) -> None:
        self.columns.open_right(False)
        self.view.go_to(position)
        self.view.setFocus()

    def take_change(self, change: Change) -> None:
        """Learn that something changed."""
        is_other = (
            change.noun is Noun.SESSION
            and bool(change.ids)
            and self.facts is not None
            and self.facts.id not in change.ids
        )
        if not is_other:
            self._is_outdated = self._is_outdated or change.noun is Noun.SESSION
            # Many turns may be stored in a row, most of them of other sessions.
            self._again.start(_RELOAD_MS)

    # What would be given back

    def _preview_now(self) -> None:
        budget = self.panel.budget.slider.budget()
        self.context.tasks.run(
            self._pages.preview(self.uuid, budget),
            self._show_preview,
            failed=self._on_failed,
            topic=f"{self._topic} preview",
        )

    def _show_preview(self, preview: RestorePreview) -> None:
        self.preview = preview
        summary = preview.session.summary
        decided = (BulletKind.DECISION, BulletKind.REVERSAL)
        self.view.turns.set_decisions(b.position for b in summary.bullets if b.kind in decided)
        self.view.turns.set_preview(preview)
        self.panel.show_preview(preview)
        if preview.session.is_preliminary:
            self._debounce.start(_AGAIN_MS)

    # Search

    def _find(self, text: str) -> None:
        self.view.set_words(search_words(text))

        def show(positions: Sequence[int]) -> None:
            self.search.show_found(positions, self.view.current_position())

        self.context.tasks.run(
            self._pages.find_inside(self.uuid, text),
            show,
            failed=self._on_failed,
            topic=f"{self._topic} find",
        )

    # Deeds

    def do(self, name: str) -> None:
        """Do what a button says."""
        if name == "chat":
            self.columns.open_right(False)
            self.chat.open()
        elif name == "export":
            self._choose_target()
        elif name == "prompt":
            budget = self.panel.budget.slider.budget()
            self._copy(one_line_prompt(self.uuid, budget), "the prompt")
        elif name == "copy":
            budget = self.panel.budget.slider.budget()
            self.context.tasks.run(
                self._pages.preview(self.uuid, budget), self._copy_text, failed=self._on_failed
            )

    def _copy_text(self, preview: RestorePreview) -> None:
        tokens = counted(preview.session.context.token_count, "token")
        self._copy(text_for_assistants(preview.session), f"{tokens} of the conversation")

    def _copy(self, text: str, what: str) -> None:
        QGuiApplication.clipboard().setText(text)
        self.say(f"Copied {what}. Paste it into the chat of an assistant.")

    def _choose_target(self) -> None:
        choose_target(self, self.facts.title if self.facts else "", self.export_to)

    def export_to(self, target: str) -> None:
        """Write the whole conversation into a file."""

        def done(problem: str) -> None:
            if problem:
                hint = "Choose another folder, or free some space."
                self.show_error(f"{target} was not written: {problem}.", hint)
            else:
                self.say(f"Written to {target}.")

        text = self._pages.as_markdown(self.uuid)
        self.context.tasks.run(written(text, Path(target)), done, failed=self._on_failed)

    def _mark(self, position: int, on: bool) -> None:  # noqa: FBT001 - a signal's argument
        def done() -> None:
            self.view.turns.set_important(position, on=on)
            self._debounce.start(_DEBOUNCE_MS)

        self.deeds.mark(self.uuid, position, on=on, done=done)

    def _pin(self) -> None:
        if self.facts is not None:
            self.deeds.pin(self.facts)

    def _open_knowledge(self, item_id: int) -> None:
        self.page_wanted.emit("knowledge")
        self.context.shell.open_item(Noun.KNOWLEDGE, item_id)

    def _open_rule(self, directive_id: int) -> None:
        self.rule_wanted.emit(directive_id)

    def _on_link(self, address: str) -> None:
        if is_link(address):
            self.notice.show_words(
                f"Open {address} in the browser?",
                button="Open",
                key="↵",
                then=lambda: QDesktopServices.openUrl(QUrl(address)),
                ground="warn_soft",
            )
            self.notice.take_focus()

    # What is said

    def say(self, words: str, undo: Undo | None = None) -> None:
        """Say what happened, and how to take it back."""
        if undo is None:
            self.notice.show_words(words)
        else:
            self.notice.show_words(words, button=undo.words, key="Ctrl Z", then=undo.run)

    def show_error(self, message: str, hint: str = "") -> None:
        """Say what went wrong and what to do about it."""
        self.notice.show_words(message, hint=hint, ground="bad_soft")

    def _undo(self) -> None:
        if self.notice.offers_undo:
            self.notice.press()

    # Window

    def bring_to_front(self) -> None:
        """Show the window above the others, with the keyboard."""
        if self.isMinimized():
            self.showNormal()
        self.show()
        self.raise_()
        self.activateWindow()

    def go_back(self) -> None:
        """Leave the innermost thing that is open."""
        if self.notice.is_asking:
            self.notice.hide()
            self.view.setFocus()
        elif self.search.is_open:
            self.search.close_search()
        elif self.chat.isVisible():
            self._close_chat()
        elif self.columns.right_covers:
            self.toggle_side()
        elif self.notice.isVisible():
            self.notice.hide()
        else:
            self.close()

    def _close_chat(self) -> None:
        self.chat.hide()
        self.view.setFocus()

    def toggle_side(self) -> None:
        """Where only one side has room, show the other one."""
        self.columns.open_right(not self.columns.right_covers)
        target = self.panel.budget.slider if self.columns.right_covers else self.view
        target.setFocus()

    def cycle_columns(self) -> None:
        """Move the keyboard to the next part of the window."""
        stops = [self.view, self.panel.budget.slider, self.panel.foot.buttons["copy"]]
        stops.append(self.search.field.edit)
        seen = [stop for stop in stops if stop.isVisible()]
        here = next((n for n, stop in enumerate(seen) if stop.hasFocus()), -1)
        if seen:
            seen[(here + 1) % len(seen)].setFocus(Qt.FocusReason.ShortcutFocusReason)

    def _fit_width(self) -> None:
        narrow = self.width() / theme().scale < _NARROW_PX
        self.columns.set_narrow(narrow)
        self.side_button.setVisible(narrow)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit_width()

    def closeEvent(self, event: QCloseEvent) -> None:
        super().closeEvent(event)
        self._debounce.stop()
        self._again.stop()
        for name in ("turns", "preview", "find", "related", "snapshots"):
            self.context.tasks.drop(f"{self._topic} {name}")
        self.closed.emit(self.uuid)


def meta_words(facts: SessionFacts) -> str:
    """Return what stands under the title of a session."""
    span = span_words(facts.created_at, facts.last_active)
    state = "archived" if facts.state is SessionState.ARCHIVED else ""
    first = f"{counted(facts.entry_count, 'turn')}, {span}"
    parts = (first, facts.client, facts.project, ", ".join(facts.tags), state)
    return " · ".join(part for part in parts if part)


def note_words(facts: SessionFacts, outline: Sequence[TurnOutline]) -> str:
    """Return what there is to be found in a conversation."""
    bullets = facts.summary.bullets if facts.summary is not None else ()
    decisions = sum(bullet.kind is BulletKind.DECISION for bullet in bullets)
    code = sum(turn.has_code for turn in outline)
    marked = sum(turn.is_important for turn in outline)
    parts = [counted(decisions, "decision")] if decisions else []
    parts += [f"{code:,} with code"] if code else []
    parts += [f"{marked:,} marked"] if marked else []
    return " · ".join(parts)
