"""What the words of a text ask for: whether it instructs, how binding it is, whether it forbids.

A text that stands in a list is judged more kindly than a sentence of prose, which describes more
often than it asks. All expressions are applied to texts of a bounded length.

References:
    RFC 2119 for the meaning of MUST, SHOULD and MAY.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from kmem_desktop.domain.rules import Severity
from kmem_desktop.rules.documents import eastern
from kmem_desktop.rules.documents.verbs import ADVERBS, ALSO_NOUNS, VERBS, WEAK_VERBS
from kmem_desktop.text import one_line

LONGEST_JUDGED = 3000

_APOSTROPHE = re.compile("[\u2019\u02bc]")
_EMPHASIS = re.compile(r"\*{1,3}|(?<!\w)_{1,3}(?=\w)|(?<=\w)_{1,3}(?!\w)")
_CODE = re.compile(r"`[^`]*`")
_QUOTED = re.compile(r"\"[^\"]{1,80}\"|\u201c[^\u201d]{1,80}\u201d")
_ENUMERATION = re.compile(r"^(?:\*\*\d+\.?\*\*|\(?\d{1,3}[.)、\uff09]|[a-zA-Z][.)])\s+")
_CHECKBOX = re.compile(r"^\[[ xX]?\]\s+")
_LABEL = re.compile(r"^[^.:!?`]{0,60}(?:`[^`]{1,60}`[^.:!?`]{0,30})?[:\uff1a]\s+(?=\S)")
_DASH_LABEL = re.compile(r"^[^.:!?]{1,100}?\s+(?:[\u2014\u2013]|-{1,2})\s+(?=\S)")
_CONDITION = re.compile(
    r"^(?:when|whenever|if|for|before|after|while|where|in|on|during|unless|until|once|to|with|by"
    r"|as|at|instead of|rather than|within|from|whether|since|because|regardless|prior|upon|given"
    r"|per|without)\b",
    re.IGNORECASE,
)
_MOST_CLAUSES = 5
_LONGEST_LABEL = 60
_FEWEST_WORDS = 4
_WORD = re.compile(r"[A-Za-z][\w'-]*")
_NOT_FIRST = re.compile(
    r"(?:never|(?:please |you )?(?:do not|don't|must not|mustn't|shall not|should not|shouldn't"
    r"|may not)(?! (?:actually |really |even )?(?:need|have to|know|want|care|exist|matter|get))"
    r"|avoid|refrain from|stop (?=\w+ing\b)|forbid|prohibit|disallow|(?:be )?careful not to"
    r"|no(?! (?:one|longer|matter|need|special|more than|later|wonder|changes? (?:is|are)))"
    r"(?= [a-z`A-Z]))\b",
    re.IGNORECASE,
)
_MODAL = re.compile(
    r"\b(must|shall|should|may|you (?:need|have) to|ought to)\b( not\b|n't\b| never\b)?",
    re.IGNORECASE,
)
_MODAL_NOT = re.compile(
    r"\b(?:is|are) (?:not allowed|forbidden"
    r"|prohibited|not permitted|banned|disallowed)\b",
    re.IGNORECASE,
)
_RFC = (
    re.compile(r"\b(MUST|SHALL|SHOULD|MAY)\b"),
    re.compile(r"\b(REQUIRED|RECOMMENDED|OPTIONAL)\b"),
)
_SUBORDINATE = re.compile(
    r"\b(?:what|which|why|how|whether|where|who|that|if|when|once|because|as|whatever)\s+(?:[\w`'-]+\s+){0,3}$",
    re.IGNORECASE,
)
_NOT_ASKED = re.compile(
    r"\b(?:would|will|might|may|not|n't|actually|just|I|we|also|they|users?|attackers?) "
    r"(?:need|needs|have|has) to\b|\bI (?:must|should|shall)\b|\bshould do\b(?! )",
    re.IGNORECASE,
)
_EXPECTATION = re.compile(
    r"\b(?:you|it|this|they|we|there) should (?:now |also |then |already |just )?(?:see|have|get"
    r"|notice|find|be able|be fine|work|look|know|be (?:clear|noted|obvious|easy|visible)"
    r"|not be surpris|result|return)",
    re.IGNORECASE,
)
_PREDICATE_MUST = re.compile(
    r"\b(?:is|are|be) (?:always )?(?:required|mandatory|forbidden|prohibited|not allowed"
    r"|not permitted|banned"
    r"|disallowed|strictly)\b|\bunder no circumstances\b|\bat all times\b",
    re.IGNORECASE,
)
_PREDICATE_SHOULD = re.compile(
    r"\b(?:is|are) (?:(?:strongly|highly|generally|heavily) )?(?:recommended|preferred|discouraged"
    r"|encouraged|advised)\b|\b(?:prefer|preferably)\b|^(?:recommended|discouraged)\b",
    re.IGNORECASE,
)
_LOUD_MUST = re.compile(r"\b(?:NEVER|ALWAYS|REQUIRED|MANDATORY|CRITICAL|DO NOT|DON'T|FORBIDDEN)\b")
_MAY_FIRST = re.compile(
    r"(?:consider(?:ing)?|optionally|optional(?=:)|you (?:may|can|could|might)|feel free"
    r"|it is (?:ok|okay|fine) to)\b",
    re.IGNORECASE,
)
_ALWAYS = re.compile(
    r"(?:^|[,;:\u2014\u2013-]\s*)(?:and |or |but )?(?:always|never)\b|\balways(?=\s*(?:$"
    r"|[,;.\u2014\u2013]))",
    re.IGNORECASE,
)
_FRAGMENT = re.compile(
    r"\b(?:by default|only (?:when|if|for|in|as|on)|for all|for every|at most|at least|no"
    r" more than|"
    r"instead of|rather than|not allowed|must-have|as the default|not permitted|maximum of"
    r"|limited to|"
    r"(?:required|mandatory|recommended|forbidden|prohibited|preferred)"
    r"(?=\s*(?:[.;,]|$|\b(?:for|by|in|on|when|if|unless|at)\b)))",
    re.IGNORECASE,
)
_CASING = re.compile(
    r"\b(?:snake_case|camelCase|PascalCase|kebab-case|UPPER_SNAKE(?:_CASE)?|SCREAMING_SNAKE_CASE|"
    r"UpperCamelCase|lowerCamelCase|CapWords|UPPERCASE|lowercase)\b"
)
_THIS_NOT_THAT = re.compile(r"`[^`]+`,? (?:not|instead of|over|rather than) `[^`]+`")
_STATEMENT = re.compile(
    r"\b(?:is|are|was|were|has|have|had|must|should|shall|can|will|may|does|follows?|lives?"
    r"|goes|contains?|"
    r"provides?|supports?|happens?|works?|requires?|means?|needs?|runs?|uses?"
    r"|exists?|gets?|refers?|"
    r"becomes?|comes?|shows?|makes?|allows?|enables?|ensures?|helps?|includes?|describes?)\b"
)
_ASIDE = re.compile(r"\([^()]{1,300}\)")
_NOTE = re.compile(
    r"^(?:please )?(?:note|remember|keep in mind|be aware|recall)\b(?: that)?", re.IGNORECASE
)
_TITLE = re.compile(r"^[A-Z][\w-]*(?: (?:[A-Z][\w-]*|and|of|the|&)){1,4}$")
_DETERMINED = re.compile(
    r" (?:the|a|an|all|each|every|your|any|only|no|this|these|both|one|multiple|its|their)\b"
)
_NOUN_BEHIND = re.compile(r" (?:-|\u2014|\u2013|in\b|of\b|[Cc]ases?\b)")
_CLAUSE_END = re.compile(
    r"[,;(]|\s[\u2014\u2013-]+\s| (?:that|which|when|if|unless|because|where|so|instead|to|and) |\|"
)
_PERSONA = re.compile(
    r"^(?:you are|you're|your (?:role|goal|mission|job|task|primary)|act as|as an? )\b",
    re.IGNORECASE,
)
_POINTER = re.compile(
    r"^(?:it|they|this|these|those|that|he|she|such|both|here|there|i|we)\b", re.IGNORECASE
)
_ABBREVIATED = re.compile(r"(?:\b(?:e\.g|i\.e|etc|vs|cf|resp|approx|Dr|Mr|No|fig|[A-Z]))\.$")
_SENTENCE_GAP = re.compile(
    r"(?<=[.!?])[\"')*_\]]*\s+(?=[A-Z`*_\"'(\[\u2018\u201c0-9])|(?<=[。\uff01\uff1f])"
)
_SENTENCE_WORDS = re.compile(r"\w")


@dataclass(frozen=True, slots=True)
class Marker:
    """A mark before a text that says how binding it is, as `**DO NOT**`.

    Attributes:
        severity: How binding.
        prohibits: Whether it forbids.
        text: The text without its mark; with it where the meaning would be lost.
    """

    severity: Severity
    prohibits: bool
    text: str


_BRACKET = re.compile(
    r"^(?:\*\*|__)?\[\s*(MUST|SHOULD|MAY|SHALL)(\s+NOT)?\s*\](?:\*\*|__)?:?\s*(?=\S)", re.IGNORECASE
)
_BOLD = re.compile(
    r"^(?:\*\*|__)\s*(YOU )?(MUST|SHALL|SHOULD|MAY|DO|CONSIDER|AVOID|PREFER|REQUIRED"
    r"|RECOMMENDED|OPTIONAL|"
    r"CRITICAL|MANDATORY|IMPORTANT)( NOT|N'T)?\s*:?\s*(?:\*\*|__):?\s*(?=\S)"
)
_EMOJI = re.compile(
    r"^((?:[\u2705\u2714\u2611\U0001f44d]|:(?:white_check_mark|heavy_check_mark"
    r"|ballot_box_with_check|"
    r"\+1):)|(?:[\u274c\u2717\u2718\u26d4\U0001f6ab\U0001f44e]|:(?:no_entry|x|no_entry_sign"
    r"|warning|-1):)|"
    r"[\u26a0\u2757\U0001f534\U0001f7e1\U0001f7e2]|:heavy_exclamation_mark:)\ufe0f?\s*(?=\S)"
)
_BAD_EMOJI = re.compile(
    r"[\u274c\u2717\u2718\u26d4\U0001f6ab\U0001f44e]|:(?:no_entry|x|no_entry_sign|-1):"
)
_MARK_SEVERITY = {
    "MUST": Severity.MUST,
    "SHALL": Severity.MUST,
    "REQUIRED": Severity.MUST,
    "CRITICAL": Severity.MUST,
    "MANDATORY": Severity.MUST,
    "IMPORTANT": Severity.MUST,
    "DO": Severity.MUST,
    "MAY": Severity.MAY,
    "CONSIDER": Severity.MAY,
    "OPTIONAL": Severity.MAY,
}
_KEPT_MARKS = frozenset(("CONSIDER", "AVOID", "PREFER"))


def marker(text: str) -> Marker | None:
    """Return the mark that a text begins with, if it does."""
    if found := eastern.mark(text):
        severity, rest = found
        return Marker(severity, eastern.prohibits(rest), rest)
    if match := _BRACKET.match(text):
        level = _MARK_SEVERITY.get(match[1].upper(), Severity.SHOULD)
        return Marker(level, bool(match[2]), text[match.end() :])
    if match := _BOLD.match(_APOSTROPHE.sub("'", text)):
        level = _MARK_SEVERITY.get(match[2], Severity.SHOULD)
        rest, is_not = text[match.end() :], bool(match[3])
        if is_not or match[2] in _KEPT_MARKS:
            rest = f"{one_line(match[0]).strip('*_: ')} {rest}"
        return Marker(level, is_not or match[2] == "AVOID" or prohibits(rest), rest)
    return None


def emoji(text: str) -> tuple[bool | None, str]:
    """Return what a leading sign as ✅ or ❌ says, and the text without it.

    Returns:
        True for good, False for bad, None for no such sign.
    """
    match = _EMOJI.match(text)
    if match is None:
        return None, text
    is_neutral = (
        match[1][0] in "\u26a0\u2757\U0001f534\U0001f7e1\U0001f7e2" or "warning" in match[1]
    )
    rest = text[match.end() :]
    if is_neutral or "exclamation" in match[1]:
        return None, rest
    return not _BAD_EMOJI.fullmatch(match[1]), rest


def plain(text: str) -> str:
    """Return the words of a text on one line, without emphasis, number and check box."""
    text = _APOSTROPHE.sub("'", one_line(text[:LONGEST_JUDGED]))
    text = _ENUMERATION.sub("", _CHECKBOX.sub("", text))
    return one_line(_EMPHASIS.sub("", text))


def sentences(text: str) -> list[str]:
    """Split prose into sentences."""
    found: list[str] = []
    start = 0
    for gap in _SENTENCE_GAP.finditer(text):
        if not _ABBREVIATED.search(text[start : gap.start()]):
            found.append(text[start : gap.end()].strip())
            start = gap.end()
    found.append(text[start:].strip())
    return [sentence for sentence in found if _SENTENCE_WORDS.search(sentence)]


def prohibits(text: str) -> bool:
    """Return whether a text by its own words says what must not be done."""
    if eastern.is_eastern(text):
        return eastern.prohibits(text)
    words = _masked(plain(text))
    first = next(iter(sentences(words)), words)
    for form in _forms(first):
        if _NOT_FIRST.match(form):
            return True
        if _is_imperative(form):
            return False
    for modal in _MODAL.finditer(first):
        if modal[1] != "may":
            return bool(modal[2])
    return bool(_MODAL_NOT.search(first))


def severity_of_item(text: str) -> Severity | None:
    """Return how binding a list item is; None when it instructs nobody."""
    if eastern.is_eastern(text):
        return eastern.severity(text, is_prose=False)
    words = plain(text)
    masked = _masked(words)
    if not _WORD.search(masked) or masked.endswith("?") or _PERSONA.match(masked):
        return None
    for sentence in sentences(masked)[:6]:
        if level := _severity_of_sentence(sentence, is_prose=False):
            return level
    if _is_fragment(words, masked):
        return Severity.SHOULD
    return None


def severity_of_sentence(text: str) -> Severity | None:
    """Return how binding a sentence of prose is; None when it instructs nobody."""
    if eastern.is_eastern(text):
        return eastern.severity(text, is_prose=True)
    masked = _masked(plain(text))
    if masked.endswith("?") or _PERSONA.match(masked):
        return None
    return _severity_of_sentence(masked, is_prose=True)


def points_back(sentence: str) -> bool:
    """Return whether a sentence speaks of the one before it."""
    return bool(_POINTER.match(plain(sentence)))


def is_imperative(text: str) -> bool:
    """Return whether a text begins with a verb that asks for something."""
    return _is_imperative(_masked(plain(text)))


def _severity_of_sentence(sentence: str, *, is_prose: bool) -> Severity | None:
    sentence = one_line(_ASIDE.sub("", sentence)) or sentence
    if _NOTE.match(sentence):
        return _modal_severity(sentence, is_prose=True)
    for form in _forms(sentence, is_prose=is_prose):
        if _NOT_FIRST.match(form):
            return _loudness(sentence, form)
        if _MAY_FIRST.match(form) and not form.casefold().startswith("you can"):
            return Severity.MAY
        if _is_imperative(form) and not (is_prose and _leads_reader(form)):
            return _loudness(sentence, form)
    if is_prose and _POINTER.match(sentence) and not _RFC[0].search(sentence):
        return None
    if level := _modal_severity(sentence, is_prose=is_prose):
        return level
    if not is_prose and _ALWAYS.search(sentence):
        return Severity.MUST
    if is_prose and re.match(r"(?:always|never)\b", sentence, re.IGNORECASE):
        return Severity.MUST
    return None


def _loudness(sentence: str, form: str) -> Severity:
    """Return how binding an imperative is."""
    first = form.casefold()
    if first.startswith(("never", "always", "must", "shall")) or _LOUD_MUST.search(sentence):
        return Severity.MUST
    if first.startswith(("avoid", "prefer", "should", "recommend", "suggest")):
        return Severity.SHOULD
    if level := _modal_severity(sentence, is_prose=False, is_may_read=False):
        return level
    return Severity.MUST if _ALWAYS.search(sentence) else Severity.SHOULD


def _modal_severity(sentence: str, *, is_prose: bool, is_may_read: bool = True) -> Severity | None:
    if level := _loud_severity(sentence, is_may_read=is_may_read):
        return level
    if _EXPECTATION.search(sentence):
        return None
    sentence = _NOT_ASKED.sub("", sentence)
    for match in _PREDICATE_MUST.finditer(sentence):
        if not _is_subordinate(sentence, match.start()):
            return Severity.MUST
    for match in _MODAL.finditer(sentence):
        word = match[1].casefold()
        if word == "may" or _is_subordinate(sentence, match.start()):
            continue
        if is_prose and word.startswith("you"):
            continue
        return Severity.SHOULD if word in ("should", "ought to") else Severity.MUST
    return Severity.SHOULD if _PREDICATE_SHOULD.search(sentence) else None


def _loud_severity(sentence: str, *, is_may_read: bool) -> Severity | None:
    """Return the severity of the first word of RFC 2119 in capitals."""
    match = _RFC[0].search(sentence) or _RFC[1].search(sentence)
    if match is None:
        return None
    if match[1] in ("MAY", "OPTIONAL"):
        return Severity.MAY if is_may_read else None
    return Severity.SHOULD if match[1] in ("SHOULD", "RECOMMENDED") else Severity.MUST


def _is_subordinate(sentence: str, place: int) -> bool:
    """Return whether what stands at a place belongs to a clause as `what users must do`."""
    return bool(_SUBORDINATE.search(sentence[max(0, place - 60) : place]))


def _forms(sentence: str, *, is_prose: bool = False) -> Iterator[str]:
    """Give the places of a sentence where its instruction may begin."""
    yield sentence
    rest = sentence
    if not is_prose:
        for pattern in (_LABEL, _DASH_LABEL):
            if match := pattern.match(sentence):
                rest = sentence[match.end() :]
                first = _WORD.match(rest)
                # "Registry - Document loaders": behind a dash a noun is likelier than a verb.
                if pattern is _LABEL or not first or first[0].casefold() not in ALSO_NOUNS:
                    yield rest
    for start in (sentence, rest) if rest != sentence else (sentence,):
        if _CONDITION.match(start):
            clauses = re.split(r"[,:]\s+", start, maxsplit=_MOST_CLAUSES)
            yield from clauses[1:]


def _is_imperative(form: str) -> bool:
    words = _WORD.findall(form[:200])[:8]
    if not words or not form[0].isalpha():
        return False
    label, _, told = form[:_LONGEST_LABEL].partition(":")
    if told.strip() and _TITLE.match(label):
        return False
    place = 0
    while place < min(2, len(words) - 1) and _is_adverb(words[place]):
        place += 1
    word = words[place].casefold()
    if word not in VERBS:
        return False
    behind = form[form.find(words[place]) + len(word) :]
    if behind[:1] in (":", "/", ")", "(", "=", ".", ",", ";") or not behind.strip(" ."):
        return False
    return word not in ALSO_NOUNS or not _is_noun(form, behind)


def _is_noun(form: str, behind: str) -> bool:
    """Return whether the word before `behind` is rather a noun than a verb."""
    if _DETERMINED.match(behind):
        return False
    if _NOUN_BEHIND.match(behind):
        return True
    if joined := re.match(r" (?:and|or) (\w+)", behind):
        return joined[1].casefold() not in VERBS
    head = _CLAUSE_END.split(behind, maxsplit=1)[0]
    label, _, told = head.partition(":")
    words = _WORD.findall(label)
    if form[:4].casefold() != "use ":
        is_label = bool(told.strip()) and len(words) < _FEWEST_WORDS
        if is_label or _TITLE.match(form):
            return True
    return bool(_STATEMENT.search(" ".join(words[:5])))


def _is_adverb(word: str) -> bool:
    word = word.casefold()
    return word in ADVERBS or (word.endswith("ly") and len(word) > 4 and word not in VERBS)


def _leads_reader(form: str) -> bool:
    first = _WORD.match(form)
    is_lower = bool(first) and form[0].islower()
    return first is not None and (
        first[0].casefold() in WEAK_VERBS or (is_lower and form == first[0])
    )


def _is_fragment(words: str, masked: str) -> bool:
    """Return whether a text without a verb says how something is to be."""
    if _THIS_NOT_THAT.search(words):
        return True
    if _CASING.search(words) and re.search(r"[:=]| for | in ", words) and len(words) < 200:
        return True
    if len(words) >= 240 or not _FRAGMENT.search(masked) or _STATEMENT.search(masked[:60]):
        return False
    first = words.split(" ", maxsplit=1)[0].casefold()
    is_told = first.endswith("s") and first[:-1] in VERBS and first not in VERBS
    return not is_told and first not in ("the", "a", "an", "this", "these", "it")


def _masked(words: str) -> str:
    """Return a text whose code and quotations cannot be taken for its own words."""
    return _QUOTED.sub('"x"', _CODE.sub("`x`", words))
