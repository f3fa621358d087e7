"""One import of conversations: what was read is stored, batch by batch, and counted."""

import asyncio
import contextlib
import functools
import time
import uuid as uuids
from collections import Counter
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime

from kmem_desktop.domain.changes import Noun, Origin
from kmem_desktop.domain.sessions.importing import (
    PROGRAMS,
    SHOWN_PROBLEMS,
    FileDone,
    ImportProgress,
    IncomingSession,
    IncomingTurns,
    SessionImportReport,
    TranscriptFile,
    TranscriptProblem,
)
from kmem_desktop.errors import StoreError
from kmem_desktop.events import Change, ChangeFeed
from kmem_desktop.services.importing.detecting import Detected
from kmem_desktop.services.importing.reading import LITTLE_BYTES, Batch, Reading, amount_bytes
from kmem_desktop.store.connection import Connection
from kmem_desktop.store.database import Database
from kmem_desktop.store.sessions import deleted, secrets, sources
from kmem_desktop.store.sessions import imports as import_rows

TELL_CHANGES_EVERY_S = 1.0

Tell = Callable[[ImportProgress], None]
Key = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Wishes:
    """How an import is to be done.

    Attributes:
        origin: Who asked for it.
        dry_run: Whether nothing is to be written.
        is_following: Whether it goes on as the program writes.
        tell: Hears how far it is.
        cancel: Ends it early once it is set.
    """

    origin: Origin
    dry_run: bool = False
    is_following: bool = False
    tell: Tell = lambda _progress: None
    cancel: asyncio.Event = field(default_factory=asyncio.Event)


@dataclass(slots=True)
class _Counted:
    """What was found so far."""

    new: set[Key] = field(default_factory=set)
    known: set[Key] = field(default_factory=set)
    excluded: set[Key] = field(default_factory=set)
    deleted: set[Key] = field(default_factory=set)
    turns_new: int = 0
    turns_known: int = 0
    turns_left_out: int = 0
    unread_sessions: int = 0
    problems: list[TranscriptProblem] = field(default_factory=list)
    problem_count: int = 0
    secrets: Counter[str] = field(default_factory=Counter)
    files_done: int = 0
    bytes_done: int = 0
    place_bytes: int = 0

    @property
    def turns(self) -> int:
        """All turns that were looked at."""
        return self.turns_new + self.turns_known + self.turns_left_out


class Import:
    """An import while it runs."""

    def __init__(
        self, database: Database, feed: ChangeFeed, found: Detected, wishes: Wishes
    ) -> None:
        """Bring what was detected into `database`, and tell `feed` of it."""
        self._database = database
        self._feed = feed
        self._found = found
        self._wishes = wishes
        self._counted = _Counted()
        self._import_id = 0
        self._uuid = ""
        self._merges_less = False
        self._stored: set[Key] = set()
        self._seen: set[int] = set()
        self._changed_turns: list[int] = []
        self._changed_sessions: set[int] = set()
        self._told_at = time.monotonic()

    async def run(self) -> SessionImportReport:
        """Do it.

        Raises:
            FormatError: Reading was cut off; what was stored stays.
            StoreError: Something could not be written; what was stored before stays.
        """
        files = await self._database.read(self._unread)
        reading = Reading(files, only_counted=self._wishes.dry_run)
        was_cancelled = False
        try:
            while (batch := await asyncio.to_thread(reading.next_batch)) is not None:
                if self._wishes.cancel.is_set():
                    was_cancelled = True
                    break
                await self._take(batch)
                self._wishes.tell(self._progress())
        finally:
            # Shielded: neither thread nor process is left behind with the files.
            await asyncio.shield(asyncio.to_thread(reading.close))
            self._publish()
            if self._merges_less:
                with contextlib.suppress(StoreError):
                    await self._database.write(lambda c: import_rows.merge_less(c, on=False))
        report = self._report(was_cancelled=was_cancelled)
        if not self._wishes.dry_run:
            await self._database.write(functools.partial(self._finish, report))
        return report

    def _unread(self, connection: Connection) -> list[TranscriptFile]:
        """Return the files that say something new; the others are counted."""
        files = self._found.files
        if self._found.kind not in PROGRAMS:
            return list(files)
        known = import_rows.followed(connection, self._found.kind)
        unread: list[TranscriptFile] = []
        for file in files:
            row = known.get(file.path)
            if row is None or not row.is_as_read(file):
                unread.append(file)
                continue
            self._counted.unread_sessions += bool(row.session_uuid)
            self._counted.turns_known += import_rows.turn_count(connection, row.session_uuid)
            self._counted.files_done += 1
            self._counted.bytes_done += file.size_bytes
        return unread

    async def _take(self, batch: Batch) -> None:
        if self._wishes.dry_run:
            await self._database.read(functools.partial(self._look, batch))
            return
        await self._database.write(functools.partial(self._store, batch))
        if time.monotonic() - self._told_at >= TELL_CHANGES_EVERY_S:
            self._publish()

    def _publish(self) -> None:
        """Tell what changed: of many turns the first and the last; all between them is new."""
        turns, self._changed_turns = self._changed_turns, []
        sessions, self._changed_sessions = self._changed_sessions, set()
        self._told_at = time.monotonic()
        if turns:
            ends = tuple(dict.fromkeys((min(turns), max(turns))))
            self._feed.publish(Change(Noun.TURN, ends, self._wishes.origin))
        if sessions:
            self._feed.publish(Change(Noun.SESSION, tuple(sessions), self._wishes.origin))

    def _progress(self) -> ImportProgress:
        counted = self._counted
        return ImportProgress(
            files_done=counted.files_done,
            files_total=len(self._found.files),
            bytes_done=counted.bytes_done + counted.place_bytes,
            bytes_total=sum(file.size_bytes for file in self._found.files),
            turns=counted.turns,
            turns_new=counted.turns_new,
        )

    def _store(self, batch: Batch, connection: Connection) -> None:
        """Store a batch, all of it or nothing."""
        now = datetime.now(UTC)
        removed: dict[str, Counter[str]] = {}
        for each in batch:
            if isinstance(each, IncomingTurns):
                self._store_turns(connection, each, removed, now)
            elif isinstance(each, IncomingSession):
                self._update(connection, each)
            elif isinstance(each, TranscriptProblem):
                self._note(each)
            else:
                self._note_file(connection, each)
        for client, counts in removed.items():
            secrets.add_counts(connection, client, counts, now)
            self._counted.secrets += counts

    def _store_turns(
        self,
        connection: Connection,
        turns: IncomingTurns,
        removed: dict[str, Counter[str]],
        now: datetime,
    ) -> None:
        row = self._row_of(connection, turns)
        if row is None and self._is_left_out(connection, turns):
            return
        key = _key(turns.session)
        new = self._new_ones(connection, row, turns)
        if new is None:
            return
        import_id = self._begun(connection, now)
        counts = removed.setdefault(turns.session.client, Counter())
        if row is None:
            row = sources.begin(connection, turns.session, str(uuids.uuid4()), import_id, now)
            self._counted.new.add(key)
            counts.update(turns.session.secrets)
        goes_on = key in self._stored or not row.turn_count
        ends = sources.add(connection, row, new, import_id, now, goes_on=goes_on)
        self._stored.add(key)
        self._changed_turns += ends
        self._changed_sessions.add(row.id)
        self._counted.turns_new += new.count
        for _, kind, count in new.secrets:
            counts[kind] += count

    def _row_of(self, connection: Connection, turns: IncomingTurns) -> sources.SourceRow | None:
        """Return a session as it is stored; None where it is not, or nothing is kept of it."""
        self._counted.place_bytes = turns.place_bytes
        row = sources.find(connection, *_key(turns.session))
        if row is None:
            return None
        names = (turns.session.source_id, row.uuid)
        if secrets.is_excluded(connection, row.project, names):
            return None
        if _key(turns.session) not in self._counted.new:
            self._counted.known.add(_key(turns.session))
        return row

    def _is_left_out(self, connection: Connection, turns: IncomingTurns) -> bool:
        session, key = turns.session, _key(turns.session)
        is_stored = sources.find(connection, *key) is not None
        if is_stored or secrets.is_excluded(connection, session.project, (session.source_id,)):
            self._counted.excluded.add(key)
        elif deleted.is_deleted(connection, *key):
            self._counted.deleted.add(key)
        else:
            return False
        self._counted.turns_left_out += turns.count
        return True

    def _new_ones(
        self, connection: Connection, row: sources.SourceRow | None, turns: IncomingTurns
    ) -> IncomingTurns | None:
        """Return those of some turns that are not stored yet; None for none."""
        known = sources.known(connection, row.id, turns) if row else set()
        self._counted.turns_known += len(known)
        if len(known) == turns.count:
            return None
        return sources.without(turns, known) if known else turns

    def _begun(self, connection: Connection, now: datetime) -> int:
        """Return the import's number; it begins with the first turn that is stored."""
        if not self._import_id:
            place = (self._found.kind.value, self._found.path)
            cut_off = import_rows.unfinished(connection, *place)
            if cut_off is not None:
                self._import_id, self._uuid = cut_off
            else:
                self._uuid = self._wishes.origin.batch or str(uuids.uuid4())
                self._import_id = import_rows.begin(connection, self._uuid, *place, now)
            self._keep_report(connection, {}, None)
            if amount_bytes(self._found.files) > LITTLE_BYTES:
                self._merges_less = True
                import_rows.merge_less(connection, on=True)
        return self._import_id

    def _update(self, connection: Connection, session: IncomingSession) -> None:
        if _key(session) in self._counted.excluded:
            return
        session_id = sources.update(connection, session)
        if session_id is not None:
            self._changed_sessions.add(session_id)

    def _note(self, problem: TranscriptProblem) -> None:
        self._counted.problem_count += 1
        if len(self._counted.problems) < SHOWN_PROBLEMS:
            self._counted.problems.append(problem)

    def _note_file(self, connection: Connection | None, done: FileDone) -> None:
        self._counted.files_done += 1
        self._counted.bytes_done += done.file.size_bytes
        self._counted.place_bytes = 0
        if connection is None or done.file.kind not in PROGRAMS:
            return
        key = done.source, done.source_id
        row = sources.find(connection, *key)
        uuid = row.uuid if row else ""
        if key in self._counted.excluded | self._counted.deleted:
            import_rows.note_left_out(connection, done.file, uuid)
        elif row is None:
            # Its beginning, which may name the project, is needed once somebody has said something.
            import_rows.note_file(connection, done.file, 0, 0, "")
        else:
            import_rows.note_file(connection, done.file, done.offset_bytes, done.line, uuid)

    def _look(self, batch: Batch, connection: Connection) -> None:
        """Count what storing a batch would do."""
        for each in batch:
            if isinstance(each, IncomingTurns):
                self._look_at_turns(connection, each)
            elif isinstance(each, TranscriptProblem):
                self._note(each)
            elif isinstance(each, FileDone):
                self._note_file(None, each)

    def _look_at_turns(self, connection: Connection, turns: IncomingTurns) -> None:
        row = self._row_of(connection, turns)
        if row is None and self._is_left_out(connection, turns):
            return
        new = self._new_ones(connection, row, turns)
        new = self._first_seen(new) if new else None
        if new is None:
            return
        key = _key(turns.session)
        if row is None and key not in self._counted.new:
            self._counted.new.add(key)
            self._counted.secrets.update(turns.session.secrets)
        self._counted.turns_new += new.count
        for _, kind, count in new.secrets:
            self._counted.secrets[kind] += count

    def _first_seen(self, turns: IncomingTurns) -> IncomingTurns | None:
        """Return those of some turns that no file before held, as storing would know it."""
        hashes = {
            hash((*_key(turns.session), source_id)): source_id
            for source_id in sources.source_ids(turns)
        }
        again = {hashes[each] for each in hashes.keys() & self._seen}
        self._seen.update(hashes)
        self._counted.turns_known += len(again)
        if len(again) == turns.count:
            return None
        return sources.without(turns, again) if again else turns

    def _finish(self, report: SessionImportReport, connection: Connection) -> None:
        now = datetime.now(UTC)
        if not self._import_id:
            place = (self._found.kind.value, self._found.path)
            cut_off = import_rows.unfinished(connection, *place)
            if cut_off is None:
                return
            self._import_id, self._uuid = cut_off
        goes_on = self._wishes.is_following or report.was_cancelled
        self._keep_report(connection, asdict(report), None if goes_on else now)

    def _keep_report(
        self, connection: Connection, facts: dict[str, object], finished_at: datetime | None
    ) -> None:
        facts = {**facts, "is_following": self._wishes.is_following}
        import_rows.report(connection, self._import_id, facts, finished_at)

    def _report(self, *, was_cancelled: bool) -> SessionImportReport:
        counted = self._counted
        return SessionImportReport(
            path=self._found.path,
            kind=self._found.kind,
            dry_run=self._wishes.dry_run,
            files=len(self._found.files),
            sessions_new=len(counted.new),
            sessions_known=len(counted.known) + counted.unread_sessions,
            sessions_excluded=len(counted.excluded),
            sessions_deleted=len(counted.deleted),
            turns_new=counted.turns_new,
            turns_known=counted.turns_known,
            turns_left_out=counted.turns_left_out,
            problems=tuple(counted.problems),
            problem_count=counted.problem_count,
            secrets_removed=dict(counted.secrets),
            was_cancelled=was_cancelled,
            batch=self._uuid,
        )


def _key(session: IncomingSession) -> Key:
    return session.source, session.source_id
