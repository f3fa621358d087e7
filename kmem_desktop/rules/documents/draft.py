"""A rule document while it is being read: its facts, its directives, and notes on each line."""

from dataclasses import dataclass, field
from itertools import groupby

from kmem_desktop.domain.rules import (
    CodeExample,
    Directive,
    Layer,
    ParseNote,
    RuleDocument,
    RuleFormat,
    RuleSection,
    Severity,
)
from kmem_desktop.rules.documents.facts import (
    LONGEST_TEXT,
    code_example,
    condition_text,
    directive_text,
    layer_named,
    names_listed,
    rationale_text,
)
from kmem_desktop.rules.documents.front_matter import split_list
from kmem_desktop.rules.documents.wording import prohibits
from kmem_desktop.text import one_line

MOST_NOTES = 300
"""Notes on a document past this number are counted only."""

_LONGEST_QUOTE = 60


@dataclass(slots=True)
class Draft:
    """A directive while its parts are being collected.

    Attributes:
        text: The instruction; set right by `finished`.
        severity: How binding.
        section: Path of the headings that it stands under.
        line: Its line, from 1.
        is_not: Whether a mark before the text forbids what the text says.
        rationale: Why, in parts.
        examples: What is right.
        anti_patterns: What is wrong.
        topics: Topics of its own; None for those of the document.
        layer: A layer of its own; None for that of the document.
        when: Conditions of its own.
    """

    text: str
    severity: Severity
    section: str
    line: int
    is_not: bool = False
    rationale: list[str] = field(default_factory=list)
    examples: list[CodeExample] = field(default_factory=list)
    anti_patterns: list[CodeExample] = field(default_factory=list)
    topics: tuple[str, ...] | None = None
    layer: Layer | None = None
    when: list[str] = field(default_factory=list)

    def show(self, code: str, language: str = "", *, is_good: bool) -> None:
        """Add an example of what is right or wrong."""
        example = code_example(code, language)
        if example.code.strip():
            (self.examples if is_good else self.anti_patterns).append(example)

    def finished(self, document: "DocumentDraft") -> Directive:
        """Return the directive."""
        text = directive_text(self.text)
        return Directive(
            text=text,
            severity=self.severity,
            section=self.section,
            line=self.line,
            prohibits=self.is_not or prohibits(text),
            rationale=rationale_text(" ".join(self.rationale)),
            examples=tuple(self.examples),
            anti_patterns=tuple(self.anti_patterns),
            topics=document.topics if self.topics is None else self.topics,
            layer=document.layer if self.layer is None else self.layer,
            when_to_apply=tuple(filter(None, map(condition_text, self.when))),
        )


class Notes:
    """What was understood of each line and what was passed over, kept to a bounded number."""

    def __init__(self) -> None:
        """Start without a note."""
        self._warnings: list[ParseNote] = []
        self._understood: list[ParseNote] = []
        self._skipped: dict[int, tuple[int, str]] = {}

    def warn(self, line: int, message: str) -> None:
        """Note what looks like a rule and could not be understood; line 0 is the whole document."""
        self._warnings.append(ParseNote(line, message, is_warning=True))

    def understand(self, line: int, message: str) -> None:
        """Note what a line was taken for."""
        self._understood.append(ParseNote(line, message))

    def skip(self, line: int, end: int, what: str) -> None:
        """Note lines that hold no instruction, and what they hold instead."""
        self._skipped.setdefault(line, (max(line, end), what))

    @property
    def noted(self) -> list[tuple[int, int]]:
        """First and last line of each run that is known to be passed over."""
        return [(line, end) for line, (end, _) in self._skipped.items()]

    def finished(self, directives: tuple[Directive, ...]) -> tuple[ParseNote, ...]:
        """Return the notes by line; of too many those that matter least are only counted."""
        read = [
            ParseNote(each.line, f"Read as {label(each.severity, is_not=each.prohibits)}")
            for each in directives
        ]
        kept: list[ParseNote] = []
        left = 0
        for group in (self._warnings, self._understood, self._runs(directives), read):
            room = MOST_NOTES - len(kept)
            kept += group[:room]
            left += len(group) - len(group[:room])
        kept.sort(key=lambda note: note.line)
        if left:
            kept.append(ParseNote(0, f"{left} more notes are not shown"))
        return tuple(kept)

    def _runs(self, directives: tuple[Directive, ...]) -> list[ParseNote]:
        """Put lines that were passed over one after another together into one note."""
        events = [(line, end, what) for line, (end, what) in self._skipped.items()]
        events += [(each.line, each.line, "") for each in directives]
        events.sort(key=lambda event: (event[0], event[2] != ""))
        notes = []
        for is_skipped, group in groupby(events, key=lambda event: event[2] != ""):
            if not is_skipped:
                continue
            run = list(group)
            first, last = run[0][0], max(event[1] for event in run)
            what = ", ".join(dict.fromkeys(event[2] for event in run))
            where = "Passed over" if last == first else f"Passed over up to line {last}"
            notes.append(ParseNote(first, f"{where}: {what}"))
        return notes


@dataclass(slots=True)
class DocumentDraft:
    """A rule document while it is being read; the attributes are those of `RuleDocument`."""

    path: str
    format: RuleFormat
    name: str = ""
    layer: Layer = Layer.ANY
    description: str = ""
    authoritative_for: tuple[str, ...] = ()
    topics: tuple[str, ...] = ()
    when: list[str] = field(default_factory=list)
    globs: tuple[str, ...] = ()
    always_apply: bool = False
    sections: tuple[RuleSection, ...] = ()
    directives: list[Draft] = field(default_factory=list)
    notes: Notes = field(default_factory=Notes)

    def learn(self, key: str, value: str, line: int) -> None:
        """Take in a fact as `facts.fact` gives it."""
        self.notes.understand(line, f"Fact of the document: {key.replace('_', ' ')}")
        if key == "layer":
            layer = layer_named(value)
            if layer is None:
                self.notes.warn(line, f"Unknown layer {quote(value)}: taken for every layer")
            self.layer = layer or Layer.ANY
        elif key == "description":
            self.description = one_line(value)
        elif key == "always_apply":
            self.always_apply = value.casefold() in ("true", "yes")
        elif key == "globs":
            self.globs = split_list(value)
        else:
            if value.startswith("[") and not value.endswith("]"):
                self.notes.warn(line, f"The list {quote(value)} has no closing bracket")
            names = names_listed(value)
            if key == "topics":
                self.topics = names
            else:
                self.authoritative_for = names

    def condition(self, text: str, line: int) -> None:
        """Take in a condition under which the document applies."""
        condition = condition_text(text)
        if condition and condition not in self.when:
            self.when.append(condition)
            self.notes.understand(line, "When to apply")

    def finished(self) -> RuleDocument:
        """Return the document as it was understood."""
        drafts = []
        for draft in sorted(self.directives, key=lambda each: each.line):
            if not directive_text(draft.text):
                self.notes.warn(draft.line, "A severity without a text")
                continue
            if len(one_line(draft.text)) > LONGEST_TEXT:
                self.notes.warn(draft.line, f"The text was cut to {LONGEST_TEXT} characters")
            drafts.append(draft)
        directives = tuple(draft.finished(self) for draft in drafts)
        return RuleDocument(
            name=self.name,
            path=self.path,
            format=self.format,
            layer=self.layer,
            description=self.description,
            authoritative_for=self.authoritative_for,
            topics=self.topics,
            when_to_apply=tuple(self.when),
            globs=self.globs,
            always_apply=self.always_apply,
            sections=self.sections,
            directives=directives,
            notes=self.notes.finished(directives),
        )


def label(severity: Severity, *, is_not: bool) -> str:
    """Return the words of a severity: `MUST NOT` for one that forbids."""
    return f"{severity} NOT" if is_not else str(severity)


def quote(text: str) -> str:
    """Return the start of a text as it may stand in a note: no control characters, not long."""
    shown = "".join(each if each.isprintable() else " " for each in text[:_LONGEST_QUOTE])
    return f'"{one_line(shown)}{"…" if len(text) > _LONGEST_QUOTE else ""}"'
