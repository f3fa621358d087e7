"""What the adapters want to know of a system: its files, processes, services, registry.

The real one asks psutil and the disk; tests describe one instead.
"""

import contextlib
import os
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any, Protocol

from kmem_desktop.errors import KmemError

if sys.platform == "win32":
    import winreg

LONGEST_READ_BYTES = 4096


class Family(StrEnum):
    """Which kind of system it is."""

    WINDOWS = "windows"
    MACOS = "macos"
    LINUX = "linux"


@dataclass(frozen=True, slots=True)
class Process:
    """A running process.

    Attributes:
        pid: Its number.
        name: The name of its program file.
        command: Its command line, where the system shows it.
        path: Its program file, where the system shows it.
    """

    pid: int
    name: str
    command: tuple[str, ...] = ()
    path: str = ""


class System(Protocol):
    """A system, as far as the adapters look at it.

    Attributes:
        family: Which kind it is.
        environment: Its variables.
        home: The user's folder.
    """

    family: Family
    environment: Mapping[str, str]
    home: str

    def is_file(self, path: str) -> bool:
        """Return whether there is a file."""

    def is_folder(self, path: str) -> bool:
        """Return whether there is a folder."""

    def matching(self, folder: str, pattern: str) -> Sequence[str]:
        """Return the paths in a folder whose names match, sorted."""

    def text(self, path: str) -> str:
        """Return the beginning of a file; nothing where it cannot be read."""

    def processes(self, names: frozenset[str]) -> Sequence[Process]:
        """Return the running processes with these names, which are given in lower case."""

    def service_program(self, name: str) -> str | None:
        """Return the command line of a Windows service; None where there is none."""

    def registry_text(self, key: str, name: str) -> str:
        """Return a text of the Windows registry, of the user or else of the computer."""

    def network(self) -> frozenset[str]:
        """Return the addresses that this computer has now."""

    def start(self, command: Sequence[str]) -> None:
        """Start a program that outlives this one.

        Raises:
            KmemError: It could not be started.
        """


class RealSystem:
    """This very computer."""

    def __init__(self) -> None:
        """Look at the system that kmem runs on."""
        families = {"win32": Family.WINDOWS, "darwin": Family.MACOS}
        self.family = families.get(sys.platform, Family.LINUX)
        self.environment: Mapping[str, str] = os.environ
        self.home = str(Path.home())

    def is_file(self, path: str) -> bool:
        """Return whether there is a file."""
        return os.path.isfile(path)  # noqa: PTH113 - Path.is_file raises for a text with a NUL

    def is_folder(self, path: str) -> bool:
        """Return whether there is a folder."""
        return os.path.isdir(path)  # noqa: PTH112 - as above

    def matching(self, folder: str, pattern: str) -> Sequence[str]:
        """Return the paths in a folder whose names match, sorted."""
        try:
            return sorted(str(path) for path in Path(folder).glob(pattern))
        except OSError:
            return []

    def text(self, path: str) -> str:
        """Return the beginning of a file; nothing where it cannot be read."""
        try:
            with Path(path).open(encoding="utf-8", errors="replace") as file:
                return file.read(LONGEST_READ_BYTES)
        except (OSError, ValueError):
            return ""

    def processes(self, names: frozenset[str]) -> Sequence[Process]:
        """Return the running processes with these names."""
        psutil = _psutil()
        found: list[Process] = []
        for process in psutil.process_iter():
            # It may end meanwhile, or belong to somebody who shows nothing.
            with contextlib.suppress(psutil.Error, OSError):
                if process.name().lower() in names:
                    found.append(_described(process, psutil.Error))
        return found

    def service_program(self, name: str) -> str | None:
        """Return the command line of a Windows service; None where there is none."""
        if sys.platform == "win32":
            psutil = _psutil()
            with contextlib.suppress(psutil.Error, OSError):
                return str(psutil.win_service_get(name).binpath())
        return None

    def registry_text(self, key: str, name: str) -> str:
        """Return a text of the Windows registry, of the user or else of the computer."""
        if sys.platform == "win32":
            for root in (winreg.HKEY_CURRENT_USER, winreg.HKEY_LOCAL_MACHINE):
                with contextlib.suppress(OSError), winreg.OpenKey(root, key) as opened:
                    value, _ = winreg.QueryValueEx(opened, name)
                    if isinstance(value, str) and value:
                        return value
        return ""

    def network(self) -> frozenset[str]:
        """Return the addresses that this computer has now."""
        psutil = _psutil()
        with contextlib.suppress(psutil.Error, OSError):
            addresses = psutil.net_if_addrs()
            return frozenset(each.address for many in addresses.values() for each in many)
        return frozenset()

    def start(self, command: Sequence[str]) -> None:
        """Start a program that outlives this one."""
        flags = 0
        if sys.platform == "win32":
            flags = subprocess.DETACHED_PROCESS | subprocess.CREATE_NEW_PROCESS_GROUP
        try:
            process = subprocess.Popen(  # noqa: S603 - a program that was found, and no shell
                list(command),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                cwd=self.home,
                start_new_session=True,
                creationflags=flags,
            )
        except (OSError, ValueError) as error:
            raise KmemError(
                "The program could not be started.", hint=f"Start it by hand: {' '.join(command)}"
            ) from error
        # Somebody has to take note of its end, or it stays in the process list as a ghost.
        threading.Thread(target=process.wait, name="started-program", daemon=True).start()


def _psutil() -> Any:
    """Return psutil, which takes 25 ms to import and has no types."""
    import psutil  # type: ignore[import-untyped]

    return psutil


def _described(process: Any, refusal: type[Exception]) -> Process:
    command: tuple[str, ...] = ()
    path = ""
    # Processes of another user show their name only.
    with contextlib.suppress(refusal, OSError):
        command = tuple(process.cmdline())
        path = process.exe()
    return Process(process.pid, process.name(), command, path)
