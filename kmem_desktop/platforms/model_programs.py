"""The programs of this computer that run models: which are there, which run, and how to start one.

No shell is asked, only files, the process list, and on Windows the registry and the services.
"""

from typing import Protocol

from kmem_desktop.domain.models import Program, ProgramKind
from kmem_desktop.errors import NotFoundError
from kmem_desktop.platforms.linux import LinuxPrograms
from kmem_desktop.platforms.macos import MacPrograms
from kmem_desktop.platforms.program_facts import FACTS, process_names
from kmem_desktop.platforms.system import Family, RealSystem, System
from kmem_desktop.platforms.windows import WindowsPrograms


class Adapter(Protocol):
    """Looks for programs in the way of one kind of system."""

    def find(self, kind: ProgramKind) -> Program:
        """Return what is known of a program."""


class ModelPrograms:
    """The programs of one computer; every method blocks on the disk and belongs into a worker."""

    def __init__(self, system: System | None = None) -> None:
        """Look at this computer, or at the one given."""
        self._system: System = system or RealSystem()
        self._adapter = _adapter(self._system)

    def find_all(self) -> tuple[Program, ...]:
        """Return what is known of every program."""
        return tuple(self._adapter.find(kind) for kind in ProgramKind)

    def start(self, kind: ProgramKind) -> Program:
        """Start a program; it outlives kmem.

        Returns:
            What was started, or is running already.

        Raises:
            NotFoundError: It is not installed, or cannot be started without a person.
            KmemError: It could not be started.
        """
        program = self._adapter.find(kind)
        if program.is_running:
            return program
        if not program.can_be_started:
            raise NotFoundError(
                f"{program.name} cannot be started by kmem.",
                hint="Start it by hand, with a model of your choice."
                if program.is_installed
                else "Install it first.",
            )
        self._system.start(program.command)
        return program

    def fingerprint(self) -> frozenset[str]:
        """Return what changes when a program starts or ends, or the network becomes another one."""
        names = frozenset(
            name for facts in FACTS.values() for name in process_names(facts, self._system.family)
        )
        processes = self._system.processes(names)
        return frozenset(f"{each.name} {each.pid}" for each in processes) | self._system.network()


def _adapter(system: System) -> Adapter:
    if system.family is Family.WINDOWS:
        return WindowsPrograms(system)
    if system.family is Family.MACOS:
        return MacPrograms(system)
    return LinuxPrograms(system)
