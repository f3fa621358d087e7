"""Exports of chat services: read as streams, whatever is in them."""

import contextlib
import io
import json
import tracemalloc
import zipfile
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest

from kmem_desktop.domain.importing import ImportProblem
from kmem_desktop.domain.sessions.conversations import ImportedSession, ImportedTurn, Role
from kmem_desktop.errors import FormatError
from kmem_desktop.sessions.transcripts import json_stream
from kmem_desktop.sessions.transcripts.exports import read_export, read_gemini_chat

CLAUDE = {
    "uuid": "c-1",
    "name": "Invoices",
    "created_at": "2025-01-05T20:55:32.499880+00:00",
    "chat_messages": [
        {
            "uuid": "m-1",
            "sender": "human",
            "text": "What is in it?",
            "created_at": "2025-01-05T20:55:33Z",
            "content": [{"type": "text", "text": "What is in it?"}],
            "attachments": [{"file_name": "a.txt", "extracted_content": "forty crates"}],
            "files": [{"file_name": "b.png"}],
        },
        {"uuid": "m-2", "sender": "assistant", "text": "Forty crates.", "content": []},
        {"uuid": "m-3", "sender": "assistant", "text": ""},
    ],
}


def node(name: str, parent: str | None, message: Any) -> dict[str, Any]:
    return {"id": name, "parent": parent, "children": [], "message": message}


def message(role: str, *parts: Any, **more: Any) -> dict[str, Any]:
    return {
        "id": f"m-{role}-{parts[0] if parts else ''}",
        "author": {"role": role},
        "create_time": 1736616594.24,
        "content": {"content_type": "text", "parts": list(parts)},
        **more,
    }


CHATGPT = {
    "id": "g-1",
    "title": "A tree",
    "create_time": 1736616594.24,
    "current_node": "d",
    "mapping": {
        "root": node("root", None, None),
        "hidden": node(
            "hidden",
            "root",
            message("system", "x", metadata={"is_visually_hidden_from_conversation": True}),
        ),
        "a": node("a", "hidden", message("user", "first", {"content_type": "image_asset_pointer"})),
        "b": node("b", "a", message("assistant", "thrown away")),
        "c": node("c", "a", message("assistant", "kept")),
        "d": node(
            "d",
            "c",
            {
                "id": "m-code",
                "author": {"role": "assistant"},
                "content": {"content_type": "code", "language": "python", "text": "x = 1"},
            },
        ),
    },
}


def archive(names: dict[str, bytes]) -> io.BytesIO:
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, data in names.items():
            packed.writestr(name, data)
    target.seek(0)
    return target


def read(value: Any) -> list[Any]:
    return list(read_export(io.BytesIO(json.dumps(value).encode())))


def test_an_export_of_claude_becomes_sessions_with_their_turns() -> None:
    session, *turns = read([CLAUDE])
    assert (session.source_id, session.client, session.title) == ("c-1", "claude.ai", "Invoices")
    assert session.started_at == datetime(2025, 1, 5, 20, 55, 32, 499880, tzinfo=UTC)
    assert [(t.source_id, t.role, t.text) for t in turns] == [
        ("m-1", Role.USER, "What is in it?\n[attachment a.txt]\nforty crates"),
        ("m-2", Role.ASSISTANT, "Forty crates."),
    ]
    assert turns[0].metadata == {"files": ["a.txt", "b.png"]}


def test_of_chatgpts_tree_the_branch_last_seen_is_read() -> None:
    session, *turns = read([CHATGPT])
    assert (session.source_id, session.client, session.title) == ("g-1", "ChatGPT", "A tree")
    assert [(t.role, t.text) for t in turns] == [
        (Role.USER, "first\n[image]"),
        (Role.ASSISTANT, "kept"),
        (Role.ASSISTANT, "```python\nx = 1\n```"),
    ]


def test_a_tree_without_a_current_node_or_with_a_loop_ends() -> None:
    lost = {**CHATGPT, "current_node": "nowhere"}
    assert [t.text for t in read([lost]) if isinstance(t, ImportedTurn)][-1].startswith("```")
    loop = {
        **CHATGPT,
        "current_node": "a",
        "mapping": {"a": node("a", "b", message("user", "1")), "b": node("b", "a", None)},
    }
    assert [t.text for t in read([loop]) if isinstance(t, ImportedTurn)] == ["1"]


def test_both_kinds_may_stand_in_one_file_and_what_is_neither_is_reported() -> None:
    found = read([CLAUDE, {"a": 1}, CHATGPT, 7])
    assert [s.client for s in found if isinstance(s, ImportedSession)] == ["claude.ai", "ChatGPT"]
    assert [p.line for p in found if isinstance(p, ImportProblem)] == [2, 4]


def test_an_export_is_read_out_of_its_archive_by_name() -> None:
    data = json.dumps([CLAUDE]).encode()
    for name in (
        "conversations.json",
        "../../etc/conversations.json",
        "data/conversations-001.json",
    ):
        found = list(read_export(archive({"users.json": b"[]", name: data})))
        assert isinstance(found[0], ImportedSession)


@pytest.mark.parametrize("names", [{}, {"big.md": b"0" * 3_000_000}, {"../evil.txt": b"x"}])
def test_an_archive_without_conversations_is_refused(names: dict[str, bytes]) -> None:
    with pytest.raises(FormatError, match=r"no conversations\.json"):
        list(read_export(archive(names)))


def test_an_archive_that_unpacks_to_far_too_much_is_given_up() -> None:
    bomb = archive({"conversations.json": b"[" + b'"' + b"0" * 60_000_000 + b'"]'})
    with pytest.raises(FormatError, match="far more"):
        list(read_export(bomb))


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_LZMA])
def test_a_damaged_archive_is_refused_wherever_it_is_damaged(method: int) -> None:
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", method) as packed:
        packed.writestr("conversations.json", json.dumps([CLAUDE]))
    whole = target.getvalue()
    refused = 0
    for place in range(2, len(whole)):
        damaged = whole[:place] + bytes([whole[place] ^ 0xFF]) + whole[place + 1 :]
        with contextlib.suppress(FormatError):
            assert list(read_export(io.BytesIO(damaged)))
            continue
        refused += 1
    assert refused > len(whole) // 3


@pytest.mark.parametrize("data", [b"", b"hello", b"\xff\xfe", b"PK\x03\x04broken", b"7"])
def test_what_is_no_export_is_refused(data: bytes) -> None:
    with pytest.raises(FormatError):
        list(read_export(io.BytesIO(data)))


def test_a_cut_export_gives_what_was_complete_and_a_report() -> None:
    data = json.dumps([CLAUDE, CHATGPT]).encode()
    found = list(read_export(io.BytesIO(data[:-200])))
    assert [s.client for s in found if isinstance(s, ImportedSession)] == ["claude.ai"]
    assert any(isinstance(each, ImportProblem) for each in found)


def test_a_broken_conversation_does_not_hide_the_next_one() -> None:
    data = b"[" + json.dumps(CLAUDE).encode() + b', {"a": nonsense, "b": "}"}, '
    data += json.dumps(CHATGPT).encode() + b"]"
    found = list(read_export(io.BytesIO(data)))
    assert [s.client for s in found if isinstance(s, ImportedSession)] == ["claude.ai", "ChatGPT"]
    assert [p.line for p in found if isinstance(p, ImportProblem)] == [2]


@pytest.mark.parametrize("chunk", [1, 2, 3, 7, 64])
def test_where_a_file_is_cut_into_chunks_makes_no_difference(
    chunk: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    values = [1, -2.5e10, 'a\\"b\u00e9\U0001f600', [1, [2]], {"k": {"}": "]"}}, True, None, 12345]
    monkeypatch.setattr(json_stream, "CHUNK_BYTES", chunk)
    data = json.dumps(values, ensure_ascii=False).encode()
    assert list(json_stream.members(io.BytesIO(data))) == [("", value) for value in values]


def test_the_members_of_an_object_are_read_and_chosen_arrays_as_streams() -> None:
    data = json.dumps({"a": 1, "list": [1, 2], "b": {"list": [3]}}).encode()
    assert list(json_stream.members(io.BytesIO(data), frozenset({"list"}))) == [
        ("a", 1),
        ("list", 1),
        ("list", 2),
        ("b", {"list": [3]}),
    ]


class Endless(io.RawIOBase):
    """A file of many conversations that exists only while it is read."""

    def __init__(self, count: int) -> None:
        super().__init__()
        self._parts = self._made(count)
        self._rest = b""

    @staticmethod
    def _made(count: int) -> Iterator[bytes]:
        body = json.dumps({**CLAUDE, "name": "word " * 20_000}).encode()
        yield b"["
        for number in range(count):
            yield (b"," if number else b"") + body
        yield b"]"

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = 0) -> int:
        return offset

    def read(self, size: int = -1) -> bytes:
        if size == 2:
            return b"[ "
        while len(self._rest) < size and (part := next(self._parts, b"")):
            self._rest += part
        found, self._rest = self._rest[:size], self._rest[size:]
        return found


def test_memory_does_not_grow_with_the_file() -> None:
    peaks = []
    for count in (20, 200):
        tracemalloc.start()
        sessions = sum(isinstance(f, ImportedSession) for f in read_export(Endless(count)))  # type: ignore[arg-type]
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
        assert sessions == count
    assert peaks[1] < peaks[0] * 1.5


def test_a_chat_of_gemini_cli_becomes_a_session_and_its_turns() -> None:
    chat = {
        "sessionId": "s-1",
        "projectHash": "abc",
        "startTime": "2026-03-01T10:00:00Z",
        "messages": [
            {"id": "1", "timestamp": "2026-03-01T10:00:01Z", "type": "user", "content": "List it."},
            {
                "id": "2",
                "type": "gemini",
                "content": [{"text": "Here it is."}],
                "toolCalls": [{"name": "ls", "args": {"path": "."}, "resultDisplay": "a.py"}],
            },
            {"id": "3", "type": "info", "content": "Request cancelled."},
            7,
        ],
    }
    session, *turns = read_gemini_chat(io.BytesIO(json.dumps(chat).encode()), "session-x")
    assert isinstance(session, ImportedSession)
    assert (session.source_id, session.client) == ("s-1", "Gemini CLI")
    assert [(t.source_id, t.role, t.text) for t in turns if isinstance(t, ImportedTurn)] == [
        ("1", Role.USER, "List it."),
        ("2", Role.ASSISTANT, "Here it is."),
        ("2#1", Role.TOOL, 'ls: {"path": "."}\na.py'),
        ("3", Role.SYSTEM, "Request cancelled."),
    ]
