"""Directives for a task: detect what it is about, find candidates, rank them, write the block.

Every step has something to fall back on: a model on kmem's own head, meaning on words, the store on
the baseline rules that come with kmem, and these on an empty block that says so (seed 002,
"Graceful Degradation Strategy").
"""

import asyncio
import logging
import re
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import compress
from typing import TYPE_CHECKING, Any, NamedTuple

from kmem_desktop.config import resource_path
from kmem_desktop.domain.changes import Noun
from kmem_desktop.domain.knowledge import GLOBAL_SCOPE
from kmem_desktop.domain.rule_library import (
    MAX_ITEMS,
    MODES,
    TASK_LENGTH,
    TOKEN_BUDGET,
    RuleAnswer,
    RuleQuery,
    StoredDirective,
)
from kmem_desktop.domain.rules import (
    TOPICS,
    Directive,
    Layer,
    RankedDirective,
    RuleStatus,
    TaskContext,
)
from kmem_desktop.errors import StoreError
from kmem_desktop.events import Change, ChangeFeed
from kmem_desktop.rules import detection, ranking
from kmem_desktop.rules.context_block import BlockOptions, context_block
from kmem_desktop.rules.documents.parser import parse
from kmem_desktop.search.conversation import understand
from kmem_desktop.search.meaning import Meaning
from kmem_desktop.services import found
from kmem_desktop.services.retrieval.hits import Breadth, Hit
from kmem_desktop.services.rules.detecting import ContextDetector, Detected, head
from kmem_desktop.services.validation import Problems
from kmem_desktop.store import fulltext
from kmem_desktop.store.connection import Connection
from kmem_desktop.store.database import Database
from kmem_desktop.store.rules import library as rule_rows

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vector = NDArray[np.float32]

log = logging.getLogger(__name__)

BREADTH = Breadth(30, 80)
TOPIC_CANDIDATES = 30
FEW_HITS = 60
"""Where words and meaning find fewer, so many more are looked at that only share a topic."""
RANKED_PER_ITEM, LEAST_RANKED, MOST_RANKED = 5, 40, 80
"""So many candidates are ranked for each directive that is wanted, within these limits."""
MOST_TRAITS_MADE = 60
"""Traits that are not kept yet are made during a query for at most so many candidates."""
REMEMBERED_ANSWERS = 128
SURE_TOPIC = 0.5
_SEARCH_SIGNS = re.compile(r'(?<!\w)-|[":]')
MODE_WORDS = {
    "architect": ("architecture", "design", "structure"),
    "debug": ("debugging", "errors", "error-handling", "logging", "troubleshooting"),
}
"""What each mode of an assistant looks for besides its task (seed 002's modeSlug)."""


@dataclass(frozen=True, slots=True)
class _Found:
    """What the store gave for a task."""

    ranked: tuple[RankedDirective, ...]
    searched: int
    considered: int
    source_tokens: int


_Key = tuple[RuleQuery, TaskContext, bool]


class _Totals(NamedTuple):
    """How many directives there are, and about how many tokens their documents have."""

    directives: int
    tokens: int


class RuleQueries:
    """Answers tasks with directives."""

    def __init__(
        self,
        database: Database,
        feed: ChangeFeed,
        detector: ContextDetector,
        shows_proposed: Callable[[], bool],
    ) -> None:
        """Search `database`, forget answers when `feed` tells of changes, ask `detector`.

        `shows_proposed` tells whether rules are handed out that no person has approved.
        """
        self._shows_proposed = shows_proposed
        self._database = database
        self._detector = detector
        self._remembered: OrderedDict[_Key, RuleAnswer] = OrderedDict()
        self._totals: dict[tuple[str, ...], _Totals] = {}
        # Ranking holds the interpreter: several threads at it would only take turns, and each
        # turn costs up to 5 ms.
        self._turn = asyncio.Semaphore(1)
        feed.subscribe(self._on_change)

    def _on_change(self, change: Change) -> None:
        if change.noun is Noun.DIRECTIVE or change.origin is None:
            self._remembered.clear()
            self._totals.clear()

    async def detect(self, text: str) -> TaskContext:
        """Return what a text is about.

        Raises:
            InvalidInputError: It is empty or too long.
        """
        _check_length("text", text)
        return (await self._detector.detect(text)).context

    async def query(self, query: RuleQuery) -> RuleAnswer:
        """Return the directives that matter for a task.

        Raises:
            InvalidInputError: A field is out of its limits.
        """
        _check(query)
        started = time.perf_counter()
        detected = await self._detector.detect(query.task)
        detected = replace(detected, context=_in_mode(detected.context, query.mode))
        proposed = self._shows_proposed()
        key = (query, detected.context, proposed)
        answer = self._remembered.get(key)
        if answer is None:
            answer = await self._answer(query, detected, proposed=proposed)
            # What had to do without meaning or rules is better the next time.
            if detected.meaning is not None and not answer.fallback:
                self._remember(key, answer)
        return replace(answer, ms=(time.perf_counter() - started) * 1000)

    def _found(self, connection: Connection, query: RuleQuery, detected: Detected) -> _Found:
        scopes = _scopes(query)
        totals = self._totals.get(scopes)
        if totals is None:
            totals = self._totals[scopes] = _totals(connection, scopes)
        return _look_up(connection, query, detected, totals)

    def _remember(self, key: _Key, answer: RuleAnswer) -> None:
        self._remembered[key] = answer
        if len(self._remembered) > REMEMBERED_ANSWERS:
            self._remembered.popitem(last=False)

    async def _answer(self, query: RuleQuery, detected: Detected, *, proposed: bool) -> RuleAnswer:
        fallback = detected.fallback
        try:
            async with self._turn:
                result = await self._database.read(lambda c: self._found(c, query, detected))
            if not result.searched:
                fallback, result = "no_rules", _baseline(query, detected)
        except StoreError as error:
            log.warning("The rules could not be read: %s", error.message)
            fallback, result = "database_unavailable", _baseline(query, detected)
        options = BlockOptions(
            max_items=query.max_items,
            token_budget=query.token_budget,
            breadcrumbs=query.breadcrumbs,
            severities=query.severities,
            proposed=proposed,
        )
        block = context_block(result.ranked, detected.context, options)
        return RuleAnswer(
            block=block.text,
            citations=block.citations,
            context=detected.context,
            fallback=fallback,
            searched=result.searched,
            considered=result.considered,
            selected=len(block.citations),
            tokens=block.tokens,
            source_tokens=result.source_tokens,
            ms=0.0,
            ranked=result.ranked,
        )


def _look_up(
    connection: Connection, query: RuleQuery, detected: Detected, totals: _Totals
) -> _Found:
    scopes = _scopes(query)
    if not totals.directives:
        return _Found((), 0, 0, 0)
    filters = fulltext.Filters(nouns=(Noun.DIRECTIVE,), scopes=scopes)
    hits = _hits(connection, query.task, filters, detected)
    considered = len(hits)
    hits = _nearest(hits, detected.meaning, _ranked_count(query))
    stored = rule_rows.get_directives(connection, [hit.id for hit in hits])
    candidates = _candidates(connection, hits, stored, detected.meaning)
    vector = detected.meaning.question if detected.meaning else None
    ranked = ranking.rank(
        detected.context,
        query.task,
        candidates,
        traits=detection.traits(query.task, vector, head()),
        cut=ranking.Cut(strict_layer=query.strict_layer),
    )
    return _Found(tuple(ranked), totals.directives, considered, totals.tokens)


def _scopes(query: RuleQuery) -> tuple[str, ...]:
    return (query.scope, GLOBAL_SCOPE) if query.scope else ()


def _totals(connection: Connection, scopes: tuple[str, ...]) -> _Totals:
    return _Totals(
        rule_rows.count_directives(connection, scopes), rule_rows.count_tokens(connection, scopes)
    )


def _plain(task: str) -> str:
    """Return a task as words alone: a flag or a colon in it is no filter of a search."""
    return _SEARCH_SIGNS.sub(" ", task)


def _hits(
    connection: Connection, task: str, filters: fulltext.Filters, detected: Detected
) -> list[Hit]:
    """Return candidates by words and meaning, and a few more that share a topic."""
    parsed = found.readable(connection, _plain(task))
    asked = understand(task, ())
    hits, _ = found.ranked(connection, parsed, filters, detected.meaning, asked, BREADTH)
    known = {hit.id for hit in hits}
    if detected.context.topics and len(hits) < FEW_HITS:
        tags = " OR ".join(f'tags : "{topic}"' for topic in detected.context.topics)
        weights = (0.0, 0.0, 1.0, 0.0, 0.0)
        more, _ = fulltext.candidates(connection, tags, filters, weights, TOPIC_CANDIDATES)
        hits += [
            Hit(each.id, each.noun, 0.0, None, (), 0.0) for each in more if each.id not in known
        ]
    return hits


def _ranked_count(query: RuleQuery) -> int:
    return min(max(query.max_items * RANKED_PER_ITEM, LEAST_RANKED), MOST_RANKED)


def _nearest(hits: list[Hit], meaning: Meaning | None, count: int) -> list[Hit]:
    """Return the hits that are worth a closer look, each with its cosine.

    Ranking costs 50 microseconds a directive; what is far in meaning never comes up by the rest.
    """
    if meaning is None:
        return hits[:count]
    shared = [hit.id for hit in hits if hit.cosine is None]  # a topic alone, or no vector yet
    cosines = meaning.cosines(shared, ()) if shared else {}
    best = max((hit.bm25 for hit in hits), default=0.0) or 1.0

    def nearness(hit: Hit) -> float:
        words = hit.bm25 / best
        cosine = hit.cosine if hit.cosine is not None else cosines.get(hit.id)
        # A directive whose vector is still to be made is taken to be as near as its words are.
        return (words if cosine is None else cosine) + ranking.LEXICAL * words

    nearest = sorted(hits, key=nearness, reverse=True)[:count]
    return [
        replace(hit, cosine=cosines.get(hit.id)) if hit.cosine is None else hit for hit in nearest
    ]


def _candidates(
    connection: Connection,
    hits: Sequence[Hit],
    stored: Mapping[int, StoredDirective],
    meaning: Meaning | None,
) -> list[ranking.Candidate]:
    chosen = [
        hit for hit in hits if hit.id in stored and stored[hit.id].status is not RuleStatus.REJECTED
    ]
    ids = [hit.id for hit in chosen]
    traits = _traits(connection, [stored[i] for i in ids], meaning)
    best = max((hit.bm25 for hit in chosen), default=0.0) or 1.0
    directives = _with_detected([stored[i] for i in ids], traits)
    return [
        ranking.Candidate(
            id=str(hit.id),
            directive=directive,
            rule=stored[hit.id].rule.name,
            path=stored[hit.id].rule.place,
            authoritative_for=stored[hit.id].rule.authoritative_for,
            when_to_apply=stored[hit.id].rule.when_to_apply,
            globs=stored[hit.id].rule.globs,
            traits=traits.get(hit.id),
            cosine=hit.cosine,
            lexical=hit.bm25 / best,
            status=stored[hit.id].status,
        )
        for hit, directive in zip(chosen, directives, strict=True)
    ]


def _with_detected(
    stored: Sequence[StoredDirective], traits: "Mapping[int, Vector]"
) -> list[Directive]:
    """Return directives with what they leave open told by their traits: layer and topics."""
    import numpy as np

    if not traits:
        return [each.directive for each in stored]
    unknown = np.zeros(detection.traits_size(), np.float32)
    shares = np.stack([traits.get(each.id, unknown) for each in stored])
    layers = shares[:, : len(detection.LAYERS)]
    best = layers.argmax(1).tolist()
    is_sure = (layers.max(1) >= detection.RULE_LAYER_CONFIDENCE).tolist()
    topics = (shares[:, len(detection.LAYERS) : detection.OUTPUTS] >= SURE_TOPIC).tolist()
    found = []
    for place, each in enumerate(stored):
        directive = each.directive
        changes: dict[str, Any] = {}
        if directive.layer is Layer.ANY and is_sure[place]:
            changes["layer"] = detection.LAYERS[best[place]]
        if not directive.topics and any(topics[place]):
            changes["topics"] = tuple(compress(TOPICS, topics[place]))
        found.append(replace(directive, **changes) if changes else directive)
    return found


def _traits(
    connection: Connection, stored: Sequence[StoredDirective], meaning: Meaning | None
) -> "dict[int, Vector]":
    """Return the traits that are kept, and those of a few more, made now."""
    import numpy as np

    kept = rule_rows.get_traits(connection, [each.id for each in stored], head().version)
    traits = {i: np.frombuffer(blob, np.float16).astype(np.float32) for i, blob in kept.items()}
    missing = [each for each in stored if each.id not in traits][:MOST_TRAITS_MADE]
    vectors = meaning.vectors([each.id for each in missing]) if meaning and missing else {}
    for each in missing:
        traits[each.id] = traits_of(each, vectors.get(each.id))
    return traits


def traits_of(stored: StoredDirective, vector: "Vector | None") -> "Vector":
    """Return what a directive is compared with a task by."""
    directive = stored.directive
    text = detection.directive_text(
        stored.rule.name, directive.section, directive.text, directive.rationale
    )
    return detection.traits(text, vector, head())


@cache
def _baseline_directives() -> tuple[Directive, ...]:
    path = resource_path("baseline_rules.md")
    return parse(path.name, path.read_text(encoding="utf-8")).directives


def _baseline(query: RuleQuery, detected: Detected) -> _Found:
    """Return the rules that come with kmem, for want of any others."""
    try:
        directives = _baseline_directives()
    except OSError:
        return _Found((), 0, 0, 0)
    candidates = [
        ranking.Candidate(
            id=f"baseline-{number}",
            directive=directive,
            rule="Baseline rules",
            path="baseline_rules.md",
            traits=detection.traits(directive.text, None, head()),
        )
        for number, directive in enumerate(directives, 1)
    ]
    ranked = ranking.rank(
        detected.context,
        query.task,
        candidates,
        traits=detection.traits(query.task, None, head()),
        cut=ranking.EVERYTHING,
    )
    return _Found(tuple(ranked), 0, len(candidates), 0)


def _in_mode(context: TaskContext, mode: str) -> TaskContext:
    more = MODE_WORDS.get(mode, ())
    return replace(context, keywords=(*context.keywords, *more)) if more else context


def _check_length(field: str, text: str) -> None:
    problems = Problems()
    low, high = TASK_LENGTH
    if not low <= len(text.strip()) <= high:
        problems.add(field, f"{field} must be {low} to {high:,} characters.")
    problems.raise_if_any()


def _check(query: RuleQuery) -> None:
    _check_length("taskDescription", query.task)
    problems = Problems()
    for field, value, (low, high) in (
        ("options.maxItems", query.max_items, MAX_ITEMS),
        ("options.tokenBudget", query.token_budget, TOKEN_BUDGET),
    ):
        if not low <= value <= high:
            problems.add(field, f"{field} must be from {low} to {high:,} (it is {value}).")
    if query.mode and query.mode not in MODES:
        problems.add("modeSlug", f"modeSlug must be one of {', '.join(MODES)}.")
    problems.raise_if_any()
