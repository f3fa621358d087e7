import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kmem_desktop.bootstrap import Services
from kmem_desktop.domain.changes import Noun
from kmem_desktop.search.query import MOST_WORDS, STOP_WORDS, parse
from kmem_desktop.search.ranking import COLUMN_WEIGHTS
from kmem_desktop.services.listing import View
from kmem_desktop.store import fulltext
from kmem_desktop.store.connection import Connection
from tests.services.memory import stored
from tests.store.databases import add, fresh

# Nothing that one text says is said by all of them.
DIVERSE = (
    "The quick brown fox jumps over the lazy dog",
    "Der schnelle braune Fuchs springt über den faulen Hund",
    "getUserName reads user_name from config.yaml",
    "错误处理规则 中文 数据库",
    "エラー処理のルール",
    "ошибка базы данных",
    "E1234: ECONNREFUSED at 127.0.0.1:8080",
    "naïve café résumé",
    "😀 😁 emoji",
    "x y z",
    "1 2 3 4 5 6 7 8 9",
    "قاعدة البيانات",
)


@pytest.fixture(scope="module")
def diverse(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Connection]:
    """A store of texts that have nothing in common."""
    with fresh(tmp_path_factory.mktemp("diverse") / "kmem.db") as connection:
        for text in DIVERSE:
            add(connection, text[:20], text)
        yield connection


@pytest.fixture
def leaves_nothing_open() -> None:
    """The store of diverse texts stays open over the tests of this module."""


def count(connection: Connection, text: str, *, typing: bool = False) -> int:
    """Return how many texts a query finds; it may not be a syntax error."""
    match = parse(text, typing=typing).match
    if not match:
        return 0
    return fulltext.candidates(connection, match, fulltext.Filters(), (1.0,) * 5, 1)[1]


def test_every_query_of_the_corpus_is_answered(diverse: Connection, bad_input: Path) -> None:
    lines = (bad_input / "fts-queries.jsonl").read_text(encoding="utf-8").splitlines()
    queries = [json.loads(line)["query"] for line in lines]
    assert len(queries) > 80
    for query in queries:
        for typing in (False, True):
            assert count(diverse, query, typing=typing) < len(DIVERSE), ascii(query[:100])


# What is special to FTS5, to kmem's own syntax, or to tokenizers.
PIECES = st.sampled_from(
    [
        *('"', "-", "*", "(", ")", "NEAR(", "AND", "OR", "NOT", "^", ":", "{", "}", "+", "\0", "'"),
        *("tag:", "scope:", "type:", "before:2026", "after:2026-13", "--", "the", "a", "fox"),
        *(
            "中文",
            "é",
            "e\u0301",
            "\ud800",
            "\u200b",
            "ß",
            "İ",
            "x_y",
            "getUserName",
            "²",
            "Ⅷ",
            "😀",
        ),
    ]
)
QUERIES = st.one_of(
    st.text(max_size=60),
    st.lists(st.one_of(PIECES, st.text(max_size=6)), max_size=14).map(" ".join),
    st.lists(PIECES, max_size=14).map("".join),
)


@given(text=QUERIES, typing=st.booleans())
@settings(max_examples=2000, derandomize=True, deadline=None, database=None)
def test_no_text_is_a_syntax_error_or_finds_everything(
    diverse: Connection, text: str, typing: bool
) -> None:
    assert count(diverse, text, typing=typing) < len(DIVERSE)


@given(text=st.text(alphabet=st.characters(exclude_categories=()), min_size=1, max_size=4))
@settings(max_examples=1000, derandomize=True, deadline=None, database=None)
def test_no_character_is_a_syntax_error(diverse: Connection, text: str) -> None:
    assert count(diverse, f"fox {text} -{text}") < len(DIVERSE)
    assert count(diverse, text * 3) < len(DIVERSE)


@pytest.mark.parametrize(
    "text",
    [
        " ".join(f"word{n}" for n in range(5000)),
        "fox " + " ".join(f"-word{n}" for n in range(5000)),
        "x" * 200_000,
        '"' + "fox " * 5000 + '"',
        "-".join(f"w{n}" for n in range(3000)),
        "中文" * 5000,
        "tag:a " * 2000,
        "(" * 5000,
    ],
)
def test_a_pasted_page_is_a_query_too(diverse: Connection, text: str) -> None:
    assert count(diverse, text) < len(DIVERSE)
    assert len(parse(text).words) <= MOST_WORDS


def test_words_are_joined_by_or_without_stop_words() -> None:
    parsed = parse("How do I configure the cache for tests?")
    assert parsed.match == '("configure" OR "cache" OR "tests")'
    assert parsed.words == ("configure", "cache", "tests")


def test_a_word_is_looked_up_once() -> None:
    assert parse("cache cache Cache").words == ("cache",)


def test_a_phrase_is_looked_up_whole_and_by_its_words() -> None:
    assert parse('"lazy dog"').match == '("lazy dog" OR "lazy" OR "dog")'


def test_a_phrase_that_was_not_closed_is_a_phrase() -> None:
    assert parse('"lazy dog').match == parse('"lazy dog"').match


def test_an_unwanted_word_excludes(diverse: Connection) -> None:
    assert count(diverse, "fox hund") == 2
    assert count(diverse, "fox hund -braune") == 1
    assert count(diverse, 'fox hund -"den faulen"') == 1
    assert count(diverse, "-fox") == 0


@pytest.mark.parametrize("text", ["git push --force", "x - force", "well-force"])
def test_a_dash_that_is_no_minus_excludes_nothing(text: str) -> None:
    assert "NOT" not in parse(text).match
    assert "force" in parse(text).words


def test_stop_words_alone_are_looked_up_as_a_phrase() -> None:
    assert parse("to be or not to be").match == '("to be or not to be")'


@pytest.mark.parametrize("text", ["", "   ", "?", '"', '""', "-", "*", "the", "\0", "\ud800"])
def test_a_query_without_anything_to_look_up_has_no_expression(text: str) -> None:
    assert parse(text).match == ""
    assert not parse(text).has_filters


def test_fields_narrow_and_are_no_words() -> None:
    parsed = parse(
        "login tag:API tag:web scope:project:Shop type:Rule before:2026-05-03 after:2025"
    )
    assert parsed.match == '("login")'
    assert parsed.tags == ("api", "web")
    assert parsed.scope == "project:shop"
    assert parsed.kind == "rule"
    assert parsed.before == datetime(2026, 5, 3, tzinfo=UTC)
    assert parsed.after == datetime(2025, 1, 1, tzinfo=UTC)
    assert parsed.has_filters


@pytest.mark.parametrize("text", ["before:tomorrow", "after:2026-13-45", "before:2026-02-30"])
def test_a_date_that_is_none_is_looked_up_as_words(text: str) -> None:
    parsed = parse(text)
    assert not parsed.has_filters
    assert parsed.match


def test_of_two_scopes_the_last_one_counts() -> None:
    assert parse("scope:global scope:repo:a/b").scope == "repo:a/b"


@pytest.mark.parametrize("text", ["tag:", "tag: x", "mytag:x"])
def test_a_field_without_a_value_or_name_is_a_word(text: str) -> None:
    assert parse(text).tags == ()


def test_the_last_word_matches_what_begins_with_it_while_typing(diverse: Connection) -> None:
    assert count(diverse, "jum") == 0
    assert count(diverse, "jum", typing=True) == 1
    assert count(diverse, "jum ", typing=True) == 0
    assert count(diverse, "ECONN", typing=True) == 1


def test_two_letters_find_what_begins_with_them_only_alone_and_only_in_titles() -> None:
    assert parse("pa", typing=True).match == '("pa" OR title : "pa" *)'
    assert parse("redis pa", typing=True).match == '("redis" OR "pa")'
    assert parse("redis rep", typing=True).match == '("redis" OR "rep" OR "rep" *)'
    assert parse("the", typing=True).match == '(title : "the" *)'
    assert parse("redis the", typing=True).match == '("redis")'
    assert parse("検", typing=True).match.endswith('"検" *)')


def test_the_word_that_is_still_being_typed_is_told() -> None:
    assert parse("redis Repl", typing=True).begun == "repl"
    assert parse("redis repl ", typing=True).begun == ""
    assert parse("redis repl").begun == ""
    assert parse("redis …", typing=True).begun == ""


def test_marks_are_those_of_the_index_however_many_documents_there_are(
    diverse: Connection,
) -> None:
    match = parse("jum", typing=True).match
    ids = [row[0] for row in diverse.execute("SELECT id FROM documents")]
    rows = diverse.execute(
        "SELECT rowid, highlight(documents_index, 0, ?1, ?2),"
        " snippet(documents_index, 1, ?1, ?2, '…', ?3)"
        " FROM documents_index WHERE documents_index MATCH ?4",
        (fulltext.MARK_START, fulltext.MARK_END, fulltext.SNIPPET_TOKENS, match),
    )
    expected = {row[0]: fulltext.Marked(row[1], row[2]) for row in rows}
    assert expected
    assert fulltext.marked(diverse, match, ids) == expected
    assert fulltext.marked(diverse, match, []) == {}


def test_a_finished_field_opens_no_end() -> None:
    assert "*" not in parse("login tag:ap", typing=True).match


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("getUserName", "getUserName"),
        ("getusername", "getUserName"),
        ("UserName", "getUserName"),
        ("user name", "getUserName"),
        ("user_name", "user_name"),
        ("user", "user_name"),
        ("name", "user_name"),
        ("config.yaml", "config.yaml"),
        ("config", "config.yaml"),
        ("yaml", "config.yaml"),
        ("E1234", "E1234"),
        ("1234", "E1234"),
        ("ECONNREFUSED", "ECONNREFUSED"),
        ("econnrefused", "ECONNREFUSED"),
        ("127.0.0.1", "127.0.0.1"),
        ("8080", "8080"),
        ("处理", "错误处理规则"),
        ("错误", "错误处理规则"),
        ("错误处理", "错误处理规则"),
        ("规", "错误处理规则"),
        ("エラー", "エラー処理"),
        ("処理", "エラー処理"),
        ("ошибка", "ошибка"),
        ("ОШИБКА", "ошибка"),
        ("caf\u00e9", "café"),
        ("cafe\u0301", "café"),
        ("cafe", "café"),
        ("CAFÉ", "café"),
        ("resume", "résumé"),
        ("uber", "über"),
        ("jumping", "jumps"),
        ("قاعدة", "قاعدة"),
    ],
)
def test_a_text_is_found_by_its_words_and_their_parts(
    diverse: Connection, query: str, text: str
) -> None:
    match = parse(query).match
    rows, _ = fulltext.candidates(
        diverse, match, fulltext.Filters(nouns=(Noun.KNOWLEDGE,)), COLUMN_WEIGHTS, 20
    )
    bodies = [diverse.execute("SELECT body FROM documents WHERE id = ?", (r.id,)).get for r in rows]
    assert any(text in str(body) for body in bodies)


async def test_a_decomposed_text_is_found_by_a_composed_query(
    services: Services,
) -> None:
    item = await stored(services, "Where the cafe\u0301 keeps its keys")
    listing = await services.listing.show(View("caf\u00e9"))
    assert list(listing.ids) == [item.id]


def test_stop_words_are_words() -> None:
    assert all(word == word.lower().strip() and word for word in STOP_WORDS)
    assert len(STOP_WORDS) > 100
