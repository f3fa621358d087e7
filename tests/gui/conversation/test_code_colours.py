"""Code in a conversation: what is told apart, in which languages."""

import itertools

import pytest

from kmem_desktop.gui.conversation.code_colours import LONGEST, Ink, coloured, family_of


def pieces(fence: str, code: str) -> list[tuple[str, Ink]]:
    return [(code[p.start : p.end], p.ink) for p in coloured(code, family_of(fence))]


@pytest.mark.parametrize(
    ("fence", "family"),
    [
        ("python", "python"),
        ("ts {1,3}", "c"),
        ("{.rust}", "c"),
        ("SQL", "sql"),
        ("json:file.json", "data"),
        ("", ""),
        ("   ", ""),
        ("brainfuck", ""),
    ],
)
def test_the_words_after_a_fence_name_a_language(fence: str, family: str) -> None:
    assert family_of(fence) == family


def test_keywords_strings_numbers_and_comments_are_told_apart() -> None:
    code = 'def f(a):  # "adds"\n    return a + 0x1F if a else "none # at all"\n'

    assert pieces("py", code) == [
        ("def", Ink.KEYWORD),
        ('# "adds"', Ink.COMMENT),
        ("return", Ink.KEYWORD),
        ("0x1F", Ink.NUMBER),
        ("if", Ink.KEYWORD),
        ("else", Ink.KEYWORD),
        ('"none # at all"', Ink.TEXT),
    ]


def test_an_address_in_a_text_is_no_comment() -> None:
    assert pieces("js", 'const a = "http://x.test/b"; // go') == [
        ("const", Ink.KEYWORD),
        ('"http://x.test/b"', Ink.TEXT),
        ("// go", Ink.COMMENT),
    ]


def test_sql_has_keywords_in_any_case() -> None:
    assert list(pieces("sql", "SELECT a from b -- all")) == [
        ("SELECT", Ink.KEYWORD),
        ("from", Ink.KEYWORD),
        ("-- all", Ink.COMMENT),
    ]


def test_lines_of_a_difference_are_added_or_removed() -> None:
    code = "@@ -1 +1 @@\n-old\n+new\n same\n"

    assert [ink for _, ink in pieces("diff", code)] == [Ink.COMMENT, Ink.REMOVED, Ink.ADDED]
    assert Ink.ADDED.token == "good"


def test_an_open_text_or_comment_ends_with_the_code() -> None:
    assert pieces("c", "/* never closed\nint a;") == [("/* never closed\nint a;", Ink.COMMENT)]
    assert pieces("py", '"""never closed\nif a:') == [('"""never closed\nif a:', Ink.TEXT)]


def test_very_long_code_stays_in_one_colour() -> None:
    assert pieces("py", "if " * LONGEST) == []


@pytest.mark.parametrize("fence", ["py", "js", "css", "sh", "sql", "json", "yaml", "html", "diff"])
def test_any_text_is_read_quickly_and_in_order(fence: str) -> None:
    code = ('"' * 300 + "'" * 300 + "\\" * 300 + "/*" * 300 + "<!--" * 300 + "-" * 300)[:LONGEST]

    found = list(coloured(code, family_of(fence)))

    assert [p.start for p in found] == sorted(p.start for p in found)
    assert all(a.end <= b.start for a, b in itertools.pairwise(found))
