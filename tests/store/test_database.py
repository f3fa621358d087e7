import asyncio
import threading
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import apsw
import pytest

from kmem_desktop.errors import NotFoundError, NotOurFileError, StoreError
from kmem_desktop.store.connection import Connection
from kmem_desktop.store.database import Database
from tests.store.databases import finish, run_python


@pytest.fixture
async def database(tmp_path: Path) -> AsyncIterator[Database]:
    async with Database.opened(tmp_path / "kmem.db") as opened:
        yield opened


def inserting(key: str) -> Callable[[Connection], None]:
    return lambda connection: insert(connection, key)


def insert(connection: Connection, key: str) -> None:
    connection.execute("INSERT INTO meta VALUES (?, '')", (key,))


def keys(connection: Connection) -> list[str]:
    rows = connection.execute("SELECT key FROM meta WHERE key <> 'device' ORDER BY key")
    return [row[0] for row in rows]


async def test_what_was_written_is_read(database: Database) -> None:
    await database.write(inserting("a"))
    assert await database.read(keys) == ["a"]


async def test_a_write_that_raises_changes_nothing(database: Database) -> None:
    def work(connection: Connection) -> None:
        insert(connection, "half")
        raise NotFoundError("no")

    with pytest.raises(NotFoundError):
        await database.write(work)
    assert await database.read(keys) == []
    await database.write(inserting("next"))
    assert await database.read(keys) == ["next"]


async def test_a_commit_that_fails_changes_nothing(database: Database) -> None:
    def work(connection: Connection) -> None:
        insert(connection, "half")
        connection.execute("PRAGMA defer_foreign_keys = on")
        connection.execute("INSERT INTO entities VALUES (99, 'u', 'Ada', 'person')")

    with pytest.raises(apsw.ConstraintError):
        await database.write(work)
    assert await database.read(keys) == []
    await database.write(inserting("next"))
    assert await database.read(keys) == ["next"]


async def test_reads_of_one_block_see_one_state(database: Database) -> None:
    reading, written = threading.Event(), threading.Event()

    def work(connection: Connection) -> tuple[list[str], list[str]]:
        before = keys(connection)
        reading.set()
        assert written.wait(30)
        return before, keys(connection)

    slow = asyncio.ensure_future(database.read(work))
    await asyncio.to_thread(reading.wait, 30)
    await database.write(inserting("a"))
    written.set()
    assert await slow == ([], [])
    assert await database.read(keys) == ["a"]


async def test_a_reader_that_failed_is_used_again(database: Database) -> None:
    def work(connection: Connection) -> None:
        raise NotFoundError("no")

    for _ in range(10):
        with pytest.raises(NotFoundError):
            await database.read(work)
    assert await database.read(keys) == []


async def test_many_reads_and_writes_at_once_all_succeed(database: Database) -> None:
    writes = [database.write(inserting(f"{n:03}")) for n in range(60)]
    reads = [database.read(keys) for _ in range(60)]
    await asyncio.gather(*writes, *reads)
    assert await database.read(keys) == [f"{n:03}" for n in range(60)]


async def test_a_caller_that_is_cancelled_does_not_tear_the_write(database: Database) -> None:
    started, go_on = threading.Event(), threading.Event()

    def work(connection: Connection) -> None:
        insert(connection, "first half")
        started.set()
        assert go_on.wait(30)
        insert(connection, "second half")

    task = asyncio.ensure_future(database.write(work))
    await asyncio.to_thread(started.wait, 30)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    go_on.set()
    await database.write(inserting("next"))
    assert await database.read(keys) == ["first half", "next", "second half"]


async def test_closing_waits_for_what_was_asked_before(tmp_path: Path) -> None:
    database = Database(tmp_path / "kmem.db")
    await database.open()
    writes = [asyncio.ensure_future(database.write(inserting(key))) for key in "abc"]
    await asyncio.sleep(0)
    await database.close()
    await asyncio.gather(*writes)
    async with Database.opened(database.path) as again:
        assert await again.read(keys) == ["a", "b", "c"]


async def test_a_closed_database_says_so(tmp_path: Path) -> None:
    async with Database.opened(tmp_path / "kmem.db") as database:
        pass
    for call in (database.read(keys), database.write(keys), database.foreign_version()):
        with pytest.raises(StoreError, match="closed"):
            await call


async def test_closing_twice_does_no_harm(tmp_path: Path) -> None:
    async with Database.opened(tmp_path / "kmem.db") as database:
        await database.close()


async def test_a_file_that_cannot_be_used_leaves_nothing_open(tmp_path: Path) -> None:
    (tmp_path / "kmem.db").write_text("something else")
    with pytest.raises(NotOurFileError):
        async with Database.opened(tmp_path / "kmem.db"):
            pass


async def test_a_closed_database_leaves_no_log_behind(tmp_path: Path) -> None:
    async with Database.opened(tmp_path / "kmem.db") as database:
        await database.write(inserting("a"))
    assert not database.path.with_name("kmem.db-wal").exists()


async def test_a_write_of_another_connection_is_noticed(tmp_path: Path) -> None:
    path = tmp_path / "kmem.db"
    async with Database.opened(path) as mine, Database.opened(path) as other:
        before = await mine.foreign_version()
        await mine.write(inserting("mine"))
        assert await mine.foreign_version() == before
        await other.write(inserting("other"))
        assert await mine.foreign_version() != before


async def test_a_text_that_is_no_text_any_more_is_damage(tmp_path: Path) -> None:
    path = tmp_path / "kmem.db"
    async with Database.opened(path) as database:
        await database.write(inserting("some key text"))
    path.write_bytes(path.read_bytes().replace(b"some key text", b"some k\xffy text"))
    async with Database.opened(path) as database:
        with pytest.raises(StoreError, match="damaged"):
            await database.read(keys)


WRITE = """
import asyncio, sys
from pathlib import Path
from kmem_desktop.store.database import Database

async def main():
    async with Database.opened(Path(sys.argv[1])) as database:
        print("ready", flush=True)
        sys.stdin.readline()
        for number in range(100):
            key = f"{sys.argv[2]}{number:03}"
            def work(connection):
                # Reads first, as real work does: a deferred transaction would be refused here.
                connection.execute("SELECT count(*) FROM meta").get
                connection.execute("INSERT INTO meta VALUES (?, '')", (key,))
            await database.write(work)

asyncio.run(main())
"""


async def test_two_processes_that_write_at_once_lose_nothing(tmp_path: Path) -> None:
    path = tmp_path / "kmem.db"
    writers = [run_python(WRITE, path, name) for name in "ab"]
    for writer in writers:
        assert writer.stdout is not None
        assert writer.stdout.readline() == "ready\n"
    for writer in writers:
        assert writer.stdin is not None
        writer.stdin.write("go\n")
        writer.stdin.flush()
    for writer in writers:
        finish(writer)
    async with Database.opened(path) as database:
        assert await database.read(keys) == [f"{w}{n:03}" for w in "ab" for n in range(100)]


KILLED = """
import asyncio, os, signal, sys
from pathlib import Path
from kmem_desktop.store.database import Database

async def main():
    async with Database.opened(Path(sys.argv[1])) as database:
        for number in range(10_000):
            await database.write(
                lambda c: c.execute("INSERT INTO meta VALUES (?, '')", (f"{number:05}",)) and None
            )
            print(f"{number:05}", flush=True)

asyncio.run(main())
"""


async def test_a_process_that_is_killed_loses_nothing_it_acknowledged(tmp_path: Path) -> None:
    path = tmp_path / "kmem.db"
    writer = run_python(KILLED, path)
    assert writer.stdout is not None
    acknowledged = [writer.stdout.readline().strip() for _ in range(30)]
    writer.kill()
    rest, _ = writer.communicate(timeout=60)
    acknowledged += [line for line in rest.splitlines() if len(line) == 5]
    async with Database.opened(path) as database:
        kept = await database.read(keys)
    assert kept[: len(acknowledged)] == acknowledged
    assert len(kept) - len(acknowledged) in (0, 1)
