"""`kmem privacy`: counts and exclusions in a terminal."""

import json
from pathlib import Path

import pytest

from kmem_desktop.commands.main import run
from kmem_desktop.store.database import transaction
from kmem_desktop.store.sessions import secrets
from tests.store.databases import NOW, fresh


@pytest.fixture
def database(tmp_path: Path, _only_words: None) -> str:
    path = tmp_path / "kmem.db"
    with fresh(path) as connection, transaction(connection):
        secrets.add_counts(connection, "Cursor", {"AWS key": 2}, NOW)
        secrets.add_counts(connection, "Claude Code", {"AWS key": 1, "JWT": 4}, NOW)
    return str(path)


def test_secrets_are_listed_by_kind_the_most_first(
    database: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["privacy", "--db", database]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "Secrets that were replaced before storing: 7",
        "       4  JWT, last on 2026-05-03",
        "       3  AWS key, last on 2026-05-03",
        "Nothing is stored of:",
        "  (no project or session is excluded)",
    ]


def test_projects_and_sessions_are_excluded_and_included(
    database: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["privacy", "exclude", "project", "Shop\x1b[31m", "--db", database]) == 0
    assert run(["privacy", "exclude", "project", "SHOP\x1b[31m", "--db", database]) == 0
    assert run(["privacy", "--db", database]) == 0
    told = capsys.readouterr().out
    assert "\x1b" not in told
    assert "Nothing more is stored of the project Shop\\x1b[31m." in told
    assert "was excluded already" in told
    assert "  project Shop\\x1b[31m, since " in told
    assert run(["privacy", "include", "project", "shop\x1b[31m", "--db", database]) == 0
    assert run(["privacy", "include", "project", "shop\x1b[31m", "--db", database]) == 1
    assert run(["privacy", "exclude", "session", " ", "--db", database]) == 1
    assert "name must be 1 to 200 characters" in capsys.readouterr().err


def test_programs_get_json(database: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["privacy", "exclude", "session", "abc", "--db", database, "--json"]) == 0
    changed = json.loads(capsys.readouterr().out)
    assert changed == {"kind": "session", "name": "abc", "excluded": True, "changed": True}
    assert run(["privacy", "list", "--db", database, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["secrets_removed"][0] == {
        "day": "2026-05-03",
        "source": "Claude Code",
        "kind": "JWT",
        "count": 4,
    }
    assert [(each["kind"], each["name"]) for each in told["exclusions"]] == [("session", "abc")]
