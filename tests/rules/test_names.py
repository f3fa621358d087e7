import pytest

from kmem_desktop.domain.rules import RuleFormat
from kmem_desktop.rules.documents.export import file_name
from kmem_desktop.rules.documents.names import is_rule_file, named_format


@pytest.mark.parametrize(
    "path",
    [
        "CLAUDE.md",
        "CLAUDE.local.md",
        "packages/api/CLAUDE.md",
        "AGENTS.md",
        "GEMINI.md",
        ".cursor/rules/react.mdc",
        ".cursor/rules/web/forms/inputs.mdc",
        "apps/site/.cursor/rules/react.mdc",
        ".cursorrules",
        ".windsurfrules",
        ".clinerules",
        ".clinerules/01-coding.md",
        ".github/copilot-instructions.md",
        ".github/instructions/tests/vitest.instructions.md",
        ".claude/rules/testing.md",
        ".claude/rules/backend/db.md",
        "CONTRIBUTING.md",
        "STYLEGUIDE.md",
        "style-guide.md",
        "docs/style.md",
        "docs/python/style_guide.md",
        "docs/contributing/naming-style.markdown",
        ".cursor\\rules\\react.mdc",
        ".github\\instructions\\a.instructions.md",
        "./AGENTS.md",
        "agents.md",
    ],
)
def test_a_file_of_this_name_holds_rules(path: str) -> None:
    assert is_rule_file(path)


@pytest.mark.parametrize(
    "path",
    [
        "README.md",
        "docs/tutorial.md",
        "src/style.css",
        "docs/style.css",
        "rules.md",
        "claude.txt",
        ".cursor/settings.json",
        ".cursor/rules/notes.txt",
        ".github/workflows/ci.yml",
        ".github/instructions/readme.md",
        ".claude/settings.json",
        "node_modules/pkg/CONTRIBUTING.md",
        "web/node_modules/pkg/AGENTS.md",
        "my.cursorrules.bak",
        "xCLAUDE.md",
        "",
    ],
)
def test_a_file_of_that_name_holds_none(path: str) -> None:
    assert not is_rule_file(path)


@pytest.mark.parametrize(
    ("path", "rule_format"),
    [
        ("CLAUDE.md", RuleFormat.CLAUDE),
        (".claude/rules/a.md", RuleFormat.CLAUDE),
        ("sub\\AGENTS.md", RuleFormat.AGENTS),
        ("GEMINI.md", RuleFormat.AGENTS),
        (".cursorrules", RuleFormat.CURSOR),
        ("anywhere/react.mdc", RuleFormat.CURSOR),
        (".github/copilot-instructions.md", RuleFormat.COPILOT),
        ("go.instructions.md", RuleFormat.COPILOT),
        ("project__CLAUDE.md", RuleFormat.CLAUDE),
        ("STYLEGUIDE.md", RuleFormat.MARKDOWN),
    ],
)
def test_the_name_tells_the_notation(path: str, rule_format: RuleFormat) -> None:
    assert named_format(path) is rule_format


@pytest.mark.parametrize(
    "rule_format",
    [RuleFormat.CLAUDE, RuleFormat.AGENTS, RuleFormat.CURSOR, RuleFormat.COPILOT],
)
def test_an_exported_file_is_found_as_a_rule_file(rule_format: RuleFormat) -> None:
    path = file_name(rule_format, "REST API: errors / ../x")
    assert is_rule_file(path)
    assert named_format(path) is rule_format
    assert ".." not in path
