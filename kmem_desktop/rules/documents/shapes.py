"""The shapes of what is written in guides, and what headings and leads say about a list.

Reasons, labels, severities, lines that are a list; `Don't:` and `A service must:` before a list.
"""

import re
from dataclasses import dataclass, field

from kmem_desktop.domain.rules import Severity
from kmem_desktop.rules.documents import eastern
from kmem_desktop.rules.documents.blocks import LONGEST_READ, Block, Kind, clean, without_tags
from kmem_desktop.rules.documents.draft import Draft
from kmem_desktop.rules.documents.facts import labelled, layer_named, names_listed
from kmem_desktop.rules.documents.wording import emoji, plain, sentences

_REASON = re.compile(
    r"^\W*(?:why\b(?: (?:it|this) matters)?|rationale|reason(?:ing)?s?|benefits?|because)\b"
    r"\W{0,4}(?=\s|$|[:?])[\s:?*]*",
    re.IGNORECASE,
)
_NO_RULE_LABELS = frozenset(
    ("detection", "cwv", "wcag", "severity", "status", "impact", "output", "input", "purpose")
) | {"bestfor"}
# What a severity means is explained: "**CRITICAL** - users cannot go on".
_LEGEND = re.compile(r"\*\*[A-Z]{3,12}\*\*\s+[\u2014\u2013-]\s")
_CODE_LABEL = re.compile(r"^[*_]*`[^`]*`[*_]*\s*(?:\([^()]*\)\s*)?(?:[-:\u2013\u2014]|$)")
_BOLD_LABEL = re.compile(r"^(?:\*\*|__)[^*_\n]{1,60}(?::(?:\*\*|__)|(?:\*\*|__):)\s")
_BOILERPLATE = re.compile(r"RFC ?2119|\bkey ?words\b.{1,200}\binterpret", re.IGNORECASE)
_RUN_THIS = re.compile(
    r"^(?:to\b.*,\s*(?:you can )?\w+"
    r"|.*\b(?:run|execute|use|by running)\b.{0,40}\b(?:command|script|steps)s?\b.*):$",
    re.IGNORECASE,
)
_EXPLANATION = re.compile(
    r"^\W*(?:because|otherwise|so that|since|this|that|it|these|prevents?|ensures?|helps?|allows?"
    r"|makes?|avoids)\b",
    re.IGNORECASE,
)
_LINE_START = re.compile(r"^\s*(?:\*\*|[A-Z`\"'(\u3040-\u9fff]|\d+[.)]\s|[\u2705\u274c\u26a0])")
_LINE_END = re.compile(r"[.!:;)\u3002\uff01\uff1a]\**\s*$")
_EASTERN_NUMBER = re.compile(r"^\s*\d{1,3}\s*[)\uff09.\u3001]\s*")
_SEVERITY_LABEL = re.compile(
    r"^\W*(?:severity|priority|level|importance)\W*[:\uff1a]\W*([A-Za-z]+)\W*$", re.IGNORECASE
)
_SEVERITIES = {
    Severity.MUST: "critical blocker error must required mandatory",
    Severity.SHOULD: "important high major warning medium should",
    Severity.MAY: "suggestion low minor info optional may nice",
}
_ASKS = re.compile(
    r"(?:use|always|never|ensure|do|don'?t|prefer|avoid|keep|provide|validate|require|enforce|make"
    r"|add|must)\b",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"^(?:\d+(?:\.\d+)*\.?|[A-Z]{1,3}\d+:?)\s+")
_IGNORED = re.compile(
    r"(?:table of )?contents|toc|references?|resources|(?:additional|external|useful)"
    r" (?:resources|links|"
    r"references)|further (?:reading|information)|see also|(?:related )?(?:links|articles"
    r"|documents|cheat "
    r"sheets)|licen[cs]e|licensing|acknowledg\w*|change ?log|release notes|credits|glossary|"
    r"bibliography|authors?(?: and .*)?|contributors|history|(?:code |usage |other"
    r" )?examples?|example usage|"
    r"support|contact|tools(?: and libraries)?|definitions?|参考文献|目次",
    re.IGNORECASE,
)
_PROCEDURE = re.compile(
    r"\b(?:set ?up|setting up|install(?:ation|ing)?|getting started|quick ?start|running"
    r"|how to|commands?|"
    r"common (?:development )?tasks|tutorial|walkthrough|steps|building|debugging"
    r"|prerequisites|add(?:ing)? (?:an? )?\w+|"
    r"clone|create a virtual|development server)\b",
    re.IGNORECASE,
)
_NEVER = re.compile(
    r"(?:never|must not|you must not|forbidden|prohibited|not allowed|禁止(?:事项)?|never do(?:"
    r" this)?)",
    re.IGNORECASE,
)
_DONT = re.compile(
    r"(?:do ?n[o']?ts?|don't do(?: this)?|do not(?: do)?|dont'?s|avoid(?: these| this)?"
    r"|bad(?: practices)?|"
    r"what not to do|should not|you should not)",
    re.IGNORECASE,
)
_TO_AVOID = re.compile(
    r"(?:.{0,40}\bto avoid|(?:common )?anti-?patterns?(?: to avoid)?|(?:common )?mistakes|避免)",
    re.IGNORECASE,
)
_DO = re.compile(
    r"(?:do'?s?|do this|always(?: do)?(?: this)?|must|you must|should|required|recommended"
    r"|best practices)",
    re.IGNORECASE,
)
_MODAL_END = re.compile(
    r"\b(must|shall|should|may)( not| never)?(?: also)?\s*[:\uff1a]$", re.IGNORECASE
)
_VAGUE = re.compile(
    r"\b(?:follow(?:ing|s)|below|these|this|such as|includ(?:e|es|ing)|as shown|here|ways"
    r"|options|when|where|"
    r"means|that)\b",
    re.IGNORECASE,
)
_FEWEST_WORDS = 4
_LONGEST_LEAD = 120


def is_reason(text: str) -> bool:
    """Return whether a text says why, as `Why: it is slow`."""
    match = _REASON.match(text)
    return bool(match and (re.search("[:?*]", match[0]) or text[:7].casefold() == "because"))


def reason(text: str) -> str:
    """Return a reason without its label."""
    return _REASON.sub("", text)


def explains(text: str) -> bool:
    """Return whether a text goes on to explain what was said before."""
    return bool(_EXPLANATION.match(text))


def is_no_rule(text: str) -> bool:
    """Return whether a label says that its text is no rule, as `Detection: ...`."""
    label = labelled(text)
    return bool(_LEGEND.match(text)) or (label is not None and label[0] in _NO_RULE_LABELS)


def is_boilerplate(text: str) -> bool:
    """Return whether a text only says how words like MUST are meant."""
    return bool(_BOILERPLATE.search(text))


def has_bold_label(text: str) -> bool:
    """Return whether a text begins with a label in bold type."""
    return bool(_BOLD_LABEL.match(text))


def has_code_label(text: str) -> bool:
    """Return whether a text says what a file or a command is."""
    return bool(_CODE_LABEL.match(text))


def leads_to_command(text: str) -> bool:
    """Return whether a text says which command to run for what."""
    return bool(_RUN_THIS.match(text))


def is_too_little(text: str) -> bool:
    """Return whether a text is too short to be an instruction."""
    return len(text.strip("*_`.:; ")) < 4


def has_list(blocks: list[Block]) -> bool:
    """Return whether the blocks begin with a list."""
    return bool(blocks) and blocks[0].kind is Kind.LIST


def is_list_like(lines: list[str]) -> bool:
    """Return whether each line of a paragraph is an instruction of its own, not wrapped prose."""
    if len(lines) < 2 or not all(_LINE_START.match(line) for line in lines):
        return False
    return len(lines) > 2 or all(_LINE_END.search(line) for line in lines)


def labelled_severity(text: str) -> Severity | None:
    """Return the severity of an item as `**Severity**: CRITICAL`."""
    match = _SEVERITY_LABEL.match(text)
    word = match[1].casefold() if match else ""
    return next((level for level, words in _SEVERITIES.items() if word in words.split()), None)


def asked_for(heading: str) -> str:
    """Return what a heading with a severity asks for; mostly it names what to avoid."""
    return heading if _ASKS.match(heading) else f"Avoid: {heading}"


def line_of(block: Block, sentence: str) -> int:
    """Return the line of a paragraph on which a sentence begins."""
    start = " ".join(sentence.split()[:3]).strip("*_`[]")
    lines = block.text[:LONGEST_READ].split("\n")
    for number, line in enumerate(lines, start=block.line):
        if start and start in " ".join(clean(line).split()):
            return number
    return block.line


def has_eastern_marks(text: str) -> bool:
    """Return whether a line of a text begins with a mark as 【强制】."""
    if "【" not in text:
        return False
    lines = without_tags(text).split("\n")
    return any(eastern.mark(_EASTERN_NUMBER.sub("", line).strip()) for line in lines)


def eastern_drafts(block: Block, section: str) -> list[Draft]:
    """Return the directives of a text with marks as 【强制】, with their reasons and examples."""
    drafts: list[Draft] = []
    lines = without_tags(block.text).split("\n")
    for number, line in enumerate(lines, start=block.line):
        words = _EASTERN_NUMBER.sub("", line).strip()
        found = eastern.mark(words)
        parts = eastern.labelled_parts(found[1] if found else words)
        if found:
            drafts.append(Draft(parts.pop(0)[1], found[0], section, min(number, block.end)))
        if drafts:
            for label, value in parts:
                _take_eastern_part(drafts[-1], label, value)
    return drafts


def _take_eastern_part(draft: Draft, label: str, value: str) -> None:
    if not value:
        return
    if label in eastern.RATIONALE_LABELS:
        draft.rationale.append(value)
    elif label in eastern.EXAMPLE_LABELS:
        draft.show(value, is_good=True)
    elif label in eastern.ANTI_PATTERN_LABELS:
        draft.show(value, is_good=False)
    elif not draft.rationale:
        draft.text += " " + value


def take_part(draft: Draft, item: Block) -> bool:
    """Take in a part of a directive as `export` writes it, `Why: ...`; say whether it is one."""
    own = item.children[0] if item.children else None
    label = labelled(own.text) if own is not None and own.kind is Kind.PARAGRAPH else None
    if label is None:
        return False
    name, value = label
    if name == "why":
        draft.rationale.append(value)
    elif name == "topics":
        draft.topics = names_listed(value)
    elif name == "layer":
        draft.layer = layer_named(value)
    elif name == "when":
        draft.when.append(value)
    elif name in ("example", "antipattern"):
        is_good = name == "example"
        draft.show(value, is_good=is_good)
        for block in item.children[1:]:
            draft.show(block.text, block.language, is_good=is_good)
    else:
        return False
    return True


@dataclass(slots=True)
class Frame:
    """What stands round a list.

    Attributes:
        is_good: True for things to do, False for things not to do, None when nothing says so.
        is_exact: Whether every item is one, whatever its words.
        severity: How binding they are; None when nothing says so.
        lead: The beginning of each item's sentence.
        owner: The directive that the list belongs to.
        fragments: Items that are no instruction of their own but part of the owner's.
    """

    is_good: bool | None = None
    is_exact: bool = False
    severity: Severity | None = None
    lead: str = ""
    owner: Draft | None = None
    fragments: list[str] = field(default_factory=list)


def bare_heading(name: str) -> str:
    """Return a heading without its number and its signs."""
    return _NUMBER.sub("", emoji(plain(name))[1]).strip(" :\uff1a*")


def is_ignored(names: list[str]) -> bool:
    """Return whether what stands under these headings is no rule, as a list of links."""
    return any(_IGNORED.fullmatch(bare_heading(name)) for name in names)


def is_procedure(names: list[str]) -> bool:
    """Return whether what stands under these headings are steps to get something done."""
    return any(_PROCEDURE.search(bare_heading(name)) for name in names[-2:])


def frame_of_heading(name: str) -> Frame:
    """Return what a heading says about the lists below it."""
    return _frame(bare_heading(name)) or Frame()


def frame_of_lead(text: str) -> Frame | None:
    """Return what the line before a list says about it; None when it says nothing of the kind."""
    is_good, rest = emoji(text)
    words = plain(rest)
    if found := _frame(words.strip(" :\uff1a.!")):
        return found
    if match := _MODAL_END.search(words):
        level = Severity.MUST
        if match[1].casefold() in ("should", "may"):
            level = Severity(match[1].upper())
        lead = words.rstrip(" :\uff1a") if len(words) <= _LONGEST_LEAD else ""
        return Frame(not match[2], is_exact=True, severity=level, lead=lead)
    if is_good is not None and words.endswith(":"):
        return Frame(is_good, is_exact=True)
    return None


def joined(draft: Draft, fragments: list[str]) -> bool:
    """Put the parts of an instruction that is spread over a list together.

    Returns:
        Whether the draft is an instruction by itself; one that only leads to others is none.
    """
    base = draft.text.rstrip(" :\uff1a*_")
    if fragments:
        draft.text = f"{balanced(base)}: {'; '.join(each.rstrip(' ;,') for each in fragments)}"
        return True
    *told, last = sentences(base) or [base]
    if _VAGUE.search(last) or len(base.split()) < _FEWEST_WORDS:
        draft.text = balanced(" ".join(told))
        return bool(told or draft.examples or draft.anti_patterns)
    draft.text = balanced(base)
    return True


def balanced(text: str) -> str:
    """Return a piece of a text without the half of a pair of `**` that it was cut through."""
    if text.count("**") % 2 == 0:
        return text
    if text.startswith("**"):
        return (
            text + "**" if "**" not in text[2:] and len(text) < _LONGEST_LEAD else text[2:].lstrip()
        )
    return text.removesuffix("**").rstrip() if text.endswith("**") else text


def _frame(words: str) -> Frame | None:
    if _NEVER.fullmatch(words):
        return Frame(is_good=False, is_exact=True, severity=Severity.MUST)
    if _DONT.fullmatch(words):
        return Frame(is_good=False, is_exact=True, severity=Severity.SHOULD)
    if _TO_AVOID.fullmatch(words):
        return Frame(is_good=False, severity=Severity.SHOULD)
    if _DO.fullmatch(words):
        first = words.casefold()
        level = (
            Severity.MUST if first.startswith(("always", "must", "you must", "required")) else None
        )
        return Frame(is_good=True, is_exact=first != "best practices", severity=level)
    return None
