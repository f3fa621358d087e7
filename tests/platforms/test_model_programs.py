"""Programs that run models, on described systems of all three kinds."""

import sys
from pathlib import Path

import psutil  # type: ignore[import-untyped]
import pytest

from kmem_desktop.domain.models import Program, ProgramKind
from kmem_desktop.errors import KmemError, NotFoundError
from kmem_desktop.platforms.model_programs import ModelPrograms
from kmem_desktop.platforms.system import Family, Process, RealSystem
from kmem_desktop.platforms.windows import UNINSTALL
from tests.platforms.described import Described, linux, macos, windows

OLLAMA, LM_STUDIO = ProgramKind.OLLAMA, ProgramKind.LM_STUDIO
LOCALAI, LLAMA_CPP = ProgramKind.LOCALAI, ProgramKind.LLAMA_CPP
APPDATA = r"C:\Users\Ada\AppData\Local"


def find(system: Described, kind: ProgramKind) -> Program:
    return {each.kind: each for each in ModelPrograms(system).find_all()}[kind]


@pytest.mark.parametrize("system", [linux(), macos(), windows()], ids=lambda s: s.family)
def test_an_empty_system_has_none_of_them(system: Described) -> None:
    programs = ModelPrograms(system).find_all()
    assert [each.kind for each in programs] == list(ProgramKind)
    assert not any(each.is_installed or each.is_running for each in programs)
    assert not any(each.can_be_started for each in programs)


@pytest.mark.parametrize(
    ("system", "kind", "path", "command"),
    [
        (linux("/usr/local/bin/ollama"), OLLAMA, "/usr/local/bin/ollama",
         ("/usr/local/bin/ollama", "serve")),
        (linux("/usr/local/bin/ollama", "/etc/systemd/system/ollama.service"), OLLAMA,
         "/usr/local/bin/ollama", ("systemctl", "start", "ollama.service")),
        (linux("/home/ada/.config/systemd/user/ollama.service"), OLLAMA,
         "/home/ada/.config/systemd/user/ollama.service",
         ("systemctl", "--user", "start", "ollama.service")),
        (linux("/home/ada/.lmstudio/bin/lms"), LM_STUDIO, "/home/ada/.lmstudio/bin/lms",
         ("/home/ada/.lmstudio/bin/lms", "server", "start")),
        (linux("/home/ada/Downloads/LM-Studio-0.3.5.AppImage",
               "/home/ada/Downloads/LM-Studio-0.4.1.AppImage"), LM_STUDIO,
         "/home/ada/Downloads/LM-Studio-0.4.1.AppImage",
         ("/home/ada/Downloads/LM-Studio-0.4.1.AppImage",)),
        (linux("/opt/LM-Studio/lm-studio"), LM_STUDIO, "/opt/LM-Studio/lm-studio",
         ("/opt/LM-Studio/lm-studio",)),
        (linux("/usr/local/bin/local-ai"), LOCALAI, "/usr/local/bin/local-ai",
         ("/usr/local/bin/local-ai", "run")),
        (linux("/usr/bin/llama-server"), LLAMA_CPP, "/usr/bin/llama-server", ()),
        (macos(folders={"/Applications/Ollama.app"}), OLLAMA, "/Applications/Ollama.app",
         ("/usr/bin/open", "-g", "-a", "/Applications/Ollama.app")),
        (macos("/opt/homebrew/bin/ollama"), OLLAMA, "/opt/homebrew/bin/ollama",
         ("/opt/homebrew/bin/ollama", "serve")),
        (macos("/usr/local/bin/ollama"), OLLAMA, "/usr/local/bin/ollama",
         ("/usr/local/bin/ollama", "serve")),
        (macos("/Users/ada/.lmstudio/bin/lms", folders={"/Applications/LM Studio.app"}), LM_STUDIO,
         "/Applications/LM Studio.app", ("/Users/ada/.lmstudio/bin/lms", "server", "start")),
        (macos(folders={"/Users/ada/Applications/LM Studio.app"}), LM_STUDIO,
         "/Users/ada/Applications/LM Studio.app",
         ("/usr/bin/open", "-g", "-a", "/Users/ada/Applications/LM Studio.app")),
        (macos("/opt/homebrew/bin/llama-server"), LLAMA_CPP, "/opt/homebrew/bin/llama-server", ()),
        (windows(rf"{APPDATA}\Programs\Ollama\ollama app.exe",
                 rf"{APPDATA}\Programs\Ollama\ollama.exe"), OLLAMA,
         rf"{APPDATA}\Programs\Ollama\ollama app.exe",
         (rf"{APPDATA}\Programs\Ollama\ollama app.exe",)),
        (windows(r"C:\Tools\ollama.exe"), OLLAMA, r"C:\Tools\ollama.exe",
         (r"C:\Tools\ollama.exe", "serve")),
        (windows(r"D:\AI\Ollama\ollama app.exe",
                 registry={(rf"{UNINSTALL}\{{44E83376-CE68-45EB-8FC1-393500EB558C}}_is1",
                            "InstallLocation"): "D:\\AI\\Ollama\\"}), OLLAMA,
         r"D:\AI\Ollama\ollama app.exe", (r"D:\AI\Ollama\ollama app.exe",)),
        (windows(services={"Ollama": r"C:\nssm.exe"}), OLLAMA, "Ollama", ()),
        (windows(rf"{APPDATA}\Programs\LM Studio\LM Studio.exe"), LM_STUDIO,
         rf"{APPDATA}\Programs\LM Studio\LM Studio.exe",
         (rf"{APPDATA}\Programs\LM Studio\LM Studio.exe",)),
        (windows(r"C:\Program Files\LM Studio\LM Studio.exe",
                 r"C:\Users\Ada\.lmstudio\bin\lms.exe"), LM_STUDIO,
         r"C:\Program Files\LM Studio\LM Studio.exe",
         (r"C:\Users\Ada\.lmstudio\bin\lms.exe", "server", "start")),
        (windows(rf"{APPDATA}\Microsoft\WinGet\Links\llama-server.exe"), LLAMA_CPP,
         rf"{APPDATA}\Microsoft\WinGet\Links\llama-server.exe", ()),
    ],
)  # fmt: skip
def test_an_installed_program_is_found_with_what_starts_it(
    system: Described, kind: ProgramKind, path: str, command: tuple[str, ...]
) -> None:
    program = find(system, kind)
    assert program.is_installed
    assert not program.is_running
    assert program.path == path
    assert program.command == command
    assert program.can_be_started is bool(command)
    assert any(path in each for each in program.evidence)
    others = [each for each in ModelPrograms(system).find_all() if each.kind is not kind]
    assert not any(each.is_installed for each in others)


def test_a_folder_of_lm_studio_that_was_moved_is_found() -> None:
    system = windows(r"D:\models\bin\lms.exe")
    system.files[r"C:\Users\Ada\.lmstudio-home-pointer"] = "D:\\models\n"
    assert find(system, LM_STUDIO).command == (r"D:\models\bin\lms.exe", "server", "start")


@pytest.mark.parametrize(
    ("system", "kind"),
    [
        (linux(running=[Process(7, "ollama", ("/usr/bin/ollama", "serve"))]), OLLAMA),
        (linux(running=[Process(7, "ollama")]), OLLAMA),
        (linux(running=[Process(7, "lm-studio")]), LM_STUDIO),
        (linux(running=[Process(7, "local-ai", ("local-ai", "run"))]), LOCALAI),
        (linux(running=[Process(7, "llama-server", ("llama-server", "-m", "x"))]), LLAMA_CPP),
        (macos(running=[Process(7, "Ollama")]), OLLAMA),
        (macos(running=[Process(7, "LM Studio")]), LM_STUDIO),
        (windows(running=[Process(7, "ollama app.exe")]), OLLAMA),
        (windows(running=[Process(7, "LM Studio.exe")]), LM_STUDIO),
    ],
    ids=lambda value: str(getattr(value, "family", value)),
)
def test_a_running_program_is_found_by_its_process(system: Described, kind: ProgramKind) -> None:
    program = find(system, kind)
    assert program.is_running
    assert program.is_installed
    assert not program.can_be_started
    assert program.evidence == ("the process 7",)


def test_somebody_who_types_at_ollama_is_no_server() -> None:
    system = linux(running=[Process(7, "ollama", ("ollama", "run", "llama3.2"))])
    assert not find(system, OLLAMA).is_running


def test_starting_runs_the_command_and_no_shell() -> None:
    system = linux("/usr/bin/ollama")
    assert ModelPrograms(system).start(OLLAMA).name == "Ollama"
    assert system.started == [("/usr/bin/ollama", "serve")]


def test_what_runs_is_not_started_again() -> None:
    system = linux("/usr/bin/ollama", running=[Process(7, "ollama", ("ollama", "serve"))])
    assert ModelPrograms(system).start(OLLAMA).is_running
    assert system.started == []


@pytest.mark.parametrize(
    ("system", "kind", "hint"),
    [(linux(), OLLAMA, "Install"), (linux("/usr/bin/llama-server"), LLAMA_CPP, "by hand")],
)
def test_what_cannot_be_started_is_said(system: Described, kind: ProgramKind, hint: str) -> None:
    with pytest.raises(NotFoundError) as caught:
        ModelPrograms(system).start(kind)
    assert hint in caught.value.hint
    assert system.started == []


def test_the_fingerprint_changes_with_programs_and_network_only() -> None:
    system = linux(addresses={"192.168.1.2"})
    programs = ModelPrograms(system)
    first = programs.fingerprint()
    system.running.append(Process(8, "firefox"))
    assert programs.fingerprint() == first
    system.running.append(Process(9, "ollama"))
    second = programs.fingerprint()
    assert second != first
    system.addresses.add("10.0.0.2")
    assert programs.fingerprint() != second


def test_the_real_system_shows_its_files_processes_and_addresses(tmp_path: Path) -> None:
    system = RealSystem()
    (tmp_path / "a.AppImage").write_text("x" * 10_000)
    assert system.is_file(str(tmp_path / "a.AppImage"))
    assert not system.is_file(str(tmp_path))
    assert system.is_folder(str(tmp_path))
    assert not system.is_file("no\0such")
    assert system.matching(str(tmp_path), "*.AppImage") == [str(tmp_path / "a.AppImage")]
    assert system.matching(str(tmp_path / "none"), "*") == []
    assert len(system.text(str(tmp_path / "a.AppImage"))) == 4096
    assert system.text(str(tmp_path / "none")) == ""
    own = psutil.Process()
    found = system.processes(frozenset({own.name().lower()}))
    assert own.pid in {process.pid for process in found}
    assert system.processes(frozenset({"no such process"})) == []
    assert system.network()
    assert system.service_program("Ollama") is None or system.family is Family.WINDOWS


def test_a_program_that_was_started_outlives_the_call(tmp_path: Path) -> None:
    fifo = tmp_path / "fifo"
    if sys.platform == "win32":
        pytest.skip("named pipes are made otherwise there")
    import os

    os.mkfifo(fifo)
    code = f"import os; open({str(fifo)!r}, 'w').write(str(os.getsid(0) == os.getpid()))"
    RealSystem().start([sys.executable, "-c", code])
    assert fifo.read_text() == "True"


def test_a_program_that_is_not_there_is_said() -> None:
    with pytest.raises(KmemError, match="could not be started"):
        RealSystem().start(["/no/such/program"])
