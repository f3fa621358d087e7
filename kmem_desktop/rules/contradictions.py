"""Directives that cannot both be followed; precise rather than many.

Three kinds are told: opposite choices (tabs or spaces; this over that, that over this), different
numbers for one limit (80 or 120 characters), and one directive that demands what another prohibits.
Both must speak of the same thing, and none may be limited to a case, or a language, of its own.

Directives of one section are not compared: such a section distinguishes cases.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations
from typing import TYPE_CHECKING, NamedTuple

from kmem_desktop.domain.rules import Contradiction
from kmem_desktop.rules.vocabulary import content_words, stemmed

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

NEAR_CHOICE, NEAR_LIMIT, NEAR_DEED = 0.35, 0.4, 0.6
"""The least cosine of two directives' texts for each kind."""
SAME_SUBJECT, SAME_LIMIT, SAME_DEED, SAME_THING = 0.34, 0.5, 0.7, 0.6
"""Shares of words that two directives have in common, the words of the disagreement aside."""
MOST_SUSPECTS = 1_000
"""More than anybody would read; many copies of one rule would otherwise all meet each other."""
MOST_OF_A_KIND = 500
"""So many directives on indentation, say, are compared with each other: 125,000 pairs."""
LONGEST = 400
"""Of a longer text only the beginning says what to do."""

_DENIED = re.compile(
    r"\b(?:never|avoid|don['\u2019]?t|do not|must not|mustn['\u2019]t|should not|shouldn['\u2019]t"
    r"|may not|cannot|can['\u2019]t|not|no|without|instead of|rather than|in place of|forbidden"
    r"|prohibited)\b(?:\s+(?:to|be|ever|the|use|using|used|any|add|write|put)\b)*"
)
_DEMANDED = re.compile(
    r"\b(?:use|uses|using|prefer|always|must|should|choose|favou?r|indent(?:ation|ed)?|write|written"
    r"|require|put|go|goes|is|are|but)\b"
)
_OVER = re.compile(r"\bover\b")
_PREFERENCE = re.compile(r"\b(?:prefer|preferred|favou?r|choose)\b")
_THIS_OVER_THAT = re.compile(
    r"\b(?:prefer|favou?r|choose|use)\s+(?P<this>[^.,;]+?)\s+"
    r"(?:over|instead of|rather than|in place of)\s+(?P<that>[^.,;]+)"
)
_SENTENCE_END = re.compile(r"[.;!?](?:\s|$)")
_EXCEPTION = re.compile(
    r"\b(?:unless|except|exception to|only|other than|when|if|where|while|until|before|legacy|"
    r"in case|such as)\b"
)
_MISTAKE = re.compile(r"^not \w+ing\b")
_DIGITS = re.compile(r"\d+")
_STYLE = re.compile(r"[*`~]+")
_CUES = """
    always never avoid prefer preferred favor favour choose instead rather place over should must
    write written put go goes code project consistently consistent recommended only keep name names
    naming named case convention conventions limit limits limited most least maximum minimum max min
    long longer length exceed exceeding under set indent indentation line-break all every
"""
_CUE_WORDS = frozenset(map(stemmed, content_words(_CUES)))


@dataclass(frozen=True, slots=True)
class Statement:
    """A directive as it is compared with others.

    Attributes:
        id: The directive's id.
        text: What it says.
        prohibits: Whether it says what must not be done.
        source: Its document and section; statements of the same source are not compared.
        scope: The languages or files it is about; empty for everything.
    """

    id: str
    text: str
    prohibits: bool = False
    source: str = ""
    scope: frozenset[str] = frozenset()


class Suspect(NamedTuple):
    """Two statements whose words disagree.

    Attributes:
        first: The place of one.
        second: The place of the other, the higher.
        reason: What they disagree about, for people.
        least_cosine: Of their texts, from which they speak of the same thing.
    """

    first: int
    second: int
    reason: str
    least_cosine: float


class _Choice(NamedTuple):
    """Things of which a project has one.

    Attributes:
        about: What both directives must mention.
        options: A name and how it is written.
        needs_subject: Whether it depends on the thing, as a name's case does.
    """

    about: re.Pattern[str]
    options: tuple[tuple[str, re.Pattern[str]], ...]
    needs_subject: bool = False


class _Reading(NamedTuple):
    """What of a statement can disagree with others."""

    text: str
    denies: bool
    choices: dict[int, dict[str, bool]]  # for each of _CHOICES what is wanted and what is not
    preference: tuple[frozenset[str], frozenset[str]] | None
    limit: _Limit | None
    prohibits: bool | None
    deed: frozenset[str]


class _Limit(NamedTuple):
    bound: str
    unit: str
    value: float
    shown: str
    subject: frozenset[str]


def _choice(about: str, *options: tuple[str, str], needs_subject: bool = False) -> _Choice:
    compiled = tuple((name, re.compile(pattern)) for name, pattern in options)
    return _Choice(re.compile(about), compiled, needs_subject)


_CHOICES = (
    _choice(r"\bindent|\btabs\b", ("tabs", r"\btabs?\b"), ("spaces", r"\bspaces\b")),
    _choice(
        r"\bquot", ("single quotes", r"\bsingle[- ]quot"), ("double quotes", r"\bdouble[- ]quot")
    ),
    _choice(r"\bsemicolons?\b", ("semicolons", r"\bsemicolons?\b")),
    _choice(r"\btrailing commas?\b", ("trailing commas", r"\btrailing commas?\b")),
    _choice(
        r"camel ?case|snakecase|pascal ?case|kebab",
        ("camelCase", r"\b(?:lower ?)?camel ?case\b"),
        ("snake_case", r"\bsnakecase\b"),
        ("PascalCase", r"\b(?:pascal|upper ?camel) ?case\b"),
        ("kebab-case", r"\bkebab[- ]?case\b"),
        needs_subject=True,
    ),
    _choice(
        r"\bexports?\b",
        ("named exports", r"\bnamed exports?\b"),
        ("default exports", r"\bdefault exports?\b"),
    ),
    _choice(
        r"\bcomponents?\b",
        ("function components", r"\bfunction(?:al)? components?\b"),
        ("class components", r"\bclass(?:-based)? components?\b"),
    ),
    _choice(
        r"\bimports?\b",
        ("absolute imports", r"\babsolute imports?\b"),
        ("relative imports", r"\brelative imports?\b"),
    ),
    _choice(
        r"\b(?:npm|yarn|pnpm)\b", ("npm", r"\bnpm\b"), ("yarn", r"\byarn\b"), ("pnpm", r"\bpnpm\b")
    ),
    _choice(r"\b(?:jest|vitest)\b", ("Jest", r"\bjest\b"), ("Vitest", r"\bvitest\b")),
    _choice(r"\b(?:pytest|unittest)\b", ("pytest", r"\bpytest\b"), ("unittest", r"\bunittest\b")),
    _choice(
        r"\bfunctions?\b",
        ("arrow functions", r"\barrow functions?\b"),
        ("function declarations", r"\bfunction (?:declarations?|expressions?)\b"),
    ),
    _choice(
        r"\b(?:merge|rebas|squash)",
        ("rebase", r"\brebas(?:e|ing)\b"),
        ("merge commits", r"\bmerge commits?\b"),
        ("squash", r"\bsquash(?:ing)?\b"),
    ),
    _choice(
        r"\bbraces?\b",
        ("same line", r"\bsame line\b"),
        ("new line", r"\b(?:new|own|next|separate) line\b"),
    ),
)

_UNITS: dict[str, tuple[str, float]] = {
    **dict.fromkeys(("character", "characters", "chars", "char", "columns"), ("characters", 1.0)),
    **dict.fromkeys(("line", "lines", "loc"), ("lines", 1.0)),
    **dict.fromkeys(("space", "spaces"), ("spaces", 1.0)),
    **dict.fromkeys(("ms", "millisecond", "milliseconds"), ("time", 0.001)),
    **dict.fromkeys(("s", "sec", "second", "seconds"), ("time", 1.0)),
    **dict.fromkeys(("minute", "minutes", "min", "mins"), ("time", 60.0)),
    **dict.fromkeys(("hour", "hours"), ("time", 3600.0)),
    **dict.fromkeys(("day", "days"), ("time", 86400.0)),
    **dict.fromkeys(("%", "percent"), ("percent", 1.0)),
    "kb": ("size", 1e3),
    "mb": ("size", 1e6),
    "gb": ("size", 1e9),
    "px": ("pixels", 1.0),
    **dict.fromkeys(("word", "words"), ("words", 1.0)),
    **dict.fromkeys(("parameter", "parameters", "argument", "arguments"), ("parameters", 1.0)),
    **dict.fromkeys(("level", "levels"), ("levels", 1.0)),
}
_NUMBER = re.compile(r"(?<![\w.])(\d+(?:\.\d+)?)(?:\s|-)?(%|[a-z]+)", re.IGNORECASE)
_WORD_NUMBERS = {"two": "2", "three": "3", "four": "4", "eight": "8"}
_AT_LEAST = re.compile(r"\b(?:at least|minimum|no (?:less|fewer) than|min\.?)\b")
_AT_MOST = re.compile(
    r"\b(?:at most|max(?:imum)?|no (?:more|longer) than|limit(?:ed)?|under|below|up to|not exceed|"
    r"exceeding|exceed|less than|fewer than|shorter than|longer than|within|wrap|length)\b"
)
_EXACT = re.compile(r"\b(?:indent|indentation|exactly|expires? after|timeout)\b")
_BOUNDS = (("at least", _AT_LEAST), ("at most", _AT_MOST), ("exactly", _EXACT))


def suspects(statements: Sequence[Statement]) -> list[Suspect]:
    """Return the pairs whose words disagree, each once; few of thousands of directives.

    Args:
        statements: All directives that hold at the same time.
    """
    readings = [_read(statement) for statement in statements]
    found: dict[tuple[int, int], Suspect] = {}
    for first, second in _meetings(readings):
        if (first, second) in found or not _are_comparable(statements[first], statements[second]):
            continue
        if suspicion := _disagreement(readings[first], readings[second]):
            found[first, second] = Suspect(first, second, *suspicion)
            if len(found) == MOST_SUSPECTS:
                break
    return [found[pair] for pair in sorted(found)]


def contradictions(
    statements: Sequence[Statement], suspected: Sequence[Suspect], cosines: Sequence[float]
) -> list[Contradiction]:
    """Return the suspected pairs that speak of the same thing in meaning, too.

    Args:
        statements: What `suspects` was given.
        suspected: What it returned.
        cosines: For each pair that of its texts, without the names of document and section.
    """
    return [
        Contradiction(statements[each.first].id, statements[each.second].id, each.reason)
        for each, cosine in zip(suspected, cosines, strict=True)
        if cosine >= each.least_cosine
    ]


def _meetings(readings: Sequence[_Reading]) -> Iterator[tuple[int, int]]:
    """Yield the places of statements that have something to disagree about, the lower first."""
    groups: dict[object, list[int]] = {}
    for place, reading in enumerate(readings):
        for index in reading.choices:
            groups.setdefault(index, []).append(place)
        if reading.limit:
            groups.setdefault((reading.limit.bound, reading.limit.unit), []).append(place)
        if reading.preference:
            groups.setdefault("preference", []).append(place)
    for group in groups.values():
        yield from combinations(group[:MOST_OF_A_KIND], 2)
    yield from _shared_deeds(readings)


def _shared_deeds(readings: Sequence[_Reading]) -> Iterator[tuple[int, int]]:
    """Yield what one demands and another prohibits in nearly the same words."""
    demands: dict[str, list[int]] = {}
    for place, reading in enumerate(readings):
        if reading.prohibits is False:
            for word in reading.deed:
                demands.setdefault(word, []).append(place)
    for place, reading in enumerate(readings):
        if reading.prohibits:
            # What shares enough words shares one of the rarest: the others need not be looked up.
            rarest = sorted(reading.deed, key=lambda word: (len(demands.get(word, ())), word))
            needed = math.ceil(SAME_DEED * len(rarest))
            others = {
                each
                for word in rarest[: len(rarest) - needed + 1]
                for each in demands.get(word, ())
            }
            yield from ((min(place, other), max(place, other)) for other in sorted(others))


def _are_comparable(one: Statement, other: Statement) -> bool:
    if one.source and one.source == other.source:
        return False
    return not one.scope or not other.scope or bool(one.scope & other.scope)


def _read(statement: Statement) -> _Reading:
    text = _plain(statement.text)
    denies = statement.prohibits
    choices = {
        index: stances
        for index, choice in enumerate(_CHOICES)
        if choice.about.search(text) and (stances := _stances(text, choice, denies=denies))
    }
    return _Reading(
        text,
        denies,
        choices,
        _preference(text),
        _limit(text),
        _prohibits(text, denies=denies),
        _stems(text) | frozenset(_DIGITS.findall(text)),
    )


def _plain(text: str) -> str:
    """Return a text in lower case without its looks."""
    line = _STYLE.sub("", " ".join(text[:LONGEST].split())).lower()
    return line.replace("snake_case", "snakecase").replace("time out", "timeout")


def _disagreement(one: _Reading, other: _Reading) -> tuple[str, float] | None:
    """Return what both disagree about, and from which cosine on that is believed."""
    for index in one.choices.keys() & other.choices.keys():
        if reason := _opposite_choice(one, other, index):
            return reason, NEAR_CHOICE
    if reason := _opposite_preference(one, other):
        return reason, NEAR_CHOICE
    if reason := _different_limit(one, other):
        return reason, NEAR_LIMIT
    if reason := _opposite_deed(one, other):
        return reason, NEAR_DEED
    return None


def _opposite_choice(one: _Reading, other: _Reading, index: int) -> str:
    choice = _CHOICES[index]
    mine, yours = one.choices[index], other.choices[index]
    if not _same_subject(one.text, other.text, choice):
        return ""
    for name in sorted(mine.keys() & yours.keys()):
        if mine[name] != yours[name]:
            return f"One wants {name}, the other does not."
    chosen = {name for name, wanted in mine.items() if wanted}
    others = {name for name, wanted in yours.items() if wanted}
    if chosen and others and not chosen & others:
        return (
            f"One wants {' and '.join(sorted(chosen))}, the other {' and '.join(sorted(others))}."
        )
    return ""


def _stances(text: str, choice: _Choice, *, denies: bool) -> dict[str, bool]:
    """Return for each option that is demanded or denied which it is; nothing if it is both."""
    cues = _cues(text, denies=denies)
    stances: dict[str, bool] = {}
    torn: set[str] = set()
    for name, pattern in choice.options:
        for match in pattern.finditer(text):
            wanted = next((wish for start, wish in reversed(cues) if start <= match.start()), None)
            if wanted is not None and stances.setdefault(name, wanted) != wanted:
                torn.add(name)
    return {name: wanted for name, wanted in stances.items() if name not in torn}


def _cues(text: str, *, denies: bool) -> list[tuple[int, bool | None]]:
    """Return where a text begins to demand (True), to deny (False), or neither (None), in order."""
    denied = [match.span() for match in _DENIED.finditer(text)]
    cues: list[tuple[int, bool | None]] = [(start, False) for start, _ in denied]
    if denies and not denied:
        return [(0, False)]
    if _PREFERENCE.search(text):
        cues += [(match.start(), False) for match in _OVER.finditer(text)]
    cues += [
        (match.start(), True)
        for match in _DEMANDED.finditer(text)
        if not any(start <= match.start() < end for start, end in denied)
    ]
    cues += [(match.start(), None) for match in _SENTENCE_END.finditer(text)]
    return sorted(cues, key=lambda cue: cue[0])


def _same_subject(first: str, second: str, choice: _Choice) -> bool:
    """Return whether both speak of the same thing, the options themselves aside."""
    for _, pattern in choice.options:
        first, second = pattern.sub(" ", first), pattern.sub(" ", second)
    one, other = _stems(first), _stems(second)
    fewer = min(len(one), len(other))
    if not fewer:
        return not choice.needs_subject
    return len(one & other) / fewer >= SAME_SUBJECT


def _preference(text: str) -> tuple[frozenset[str], frozenset[str]] | None:
    match = _THIS_OVER_THAT.search(text)
    if not match or _EXCEPTION.search(text):
        return None
    this, that = _stems(match["this"]), _stems(match["that"])
    return (this, that) if this and that else None


def _opposite_preference(one: _Reading, other: _Reading) -> str:
    if not one.preference or not other.preference:
        return ""
    (this, that), (its_this, its_that) = one.preference, other.preference
    if min(_alike(this, its_that), _alike(that, its_this)) < SAME_THING:
        return ""
    return "Each prefers what the other rejects."


def _different_limit(one: _Reading, other: _Reading) -> str:
    mine, yours = one.limit, other.limit
    if not mine or not yours or mine.value == yours.value:
        return ""
    if (mine.bound, mine.unit) != (yours.bound, yours.unit):
        return ""
    common, fewer = mine.subject & yours.subject, min(len(mine.subject), len(yours.subject))
    if mine.subject != yours.subject and (not fewer or len(common) / fewer < SAME_LIMIT):
        return ""
    return f"One says {mine.shown}, the other {yours.shown}."


def _limit(text: str) -> _Limit | None:
    """Return the one number with a unit that bounds something, if there is one and no condition."""
    for word, digit in _WORD_NUMBERS.items():
        text = re.sub(rf"\b{word}\b", digit, text)
    bound = next((name for name, pattern in _BOUNDS if pattern.search(text)), "")
    found = [match for match in _NUMBER.finditer(text) if match.group(2) in _UNITS]
    if not bound or len(found) != 1 or _EXCEPTION.search(text):
        return None
    unit, factor = _UNITS[found[0].group(2)]
    rest = text[: found[0].start()] + " " + text[found[0].end() :]
    value = float(found[0].group(1)) * factor
    return _Limit(bound, unit, value, " ".join(found[0].groups()), _stems(rest))


def _opposite_deed(one: _Reading, other: _Reading) -> str:
    """Return a reason if one demands what the other prohibits."""
    if one.prohibits is None or other.prohibits is None or one.prohibits == other.prohibits:
        return ""
    if _alike(one.deed, other.deed) < SAME_DEED:
        return ""
    return "One demands what the other prohibits."


def _prohibits(text: str, *, denies: bool) -> bool | None:
    """Return whether a text prohibits; None if it does both, or speaks of a case only."""
    if _EXCEPTION.search(text) or _MISTAKE.search(text):
        return None
    cues = _cues(text, denies=denies)
    wishes = [wish for _, wish in cues if wish is not None]
    if False not in wishes:
        return False
    first = next(start for start, wish in cues if wish is False)
    later = any(wish for start, wish in cues if start > first)
    return None if later or wishes.count(False) > 1 or first > len("you must always ") else True


@lru_cache(maxsize=8192)
def _stems(text: str) -> frozenset[str]:
    words = (word for word in content_words(text) if not word[0].isdigit())
    return frozenset(word if word == "https" else stemmed(word) for word in words) - _CUE_WORDS


def _alike(one: frozenset[str], other: frozenset[str]) -> float:
    return len(one & other) / len(one | other) if one and other else 0.0
