"""Secrets are found and replaced before anything reaches the disk; they are counted, never shown.

kingfisher was measured beside this table of our own and is not used: `tests/benchmarks/sessions.py`
prints both. It knows many more services, but it is 35 MB in the bundle, takes seconds to load its
rules, and sees neither "my password is ..." nor what is assigned to a secret-like name.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from kmem_desktop.sessions.secret_patterns import PATTERNS, Pattern

_LOOKED_BACK = 60
_ESCAPED_SPACE = ("\\n", "\\r", "\\t")
"""Before what begins a line of a text that stands in JSON."""
_MARK = re.compile(r"\[secret removed: [\w ]+\]")


@dataclass(frozen=True, slots=True)
class Redaction:
    """A text that may be stored.

    Attributes:
        text: The text, a mark in place of each secret; the very same object where there was none.
        counts: How many secrets of which kind were removed.
    """

    text: str
    counts: Mapping[str, int] = field(default_factory=dict)


def redact(text: str) -> Redaction:
    """Return a text without its secrets.

    What was redacted once is left as it is.
    """
    lower = _lowered(text)
    hinted = _hinted(lower)
    if not hinted:
        return Redaction(text)
    counts: Counter[str] = Counter()
    for number, pattern in enumerate(PATTERNS):
        if number in hinted:
            before = text
            text = _without(pattern, text, lower, counts)
            if text is not before:
                lower = _lowered(text)
                hinted = _hinted(lower)
    return Redaction(text, dict(counts))


_HINTS: dict[str, list[tuple[str, int]]] = {}
for _number, _pattern in enumerate(PATTERNS):
    for _hint in _pattern.hints:
        _HINTS.setdefault(_hint[0], []).append((_hint, _number))
_ANY_HINT = re.compile(
    "|".join(
        f"{re.escape(first)}(?:{'|'.join(re.escape(hint[1:]) for hint, _ in found)})"
        for first, found in sorted(_HINTS.items())
    )
)
"""One shape for all hints, by their first letters: twenty times faster than asking for each."""


def _hinted(lower: str) -> set[int]:
    """Return the numbers of the patterns of which a hint stands in a text."""
    found: set[int] = set()
    match = _ANY_HINT.search(lower)
    while match is not None:
        place = match.start()
        hints = _HINTS[lower[place]]
        found.update(number for hint, number in hints if lower.startswith(hint, place))
        match = _ANY_HINT.search(lower, place + 1)
    return found


def _lowered(text: str) -> str:
    """Return a text in lower case, of the very same length."""
    lower = text.lower()
    if len(lower) == len(text):
        return lower
    return "".join(letter if len(small := letter.lower()) != 1 else small for letter in text)


def _without(pattern: Pattern, text: str, lower: str, counts: Counter[str]) -> str:
    parts: list[str] = []
    end = 0
    for place in _places(lower, pattern.hints):
        match = pattern.shape.match(text, place) if place >= end else None
        if match is None or _MARK.search(match.group()):
            continue
        group = "secret" if "secret" in pattern.shape.groupindex else 0
        if not _may_begin(pattern, text, place) or not pattern.is_secret(match.group(group)):
            continue
        parts += [text[end : match.start(group)], mark(pattern.kind)]
        end = match.end(group)
        counts[pattern.kind] += 1
    return "".join((*parts, text[end:])) if parts else text


def _may_begin(pattern: Pattern, text: str, place: int) -> bool:
    """Return whether what stands before a match allows it."""
    if pattern.before is not None:
        return pattern.before.search(text[max(0, place - _LOOKED_BACK) : place]) is not None
    if "secret" in pattern.shape.groupindex:  # then it begins with a name, as in db_password
        return True
    inside = place > 0 and text[place].isalnum() and text[place - 1].isalnum()
    return not inside or text[place - 2 : place] in _ESCAPED_SPACE


def _places(lower: str, hints: Iterable[str]) -> list[int]:
    """Return where hints stand: finding them is many times faster than trying shapes everywhere."""
    found: list[int] = []
    for hint in hints:
        place = lower.find(hint)
        while place >= 0:
            found.append(place)
            place = lower.find(hint, place + 1)
    return sorted(found)


def holds_marks(text: str) -> bool:
    """Return whether a secret was removed from a text."""
    return _MARK.search(text) is not None


def mark(kind: str) -> str:
    """Return what stands in place of a secret of a kind."""
    return f"[secret removed: {kind}]"
