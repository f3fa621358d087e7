"""The passages that are worth keeping of a conversation, in the order of their use.

A context window of any size is filled from it without reading the conversation again.
"""

from collections.abc import Iterable, Sequence
from itertools import zip_longest
from typing import TYPE_CHECKING

from kmem_desktop.domain.sessions.conversations import Digest, DigestPiece, Role, SpokenTurn
from kmem_desktop.sessions.salience import Outline, Ranking, outline, rank, shortened_links
from kmem_desktop.sessions.sentences import Passage, PassageKind
from kmem_desktop.text import count_tokens

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

DIGEST_TOKENS = 8_000
JOIN_TOKENS = 2
"""What it costs to put a passage beside another: a mark of what was cut, or a line end."""
FIXED_COST_TOKENS = 3
NEWEST_TURNS = 40
NEWEST_LENGTH = 20_000
OPENING_TURNS = 6
OPENING_LENGTH = 6_000
"""How much of the end and of the beginning a quick digest reads, in turns and in characters."""

_CODE_BLOCKS = 20
_LONGEST_CODE_TOKENS = 400
_LEAST_SHARE = 0.01


def digest(
    found: Outline,
    vectors: "NDArray[np.float32] | None" = None,
    *,
    longest_tokens: int = DIGEST_TOKENS,
) -> Digest:
    """Return what is worth keeping of a conversation.

    Args:
        found: The conversation.
        vectors: The vectors of `found.texts`: float32, shape (passages, dim), L2-normalised; None
            where there is no model: then words alone decide.
        longest_tokens: How much to keep.
    """
    ranking = rank(found, vectors)
    pieces = _best(ranking, longest_tokens)
    return Digest(
        turn_count=len(found.turns),
        pieces=tuple(_piece(found, number) for number in pieces),
        code=tuple(_piece(found, number) for number in _code(found)),
        taken_back=tuple(
            (found.turns[found.passages[number].index].position, found.passages[number].text)
            for number in sorted({n for r in ranking.reversals for n in r.superseded})
        ),
    )


def quick_digest(turns: Sequence[SpokenTurn]) -> Digest:
    """Return what is worth keeping of a long conversation's beginning and end, in little time.

    It stands in for a digest that is still being made: of what lies between, nothing is in it.
    """
    newest = _within(reversed(turns), NEWEST_TURNS, NEWEST_LENGTH)[::-1]
    opening = _within(turns[: len(turns) - len(newest)], OPENING_TURNS, OPENING_LENGTH)
    parts = [digest(outline(part)) for part in (newest, opening) if part]
    return merged(len(turns), parts)


def _within(turns: Iterable[SpokenTurn], most: int, longest: int) -> list[SpokenTurn]:
    """Return the first turns that are not more than `most` and not longer than `longest`."""
    found: list[SpokenTurn] = []
    length = 0
    for turn in turns:
        length += len(turn.text)
        if len(found) == most or length > longest:
            break
        found.append(turn)
    return found


def merged(turn_count: int, parts: Sequence[Digest]) -> Digest:
    """Return one digest of several parts of a conversation, their best passages by turns."""
    ranks = zip_longest(*(part.pieces for part in parts))
    return Digest(
        turn_count=turn_count,
        pieces=tuple(piece for rank in ranks for piece in rank if piece is not None),
        code=tuple(piece for part in parts for piece in part.code),
        taken_back=tuple(each for part in parts for each in part.taken_back),
    )


def _best(ranking: Ranking, longest_tokens: int) -> list[int]:
    import numpy as np

    passages = ranking.outline.passages
    costs = np.array([count_tokens(text_of(p)) + JOIN_TOKENS for p in passages], float)
    is_code = np.array([passage.kind is PassageKind.CODE for passage in passages], bool)
    return ranking.choose(
        longest_tokens,
        np.where(is_code, np.inf, costs),
        fixed_cost=FIXED_COST_TOKENS,
        stop=_LEAST_SHARE,
    )


def _code(found: Outline) -> list[int]:
    """Return the latest code blocks that people and assistants wrote."""
    numbers = [
        number
        for number, passage in enumerate(found.passages)
        if passage.kind is PassageKind.CODE
        and passage.role not in (Role.TOOL, Role.SYSTEM)
        and count_tokens(passage.text) <= _LONGEST_CODE_TOKENS
    ]
    return numbers[: -_CODE_BLOCKS - 1 : -1]


def _piece(found: Outline, number: int) -> DigestPiece:
    passage = found.passages[number]
    text = text_of(passage)
    return DigestPiece(
        position=found.turns[passage.index].position,
        last_position=found.turns[passage.last_index].position,
        place=passage.place,
        is_last=passage.is_last,
        text=text,
        token_count=count_tokens(text),
    )


def text_of(passage: Passage) -> str:
    """Return a passage as it is given back: code with its fence closed, long links shortened."""
    return (
        _closed(passage.text) if passage.kind is PassageKind.CODE else shortened_links(passage.text)
    )


def _closed(code: str) -> str:
    """Return a code block whose fence is closed."""
    lines = code.split("\n")
    fence = lines[0].lstrip()
    mark = fence[: len(fence) - len(fence.lstrip(fence[:1]))]
    last = lines[-1].strip()
    is_closed = len(lines) > 1 and last.startswith(mark) and not last.strip(mark[0])
    return code if is_closed else f"{code}\n{mark}"
