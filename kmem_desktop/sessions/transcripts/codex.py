"""Rollouts of Codex CLI: `sessions/YYYY/MM/DD/rollout-<time>-<id>.jsonl`.

Two logs are interleaved; `response_item` holds what the model exchanged, and only that is read.
What has no id of its own is known by its line, which never changes: a rollout is only appended to.

References:
    skillsynchq/txcript, docs/formats/codex.md; openai/codex, codex-rs/protocol.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, BinaryIO

from kmem_desktop.domain.importing import ImportProblem
from kmem_desktop.domain.sessions.conversations import ImportedSession, ImportedTurn, Role
from kmem_desktop.sessions.transcripts import contents
from kmem_desktop.sessions.transcripts.lines import Bookmark, json_lines

CLIENT = "Codex CLI"

_ROLES = {"user": Role.USER, "assistant": Role.ASSISTANT}
_CALLS = ("function_call", "custom_tool_call", "local_shell_call", "web_search_call")
_RESULTS = ("function_call_output", "custom_tool_call_output")
_SCAFFOLDING = (
    "<environment_context>",
    "<user_instructions>",
    "<permissions instructions>",
    "# AGENTS.md instructions",
    "<turn_aborted>",
)


@dataclass(slots=True)
class _Seen:
    session_id: str
    project: str = ""
    started_at: datetime | None = None
    facts: dict[str, Any] = field(default_factory=dict)
    other: Counter[str] = field(default_factory=Counter)

    def session(self) -> ImportedSession:
        metadata = {**self.facts, "other_lines": dict(self.other.most_common(40))}
        return ImportedSession(
            source_id=self.session_id,
            client=CLIENT,
            project=self.project,
            started_at=self.started_at,
            metadata=contents.fitting(metadata),
        )


def read(
    file: BinaryIO, name: str, bookmark: Bookmark | None = None, *, is_growing: bool = True
) -> Iterator[ImportedSession | ImportedTurn | ImportProblem]:
    """Read a rollout: its session before its first turn, and again at the end, when all is known.

    Args:
        file: Open for reading in binary.
        name: The file's name without its ending, `rollout-2026-08-10T13-02-51-<id>`; its last 36
            characters are the session's id, should no line name it, as in what was added later.
        bookmark: Where to begin; moved along, so that the next call reads only what was added.
        is_growing: Whether Codex may be writing: then a cut last line waits for the next call.
    """
    seen = _Seen(session_id=contents.identifier(name[-36:]) or "unnamed")
    known: ImportedSession | None = None
    for line in json_lines(file, bookmark or Bookmark(), is_growing=is_growing):
        if isinstance(line, ImportProblem):
            yield line
            continue
        turn = _turn(line.number, line.value, seen)
        if turn is None:
            continue
        if known is None:
            known = seen.session()
            yield known
        yield turn
    last = seen.session()
    if known is not None and last != known:
        yield last


def _turn(number: int, value: dict[str, Any], seen: _Seen) -> ImportedTurn | None:
    payload = value.get("payload")
    kind = value.get("type")
    if kind in ("session_meta", "turn_context") and isinstance(payload, dict):
        _note_facts(str(kind), payload, seen)
        return None
    if kind == "response_item" and isinstance(payload, dict):
        return _item(number, payload, value.get("timestamp"), seen)
    if "payload" not in value and ("role" in value or kind in (*_CALLS, *_RESULTS)):
        return _item(number, value, value.get("timestamp"), seen)  # rollouts before September 2025
    if "payload" not in value and "id" in value and "timestamp" in value:
        _note_facts("session_meta", value, seen)
        return None
    seen.other[str(kind)[:40]] += 1
    return None


def _note_facts(kind: str, payload: dict[str, Any], seen: _Seen) -> None:
    if kind == "session_meta":
        seen.session_id = contents.identifier(payload.get("id")) or seen.session_id
        seen.started_at = contents.time(payload.get("timestamp")) or seen.started_at
    git = payload.get("git")
    facts = {
        "cwd": contents.title(payload.get("cwd")),
        "version": contents.title(payload.get("cli_version")),
        "model": contents.title(payload.get("model")),
        "git_branch": contents.title(git.get("branch")) if isinstance(git, dict) else "",
    }
    for key, text in facts.items():
        if text:
            seen.facts.setdefault(key, text)
    seen.project = seen.project or contents.project_of(payload.get("cwd"))


def _item(number: int, payload: dict[str, Any], timestamp: Any, seen: _Seen) -> ImportedTurn | None:
    kind = payload.get("type", "message")
    if kind == "message":
        text = contents.plain(payload.get("content"))
        role = _ROLES.get(str(payload.get("role")), Role.SYSTEM)
        if role is Role.USER and text.lstrip().startswith(_SCAFFOLDING):
            role = Role.SYSTEM
        more: dict[str, Any] = {}
    elif kind in _CALLS:
        asked = next(
            (payload[key] for key in ("arguments", "input", "action") if key in payload), ""
        )
        name = contents.title(payload.get("name")) or str(kind)
        role, text = Role.TOOL, contents.tool_call(name, asked)
        more = {
            "kind": "tool_use",
            "tool": name,
            "call": contents.identifier(payload.get("call_id")),
        }
    elif kind in _RESULTS:
        role, text = Role.TOOL, contents.tool_result(payload.get("output"))
        more = {"kind": "tool_result", "call": contents.identifier(payload.get("call_id"))}
    else:
        seen.other[str(kind)[:40]] += 1
        return None
    if not text.strip():
        return None
    return ImportedTurn(
        session_id=seen.session_id,
        source_id=contents.identifier(payload.get("id")) or f"line {number}",
        role=role,
        text=text,
        at=contents.time(timestamp),
        metadata=contents.fitting(more),
    )
