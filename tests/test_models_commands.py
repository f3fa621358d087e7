"""`kmem models`, and what `kmem doctor` tells of models; nobody needs to be there."""

import json
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from kmem_desktop.commands import main as commands
from kmem_desktop.commands.models import Models, print_models
from kmem_desktop.domain.models import (
    Choice,
    Hint,
    KeyPlace,
    ModelInfo,
    ModelKind,
    Program,
    ProgramKind,
    ProviderReport,
    Purpose,
    Sent,
    Snapshot,
    Use,
)
from tests.end_to_end.programs import Memory
from tests.providers.ollama_server import model, ollama_routes
from tests.providers.openai_server import openai_routes
from tests.providers.servers import serving

EVIL = "\x1b]0;owned\x07\x9b31m\u202e"
SECRET = "sk-planted-0123456789"


@pytest.fixture
def memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Memory]:
    """A fresh database; no keychain, and no keys in the environment."""
    for name in ("KMEM_DB", "OPENAI_API_KEY", "ANTHROPIC_API_KEY", "OPENROUTER_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PYTHON_KEYRING_BACKEND", "keyring.backends.null.Keyring")
    memory = Memory(tmp_path / "kmem.db")
    yield memory
    memory.close()


def test_list_tells_who_is_there_and_what_each_purpose_uses(memory: Memory) -> None:
    done = memory.run("models", "list")
    assert done.returncode == 0
    assert done.stderr == ""
    for word in ("Ollama", "LM Studio", "api.openai.com", "chat", "embeddings", "detection"):
        assert word in done.stdout
    told = json.loads(memory.run("models", "--json").stdout)
    assert {"ollama", "lm-studio", "openai", "anthropic"} <= {p["id"] for p in told["providers"]}
    assert told["choices"]["chat"]["provider"] == "auto"
    assert told["took_ms"] < 3_500


def test_doctor_tells_the_same_in_short(memory: Memory) -> None:
    done = memory.run("doctor")
    assert done.returncode == 0
    assert "detection" in done.stdout
    assert done.stdout.endswith("The memory is whole.\n")
    told = json.loads(memory.run("doctor", "--json").stdout)
    assert told["is_whole"] is True
    parts = {"providers", "programs", "hints", "choices", "uses", "keys", "sent"}
    assert parts <= set(told["models"])


def test_doctor_tells_of_models_what_the_list_tells(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = (model("llama3.2:3b"), model("nomic-embed-text:latest", 274_302_450))
    with serving(ollama_routes(*rows, loaded=("llama3.2:3b",))) as server:
        monkeypatch.setenv("OLLAMA_HOST", server.address)
        told = memory.run("doctor").stdout
        listed = memory.run("models", "list").stdout
    for facts in (told, listed):
        assert "0.12.10, 2 models, " in facts
        assert "reads 4096 tokens, loaded, 2.0 GB of graphics memory" in facts
        assert "nomic-embed-text:latest  embedding, 274 MB, F16, reads 2048 tokens" in facts
        assert "auto: llama3.2:3b of Ollama" in facts
        assert "nothing has left this computer" in facts


def test_texts_leave_only_for_a_host_that_was_named(memory: Memory) -> None:
    refused = memory.run("models", "use", "chat", "openai:gpt-x")
    assert refused.returncode == 1
    assert "--send-to api.openai.com" in refused.stderr
    chosen = memory.run("models", "use", "chat", "openai:gpt-x", "--send-to", "api.openai.com")
    assert "Texts for chat are sent to api.openai.com." in chosen.stdout
    told = json.loads(memory.run("models", "list", "--json").stdout)
    assert told["choices"]["chat"]["model"] == "gpt-x"
    assert "send_to" in told["choices"]["detection"]
    assert not told["choices"]["detection"]["send_to"]
    assert memory.run("models", "use", "chat", "auto").returncode == 0
    told = json.loads(memory.run("models", "list", "--json").stdout)
    assert not told["choices"]["chat"]["send_to"]
    assert memory.run("models", "sent").stdout == "Nothing has left this computer.\n"
    assert json.loads(memory.run("models", "sent", "--json").stdout) == []


def test_a_server_is_added_tried_used_and_removed(memory: Memory) -> None:
    with serving(openai_routes("x-1b")) as server:
        assert memory.run("models", "server", "mine", server.address).returncode == 0
        trial = memory.run("models", "test", "mine")
        assert trial.returncode == 0
        assert "ready" in trial.stdout
        assert json.loads(memory.run("models", "test", "mine", "--json").stdout)["is_working"]
        assert "x-1b" in memory.run("models", "list").stdout
        gone = memory.run("models", "test", "mine", "no-such-model")
        assert gone.returncode == 1
        assert "It does not work" in gone.stdout
    assert memory.run("models", "server", "mine").returncode == 0
    assert memory.run("models", "test", "mine").returncode == 1


def test_a_key_is_read_from_the_input_and_written_nowhere_without_a_keychain(
    memory: Memory, tmp_path: Path
) -> None:
    done = memory.run("models", "key", "openai", input=f"{SECRET}\n")
    assert done.returncode == 1
    assert "no keychain" in done.stdout
    assert SECRET not in done.stdout + done.stderr
    assert not any(SECRET.encode() in p.read_bytes() for p in tmp_path.rglob("*") if p.is_file())
    assert memory.run("models", "key", "openai", "--forget").returncode == 0
    bad = memory.run("models", "key", "openai", input="two words\n")
    assert bad.returncode == 1
    assert "two words" not in bad.stderr
    assert memory.run("models", "key", "ollama", input="x\n").returncode == 1


@pytest.mark.parametrize(
    "wrong",
    [("use", "chat", "nobody"), ("test", "nobody"), ("key", "nobody"), ("server", "a b", "x")],
    ids=" ".join,
)
def test_a_mistake_is_told_in_one_sentence(memory: Memory, wrong: tuple[str, ...]) -> None:
    done = memory.run("models", *wrong, input="x\n")
    assert done.returncode == 1
    assert done.stderr.startswith("kmem: ")
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("wrong", [("use",), ("use", "cooking", "auto"), ("start", "x"), ("what",)])
def test_a_command_line_that_makes_no_sense_ends_with_2(
    wrong: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as caught:
        commands.run(["models", *wrong])
    assert caught.value.code == 2
    assert "usage: kmem" in capsys.readouterr().err


def test_what_servers_say_cannot_steer_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    model = ModelInfo(
        f"m{EVIL}", ModelKind.CHAT, 4 * 10**9, 2 * 10**8, 4096, quantisation=EVIL,
        is_loaded=True, remote_host=EVIL,
    )  # fmt: skip
    report = ProviderReport(
        "x", f"X{EVIL}", f"http://{EVIL}", is_available=True, version=EVIL,
        models=(model,) * 10, free_vram_bytes=6 * 10**9,
    )  # fmt: skip
    ill = ProviderReport("y", "Y", "", problem=EVIL)
    program = Program(ProgramKind.OLLAMA, "Ollama", is_installed=True, evidence=(EVIL,))
    snapshot = Snapshot(providers=(report, ill), programs=(program,), hints=(Hint(EVIL, EVIL),))
    use = Use(Choice(EVIL, EVIL, EVIL), EVIL, EVIL, EVIL, EVIL)
    sent = Sent(datetime.now(UTC), EVIL, Purpose.CHAT, EVIL, EVIL, 1, 2, 3)
    models = Models(snapshot, {Purpose.CHAT: use}, {"x": KeyPlace.ENVIRONMENT}, [sent])
    for is_brief in (False, True):
        print_models(models, is_brief=is_brief)
    shown = capsys.readouterr().out
    assert not any(c < " " and c != "\n" for c in shown)
    assert not {"\x9b", "\u202e"} & set(shown)
    assert "and 2 more" in shown
    assert "4.0 GB" in shown
    assert "6.0 GB of graphics memory free" in shown


def test_starting_kmem_loads_neither_the_http_library_nor_the_keychain() -> None:
    code = (
        "import sys, kmem_desktop.bootstrap, kmem_desktop.commands.main\n"
        "names = ('httpx', 'httpcore', 'stamina', 'tenacity', 'keyring', 'psutil')\n"
        "print([name for name in names if name in sys.modules])"
    )
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.strip() == "[]"
