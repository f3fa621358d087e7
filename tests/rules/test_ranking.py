import json
import time
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from kmem_desktop.domain.rules import (
    Directive,
    Layer,
    RankedDirective,
    RuleStatus,
    ScoreBreakdown,
    Severity,
    TaskContext,
)
from kmem_desktop.providers.embedded import EmbeddedModel
from kmem_desktop.rules import ranking
from kmem_desktop.rules.detection import Head, detect, directive_text, load_head, traits
from kmem_desktop.rules.ranking import EVERYTHING, Candidate, Cut, explain, rank, score

ROOT = Path(__file__).parents[2]
TASK = TaskContext(
    Layer.PERSISTENCE,
    ("database", "performance"),
    ("index", "orders"),
    confidence=0.9,
    alternatives=((Layer.APPLICATION, 0.09),),
    method="embedding",
)
TEXT = "Add an index to the orders table"
PLAIN = Candidate("d", Directive("Index every foreign key.", Severity.SHOULD, "Indexes", 3), "SQL")
PLAIN = replace(PLAIN, cosine=0.5)


def ranked(
    *candidates: Candidate, cut: Cut = EVERYTHING, text: str = TEXT
) -> list[RankedDirective]:
    return rank(TASK, text, candidates, cut=cut)


def with_directive(candidate: Candidate = PLAIN, /, id: str = "e", **changes) -> Candidate:
    changes.setdefault("text", f"Another wording {id}.")
    return replace(candidate, id=id, directive=replace(candidate.directive, **changes))


def first(*candidates: Candidate, text: str = TEXT) -> str:
    return ranked(*candidates, text=text)[0].id


def test_the_weights_are_the_seeds() -> None:
    assert list(ranking.WEIGHTS.values()) == [10, 8, 7, 5, 4, 3]


def test_must_comes_before_should_and_should_before_may() -> None:
    candidates = [
        with_directive(id=name, severity=Severity(name)) for name in ("MAY", "SHOULD", "MUST")
    ]
    assert [each.id for each in ranked(*candidates)] == ["MUST", "SHOULD", "MAY"]


def test_a_document_with_the_last_word_on_a_topic_comes_first() -> None:
    expert = replace(with_directive(id="expert"), authoritative_for=("database",))
    other = replace(with_directive(id="other"), authoritative_for=("frontend",))
    assert first(other, expert) == "expert"


@pytest.mark.parametrize("condition", ["Adding an index", "index the orders"])
def test_a_condition_that_the_task_meets_in_its_words_helps(condition: str) -> None:
    meets = replace(with_directive(id="meets"), when_to_apply=(condition,))
    fails = replace(with_directive(id="fails"), when_to_apply=("Drawing a chart",))
    assert first(fails, meets) == "meets"


def test_a_condition_that_the_task_meets_in_meaning_helps() -> None:
    near = replace(with_directive(id="near"), when_to_apply=("Tuning",), when_cosine=0.55)
    far = replace(with_directive(id="far"), when_to_apply=("Painting",), when_cosine=0.05)
    assert first(far, near) == "near"


def test_a_file_that_the_task_names_counts_as_a_condition_met() -> None:
    applies = replace(with_directive(id="applies"), globs=("**/*.sql",))
    other = with_directive(id="other")
    found = ranked(other, applies, text="Fix db/0042_orders.sql")
    assert found[0].id == "applies"
    assert found[0].breakdown.when_to_apply == 1.0


def test_globs_for_every_file_say_nothing() -> None:
    everywhere = replace(with_directive(), globs=("**/*", "**"))
    assert ranked(everywhere, text="Fix db/a.sql")[0].breakdown.when_to_apply is None


def test_the_layer_of_the_task_helps_and_an_alternative_helps_less() -> None:
    layers = (Layer.PRESENTATION, Layer.APPLICATION, Layer.PERSISTENCE)
    found = ranked(*(with_directive(id=layer.value, layer=layer) for layer in layers))
    assert [each.id for each in found] == ["persistence", "application", "presentation"]


def test_topics_in_common_help() -> None:
    same = with_directive(id="same", topics=("database", "performance"))
    other = with_directive(id="other", topics=("frontend",))
    assert first(other, same) == "same"


@pytest.mark.parametrize("part", ["authority", "when_to_apply", "layer", "topics"])
def test_what_is_not_known_neither_helps_nor_harms(part: str) -> None:
    breakdown = ranked(PLAIN)[0].breakdown
    assert getattr(breakdown, part) is None
    mean = score(breakdown)
    assert (
        score(replace(breakdown, **{part: 1.0})) > mean > score(replace(breakdown, **{part: 0.0}))
    )


def test_what_has_nothing_to_do_with_the_task_is_not_shown_because_it_says_must() -> None:
    loud = Candidate(
        "loud",
        Directive(
            "Never deploy on Friday.",
            Severity.MUST,
            "Release",
            1,
            topics=("database", "performance"),
            layer=Layer.PERSISTENCE,
        ),
        "Release",
        authoritative_for=("database",),
        when_to_apply=(TEXT,),
        cosine=0.02,
    )
    assert [each.id for each in ranked(loud, PLAIN, cut=Cut())] == ["d"]
    assert ranked(loud, cut=Cut()) == []


def test_what_is_far_worse_than_the_best_is_not_shown() -> None:
    weak = replace(with_directive(id="weak"), cosine=0.25)
    assert [each.id for each in ranked(weak, cut=Cut())] == ["weak"]
    strong = replace(with_directive(id="strong"), cosine=0.8)
    assert [each.id for each in ranked(weak, strong, cut=Cut())] == ["strong"]


def test_strict_leaves_out_other_layers_but_not_rules_for_any() -> None:
    candidates = [
        with_directive(id=layer.value, layer=layer)
        for layer in (Layer.PRESENTATION, Layer.PERSISTENCE, Layer.ANY)
    ]
    found = ranked(*candidates, cut=Cut(strict_layer=True))
    assert {each.id for each in found} == {"persistence", "*"}


def test_without_vectors_the_words_decide() -> None:
    near = replace(with_directive(id="near"), cosine=None, lexical=1.0)
    far = replace(with_directive(id="far"), cosine=None, lexical=0.1)
    assert [each.id for each in ranked(far, near, cut=Cut())] == ["near"]


def test_the_same_wording_in_two_files_is_shown_once() -> None:
    copy = replace(
        PLAIN, id="copy", directive=replace(PLAIN.directive, text="index EVERY foreign key")
    )
    assert len(ranked(PLAIN, copy)) == 1


def test_of_two_copies_the_approved_one_stays() -> None:
    proposed = replace(PLAIN, id="proposed", status=RuleStatus.PROPOSED, cosine=0.9)
    assert [each.id for each in ranked(proposed, PLAIN)] == ["d"]


def test_equal_scores_stand_in_the_order_of_file_and_line() -> None:
    lines = [with_directive(id=str(line), line=line) for line in (9, 2, 5)]
    assert [each.id for each in ranked(*lines)] == ["2", "5", "9"]


def test_no_candidates_give_no_directives() -> None:
    assert rank(TASK, TEXT, []) == []


def test_a_task_without_a_layer_is_ranked_by_the_rest() -> None:
    nothing_known = TaskContext(Layer.ANY)
    found = rank(nothing_known, "", [with_directive(layer=Layer.DOCS)], cut=EVERYTHING)
    assert found[0].breakdown.layer is None


@pytest.mark.parametrize("relevance", [-0.2, 0.0, 0.4, 1.0])
def test_the_score_lies_between_nothing_and_the_relevance(relevance: float) -> None:
    parts = dict.fromkeys(("authority", "when_to_apply", "layer", "topics"), 1.0)
    best = ScoreBreakdown(
        **parts, severity=1.0, semantic=1.0, lexical=1.0, concepts=1.0, relevance=relevance
    )
    assert score(best) == pytest.approx(max(relevance, 0.0))
    assert 0 <= score(replace(best, severity=0.0)) <= score(best)


def test_the_explanation_begins_with_what_gates_the_rest() -> None:
    found = explain(ranked(with_directive(layer=Layer.PERSISTENCE))[0].breakdown)
    assert [name for name, _, _ in found] == ["relevance", "layer", "severity", "semantic"]


@cache
def head() -> Head:
    return load_head(ROOT / "resources" / "detection" / "head.json")


@cache
def rules() -> tuple[Candidate, ...]:
    """Directives of our own wording, with traits; their vectors come from the real model."""
    texts = {
        "index": ("Database", "Indexes", "Index the columns that queries filter and sort by."),
        "params": ("Database", "Queries", "Use bind variables; never put input into SQL."),
        "focus": (
            "Web",
            "Accessibility",
            "Keep the focus visible for people who use the keyboard.",
        ),
        "contrast": ("Web", "Colours", "Keep the contrast of text high in dark themes."),
        "waits": ("Tests", "Stability", "Wait for a condition, never for a fixed time."),
        "secrets": ("Delivery", "Pipelines", "Read secrets from the vault, never from the code."),
        "money": ("Domain", "Amounts", "Keep an amount and its currency in one type."),
    }
    wholes = [directive_text(*parts) for parts in texts.values()]
    vectors = EmbeddedModel(ROOT / "resources" / "embedding").embed(wholes)
    return tuple(
        Candidate(
            name,
            Directive(text, Severity.SHOULD, section, 1),
            rule,
            traits=traits(whole, vector, head()),
        )
        for (name, (rule, section, text)), whole, vector in zip(
            texts.items(), wholes, vectors, strict=True
        )
    )


@pytest.mark.parametrize(
    ("task", "best"),
    [
        ("The list of invoices is slow, EXPLAIN shows a table scan", "index"),
        ("SQL injection in the report filter", "params"),
        ("The menu cannot be used without a mouse", "focus"),
        ("Night mode: grey text is hard to read", "contrast"),
        ("Flaky test in the browser suite", "waits"),
        ("API keys are printed by the build job", "secrets"),
        ("Adding euros to dollars should be refused", "money"),
    ],
)
def test_the_directive_that_applies_comes_first(task: str, best: str) -> None:
    model = EmbeddedModel(ROOT / "resources" / "embedding")
    wholes = [directive_text(c.rule, c.directive.section, c.directive.text) for c in rules()]
    vector, *vectors = model.embed([task, *wholes])
    candidates = [
        replace(each, cosine=float(own @ vector))
        for each, own in zip(rules(), vectors, strict=True)
    ]
    context = detect(task, vector, head())
    found = rank(context, task, candidates, traits=traits(task, vector, head()))
    assert found[0].id == best


@pytest.mark.parametrize("task", ["Plan a trip to Italy", "Write a poem about the sea"])
def test_a_task_that_no_rule_is_about_gets_none(task: str) -> None:
    model = EmbeddedModel(ROOT / "resources" / "embedding")
    wholes = [directive_text(c.rule, c.directive.section, c.directive.text) for c in rules()]
    vector, *vectors = model.embed([task, *wholes])
    candidates = [
        replace(each, cosine=float(own @ vector))
        for each, own in zip(rules(), vectors, strict=True)
    ]
    found = rank(
        detect(task, vector, head()), task, candidates, traits=traits(task, vector, head())
    )
    assert found == []


def test_two_hundred_candidates_are_ranked_in_a_moment() -> None:
    chance = np.random.default_rng(1)
    candidates = [
        replace(
            rules()[index % len(rules())],
            id=str(index),
            directive=replace(PLAIN.directive, text=f"Wording {index}"),
            cosine=float(chance.random()),
            when_to_apply=("Creating new API endpoints", "Handling user input"),
        )
        for index in range(200)
    ]
    asked = traits(TEXT, None, head())
    rank(TASK, TEXT, candidates, traits=asked)
    times = []
    for _ in range(20):
        start = time.perf_counter()
        rank(TASK, TEXT, candidates, traits=asked)
        times.append(time.perf_counter() - start)
    assert min(times) < 0.01  # 2 ms on an idle machine


def test_a_breakdown_can_be_written_as_json() -> None:
    breakdown = ranked(PLAIN)[0].breakdown
    assert json.loads(json.dumps({n: getattr(breakdown, n) for n in ranking.WEIGHTS}))
