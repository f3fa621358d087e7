"""The history answers the same whether its changes stand open or in packs."""

import random
import uuid
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from kmem_desktop.domain.changes import Action, Noun, Origin, OriginKind
from kmem_desktop.errors import DamagedStoreError
from kmem_desktop.store import history, history_packs
from kmem_desktop.store.connection import Connection
from kmem_desktop.store.database import transaction
from tests.store.databases import NOW, fresh

CHANGES = 1_000
KEPT_OPEN = 100
SECRET = "the heron nests behind the boathouse"


@pytest.fixture
def connection(tmp_path: Path) -> Iterator[Connection]:
    with fresh(tmp_path / "kmem.db") as opened:
        yield opened


def item_of(number: int) -> str:
    """Return the UUID of an item that changed several times."""
    return str(uuid.UUID(int=number % 97))


def fill(connection: Connection, count: int = CHANGES) -> None:
    """Record changes of some items, some of them in batches."""
    chance = random.Random(1)
    with transaction(connection):
        for number in range(count):
            is_new = chance.random() < 0.4
            record = history.Record(
                Action.CREATED if is_new else Action.DELETED,
                Noun.KNOWLEDGE,
                item_of(chance.randrange(97)),
                number % 97,
                f"Title {number} ü\u2028",
                None if is_new else {"content": f"text\n{number} 漢字 " * 20, "priority": 5},
            )
            batch = f"batch-{number // 30}" if number % 3 else ""
            origin = Origin(OriginKind.IMPORT, "Somebody", "a_tool", batch)
            history.add(connection, record, origin, NOW + timedelta(seconds=number))


def freeze(connection: Connection, kept_open: int = KEPT_OPEN) -> int:
    """Pack what can be packed; return how many packs there are."""
    is_more = True
    while is_more:
        with transaction(connection):
            is_more = history_packs.freeze_some(connection, kept_open=kept_open)
    return int(connection.execute("SELECT count(*) FROM history_packs").get)


def answers(connection: Connection) -> list[Any]:
    """Return everything that can be asked of the history."""
    pages = []
    before_id: int | None = None
    while page := history.newest(connection, 37, before_id=before_id):
        pages.append(page)
        before_id = page[-1].id
    return [
        pages,
        [history.get(connection, number) for number in range(CHANGES + 2)],
        [history.of_item(connection, item_of(number)) for number in range(97)],
        [history.of_batch(connection, f"batch-{number}") for number in range(40)],
        history.newest(connection, 10 * CHANGES),
        history.newest(connection, 1),
    ]


def test_packed_changes_are_read_as_if_they_were_not_packed(connection: Connection) -> None:
    fill(connection)
    before = answers(connection)
    assert freeze(connection) == (CHANGES - KEPT_OPEN) // history_packs.PACK_COUNT
    left = connection.execute("SELECT count(*) FROM history").get
    assert KEPT_OPEN <= left < KEPT_OPEN + history_packs.PACK_COUNT
    assert answers(connection) == before


def test_a_thawed_pack_answers_the_same_and_is_packed_again(connection: Connection) -> None:
    fill(connection)
    before = answers(connection)
    packs = freeze(connection)
    with transaction(connection):
        history_packs.thaw(connection, 300)
    assert connection.execute("SELECT count(*) FROM history WHERE id = 300").get == 1
    assert answers(connection) == before
    assert freeze(connection) == packs
    assert connection.execute("SELECT count(*) FROM history WHERE id = 300").get == 0
    assert answers(connection) == before


def test_packs_never_overlap_however_often_they_are_thawed(connection: Connection) -> None:
    fill(connection)
    before = answers(connection)
    chance = random.Random(2)
    for _ in range(20):
        freeze(connection, kept_open=chance.choice((10, 100, 400)))
        with transaction(connection):
            history_packs.thaw(connection, chance.randrange(CHANGES))
        ranges = connection.execute("SELECT first_id, last_id FROM history_packs ORDER BY 1")
        flat = [end for both in ranges for end in both]
        assert flat == sorted(flat)
    assert answers(connection) == before


def test_an_undone_change_stays_undone_in_its_pack(connection: Connection) -> None:
    fill(connection)
    freeze(connection)
    with transaction(connection):
        history.mark_undone(connection, 300)
        history.mark_undone(connection, CHANGES)
    freeze(connection)
    for number, undone in ((299, False), (300, True), (301, False), (CHANGES, True)):
        entry = history.get(connection, number)
        assert entry is not None
        assert entry.undone is undone


def test_the_newest_changes_and_too_few_for_a_pack_stay_open(connection: Connection) -> None:
    fill(connection, 20)
    assert freeze(connection, kept_open=0) == 0
    fill(connection, history_packs.PACK_COUNT)
    assert freeze(connection, kept_open=history_packs.PACK_COUNT) == 0
    assert freeze(connection, kept_open=0) == 1


def test_packs_take_a_fraction_of_the_room(connection: Connection) -> None:
    fill(connection)
    plain = connection.execute("SELECT sum(length(before) + length(title) + 200) FROM history").get
    freeze(connection, kept_open=0)
    packed = connection.execute("SELECT sum(length(keys) + length(packed)) FROM history_packs").get
    assert packed < plain / 4


def test_what_is_forgotten_is_nowhere_in_the_file(tmp_path: Path) -> None:
    path = tmp_path / "kmem.db"
    doomed = str(uuid.uuid4())
    with fresh(path) as connection:
        fill(connection, 300)
        record = history.Record(Action.DELETED, Noun.KNOWLEDGE, doomed, 1, SECRET, {"text": SECRET})
        with transaction(connection):
            history.add(connection, record, Origin(OriginKind.WINDOW, "You"), NOW)
        fill(connection, 300)
        before = history.newest(connection, CHANGES)
        freeze(connection, kept_open=0)
        with transaction(connection):
            # Once more, so that it stands in a pack and in the open.
            history.add(connection, record, Origin(OriginKind.WINDOW, "You"), NOW)
        assert len(history.of_item(connection, doomed)) == 2
        with transaction(connection):
            history.forget(connection, doomed)
        assert history.of_item(connection, doomed) == []
        left = [entry for entry in before if entry.item_uuid != doomed]
        assert history.newest(connection, CHANGES) == left
        for row in connection.execute("SELECT first_id FROM history_packs").fetchall():
            with transaction(connection):
                history_packs.thaw(connection, int(str(row[0])))
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        found = b"".join(file.read_bytes() for file in tmp_path.iterdir())
    assert b"Title 299" in found
    for trace in (SECRET, doomed):
        assert trace.encode() not in found


def test_an_item_that_no_pack_holds_is_forgotten_without_a_trace_of_work(
    connection: Connection,
) -> None:
    fill(connection)
    freeze(connection)
    before = answers(connection)
    with transaction(connection):
        history.forget(connection, str(uuid.uuid4()))
    assert answers(connection) == before


def test_a_pack_whose_every_change_is_forgotten_goes(connection: Connection) -> None:
    fill(connection, history_packs.PACK_COUNT)
    assert freeze(connection, kept_open=0) == 1
    with transaction(connection):
        for number in range(97):
            history.forget(connection, item_of(number))
    assert connection.execute("SELECT count(*) FROM history_packs").get == 0
    assert history.newest(connection, CHANGES) == []


def test_a_damaged_pack_is_named_and_the_rest_stays_readable(connection: Connection) -> None:
    fill(connection)
    freeze(connection)
    newest = history.newest(connection, KEPT_OPEN)
    connection.execute(
        "UPDATE history_packs SET packed = zeroblob(length(packed))"
        " WHERE first_id = (SELECT min(first_id) FROM history_packs)"
    )
    assert history_packs.count_damaged(connection) == 1
    with pytest.raises(DamagedStoreError, match="The changes 1 to 256"):
        history.get(connection, 1)
    assert history.newest(connection, KEPT_OPEN) == newest
    assert history.get(connection, 400) is not None
