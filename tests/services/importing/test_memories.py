"""Memories of other programs are brought in, and nothing of theirs is changed."""

import asyncio
import hashlib
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from kmem_desktop.bootstrap import Services
from kmem_desktop.domain.changes import Origin, OriginKind
from kmem_desktop.domain.graph import Entity, Relation
from kmem_desktop.domain.importing import ImportReport, MemoryProgram, MemoryProgress
from kmem_desktop.domain.knowledge import Category, KnowledgeItem, KnowledgeQuery
from kmem_desktop.domain.sessions.privacy import ExclusionKind
from kmem_desktop.errors import FormatError
from kmem_desktop.services import history
from kmem_desktop.services.importing import memories as importing
from kmem_desktop.services.importing.memory_files import found_memories
from tests.services.importing import foreign_memories as made
from tests.services.memory import EVERYTHING, WINDOW, content_of

PERSON = Origin(OriginKind.WINDOW, "You")
NUMBERS = (
    "knowledge_new",
    "knowledge_known",
    "entities_new",
    "entities_known",
    "observations_new",
    "relations_new",
    "relations_known",
    "dangling_relations",
    "excluded",
)
MAKERS: dict[MemoryProgram, Callable[[Path], Path]] = {
    MemoryProgram.AI_DEVKIT: lambda folder: made.devkit_file(folder / "memory.db"),
    MemoryProgram.MARK42: lambda folder: made.mark42_file(folder / "memory.db"),
    MemoryProgram.MEMORY_SERVICE: lambda folder: made.memory_service_file(folder / "sqlite_vec.db"),
    MemoryProgram.BASIC_MEMORY: lambda folder: made.basic_memory_folder(folder / "notes"),
}
EACH = pytest.mark.parametrize("program", list(MAKERS))


def numbers(report: ImportReport) -> dict[str, int]:
    """Return the numbers of a report that are not nought."""
    return {name: getattr(report, name) for name in NUMBERS if getattr(report, name)}


def state_of(path: Path) -> dict[str, tuple[str, int]]:
    """Return digest and time of each file of a folder."""
    return {
        str(file.relative_to(path)): (
            hashlib.sha256(file.read_bytes()).hexdigest(),
            file.stat().st_mtime_ns,
        )
        for file in sorted(path.rglob("*"))
        if file.is_file()
    }


async def knowledge(services: Services, question: str = "invoices worker") -> list[KnowledgeItem]:
    found = await services.knowledge.search(KnowledgeQuery(question, limit=20))
    return [hit.item for hit in found.hits]


async def graph(services: Services) -> tuple[list[Entity], set[Relation]]:
    found = await services.graph.read(None, EVERYTHING)
    return sorted(found.entities, key=lambda entity: entity.name), set(found.relations)


@EACH
async def test_it_is_found_out_whose_memory_a_path_is(
    services: Services, tmp_path: Path, program: MemoryProgram
) -> None:
    path = MAKERS[program](tmp_path)
    assert await services.memories_import.program_of(path) is program
    assert (await services.memories_import.run(path, dry_run=True)).program is program


@EACH
async def test_a_dry_run_tells_exactly_what_the_import_does_and_changes_nothing(
    services: Services, tmp_path: Path, program: MemoryProgram
) -> None:
    path = MAKERS[program](tmp_path)
    before = await content_of(services)
    dry = await services.memories_import.run(path, dry_run=True)
    assert dry.dry_run
    assert dry.batch == ""
    assert await content_of(services) == before
    real = await services.memories_import.run(path)
    assert numbers(real) == numbers(dry) != {}
    assert await content_of(services) != before


@EACH
async def test_a_second_import_changes_nothing(
    services: Services, tmp_path: Path, program: MemoryProgram
) -> None:
    path = MAKERS[program](tmp_path)
    first = await services.memories_import.run(path)
    there = await content_of(services)
    second = await services.memories_import.run(path)
    assert second.batch == ""
    assert second.knowledge_new + second.entities_new + second.observations_new == 0
    assert second.knowledge_known == first.knowledge_new
    assert await content_of(services) == there


@EACH
async def test_an_import_is_undone_as_a_whole_and_can_be_done_again(
    services: Services, tmp_path: Path, program: MemoryProgram
) -> None:
    path = MAKERS[program](tmp_path)
    before = await content_of(services)
    report = await services.memories_import.run(path)
    after = await content_of(services)
    assert await services.memories_import.undo(report.batch, WINDOW) > 0
    assert await content_of(services) == before
    assert numbers(await services.memories_import.run(path)) == numbers(report)
    assert await content_of(services) == after


async def test_a_large_import_is_undone_in_steps(
    services: Services, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(history, "UNDO_STEP", 7)
    report = await services.memories_import.run(made.devkit_file(tmp_path / "memory.db", 21))
    assert await services.memories_import.undo(report.batch, WINDOW) == 21
    assert await knowledge(services) == []


@EACH
async def test_the_files_of_the_other_program_are_left_as_they_are(
    services: Services, tmp_path: Path, program: MemoryProgram
) -> None:
    folder = tmp_path / "theirs"
    folder.mkdir()
    path = MAKERS[program](folder)
    before = state_of(folder)
    await services.memories_import.run(path)
    assert state_of(folder) == before != {}


async def test_knowledge_of_ai_devkit_keeps_scope_tags_and_times(
    services: Services, tmp_path: Path
) -> None:
    await services.memories_import.run(made.devkit_file(tmp_path / "memory.db", 1))
    (item,) = await knowledge(services)
    assert (item.scope, item.tags, item.source) == ("project:shop", ("backend",), "ai-devkit")
    assert item.created_at == datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
    assert item.updated_at == datetime(2026, 2, 2, 3, 4, 5, tzinfo=UTC)
    assert item.stored_by == "Import of memory.db"


async def test_what_is_old_in_mark42_stays_there(services: Services, tmp_path: Path) -> None:
    await services.memories_import.run(made.mark42_file(tmp_path / "memory.db"))
    assert await graph(services) == (
        [
            Entity("Redis", "tool", ("runs on port 6380",)),
            Entity("Shop", "project", ("is written in Go",)),
        ],
        {Relation("Shop", "Redis", "uses")},
    )


async def test_memories_of_mcp_memory_service_come_whole_whatever_their_length(
    services: Services, tmp_path: Path
) -> None:
    await services.memories_import.run(made.memory_service_file(tmp_path / "sqlite_vec.db"))
    items = await knowledge(services)
    assert {item.content[0] for item in items} == {"1", "2"}
    assert {item.category for item in items} == {Category.DECISION}
    assert {item.tags for item in items} == {("backend", "pdf-files")}
    entities, _ = await graph(services)
    long, short = entities
    assert short.observations == ("likes tea", "Tags: backend, pdf-files")
    assert long.observations[0] == ("A long story. " * 1_000).strip()


async def test_a_contradiction_that_mcp_memory_service_knows_is_kept(
    services: Services, tmp_path: Path
) -> None:
    await services.memories_import.run(made.memory_service_file(tmp_path / "sqlite_vec.db"))
    ids = {item.content[0]: item.id for item in await knowledge(services)}
    database = services.history._database
    rows = await database.read(
        lambda c: c.execute("SELECT from_id, to_id, relation FROM entry_relations").fetchall()
    )
    assert rows == [(ids["2"], ids["1"], "contradicts")]


async def test_an_export_and_the_file_it_was_made_of_are_the_same_memories(
    services: Services, tmp_path: Path
) -> None:
    first = await services.memories_import.run(made.memory_service_export(tmp_path / "export.json"))
    assert numbers(first) == {"knowledge_new": 2}
    second = await services.memories_import.run(made.memory_service_file(tmp_path / "memory.db"))
    assert (second.knowledge_new, second.knowledge_known) == (0, 2)


async def test_notes_of_basic_memory_become_entities_and_hidden_ones_are_left(
    services: Services, tmp_path: Path
) -> None:
    await services.memories_import.run(made.basic_memory_folder(tmp_path / "notes"))
    entities, relations = await graph(services)
    assert [entity.name for entity in entities] == ["Coffee", "Tea"]
    assert entities[0].observations[0] == "[method] Pour over is best #brewing (taste)"
    assert relations == {Relation("Coffee", "Tea", "relates_to")}


async def test_what_its_program_has_not_written_back_yet_is_read_too(
    services: Services, tmp_path: Path
) -> None:
    path = tmp_path / "memory.db"
    with made.foreign(path, made.AI_DEVKIT) as connection:
        made.devkit_item(connection, 1)
        assert path.with_name("memory.db-wal").stat().st_size
        before = state_of(tmp_path)
        report = await services.memories_import.run(path)
        theirs = {name: at for name, at in state_of(tmp_path).items() if "memory.db" in name}
        assert theirs.items() <= before.items()
    assert report.knowledge_new == 1


async def test_a_row_that_cannot_be_read_does_not_hide_the_others(
    services: Services, tmp_path: Path
) -> None:
    path = made.devkit_file(tmp_path / "memory.db", 2)
    with made.foreign(path, "") as connection:
        connection.execute("UPDATE knowledge SET content = CAST(x'ff41' AS TEXT) WHERE rowid = 1")
    report = await services.memories_import.run(path)
    assert report.knowledge_new == 1
    assert [(p.line, p.message) for p in report.problems] == [
        (1, "the row in knowledge cannot be read")
    ]


async def test_knowledge_too_general_for_kmem_is_kept_as_an_observation(
    services: Services, tmp_path: Path
) -> None:
    text = "Always do clean code. Remember this. Best practices. Keep in mind. Do it right."
    with made.foreign(tmp_path / "m.db", made.MEMORY_SERVICE) as connection:
        made.memory(connection, 1, text)
    report = await services.memories_import.run(tmp_path / "m.db")
    assert numbers(report) == {"entities_new": 1, "observations_new": 2}
    assert (await graph(services))[0][0].observations[0] == text


async def test_the_same_title_with_another_text_gets_a_number(
    services: Services, tmp_path: Path
) -> None:
    with made.foreign(tmp_path / "m.db", made.MEMORY_SERVICE) as connection:
        for number in (1, 2, 3):
            body = f"{made.SENTENCE}\nThis is what machine {number} does."
            made.memory(connection, number, body)
    await services.memories_import.run(tmp_path / "m.db")
    titles = sorted(item.title for item in await knowledge(services))
    assert len(titles) == 3
    assert [title.endswith(end) for title, end in zip(titles[:2], ("(2)", "(3)"), strict=True)]
    assert max(map(len, titles)) <= 100
    assert (await services.memories_import.run(tmp_path / "m.db")).knowledge_known == 3


async def test_what_a_person_changed_here_stays_changed(services: Services, tmp_path: Path) -> None:
    path = made.devkit_file(tmp_path / "memory.db", 1)
    await services.memories_import.run(path)
    (item,) = await knowledge(services)
    changed = {"content": "Invoices are rendered by the printer itself; the worker only queues it."}
    await services.knowledge.update(item.id, changed, PERSON)
    assert (await services.memories_import.run(path)).knowledge_new == 0
    (item,) = await knowledge(services)
    assert item.content == changed["content"]


async def test_nothing_of_an_excluded_project_comes_in(services: Services, tmp_path: Path) -> None:
    await services.privacy.exclude(ExclusionKind.PROJECT, "Shop", PERSON)
    report = await services.memories_import.run(made.devkit_file(tmp_path / "memory.db"))
    assert numbers(report) == {"excluded": 3}
    (tmp_path / "other").mkdir()
    await services.memories_import.run(made.mark42_file(tmp_path / "other" / "memory.db"))
    assert [entity.name for entity in (await graph(services))[0]] == ["Redis"]


async def test_progress_is_told_and_an_import_can_be_cancelled_and_finished_later(
    services: Services, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(importing, "STEP", 5)
    path = made.devkit_file(tmp_path / "memory.db", 30)
    cancel = asyncio.Event()
    told: list[MemoryProgress] = []

    def tell(progress: MemoryProgress) -> None:
        told.append(progress)
        cancel.set()

    report = await services.memories_import.run(path, tell=tell, cancel=cancel)
    assert report.was_cancelled
    assert 5 <= report.knowledge_new < 30
    assert told[0] == MemoryProgress(5, 30)
    rest = await services.memories_import.run(path, tell=told.append)
    assert (rest.knowledge_new, rest.was_cancelled) == (30 - report.knowledge_new, False)
    assert told[-1] == MemoryProgress(30, 30)
    await services.memories_import.undo(report.batch, WINDOW)
    assert len(await knowledge(services)) == min(20, rest.knowledge_new)


@pytest.mark.parametrize("content", [b"", b"hello", b"SQLite format 3\0broken", b'{"a": 1}'])
async def test_what_is_no_memory_is_refused_in_plain_words(
    services: Services, tmp_path: Path, content: bytes
) -> None:
    path = tmp_path / "thing.db"
    path.write_bytes(content)
    with pytest.raises(FormatError, match=r"thing\.db (?:is no memory|cannot be read)"):
        await services.memories_import.run(path)
    with pytest.raises(FormatError, match="is not there"):
        await services.memories_import.run(tmp_path / "nothing")


async def test_kmems_own_database_and_folders_of_other_notes_are_nobodys_memory(
    services: Services, tmp_path: Path
) -> None:
    assert await services.memories_import.program_of(services.paths.database) is None
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "a.md").write_text("# A\n- [x] done\n", encoding="utf-8")
    assert await services.memories_import.program_of(tmp_path / "notes") is None


def test_memories_are_found_where_their_programs_keep_them(tmp_path: Path) -> None:
    for folder in (".ai-devkit", ".claude"):
        (tmp_path / folder).mkdir()
    made.devkit_file(tmp_path / ".ai-devkit" / "memory.db")
    made.mark42_file(tmp_path / ".claude" / "memory.db")
    notes = made.basic_memory_folder(tmp_path / "elsewhere")
    found = found_memories(tmp_path, {"BASIC_MEMORY_HOME": str(notes)})
    assert [(each.program, Path(each.path).relative_to(tmp_path)) for each in found] == [
        (MemoryProgram.AI_DEVKIT, Path(".ai-devkit", "memory.db")),
        (MemoryProgram.MARK42, Path(".claude", "memory.db")),
        (MemoryProgram.BASIC_MEMORY, Path("elsewhere")),
    ]
