"""Which texts say nearly the same, by the words that stand in a row in them.

Three words in a row are compared, through an index of where each stands: what is in very many texts
tells nothing, and is left out. No model is asked.
"""

import re
from collections import Counter
from collections.abc import Sequence

WORDS_IN_A_ROW = 3
MOST_HOLDERS = 40
"""Words that stand in more texts than this are a habit of speech."""
LEAST_LIKENESS = 0.5

_WORD = re.compile(r"\w+")


def alike(texts: Sequence[str], most: int) -> list[tuple[int, int, float]]:
    """Return pairs of texts that share many of their words in a row, the most alike first.

    Args:
        texts: The texts.
        most: At most so many pairs.

    Returns:
        The numbers of both texts, and the share of what they have together, 0 to 1.
    """
    rows = [_rows(text) for text in texts]
    holders: dict[int, list[int]] = {}
    for number, own in enumerate(rows):
        for row in own:
            holders.setdefault(row, []).append(number)
    shared: Counter[tuple[int, int]] = Counter()
    for numbers in holders.values():
        if 1 < len(numbers) <= MOST_HOLDERS:
            shared.update(
                (first, second)
                for place, first in enumerate(numbers)
                for second in numbers[place + 1 :]
            )
    likenesses = (
        (first, second, count / (len(rows[first]) + len(rows[second]) - count))
        for (first, second), count in shared.items()
    )
    found = [pair for pair in likenesses if pair[2] >= LEAST_LIKENESS]
    return sorted(found, key=lambda pair: (-pair[2], pair[0], pair[1]))[:most]


def _rows(text: str) -> set[int]:
    words = _WORD.findall(text.casefold())
    length = min(WORDS_IN_A_ROW, len(words)) or 1
    return {hash(tuple(words[i : i + length])) for i in range(len(words) - length + 1)}
