"""Rule documents in free markdown: agents' instructions, editors' rules, style guides.

Bullets, sentences and the rows of some tables are judged by their words (`wording`) and by what
stands round them (`shapes`). What `export` writes is read back word for word.
"""

import re

from kmem_desktop.domain.rules import RuleFormat, Severity
from kmem_desktop.rules.documents import code, shapes, tables
from kmem_desktop.rules.documents.blocks import LONGEST_READ, Block, Kind, clean, is_link_only
from kmem_desktop.rules.documents.draft import DocumentDraft, Draft
from kmem_desktop.rules.documents.facts import (
    fact,
    heading_name,
    section_path,
)
from kmem_desktop.rules.documents.front_matter import plain_key
from kmem_desktop.rules.documents.shapes import (
    Frame,
    balanced,
    bare_heading,
    frame_of_heading,
    frame_of_lead,
    is_ignored,
    is_procedure,
    joined,
)
from kmem_desktop.rules.documents.wording import (
    emoji,
    is_imperative,
    marker,
    points_back,
    prohibits,
    sentences,
    severity_of_item,
    severity_of_sentence,
)

_EXACT = re.compile(r"\*\*(MUST|SHOULD|MAY)( NOT)?\*\* (.*)", re.DOTALL)
_SHORT_PARAGRAPH = 320
_DESCRIBING = (RuleFormat.CLAUDE, RuleFormat.AGENTS, RuleFormat.MARKDOWN)


class GuideReader:
    """Reads the blocks of a document in free markdown into a draft."""

    def __init__(self, document: DocumentDraft, *, has_title: bool) -> None:
        """Read into this draft; `has_title` says whether the first heading names the document."""
        self._document = document
        self._notes = document.notes
        self._has_title = has_title
        self._headings: list[tuple[int, str]] = []
        self._frame = Frame()
        self._section_severity: Severity | None = None
        self._current: Draft | None = None
        self._adjacent: Draft | None = None
        self._label: bool | None = None

    def read(self, roots: list[Block]) -> None:
        """Read all blocks."""
        self._siblings(roots, self._frame)

    @property
    def _names(self) -> list[str]:
        return [name for _, name in self._headings]

    def _siblings(self, blocks: list[Block], frame: Frame) -> None:
        lead: Frame | None = None
        for place, block in enumerate(blocks):
            following = blocks[place + 1] if place + 1 < len(blocks) else None
            if block.kind is Kind.HEADING:
                self._heading(block)
                frame, lead = self._frame, None
            elif block.kind is Kind.PARAGRAPH:
                lead = self._paragraph(block, following)
            elif block.kind is Kind.LIST:
                self._list(block, lead or frame)
                self._settle(lead)
                lead = None
            else:
                self._other(block, frame)

    def _other(self, block: Block, frame: Frame) -> None:
        if block.kind is Kind.CODE:
            self._code(block, frame)
        elif block.kind is Kind.QUOTE:
            self._quote(block, frame)
        elif block.kind is Kind.TABLE:
            found = [] if is_ignored(self._names) else tables.directives(block, self._section())
            self._document.directives += found
            if not found:
                self._notes.skip(block.line, block.end, "a table")
        elif block.kind is Kind.ITEM:
            self._item(block, frame, is_ordered=False)
        else:
            self._notes.skip(block.line, block.end, str(block.kind).replace("html", "HTML"))

    def _section(self) -> str:
        return section_path(self._names)

    def _heading(self, block: Block) -> None:
        name = heading_name(block.text)
        self._current = self._adjacent = self._label = self._section_severity = None
        if block.level == 1 and self._has_title:
            self._headings = []
        else:
            self._headings = [each for each in self._headings if each[0] < block.level]
            self._headings.append((block.level, name))
        self._frame = frame_of_heading(name)

    # Directives

    def _new(self, text: str, severity: Severity, line: int, *, is_not: bool = False) -> Draft:
        draft = Draft(text, severity, self._section(), line, is_not=is_not)
        self._document.directives.append(draft)
        self._current = self._adjacent = draft
        self._label = None
        return draft

    def _instruction(self, text: str, line: int, frame: Frame, *, is_step: bool) -> Draft | None:
        """Return the directive that an item or a line is, if it is one."""
        is_good, text = emoji(text)
        found = marker(text)
        if found and found.text.strip():
            if found.severity is Severity.MUST and text.startswith("**IMPORTANT"):
                return self._plain_instruction(found.text, line, frame, is_step=is_step)
            return self._new(found.text, found.severity, line, is_not=found.prohibits)
        if is_good is not None and not frame.is_exact:
            frame = Frame(is_good, severity=frame.severity)
        return self._plain_instruction(text, line, frame, is_step=is_step)

    def _plain_instruction(
        self, text: str, line: int, frame: Frame, *, is_step: bool
    ) -> Draft | None:
        level = severity_of_item(text)
        if frame.is_exact or (frame.is_good is False and not is_imperative(text)):
            if shapes.is_too_little(text):
                return None
            stated = prohibits(text)
            given = (frame.severity, level) if frame.is_exact else (level, frame.severity)
            severity = given[0] or given[1] or Severity.SHOULD
            words = f"{frame.lead} {text}" if frame.lead else text
            is_not = frame.is_good is False and not stated and not frame.lead
            return self._new(words, self._section_severity or severity, line, is_not=is_not)
        if level is None or shapes.is_too_little(text) or shapes.is_boilerplate(text):
            return None
        is_weak = (is_step or self._describes(text)) and level is not Severity.MUST
        if is_weak and not prohibits(text):
            return None
        return self._new(text, self._section_severity or frame.severity or level, line)

    def _describes(self, text: str) -> bool:
        """Return whether a text says what a file or command is, as instructions for agents do."""
        return self._document.format in _DESCRIBING and shapes.has_code_label(text)

    def _is_procedure(self) -> bool:
        """Return whether steps stand here; rules for an editor are rules under any heading."""
        return self._document.format in _DESCRIBING and is_procedure(self._names)

    def _settle(self, lead: Frame | None) -> None:
        """End the list that belongs to an instruction."""
        if (
            lead is None
            or lead.owner is None
            or not lead.owner.text.rstrip("*_ ").endswith((":", "\uff1a"))
        ):
            return
        if not joined(lead.owner, lead.fragments):
            self._document.directives.remove(lead.owner)
            self._notes.skip(lead.owner.line, lead.owner.line, "the introduction of a list")
            if self._current is lead.owner:
                self._current = self._adjacent = None

    # Lists

    def _list(self, block: Block, frame: Frame) -> None:
        for item in block.children:
            self._item(item, frame, is_ordered=block.is_ordered)
        self._adjacent = None

    def _item(self, item: Block, frame: Frame, *, is_ordered: bool) -> None:
        if not item.children or item.children[0].kind is not Kind.PARAGRAPH:
            self._siblings(item.children, frame)
            return
        own, below = item.children[0], item.children[1:]
        if exact := _EXACT.fullmatch(own.text):
            self._exact(exact, own.line, below)
        elif not self._stated(own):
            self._judged(own, below, frame, is_ordered=is_ordered)
        else:
            self._siblings(below, Frame())

    def _stated(self, own: Block) -> bool:
        """Return whether an item is a fact, a condition or a severity, and take it in."""
        part = plain_key(self._headings[0][1]) if len(self._headings) == 1 else ""
        if part == "whentoapply":
            self._document.condition(own.text, own.line)
            return True
        known = fact(own.text) if part == "metadata" else None
        if known:
            self._document.learn(*known, own.line)
            return True
        level = shapes.labelled_severity(own.text)
        if level is None or not self._headings:
            return False
        name = bare_heading(self._names[-1])
        draft = self._new(shapes.asked_for(name), level, own.line)
        draft.section = section_path(self._names[:-1])
        self._section_severity = level
        return True

    def _judged(self, own: Block, below: list[Block], frame: Frame, *, is_ordered: bool) -> None:
        text = clean(own.text)
        if shapes.has_eastern_marks(own.text):
            self._eastern(own)
            self._siblings(below, Frame())
            return
        self._mind_length(own)
        if shapes.is_reason(text) and self._current is not None:
            self._current.rationale.append(shapes.reason(text))
            self._notes.understand(own.line, "A reason")
            self._siblings(below, Frame(owner=self._current))
            return
        draft: Draft | None = None
        is_known = is_link_only(own.text) or shapes.is_no_rule(text)
        is_known = is_known or (frame_of_lead(text) is not None and shapes.has_list(below))
        is_step = self._is_procedure() or (is_ordered and any(b.kind is Kind.CODE for b in below))
        if not is_known and not is_ignored(self._names):
            draft = self._instruction(text, own.line, frame, is_step=is_step)
        if draft is None:
            self._passed_over(text, own, frame)
        inner = self._inner_frame(text, draft, frame)
        self._siblings(below, inner)
        if draft is not None:
            self._settle(inner)

    def _inner_frame(self, text: str, draft: Draft | None, frame: Frame) -> Frame:
        """Return what an item says about the blocks inside of it."""
        if found := frame_of_lead(text):
            return found
        if draft is not None:
            return Frame(owner=draft)
        return Frame(frame.is_good, severity=frame.severity, owner=frame.owner)

    def _passed_over(self, text: str, own: Block, frame: Frame) -> None:
        owner = frame.owner
        if owner is not None and owner.text.rstrip("*_ ").endswith((":", "\uff1a")) and text:
            frame.fragments.append(text)
            self._notes.understand(own.line, f"Part of the rule on line {owner.line}")
        elif owner is not None and shapes.explains(text):
            owner.rationale.append(text)
            self._notes.understand(own.line, f"Explains the rule on line {owner.line}")
        else:
            what = "links" if is_link_only(own.text) else "items without an instruction"
            self._notes.skip(own.line, own.end, what)

    def _exact(self, match: re.Match[str], line: int, below: list[Block]) -> None:
        """Read a directive as `export` writes it: `**MUST NOT** text`, parts in a list below."""
        draft = self._new(match[3], Severity(match[1]), line, is_not=bool(match[2]))
        for block in below:
            for item in block.children if block.kind is Kind.LIST else ():
                if shapes.take_part(draft, item):
                    self._notes.understand(item.line, f"Part of the rule on line {line}")
                else:
                    self._item(item, Frame(owner=draft), is_ordered=False)
            if block.kind is not Kind.LIST:
                self._siblings([block], Frame(owner=draft))

    # Paragraphs

    def _paragraph(self, block: Block, following: Block | None) -> Frame | None:
        """Read a paragraph; return what it says about a list that follows."""
        text = clean(block.text)
        adjacent, self._adjacent = self._adjacent, None
        if not text:
            self._notes.skip(block.line, block.end, "HTML")
            return None
        if shapes.has_eastern_marks(block.text):
            self._eastern(block)
            return None
        is_good = code.labels(text)
        follows_code = following is not None and following.kind is Kind.CODE
        if is_good is not None and follows_code:
            self._label, self._adjacent = is_good, adjacent
            self._notes.understand(block.line, "Introduces an example")
            return None
        if shapes.is_reason(text) and self._current is not None:
            self._current.rationale.append(shapes.reason(text))
            self._notes.understand(block.line, "A reason")
            return None
        if is_ignored(self._names):
            self._notes.skip(block.line, block.end, "prose")
            return None
        return self._prose(block, text, following)

    def _mind_length(self, block: Block) -> None:
        if len(block.text) > LONGEST_READ:
            self._notes.warn(
                block.line, f"Only the first {LONGEST_READ:,} characters of the paragraph are read"
            )

    def _prose(self, block: Block, text: str, following: Block | None) -> Frame | None:
        is_before_list = following is not None and following.kind is Kind.LIST
        if is_before_list and (text.rstrip("*_ ").endswith((":", "\uff1a")) or frame_of_lead(text)):
            return self._lead(block, text)
        lines = block.text.split("\n")
        if shapes.is_list_like(lines):
            for number, line in enumerate(lines, start=block.line):
                words = clean(line)
                if self._instruction(words, number, Frame(), is_step=False) is None:
                    self._notes.skip(number, number, "prose")
            return None
        self._mind_length(block)
        is_marked = marker(emoji(text)[1]) is not None or shapes.has_bold_label(text)
        is_signed = emoji(text)[0] is not None
        if shapes.is_no_rule(text):
            self._notes.skip(block.line, block.end, "prose")
            return None
        if is_marked or is_signed:
            if self._instruction(text, block.line, Frame(), is_step=False) is None:
                self._notes.skip(block.line, block.end, "prose")
            return None
        self._sentences(block, text, following)
        return None

    def _lead(self, block: Block, text: str) -> Frame | None:
        """Read a line that leads to a list."""
        if found := frame_of_lead(text):
            self._notes.understand(block.line, "Introduces a list")
            return found
        # Only the last sentence leads to the list; those before are prose.
        parts = sentences(text)
        if len(parts) > 1:
            self._sentences(block, " ".join(parts[:-1]), None)
        last = parts[-1] if parts else text
        is_step = self._is_procedure()
        draft = self._instruction(last, block.end, Frame(), is_step=is_step)
        if draft is None:
            if len(parts) < 2:
                self._notes.skip(block.line, block.end, "the introduction of a list")
            return None
        return Frame(owner=draft)

    def _sentences(self, block: Block, text: str, following: Block | None) -> None:
        """Take the sentences that instruct out of prose."""
        follows_code = following is not None and following.kind is Kind.CODE
        if (follows_code and shapes.leads_to_command(text)) or shapes.is_boilerplate(text):
            self._notes.skip(block.line, block.end, "prose")
            return
        parts = sentences(text)
        levels = [self._sentence_severity(part) for part in parts]
        found = [number for number, level in enumerate(levels) if level]
        if not found:
            self._notes.skip(block.line, block.end, "prose")
            return
        if found == [0] and len(text) <= _SHORT_PARAGRAPH and levels[0]:
            self._new(text.rstrip(":"), self._section_severity or levels[0], block.line)
            return
        draft: Draft | None = None
        for part, level in zip(parts, levels, strict=True):
            if level and draft is not None and points_back(part):
                draft.text += " " + part
            elif level:
                severity = self._section_severity or level
                draft = self._new(balanced(part.rstrip(":")), severity, shapes.line_of(block, part))
            elif draft is not None and shapes.explains(part):
                draft.rationale.append(part)

    def _sentence_severity(self, sentence: str) -> Severity | None:
        level = severity_of_sentence(sentence)
        if level is None or shapes.is_too_little(sentence) or shapes.is_boilerplate(sentence):
            return None
        is_weak = level is not Severity.MUST and not prohibits(sentence)
        if is_weak and is_imperative(sentence) and self._is_procedure():
            return None
        return level

    def _eastern(self, block: Block) -> None:
        """Read text with marks as 【强制】; reasons and examples have labels of their own."""
        self._mind_length(block)
        drafts = shapes.eastern_drafts(block, self._section())
        self._document.directives += drafts
        if drafts:
            self._current = self._adjacent = drafts[-1]

    def _quote(self, block: Block, frame: Frame) -> None:
        first = block.children[0] if block.children else None
        if (
            first
            and first.kind is Kind.PARAGRAPH
            and shapes.is_reason(first.text)
            and self._current
        ):
            texts = [clean(child.text) for child in block.children if child.kind is Kind.PARAGRAPH]
            self._current.rationale.append(shapes.reason(" ".join(texts)))
            self._notes.understand(block.line, "A reason")
        else:
            self._siblings(block.children, Frame(owner=frame.owner))

    def _code(self, block: Block, frame: Frame) -> None:
        if not block.is_closed:
            self._notes.warn(
                block.line, "The code that begins here never ends: nothing below is read"
            )
        owner = self._adjacent or self._current or frame.owner
        label, self._label = self._label, None
        is_shown = False
        for part in code.parts(block.text):
            if part.instruction and part.is_good is not None and not is_ignored(self._names):
                frame = Frame(part.is_good)
                line = block.line + 1 + part.line
                owner = self._instruction(part.instruction, line, frame, is_step=False) or owner
            is_good = label if part.is_good is None else part.is_good
            if (
                is_good is None
                and self._adjacent is not None
                and not prohibits(self._adjacent.text)
            ):
                is_good = True
            if owner is not None and is_good is not None:
                owner.show(part.code, block.language, is_good=is_good)
                is_shown = True
        if is_shown:
            self._notes.understand(block.line, "An example")
        else:
            self._notes.skip(block.line, block.end, "code")
