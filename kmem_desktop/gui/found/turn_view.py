"""A turn of a conversation that was found: what was said, between what was said around it."""

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QVBoxLayout, QWidget

from kmem_desktop.bootstrap import Services
from kmem_desktop.domain.found import Explanation, TurnPlace
from kmem_desktop.domain.sessions.browsing import ShownTurn
from kmem_desktop.errors import NotFoundError
from kmem_desktop.gui.conversation.wording import day_and_clock
from kmem_desktop.gui.detail.parts import CutText, ScrolledColumn, WhyCard
from kmem_desktop.gui.lists.snippets import plain_snippet
from kmem_desktop.gui.theme import Type
from kmem_desktop.gui.widgets.labels import Hairline, Label
from kmem_desktop.gui.wording import exactly, scope_name
from kmem_desktop.services.sessions.browsing import speaker_name
from kmem_desktop.text import one_line

AROUND = 2
"""So many turns before and after are shown."""
_BEGINNING = 240


@dataclass(frozen=True, slots=True)
class FoundTurn:
    """A turn with what was said around it.

    Attributes:
        place: Where it stands.
        turns: The turn and its neighbours, in their order.
    """

    place: TurnPlace
    turns: Sequence[ShownTurn]

    @property
    def turn(self) -> ShownTurn:
        """The turn itself."""
        return next(turn for turn in self.turns if turn.position == self.place.position)

    @property
    def id(self) -> int:
        """Its id in the search index."""
        return self.place.id


async def read_turn(services: Services, turn_id: int) -> FoundTurn:
    """Return a turn with its neighbours.

    Raises:
        NotFoundError: It is no longer there.
    """
    place = await services.listing.turn_place(turn_id)
    first = max(0, place.position - AROUND)
    count = place.position - first + 1 + AROUND
    turns = await services.session_pages.turns(place.session_uuid, first, count)
    if all(turn.position != place.position for turn in turns):
        raise NotFoundError(f"There is no turn {turn_id}.", details={"id": turn_id})
    return FoundTurn(place, turns)


class TurnView(ScrolledColumn):
    """Shows a turn.

    Signals:
        link_wanted: A link in the text was clicked.
    """

    link_wanted = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        """Start without a turn."""
        super().__init__("Turn of a conversation", parent=parent)
        self.item: FoundTurn | None = None
        self._title = Label("", Type.TITLE, wrap=True).allow_selection()
        self._facts = Label("", Type.META, "ink3", wrap=True)
        self._before = _Neighbours()
        self._who = Label("", Type.BODY_STRONG)
        self.text = CutText("What was said")
        self.text.view.link_wanted.connect(self.link_wanted)
        self._after = _Neighbours()
        self.why = WhyCard()
        self.column.addWidget(self._title)
        self.column.addSpacing(4)
        self.column.addWidget(self._facts)
        self.column.addSpacing(12)
        self.column.addWidget(self._before)
        self.column.addWidget(self._who)
        self.column.addSpacing(4)
        self.column.addWidget(self.text)
        self.column.addSpacing(12)
        self.column.addWidget(self._after)
        self.column.addWidget(self.why)

    def show_turn(self, item: FoundTurn, explanation: Explanation | None) -> None:
        """Show a turn, and why it was found."""
        again = self.item is not None and self.item.id == item.id
        if self.item != item:
            turn, place = item.turn, item.place
            self._title.setText(one_line(place.session_title))
            self._facts.setText(facts(item))
            self._facts.setToolTip(f"Said {exactly(turn.at)}")
            self._who.setText(_speaker(turn, place))
            words = explanation.words if explanation is not None else ()
            self.text.set_markdown(turn.text, around=_first_place(turn.text, words))
            before = [each for each in item.turns if each.position < place.position]
            self._before.show_turns(before, place, is_above=True)
            after = [each for each in item.turns if each.position > place.position]
            self._after.show_turns(after, place, is_above=False)
        self.item = item
        self.why.show_explanation(explanation)
        if not again:
            self.verticalScrollBar().setValue(0)


class _Neighbours(QWidget):
    """The beginnings of the turns before or after, quieter than the turn itself."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 12)
        self._column.setSpacing(4)

    def show_turns(self, turns: Sequence[ShownTurn], place: TurnPlace, *, is_above: bool) -> None:
        while item := self._column.takeAt(0):
            if (old := item.widget()) is not None:
                old.hide()
                old.deleteLater()
        if turns and not is_above:
            self._column.addWidget(Hairline())
        for turn in turns:
            self._column.addSpacing(4)
            self._column.addWidget(Label(_speaker(turn, place), Type.META_STRONG, "ink3"))
            beginning = plain_snippet(one_line(turn.text[: _BEGINNING * 2]), ())[0]
            cut = f"{beginning[:_BEGINNING].rstrip()}…"
            words = cut if len(beginning) > _BEGINNING else beginning
            self._column.addWidget(Label(words, Type.BODY, "ink2", wrap=True))
        if turns and is_above:
            self._column.addSpacing(4)
            self._column.addWidget(Hairline())
        self.setVisible(bool(turns))


def facts(item: FoundTurn) -> str:
    """Return where and when a turn was said."""
    place = item.place
    where = "" if place.scope == "global" else f" in {scope_name(place.scope)}"
    return (
        f"Turn {place.position + 1:,} of {place.entry_count:,} with {place.client}{where},"
        f" {day_and_clock(item.turn.at)}."
    )


def _speaker(turn: ShownTurn, place: TurnPlace) -> str:
    return one_line(speaker_name(turn.role, turn.speaker, place.client))


def _first_place(text: str, words: Sequence[str]) -> int:
    """Return where the first of some words stands; 0 where none does."""
    folded = text.lower()
    places = [place for word in words if (place := folded.find(word)) >= 0]
    return min(places, default=0)
