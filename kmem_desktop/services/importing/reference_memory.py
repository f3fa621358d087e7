"""Import of the reference memory server's file: JSON lines of entities and relations.

A dry run does everything the import does, inside a transaction that is thrown away, so that its
report is exact. Lines that are not understood never stop the import: they are reported with their
number and kept in a file of their own beside the database. Secrets are replaced in what is stored,
reported and kept.
"""

import json
import os
import uuid
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from kmem_desktop.domain.changes import Noun, Origin, OriginKind
from kmem_desktop.domain.graph import (
    ENTITY_NAME_LENGTH,
    ENTITY_TYPE_LENGTH,
    OBSERVATION_LENGTH,
    RELATION_TYPE_LENGTH,
    Entity,
    Relation,
)
from kmem_desktop.domain.importing import ImportProblem, ImportReport
from kmem_desktop.errors import FormatError
from kmem_desktop.events import Change, ChangeFeed
from kmem_desktop.services import graph
from kmem_desktop.services.sessions.redacting import SecretFilter, without_secrets
from kmem_desktop.store import graph as graph_rows
from kmem_desktop.store.connection import Connection
from kmem_desktop.store.database import Database
from kmem_desktop.store.sessions import imports

LARGEST_FILE_BYTES = 200 * 1024 * 1024
LARGEST_LINE_BYTES = 8 * 1024 * 1024
SHOWN_TEXT_LENGTH = 200
BYTE_ORDER_MARK = b"\xef\xbb\xbf"


class _DryRun(Exception):  # noqa: N818 - not an error: it carries the report out of the transaction
    def __init__(self, report: ImportReport) -> None:
        super().__init__()
        self.report = report


@dataclass(slots=True)
class _Parsed:
    """What a file says, without the secrets in it."""

    secrets: SecretFilter
    entities: list[tuple[str, str, list[str]]] = field(default_factory=list)
    relations: list[Relation] = field(default_factory=list)
    problems: list[ImportProblem] = field(default_factory=list)
    kept_lines: list[str] = field(default_factory=list)


class ImportingService:
    """Brings memories of other programs in."""

    def __init__(self, database: Database, feed: ChangeFeed) -> None:
        """Write to `database` and tell `feed` what changed."""
        self._database = database
        self._feed = feed

    async def import_reference_memory(self, path: Path, *, dry_run: bool) -> ImportReport:
        """Read a memory.jsonl (or legacy memory.json) of the reference memory server.

        Entities that are there already get the observations they lack; what is there is skipped, so
        that a second run changes nothing.

        Raises:
            FormatError: The file cannot be read, or is too large.
            StoreError: Nothing was imported.
        """
        name = os.fsencode(path.name).decode("utf-8", "replace")  # file names need not be text
        origin = Origin(OriginKind.IMPORT, f"Import of {name}", batch=str(uuid.uuid4()))

        def work(connection: Connection) -> ImportReport:
            parsed = _parse_file(path, SecretFilter(origin.name))
            report = _store(connection, parsed, origin, path)
            if dry_run:
                raise _DryRun(replace(report, dry_run=True, batch=""))
            kept = _keep_lines(self._database.path, path, parsed.kept_lines)
            report = replace(report, kept_lines_path=kept)
            if report.batch:
                _note_import(connection, report)
            return report

        try:
            report = await self._database.write(work)
        except _DryRun as finished:
            return finished.report
        for noun in (Noun.ENTITY, Noun.RELATION):
            self._feed.publish(Change(noun, (), origin))
        return report


def _parse_file(path: Path, secrets: SecretFilter) -> _Parsed:
    parsed = _Parsed(secrets)
    try:
        _refuse_odd_file(path)
        for number, line in _lines(path):
            _parse_line(parsed, number, line)
    except OSError as error:
        raise FormatError(f"{path} cannot be read: {error.strerror}.") from error
    return parsed


def _refuse_odd_file(path: Path) -> None:
    size_bytes = path.stat().st_size
    if not path.is_file():
        raise FormatError(f"{path} is no file.")
    if size_bytes > LARGEST_FILE_BYTES:
        raise FormatError(f"{path} is larger than {LARGEST_FILE_BYTES >> 20} MB.")


def _lines(path: Path) -> Iterator[tuple[int, bytes]]:
    with path.open("rb") as file:
        if file.read(len(BYTE_ORDER_MARK)) != BYTE_ORDER_MARK:
            file.seek(0)
        number = 0
        while line := file.readline(LARGEST_LINE_BYTES):
            number += 1
            if len(line) == LARGEST_LINE_BYTES and not line.endswith(b"\n"):
                while rest := file.readline(LARGEST_LINE_BYTES):
                    if rest.endswith(b"\n"):
                        break
            if line.strip():
                yield number, line


def _parse_line(parsed: _Parsed, number: int, line: bytes) -> None:
    text = line.decode("utf-8", errors="replace").strip()
    try:
        _take(parsed, parsed.secrets.value(_read_json(line)))
    except FormatError as error:
        _note(parsed, number, error.message, text)
    except UnicodeError:
        _note(parsed, number, "not UTF-8 text", text)
    except (ValueError, RecursionError):
        _note(parsed, number, "not valid JSON (cut off?)", text)


def _read_json(line: bytes) -> Any:
    if len(line) == LARGEST_LINE_BYTES:
        raise FormatError(f"longer than {LARGEST_LINE_BYTES >> 20} MB")
    return json.loads(line.decode("utf-8"), parse_constant=_refuse_constant)


def _refuse_constant(name: str) -> None:
    raise FormatError(f"{name} is no number")


def _note(parsed: _Parsed, number: int, message: str, text: str) -> None:
    kept = without_secrets(text)
    parsed.problems.append(ImportProblem(number, message, kept[:SHOWN_TEXT_LENGTH]))
    parsed.kept_lines.append(kept)


def _take(parsed: _Parsed, value: Any) -> None:
    if not isinstance(value, dict):
        raise FormatError("not an object")
    kind = value.get("type")
    if kind == "entity":
        name = _text(value, ("name", "entityName", "id"), ENTITY_NAME_LENGTH)
        entity_type = _text(value, ("entityType", "entity_type"), ENTITY_TYPE_LENGTH)
        parsed.entities.append((name, entity_type, _observations(value)))
    elif kind == "relation":
        parsed.relations.append(
            Relation(
                _text(value, ("from", "from_id"), ENTITY_NAME_LENGTH),
                _text(value, ("to", "to_id"), ENTITY_NAME_LENGTH),
                _text(value, ("relationType", "relation_type"), RELATION_TYPE_LENGTH),
            )
        )
    else:
        raise FormatError(f"unknown type {str(kind)[:40]!r}")


def _text(value: dict[str, Any], keys: tuple[str, ...], longest: int) -> str:
    for key in keys:
        if key in value:
            return _checked(value[key], key, longest)
    raise FormatError(f"{keys[0]} is missing")


def _observations(value: dict[str, Any]) -> list[str]:
    observations = value.get("observations", [])
    if not isinstance(observations, list):
        raise FormatError("observations must be a list")
    return [_checked(text, "observation", OBSERVATION_LENGTH) for text in observations]


def _checked(text: Any, name: str, longest: int) -> str:
    if not isinstance(text, str):
        raise FormatError(f"{name} must be text")
    if not text.strip():
        raise FormatError(f"{name} is empty")
    if len(text) > longest:
        raise FormatError(f"{name} is longer than {longest} characters")
    text.encode("utf-8")  # a lone surrogate cannot be stored: UnicodeError, reported as such
    return text


def _store(connection: Connection, parsed: _Parsed, origin: Origin, path: Path) -> ImportReport:
    now = datetime.now(UTC)
    new = known = observations = relations = known_relations = dangling = 0
    for name, entity_type, contents in parsed.entities:
        entity_id = graph.add_entity(connection, Entity(name, entity_type), origin, now)
        if entity_id is None:
            known += 1
        else:
            new += 1
        row = graph_rows.find_entity(connection, name)
        if row is not None:
            added = graph.add_contents(connection, (row[0], name), contents, origin, now)
            observations += len(added)
    for relation in parsed.relations:
        if graph.add_relation(connection, relation, origin, now) is None:
            known_relations += 1
            continue
        relations += 1
        ends = {relation.from_name, relation.to_name}
        dangling += len(graph_rows.entity_ids(connection, ends)) < len(ends)
    if new or observations or relations:
        parsed.secrets.note(connection, now)
    return ImportReport(
        path=str(path),
        dry_run=False,
        entities_new=new,
        entities_known=known,
        observations_new=observations,
        relations_new=relations,
        relations_known=known_relations,
        dangling_relations=dangling,
        problems=tuple(parsed.problems),
        secrets_removed=dict(parsed.secrets.counts),
        batch=origin.batch if new or observations or relations else "",
    )


def _note_import(connection: Connection, report: ImportReport) -> None:
    """List the import among those that can be undone."""
    now = datetime.now(UTC)
    path = os.fsencode(report.path).decode("utf-8", "replace")
    number = imports.begin(connection, report.batch, report.program.value, path, now)
    problems = [problem.message for problem in report.problems]
    facts = {**asdict(report), "path": path, "kept_lines_path": "", "problems": problems}
    imports.report(connection, number, facts, now)


def _keep_lines(database: Path, source: Path, lines: list[str]) -> str:
    """Keep the lines that were not understood, once, so that nothing of the file is lost."""
    if not lines:
        return ""
    text = "\n".join(lines) + "\n"
    folder = database.parent / "not-imported"
    folder.mkdir(mode=0o700, exist_ok=True)
    target = folder / f"{source.stem[:80]}-{uuid.uuid5(uuid.NAMESPACE_OID, text).hex[:12]}.jsonl"
    if not target.exists():
        target.touch(mode=0o600)
        target.write_text(text, encoding="utf-8")
    return str(target)
