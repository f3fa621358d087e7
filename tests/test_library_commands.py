"""`kmem export`, `kmem import` of what it wrote, `kmem tags` and `kmem analyze`."""

import asyncio
import json
import stat
from pathlib import Path
from typing import Any

import pytest

from kmem_desktop.bootstrap import opened_services
from kmem_desktop.commands import main as commands
from kmem_desktop.config import paths
from tests.services.library.library_memory import fill

EVIL = "\x1b]0;owned\x07\x9b31m"


@pytest.fixture
def database(tmp_path: Path, _only_words: None) -> Path:
    """A memory with a little of everything."""
    database = tmp_path / "kmem.db"

    async def work() -> None:
        async with opened_services(paths(str(database))) as services:
            await fill(services)

    asyncio.run(work())
    return database


@pytest.fixture
def other(tmp_path: Path) -> Path:
    """Where a second memory will be."""
    return tmp_path / "other.db"


@pytest.fixture(autouse=True)
def _no_other_database(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("KMEM_DB", raising=False)


def run(capsys: pytest.CaptureFixture[str], database: Path, *arguments: str) -> tuple[int, str]:
    code = commands.run([*arguments, "--db", str(database)])
    out, error = capsys.readouterr()
    return code, out + error


def as_json(capsys: pytest.CaptureFixture[str], database: Path, *arguments: str) -> Any:
    code, out = run(capsys, database, *arguments, "--json")
    assert code == 0, out
    return json.loads(out)


@pytest.mark.parametrize("name", ["copy.md", "copy.json"])
def test_what_export_wrote_import_brings_in(
    capsys: pytest.CaptureFixture[str], database: Path, other: Path, tmp_path: Path, name: str
) -> None:
    file = tmp_path / name
    code, out = run(capsys, database, "export", str(file))
    assert code == 0
    assert "3 knowledge, 2 entities, 2 relations, 1 sessions, 2 turns" in out
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    dry = as_json(capsys, other, "import", str(file), "--dry-run")
    assert dry["is_dry_run"]
    report = as_json(capsys, other, "import", str(file))
    assert report["new"] == dry["new"]
    assert report["new"]["knowledge"] == 3
    code, out = run(capsys, other, "import", str(file))
    assert code == 0
    assert "nothing imported" in out
    (listed,) = as_json(capsys, other, "import", "--list")
    assert listed["uuid"] == report["batch"]
    assert as_json(capsys, other, "import", "--undo", report["batch"])["undone"] > 3
    assert as_json(capsys, other, "analyze")["totals"]["knowledge"] == 0
    assert as_json(capsys, other, "import", str(file))["new"]["knowledge"] == 3
    again = as_json(capsys, other, "export", str(tmp_path / f"again-{name}"))
    assert again["counts"] == {
        "knowledge": 3,
        "entities": 2,
        "relations": 2,
        "sessions": 1,
        "turns": 2,
    }


def test_a_file_that_is_there_is_replaced_only_when_asked(
    capsys: pytest.CaptureFixture[str], database: Path, tmp_path: Path
) -> None:
    file = tmp_path / "copy.md"
    file.write_text("mine")
    code, out = run(capsys, database, "export", str(file))
    assert code == 1
    assert "--force" in out
    assert file.read_text() == "mine"
    code, _ = run(capsys, database, "export", str(file), "--force", "--tag", "api")
    assert code == 0
    assert "Answer with DTO classes only" in file.read_text(encoding="utf-8")


def test_tags_are_listed_and_changed(capsys: pytest.CaptureFixture[str], database: Path) -> None:
    listed = as_json(capsys, database, "tags")
    assert [tag["name"] for tag in listed["tags"]] == ["api", "db", "with, comma"]
    assert as_json(capsys, database, "tags", "rename", "api", "web")["items"] == 2
    assert as_json(capsys, database, "tags", "merge", "web", "with, comma", "--into", "x")["batch"]
    assert as_json(capsys, database, "tags", "add", "new", "--on", "1")["items"] == 1
    assert as_json(capsys, database, "tags", "remove", "x", "--from", "1")["items"] == 1
    code, out = run(capsys, database, "tags", "delete", "db")
    assert code == 0
    assert out.startswith("0 items and 1 sessions changed.\n")
    change = out.split()[-1]
    assert as_json(capsys, database, "tags", "undo", change) == {"undone": 1}
    assert run(capsys, database, "tags", "undo", change)[0] == 1
    run(capsys, database, "tags", "delete", "db")
    code, out = run(capsys, database, "tags", "delete", "nope")
    assert code == 1
    assert "Nothing has the tag 'nope'" in out
    code, out = run(capsys, database, "tags", "list", "--query", "EW")
    assert "new" in out
    assert out.endswith("1 of 1 shown.\n")


def test_the_analysis_is_printed(capsys: pytest.CaptureFixture[str], database: Path) -> None:
    run(capsys, database, "tags", "add", EVIL, "--on", "1")
    code, out = run(capsys, database, "analyze")
    assert code == 0
    assert "There are: knowledge 3" in out
    assert "Conversations: 1 with 2 turns" in out
    assert "\x1b" not in out
    found = as_json(capsys, database, "analyze", "--scope", "project:x")
    assert found["by_category"] == {"rule": 1}
