"""Conversations of other programs come in once, whole and without secrets, and leave as a whole."""

import asyncio
import json
import os
from pathlib import Path
from typing import Any

import pytest

from kmem_desktop.bootstrap import Services
from kmem_desktop.domain.changes import Noun
from kmem_desktop.domain.found import EntryQuery
from kmem_desktop.domain.sessions.conversations import TurnDraft
from kmem_desktop.domain.sessions.importing import (
    ImportProgress,
    SessionImportReport,
    TranscriptKind,
)
from kmem_desktop.domain.sessions.privacy import ExclusionKind
from kmem_desktop.errors import FormatError, NotFoundError
from kmem_desktop.events import Change
from kmem_desktop.services.importing import preparing, reading, transcripts
from kmem_desktop.services.sessions.exchanges import SessionDraft
from tests.server.corpora import corpora
from tests.services.importing.transcripts import (
    SECRET,
    YOU,
    chatgpt_export,
    claude_export,
    claude_projects,
    content_of,
    conversation,
    gemini_chat,
    grow,
    is_sound,
    rollout,
    rows_of,
    said,
    turns_of,
    write_lines,
)
from tests.services.memory import ORIGIN

NUMBERS = (
    "sessions_new",
    "sessions_known",
    "sessions_excluded",
    "sessions_deleted",
    "turns_new",
    "turns_known",
    "turns_left_out",
    "problem_count",
)


def numbers(report: SessionImportReport) -> dict[str, int]:
    """Return the numbers of a report that are not nought."""
    return {name: getattr(report, name) for name in NUMBERS if getattr(report, name)}


async def run(services: Services, path: Path, **more: Any) -> SessionImportReport:
    return await services.transcripts.run(path, YOU, **more)


async def found(services: Services, text: str) -> list[str]:
    entries, _ = await services.sessions.search(EntryQuery(text), "test")
    return [entry.content for entry in entries]


async def test_transcripts_become_sessions_that_can_be_searched(
    services: Services, tmp_path: Path
) -> None:
    projects = claude_projects(tmp_path, ("aaa", 3), ("bbb", 2))
    report = await run(services, projects)
    assert (report.kind, report.files) == (TranscriptKind.CLAUDE_CODE, 2)
    assert numbers(report) == {"sessions_new": 2, "turns_new": 5}
    (facts,) = [f for f in await services.recall.list_sessions(limit=10) if f.entry_count == 3]
    assert (facts.title, facts.project, facts.client, facts.source) == (
        "Turn 0 of aaa is about word0.",
        "billing",
        "Claude Code",
        "claude-code",
    )
    assert facts.created_at.isoformat() == "2026-08-10T12:00:00+00:00"
    assert facts.last_active.isoformat() == "2026-08-10T12:02:00+00:00"
    assert facts.metadata is not None
    assert facts.metadata["git_branch"] == "main"
    assert (await found(services, "word2"))[0] == "Turn 2 of aaa is about word2."
    assert await is_sound(services)


async def test_importing_again_changes_nothing(services: Services, tmp_path: Path) -> None:
    projects = claude_projects(tmp_path, ("aaa", 3), ("bbb", 2))
    first = await run(services, projects)
    before = await content_of(services)
    again = await run(services, projects)
    assert numbers(again) == {"sessions_known": 2, "turns_known": 5}
    assert (bool(first.batch), again.batch) == (True, "")
    for file in projects.rglob("*.jsonl"):
        os.utime(file)  # so that it is read again, not only recognised as read
    assert numbers(await run(services, projects)) == {"sessions_known": 2, "turns_known": 5}
    assert await content_of(services) == before
    assert len(await services.transcripts.imports()) == 1


async def test_what_was_added_since_is_appended(services: Services, tmp_path: Path) -> None:
    projects = claude_projects(tmp_path, ("aaa", 3))
    await run(services, projects)
    grow(projects / "-home-ann-src" / "aaa.jsonl", conversation("aaa", 6)[3:])
    assert numbers(await run(services, projects)) == {
        "sessions_known": 1,
        "turns_new": 3,
        "turns_known": 3,
    }
    grown = await content_of(services)
    assert [row[1] for row in grown["turns"]] == [0, 1, 2, 3, 4, 5]
    assert await is_sound(services)
    first_import, second_import = await services.transcripts.imports()
    for record in (second_import, first_import):
        await services.transcripts.undo(record.uuid, YOU)
    await run(services, projects)
    # As if it had been there from the beginning: the contexts of the turns are whole.
    assert await content_of(services) == grown


@pytest.mark.parametrize("count", [1, 5, 6, 7, 8, 9, 30])
async def test_long_conversations_are_stored_in_parts_and_look_as_if_they_were_not(
    services: Services, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, count: int
) -> None:
    file = write_lines(tmp_path / "aaa.jsonl", conversation("aaa", count))
    monkeypatch.setattr(preparing, "BATCH_TURNS", 4)
    monkeypatch.setattr(reading, "BATCH_TURNS", 4)
    report = await run(services, file)
    assert report.turns_new == count
    parts = await content_of(services)
    await services.transcripts.undo(report.batch, YOU)
    monkeypatch.undo()
    await run(services, file)
    assert await content_of(services) == parts
    assert await is_sound(services)


async def test_much_is_read_by_a_process_of_its_own_and_comes_out_the_same(
    services: Services, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    projects = claude_projects(tmp_path, ("aaa", 40), ("bbb", 7))
    grow(projects / "-home-ann-src" / "bbb.jsonl", ["no object", said("bbb", 9, f"key {SECRET}")])
    by_thread = await run(services, projects)
    content = await content_of(services)
    await services.transcripts.undo(by_thread.batch, YOU)
    monkeypatch.setattr(reading, "LITTLE_BYTES", 0)
    by_process = await run(services, projects)
    assert numbers(by_process) == numbers(by_thread)
    assert by_process.problems == by_thread.problems
    assert by_process.secrets_removed == by_thread.secrets_removed
    assert await content_of(services) == content


async def test_a_dry_run_writes_nothing_and_tells_exactly_what_the_import_does(
    services: Services, tmp_path: Path
) -> None:
    projects = claude_projects(tmp_path, ("aaa", 3), ("bbb", 4))
    await run(services, projects)
    folder = projects / "-home-ann-src"
    grow(folder / "aaa.jsonl", [*conversation("aaa", 5)[2:], "oops", said("aaa", 9, SECRET)])
    # One session in two files, with turns in common, as a conversation that was gone on with has.
    write_lines(folder / "ccc.jsonl", conversation("ccc", 4))
    write_lines(folder / "ddd.jsonl", conversation("ccc", 6))
    before = await content_of(services)
    files = await rows_of(services, "SELECT * FROM followed_files ORDER BY path")
    seen: list[Change] = []
    services.feed.subscribe(seen.append)
    dry = await run(services, projects, dry_run=True)
    assert dry.dry_run
    assert dry.batch == ""
    assert await content_of(services) == before
    assert await rows_of(services, "SELECT * FROM followed_files ORDER BY path") == files
    assert seen == []
    real = await run(services, projects)
    assert numbers(dry) == numbers(real)
    assert real.turns_new == 3 + 6
    assert dry.problems == real.problems
    assert dry.secrets_removed == real.secrets_removed
    assert sum(dry.secrets_removed.values()) == 1


@pytest.mark.parametrize("name", ["export.zip", "conversations.json"])
async def test_exports_of_claude_come_in_zipped_or_not(
    services: Services, tmp_path: Path, name: str
) -> None:
    report = await run(services, claude_export(tmp_path / name, ("c1", 4), ("c2", 2)))
    assert report.kind is TranscriptKind.EXPORT
    assert numbers(report) == {"sessions_new": 2, "turns_new": 6}
    assert await turns_of(services, "c2") == [(0, "Message 0 of c2."), (1, "Message 1 of c2.")]
    titles = [facts.title for facts in await services.recall.list_sessions(limit=5)]
    assert sorted(titles) == ["Chat c1", "Chat c2"]


async def test_chats_of_other_programs_come_in(services: Services, tmp_path: Path) -> None:
    chatgpt = chatgpt_export(tmp_path / "conversations.json", "Bread", ["How long?", "An hour."])
    assert numbers(await run(services, chatgpt)) == {"sessions_new": 1, "turns_new": 2}
    rollout(tmp_path / "codex", "5f0e0000-0000-4000-8000-000000000000", ["Fix it", "Done"])
    codex = await run(services, tmp_path / "codex")
    assert (codex.kind, numbers(codex)) == (
        TranscriptKind.CODEX,
        {"sessions_new": 1, "turns_new": 2},
    )
    gemini_chat(tmp_path / "gemini", "g1", ["Why?", "Because."])
    gemini = await run(services, tmp_path / "gemini")
    assert (gemini.kind, numbers(gemini)) == (
        TranscriptKind.GEMINI,
        {"sessions_new": 1, "turns_new": 2},
    )
    sources = await rows_of(services, "SELECT source, client FROM sessions ORDER BY source")
    assert sources == [("chatgpt", "ChatGPT"), ("codex", "Codex CLI"), ("gemini", "Gemini CLI")]


async def test_secrets_never_reach_the_disk_and_are_counted(
    services: Services, tmp_path: Path
) -> None:
    lines = [
        said("aaa", 0, f"My token is {SECRET}, please use it."),
        said("aaa", 1, "Thanks.", message={"role": "assistant", "model": SECRET, "content": "x"}),
        {"type": "custom-title", "customTitle": f"Use {SECRET}"},
    ]
    file = write_lines(tmp_path / "aaa.jsonl", lines)
    grow(file, [f"a broken line with {SECRET}"])
    report = await run(services, file)
    assert sum(report.secrets_removed.values()) >= 2
    assert SECRET not in str(report)
    await services.transcripts._database.write(lambda c: c.execute("SELECT 1"))
    database = services.paths.database
    for part in database.parent.glob(f"{database.name}*"):
        assert SECRET.encode() not in part.read_bytes()
    counted = await rows_of(services, "SELECT source, sum(count) FROM secrets_removed GROUP BY 1")
    assert counted == [("Claude Code", sum(report.secrets_removed.values()))]


async def test_what_is_excluded_is_left_out_and_told(services: Services, tmp_path: Path) -> None:
    projects = claude_projects(tmp_path, ("aaa", 3), ("bbb", 2))
    await services.privacy.exclude(ExclusionKind.SESSION, "aaa", YOU)
    for dry_run in (True, False):
        report = await run(services, projects, dry_run=dry_run)
        assert numbers(report) == {
            "sessions_new": 1,
            "sessions_excluded": 1,
            "turns_new": 2,
            "turns_left_out": 3,
        }
    assert await turns_of(services, "aaa") == []
    await services.privacy.include(ExclusionKind.SESSION, "aaa", YOU)
    assert numbers(await run(services, projects))["turns_new"] == 3
    await services.privacy.exclude(ExclusionKind.PROJECT, "billing", YOU)
    grow(projects / "-home-ann-src" / "aaa.jsonl", conversation("aaa", 4)[3:])
    assert numbers(await run(services, projects)).get("turns_new", 0) == 0


async def test_a_session_that_was_deleted_here_stays_away(
    services: Services, tmp_path: Path
) -> None:
    projects = claude_projects(tmp_path, ("aaa", 3))
    await run(services, projects)
    (facts,) = await services.recall.list_sessions(limit=5)
    await services.session_life.delete(facts.uuid, YOU)
    report = await run(services, projects)
    assert numbers(report) == {"sessions_deleted": 1, "turns_left_out": 3}


async def test_a_title_that_a_person_gave_stays(services: Services, tmp_path: Path) -> None:
    file = claude_projects(tmp_path, ("aaa", 2)) / "-home-ann-src" / "aaa.jsonl"
    await run(services, file)
    grow(file, [{"type": "ai-title", "title": "Words about words"}])
    await run(services, file)
    (facts,) = await services.recall.list_sessions(limit=5)
    assert facts.title == "Words about words"
    await services.session_life.rename(facts.uuid, "My own", YOU)
    grow(file, [{"type": "custom-title", "customTitle": "Theirs"}])
    await run(services, file)
    (facts,) = await services.recall.list_sessions(limit=5)
    assert facts.title == "My own"


async def test_an_import_is_undone_as_a_whole_and_what_others_added_stays(
    services: Services, tmp_path: Path
) -> None:
    projects = claude_projects(tmp_path, ("aaa", 6), ("bbb", 2))
    first = await run(services, projects)
    (facts,) = [f for f in await services.recall.list_sessions(limit=5) if f.entry_count == 6]
    await services.sessions.add_exchange(
        SessionDraft(uuid=facts.uuid),
        [TurnDraft("user", "And one more from an assistant.")],
        ORIGIN,
    )
    grow(projects / "-home-ann-src" / "aaa.jsonl", conversation("aaa", 8)[6:])
    second = await run(services, projects)
    assert second.turns_new == 2
    assert await services.transcripts.undo(first.batch, YOU) == 8
    assert await turns_of(services, "bbb") == []
    assert await turns_of(services, "aaa") == [
        (0, "And one more from an assistant."),
        (1, "Turn 6 of aaa is about word6."),
        (2, "Turn 7 of aaa is about word7."),
    ]
    assert await is_sound(services)
    contexts = await rows_of(
        services, "SELECT d.context FROM turns JOIN documents AS d USING (id) ORDER BY position"
    )
    assert not any("word5" in row[0] for row in contexts)
    with pytest.raises(NotFoundError):
        await services.transcripts.undo(first.batch, YOU)
    # What was undone comes again when it is imported again.
    assert numbers(await run(services, projects))["turns_new"] == 8


async def test_many_turns_are_undone_and_their_words_leave_the_file(
    services: Services, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    projects = claude_projects(tmp_path, ("aaa", 30), ("bbb", 20))
    grow(projects / "-home-ann-src" / "aaa.jsonl", [said("aaa", 77, "The word is quetzalcoatlus.")])
    before = await content_of(services)
    report = await run(services, projects)
    monkeypatch.setattr(transcripts, "AT_ONCE", 10)
    monkeypatch.setattr(transcripts, "LATER_STEP", 7)
    told: list[tuple[int, int]] = []
    removed = await services.transcripts.undo(
        report.batch, YOU, tell=lambda *each: told.append(each)
    )
    assert removed == 51
    assert told[-1] == (51, 51)
    assert await content_of(services) == before
    assert await is_sound(services)
    words = await rows_of(services, "SELECT term FROM documents_words")
    assert words == []
    await services.maintenance.run()
    database = services.paths.database
    for part in database.parent.glob(f"{database.name}*"):
        assert b"quetzalcoatl" not in part.read_bytes()


async def test_a_cancelled_import_keeps_what_it_stored_and_is_finished_next_time(
    services: Services, tmp_path: Path
) -> None:
    many = [(f"s{n:03d}", 3) for n in range(400)]
    projects = claude_projects(tmp_path, *many)
    cancel = asyncio.Event()
    told: list[ImportProgress] = []

    def tell(progress: ImportProgress) -> None:
        told.append(progress)
        cancel.set()

    report = await run(services, projects, tell=tell, cancel=cancel)
    assert report.was_cancelled
    assert 0 < report.turns_new < 1200
    assert 0 < told[-1].files_done < told[-1].files_total == 400
    assert 0 < told[-1].bytes_done < told[-1].bytes_total
    (record,) = await services.transcripts.imports()
    assert record.finished_at is None
    assert await is_sound(services)
    rest = await run(services, projects)
    assert rest.batch == report.batch
    assert rest.turns_new + report.turns_new == 1200
    (record,) = await services.transcripts.imports()
    assert record.finished_at is not None
    assert (record.session_count, record.turn_count) == (400, 1200)
    assert await services.transcripts.undo(record.uuid, YOU) == 1200
    assert await services.recall.list_sessions(limit=5) == []


async def test_changes_are_told_by_their_ends_never_turn_by_turn(
    services: Services, tmp_path: Path
) -> None:
    seen: list[Change] = []
    services.feed.subscribe(seen.append)
    await run(services, claude_projects(tmp_path, ("aaa", 300)))
    turns = [change for change in seen if change.noun is Noun.TURN]
    assert turns
    assert all(0 < len(change.ids) <= 2 for change in turns)
    assert [change for change in seen if change.noun is Noun.SESSION]


async def test_broken_lines_are_told_with_file_and_number(
    services: Services, tmp_path: Path
) -> None:
    file = write_lines(tmp_path / "aaa.jsonl", [said("aaa", 0, "first")])
    with file.open("ab") as stream:
        stream.write(b"not json\n\xff\xfe\n")
    grow(file, [said("aaa", 1, "last")])
    report = await run(services, file)
    assert [(p.file, p.line) for p in report.problems] == [(str(file), 2), (str(file), 3)]
    assert report.turns_new == 2


async def test_lines_of_unknown_kinds_are_kept_as_metadata(
    services: Services, tmp_path: Path
) -> None:
    file = write_lines(tmp_path / "aaa.jsonl", conversation("aaa", 2))
    grow(file, [{"type": "teleport", "x": 1}, {"type": "teleport"}])
    await run(services, file)
    ((metadata,),) = await rows_of(services, "SELECT metadata FROM sessions")
    assert json.loads(metadata)["other_lines"] == {"teleport": 2}


async def test_turns_without_a_time_take_that_of_the_turn_before(
    services: Services, tmp_path: Path
) -> None:
    lines = conversation("aaa", 3)
    del lines[1]["timestamp"]
    await run(services, write_lines(tmp_path / "aaa.jsonl", lines))
    times = await rows_of(services, "SELECT at FROM turns ORDER BY position")
    assert times[0] == times[1] < times[2]


@pytest.mark.parametrize("name", ["gone.jsonl", "notes.md", "empty", "memory.jsonl"])
async def test_what_holds_no_conversations_is_refused(
    services: Services, tmp_path: Path, name: str
) -> None:
    (tmp_path / "notes.md").write_text("# Notes")
    (tmp_path / "empty").mkdir()
    (tmp_path / "memory.jsonl").write_text('{"type":"entity","name":"A","entityType":"t"}\n')
    with pytest.raises(FormatError):
        await run(services, tmp_path / name)


async def test_an_assistant_stores_while_an_import_runs(services: Services, tmp_path: Path) -> None:
    projects = claude_projects(tmp_path, *[(f"s{n:03d}", 5) for n in range(300)])
    importing = asyncio.ensure_future(run(services, projects))
    stored = 0
    while not importing.done():
        draft = SessionDraft(title=f"Own {stored}")
        await services.sessions.add_exchange(draft, [TurnDraft("user", "meanwhile")], ORIGIN)
        stored += 1
    assert (await importing).turns_new == 1500
    assert stored > 1
    assert await is_sound(services)


ODD_TEXTS = (
    "Short.",
    'Quotes " and \\ backslashes, {"json": [1, 2]}, and a line\nbreak\r\n\ttab.',
    "getUserName2 of HTTPServer in 検索エンジン and ภาษาไทย, \U0001f600 and e\u0301.",
    "long " * 900,
    "\ue000 private use, \u2028 line separator, \x07 bell",
    "y" * 5_000,
    "12345678901234567890",
    "null",
    "The end.",
)


async def test_imported_turns_are_stored_as_those_of_assistants_are(
    services: Services, tmp_path: Path
) -> None:
    texts = [*ODD_TEXTS, *reversed(ODD_TEXTS)]
    lines = [said("aaa", number, text) for number, text in enumerate(texts)]
    drafts = [
        TurnDraft(line["type"], line["message"]["content"], time=line["timestamp"])
        for line in lines
    ]
    session = SessionDraft(title="Short.", project="billing")
    for part in (drafts[:7], drafts[7:8], drafts[8:]):
        stored = await services.sessions.add_exchange(session, part, ORIGIN)
        session = SessionDraft(uuid=stored.session_uuid)
    await run(services, write_lines(tmp_path / "aaa.jsonl", lines))
    query = (
        "SELECT t.position, t.role, t.speaker, t.at, t.token_count, t.is_important, d.noun,"
        " d.title, d.body, d.tags, d.hidden_words, d.context, d.scope, d.stored_by, d.updated_at,"
        " d.text_hash, typeof(t.position), typeof(t.token_count)"
        " FROM turns AS t JOIN documents AS d USING (id) JOIN sessions AS s ON s.id = t.session_id"
        " WHERE s.source = ? ORDER BY t.position"
    )
    by_assistant = await rows_of(services, query, "")
    imported = await rows_of(services, query, "claude-code")
    assert len(imported) == len(texts)
    for one, other in zip(by_assistant, imported, strict=True):
        assert one == other
    sessions = "SELECT title, project, tags, status, client, entry_count, token_count FROM sessions"
    one_session, other_session = await rows_of(services, sessions)
    assert one_session == other_session
    assert await is_sound(services)


async def test_real_conversations_are_stored_as_those_of_assistants_are(
    services: Services, tmp_path: Path
) -> None:
    columns = "d.body, d.hidden_words, d.context, d.scope, d.text_hash, t.token_count"
    query = (
        f"SELECT t.position, {columns} FROM turns AS t JOIN documents AS d USING (id)"
        " JOIN sessions AS s ON s.id = t.session_id WHERE s.title = ? AND (s.source = '') = ?"
        " ORDER BY t.position"
    )
    for file in sorted((corpora() / "conversations").glob("conv-*.json")):
        turns = json.loads(file.read_text(encoding="utf-8"))["turns"]
        texts = [turn["text"] for turn in turns if turn["text"].strip()]
        title = file.stem
        drafts = [TurnDraft("user", text) for text in texts]
        await services.sessions.add_exchange(
            SessionDraft(title=title, project="billing"), drafts, ORIGIN
        )
        lines = [said(title, number, text, "user") for number, text in enumerate(texts)]
        lines.append({"type": "custom-title", "customTitle": title})
        await run(services, write_lines(tmp_path / f"{title}.jsonl", lines))
        imported = await rows_of(services, query, title, 0)
        assert len(imported) == len(texts)
        assert imported == await rows_of(services, query, title, 1)
