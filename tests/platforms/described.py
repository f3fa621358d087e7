"""Systems that are described instead of being there: a file tree, processes, services, registry."""

import fnmatch
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from kmem_desktop.platforms.system import Family, Process


@dataclass
class Described:
    """A system as a test wants it; it remembers what was started."""

    family: Family
    files: dict[str, str] = field(default_factory=dict)
    folders: set[str] = field(default_factory=set)
    running: list[Process] = field(default_factory=list)
    services: dict[str, str] = field(default_factory=dict)
    registry: dict[tuple[str, str], str] = field(default_factory=dict)
    addresses: set[str] = field(default_factory=set)
    environment: Mapping[str, str] = field(default_factory=dict)
    home: str = "/home/ada"
    started: list[tuple[str, ...]] = field(default_factory=list)

    def is_file(self, path: str) -> bool:
        return path in self.files

    def is_folder(self, path: str) -> bool:
        return path in self.folders

    def matching(self, folder: str, pattern: str) -> Sequence[str]:
        return sorted(path for path in self.files if fnmatch.fnmatch(path, f"{folder}/{pattern}"))

    def text(self, path: str) -> str:
        return self.files.get(path, "")

    def processes(self, names: frozenset[str]) -> Sequence[Process]:
        return [process for process in self.running if process.name.lower() in names]

    def service_program(self, name: str) -> str | None:
        return self.services.get(name)

    def registry_text(self, key: str, name: str) -> str:
        return self.registry.get((key, name), "")

    def network(self) -> frozenset[str]:
        return frozenset(self.addresses)

    def start(self, command: Sequence[str]) -> None:
        self.started.append(tuple(command))


def linux(*files: str, **more: Any) -> Described:
    return Described(
        Family.LINUX, files=dict.fromkeys(files, ""), environment={"PATH": "/usr/bin:/bin"}, **more
    )


def macos(*files: str, **more: Any) -> Described:
    return Described(Family.MACOS, files=dict.fromkeys(files, ""), home="/Users/ada", **more)


def windows(*files: str, **more: Any) -> Described:
    variables = {
        "LOCALAPPDATA": r"C:\Users\Ada\AppData\Local",
        "PROGRAMFILES": r"C:\Program Files",
        "PATH": r"C:\Windows;C:\Tools\\",
    }
    return Described(
        Family.WINDOWS,
        files=dict.fromkeys(files, ""),
        home=r"C:\Users\Ada",
        environment=variables,
        **more,
    )
