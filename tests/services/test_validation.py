from typing import Any

import pytest

from kmem_desktop.domain.knowledge import KnowledgeDraft, KnowledgeQuery
from kmem_desktop.errors import InvalidInputError
from kmem_desktop.services.validation import (
    GENERIC_PHRASES,
    Problems,
    checked_draft,
    checked_query,
    normalise_scope,
    scope_problem,
)
from tests.services.memory import draft


def problems_of(**fields: Any) -> list[dict[str, str]]:
    """Return what is said about a draft that is refused."""
    with pytest.raises(InvalidInputError) as caught:
        checked_draft(draft(**fields))
    errors = caught.value.details["errors"]
    assert isinstance(errors, list)
    assert caught.value.message == " ".join(error["message"] for error in errors)
    assert caught.value.code == "VALIDATION_ERROR"
    return errors


@pytest.mark.parametrize(
    "fields",
    [
        {"title": "Ten letter"},
        {"title": "x" * 100},
        {"content": "y" * 50},
        {"content": "y" * 5000},
        {"tags": ("a",)},
        {"tags": tuple(f"t{n}" for n in range(10))},
        {"tags": ("t" * 50,)},
        {"priority": 1},
        {"priority": 10},
        {"confidence": 0.0},
        {"confidence": 1.0},
        {"source": "s" * 200},
        {"scope": "project:" + "x" * 192},
        {"category": "solution"},
    ],
)
def test_a_value_at_the_edge_is_taken(fields: dict[str, Any]) -> None:
    checked_draft(draft(**fields))


@pytest.mark.parametrize(
    ("field", "value", "says"),
    [
        ("title", "Nine char", "Title must be at least 10 characters (it has 9)."),
        ("title", "x" * 101, "Title must be at most 100 characters (it has 101)."),
        ("content", "y" * 49, "Content must be at least 50 characters (it has 49)."),
        ("content", "y" * 5001, "Content must be at most 5000 characters (it has 5001)."),
        ("tags", (), "Tags must be 1 to 10 words (there are 0)."),
        ("tags", tuple("abcdefghijk"), "Tags must be 1 to 10 words (there are 11)."),
        ("tags", ("a", "  "), "Tags must not be empty."),
        ("tags", ("t" * 51,), "Each tag must be at most 50 characters."),
        ("priority", 0, "Priority must be from 1 to 10 (it is 0)."),
        ("priority", 11, "Priority must be from 1 to 10 (it is 11)."),
        ("priority", 10**30, f"Priority must be from 1 to 10 (it is {10**30})."),
        ("confidence", -0.01, "Confidence must be from 0.0 to 1.0 (it is -0.01)."),
        ("confidence", 1.01, "Confidence must be from 0.0 to 1.0 (it is 1.01)."),
        ("confidence", float("nan"), "Confidence must be from 0.0 to 1.0 (it is nan)."),
        ("confidence", float("inf"), "Confidence must be from 0.0 to 1.0 (it is inf)."),
        ("source", "s" * 201, "Source must be at most 200 characters."),
        ("scope", "project:" + "x" * 193, "Scope must be at most 200 characters."),
        ("category", "opinion", "Category must be one of rule, guideline, decision, pattern,"),
    ],
)
def test_a_value_past_the_edge_is_refused_by_its_name_and_limit(
    field: str, value: object, says: str
) -> None:
    errors = problems_of(**{field: value})
    assert [error["field"] for error in errors] == [field]
    assert errors[0]["message"].startswith(says)


def test_all_problems_are_told_at_once() -> None:
    errors = problems_of(title="short", content="short", tags=(), priority=0, scope="x")
    assert [error["field"] for error in errors] == [
        "title",
        "content",
        "tags",
        "scope",
        "priority",
    ]


def test_white_space_does_not_count_as_length() -> None:
    assert problems_of(title="   short      \n\n  ")[0]["field"] == "title"
    assert problems_of(content="short" + "\n" * 100)[0]["field"] == "content"


@pytest.mark.parametrize(
    "scope",
    [
        "global",
        "project:shop",
        "repo:myorg/my-monorepo",
        "project:../../etc",
        "project:with spaces and ünïcode",
        "repo:C:\\Users\\me",
        "repo:git@github.com:me/it.git",
    ],
)
def test_any_name_can_be_a_scope(scope: str) -> None:
    assert scope_problem(normalise_scope(scope)) is None


@pytest.mark.parametrize(
    "scope", ["", "globally", "project:", "project: x", "team:x", "shop", "repo::x", "repo:a\0b"]
)
def test_a_scope_of_another_shape_is_refused_with_an_example(scope: str) -> None:
    errors = problems_of(scope=scope if scope != "project: x" else "project:\u00a0")
    assert errors[0]["field"] == "scope"
    assert "repo:myorg/my-monorepo" in errors[0]["message"]


def test_a_draft_is_brought_to_its_normal_form() -> None:
    tidy = checked_draft(
        KnowledgeDraft(
            title="  Where the  cafe\u0301\tkeeps\nits keys ",
            content="\r\n\r\nFirst line of the content, long enough\r\n\n\n\nsecond\rthird line  ",
            tags=("API", " Back  End ", "api"),
            scope=" Project:Shop ",
            category=" Rule ",
            source="  ",
        )
    )
    assert tidy.title == "Where the caf\u00e9 keeps its keys"
    assert tidy.content == "First line of the content, long enough\n\nsecond\nthird line"
    assert tidy.tags == ("api", "back end")
    assert tidy.scope == "project:shop"
    assert tidy.category == "rule"
    assert tidy.source == "manual"


@pytest.mark.parametrize("phrase", GENERIC_PHRASES)
def test_a_stock_phrase_is_no_knowledge(phrase: str) -> None:
    title = f"{phrase.title()}!".ljust(10, "!")
    content = (f"{phrase}. " * 20)[:200]
    errors = problems_of(title=title, content=content)
    assert [error["field"] for error in errors] == ["title", "content"]
    assert all("too generic" in error["message"] for error in errors)
    assert "name the file, tool or case" in errors[1]["message"]


def test_a_stock_phrase_inside_of_something_specific_is_fine() -> None:
    checked_draft(
        draft(
            title="Remember this port for PostgreSQL",
            content="Keep in mind that PostgreSQL listens on port 5433 in the staging cluster.",
        )
    )
    checked_draft(draft(title="Todo items live in tasks.md of each repository"))


@pytest.mark.parametrize(("field", "length"), [("title", 12), ("content", 60)])
def test_a_text_without_words_is_no_knowledge(field: str, length: int) -> None:
    errors = problems_of(**{field: "!?…" * (length // 3)})
    assert errors[0]["field"] == field
    assert "no words" in errors[0]["message"]


@pytest.mark.parametrize(
    ("field", "value", "says"),
    [
        ("text", "ab", "Query must be at least 3"),
        ("text", "   a  ", "Query must be at least 3"),
        ("text", "x" * 501, "Query must be at most 500"),
        ("limit", 0, "Limit must be from 1 to 20"),
        ("limit", 21, "Limit must be from 1 to 20"),
        ("min_confidence", 1.1, "MinConfidence must be from 0.0 to 1.0"),
        ("scope", "team:x", "Scope must be global"),
    ],
)
def test_a_query_past_its_limits_is_refused(field: str, value: object, says: str) -> None:
    fields: dict[str, Any] = {"text": "how to", field: value}
    with pytest.raises(InvalidInputError, match=says):
        checked_query(KnowledgeQuery(**fields))


def test_a_query_at_its_limits_is_taken() -> None:
    for query in (
        KnowledgeQuery("abc", limit=1, min_confidence=0.0),
        KnowledgeQuery("x" * 500, limit=20, min_confidence=1.0, scope="Repo:A/b"),
    ):
        checked_query(query)
    assert checked_query(KnowledgeQuery(" abc ", scope="Repo:A/b")).scope == "repo:a/b"


def test_without_problems_nothing_is_raised() -> None:
    Problems().raise_if_any()
