"""What is given back of a conversation within a budget of tokens (seed 004, context window).

The last five turns come first, then what a person marked as important, then code, decisions and the
rest by what each passage adds. All is put out in the conversation's order; long turns keep their
best passages; a mark shows each cut, and the turns' numbers show what is missing between them.
What is left of the budget then goes to the newest turns.

References:
    Seed 004, "Context Window Management".
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from kmem_desktop.domain.sessions.conversations import (
    ContextGap,
    Digest,
    DigestPiece,
    RestoredContext,
    RestoredTurn,
    SpokenTurn,
)
from kmem_desktop.sessions.digest import (
    FIXED_COST_TOKENS,
    JOIN_TOKENS,
    digest,
    merged,
    text_of,
)
from kmem_desktop.sessions.salience import outline, rank
from kmem_desktop.text import count_tokens, one_line

LAST_TURNS = 5
NEWEST_TURNS = 40
"""So many turns that a digest has not read are read when a context is restored."""
CUT = "\u2026"
"""The mark where something was left out."""

_LAST_SHARE = 0.4
"""Of the budget; what the last turns do not need goes to the others."""
_IMPORTANT_SHARE = 0.3
_CODE_SHARE = 0.1
_LEAST_TURN_TOKENS = 8
_TAKEN_BACK = "(taken back later) "


@dataclass(slots=True)
class _Window:
    """A context window while it is filled: which pieces of which turns, by their index."""

    turns: Sequence[SpokenTurn]
    left: int
    whole: set[int] = field(default_factory=set)
    pieces: dict[int, dict[int, tuple[str, bool]]] = field(default_factory=dict)
    joined: dict[int, int] = field(default_factory=dict)

    def opening(self, index: int) -> int:
        """Return what it costs to have a first piece of a turn."""
        if index in self.whole or index in self.pieces:
            return 0
        return count_tokens(_label(self.turns[index], numbered=True)) + 1

    def add_whole(self, index: int) -> bool:
        """Add a turn as it stands, if it fits."""
        price = self.opening(index) + _tokens(self.turns[index])
        if index in self.whole or price > self.left:
            return False
        self.left -= price
        self.whole.add(index)
        return True

    def add_piece(self, index: int, piece: DigestPiece) -> None:
        """Add a piece of a turn, if it fits and is not there."""
        if index in self.whole or piece.place in self.pieces.get(index, ()):
            return
        price = self.opening(index) + piece.token_count + JOIN_TOKENS
        if price <= self.left:
            self.left -= price
            self.pieces.setdefault(index, {})[piece.place] = (piece.text, piece.is_last)
            count = piece.last_position - piece.position
            if count:
                self.joined[index] = index + count


def restore(
    turns: Sequence[SpokenTurn], budget_tokens: int, kept: Digest | None = None
) -> RestoredContext:
    """Return what fits of a conversation: all of it, or the best of it.

    Args:
        turns: The conversation, in order.
        budget_tokens: The most tokens that the text may have, as `text.count_tokens` counts.
        kept: The conversation's digest; None to make one now, by words alone: for a conversation of
            thousands of turns that takes a second.
    """
    whole = _whole(turns, budget_tokens)
    if whole is not None:
        return whole
    kept = digest(outline(turns)) if kept is None else _brought_up_to_date(kept, turns)
    header_tokens = count_tokens(_header(len(turns), len(turns), 10**9, 10**9))
    window = _Window(turns, max(0, budget_tokens - header_tokens))
    taken_back = _taken_back(kept)
    last = range(max(0, len(turns) - LAST_TURNS), len(turns))
    _add_turns(window, last, int(budget_tokens * _LAST_SHARE), taken_back)
    marked = [i for i, turn in enumerate(turns) if turn.is_important]
    _add_turns(window, marked, int(budget_tokens * _IMPORTANT_SHARE), taken_back)
    _add_pieces(window, kept, int(budget_tokens * _CODE_SHARE))
    _add_newest(window, taken_back)
    return _assembled(window, budget_tokens)


def _whole(turns: Sequence[SpokenTurn], budget: int) -> RestoredContext | None:
    """Return the whole conversation, if it fits."""
    if sum(_tokens(turn) for turn in turns) > budget:
        return None
    restored = tuple(_restored(turn) for turn in turns)
    text = _text(restored, numbered=False)
    tokens = count_tokens(text)
    if tokens > budget:
        return None
    return RestoredContext(restored, (), text, tokens, 0, 0, is_complete=True)


def _brought_up_to_date(kept: Digest, turns: Sequence[SpokenTurn]) -> Digest:
    """Return a digest with the best of the turns that came after it, in turn with its own."""
    newer = turns[kept.turn_count : len(turns) - LAST_TURNS][-NEWEST_TURNS:]
    if not newer:
        return kept
    return merged(len(turns), [digest(outline(newer)), kept])


def _taken_back(kept: Digest) -> dict[int, set[str]]:
    found: dict[int, set[str]] = {}
    for position, text in kept.taken_back:
        found.setdefault(position, set()).add(text)
    return found


def _add_turns(
    window: _Window, indexes: Iterable[int], share: int, taken_back: Mapping[int, set[str]]
) -> None:
    """Add turns, each whole or shortened to an equal part of what is left of a share."""
    # The shortest first: what they leave of their part goes to the longer ones.
    todo = sorted(
        (i for i in indexes if i not in window.whole), key=lambda i: _tokens(window.turns[i])
    )
    left = min(share, window.left)
    while todo:
        part = left // len(todo)
        index = todo.pop(0)
        turn = window.turns[index]
        before = window.left
        room = part - window.opening(index)
        was_taken_back = taken_back.get(turn.position, set())
        if was_taken_back or _tokens(turn) > room or not window.add_whole(index):
            for piece in _shortened(turn, room, was_taken_back):
                window.add_piece(index, piece)
        left -= before - window.left


def _shortened(turn: SpokenTurn, room: int, taken_back: set[str]) -> Iterator[DigestPiece]:
    """Yield the pieces of a turn that fit: its first, then those that tell most."""
    import numpy as np

    ranking = rank(outline([turn]))
    found = ranking.outline.passages
    texts = [
        (_TAKEN_BACK if passage.text in taken_back else "") + text_of(passage) for passage in found
    ]
    costs = np.array([count_tokens(text) + JOIN_TOKENS for text in texts], float)
    chosen: list[int] = []
    if found and costs[0] <= room:
        chosen = [0]
        ranking.take(0)
        room -= int(costs[0])
        costs[0] = np.inf
    chosen += ranking.choose(room, costs, fixed_cost=FIXED_COST_TOKENS, stop=0.0)
    for number in chosen:
        yield DigestPiece(
            position=turn.position,
            last_position=turn.position,
            place=found[number].place,
            is_last=found[number].is_last,
            text=texts[number],
            token_count=int(count_tokens(texts[number])),
        )


def _add_pieces(window: _Window, kept: Digest, code_share: int) -> None:
    """Fill the rest: short code blocks within their share, then the best passages."""
    indexes = {turn.position: index for index, turn in enumerate(window.turns)}
    limit = window.left - code_share
    for piece in kept.code:
        index = indexes.get(piece.position)
        fits = piece.token_count <= code_share // 2 and window.left - piece.token_count >= limit
        if index is not None and fits:
            window.add_piece(index, piece)
    for piece in kept.pieces:
        index = indexes.get(piece.position)
        if index is None or piece.last_position not in indexes:
            continue
        utterance = range(index, indexes[piece.last_position] + 1)
        if not any(i in window.whole for i in utterance):
            window.add_piece(index, piece)


def _add_newest(window: _Window, taken_back: Mapping[int, set[str]]) -> None:
    """Spend what is left on whole turns, the newest first, but on none that was taken back."""
    last = window.joined
    told = {i for index in window.pieces for i in range(index, last.get(index, index) + 1)}
    for index in range(len(window.turns) - 1, -1, -1):
        if window.left < _LEAST_TURN_TOKENS:
            return
        if index not in told and window.turns[index].position not in taken_back:
            window.add_whole(index)


def _assembled(window: _Window, budget: int) -> RestoredContext:
    indexes = sorted(window.whole | set(window.pieces))
    restored = [
        _restored(window.turns[i]) if i in window.whole else _shortened_turn(window, i)
        for i in indexes
    ]
    told = {i for index in indexes for i in range(index, window.joined.get(index, index) + 1)}
    total = sum(_tokens(turn) for turn in window.turns)
    gaps = _gaps(window.turns, sorted(told))
    shown = sum(count_tokens(turn.text) for turn in restored)
    header = _header(len(told), len(window.turns), shown, total)
    text = f"{header}\n{_text(restored, numbered=True)}"
    tokens = count_tokens(text)
    if tokens > budget:  # a budget that does not even hold the header
        return RestoredContext((), gaps, "", 0, len(window.turns), total, is_complete=False)
    left_out = len(window.turns) - len(told)
    cut = max(0, total - shown)
    return RestoredContext(tuple(restored), gaps, text, tokens, left_out, cut, is_complete=False)


def _shortened_turn(window: _Window, index: int) -> RestoredTurn:
    """Return a turn of which some pieces are left, with a mark where others were."""
    turn = window.turns[index]
    parts: list[str] = []
    expected = 0
    ends = False
    for place, (text, is_last) in sorted(window.pieces[index].items()):
        if place != expected:
            parts.append(
                f"\n{CUT}\n" if "\n" in text or (parts and "\n" in parts[-1]) else f" {CUT} "
            )
        elif parts:
            parts.append("\n")
        parts.append(text)
        expected, ends = place + 1, is_last
    if not ends:
        parts.append(f"\n{CUT}" if "\n" in parts[-1] else f" {CUT}")
    text = "".join(parts).strip()
    return _restored(turn) if one_line(text) == one_line(turn.text) else _restored(turn, text)


def _restored(turn: SpokenTurn, shortened: str | None = None) -> RestoredTurn:
    return RestoredTurn(
        position=turn.position,
        role=turn.role,
        speaker=turn.speaker,
        text=turn.text if shortened is None else shortened,
        is_shortened=shortened is not None,
        at=turn.at,
    )


def _gaps(turns: Sequence[SpokenTurn], told: Sequence[int]) -> tuple[ContextGap, ...]:
    found: list[ContextGap] = []
    start = 0
    for index in (*told, len(turns)):
        if index > start:
            missing = turns[start:index]
            position = turns[index].position if index < len(turns) else turns[-1].position + 1
            found.append(ContextGap(position, len(missing), sum(map(_tokens, missing))))
        start = index + 1
    return tuple(found)


def _header(shown: int, count: int, tokens: int, total: int) -> str:
    return f"[{shown} of {count} turns, {tokens} of {total} tokens; {CUT} marks cuts]"


def _label(turn: SpokenTurn | RestoredTurn, *, numbered: bool) -> str:
    name = turn.speaker or turn.role.value
    return f"{turn.position} {name}: " if numbered else f"{name}: "


def _text(turns: Iterable[RestoredTurn], *, numbered: bool) -> str:
    return "\n".join(f"{_label(turn, numbered=numbered)}{turn.text}" for turn in turns)


def _tokens(turn: SpokenTurn) -> int:
    return count_tokens(turn.text) if turn.token_count is None else turn.token_count
