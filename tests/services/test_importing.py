import json
import os
import stat
from pathlib import Path
from typing import Any

import pytest

from kmem_desktop.bootstrap import Services
from kmem_desktop.domain.changes import OriginKind
from kmem_desktop.domain.graph import Entity, Relation
from kmem_desktop.domain.importing import ImportReport
from kmem_desktop.errors import FormatError
from kmem_desktop.events import Change
from kmem_desktop.services.importing import reference_memory as importing
from tests.services.memory import EVERYTHING, ORIGIN, WINDOW, content_of, entity, stored

NUMBERS = (
    "entities_new",
    "entities_known",
    "observations_new",
    "relations_new",
    "relations_known",
    "dangling_relations",
)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "memory.jsonl"


def line(**fields: object) -> str:
    return json.dumps(fields)


def an_entity(name: str, *observations: str, kind: str = "thing") -> str:
    return line(type="entity", name=name, entityType=kind, observations=observations)


def a_relation(start: str, end: str, kind: str = "knows") -> str:
    return line(type="relation", to=end, relationType=kind, **{"from": start})


def write(file: Path, *lines: str) -> None:
    write_bytes(file, "\n".join(lines).encode())  # no line end at the end, as in the reference


def write_bytes(file: Path, content: bytes) -> None:
    file.write_bytes(content)


def read_text(file: str) -> str:
    return Path(file).read_text(encoding="utf-8")


async def run(services: Services, file: Path, *, dry_run: bool = False) -> ImportReport:
    return await services.importing.import_reference_memory(file, dry_run=dry_run)


def numbers(report: ImportReport) -> dict[str, int]:
    """Return the numbers of a report that are not nought."""
    return {name: getattr(report, name) for name in NUMBERS if getattr(report, name)}


async def everything(services: Services) -> tuple[tuple[Entity, ...], tuple[Relation, ...]]:
    graph = await services.graph.read(None, EVERYTHING)
    return graph.entities, graph.relations


async def test_a_file_of_the_reference_server_is_taken_over(services: Services, file: Path) -> None:
    write(file, an_entity("Ada", "likes tea", "writes"), an_entity("Bob"), a_relation("Ada", "Bob"))
    report = await run(services, file)
    assert numbers(report) == {"entities_new": 2, "observations_new": 2, "relations_new": 1}
    assert report.problems == ()
    assert report.path == str(file)
    assert not report.dry_run
    assert await everything(services) == (
        (Entity("Ada", "thing", ("likes tea", "writes")), Entity("Bob", "thing")),
        (Relation("Ada", "Bob", "knows"),),
    )


async def test_importing_again_changes_nothing(services: Services, file: Path) -> None:
    write(file, an_entity("Ada", "likes tea"), a_relation("Ada", "Ghost"), "{broken")
    first = await run(services, file)
    before = await content_of(services)
    again = await run(services, file)
    assert numbers(again) == {"entities_known": 1, "relations_known": 1}
    assert again.batch == ""
    assert again.kept_lines_path == first.kept_lines_path
    assert await content_of(services) == before


async def test_what_is_there_gets_the_observations_it_lacks(services: Services, file: Path) -> None:
    await entity(services, "Ada", "likes tea", kind="person")
    write(file, an_entity("Ada", "likes tea", "swims", kind="machine"))
    report = await run(services, file)
    assert numbers(report) == {"entities_known": 1, "observations_new": 1}
    assert (await everything(services))[0] == (Entity("Ada", "person", ("likes tea", "swims")),)


async def test_observations_of_one_name_are_merged(services: Services, file: Path) -> None:
    write(file, an_entity("Ada", "a", "a"), an_entity("Ada", "a", "b", kind="x"))
    report = await run(services, file)
    assert numbers(report) == {"entities_new": 1, "entities_known": 1, "observations_new": 2}
    assert (await everything(services))[0] == (Entity("Ada", "thing", ("a", "b")),)


async def test_dangling_relations_are_kept_and_counted(services: Services, file: Path) -> None:
    write(
        file,
        a_relation("Ada", "Bob"),
        a_relation("Ada", "Ghost"),
        a_relation("Ghost", "Ghost"),
        an_entity("Ada"),
        an_entity("Bob"),
    )
    report = await run(services, file)
    assert (report.relations_new, report.dangling_relations) == (3, 2)


async def test_older_keys_are_understood(services: Services, file: Path) -> None:
    write(
        file,
        line(type="entity", entityName="Ada", entity_type="person", observations=["a"]),
        line(type="entity", id="Bob", entityType="person"),
        line(type="relation", from_id="Ada", to_id="Bob", relation_type="knows"),
    )
    assert (await run(services, file)).problems == ()
    assert await everything(services) == (
        (Entity("Ada", "person", ("a",)), Entity("Bob", "person")),
        (Relation("Ada", "Bob", "knows"),),
    )


async def test_unknown_keys_are_passed_over(services: Services, file: Path) -> None:
    write(file, line(type="entity", name="Ada", entityType="t", observations=[], more={"x": 1}))
    assert numbers(await run(services, file)) == {"entities_new": 1}


async def test_line_ends_blank_lines_and_marks_do_not_matter(
    services: Services, file: Path
) -> None:
    text = f"\r\n\r\n{an_entity('Ada', 'a')}\r\n   \r\n{an_entity('Bob')}\r\n\r\n"
    write_bytes(file, b"\xef\xbb\xbf" + text.encode())
    report = await run(services, file)
    assert numbers(report) == {"entities_new": 2, "observations_new": 1}
    assert report.problems == ()


async def test_a_mark_before_the_first_line_is_no_part_of_it(
    services: Services, file: Path
) -> None:
    write_bytes(file, b"\xef\xbb\xbf" + an_entity("Ada").encode())
    assert numbers(await run(services, file)) == {"entities_new": 1}


BAD_LINES = [
    ('{"type":"entity","name":"Cut', "cut off"),
    ("not json", "not valid JSON"),
    ("[1, 2]", "not an object"),
    ('"text"', "not an object"),
    ("null", "not an object"),
    ("17", "not an object"),
    ("NaN", "NaN is no number"),
    ('{"type":"entity","name":"A","entityType":"t","x":Infinity}', "Infinity is no number"),
    ('{"type":"entity","name":"A","entityType":"t","observations":[1e999]}', "must be text"),
    ('{"type":"entity","name":"A","entityType":"t","observations":"one"}', "must be a list"),
    ('{"type":"entity","name":"A","entityType":"t","observations":[null]}', "must be text"),
    ('{"type":"entity","name":"A","entityType":"t","observations":[""]}', "observation is empty"),
    ('{"type":"entity","name":"","entityType":"t"}', "name is empty"),
    ('{"type":"entity","name":42,"entityType":"t"}', "name must be text"),
    ('{"type":"entity","name":null,"entityType":"t"}', "name must be text"),
    ('{"type":"entity","entityType":"t"}', "name is missing"),
    ('{"type":"entity","name":"A"}', "entityType is missing"),
    ('{"type":"relation","from":"A","relationType":"x"}', "to is missing"),
    ('{"type":"relation","from":"A","to":["B"],"relationType":"x"}', "to must be text"),
    ('{"type":"unknown","x":1}', "unknown type 'unknown'"),
    ('{"name":"A","entityType":"t"}', "unknown type 'None'"),
    ('{"type":{"deep":1}}', "unknown type"),
    ('{"type":"entity","name":"\\ud800","entityType":"t"}', "not UTF-8"),
    ('{"type":"entity","name":"A","entityType":"t","observations":["\\udfff"]}', "not UTF-8"),
    ("1" * 5000, "not valid JSON"),
    ('{"a":' * 50_000, "not valid JSON"),
    (line(type="entity", name="x" * 501, entityType="t"), "longer than 500"),
    (line(type="entity", name="x", entityType="t" * 201), "longer than 200"),
    (line(type="entity", name="x", entityType="t", observations=["o" * 20_001]), "than 20000"),
]


@pytest.mark.parametrize(("bad", "says"), BAD_LINES)
async def test_a_line_that_is_not_understood_is_told_and_kept(
    services: Services, file: Path, bad: str, says: str
) -> None:
    write(file, an_entity("Ada"), bad, an_entity("Bob"))
    report = await run(services, file)
    assert report.entities_new == 2
    (problem,) = report.problems
    assert problem.line == 2
    assert says in problem.message
    assert bad.startswith(problem.text)
    assert len(problem.text) <= importing.SHOWN_TEXT_LENGTH
    assert read_text(report.kept_lines_path) == bad + "\n"


async def test_bytes_that_are_no_text_are_told(services: Services, file: Path) -> None:
    write_bytes(file, an_entity("Ada").encode() + b'\n{"type":"entity","name":"\xff\xfe"}\n')
    report = await run(services, file)
    assert report.entities_new == 1
    assert [(p.line, p.message) for p in report.problems] == [(2, "not UTF-8 text")]


async def test_kept_lines_are_private_and_beside_the_database(
    services: Services, file: Path
) -> None:
    write(file, "broken")
    kept = Path((await run(services, file)).kept_lines_path)
    assert kept.parent == services.paths.database.parent / "not-imported"
    if os.name == "posix":
        assert stat.S_IMODE(kept.stat().st_mode) == 0o600  # noqa: ASYNC240
        assert stat.S_IMODE(kept.parent.stat().st_mode) == 0o700


async def test_a_very_long_line_is_one_problem(
    services: Services, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(importing, "LARGEST_LINE_BYTES", 2000)
    exact = an_entity("Exact", "x" * (1999 - len(an_entity("Exact", ""))))
    assert len(exact) == 1999
    long = an_entity("Long", "x" * 9000)
    for mark in ("", "\ufeff"):
        write(file, mark + long, an_entity("Ada"), long, exact, an_entity(f"Bob{mark}"))
        report = await run(services, file)
        assert [problem.line for problem in report.problems] == [1, 3, 4]
        assert "longer than" in report.problems[0].message
    assert [e.name for e in (await everything(services))[0]] == ["Ada", "Bob", "Bob\ufeff"]


async def test_a_dry_run_writes_nothing_and_tells_exactly_what_the_import_does(
    services: Services, file: Path
) -> None:
    await entity(services, "Ada", "likes tea")
    write(
        file,
        an_entity("Ada", "likes tea", "swims"),
        an_entity("Bob", "x"),
        a_relation("Ada", "Ghost"),
        *(bad for bad, _ in BAD_LINES),
    )
    before = await content_of(services)
    files = sorted(services.paths.database.parent.iterdir())
    history = await services.history.newest()
    seen: list[Change] = []
    services.feed.subscribe(seen.append)
    dry = await run(services, file, dry_run=True)
    assert await content_of(services) == before
    assert await services.history.newest() == history
    assert sorted(services.paths.database.parent.iterdir()) == files
    assert seen == []
    assert dry.dry_run
    assert dry.batch == dry.kept_lines_path == ""
    real = await run(services, file)
    assert numbers(dry) == numbers(real)
    assert dry.problems == real.problems


async def test_a_whole_import_is_taken_back_at_once(services: Services, file: Path) -> None:
    await entity(services, "Ada", "likes tea")
    await stored(services, "An item that has to stay")
    before = await content_of(services)
    write(
        file,
        an_entity("Ada", "likes tea", "swims"),
        an_entity("Bob", "x", "y"),
        an_entity("Cleo"),
        a_relation("Ada", "Bob"),
        a_relation("Ada", "Ghost"),
    )
    report = await run(services, file)
    await services.graph.delete_entities(["Cleo"], ORIGIN)
    assert await services.history.undo_batch(report.batch, WINDOW) > 0
    assert await content_of(services) == before
    assert await services.history.undo_batch(report.batch, WINDOW) == 0
    assert numbers(await run(services, file))["entities_new"] == 2


async def test_what_was_deleted_and_restored_is_taken_back_with_its_import(
    services: Services, file: Path
) -> None:
    write(file, an_entity("Ada", "likes tea"))
    report = await run(services, file)
    changes = await services.graph.delete_entities(["Ada"], ORIGIN)
    await services.history.undo(changes[0], WINDOW)
    await services.history.undo_batch(report.batch, WINDOW)
    assert await everything(services) == ((), ())


async def test_an_import_is_published_and_its_origin_named(services: Services, file: Path) -> None:
    write(file, an_entity("Ada"))
    seen: list[Change] = []
    services.feed.subscribe(seen.append)
    report = await run(services, file)
    assert seen
    assert all(change.ids == () for change in seen)
    origin = (await services.history.newest(1))[0].origin
    assert origin.kind is OriginKind.IMPORT
    assert origin.name == "Import of memory.jsonl"
    assert origin.batch == report.batch


@pytest.mark.parametrize("content", [b"", b"\n\n\r\n  \n", b"\xef\xbb\xbf"])
async def test_an_empty_file_brings_nothing(services: Services, file: Path, content: bytes) -> None:
    write_bytes(file, content)
    report = await run(services, file)
    assert numbers(report) == {}
    assert (report.problems, report.batch) == ((), "")


async def test_a_file_that_cannot_be_read_is_told(
    services: Services, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(FormatError, match="cannot be read: No such file"):
        await run(services, tmp_path / "missing.jsonl")
    with pytest.raises(FormatError, match="is no file"):
        await run(services, tmp_path)
    big = tmp_path / "big.jsonl"
    big.write_bytes(b"x" * 2000)
    monkeypatch.setattr(importing, "LARGEST_FILE_BYTES", 1999)
    with pytest.raises(FormatError, match="larger than"):
        await run(services, big)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="a pipe with a name")
async def test_a_pipe_is_not_waited_for(services: Services, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.jsonl")
    with pytest.raises(FormatError, match="is no file"):
        await run(services, tmp_path / "pipe.jsonl")


@pytest.mark.skipif(os.name != "posix", reason="names are bytes")
async def test_a_file_name_that_is_no_text_is_taken(services: Services, tmp_path: Path) -> None:
    path = tmp_path / os.fsdecode(b"bad-\xff-name.jsonl")
    write(path, an_entity("Ada"), "broken")
    assert (await run(services, path)).entities_new == 1


async def test_the_files_of_the_corpus_end_as_they_should(
    services: Services, bad_input: Path
) -> None:
    rows = (bad_input / "expectations.jsonl").read_text(encoding="utf-8").splitlines()
    files: dict[str, dict[str, Any]] = {row["file"]: row for row in map(json.loads, rows)}
    jsonl = [name for name in files if name.endswith(".jsonl")]
    assert len(jsonl) == 7
    reports = {Path(name).name: await run(services, bad_input / name) for name in jsonl}
    reference = reports.pop("reference-memory.jsonl")
    assert numbers(reference) == {
        "entities_new": 1,
        "entities_known": 1,
        "observations_new": 1,
        "relations_new": 1,
        "dangling_relations": 1,
    }
    assert [problem.line for problem in reference.problems] == [4, 5]
    # The others hold no memory of the reference server: each line is told, none is taken.
    for report in reports.values():
        assert numbers(report) == {}
        assert report.problems
    assert [p.line for p in reports["truncated.jsonl"].problems] == [1, 2]
    assert [p.line for p in reports["crlf-blank-lines.jsonl"].problems] == [3]
    assert [p.line for p in reports["wrong-types.jsonl"].problems] == [1, 2, 3, 4, 5, 6]
