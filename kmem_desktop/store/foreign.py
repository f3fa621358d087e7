"""Reading the SQLite files of other programs without changing a byte of them.

A file without a write-ahead log is opened as immutable: SQLite takes no lock and writes nothing
beside it. One with a log is copied, log and all, into a folder of its own that is removed again.
Where its program wrote meanwhile, it is read again. Nothing of the file runs: only real tables are
read, row by row, so that one damaged row does not hide the others.
"""

import shutil
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import apsw

from kmem_desktop.errors import FormatError
from kmem_desktop.store.connection import PLAIN_HEADER, Connection, require_safe_sqlite

LARGEST_FILE_BYTES = 4 * 1024**3
TRIES = 4
WAIT_S = 0.2
LONGEST_TEXT = 48 * 1024 * 1024
"""In bytes; a longer value makes its row unreadable."""

T = TypeVar("T")
Signature = tuple[tuple[int, int], tuple[int, int]]


@dataclass(frozen=True, slots=True)
class ForeignTable:
    """What a table of another program holds.

    Attributes:
        columns: The names of its columns but the binary ones.
        rows: Its rows, as mappings by column.
        unreadable: The numbers of the rows that could not be read.
    """

    columns: tuple[str, ...]
    rows: tuple[Mapping[str, Any], ...]
    unreadable: tuple[int, ...]


def is_database(path: Path) -> bool:
    """Return whether a file is a plain SQLite database, by its first bytes.

    Raises:
        OSError: It cannot be read.
    """
    with path.open("rb") as file:
        return file.read(len(PLAIN_HEADER)) == PLAIN_HEADER


def columns_of(path: Path) -> dict[str, frozenset[str]]:
    """Return the tables of a file, each with its columns.

    Raises:
        FormatError: The file is no plain SQLite database, or cannot be read.
    """

    def work(connection: Connection) -> dict[str, frozenset[str]]:
        return {name: frozenset(_columns(connection, name)) for name in _tables(connection)}

    return _read(path, work)


def read_tables(
    path: Path, wanted: Iterable[str], is_cancelled: Callable[[], bool] = lambda: False
) -> dict[str, ForeignTable]:
    """Return those of the wanted tables that are there, all as they were at one moment.

    Args:
        path: The file.
        wanted: The tables' names.
        is_cancelled: Is asked now and then whether to stop.

    Raises:
        FormatError: The file is no plain SQLite database, cannot be read, or its program does not
            stop writing to it; or it was cancelled.
    """
    names = list(wanted)

    def work(connection: Connection) -> dict[str, ForeignTable]:
        connection.set_progress_handler(is_cancelled, 10_000)
        there = _tables(connection)
        return {name: _table(connection, name) for name in names if name in there}

    return _read(path, work)


def _read(path: Path, work: Callable[[Connection], T]) -> T:
    require_safe_sqlite()
    try:
        for attempt in range(TRIES):
            time.sleep(WAIT_S if attempt else 0)
            before = _signature(path)
            with _opened(path) as connection:
                found = work(connection)
            if _signature(path) == before:
                return found
    except OSError as error:
        raise FormatError(f"{path.name} cannot be read: {error.strerror}.") from error
    except (apsw.Error, UnicodeDecodeError) as error:
        raise FormatError(
            f"{path.name} cannot be read: {type(error).__name__}.",
            hint="It may be damaged; the program it belongs to may be able to mend it.",
        ) from error
    raise FormatError(
        f"{path.name} changed while it was read.", hint="Close its program, then try again."
    )


@contextmanager
def _opened(path: Path) -> Iterator[Connection]:
    _refuse_odd_file(path)
    log = path.with_name(f"{path.name}-wal")
    if not log.is_file() or not log.stat().st_size:
        address = f"{path.absolute().as_uri()}?immutable=1"
        with _connected(address, apsw.SQLITE_OPEN_READONLY) as connection:
            yield connection
        return
    with tempfile.TemporaryDirectory(prefix="kmem-", ignore_cleanup_errors=True) as folder:
        copy = Path(folder, "copy.db")
        shutil.copyfile(path, copy)
        shutil.copyfile(log, f"{copy}-wal")
        with _connected(copy.as_uri(), apsw.SQLITE_OPEN_READWRITE) as connection:
            yield connection


@contextmanager
def _connected(address: str, flags: int) -> Iterator[Connection]:
    connection = Connection(address, flags=flags | apsw.SQLITE_OPEN_URI)
    try:
        connection.config(apsw.SQLITE_DBCONFIG_DEFENSIVE, 1)
        connection.config(apsw.SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0)
        connection.limit(apsw.SQLITE_LIMIT_LENGTH, LONGEST_TEXT)
        yield connection
    finally:
        connection.close()


def _refuse_odd_file(path: Path) -> None:
    if not path.is_file():
        raise FormatError(f"{path.name} is no file.")
    if path.stat().st_size > LARGEST_FILE_BYTES:
        raise FormatError(f"{path.name} is larger than {LARGEST_FILE_BYTES >> 30} GB.")
    if not is_database(path):
        raise FormatError(f"{path.name} is no plain SQLite database.")


def _signature(path: Path) -> Signature:
    """Return what changes when the file or its log is written to."""
    log = path.with_name(f"{path.name}-wal")
    main, other = path.stat(), log.stat() if log.exists() else None
    return (main.st_size, main.st_mtime_ns), (
        (other.st_size, other.st_mtime_ns) if other and other.st_size else (0, 0)
    )


def _tables(connection: Connection) -> set[str]:
    """Return the real tables: a view or virtual table could run what its author wrote."""
    query = "SELECT name FROM sqlite_schema WHERE type = 'table' AND sql NOT LIKE 'CREATE VIRTUAL%'"
    return {row[0] for row in connection.execute(query)}


def _columns(connection: Connection, table: str) -> list[str]:
    """Return a table's columns, without those that are computed or hold no text, as vectors."""
    query = "SELECT name FROM pragma_table_xinfo(?) WHERE hidden = 0 AND upper(type) <> 'BLOB'"
    return [row[0] for row in connection.execute(query, (table,))]


def _table(connection: Connection, table: str) -> ForeignTable:
    columns = _columns(connection, table)
    names = ", ".join(map(_quoted, columns))
    one = f"SELECT {names} FROM {_quoted(table)} WHERE rowid = ?"
    rows: list[Mapping[str, Any]] = []
    unreadable: list[int] = []
    ids = [row[0] for row in connection.execute(f"SELECT rowid FROM {_quoted(table)}")]
    for number in ids:
        try:
            row = connection.execute(one, (number,)).fetchone()
        except (apsw.CorruptError, apsw.TooBigError, UnicodeDecodeError):
            unreadable.append(number)
            continue
        if row is not None:
            rows.append(dict(zip(columns, row, strict=True)))
    return ForeignTable(tuple(columns), tuple(rows), tuple(unreadable))


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
