import re
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kmem_desktop.domain.rules import RuleDocument, RuleFormat, Severity
from kmem_desktop.rules.documents.blocks import MOST_CHARACTERS
from kmem_desktop.rules.documents.draft import MOST_NOTES
from kmem_desktop.rules.documents.parser import parse


def test_every_real_document_gives_rules_or_says_why_not(parsed: list[RuleDocument]) -> None:
    without = []
    for document in parsed:
        if not document.directives:
            without.append(document.path)
            assert any(note.is_warning and note.line == 0 for note in document.notes)
        assert document.name
        assert len(document.notes) <= MOST_NOTES + 1
    assert without == ["awesome-cursorrules__rules__go-temporal-dsl-prompt-file.mdc"]


def test_the_judged_directives_of_the_corpus_are_found_word_for_word(corpora: Path) -> None:
    wanted = {
        "awesome-copilot__instructions__playwright-typescript.md": (
            "**Timeouts**: Rely on Playwright's built-in auto-waiting mechanisms. Avoid hard-coded "
            "waits or increased default timeouts."
        ),
        "awesome-cursorrules__rules__temporal-python-cursorrules.mdc": (
            "Avoid usage of `celery` or any conflicting task queue systems."
        ),
        "awesome-cursorrules__rules__rtl-right-to-left-i18n.mdc": (
            "`margin-inline-start` not `margin-left`"
        ),
        "styleguide__docguide__best_practices.md": "Delete cruft frequently and in small batches.",
    }
    for name, text in wanted.items():
        document = parse(name, (corpora / "rules" / "real" / name).read_text("utf-8"))
        assert text in [each.text for each in document.directives]


def test_the_longest_real_document_is_read_in_time(corpora: Path) -> None:
    name = "awesome-copilot__skills__quality-playbook__SKILL.md"
    text = (corpora / "rules" / "real" / name).read_text("utf-8")
    start = time.process_time()
    document = parse(name, text)
    assert time.process_time() - start < 2
    assert len(document.directives) > 100


def test_rules_and_notes_stand_in_the_order_of_their_lines(parsed: list[RuleDocument]) -> None:
    for document in parsed:
        lines = [each.line for each in document.directives]
        assert lines == sorted(lines)
        noted = [note.line for note in document.notes if note.line]
        assert noted == sorted(noted)


def test_every_line_is_a_rule_or_noted(corpora: Path) -> None:
    name = "getspecstory__specstory-cli__CLAUDE.md"
    text = (corpora / "rules" / "real" / name).read_text("utf-8")
    document = parse(name, text)
    told = {note.line for note in document.notes}
    for note in document.notes:
        if match := re.match(r"Passed over up to line (\d+)", note.message):
            told.update(range(note.line, int(match[1]) + 1))
    lines = text.split("\n")
    untold = [n for n, line in enumerate(lines, start=1) if line.strip() and n not in told]
    # Headings say where a rule stands, and the lines of an example belong to its first.
    assert [n for n in untold if not lines[n - 1].startswith("#")] == [109, 110, 111, 112]


@pytest.mark.parametrize(
    ("name", "count"),
    [
        ("control-chars.md", 1),
        ("emoji-combining.md", 1),
        ("empty.md", 0),
        ("only-newlines.md", 0),
        ("front-matter-only.md", 0),
        ("front-matter-cursor-globs.mdc", 1),
        ("html-script.md", 1),
        ("invalid-utf8.md", 1),
        ("latin1.md", 1),
        ("nul-bytes.md", 1),
        ("rtl-zero-width.md", 1),
        ("unclosed-fence.md", 1),
        ("utf8-bom-cr.md", 1),
        ("yaml-alias-bomb.md", 0),
        ("yaml-python-tag.md", 0),
    ],
)
def test_bad_input_is_read_as_expected(bad_input: Path, name: str, count: int) -> None:
    text = (bad_input / "files" / name).read_bytes().decode("utf-8", "surrogateescape")
    document = parse(name, text)
    assert len(document.directives) == count
    assert any(note.is_warning for note in document.notes) or count
    for each in document.directives:
        each.text.encode("utf-8")
        assert "\0" not in each.text


HOSTILE = {
    "one line of 5 MB": "# R\n\n**[MUST]** " + "word " * 1_000_000,
    "nested brackets": "[" * 50_000 + "x" + "]" * 50_000,
    "nested quotes": ">" * 20_000 + " x\n",
    "nested lists": "\n".join("  " * depth + "- item" for depth in range(1_000)),
    "nested bullets in a line": "- " * 10_000 + "x",
    "open links": "- Use " + "[a](" * 100_000,
    "open bold": "**a " * 150_000,
    "open tags": "<a " * 100_000,
    "back ticks": "` `` ``` " * 50_000,
    "labels": "- " + "a: " * 100_000,
    "clauses": "- when " + "a, " * 100_000,
    "marks": "- 【强制】" + "\n说明\uff1ax" * 20_000,
    "labelled lines in code": "```\n" + "// bad\n" * 50_000,
    "white space": "- Use" + " " * 500_000 + "x",
    "a wide table": "|" * 2_000 + "\n" + "|-" * 2_000 + "|\n" + ("|x" * 2_000 + "\n") * 20,
    "front matter without end": "---\n" + "a: b\n" * 50_000,
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_hostile_text_is_read_quickly(text: str) -> None:
    start = time.process_time()
    document = parse("x.md", text)
    assert time.process_time() - start < 4
    assert document.notes


def test_a_document_without_end_is_read_in_part_and_says_so() -> None:
    document = parse("x.md", "".join(["- Use x\n" * 2_000, "y" * MOST_CHARACTERS]))
    assert document.directives
    assert any("Only the first" in note.message for note in document.notes if note.is_warning)
    assert len(document.notes) == MOST_NOTES + 1
    assert document.notes[-1].line == 0


PIECES = [*"#-*`>|[]()<!~_:=.1 \n\t\r\0ab", "**", "---\n", "MUST", "Use ", "\ud800", "- "]


@settings(max_examples=150, deadline=None)
@given(st.lists(st.sampled_from(PIECES), max_size=120).map("".join) | st.text(max_size=200))
def test_no_text_makes_the_parser_fail(text: str) -> None:
    document = parse("a/b\\AGENTS.md", text)
    for each in document.directives:
        assert each.text
        assert each.text == " ".join(each.text.split())
        each.text.encode("utf-8")


def test_the_parts_of_a_document_are_kept_as_written() -> None:
    document = parse("x.md", "intro\n\n# T\n\nx\n\n## A\n\n- Use b\n\n### B\n\nc\n")
    assert [(each.name, each.line, each.content) for each in document.sections] == [
        ("", 1, "intro"),
        ("T", 3, "x"),
        ("A", 7, "- Use b"),
        ("A > B", 11, "c"),
    ]


def test_what_was_passed_over_is_said_by_line() -> None:
    document = parse("x.md", "# T\n\nSome prose.\n\n```\ncode\n```\n\n- Use b\n\n[x]: y\n\nMore.\n")
    assert [(note.line, note.message) for note in document.notes] == [
        (3, "Passed over up to line 7: prose, code"),
        (9, "Read as SHOULD"),
        (11, "Passed over up to line 13: link definitions or too deep a nesting, prose"),
    ]


def test_a_document_is_named_by_its_title_or_its_file() -> None:
    assert parse("x.md", "# **The** [title](x) #\n").name == "The title"
    assert parse("x.md", "---\nname: Given\n---\ntext\n").name == "Given"
    assert parse("a\\b\\.cursor\\rules\\react-web.mdc", "text").name == "react-web"
    assert parse("", "").name == "Rules"


def test_facts_may_stand_in_the_front_matter() -> None:
    document = parse("x.md", "---\nlayer: 4-Persistence\ntopics: [database]\n---\n- Use keys\n")
    assert document.layer.value == "persistence"
    assert document.directives[0].topics == ("database",)


def test_the_notation_is_known_by_what_stands_in_a_document() -> None:
    assert parse("CLAUDE.md", "## Directives\n**[MUST]** x\n").format is RuleFormat.SEED
    assert parse("CLAUDE.md", "- Use x\n").format is RuleFormat.CLAUDE
    assert parse("x.md", "---\nalwaysApply: true\n---\n- Use x\n").format is RuleFormat.CURSOR
    found = parse("x.md", "Long prose.\n\nMore.\n\nAnd more.\n\n**[SHOULD]** Do x.\n")
    assert found.format is RuleFormat.MARKDOWN
    assert found.directives[0].severity is Severity.SHOULD
