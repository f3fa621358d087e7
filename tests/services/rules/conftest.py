from pathlib import Path

import pytest

from kmem_desktop.domain.changes import Origin, OriginKind

API_RULES = """\
# API rules

- You MUST validate the body of every request before it is used.
- You SHOULD answer a list endpoint page by page.
- Never return a stack trace to a client of the endpoint.
"""

DATABASE_RULES = """\
# Database rules

- Every migration MUST have a way back.
- Prefer an index over a query hint.
"""


@pytest.fixture(autouse=True)
def _tidy(leaves_nothing_open: None) -> None:
    """Every test of this room closes what it opened."""


@pytest.fixture
def you() -> Origin:
    """A person at the command line."""
    return Origin(OriginKind.COMMAND_LINE, "You")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project's folder with rule files, and files that are none."""
    folder = tmp_path / "shopfront"
    (folder / ".cursor/rules").mkdir(parents=True)
    (folder / "node_modules/left-pad").mkdir(parents=True)
    (folder / "AGENTS.md").write_text(API_RULES, encoding="utf-8")
    (folder / ".cursor/rules/database.mdc").write_text(DATABASE_RULES, encoding="utf-8")
    (folder / "node_modules/left-pad/CLAUDE.md").write_text(API_RULES, encoding="utf-8")
    (folder / "README.md").write_text("You MUST read this.", encoding="utf-8")
    return folder
