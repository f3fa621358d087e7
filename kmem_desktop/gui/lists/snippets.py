"""Snippets as they are read: without the signs of markdown, the marks moved along."""

import re
from collections.abc import Sequence
from functools import lru_cache

_SIGNS = re.compile(
    r"```\w*|`|\*\*|__"  # code and weight
    r"|(?:^|(?<=\s))(?:#{1,6}|[-*+]|>)(?=\s)"  # headings, lists, quotations
    r"|\|(?:\s*:?-{2,}:?\s*\|)+|\|"  # tables
    r"|\]\(https?://[^)\s]*\)|(?<!\w)\[(?=[^\]]*\]\()"  # the address of a link
)

Marks = tuple[tuple[int, int], ...]


@lru_cache(maxsize=512)
def plain_snippet(text: str, marks: Marks) -> tuple[str, Marks]:
    """Return a snippet without markdown's signs, and where its marks stand then."""
    kept = [True] * len(text)
    for sign in _SIGNS.finditer(text):
        if not _touches(marks, sign.start(), sign.end()):
            kept[sign.start() : sign.end()] = [False] * (sign.end() - sign.start())
    places = [0] * (len(text) + 1)
    plain: list[str] = []
    for index, character in enumerate(text):
        places[index] = len(plain)
        doubled = character == " " and plain[-1:] in ([" "], [])
        if kept[index] and not doubled:
            plain.append(character)
    places[len(text)] = len(plain)
    moved = tuple((places[start], places[end]) for start, end in marks)
    return "".join(plain), moved


def _touches(marks: Sequence[tuple[int, int]], start: int, end: int) -> bool:
    return any(start < last and first < end for first, last in marks)
