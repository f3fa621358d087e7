"""Transcripts that grow, of programs whose formats change: nothing is lost, nothing raises."""

import io
import json
from datetime import UTC, datetime, timedelta
from pathlib import PurePosixPath
from typing import Any

import pytest

from kmem_desktop.domain.importing import ImportProblem
from kmem_desktop.domain.sessions.conversations import ImportedSession, ImportedTurn, Role
from kmem_desktop.sessions.secrets import redact
from kmem_desktop.sessions.transcripts import claude_code, codex
from kmem_desktop.sessions.transcripts.lines import Bookmark
from tests.server.corpora import corpora
from tests.sessions.fakes import fakes

SESSION = "3f2a0000-0000-4000-8000-000000000000"
NOW = datetime(2026, 11, 22, tzinfo=UTC)


def line(kind: str, uuid: str, content: Any, **more: Any) -> dict[str, Any]:
    return {
        "type": kind,
        "uuid": uuid,
        "parentUuid": None,
        "sessionId": SESSION,
        "timestamp": "2026-08-10T12:00:00.000Z",
        "cwd": "/home/ann/src/billing",
        "gitBranch": "main",
        "version": "2.1.230",
        "message": {"role": kind, "content": content},
        **more,
    }


TRANSCRIPT = [
    line("user", "a1", "Add a search to the list of invoices."),
    line(
        "assistant",
        "a2",
        [
            {"type": "thinking", "thinking": "hm", "signature": "x"},
            {"type": "text", "text": "Reading the list first."},
            {"type": "tool_use", "id": "toolu_1", "name": "Read", "input": {"file_path": "/a.py"}},
        ],
    ),
    line(
        "user",
        "a3",
        [
            {
                "type": "tool_result",
                "tool_use_id": "toolu_1",
                "content": [{"type": "text", "text": "x = 1"}],
            }
        ],
    ),
    {"type": "file-history-snapshot", "messageId": "m", "snapshot": {}},
    {"type": "summary", "summary": "Search in invoices", "leafUuid": "a2"},
    line("user", "a4", "<caveat>", isMeta=True),
]


def packed(*objects: Any) -> bytes:
    return b"".join(json.dumps(each).encode() + b"\n" for each in objects)


def read(data: bytes, bookmark: Bookmark | None = None, **more: Any) -> list[Any]:
    return list(claude_code.read(io.BytesIO(data), "file-name", bookmark, **more))


def turns_of(found: list[Any]) -> list[ImportedTurn]:
    return [each for each in found if isinstance(each, ImportedTurn)]


def test_a_transcript_becomes_a_session_and_its_turns() -> None:
    found = read(packed(*TRANSCRIPT))
    session = found[0]
    assert isinstance(session, ImportedSession)
    assert (session.source_id, session.client) == (SESSION, "Claude Code")
    assert (session.project, session.started_at) == (
        "billing",
        datetime(2026, 8, 10, 12, tzinfo=UTC),
    )
    assert [(turn.source_id, turn.role, turn.text) for turn in turns_of(found)] == [
        ("a1", Role.USER, "Add a search to the list of invoices."),
        ("a2", Role.ASSISTANT, "Reading the list first."),
        ("a2#1", Role.TOOL, 'Read: {"file_path": "/a.py"}'),
        ("a3", Role.TOOL, "x = 1"),
        ("a4", Role.SYSTEM, "<caveat>"),
    ]


def test_the_title_and_what_is_unknown_come_with_the_session_at_the_end() -> None:
    last = read(packed(*TRANSCRIPT))[-1]
    assert isinstance(last, ImportedSession)
    assert last.title == "Search in invoices"
    assert last.metadata is not None
    assert last.metadata["other_lines"] == {"file-history-snapshot": 1}
    assert last.metadata["git_branch"] == "main"


def test_a_title_that_a_person_gave_is_preferred() -> None:
    found = read(
        packed(
            *TRANSCRIPT,
            {"type": "custom-title", "customTitle": "Mine"},
            {"type": "summary", "summary": "x"},
        )
    )
    assert found[-1].title == "Mine"


def test_only_what_was_added_is_read_the_next_time() -> None:
    bookmark = Bookmark()
    first = packed(*TRANSCRIPT[:2])
    assert len(turns_of(read(first, bookmark))) == 3
    found = read(first + packed(line("user", "a9", "And sort it.")), bookmark)
    assert [turn.source_id for turn in turns_of(found)] == ["a9"]
    assert bookmark.line == 3


def test_a_line_that_is_being_written_waits() -> None:
    data = packed(TRANSCRIPT[0])
    cut = packed(line("user", "a9", "And sort it."))
    bookmark = Bookmark()
    assert len(turns_of(read(data + cut[:40], bookmark))) == 1
    assert bookmark.offset_bytes == len(data)
    found = read(data + cut, bookmark)
    assert [turn.source_id for turn in turns_of(found)] == ["a9"]


def test_a_cut_last_line_of_a_file_that_is_complete_is_reported() -> None:
    found = read(packed(TRANSCRIPT[0]) + b'{"type": "us', is_growing=False)
    (problem,) = [each for each in found if isinstance(each, ImportProblem)]
    assert problem.line == 2


def test_a_file_that_became_shorter_is_read_again() -> None:
    bookmark = Bookmark(offset_bytes=10**6, line=400)
    found = read(packed(*TRANSCRIPT[:1]), bookmark)
    assert [turn.source_id for turn in turns_of(found)] == ["a1"]
    assert bookmark.line == 1


@pytest.mark.parametrize(
    "bad",
    [
        b"not json\n",
        b'{"type": "user", "message": 7}\n',
        b'{"type": "user", "message": {"content": {"a": 1}}}\n',
        b'{"type": ["user"]}\n',
        b"[1]\n",
        b"null\n",
        b"\xff\xfe\n",
        b'{"type": "user", "uuid": 1234567890123456789012345678, "message": {"content": "x"}}\n',
        b'{"type": "user", "timestamp": 1e400, "message": {"content": NaN}}\n',
        b'{"type": "user", "message": {"content": "\\ud800 lone"}}\n',
        b'{"type": "assistant", "message": {"content": [7, null, {"type": "tool_use"}]}}\n',
        b"[" * 100_000 + b"\n",
        b"\0\0\0\n",
    ],
)
def test_a_broken_line_is_never_raised_and_the_others_are_read(bad: bytes) -> None:
    found = read(packed(TRANSCRIPT[0]) + bad + packed(line("user", "z", "after")))
    texts = [turn.text for turn in turns_of(found)]
    assert texts[0].startswith("Add a search")
    assert texts[-1] == "after"
    for turn in turns_of(found):
        turn.text.encode("utf-8")


@pytest.mark.parametrize(
    "at", ["9999-12-31T23:59:59Z", "0001-01-01T00:00:00+14:00", -62135596800, "now"]
)
def test_a_time_that_no_clock_can_show_everywhere_is_none(at: object) -> None:
    found = turns_of(read(packed({**line("user", "z", "said"), "timestamp": at})))
    assert [(turn.text, turn.at) for turn in found] == [("said", None)]


def test_broken_lines_are_reported_with_their_number() -> None:
    found = read(packed(TRANSCRIPT[0]) + b"oops\n\n\n[1]\n")
    problems = [(p.line, p.message) for p in found if isinstance(p, ImportProblem)]
    assert problems == [(2, "not valid JSON (cut off?)"), (5, "not an object")]


def test_hostile_files_of_the_corpora_are_read_without_an_error() -> None:
    for path in sorted((corpora() / "bad-input" / "files").iterdir()):
        for reader in (claude_code.read, codex.read):
            with path.open("rb") as file:
                for found in reader(file, path.stem, is_growing=False):
                    assert isinstance(found, ImportedSession | ImportedTurn | ImportProblem)


def test_a_long_tool_result_is_shortened_and_says_so() -> None:
    content = [{"type": "tool_result", "tool_use_id": "t", "content": "y" * 50_000}]
    (turn,) = turns_of(read(packed(line("user", "a", content))))
    assert len(turn.text) <= 2_000
    assert "characters cut" in turn.text


@pytest.mark.parametrize("lengths_from_end", [0.25, 0.5, 0.75])
@pytest.mark.parametrize("behind", [1_290, 50_000 - 640])
def test_where_a_long_text_is_cut_no_half_of_a_secret_stays(
    behind: int, lengths_from_end: float
) -> None:
    for kind, secret, said in fakes():
        sentence = said.replace("{}", secret)
        start = behind - round(len(sentence) * lengths_from_end)
        text = ("y " * 25_000)[:start] + f" {sentence}\n" + "z " * 25_000
        text = text[:50_000]
        content = [{"type": "tool_result", "tool_use_id": "t", "content": text}]
        (turn,) = turns_of(read(packed(line("user", "a", content))))
        assert len(turn.text) <= 2_000
        stored = redact(turn.text).text
        torn = [n for n in range(0, len(secret) - 16, 4) if secret[n : n + 16] in stored]
        assert not torn, kind


def test_files_beside_a_session_are_no_transcripts() -> None:
    root = PurePosixPath("/home/ann/.claude/projects/-home-ann-src")
    assert claude_code.is_transcript(root / f"{SESSION}.jsonl")
    assert not claude_code.is_transcript(root / SESSION / "subagents" / "a.jsonl")
    assert not claude_code.is_transcript(root / "notes.md")


def test_what_claude_code_deletes_within_a_week_is_named_the_oldest_first() -> None:
    ages = [1, 22, 23, 24, 29, 45]
    files = [
        claude_code.TranscriptFile(PurePosixPath(f"{days}.jsonl"), NOW - timedelta(days=days))
        for days in ages
    ]
    soon = claude_code.expires_soon(files, NOW)
    assert [file.path.stem for file in soon] == ["45", "29", "24", "23"]
    assert claude_code.expires_soon(files, NOW, retention_days=365) == []


ROLLOUT = [
    {
        "timestamp": "2026-08-10T20:05:50.000Z",
        "type": "session_meta",
        "payload": {
            "id": SESSION,
            "timestamp": "2026-08-10T20:05:50.000Z",
            "cwd": "C:\\src\\billing",
        },
    },
    {"timestamp": "2026-08-10T20:05:50Z", "type": "event_msg", "payload": {"type": "user_message"}},
    {
        "timestamp": "2026-08-10T20:05:51.000Z",
        "type": "response_item",
        "payload": {
            "type": "message",
            "role": "user",
            "content": [
                {"type": "input_text", "text": "<environment_context>x</environment_context>"}
            ],
        },
    },
    {
        "timestamp": "2026-08-10T20:05:52.000Z",
        "type": "response_item",
        "payload": {
            "type": "message",
            "role": "user",
            "content": [{"type": "input_text", "text": "Run the tests."}],
        },
    },
    {
        "timestamp": "2026-08-10T20:05:53.000Z",
        "type": "response_item",
        "payload": {
            "type": "function_call",
            "name": "exec_command",
            "arguments": '{"cmd":"pytest"}',
            "call_id": "c1",
        },
    },
    {
        "timestamp": "2026-08-10T20:05:54.000Z",
        "type": "response_item",
        "payload": {"type": "function_call_output", "call_id": "c1", "output": "3 passed"},
    },
]


def test_a_rollout_of_codex_becomes_a_session_and_its_turns() -> None:
    session, *turns = codex.read(
        io.BytesIO(packed(*ROLLOUT)), f"rollout-2026-08-10T20-05-50-{SESSION}"
    )
    assert isinstance(session, ImportedSession)
    assert (session.source_id, session.project, session.client) == (SESSION, "billing", "Codex CLI")
    assert [(t.source_id, t.role, t.text) for t in turns if isinstance(t, ImportedTurn)] == [
        ("line 3", Role.SYSTEM, "<environment_context>x</environment_context>"),
        ("line 4", Role.USER, "Run the tests."),
        ("line 5", Role.TOOL, 'exec_command: {"cmd":"pytest"}'),
        ("line 6", Role.TOOL, "3 passed"),
    ]


def test_what_was_added_to_a_rollout_keeps_its_session_and_line_numbers() -> None:
    name = f"rollout-2026-08-10T20-05-50-{SESSION}"
    bookmark = Bookmark()
    list(codex.read(io.BytesIO(packed(*ROLLOUT[:4])), name, bookmark))
    found = list(codex.read(io.BytesIO(packed(*ROLLOUT)), name, bookmark))
    turns = [t for t in found if isinstance(t, ImportedTurn)]
    assert [(t.session_id, t.source_id) for t in turns] == [
        (SESSION, "line 5"),
        (SESSION, "line 6"),
    ]


def test_a_rollout_of_an_older_codex_is_read() -> None:
    old = [
        {"id": SESSION, "timestamp": "2025-05-10T20:05:50.000Z", "instructions": None},
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Hello"}]},
        {"record_type": "state"},
    ]
    found = list(codex.read(io.BytesIO(packed(*old)), "rollout-x"))
    assert [t.text for t in found if isinstance(t, ImportedTurn)] == ["Hello"]
    assert found[0].source_id == SESSION  # type: ignore[union-attr]
