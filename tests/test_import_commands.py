"""`kmem import` and `kmem sessions follow`: what they print, and that Ctrl+C loses nothing."""

import json
import os
import pty
import shlex
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.end_to_end.programs import Memory, clean_environment
from tests.services.importing.transcripts import (
    SECRET,
    claude_export,
    claude_projects,
    grow,
    said,
    set_age,
)


@pytest.fixture
def memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Memory]:
    """A fresh database, and programs of assistants that keep their files in folders of its own."""
    monkeypatch.delenv("KMEM_DB", raising=False)
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "claude"))
    monkeypatch.setenv("CODEX_HOME", str(tmp_path / "codex"))
    memory = Memory(tmp_path / "kmem.db")
    monkeypatch.setenv("HOME", str(tmp_path / "user"))
    yield memory
    memory.close()


def test_import_finds_out_what_it_is_given(memory: Memory, tmp_path: Path) -> None:
    projects = claude_projects(tmp_path, ("aaa", 3), ("bbb", 2))
    grow(projects / "-home-ann-src" / "bbb.jsonl", ["oops", said("bbb", 5, f"It is {SECRET}.")])
    dry = memory.run("import", str(projects), "--dry-run")
    assert dry.returncode == 0
    assert "(claude-code, 2 files):" in dry.stdout
    assert "2 sessions would be imported, 0 known" in dry.stdout
    assert "6 turns would be imported, 0 known" in dry.stdout
    assert "bbb.jsonl, line 3: not an object" in dry.stdout
    assert "secrets would be replaced: 1 " in dry.stdout
    assert "--undo" not in dry.stdout
    assert json.loads(memory.run("sessions", "--json").stdout) == []
    done = memory.run("import", str(projects))
    assert "6 turns imported, 0 known" in done.stdout
    assert SECRET not in dry.stdout + done.stdout
    export = json.loads(
        memory.run("import", str(claude_export(tmp_path / "x.zip", ("c", 2))), "--json").stdout
    )
    assert (export["kind"], export["turns_new"]) == ("export", 2)


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no closed streams of this kind")
def test_an_import_needs_nobody_who_listens(memory: Memory, tmp_path: Path) -> None:
    projects = claude_projects(tmp_path, ("aaa", 3))
    command = shlex.join(memory.command("import", str(projects)))
    closed = f"{command} 0<&- 1>&- 2>&-"
    done = subprocess.run(closed, shell=True, check=False, env=clean_environment(), timeout=60)
    assert done.returncode == 0
    (session,) = json.loads(memory.run("sessions", "--json").stdout)
    assert session["entry_count"] == 3


def test_imports_are_listed_and_undone(memory: Memory, tmp_path: Path) -> None:
    assert memory.run("import", "--list").stdout == "Nothing was imported.\n"
    projects = claude_projects(tmp_path, ("aaa", 3))
    report = json.loads(memory.run("import", str(projects), "--json").stdout)
    graph = tmp_path / "memory.jsonl"
    graph.write_text('{"type":"entity","name":"Ada","entityType":"t","observations":["tea"]}\n')
    memory.run("import", str(graph))
    listed = memory.run("import", "--list").stdout
    assert f"{report['batch']}" in listed
    assert "1 sessions, 3 turns from claude-code" in listed
    assert "1 entities, 1 observations from reference-memory" in listed
    for record in json.loads(memory.run("import", "--list", "--json").stdout):
        assert memory.run("import", "--undo", record["uuid"]).returncode == 0
        again = memory.run("import", "--undo", record["uuid"])
        assert again.returncode == 1
        assert "undone already" in again.stderr
    assert memory.run("import", "--list").stdout.count("undone") == 2
    assert json.loads(memory.run("sessions", "--json").stdout) == []


@pytest.mark.parametrize("wrong", [("import", "/"), ("import", ".", "--json"), ("import", "gone")])
def test_what_cannot_be_read_is_told_in_one_sentence(
    memory: Memory, tmp_path: Path, wrong: tuple[str, ...]
) -> None:
    (tmp_path / "empty").mkdir()
    done = memory.run(*wrong, cwd=tmp_path / "empty")
    assert done.returncode == 1
    assert "Traceback" not in done.stderr + done.stdout


def test_following_is_switched_on_and_off(memory: Memory, tmp_path: Path) -> None:
    nothing = memory.run("sessions", "programs")
    assert nothing.stdout.startswith("No program on this computer")
    assert memory.run("sessions", "follow").returncode == 1
    folder = claude_projects(tmp_path / "claude", ("aaa", 3), ("bbb", 2)) / "-home-ann-src"
    set_age(folder / "bbb.jsonl", 28)
    before = memory.run("sessions", "programs").stdout
    assert "2 sessions, 0 here, not followed" in before
    assert "1 session expires in the next 7 days; 0 of them are here." in before
    followed = memory.run("sessions", "follow", "claude-code")
    assert "5 turns imported, 0 known" in followed.stdout
    assert "From now on they are kept here" in followed.stdout
    after = memory.run("sessions", "programs").stdout
    assert "2 sessions, 2 here, kept while they grow" in after
    assert "1 session expires in the next 7 days, all safe here." in after
    assert memory.run("sessions", "unfollow").returncode == 0
    (program,) = json.loads(memory.run("sessions", "programs", "--json").stdout)
    assert (program["is_followed"], program["is_safe"]) == (False, True)


def test_ctrl_c_ends_an_import_cleanly_and_the_next_one_finishes_it(
    memory: Memory, tmp_path: Path
) -> None:
    sessions, turns = 150, 40
    projects = claude_projects(tmp_path, *[(f"s{n:03d}", turns) for n in range(sessions)])
    master, slave = pty.openpty()
    command = memory.command("import", str(projects))
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=slave, env=clean_environment()
    ) as process:
        os.close(slave)
        told = b""
        while b"turns" not in told:
            told += os.read(master, 4096)
        process.send_signal(signal.SIGINT)
        assert process.stdout is not None
        printed = process.stdout.read().decode()
    os.close(master)
    assert b"files" in told
    assert process.returncode == 130
    assert "cancelled: what was stored stays" in printed
    assert "Traceback" not in printed
    assert "cut off: import it again" in memory.run("import", "--list").stdout
    rest = json.loads(memory.run("import", str(projects), "--json").stdout)
    assert 0 < rest["turns_known"] < sessions * turns
    assert rest["turns_known"] + rest["turns_new"] == sessions * turns
    assert " done\n" in memory.run("import", "--list").stdout
