"""Turns are taken apart into passages: sentences, list items, table rows, code and log lines.

A passage is the smallest thing that a summary quotes and the smallest that a context window cuts
off. Code stays whole between its fences. In chats where people send half a sentence at a time,
neighbouring lines of one speaker are one passage.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from kmem_desktop.domain.sessions.conversations import Role, SpokenTurn
from kmem_desktop.text import one_line

SENTENCE_LENGTH = 320
"""A list item that is longer is taken apart into its sentences."""
UTTERANCE_LENGTH = 110
"""Lines of a chat are joined up to this many characters."""
FRAGMENT_LENGTH = 70
"""A turn up to this length may be a part of an utterance."""

READ_LENGTH = 60_000
"""So many characters of one turn are read; taking a megabyte apart lasts two seconds."""

_FENCE = re.compile(r"[ \t]*(`{3,}|~{3,})")
_HEADING = re.compile(r"\s{0,3}#{1,6}\s")
_ITEM = re.compile(r"\s*(?:[-*+\u2022]|\d{1,3}[.)])\s+")
# A line that is bold as a whole and no sentence: "**Session naming**", "2. **Plan of action:**".
_BOLD_LINE = re.compile(
    r"\s*(?:(?:[-*+\u2022]|\d{1,3}[.)])\s+)?\*\*(?:[^\s*]+\s+){0,6}[^\s*]+(?<![.!?\u2026`])\*\*:?\s*"
)
_RULE = re.compile(r"\s*(?:[-=_*]\s*){3,}$|[\s|:+-]+$")
# "/path/file.go:12:4: message", "\u2502 boxed", "12:01:33 INFO", "  ^", stack traces.
_LOG = re.compile(
    r"\s*(?:\S+:\d+:\d+:|[\u2500-\u257f\u2022\u2a2f\u276f\u2717\u2713]\s|\d\d:\d\d:\d\d|\[\d|\^"
    r"|at \S+ ?\(|File \"|\s{8,}\S|/\S+ |"
    r"(?:Downloading|Extracting|INFO|WARN|DEBUG)\b)"
)
_TAG_LINE = re.compile(r"\s*</?[a-z][\w-]*(?:\s[^<>]*)?>.*")
# A sentence ends at a mark before white space and something that begins a sentence; many people
# begin theirs with a small letter: then the mark ends a word of some length, no abbreviation.
_SENTENCE_END = re.compile(
    r"(?<=[.!?\u2026])(?<!\be\.g\.)(?<!\bi\.e\.)(?<!\bvs\.)(?<!\betc\.)[)\"'*`\u201d]{0,3}\s+"
    r"(?=[\"'(*`\[\u201c]{0,3}[A-Z0-9])|(?<=[a-z]{3}[.!?])(?<!\betc\.)(?<!\bresp\.)(?<!\bincl\.)"
    r"\s+(?=[a-z]{2,} )|(?<=[\u3002\uff01\uff1f])"
)
_ADDRESSED = re.compile(r"\s*[@<]?([^\s:,<>]+)[>:,]+\s+(\S.*)", re.DOTALL)


class PassageKind(StrEnum):
    """What a passage is by its form."""

    SENTENCE = "sentence"
    ITEM = "item"
    ROW = "row"
    HEADING = "heading"
    CODE = "code"
    LOG = "log"
    MARKUP = "markup"


@dataclass(frozen=True, slots=True)
class Passage:
    """A passage of a turn.

    Attributes:
        index: The turn's index in the sequence that was taken apart.
        role: Who speaks.
        kind: What it is by its form.
        text: What it says, on one line and without its list mark; code as it stands.
        last_index: The last turn it is made of; `index` but for utterances over several turns.
        place: Its number within the turn, from 0.
        is_last: Whether the turn ends with it.
    """

    index: int
    role: Role
    kind: PassageKind
    text: str
    last_index: int
    place: int = 0
    is_last: bool = True


@dataclass(frozen=True, slots=True)
class Block:
    """A line of a turn, or a whole code block with its fences, as it stands."""

    kind: PassageKind
    text: str


def blocks(text: str) -> Iterator[Block]:
    """Yield the lines of a text, a fenced code block as one; joined by line ends they are it."""
    code: list[str] = []
    fence = ""
    lines = text.split("\n")
    for number, line in enumerate(lines):
        if fence:
            code.append(line)
            if line.strip().startswith(fence) and not line.strip().strip(fence[0]):
                yield Block(PassageKind.CODE, "\n".join(code))
                code, fence = [], ""
            continue
        opening = _FENCE.match(line)
        if opening:
            fence = opening.group(1)
            code = [line]
        else:
            kind = _kind(line)
            if kind is PassageKind.ROW and number + 1 < len(lines) and _is_rule(lines[number + 1]):
                kind = PassageKind.HEADING
            yield Block(kind, line)
    if code:
        yield Block(PassageKind.CODE, "\n".join(code))


def _is_rule(line: str) -> bool:
    return len(line) > 2 and _RULE.fullmatch(line) is not None


def _kind(line: str) -> PassageKind:
    if _HEADING.match(line) or _BOLD_LINE.fullmatch(line):
        return PassageKind.HEADING
    if line.lstrip().startswith("|") and line.count("|") > 1:
        return PassageKind.ROW
    if _LOG.match(line):
        return PassageKind.LOG
    if _ITEM.match(line):
        return PassageKind.ITEM
    if _TAG_LINE.fullmatch(line):
        return PassageKind.MARKUP
    return PassageKind.SENTENCE


def sentences(text: str) -> list[str]:
    """Return the sentences of a line; joined by spaces they are it."""
    found: list[str] = []
    for part in _SENTENCE_END.split(text):
        # "so... " and "OK." are no sentences of their own.
        if found and len(found[-1]) < 20:
            found[-1] = f"{found[-1]} {part}"
        elif part.strip():
            found.append(part)
    return found


def passages(turns: Sequence[SpokenTurn]) -> list[Passage]:
    """Take turns apart, in their order."""
    speakers = frozenset(turn.speaker for turn in turns if turn.speaker)
    found: list[Passage] = []
    for group in _utterances(turns):
        first, last = group[0], group[-1]
        if first == last:
            found += _of_turn(first, turns[first], speakers)
        else:
            text = " ".join(_unaddressed(turns[i].text, speakers) for i in group)
            role = turns[first].role
            found.append(Passage(first, role, PassageKind.SENTENCE, one_line(text), last))
    return found


def _utterances(turns: Sequence[SpokenTurn]) -> Iterator[list[int]]:
    """Yield the indexes of turns that belong together: lines that one speaker sent in a row."""
    group: list[int] = []
    length = 0
    for index, turn in enumerate(turns):
        size = len(turn.text)
        fits = (
            group
            and size <= FRAGMENT_LENGTH
            and len(turns[group[-1]].text) <= FRAGMENT_LENGTH
            and length + size <= UTTERANCE_LENGTH
            and (turn.role, turn.speaker) == (turns[group[-1]].role, turns[group[-1]].speaker)
            and turn.speaker
            and "\n" not in turn.text
            and not turns[group[-1]].text.rstrip().endswith((".", "!", "?", ":", "]", ">"))
        )
        if group and not fits:
            yield group
            group, length = [], 0
        group.append(index)
        length += size
    if group:
        yield group


def _of_turn(index: int, turn: SpokenTurn, speakers: frozenset[str]) -> Iterator[Passage]:
    text = _worth_reading(turn.text)
    pieces = [piece for block in blocks(text) for piece in _of_block(block, speakers)]
    for place, (kind, text) in enumerate(pieces):
        yield Passage(index, turn.role, kind, text, index, place, place == len(pieces) - 1)


def _worth_reading(text: str) -> str:
    """Return what is read of a turn: of a very long one, which is pasted, beginning and end."""
    if len(text) <= READ_LENGTH:
        return text
    return f"{text[: READ_LENGTH * 2 // 3]}\n\n{text[-READ_LENGTH // 3 :]}"


def _of_block(block: Block, speakers: frozenset[str]) -> Iterator[tuple[PassageKind, str]]:
    if block.kind is PassageKind.CODE:
        yield block.kind, block.text
        return
    text = _plain(block, speakers)
    if not text:
        return
    long_item = block.kind is PassageKind.ITEM and len(text) > SENTENCE_LENGTH
    if block.kind is PassageKind.SENTENCE or long_item:
        for sentence in sentences(text):
            yield block.kind, sentence
    else:
        yield block.kind, text


def _plain(block: Block, speakers: frozenset[str]) -> str:
    text = block.text
    if _RULE.fullmatch(text):
        return ""
    if block.kind is PassageKind.ITEM:
        text = _ITEM.sub("", text, count=1)
    elif text.lstrip().startswith("|"):
        text = " \u2014 ".join(cell.strip() for cell in text.strip().strip("|").split("|"))
    elif block.kind is PassageKind.HEADING:
        text = text.lstrip(" #")
    return one_line(_unaddressed(text, speakers))


def _unaddressed(text: str, speakers: frozenset[str]) -> str:
    """Leave out whom a line of a chat is addressed to: "ann: because ..."."""
    addressed = _ADDRESSED.match(text)
    return addressed.group(2) if addressed and addressed.group(1) in speakers else text
