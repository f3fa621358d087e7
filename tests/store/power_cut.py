"""A simulator of power cuts: what is on the disk when the power fails between any two operations.

A VFS records every write, truncation, sync and deletion while kmem's own functions store things
through it. Then, for a cut after each recorded operation, the disk is rebuilt: what was synced is
there, and of what was not synced nothing, everything, a random part, or a random part in torn or
garbled sectors of 512 bytes. kmem opens what is left and has to find one of the states that it
committed, not older than the last one that it acknowledged.

As a script it tries every operation of a longer workload (a minute or two):

    python -m tests.store.power_cut
"""

import asyncio
import hashlib
import random
import sys
import tempfile
import threading
import time
import uuid
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path

import apsw

from kmem_desktop.domain.changes import Action, Noun, Origin, OriginKind
from kmem_desktop.domain.graph import Entity, Relation
from kmem_desktop.domain.knowledge import Category, KnowledgeItem
from kmem_desktop.errors import StoreError
from kmem_desktop.services import graph
from kmem_desktop.store import documents, fulltext, history, knowledge
from kmem_desktop.store import graph as graph_rows
from kmem_desktop.store.connection import Connection, open_connection
from kmem_desktop.store.database import Database
from kmem_desktop.store.migrations import prepare_database

SECTOR_BYTES = 512
WAYS = ("none", "all", "some", "torn")
ORIGIN = Origin(OriginKind.CLIENT, "power cut")
NOW = datetime(2026, 5, 3, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Operation:
    """One thing that was done to a file: "write", "truncate", "sync", "delete" or "acknowledge"."""

    kind: str
    file: str = ""
    offset: int = 0
    data: bytes = b""


@dataclass
class Recording:
    """What a workload did to the disk.

    Attributes:
        operations: Everything in order, acknowledgements included.
        states: The content of the memory after each acknowledgement, as a digest; first the
            empty memory.
    """

    operations: list[Operation] = field(default_factory=list)
    states: list[str] = field(default_factory=list)


@dataclass
class Verdicts:
    """How many cuts ended how."""

    cuts: int = 0
    failures: list[str] = field(default_factory=list)
    kinds: Counter[str] = field(default_factory=Counter)

    def fail(self, kind: str, where: str) -> None:
        self.kinds[kind] += 1
        self.failures.append(f"{where}: {kind}")


class RecordingVFS(apsw.VFS):
    """Writes through to the disk and keeps a record of it."""

    def __init__(self, recording: Recording) -> None:
        self._recording = recording
        self._lock = threading.Lock()
        super().__init__("kmem-power-cut", "unix", makedefault=True)

    def xOpen(self, name: apsw.URIFilename | str | None, flags: list[int]) -> apsw.VFSFile:  # noqa: N802
        return RecordingFile(self.note, name, flags)

    def xDelete(self, filename: str, syncdir: bool) -> None:  # noqa: N802
        super().xDelete(filename, syncdir)
        self.note(Operation("delete", Path(filename).name))

    def note(self, operation: Operation) -> None:
        with self._lock:
            self._recording.operations.append(operation)


class PlainFile(apsw.VFSFile):
    """A file of the system, opened through Python."""

    def xLock(self, level: int) -> None:  # noqa: N802
        """Take a lock; what C would overlook must not come out as an exception.

        A connection that only reads asks for the exclusive lock when it is closed, and cannot have
        it: the descriptor is not for writing.
        """
        try:
            super().xLock(level)
        except apsw.IOError as error:
            raise apsw.BusyError("not to be had") from error


class RecordingFile(PlainFile):
    """One file of the recording VFS."""

    def __init__(
        self,
        note: Callable[[Operation], None],
        name: apsw.URIFilename | str | None,
        flags: list[int],
    ) -> None:
        self._note = note
        path = name.filename() if isinstance(name, apsw.URIFilename) else name
        self._name = Path(path).name if path else ""
        super().__init__("unix", name, flags)

    def xWrite(self, data: bytes, offset: int) -> None:  # noqa: N802
        super().xWrite(data, offset)
        self._note(Operation("write", self._name, offset, bytes(data)))

    def xTruncate(self, newsize: int) -> None:  # noqa: N802
        super().xTruncate(newsize)
        self._note(Operation("truncate", self._name, newsize))

    def xSync(self, flags: int) -> None:  # noqa: N802
        super().xSync(flags)
        self._note(Operation("sync", self._name))


class HastyVFS(apsw.VFS):
    """Never waits for the disk: what is judged there is thrown away at once."""

    def __init__(self) -> None:
        super().__init__("kmem-hasty", "unix", makedefault=True)

    def xOpen(self, name: apsw.URIFilename | str | None, flags: list[int]) -> apsw.VFSFile:  # noqa: N802
        return HastyFile("unix", name, flags)


class HastyFile(PlainFile):
    """One file of the hasty VFS."""

    def xSync(self, flags: int) -> None:  # noqa: N802
        """Do nothing."""


@contextmanager
def default_vfs(vfs: apsw.VFS) -> Iterator[None]:
    """Let every connection that is opened in a `with` block use a VFS that was just made."""
    try:
        yield
    finally:
        vfs.unregister()
        assert not apsw.vfs_names()[0].startswith("kmem-")


def record(path: Path, *, steps: int, pragmas: Mapping[str, object]) -> Recording:
    """Run the workload on a fresh database at `path` and return what happened.

    Args:
        path: Where to make the database.
        steps: How many rounds of changes.
        pragmas: Settings of the writing connection that differ from kmem's own.
    """
    recording = Recording()
    vfs = RecordingVFS(recording)
    with default_vfs(vfs):
        asyncio.run(_work(path, recording, vfs.note, steps, pragmas))
    return recording


async def _work(
    path: Path,
    recording: Recording,
    note: Callable[[Operation], None],
    steps: int,
    pragmas: Mapping[str, object],
) -> None:
    async with Database.opened(path) as database:

        def adjust() -> None:
            assert database._writer is not None
            for name, value in pragmas.items():
                database._writer.pragma(name, value)

        async def acknowledged() -> None:
            # Noted before the digest is read: reading may not be what makes it durable.
            note(Operation("acknowledge"))
            recording.states.append(await database.read(digest))

        await database._on(database._writer_thread, adjust)
        await acknowledged()
        for step in range(steps):
            for change in _changes(step):
                await database.write(change)
                await acknowledged()


def _changes(step: int) -> list[Callable[[Connection], object]]:
    """Return the changes of one round, each for a transaction of its own."""
    text = f"Round {step} of the workload stores this text. " * (2 + step % 5)
    names = (f"Node {step}", f"Leaf {step}")
    item = KnowledgeItem(
        id=step * 1000 + 1,
        uuid=str(uuid.UUID(int=step)),
        title=f"Item of round {step}",
        content=text,
        tags=("cut", f"r{step}"),
        scope="global",
        category=Category.RULE,
        priority=5,
        confidence=0.8,
        source="manual",
        stored_by="power cut",
        created_at=NOW,
        updated_at=NOW,
    )

    def store(connection: Connection) -> None:
        knowledge.insert(connection, item)
        _note(connection, Action.CREATED, item)

    def add_entities(connection: Connection) -> None:
        for name in names:
            graph.add_entity(connection, Entity(name, "thing", (text, name)), ORIGIN, NOW)

    def relate(connection: Connection) -> None:
        graph.add_relation(connection, Relation(*names, "holds"), ORIGIN, NOW)

    def update(connection: Connection) -> None:
        knowledge.replace(connection, replace(item, content=text + "It was changed."))
        _note(connection, Action.UPDATED, item)

    def delete(connection: Connection) -> None:
        knowledge.delete(connection, item.id)
        _note(connection, Action.DELETED, item)

    def remove_entity(connection: Connection) -> None:
        found = graph_rows.find_entity(connection, f"Node {step - 1}")
        assert found is not None
        graph.remove_entity(connection, found[0], ORIGIN, NOW)

    if step % 3 == 1:
        return [store, add_entities, relate, update, delete, remove_entity]
    return [store, add_entities, relate]


def _note(connection: Connection, action: Action, item: KnowledgeItem) -> None:
    before = None if action is Action.CREATED else knowledge.to_json(item)
    record = history.Record(action, Noun.KNOWLEDGE, item.uuid, item.id, item.title, before)
    history.add(connection, record, ORIGIN, NOW)


def digest(connection: Connection) -> str:
    """Return a digest of everything in the memory."""
    content = hashlib.sha256()
    tables = "SELECT name FROM pragma_table_list WHERE type = 'table' ORDER BY name"
    for (table,) in connection.execute(tables).fetchall():
        for row in connection.execute(f"SELECT * FROM {table} ORDER BY 1"):
            content.update(f"{table}{row}".encode())
    return content.hexdigest()


class Disk:
    """What was written, and which of it is safe."""

    def __init__(self) -> None:
        self.safe: dict[str, bytearray] = {}
        self.pending: dict[str, list[Operation]] = {}

    def apply(self, operation: Operation, database: str) -> None:
        """Let an operation happen; the database itself begins as a link to its finished start."""
        name = operation.file
        if name == database and name not in self.safe:
            start = next(file for file in self.safe if file.endswith(".new"))
            self.safe[name] = self.safe.pop(start)
            assert not self.pending.pop(start, None)
        if operation.kind in ("write", "truncate"):
            self.safe.setdefault(name, bytearray())
            self.pending.setdefault(name, []).append(operation)
        elif operation.kind == "sync":
            content = self.safe.setdefault(name, bytearray())
            for done in self.pending.pop(name, ()):
                _overwrite(content, done)
        elif operation.kind == "delete":
            self.safe.pop(name, None)
            self.pending.pop(name, None)

    def after_cut(self, way: str, chance: random.Random) -> dict[str, bytearray]:
        """Return the files as they are when the power comes back."""
        files = {name: bytearray(content) for name, content in self.safe.items()}
        for name, operations in self.pending.items():
            for operation in operations:
                if way == "all" or (way != "none" and operation.kind != "write"):
                    if way == "all" or chance.random() < 0.5:
                        _overwrite(files[name], operation)
                elif way == "some" and chance.random() < 0.5:
                    _overwrite(files[name], operation)
                elif way == "torn":
                    for piece in _torn(operation, chance):
                        _overwrite(files[name], piece)
        return files


def _overwrite(content: bytearray, operation: Operation) -> None:
    if operation.kind == "truncate":
        del content[operation.offset :]
        return
    end = operation.offset + len(operation.data)
    if len(content) < operation.offset:
        content.extend(bytes(operation.offset - len(content)))
    content[operation.offset : end] = operation.data


def _torn(operation: Operation, chance: random.Random) -> Iterator[Operation]:
    """Cut a write at the borders of sectors: each is written, not written, or garbage."""
    start = operation.offset
    end = start + len(operation.data)
    while start < end:
        border = min(end, (start // SECTOR_BYTES + 1) * SECTOR_BYTES)
        data = operation.data[start - operation.offset : border - operation.offset]
        fate = chance.random()
        if fate < 0.4:
            yield Operation("write", operation.file, start, data)
        elif fate < 0.7:
            yield Operation("write", operation.file, start, chance.randbytes(len(data)))
        start = border


def cut_everywhere(
    recording: Recording, name: str, scratch: Path, *, every: int, seed: int = 1
) -> Verdicts:
    """Cut the power after every n-th operation, in every way, and judge what is left.

    Args:
        recording: What happened.
        name: The file name of the database.
        scratch: A folder for the rebuilt disks.
        every: n.
        seed: Of the random parts.
    """
    verdicts = Verdicts()
    disk = Disk()
    acknowledged = 0
    chance = random.Random(seed)
    for number, operation in enumerate(recording.operations):
        if operation.kind == "acknowledge":
            acknowledged += 1
        disk.apply(operation, name)
        if number % every and operation.kind != "acknowledge":
            continue
        for way in WAYS:
            verdicts.cuts += 1
            where = f"cut after operation {number} ({operation.kind}), unsynced: {way}"
            folder = scratch / f"{number}-{way}"
            folder.mkdir()
            for file, content in disk.after_cut(way, chance).items():
                (folder / file).write_bytes(content)
            with default_vfs(HastyVFS()):
                _judge(verdicts, where, folder / name, recording.states, acknowledged)
            for file_path in folder.iterdir():
                file_path.unlink()
            folder.rmdir()
    return verdicts


def _judge(
    verdicts: Verdicts, where: str, path: Path, states: list[str], acknowledged: int
) -> None:
    try:
        prepare_database(path)
        connection = open_connection(path)
    except StoreError as error:
        verdicts.fail(f"not to be opened: {error.__cause__!r}", where)
        return
    try:
        _judge_content(verdicts, where, connection, states, acknowledged)
    except apsw.Error as error:
        verdicts.fail(f"corrupt: {error!r}", where)
    finally:
        connection.close()


def _judge_content(
    verdicts: Verdicts, where: str, connection: Connection, states: list[str], acknowledged: int
) -> None:
    if connection.pragma("integrity_check") != "ok":
        verdicts.fail("corrupt", where)
    elif not fulltext.is_sound(connection):
        verdicts.fail("the index does not fit the documents", where)
    elif documents.damaged_ids(connection):
        verdicts.fail("a text lost its hash", where)
    elif acknowledged:
        found = digest(connection)
        if found not in states:
            verdicts.fail("half a transaction, or a hole", where)
        elif states.index(found) < acknowledged - 1:
            verdicts.fail("acknowledged and lost", where)


def main() -> int:
    """Try every operation of a long workload, and of one that must fail; return an exit code."""
    with tempfile.TemporaryDirectory() as folder:
        scratch = Path(folder)
        started = time.perf_counter()
        recording = record(scratch / "kmem.db", steps=20, pragmas={"wal_autocheckpoint": 25})
        verdicts = cut_everywhere(recording, "kmem.db", scratch, every=1)
        print(f"{verdicts.cuts} cuts in {time.perf_counter() - started:.0f} s")
        print("\n".join(verdicts.failures) or "Nothing was lost.")
        careless = record(
            scratch / "careless.db",
            steps=8,
            pragmas={"wal_autocheckpoint": 25, "synchronous": "off"},
        )
        control = cut_everywhere(careless, "careless.db", scratch, every=7)
        print(f"Control without syncs: {len(control.failures)} of {control.cuts} lost something")
    return 1 if verdicts.failures or not control.failures else 0


if __name__ == "__main__":
    sys.exit(main())
