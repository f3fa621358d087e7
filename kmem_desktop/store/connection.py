"""Opening one SQLite connection the way kmem needs it, and refusing to run on anything less.

Each setting is a function with its reason. What DESIGN.md promises (an acknowledged write survives
a power cut, a deleted text is gone) rests on them, so each is read back after it was set.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import apsw

from kmem_desktop.errors import (
    DamagedStoreError,
    InvalidInputError,
    NotOurFileError,
    StoreBusyError,
    StoreError,
)

Connection = apsw.Connection

BUSY_TIMEOUT_MS = 10_000
OLDEST_SAFE_SQLITE = (3, 51, 3)  # 3.7.0 to 3.51.2 can corrupt a WAL file on reset
PLAIN_HEADER = b"SQLite format 3\0"
WAL_HEADER_BYTES = 32
WAL_FRAME_HEADER_BYTES = 24


def open_connection(path: Path, *, read_only: bool = False) -> Connection:
    """Open the database at `path` with every promise asserted.

    Raises:
        NotOurFileError: The file holds something other than a plain SQLite database.
        StoreError: A setting could not be made, or the file could not be opened.
    """
    require_safe_sqlite()
    require_plain_header(path)
    flags = apsw.SQLITE_OPEN_READONLY if read_only else apsw.SQLITE_OPEN_READWRITE
    with translated_errors():
        connection = Connection(str(path), flags=flags)
        try:
            connection.set_busy_timeout(BUSY_TIMEOUT_MS)
            if read_only:
                connection.pragma("query_only", "on")
            else:
                use_write_ahead_log(connection)
                sync_every_commit(connection)
                overwrite_what_is_deleted(connection)
                check_foreign_keys(connection)
        except BaseException:
            connection.close()
            raise
    return connection


def require_safe_sqlite() -> None:
    """Refuse a SQLite whose write-ahead log can corrupt a file that two connections use."""
    version = tuple(int(part) for part in apsw.sqlite_lib_version().split("."))
    if version < OLDEST_SAFE_SQLITE:
        raise StoreError(
            f"SQLite {apsw.sqlite_lib_version()} is too old to keep a memory safe.",
            hint="Install apsw-sqlite3mc 3.51.3 or newer.",
        )


def require_plain_header(path: Path) -> None:
    """Refuse a file that is no plain SQLite database, by its first bytes alone.

    An encrypted file is never probed by opening it: opening it without its key can drop the
    journal that would have repaired it.
    """
    with path.open("rb") as file:
        header = file.read(len(PLAIN_HEADER))
    if header and header != PLAIN_HEADER and not first_page_is_in_log(path):
        raise NotOurFileError(
            f"{path} is not a kmem database.",
            hint="Choose another file with --db; this one was left as it is.",
        )


def first_page_is_in_log(path: Path) -> bool:
    """Return whether the write-ahead log holds a plain first page.

    A power cut while that page was being copied into the file can leave garbage in its place;
    SQLite repairs it from the log.
    """
    try:
        with path.with_name(f"{path.name}-wal").open("rb") as log:
            page_bytes = int.from_bytes(log.read(WAL_HEADER_BYTES)[8:12], "big")
            while len(frame := log.read(WAL_FRAME_HEADER_BYTES + page_bytes)) > page_bytes > 0:
                page = frame[WAL_FRAME_HEADER_BYTES:]
                if frame[:4] == b"\0\0\0\1" and page.startswith(PLAIN_HEADER):
                    return True
    except OSError:
        pass
    return False


def use_write_ahead_log(connection: Connection) -> None:
    """Readers and the writer do not block each other, and a commit is one sequential write."""
    mode = connection.pragma("journal_mode", "wal")
    if mode != "wal":
        raise StoreError(
            f"The database cannot use a write-ahead log (it says {mode!r}).",
            hint="Move it to a local disk; network drives cannot hold it safely.",
        )


def sync_every_commit(connection: Connection) -> None:
    """With FULL each commit reaches the disk; NORMAL loses the last ones in a power cut."""
    connection.pragma("synchronous", "full")
    if connection.pragma("synchronous") != 2:
        raise StoreError("The database cannot sync each commit to the disk.")


def overwrite_what_is_deleted(connection: Connection) -> None:
    """Freed pages are zeroed, so that a deleted text is gone from the file."""
    connection.pragma("secure_delete", "on")
    if connection.pragma("secure_delete") != 1:
        raise StoreError("The database cannot overwrite deleted text.")


def check_foreign_keys(connection: Connection) -> None:
    """A row never points to nothing."""
    connection.pragma("foreign_keys", "on")
    if connection.pragma("foreign_keys") != 1:
        raise StoreError("The database cannot check foreign keys.")


@contextmanager
def translated_errors() -> Iterator[None]:
    """Turn SQLite's exceptions into kmem's: the one place where damage and locks are recognised."""
    try:
        yield
    except UnicodeEncodeError as error:
        raise InvalidInputError(
            "A text holds half of a character (a lone surrogate), which cannot be stored.",
            hint="Take it out, or put a whole character in its place.",
        ) from error
    except (apsw.CorruptError, apsw.NotADBError, UnicodeDecodeError) as error:
        raise DamagedStoreError(
            "The database file is damaged.",
            hint="Nothing was changed. Copy the file and its -wal before anything else.",
        ) from error
    except (apsw.BusyError, apsw.LockedError) as error:
        raise StoreBusyError(
            "Another program keeps the database locked.", hint="Close it and try again."
        ) from error
    except apsw.InterruptError as error:
        raise StoreError("It was interrupted: kmem is ending. Nothing was changed.") from error
    except apsw.FullError as error:
        raise StoreError(
            "The disk is full; nothing was saved.", hint="Free some space and try again."
        ) from error
    except (apsw.ReadOnlyError, apsw.PermissionsError, apsw.CantOpenError) as error:
        raise StoreError(
            "The database cannot be written; nothing was saved.",
            hint="Check the rights of the file and its folder.",
        ) from error
    except apsw.IOError as error:
        raise StoreError(
            "The disk reported an error; what was being saved may or may not be there.",
            hint="Look whether it is there before you save it again.",
        ) from error
