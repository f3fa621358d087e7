"""Code in rule documents: which part shows what is right, which part what is wrong."""

import re
from dataclasses import dataclass

from kmem_desktop.rules.documents.wording import emoji, is_imperative, prohibits

_GOOD = (
    r"good|right|correct|better|best|preferred|recommended|do|yes|valid|safe|secure|compliant|okay|ok"
    r"|pass"
)
_BAD = (
    r"bad|wrong|incorrect|worse|worst|avoid|don'?t|do not|no|never|invalid|unsafe|insecure"
    r"|vulnerable|"
    r"anti-?pattern|not recommended|non-?compliant|discouraged|fail"
)
_SIGN = r"[\u2705\u2714\u274c\u2717\u2718\u26d4\U0001f6ab\U0001f44d\U0001f44e]\ufe0f?"
_COMMENT = re.compile(
    rf"^[ \t]*(?://+|\#+|--|<!--|/\*+|\{{/\*|;+|%|'|\(\*)[ \t]*(?P<text>(?:{_SIGN})?.*?)"
    r"[ \t]*(?:-->|\*/\}?|\*\))?[ \t]*$"
)
_BAD_WORD = re.compile(rf"(?:{_BAD})(?=$|[\s:.,;!(\u2014\u2013-])", re.IGNORECASE)
_GOOD_WORD = re.compile(rf"(?:{_GOOD})(?=$|[\s:.,;!(\u2014\u2013-])", re.IGNORECASE)
_GOOD_LABEL = re.compile(r"(?:good|right|correct|better|best|ok|okay)\b", re.IGNORECASE)
# A bare word as "do" or "no" in a comment is a label only when nothing else makes a sentence of it.
_LONG_LABEL = re.compile(
    r"(?:do|do not|don'?t|no|yes|never|avoid|ok|right|pass|fail)\s+\w", re.IGNORECASE
)
_BARE = re.compile(r"(?:yes|no|good|bad):[ \t]*", re.IGNORECASE)
_PROSE_LABEL = re.compile(
    rf"^\W*(?:(?P<bad>{_BAD})|(?P<good>{_GOOD}))\b(?:\s+(?:examples?|practices?|code|way"
    rf"|usage|patterns?))?"
    r"\s*(?:\([^()]*\))?\s*[:.\u2014-]?\s*$",
    re.IGNORECASE,
)
_EXAMPLE_LABEL = re.compile(
    r"^\W*(?:for )?(?:\w+[- ]){0,3}(?:examples?|e\.g\.|for instance)\b[^.]{0,80}[:.]?\W*$",
    re.IGNORECASE,
)
_ANTI_LABEL = re.compile(
    r"^\W*(?:bad example|anti-?patterns?|counter-?examples?|wrong)\b[^.]{0,60}$", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a block of code.

    Attributes:
        code: Its lines, with the comment that says what it is.
        is_good: Whether it shows what is right; None where nothing says so.
        instruction: What the comment asks for, when a sign as ❌ stands before it.
        line: Its first line in the block, from 0.
    """

    code: str
    is_good: bool | None
    instruction: str = ""
    line: int = 0


def parts(code: str) -> list[Part]:
    """Split code at comments as `// bad` and `# ✅ Use signals`."""
    lines = code.split("\n")
    marks = [(number, *mark) for number, line in enumerate(lines) if (mark := _mark(line))]
    if not marks:
        return [Part(code, None)]
    found = []
    for place, (number, is_good, instruction) in enumerate(marks):
        # What all parts need stands before the first of them.
        start = number if place else 0
        end = marks[place + 1][0] if place + 1 < len(marks) else len(lines)
        text = "\n".join(lines[start:end]).strip("\n").rstrip()
        found.append(Part(text, is_good, instruction, number))
    return found


def labels(text: str) -> bool | None:
    """Return what a line of prose says of the code below: True for right, False for wrong."""
    is_good, rest = emoji(text.strip().strip("*_"))
    if _ANTI_LABEL.match(rest):
        return False
    if match := _PROSE_LABEL.match(rest):
        return match["bad"] is None
    if len(rest) < 100 and _EXAMPLE_LABEL.match(rest):
        return True
    return is_good if len(rest) < 60 and is_good is not None and rest.endswith(":") else None


def _mark(line: str) -> tuple[bool, str] | None:
    if len(line) > 300:
        return None
    if _BARE.fullmatch(line):
        return line[0] in "yYgG", ""
    match = _COMMENT.match(line)
    if match is None:
        return None
    is_good, text = emoji(match["text"])
    if is_good is not None:
        is_label = _BAD_WORD.match(text) and not _LONG_LABEL.match(text)
        is_asked = is_imperative(text) or prohibits(text) or text[:7].casefold() == "always "
        return is_good, text if is_asked and not is_label and not _GOOD_LABEL.match(text) else ""
    if _LONG_LABEL.match(text):
        return None
    if _BAD_WORD.match(text):
        return False, ""
    return (True, "") if _GOOD_WORD.match(text) else None
