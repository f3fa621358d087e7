import hashlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kmem_desktop import text
from kmem_desktop.text import (
    hidden_words,
    identifier_parts,
    normalise_content,
    normalise_title,
    one_line,
    unspaced_pairs,
    unspaced_runs,
)

steady = settings(max_examples=300, derandomize=True, deadline=None, database=None)


@pytest.mark.parametrize(
    ("title", "normal"),
    [
        ("  Use   PNPM\tin\nthe web ", "use pnpm in the web"),
        ("Cafe\u0301", "caf\u00e9"),
        ("STRASSE straße", "strasse strasse"),
        ("ÄÖÜ", "äöü"),
        ("", ""),
    ],
)
def test_titles_are_compared_without_case_and_white_space(title: str, normal: str) -> None:
    assert normalise_title(title) == normal


@pytest.mark.parametrize(
    ("content", "normal"),
    [
        ("a\r\nb\rc\n", "a\nb\nc"),
        ("a\n\n\n\n\nb", "a\n\nb"),
        ("  a  \n  b  ", "a  \n  b"),
        ("cafe\u0301", "caf\u00e9"),
        ("\n\n", ""),
        ("Case Stays", "Case Stays"),
    ],
)
def test_contents_are_compared_with_regular_line_ends(content: str, normal: str) -> None:
    assert normalise_content(content) == normal


@given(st.text())
@steady
def test_a_normal_form_is_its_own_normal_form(given_text: str) -> None:
    for normalise in (normalise_content, one_line):
        assert normalise(normalise(given_text)) == normalise(given_text)


@given(st.text())
@steady
def test_hidden_words_are_words_on_one_line(given_text: str) -> None:
    assert "\n" not in hidden_words(given_text)


def test_a_hash_is_sha_256() -> None:
    assert text.content_hash("é") == hashlib.sha256("é".encode()).hexdigest()


@pytest.mark.parametrize(
    ("word", "parts"),
    [
        ("getUserName", ["get", "User", "Name"]),
        ("HTTPServer2", ["HTTP", "Server", "2"]),
        ("snake_case_word", ["snake", "case", "word"]),
        ("E1234", ["E", "1234"]),
        ("plain", ["plain"]),
        ("", []),
    ],
)
def test_an_identifier_is_split_where_a_reader_would(word: str, parts: list[str]) -> None:
    assert identifier_parts(word) == parts


def test_scripts_without_spaces_are_cut_into_pairs() -> None:
    assert unspaced_runs("abc 错误处理 x エラー ไทย") == ["错误处理", "エラー", "ไทย"]
    assert unspaced_pairs("错误处理") == ["错误", "误处", "处理"]
    assert unspaced_pairs("错") == ["错"]


def test_the_hidden_words_are_parts_and_pairs() -> None:
    assert hidden_words("call getUserName", "plain words", "中文字") == "get User Name 中文 文字"


def test_plain_words_have_no_hidden_ones() -> None:
    assert hidden_words("nothing special here", "1234 and 42") == ""


@pytest.mark.parametrize("long", ["a" * 200_000, "aB" * 100_000, "中" * 100_000, "_1" * 100_000])
def test_a_long_word_is_no_trap(long: str) -> None:
    assert isinstance(hidden_words(long), str)
