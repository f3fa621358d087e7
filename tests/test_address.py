import os
import shutil
import stat
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import platformdirs
import pytest

from kmem_desktop import address

posix = pytest.mark.skipif(sys.platform == "win32", reason="pipes have no folder")


@pytest.fixture
def home(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A home with a short path, on a system without /run/user."""
    folder = tempfile.mkdtemp(prefix="kmem")
    with monkeypatch.context() as patch:
        patch.setenv("HOME", folder)
        patch.setattr(os, "lstat", _hide_run_user(os.lstat))
        yield Path(folder)
    shutil.rmtree(folder)


def _hide_run_user(lstat: Callable[[str], os.stat_result]) -> Callable[[str], os.stat_result]:
    def hiding(path: str) -> os.stat_result:
        if str(path).startswith("/run/user"):
            raise FileNotFoundError(path)
        return lstat(path)

    return hiding


def test_no_argument_and_no_variable_mean_the_default_database(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("KMEM_DB", raising=False)
    assert address.chosen_database(None) is None


def test_the_argument_goes_before_the_variable(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("KMEM_DB", str(tmp_path / "variable.db"))
    assert address.chosen_database(None) == str(tmp_path / "variable.db")
    assert address.chosen_database(str(tmp_path / "a.db")) == str(tmp_path / "a.db")


@posix
def test_two_names_of_one_file_are_one_database(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    monkeypatch.chdir(tmp_path / "real")
    monkeypatch.setenv("HOME", str(tmp_path))
    names = ["a.db", str(tmp_path / "link" / "a.db"), "~/link/a.db", "../real/./a.db"]
    assert {address.chosen_database(name) for name in names} == {str(tmp_path / "real" / "a.db")}


@posix
def test_each_database_has_its_own_address(home: Path) -> None:
    addresses = [address.socket_address(name) for name in (None, "/a.db", "/b.db")]
    assert len(set(addresses)) == 3
    assert addresses[0].endswith("/default.sock")
    name = os.path.basename(addresses[1])  # noqa: PTH119
    assert len(name) == len("0123456789abcdef.sock")


@posix
def test_the_address_does_not_depend_on_variables_that_clients_strip(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = address.socket_address(None)
    monkeypatch.setenv("XDG_RUNTIME_DIR", "/somewhere/else")
    monkeypatch.setenv("XDG_STATE_HOME", "/somewhere/else")
    assert address.socket_address(None) == before


@pytest.mark.skipif(sys.platform != "linux", reason="Linux alone has /run/user")
def test_the_run_folder_of_the_user_is_taken_where_there_is_one(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(address, "_is_ours", lambda path: path == f"/run/user/{os.getuid()}")
    assert address.socket_directory() == f"/run/user/{os.getuid()}/kmem"


@posix
def test_a_path_that_is_too_long_says_what_to_do(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", f"/{'h' * 100}")
    with pytest.raises(ValueError, match="Please set HOME"):
        address.socket_address(None)


@posix
def test_the_folder_is_made_for_its_owner_alone(home: Path) -> None:
    made = home / os.path.relpath(address.prepare_socket_directory(), home)
    assert stat.S_IMODE(made.stat().st_mode) == 0o700
    made.chmod(0o755)
    address.prepare_socket_directory()
    assert stat.S_IMODE(made.stat().st_mode) == 0o700


@posix
def test_a_folder_of_somebody_else_is_refused(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    address.prepare_socket_directory()
    monkeypatch.setattr(os, "getuid", lambda: os.stat("/").st_uid + 12345)  # noqa: PTH116
    with pytest.raises(OSError, match="not a folder of yours"):
        address.prepare_socket_directory()


@posix
def test_a_link_in_place_of_the_folder_is_refused(home: Path) -> None:
    path = home / os.path.relpath(address.socket_directory(), home)
    path.parent.mkdir(parents=True)
    (home / "elsewhere").mkdir()
    path.symlink_to(home / "elsewhere")
    with pytest.raises(OSError, match="not a folder of yours"):
        address.prepare_socket_directory()


def test_the_default_database_is_where_the_system_keeps_data_of_programs(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("XDG_DATA_HOME", raising=False)
    folder = platformdirs.user_data_path("kmem", appauthor=False)
    assert Path(address.default_database()) == folder / "kmem.db"


def test_naming_the_default_database_is_naming_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("KMEM_DB", raising=False)
    monkeypatch.delenv("XDG_DATA_HOME", raising=False)
    assert address.chosen_database(address.default_database()) is None


def test_a_data_folder_of_ones_own_is_a_named_database(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("KMEM_DB", raising=False)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    assert address.chosen_database(None) == str(tmp_path / "kmem" / "kmem.db")
