"""Files of other programs are read, and never changed, whatever is in them."""

import os
from collections.abc import Mapping
from pathlib import Path

import apsw
import pytest

from kmem_desktop.errors import FormatError
from kmem_desktop.store import foreign


def made(path: Path, sql: str, *, mode: str = "wal") -> apsw.Connection:
    """Make another program's database, and leave it open."""
    connection = apsw.Connection(str(path))
    connection.pragma("journal_mode", mode)
    for _ in connection.execute(sql):
        pass
    return connection


def state_of(folder: Path) -> Mapping[str, tuple[bytes, int]]:
    return {file.name: (file.read_bytes(), file.stat().st_mtime_ns) for file in folder.iterdir()}


@pytest.mark.parametrize("mode", ["wal", "delete"])
def test_a_file_is_read_as_it_is_and_nothing_is_written_beside_it(
    tmp_path: Path, mode: str
) -> None:
    path = tmp_path / "odd # name?.db"
    made(path, "CREATE TABLE a (x, y BLOB); INSERT INTO a VALUES ('one', x'00')", mode=mode).close()
    before = state_of(tmp_path)
    table = foreign.read_tables(path, ["a", "missing"])["a"]
    assert (table.columns, list(table.rows)) == (("x",), [{"x": "one"}])
    assert foreign.columns_of(path) == {"a": {"x"}}
    assert state_of(tmp_path) == before


def test_what_is_only_in_the_log_is_read_while_its_program_has_it_open(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    connection = made(path, "CREATE TABLE a (x); INSERT INTO a VALUES (1)")
    before = state_of(tmp_path)
    assert before["a.db-wal"][0]
    assert list(foreign.read_tables(path, ["a"])["a"].rows) == [{"x": 1}]
    assert state_of(tmp_path) == before
    connection.close()


def test_views_virtual_tables_and_triggers_of_others_never_run(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    made(
        path,
        "CREATE TABLE a (x, y AS (x || x)); INSERT INTO a (x) VALUES (1);"
        "CREATE VIEW v AS SELECT 1; CREATE VIRTUAL TABLE f USING fts5(x)",
    ).close()
    found = foreign.read_tables(path, ["a", "v", "f"])
    assert list(found) == ["a"]
    assert found["a"].columns == ("x",)


def test_a_file_that_does_not_stop_changing_is_given_up_in_plain_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(foreign, "WAIT_S", 0.0)
    path = tmp_path / "a.db"
    made(path, "CREATE TABLE a (x); INSERT INTO a VALUES (1)").close()
    signature, times = foreign._signature, iter(range(1, 100))

    def written_to_meanwhile(file: Path) -> foreign.Signature:
        os.utime(file, (1, next(times)))
        return signature(file)

    monkeypatch.setattr(foreign, "_signature", written_to_meanwhile)
    with pytest.raises(FormatError, match="changed while it was read"):
        foreign.read_tables(path, ["a"])


def test_a_damaged_file_and_one_of_another_kind_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    made(path, "CREATE TABLE a (x); INSERT INTO a VALUES (1)", mode="delete").close()
    path.write_bytes(path.read_bytes()[:100] + b"\xff" * 4000)
    with pytest.raises(FormatError, match=r"a\.db cannot be read"):
        foreign.columns_of(path)
    path.write_bytes(b"no database")
    with pytest.raises(FormatError, match="no plain SQLite database"):
        foreign.columns_of(path)
    with pytest.raises(FormatError, match="cannot be read"):
        foreign.columns_of(tmp_path / "nothing.db")


def test_reading_can_be_cancelled(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    made(
        path,
        "CREATE TABLE a (x); WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT"
        " 50000) INSERT INTO a SELECT i FROM n",
    ).close()
    with pytest.raises(FormatError):
        foreign.read_tables(path, ["a"], lambda: True)
