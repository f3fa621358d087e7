"""Transcripts are kept while they grow, once a person has said so; nothing comes twice."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest

from kmem_desktop.bootstrap import Services, opened_services
from kmem_desktop.config import Paths, SettingsFile
from kmem_desktop.domain.changes import Noun
from kmem_desktop.domain.sessions.importing import TranscriptKind, TranscriptProgram
from kmem_desktop.domain.sessions.privacy import ExclusionKind
from kmem_desktop.events import Change
from tests.services.importing.transcripts import (
    YOU,
    claude_projects,
    content_of,
    conversation,
    gemini_chat,
    grow,
    is_sound,
    rollout,
    set_age,
    turns_of,
    write_lines,
)

CLAUDE = TranscriptKind.CLAUDE_CODE
CODEX_SESSION = "5f0e0000-0000-4000-8000-000000000000"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder in which Claude Code keeps its files."""
    folder = tmp_path / "home"
    folder.mkdir()
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(folder))
    monkeypatch.setenv("CODEX_HOME", str(tmp_path / "codex"))
    monkeypatch.setattr(Path, "home", lambda: tmp_path / "user")
    return folder


@pytest.fixture
async def following(services: Services) -> AsyncIterator[Services]:
    services.transcripts.start()
    yield services
    await services.transcripts.stop()


async def program(services: Services, kind: TranscriptKind = CLAUDE) -> TranscriptProgram:
    (found,) = [each for each in await services.transcripts.programs() if each.key is kind]
    return found


async def until(
    services: Services, is_so: Callable[[], "asyncio.Future[bool]"] | Callable[[], object]
) -> None:
    """Wait for a change of turns or sessions after which something is so."""
    changed = asyncio.Event()

    def take(change: Change) -> None:
        if change.noun in (Noun.TURN, Noun.SESSION):
            changed.set()

    forget = services.feed.subscribe(take)
    try:
        async with asyncio.timeout(20):
            while True:
                answer = is_so()
                if await answer if asyncio.iscoroutine(answer) else answer:
                    return
                await changed.wait()
                changed.clear()
    finally:
        forget()


async def has_turns(services: Services, session: str, count: int) -> bool:
    return len(await turns_of(services, session)) == count


async def test_nothing_is_read_before_a_person_says_so(home: Path, following: Services) -> None:
    claude_projects(home, ("aaa", 3))
    found = await program(following)
    assert (found.session_count, found.stored_count, found.is_followed) == (1, 0, False)
    await following.transcripts.following.watched()
    assert await turns_of(following, "aaa") == []


async def test_consent_brings_in_what_is_there_and_is_kept(
    home: Path, services: Services, profile: Paths
) -> None:
    claude_projects(home, ("aaa", 3), ("bbb", 2))
    report = await services.transcripts.follow(CLAUDE, YOU)
    assert report is not None
    assert (report.sessions_new, report.turns_new) == (2, 5)
    found = await program(services)
    assert (found.session_count, found.stored_count, found.is_followed) == (2, 2, True)
    settings = SettingsFile(profile.settings).current
    assert settings.follows_transcripts == ["claude-code"]
    assert settings.asked_about_transcripts
    await services.transcripts.follow(CLAUDE, YOU, on=False)
    assert SettingsFile(profile.settings).current.follows_transcripts == []
    assert len(await turns_of(services, "aaa")) == 3


async def test_what_a_program_writes_is_stored_while_it_writes(
    home: Path, following: Services
) -> None:
    folder = claude_projects(home, ("aaa", 3)) / "-home-ann-src"
    await following.transcripts.follow(CLAUDE, YOU)
    await following.transcripts.following.watched()
    grow(folder / "aaa.jsonl", conversation("aaa", 5)[3:])
    await until(following, lambda: has_turns(following, "aaa", 5))
    write_lines(folder / "bbb.jsonl", conversation("bbb", 2))
    await until(following, lambda: has_turns(following, "bbb", 2))
    write_lines(folder.parent / "-another" / "ccc.jsonl", conversation("ccc", 2))
    await until(following, lambda: has_turns(following, "ccc", 2))
    assert await is_sound(following)
    (record,) = await following.transcripts.imports()
    assert (record.turn_count, record.is_following, record.finished_at) == (9, True, None)


async def test_turn_by_turn_gives_the_same_as_all_at_once(
    home: Path, services: Services, tmp_path: Path
) -> None:
    lines = [
        *conversation("aaa", 4),
        {"type": "teleport"},
        *conversation("aaa", 8)[4:],
        {"type": "teleport"},
        {"type": "custom-title", "customTitle": "A name that came late"},
        {"type": "ai-title", "title": "A name that counts less"},
    ]
    file = write_lines(home / "projects" / "-p" / "aaa.jsonl", lines[:1])
    await services.transcripts.follow(CLAUDE, YOU)
    for line in lines[1:]:
        grow(file, [line])
        await services.transcripts.following.catch_up(CLAUDE)
    step_by_step = await content_of(services)
    (record,) = await services.transcripts.imports()
    await services.transcripts.undo(record.uuid, YOU)
    await services.transcripts.run(file, YOU)
    assert await content_of(services) == step_by_step


async def test_a_line_that_is_being_written_waits(home: Path, services: Services) -> None:
    file = claude_projects(home, ("aaa", 2)) / "-home-ann-src" / "aaa.jsonl"
    await services.transcripts.follow(CLAUDE, YOU)
    line = json.dumps(conversation("aaa", 3)[2]) + "\n"
    with file.open("a", encoding="utf-8") as stream:
        stream.write(line[:50])
    await services.transcripts.following.catch_up(CLAUDE)
    assert len(await turns_of(services, "aaa")) == 2
    with file.open("a", encoding="utf-8") as stream:
        stream.write(line[50:])
    await services.transcripts.following.catch_up(CLAUDE)
    assert len(await turns_of(services, "aaa")) == 3


async def test_files_that_are_cut_or_written_anew_bring_nothing_twice(
    home: Path, services: Services
) -> None:
    file = claude_projects(home, ("aaa", 5)) / "-home-ann-src" / "aaa.jsonl"
    await services.transcripts.follow(CLAUDE, YOU)
    write_lines(file, conversation("aaa", 2))
    await services.transcripts.following.catch_up(CLAUDE)
    assert len(await turns_of(services, "aaa")) == 5
    other = [{**line, "uuid": f"new-{line['uuid']}"} for line in conversation("aaa", 9)]
    write_lines(file, other)
    await services.transcripts.following.catch_up(CLAUDE)
    # The places behind the old end are other lines now; what begins in the middle of one is read
    # from the beginning, what happens to begin with a line goes on there.
    assert 9 <= len(await turns_of(services, "aaa")) <= 14
    before = await content_of(services)
    write_lines(file, other[:1])
    await services.transcripts.following.catch_up(CLAUDE)
    write_lines(file, other)
    await services.transcripts.following.catch_up(CLAUDE)
    after = await content_of(services)
    assert len({row[6] for row in after["turns"]}) == len(after["turns"]) >= len(before["turns"])
    assert await is_sound(services)


async def test_what_the_program_deletes_stays(home: Path, services: Services) -> None:
    file = claude_projects(home, ("aaa", 5)) / "-home-ann-src" / "aaa.jsonl"
    await services.transcripts.follow(CLAUDE, YOU)
    file.unlink()
    await services.transcripts.following.catch_up(CLAUDE)
    assert len(await turns_of(services, "aaa")) == 5


async def test_a_session_that_was_removed_here_does_not_grow_back(
    home: Path, services: Services
) -> None:
    file = claude_projects(home, ("aaa", 5)) / "-home-ann-src" / "aaa.jsonl"
    await services.transcripts.follow(CLAUDE, YOU)
    (facts,) = await services.recall.list_sessions(limit=5)
    await services.session_life.delete(facts.uuid, YOU)
    grow(file, conversation("aaa", 9)[5:])
    await services.transcripts.following.catch_up(CLAUDE)
    assert await services.recall.list_sessions(limit=5) == []


async def test_undoing_ends_the_following(home: Path, services: Services) -> None:
    file = claude_projects(home, ("aaa", 5)) / "-home-ann-src" / "aaa.jsonl"
    await services.transcripts.follow(CLAUDE, YOU)
    (record,) = await services.transcripts.imports()
    assert await services.transcripts.undo(record.uuid, YOU) == 5
    assert not (await program(services)).is_followed
    grow(file, conversation("aaa", 6)[5:])
    await services.transcripts.following.catch_up(CLAUDE)
    assert await services.recall.list_sessions(limit=5) == []
    report = await services.transcripts.follow(CLAUDE, YOU)
    assert report is not None
    assert report.turns_new == 6


async def test_what_is_written_while_kmem_is_away_is_read_at_its_start(
    home: Path, services: Services, profile: Paths
) -> None:
    file = claude_projects(home, ("aaa", 2)) / "-home-ann-src" / "aaa.jsonl"
    await services.transcripts.follow(CLAUDE, YOU)
    grow(file, conversation("aaa", 7)[2:])
    async with opened_services(profile) as later:
        later.transcripts.start()
        await until(later, lambda: has_turns(later, "aaa", 7))
        await later.transcripts.stop()


async def test_another_process_may_change_what_is_followed(
    home: Path, following: Services, profile: Paths
) -> None:
    claude_projects(home, ("aaa", 2))
    await following.transcripts.following.watched()
    SettingsFile(profile.settings).change(follows_transcripts=["claude-code"])
    await until(following, lambda: has_turns(following, "aaa", 2))


async def test_other_programs_are_followed_too(
    home: Path, services: Services, tmp_path: Path
) -> None:
    session = "5f0e0000-0000-4000-8000-000000000000"
    file = rollout(tmp_path / "codex", session, ["Fix it", "Done"])
    chat = gemini_chat(tmp_path / "user" / ".gemini", "g1", ["Why?", "Because."])
    kinds = [each.key for each in await services.transcripts.programs()]
    assert kinds == [TranscriptKind.CODEX, TranscriptKind.GEMINI]
    for kind in kinds:
        await services.transcripts.follow(kind, YOU)
    more = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "More"}]}
    grow(file, [{"type": "response_item", "payload": more}])
    gemini_chat(tmp_path / "user" / ".gemini", "g1", ["Why?", "Because.", "I see."])
    for kind in kinds:
        await services.transcripts.following.catch_up(kind)
    assert [text for _, text in await turns_of(services, session)] == ["Fix it", "Done", "More"]
    assert [text for _, text in await turns_of(services, "g1")] == ["Why?", "Because.", "I see."]
    assert chat.exists()


def said_in_codex(text: str) -> dict[str, Any]:
    block = {"type": "input_text", "text": text}
    message = {"type": "message", "role": "user", "content": [block]}
    return {"type": "response_item", "payload": message}


async def test_a_rollout_seen_before_anything_was_said_keeps_its_project(
    services: Services, home: Path, tmp_path: Path
) -> None:
    file = rollout(tmp_path / "codex", CODEX_SESSION, [])
    await services.transcripts.follow(TranscriptKind.CODEX, YOU)
    grow(file, [said_in_codex("Fix it")])
    await services.transcripts.following.catch_up(TranscriptKind.CODEX)
    (facts,) = await services.recall.list_sessions(limit=5)
    assert (facts.project, facts.entry_count) == ("tool", 1)


async def test_what_is_excluded_stays_away_while_it_grows_and_is_whole_when_it_is_wanted_again(
    services: Services, home: Path, tmp_path: Path
) -> None:
    following = services.transcripts.following
    await services.privacy.exclude(ExclusionKind.PROJECT, "tool", YOU)
    file = rollout(tmp_path / "codex", CODEX_SESSION, ["A private matter"])
    await services.transcripts.follow(TranscriptKind.CODEX, YOU)
    for number in range(2):
        grow(file, [said_in_codex(f"Another private matter {number}")])
        set_age(file, -number)
        await following.catch_up(TranscriptKind.CODEX)
    assert await services.recall.list_sessions(limit=5) == []
    await services.privacy.include(ExclusionKind.PROJECT, "tool", YOU)
    await following.catch_up(TranscriptKind.CODEX)
    assert [text for _, text in await turns_of(services, CODEX_SESSION)] == [
        "A private matter",
        "Another private matter 0",
        "Another private matter 1",
    ]


async def test_a_restored_session_has_what_was_said_while_it_was_deleted(
    home: Path, services: Services
) -> None:
    file = claude_projects(home, ("aaa", 5)) / "-home-ann-src" / "aaa.jsonl"
    await services.transcripts.follow(CLAUDE, YOU)
    (facts,) = await services.recall.list_sessions(limit=5)
    await services.session_life.delete(facts.uuid, YOU)
    grow(file, conversation("aaa", 9)[5:])
    await services.transcripts.run(home, YOU)
    await services.session_life.restore_deleted(facts.uuid, YOU)
    await services.transcripts.following.catch_up(CLAUDE)
    assert len(await turns_of(services, "aaa")) == 9


async def test_what_expires_soon_is_counted_and_whether_it_is_safe(
    home: Path, services: Services
) -> None:
    folder = claude_projects(home, ("old", 2), ("older", 2), ("new", 2)) / "-home-ann-src"
    set_age(folder / "old.jsonl", 25)
    set_age(folder / "older.jsonl", 31)
    found = await program(services)
    assert (found.expiring_count, found.expiring_stored_count, found.kept_days) == (2, 0, 30)
    assert not found.is_safe
    await services.transcripts.run(folder / "old.jsonl", YOU)
    assert (await program(services)).expiring_stored_count == 1
    await services.transcripts.follow(CLAUDE, YOU)
    found = await program(services)
    assert (found.expiring_stored_count, found.stored_count, found.is_safe) == (2, 3, True)


@pytest.mark.parametrize(
    ("settings", "expiring", "kept_days"),
    [
        ('{"cleanupPeriodDays": 20}', 1, 20),
        ('{"cleanupPeriodDays": 99999}', 0, 99999),
        ('{"cleanupPeriodDays": "soon"}', 0, 30),
        ("{broken", 0, 30),
        ("[]", 0, 30),
    ],
)
async def test_the_period_of_claude_codes_own_settings_counts(
    home: Path, services: Services, settings: str, expiring: int, kept_days: int
) -> None:
    folder = claude_projects(home, ("old", 2)) / "-home-ann-src"
    set_age(folder / "old.jsonl", 15)
    (home / "settings.json").write_text(settings)
    found = await program(services)
    assert (found.expiring_count, found.kept_days) == (expiring, kept_days)


async def test_a_cancelled_consent_is_none(home: Path, services: Services) -> None:
    claude_projects(home, *[(f"s{n:03d}", 2) for n in range(300)])
    cancel = asyncio.Event()
    report = await services.transcripts.follow(
        CLAUDE, YOU, tell=lambda _progress: cancel.set(), cancel=cancel
    )
    assert report is not None
    assert report.was_cancelled
    assert not (await program(services)).is_followed
