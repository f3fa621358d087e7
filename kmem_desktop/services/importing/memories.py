"""Brings in the memories of ai-devkit, mark42, mcp-memory-service and basic-memory.

What a path holds is found out by itself. It is read in a thread, secrets are taken out, then it is
stored in steps, each a transaction of its own, so that assistants are served meanwhile; a dry run
does the same in one transaction that is thrown away, so that its report is exact. Everything of one
import has one batch in the history, by which it is undone as a whole.

Run again, nothing comes twice: knowledge keeps the identity it has at its program, entities go by
their name. What was changed here stays as it is.
"""

import asyncio
import os
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from threading import Event

from kmem_desktop.domain.changes import Action, Noun, Origin, OriginKind
from kmem_desktop.domain.graph import Entity, Relation
from kmem_desktop.domain.importing import (
    FoundMemory,
    ImportProblem,
    ImportReport,
    MemoryProgram,
    MemoryProgress,
)
from kmem_desktop.domain.knowledge import TITLE_LENGTH, Category, KnowledgeItem
from kmem_desktop.errors import FormatError, InvalidInputError
from kmem_desktop.events import Change, ChangeFeed
from kmem_desktop.services import graph
from kmem_desktop.services.history import HistoryService
from kmem_desktop.services.importing.memory_files import (
    Reading,
    found_memories,
    program_at,
    read_memories,
)
from kmem_desktop.services.sessions.privacy import project_of
from kmem_desktop.services.sessions.redacting import SecretFilter
from kmem_desktop.services.validation import checked_draft
from kmem_desktop.sessions.transcripts.memories import (
    ImportedKnowledge,
    KnowledgeLink,
    Memory,
    as_entity,
)
from kmem_desktop.store import graph as graph_rows
from kmem_desktop.store import history
from kmem_desktop.store import knowledge as knowledge_rows
from kmem_desktop.store.connection import Connection
from kmem_desktop.store.database import Database
from kmem_desktop.store.retrieval import identities
from kmem_desktop.store.sessions import imports, relations, secrets

STEP = 100
"""So many memories are stored in one transaction: about a twentieth of a second."""
KEPT_PROBLEMS = 200
_NAMES = uuid.UUID("6f2a5cf5-1f4f-4c0e-9d3a-7a2d1f0b8c55")
"""The namespace in which a memory's identity at its program becomes its UUID here."""

Tell = Callable[[MemoryProgress], None]


class _DryRun(Exception):  # noqa: N818 - not an error: it carries the counts out of the transaction
    pass


@dataclass(slots=True)
class _Counts:
    """What was done so far."""

    knowledge_new: int = 0
    knowledge_known: int = 0
    entities_new: int = 0
    entities_known: int = 0
    observations_new: int = 0
    relations_new: int = 0
    relations_known: int = 0
    dangling_relations: int = 0
    excluded: int = 0
    problems: list[ImportProblem] = field(default_factory=list)

    @property
    def is_change(self) -> bool:
        return bool(
            self.knowledge_new + self.entities_new + self.observations_new + self.relations_new
        )


class MemoriesImport:
    """Brings in the memories of other programs."""

    def __init__(self, database: Database, feed: ChangeFeed, history: HistoryService) -> None:
        """Write to `database`, tell `feed`, undo by `history`."""
        self._database = database
        self._feed = feed
        self._history = history

    async def found(self) -> list[FoundMemory]:
        """Return the memories of other programs that lie where those programs keep them."""
        return await asyncio.to_thread(found_memories, Path.home(), os.environ)

    async def program_of(self, path: Path) -> MemoryProgram | None:
        """Return whose memory a file or folder is; None where it is none of these programs'.

        Raises:
            FormatError: It cannot be read.
        """
        place = await asyncio.to_thread(program_at, path)
        return place.program if place else None

    async def run(
        self,
        path: Path,
        *,
        dry_run: bool = False,
        tell: Tell | None = None,
        cancel: asyncio.Event | None = None,
        origin: Origin | None = None,
    ) -> ImportReport:
        """Bring a memory in.

        Args:
            path: A SQLite file or JSON export, or a folder of notes or with such a file.
            dry_run: Store nothing, only tell what would be stored.
            tell: Is told on the event loop how far it is.
            cancel: Ends it when set: what was stored stays, and can be undone.
            origin: Who asks; the import is named in the history whatever they are.

        Raises:
            FormatError: It is no memory of these programs, or cannot be read.
            StoreError: The step that failed was not stored; those before it were.
        """
        cancel = cancel or asyncio.Event()
        is_cancelled = Event()
        name = os.fsencode(path.name).decode("utf-8", "replace")  # it need not be text
        given = origin or Origin(OriginKind.IMPORT, "")
        batch = Origin(OriginKind.IMPORT, f"Import of {name}", given.tool, batch=str(uuid.uuid4()))
        incoming = SecretFilter(batch.name)
        excluded = await self._database.read(secrets.excluded_projects)
        reading = Reading(incoming, excluded, is_cancelled.is_set)
        with _passed_on(cancel, is_cancelled):
            program, memories = await asyncio.to_thread(_read, path, reading)
            shown = os.fsencode(path).decode("utf-8", "replace")
            run = _Run(self._database, batch, program, shown, incoming, is_cancelled)
            report = await (run.rehearse(memories, tell) if dry_run else run.store(memories, tell))
        if report.batch:
            for noun in (Noun.KNOWLEDGE, Noun.ENTITY, Noun.RELATION):
                self._feed.publish(Change(noun, (), batch))
        return report

    async def undo(self, batch: str, origin: Origin) -> int:
        """Take back everything that an import stored; return how many changes that were."""
        count = await self._history.undo_batch(batch, origin)
        now = datetime.now(UTC)

        def work(connection: Connection) -> None:
            if found := imports.find(connection, batch):
                imports.mark_undone(connection, found[0], now)

        await self._database.write(work)
        return count


class _Run:
    """One import."""

    def __init__(
        self,
        database: Database,
        origin: Origin,
        program: MemoryProgram,
        path: str,
        incoming: SecretFilter,
        is_cancelled: Event,
    ) -> None:
        self._database = database
        self._origin = origin
        self._program = program
        self._path = path
        self._secrets = incoming
        self._is_cancelled = is_cancelled
        self._counts = _Counts()
        self._now = datetime.now(UTC)

    async def rehearse(self, memories: Sequence[Memory], tell: Tell | None) -> ImportReport:
        """Store everything and throw it away."""
        loop = asyncio.get_running_loop()
        total = len(memories)

        def work(connection: Connection) -> None:
            for start in range(0, total, STEP):
                if self._is_cancelled.is_set():
                    break
                self._take(connection, memories[start : start + STEP])
                if tell:
                    done = min(total, start + STEP)
                    loop.call_soon_threadsafe(tell, MemoryProgress(done, total))
            raise _DryRun

        with suppress(_DryRun):
            await self._database.write(work)
        return replace(self._report(), dry_run=True, batch="")

    async def store(self, memories: Sequence[Memory], tell: Tell | None) -> ImportReport:
        """Store everything, step by step."""
        total = len(memories)
        import_id: int | None = None
        for start in range(0, total, STEP):
            if self._is_cancelled.is_set():
                break
            step = memories[start : start + STEP]
            import_id = await self._database.write(lambda c: self._step(c, step, import_id))  # noqa: B023 - awaited in the same turn
            if tell:
                tell(MemoryProgress(min(total, start + STEP), total))
        report = self._report()
        if import_id is not None:
            kept = {**asdict(report), "problems": [p.message for p in report.problems]}
            finished = datetime.now(UTC)
            number = import_id
            await self._database.write(lambda c: imports.report(c, number, kept, finished))
        return report

    def _step(
        self, connection: Connection, memories: Sequence[Memory], import_id: int | None
    ) -> int | None:
        was_change = self._counts.is_change
        self._take(connection, memories)
        if was_change or not self._counts.is_change:
            return import_id
        self._secrets.note(connection, self._now)
        return imports.begin(
            connection, self._origin.batch, self._program.value, self._path, self._now
        )

    def _take(self, connection: Connection, memories: Sequence[Memory]) -> None:
        for memory in memories:
            if isinstance(memory, ImportedKnowledge):
                self._knowledge(connection, memory)
            elif isinstance(memory, Entity):
                self._entity(connection, memory)
            elif isinstance(memory, Relation):
                self._relation(connection, memory)
            elif isinstance(memory, KnowledgeLink):
                self._link(connection, memory)
            else:
                self._counts.problems.append(memory)

    def _knowledge(self, connection: Connection, memory: ImportedKnowledge) -> None:
        identity = self._uuid(memory.source_id)
        try:
            draft = checked_draft(memory.draft)
        except InvalidInputError:  # too general for knowledge: kept as it is, as an observation
            self._entity(
                connection,
                as_entity(memory.draft.title, "", memory.draft.content, memory.draft.tags),
            )
            return
        if secrets.is_excluded(connection, project_of(draft.scope), ()):
            self._counts.excluded += 1
            return
        is_known = knowledge_rows.get_by_uuid(
            connection, identity
        ) is not None or knowledge_rows.has_content(connection, draft.content, draft.scope)
        if is_known:
            self._counts.knowledge_known += 1
            return
        created = memory.created_at or self._now
        item = KnowledgeItem(
            id=0,
            uuid=identity,
            title=_free_title(connection, draft.title, draft.scope),
            content=draft.content,
            tags=draft.tags,
            scope=draft.scope,
            category=Category(draft.category),
            priority=draft.priority,
            confidence=draft.confidence,
            source=draft.source,
            stored_by=self._origin.name,
            created_at=created,
            updated_at=max(created, memory.updated_at or created),
        )
        stored = knowledge_rows.insert(connection, item)
        record = history.Record(
            Action.CREATED, Noun.KNOWLEDGE, stored.uuid, stored.id, stored.title
        )
        history.add(connection, record, self._origin, self._now)
        self._counts.knowledge_new += 1

    def _entity(self, connection: Connection, entity: Entity) -> None:
        empty = replace(entity, observations=())
        if graph.add_entity(connection, empty, self._origin, self._now) is None:
            self._counts.entities_known += 1
        else:
            self._counts.entities_new += 1
        row = graph_rows.find_entity(connection, entity.name)
        if row is not None:
            added = graph.add_contents(
                connection, (row[0], entity.name), entity.observations, self._origin, self._now
            )
            self._counts.observations_new += len(added)

    def _relation(self, connection: Connection, relation: Relation) -> None:
        if graph.add_relation(connection, relation, self._origin, self._now) is None:
            self._counts.relations_known += 1
            return
        self._counts.relations_new += 1
        ends = {relation.from_name, relation.to_name}
        if len(graph_rows.entity_ids(connection, ends)) < len(ends):
            self._counts.dangling_relations += 1

    def _link(self, connection: Connection, link: KnowledgeLink) -> None:
        uuids = [self._uuid(link.from_id), self._uuid(link.to_id)]
        items = identities.of_uuids(connection, uuids)
        if len(items) == len(uuids):
            later, earlier = (items[each].id for each in uuids)
            relations.tell(connection, later, [earlier], link.relation, self._now)

    def _uuid(self, source_id: str) -> str:
        if not source_id:
            return str(uuid.uuid4())
        return str(uuid.uuid5(_NAMES, f"{self._program}\n{source_id}"))

    def _report(self) -> ImportReport:
        counts = self._counts
        return ImportReport(
            path=self._path,
            dry_run=False,
            program=self._program,
            knowledge_new=counts.knowledge_new,
            knowledge_known=counts.knowledge_known,
            entities_new=counts.entities_new,
            entities_known=counts.entities_known,
            observations_new=counts.observations_new,
            relations_new=counts.relations_new,
            relations_known=counts.relations_known,
            dangling_relations=counts.dangling_relations,
            excluded=counts.excluded,
            problems=tuple(counts.problems[:KEPT_PROBLEMS]),
            was_cancelled=self._is_cancelled.is_set(),
            secrets_removed=dict(self._secrets.counts) if counts.is_change else {},
            batch=self._origin.batch if counts.is_change else "",
        )


def _read(path: Path, reading: Reading) -> tuple[MemoryProgram, list[Memory]]:
    place = program_at(path)
    if place is None:
        raise FormatError(
            f"{path.name or path} is no memory that kmem knows.",
            hint="It reads the memories of ai-devkit, mark42, mcp-memory-service and basic-memory.",
        )
    found = []
    try:
        for memory in read_memories(place, reading):
            found.append(memory)
            if reading.is_cancelled():
                break
    except FormatError:
        if not reading.is_cancelled():
            raise
    return place.program, found


def _free_title(connection: Connection, title: str, scope: str) -> str:
    """Return a title that its scope does not have: the same with another text gets a number."""
    free, number = title, 2
    while knowledge_rows.has_title(connection, free, scope):
        ending = f" ({number})"
        free = title[: TITLE_LENGTH[1] - len(ending)] + ending
        number += 1
    return free


@contextmanager
def _passed_on(cancel: asyncio.Event, is_cancelled: Event) -> Iterator[None]:
    """Set an event of threads as soon as one of the event loop is set."""
    if cancel.is_set():
        is_cancelled.set()

    async def wait() -> None:
        await cancel.wait()
        is_cancelled.set()

    task = asyncio.ensure_future(wait())
    try:
        yield
    finally:
        task.cancel()
