"""Which passages of a conversation are worth keeping, in a budget: coverage, centre, no repeats.

A passage is worth the words that it adds to what is chosen already (a word weighs by how many turns
it comes up in, and by whether it names something), how near it is to the centre of the
conversation, and how it is worded; that over what it costs. Words do most of it; with vectors,
passages that say the same in other words are seen as repeats. The weights are round figures out of
a flat optimum.

References:
    Takamura and Okumura, "Text summarization model based on maximum coverage problem" (2009);
    Carbonell and Goldstein, "The use of MMR" (1998).
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from kmem_desktop.domain.sessions.conversations import Role, SpokenTurn
from kmem_desktop.sessions import cues
from kmem_desktop.sessions.reversals import Reversal, find_reversals
from kmem_desktop.sessions.sentences import Passage, PassageKind, passages
from kmem_desktop.sessions.words import weighted_terms

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

CANDIDATES = 800
"""So many passages are compared with one another; of longer conversations the best by words."""

_NARRATION = 0.35
_CHATTER = 0.05
_OFFER = 0.2
_QUESTION = 0.7
_RESOLUTION = 2.0
"""For the person's word that it works now."""
_OUTCOME = 1.5
_LOG = 0.2
_HEADING = 0.2
_ROW = 0.8
_TOOL = 0.4
_FEW_WORDS = 0.1
_ON_THE_WAY = 0.6
"""For what an assistant says between two steps of one answer: its last message is the report."""
_HOLDS_NOW = 1.5
"""For what replaces something that was said before."""
_PARTNERS = 3
"""A person, an assistant and the system; where more speak, it is a chat among people."""
_LONG_TURN = 2_500
"""In characters: the passages of longer turns share the weight of one of this length."""
_LONG_POWER = 0.25
_RESTATED = 0.9
"""Just so that of two equals the later one is chosen."""

_SPREAD = 0.5
"""A word weighs as much as the number of turns it comes up in, to this power."""
_CENTRE_FLOOR = 0.3
_REPEAT = 0.5
_COVERED = 0.3
"""What a word still adds that is covered already."""
_SAME_STATEMENT = 0.8
"""Cosine from which the later of two passages stands for both."""
_FIXED_COST = 12
"""In characters: keeps the very short from winning by being short."""
_STOP = 0.05
"""What adds less than this share of what the best added is not worth a line."""

_LONG_LINK = re.compile(r"(?:https?://)?([\w.-]+\.\w+)/\S{25,}")


def shortened_links(text: str) -> str:
    """Return a text whose long links keep only their site and their last part."""
    if "://" not in text:
        return text
    return _LONG_LINK.sub(_short_link, text)


def _short_link(match: re.Match[str]) -> str:
    link = match.group(0)
    last = link.rstrip("/").rsplit("/", 1)[-1]
    is_readable = "%" not in last and len(last) <= 60
    return f"{match.group(1)}/\u2026/{last}" if is_readable else f"{match.group(1)}/\u2026"


@dataclass(frozen=True, slots=True)
class Outline:
    """A conversation taken apart, ready to be ranked.

    Attributes:
        turns: The conversation.
        passages: The passages that may be chosen, in order; of long conversations the best 800.
    """

    turns: tuple[SpokenTurn, ...]
    passages: tuple[Passage, ...]

    @property
    def texts(self) -> tuple[str, ...]:
        """The texts to embed, if there is a model: one vector for each passage."""
        return tuple(passage.text for passage in self.passages)


def _is_chat(turns: Sequence[SpokenTurn]) -> bool:
    return len({turn.speaker for turn in turns if turn.role is not Role.TOOL}) > _PARTNERS


def _turn_weights(turns: Sequence[SpokenTurn]) -> list[float]:
    """Return what a turn's place in the conversation and its length make its passages worth."""
    # Among several people, who sends two lines in a row is not on the way to a report.
    is_chat = _is_chat(turns)
    found: list[float] = []
    for index, turn in enumerate(turns):
        after = turns[index + 1] if index + 1 < len(turns) else None
        goes_on = (
            not is_chat
            and turn.role is Role.ASSISTANT
            and after is not None
            and (after.role, after.speaker) == (turn.role, turn.speaker)
        )
        weight = _ON_THE_WAY if goes_on else 1.0
        found.append(weight * min(1.0, _LONG_TURN / max(1, len(turn.text))) ** _LONG_POWER)
    return found


def outline(turns: Sequence[SpokenTurn]) -> Outline:
    """Take a conversation apart."""
    found = passages(turns)
    if len(found) > CANDIDATES:
        found = _best_by_words(found, _turn_weights(turns))
    return Outline(tuple(turns), tuple(found))


def _best_by_words(found: Sequence[Passage], of_turn: Sequence[float]) -> list[Passage]:
    spread = _spread(found, [weighted_terms(passage.text) for passage in found])
    worth: list[float] = []
    for passage in found:
        words = weighted_terms(passage.text)
        gain = sum(weight * spread[word] for word, weight in words.items())
        price = _FIXED_COST + len(passage.text)
        worth.append(of_turn[passage.index] * _prior(passage, len(words)) * gain / price)
    order = sorted(range(len(found)), key=lambda i: -worth[i])[:CANDIDATES]
    # People's corrections are kept whatever they weigh: they say what does not hold.
    kept = set(order) | {i for i, p in enumerate(found) if _may_correct(p)}
    return [found[i] for i in sorted(kept)]


def _may_correct(passage: Passage) -> bool:
    spoken = passage.kind in (PassageKind.SENTENCE, PassageKind.ITEM)
    return passage.role is Role.USER and spoken and cues.corrects(passage.text)


def _spread(found: Sequence[Passage], words: Sequence[dict[str, float]]) -> dict[str, float]:
    turns_of: dict[str, set[int]] = {}
    for passage, its_words in zip(found, words, strict=True):
        for word in its_words:
            turns_of.setdefault(word, set()).add(passage.index)
    return {word: len(turns) ** _SPREAD for word, turns in turns_of.items()}


def _prior(passage: Passage, word_count: int) -> float:
    """Return what the form and the wording of a passage make it worth."""
    text = passage.text
    if passage.kind is PassageKind.MARKUP or text.startswith("[Request interrupted"):
        return 0.0
    worth = _prior_of_form(passage)
    if passage.role is Role.USER and cues.tells_resolution(text):
        return worth * _RESOLUTION
    if cues.is_chatter(text):
        worth *= _CHATTER
    elif cues.is_narration(text) and not (passage.role is Role.USER and cues.states_decision(text)):
        worth *= _NARRATION
    elif cues.is_offer(text):
        worth *= _OFFER
    if cues.is_question(text):
        worth *= _QUESTION
    if cues.tells_outcome(text):
        worth *= _OUTCOME
    return worth if word_count > 1 else worth * _FEW_WORDS


def _prior_of_form(passage: Passage) -> float:
    worth = _TOOL if passage.role in (Role.TOOL, Role.SYSTEM) else 1.0
    if passage.kind is PassageKind.LOG:
        worth *= _LOG
    elif passage.kind is PassageKind.ROW:
        worth *= _ROW
    elif passage.kind is PassageKind.HEADING or passage.text.rstrip("*_ ").endswith(":"):
        worth *= _HEADING
    return worth


@dataclass(slots=True)
class Ranking:
    """The passages of an outline with what they are worth; chosen one by one.

    Attributes:
        outline: What is ranked.
        reversals: What was taken back.
        prior: What each passage is worth before any is chosen: float64, shape (passages,).
    """

    outline: Outline
    reversals: list[Reversal]
    prior: "NDArray[np.float64]"
    _weights: "NDArray[np.float32]"
    _vectors: "NDArray[np.float32] | None"
    _centre: "NDArray[np.float64]"
    _fresh: "NDArray[np.float32]" = field(init=False)
    _gain: "NDArray[np.float32]" = field(init=False)
    _sizes: "NDArray[np.int64]" = field(init=False)
    _repeats: "NDArray[np.float64]" = field(init=False)

    def __post_init__(self) -> None:
        """Begin with nothing chosen."""
        import numpy as np

        self._fresh = np.ones(self._weights.shape[1], np.float32)
        self._gain = self._weights.sum(axis=1)
        self._sizes = (self._weights > 0).sum(axis=1)
        self._repeats = np.zeros(len(self.prior))

    def take(self, number: int) -> None:
        """Count a passage as chosen: what it says adds less from now on."""
        import numpy as np

        mine = np.flatnonzero(self._weights[number])
        among = self._weights[:, mine]
        # Only what its own words add changes: all is not added up again for each that is chosen.
        self._gain -= among @ (self._fresh[mine] * np.float32(1 - _COVERED))
        self._fresh[mine] *= _COVERED
        if self._vectors is None:
            shared = (among > 0).sum(axis=1)
            alike = shared / np.maximum(np.minimum(self._sizes, max(1, len(mine))), 1)
        else:
            alike = np.clip(self._vectors @ self._vectors[number], 0, 1)
        self._repeats = np.maximum(self._repeats, alike)

    def worth(self) -> "NDArray[np.float64]":
        """Return what each passage would add now."""
        found: NDArray[np.float64] = (
            self.prior * self._gain * (_CENTRE_FLOOR + self._centre) * (1 - _REPEAT * self._repeats)
        )
        return found

    def choose(
        self,
        budget: float,
        costs: "NDArray[np.float64]",
        *,
        opening: Callable[[int], float] = lambda _: 0.0,
        fixed_cost: float = _FIXED_COST,
        stop: float = _STOP,
    ) -> list[int]:
        """Choose passages until the budget is spent, best first.

        Args:
            budget: What may be spent.
            costs: What each passage costs.
            opening: What a passage costs besides, when nothing near it was chosen yet; asked again
                before it is taken.
            fixed_cost: Added when weighing worth against cost.
            stop: Share of the best one's worth below which nothing more is chosen.
        """
        import numpy as np

        open_ = np.ones(len(self.prior), bool)
        chosen: list[int] = []
        left = budget
        best = 0.0
        while True:
            value = self.worth() / (fixed_cost + costs) * (costs <= left) * open_
            number = int(np.argmax(value)) if len(value) else 0
            if not len(value) or value[number] <= stop * best:
                return chosen
            open_[number] = False
            price = float(costs[number]) + opening(number)
            if price > left:
                continue
            best = max(best, float(value[number]))
            left -= price
            chosen.append(number)
            self.take(number)


def rank(found: Outline, vectors: "NDArray[np.float32] | None" = None) -> Ranking:
    """Weigh the passages of a conversation.

    What was taken back later is worth nothing, and of two passages that say the same the later one
    stands for both.

    Args:
        found: The conversation.
        vectors: The vectors of `found.texts`: float32, shape (passages, dim), L2-normalised; None
            where there is no model: then words alone decide.
    """
    import numpy as np

    words = [weighted_terms(shortened_links(text)) for text in found.texts]
    spread = _spread(found.passages, words)
    numbers = {word: number for number, word in enumerate(spread)}
    weights = np.zeros((len(words), len(numbers)), np.float32)
    for row, its_words in enumerate(words):
        for word, weight in its_words.items():
            weights[row, numbers[word]] = weight * spread[word]
    of_turn = _turn_weights(found.turns)
    prior = np.array(
        [
            of_turn[passage.index] * _prior(passage, len(its_words))
            for passage, its_words in zip(found.passages, words, strict=True)
        ]
    )
    reversals = find_reversals(found.passages, vectors)
    for reversal in reversals:
        prior[sorted(reversal.superseded)] = 0
        prior[reversal.now] *= _HOLDS_NOW
    centre = _centre(prior, weights, vectors, found.texts)
    if vectors is not None and len(vectors):
        prior = prior * _not_restated(vectors, prior)
    return Ranking(found, reversals, prior, weights, vectors, centre)


def _centre(
    prior: "NDArray[np.float64]",
    weights: "NDArray[np.float32]",
    vectors: "NDArray[np.float32] | None",
    texts: Sequence[str],
) -> "NDArray[np.float64]":
    """Return how near each passage is to what the conversation is about, 0 to about 1."""
    import numpy as np

    if not len(prior):
        return np.zeros(0)
    if vectors is None:
        mean = weights.sum(axis=1) / (1 + (weights > 0).sum(axis=1))
        return np.asarray(mean / (mean.max() or 1.0), np.float64)
    lengths = np.sqrt([len(text) for text in texts])
    middle = (vectors * (prior * lengths)[:, None]).sum(axis=0)
    middle = middle / (np.linalg.norm(middle) or 1.0)
    return np.asarray(np.clip(vectors @ middle, 0, 1), np.float64)


def _not_restated(
    vectors: "NDArray[np.float32]", prior: "NDArray[np.float64]"
) -> "NDArray[np.float64]":
    """Return a factor for each passage: less where a later one says the same."""
    import numpy as np

    alike = vectors @ vectors.T >= _SAME_STATEMENT
    later = np.triu(alike, k=1) & (prior > 0)[None, :]
    return np.where(later.any(axis=1), _RESTATED, 1.0)
