"""Conversations of other programs made ready for the store: read, and without secrets.

This is most of an import's work, and it needs neither the database nor the event loop: it runs in a
process of its own (see `reading`), or for a few lines in a thread.

Turns are stored with the turns around them, so the last ones wait until those behind them are read.
"""

import functools
import json
import uuid as uuids
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, BinaryIO

from kmem_desktop.domain.importing import ImportProblem
from kmem_desktop.domain.sessions.conversations import ImportedSession, ImportedTurn, Role
from kmem_desktop.domain.sessions.importing import (
    FileDone,
    Incoming,
    IncomingSession,
    IncomingTurns,
    TranscriptFile,
    TranscriptKind,
    TranscriptProblem,
)
from kmem_desktop.errors import FormatError
from kmem_desktop.sessions.secrets import Redaction, redact
from kmem_desktop.sessions.transcripts import claude_code, codex, exports
from kmem_desktop.sessions.transcripts.lines import Bookmark
from kmem_desktop.store.documents import text_hash
from kmem_desktop.store.sessions.conversations import CONTEXT_LENGTH, NEIGHBOURS
from kmem_desktop.text import count_tokens, hidden_words, one_line

BATCH_TURNS = 250
BATCH_CHARACTERS = 500_000
"""About so much is indexed in a twentieth of a second: others who write wait no longer."""
UNTITLED_LENGTH = 60
SOURCES: Mapping[str, str] = {
    claude_code.CLIENT: "claude-code",
    codex.CLIENT: "codex",
    exports.GEMINI_CLIENT: "gemini",
    exports.CLAUDE_CLIENT: "claude-ai",
    exports.CHATGPT_CLIENT: "chatgpt",
}
_PLAIN_METADATA = frozenset({"parent", "call", "kind", "sidechain", "error"})
"""What a reader itself makes or checks to be an id: there is no secret in it."""
_MACHINE_MARKS = ("<", "Caveat:", "[Request interrupted")
"""So begins what a program says in a person's name: no title."""

Found = ImportedSession | ImportedTurn | ImportProblem


def prepared(files: Iterable[TranscriptFile], *, only_counted: bool) -> Iterator[Incoming]:
    """Read files of conversations, one after the other.

    Args:
        files: The files; one that cannot be read is a problem, and the next one is read.
        only_counted: Whether turns are to be counted only: a dry run.
    """
    for file in files:
        yield from _File(file, only_counted=only_counted).read()


@functools.lru_cache(maxsize=4096)
def _short_redacted(text: str) -> Redaction:
    return redact(text)


def _clean(text: str, counts: Counter[str]) -> str:
    found = _short_redacted(text) if len(text) <= 200 else redact(text)
    counts.update(found.counts)
    return found.text


def _clean_value(value: Any, counts: Counter[str]) -> Any:
    if isinstance(value, str):
        return _clean(value, counts)
    if isinstance(value, Mapping):
        return {_clean(str(k), counts): _clean_value(each, counts) for k, each in value.items()}
    if isinstance(value, list | tuple):
        return [_clean_value(each, counts) for each in value]
    return value


def _clean_metadata(
    metadata: Mapping[str, Any] | None, counts: Counter[str]
) -> dict[str, Any] | None:
    if not metadata:
        return None
    return {
        key: value if key in _PLAIN_METADATA else _clean_value(value, counts)
        for key, value in metadata.items()
    }


@dataclass(slots=True)
class _Pending:
    """A turn that waits for those behind it."""

    source_id: str
    role: str
    at: str | None
    metadata: str | None
    body: str
    secrets: Mapping[str, int]

    @property
    def size(self) -> int:
        """About how many characters are indexed for it."""
        return len(self.body) + 2 * NEIGHBOURS * min(CONTEXT_LENGTH, len(self.body))


@dataclass(slots=True)
class _Session:
    """A session while it is read.

    Attributes:
        before: The texts of the last turns that were given away.
        after: The source id of the last one of them.
    """

    header: IncomingSession
    before: list[str] = field(default_factory=list)
    after: str = ""
    waiting: list[_Pending] = field(default_factory=list)
    size: int = 0
    last_at: str | None = None
    ids: set[str] = field(default_factory=set)


class _File:
    """Reads one file."""

    def __init__(self, file: TranscriptFile, *, only_counted: bool) -> None:
        self._file = file
        self._only_counted = only_counted
        self._sessions: dict[str, _Session] = {}
        self._current: _Session | None = None
        self._stream: BinaryIO | None = None

    def read(self) -> Iterator[Incoming]:
        """Yield what the file holds, and at last that it is done."""
        bookmark = Bookmark(self._file.offset_bytes, self._file.line)
        try:
            with Path(self._file.path).open("rb") as stream:
                self._stream = stream
                for found in self._found(stream, bookmark):
                    yield from self._take(found)
                yield from self._leave()
        except OSError as error:
            yield self._problem(0, f"it cannot be read: {error.strerror}", "")
            return
        except FormatError as error:
            yield self._problem(0, error.message, "")
            yield from self._leave()
        self._stream = None
        last = list(self._sessions.values())[-1].header if self._sessions else None
        yield FileDone(
            self._file,
            bookmark.offset_bytes,
            bookmark.line,
            last.source if last else "",
            last.source_id if last else "",
        )

    def _found(self, stream: BinaryIO, bookmark: Bookmark) -> Iterator[Found]:
        name = Path(self._file.path).stem
        if self._file.kind is TranscriptKind.CLAUDE_CODE:
            return claude_code.read(stream, name, bookmark, is_growing=self._file.is_growing)
        if self._file.kind is TranscriptKind.CODEX:
            return codex.read(stream, name, bookmark, is_growing=self._file.is_growing)
        if self._file.kind is TranscriptKind.GEMINI:
            return exports.read_gemini_chat(stream, name)
        return exports.read_export(stream)

    def _problem(self, line: int, message: str, text: str) -> TranscriptProblem:
        return TranscriptProblem(self._file.path, line, message, redact(text).text)

    def _take(self, found: Found) -> Iterator[Incoming]:
        if isinstance(found, ImportProblem):
            yield self._problem(found.line, found.message, found.text)
        elif isinstance(found, ImportedSession):
            yield from self._begin(found)
        elif self._current is not None:
            if found.session_id != self._current.header.source_id:
                yield from self._leave()
                self._current = self._sessions.get(found.session_id) or self._current
            yield from self._add(self._current, found)

    def _begin(self, found: ImportedSession) -> Iterator[Incoming]:
        counts: Counter[str] = Counter()
        header = IncomingSession(
            source=SOURCES[found.client],
            source_id=found.source_id,
            client=found.client,
            title=one_line(_clean(found.title, counts)),
            project=one_line(_clean(found.project, counts)),
            started_at=found.started_at.isoformat() if found.started_at else "",
            metadata=_clean_metadata(found.metadata, counts),
            secrets=counts,
            is_read_on=self._file.offset_bytes > 0,
        )
        known = self._sessions.get(found.source_id)
        if known is None:
            yield from self._leave()
            self._current = self._sessions[found.source_id] = _Session(header)
            if self._file.kind is TranscriptKind.EXPORT:
                # Each conversation is there once; what was read of earlier ones is not kept.
                self._sessions = {found.source_id: self._current}
            yield header
            return
        known.header = replace(
            header,
            other_title=known.header.other_title,
            started_at=header.started_at or known.header.started_at,
            secrets={} if known.after else counts,  # once what was found is stored with the turns
        )
        if self._current is known:
            yield from self._leave()
        self._current = known
        yield known.header

    def _add(self, session: _Session, turn: ImportedTurn) -> Iterator[Incoming]:
        if not turn.text.strip() or turn.source_id in session.ids:
            return
        session.ids.add(turn.source_id)
        session.last_at = turn.at.isoformat() if turn.at else session.last_at
        found = redact(turn.text)
        counts = Counter(found.counts)
        metadata = _clean_metadata(turn.metadata, counts)
        pending = _Pending(
            turn.source_id,
            turn.role.value,
            session.last_at or session.header.started_at or None,
            json.dumps(metadata, ensure_ascii=False) if metadata else None,
            found.text,
            counts,
        )
        self._name(session, turn.role, pending)
        session.waiting.append(pending)
        session.size += pending.size
        if len(session.waiting) >= BATCH_TURNS + NEIGHBOURS or session.size > BATCH_CHARACTERS:
            yield from self._give(session, len(session.waiting) - NEIGHBOURS)

    def _name(self, session: _Session, role: Role, turn: _Pending) -> None:
        """Give a session without a title its first words, and the time of its first turn."""
        header = session.header
        if not header.started_at and turn.at:
            session.header = header = replace(header, started_at=turn.at)
        if header.other_title or role is not Role.USER or turn.body.startswith(_MACHINE_MARKS):
            return
        session.header = replace(header, other_title=one_line(turn.body)[:UNTITLED_LENGTH])

    def _leave(self) -> Iterator[Incoming]:
        """Give away what waits of the current session: nothing more comes of it now."""
        session, self._current = self._current, None
        if session is not None:
            yield from self._give(session, len(session.waiting))
        self._current = session

    def _give(self, session: _Session, count: int) -> Iterator[Incoming]:
        given = session.waiting[:count]
        if not given:
            return
        rows = [self._row(turn) for turn in given]
        tokens = 0 if self._only_counted else sum(row[3] for row in rows)
        yield IncomingTurns(
            session=session.header,
            count=len(given),
            after=session.after,
            token_count=tokens,
            last_at=max((turn.at or "" for turn in given), default=""),
            size=sum(turn.size for turn in given),
            place_bytes=self._stream.tell() if self._stream else 0,
            secrets=tuple(
                (place, kind, number)
                for place, turn in enumerate(given)
                for kind, number in turn.secrets.items()
            ),
            rows=json.dumps(rows, ensure_ascii=False),
            before=tuple(session.before),
            behind=tuple(turn.body[:CONTEXT_LENGTH] for turn in session.waiting[count:]),
        )
        # The secrets of the title and the like are counted once.
        session.header = replace(session.header, secrets={})
        texts = [*session.before, *(turn.body[:CONTEXT_LENGTH] for turn in given[-NEIGHBOURS:])]
        session.before = texts[-NEIGHBOURS:]
        session.after = given[-1].source_id
        session.waiting = session.waiting[count:]
        session.size = sum(turn.size for turn in session.waiting)

    def _row(self, turn: _Pending) -> list[Any]:
        if self._only_counted:
            return [turn.source_id]
        return [
            turn.source_id,
            turn.role,
            turn.at,
            count_tokens(turn.body),
            turn.metadata,
            turn.body,
            hidden_words("", turn.body),
            text_hash("", turn.body),
            str(uuids.uuid4()),
        ]
