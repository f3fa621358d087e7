"""`kmem rules`: what a task is about, and files that a person forgets and takes back."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.end_to_end.programs import Memory


@pytest.fixture
def memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Memory]:
    """A fresh database; whatever serves it is ended."""
    monkeypatch.delenv("KMEM_DB", raising=False)
    memory = Memory(tmp_path / "kmem.db")
    yield memory
    memory.close()


def test_detect_tells_layer_topics_and_how_sure_it_is(memory: Memory) -> None:
    task = "Add an index to the orders table, the query is slow"
    lines = memory.run("rules", "detect", *task.split()).stdout.splitlines()
    assert lines[0].startswith("Layer        4-Persistence, ")
    assert any(line.startswith("Topics") and "database" in line for line in lines)
    value = json.loads(memory.run("rules", "detect", task, "--json").stdout)
    assert (value["layer"], "database" in value["topics"]) == ("persistence", True)
    assert 0 < value["confidence"] <= 1
    assert memory.run("rules", "detect").returncode == 2


def test_a_removed_file_is_listed_and_taken_back(memory: Memory, tmp_path: Path) -> None:
    folder = tmp_path / "shop"
    folder.mkdir()
    file = folder / "CLAUDE.md"
    file.write_text("# Shop\n\n- **MUST** Validate every input.\n", encoding="utf-8")
    added = json.loads(memory.run("rules", "allow", str(folder), "--json").stdout)
    assert added["folder"]["rules"] == 1
    assert "not read again until you take it back" in memory.run("rules", "remove", "1").stdout
    memory.run("rules", "allow", str(folder))
    assert memory.run("rules", "list").stdout == "0 documents.\n"
    assert f"forgotten: {file}" in memory.run("rules", "folders").stdout
    assert "is read again" in memory.run("rules", "take-back", str(file)).stdout
    assert "CLAUDE.md" in memory.run("rules", "list").stdout
    again = memory.run("rules", "take-back", str(file))
    assert (again.returncode, "was not forgotten" in again.stderr) == (1, True)
