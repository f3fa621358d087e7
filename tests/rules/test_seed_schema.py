import json
from pathlib import Path

import pytest

from kmem_desktop.domain.rules import LAYER_LABELS, CodeExample, Layer, RuleFormat, Severity
from kmem_desktop.rules.documents.parser import parse

GOOD = (
    "api-security.md",
    "domain-model.md",
    "react-presentation.crlf.md",
    "relational-persistence.md",
)


def test_the_documents_of_the_schema_are_read_exactly(corpora: Path) -> None:
    folder = corpora / "rules" / "seed-schema"
    expected = json.loads((folder / "EXPECTED.json").read_text("utf-8"))
    assert sorted(expected) == sorted(GOOD)
    for name, wanted in expected.items():
        document = parse(name, (folder / name).read_bytes().decode("utf-8"))
        assert document.format is RuleFormat.SEED
        assert [note for note in document.notes if note.is_warning] == []
        read = {
            "name": document.name,
            "layer": LAYER_LABELS[document.layer],
            "authoritativeFor": list(document.authoritative_for),
            "topics": list(document.topics),
            "whenToApply": list(document.when_to_apply),
            "directives": [
                {
                    "section": each.section,
                    "severity": f"{each.severity} NOT" if each.prohibits else str(each.severity),
                    "text": each.text,
                    "rationale": each.rationale or None,
                    "example": each.examples[0].code if each.examples else None,
                    "antiPattern": each.anti_patterns[0].code if each.anti_patterns else None,
                    "line": each.line,
                }
                for each in document.directives
            ],
        }
        assert read == wanted
        assert {each.topics for each in document.directives} == {document.topics}
        assert {each.layer for each in document.directives} == {document.layer}


def test_of_a_broken_document_the_good_is_kept_and_the_bad_is_named(corpora: Path) -> None:
    text = (corpora / "rules" / "seed-schema" / "malformed-rule.md").read_text("utf-8")
    document = parse("malformed-rule.md", text)
    assert [(each.line, each.severity) for each in document.directives] == [
        (10, Severity.MUST),
        (12, Severity.MUST),
        (19, Severity.SHOULD),
    ]
    assert document.topics == ("api", "security")
    assert document.layer is Layer.ANY
    assert document.when_to_apply == ("twice",)
    warned = {note.line for note in document.notes if note.is_warning}
    assert warned == {2, 3, 4, 6, 9, 10, 11, 12, 16, 17, 22}


@pytest.mark.parametrize(
    ("written", "layer"),
    [
        ("1-Presentation", Layer.PRESENTATION),
        ("2-Application", Layer.APPLICATION),
        ("3-Domain", Layer.DOMAIN),
        ("4-Persistence", Layer.PERSISTENCE),
        ("5-Infrastructure", Layer.DEPLOYMENT),
        ("5-Tests", Layer.TESTS),
        ("6-Docs", Layer.DOCS),
        ("7-Deployment", Layer.DEPLOYMENT),
        ("*", Layer.ANY),
        ("domain", Layer.DOMAIN),
        ("`3 - DOMAIN`", Layer.DOMAIN),
        ("Persistence layer", Layer.PERSISTENCE),
    ],
)
def test_a_layer_is_known_by_its_name_and_not_by_its_number(written: str, layer: Layer) -> None:
    document = parse(
        "a.md", f"# A\n\n## Metadata\n- **Layer**: {written}\n\n## Directives\n\n**[MUST]** Do x.\n"
    )
    assert document.layer is layer
    assert document.directives[0].layer is layer


@pytest.mark.parametrize(
    "line",
    [
        "- **AuthoritativeFor**: [security, api]",
        "- **Authoritative For**: security, api",
        "- authoritative_for: [security, api]",
        "* **Authoritative-for:** security, api",
    ],
)
def test_a_fact_is_read_in_any_spelling(line: str) -> None:
    document = parse("a.md", f"# A\n\n## Metadata\n{line}\n\n## Directives\n\n**[MAY]** Do x.\n")
    assert document.authoritative_for == ("security", "api")


def test_every_severity_can_forbid() -> None:
    document = parse(
        "a.md",
        "## Directives\n**[MUST NOT]** Do a.\n**[SHOULD NOT]** Do b.\n**[MAY]** Do c.\n"
        "**[SHALL]** Do d.\n",
    )
    assert [(each.severity, each.prohibits) for each in document.directives] == [
        (Severity.MUST, True),
        (Severity.SHOULD, True),
        (Severity.MAY, False),
        (Severity.MUST, False),
    ]


def test_a_text_may_go_on_over_several_lines() -> None:
    document = parse("a.md", "## Directives\n**[MUST]** Do\nthis and\nthat.\n**[MUST]** Else.\n")
    assert [each.text for each in document.directives] == ["Do this and that.", "Else."]


def test_a_directive_keeps_all_its_examples_and_facts() -> None:
    document = parse(
        "a.md",
        "# A\n\n## Metadata\n- **Topics**: [api]\n\n## Directives\n\n### S\n"
        "**[SHOULD]** Do x.\n\n**Rationale**: Because\nof y.\n\n**Topics**: [testing]\n\n"
        "**Layer**: 5-Tests\n\n**When to Apply**: always\n\n"
        "**Example**: `x()`\n\n**Example**:\n```python\nx()\n\ny()\n```\n\n"
        "**Anti-pattern**:\n~~~\nz\n~~~\n",
    )
    (directive,) = document.directives
    assert directive.rationale == "Because of y."
    assert directive.topics == ("testing",)
    assert directive.layer is Layer.TESTS
    assert directive.when_to_apply == ("always",)
    assert directive.examples == (CodeExample("`x()`"), CodeExample("x()\n\ny()", "python"))
    assert directive.anti_patterns == (CodeExample("z"),)


def test_code_is_never_a_directive() -> None:
    document = parse(
        "a.md",
        "## Directives\n**[MUST]** first\n\n```python\n**[MUST]** code, not a rule\n",
    )
    assert [each.text for each in document.directives] == ["first"]
    assert any("never ends" in note.message for note in document.notes if note.is_warning)


def test_html_in_a_text_stays_text() -> None:
    document = parse("a.md", "## Directives\n**[MUST]** <script>alert(1)</script> <img src=x>\n")
    assert document.directives[0].text == "<script>alert(1)</script> <img src=x>"
