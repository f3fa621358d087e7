"""What of a conversation's text is selected, across turns and their parts."""

from collections.abc import Callable
from dataclasses import dataclass

from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QMouseEvent
from PySide6.QtWidgets import QAbstractScrollArea

from kmem_desktop.gui.conversation.turn_model import ConversationModel
from kmem_desktop.gui.conversation.turn_parts import Range


@dataclass(frozen=True, slots=True)
class Place:
    """A place in the text of the conversation: row, part of the turn, place in its document."""

    row: int
    part: int
    offset: int

    @property
    def order(self) -> tuple[int, int, int]:
        """What places are compared by."""
        return (self.row, self.part, self.offset)


class TextSelection:
    """The text between two places, of which one follows the mouse.

    Attributes:
        is_dragging: Whether the mouse is held down.
    """

    def __init__(self) -> None:
        """Select nothing."""
        self._anchor: Place | None = None
        self._caret: Place | None = None
        self.is_dragging = False

    def begin(self, place: Place | None) -> None:
        """Begin at a place; None selects nothing."""
        self._anchor = self._caret = place
        self.is_dragging = place is not None

    def extend(self, place: Place) -> None:
        """Select up to a place."""
        self._caret = place

    def clear(self) -> None:
        """Select nothing: the rows are others now."""
        self.begin(None)

    @property
    def span(self) -> tuple[Place, Place] | None:
        """The first and the last place; None where nothing is selected."""
        if self._anchor is None or self._caret is None or self._anchor == self._caret:
            return None
        first, last = sorted((self._anchor, self._caret), key=lambda place: place.order)
        return first, last

    def range_of(self, row: int, part: int) -> Range | None:
        """Return what of a part is selected, -1 standing for its end; None for nothing."""
        if self.span is None:
            return None
        first, last = self.span
        here = (row, part)
        if not (first.row, first.part) <= here <= (last.row, last.part):
            return None
        start = first.offset if here == (first.row, first.part) else 0
        end = last.offset if here == (last.row, last.part) else -1
        return None if start == end else (start, end)

    def text(self, turns: ConversationModel) -> str:
        """Return the text that is selected; empty where nothing is."""
        if self.span is None:
            return ""
        first, last = self.span
        pieces = []
        for row in range(first.row, min(last.row, len(turns.items) - 1) + 1):
            if turns.is_folded(row):
                continue
            for number, part in enumerate(turns.items[row].parts or ()):
                chosen = self.range_of(row, number)
                if chosen is not None:
                    pieces.append(part.selected(*chosen))
        return "\n\n".join(piece for piece in pieces if piece)


class TextMouse:
    """Selects text with the mouse, and tells which link was clicked."""

    def __init__(
        self,
        area: QAbstractScrollArea,
        selection: TextSelection,
        place_at: Callable[[QPoint], tuple[Place | None, str]],
    ) -> None:
        """Work on what `area` shows; `place_at` tells which text and link is under a point."""
        self._area = area
        self._selection = selection
        self._place_at = place_at
        self._pressed_link = ""

    def press(self, event: QMouseEvent) -> None:
        """Begin to select."""
        place, self._pressed_link = self._place_at(event.position().toPoint())
        self._selection.begin(place)
        self._area.viewport().update()

    def move(self, event: QMouseEvent) -> bool:
        """Select up to the mouse, if it is held down; return whether it is."""
        point = event.position().toPoint()
        viewport, bar = self._area.viewport(), self._area.verticalScrollBar()
        place, link = self._place_at(point)
        over_text = Qt.CursorShape.IBeamCursor if place is not None else Qt.CursorShape.ArrowCursor
        viewport.setCursor(Qt.CursorShape.PointingHandCursor if link else over_text)
        viewport.setToolTip(link)
        if not self._selection.is_dragging:
            return False
        if point.y() < 0 or point.y() > viewport.height():
            bar.setValue(bar.value() + (-1 if point.y() < 0 else 1) * bar.singleStep())
        if place is not None:
            self._selection.extend(place)
            viewport.update()
        return True

    def release(self) -> str:
        """End selecting; return the address of the link that was clicked, if one was."""
        link, self._pressed_link = self._pressed_link, ""
        self._selection.is_dragging = False
        return link if self._selection.span is None else ""
