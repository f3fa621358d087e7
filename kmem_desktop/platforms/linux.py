"""Programs that run models on Linux: commands, systemd units, AppImages, processes."""

from kmem_desktop.domain.models import Program, ProgramKind
from kmem_desktop.platforms.program_facts import FACTS, Facts, running
from kmem_desktop.platforms.system import System

USUAL_FOLDERS = ("/usr/local/bin", "/usr/bin", "/opt/bin", "/snap/bin")
UNIT_FOLDERS = ("/etc/systemd/system", "/usr/lib/systemd/system", "/lib/systemd/system")
APPIMAGE_FOLDERS = ("Applications", "Downloads", ".local/bin", "bin", "Desktop")


class LinuxPrograms:
    """Looks for programs on a Linux system."""

    def __init__(self, system: System) -> None:
        """Look at `system`."""
        self._system = system

    def find(self, kind: ProgramKind) -> Program:
        """Return what is known of a program."""
        facts = FACTS[kind]
        is_running, evidence = running(self._system, facts)
        command_file = self._command_file(facts)
        unit, is_of_user = self._unit(facts)
        image = "" if command_file else self._image(facts)
        if command_file:
            evidence = (*evidence, f"the command {command_file}")
        if unit:
            evidence = (*evidence, f"the unit {unit}")
        if image:
            evidence = (*evidence, f"the program {image}")
        path = command_file or image
        return Program(
            kind,
            facts.name,
            is_installed=bool(path or unit or is_running),
            is_running=is_running,
            path=path or unit,
            command=self._start(facts, command_file, image, unit, is_of_user=is_of_user),
            evidence=evidence,
        )

    def _start(
        self, facts: Facts, command_file: str, image: str, unit: str, *, is_of_user: bool
    ) -> tuple[str, ...]:
        if unit:
            # Started by hand, it would not see the models of the user that the unit runs as.
            name = unit.rsplit("/", 1)[-1]
            return ("systemctl", *(("--user",) if is_of_user else ()), "start", name)
        if command_file and facts.serve:
            return (command_file, *facts.serve)
        return (image,) if image else ()

    def _command_file(self, facts: Facts) -> str:
        on_path = self._system.environment.get("PATH", "").split(":")
        home = self._system.home
        folders = [*on_path, *USUAL_FOLDERS, f"{home}/.local/bin", f"{home}/bin"]
        files = [f"{folder}/{name}" for folder in folders if folder for name in facts.commands]
        files += [f"{home}/{place}" for place in facts.home_commands]
        return next((file for file in files if self._system.is_file(file)), "")

    def _unit(self, facts: Facts) -> tuple[str, bool]:
        """Return the unit file, and whether it is the user's own."""
        own = f"{self._system.home}/.config/systemd/user"
        for folder in (own, "/usr/lib/systemd/user", *UNIT_FOLDERS):
            for name in facts.units:
                if self._system.is_file(f"{folder}/{name}"):
                    return f"{folder}/{name}", folder.endswith("/user")
        return "", False

    def _image(self, facts: Facts) -> str:
        for path in facts.linux_paths:
            if self._system.is_file(path):
                return path
        for place in APPIMAGE_FOLDERS:
            for pattern in facts.appimages:
                found = self._system.matching(f"{self._system.home}/{place}", pattern)
                if found:
                    return found[-1]
        return ""
