import os
import random
import sqlite3
import stat
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import apsw
import pytest

from kmem_desktop.errors import KmemError, NotOurFileError, StoreError, StoreTooNewError
from kmem_desktop.store import documents, fulltext, migrations
from kmem_desktop.store.connection import Connection, open_connection, translated_errors
from kmem_desktop.store.migrations import APPLICATION_ID, MIGRATIONS, prepare_database
from tests.store.databases import add, copy_of, finish, foreign_database, fresh, run_python

posix = pytest.mark.skipif(sys.platform == "win32", reason="Windows keeps rights otherwise")

OUR_MARK = f"PRAGMA application_id={APPLICATION_ID};"
NEXT_VERSION = f"PRAGMA user_version={len(MIGRATIONS) + 1};"


def schema(path: Path) -> list[tuple[Any, ...]]:
    """Return the schema of a database."""
    connection = open_connection(path, read_only=True)
    rows = connection.execute("SELECT name, sql FROM sqlite_schema ORDER BY 1").fetchall()
    connection.close()
    return rows


def failing(connection: Connection) -> None:
    """Change something, then fail."""
    connection.execute("CREATE TABLE half (x)")
    connection.execute("INSERT INTO meta VALUES ('half', 'done')")
    raise ValueError("a bug in a migration")


def second(connection: Connection) -> None:
    """Add a table."""
    connection.execute("CREATE TABLE second (x)")


def test_a_fresh_file_carries_our_mark_and_the_newest_version(tmp_path: Path) -> None:
    with fresh(tmp_path / "kmem.db") as connection:
        assert connection.pragma("application_id") == APPLICATION_ID
        assert connection.pragma("user_version") == len(MIGRATIONS)


def test_each_migration_is_recorded_with_its_number_and_name(tmp_path: Path) -> None:
    with fresh(tmp_path / "kmem.db") as connection:
        rows = connection.execute("SELECT number, name FROM migrations").fetchall()
    assert rows == [(n, m.__name__) for n, m in enumerate(MIGRATIONS, start=1)]


def test_every_migration_says_what_it_does() -> None:
    assert all(migration.__doc__ for migration in MIGRATIONS)


def test_a_device_gets_a_name_of_its_own(tmp_path: Path) -> None:
    names = set()
    for name in ("a.db", "b.db"):
        with fresh(tmp_path / name) as connection:
            names.add(connection.execute("SELECT value FROM meta WHERE key = 'device'").get)
    assert len(names) == 2
    assert all(len(name) == 32 for name in names)


def test_a_missing_migration_is_applied_and_the_rest_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "kmem.db"
    with fresh(path) as connection:
        add(connection, "A title", "kept")
    prepare_database(path, (*MIGRATIONS, second))
    connection = open_connection(path)
    assert connection.execute("SELECT body FROM documents").get == "kept"
    newest = "SELECT name FROM migrations ORDER BY number DESC LIMIT 1"
    assert connection.execute(newest).get == "second"
    connection.close()


@pytest.mark.parametrize("version", range(1, len(MIGRATIONS)))
def test_an_older_file_becomes_what_a_fresh_one_is(tmp_path: Path, version: int) -> None:
    path = tmp_path / "old.db"
    prepare_database(path, MIGRATIONS[:version])
    connection = open_connection(path)
    connection.execute(
        "INSERT INTO documents (noun, title, body, scope, stored_by, created_at, updated_at,"
        " text_hash) VALUES ('knowledge', 'A title', 'apple text', 'global', 't', '', '', '')"
    )
    connection.close()
    with fresh(path) as migrated:
        assert fulltext.matching(migrated, '"apple"', [1, 2, 3]) == {1}
        assert fulltext.is_sound(migrated)
        assert migrated.pragma("integrity_check") == "ok"
        assert migrated.pragma("user_version") == len(MIGRATIONS)
    prepare_database(tmp_path / "fresh.db")
    assert schema(path) == schema(tmp_path / "fresh.db")


def test_a_step_that_fails_is_rolled_back_whole(tmp_path: Path) -> None:
    path = tmp_path / "kmem.db"
    prepare_database(path)
    before = schema(path)
    with pytest.raises(ValueError, match="a bug"):
        prepare_database(path, (*MIGRATIONS, failing))
    assert schema(path) == before
    connection = open_connection(path)
    assert connection.pragma("user_version") == len(MIGRATIONS)
    assert connection.execute("SELECT count(*) FROM meta WHERE key = 'half'").get == 0
    assert connection.execute("SELECT count(*) FROM migrations").get == len(MIGRATIONS)
    connection.close()


def test_the_steps_before_a_failing_one_stay(tmp_path: Path) -> None:
    path = tmp_path / "kmem.db"
    with pytest.raises(ValueError, match="a bug"):
        prepare_database(path, (*MIGRATIONS, second, failing))
    prepare_database(path, (*MIGRATIONS, second))
    assert "second" in dict(schema(path))


def test_a_current_file_is_not_written_to(tmp_path: Path) -> None:
    path = tmp_path / "kmem.db"
    prepare_database(path)
    before = path.read_bytes()
    prepare_database(path)
    assert path.read_bytes() == before


@posix
def test_a_new_file_and_its_folder_are_private(tmp_path: Path) -> None:
    path = tmp_path / "new" / "folder" / "kmem.db"
    prepare_database(path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


@posix
def test_the_log_is_private_too(tmp_path: Path) -> None:
    with fresh(tmp_path / "kmem.db") as connection:
        add(connection, "A title", "text")
        modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in tmp_path.iterdir()}
    assert set(modes) == {"kmem.db", "kmem.db-wal", "kmem.db-shm"}
    assert set(modes.values()) == {0o600}


@posix
def test_our_file_is_made_private_again(tmp_path: Path) -> None:
    path = tmp_path / "kmem.db"
    prepare_database(path)
    path.chmod(0o644)
    prepare_database(path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_making_the_file_leaves_nothing_beside_it(tmp_path: Path) -> None:
    prepare_database(tmp_path / "kmem.db")
    assert [path.name for path in tmp_path.iterdir()] == ["kmem.db"]


def test_an_empty_file_is_adopted(tmp_path: Path) -> None:
    path = tmp_path / "kmem.db"
    path.touch()
    with fresh(path) as connection:
        assert connection.pragma("application_id") == APPLICATION_ID
    prepare_database(tmp_path / "other.db")
    assert schema(path) == schema(tmp_path / "other.db")


def test_a_database_without_tables_is_adopted(tmp_path: Path) -> None:
    path = tmp_path / "kmem.db"
    foreign_database(path, "CREATE TABLE t (x); DROP TABLE t;")
    with fresh(path) as connection:
        assert connection.pragma("user_version") == len(MIGRATIONS)


def test_without_hard_links_the_file_is_made_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refusing(source: Path, target: Path) -> None:
        raise PermissionError(1, "no hard links here")

    monkeypatch.setattr(os, "link", refusing)
    with fresh(tmp_path / "kmem.db") as connection:
        assert connection.pragma("user_version") == len(MIGRATIONS)
    assert [path.name for path in tmp_path.iterdir()] == ["kmem.db"]


@pytest.mark.parametrize(
    ("sql", "error"),
    [
        ("CREATE TABLE bookmarks (url TEXT); INSERT INTO bookmarks VALUES ('x');", NotOurFileError),
        ("CREATE TABLE knowledge (id TEXT);", NotOurFileError),
        (
            "CREATE TABLE documents (id INTEGER PRIMARY KEY); PRAGMA user_version=1;",
            NotOurFileError,
        ),
        ("PRAGMA user_version=9999; CREATE TABLE meta (key, value);", NotOurFileError),
        (f"{OUR_MARK} PRAGMA user_version=9999;", StoreTooNewError),
        (
            f"{OUR_MARK} {NEXT_VERSION} CREATE TABLE future (x);",
            StoreTooNewError,
        ),
    ],
)
def test_a_foreign_or_newer_database_is_refused_untouched(
    tmp_path: Path, sql: str, error: type[StoreError]
) -> None:
    path = tmp_path / "kmem.db"
    before = foreign_database(path, sql)
    path.chmod(0o640)
    mode = path.stat().st_mode
    with pytest.raises(error) as caught:
        prepare_database(path)
    assert path.read_bytes() == before
    assert path.stat().st_mode == mode
    assert [file.name for file in tmp_path.iterdir()] == ["kmem.db"]
    assert "left as it is" in caught.value.hint or "left as it was" in caught.value.hint


def test_a_text_file_is_refused_untouched(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("this is not a database\n" * 100)
    path.chmod(0o640)
    before = path.read_bytes(), path.stat().st_mode
    with pytest.raises(NotOurFileError):
        prepare_database(path)
    assert (path.read_bytes(), path.stat().st_mode) == before


def test_a_database_that_another_program_has_open_is_refused_untouched(tmp_path: Path) -> None:
    path = tmp_path / "kmem.db"
    with closing(sqlite3.connect(path)) as other:
        other.execute("PRAGMA journal_mode=wal")
        other.execute("CREATE TABLE bookmarks (url TEXT)")
        other.commit()
        log = path.with_name("kmem.db-wal").read_bytes()
        with pytest.raises(NotOurFileError):
            prepare_database(path)
        assert path.with_name("kmem.db-wal").read_bytes() == log
        assert other.execute("SELECT count(*) FROM bookmarks").fetchone() == (0,)


def test_a_folder_is_no_database(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="cannot be created or opened"):
        prepare_database(tmp_path)


def test_a_folder_that_cannot_be_made_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(StoreError, match="cannot be created or opened"):
        prepare_database(tmp_path / "file" / "kmem.db")


def test_a_version_below_zero_is_damage(tmp_path: Path) -> None:
    path = tmp_path / "kmem.db"
    with fresh(path) as connection:
        connection.pragma("user_version", -1)
    with pytest.raises(StoreError):
        prepare_database(path)


MIGRATE = """
import sys
from pathlib import Path
from kmem_desktop.store.migrations import prepare_database
sys.stdin.readline()
prepare_database(Path(sys.argv[1]))
"""


@pytest.mark.parametrize("exists", [False, True])
def test_two_processes_that_start_at_once_both_get_a_whole_database(
    tmp_path: Path, exists: bool
) -> None:
    prepare_database(tmp_path / "model.db")
    rounds = [tmp_path / f"{number}.db" for number in range(4)]
    processes: list[tuple[subprocess.Popen[str], subprocess.Popen[str]]] = []
    for path in rounds:
        if exists:
            path.touch()
        processes.append((run_python(MIGRATE, path), run_python(MIGRATE, path)))
    for pair in processes:
        for process in pair:
            assert process.stdin is not None
            process.stdin.write("go\n")
            process.stdin.flush()
    for pair in processes:
        for process in pair:
            finish(process)
    for path in rounds:
        assert schema(path) == schema(tmp_path / "model.db")
        connection = open_connection(path, read_only=True)
        assert connection.execute("SELECT count(*) FROM migrations").get == len(MIGRATIONS)
        connection.close()
    leftovers = {path.name for path in tmp_path.iterdir() if path.name.endswith(".new")}
    assert leftovers == set()


def use(path: Path) -> None:
    """Open a file as kmem does, and read and check everything in it."""
    prepare_database(path)
    connection = open_connection(path)
    try:
        with translated_errors():
            connection.execute("SELECT * FROM documents ORDER BY title").fetchall()
            connection.execute("SELECT * FROM history").fetchall()
            connection.execute(
                "SELECT * FROM documents_index WHERE documents_index MATCH 'word'"
            ).fetchall()
            fulltext.is_sound(connection)
            documents.damaged_ids(connection)
    finally:
        with translated_errors():
            connection.close()


def test_a_damaged_database_is_told_in_our_own_words(tmp_path: Path) -> None:
    path = tmp_path / "good.db"
    with fresh(path) as connection:
        for number in range(60):
            add(connection, f"Title {number}", f"word {number} " * 40)
    good = path.read_bytes()
    chance = random.Random(7)
    noticed = 0
    for seed in range(60):
        content = bytearray(good)
        if seed % 3 == 0:
            del content[chance.randrange(100, len(content)) :]
        else:
            for _ in range(1 + seed * 4):
                content[chance.randrange(16, len(content))] = chance.randrange(256)
        broken = copy_of(path, "broken.db")
        broken.write_bytes(content)
        for suffix in ("-wal", "-shm"):
            path.with_name(f"broken.db{suffix}").unlink(missing_ok=True)
        try:
            use(broken)
        except KmemError:
            noticed += 1
    assert noticed > 30


def test_the_bad_databases_of_the_corpus_are_refused_in_our_own_words(
    tmp_path: Path, bad_input: Path
) -> None:
    source = (bad_input / "make_bad.py").read_text()
    start, end = source.index("def db("), source.index("# --- names and links")
    made = tmp_path / "bad"
    program = source[: source.index("# --- size")] + source[start:end]
    hasty = program.replace("executescript(sql)", 'executescript("PRAGMA synchronous=off;" + sql)')
    finish(run_python(hasty, made))
    names = {path.name for path in made.iterdir()}
    assert len(names) == 8
    for name in names - {"db-zero.sqlite"}:
        before = (made / name).read_bytes()
        with pytest.raises(StoreError):
            use(made / name)
        assert (made / name).read_bytes() == before, name
    use(made / "db-zero.sqlite")


def test_a_full_disk_leaves_no_half_made_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*args: object, **kwargs: object) -> Connection:
        raise apsw.FullError("database or disk is full")

    monkeypatch.setattr(migrations, "Connection", full)
    with pytest.raises(StoreError, match="disk is full"):
        prepare_database(tmp_path / "kmem.db")
    assert list(tmp_path.iterdir()) == []
