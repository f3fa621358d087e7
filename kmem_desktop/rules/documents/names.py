"""The names of rule files: which files of a project are read as rules, and how each is written."""

import re

from kmem_desktop.domain.rules import RuleFormat

_CLAUDE = re.compile(r"(?:.*/)?(?:claude(?:\.local)?\.md|\.claude/rules/.+\.(?:md|mdc))")
_AGENTS = re.compile(r"(?:.*/)?(?:agents?|agents\.override|gemini)\.md")
_CURSOR = re.compile(
    r"(?:.*/)?(?:\.cursor/rules/.+\.mdc|\.cursorrules|\.windsurfrules|\.windsurf/rules/.+\.md)"
)
_COPILOT = re.compile(
    r"(?:.*/)?\.github/(?:copilot-instructions\.md|instructions/.+\.instructions\.md)"
)
_CLINE = re.compile(r"(?:.*/)?\.clinerules(?:/.+\.(?:md|txt))?")
_GUIDE = re.compile(
    r"(?:.*/)?(?:contributing|style[-_ ]?guides?|(?:code|coding)[-_ ]?(?:style|standards"
    r"|conventions"
    r"|guidelines)|conventions|[\w.-]+[-_ ]style[-_ ]?guide|docs/(?:.+/)?[^/]*style[^/]*)"
    r"[^/.]*\.(?:md|markdown|mdx)"
)
_BY_ENDING = (
    (".mdc", RuleFormat.CURSOR),
    (".instructions.md", RuleFormat.COPILOT),
)


def is_rule_file(relative_path: str) -> bool:
    """Return whether a file of a project holds rules, by its path from the project's folder."""
    path = _plain(relative_path)
    if path.startswith("node_modules/") or "/node_modules/" in path:
        return False
    return any(
        pattern.fullmatch(path) for pattern in (_CLAUDE, _AGENTS, _CURSOR, _COPILOT, _CLINE, _GUIDE)
    )


def named_format(path: str) -> RuleFormat:
    """Return how a file of this name is written, as far as the name tells."""
    plain = _plain(path)
    for pattern, rule_format in (
        (_CLAUDE, RuleFormat.CLAUDE),
        (_AGENTS, RuleFormat.AGENTS),
        (_COPILOT, RuleFormat.COPILOT),
        (_CURSOR, RuleFormat.CURSOR),
    ):
        if pattern.fullmatch(plain):
            return rule_format
    for ending, rule_format in _BY_ENDING:
        if plain.endswith(ending):
            return rule_format
    # A copy under another name, as in "some-project__CLAUDE.md".
    if plain.endswith("claude.md"):
        return RuleFormat.CLAUDE
    return RuleFormat.AGENTS if plain.endswith("agents.md") else RuleFormat.MARKDOWN


def _plain(path: str) -> str:
    return path.replace("\\", "/").removeprefix("./").casefold()
