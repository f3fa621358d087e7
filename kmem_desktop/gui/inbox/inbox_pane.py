"""The pane beside the list: shows a proposal, edits it, or lets be chosen what it is added to."""

from PySide6.QtCore import Qt, QUrl, Signal
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QStackedWidget, QVBoxLayout, QWidget

from kmem_desktop.domain.knowledge import KnowledgeDraft
from kmem_desktop.domain.sessions.inbox import Proposal
from kmem_desktop.errors import InvalidInputError, KmemError, NotFoundError
from kmem_desktop.gui.context import Context
from kmem_desktop.gui.detail.form_frame import LOSS_WORTH_ASKING
from kmem_desktop.gui.detail.knowledge_form import KnowledgeForm
from kmem_desktop.gui.detail.parts import PaneBar
from kmem_desktop.gui.inbox.merge_view import MergeView
from kmem_desktop.gui.inbox.proposal_view import ProposalDetails, ProposalView, read_details
from kmem_desktop.gui.markdown import is_link
from kmem_desktop.gui.theme import Type
from kmem_desktop.gui.widgets.controls import Button, IconButton, Look
from kmem_desktop.gui.widgets.labels import Label
from kmem_desktop.gui.wording import quoted


class ProposalForm(KnowledgeForm):
    """The form for knowledge, of which saving is accepting."""

    def __init__(self, parent: QWidget | None = None) -> None:
        """Word the button."""
        super().__init__(parent)
        self._save.set_words("Accept", "Ctrl S")

    def start_proposal(self, draft: KnowledgeDraft) -> None:
        """Begin with what is proposed."""
        self.start_new(draft, ())
        self.set_heading("Editing")


class InboxPane(QWidget):
    """Shows what is selected, with a button for each decision.

    Signals:
        decision_wanted: A button was pressed: "accept", "edit", "merge" or "drop".
        edited: What is typed is to be accepted (the proposal's UUID, a KnowledgeDraft).
        merge_chosen: A proposal is to be added to an item (the proposal's UUID, the item's id).
        conversation_wanted: The conversation is to be opened at its turn.
        item_wanted: Knowledge is to be opened (its id).
        left: A form is done, or the pane is to be left for the list.
    """

    decision_wanted = Signal(str)
    edited = Signal(str, object)
    merge_chosen = Signal(str, int)
    conversation_wanted = Signal()
    item_wanted = Signal(int)
    left = Signal()

    def __init__(self, context: Context, parent: QWidget | None = None) -> None:
        """Start with nothing to show."""
        super().__init__(parent)
        self._context = context
        self._topic = f"proposal {id(self)}"
        self.proposal: Proposal | None = None
        self._editing = ""
        self.view = ProposalView()
        self.form = ProposalForm()
        self.merging = MergeView(context)
        self.buttons = {
            "accept": Button("Accept", key="A", look=Look.PRIMARY),
            "edit": Button("Edit", key="E"),
            "merge": Button("Merge", key="M"),
            "drop": Button("Drop", key="D"),
        }
        self.back = IconButton("arrow-left", "Back to the list (Esc)")
        self._empty = Label("", Type.BODY, "ink3")
        self._empty.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._shown = self._build_shown()
        self._modes = QStackedWidget(self)
        for mode in (self._empty, self._shown, self.form, self.merging):
            self._modes.addWidget(mode)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(self._modes)
        self._connect()

    def _build_shown(self) -> QWidget:
        page = QWidget()
        bar = PaneBar()
        bar.line.addWidget(self.back)
        for name in ("accept", "edit", "merge"):
            bar.line.addWidget(self.buttons[name])
        bar.line.addStretch(1)
        bar.line.addWidget(self.buttons["drop"])
        self.back.hide()
        column = QVBoxLayout(page)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(bar)
        column.addWidget(self.view, 1)
        return page

    def _connect(self) -> None:
        for name, button in self.buttons.items():
            button.clicked.connect(lambda _=False, name=name: self.decision_wanted.emit(name))
        self.view.conversation_wanted.connect(self.conversation_wanted)
        self.view.item_wanted.connect(self.item_wanted)
        self.view.link_wanted.connect(self._on_link)
        self.back.clicked.connect(self.left)
        self.form.save_wanted.connect(self.save)
        self.form.cancel_wanted.connect(self.cancel)
        self.form.duplicate_wanted.connect(self.item_wanted)
        self.merging.chosen.connect(self._on_merge_chosen)
        self.merging.cancelled.connect(self.cancel)

    @property
    def is_busy(self) -> bool:
        """Whether a form or the choice of an item is open."""
        return self._modes.currentWidget() in (self.form, self.merging)

    @property
    def is_editing(self) -> bool:
        """Whether the form is open."""
        return self._modes.currentWidget() is self.form

    def has_something_to_lose(self) -> bool:
        """Return whether leaving would lose more than a few typed characters."""
        return self.is_editing and self.form.lost_characters() > LOSS_WORTH_ASKING

    def show_proposal(self, proposal: Proposal | None) -> None:
        """Show a proposal; a form that is open stays open, and shows it when it is done."""
        self.proposal = proposal
        if self.is_busy:
            return
        if proposal is None:
            self._context.tasks.drop(self._topic)
            self._modes.setCurrentWidget(self._empty)
            return
        merge = self.buttons["merge"]
        merge.set_words("Merge" if proposal.like_uuid else "Merge\u2026", "M")
        target = f"Add it to {quoted(proposal.like_title)}  (M)"
        merge.setToolTip(target if proposal.like_uuid else "Add it to knowledge you choose  (M)")
        self._context.tasks.run(
            read_details(self._context.services, proposal),
            self._show,
            failed=self._on_gone,
            topic=self._topic,
        )

    def _show(self, details: ProposalDetails) -> None:
        if self.proposal is not None and not self.is_busy:
            self.view.show_details(details)
            self._modes.setCurrentWidget(self._shown)

    def _on_gone(self, error: KmemError) -> bool:
        return isinstance(error, NotFoundError)  # its conversation was deleted: the list reloads

    def edit(self) -> None:
        """Open the form for what is shown."""
        details = self.view.details
        if self.proposal is None or details is None or self.is_busy:
            return
        if details.proposal.uuid != self.proposal.uuid:
            return
        self._editing = self.proposal.uuid
        self.form.start_proposal(details.draft)
        self._modes.setCurrentWidget(self.form)
        self.form.focus_first()
        scopes = self._context.services.knowledge.scopes()
        self._context.tasks.run(scopes, self.form.set_scopes, topic=f"scopes {id(self)}")

    def choose_target(self) -> None:
        """Let be chosen what the proposal is added to."""
        if self.proposal is not None and not self.is_busy:
            self._modes.setCurrentWidget(self.merging)
            self.merging.start(self.proposal)

    def save(self) -> None:
        """Accept what is typed."""
        if self.is_editing:
            self.edited.emit(self._editing, self.form.draft())

    def show_invalid(self, error: InvalidInputError) -> None:
        """Say what is wrong with what is typed."""
        fields = {k: v for k, v in error.details.items() if k == "errors"}
        self.form.show_invalid(InvalidInputError(error.message, hint=error.hint, details=fields))

    def cancel(self) -> None:
        """Leave the form; ask first where much would be lost."""
        if self.has_something_to_lose():
            self._context.shell.ask("Leave without saving what you typed?", "Discard", self.leave)
        else:
            self.leave()

    def leave(self) -> None:
        """Go back from a form to what is selected."""
        self._modes.setCurrentWidget(self._shown if self.view.details else self._empty)
        self.show_proposal(self.proposal)
        self.left.emit()

    def _on_merge_chosen(self, item_id: int) -> None:
        if self.merging.proposal is not None:
            self.merge_chosen.emit(self.merging.proposal.uuid, item_id)
            self.leave()

    def _on_link(self, address: str) -> None:
        if is_link(address):
            self._context.shell.ask(
                f"Open {address} in the browser?",
                "Open",
                lambda: QDesktopServices.openUrl(QUrl(address)),
            )
