"""Rule documents in seed 002's schema: `**[MUST]** text`, labels below for reason and examples.

References:
    Seed 002, "Rule Document Structure".
"""

import re

from kmem_desktop.domain.rules import Severity
from kmem_desktop.rules.documents.blocks import Block, Kind
from kmem_desktop.rules.documents.draft import DocumentDraft, Draft, quote
from kmem_desktop.rules.documents.facts import (
    fact,
    heading_name,
    layer_named,
    names_listed,
    section_path,
)
from kmem_desktop.rules.documents.front_matter import plain_key

_MARK = re.compile(r"\s*(?:\*\*|__)\s*\[\s*([A-Za-z][A-Za-z _]{0,30})\s*\]\s*(\*\*|__)?:?\s*(.*)")
_MARK_INSIDE = re.compile(r"\*\*\[\s*(?:MUST|SHOULD|MAY)(?: NOT)?\s*\]", re.IGNORECASE)
_LABEL = re.compile(
    r"\s*\*\*\s*(rationale|why|reason|examples?|anti-?[ _]?patterns?|when[ _]?to[ _]?apply"
    r"|topics?|layer)"
    r"\s*(?:\([^()]*\))?\s*(?::\s*\*\*|\*\*\s*:)\s*(.*)",
    re.IGNORECASE,
)
_BULLET_OF_EXPORT = re.compile(r"\*\*(?:MUST|SHOULD|MAY)(?: NOT)?\*\* ")
_HEADING_LIKE = re.compile(r"\s{0,3}#{1,6}[A-Za-z]")
_SEVERITIES = {
    "MUST": Severity.MUST,
    "SHALL": Severity.MUST,
    "REQUIRED": Severity.MUST,
    "SHOULD": Severity.SHOULD,
    "RECOMMENDED": Severity.SHOULD,
    "MAY": Severity.MAY,
    "OPTIONAL": Severity.MAY,
}
_FIELDS = {
    "rationale": "rationale",
    "why": "rationale",
    "reason": "rationale",
    "example": "example",
    "examples": "example",
    "antipattern": "anti_pattern",
    "antipatterns": "anti_pattern",
    "whentoapply": "when",
    "topic": "topics",
    "topics": "topics",
    "layer": "layer",
}


def is_seed_schema(roots: list[Block]) -> bool:
    """Return whether a document is written in the schema."""
    leaves = [block for root in roots for block in root.walk() if block.kind is Kind.PARAGRAPH]
    marked = sum(bool(_MARK.match(block.text)) for block in leaves)
    if not marked and any(_BULLET_OF_EXPORT.match(block.text) for block in leaves):
        return False
    names = {
        plain_key(root.text) for root in roots if root.kind is Kind.HEADING and root.level == 2
    }
    if "directives" in names and (marked or "metadata" in names):
        return True
    return bool(marked) and ("metadata" in names or 2 * marked >= len(leaves))


class SeedReader:
    """Reads the blocks of a document in the schema into a draft."""

    def __init__(self, document: DocumentDraft) -> None:
        """Read into this draft."""
        self._document = document
        self._notes = document.notes
        self._headings: list[tuple[int, str]] = []
        self._section = ""
        self._part = ""
        self._current: Draft | None = None
        self._field = ""
        self._seen: set[str] = set()

    def read(self, roots: list[Block]) -> None:
        """Read all blocks."""
        for block in roots:
            self._block(block)

    def _block(self, block: Block) -> None:
        if block.kind is Kind.HEADING:
            self._heading(block)
        elif block.kind is Kind.PARAGRAPH:
            self._paragraph(block)
        elif block.kind is Kind.CODE:
            self._code(block)
        elif block.kind in (Kind.TABLE, Kind.HTML):
            self._no_place_for_rules(block)
        else:
            for child in block.children:
                self._item(child) if child.kind is Kind.ITEM else self._block(child)

    def _heading(self, block: Block) -> None:
        self._current, self._field = None, ""
        name = heading_name(block.text)
        if block.level == 1:
            self._headings, self._part = [], ""
            if self._document.name:
                self._notes.warn(block.line, f"A second title: {quote(name)}")
            else:
                self._document.name = name
            return
        key = plain_key(name)
        if block.level == 2 and key in ("metadata", "whentoapply", "directives"):
            if key in self._seen:
                self._notes.warn(block.line, f'A second heading "{name}": both are read')
            self._seen.add(key)
            self._part, self._headings, self._section = key, [], ""
            return
        if block.level == 2:
            self._part = ""
        self._headings = [each for each in self._headings if each[0] < block.level]
        self._headings.append((block.level, name))
        self._section = section_path([each[1] for each in self._headings])

    def _item(self, item: Block) -> None:
        if not item.children or item.children[0].kind is not Kind.PARAGRAPH:
            for child in item.children:
                self._block(child)
            return
        own = item.children[0]
        known = fact(own.text) if self._part in ("metadata", "") and not self._current else None
        if known and not _MARK.match(own.text):
            self._document.learn(*known, own.line)
        elif self._part == "whentoapply" and not _MARK.match(own.text):
            self._document.condition(own.text, own.line)
        elif self._part == "metadata" and not _MARK.match(own.text):
            self._notes.warn(own.line, f"Not a fact that is known: {quote(own.text)}")
        else:
            self._paragraph(own)
        for child in item.children[1:]:
            self._block(child)

    def _paragraph(self, block: Block) -> None:
        """Read a paragraph line by line: marks need no empty line between them."""
        is_open = False
        for number, line in enumerate(block.text.split("\n"), start=block.line):
            if mark := _MARK.match(line):
                is_open = self._directive(mark, number)
            elif label := _LABEL.match(line):
                is_open = self._label(label, number)
            elif _MARK_INSIDE.search(line):
                self._notes.warn(number, f"A severity inside of a line is not read: {quote(line)}")
                is_open = False
            elif is_open or self._field in ("example", "anti_pattern", "rationale"):
                self._go_on(line)
                is_open = True
            elif _HEADING_LIKE.match(line):
                self._notes.warn(number, f"A heading needs a space behind its #: {quote(line)}")
            elif line.strip():
                self._notes.skip(number, number, "text without a severity")

    def _directive(self, mark: re.Match[str], number: int) -> bool:
        """Begin a directive; return whether the lines below go on with it."""
        words = mark[1].upper().replace("_", " ").split()
        severity = _SEVERITIES.get(words[0])
        is_not = words[1:] == ["NOT"]
        self._field = ""
        if severity is None or (len(words) > 1 and not is_not):
            self._current = None
            self._notes.warn(number, f"Unknown severity {quote(mark[1])}: left out")
            return False
        if not mark[1].isupper():
            self._notes.warn(number, f"The severity {quote(mark[1])} should be in capitals")
        if mark[2] is None:
            self._notes.warn(number, "The bold type of the severity is not closed")
        draft = Draft(mark[3], severity, self._section, number, is_not=is_not)
        self._current, self._field = draft, "text"
        self._document.directives.append(draft)
        return True

    def _label(self, label: re.Match[str], number: int) -> bool:
        """Begin a field of the current directive; return whether the lines below belong to it."""
        draft, value = self._current, label[2].strip()
        self._field = ""
        if draft is None:
            self._notes.warn(number, f"{quote(label[1])} without a directive")
            return False
        name = _FIELDS[plain_key(label[1])]
        if name == "topics":
            draft.topics = names_listed(value)
        elif name == "layer":
            draft.layer = layer_named(value)
            if draft.layer is None:
                self._notes.warn(number, f"Unknown layer {quote(value)}")
        elif name == "when":
            draft.when.append(value)
        else:
            self._field = name
            if value:
                self._go_on(value)
            return bool(self._field)
        return False

    def _go_on(self, line: str) -> None:
        """Add a line to the field that is being read."""
        draft = self._current
        if draft is None or not line.strip():
            return
        if self._field == "rationale":
            draft.rationale.append(line.strip())
        elif self._field in ("example", "anti_pattern"):
            draft.show(line.strip(), is_good=self._field == "example")
            self._field = ""
        else:
            draft.text += " " + line.strip()

    def _code(self, block: Block) -> None:
        if not block.is_closed:
            self._notes.warn(
                block.line, "The code that begins here never ends: nothing below is read"
            )
        if self._current is not None and self._field in ("example", "anti_pattern"):
            self._current.show(block.text, block.language, is_good=self._field == "example")
            self._notes.understand(block.line, f"Code: {self._field.replace('_', '-')}")
            self._field = ""
        else:
            self._notes.skip(block.line, block.end, "code")

    def _no_place_for_rules(self, block: Block) -> None:
        texts = [*block.text.split("\n"), *(" ".join(row.cells) for row in block.children)]
        if any(_MARK_INSIDE.search(text) for text in texts):
            self._notes.warn(block.line, f"A severity inside of a {block.kind} is not read")
        else:
            self._notes.skip(block.line, block.end, str(block.kind))
