"""Transcripts of Claude Code: `projects/<folder>/<session>.jsonl`, which it deletes after a month.

The format is officially unstable, so nothing is relied on but that a line is an object: what is not
known is counted and kept as metadata of the session.

References:
    skillsynchq/txcript, docs/formats/claude-code.md (verified 2026-08-10);
    Anthropic, "Manage sessions" (storage, `cleanupPeriodDays`).
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import PurePath
from typing import Any, BinaryIO

from kmem_desktop.domain.importing import ImportProblem
from kmem_desktop.domain.sessions.conversations import ImportedSession, ImportedTurn, Role
from kmem_desktop.sessions.transcripts import contents
from kmem_desktop.sessions.transcripts.lines import Bookmark, Line, json_lines

CLIENT = "Claude Code"
RETENTION_DAYS = 30
"""Claude Code deletes transcripts that were not written to for so long (`cleanupPeriodDays`)."""
SIDE_FOLDERS = frozenset({"subagents", "tool-results", "workflows"})

_TITLES = {
    "summary": ("summary", 0),
    "ai-title": ("title", 1),
    "agent-name": ("agentName", 2),
    "custom-title": ("customTitle", 3),
}
TITLE_RANK = "title_rank"
"""In a session's metadata: how much its title counts, should another one be read later."""
_TITLE_KEYS = ("title", "name", "summary", "aiTitle")
_KEPT_KINDS = 40


def is_transcript(path: PurePath) -> bool:
    """Return whether a file below `projects` is a conversation of its own."""
    return path.suffix == ".jsonl" and not SIDE_FOLDERS & set(path.parts)


@dataclass(frozen=True, slots=True)
class TranscriptFile:
    """A transcript on the disk: where it is, and when it was last written to."""

    path: PurePath
    modified_at: datetime


def expires_soon(
    files: Iterable[TranscriptFile],
    now: datetime,
    retention_days: int = RETENTION_DAYS,
    within_days: int = 7,
) -> list[TranscriptFile]:
    """Return the transcripts that Claude Code deletes within the next days, the first to go first.

    Those that are over their time are among them: they go when Claude Code starts next.
    """
    limit = now + timedelta(days=within_days) - timedelta(days=retention_days)
    soon = [file for file in files if file.modified_at <= limit]
    return sorted(soon, key=lambda file: file.modified_at)


@dataclass(slots=True)
class _Seen:
    """What is known of the session while its file is read."""

    fallback_id: str
    session_id: str = ""
    project: str = ""
    title: str = ""
    title_rank: int = -1
    started_at: datetime | None = None
    facts: dict[str, Any] = field(default_factory=dict)
    other: Counter[str] = field(default_factory=Counter)

    def session(self) -> ImportedSession:
        """Return the session as it is known by now."""
        metadata = {**self.facts, "other_lines": dict(self.other.most_common(_KEPT_KINDS))}
        return ImportedSession(
            source_id=self.session_id or self.fallback_id,
            client=CLIENT,
            title=self.title,
            project=self.project,
            started_at=self.started_at,
            metadata=contents.fitting(metadata),
        )


def read(
    file: BinaryIO, name: str, bookmark: Bookmark | None = None, *, is_growing: bool = True
) -> Iterator[ImportedSession | ImportedTurn | ImportProblem]:
    """Read a transcript: its session before its first turn, and once more when all is known.

    Args:
        file: Open for reading in binary.
        name: The file's name without its ending: the session's id, should no line name it.
        bookmark: Where to begin; moved along, so that the next call reads only what was added.
        is_growing: Whether Claude Code may be writing: then a cut last line waits.
    """
    seen = _Seen(fallback_id=contents.identifier(name) or "unnamed")
    known: ImportedSession | None = None
    is_read_on = bookmark is not None and bookmark.offset_bytes > 0
    for line in json_lines(file, bookmark or Bookmark(), is_growing=is_growing):
        if isinstance(line, ImportProblem):
            yield line
            continue
        turns = list(_turns(line, seen))
        if turns and (known is None or known.source_id != turns[0].session_id):
            known = seen.session()
            yield known
        yield from turns
    last = seen.session()
    # Lines of other kinds alone are no conversation, but may carry its title, or belong to one.
    is_of_session = known is not None or seen.session_id or seen.title or is_read_on
    if last != known and is_of_session:
        yield last


def _turns(line: Line, seen: _Seen) -> Iterator[ImportedTurn]:
    value = line.value
    kind = str(value.get("type"))
    if kind in _TITLES:
        _note_title(value, kind, seen)
    elif kind in ("user", "assistant", "system"):
        _note_facts(value, seen)
        yield from _spoken(line, kind, seen)
    else:
        seen.other[kind[:40]] += 1


def _note_title(value: dict[str, Any], kind: str, seen: _Seen) -> None:
    key, rank = _TITLES[kind]
    found = next((t for k in (key, *_TITLE_KEYS) if (t := contents.title(value.get(k)))), "")
    # Of names for this very session the last one counts; summaries may be of earlier ones.
    if found and (rank > seen.title_rank or rank == seen.title_rank > 0):
        seen.title, seen.title_rank = found, rank
        seen.facts[TITLE_RANK] = rank


def _note_facts(value: dict[str, Any], seen: _Seen) -> None:
    session_id = contents.identifier(value.get("sessionId"))
    seen.session_id = session_id or seen.session_id
    if folder := contents.title(value.get("cwd")):
        seen.project = seen.project or contents.project_of(value.get("cwd"))
        seen.facts.setdefault("cwd", folder)
    for key, name in (("gitBranch", "git_branch"), ("version", "version")):
        if text := contents.title(value.get(key)):
            seen.facts.setdefault(name, text)
    at = contents.time(value.get("timestamp"))
    if at is not None and (seen.started_at is None or at < seen.started_at):
        seen.started_at = at


def _spoken(line: Line, kind: str, seen: _Seen) -> Iterator[ImportedTurn]:
    """Yield the turns of a line: what was said, and each call or result of a tool by itself."""
    value = line.value
    message = value.get("message")
    content = message.get("content") if isinstance(message, dict) else value.get("content")
    source_id = contents.identifier(value.get("uuid")) or f"line {line.number}"
    facts = {
        "parent": contents.identifier(value.get("parentUuid")),
        "sidechain": value.get("isSidechain") is True,
        "model": contents.title(message.get("model")) if isinstance(message, dict) else "",
        "subtype": contents.title(value.get("subtype")),
    }
    for number, (role, text, more) in enumerate(_parts(value, kind, content)):
        yield ImportedTurn(
            session_id=seen.session_id or seen.fallback_id,
            source_id=f"{source_id}#{number}" if number else source_id,
            role=role,
            text=text,
            at=contents.time(value.get("timestamp")),
            metadata=contents.fitting({**facts, **more}),
        )


def _parts(
    value: dict[str, Any], kind: str, content: Any
) -> Iterator[tuple[Role, str, dict[str, Any]]]:
    """Yield the parts of a message: runs of text as one, tools each for itself."""
    is_aside = value.get("isMeta") is True or value.get("isCompactSummary") is True
    role = Role.SYSTEM if is_aside else Role(kind)
    texts: list[str] = []
    unknown: list[str] = []
    tools: list[tuple[Role, str, dict[str, Any]]] = []
    for block in contents.blocks(content):
        if block.kind == "text":
            texts.append(block.text)
        elif block.kind in ("tool_use", "tool_result"):
            more = {
                "kind": block.kind,
                "tool": block.name,
                "call": block.id,
                "error": block.is_error,
            }
            tools.append((Role.TOOL, block.text, more))
        else:
            unknown.append(block.kind)
    text = "\n".join(text for text in texts if text.strip())
    more = {"other_blocks": sorted(set(unknown))}
    if text:
        yield role, text, more
    for part in tools:
        if part[1].strip():
            yield part
