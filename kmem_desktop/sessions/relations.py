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


_SUPERSEDES = re.compile(
    r"\b(?:no longer|instead of|replace[sd]?(?: by| with)?|in place of|supersede[sd]?|deprecat\w+"
    r"|switch(?:ed|ing)? (?:from|away|back)"
    r"|moved? (?:away )?from|migrat\w+ (?:away )?from|drop(?:ped)?|abandon\w*|(?:was|were"
    r"|is) reversed|revers(?:e|es|ing) (?:the|our|that)|changed our minds?"
    r"|not .{1,40} any ?more|from now on|as of (?:today|now)|previously|used to|formerly"
    r"|earlier decision|old (?:approach|plan|decision))\b",
    re.IGNORECASE,
)
_CONTRADICTS = re.compile(
    r"\b(?:contradict\w*|wrong|incorrect|not true|isn't true|is false|does ?n[o']t (?:work|hold"
    r"|help|apply)|do not (?:use|do)|don't (?:use|do)|never use"
    r"|must not|mustn't|disagree|on the contrary|opposite|fails? because|mistaken|in fact (?:it"
    r"|we|the) (?:is|does|are) ?n[o']t)\b",
    re.IGNORECASE,
)
_IMPLEMENTS = re.compile(
    r"\b(?:implement(?:ed|s|ing|ation)?|added support|built|shipped|wired|coded|done as decided"
    r"|as (?:decided|agreed|planned|specified)"
    r"|according to the (?:plan|decision|design|spec\w*)|put into (?:practice|code)"
    r"|now in (?:code|main|production)|landed)\b",
    re.IGNORECASE,
)
_BUILDS_ON = re.compile(
    r"\b(?:build(?:s|ing)? (?:up)?on|based on|on top of|extend(?:s|ed|ing)?|in addition"
    r"|additionally|furthermore|follow(?:s|ing)?[- ]up|further to"
    r"|as well as (?:the|what|that)|next step|continu(?:es|ing|ation)|besides (?:the|what|that)"
    r"|also (?:applies|needs|covers)|refine[sd]?|generalis\w+|generaliz\w+)\b",
    re.IGNORECASE,
)
_REFERENCES = re.compile(
    r"\b(?:see(?: also)?|as (?:described|explained|noted|mentioned|documented|discussed) (?:in"
    r"|above|before|there)|refer(?:s|red)? to|cf\.|compare|mentioned in"
    r"|according to|per the|like in|same as (?:in|the))\b",
    re.IGNORECASE,
)
_NEGATION = re.compile(
    r"\b(?:not|no|never|n't|without|cannot|avoid|disable[sd]?|forbidden|stop)\b|n't\b",
    re.IGNORECASE,
)
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
_WEAK = 0.8
_SAME_WORDS = 0.4


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


def _by_wording(
    earlier: RelatedEntry, later: RelatedEntry
) -> tuple[EntryRelation, str, float] | None:
    """Return the relation, the words it is seen by, and how sure they are: the first that fits."""
    if _same(earlier.text, later.text):
        return None  # a duplicate is no relation
    text = f"{later.title}\n{later.text}"
    for relation, shape, fits in (
        (EntryRelation.SUPERSEDES, _SUPERSEDES, _names_the_old(earlier, later)),
        (EntryRelation.CONTRADICTS, _CONTRADICTS, _is_statement(earlier) and _is_statement(later)),
        (EntryRelation.IMPLEMENTS, _IMPLEMENTS, earlier.kind in _PLAN_KINDS),
        (EntryRelation.BUILDS_ON, _BUILDS_ON, _is_statement(later)),
        (EntryRelation.REFERENCES, _REFERENCES, True),
    ):
        match = shape.search(text)
        if match and fits:
            return relation, match.group(0), 1.0
    if words := _opposite(earlier, later):
        return EntryRelation.CONTRADICTS, words, _WEAK
    if later.kind in _CODE_KINDS and earlier.kind == "decision":
        shared = identifiers(earlier.text) & identifiers(later.text)
        if shared:
            return EntryRelation.IMPLEMENTS, ", ".join(sorted(shared)[:5]), _WEAK
    if names := _named(earlier, later):
        return EntryRelation.REFERENCES, names, _WEAK
    return None


def _same(one: str, other: str) -> bool:
    return " ".join(one.casefold().split()) == " ".join(other.casefold().split())


def _is_statement(entry: RelatedEntry) -> bool:
    return entry.kind != "question" and not entry.text.rstrip().endswith("?")


def _names_the_old(earlier: RelatedEntry, later: RelatedEntry) -> bool:
    """Return whether what is replaced is what the earlier entry said: it names its things."""
    match = _SUPERSEDES.search(f"{later.title}\n{later.text}")
    if match is None or not _is_statement(earlier) or not _is_statement(later):
        return False
    said = content_words(f"{earlier.title} {earlier.text}")
    return len(said & content_words(f"{later.title} {later.text}")) > 1


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
    negations = (len(_NEGATION.findall(later.text)), len(_NEGATION.findall(earlier.text)))
    is_short = max(len(ours), len(theirs)) <= 14
    if (
        is_short
        and sorted(negations) == [0, 1]
        and len(ours & theirs) >= 0.6 * min(len(ours), len(theirs))
    ):
        match = _NEGATION.search(later.text) or _NEGATION.search(earlier.text)
        return match.group(0) if match else ""
    return ""


def _named(earlier: RelatedEntry, later: RelatedEntry) -> str:
    """Return how a later entry names an earlier one: by its title, or by rare names in both."""
    title = earlier.title.strip()
    if len(title) >= 10 and title.casefold() in later.text.casefold():
        return title
    shared = sorted(identifiers(earlier.text) & identifiers(later.text), key=len, reverse=True)
    telling = [name for name in shared if len(name) >= 6]
    return ", ".join(telling[:5]) if len(telling) >= 2 else ""
