"""Starting at login, by each system's own means; nothing is written until a person asks for it."""

import contextlib
import os
import plistlib
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Protocol

from kmem_desktop.errors import KmemError

if sys.platform == "win32":
    import winreg

NAME = "kmem"
BACKGROUND = "--background"
_BUNDLE_ID = "io.github.kmem"


class LoginEntry(Protocol):
    """One entry in the list of what a system starts at login."""

    def exists(self) -> bool:
        """Return whether the entry is there."""

    def write(self) -> None:
        """Add the entry.

        Raises:
            KmemError: The system refused.
        """

    def remove(self) -> None:
        """Take the entry out.

        Raises:
            KmemError: The system refused.
        """


def program_command() -> list[str]:
    """Return the command that starts this very kmem."""
    interpreter = Path(sys.executable)
    if getattr(sys, "frozen", False):
        return [str(interpreter)]
    script = interpreter.with_name("kmem.exe" if sys.platform == "win32" else "kmem")
    if script.is_file():
        return [str(script)]
    return [str(interpreter), "-m", "kmem_desktop"]


class DesktopFile:
    """A .desktop file in the XDG autostart folder (Linux)."""

    def __init__(self, folder: Path | None = None) -> None:
        """Use the user's autostart folder, or the one given."""
        config = Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config")
        self._file = (folder or config / "autostart") / f"{NAME}.desktop"

    def exists(self) -> bool:
        """Return whether the file is there and not switched off by the desktop."""
        try:
            text = self._file.read_text(encoding="utf-8")
        except OSError:
            return False
        lines = {line.strip().replace(" ", "").lower() for line in text.splitlines()}
        return not lines & {"hidden=true", "x-gnome-autostart-enabled=false"}

    def write(self) -> None:
        """Write the file."""
        command = " ".join(_desktop_quoted(part) for part in [*program_command(), BACKGROUND])
        text = (
            "[Desktop Entry]\nType=Application\nName=kmem\n"
            "Comment=One memory for all your assistants\n"
            f"Exec={command}\nIcon=kmem\nTerminal=false\nX-GNOME-Autostart-enabled=true\n"
        )
        _write(self._file, text.encode())

    def remove(self) -> None:
        """Delete the file."""
        _remove(self._file)


class LaunchAgent:
    """A property list in ~/Library/LaunchAgents (macOS)."""

    def __init__(self, folder: Path | None = None) -> None:
        """Use the user's agents, or the folder given."""
        default = Path.home() / "Library" / "LaunchAgents"
        self._file = (folder or default) / f"{_BUNDLE_ID}.plist"

    def exists(self) -> bool:
        """Return whether the list is there."""
        return self._file.is_file()

    def write(self) -> None:
        """Write the list."""
        content = {
            "Label": _BUNDLE_ID,
            "ProgramArguments": [*program_command(), BACKGROUND],
            "RunAtLoad": True,
            "ProcessType": "Interactive",
        }
        _write(self._file, plistlib.dumps(content))

    def remove(self) -> None:
        """Delete the list."""
        _remove(self._file)


def _desktop_quoted(part: str) -> str:
    """Quote an argument for the Exec key (desktop entry specification, "The Exec key")."""
    escaped = part.replace("%", "%%")
    if shlex.quote(part) == part:
        return escaped
    for character in ("\\", '"', "`", "$"):
        escaped = escaped.replace(character, "\\" + character)
    # The value is a string of the file first: its backslashes are doubled once more.
    return '"' + escaped.replace("\\", "\\\\") + '"'


def _write(file: Path, content: bytes) -> None:
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        temporary = file.with_name(f".{file.name}.new")
        temporary.write_bytes(content)
        temporary.replace(file)
    except OSError as error:
        raise _refused(error) from error


def _remove(file: Path) -> None:
    try:
        file.unlink(missing_ok=True)
    except OSError as error:
        raise _refused(error) from error


def _refused(error: OSError) -> KmemError:
    return KmemError(
        f"Start at login could not be changed: {error.strerror}.",
        hint="Look whether the folder for start entries can be written to.",
    )


if sys.platform == "win32":
    _RUN = r"Software\Microsoft\Windows\CurrentVersion\Run"
    _APPROVED = r"Software\Microsoft\Windows\CurrentVersion\Explorer\StartupApproved\Run"
    _DISABLED = 1

    class RunKey:
        """A value under HKEY_CURRENT_USER's Run key (Windows)."""

        def exists(self) -> bool:
            """Return whether the value is there and not switched off in the Task Manager."""
            try:
                with winreg.OpenKey(winreg.HKEY_CURRENT_USER, _RUN) as key:
                    winreg.QueryValueEx(key, NAME)
            except OSError:
                return False
            try:
                with winreg.OpenKey(winreg.HKEY_CURRENT_USER, _APPROVED) as key:
                    state, _ = winreg.QueryValueEx(key, NAME)
            except OSError:
                return True
            return not (state and state[0] & _DISABLED)

        def write(self) -> None:
            """Set the value and take back a switch-off."""
            command = subprocess.list2cmdline([*program_command(), BACKGROUND])
            try:
                with winreg.CreateKey(winreg.HKEY_CURRENT_USER, _RUN) as key:
                    winreg.SetValueEx(key, NAME, 0, winreg.REG_SZ, command)
            except OSError as error:
                raise _refused(error) from error
            self._delete(_APPROVED)

        def remove(self) -> None:
            """Delete the value."""
            self._delete(_RUN)
            self._delete(_APPROVED)

        @staticmethod
        def _delete(path: str) -> None:
            with (
                contextlib.suppress(FileNotFoundError),
                winreg.OpenKey(winreg.HKEY_CURRENT_USER, path, 0, winreg.KEY_SET_VALUE) as key,
            ):
                winreg.DeleteValue(key, NAME)


def login_entry() -> LoginEntry:
    """Return this system's place for start entries."""
    if sys.platform == "win32":
        return RunKey()
    if sys.platform == "darwin":
        return LaunchAgent()
    return DesktopFile()
