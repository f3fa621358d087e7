import os
import sys
from pathlib import Path

import apsw
import pytest

from kmem_desktop.errors import (
    DamagedStoreError,
    InvalidInputError,
    NotOurFileError,
    StoreBusyError,
    StoreError,
)
from kmem_desktop.store import connection as connections
from kmem_desktop.store.connection import open_connection, require_safe_sqlite, translated_errors
from tests.store.databases import add, fresh

posix = pytest.mark.skipif(sys.platform == "win32", reason="Windows keeps rights otherwise")


def test_the_writer_keeps_every_promise(tmp_path: Path) -> None:
    with fresh(tmp_path / "kmem.db") as connection:
        assert connection.pragma("journal_mode") == "wal"
        assert connection.pragma("synchronous") == 2
        assert connection.pragma("secure_delete") == 1
        assert connection.pragma("foreign_keys") == 1
        assert connection.pragma("busy_timeout") == connections.BUSY_TIMEOUT_MS


def test_a_reader_cannot_write(tmp_path: Path) -> None:
    with fresh(tmp_path / "kmem.db"):
        reader = open_connection(tmp_path / "kmem.db", read_only=True)
        with pytest.raises(apsw.ReadOnlyError):
            reader.execute("INSERT INTO meta VALUES ('a', 'b')")
        reader.close()


def test_the_index_overwrites_what_is_deleted(tmp_path: Path) -> None:
    with fresh(tmp_path / "kmem.db") as connection:
        option = "SELECT v FROM documents_index_config WHERE k = 'secure-delete'"
        assert connection.execute(option).get == 1


def test_a_row_cannot_point_to_nothing(tmp_path: Path) -> None:
    with fresh(tmp_path / "kmem.db") as connection, pytest.raises(apsw.ConstraintError):
        connection.execute("INSERT INTO entities VALUES (99, 'u', 'Ada', 'person')")


def test_this_sqlite_is_safe() -> None:
    require_safe_sqlite()
    assert connections.OLDEST_SAFE_SQLITE >= (3, 51, 3)


def test_an_unsafe_sqlite_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "OLDEST_SAFE_SQLITE", (99, 0, 0))
    with pytest.raises(StoreError, match="too old"):
        require_safe_sqlite()


def test_a_file_that_is_no_database_is_not_opened(tmp_path: Path) -> None:
    file = tmp_path / "kmem.db"
    file.write_bytes(os.urandom(8192))
    with pytest.raises(NotOurFileError):
        open_connection(file)
    assert [path.name for path in tmp_path.iterdir()] == ["kmem.db"]


def test_a_file_that_is_not_there_is_not_made(tmp_path: Path) -> None:
    with pytest.raises((StoreError, FileNotFoundError)):
        open_connection(tmp_path / "kmem.db")
    assert not (tmp_path / "kmem.db").exists()


def test_garbage_in_the_first_page_is_repaired_from_the_log(tmp_path: Path) -> None:
    path = tmp_path / "kmem.db"
    with fresh(path) as connection:
        connection.pragma("user_version", 1)  # brings page 1 into the log
        add(connection, "A title", "kept")
        log = path.with_name("kmem.db-wal").read_bytes()
        content = bytearray(path.read_bytes())
    content[:512] = b"\xa5" * 512
    path.write_bytes(content)
    path.with_name("kmem.db-wal").write_bytes(log)
    connection = open_connection(path)
    assert connection.execute("SELECT body FROM documents").get == "kept"
    assert connection.pragma("integrity_check") == "ok"
    connection.close()


@pytest.mark.parametrize("log", [b"", b"\0" * 32, b"x" * 40, os.urandom(9000)])
def test_a_log_of_something_else_repairs_nothing(tmp_path: Path, log: bytes) -> None:
    path = tmp_path / "kmem.db"
    path.write_bytes(b"something else" * 600)
    path.with_name("kmem.db-wal").write_bytes(log)
    with pytest.raises(NotOurFileError):
        open_connection(path)


@pytest.mark.parametrize(
    ("raised", "expected"),
    [
        (apsw.CorruptError("x"), DamagedStoreError),
        (apsw.NotADBError("x"), DamagedStoreError),
        (UnicodeDecodeError("utf-8", b"\xff", 0, 1, "x"), DamagedStoreError),
        (UnicodeEncodeError("utf-8", "\ud800", 0, 1, "x"), InvalidInputError),
        (apsw.BusyError("x"), StoreBusyError),
        (apsw.LockedError("x"), StoreBusyError),
        (apsw.FullError("x"), StoreError),
        (apsw.ReadOnlyError("x"), StoreError),
        (apsw.PermissionsError("x"), StoreError),
        (apsw.CantOpenError("x"), StoreError),
        (apsw.IOError("x"), StoreError),
    ],
)
def test_foreign_errors_become_ours(raised: Exception, expected: type[Exception]) -> None:
    with pytest.raises(expected) as caught, translated_errors():
        raise raised
    assert caught.value.__cause__ is raised


def test_a_bug_stays_a_bug() -> None:
    with pytest.raises(apsw.SQLError), translated_errors():
        raise apsw.SQLError("no such column")


def test_a_lock_that_is_not_given_up_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections, "BUSY_TIMEOUT_MS", 1)
    with fresh(tmp_path / "kmem.db") as holder:
        holder.execute("BEGIN IMMEDIATE")
        other = open_connection(tmp_path / "kmem.db")
        with pytest.raises(StoreBusyError), translated_errors():
            other.execute("BEGIN IMMEDIATE")
        other.close()
        holder.execute("ROLLBACK")
