"""The front matter of a rule document: the lines between two `---` at its head.

It is read line by line and not as YAML: most of Cursor's is none (`globs: **/*.ts` is an alias to a
YAML parser), and nothing in a document that somebody sent may be expanded or run.
"""

import re
from dataclasses import dataclass, field

_FENCE = re.compile(r"---[ \t]*")
_KEY = re.compile(r"([A-Za-z][\w .-]{0,40}?)[ \t]*:(?:[ \t]+(.*)|[ \t]*)")
_MOST_LINES = 200
_TRUE = frozenset(("true", "yes", "on", "1"))
_PLAIN_START = re.compile(r"[A-Za-z0-9(]")


@dataclass(slots=True)
class FrontMatter:
    """What stands between two `---` at the head of a document.

    Attributes:
        lines: How many lines it takes, both `---` included; 0 when there is none.
        values: The text of each key; keys are lower case without marks.
        lists: The values of each key that has several.
        not_read: Lines that are no `key: value`.
    """

    lines: int = 0
    values: dict[str, str] = field(default_factory=dict)
    lists: dict[str, tuple[str, ...]] = field(default_factory=dict)
    not_read: list[int] = field(default_factory=list)

    def text(self, *keys: str) -> str:
        """Return the text of the first of these keys that is there."""
        return next((self.values[key] for key in keys if self.values.get(key)), "")

    def listed(self, *keys: str) -> tuple[str, ...]:
        """Return the values of the first of these keys that is there: written in any way."""
        for key in keys:
            if self.lists.get(key):
                return self.lists[key]
            if self.values.get(key):
                return split_list(self.values[key])
        return ()

    def is_true(self, key: str) -> bool:
        """Return whether a key says yes."""
        return self.values.get(key, "").casefold() in _TRUE


def plain_key(key: str) -> str:
    """Return the name of a fact without case and marks: `Authoritative For` -> authoritativefor."""
    return re.sub(r"[^a-z]", "", key.casefold())


def split_list(text: str) -> tuple[str, ...]:
    """Split a list that is written `[a, b]` or `a, b`; commas inside of braces do not count."""
    text = text.strip()
    if text.startswith("[") and (text.endswith("]") or "]" not in text):
        text = text[1:].removesuffix("]")
    parts: list[str] = []
    depth, start = 0, 0
    for place, character in enumerate(text):
        if character in "{[(":
            depth += 1
        elif character in "}])":
            depth = max(0, depth - 1)
        elif character == "," and not depth:
            parts.append(text[start:place])
            start = place + 1
    parts.append(text[start:])
    unquoted_parts = (unquoted(part.strip()) for part in parts)
    return tuple(part for part in unquoted_parts if part)


def unquoted(text: str) -> str:
    """Return a value without the quotes round it."""
    if len(text) > 1 and text[0] == text[-1] == "'":
        return text[1:-1].replace("''", "'").strip()
    if len(text) > 1 and text[0] == text[-1] == '"':
        return text[1:-1].replace('\\"', '"').strip()
    return text


def quoted(text: str) -> str:
    """Return a value so that YAML and `unquoted` read it alike; plain where that is safe."""
    is_plain = _PLAIN_START.match(text) and ": " not in text and " #" not in text
    if (
        is_plain
        and not text.endswith(":")
        and text.casefold() not in _TRUE | {"false", "no", "off"}
    ):
        return text
    return "'" + text.replace("'", "''") + "'"


def front_matter(text: str) -> FrontMatter:
    """Read the front matter of a document; an empty one when there is none."""
    lines = text.split("\n", _MOST_LINES)[:_MOST_LINES]
    if not _FENCE.fullmatch(lines[0]):
        return FrontMatter()
    end = next((n for n, line in enumerate(lines) if n and _FENCE.fullmatch(line)), 0)
    if not end:
        return FrontMatter()
    found = FrontMatter(lines=end + 1)
    number = 1
    while number < end:
        number = _entry(lines, number, end, found)
    return found


def _entry(lines: list[str], number: int, end: int, found: FrontMatter) -> int:
    """Read the entry that begins on a line; return the line behind it."""
    match = _KEY.fullmatch(lines[number])
    if match is None:
        if lines[number].strip() and not lines[number].lstrip().startswith("#"):
            found.not_read.append(number + 1)
        return number + 1
    key, value = plain_key(match[1]), (match[2] or "").strip()
    number += 1
    below: list[str] = []
    while number < end and (not lines[number].strip() or lines[number][0] in " \t-"):
        below.append(lines[number].strip())
        number += 1
    below = [line for line in below if line]
    if value in ("", ">", "|", ">-", "|-", ">+", "|+", "["):
        if value in ("", "[") and all(line[0] in "-]" or value for line in below):
            items = [unquoted(line.lstrip("- ").rstrip(",").strip()) for line in below]
            found.lists[key] = tuple(item for item in items if item and item != "]")
            return number
        value = ""
    found.values[key] = unquoted(" ".join([value, *below]).strip())
    return number
