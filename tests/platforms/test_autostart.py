"""Start entries of the systems, on files of the test's own."""

import plistlib
import sys
from pathlib import Path

import pytest

from kmem_desktop.errors import KmemError
from kmem_desktop.platforms import autostart
from kmem_desktop.services.startup import StartupService


def test_nothing_is_there_until_it_is_written(tmp_path: Path) -> None:
    entry = autostart.DesktopFile(tmp_path / "autostart")
    assert not entry.exists()
    entry.write()
    assert entry.exists()
    entry.remove()
    assert not entry.exists()
    assert list((tmp_path / "autostart").iterdir()) == []


def test_the_desktop_file_starts_kmem_in_the_background(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(autostart, "program_command", lambda: ["/opt/my $kmem/100%/kmem"])
    autostart.DesktopFile(tmp_path).write()
    text = (tmp_path / "kmem.desktop").read_text(encoding="utf-8")
    assert 'Exec="/opt/my \\\\$kmem/100%%/kmem" --background\n' in text


@pytest.mark.parametrize("line", ["Hidden=true", "X-GNOME-Autostart-enabled = false"])
def test_an_entry_that_the_desktop_switched_off_is_off(tmp_path: Path, line: str) -> None:
    entry = autostart.DesktopFile(tmp_path)
    entry.write()
    file = tmp_path / "kmem.desktop"
    file.write_text(f"[Desktop Entry]\n{line}\n", encoding="utf-8")
    assert not entry.exists()


def test_the_launch_agent_is_a_property_list(tmp_path: Path) -> None:
    entry = autostart.LaunchAgent(tmp_path)
    entry.write()
    (file,) = tmp_path.iterdir()
    content = plistlib.loads(file.read_bytes())
    assert content["ProgramArguments"][-1] == "--background"
    assert content["RunAtLoad"] is True
    assert entry.exists()
    entry.remove()
    entry.remove()
    assert not entry.exists()


def test_a_folder_that_cannot_be_written_is_said_in_words(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.touch()
    with pytest.raises(KmemError, match="could not be changed"):
        autostart.DesktopFile(blocked / "autostart").write()


def test_the_command_is_the_script_beside_the_interpreter(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    interpreter = tmp_path / "python"
    monkeypatch.setattr(sys, "executable", str(interpreter))
    assert autostart.program_command() == [str(interpreter), "-m", "kmem_desktop"]
    script = tmp_path / ("kmem.exe" if sys.platform == "win32" else "kmem")
    script.touch()
    assert autostart.program_command() == [str(script)]
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    assert autostart.program_command() == [str(interpreter)]


async def test_the_service_reads_the_system_each_time(tmp_path: Path) -> None:
    entry = autostart.DesktopFile(tmp_path)
    service = StartupService(entry)
    assert not await service.starts_at_login()
    await service.set_start_at_login(enabled=True)
    assert await service.starts_at_login()
    entry.remove()
    assert not await service.starts_at_login()
