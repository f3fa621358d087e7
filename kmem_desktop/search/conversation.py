"""What a question about a conversation tells besides its words: who, when, and how it is asked.

Each prior is a small addition to the relevance of a turn, worth what the table in `fusion` says.
They hold for any chat: names of its speakers, dates, the length of a turn.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

_MONTHS = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
]
_MONTH = re.compile(
    r"\b(" + "|".join(_MONTHS) + r"|jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec)\b", re.IGNORECASE
)
_YEAR = re.compile(r"\b((?:19|20)\d\d)\b")
_ASKS_WHEN = re.compile(r"\s*(when|how long|what (date|day|month|year|time))\b", re.IGNORECASE)
_TIME_WORDS = re.compile(
    r"\b(yesterday|today|tonight|tomorrow|last|next|ago|week|weekend|month|year|since|recently"
    r"|morning|evening|summer|winter|spring|fall|autumn|(mon|tues|wednes|thurs|fri|satur|sun)day"
    r"|" + "|".join(_MONTHS) + r"|\d{4}|\d+(st|nd|rd|th))\b",
    re.IGNORECASE,
)
_WORD = re.compile(r"\S+")


@dataclass(frozen=True, slots=True)
class AskedFor:
    """What a question asks for.

    Attributes:
        speaker: The one speaker it names; empty for none or several.
        asks_when: Whether it asks for a time.
        months: The months it names, 1 to 12.
        years: The years it names.
        meaning: The question without the speakers' names: what is compared by meaning. A turn
            seldom says the name of who speaks.
    """

    speaker: str
    asks_when: bool
    months: frozenset[int]
    years: frozenset[int]
    meaning: str


def understand(question: str, speakers: Sequence[str]) -> AskedFor:
    """Read a question about conversations of these speakers."""
    named = [name for name in speakers if _name(name).search(question)]
    meaning = question
    for name in named:
        meaning = _name(name).sub(" ", meaning)
    # "may" is a month only with a capital: "may I" is none.
    months = frozenset(_month_number(word) for word in _MONTH.findall(question) if word != "may")
    return AskedFor(
        speaker=named[0] if len(named) == 1 else "",
        asks_when=bool(_ASKS_WHEN.match(question)),
        months=months,
        years=frozenset(int(year) for year in _YEAR.findall(question)),
        meaning=meaning if _WORD.search(meaning) else question,
    )


def _name(name: str) -> re.Pattern[str]:
    return re.compile(rf"\b{re.escape(name)}\b(?:['\u2019]s\b)?", re.IGNORECASE)


def _month_number(word: str) -> int:
    start = word.lower()[:3]
    return 1 + next(index for index, month in enumerate(_MONTHS) if month.startswith(start))


def tells_a_time(text: str) -> bool:
    """Return whether a text says when something is or was."""
    return _TIME_WORDS.search(text) is not None


def fits_date(asked: AskedFor, at: datetime) -> bool:
    """Return whether a turn was said in a month that the question names."""
    return at.month in asked.months and (not asked.years or at.year in asked.years)


def is_question(text: str) -> bool:
    """Return whether a text ends as a question does."""
    return text.rstrip().endswith(("?", "\uff1f"))


def count_words(text: str) -> int:
    """Return how many words a text has."""
    return len(text.split())
