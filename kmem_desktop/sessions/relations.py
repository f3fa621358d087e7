"""How two entries of a memory belong together: by likeness, and by what the later one says.

A relation that is wrong costs trust, one that is missing costs little: where the wording does not
tell, there is none, except that what names another entry refers to it.

References:
    Seed 004, "Automatic Relationship Detection".
"""

import re
from dataclasses import dataclass
from datetime import datetime

from kmem_desktop.domain.sessions.conversations import EntryRelation, FoundRelation
from kmem_desktop.sessions.words import content_words, identifiers

LEAST_SIMILARITY = 0.7

Found = tuple[EntryRelation, str, float]
"""A relation, the words it is seen by, and how sure they are."""


@dataclass(frozen=True, slots=True)
class RelatedEntry:
    """An entry as relations are found by it.

    Attributes:
        id: Its id.
        kind: Its type: decision, code, insight, question, ...
        title: Its title; empty for a turn.
        text: What it says.
        at: When it was said.
    """

    id: int
    kind: str
    title: str
    text: str
    at: datetime


# What is replaced stands behind these words, before these, or somewhere in the sentence.
_REPLACES = re.compile(
    r"\b(?:instead of|replac(?:e[sd]?|ing)|in place of|rather than|supersedes?"
    r"|(?:switch|mov|migrat)\w+ (?:away |back )?from|switch\w+ away|abandon(?:ed|s)?"
    r"|dropped|drops the|revers(?:es|ed|ing) (?:the|our|that)|no longer|not .{1,40} any ?more)\b",
    re.IGNORECASE,
)
_REPLACED = re.compile(
    r"\b(?:(?:was|were|is|are|been|gets?) (?:dropped|removed|reversed|replaced|superseded"
    r"|abandoned|deprecated)|no longer|used to|replaced by|superseded by"
    r"|not .{1,40} any ?more|deprecated)\b",
    re.IGNORECASE,
)
_CHANGED = re.compile(
    r"\b(?:changed our minds?|from now on|as of (?:today|now)|previously|formerly"
    r"|earlier decision|old (?:approach|plan|decision))\b",
    re.IGNORECASE,
)
_CONTRADICTS = re.compile(
    r"\b(?:contradict(?:s|ed|ing)? (?:the|our|what|that|this|it)\b|wrong|incorrect|not true"
    r"|isn't true|is false|does ?n[o']t (?:work|hold|help|apply)|do not (?:use|do)"
    r"|don't (?:use|do)|never use|must not|mustn't|disagree|on the contrary|fails? because"
    r"|mistaken|in fact (?:it|we|the) (?:is|does|are) ?n[o']t)\b",
    re.IGNORECASE,
)
_IMPLEMENTS = re.compile(
    r"\b(?:implement(?:ed|s|ation)|added support|built|shipped|wired|coded|done as decided"
    r"|as (?:decided|agreed|planned|specified)"
    r"|according to the (?:plan|decision|design|spec\w*)|put into (?:practice|code)"
    r"|now in (?:code|main|production)|landed)\b",
    re.IGNORECASE,
)
_BUILDS_ON = re.compile(
    r"\b(?:build(?:s|ing)? (?:up)?on|based on|on top of|extend(?:s|ed)?|in addition"
    r"|additionally|furthermore|follow(?:s|ing)?[- ]up|further to"
    r"|as well as (?:the|what|that)|next step|continu(?:es|ation)|besides (?:the|what|that)"
    r"|also (?:applies|needs|covers)|refine[sd]?|generalis\w+|generaliz\w+)\b",
    re.IGNORECASE,
)
_REFERENCES = re.compile(
    r"(?:(?:^|[,;:(.\u2014]\s*)see\b|\bsee also\b|\b(?:as (?:described|explained|noted|mentioned"
    r"|documented|discussed) (?:in"
    r"|above|before|there)|refer(?:s|red)? to|cf\.|mentioned in"
    r"|according to|per the|like in|same (?:\w+ )?as (?:in|the)|same pattern)\b)",
    re.IGNORECASE | re.MULTILINE,
)
_NEGATION = re.compile(
    r"\b(?:not(?! (?:just|only|least|yet))|never|cannot|disable[sd]?|forbidden|stop)\b|n't\b",
    re.IGNORECASE,
)
# Says no in other ways: two texts of which each says no may well agree.
_DENIAL = re.compile(
    rf"{_NEGATION.pattern}|\b(?:no|non|without|exclud\w+|avoid\w*|lack\w*|miss\w*)\b",
    re.IGNORECASE,
)
# What only may be so, or is asked for, has not happened.
_UNREAL = re.compile(
    r"\b(?:how|whether|if|would|could|should|might|to be|plans? to|planned to|want(?:s|ed)? to"
    r"|not|no \w+|nothing)\b(?:\W+\w+){0,4}\W*$",
    re.IGNORECASE,
)
_WINDOW = 60
"""In characters: what a word such as "replaces" is about stands that near to it."""
_NEAR_WORDS = 6
_SHARED = 2
_CHANGED_SHARED = 0.4
_CODE_KINDS = frozenset({"code", "solution"})
_PLAN_KINDS = frozenset({"decision", "rule", "guideline", "pattern", "insight"})
_OPPOSITES = (
    ("always", "never"),
    ("enable", "disable"),
    ("allow", "forbid"),
    ("increase", "decrease"),
    ("tabs", "spaces"),
    ("true", "false"),
    ("on", "off"),
    ("must", "must not"),
    ("accept", "reject"),
    ("synchronous", "asynchronous"),
)
_PARTS = re.compile(r"[_./:@-]+|(?<=[a-z])(?=[A-Z])")
_PART_END = re.compile(r"(?<=[.!?;:,])\s|\n")
_WEAK = 0.8
_SAME_WORDS = 0.4
_SAME_STATEMENT = 0.6
_SHORT = 14
_DENIED_WORDS = 3


def relation_between(
    one: RelatedEntry, other: RelatedEntry, similarity: float
) -> FoundRelation | None:
    """Return how the later of two entries relates to the earlier one; None for not at all.

    Args:
        one: An entry.
        other: Another; which is the later one is told by their times.
        similarity: The cosine of their vectors.
    """
    if similarity < LEAST_SIMILARITY or one.id == other.id:
        return None
    earlier, later = sorted((one, other), key=lambda entry: (entry.at, entry.id))
    found = _by_wording(earlier, later)
    if found is None:
        return None
    relation, words, weight = found
    strength = round(min(1.0, similarity) * weight, 3)
    return FoundRelation(later.id, earlier.id, relation, strength, words)


def _by_wording(earlier: RelatedEntry, later: RelatedEntry) -> Found | None:
    """Return the relation, the words it is seen by, and how sure they are: the first that fits."""
    if _same(earlier.text, later.text):
        return None  # a duplicate is no relation
    for find in (_supersedes, _contradicts, _implements, _builds_on):
        if found := find(earlier, later):
            return found
    if words := _opposite(earlier, later):
        return EntryRelation.CONTRADICTS, words, _WEAK
    if later.kind in _CODE_KINDS and earlier.kind == "decision":
        shared = identifiers(earlier.text) & identifiers(later.text)
        if shared:
            return EntryRelation.IMPLEMENTS, ", ".join(sorted(shared)[:5]), _WEAK
    if match := _REFERENCES.search(_whole(later)):
        return EntryRelation.REFERENCES, match.group(0), 1.0
    if names := _named(earlier, later):
        return EntryRelation.REFERENCES, names, _WEAK
    return None


def _same(one: str, other: str) -> bool:
    return " ".join(one.casefold().split()) == " ".join(other.casefold().split())


def _is_statement(entry: RelatedEntry) -> bool:
    return entry.kind != "question" and not entry.text.rstrip().endswith("?")


def _whole(entry: RelatedEntry) -> str:
    return f"{entry.title}\n{entry.text}"


def _things(text: str) -> frozenset[str]:
    """Return what a text speaks of: its words, and the parts of its names."""
    parts = " ".join(" ".join(_PARTS.split(name)) for name in identifiers(text))
    return content_words(text) | content_words(parts)


def _supersedes(earlier: RelatedEntry, later: RelatedEntry) -> Found | None:
    """Return whether what a later entry replaces is what the earlier one said."""
    if not _is_statement(earlier) or not _is_statement(later):
        return None
    text, said = _whole(later), _things(_whole(earlier))
    shared = said & _things(text)
    for shape, before, after in ((_REPLACES, False, True), (_REPLACED, True, False)):
        for match in shape.finditer(text):
            if _UNREAL.search(text[: match.start()][-_WINDOW:]):
                continue
            around = _near(text, match, before=before, after=after)
            if len(shared) >= _SHARED and said & _things(around):
                return EntryRelation.SUPERSEDES, match.group(0), 1.0
    changed = _CHANGED.search(text)
    if changed and len(shared) >= max(_SHARED, _CHANGED_SHARED * len(said)):
        return EntryRelation.SUPERSEDES, changed.group(0), 1.0
    return None


def _near(text: str, match: re.Match[str], *, before: bool, after: bool) -> str:
    """Return the few words beside a match, within its part of the sentence."""
    ahead = _PART_END.split(text[: match.start()])[-1].split()[-_NEAR_WORDS:]
    behind = _PART_END.split(text[match.end() :])[0].split()[:_NEAR_WORDS]
    return " ".join([*(ahead if before else ()), *(behind if after else ())])


def _contradicts(earlier: RelatedEntry, later: RelatedEntry) -> Found | None:
    """Return whether a later statement says that the earlier one is wrong.

    Two that call something wrong may well agree.
    """
    if not _is_statement(earlier) or not _is_statement(later):
        return None
    text = _whole(later)
    match = _CONTRADICTS.search(text)
    if match is None or _CONTRADICTS.search(_whole(earlier)) or "contradict" in earlier.text:
        return None
    if _UNREAL.search(text[: match.start()][-_WINDOW:]):
        return None
    shared = _things(text) & _things(_whole(earlier))
    return (EntryRelation.CONTRADICTS, match.group(0), 1.0) if len(shared) >= _SHARED else None


def _implements(earlier: RelatedEntry, later: RelatedEntry) -> Found | None:
    """Return whether a later entry tells that something was done which the earlier one decided."""
    text = _whole(later)
    match = _IMPLEMENTS.search(text)
    if match is None or earlier.kind not in _PLAN_KINDS or not _is_statement(later):
        return None
    if _UNREAL.search(text[: match.start()][-_WINDOW:]) or _IMPLEMENTS.search(_whole(earlier)):
        return None
    around = _near(text, match, before=True, after=True)
    if _things(around) & _things(_whole(earlier)):
        return EntryRelation.IMPLEMENTS, match.group(0), 1.0
    return None


def _builds_on(earlier: RelatedEntry, later: RelatedEntry) -> Found | None:
    """Return whether a later statement says that it goes on from what the earlier one said."""
    text = _whole(later)
    match = _BUILDS_ON.search(text)
    if match is None or not _is_statement(later) or _BUILDS_ON.search(_whole(earlier)):
        return None
    around = _near(text, match, before=True, after=True)
    if _things(around) & _things(_whole(earlier)):
        return EntryRelation.BUILDS_ON, match.group(0), 1.0
    return None


def _opposite(earlier: RelatedEntry, later: RelatedEntry) -> str:
    """Return the words by which a statement says the opposite of one nearly the same."""
    if not (_is_statement(earlier) and _is_statement(later)):
        return ""
    ours, theirs = content_words(later.text), content_words(earlier.text)
    if not ours or not theirs or len(ours & theirs) < _SAME_WORDS * min(len(ours), len(theirs)) + 1:
        return ""
    words_now = set(re.findall(r"[a-z]+", later.text.lower()))
    words_then = set(re.findall(r"[a-z]+", earlier.text.lower()))
    for one, other in _OPPOSITES:
        for now, then in ((one, other), (other, one)):
            if now in words_now - words_then and then in words_then - words_now:
                return f"{then} / {now}"
    is_short = max(len(ours), len(theirs)) <= _SHORT
    is_same = len(ours & theirs) >= _SAME_STATEMENT * min(len(ours), len(theirs))
    if is_short and is_same:
        return _denied(earlier.text, later.text) or _denied(later.text, earlier.text)
    return ""


def _denied(said: str, denying: str) -> str:
    """Return the word by which one text denies what the other says; empty where it does not."""
    match = _NEGATION.search(denying)
    if match is None or len(_DENIAL.findall(denying)) != 1 or _DENIAL.search(said):
        return ""
    denied = " ".join(denying[match.end() :].split()[:_DENIED_WORDS])
    return match.group(0) if content_words(denied) & content_words(said) else ""


def _named(earlier: RelatedEntry, later: RelatedEntry) -> str:
    """Return how a later entry names an earlier one: by its title, or by rare names in both."""
    title = earlier.title.strip()
    if len(title) >= 10 and title.casefold() in later.text.casefold():
        return title
    shared = sorted(identifiers(earlier.text) & identifiers(later.text), key=len, reverse=True)
    telling = [name for name in shared if len(name) >= 6]
    return ", ".join(telling[:5]) if len(telling) >= 2 else ""
