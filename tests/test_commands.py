"""The command line: what it prints, how it ends, and that nothing stored can steer a terminal."""

import json
import os
import pty
import re
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from kmem_desktop.bootstrap import opened_services
from kmem_desktop.commands import health
from kmem_desktop.commands import main as commands
from kmem_desktop.commands.printing import printable
from kmem_desktop.config import Paths, paths
from kmem_desktop.domain.changes import Origin, OriginKind
from kmem_desktop.domain.graph import Entity
from kmem_desktop.domain.knowledge import KnowledgeDraft
from tests.end_to_end.programs import Memory, clean_environment, entity
from tests.server.corpora import corpora

ORIGIN = Origin(OriginKind.CLIENT, "Test")
EVIL = "\x1b]0;owned\x07\x1b[2J\x9b31m\u202eabc\r\x08\x00"
LINES = (
    '{"type":"entity","name":"Ada","entityType":"person","observations":["likes tea"]}\n'
    '{"type":"relation","from":"Ada","to":"Bob","relationType":"knows"}\n'
)


@pytest.fixture
def memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Memory]:
    """A fresh database; whatever serves it is ended."""
    monkeypatch.delenv("KMEM_DB", raising=False)
    memory = Memory(tmp_path / "kmem.db")
    yield memory
    memory.close()


async def store(memory: Memory, content: str, scope: str = "global") -> None:
    async with opened_services(paths(str(memory.database))) as services:
        draft = KnowledgeDraft("Zebras are handled apart", content, ("zebra",), scope)
        await services.knowledge.store(draft, ORIGIN)


async def test_search_prints_what_was_found_and_why(memory: Memory) -> None:
    await store(memory, "Zebras are handled by the stripe service, since they are not horses.")
    done = memory.run("search", "zebra", "stripe")
    assert done.returncode == 0
    assert done.stderr == ""
    assert "Zebras are handled apart  [rule, global]" in done.stdout
    assert "Score" in done.stdout
    assert done.stdout.endswith("1 of 1 shown.\n")


async def test_search_as_json_has_everything(memory: Memory) -> None:
    await store(memory, "Zebras are handled by the stripe service, since they are not horses.")
    for command in (("--json", "search", "zebra"), ("search", "--json", "zebra")):
        done = memory.run(*command)
        found = json.loads(done.stdout)
        assert found["total_matches"] == 1
        assert found["hits"][0]["item"]["title"] == "Zebras are handled apart"
        assert done.stdout.isascii()


async def test_search_keeps_to_its_scope_and_limit(memory: Memory) -> None:
    await store(
        memory,
        "Zebras are handled by the stripe service, since they are not horses.",
        "project:zoo",
    )
    assert "0 of 0" in memory.run("search", "zebra", "--scope", "project:park").stdout
    assert "1 of 1" in memory.run("search", "zebra", "--scope", "project:zoo").stdout


@pytest.mark.parametrize(
    "wrong",
    [
        ("search", "ab"),
        ("search", "zebra", "--limit", "0"),
        ("search", "zebra", "--limit", "21"),
        ("search", "zebra", "--scope", "nowhere"),
        ("import", "no-such-file.jsonl"),
        ("import", "/"),
    ],
    ids=" ".join,
)
def test_a_mistake_is_told_in_one_sentence_and_a_code(
    memory: Memory, wrong: tuple[str, ...]
) -> None:
    done = memory.run(*wrong)
    assert done.returncode == 1
    assert done.stdout == ""
    assert done.stderr.startswith("kmem: ")
    assert "Traceback" not in done.stderr
    as_json = memory.run(*wrong, "--json")
    assert as_json.returncode == 1
    assert set(json.loads(as_json.stdout)) == {"error", "message", "details"}


@pytest.mark.parametrize("wrong", [("nope",), ("search",), ("import",), ("search", "a", "--what")])
def test_a_command_line_that_makes_no_sense_ends_with_2(
    memory: Memory, wrong: tuple[str, ...]
) -> None:
    done = memory.run(*wrong)
    assert done.returncode == 2
    assert "usage: kmem" in done.stderr


def test_a_query_that_is_no_text_is_no_crash(memory: Memory) -> None:
    command: list[str | bytes] = [*memory.command("search"), b"zebra \xff\xfe"]
    done = subprocess.run(command, capture_output=True, env=clean_environment(), check=False)
    assert done.returncode in (0, 1)
    assert b"Traceback" not in done.stderr


def test_import_reports_and_a_second_one_changes_nothing(memory: Memory, tmp_path: Path) -> None:
    file = tmp_path / "memory.jsonl"
    file.write_text(LINES + '{"type":"ent')
    dry = json.loads(memory.run("import", str(file), "--dry-run", "--json").stdout)
    assert (dry["dry_run"], dry["entities_new"], dry["dangling_relations"]) == (True, 1, 1)
    assert [problem["line"] for problem in dry["problems"]] == [3]
    assert dry["kept_lines_path"] == ""
    first = memory.run("import", str(file))
    assert first.returncode == 0
    assert "1 entities imported, 0 known" in first.stdout
    assert "line 3: not valid JSON (cut off?)" in first.stdout
    again = json.loads(memory.run("import", str(file), "--json").stdout)
    assert (again["entities_new"], again["entities_known"], again["relations_known"]) == (0, 1, 1)
    assert (again["observations_new"], again["relations_new"]) == (0, 0)
    assert Path(again["kept_lines_path"]).read_text() == '{"type":"ent\n'


def test_a_running_client_sees_what_was_imported(memory: Memory, tmp_path: Path) -> None:
    file = tmp_path / "memory.jsonl"
    file.write_text(LINES)
    client = memory.client()
    assert memory.run("import", str(file)).returncode == 0
    graph = client.call("read_graph", {})["structuredContent"]
    assert [entity["name"] for entity in graph["entities"]] == ["Ada"]


@pytest.mark.parametrize(
    ("name", "taken", "problems"),
    [
        ("truncated.jsonl", 0, 2),
        ("wrong-types.jsonl", 0, None),
        ("huge-numbers.jsonl", 0, None),
        ("lone-surrogates.jsonl", 0, None),
        ("crlf-blank-lines.jsonl", None, None),
        ("reference-memory.jsonl", None, None),
        ("nul-bytes.md", 0, None),
        ("empty.md", 0, 0),
    ],
)
def test_bad_files_are_reported_and_never_crash(
    memory: Memory, name: str, taken: int | None, problems: int | None
) -> None:
    done = memory.run("import", str(corpora() / "bad-input" / "files" / name), "--json")
    assert "Traceback" not in done.stderr
    report = json.loads(done.stdout)
    if done.returncode == 0:
        assert taken is None or report["entities_new"] == taken
        assert problems is None or len(report["problems"]) == problems
    else:
        assert report["error"] == "PARSING_ERROR"
        assert not taken


def test_control_characters_become_visible() -> None:
    shown = printable(f"a{EVIL}b")
    assert shown.isprintable()
    assert shown.startswith("a\\x1b]0;owned\\x07")


async def test_nothing_stored_or_imported_can_steer_the_terminal(
    memory: Memory, tmp_path: Path
) -> None:
    await store(memory, f"Zebras {EVIL} are handled by the stripe service, not as horses are.")
    async with opened_services(paths(str(memory.database))) as services:
        await services.graph.create_entities([Entity(f"x{EVIL}", EVIL, (EVIL,))], ORIGIN)
    folder = tmp_path / "evil \x1b[31m folder"
    folder.mkdir()
    broken = folder / "memory \x1b[31m.jsonl"
    broken.write_text(f'{LINES}{{"type":"ent\x1b[2J\x9b31m\n')
    for command in (
        ("search", "zebra stripe"),
        ("search", "zebra stripe", "--json"),
        ("import", str(broken)),
        ("import", str(broken), "--json"),
        ("import", str(folder / "gone\x1b[31m.jsonl")),
        ("search", "zebra", "--scope", f"project{EVIL.replace(chr(0), '')}"),
    ):
        output = on_a_terminal(memory.command(*command))
        assert not any(c < 0x20 and c not in (0x0A, 0x0D) for c in output), (command, output)
        assert "\x9b" not in output.decode()
        assert "\u202e" not in output.decode()


def on_a_terminal(command: list[str]) -> bytes:
    """Run a command on a terminal of its own and return what it wrote there."""
    master, slave = pty.openpty()
    with subprocess.Popen(command, stdout=slave, stderr=slave, env=clean_environment()) as process:
        os.close(slave)
        output = b""
        while True:
            try:
                chunk = os.read(master, 65536)
            except OSError:  # Linux: the other end is closed
                break
            if not chunk:
                break
            output += chunk
        process.wait(30)
    os.close(master)
    return output


def test_a_reader_that_goes_away_is_no_crash(memory: Memory) -> None:
    with subprocess.Popen(
        memory.command("connect"), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        env=clean_environment(),
    ) as process:  # fmt: skip
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert b"Traceback" not in process.stderr.read()


def test_connect_tells_the_command_for_this_database(memory: Memory) -> None:
    done = memory.run("connect")
    assert f"--db {memory.database}" in done.stdout
    assert "claude mcp add -s user kmem -- " in done.stdout
    assert '"mcpServers"' in done.stdout


def test_the_version_is_told(memory: Memory) -> None:
    done = memory.run("--version")
    assert done.stdout.startswith("kmem 0.")


def test_without_a_display_kmem_serves_and_prints_how_to_connect(memory: Memory) -> None:
    hidden = {"DISPLAY": "", "WAYLAND_DISPLAY": "", "QT_QPA_PLATFORM": ""}
    with subprocess.Popen(
        memory.command(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=clean_environment(**hidden),
        text=True,
    ) as process:
        assert process.stdout is not None
        assert "There is no display" in process.stdout.readline()
        line = process.stdout.readline()
        while "claude mcp add" not in line:
            assert line
            line = process.stdout.readline()
        # Asked before somebody serves, the bridge would start a resident of its own.
        assert memory.status_once_served()["pid"] == process.pid
        client = memory.client()
        status = memory.status()
        assert status is not None
        assert status["pid"] == process.pid
        assert status["windows"] is False
        client.close()
        process.terminate()
        process.communicate(timeout=30)
    assert process.returncode == 0


def test_another_database_can_be_named_by_a_variable(
    memory: Memory, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("KMEM_DB", str(memory.database))
    assert commands.run(["search", "zebra"]) == 0
    assert memory.database.exists()
    assert capsys.readouterr().out == "0 of 0 shown.\n"


def test_a_keyboard_interrupt_ends_quietly(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(profile: Paths) -> str:
        raise KeyboardInterrupt

    monkeypatch.setattr(health, "connection_help", interrupted)
    assert commands.run(["connect", "--db", str(memory.database)]) == 130


def test_the_bridge_program_starts_without_qt_and_mcp() -> None:
    code = (
        "import sys; sys.argv = ['kmem', 'mcp'];"
        "import kmem_desktop.__main__, kmem_desktop.bridge, kmem_desktop.bridge_socket;"
        "print([m for m in sys.modules if m.split('.')[0] in"
        " ('PySide6', 'mcp', 'pydantic', 'asyncio', 'apsw', 'json', 'typing', 'subprocess')])"
    )
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", f"sys_path_fix = None; {with_root(code)}"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == "[]"


def with_root(code: str) -> str:
    root = Path(__file__).parents[1]
    return f"import sys; sys.path.insert(0, {str(root)!r}); {code}"


async def test_maintain_gives_space_back_and_says_how_much(memory: Memory) -> None:
    await store(memory, "Zebras are handled by the stripe service, since they are not horses.")
    done = memory.run("maintain")
    assert (done.returncode, done.stderr) == (0, "")
    assert re.fullmatch(
        r"The memory took \d+\.\d MB and takes \d+\.\d MB now \(\d+\.\d s\)\.\n", done.stdout
    )
    told = json.loads(memory.run("maintain", "--json").stdout)
    assert set(told) == {"before_bytes", "after_bytes", "took_s", "waits_for_others"}
    assert "1 of 1" in memory.run("search", "zebra").stdout


def test_maintain_works_beside_a_running_resident(memory: Memory) -> None:
    client = memory.client()
    client.call("create_entities", entity("Ada"))
    done = memory.run("maintain")
    assert done.returncode == 0
    assert "Ada" in str(client.call("open_nodes", {"names": ["Ada"]}))
    client.call("create_entities", entity("Bob"))
    assert "Bob" in str(client.call("open_nodes", {"names": ["Bob"]}))


async def test_maintain_leaves_a_damaged_memory_as_it_is(memory: Memory) -> None:
    await store(memory, "Zebras are handled by the stripe service, since they are not horses.")
    connection = sqlite3.connect(memory.database)
    connection.execute("DROP TRIGGER documents_after_update")
    connection.execute("UPDATE documents SET body = 'rotten'")
    connection.commit()
    connection.close()
    done = memory.run("maintain")
    assert done.returncode == 1
    assert "The memory is damaged" in done.stderr
    assert "Nothing was changed" in done.stderr
