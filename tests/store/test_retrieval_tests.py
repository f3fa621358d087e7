from datetime import timedelta
from pathlib import Path

import apsw
import pytest

from kmem_desktop.domain.retrieval_tests import Result, Situation
from kmem_desktop.store.connection import Connection
from kmem_desktop.store.retrieval import retrieval_tests as test_rows
from tests.store.databases import NOW, fresh

SITUATION = Situation("1.0", "a model")


def result(place: int | None, minutes: int = 0, program: str = "1.0") -> Result:
    """Return what a run came to, some minutes later."""
    at = NOW + timedelta(minutes=minutes)
    return Result(place is not None, place, at, at, Situation(program, "a model"))


def kept(connection: Connection) -> int:
    """Keep a test and return its number."""
    return test_rows.insert(connection, "a question", "", "some-uuid", 5, NOW)


def test_runs_that_come_out_the_same_are_one_result(tmp_path: Path) -> None:
    with fresh(tmp_path / "kmem.db") as connection:
        test_id = kept(connection)
        for minutes, program in enumerate(("1.0", "1.0", "2.0")):
            test_rows.add_result(connection, test_id, result(3, minutes, program), is_told=True)
        (stretch,) = test_rows.results(connection, test_id)
    assert (stretch.first_at, stretch.last_at) == (NOW, NOW + timedelta(minutes=2))
    assert stretch.situation.program == "2.0"


def test_only_the_newest_results_are_kept(tmp_path: Path) -> None:
    with fresh(tmp_path / "kmem.db") as connection:
        test_id = kept(connection)
        for place in range(1, test_rows.MOST_RESULTS + 11):
            test_rows.add_result(connection, test_id, result(place, place), is_told=True)
        found = test_rows.results(connection, test_id)
        last, before = test_rows.last_two(connection, [test_id])[test_id]
    assert len(found) == test_rows.MOST_RESULTS
    assert (last.place, before.place) == (test_rows.MOST_RESULTS + 10, test_rows.MOST_RESULTS + 9)


def test_the_last_run_decides_what_is_due(tmp_path: Path) -> None:
    with fresh(tmp_path / "kmem.db") as connection:
        test_id = kept(connection)
        assert test_rows.due_ids(connection, SITUATION) == [test_id]
        test_rows.add_result(connection, test_id, result(1), is_told=True)
        assert test_rows.due_ids(connection, SITUATION) == []
        assert test_rows.due_ids(connection, Situation("1.0", "")) == [test_id]
        test_rows.add_result(connection, test_id, result(2, 1, "2.0"), is_told=True)
        assert test_rows.due_ids(connection, SITUATION) == [test_id]


def test_what_turned_red_and_is_green_again_is_not_told(tmp_path: Path) -> None:
    with fresh(tmp_path / "kmem.db") as connection:
        test_id = kept(connection)
        test_rows.add_result(connection, test_id, result(None), is_told=False)
        assert test_rows.untold_ids(connection) == [test_id]
        test_rows.add_result(connection, test_id, result(1, 1), is_told=True)
        assert test_rows.untold_ids(connection) == []


def test_the_file_itself_refuses_a_limit_out_of_bounds(tmp_path: Path) -> None:
    with fresh(tmp_path / "kmem.db") as connection, pytest.raises(apsw.ConstraintError):
        test_rows.insert(connection, "a question", "", "some-uuid", 51, NOW)


def test_the_results_of_a_test_go_with_it(tmp_path: Path) -> None:
    with fresh(tmp_path / "kmem.db") as connection:
        test_id = kept(connection)
        test_rows.add_result(connection, test_id, result(1), is_told=True)
        test_rows.delete(connection, test_id)
        assert test_rows.results(connection, test_id) == []
        assert test_rows.rows(connection) == []
