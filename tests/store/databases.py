"""Databases that tests of the store begin with."""

import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path

from kmem_desktop.domain.changes import Noun
from kmem_desktop.store import documents
from kmem_desktop.store.connection import Connection, open_connection
from kmem_desktop.store.database import transaction
from kmem_desktop.store.migrations import prepare_database

ROOT = Path(__file__).parents[2]
NOW = datetime(2026, 5, 3, 12, 0, tzinfo=UTC)
TIMEOUT_S = 60


@contextmanager
def fresh(path: Path) -> Iterator[Connection]:
    """Open a new database for writing."""
    prepare_database(path)
    connection = open_connection(path)
    try:
        yield connection
    finally:
        connection.close()


def add(connection: Connection, title: str, body: str) -> int:
    """Store a document in a transaction of its own."""
    with transaction(connection):
        return documents.insert(
            connection, documents.Document(Noun.KNOWLEDGE, title, body, "test"), NOW
        )


def foreign_database(path: Path, sql: str) -> bytes:
    """Make a database of another program and return its bytes."""
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.executescript(sql)
    return path.read_bytes()


def run_python(program: str, *arguments: object) -> "subprocess.Popen[str]":
    """Start a Python program that can import kmem."""
    return subprocess.Popen(
        [sys.executable, "-c", program, *map(str, arguments)],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def finish(process: "subprocess.Popen[str]") -> str:
    """Wait for a program that has to succeed and return what it printed."""
    output, errors = process.communicate(timeout=TIMEOUT_S)
    assert process.returncode == 0, errors
    return output


def copy_of(path: Path, name: str) -> Path:
    """Copy a database that nobody has open."""
    target = path.with_name(name)
    shutil.copy(path, target)
    return target
