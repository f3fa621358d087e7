"""Programs that run models on macOS: application bundles, Homebrew, processes."""

from kmem_desktop.domain.models import Program, ProgramKind
from kmem_desktop.platforms.program_facts import FACTS, Facts, running
from kmem_desktop.platforms.system import System

HOMEBREW = ("/opt/homebrew/bin", "/usr/local/bin")
"""On Apple's processors, and on Intel's."""


class MacPrograms:
    """Looks for programs on a Mac."""

    def __init__(self, system: System) -> None:
        """Look at `system`."""
        self._system = system

    def find(self, kind: ProgramKind) -> Program:
        """Return what is known of a program."""
        facts = FACTS[kind]
        is_running, evidence = running(self._system, facts)
        bundle = self._bundle(facts)
        command_file = self._command_file(facts)
        if bundle:
            evidence = (*evidence, f"the application {bundle}")
        if command_file:
            evidence = (*evidence, f"the command {command_file}")
        command: tuple[str, ...] = ()
        if command_file and facts.serve and (not bundle or facts.prefers_command):
            command = (command_file, *facts.serve)
        elif bundle:
            command = ("/usr/bin/open", "-g", "-a", bundle)
        return Program(
            kind,
            facts.name,
            is_installed=bool(bundle or command_file or is_running),
            is_running=is_running,
            path=bundle or command_file,
            command=command,
            evidence=evidence,
        )

    def _bundle(self, facts: Facts) -> str:
        folders = ("/Applications", f"{self._system.home}/Applications")
        bundles = [f"{folder}/{name}" for folder in folders for name in facts.bundles]
        return next((path for path in bundles if self._system.is_folder(path)), "")

    def _command_file(self, facts: Facts) -> str:
        # What is started from the Dock does not see the PATH of a terminal.
        on_path = self._system.environment.get("PATH", "").split(":")
        folders = [*HOMEBREW, *(folder for folder in on_path if folder)]
        files = [f"{folder}/{name}" for folder in folders for name in facts.commands]
        files += [f"{self._system.home}/{place}" for place in facts.home_commands]
        return next((file for file in files if self._system.is_file(file)), "")
