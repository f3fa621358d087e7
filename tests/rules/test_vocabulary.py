import time

import pytest

from kmem_desktop.rules.terms import CONCEPTS, TECHNOLOGIES
from kmem_desktop.rules.vocabulary import (
    concept_names,
    content_words,
    read_words,
    stemmed,
)


@pytest.mark.parametrize(
    ("text", "concept"),
    [
        ("Add a button", "widget"),
        ("The modals overlap", "overlay"),
        ("Write an integration test", "test kind"),
        ("N+1 when listing teams", "eager loading"),
        ("Rounding of prorated amounts", "calculation"),
        ("Fuzzing the parser", "fuzzing"),
        ("Mehrwertsteuer ist falsch", "tax"),
        ("Agregar una tabla", "table"),
        ("为登录页面添加按钮", "widget"),
        ("データベースが遅い", "speed"),
        ("검색 쿼리를 고친다", "query"),
        ("getUserToken returns null", "token"),
    ],
)
def test_a_term_is_found_in_its_forms_and_languages(text: str, concept: str) -> None:
    assert concept in read_words(text).concepts


@pytest.mark.parametrize(
    ("path", "concept"),
    [
        ("tests/test_import.py", "path tests"),
        ("src/Nav.spec.ts", "path tests"),
        ("Dockerfile", "path deployment"),
        (".github/workflows/ci.yml", "path deployment"),
        ("infra/main.tf", "path deployment"),
        ("src/components/Nav.tsx", "path interface"),
        ("db/migrations/0042_users.sql", "path database"),
        ("README.md", "path docs"),
        ("app/controllers/users.rb", "path service"),
    ],
)
def test_a_path_says_what_lies_there(path: str, concept: str) -> None:
    assert concept in read_words(f"Fix {path}").concepts


@pytest.mark.parametrize(
    ("text", "concept"),
    [
        ("docs: new flags", "says docs"),
        ("test(api): more cases", "says tests"),
        ("[README] New link", "says docs"),
        ("chore(db): tidy up", "says database"),
        ("Document the flags", "begins with document"),
        ("feat(api)!: explain the errors", "begins with document"),
    ],
)
def test_the_beginning_of_a_title_counts(text: str, concept: str) -> None:
    assert concept in read_words(text).concepts


def test_a_word_of_the_title_counts_more_than_one_of_the_body() -> None:
    concepts = read_words("Add an index. The button is fine.").concepts
    assert concepts["index"] > concepts["widget"] > 0


def test_shares_never_exceed_one() -> None:
    concepts = read_words("button button button. button button").concepts
    assert concepts["widget"] == 1.0


def test_technologies_get_their_canonical_spelling() -> None:
    text = "Move from postgres and k8s to sqlite, next.js, C# and asp.net core with github actions"
    named = {"PostgreSQL", "Kubernetes", "SQLite", "Next.js", "C#", "ASP.NET", "GitHub Actions"}
    assert set(read_words(text).technologies) == named


def test_keywords_are_the_words_that_tell_most() -> None:
    keywords = read_words("Please add an index to the orders table, as it was before").keywords
    assert set(keywords[:3]) == {"index", "orders", "table"}
    assert "please" not in keywords


def test_keywords_hold_no_blob_and_no_whole_sentence() -> None:
    keywords = read_words("a" * 50 + " button 数据库查询很慢需要添加索引才能更快").keywords
    assert max(map(len, keywords)) <= 40
    assert "数据库" in keywords


@pytest.mark.parametrize("text", ["", " ", "...", "\x00\ud800", "🙂🙂", "a" * 100_000, "[" * 5000])
def test_any_text_is_read_without_an_error(text: str) -> None:
    read_words(text)


def test_a_very_long_text_is_read_in_a_moment() -> None:
    start = time.perf_counter()
    read_words("an index of the table and a button " * 20_000)
    assert time.perf_counter() - start < 0.5


def test_stop_words_are_left_out_in_four_languages() -> None:
    assert content_words("The index of a table und das ist el index les tests") == [
        "index",
        "table",
        "index",
        "tests",
    ]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("migrations", "migration"),
        ("caching", "cached"),
        ("queries", "query"),
        ("tests", "testing"),
    ],
)
def test_forms_of_a_word_meet_in_one_stem(one: str, other: str) -> None:
    assert stemmed(one) == stemmed(other)


def test_no_term_is_empty_and_no_concept_is_named_twice() -> None:
    terms = [t.strip() for v in (*CONCEPTS.values(), *TECHNOLOGIES.values()) for t in v.split(",")]
    assert all(terms)
    assert len(set(concept_names())) == len(concept_names())
