"""The turns of one conversation: all of them as outlines, the texts of those that were looked at.

Turns of tools and notes of the system are folded into one line for each run of them.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QPersistentModelIndex, Qt, Signal

from kmem_desktop.domain.sessions.browsing import RestorePreview, ShownTurn, TurnOutline
from kmem_desktop.domain.sessions.conversations import Role
from kmem_desktop.gui.conversation.turn_parts import TurnPart
from kmem_desktop.gui.conversation.wording import day_and_clock, gap_words, turn_words
from kmem_desktop.gui.wording import counted
from kmem_desktop.services.sessions.browsing import speaker_name
from kmem_desktop.text import one_line

BLOCK_SIZE = 40
"""So many turns are read at a time."""
MOST_TEXTS = 1_200
"""So many texts are kept; those far from what is in sight go first."""
FOLDED_ROLES = (Role.TOOL, Role.SYSTEM)
_SPOKEN_LENGTH = 400

Index = QModelIndex | QPersistentModelIndex


class TurnItem:
    """A turn on the screen.

    Attributes:
        outline: What is known of it without its text.
        gap: How long nothing was said before it; empty for a short while.
        head: The row of the first turn of the run it is folded into; None where it is not.
        run_length: Of such a first turn: how many turns the run has.
        is_open: Of such a first turn: whether the run is unfolded.
        turn: The turn with its text, once it was read.
        parts: Its text in parts, once it was in sight.
        height: The height of its row in pixels, 0 where it is folded away.
        body_height: The height of its text alone, guessed where it was not laid out.
        is_measured: Whether `body_height` is of the width in force.
    """

    __slots__ = (
        "body_height",
        "gap",
        "head",
        "height",
        "is_measured",
        "is_open",
        "outline",
        "parts",
        "run_length",
        "turn",
    )

    def __init__(self, outline: TurnOutline, gap: str) -> None:
        """Begin without a text."""
        self.outline = outline
        self.gap = gap
        self.head: int | None = None
        self.run_length = 1
        self.is_open = False
        self.turn: ShownTurn | None = None
        self.parts: list[TurnPart] | None = None
        self.height = 0
        self.body_height = 0.0
        self.is_measured = False


class ConversationModel(QAbstractTableModel):
    """One column: the turns in their order.

    Signals:
        block_wanted: Turns from this position on are in sight and not read (position, count).
    """

    block_wanted = Signal(int, int)

    def __init__(self) -> None:
        """Start without a conversation."""
        super().__init__()
        self.items: list[TurnItem] = []
        self.client = ""
        self.preview: RestorePreview | None = None
        self.decisions: frozenset[int] = frozenset()
        self._row_of: dict[int, int] = {}
        self._wanted: set[int] = set()
        self._gaps: dict[int, str] = {}

    # What is shown

    def set_outline(self, outline: Sequence[TurnOutline], client: str) -> None:
        """Show a conversation; texts that were read of it stay where its turns are the same."""
        before = {item.outline.position: item for item in self.items}
        self.beginResetModel()
        self.client = client
        self.items = []
        for number, turn in enumerate(outline):
            gap = gap_words(outline[number - 1].at, turn.at) if number else ""
            item = TurnItem(turn, gap)
            known = before.get(turn.position)
            if known is not None and known.outline.length == turn.length:
                item.turn, item.parts = known.turn, known.parts
                item.is_open, item.is_measured = known.is_open, known.is_measured
                item.body_height = known.body_height
            self.items.append(item)
        self._row_of = {turn.position: row for row, turn in enumerate(outline)}
        self._wanted.clear()
        self._fold()
        self.endResetModel()

    def _fold(self) -> None:
        row = 0
        while row < len(self.items):
            end = row
            while end < len(self.items) and self.items[end].outline.role in FOLDED_ROLES:
                end += 1
            for each in range(row, end):
                self.items[each].head = row
            if end > row:
                self.items[row].run_length = end - row
            row = max(end, row + 1)

    def set_preview(self, preview: RestorePreview | None) -> None:
        """Show which turns would be given back."""
        self.preview = preview
        self._gaps = {}
        if preview is not None:
            starts = self._gap_starts(preview)
            self._gaps = {
                position: f"{counted(turns, 'turn')}, {counted(tokens, 'token')} left out"
                for position, turns, tokens in starts
            }
        self.tell_changed()

    def _gap_starts(self, preview: RestorePreview) -> Iterable[tuple[int, int, int]]:
        """Return for each gap its first turn, how many turns, and how many tokens."""
        restored = preview.kept | preview.shortened
        by_end = {gap.before_position: gap for gap in preview.session.context.gaps}
        first: int | None = None
        for item in self.items:
            position = item.outline.position
            gap = by_end.get(position)
            if gap is not None and first is not None:
                yield first, gap.turn_count, gap.token_count
            if position in restored:
                first = None
            elif first is None:
                first = position

    def set_decisions(self, positions: Iterable[int]) -> None:
        """Mark the turns in which something was decided."""
        self.decisions = frozenset(positions)
        self.tell_changed()

    def tell_changed(self) -> None:
        """Say that all rows look different."""
        if self.items:
            self.dataChanged.emit(self.index(0, 0), self.index(len(self.items) - 1, 0))

    def share_of(self, position: int) -> str:
        """Return what is given back of a turn: "kept", "part", "none"; "kept" with no preview."""
        if self.preview is None or position in self.preview.kept:
            return "kept"
        return "part" if position in self.preview.shortened else "none"

    def gap_at(self, position: int) -> str:
        """Return what is left out from a turn on, where that begins with it."""
        return self._gaps.get(position, "")

    # Rows

    def row_of(self, position: int) -> int | None:
        """Return the row of a turn, or None."""
        return self._row_of.get(position)

    def is_hidden(self, row: int) -> bool:
        """Return whether a turn is folded away under the first of its run."""
        head = self.items[row].head
        return head is not None and head != row and not self.items[head].is_open

    def is_folded(self, row: int) -> bool:
        """Return whether a row shows one line for its run instead of a text."""
        head = self.items[row].head
        return head is not None and not self.items[head].is_open

    def fold_words(self, row: int) -> str:
        """Return what stands for a folded run."""
        item = self.items[row]
        roles = [each.outline.role for each in self.items[row : row + item.run_length]]
        tools, notes = roles.count(Role.TOOL), roles.count(Role.SYSTEM)
        parts = [counted(tools, "tool step")] if tools else []
        parts += [counted(notes, "system note")] if notes else []
        words = ", ".join(parts)
        if item.run_length == 1 and item.turn is not None:
            words += f": {one_line(item.turn.text[:300])}"
        return words

    def speaker(self, row: int) -> str:
        """Return who speaks."""
        item = self.items[row]
        speaker = item.turn.speaker if item.turn is not None else ""
        return speaker_name(item.outline.role, speaker, self.client)

    def want(self, row: int) -> None:
        """Ask for the texts around a row."""
        block = row // BLOCK_SIZE
        if block not in self._wanted:
            self._wanted.add(block)
            first = self.items[block * BLOCK_SIZE].outline.position
            self.block_wanted.emit(first, BLOCK_SIZE)

    def set_turns(self, turns: Sequence[ShownTurn]) -> list[int]:
        """Take the texts of turns; return their rows."""
        rows = []
        for turn in turns:
            row = self._row_of.get(turn.position)
            if row is not None:
                self.items[row].turn = turn
                rows.append(row)
        return rows

    def unwant(self, position: int) -> None:
        """Let the texts from a position on be asked for again: they could not be read."""
        row = self._row_of.get(position)
        if row is not None:
            self._wanted.discard(row // BLOCK_SIZE)

    def forget_far(self, first: int, last: int) -> None:
        """Let go of texts that are far from these rows."""
        held = [row for row, item in enumerate(self.items) if item.turn is not None]
        if len(held) <= MOST_TEXTS:
            return
        near = range(first - MOST_TEXTS // 3, last + MOST_TEXTS // 3)
        for row in held:
            if row not in near:
                item = self.items[row]
                item.turn, item.parts = None, None
                self._wanted.discard(row // BLOCK_SIZE)

    def set_important(self, position: int, *, on: bool) -> None:
        """Show a turn as marked, or not."""
        row = self._row_of.get(position)
        if row is not None:
            item = self.items[row]
            item.outline = replace(item.outline, is_important=on)
            self.dataChanged.emit(self.index(row, 0), self.index(row, 0))

    def rowCount(self, parent: Index = QModelIndex()) -> int:
        return 0 if parent.isValid() else len(self.items)

    def columnCount(self, parent: Index = QModelIndex()) -> int:
        return 0 if parent.isValid() else 1

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if not index.isValid() or index.row() >= len(self.items):
            return None
        said: dict[int, Callable[[int], str]] = {
            Qt.ItemDataRole.DisplayRole: self._spoken,
            Qt.ItemDataRole.AccessibleTextRole: self._spoken,
            Qt.ItemDataRole.AccessibleDescriptionRole: self._described,
        }
        asked = said.get(role)
        return asked(index.row()) if asked is not None else None

    def _spoken(self, row: int) -> str:
        """Return a turn as a screen reader says it."""
        item = self.items[row]
        if self.is_folded(row):
            return "" if self.is_hidden(row) else f"Folded: {self.fold_words(row)}"
        text = one_line(item.turn.text[:_SPOKEN_LENGTH]) if item.turn is not None else ""
        return f"{self.speaker(row)}, {day_and_clock(item.outline.at)}: {text}"

    def _described(self, row: int) -> str:
        """Return what else is known of a turn."""
        item = self.items[row]
        position = item.outline.position
        share = {"none": "left out", "part": "given back in part"}.get(self.share_of(position), "")
        parts = (
            turn_words(position),
            item.gap,
            "important" if item.outline.is_important else "",
            "decision" if position in self.decisions else "",
            share,
        )
        return ", ".join(part for part in parts if part)
