"""The sentences that tell how an item stands to a question, and what a better one has."""

from collections.abc import Mapping, Sequence
from datetime import datetime

from kmem_desktop.domain.absence import Standing
from kmem_desktop.search import fusion
from kmem_desktop.search.ranking import SAME_SCOPE_BOOST
from kmem_desktop.text import one_line

COLUMN_WORDS = {
    "title": "its title",
    "body": "its text",
    "tags": "its tags",
    "hidden_words": "a part of a name in it",
    "context": "the turns around it",
}
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
MOST_NAMED = 4
"""So many words are named; the others are counted."""
MOST_ADVANTAGES = 3
LEAST_ADVANTAGE = 0.01
TITLE_LENGTH = 80
_PRIOR_ADVANTAGES = {
    "speaker": "was said by the person you name",
    "date": "was said in the time you name",
    "when": "tells a time",
    "length": "says more",
}


def listed(parts: Sequence[str]) -> str:
    """Return "a", "a and b", "a, b and c"."""
    if len(parts) < 2:
        return "".join(parts)
    return f"{', '.join(parts[:-1])} and {parts[-1]}"


def quoted_words(words: Sequence[str]) -> str:
    """Return a few words in quotation marks, and how many more there are."""
    named = [f"“{word}”" for word in words[:MOST_NAMED]]
    more = len(words) - len(named)
    return listed([*named, f"{more} more"] if more > 0 else named)


def quoted_title(title: str) -> str:
    """Return a stored title as a quotation of one line."""
    line = one_line(title)
    return f"“{line if len(line) <= TITLE_LENGTH else line[: TITLE_LENGTH - 1].rstrip() + '…'}”"


def day(moment: datetime) -> str:
    """Return a date as people write it."""
    return f"{moment.day} {_MONTHS[moment.month - 1]} {moment.year}"


def age(moment: datetime, now: datetime) -> str:
    """Return how long ago something was, in one unit."""
    seconds = max(0, round((now - moment).total_seconds()))
    for size, unit in ((86_400, "day"), (3_600, "hour"), (60, "minute")):
        if seconds >= size:
            count = seconds // size
            return f"{count} {unit if count == 1 else unit + 's'} ago"
    return f"{seconds} s ago"


def words_sentence(asked: Sequence[str], columns: Mapping[str, tuple[str, ...]]) -> str:
    """Say which words of the question an item has, where, and which it lacks."""
    if not asked:
        return ""
    if not columns:
        if len(asked) == 1:
            return f"It does not have the word {quoted_words(asked)}."
        return "It has none of your words."
    groups: dict[str, list[str]] = {}
    for word, places in columns.items():
        groups.setdefault(_place_words(places), []).append(word)
    said = listed([f"{quoted_words(words)} {place}" for place, words in groups.items()])
    only = "only " if len(groups) == 1 and "its title" not in said else ""
    if only:
        place = next(iter(groups))
        said = f"{quoted_words(groups[place])} only {place}"
    missing = [word for word in asked if word not in columns]
    if not missing:
        return f"It has {said}."
    lacking = quoted_words(missing)
    return f"It has {said}, but not {lacking}."


def _place_words(places: Sequence[str]) -> str:
    known = [column for column in ("title", "body", "tags") if column in places] or list(places)
    return f"in {listed([COLUMN_WORDS[column] for column in known])}" if known else "in it"


def advantages(own: Standing, other: Standing, *, knows_meaning: bool, best_bm25: float) -> str:
    """Say what another hit has that puts it before an item; empty where nothing stands out."""
    found: list[tuple[float, str]] = []
    share = fusion.WORDS_SHARE if knows_meaning else 1.0
    lead = (other.explanation.bm25 - own.explanation.bm25) / best_bm25 if best_bm25 > 0 else 0.0
    found.append((share * lead, _words_advantage(own, other)))
    mine, theirs = own.explanation.cosine, other.explanation.cosine
    if mine is not None and theirs is not None:
        closer = f"is closer in meaning ({theirs:.2f} against {max(0.0, mine):.2f})"
        found.append((fusion.MEANING_SHARE * (theirs - mine), closer))
    found += _prior_advantages(own, other)
    found += _boost_advantages(own, other)
    telling = sorted((pair for pair in found if pair[0] >= LEAST_ADVANTAGE), reverse=True)
    return listed([words for _, words in telling[:MOST_ADVANTAGES]])


def _words_advantage(own: Standing, other: Standing) -> str:
    more = [word for word in other.columns if word not in own.columns]
    if more:
        also = " too" if own.columns else ""
        return f"has {quoted_words(more)}{also}"
    in_title = [
        word
        for word, places in other.columns.items()
        if "title" in places and "title" not in own.columns[word]
    ]
    if in_title:
        return f"has {quoted_words(in_title)} in its title"
    return "has your words more often, or in a shorter text"


def _prior_advantages(own: Standing, other: Standing) -> list[tuple[float, str]]:
    mine, theirs = dict(own.explanation.priors), dict(other.explanation.priors)
    found = [
        (theirs.get(name, 0.0) - mine.get(name, 0.0), words)
        for name, words in _PRIOR_ADVANTAGES.items()
    ]
    question = theirs.get("question", 0.0) - mine.get("question", 0.0)
    return [*found, (question, "is no question itself")]


def _boost_advantages(own: Standing, other: Standing) -> list[tuple[float, str]]:
    mine, theirs = own.explanation, other.explanation
    return [
        (theirs.scope_boost - mine.scope_boost, _scope_words(theirs.scope_boost)),
        (
            theirs.relevance * (theirs.priority_boost - mine.priority_boost),
            "has a higher priority",
        ),
        (
            theirs.relevance * (theirs.confidence - mine.confidence),
            f"has a confidence of {theirs.confidence:g} ({mine.confidence:g} here)",
        ),
        (theirs.relevance * (theirs.tag_boost - mine.tag_boost), "has more of the tags you gave"),
    ]


def _scope_words(boost: float) -> str:
    return "is of the very scope you asked in" if boost >= SAME_SCOPE_BOOST else "holds everywhere"
