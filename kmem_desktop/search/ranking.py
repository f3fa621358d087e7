"""The score of a hit, from normalised relevance and seed 000's boosts.

Raw bm25 is about 2e-6 in a store of two items and 6 to 7 in one of a thousand; an additive boost on
it decides everything in the first and nothing in the second. So relevance is brought to 0..1 first:

    score = relevance x priority_boost x confidence x tag_boost + scope_boost
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

from kmem_desktop.domain.found import Explanation
from kmem_desktop.domain.knowledge import GLOBAL_SCOPE

COLUMN_WEIGHTS = (2.4, 1.2, 0.24, 0.24, 0.5)
"""bm25 weights of title, body, tags, hidden words and context.

The proportions of title, body and tags are seed 000's 10 : 5 : 1. Their size matters too: at 10 : 5
a word counts nearly the same once or five times (nDCG@10 on Cranfield 0.35 against 0.39).
"""

RULE_COLUMN_WEIGHTS = (1.2, 1.2, 0.24, 0.24, 0.5)
"""The same for directives, whose title is only their document's and section's name."""

SAME_SCOPE_BOOST = 0.5
GLOBAL_SCOPE_BOOST = 0.2
TAG_BOOST = 0.1
PRIORITY_STEP = 0.05
MIDDLE_PRIORITY = 5
CLOSE = 0.5
FAR = 0.3
"""Cosines of MiniLM: above the first people call texts alike, below the second unrelated."""


class Classified(Protocol):
    """What of an item counts for its rank."""

    @property
    def tags(self) -> tuple[str, ...]:
        """Its tags."""

    @property
    def scope(self) -> str:
        """Its scope."""

    @property
    def priority(self) -> int:
        """1 to 10."""

    @property
    def confidence(self) -> float:
        """0..1."""


@dataclass(frozen=True, slots=True)
class Boosts:
    """What raises or lowers an item, whatever its words are."""

    priority: float
    confidence: float
    tags: float
    scope: float

    def applied_to(self, relevance: float) -> float:
        """Return the score of an item with this relevance."""
        return relevance * self.priority * self.confidence * self.tags + self.scope


def boosts(item: Classified, *, scope: str | None, context_tags: Iterable[str]) -> Boosts:
    """Return an item's boosts for a question from `scope` about `context_tags`."""
    scope_boost = 0.0
    if scope is not None and item.scope == scope:
        scope_boost = SAME_SCOPE_BOOST
    elif item.scope == GLOBAL_SCOPE:
        scope_boost = GLOBAL_SCOPE_BOOST
    return Boosts(
        priority=1 + (item.priority - MIDDLE_PRIORITY) * PRIORITY_STEP,
        confidence=item.confidence,
        tags=1 + len(_matching_tags(item, context_tags)) * TAG_BOOST,
        scope=scope_boost,
    )


def _matching_tags(item: Classified, context_tags: Iterable[str]) -> list[str]:
    wanted = {tag.lower() for tag in context_tags}
    return [tag for tag in item.tags if tag.lower() in wanted]


def explain(
    item: Classified,
    bm25: float,
    relevance: float,
    *,
    scope: str | None,
    context_tags: Iterable[str],
    words: tuple[str, ...] = (),
    cosine: float | None = None,
) -> Explanation:
    """Return each factor of an item's score, and the reason in words."""
    given = boosts(item, scope=scope, context_tags=context_tags)
    tags = _matching_tags(item, context_tags)
    return Explanation(
        sentence=_sentence(words, cosine, tags, given.scope, item.priority),
        words=words,
        bm25=bm25,
        relevance=relevance,
        priority_boost=given.priority,
        confidence=given.confidence,
        tag_boost=given.tags,
        scope_boost=given.scope,
        cosine=cosine,
    )


def score(explanation: Explanation) -> float:
    """Return the score that the factors of an explanation make."""
    return Boosts(
        explanation.priority_boost,
        explanation.confidence,
        explanation.tag_boost,
        explanation.scope_boost,
    ).applied_to(explanation.relevance)


def words_sentence(words: Sequence[str]) -> str:
    """Say which words of the question an item has."""
    if not words:
        return ""
    if len(words) == 1:
        return f"Has the word {words[0]}"
    return f"Has the words {', '.join(words[:-1])} and {words[-1]}"


_PRIOR_WORDS = {
    "speaker": "said by the person you name",
    "date": "said in the time you name",
    "when": "tells a time",
}


def found_sentence(words: Sequence[str], cosine: float | None, priors: Sequence[str] = ()) -> str:
    """Say why something was found."""
    return _joined(
        [
            words_sentence(words),
            _meaning_words(cosine),
            *(_PRIOR_WORDS[name] for name in priors if name in _PRIOR_WORDS),
        ]
    )


def _meaning_words(cosine: float | None) -> str:
    if cosine is None or cosine < FAR:
        return ""
    return "close in meaning" if cosine >= CLOSE else "somewhat close in meaning"


def _sentence(
    words: Sequence[str],
    cosine: float | None,
    matching_tags: Sequence[str],
    scope_boost: float,
    priority: int,
) -> str:
    parts = [words_sentence(words), _meaning_words(cosine)]
    if matching_tags:
        parts.append(f"tagged {', '.join(matching_tags)}")
    if scope_boost == SAME_SCOPE_BOOST:
        parts.append("same project")
    if priority != MIDDLE_PRIORITY:
        parts.append(f"priority {priority}")
    return _joined(parts)


def _joined(parts: Sequence[str]) -> str:
    said = [part for part in parts if part] or ["Matches the question"]
    sentence = "; ".join(said)
    return f"{sentence[0].upper()}{sentence[1:]}."
