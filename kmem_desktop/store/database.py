"""One database for the whole process: one writer, a few readers, none on the loop's thread.

A write is a function that gets a connection; it runs alone, inside one `BEGIN IMMEDIATE`
transaction, and when its future resolves it is durable on the disk. Reads run beside it, each on a
snapshot of its own.
"""

import asyncio
import contextlib
import queue
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import TypeVar

from kmem_desktop.errors import StoreError
from kmem_desktop.store.connection import Connection, open_connection, translated_errors
from kmem_desktop.store.migrations import prepare_database

READER_COUNT = 3
INTERRUPT_CHECK_STEPS = 10_000
"""After so many steps of SQLite's machine, long work looks whether the database is closing."""

T = TypeVar("T")

in_background: ContextVar[bool] = ContextVar("in_background", default=False)
"""Whether what runs now is done by itself: it does not keep other such work from its turn."""


class Database:
    """The open database.

    Attributes:
        path: The file.
        used_at: When somebody last read or wrote, by the monotonic clock; what is done in the
            background does not count.
    """

    def __init__(self, path: Path) -> None:
        """Name the file; `open` opens it."""
        self.path = path
        self.used_at = time.monotonic()
        self._writer_thread = ThreadPoolExecutor(1, thread_name_prefix="kmem-writer")
        self._reader_threads = ThreadPoolExecutor(READER_COUNT, thread_name_prefix="kmem-reader")
        self._writer: Connection | None = None
        self._readers: queue.SimpleQueue[Connection] = queue.SimpleQueue()
        self._closed = threading.Event()

    @classmethod
    @asynccontextmanager
    async def opened(cls, path: Path) -> AsyncIterator["Database"]:
        """Open the database for the length of a `with` block."""
        database = cls(path)
        await database.open()
        try:
            yield database
        finally:
            await database.close()

    async def open(self) -> None:
        """Create or upgrade the file and open the connections.

        Raises:
            StoreError: The file is of another program, too new, damaged, or not to be opened.
        """
        try:
            await self._on(self._writer_thread, self._open_connections)
        except BaseException:
            await self.close()
            raise

    def _open_connections(self) -> None:
        prepare_database(self.path)
        self._writer = open_connection(self.path)
        for _ in range(READER_COUNT):
            self._readers.put(open_connection(self.path, read_only=True))

    async def write(self, work: Callable[[Connection], T]) -> T:
        """Run `work` in one transaction of its own; when this returns it is on the disk.

        Raises:
            StoreError: Nothing was written.
            KmemError: What `work` itself raised; nothing was written.
        """
        self._refuse_when_closed()
        self._note_use()
        # Shielded: a caller that is cancelled gives up the answer, never half of the write.
        return await asyncio.shield(self._on(self._writer_thread, self._write, work))

    def _write(self, work: Callable[[Connection], T]) -> T:
        if self._writer is None:
            raise StoreError("The database is closed.")
        with translated_errors(), transaction(self._writer):
            return work(self._writer)

    async def alone(self, work: Callable[[Connection], T]) -> T:
        """Run `work` on the writer outside of any transaction; writes wait until it is done.

        Closing the database interrupts it.

        Raises:
            StoreError: It could not be done; the memory is as it was.
        """
        self._refuse_when_closed()
        self._note_use()
        return await asyncio.shield(self._on(self._writer_thread, self._alone, work))

    def _alone(self, work: Callable[[Connection], T]) -> T:
        if self._writer is None:
            raise StoreError("The database is closed.")
        self._writer.set_progress_handler(self._closed.is_set, INTERRUPT_CHECK_STEPS)
        try:
            with translated_errors():
                return work(self._writer)
        finally:
            self._writer.set_progress_handler(None)

    async def read(self, work: Callable[[Connection], T]) -> T:
        """Run `work` on a snapshot of the database."""
        self._refuse_when_closed()
        self._note_use()
        return await self._on(self._reader_threads, self._read, work)

    def _read(self, work: Callable[[Connection], T]) -> T:
        self._refuse_when_closed()
        reader = self._readers.get()
        try:
            with translated_errors(), snapshot(reader):
                return work(reader)
        finally:
            self._readers.put(reader)

    async def foreign_version(self) -> int:
        """Return a number that changes when another process has written to the file."""
        self._refuse_when_closed()
        return await self._on(self._writer_thread, self._foreign_version)

    def _foreign_version(self) -> int:
        if self._writer is None:
            raise StoreError("The database is closed.")
        with translated_errors():
            return int(self._writer.pragma("data_version"))

    def _note_use(self) -> None:
        if not in_background.get():
            self.used_at = time.monotonic()

    def _refuse_when_closed(self) -> None:
        if self._closed.is_set():
            raise StoreError("The database is closed.")

    async def close(self) -> None:
        """Finish what is queued and close every connection."""
        self._closed.set()
        loop = asyncio.get_running_loop()
        await loop.run_in_executor(None, self._reader_threads.shutdown)
        if not self._writer_thread._shutdown:  # noqa: SLF001 - the executor has no public state
            await self._on(self._writer_thread, self._close_connections)
        await loop.run_in_executor(None, self._writer_thread.shutdown)

    def _close_connections(self) -> None:
        while not self._readers.empty():
            self._readers.get().close()
        if self._writer is not None:
            self._writer.close()
            self._writer = None

    @staticmethod
    async def _on(pool: ThreadPoolExecutor, work: Callable[..., T], *args: object) -> T:
        return await asyncio.get_running_loop().run_in_executor(pool, work, *args)


@contextmanager
def transaction(connection: Connection) -> Iterator[None]:
    """Hold the write lock for a block: all of it is written, or nothing.

    The lock is taken at the start: a transaction that first reads and then asks for it is refused
    when another process wrote in between, and waiting does not help.
    """
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        # A failed commit may have rolled back by itself; then there is nothing left to undo.
        if connection.in_transaction:
            with contextlib.suppress(Exception):
                connection.execute("ROLLBACK")
        raise


@contextmanager
def snapshot(connection: Connection) -> Iterator[None]:
    """Let a block of reads see one state of the database."""
    connection.execute("BEGIN")
    try:
        yield
    finally:
        connection.execute("COMMIT")
