"""Turns of other programs in bulk: their contexts, what is known of them, and undoing."""

import json
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from kmem_desktop.domain.sessions.importing import IncomingSession, IncomingTurns
from kmem_desktop.store.connection import Connection, open_connection
from kmem_desktop.store.database import transaction
from kmem_desktop.store.documents import text_hash
from kmem_desktop.store.migrations import prepare_database
from kmem_desktop.store.sessions import imports, sources

NOW = datetime(2026, 11, 22, tzinfo=UTC)
SESSION = IncomingSession("claude-code", "s", "Claude Code", title="A title", project="Billing")


@pytest.fixture
def connection(tmp_path: Path) -> Iterator[Connection]:
    prepare_database(tmp_path / "kmem.db")
    opened = open_connection(tmp_path / "kmem.db")
    with transaction(opened):
        imports.begin(opened, "import", "claude-code", "/somewhere", NOW)
    yield opened
    opened.close()


def turns(first: int, last: int, *, after: str = "", **more: object) -> IncomingTurns:
    """Return turns `first` to `last`, not knowing of others around them."""
    rows = [
        [f"t{n}", "user", None, 3, None, f"text {n}", "", text_hash("", f"text {n}"), f"uuid-{n}"]
        for n in range(first, last + 1)
    ]
    count = last - first + 1
    return IncomingTurns(
        SESSION,
        count,
        after,
        3 * count,
        "",
        100,
        0,
        (),
        json.dumps(rows),
        **more,  # type: ignore[arg-type]
    )


def add(connection: Connection, new: IncomingTurns, *, goes_on: bool) -> None:
    with transaction(connection):
        row = sources.find(connection, "claude-code", "s")
        row = row or sources.begin(connection, SESSION, "uuid-of-s", 1, NOW)
        sources.add(connection, row, new, 1, NOW, goes_on=goes_on)


def contexts(connection: Connection) -> list[str]:
    query = "SELECT d.context FROM turns JOIN documents AS d USING (id) ORDER BY position"
    return [str(row[0]).replace("\n", " ") for row in connection.execute(query)]


EXPECTED = [
    "text 1 text 2",
    "text 0 text 2 text 3",
    "text 0 text 1 text 3 text 4",
    "text 1 text 2 text 4",
    "text 2 text 3",
]


def test_a_turns_context_is_what_stands_around_it(connection: Connection) -> None:
    add(connection, turns(0, 4), goes_on=True)
    assert contexts(connection) == EXPECTED


def test_parts_that_know_each_other_have_the_contexts_of_the_whole(connection: Connection) -> None:
    add(connection, turns(0, 1, behind=("text 2", "text 3")), goes_on=True)
    add(
        connection,
        turns(2, 4, after="t1", before=("text 0", "text 1")),
        goes_on=True,
    )
    assert contexts(connection) == EXPECTED


@pytest.mark.parametrize(("after", "goes_on"), [("t1", False), ("", True), ("other", True)])
def test_parts_that_come_by_themselves_have_them_too(
    connection: Connection, after: str, goes_on: bool
) -> None:
    add(connection, turns(0, 1), goes_on=True)
    add(connection, turns(2, 4, after=after), goes_on=goes_on)
    assert contexts(connection) == EXPECTED


def test_known_turns_are_told_and_taken_out(connection: Connection) -> None:
    add(connection, turns(0, 2), goes_on=True)
    row = sources.find(connection, "claude-code", "s")
    assert row is not None
    new = turns(1, 4)
    known = sources.known(connection, row.id, new)
    assert known == {"t1", "t2"}
    rest = sources.without(new, known)
    assert (sources.source_ids(rest), rest.count, rest.token_count) == (["t3", "t4"], 2, 6)


def test_undoing_by_steps_leaves_each_time_a_session_that_is_whole(connection: Connection) -> None:
    add(connection, turns(0, 4), goes_on=True)
    counts = []
    while True:
        with transaction(connection):
            removed = imports.remove_some(connection, 1, 2, at_once=True)
        if not removed.turn_count:
            break
        counts.append(connection.execute("SELECT sum(entry_count) FROM sessions").get)
        assert contexts(connection) == [
            " ".join(f"text {m}" for m in range(max(0, n - 2), min(left, n + 3)) if m != n)
            for left in [counts[-1] or 0]
            for n in range(left)
        ]
    assert counts == [3, 1, None]
    assert connection.execute("SELECT count(*) FROM documents").get == 0


def test_a_session_is_updated_without_a_look_at_all_others(connection: Connection) -> None:
    steps: list[int] = []

    def counted() -> bool:
        steps.append(1)
        return False  # go on

    def updated() -> int:
        steps.clear()
        connection.set_progress_handler(counted, 10)
        with transaction(connection):
            assert sources.update(connection, SESSION) is not None
        connection.set_progress_handler(None)
        return len(steps)

    def begin(*names: str) -> None:
        with transaction(connection):
            for name in names:
                sources.begin(connection, replace(SESSION, source_id=name), f"uuid-{name}", 1, NOW)

    begin(*(f"other {number}" for number in range(10)), "s")
    among_few = updated()
    begin(*(f"another {number}" for number in range(300)))
    with transaction(connection):
        connection.execute("UPDATE sessions SET id = 10000 WHERE source_id = 's'")
    assert updated() <= among_few + 5
