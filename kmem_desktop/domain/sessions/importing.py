"""Imports of conversations: where they come from, what of them is new, and how far an import is."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any

SHOWN_PROBLEMS = 200
"""So many problems are told with their text; all are counted."""


class TranscriptKind(StrEnum):
    """What a file of conversations is."""

    CLAUDE_CODE = "claude-code"
    CODEX = "codex"
    GEMINI = "gemini"
    EXPORT = "export"


PROGRAMS = (TranscriptKind.CLAUDE_CODE, TranscriptKind.CODEX, TranscriptKind.GEMINI)
"""The programs that keep transcripts on this computer."""
NAMES: Mapping[str, str] = {
    TranscriptKind.CLAUDE_CODE: "Claude Code",
    TranscriptKind.CODEX: "Codex CLI",
    TranscriptKind.GEMINI: "Gemini CLI",
    TranscriptKind.EXPORT: "claude.ai or ChatGPT",
}


@dataclass(frozen=True, slots=True)
class TranscriptFile:
    """A file of conversations on the disk.

    Attributes:
        path: Where it is.
        kind: What it is.
        size_bytes: Its size when it was looked at.
        modified_at: When it was last written to, ISO 8601.
        offset_bytes: Where to begin; 0 for all of it.
        line: The number of the last line before that.
        is_growing: Whether its program may be writing: then a cut last line waits.
    """

    path: str
    kind: TranscriptKind
    size_bytes: int = 0
    modified_at: str = ""
    offset_bytes: int = 0
    line: int = 0
    is_growing: bool = True


@dataclass(frozen=True, slots=True)
class IncomingSession:
    """A session of another program, without its secrets, on its way into the store.

    Attributes:
        source: The program's key.
        source_id: Its id there.
        client: The program's name.
        title: What it is called there; empty where it has no title.
        other_title: What to call it then.
        project: The project's name.
        started_at: When it began, ISO 8601; empty where nobody knows.
        metadata: What else is known.
        secrets: How many secrets of which kind were taken out of it.
        is_read_on: Whether only what was added to its file was read.
    """

    source: str
    source_id: str
    client: str
    title: str = ""
    other_title: str = ""
    project: str = ""
    started_at: str = ""
    metadata: Mapping[str, Any] | None = None
    secrets: Mapping[str, int] = field(default_factory=dict)
    is_read_on: bool = False


@dataclass(frozen=True, slots=True)
class IncomingTurns:
    """Turns of one session that follow each other, on their way into the store.

    Attributes:
        session: Their session, as it is known by now.
        count: How many they are.
        after: The source id of the turn before the first; empty at the session's beginning.
        token_count: Their tokens in all.
        last_at: The latest of their times; empty where none has one.
        size: About how many characters are indexed.
        place_bytes: How far the file is read.
        secrets: Which turn, by its place, lost how many secrets of which kind.
        rows: A JSON array with one array for each turn; see `TurnColumn`.
        before: The beginnings of the texts before them, in their order: they are context.
        behind: The beginnings of the texts behind them.
    """

    session: IncomingSession
    count: int
    after: str
    token_count: int
    last_at: str
    size: int
    place_bytes: int
    secrets: tuple[tuple[int, str, int], ...]
    rows: str
    before: tuple[str, ...] = ()
    behind: tuple[str, ...] = ()


class TurnColumn:
    """The places in a row of `IncomingTurns`; a dry run has the first only."""

    SOURCE_ID = 0
    ROLE = 1
    AT = 2
    TOKEN_COUNT = 3
    METADATA = 4
    BODY = 5
    HIDDEN_WORDS = 6
    TEXT_HASH = 7
    UUID = 8


@dataclass(frozen=True, slots=True)
class TranscriptProblem:
    """A line that was not taken, and why.

    Attributes:
        file: The file it stands in.
        line: Its number; in an export the number of the conversation.
        message: Why.
        text: Its beginning, without secrets.
    """

    file: str
    line: int
    message: str
    text: str


@dataclass(frozen=True, slots=True)
class FileDone:
    """All that a file says was read.

    Attributes:
        file: The file, as it was looked at.
        offset_bytes: Where the next line will begin.
        line: The number of the last line that was read.
        source: The program's key of the last session in it; empty where it holds none.
        source_id: The last session's id there.
    """

    file: TranscriptFile
    offset_bytes: int
    line: int
    source: str
    source_id: str


Incoming = IncomingSession | IncomingTurns | TranscriptProblem | FileDone


@dataclass(frozen=True, slots=True)
class ImportProgress:
    """How far an import is.

    Attributes:
        files_done: Files that were read to their end.
        files_total: All files.
        bytes_done: Of the files that were read.
        bytes_total: Of all files.
        turns: Turns that were looked at.
        turns_new: Turns of them that were, or would be, stored.
    """

    files_done: int = 0
    files_total: int = 0
    bytes_done: int = 0
    bytes_total: int = 0
    turns: int = 0
    turns_new: int = 0


@dataclass(frozen=True, slots=True)
class SessionImportReport:
    """What an import of conversations found and did, or would do.

    Attributes:
        path: The file or folder.
        kind: What it is.
        dry_run: Whether nothing was written.
        files: How many files were looked at.
        sessions_new: Sessions that were created.
        sessions_known: Sessions that were there already.
        sessions_excluded: Sessions of which nothing is to be kept.
        sessions_deleted: Sessions that a person deleted here; they are left alone.
        turns_new: Turns that were added.
        turns_known: Turns that were there already.
        turns_left_out: Turns of the sessions that are excluded or were deleted.
        problems: The first lines that were not taken.
        problem_count: How many lines were not taken.
        secrets_removed: How many secrets of which kind were replaced before storing.
        was_cancelled: Whether it was ended early: what was stored stays, and the next import of
            the same path finishes it.
        batch: The UUID by which it is undone as a whole; empty where nothing was stored.
    """

    path: str
    kind: TranscriptKind
    dry_run: bool
    files: int = 0
    sessions_new: int = 0
    sessions_known: int = 0
    sessions_excluded: int = 0
    sessions_deleted: int = 0
    turns_new: int = 0
    turns_known: int = 0
    turns_left_out: int = 0
    problems: tuple[TranscriptProblem, ...] = ()
    problem_count: int = 0
    secrets_removed: Mapping[str, int] = field(default_factory=dict)
    was_cancelled: bool = False
    batch: str = ""


@dataclass(frozen=True, slots=True)
class ImportRecord:
    """An import that stored something.

    Attributes:
        uuid: By which it is undone.
        kind: What was imported.
        path: From where.
        started_at: When it began.
        finished_at: When it was through; None while it runs, or where it was cut off.
        undone_at: When it was undone; None where it was not.
        session_count: Sessions it brought that are still here.
        turn_count: Turns it brought that are still here.
        is_following: Whether it goes on, as the program writes.
        facts: What it found and did, as its report said.
    """

    uuid: str
    kind: str
    path: str
    started_at: datetime
    finished_at: datetime | None
    undone_at: datetime | None
    session_count: int
    turn_count: int
    is_following: bool = False
    facts: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class TranscriptProgram:
    """A program on this computer that keeps transcripts.

    Attributes:
        key: Its kind.
        name: What people call it.
        folder: Where its transcripts are.
        session_count: How many transcripts are there.
        stored_count: How many of them are kept here as they are now.
        expiring_count: How many it deletes within the next days; 0 where it never does.
        expiring_stored_count: How many of those are kept here as they are now.
        kept_days: After so many days without a change it deletes a transcript; None for never.
        is_followed: Whether they are kept here while they grow.
    """

    key: TranscriptKind
    name: str
    folder: str
    session_count: int
    stored_count: int
    expiring_count: int
    expiring_stored_count: int
    kept_days: int | None
    is_followed: bool

    @property
    def is_safe(self) -> bool:
        """Whether everything that it is about to delete is kept here."""
        return self.expiring_stored_count == self.expiring_count
