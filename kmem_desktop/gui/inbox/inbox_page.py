"""Inbox: what was taken from conversations waits here; one key decides, and one takes it back."""

from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QKeyEvent, QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QStackedWidget, QVBoxLayout, QWidget

from kmem_desktop.domain.changes import Noun
from kmem_desktop.domain.knowledge import KnowledgeDraft, KnowledgeItem
from kmem_desktop.domain.sessions.inbox import (
    PROPOSAL_PAGE,
    BulkDecision,
    Decision,
    InboxState,
    Proposal,
    TakenBack,
)
from kmem_desktop.errors import InvalidInputError, KmemError
from kmem_desktop.events import Change
from kmem_desktop.gui.appearance import appearance, theme
from kmem_desktop.gui.context import BY_WINDOW, Context, Undo
from kmem_desktop.gui.inbox.inbox_pane import InboxPane
from kmem_desktop.gui.inbox.proposal_list import ProposalListView
from kmem_desktop.gui.inbox.proposal_model import PAGE_SIZE, ProposalModel
from kmem_desktop.gui.inbox.sentences import (
    ABOUT,
    bulk_words,
    decided_words,
    empty_words,
    head_words,
    taken_back_words,
)
from kmem_desktop.gui.pages.columns import Columns
from kmem_desktop.gui.pages.page import Page, PageHead
from kmem_desktop.gui.theme import Type
from kmem_desktop.gui.widgets.controls import Button
from kmem_desktop.gui.widgets.empty import EmptyState
from kmem_desktop.gui.widgets.labels import Hairline, KeyHint, Label

_NONE = Qt.KeyboardModifier.NoModifier
_SHIFT = Qt.KeyboardModifier.ShiftModifier
_CONTROL = Qt.KeyboardModifier.ControlModifier
_HINTS = (("A", "accept"), ("E", "edit"), ("M", "merge"), ("D", "drop"), ("Z", "take back"))


@dataclass(frozen=True, slots=True)
class _Answer:
    """What waits, and how far conversations are looked through."""

    rows: list[Proposal]
    limit: int
    state: InboxState


class InboxPage(Page):
    """The page: the list of what waits, and the pane beside it."""

    def __init__(self, context: Context, parent: QWidget | None = None) -> None:
        """Lay out the page."""
        super().__init__(context, parent)
        self.state: InboxState | None = None
        self._is_stale = True
        self._has_decided = False
        self._deciding: set[str] = set()
        self.model = ProposalModel()
        self.list = ProposalListView(self.model)
        self.pane = InboxPane(context)
        self.empty = EmptyState()
        self.empty.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.head = PageHead("Inbox", ABOUT)
        self.accept_all = Button("Accept all of this conversation", key="Shift A")
        self.drop_all = Button("Drop all", key="Shift D")
        self._count = Label("", Type.META, "ink2")
        self._hints = QWidget()
        self._bar = QWidget()
        self._list_head = QHBoxLayout()
        self._stack = QStackedWidget()
        for face in (QWidget(), self.list, self.empty):
            self._stack.addWidget(face)
        self.columns = Columns(self._build_list_column(), self.pane)
        self._keys = self._build_keys()
        self._lay_out()
        self._connect()

    def _build_list_column(self) -> QWidget:
        column = QWidget()
        column.setProperty("surface", "panel")
        column.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        hints = QHBoxLayout(self._hints)
        hints.setContentsMargins(0, 0, 0, 0)
        hints.setSpacing(10)
        self._key_hints = [KeyHint((key,), words) for key, words in _HINTS]
        for hint in self._key_hints:
            hints.addWidget(hint)
        self._list_head.addWidget(self._count)
        self._list_head.addStretch(1)
        self._list_head.addWidget(self._hints)
        layout = QVBoxLayout(column)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        bar = QVBoxLayout(self._bar)
        bar.setContentsMargins(0, 0, 0, 0)
        bar.setSpacing(0)
        bar.addLayout(self._list_head)
        bar.addWidget(Hairline())
        layout.addWidget(self._bar)
        layout.addWidget(self._stack, 1)
        return column

    def _lay_out(self) -> None:
        for button in (self.accept_all, self.drop_all):
            self.head.right.addWidget(button)
            button.hide()
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.head)
        column.addWidget(self.columns, 1)
        appearance().changed.connect(self._space)
        self._space()

    def _space(self) -> None:
        look = theme()
        self._list_head.setContentsMargins(look.px(20), look.px(7), look.px(20), look.px(7))
        self._count.setMinimumHeight(look.px(20))
        self._fit_hints()

    def _connect(self) -> None:
        self.list.current_changed.connect(self._on_current_changed)
        self.list.chosen.connect(self._on_chosen)
        self.model.more_wanted.connect(self._load_more)
        self.pane.decision_wanted.connect(self._decide_by_name)
        self.pane.edited.connect(self._accept_edited)
        self.pane.merge_chosen.connect(self._merge_into)
        self.pane.conversation_wanted.connect(self.open_conversation)
        self.pane.item_wanted.connect(lambda i: self.context.shell.open_item(Noun.KNOWLEDGE, i))
        self.pane.left.connect(self._leave_pane)
        self.accept_all.clicked.connect(self.accept_conversation)
        self.drop_all.clicked.connect(self.drop_conversation)

    # What the window asks

    def activate(self) -> None:
        if self._is_stale:
            self.reload()

    def take_change(self, change: Change) -> None:
        if change.noun in (Noun.PROPOSAL, Noun.SESSION) or not change.ids:
            if self.isVisible():
                self.reload()
            else:
                self._is_stale = True

    def focus_first(self) -> None:
        self._list_or_words.setFocus(Qt.FocusReason.OtherFocusReason)

    def focus_columns(self) -> list[QWidget]:
        return [self._list_or_words, self.pane]

    @property
    def _list_or_words(self) -> QWidget:
        return self.empty if self._stack.currentWidget() is self.empty else self.list

    def has_something_to_lose(self) -> bool:
        return self.pane.has_something_to_lose()

    def set_narrow(self, narrow: bool) -> None:  # noqa: FBT001 - as in the base
        self.columns.set_narrow(narrow)
        self.pane.back.setVisible(narrow)
        self._fit_hints()

    def go_back(self) -> bool:
        if self.pane.is_busy:
            self.pane.cancel()
        elif self.columns.right_covers:
            self._leave_pane()
        elif not self.list.hasFocus() and self._stack.currentWidget() is self.list:
            self.list.setFocus()
        else:
            return False
        return True

    # Reading

    def reload(self) -> None:
        """Read again what waits; what is selected stays selected."""
        self._is_stale = False
        limit = min(PROPOSAL_PAGE[1], max(PAGE_SIZE, self.model.rowCount()))
        inbox = self.context.services.inbox

        async def read() -> _Answer:
            return _Answer(await inbox.page(limit=limit), limit, await inbox.state())

        self.context.tasks.run(read(), self._show, failed=self._on_failed, topic="inbox")

    def _show(self, answer: _Answer) -> None:
        self.state = answer.state
        selected, row = self.list.current(), self.list.currentIndex().row()
        rows = [each for each in answer.rows if each.uuid not in self._deciding]
        if self.model.set_rows(rows, is_complete=len(answer.rows) < answer.limit):
            own = self.model.row_of(selected.uuid) if selected else None
            self.list.select(max(row, 0) if own is None else own)
        elif not self.list.currentIndex().isValid():
            self.list.select(0)
        self._show_state()

    def _show_state(self) -> None:
        count = self.model.rowCount()
        state = self.state
        self.head.set_words(head_words(state))
        waiting = max(count, state.waiting - len(self._deciding)) if state else count
        self._count.setText(f"{waiting:,} to review, the surest first" if count else "")
        self._bar.setVisible(bool(count))
        had_focus = self._list_or_words.hasFocus()
        if count:
            self._stack.setCurrentWidget(self.list)
        else:
            self.empty.set_words(*empty_words(state, has_decided=self._has_decided))
            self._stack.setCurrentWidget(self.empty)
        if had_focus:  # the keys go on working where nothing is left
            self._list_or_words.setFocus()
        self._show_bulk()
        self._fit_hints()

    def _fit_hints(self) -> None:
        """Show as many keys as have room beside the count; none where nothing waits."""
        look = theme()
        room = self._stack.width() - look.px(52) - self._count.sizeHint().width()
        for hint in self._key_hints:
            room -= hint.sizeHint().width() + 10
            hint.setVisible(room >= 0 and self.model.rowCount() > 0)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        QTimer.singleShot(0, self, self._fit_hints)

    def _show_bulk(self) -> None:
        current = self.list.current()
        count = len(self.model.of_session(current.session_uuid)) if current else 0
        for button in (self.accept_all, self.drop_all):
            button.setVisible(count > 1)
        self.accept_all.set_words(f"Accept all {count} of this conversation", "Shift A")

    def _on_failed(self, error: KmemError) -> bool:
        again = Button("Try again")
        again.clicked.connect(self.reload)
        words = f"{error.message} {error.hint}".strip()
        self.empty.set_words("The inbox could not be read", words, again)
        self._stack.setCurrentWidget(self.empty)
        self.pane.show_proposal(None)
        return True

    def _load_more(self) -> None:
        after = self.model.last_place
        self.context.tasks.run(
            self.context.services.inbox.page(after=after, limit=PAGE_SIZE),
            lambda rows: self.model.append(rows, is_complete=len(rows) < PAGE_SIZE),
            topic="more of the inbox",
        )

    # What is selected

    def _on_current_changed(self) -> None:
        self.pane.show_proposal(self.list.current())
        self._show_bulk()

    def _on_chosen(self) -> None:
        self.columns.open_right(True)
        self.pane.view.setFocus()

    def _leave_pane(self) -> None:
        if not self.pane.is_busy:
            self.columns.open_right(False)
        self._list_or_words.setFocus()

    def open_conversation(self) -> None:
        """Open the conversation of what is selected, at its turn."""
        if proposal := self.list.current():
            self.context.shell.open_session(proposal.session_uuid, proposal.position)

    # Deciding

    def _decide_by_name(self, name: str) -> None:
        {"accept": self.accept, "edit": self.edit, "merge": self.merge, "drop": self.drop}[name]()

    def accept(self) -> None:
        """Make knowledge of what is selected."""
        if proposal := self.list.current():
            inbox = self.context.services.inbox
            self._decide(proposal, inbox.accept(proposal.uuid, BY_WINDOW), Decision.ACCEPTED)

    def edit(self) -> None:
        """Edit what is selected before it is accepted."""
        if self.list.current() is not None:
            self.columns.open_right(True)
            self.pane.edit()

    def merge(self) -> None:
        """Add what is selected to what is like it, or let that be chosen."""
        proposal = self.list.current()
        if proposal is None:
            return
        if proposal.like_uuid:
            inbox = self.context.services.inbox
            self._decide(proposal, inbox.merge(proposal.uuid, BY_WINDOW), Decision.MERGED)
        else:
            self.columns.open_right(True)
            self.pane.choose_target()

    def drop(self) -> None:
        """Let go what is selected."""
        if proposal := self.list.current():
            inbox = self.context.services.inbox
            self._decide(proposal, inbox.drop(proposal.uuid, BY_WINDOW), Decision.DROPPED)

    def take_back(self) -> None:
        """Take the last decision back, and select what waits again."""

        def done(back: TakenBack) -> None:
            self.context.shell.say(taken_back_words(back))
            self._select_later(back.uuids[0])

        inbox = self.context.services.inbox
        self.context.tasks.run(inbox.take_back(None, BY_WINDOW), done)

    def accept_conversation(self) -> None:
        """Accept everything that waits of the conversation of what is selected."""
        inbox = self.context.services.inbox
        self._decide_all(inbox.accept_session, Decision.ACCEPTED)

    def drop_conversation(self) -> None:
        """Drop everything that waits of the conversation of what is selected."""
        inbox = self.context.services.inbox
        self._decide_all(inbox.drop_session, Decision.DROPPED)

    def _decide(
        self,
        proposal: Proposal,
        deed: Coroutine[Any, Any, KnowledgeItem | None],
        decision: Decision,
    ) -> None:
        """Let a row go at once and select the next; bring it back where deciding fails."""
        self._deciding.add(proposal.uuid)
        row = self.model.remove(proposal.uuid)
        if row is not None:
            self.list.select(row)
        self._has_decided = True
        self._show_state()
        self._leave_pane()

        def done(item: KnowledgeItem | None) -> None:
            self._deciding.discard(proposal.uuid)
            words = decided_words(decision, item.title if item else proposal.title)
            self.context.shell.say(words, Undo("Take back", self.take_back))

        def failed(error: KmemError) -> bool:
            self._deciding.discard(proposal.uuid)
            self._select_later(proposal.uuid)
            self.context.shell.show_error(error.message, error.hint)
            return True

        self.context.tasks.run(deed, done, failed=failed)

    def _decide_all(
        self,
        deed: Callable[..., Coroutine[Any, Any, BulkDecision]],
        decision: Decision,
    ) -> None:
        proposal = self.list.current()
        if proposal is None:
            return

        def done(outcome: BulkDecision) -> None:
            self._has_decided = True
            undo = Undo("Take back", self.take_back) if outcome.done else None
            self.context.shell.say(bulk_words(outcome, decision), undo)

        self.context.tasks.run(deed(proposal.session_uuid, BY_WINDOW), done)

    def _accept_edited(self, uuid: str, draft: KnowledgeDraft) -> None:
        inbox = self.context.services.inbox

        def done(item: KnowledgeItem) -> None:
            row = self.model.remove(uuid)
            self._has_decided = True
            if row is not None:
                self.list.select(row)
            self.pane.leave()
            self._show_state()
            words = decided_words(Decision.ACCEPTED, item.title)
            self.context.shell.say(words, Undo("Take back", self.take_back))

        def failed(error: KmemError) -> bool:
            if isinstance(error, InvalidInputError):
                self.pane.show_invalid(error)
                return True
            return False

        self.context.tasks.run(inbox.accept(uuid, BY_WINDOW, edited=draft), done, failed=failed)

    def _merge_into(self, uuid: str, item_id: int) -> None:
        proposal = self.model.at(row) if (row := self.model.row_of(uuid)) is not None else None
        if proposal is not None:
            inbox = self.context.services.inbox
            deed = inbox.merge(uuid, BY_WINDOW, str(item_id))
            self._decide(proposal, deed, Decision.MERGED)

    def _select_later(self, uuid: str) -> None:
        """Read again what waits, and select this one."""
        inbox = self.context.services.inbox
        limit = min(PROPOSAL_PAGE[1], max(PAGE_SIZE, self.model.rowCount() + 1))

        async def read() -> _Answer:
            return _Answer(await inbox.page(limit=limit), limit, await inbox.state())

        def show(answer: _Answer) -> None:
            self._show(answer)
            if (row := self.model.row_of(uuid)) is not None:
                self.list.select(row)
                self.list.setFocus()

        self.context.tasks.run(read(), show, topic="inbox")

    # Keys

    def _build_keys(self) -> dict[tuple[Qt.Key, Qt.KeyboardModifier], Callable[[], object]]:
        key = Qt.Key
        return {
            (key.Key_A, _NONE): self.accept,
            (key.Key_E, _NONE): self.edit,
            (key.Key_M, _NONE): self.merge,
            (key.Key_D, _NONE): self.drop,
            (key.Key_Delete, _NONE): self.drop,
            (key.Key_Z, _NONE): self.take_back,
            (key.Key_O, _NONE): self.open_conversation,
            (key.Key_A, _SHIFT): self.accept_conversation,
            (key.Key_D, _SHIFT): self.drop_conversation,
            (key.Key_S, _CONTROL): self.pane.save,
        }

    def keyPressEvent(self, event: QKeyEvent) -> None:
        modifiers = event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier
        deed = self._keys.get((Qt.Key(event.key()), modifiers))
        if deed is None or (self.pane.is_busy and deed != self.pane.save):
            super().keyPressEvent(event)
        else:
            deed()
