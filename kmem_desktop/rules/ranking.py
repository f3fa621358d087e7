"""Which directives matter for a task, best first, with the reason why.

Seed 001 adds six parts with the weights 10, 8, 7, 5, 4 and 3. Here every part is 0..1 first, what
is not known is left out instead of counting as nothing, and their weighted mean only moves a
directive up or down among those that have to do with the task:

    score = relevance x (1 + PARTS_SHARE x mean of the parts) / (1 + PARTS_SHARE)

Relevance is nearness in meaning, in concepts, in topics and in words. So a rule that has nothing to
do with the task does not appear because it says MUST, and below a cut nothing appears at all.

On the development half (20 tasks) nDCG@10 is 0.85 among the 87 labelled directives, through the
tool; 0.78 by the cosine alone. PARTS_SHARE from 0 to 0.3 lies within 0.03 of each other, which is
noise with 20 tasks. `python -m tests.benchmarks rules rule-queries` measures it, part by part.

References:
    Seed 001, "Domain-Aware Ranking System"; seed 002, "Relevance Ranking Engine".
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from fnmatch import fnmatch
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from kmem_desktop.domain.rules import (
    TOPICS,
    Directive,
    Layer,
    RankedDirective,
    RuleStatus,
    ScoreBreakdown,
    Severity,
    TaskContext,
)
from kmem_desktop.rules.detection import LAYERS, OUTPUTS
from kmem_desktop.rules.vocabulary import content_words, stemmed

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    Vector = NDArray[np.float32]

WEIGHTS = {
    "authority": 10.0,
    "when_to_apply": 8.0,
    "layer": 7.0,
    "topics": 5.0,
    "severity": 4.0,
    "semantic": 3.0,
}
"""Seed 001's, as they stand there."""
PARTS_SHARE = 0.15
"""How far the weighted parts move a directive, beside its relevance."""

SEMANTIC, CONCEPTS, LEXICAL, SAME_TOPICS = 1.0, 0.3, 0.1, 0.2
"""What makes a directive relevant when its vector is known."""
WORDS_CONCEPTS, WORDS_LEXICAL, WORDS_TOPICS = 0.3, 0.3, 0.15
"""The same without a vector; together 0.75, for words alone are less sure."""

SEVERITY_SHARE = {Severity.MUST: 1.0, Severity.SHOULD: 2 / 3, Severity.MAY: 1 / 3}
UNRELATED, SAME = 0.1, 0.6
"""Cosines of MiniLM between which a task meets a condition not at all and entirely."""

LEAST_SCORE = 0.2
"""Below it a directive has nothing to do with the task."""
LEAST_SHARE = 0.45
"""Of the best score; below it a directive would only distract from better ones."""

_PATH = re.compile(r"(?<![\w/])[\w.-]*(?:/[\w.-]+)+|\b[\w-]+\.[a-z]{1,5}\b")
_LETTERS = re.compile(r"[^\w]+")
_EVERYTHING = frozenset({"*", "**", "**/*", "*.*", "**/*.*"})


@dataclass(frozen=True, slots=True)
class Candidate:
    """A directive that may matter, with what is known of it.

    Attributes:
        id: Its id, as the store has it.
        directive: What it says; its topics and its layer may be its document's, or detected.
        rule: The document's name.
        path: Where the document was read from.
        authoritative_for: Topics on which the document has the last word.
        when_to_apply: The document's conditions; the directive's own hold as well.
        globs: Files the document applies to.
        traits: `detection.traits` of its `directive_text`, shape (`traits_size()`,).
        cosine: Of the task with its `directive_text`; None while it has no vector.
        when_cosine: The highest of the task with one of its conditions; None if not known.
        lexical: 0..1, its words' fit (bm25 over the best candidate's).
        status: Whether a person stands behind it.
    """

    id: str
    directive: Directive
    rule: str
    path: str = ""
    authoritative_for: tuple[str, ...] = ()
    when_to_apply: tuple[str, ...] = ()
    globs: tuple[str, ...] = ()
    traits: Vector | None = None
    cosine: float | None = None
    when_cosine: float | None = None
    lexical: float = 0.0
    status: RuleStatus = RuleStatus.APPROVED


@dataclass(frozen=True, slots=True)
class Cut:
    """Below what a directive is not shown.

    Attributes:
        least_score: Below this score it has nothing to do with the task.
        least_share: Nor below this share of the best score.
        strict_layer: Whether only the task's layer counts, and directives for any layer.
    """

    least_score: float = LEAST_SCORE
    least_share: float = LEAST_SHARE
    strict_layer: bool = False


EVERYTHING = Cut(least_score=-1.0, least_share=-1.0)


class _Task(NamedTuple):
    names: frozenset[str]
    topics: frozenset[str]
    shares: dict[Layer, float]
    stems: frozenset[str]
    paths: tuple[str, ...]


def rank(
    task: TaskContext,
    text: str,
    candidates: Sequence[Candidate],
    *,
    traits: Vector | None = None,
    cut: Cut | None = None,
) -> list[RankedDirective]:
    """Return the directives that matter for a task, best first; each wording once.

    Args:
        task: What it is about, as detected.
        text: The task itself.
        candidates: What may matter; a few hundred at most.
        traits: `detection.traits` of the task; without it concepts do not count.
        cut: Below what nothing is shown; `EVERYTHING` shows all.
    """
    cut = cut or Cut()
    known = _task(task, text)
    chosen = [each for each in candidates if not cut.strict_layer or _in_layer(each, task.layer)]
    concepts, topics = _nearness(traits, chosen)
    ranked = [
        _ranked(candidate, _breakdown(candidate, known, concepts[index], topics[index]))
        for index, candidate in enumerate(chosen)
    ]
    ranked.sort(key=_order)
    least = max(cut.least_score, cut.least_share * ranked[0].score) if ranked else 0.0
    return _each_wording_once([each for each in ranked if each.score >= least])


def score(breakdown: ScoreBreakdown) -> float:
    """Return the score that follows from the parts, 0..1."""
    total = weight = 0.0
    for name, share in WEIGHTS.items():
        part = getattr(breakdown, name)
        if part is not None:
            total += share * part
            weight += share
    parts = total / weight
    return max(breakdown.relevance, 0.0) * (1 + PARTS_SHARE * parts) / (1 + PARTS_SHARE)


def explain(breakdown: ScoreBreakdown) -> tuple[tuple[str, float, float], ...]:
    """Return each known part with its value and its weight, the most decisive first.

    Returns:
        (name, 0..1, seed 001's weight); "relevance", which gates the others, comes first.
    """
    parts = [
        (name, value, weight)
        for name, weight in WEIGHTS.items()
        if (value := getattr(breakdown, name)) is not None
    ]
    parts.sort(key=lambda part: -part[1] * part[2])
    return (("relevance", breakdown.relevance, 1.0), *parts)


def _task(task: TaskContext, text: str) -> _Task:
    shares = dict(task.alternatives)
    if task.layer is not Layer.ANY:
        shares[task.layer] = max(task.confidence, *shares.values(), 0.01)
    highest = max(shares.values(), default=0.0)
    known = {layer: share / highest for layer, share in shares.items()} if highest else {}
    return _Task(
        frozenset({*task.topics, *task.keywords, task.layer.value}),
        frozenset(task.topics),
        known if task.layer is not Layer.ANY else {},
        frozenset(map(stemmed, content_words(text))),
        tuple(match.group().removeprefix("/") for match in _PATH.finditer(text)),
    )


def _nearness(
    task: Vector | None, candidates: Sequence[Candidate]
) -> tuple[list[float | None], list[float | None]]:
    """Return how alike concepts and topics are, by cosine; None without traits of both."""
    none: list[float | None] = [None] * len(candidates)
    places = [index for index, each in enumerate(candidates) if each.traits is not None]
    if task is None or not places:
        return none, none
    import numpy as np

    rows = np.stack([candidates[index].traits for index in places])  # type: ignore[misc]
    concepts, topics = list(none), list(none)
    for target, part in ((concepts, slice(OUTPUTS, None)), (topics, slice(len(LAYERS), OUTPUTS))):
        asked, found = task[part], rows[:, part]
        lengths = np.sqrt((found * found).sum(1)) * np.sqrt((asked * asked).sum())
        alike = (found @ asked) / np.maximum(lengths, 1e-6)
        for index, value in zip(places, alike.tolist(), strict=True):
            target[index] = value
    return concepts, topics


def _breakdown(
    candidate: Candidate, task: _Task, concepts: float | None, topics: float | None
) -> ScoreBreakdown:
    semantic = candidate.cosine
    return ScoreBreakdown(
        authority=_authority(candidate, task),
        when_to_apply=_when_to_apply(candidate, task),
        layer=_layer(candidate, task),
        topics=_topics(candidate, task, topics),
        severity=SEVERITY_SHARE[candidate.directive.severity],
        semantic=None if semantic is None else _between(semantic, 0.0, SAME),
        lexical=candidate.lexical,
        concepts=concepts,
        relevance=_relevance(candidate, concepts, topics),
    )


def _relevance(candidate: Candidate, concepts: float | None, topics: float | None) -> float:
    """Return whether the directive has to do with the task, about 0..1."""
    cosine, lexical = candidate.cosine, candidate.lexical
    if cosine is None:
        return (
            WORDS_CONCEPTS * (lexical if concepts is None else concepts)
            + WORDS_LEXICAL * lexical
            + WORDS_TOPICS * (lexical if topics is None else topics)
        )
    found = (
        SEMANTIC * cosine
        + CONCEPTS * (cosine if concepts is None else concepts)
        + SAME_TOPICS * (cosine if topics is None else topics)
        + LEXICAL * lexical
    )
    return found / (SEMANTIC + CONCEPTS + SAME_TOPICS + LEXICAL)


def _authority(candidate: Candidate, task: _Task) -> float | None:
    if not candidate.authoritative_for:
        return None
    return float(any(topic.casefold() in task.names for topic in candidate.authoritative_for))


def _when_to_apply(candidate: Candidate, task: _Task) -> float | None:
    """Compare the conditions in words and in meaning; a file that is named counts as well."""
    if task.paths and _matches_globs(candidate.globs, task.paths):
        return 1.0
    conditions = (*candidate.directive.when_to_apply, *candidate.when_to_apply)
    if not conditions:
        return None
    shared = max(_shared_words(condition, task.stems) for condition in conditions)
    if candidate.when_cosine is None:
        return shared
    return max(shared, _between(candidate.when_cosine, UNRELATED, SAME))


def _shared_words(condition: str, stems: frozenset[str]) -> float:
    words = _stems_of(condition)
    return len(words & stems) / len(words) if words else 0.0


@lru_cache(maxsize=4096)
def _stems_of(condition: str) -> frozenset[str]:
    return frozenset(map(stemmed, content_words(condition)))


def _matches_globs(globs: Sequence[str], paths: Sequence[str]) -> bool:
    return any(
        fnmatch(path, glob) or fnmatch(path, glob.removeprefix("**/"))
        for glob in globs
        if glob not in _EVERYTHING
        for path in paths
    )


def _layer(candidate: Candidate, task: _Task) -> float | None:
    layer = candidate.directive.layer
    return None if layer is Layer.ANY or not task.shares else task.shares.get(layer, 0.0)


def _topics(candidate: Candidate, task: _Task, alike: float | None) -> float | None:
    """Return the mean of the share of topics in common and of how alike the topics are."""
    own = frozenset(candidate.directive.topics) & frozenset(TOPICS)
    if not own or not task.topics:
        return alike
    common = len(own & task.topics) / len(own | task.topics)
    return common if alike is None else (common + alike) / 2


def _between(value: float, lowest: float, highest: float) -> float:
    return min(max((value - lowest) / (highest - lowest), 0.0), 1.0)


def _in_layer(candidate: Candidate, layer: Layer) -> bool:
    return layer is Layer.ANY or candidate.directive.layer in (Layer.ANY, layer)


def _ranked(candidate: Candidate, breakdown: ScoreBreakdown) -> RankedDirective:
    return RankedDirective(
        candidate.id,
        candidate.directive,
        candidate.rule,
        candidate.path,
        round(score(breakdown), 6),
        breakdown,
        candidate.status,
    )


def _order(ranked: RankedDirective) -> tuple[float, float, str, int]:
    severity = SEVERITY_SHARE[ranked.directive.severity]
    return (-ranked.score, -severity, ranked.path, ranked.directive.line)


def _each_wording_once(ranked: Sequence[RankedDirective]) -> list[RankedDirective]:
    """Leave out what stands in another file in the same words; an approved copy wins."""
    first: dict[str, int] = {}
    kept: list[RankedDirective] = []
    for each in ranked:
        wording = _LETTERS.sub(" ", each.directive.text).strip().casefold()
        place = first.setdefault(wording, len(kept)) if wording else len(kept)
        if place == len(kept):
            kept.append(each)
        elif each.status < kept[place].status:  # "approved" comes before "proposed"
            kept[place] = each
    return kept
