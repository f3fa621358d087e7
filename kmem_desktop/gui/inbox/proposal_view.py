"""One proposal: what it says, where it was said, what it would be, and what is like it."""

from dataclasses import dataclass

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QGridLayout, QVBoxLayout, QWidget

from kmem_desktop.bootstrap import Services
from kmem_desktop.domain.knowledge import KnowledgeDraft, KnowledgeItem
from kmem_desktop.domain.sessions.conversations import Role, SpokenTurn
from kmem_desktop.domain.sessions.inbox import Proposal
from kmem_desktop.errors import NotFoundError
from kmem_desktop.gui.appearance import appearance, theme
from kmem_desktop.gui.detail.parts import CutText, ScrolledColumn
from kmem_desktop.gui.inbox.quote import Quote, quotation
from kmem_desktop.gui.inbox.sentences import how_sure, percent
from kmem_desktop.gui.theme import Type
from kmem_desktop.gui.widgets.controls import Button, Look
from kmem_desktop.gui.widgets.flow_layout import FlowLayout
from kmem_desktop.gui.widgets.labels import Card, Hairline, Label
from kmem_desktop.gui.wording import capitalised, exactly, quoted, scope_name, when

_BESIDE_PX = 420
"""From this width on the proposal and what is like it stand side by side."""
_ROLES = {
    Role.USER: "You",
    Role.ASSISTANT: "Assistant",
    Role.TOOL: "A tool",
    Role.SYSTEM: "The system",
}


@dataclass(frozen=True, slots=True)
class ProposalDetails:
    """What is shown of a proposal.

    Attributes:
        proposal: What was taken from a conversation.
        draft: What accepting it would store.
        turns: The turn it stands in, and those around it.
        like: Knowledge that nearly says it; None for none.
    """

    proposal: Proposal
    draft: KnowledgeDraft
    turns: tuple[SpokenTurn, ...]
    like: KnowledgeItem | None


async def read_details(services: Services, proposal: Proposal) -> ProposalDetails:
    """Read what is shown of a proposal."""
    draft = await services.inbox.draft(proposal.uuid)
    turns = await services.inbox.source(proposal.uuid)
    like = None
    if proposal.like_uuid:
        try:
            like = await services.knowledge.get(proposal.like_uuid)
        except NotFoundError:
            like = None  # it was forgotten since
    return ProposalDetails(proposal, draft, tuple(turns), like)


class Comparison(QWidget):
    """What is proposed beside what is known, or above it where there is little width.

    Signals:
        item_wanted: What is known is to be opened (its id).
    """

    item_wanted = Signal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        """Start empty."""
        super().__init__(parent)
        self._item_id = 0
        self.proposed = CutText("Proposed")
        self.known = CutText("Known already")
        self._heading = Label("", Type.META, "ink3", wrap=True)
        self._open = Button("Open it", look=Look.LINK)
        self._open.clicked.connect(lambda: self.item_wanted.emit(self._item_id))
        self._line = Hairline(vertical=True)
        self._sides = QBoxLayout(QBoxLayout.Direction.LeftToRight, self)
        self._sides.setContentsMargins(0, 0, 0, 0)
        self._sides.addLayout(_side(Label("Proposed", Type.META, "ink3"), self.proposed), 1)
        self._sides.addWidget(self._line)
        self._sides.addLayout(_side(self._heading, self.known, self._open), 1)
        appearance().changed.connect(self._arrange)
        self._arrange()

    def show_both(self, proposal: Proposal, item: KnowledgeItem) -> None:
        """Show a proposal and the knowledge that is like it."""
        self._item_id = item.id
        self._heading.setText(f"Known already, {percent(proposal.likeness)} alike")
        self.proposed.set_markdown(proposal.content)
        self.known.set_markdown(f"**{_plain(item.title)}**\n\n{item.content}")

    def _arrange(self) -> None:
        look = theme()
        beside = self.width() >= look.px(_BESIDE_PX)
        direction = QBoxLayout.Direction.LeftToRight if beside else QBoxLayout.Direction.TopToBottom
        self._sides.setDirection(direction)
        self._sides.setSpacing(look.px(12))
        self._line.setVisible(beside)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._arrange()


def _side(*widgets: QWidget) -> QVBoxLayout:
    column = QVBoxLayout()
    column.setSpacing(4)
    for widget in widgets:
        column.addWidget(widget)
    column.addStretch(1)
    return column


def _plain(title: str) -> str:
    """Return a title in which no character is markdown."""
    return "".join(f"\\{c}" if c in "\\`*_{}[]<>()#+-.!|~" else c for c in title)


class SourceCard(Card):
    """Where a proposal comes from: the turn, and on demand those around it.

    Signals:
        conversation_wanted: The conversation is to be opened there.
    """

    conversation_wanted = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        """Start empty."""
        super().__init__("Where it comes from", parent)
        self.quotes: list[Quote] = []
        self._details: ProposalDetails | None = None
        self._shows_all = False
        self._turns = QVBoxLayout()
        self._turns.setSpacing(10)
        self._where = Label("", Type.META, "ink3", wrap=True)
        self._around = Button("Show more around it", look=Look.LINK)
        self._around.clicked.connect(self._on_around)
        self._open = Button("Open the conversation there", key="O", look=Look.LINK)
        self._open.clicked.connect(self.conversation_wanted)
        links = QWidget()
        flow = FlowLayout(links, gap=10)
        flow.addWidget(self._open)
        flow.addWidget(self._around)
        self.body.addWidget(self._where)
        self.body.addLayout(self._turns)
        self.body.addWidget(links)

    def show_source(self, details: ProposalDetails) -> None:
        """Quote the turn."""
        again = self._details is not None and self._details.proposal.uuid == details.proposal.uuid
        self._shows_all = self._shows_all and again
        self._details = details
        proposal = details.proposal
        where = quoted(proposal.session_title, 80)
        if proposal.also_positions:
            turns = ", ".join(str(position + 1) for position in proposal.also_positions[:8])
            where += f". Said again in turn {turns}"
        self._where.setText(f"{where}, with {proposal.client}")
        self._around.setVisible(len(details.turns) > 1)
        self._quote()

    def _on_around(self) -> None:
        self._shows_all = not self._shows_all
        self._quote()

    def _quote(self) -> None:
        self._around.set_words("Show less" if self._shows_all else "Show more around it")
        while item := self._turns.takeAt(0):
            if (old := item.widget()) is not None:
                old.deleteLater()
        self.quotes = []
        details = self._details
        if details is None:
            return
        for turn in details.turns:
            is_own = turn.position == details.proposal.position
            if is_own or self._shows_all:
                self._turns.addWidget(self._turn(turn, details.proposal, is_own=is_own))
        if not self.quotes:
            self._turns.addWidget(Label("The turn is no longer there.", Type.BODY, "ink2"))

    def _turn(self, turn: SpokenTurn, proposal: Proposal, *, is_own: bool) -> QWidget:
        box = QWidget()
        column = QVBoxLayout(box)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(2)
        said = f"{when(turn.at)}, turn" if turn.at else "turn"
        name = turn.speaker or _ROLES[turn.role]
        head = Label(f"{name} \u00b7 {said} {turn.position + 1}", Type.META, "ink3", wrap=True)
        if turn.at:
            head.setToolTip(exactly(turn.at))
        quote = Quote()
        if is_own:
            quote.set_text(*quotation(turn.text, proposal.content))
        else:
            quote.set_text(*quotation(turn.text, ""), color="ink2")
        self.quotes.append(quote)
        column.addWidget(head)
        column.addWidget(quote)
        return box


class WouldBeCard(Card):
    """What accepting a proposal would store."""

    def __init__(self, parent: QWidget | None = None) -> None:
        """Start empty."""
        super().__init__("Would be", parent)
        self._grid = QGridLayout()
        self._grid.setHorizontalSpacing(20)
        self._grid.setVerticalSpacing(4)
        self._grid.setColumnStretch(1, 1)
        self.body.addLayout(self._grid)
        self._values: dict[str, Label] = {}
        for line, name in enumerate(("Kind", "Where", "Priority", "Tags", "Like it", "Sureness")):
            value = Label("", Type.BODY, wrap=True)
            named = Label(name, Type.BODY, "ink3", wrap=True)
            self._grid.addWidget(named, line, 0, Qt.AlignmentFlag.AlignTop)
            self._grid.addWidget(value, line, 1)
            self._values[name] = value
        appearance().changed.connect(self._space)
        self._space()

    def _space(self) -> None:
        self._grid.setColumnMinimumWidth(0, theme().px(64))

    def show_draft(self, details: ProposalDetails) -> None:
        """Tell what would be stored."""
        draft, proposal = details.draft, details.proposal
        is_everywhere = draft.scope == "global"
        like = "nothing so far"
        if details.like is not None:
            like = f"{quoted(details.like.title, 80)}, {percent(proposal.likeness)}"
        for name, words in {
            "Kind": capitalised(str(draft.category)),
            "Where": "everywhere" if is_everywhere else f"project {scope_name(draft.scope)}",
            "Priority": str(draft.priority),
            "Tags": ", ".join(draft.tags),
            "Like it": like,
            "Sureness": f"{how_sure(proposal.score)}, {proposal.score:.2f} of 1",
        }.items():
            self._values[name].setText(words)

    def words(self, name: str) -> str:
        """Return what stands beside a name."""
        return self._values[name].text()


class ProposalView(ScrolledColumn):
    """Shows a proposal.

    Signals:
        conversation_wanted: The conversation is to be opened at its turn.
        item_wanted: Knowledge is to be opened (its id).
        link_wanted: A link in the text was clicked.
    """

    conversation_wanted = Signal()
    item_wanted = Signal(int)
    link_wanted = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        """Start without a proposal."""
        super().__init__("Proposal", parent=parent)
        self.details: ProposalDetails | None = None
        self._title = Label("", Type.TITLE, wrap=True).allow_selection()
        self._text = CutText("Content")
        self.comparison = Comparison()
        self.comparison_card = Card()
        self.comparison_card.body.addWidget(self.comparison)
        self.source = SourceCard()
        self.would_be = WouldBeCard()
        self.comparison.item_wanted.connect(self.item_wanted)
        self.source.conversation_wanted.connect(self.conversation_wanted)
        for text in (self._text, self.comparison.proposed, self.comparison.known):
            text.view.link_wanted.connect(self.link_wanted)
        for widget, gap in (
            (self._title, 8),
            (self._text, 14),
            (self.comparison_card, 14),
            (self.source, 12),
            (self.would_be, 0),
        ):
            self.column.addWidget(widget)
            self.column.addSpacing(gap)

    def show_details(self, details: ProposalDetails) -> None:
        """Show a proposal."""
        again = self.details is not None and self.details.proposal.uuid == details.proposal.uuid
        if again and self.details == details:
            return
        self.details = details
        self._title.setText(details.proposal.title)
        like = details.like
        self._text.setVisible(like is None)
        self.comparison_card.setVisible(like is not None)
        if like is not None:
            self.comparison.show_both(details.proposal, like)
        else:
            self._text.set_markdown(details.proposal.content)
        self.source.show_source(details)
        self.would_be.show_draft(details)
        if not again:
            self.verticalScrollBar().setValue(0)
