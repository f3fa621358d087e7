import pytest
from hypothesis import given
from hypothesis import strategies as st

from kmem_desktop.rules.documents.front_matter import (
    front_matter,
    quoted,
    split_list,
    unquoted,
)


@pytest.mark.parametrize(
    ("value", "globs"),
    [
        ("**/*.ts, **/*.tsx", ("**/*.ts", "**/*.tsx")),
        ("**/*", ("**/*",)),
        ('["**/*"]', ("**/*",)),
        ("[**/*.py,app/**]", ("**/*.py", "app/**")),
        ("'**/*.cs, **/*.json'", ("**/*.cs", "**/*.json")),
        ('"**/*.go"', ("**/*.go",)),
        ("**/*.{md,js,ts}", ("**/*.{md,js,ts}",)),
        ("**/*.{md,js},src/**", ("**/*.{md,js}", "src/**")),
        ("", ()),
    ],
)
def test_globs_are_read_however_they_are_written(value: str, globs: tuple[str, ...]) -> None:
    assert front_matter(f"---\nglobs: {value}\n---\n").listed("globs") == globs


def test_a_list_may_stand_on_lines_of_its_own() -> None:
    found = front_matter("---\nglobs:\n  - '**/*.ts'\n- src/**\nalwaysApply: true\n---\ntext")
    assert found.listed("globs") == ("**/*.ts", "src/**")
    assert found.is_true("alwaysapply")
    assert found.lines == 6


def test_a_description_may_be_folded_over_lines() -> None:
    found = front_matter("---\ndescription: >-\n  one\n  two\nglobs:\n---\n")
    assert found.text("description") == "one two"
    assert found.listed("globs") == ()


def test_a_colon_in_a_value_is_no_new_key() -> None:
    found = front_matter('---\ndescription: "Use: this"\n---\n')
    assert found.text("description") == "Use: this"


def test_a_rule_across_the_page_is_no_front_matter() -> None:
    assert front_matter("---\n\n# Title\n\ntext\n").lines == 0
    assert front_matter("# Title\n---\na: b\n---\n").lines == 0
    assert front_matter("").lines == 0


def test_lines_that_say_nothing_are_named() -> None:
    assert front_matter("---\na: b\nwhat is this\n# a comment\n---\n").not_read == [3]


def test_no_alias_is_expanded_and_nothing_is_run() -> None:
    found = front_matter(
        '---\na: &a ["x","x"]\nb: [*a,*a]\nx: !!python/object/apply:os.system ["true"]\n---\n'
    )
    assert found.listed("b") == ("*a", "*a")
    assert found.text("x").startswith("!!python")


def test_a_list_without_its_bracket_is_still_read() -> None:
    assert split_list("[api, security") == ("api", "security")


@given(st.text(st.characters(exclude_categories=("Cs", "Cc", "Zs", "Zl", "Zp")), min_size=1))
def test_a_quoted_value_is_read_back(text: str) -> None:
    found = front_matter(f"---\ndescription: {quoted(text)}\n---\n")
    assert found.text("description") == text


def test_quotes_are_taken_off_in_pairs_only() -> None:
    assert unquoted("'it''s'") == "it's"
    assert unquoted('"a \\"b\\""') == 'a "b"'
    assert unquoted("'half") == "'half"
