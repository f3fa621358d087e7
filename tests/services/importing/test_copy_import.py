"""A copy that kmem saved goes through the same door as every other import."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from kmem_desktop.bootstrap import Services, opened_services
from kmem_desktop.config import paths
from kmem_desktop.domain.changes import Noun, OriginKind
from kmem_desktop.domain.importing import MemoryProgress
from kmem_desktop.domain.library.copies import CopyFormat, CopyReport
from kmem_desktop.services.importing.any_import import Progress
from tests.services.library.library_memory import EVERYTHING, fill
from tests.services.memory import WINDOW, content_of

both_formats = pytest.mark.parametrize("written", CopyFormat)


@pytest.fixture
async def other(tmp_path: Path) -> AsyncIterator[Services]:
    """A second, empty memory."""
    async with opened_services(paths(str(tmp_path / "other.db"))) as opened:
        yield opened


async def copied(services: Services, file: Path, written: CopyFormat) -> Path:
    """Save a copy of a filled memory."""
    await fill(services)
    await services.library.exporting.to_file(EVERYTHING, written, file)
    return file


@both_formats
async def test_a_copy_is_recognised_whatever_its_name_and_taken_back_as_a_whole(
    services: Services, other: Services, tmp_path: Path, written: CopyFormat
) -> None:
    file = await copied(services, tmp_path / "conversations.txt", written)
    assert await other.imports.kind_of(file) is written
    empty = await content_of(other)
    heard: list[Progress] = []
    rehearsal = await other.imports.run(file, WINDOW, dry_run=True, tell=heard.append)
    assert isinstance(rehearsal, CopyReport)
    assert rehearsal.is_dry_run
    assert rehearsal.batch == ""
    assert await content_of(other) == empty
    report = await other.imports.run(file, WINDOW)
    assert isinstance(report, CopyReport)
    assert (report.new, report.path) == (rehearsal.new, str(file))
    assert await content_of(other) == await content_of(services)
    assert isinstance(heard[0], MemoryProgress)
    assert heard[0].total > 0
    (record,) = await other.imports.list_imports()
    assert (record.uuid, record.kind) == (report.batch, "kmem")
    newest = next(e for e in await other.history.newest(50) if e.noun is Noun.KNOWLEDGE)
    assert (newest.origin.kind, newest.origin.name) == (
        OriginKind.IMPORT,
        "Import of conversations.txt",
    )
    assert await other.imports.undo(report.batch, WINDOW) > 0
    assert await content_of(other) == empty
    assert await other.recall.list_sessions(limit=10) == []
    (record,) = await other.imports.list_imports()
    assert record.undone_at is not None


async def test_a_copy_that_is_stopped_leaves_nothing_behind(
    services: Services, other: Services, tmp_path: Path
) -> None:
    file = await copied(services, tmp_path / "copy.json", CopyFormat.JSON)
    empty = await content_of(other)
    cancel = asyncio.Event()
    cancel.set()
    report = await other.imports.run(file, WINDOW, cancel=cancel)
    assert isinstance(report, CopyReport)
    assert report.was_cancelled
    assert (dict(report.new), report.batch) == ({}, "")
    assert await content_of(other) == empty
    assert await other.imports.list_imports() == []
