"""A copy of the memory is brought in: once or ten times, it is there once, with its dates.

What is there already stays, unless the copy has a newer state of it. A dry run does everything,
inside a transaction that is thrown away, so that its report is exact.
"""

import asyncio
import json
import os
import uuid
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from kmem_desktop.domain.changes import Action, Noun, Origin
from kmem_desktop.domain.graph import Entity, Relation
from kmem_desktop.domain.importing import MemoryProgress
from kmem_desktop.domain.knowledge import KnowledgeItem
from kmem_desktop.domain.library.copies import (
    LARGEST_IMPORT,
    CopiedEntity,
    CopiedItem,
    CopiedObservation,
    CopiedRelation,
    CopiedSession,
    CopiedTurn,
    CopyFormat,
    CopyProblem,
    CopyReport,
    Piece,
)
from kmem_desktop.errors import FormatError, InvalidInputError
from kmem_desktop.events import Change, ChangeFeed
from kmem_desktop.services.library.copy_cleaning import cleaned
from kmem_desktop.services.library.copy_reading import MARK, MOST_PROBLEMS, ReadCopy, read_copy
from kmem_desktop.services.sessions import life
from kmem_desktop.services.sessions.privacy import refuse_excluded
from kmem_desktop.services.sessions.redacting import SecretFilter
from kmem_desktop.services.validation import Problems
from kmem_desktop.store import graph as graph_rows
from kmem_desktop.store import history
from kmem_desktop.store import knowledge as knowledge_rows
from kmem_desktop.store.connection import Connection
from kmem_desktop.store.database import Database
from kmem_desktop.store.library import copies as copy_rows
from kmem_desktop.store.sessions import conversations as session_rows
from kmem_desktop.store.sessions import deleted as deleted_rows
from kmem_desktop.store.sessions import imports as import_rows
from kmem_desktop.text import count_tokens

PROGRAM = "kmem"
LARGEST_FILE_BYTES = 128 * 1024 * 1024
MARK_BYTES = 400
STEP = 200
CHANGED_NOUNS = (Noun.KNOWLEDGE, Noun.ENTITY, Noun.RELATION, Noun.SESSION, Noun.TURN)
ITEM_FIELDS = [
    "title",
    "content",
    "tags",
    "scope",
    "category",
    "priority",
    "confidence",
    "source",
    "created_at",
    "updated_at",
]


class _DryRun(Exception):  # noqa: N818 - not an error: it carries the report out of the transaction
    def __init__(self, report: CopyReport) -> None:
        super().__init__()
        self.report = report


class _Cancelled(Exception):  # noqa: N818 - a person's wish, which the transaction is left by
    pass


Tell = Callable[[MemoryProgress], None]


class KnowledgeImport:
    """Brings copies of a memory in."""

    def __init__(self, database: Database, feed: ChangeFeed) -> None:
        """Write to `database`, and tell `feed` what changed."""
        self._database = database
        self._feed = feed

    async def bring_in_file(
        self,
        path: Path,
        origin: Origin,
        *,
        dry_run: bool = False,
        tell: Tell = lambda _progress: None,
        cancel: asyncio.Event | None = None,
    ) -> CopyReport:
        """Bring in a file that `kmem export` wrote.

        Args:
            path: The file.
            origin: Who asks; all changes get a batch of their own, for undo as a whole.
            dry_run: Only tell what would happen.
            tell: Hears how far it is, on the event loop.
            cancel: Ends it early once it is set; nothing of the copy is stored then.

        Raises:
            FormatError: The file cannot be read, is too large, or is no copy.
            StoreError: Nothing was brought in.
        """
        text = await asyncio.to_thread(_read_file, path)
        loop = asyncio.get_running_loop()

        def going_on(done: int, total: int) -> None:
            if cancel is not None and cancel.is_set():
                raise _Cancelled
            loop.call_soon_threadsafe(tell, MemoryProgress(done, total))

        # File names need not be text.
        shown = os.fsencode(path).decode("utf-8", "replace")
        try:
            report = await self._bring_in(text, origin, shown, going_on, dry_run=dry_run)
        except _Cancelled:
            report = CopyReport(dry_run, {}, 0, {}, was_cancelled=True)
        return replace(report, path=shown)

    async def bring_in(self, text: str, origin: Origin, *, dry_run: bool = False) -> CopyReport:
        """Bring in what `export_knowledge` wrote, or the reference memory's lines of JSON.

        Args:
            text: The copy, or one page of it.
            origin: Who asks; all changes get a batch of their own, for undo as a whole.
            dry_run: Only tell what would happen.

        Raises:
            FormatError: It is no copy.
            InvalidInputError: It is empty or too long.
            StoreError: Nothing was brought in.
        """
        _check(text)
        source = f"text from {origin.name}"
        return await self._bring_in(text, origin, source, _go_on, dry_run=dry_run)

    async def _bring_in(
        self,
        text: str,
        origin: Origin,
        source: str,
        going_on: Callable[[int, int], None],
        *,
        dry_run: bool,
    ) -> CopyReport:
        copy = await asyncio.to_thread(read_copy, text)
        secrets = SecretFilter(origin.name)
        pieces = await asyncio.to_thread(lambda: [cleaned(piece, secrets) for piece in copy.pieces])
        batch = replace(origin, batch=str(uuid.uuid4()))

        def work(connection: Connection) -> CopyReport:
            taking = _Taking(connection, batch, copy)
            for number, piece in enumerate(pieces):
                if number % STEP == 0:
                    going_on(number, len(pieces))
                taking.take(piece)
            taking.finish()
            report = replace(taking.report(), secrets=dict(secrets.counts))
            if dry_run:
                raise _DryRun(replace(report, is_dry_run=True, batch=""))
            if report.batch:
                secrets.note(connection, taking.now)
                _keep_report(connection, report, source, taking.now)
            return report

        try:
            report = await self._database.write(work)
        except _DryRun as finished:
            return finished.report
        if report.batch:
            for noun in CHANGED_NOUNS:
                self._feed.publish(Change(noun, (), batch))
        return report


class _Taking:
    """One copy on its way into the store, inside one transaction."""

    def __init__(self, connection: Connection, origin: Origin, copy: ReadCopy) -> None:
        self.now = datetime.now(UTC)
        self._connection = connection
        self._origin = origin
        self._problems = list(copy.problems)
        self._new: Counter[str] = Counter()
        self._known: Counter[str] = Counter()
        self._changed = 0
        self._new_entities: set[str] = set()
        self._linked: list[tuple[int, CopiedItem]] = []
        self._session: tuple[CopiedSession, session_rows.SessionRow | None] | None = None
        self._turns: list[CopiedTurn] = []

    def take(self, piece: Piece) -> None:
        """Take one piece."""
        _TAKE[type(piece)](self, piece)

    def finish(self) -> None:
        """Store what waited for the pieces after it."""
        self._end_session()
        for item_id, item in self._linked:
            for link in item.links:
                to_id = copy_rows.entry_id(self._connection, link.to_uuid)
                at = item.updated_at.isoformat()
                if to_id is not None and copy_rows.add_link(
                    self._connection, item_id, to_id, link, at
                ):
                    self._new["links"] += 1

    def report(self) -> CopyReport:
        """Return what was done."""
        did_something = self._changed or any(self._new.values())
        return CopyReport(
            is_dry_run=False,
            new=dict(self._new),
            changed=self._changed,
            known=dict(self._known),
            problems=tuple(self._problems),
            batch=self._origin.batch if did_something else "",
        )

    def _note(self, place: str, message: str) -> None:
        if len(self._problems) < MOST_PROBLEMS:
            self._problems.append(CopyProblem(place, message))

    def _record(self, action: Action, noun: Noun, row: tuple[int, str], title: str) -> None:
        record = history.Record(action, noun, row[1], row[0], title)
        history.add(self._connection, record, self._origin, self.now)

    def _take_item(self, copied: CopiedItem) -> None:
        there = copied.uuid and knowledge_rows.get_by_uuid(self._connection, copied.uuid)
        item = self._as_item(copied)
        place = f"“{copied.title[:60]}”"
        if there:
            is_same = all(getattr(there, name) == getattr(item, name) for name in ITEM_FIELDS)
            if is_same or there.updated_at >= item.updated_at:
                self._known["knowledge"] += 1
                return
            item = replace(item, id=there.id, stored_by=there.stored_by)
        duplicate = knowledge_rows.find_duplicate(self._connection, item, except_id=item.id)
        if duplicate is not None:
            self._known["knowledge"] += 1
            if duplicate[1] == "title" and not knowledge_rows.has_content(
                self._connection, item.content, item.scope
            ):
                self._note(place, "An item with this title is there already, with another text.")
            return
        try:
            refuse_excluded(self._connection, scope=item.scope)
        except InvalidInputError as error:
            self._note(place, error.message)
            return
        if there:
            self._change_item(there, item)
        else:
            item = knowledge_rows.insert(self._connection, item)
            self._record(Action.CREATED, Noun.KNOWLEDGE, (item.id, item.uuid), item.title)
            self._new["knowledge"] += 1
        self._linked.append((item.id, copied))

    def _as_item(self, copied: CopiedItem) -> KnowledgeItem:
        return KnowledgeItem(
            id=0,
            uuid=copied.uuid or str(uuid.uuid4()),
            title=copied.title,
            content=copied.content,
            tags=copied.tags,
            scope=copied.scope,
            category=copied.category,
            priority=copied.priority,
            confidence=copied.confidence,
            source=copied.source,
            stored_by=copied.stored_by or self._origin.name,
            created_at=copied.created_at,
            updated_at=copied.updated_at,
        )

    def _change_item(self, there: KnowledgeItem, item: KnowledgeItem) -> None:
        knowledge_rows.replace(self._connection, item)
        before = knowledge_rows.to_json(there)
        record = history.Record(
            Action.UPDATED, Noun.KNOWLEDGE, item.uuid, item.id, item.title, before
        )
        history.add(self._connection, record, self._origin, self.now)
        self._changed += 1

    def _take_entity(self, copied: CopiedEntity) -> None:
        row = graph_rows.find_entity(self._connection, copied.name)
        if row is None:
            entity = Entity(copied.name, copied.entity_type)
            created_at = copied.created_at or self.now
            stored_by = copied.stored_by or self._origin.name
            row = graph_rows.insert_entity(self._connection, entity, stored_by, created_at)
            self._record(Action.CREATED, Noun.ENTITY, row, copied.name)
            self._new_entities.add(copied.name)
            self._new["entities"] += 1
        elif copied.name not in self._new_entities:
            self._known["entities"] += 1
        added = [self._take_observation(row[0], copied.name, o) for o in copied.observations]
        if copied.name in self._new_entities:
            graph_rows.touch_entity(self._connection, row[0], copied.updated_at or self.now)
        elif any(added):
            graph_rows.touch_entity(self._connection, row[0], self.now)

    def _take_observation(self, entity_id: int, name: str, seen: CopiedObservation) -> bool:
        if graph_rows.find_observation(self._connection, entity_id, seen.text) is not None:
            self._known["observations"] += 1
            return False
        stored_by, at = seen.stored_by or self._origin.name, seen.created_at or self.now
        row = graph_rows.insert_observation(
            self._connection, (entity_id, name), seen.text, stored_by, at
        )
        self._record(Action.CREATED, Noun.OBSERVATION, row, name)
        self._new["observations"] += 1
        return True

    def _take_relation(self, copied: CopiedRelation) -> None:
        relation = Relation(copied.from_name, copied.to_name, copied.relation_type)
        row = graph_rows.insert_relation(
            self._connection,
            relation,
            copied.stored_by or self._origin.name,
            copied.created_at or self.now,
        )
        if row is None:
            self._known["relations"] += 1
            return
        title = f"{copied.from_name} {copied.relation_type} {copied.to_name}"
        self._record(Action.CREATED, Noun.RELATION, row, title)
        self._new["relations"] += 1

    def _take_session(self, copied: CopiedSession) -> None:
        self._end_session()
        place = f"session {copied.uuid}"
        scope = session_rows.scope_of(copied.project)
        try:
            refuse_excluded(self._connection, scope=scope, session_ids=(copied.uuid,))
        except InvalidInputError as error:
            self._note(place, error.message)
            return
        if deleted_rows.packed_session(self._connection, copied.uuid) is not None:
            life.restore(self._connection, copied.uuid, self._origin, self.now)
            self._new["sessions"] += 1
        self._session = (copied, session_rows.find(self._connection, copied.uuid))

    def _take_turn(self, copied: CopiedTurn) -> None:
        if self._session is not None:
            self._turns.append(copied)

    def _end_session(self) -> None:
        if self._session is None:
            return
        (copied, row), turns = self._session, self._turns
        self._session, self._turns = None, []
        known = copy_rows.turn_uuids(self._connection, row.id) if row else set()
        new = [turn for turn in turns if turn.uuid not in known]
        elsewhere = [turn for turn in new if copy_rows.has_turn(self._connection, turn.uuid)]
        if elsewhere:
            self._note(f"session {copied.uuid}", "Some turns are in another session already.")
            new = [turn for turn in new if turn not in elsewhere]
        self._known["turns"] += len(turns) - len(new)
        self._known["sessions"] += row is not None
        if new:
            self._store_turns(copied, row, new)

    def _store_turns(
        self, copied: CopiedSession, row: session_rows.SessionRow | None, new: list[CopiedTurn]
    ) -> None:
        state = copy_rows.state_of(self._connection, row.id) if row else None
        if row is None:
            row = session_rows.insert(
                self._connection,
                title=copied.title,
                project=copied.project,
                tags=copied.tags,
                client=copied.client,
                now=copied.created_at,
            )
            self._record(Action.CREATED, Noun.SESSION, (row.id, copied.uuid), copied.title)
            self._new["sessions"] += 1
        turns = [_new_turn(turn) for turn in new]
        ids = session_rows.append(self._connection, row, turns, copied.last_active)
        if state is not None:
            copy_rows.set_state(self._connection, row.id, state)
        else:
            copy_rows.date_session(self._connection, row.id, copied)
        copy_rows.identify_turns(self._connection, ids, new)
        self._new["turns"] += len(new)


_TAKE: dict[type, Callable[[_Taking, Any], None]] = {
    CopiedItem: _Taking._take_item,  # noqa: SLF001 - the class's own table
    CopiedEntity: _Taking._take_entity,  # noqa: SLF001
    CopiedRelation: _Taking._take_relation,  # noqa: SLF001
    CopiedSession: _Taking._take_session,  # noqa: SLF001
    CopiedTurn: _Taking._take_turn,  # noqa: SLF001
}


def _new_turn(turn: CopiedTurn) -> session_rows.NewTurn:
    return session_rows.NewTurn(
        role=turn.role,
        text=turn.text,
        speaker=turn.speaker,
        at=turn.at,
        token_count=count_tokens(turn.text),
        metadata=json.dumps(turn.metadata, ensure_ascii=False) if turn.metadata else None,
    )


def _keep_report(connection: Connection, report: CopyReport, source: str, now: datetime) -> None:
    """List it among the imports, where a person takes it back as a whole."""
    number = import_rows.begin(connection, report.batch, PROGRAM, source, now)
    facts = {f"{noun}_new": count for noun, count in report.new.items()}
    import_rows.report(connection, number, facts, now)


def _go_on(_done: int, _total: int) -> None:
    """Take the next pieces: nobody looks on."""


def copy_format(path: Path) -> CopyFormat | None:
    """Return how a file that `kmem export` wrote is written, by its beginning; None for others."""
    try:
        with path.open("rb") as file:
            head = file.read(MARK_BYTES).decode("utf-8", "replace")
    except OSError:
        return None
    if MARK in head:
        return CopyFormat.MARKDOWN
    return CopyFormat.JSON if '"kmem_export"' in head else None


def _read_file(path: Path) -> str:
    try:
        if path.stat().st_size > LARGEST_FILE_BYTES:
            raise FormatError(
                f"{path} is larger than {LARGEST_FILE_BYTES >> 20} MB.",
                hint="Export it in parts: --include, --scope or --since.",
            )
        with path.open(encoding="utf-8", newline="") as file:
            return file.read()
    except OSError as error:
        raise FormatError(f"{path} cannot be read: {error.strerror}.") from error
    except UnicodeError as error:
        raise FormatError(f"{path} is no text.") from error


def _check(text: str) -> None:
    problems = Problems()
    if not text.strip():
        problems.add("content", "content must not be empty.")
    if len(text) > LARGEST_IMPORT:
        problems.add("content", f"content must be at most {LARGEST_IMPORT:,} characters.")
    problems.raise_if_any()
