"""Rows of `retrieval_tests`: questions that must find an item, and what came of asking them."""

import json
import uuid as uuids
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from kmem_desktop.domain.retrieval_tests import Result, RetrievalTest, Situation
from kmem_desktop.store.connection import Connection

MOST_RESULTS = 50
"""Of each test so many results are kept."""
_RESULT = "is_found, place, first_at, last_at, program, model"


@dataclass(frozen=True, slots=True)
class TestRow:
    """A test as it is stored: its item only by its UUID."""

    __test__ = False  # no test of pytest's

    id: int
    uuid: str
    question: str
    scope: str
    item_uuid: str
    among_first: int
    created_at: datetime


def insert(
    connection: Connection,
    question: str,
    scope: str,
    item_uuid: str,
    among_first: int,
    now: datetime,
) -> int:
    """Keep a test; return its number."""
    connection.execute(
        "INSERT INTO retrieval_tests (uuid, question, scope, item_uuid, among_first, created_at)"
        " VALUES (?, ?, ?, ?, ?, ?)",
        (str(uuids.uuid4()), question, scope, item_uuid, among_first, now.isoformat()),
    )
    return connection.last_insert_rowid()


def find(connection: Connection, question: str, scope: str, item_uuid: str) -> int | None:
    """Return the number of the test that asks just this, or None."""
    row = connection.execute(
        "SELECT id FROM retrieval_tests WHERE question = ? AND scope = ? AND item_uuid = ?",
        (question, scope, item_uuid),
    ).fetchone()
    return row[0] if row else None


def id_of_uuid(connection: Connection, uuid: str) -> int | None:
    """Return the number of the test with this UUID, or None."""
    row = connection.execute("SELECT id FROM retrieval_tests WHERE uuid = ?", (uuid,)).fetchone()
    return row[0] if row else None


def count(connection: Connection) -> int:
    """Return how many tests there are."""
    return int(connection.execute("SELECT count(*) FROM retrieval_tests").get)


def rows(connection: Connection, ids: Iterable[int] | None = None) -> list[TestRow]:
    """Return tests in the order in which they were kept: those with these ids, or all."""
    query = (
        "SELECT id, uuid, question, scope, item_uuid, among_first, created_at"
        " FROM retrieval_tests WHERE ?1 IS NULL OR id IN (SELECT value FROM json_each(?1))"
        " ORDER BY id"
    )
    chosen = None if ids is None else json.dumps(list(ids))
    found: list[tuple[Any, ...]] = connection.execute(query, (chosen,)).fetchall()
    return [
        TestRow(row[0], row[1], row[2], row[3], row[4], row[5], datetime.fromisoformat(row[6]))
        for row in found
    ]


def due_ids(connection: Connection, situation: Situation) -> list[int]:
    """Return the tests whose last run was in another situation, or that were never run."""
    query = (
        "SELECT id FROM retrieval_tests AS t WHERE NOT EXISTS ("
        " SELECT 1 FROM retrieval_test_results AS r WHERE r.test_id = t.id AND r.program = ?"
        " AND r.model = ? AND r.id = (SELECT max(id) FROM retrieval_test_results"
        "  WHERE test_id = t.id)) ORDER BY id"
    )
    values = (situation.program, situation.model)
    return [row[0] for row in connection.execute(query, values)]


def results(connection: Connection, test_id: int) -> list[Result]:
    """Return what a test came to, newest first."""
    query = f"SELECT {_RESULT} FROM retrieval_test_results WHERE test_id = ? ORDER BY id DESC"
    return [_result(row) for row in connection.execute(query, (test_id,))]


def last_two(connection: Connection, test_ids: Sequence[int]) -> dict[int, list[Result]]:
    """Return for each test what it came to last and before that, newest first."""
    query = (
        f"SELECT test_id, {_RESULT} FROM (SELECT *, row_number() OVER"
        " (PARTITION BY test_id ORDER BY id DESC) AS number FROM retrieval_test_results"
        " WHERE test_id IN (SELECT value FROM json_each(?))) WHERE number <= 2"
        " ORDER BY test_id, number"
    )
    found: dict[int, list[Result]] = {}
    for row in connection.execute(query, (json.dumps(list(test_ids)),)):
        found.setdefault(row[0], []).append(_result(row[1:]))
    return found


def add_result(connection: Connection, test_id: int, result: Result, *, is_told: bool) -> None:
    """Note what a test came to: as a result of its own where the last one was another."""
    at = result.last_at.isoformat()
    situation = result.situation
    last = connection.execute(
        "SELECT id, is_found, place FROM retrieval_test_results WHERE test_id = ?"
        " ORDER BY id DESC LIMIT 1",
        (test_id,),
    ).fetchone()
    if last is not None and (bool(last[1]), last[2]) == (result.is_found, result.place):
        connection.execute(
            "UPDATE retrieval_test_results SET last_at = ?, program = ?, model = ? WHERE id = ?",
            (at, situation.program, situation.model, last[0]),
        )
        return
    _insert_result(connection, test_id, result, is_told=is_told)
    connection.execute(
        "DELETE FROM retrieval_test_results WHERE test_id = ?1 AND id NOT IN (SELECT id FROM"
        " retrieval_test_results WHERE test_id = ?1 ORDER BY id DESC LIMIT ?2)",
        (test_id, MOST_RESULTS),
    )


def _insert_result(connection: Connection, test_id: int, result: Result, *, is_told: bool) -> None:
    connection.execute(
        f"INSERT INTO retrieval_test_results (test_id, {_RESULT}, is_told)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        (
            test_id,
            result.is_found,
            result.place,
            result.first_at.isoformat(),
            result.last_at.isoformat(),
            result.situation.program,
            result.situation.model,
            is_told,
        ),
    )


def untold_ids(connection: Connection) -> list[int]:
    """Return the tests that turned red since a person was told last."""
    query = (
        "SELECT DISTINCT test_id FROM retrieval_test_results WHERE is_told = 0 AND is_found = 0"
        " AND id IN (SELECT max(id) FROM retrieval_test_results GROUP BY test_id) ORDER BY test_id"
    )
    return [row[0] for row in connection.execute(query)]


def mark_told(connection: Connection) -> None:
    """Note that a person was told of everything that turned red."""
    connection.execute("UPDATE retrieval_test_results SET is_told = 1 WHERE is_told = 0")


def set_among_first(connection: Connection, test_id: int, among_first: int) -> None:
    """Change how far down the item may stand."""
    connection.execute(
        "UPDATE retrieval_tests SET among_first = ? WHERE id = ?", (among_first, test_id)
    )


def delete(connection: Connection, test_id: int) -> None:
    """Remove a test with its results."""
    connection.execute("DELETE FROM retrieval_tests WHERE id = ?", (test_id,))


def restore(connection: Connection, test: RetrievalTest, kept: Sequence[Result]) -> None:
    """Put a removed test back under its number, with its results (newest first)."""
    connection.execute(
        "INSERT INTO retrieval_tests (id, uuid, question, scope, item_uuid, among_first,"
        " created_at) VALUES (?, ?, ?, ?, ?, ?, ?)",
        (
            test.id,
            test.uuid,
            test.question,
            test.scope,
            test.item.uuid,
            test.among_first,
            test.created_at.isoformat(),
        ),
    )
    for result in reversed(kept):
        _insert_result(connection, test.id, result, is_told=True)


def _result(row: Sequence[Any]) -> Result:
    return Result(
        is_found=bool(row[0]),
        place=row[1],
        first_at=datetime.fromisoformat(row[2]),
        last_at=datetime.fromisoformat(row[3]),
        situation=Situation(row[4], row[5]),
    )
