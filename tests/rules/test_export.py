from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kmem_desktop.domain.rules import (
    CodeExample,
    Directive,
    Layer,
    RuleDocument,
    RuleFormat,
    Severity,
)
from kmem_desktop.rules.documents.export import export, file_name, merged, severity_label
from kmem_desktop.rules.documents.facts import (
    code_example,
    condition_text,
    directive_text,
    rationale_text,
    section_names,
    section_path,
)
from kmem_desktop.rules.documents.parser import parse
from kmem_desktop.rules.documents.wording import prohibits
from kmem_desktop.text import one_line

every_format = pytest.mark.parametrize("rule_format", list(RuleFormat))

DOCUMENT = RuleDocument(
    "Data rules",
    "rules/data.md",
    RuleFormat.SEED,
    layer=Layer.PERSISTENCE,
    description="How we store: everything",
    topics=("database", "security"),
    authoritative_for=("database",),
    when_to_apply=("Writing a query",),
    globs=("**/*.sql", "db/**/*.{py,ts}"),
    directives=(
        Directive(
            "Use parameters.",
            Severity.MUST,
            "Queries",
            3,
            rationale="Injection.",
            examples=(CodeExample("SELECT 1\n\nWHERE x = $1", "sql"), CodeExample("`$1`")),
            anti_patterns=(CodeExample("```\nx\n```", "md"),),
            topics=("database", "security"),
            layer=Layer.PERSISTENCE,
        ),
        Directive(
            "Concatenate SQL.",
            Severity.SHOULD,
            "Queries > Old",
            9,
            prohibits=True,
            topics=("security",),
            layer=Layer.ANY,
            when_to_apply=("On Mondays",),
        ),
    ),
)


def comparable(document: RuleDocument) -> tuple[Directive, ...]:
    """Return the directives without their lines, those without a section first."""
    plain = [replace(each, line=0) for each in document.directives]
    return tuple(sorted(plain, key=lambda each: bool(each.section)))


def facts(document: RuleDocument) -> RuleDocument:
    """Return what a document says of itself."""
    return replace(document, path="", format=RuleFormat.SEED, sections=(), directives=(), notes=())


def read_back(document: RuleDocument, rule_format: RuleFormat) -> RuleDocument:
    """Return a document as it is after being written and read."""
    return parse(file_name(rule_format, document.name), export(document, rule_format))


@every_format
def test_what_is_written_is_read_back(rule_format: RuleFormat) -> None:
    found = read_back(DOCUMENT, rule_format)
    assert found.format is rule_format
    assert comparable(found) == comparable(DOCUMENT)
    assert facts(found) == facts(DOCUMENT)
    assert [note for note in found.notes if note.is_warning] == []


@every_format
def test_every_document_of_the_corpora_is_read_back(
    parsed: list[RuleDocument], rule_format: RuleFormat
) -> None:
    assert len(parsed) == 65
    for document in parsed:
        found = read_back(document, rule_format)
        assert found.format is rule_format
        assert comparable(found) == comparable(document)
        assert facts(found) == facts(document)


def test_a_rule_is_written_as_a_person_would() -> None:
    assert export(replace(DOCUMENT, directives=DOCUMENT.directives[1:]), RuleFormat.AGENTS) == (
        "# Data rules\n\n"
        "## Metadata\n"
        "- **Layer**: 4-Persistence\n"
        "- **AuthoritativeFor**: [database]\n"
        "- **Topics**: [database, security]\n"
        "- **Description**: How we store: everything\n"
        "- **Globs**: [**/*.sql, db/**/*.{py,ts}]\n\n"
        "## When to Apply\n"
        "- Writing a query\n\n"
        "## Queries\n\n"
        "### Old\n\n"
        "- **SHOULD NOT** Concatenate SQL.\n"
        "  - Topics: [security]\n"
        "  - Layer: *\n"
        "  - When: On Mondays\n"
    )


def test_cursor_gets_its_front_matter_as_cursor_writes_it() -> None:
    assert export(DOCUMENT, RuleFormat.CURSOR).startswith(
        "---\ndescription: 'How we store: everything'\nglobs: **/*.sql, db/**/*.{py,ts}\n"
        "alwaysApply: false\n---\n\n# Data rules\n"
    )


def test_copilot_gets_the_files_that_rules_apply_to() -> None:
    text = export(DOCUMENT, RuleFormat.COPILOT)
    assert "applyTo: '**/*.sql, db/**/*.{py,ts}'\n" in text
    plain = replace(DOCUMENT, description="", globs=())
    assert export(plain, RuleFormat.COPILOT).startswith("# Data rules\n")


def test_a_text_that_forbids_by_itself_is_not_negated_twice() -> None:
    never = Directive("Never use tabs", Severity.MUST, "", 1, prohibits=True)
    assert severity_label(never) == "MUST"
    assert severity_label(replace(never, text="Use tabs")) == "MUST NOT"


def test_several_documents_become_one_with_their_facts_on_each_rule() -> None:
    other = RuleDocument(
        "Names",
        "n.md",
        RuleFormat.MARKDOWN,
        directives=(Directive("Use nouns", Severity.MAY, "", 1),),
    )
    document = merged([DOCUMENT, other], "All rules")
    found = read_back(document, RuleFormat.CLAUDE)
    assert comparable(found) == comparable(document)
    assert [each.section for each in found.directives] == [
        "Data rules > Queries",
        "Data rules > Queries > Old",
        "Names",
    ]
    assert found.directives[1].when_to_apply == (
        "Writing a query",
        "Working on files: **/*.sql, db/**/*.{py,ts}",
        "On Mondays",
    )


@every_format
def test_a_document_without_rules_can_be_written(rule_format: RuleFormat) -> None:
    found = read_back(RuleDocument("Nothing", "", RuleFormat.SEED), rule_format)
    assert found.directives == ()
    assert found.name == "Nothing"


PIECES = [*"abcde -*#`>|[](){}<!~_:=.,;\"'1\\/é强", "**", "MUST", "Why: ", "Never ", "Use ", "```"]
MARKDOWN = st.lists(st.sampled_from(PIECES), min_size=1, max_size=30).map("".join)
CODE_PIECES = [*"ab `~-#\n\t <>*", "```", "**[MUST]** x\n"]
CODE = st.lists(st.sampled_from(CODE_PIECES), min_size=1, max_size=30).map("".join)
LABELS = st.lists(st.from_regex(r"[a-z][a-z -]{0,8}[a-z]", fullmatch=True), max_size=3, unique=True)
EXAMPLES = st.lists(
    st.builds(code_example, CODE, st.sampled_from(["", "python", "c++"])).filter(
        lambda each: bool(each.code.strip())
    ),
    max_size=2,
)


def distinct(conditions: list[str]) -> tuple[str, ...]:
    """Return conditions in normal form, each once."""
    return tuple(dict.fromkeys(filter(None, map(condition_text, conditions))))


@st.composite
def directives(draw: st.DrawFn) -> Directive:
    text = draw(MARKDOWN.map(directive_text).filter(bool))
    return Directive(
        text=text,
        severity=draw(st.sampled_from(Severity)),
        section=section_path(section_names(draw(MARKDOWN | st.just("Metadata > x")))),
        line=0,
        prohibits=draw(st.booleans()) or prohibits(text),
        rationale=rationale_text(draw(MARKDOWN | st.just(""))),
        examples=tuple(draw(EXAMPLES)),
        anti_patterns=tuple(draw(EXAMPLES)),
        topics=tuple(map(one_line, draw(LABELS))),
        layer=draw(st.sampled_from(Layer)),
        when_to_apply=distinct(draw(st.lists(MARKDOWN, max_size=2))),
    )


@st.composite
def documents(draw: st.DrawFn) -> RuleDocument:
    return RuleDocument(
        name="A name",
        path="",
        format=RuleFormat.SEED,
        layer=draw(st.sampled_from(Layer)),
        description=one_line(draw(MARKDOWN)),
        authoritative_for=tuple(map(one_line, draw(LABELS))),
        topics=tuple(map(one_line, draw(LABELS))),
        when_to_apply=distinct(draw(st.lists(MARKDOWN, max_size=2))),
        globs=tuple(draw(st.lists(st.sampled_from(["**/*", "a/*.{b,c}", "[id].ts"]), max_size=2))),
        always_apply=draw(st.booleans()),
        directives=tuple(draw(st.lists(directives(), max_size=4))),
    )


@settings(max_examples=150, deadline=None)
@given(documents(), st.sampled_from(RuleFormat))
def test_whatever_is_written_is_read_back(document: RuleDocument, rule_format: RuleFormat) -> None:
    found = read_back(document, rule_format)
    assert comparable(found) == comparable(document)
    assert facts(found) == facts(document)
