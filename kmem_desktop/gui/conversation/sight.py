"""What is in sight of a conversation: the parts that are laid out, and what keeps its place."""

from collections import OrderedDict
from dataclasses import dataclass

from PySide6.QtWidgets import QTableView

from kmem_desktop.gui.appearance import theme
from kmem_desktop.gui.conversation.turn_delegate import TurnGeometry
from kmem_desktop.gui.conversation.turn_model import FOLDED_ROLES, ConversationModel, TurnItem
from kmem_desktop.gui.conversation.turn_parts import TurnPart, parts_of

MOST_LAID_OUT = 260
"""So many parts are kept ready; those that were in sight longest ago go first."""


class LaidOutParts:
    """Lays parts out, and lets go of those that were not in sight for long."""

    def __init__(self) -> None:
        """Begin with none."""
        self._ready: OrderedDict[int, TurnPart] = OrderedDict()

    def cut(self, item: TurnItem, place: TurnGeometry) -> None:
        """Cut the text of a turn into its parts, once it was read."""
        if item.parts is None and item.turn is not None:
            is_code = item.outline.role in FOLDED_ROLES
            item.parts = parts_of(item.turn.text, place.text_width, theme(), as_code=is_code)

    def lay_out(self, part: TurnPart, place: TurnGeometry) -> None:
        """Lay a part out."""
        part.lay_out(place.text_width, theme())
        self._ready[id(part)] = part
        self._ready.move_to_end(id(part))
        while len(self._ready) > MOST_LAID_OUT:
            self._ready.popitem(last=False)[1].forget()

    def clear(self) -> None:
        """Hold none any more."""
        self._ready.clear()


@dataclass(frozen=True, slots=True)
class Anchor:
    """What keeps its place while heights change.

    Attributes:
        row: A row.
        part: A part of its turn; -1 for the row itself.
        top: Where it begins, from the top of the conversation.
    """

    row: int
    part: int
    top: float


def first_in_sight(
    table: QTableView, turns: ConversationModel, place: TurnGeometry
) -> Anchor | None:
    """Return the first row or part that begins in sight; else the row that fills it."""
    top = table.verticalScrollBar().value()
    first = row = table.rowAt(0)
    if row < 0:
        return None
    header = table.verticalHeader()
    bottom = top + table.viewport().height()
    while row < len(turns.items):
        start = header.sectionPosition(row)
        if start >= bottom:
            break
        if start >= top and turns.items[row].height:
            return Anchor(row, -1, float(start))
        if not turns.is_folded(row):
            for number, part_top in enumerate(place.part_tops(turns.items[row])):
                if top <= start + part_top < bottom:
                    return Anchor(row, number, start + part_top)
        row += 1
    return Anchor(first, -1, float(header.sectionPosition(first)))


def top_of(
    table: QTableView, turns: ConversationModel, place: TurnGeometry, anchor: Anchor
) -> float:
    """Return where an anchor begins now, from the top of the conversation."""
    start = float(table.verticalHeader().sectionPosition(anchor.row))
    tops = place.part_tops(turns.items[anchor.row]) if anchor.part >= 0 else []
    return start + (tops[anchor.part] if anchor.part < len(tops) and tops else 0.0)
