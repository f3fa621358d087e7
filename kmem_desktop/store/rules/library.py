"""Rows of `rules`, their sections and directives; the text of a directive is a document."""

import json
import uuid as uuids
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from typing import Any

from kmem_desktop.domain.changes import Noun
from kmem_desktop.domain.rule_library import StoredDirective, StoredRule
from kmem_desktop.domain.rules import (
    CodeExample,
    Directive,
    Layer,
    ParseNote,
    RuleDocument,
    RuleFormat,
    RuleSection,
    RuleStatus,
    Severity,
)
from kmem_desktop.store import documents
from kmem_desktop.store.connection import Connection

_RULE = (
    "r.id, r.uuid, r.folder_id, r.path, r.name, r.format, r.layer, r.description,"
    " r.authoritative_for, r.topics, r.when_to_apply, r.globs, r.always_apply, r.scope,"
    " r.is_edited, r.news IS NOT NULL, {notes}, r.stored_by, r.updated_at, r.tokens,"
    " (SELECT path FROM rule_folders WHERE id = r.folder_id)"
)
_RULE_COLUMNS = 21
_WITH_NOTES = _RULE.format(notes="r.notes")
_WITHOUT_NOTES = _RULE.format(notes="'[]'")
"""A long document has hundreds of notes; a query reads sixty documents, and shows none of them."""
_DIRECTIVE = (
    "d.id, d.uuid, d.section, d.text, d.line, d.severity, d.prohibits, d.rationale, d.examples,"
    " d.anti_patterns, d.topics, d.layer, d.when_to_apply, d.status, d.is_edited"
)


@dataclass(frozen=True, slots=True)
class NewRule:
    """A parsed document on its way into the store.

    Attributes:
        document: What it says.
        source: Its text.
        scope: `global` or `project:<name>`.
        folder_id: The folder it was read from.
        stored_by: Who submitted it.
        tokens: About how many tokens it has.
    """

    document: RuleDocument
    source: str
    scope: str
    folder_id: int | None
    stored_by: str
    tokens: int


def find_rule(connection: Connection, path: str, scope: str) -> StoredRule | None:
    """Return the document of this path and scope, or None."""
    query = f"SELECT {_WITH_NOTES} FROM rules AS r WHERE r.path = ? AND r.scope = ?"
    row = connection.execute(query, (path, scope)).fetchone()
    return _rule(row) if row else None


def get_rule(connection: Connection, rule_id: int) -> StoredRule | None:
    """Return the document with this number, with the counts of its directives, or None."""
    found = list_rules(connection, rule_id=rule_id)
    return found[0] if found else None


def list_rules(
    connection: Connection, *, folder_id: int | None = None, rule_id: int | None = None
) -> list[StoredRule]:
    """Return documents with the counts of their directives, by scope and path."""
    query = (
        f"SELECT {_WITH_NOTES}, count(d.id), coalesce(sum(d.status = 'proposed'), 0)"
        " FROM rules AS r"
        " LEFT JOIN directives AS d ON d.rule_id = r.id AND d.status <> 'rejected'"
        " WHERE (?1 IS NULL OR r.folder_id = ?1) AND (?2 IS NULL OR r.id = ?2)"
        " GROUP BY r.id ORDER BY r.scope, r.path"
    )
    rows = connection.execute(query, (folder_id, rule_id))
    return [
        replace(_rule(row), directives=row[_RULE_COLUMNS], proposed=row[_RULE_COLUMNS + 1])
        for row in rows
    ]


def source_of(connection: Connection, rule_id: int) -> tuple[str, str | None]:
    """Return a document's text as it was read, and what its file says since a person's edit."""
    row = connection.execute("SELECT source, news FROM rules WHERE id = ?", (rule_id,)).fetchone()
    return (row[0], row[1]) if row else ("", None)


def insert(connection: Connection, rule: NewRule, status: RuleStatus, now: datetime) -> int:
    """Add a document with its sections and directives; return its number."""
    at = now.isoformat()
    columns = {**_columns(rule, at), "uuid": str(uuids.uuid4()), "path": rule.document.path}
    columns |= {"scope": rule.scope, "stored_by": rule.stored_by, "created_at": at}
    names = ", ".join(columns)
    marks = ", ".join("?" * len(columns))
    connection.execute(
        f"INSERT INTO rules ({names}) VALUES ({marks})",
        tuple(columns.values()),
    )
    rule_id = connection.last_insert_rowid()
    _put_sections(connection, rule_id, rule.document.sections)
    for position, directive in enumerate(rule.document.directives):
        insert_directive(connection, rule_id, rule, position, directive, status, now)
    return rule_id


def replace_rule(
    connection: Connection, rule_id: int, rule: NewRule, status: RuleStatus, now: datetime
) -> tuple[int, int]:
    """Read a document anew: what still says the same keeps its id, its state and its vector.

    Returns:
        How many directives are new, and how many are gone.
    """
    columns = {**_columns(rule, now.isoformat()), "news": None, "is_edited": 0}
    sets = ", ".join(f"{name} = ?" for name in columns)
    connection.execute(f"UPDATE rules SET {sets} WHERE id = ?", (*columns.values(), rule_id))
    connection.execute("DELETE FROM rule_sections WHERE rule_id = ?", (rule_id,))
    _put_sections(connection, rule_id, rule.document.sections)
    rows = connection.execute(
        "SELECT id, section, text FROM directives WHERE rule_id = ? AND is_edited = 0", (rule_id,)
    )
    known: dict[tuple[str, str], list[int]] = {}
    for row in rows:
        known.setdefault((row[1], row[2]), []).append(row[0])
    new = 0
    for position, directive in enumerate(rule.document.directives):
        same = known.get((directive.section, directive.text))
        if same:
            update_directive(connection, same.pop(0), rule, position, directive, now)
        else:
            insert_directive(connection, rule_id, rule, position, directive, status, now)
            new += 1
    gone = [i for ids in known.values() for i in ids]
    gone += _edited_ids(connection, rule_id)
    documents.delete(connection, gone)
    return new, len(gone)


def _edited_ids(connection: Connection, rule_id: int) -> list[int]:
    query = "SELECT id FROM directives WHERE rule_id = ? AND is_edited = 1"
    return [row[0] for row in connection.execute(query, (rule_id,))]


def add_directives(
    connection: Connection,
    rule_id: int,
    rule: NewRule,
    directives: Sequence[Directive],
    now: datetime,
) -> None:
    """Add proposed directives to a document that a person has approved."""
    query = "SELECT coalesce(max(position), -1) + 1 FROM directives WHERE rule_id = ?"
    start = int(connection.execute(query, (rule_id,)).get)
    for position, directive in enumerate(directives, start):
        insert_directive(connection, rule_id, rule, position, directive, RuleStatus.PROPOSED, now)


def insert_directive(
    connection: Connection,
    rule_id: int,
    rule: NewRule,
    position: int,
    directive: Directive,
    status: RuleStatus,
    now: datetime,
) -> int:
    """Add one directive; return its id."""
    document_id = documents.insert(
        connection, _document(rule.document.name, directive, rule.stored_by, rule.scope), now
    )
    columns = {
        "id": document_id,
        "uuid": str(uuids.uuid4()),
        "rule_id": rule_id,
        "position": position,
        "status": status.value,
        **_directive_columns(directive),
    }
    connection.execute(
        f"INSERT INTO directives ({', '.join(columns)}) VALUES ({', '.join('?' * len(columns))})",
        tuple(columns.values()),
    )
    return document_id


def update_directive(
    connection: Connection,
    directive_id: int,
    rule: NewRule,
    position: int,
    directive: Directive,
    now: datetime,
) -> None:
    """Write what a document says now of a directive that it said before."""
    _write_directive(connection, directive_id, {"position": position}, directive)
    document = _document(rule.document.name, directive, rule.stored_by, rule.scope)
    documents.replace(connection, directive_id, document, now)


def edit_directive(
    connection: Connection, stored: StoredDirective, directive: Directive, now: datetime
) -> None:
    """Write what a person makes of a directive; its document counts as edited."""
    _write_directive(connection, stored.id, {"is_edited": 1, "traits": None}, directive)
    document = _document(stored.rule.name, directive, stored.rule.stored_by, stored.rule.scope)
    documents.replace(connection, stored.id, document, now)
    connection.execute("UPDATE rules SET is_edited = 1 WHERE id = ?", (stored.rule.id,))


def _write_directive(
    connection: Connection, directive_id: int, others: Mapping[str, Any], directive: Directive
) -> None:
    columns = {**others, **_directive_columns(directive)}
    sets = ", ".join(f"{name} = ?" for name in columns)
    connection.execute(
        f"UPDATE directives SET {sets} WHERE id = ?", (*columns.values(), directive_id)
    )


def set_status(connection: Connection, directive_ids: Iterable[int], status: RuleStatus) -> int:
    """Approve, reject, or propose again; return how many there were."""
    query = "UPDATE directives SET status = ? WHERE id IN (SELECT value FROM json_each(?))"
    connection.execute(query, (status.value, json.dumps(list(directive_ids))))
    return int(connection.changes())


def set_news(connection: Connection, rule_id: int, source: str | None) -> None:
    """Keep what a file says now beside what a person made of it here."""
    connection.execute("UPDATE rules SET news = ? WHERE id = ?", (source, rule_id))


def delete_rules(connection: Connection, rule_ids: Iterable[int]) -> list[int]:
    """Remove documents with their directives; return the directives' ids."""
    numbers = json.dumps(list(rule_ids))
    query = "SELECT id FROM directives WHERE rule_id IN (SELECT value FROM json_each(?))"
    gone = [row[0] for row in connection.execute(query, (numbers,))]
    documents.delete(connection, gone)
    connection.execute("DELETE FROM rules WHERE id IN (SELECT value FROM json_each(?))", (numbers,))
    return gone


def get_directives(connection: Connection, ids: Iterable[int]) -> dict[int, StoredDirective]:
    """Return the directives that exist among `ids`, by id."""
    query = (
        f"SELECT d.rule_id, {_DIRECTIVE} FROM json_each(?) AS wanted"
        " CROSS JOIN directives AS d ON d.id = wanted.value"
    )
    rows: list[tuple[Any, ...]] = connection.execute(query, (json.dumps(list(ids)),)).fetchall()
    rules = _rules_of(connection, {row[0] for row in rows})
    return {row[1]: _directive(row[1:], rules[row[0]]) for row in rows}


def directives_of(connection: Connection, rule_id: int) -> list[StoredDirective]:
    """Return a document's directives in their order, rejected ones too."""
    rule = get_rule(connection, rule_id)
    if rule is None:
        return []
    query = f"SELECT {_DIRECTIVE} FROM directives AS d WHERE rule_id = ? ORDER BY position, id"
    return [_directive(row, rule) for row in connection.execute(query, (rule_id,))]


def directive_ids(connection: Connection, *, status: RuleStatus | None = None) -> list[int]:
    """Return the ids of all directives, or of those in a state."""
    query = "SELECT id FROM directives WHERE ?1 IS NULL OR status = ?1 ORDER BY rule_id, position"
    return [row[0] for row in connection.execute(query, (status and status.value,))]


def count_directives(connection: Connection, scopes: Sequence[str] = ()) -> int:
    """Return how many directives there are that nobody rejected."""
    if not scopes:
        query = "SELECT count(*) FROM directives WHERE status IN ('approved', 'proposed')"
        return int(connection.execute(query).get)
    query = (
        "SELECT count(*) FROM rules AS r JOIN directives AS d ON d.rule_id = r.id"
        " WHERE d.status <> 'rejected' AND r.scope IN (SELECT value FROM json_each(?))"
    )
    return int(connection.execute(query, (json.dumps(list(scopes)),)).get)


def stamp(connection: Connection) -> str:
    """Return what changes whenever a directive comes, goes, or says something else.

    Empty where there are none.
    """
    query = "SELECT count(*), max(updated_at) FROM documents WHERE noun = ?"
    row = connection.execute(query, (Noun.DIRECTIVE.value,)).fetchone()
    return f"{row[0]} {row[1]}" if row and row[0] else ""


def count_tokens(connection: Connection, scopes: Sequence[str] = ()) -> int:
    """Return about how many tokens all documents have together."""
    query = (
        "SELECT coalesce(sum(tokens), 0) FROM rules"
        " WHERE ?1 = '[]' OR scope IN (SELECT value FROM json_each(?1))"
    )
    return int(connection.execute(query, (json.dumps(list(scopes)),)).get)


def sections_of(connection: Connection, rule_id: int) -> list[RuleSection]:
    """Return a document's parts in their order."""
    query = "SELECT name, line, content FROM rule_sections WHERE rule_id = ? ORDER BY position"
    return [RuleSection(*row) for row in connection.execute(query, (rule_id,))]


def get_traits(connection: Connection, ids: Iterable[int], version: str) -> dict[int, bytes]:
    """Return the traits that were kept for some directives."""
    query = (
        "SELECT d.id, d.traits FROM json_each(?) AS wanted"
        " CROSS JOIN directives AS d ON d.id = wanted.value"
        " WHERE d.traits_version = ? AND d.traits IS NOT NULL"
    )
    return dict(connection.execute(query, (json.dumps(list(ids)), version)))


def without_traits(connection: Connection, version: str, limit: int) -> list[int]:
    """Return directives whose traits are still to be made."""
    query = "SELECT id FROM directives WHERE traits IS NULL OR traits_version <> ? LIMIT ?"
    return [row[0] for row in connection.execute(query, (version, limit))]


def put_traits(connection: Connection, traits: Iterable[tuple[int, bytes]], version: str) -> None:
    """Keep traits beside their directives."""
    connection.executemany(
        "UPDATE directives SET traits = ?, traits_version = ? WHERE id = ?",
        ((packed, version, directive_id) for directive_id, packed in traits),
    )


def _rules_of(connection: Connection, ids: Iterable[int]) -> dict[int, StoredRule]:
    query = (
        f"SELECT {_WITHOUT_NOTES} FROM json_each(?) AS wanted"
        " CROSS JOIN rules AS r ON r.id = wanted.value"
    )
    rows = connection.execute(query, (json.dumps(list(ids)),))
    return {int(row[0]): _rule(row) for row in rows}


def _put_sections(connection: Connection, rule_id: int, sections: Sequence[RuleSection]) -> None:
    connection.executemany(
        "INSERT INTO rule_sections VALUES (?, ?, ?, ?, ?)",
        (
            (rule_id, position, section.name, section.line, section.content)
            for position, section in enumerate(sections)
        ),
    )


def _columns(rule: NewRule, at: str) -> dict[str, Any]:
    document = rule.document
    return {
        "folder_id": rule.folder_id,
        "name": document.name,
        "format": document.format.value,
        "layer": document.layer.value,
        "description": document.description,
        "authoritative_for": _json(document.authoritative_for),
        "topics": _json(document.topics),
        "when_to_apply": _json(document.when_to_apply),
        "globs": _json(document.globs),
        "always_apply": int(document.always_apply),
        "source": rule.source,
        "notes": _json([[n.line, n.message, n.is_warning] for n in document.notes]),
        "tokens": rule.tokens,
        "updated_at": at,
    }


def _directive_columns(directive: Directive) -> dict[str, Any]:
    return {
        "section": directive.section,
        "text": directive.text,
        "line": directive.line,
        "severity": directive.severity.value,
        "prohibits": int(directive.prohibits),
        "rationale": directive.rationale,
        "examples": _json([asdict(example) for example in directive.examples]),
        "anti_patterns": _json([asdict(example) for example in directive.anti_patterns]),
        "topics": _json(directive.topics),
        "layer": directive.layer.value,
        "when_to_apply": _json(directive.when_to_apply),
    }


def _document(
    rule_name: str, directive: Directive, stored_by: str, scope: str
) -> documents.Document:
    """Return the text by which a directive is found: with the names that place it, and its reason.

    Its title and body together are what rules/detection.directive_text makes of it.
    """
    heading = directive.section.rsplit(" > ", 1)[-1]
    return documents.Document(
        Noun.DIRECTIVE,
        " ".join(f"{rule_name}. {heading}".split()),
        " ".join(f"{directive.text} {directive.rationale}".split()),
        stored_by,
        tuple(topic.replace(" ", "-") for topic in directive.topics),
        scope,
        more_words=" ".join(directive.when_to_apply),
    )


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _strings(text: str) -> tuple[str, ...]:
    return tuple(json.loads(text)) if text != "[]" else ()


def _examples(text: str) -> tuple[CodeExample, ...]:
    return tuple(CodeExample(**each) for each in json.loads(text)) if text != "[]" else ()


def _rule(row: tuple[Any, ...]) -> StoredRule:
    return StoredRule(
        id=row[0],
        uuid=row[1],
        folder_id=row[2],
        path=row[3],
        name=row[4],
        format=RuleFormat(row[5]),
        layer=Layer(row[6]),
        description=row[7],
        authoritative_for=_strings(row[8]),
        topics=_strings(row[9]),
        when_to_apply=_strings(row[10]),
        globs=_strings(row[11]),
        always_apply=bool(row[12]),
        scope=row[13],
        is_edited=bool(row[14]),
        has_news=bool(row[15]),
        notes=tuple(ParseNote(*note) for note in json.loads(row[16])),
        stored_by=row[17],
        updated_at=datetime.fromisoformat(row[18]),
        tokens=row[19],
        folder=row[20] or "",
    )


def _directive(row: tuple[Any, ...], rule: StoredRule) -> StoredDirective:
    directive = Directive(
        text=row[3],
        severity=Severity(row[5]),
        section=row[2],
        line=row[4],
        prohibits=bool(row[6]),
        rationale=row[7],
        examples=_examples(row[8]),
        anti_patterns=_examples(row[9]),
        topics=_strings(row[10]),
        layer=Layer(row[11]),
        when_to_apply=_strings(row[12]),
    )
    return StoredDirective(row[0], row[1], rule, directive, RuleStatus(row[13]), bool(row[14]))
