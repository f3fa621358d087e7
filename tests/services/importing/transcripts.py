"""Short ways to write the files that other programs keep conversations in."""

import json
import os
import zipfile
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from kmem_desktop.bootstrap import Services
from kmem_desktop.domain.changes import Origin, OriginKind
from kmem_desktop.store.connection import Connection

YOU = Origin(OriginKind.WINDOW, "You")
START = datetime(2026, 8, 10, 12, tzinfo=UTC)
SECRET = "ghp_" + "aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5"


def said(session: str, number: int, text: str, kind: str = "", **more: Any) -> dict[str, Any]:
    """Return a line of Claude Code: a turn, of the user where its number is even."""
    kind = kind or ("assistant" if number % 2 else "user")
    return {
        "type": kind,
        "uuid": f"{session}-{number}",
        "parentUuid": f"{session}-{number - 1}" if number else None,
        "sessionId": session,
        "timestamp": (START + timedelta(minutes=number)).isoformat(),
        "cwd": "/home/ann/src/billing",
        "gitBranch": "main",
        "version": "2.1.230",
        "message": {"role": kind, "content": text},
        **more,
    }


def conversation(session: str, count: int) -> list[dict[str, Any]]:
    """Return the lines of a conversation of so many turns."""
    return [said(session, n, f"Turn {n} of {session} is about word{n}.") for n in range(count)]


def write_lines(file: Path, lines: Iterable[Any], mode: str = "w") -> Path:
    """Write a JSON-lines file."""
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open(mode, encoding="utf-8") as stream:
        stream.writelines(json.dumps(line) + "\n" for line in lines)
    return file


def claude_projects(folder: Path, *sessions: tuple[str, int]) -> Path:
    """Write transcripts of Claude Code, given as (session, turns); return their folder."""
    projects = folder / "projects"
    for session, count in sessions:
        write_lines(projects / "-home-ann-src" / f"{session}.jsonl", conversation(session, count))
    return projects


def rollout(folder: Path, session: str, texts: Sequence[str]) -> Path:
    """Write a rollout of Codex."""
    lines: list[dict[str, Any]] = [
        {
            "timestamp": START.isoformat(),
            "type": "session_meta",
            "payload": {"id": session, "timestamp": START.isoformat(), "cwd": "/home/ann/tool"},
        }
    ]
    lines += [
        {
            "timestamp": START.isoformat(),
            "type": "response_item",
            "payload": {
                "type": "message",
                "role": "assistant" if number % 2 else "user",
                "content": [{"type": "input_text", "text": text}],
            },
        }
        for number, text in enumerate(texts)
    ]
    name = f"rollout-2026-08-10T12-00-00-{session}.jsonl"
    return write_lines(folder / "sessions" / "2026" / "08" / "10" / name, lines)


def gemini_chat(folder: Path, session: str, texts: Sequence[str]) -> Path:
    """Write a chat of Gemini CLI."""
    file = folder / "tmp" / "abc123" / "chats" / f"session-{session}.json"
    file.parent.mkdir(parents=True, exist_ok=True)
    messages = [
        {"id": f"m{number}", "timestamp": START.isoformat(), "type": kind, "content": text}
        for number, text in enumerate(texts)
        for kind in [("user", "gemini")[number % 2]]
    ]
    chat = {"sessionId": session, "startTime": START.isoformat(), "messages": messages}
    file.write_text(json.dumps(chat), encoding="utf-8")
    return file


def claude_export(file: Path, *sessions: tuple[str, int]) -> Path:
    """Write an export of claude.ai, as zip where the name says so."""
    conversations = [
        {
            "uuid": session,
            "name": f"Chat {session}",
            "created_at": START.isoformat(),
            "chat_messages": [
                {
                    "uuid": f"{session}-{n}",
                    "sender": ("human", "assistant")[n % 2],
                    "created_at": START.isoformat(),
                    "text": f"Message {n} of {session}.",
                }
                for n in range(count)
            ],
        }
        for session, count in sessions
    ]
    if file.suffix == ".zip":
        with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("conversations.json", json.dumps(conversations))
    else:
        file.write_text(json.dumps(conversations), encoding="utf-8")
    return file


def chatgpt_export(file: Path, title: str, texts: Sequence[str]) -> Path:
    """Write an export of ChatGPT with one conversation."""
    mapping: dict[str, Any] = {"n0": {"id": "n0", "parent": None, "message": None}}
    for number, text in enumerate(texts, 1):
        mapping[f"n{number}"] = {
            "id": f"n{number}",
            "parent": f"n{number - 1}",
            "message": {
                "id": f"m{number}",
                "author": {"role": "user" if number % 2 else "assistant"},
                "create_time": START.timestamp() + number,
                "content": {"content_type": "text", "parts": [text]},
            },
        }
    value = {"id": "gpt", "title": title, "current_node": f"n{len(texts)}", "mapping": mapping}
    file.write_text(json.dumps([value]), encoding="utf-8")
    return file


def grow(file: Path, lines: Iterable[Any]) -> None:
    """Add lines to a file, as its program does."""
    write_lines(file, lines, "a")


def set_age(file: Path, days: float) -> None:
    """Let a file be so many days old."""
    at = (datetime.now(UTC) - timedelta(days=days)).timestamp()
    os.utime(file, (at, at))


async def rows_of(services: Services, query: str, *values: Any) -> list[tuple[Any, ...]]:
    """Return rows of the database itself."""

    def work(connection: Connection) -> list[tuple[Any, ...]]:
        return list(connection.execute(query, values))

    return await services.transcripts._database.read(work)


async def turns_of(services: Services, source_id: str) -> list[tuple[Any, ...]]:
    """Return position and text of a session's turns."""
    return await rows_of(
        services,
        "SELECT t.position, d.body FROM turns AS t JOIN documents AS d USING (id)"
        " JOIN sessions AS s ON s.id = t.session_id WHERE s.source_id = ? ORDER BY t.position",
        source_id,
    )


async def content_of(services: Services) -> dict[str, list[tuple[Any, ...]]]:
    """Return everything that imports write, but for ids and times of their own."""
    queries = {
        "sessions": "SELECT source, source_id, title, project, tags, status, client, created_at,"
        " last_active, entry_count, token_count, metadata FROM sessions ORDER BY source, source_id",
        "turns": "SELECT s.source_id, t.position, t.role, t.at, t.token_count, t.metadata,"
        " t.source_id, d.body, d.context, d.hidden_words, d.text_hash, d.scope, d.stored_by,"
        " d.updated_at FROM turns AS t JOIN documents AS d USING (id)"
        " JOIN sessions AS s ON s.id = t.session_id ORDER BY s.source_id, t.position",
    }
    found = {name: await rows_of(services, query) for name, query in queries.items()}
    found["sessions"] = [
        (*row[:-1], json.loads(row[-1]) if row[-1] else None) for row in found["sessions"]
    ]
    return found


async def is_sound(services: Services) -> bool:
    """Return whether index and documents say the same, and sessions count their turns rightly."""
    wrong = await rows_of(
        services,
        "SELECT s.id FROM sessions AS s LEFT JOIN turns AS t ON t.session_id = s.id GROUP BY s.id"
        " HAVING s.entry_count <> count(t.id) OR s.token_count <> coalesce(sum(t.token_count), 0)"
        " OR coalesce(max(t.position) + 1, 0) <> count(t.id)",
    )
    health = await services.maintenance.check()
    return not wrong and health.is_whole
