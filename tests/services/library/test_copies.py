from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from kmem_desktop.bootstrap import Services, opened_services
from kmem_desktop.config import paths
from kmem_desktop.domain.knowledge import Category
from kmem_desktop.domain.library.copies import (
    CopiedEntity,
    CopiedItem,
    CopyFormat,
    CopyPart,
    CopyQuery,
)
from kmem_desktop.domain.sessions.privacy import ExclusionKind
from kmem_desktop.errors import FormatError, InvalidInputError, StoreError
from kmem_desktop.services.library.copy_reading import read_copy
from tests.services.library.library_memory import EVERYTHING, ODD, fill, pieces
from tests.services.memory import ORIGIN, WINDOW, content_of, entity, stored

both_formats = pytest.mark.parametrize("written", CopyFormat)
WIDE = 10**9


@pytest.fixture
async def other(tmp_path: Path, services: Services) -> AsyncIterator[Services]:
    """A second, empty memory."""
    async with opened_services(paths(str(tmp_path / "other.db"))) as opened:
        yield opened


async def copy_of(
    services: Services, written: CopyFormat = CopyFormat.JSON, query: CopyQuery = EVERYTHING
) -> str:
    page = await services.library.exporting.page(query, written, None, WIDE, len)
    assert page.next_cursor is None
    assert page.cut_count == 0
    return page.text


def copies_in(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir() if "copy" in path.name]


@both_formats
async def test_a_copy_brought_into_an_empty_memory_is_the_same_memory(
    services: Services, other: Services, written: CopyFormat
) -> None:
    await fill(services)
    text = await copy_of(services, written)
    report = await other.library.importing.bring_in(text, ORIGIN)
    assert report.problems == ()
    assert report.new == {
        "knowledge": 3,
        "entities": 2,
        "observations": 3,
        "relations": 2,
        "sessions": 1,
        "turns": 2,
        "links": 2,
    }
    assert pieces(await copy_of(other)) == pieces(await copy_of(services))
    assert len(pieces(text)) == 3 + 2 + 2 + 1 + 2


@both_formats
async def test_a_copy_brought_in_twice_is_there_once(
    services: Services, other: Services, written: CopyFormat
) -> None:
    await fill(services)
    text = await copy_of(services, written)
    await other.library.importing.bring_in(text, ORIGIN)
    before = await copy_of(other)
    again = await other.library.importing.bring_in(text, ORIGIN)
    assert (again.new, again.changed, again.batch) == ({}, 0, "")
    assert again.known["knowledge"] == 3
    assert again.known["turns"] == 2
    assert pieces(await copy_of(other)) == pieces(before)
    own = await services.library.importing.bring_in(text, ORIGIN)
    assert own.new == {}


async def test_a_dry_run_tells_the_same_and_writes_nothing(
    services: Services, other: Services
) -> None:
    await fill(services)
    text = await copy_of(services)
    would = await other.library.importing.bring_in(text, ORIGIN, dry_run=True)
    assert (would.is_dry_run, would.batch) == (True, "")
    assert (await other.listing.counts()).knowledge == 0
    assert await other.history.newest() == []
    did = await other.library.importing.bring_in(text, ORIGIN)
    assert did.new == would.new


@both_formats
async def test_pages_brought_in_one_by_one_make_the_whole(
    services: Services, other: Services, written: CopyFormat
) -> None:
    await fill(services)
    for number in range(30):
        await stored(services, f"Rule number {number} of the house")
    await entity(services, "Big", *(f"fact {n} " + "x" * 300 for n in range(60)))
    cursor, count = None, 0
    while True:
        page = await services.library.exporting.page(EVERYTHING, written, cursor, 4_000, len)
        assert len(page.text) <= 4_000 or sum(page.counts.values()) == 1
        assert page.cut_count == 0
        report = await other.library.importing.bring_in(page.text, ORIGIN)
        assert report.problems == ()
        count += 1
        if page.next_cursor is None:
            break
        assert page.next_cursor != cursor
        cursor = page.next_cursor
    assert count > 10

    def known(piece: object) -> object:
        """An item's relation to a turn that came with a later page is not taken."""
        if isinstance(piece, CopiedItem):
            return replace(piece, links=())
        return replace(piece, updated_at=None) if isinstance(piece, CopiedEntity) else piece

    ours, theirs = pieces(await copy_of(services)), pieces(await copy_of(other))
    assert [known(piece) for piece in theirs] == [known(piece) for piece in ours]


async def test_a_text_that_fits_no_page_is_cut_there_and_says_so(services: Services) -> None:
    await entity(services, "Long", "y" * 19_000, kind='"' * 100)
    page = await services.library.exporting.page(EVERYTHING, CopyFormat.JSON, None, 6_000, len)
    assert page.cut_count == 1
    assert page.next_cursor is None
    assert len(page.text) <= 6_000
    assert "kmem export" in page.text


async def test_only_what_was_asked_for_is_copied(services: Services) -> None:
    session = await fill(services)
    await services.knowledge.update(1, {"priority": 9}, WINDOW)
    since = datetime.now(UTC) - timedelta(minutes=5)
    asked = {
        CopyQuery(scope="PROJECT:x"): 1,
        CopyQuery(category=Category.DECISION): 1,
        CopyQuery(tags=("API",)): 2,
        CopyQuery(tags=("api", "with, comma")): 1,
        CopyQuery(session_uuid=session.upper()): 1,
        CopyQuery(since=since): 3,
        CopyQuery(since=datetime.now(UTC) + timedelta(days=1)): 0,
    }
    for query, count in asked.items():
        only = replace(query, parts=(CopyPart.KNOWLEDGE,))
        page = await services.library.exporting.page(only, CopyFormat.JSON, None, WIDE, len)
        assert page.counts.get("knowledge", 0) == count, query
    sessions = CopyQuery(parts=(CopyPart.SESSIONS,), tags=("db",))
    assert len(pieces(await copy_of(services, query=sessions))) == 3


async def test_a_newer_state_in_the_copy_wins_and_an_older_one_does_not(
    services: Services, other: Services
) -> None:
    item = await stored(services, "Answer with DTO classes only")
    old = await copy_of(services)
    await other.library.importing.bring_in(old, ORIGIN)
    await services.knowledge.update(item.id, {"priority": 9}, WINDOW)
    newer = await other.library.importing.bring_in(await copy_of(services), ORIGIN)
    assert (newer.changed, newer.new) == (1, {})
    assert (await other.knowledge.get(item.uuid)).priority == 9
    older = await other.library.importing.bring_in(old, ORIGIN)
    assert (older.changed, older.known) == (0, {"knowledge": 1})
    await other.history.undo_batch(newer.batch, WINDOW)
    assert (await other.knowledge.get(item.uuid)).priority == 5


async def test_knowledge_and_graph_of_a_copy_are_undone_as_a_whole(
    services: Services, other: Services
) -> None:
    await fill(services)
    await stored(other, "What was there before stays there")
    before = await content_of(other)
    text = await copy_of(services, query=CopyQuery())
    report = await other.library.importing.bring_in(text, ORIGIN)
    assert await content_of(other) != before
    await other.history.undo_batch(report.batch, WINDOW)
    assert await content_of(other) == before


async def test_another_text_under_a_known_title_is_left_out_and_told(
    services: Services, other: Services
) -> None:
    await stored(services, "Answer with DTO classes only")
    await stored(other, "Answer with DTO classes only", content="Something else here. " * 4)
    report = await other.library.importing.bring_in(await copy_of(services), ORIGIN)
    assert report.new == {}
    assert "another text" in report.problems[0].message


async def test_secrets_of_a_copy_do_not_reach_the_disk(services: Services, other: Services) -> None:
    await stored(services, "Answer with DTO classes only")
    key = "AKIAQ3EGRIBEW7LMNOPQ"
    text = (await copy_of(services)).replace("DTO classes, so", f"{key}, so")
    assert key in text
    report = await other.library.importing.bring_in(text, ORIGIN)
    assert sum(report.secrets.values()) == 1
    assert key not in await copy_of(other)
    assert sum(count.count for count in await other.privacy.removed()) == 1


async def test_the_reference_memorys_lines_are_taken_and_broken_ones_told(
    services: Services,
) -> None:
    lines = (
        '{"type":"entity","name":"Ada","entityType":"person","observations":["likes tea"]}\n'
        '{"type":"entity","name":"","entityType":"person","observations":[]}\n'
        "{broken\n\n"
        '{"type":"relation","from":"Ada","to":"Bob","relationType":"knows"}\n'
    )
    report = await services.library.importing.bring_in(f"```json\n{lines}```", ORIGIN)
    assert report.new == {"entities": 1, "observations": 1, "relations": 1}
    assert [problem.place for problem in report.problems] == ["line 2", "line 3"]


@pytest.mark.parametrize(
    "text",
    [
        "# Notes\n\nBuy milk",
        "[1, 2]",
        '{"a": 1}',
        "{}",
        '{"kmem_export": 1, "knowledge": [{"id"',
        "x",
    ],
)
async def test_what_is_no_copy_is_refused(services: Services, text: str) -> None:
    with pytest.raises(FormatError):
        await services.library.importing.bring_in(text, ORIGIN)


async def test_an_empty_text_is_refused_by_name(services: Services) -> None:
    with pytest.raises(InvalidInputError, match="content"):
        await services.library.importing.bring_in(" \n", ORIGIN)


def test_bad_pieces_are_told_one_by_one_and_the_rest_is_taken() -> None:
    text = """{"kmem_export": 1, "knowledge": [
        {"title": "Good enough", "content": "A text", "category": "insight"},
        {"title": "", "content": "A text"},
        {"title": "x", "content": "A text", "priority": 11},
        {"title": "x", "content": "A text", "category": "nope"},
        {"title": "x", "content": "A text", "scope": "nowhere"},
        {"title": "x", "content": "A text", "id": "../../etc"},
        {"title": "x", "content": "A text", "created_at": "yesterday"},
        {"title": "x", "content": "\\ud800"}, 7, null],
        "sessions": [{"title": "no id", "turns": [{"role": "user", "text": "hello"}]}]}"""
    copy = read_copy(text)
    assert [type(piece) for piece in copy.pieces] == [CopiedItem]
    assert len(copy.problems) == 10
    assert copy.problems[1].place == "knowledge 3"


@both_formats
async def test_a_file_holds_the_whole_memory(
    services: Services, other: Services, written: CopyFormat, tmp_path: Path
) -> None:
    await fill(services)
    path = tmp_path / "copy"
    counts = await services.library.exporting.to_file(EVERYTHING, written, path)
    assert counts == {"knowledge": 3, "entities": 2, "relations": 2, "sessions": 1, "turns": 2}
    with path.open(encoding="utf-8", newline="") as file:
        await other.library.importing.bring_in(file.read(), ORIGIN)
    assert pieces(await copy_of(other)) == pieces(await copy_of(services))
    assert copies_in(tmp_path) == ["copy"]


async def test_a_file_that_cannot_be_written_is_told(services: Services, tmp_path: Path) -> None:
    path = tmp_path / "nowhere" / "copy.md"
    with pytest.raises(StoreError, match="cannot be written"):
        await services.library.exporting.to_file(EVERYTHING, CopyFormat.MARKDOWN, path)


async def test_a_made_up_cursor_is_refused(services: Services) -> None:
    for cursor in ("x1", "k", "e1", "k-1", "s1.", "k" + "9" * 30):
        with pytest.raises(InvalidInputError, match="cursor"):
            await services.library.exporting.page(EVERYTHING, CopyFormat.JSON, cursor, WIDE, len)


async def test_markdown_reads_well_and_quotes_what_is_stored(services: Services) -> None:
    await fill(services)
    text = await copy_of(services, CopyFormat.MARKDOWN)
    assert "\n### Answer with DTO classes only\n- id: " in text
    assert "\n> Use PostgreSQL.\n" in text
    assert "\n* likes tea\n" in text
    assert "\n## No heading of the copy" not in text
    assert ODD not in text


async def test_conversations_of_a_copy_are_undone_too_and_can_come_again(
    services: Services, other: Services
) -> None:
    await fill(services)
    text = await copy_of(services)
    report = await other.library.importing.bring_in(text, ORIGIN)
    await other.history.undo_batch(report.batch, WINDOW)
    assert await other.recall.list_sessions(state=None) == []
    again = await other.library.importing.bring_in(text, ORIGIN)
    assert again.new["sessions"] == 1
    (session,) = await other.recall.list_sessions(state=None)
    assert session.entry_count == 2


async def test_nothing_of_an_excluded_project_is_taken(services: Services, other: Services) -> None:
    await fill(services)
    await other.privacy.exclude(ExclusionKind.PROJECT, "shop", WINDOW)
    report = await other.library.importing.bring_in(await copy_of(services), ORIGIN)
    assert await other.recall.list_sessions(state=None) == []
    assert any("excluded" in problem.message for problem in report.problems)
    assert report.new["entities"] == 2
