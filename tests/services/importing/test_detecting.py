"""What a file or folder is shows in what is in it."""

import json
from pathlib import Path
from typing import Any

import pytest

from kmem_desktop.domain.sessions.importing import TranscriptKind
from kmem_desktop.errors import FormatError
from kmem_desktop.services.importing.detecting import detected, is_transcript, kind_of
from tests.services.importing.transcripts import (
    chatgpt_export,
    claude_export,
    claude_projects,
    gemini_chat,
    rollout,
    said,
    write_lines,
)


def kind(path: Path) -> TranscriptKind | None:
    found = detected(path)
    return found.kind if found else None


def test_claude_code_is_recognised_by_any_of_its_folders(tmp_path: Path) -> None:
    projects = claude_projects(tmp_path / "claude", ("aaa", 2), ("bbb", 2))
    write_lines(projects / "-home-ann-src" / "aaa" / "subagents" / "x.jsonl", [said("x", 0, "no")])
    write_lines(projects / "-home-ann-src" / "subagents" / "x.jsonl", [said("x", 0, "no")])
    for folder in (projects.parent, projects, projects / "-home-ann-src"):
        found = detected(folder)
        assert found is not None
        assert found.kind is TranscriptKind.CLAUDE_CODE
        assert [Path(file.path).stem for file in found.files] == ["aaa", "bbb"]
        assert all(file.is_growing for file in found.files)
        assert all(file.size_bytes > 100 for file in found.files)


def test_a_transcript_that_cannot_be_read_does_not_hide_the_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    projects = claude_projects(tmp_path, ("aaa", 2), ("bbb", 2))

    def opened(path: Path, *args: Any, **more: Any) -> Any:
        if path.stem == "aaa":  # whoever runs the tests may be allowed to read everything
            raise PermissionError(13, "Permission denied")
        return path_open(path, *args, **more)

    path_open = Path.open
    monkeypatch.setattr(Path, "open", opened)
    found = detected(projects)
    assert found is not None
    assert [Path(file.path).stem for file in found.files] == ["aaa", "bbb"]


def test_codex_is_recognised_by_any_of_its_folders(tmp_path: Path) -> None:
    file = rollout(tmp_path / "codex", "5f0e0000-0000-4000-8000-000000000000", ["a", "b"])
    for folder in (tmp_path / "codex", *list(file.parents)[:4]):
        assert kind(folder) is TranscriptKind.CODEX, folder
    assert kind(file) is TranscriptKind.CODEX


def test_gemini_is_recognised_by_any_of_its_folders(tmp_path: Path) -> None:
    file = gemini_chat(tmp_path / "gemini", "g1", ["a", "b"])
    for folder in (tmp_path / "gemini", *list(file.parents)[:3]):
        assert kind(folder) is TranscriptKind.GEMINI, folder
    assert kind(file) is TranscriptKind.GEMINI


@pytest.mark.parametrize("name", ["x.zip", "conversations.json", "renamed.json"])
def test_exports_are_recognised_whatever_they_are_called(tmp_path: Path, name: str) -> None:
    assert kind(claude_export(tmp_path / name, ("c", 2))) is TranscriptKind.EXPORT


def test_an_unpacked_export_is_recognised_by_its_folder(tmp_path: Path) -> None:
    chatgpt_export(tmp_path / "conversations.json", "t", ["a"])
    (tmp_path / "user.json").write_text("{}")
    found = detected(tmp_path)
    assert found is not None
    assert [Path(file.path).name for file in found.files] == ["conversations.json"]


@pytest.mark.parametrize(
    "first_line",
    [
        {"type": "summary", "summary": "x", "leafUuid": "y"},
        {"type": "file-history-snapshot", "messageId": "m", "snapshot": {}},
        {"type": "something-new", "a": 1},
    ],
)
def test_a_transcript_may_begin_with_other_lines(tmp_path: Path, first_line: object) -> None:
    file = write_lines(tmp_path / "a.jsonl", [first_line, said("a", 0, "hello")])
    assert kind_of(file) is TranscriptKind.CLAUDE_CODE


def test_a_transcript_that_begins_with_a_huge_line_is_recognised(tmp_path: Path) -> None:
    file = write_lines(tmp_path / "a.jsonl", [said("a", 0, "x" * 1_000_000)])
    assert kind_of(file) is TranscriptKind.CLAUDE_CODE


@pytest.mark.parametrize(
    "content",
    [
        "",
        "\n\n",
        "# Notes",
        "[1, 2, 3]",
        '{"a": 1}',
        '{"type":"entity","name":"A","entityType":"t","observations":[]}',
        '{"export_metadata": {}, "memories": []}',
        "[" * 10_000,
        '{"a":' * 50_000,
    ],
)
def test_other_files_are_none(tmp_path: Path, content: str) -> None:
    file = tmp_path / "other.json"
    file.write_text(content)
    assert kind_of(file) is None


def test_what_is_not_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(FormatError):
        detected(tmp_path / "nowhere")


def test_a_disk_is_no_folder_of_conversations_and_is_not_searched() -> None:
    assert detected(Path("/")) is None


def test_paths_of_a_program_are_told_from_others(tmp_path: Path) -> None:
    claude = TranscriptKind.CLAUDE_CODE
    assert is_transcript(tmp_path / "p" / "a.jsonl", tmp_path, claude)
    assert not is_transcript(tmp_path / "p" / "a" / "subagents" / "b.jsonl", tmp_path, claude)
    assert not is_transcript(tmp_path / "p" / "a.json", tmp_path, claude)
    assert not is_transcript(Path("/elsewhere/a.jsonl"), tmp_path, claude)
    assert is_transcript(tmp_path / "h" / "chats" / "a.json", tmp_path, TranscriptKind.GEMINI)
    assert not is_transcript(tmp_path / "h" / "logs.json", tmp_path, TranscriptKind.GEMINI)


def test_an_export_with_other_encodings_of_its_begin_is_recognised(tmp_path: Path) -> None:
    file = claude_export(tmp_path / "a.json", ("c", 2))
    value = json.loads(file.read_text())
    file.write_bytes(b"\xef\xbb\xbf  \n" + json.dumps(value, indent=4).encode())
    assert kind_of(file) is TranscriptKind.EXPORT
