"""What a person made of a document beside what its file says, before one of them goes."""

import re
from collections.abc import Sequence
from difflib import SequenceMatcher

from PySide6.QtWidgets import QVBoxLayout, QWidget

from kmem_desktop.domain.rule_library import DirectiveDifference, RuleDifference
from kmem_desktop.domain.rules import Directive, RuleStatus
from kmem_desktop.gui.detail.parts import ScrolledColumn
from kmem_desktop.gui.inbox.quote import Quote
from kmem_desktop.gui.rules.rule_parts import clear
from kmem_desktop.gui.rules.sentences import layer_name
from kmem_desktop.gui.theme import Type
from kmem_desktop.gui.widgets.labels import Card, Label
from kmem_desktop.gui.wording import counted
from kmem_desktop.services.rules.explaining import severity_words

Marks = tuple[tuple[int, int], ...]
_PIECE = re.compile(r"\w+|[^\w\s]")


class DifferenceView(ScrolledColumn):
    """Shows every directive that is another one here than in the file."""

    def __init__(self, parent: QWidget | None = None) -> None:
        """Start without a difference."""
        super().__init__("Yours and the file's", parent=parent)
        self.difference: RuleDifference | None = None
        self._title = Label("", Type.TITLE, wrap=True)
        self.summary = Label("", Type.BODY, "ink2", wrap=True)
        self._cards = QVBoxLayout()
        self._cards.setSpacing(10)
        self.column.addWidget(self._title)
        self.column.addSpacing(4)
        self.column.addWidget(self.summary)
        self.column.addSpacing(14)
        self.column.addLayout(self._cards)

    def show_difference(self, difference: RuleDifference) -> None:
        """Show what would be lost, and what would come."""
        self.difference = difference
        self._title.setText(f"Yours, and what {difference.rule.place} says")
        self.summary.setText(summary(difference))
        clear(self._cards)
        for change in difference.changes:
            self._cards.addWidget(_card(change))
        self.verticalScrollBar().setValue(0)

    def words(self) -> str:
        """Return everything that is compared."""
        return "\n".join(quote.text() for quote in self.findChildren(Quote) if not quote.isHidden())


def summary(difference: RuleDifference) -> str:
    """Return what taking the file's version would do."""
    changes = difference.changes
    changed = sum(each.here is not None and each.in_file is not None for each in changes)
    coming = sum(each.here is None for each in changes)
    going = sum(each.in_file is None for each in changes)
    parts = [
        f"changes {counted(changed, 'directive')} back" if changed else "",
        f"adds {coming:,}" if coming else "",
        f"drops {going:,}" if going else "",
    ]
    said = [part for part in parts if part]
    if not said:
        return "Both say the same; taking the file's version changes nothing."
    listed = said[0] if len(said) == 1 else f"{', '.join(said[:-1])} and {said[-1]}"
    return (
        f"Taking the file's version {listed}. What you rejected stays rejected. Your words are lost"
        " then."
    )


def _card(change: DirectiveDifference) -> Card:
    known = change.here.directive if change.here is not None else change.in_file
    card = Card(known.section.replace(" > ", ", ") if known is not None else "")
    here = change.here.directive if change.here is not None else None
    yours, theirs = _told(here, change.in_file), _told(change.in_file, here)
    marks = _marks(yours, theirs) if yours and theirs else ((), ())
    status = change.here.status if change.here is not None else RuleStatus.APPROVED
    state = "" if status is RuleStatus.APPROVED else f", {status.value}"
    for name, text, marked, missing in (
        (f"Yours{state}", yours, marks[0], "Not here yet."),
        ("In the file", theirs, marks[1], "Not there: yours would go."),
    ):
        card.body.addWidget(Label(name, Type.META_STRONG, "ink3"))
        if text:
            quote = Quote()
            quote.set_text(text, marked)
            card.body.addWidget(quote)
        else:
            card.body.addWidget(Label(missing, Type.BODY, "ink2", wrap=True))
    return card


def _told(directive: Directive | None, other: Directive | None) -> str:
    """Return a directive in lines; what is the same on both sides is left out but for its words."""
    if directive is None:
        return ""
    lines = [f"{severity_words(directive)} {directive.text}"]
    if other is not None and directive.rationale != other.rationale:
        lines.append(f"Why: {directive.rationale or 'nothing is said'}")
    if other is not None and directive.topics != other.topics:
        lines.append(f"About: {', '.join(directive.topics) or 'nothing named'}")
    if other is not None and directive.layer is not other.layer:
        lines.append(f"For: {layer_name(directive.layer)}")
    return "\n".join(lines)


def _marks(one: str, other: str) -> tuple[Marks, Marks]:
    """Return where the words stand that the other text does not have."""
    ours, theirs = list(_PIECE.finditer(one)), list(_PIECE.finditer(other))
    matcher = SequenceMatcher(
        None, [piece.group() for piece in ours], [piece.group() for piece in theirs], autojunk=False
    )
    first: list[tuple[int, int]] = []
    second: list[tuple[int, int]] = []
    for tag, low, high, their_low, their_high in matcher.get_opcodes():
        if tag != "equal":
            first += _range(ours[low:high])
            second += _range(theirs[their_low:their_high])
    return tuple(first), tuple(second)


def _range(pieces: Sequence[re.Match[str]]) -> list[tuple[int, int]]:
    return [(pieces[0].start(), pieces[-1].end())] if pieces else []
