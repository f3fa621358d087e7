"""Recognises what a file or folder of conversations is, by what is in it, not by its name."""

import json
import os
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from kmem_desktop.domain.sessions.importing import TranscriptFile, TranscriptKind
from kmem_desktop.errors import FormatError
from kmem_desktop.sessions.transcripts import claude_code

HEAD_BYTES = 256 * 1024
LOOKED_AT = 50
"""So many lines of a file, and files of a folder, are looked at to see what they are."""
EXPORT_NAME = "conversations.json"
_CLAUDE_KINDS = frozenset(
    {"user", "assistant", "system", "summary", "file-history-snapshot", "ai-title", "custom-title"}
)
_CODEX_KINDS = frozenset(
    {"session_meta", "response_item", "event_msg", "turn_context", "compacted"}
)
_OWN_FOLDERS = {
    "projects": TranscriptKind.CLAUDE_CODE,
    "sessions": TranscriptKind.CODEX,
    "tmp": TranscriptKind.GEMINI,
}
_DAY = "[0-9][0-9]"
# Only as deep as the programs write: a person may point at a disk.
_PATTERNS = {
    TranscriptKind.CLAUDE_CODE: ("*.jsonl", "*/*.jsonl"),
    TranscriptKind.CODEX: (
        "*.jsonl",
        f"{_DAY}/*.jsonl",
        f"{_DAY}/{_DAY}/*.jsonl",
        f"{_DAY}{_DAY}/{_DAY}/{_DAY}/*.jsonl",
    ),
    TranscriptKind.GEMINI: ("chats/*.json", "*/chats/*.json", "*.json"),
}


@dataclass(frozen=True, slots=True)
class Detected:
    """What was recognised.

    Attributes:
        path: The file or folder as it was given.
        kind: What it is.
        files: The files to read.
    """

    path: str
    kind: TranscriptKind
    files: tuple[TranscriptFile, ...]


def detected(path: Path) -> Detected | None:
    """Return what a file or folder of conversations is; None where it is none.

    Raises:
        FormatError: It is not there, or cannot be read.
    """
    try:
        if path.is_dir():
            return _folder(path)
        if not path.is_file():
            raise FormatError(f"{path} is no file.", hint="Check the path.")
        kind = kind_of(path)
    except OSError as error:
        raise FormatError(f"{path} cannot be read: {error.strerror}.") from error
    return Detected(str(path), kind, _looked_at([path], kind, is_growing=False)) if kind else None


def program_files(folder: Path, kind: TranscriptKind) -> tuple[TranscriptFile, ...]:
    """Return a program's transcripts below its folder, sorted by path; none without a folder."""
    found = {path for pattern in _PATTERNS[kind] for path in folder.glob(pattern)}
    if kind is TranscriptKind.CLAUDE_CODE:
        found = {path for path in found if claude_code.is_transcript(path.relative_to(folder))}
    return _looked_at(found, kind, is_growing=True)


def is_transcript(path: Path, folder: Path, kind: TranscriptKind) -> bool:
    """Return whether a path below a program's folder is one of its transcripts."""
    if not path.is_relative_to(folder):
        return False
    inside = path.relative_to(folder)
    if kind is TranscriptKind.CLAUDE_CODE:
        return claude_code.is_transcript(inside)
    if kind is TranscriptKind.CODEX:
        return inside.suffix == ".jsonl"
    return inside.suffix == ".json" and inside.parent.name == "chats"


def _folder(folder: Path) -> Detected | None:
    """Return what a folder is: a program's own, one of its folders, or an unpacked export."""
    places = [(folder / name, kind) for name, kind in _OWN_FOLDERS.items()]
    places += [(folder, kind) for kind in _PATTERNS]
    for place, kind in places:
        files = program_files(place, kind) if place.is_dir() else ()
        if any(_is_of_kind(Path(file.path), kind) for file in files[:LOOKED_AT]):
            return Detected(str(folder), kind, files)
    export = folder / EXPORT_NAME
    if export.is_file() and kind_of(export) is TranscriptKind.EXPORT:
        files = _looked_at([export], TranscriptKind.EXPORT, is_growing=False)
        return Detected(str(folder), TranscriptKind.EXPORT, files)
    return None


def _is_of_kind(path: Path, kind: TranscriptKind) -> bool:
    """Return what a file of a folder is; one that cannot be read does not hide the others."""
    try:
        return kind_of(path) is kind
    except OSError:
        return False


def _looked_at(
    paths: Iterable[Path], kind: TranscriptKind, *, is_growing: bool
) -> tuple[TranscriptFile, ...]:
    files = (look(path, kind, is_growing=is_growing) for path in sorted(paths))
    return tuple(file for file in files if file is not None)


def look(path: Path, kind: TranscriptKind, *, is_growing: bool = True) -> TranscriptFile | None:
    """Return a file as it is now; None where it is gone, or has a name that is no text."""
    try:
        facts = path.stat()
        os.fspath(path).encode()
    except (OSError, UnicodeEncodeError):
        return None
    if not path.is_file():
        return None
    modified_at = datetime.fromtimestamp(facts.st_mtime, UTC).isoformat()
    return TranscriptFile(os.fspath(path), kind, facts.st_size, modified_at, is_growing=is_growing)


def kind_of(path: Path) -> TranscriptKind | None:
    """Return what a file is, by its beginning; None for anything else than conversations."""
    with path.open("rb") as file:
        head = file.read(HEAD_BYTES)
    if head.startswith(b"PK"):
        return TranscriptKind.EXPORT
    text = head.decode("utf-8-sig", "replace").lstrip()
    if text.startswith("["):
        return TranscriptKind.EXPORT if _is_export(text) else None
    if not text.startswith("{"):
        return None
    return _kind_of_lines(text, is_whole=len(head) < HEAD_BYTES) or _kind_of_object(text)


def _is_export(text: str) -> bool:
    """Return whether a JSON array begins with conversations; an empty one has none either way."""
    return '"chat_messages"' in text or '"mapping"' in text or text[1:].lstrip().startswith("]")


def _kind_of_object(text: str) -> TranscriptKind | None:
    if '"messages"' in text and ('"sessionId"' in text or '"projectHash"' in text):
        return TranscriptKind.GEMINI
    if '"conversations"' in text and _is_export(text):
        return TranscriptKind.EXPORT
    return None


def _kind_of_lines(text: str, *, is_whole: bool) -> TranscriptKind | None:
    lines = text.split("\n")
    complete = lines if is_whole or len(lines) == 1 else lines[:-1]
    for line in complete[:LOOKED_AT]:
        if (kind := _kind_of_line(line)) is not None:
            return kind
    return None


def _kind_of_line(line: str) -> TranscriptKind | None:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return _kind_of_cut_line(line)
    if not isinstance(value, dict):
        return None
    kind = value.get("type")
    if not isinstance(kind, str):
        is_old_rollout = "id" in value and "timestamp" in value and "instructions" in value
        return TranscriptKind.CODEX if is_old_rollout else None
    if kind in _CODEX_KINDS and ("payload" in value or "timestamp" in value):
        return TranscriptKind.CODEX
    if kind in _CLAUDE_KINDS and {"sessionId", "leafUuid", "messageId", "uuid"} & set(value):
        return TranscriptKind.CLAUDE_CODE
    return None


def _kind_of_cut_line(line: str) -> TranscriptKind | None:
    """Return what a line is that is longer than what was read of the file."""
    if len(line) < HEAD_BYTES // 2 or not line.startswith("{"):
        return None
    if '"payload":' in line[:2000]:
        return TranscriptKind.CODEX
    return TranscriptKind.CLAUDE_CODE if '"sessionId":' in line and '"uuid":' in line else None
