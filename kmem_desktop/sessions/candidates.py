"""Knowledge that a conversation holds: decisions, fixes and preferences, proposed for the inbox.

Precision comes first: an inbox full of junk is never read. A candidate says by itself what it is
about; what only makes sense within its conversation is no knowledge.
"""

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from kmem_desktop.domain.knowledge import CONTENT_LENGTH, TITLE_LENGTH, Category
from kmem_desktop.domain.sessions.conversations import Candidate, Role
from kmem_desktop.sessions import cues
from kmem_desktop.sessions.salience import Outline, rank, shortened_links
from kmem_desktop.sessions.sentences import Passage, PassageKind
from kmem_desktop.sessions.words import content_words, identifiers, weighted_terms
from kmem_desktop.text import one_line

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

SAME = 0.8
"""Cosine from which two candidates are folded into one."""
SAME_WORDS = 0.6
"""Share of words in common from which they are folded too."""
LEAST_SCORE = 0.6
MOST = 12
"""Of one conversation."""

_NAMES_NEEDED = 2
_NEIGHBOURING_LENGTH = 600
_COMMAND = re.compile(r"\W*(?:please )?(?:always|never) \w", re.IGNORECASE)
_ASKS = re.compile(r"\?(?=[\s)\"'*\u201d]|$)")
# "It should work now" hopes; it is not known.
_HOPES = re.compile(
    r"\b(?:should|ought to|would|will) (?:now |then |also |probably )*(?:be (?:able|fixed|resolved"
    r"|gone)|pick|work\b(?! (?:with|only))|see|resolve|fix|help|pass|appear)\b",
    re.IGNORECASE,
)
_STILL_WRONG = re.compile(
    r"\b(?:still (?:getting|get|see|seeing|failing|fails|broken|not|doesn't|does not|the same|same)"
    r"|same (?:error|issue|problem|result|logs?)\b"
    r"|(?:did not|didn't|failed to|doesn't) (?:work|help|resolve|fix))\b",
    re.IGNORECASE,
)
_SETTLED_TURNS = 12
"""A cause that was named is not the cause, if the trouble is still there within so many turns."""
_TOGETHER_LENGTH = 320
_VAGUE = frozenset(
    {"it", "this", "that", "these", "those", "they", "he", "she", "them", "here", "there"}
)

_LEANING = frozenset(
    {
        "and",
        "but",
        "or",
        "so",
        "then",
        "also",
        "because",
        "all",
        "two",
        "three",
        "both",
        "same",
        "otherwise",
        "instead",
        "either",
    }
)


def candidates(
    found: Outline,
    vectors: "NDArray[np.float32] | None" = None,
    *,
    least_score: float = LEAST_SCORE,
) -> list[Candidate]:
    """Return what a conversation holds that may be worth keeping, the surest first.

    Args:
        found: The conversation.
        vectors: The vectors of `found.texts`: float32, shape (passages, dim), L2-normalised; None
            where there is no model: then only like words are folded.
        least_score: What is less sure is junk.
    """
    superseded = {n for r in rank(found, vectors).reversals for n in r.superseded}
    scored: list[tuple[float, int, Category]] = []
    for number, passage in enumerate(found.passages):
        if number in superseded:
            continue
        category = _category(passage)
        score = _score(found, number, category) if category else 0.0
        if category and score >= least_score:
            scored.append((score, number, category))
    return _folded(found, sorted(scored, key=lambda s: (-s[0], -s[1])), vectors)


def same_words(one: str, other: str) -> float:
    """Return how many of the words of two texts are in both: 0 for none, 1 for all."""
    ours, theirs = content_words(one), content_words(other)
    return len(ours & theirs) / max(1, len(ours | theirs))


def _category(passage: Passage) -> Category | None:
    """Return what kind of knowledge a passage may be; None for none."""
    text = passage.text
    is_spoken = passage.kind in (PassageKind.SENTENCE, PassageKind.ITEM)
    if not is_spoken or passage.role in (Role.TOOL, Role.SYSTEM):
        return None
    if cues.is_narration(text) or cues.is_chatter(text) or cues.is_offer(text):
        return None
    if _ASKS.search(text) or _HOPES.search(text):
        return None
    if text.rstrip("*_ ").endswith(":"):
        return None
    is_wish = cues.tells_preference(text) or _COMMAND.match(text)
    if passage.role is Role.USER and is_wish:
        return Category.GUIDELINE
    if cues.tells_fix(text):
        return Category.SOLUTION
    if cues.states_decision(text):
        return Category.DECISION
    return None


def _said(found: Outline, number: int, category: Category) -> str:
    """Return a passage; a cause that names nothing, with the sentence that says more of it."""
    passage = found.passages[number]
    following = found.passages[number + 1] if number + 1 < len(found.passages) else None
    names_something = "`" in passage.text or identifiers(passage.text)
    if category is not Category.SOLUTION or names_something or following is None:
        return passage.text
    goes_on = (
        following.index == passage.index
        and following.place == passage.place + 1
        and following.kind is passage.kind is PassageKind.SENTENCE
        and not cues.is_narration(following.text)
        and not cues.is_offer(following.text)
        and not _ASKS.search(following.text)
    )
    together = f"{passage.text} {following.text}"
    return together if goes_on and len(together) <= _TOGETHER_LENGTH else passage.text


def _is_refuted(found: Outline, index: int) -> bool:
    """Return whether a person says soon after a turn that the trouble is still there."""
    later = found.turns[index + 1 : index + 1 + _SETTLED_TURNS]
    return any(turn.role is not Role.TOOL and _STILL_WRONG.search(turn.text) for turn in later)


def _score(found: Outline, number: int, category: Category) -> float:
    """Return how likely a passage is knowledge: it names things, and stands by itself."""
    passage = found.passages[number]
    text = _said(found, number, category)
    words = weighted_terms(text)
    names = len(identifiers(text)) + text.count("`") // 2
    telling = sum(weight >= 1 for weight in words.values())
    score = 0.35 + 0.1 * min(names, _NAMES_NEEDED) + 0.05 * min(telling, 5)
    if category is Category.GUIDELINE:
        score += 0.2
    first = text.split(maxsplit=1)[0].strip("*_`,.").lower() if text.split() else ""
    if first in _VAGUE or first in _LEANING:
        score -= 0.25
    if len(text) < TITLE_LENGTH[0] * 3 or telling < 2:
        score -= 0.3
    if category is Category.SOLUTION and _is_refuted(found, passage.index):
        score -= 0.25
    if len(found.turns[passage.index].text) > 6_000:
        score -= 0.1  # a passage of a long report is seldom what was agreed
    return max(0.0, min(1.0, score))


def _folded(
    found: Outline,
    scored: Sequence[tuple[float, int, Category]],
    vectors: "NDArray[np.float32] | None",
) -> list[Candidate]:
    """Fold candidates that say the same: the surest stands, and names the others' turns."""
    kept: list[tuple[float, int, Category]] = []
    others: dict[int, list[int]] = {}
    for score, number, category in scored:
        same = next((k for _, k, _ in kept if _says_the_same(found, k, number, vectors)), None)
        if same is not None:
            others.setdefault(same, []).append(found.turns[found.passages[number].index].position)
        elif len(kept) < MOST:
            kept.append((score, number, category))
    return [
        _candidate(found, number, category, score, tuple(sorted(set(others.get(number, ())))))
        for score, number, category in kept
    ]


def _says_the_same(
    found: Outline, one: int, other: int, vectors: "NDArray[np.float32] | None"
) -> bool:
    if vectors is not None and float(vectors[one] @ vectors[other]) >= SAME:
        return True
    return same_words(found.passages[one].text, found.passages[other].text) >= SAME_WORDS


def _candidate(
    found: Outline, number: int, category: Category, score: float, also: tuple[int, ...]
) -> Candidate:
    passage = found.passages[number]
    position = found.turns[passage.index].position
    text = one_line(shortened_links(_said(found, number, category)))
    return Candidate(
        title=_title(text),
        content=_content(found, passage, text),
        category=category,
        position=position,
        score=round(score, 2),
        also_positions=tuple(p for p in also if p != position),
    )


def _title(text: str) -> str:
    plain = text.replace("**", "").replace("`", "").strip().rstrip(".")
    low, high = TITLE_LENGTH
    if len(plain) > high:
        plain = plain[: high - 1].rsplit(" ", 1)[0].rstrip(" ,;:\u2014-") + "\u2026"
    return plain if len(plain) >= low else f"{plain} (from a conversation)"[:high]


def _content(found: Outline, passage: Passage, text: str) -> str:
    """Return the passage; where it is too short to be kept, with what stands around it."""
    low, high = CONTENT_LENGTH
    if len(text) < low:
        whole = one_line(found.turns[passage.index].text)
        place = max(0, whole.find(text[:40]))
        around = whole[max(0, place - 200) : place + _NEIGHBOURING_LENGTH]
        text = (
            around
            if len(around) >= low
            else f"{text} (said in turn {found.turns[passage.index].position} of the conversation)"
        )
    return text[:high]
