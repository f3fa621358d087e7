"""Programs that run models on Windows: services, the registry, usual folders, processes."""

from kmem_desktop.domain.models import Program, ProgramKind
from kmem_desktop.platforms.program_facts import FACTS, Facts, running
from kmem_desktop.platforms.system import System

UNINSTALL = r"Software\Microsoft\Windows\CurrentVersion\Uninstall"


class WindowsPrograms:
    """Looks for programs on Windows."""

    def __init__(self, system: System) -> None:
        """Look at `system`."""
        self._system = system

    def find(self, kind: ProgramKind) -> Program:
        """Return what is known of a program."""
        facts = FACTS[kind]
        is_running, evidence = running(self._system, facts)
        file = self._program_file(facts)
        command_file = self._command_file(facts)
        service = self._service(facts)
        if file:
            evidence = (*evidence, f"the program {file}")
        if command_file:
            evidence = (*evidence, f"the command {command_file}")
        if service:
            evidence = (*evidence, f"the service {service}")
        command: tuple[str, ...] = ()
        if command_file and facts.serve and (not file or facts.prefers_command):
            command = (command_file, *facts.serve)
        elif file:
            command = (file,)
        return Program(
            kind,
            facts.name,
            is_installed=bool(file or command_file or service or is_running),
            is_running=is_running,
            path=file or command_file or service,
            command=command,
            evidence=evidence,
        )

    def _service(self, facts: Facts) -> str:
        for name in facts.services:
            if self._system.service_program(name) is not None:
                return name
        return ""

    def _program_file(self, facts: Facts) -> str:
        folders = [self._folder(variable, rest) for variable, rest in facts.windows_folders]
        for key in facts.uninstall_keys:
            place = self._system.registry_text(rf"{UNINSTALL}\{key}", "InstallLocation")
            folders.append(place.rstrip("\\"))
        files = [
            rf"{folder}\{name}" for folder in folders if folder for name in facts.windows_files
        ]
        return next((file for file in files if self._system.is_file(file)), "")

    def _command_file(self, facts: Facts) -> str:
        folders = [
            *self._system.environment.get("PATH", "").split(";"),
            self._folder("LOCALAPPDATA", r"Microsoft\WinGet\Links"),
            *(self._folder(variable, rest) for variable, rest in facts.windows_folders),
        ]
        files = [
            rf"{folder.rstrip(chr(92))}\{name}.exe"
            for folder in folders
            if folder
            for name in facts.commands
        ]
        for place in facts.home_commands:
            path = place.replace("/", "\\")
            files.append(rf"{self._system.home}\{path}.exe")
        files += [rf"{home}\bin\lms.exe" for home in self._moved_homes(facts)]
        return next((file for file in files if self._system.is_file(file)), "")

    def _moved_homes(self, facts: Facts) -> list[str]:
        """Return where LM Studio says that its folder was moved to."""
        if not facts.home_pointer:
            return []
        pointer = self._system.text(rf"{self._system.home}\{facts.home_pointer}").strip()
        return [pointer] if pointer and "\n" not in pointer else []

    def _folder(self, variable: str, rest: str) -> str:
        root = self._system.environment.get(variable, "")
        return rf"{root}\{rest}" if root else ""
