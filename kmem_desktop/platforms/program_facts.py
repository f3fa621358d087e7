"""Where programs that run models are installed, and what their processes are called.

References:
    Ollama: scripts/install.sh, app/ollama.iss, docs/windows.md, docs/linux.md. LM Studio: docs on
    `lms` and headless mode. LocalAI: install.sh, its Homebrew formula. llama.cpp: docs/install.md.
    Seed 001, "Cross-Platform Implementation".
"""

from dataclasses import dataclass

from kmem_desktop.domain.models import ProgramKind
from kmem_desktop.platforms.system import Family, System


@dataclass(frozen=True, slots=True)
class Facts:
    """What is known of a program.

    Attributes:
        name: Its name for people.
        processes: Its processes' names in lower case; `.exe` is added on Windows.
        commands: What is typed in a terminal.
        home_commands: The same, by place in the user's folder.
        serve: What makes the command serve; empty where it needs a model of a person's choice.
        prefers_command: Whether the command rather than the application starts its server.
        units: Its systemd units.
        appimages: What its AppImages are called.
        linux_paths: Where packages put it.
        bundles: Its application bundles.
        services: Its Windows services.
        windows_folders: Where its installer puts it: a variable and the rest.
        windows_files: Its programs there, the one to start first.
        uninstall_keys: Its keys in the registry's list of programs.
        home_pointer: A file in the user's folder that tells where its own folder is.
        not_served_by: A word in the command line of processes that do not serve.
    """

    name: str
    processes: tuple[str, ...]
    commands: tuple[str, ...]
    home_commands: tuple[str, ...] = ()
    serve: tuple[str, ...] = ()
    prefers_command: bool = False
    units: tuple[str, ...] = ()
    appimages: tuple[str, ...] = ()
    linux_paths: tuple[str, ...] = ()
    bundles: tuple[str, ...] = ()
    services: tuple[str, ...] = ()
    windows_folders: tuple[tuple[str, str], ...] = ()
    windows_files: tuple[str, ...] = ()
    uninstall_keys: tuple[str, ...] = ()
    home_pointer: str = ""
    not_served_by: tuple[str, ...] = ()


FACTS: dict[ProgramKind, Facts] = {
    ProgramKind.OLLAMA: Facts(
        name="Ollama",
        processes=("ollama", "ollama app"),
        commands=("ollama",),
        serve=("serve",),
        units=("ollama.service",),
        bundles=("Ollama.app",),
        services=("Ollama",),
        windows_folders=(("LOCALAPPDATA", r"Programs\Ollama"), ("PROGRAMFILES", "Ollama")),
        windows_files=("ollama app.exe",),
        uninstall_keys=("{44E83376-CE68-45EB-8FC1-393500EB558C}_is1",),
        not_served_by=("run", "pull", "list", "ps", "show", "create"),
    ),
    ProgramKind.LM_STUDIO: Facts(
        name="LM Studio",
        processes=("lm studio", "lm-studio", "llmster"),
        commands=("lms",),
        home_commands=(".lmstudio/bin/lms", ".cache/lm-studio/bin/lms"),
        serve=("server", "start"),
        prefers_command=True,
        appimages=("LM-Studio*.AppImage", "LM_Studio*.AppImage"),
        linux_paths=("/opt/LM-Studio/lm-studio", "/opt/LM Studio/lm-studio", "/usr/bin/lm-studio"),
        bundles=("LM Studio.app",),
        windows_folders=(
            ("LOCALAPPDATA", r"Programs\LM Studio"),
            ("LOCALAPPDATA", "LM-Studio"),
            ("PROGRAMFILES", "LM Studio"),
        ),
        windows_files=("LM Studio.exe",),
        home_pointer=".lmstudio-home-pointer",
    ),
    ProgramKind.LOCALAI: Facts(
        name="LocalAI",
        processes=("local-ai", "localai"),
        commands=("local-ai", "localai"),
        serve=("run",),
        units=("local-ai.service", "localai.service"),
        bundles=("LocalAI.app",),
        services=("LocalAI",),
    ),
    ProgramKind.LLAMA_CPP: Facts(
        name="llama.cpp",
        processes=("llama-server",),
        commands=("llama-server",),
        units=("llama-server.service", "llama-cpp.service"),
    ),
}


def running(system: System, facts: Facts) -> tuple[bool, tuple[str, ...]]:
    """Return whether a program runs, and what told."""
    for process in system.processes(process_names(facts, system.family)):
        word = process.command[1] if len(process.command) > 1 else ""
        if word not in facts.not_served_by:
            return True, (f"the process {process.pid}",)
    return False, ()


def process_names(facts: Facts, family: Family) -> frozenset[str]:
    """Return what a program's processes are called on a system."""
    ending = ".exe" if family is Family.WINDOWS else ""
    return frozenset(name + ending for name in facts.processes)
