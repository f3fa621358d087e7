"""One relevance from words, meaning, and what is known of a conversation.

    relevance = 0.28 bm25 / best bm25 + 0.72 cosine (+ priors for turns of a conversation)

Both parts are exact for every candidate of either list: taking a missing one for zero loses three
to four points, and reciprocal rank fusion is worse than bm25 alone on conversations. The cosine of
a turn is that of its vector with its neighbours', the bm25 is over the turn and its neighbours.
Weights were learned on four of LoCoMo's dialogues and checked on the fifth, in turn; nothing around
them is steep. `tests/benchmarks` prints what each part is worth.
"""

import math
from collections.abc import Mapping, Sequence

from kmem_desktop.domain.sessions.conversations import Role, Turn
from kmem_desktop.search.conversation import (
    AskedFor,
    count_words,
    fits_date,
    is_question,
    tells_a_time,
)

WORDS_SHARE = 0.28
MEANING_SHARE = 0.72
USUAL_COSINE = 0.5
SPEAKER_PRIOR = 0.22
WHEN_PRIOR = 0.14
DATE_PRIOR = 0.30
LENGTH_PRIOR = 0.07
USUAL_TURN_WORDS = 20
QUESTION_PRIOR = -0.07
MOST_LENGTH_WORDS = 200
"""A longer turn is no better: pasted logs are long."""


def turn_priors(asked: AskedFor, turn: Turn) -> tuple[tuple[str, float], ...]:
    """Return the named additions that a turn gets for a question."""
    priors = {
        "speaker": SPEAKER_PRIOR if asked.speaker and turn.speaker == asked.speaker else 0.0,
        "when": WHEN_PRIOR if asked.asks_when and tells_a_time(turn.text) else 0.0,
        "date": DATE_PRIOR if fits_date(asked, turn.at) else 0.0,
        "length": _length_prior(turn.text),
        "question": QUESTION_PRIOR if is_question(turn.text) and _is_person(turn) else 0.0,
    }
    return tuple((name, value) for name, value in priors.items() if value)


def _is_person(turn: Turn) -> bool:
    """Return whether a person speaks; an assistant may end its answer with a question."""
    return turn.role is Role.USER or bool(turn.speaker)


def _length_prior(text: str) -> float:
    words = min(count_words(text), MOST_LENGTH_WORDS)
    return LENGTH_PRIOR * (math.log1p(words) - math.log1p(USUAL_TURN_WORDS))


def relevance(
    words: float,
    cosine: float | None,
    priors: Sequence[tuple[str, float]] = (),
    *,
    knows_meaning: bool,
) -> float:
    """Return the relevance, before it is brought into 0..1.

    Args:
        words: bm25 by the best bm25, 0..1.
        cosine: -1..1; None where this text has no vector (yet).
        priors: The named additions.
        knows_meaning: Whether the other candidates are compared by meaning too.
    """
    if not knows_meaning:
        shared = words
    else:
        # A text that waits for its vector is taken to be as close as its words let one expect.
        meant = USUAL_COSINE * words if cosine is None else cosine
        shared = WORDS_SHARE * words + MEANING_SHARE * meant
    return shared + sum(value for _, value in priors)


def bounded(scores: Mapping[int, float]) -> dict[int, float]:
    """Bring relevances into 0..1 without changing their order: the few above 1 are squeezed."""
    best = max(scores.values(), default=0.0)
    scale = max(1.0, best)
    return {key: max(0.0, value / scale) for key, value in scores.items()}
