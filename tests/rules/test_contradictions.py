import time
from functools import cache
from pathlib import Path

import pytest

from kmem_desktop.providers.embedded import EmbeddedModel
from kmem_desktop.rules.contradictions import MOST_SUSPECTS, Statement, contradictions, suspects

CONTRARY = [
    ("Use tabs for indentation", "Indent with 4 spaces"),
    ("Use single quotes for strings", "Strings are written with double quotes"),
    ("Always use semicolons", "Do not use semicolons"),
    ("Limit lines to 80 characters", "Keep lines under 120 characters"),
    ("Prefer named exports over default exports", "Use default exports for components"),
    ("Prefer composition over inheritance", "Prefer inheritance over composition"),
    ("Use camelCase for variable names", "Variable names are written in snake_case"),
    ("Never commit directly to main", "Commit directly to main"),
    ("Use function components", "Write class components"),
    ("Functions should be at most 20 lines long", "Functions must not exceed 50 lines"),
    ("Indent by 2 spaces", "Indentation is 4 spaces"),
    ("Write comments for every function", "Do not write comments for functions"),
    ("Use yarn to install packages", "Always install packages with npm"),
    ("Require at least 80% test coverage", "Test coverage must be at least 90 percent"),
    ("Use Jest for unit tests", "Write unit tests with Vitest"),
    ("Requests time out after 30 seconds", "Set the request timeout to 2 minutes"),
    ("Use relative imports", "Prefer absolute imports over relative imports"),
    ("Avoid trailing commas", "Use trailing commas in multi-line literals"),
    ("Never use inline styles", "Use inline styles"),
]
COMPATIBLE = [
    ("Use camelCase for variable names", "Use PascalCase for class names"),
    ("Use double quotes for docstrings", "Use single quotes for strings"),
    ("Use tabs for indentation", "Put spaces around operators"),
    ("Never use eval", "Do not use eval on user input"),
    ("Limit lines to 80 characters", "Limit commit subjects to 50 characters"),
    ("Do not use var; use let", "Use let or const"),
    ("Use named exports", "Avoid default exports"),
    ("Prefer spaces over tabs", "Indent with spaces, not tabs"),
    ("Use HTTPS", "Never use HTTP"),
    ("Functions should be at most 20 lines long", "Files should be at most 400 lines long"),
    ("Retry after 2 seconds", "Give up after 30 seconds"),
    ("Avoid comments that repeat the code", "Write comments that say why"),
    ("Write tests for new features", "Do not change code to make it easier to test"),
    ("Use inline styles only when the value is computed", "Never use inline styles"),
    ("Passwords of 8 characters at least if MFA is on", "Passwords have at least 15 characters"),
    ("Use Jest for unit tests", "Use Jest mocks for network calls"),
]


@cache
def model() -> EmbeddedModel:
    return EmbeddedModel(Path(__file__).parents[2] / "resources" / "embedding")


def flagged(*statements: Statement) -> list[str]:
    """Return the reasons, with the cosines of the real model."""
    vectors = model().embed([each.text for each in statements])
    suspected = suspects(statements)
    cosines = [float(vectors[each.first] @ vectors[each.second]) for each in suspected]
    return [each.reason for each in contradictions(statements, suspected, cosines)]


def pair(one: str, other: str, **both) -> tuple[Statement, Statement]:
    return Statement("a", one, **both), Statement("b", other, **both)


@pytest.mark.parametrize(("one", "other"), CONTRARY)
def test_directives_that_cannot_both_be_followed_are_flagged(one: str, other: str) -> None:
    assert len(flagged(*pair(one, other))) == 1
    assert len(flagged(*pair(other, one))) == 1


@pytest.mark.parametrize(("one", "other"), COMPATIBLE)
def test_directives_that_can_both_be_followed_are_not(one: str, other: str) -> None:
    assert flagged(*pair(one, other)) == []


def test_the_reason_names_what_they_disagree_about() -> None:
    assert flagged(*pair("Use tabs for indentation", "Indent with 4 spaces")) == [
        "One wants tabs, the other spaces."
    ]
    assert flagged(*pair("Limit lines to 80 characters", "Keep lines under 120 characters")) == [
        "One says 80 characters, the other 120 characters."
    ]


def test_a_prohibition_in_its_label_counts() -> None:
    text = "Depend on the database from the domain layer"
    assert flagged(Statement("a", text, prohibits=True), Statement("b", text)) == [
        "One demands what the other prohibits."
    ]
    assert flagged(Statement("a", text, prohibits=True), Statement("b", f"Never {text}")) == []


def test_directives_of_one_section_distinguish_cases() -> None:
    assert flagged(*pair("Use tabs for indentation", "Indent with 4 spaces", source="a#b")) == []


def test_directives_for_different_languages_do_not_meet() -> None:
    go = Statement("a", "Use tabs for indentation", scope=frozenset({"Go"}))
    python = Statement("b", "Indent with 4 spaces", scope=frozenset({"Python"}))
    both = Statement("c", "Indent with 4 spaces")
    assert flagged(go, python) == []
    assert len(flagged(go, both)) == 1


def test_words_that_disagree_about_different_things_are_told_by_meaning() -> None:
    statements = pair("Use tabs for indentation", "Indent with 4 spaces")
    suspected = suspects(statements)
    assert contradictions(statements, suspected, [0.1] * len(suspected)) == []


def test_every_pair_is_named_once_in_order() -> None:
    texts = ["Use tabs for indentation", "Indent with 4 spaces", "Indent with tabs"]
    found = suspects([Statement(str(n), text) for n, text in enumerate(texts)])
    assert [(each.first, each.second) for each in found] == [(0, 1), (1, 2)]


@pytest.mark.parametrize("text", ["", "   ", "...", "\x00", "a" * 10_000, "禁止使用 eval", "5"])
def test_any_text_is_compared_without_an_error(text: str) -> None:
    assert suspects([Statement("a", text), Statement("b", text), Statement("c", "Use eval")]) == []


@pytest.mark.parametrize("copies", [1, 10_000])
def test_ten_thousand_directives_are_compared_in_a_moment(copies: int) -> None:
    statements = [
        Statement(str(n), f"{'Avoid' if n % 5 else 'Use'} module {n // copies} in the program")
        for n in range(10_000)
    ]
    start = time.perf_counter()
    found = suspects(statements)
    assert time.perf_counter() - start < 10
    assert len(found) <= MOST_SUSPECTS


def test_different_numbers_are_different_deeds() -> None:
    assert suspects(pair("Use Python 3", "Never use Python 2")) == []
    assert len(suspects(pair("Use Python 2", "Never use Python 2"))) == 1
