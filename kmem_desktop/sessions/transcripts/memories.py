"""Memories of other programs as kmem's nouns: rows and documents in, knowledge and entities out.

Where a program keeps a SQLite file, `store` opens it read-only (a copy with its -wal) and gives the
rows as mappings by column; nothing here opens a file. What is needed of each:

- ai-devkit `~/.ai-devkit/memory.db`: `SELECT * FROM knowledge` -> `ai_devkit_item`
- mark42 `~/.claude/memory.db`: `SELECT * FROM entities WHERE is_latest = 1`, `SELECT o.*, e.name
  FROM observations AS o JOIN entities AS e ON e.id = o.entity_id WHERE e.is_latest = 1` ->
  `mark42_entities`; `SELECT a.name AS from_name, b.name AS to_name, r.relation_type FROM relations
  AS r JOIN entities AS a ON a.id = r.from_entity_id JOIN entities AS b ON b.id = r.to_entity_id`
  -> `mark42_relations`
- mcp-memory-service: its JSON export -> `read_memory_service`; its `sqlite_vec.db`: `SELECT * FROM
  memories WHERE deleted_at IS NULL` -> `memory_service_item`
- basic-memory `~/basic-memory/**/*.md` -> `basic_memory_note`
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, BinaryIO

from kmem_desktop.domain.graph import (
    ENTITY_NAME_LENGTH,
    ENTITY_TYPE_LENGTH,
    OBSERVATION_LENGTH,
    RELATION_TYPE_LENGTH,
    Entity,
    Relation,
)
from kmem_desktop.domain.importing import ImportProblem
from kmem_desktop.domain.knowledge import (
    CONTENT_LENGTH,
    GLOBAL_SCOPE,
    TAG_COUNT,
    TAG_LENGTH,
    TITLE_LENGTH,
    Category,
    KnowledgeDraft,
)
from kmem_desktop.errors import FormatError
from kmem_desktop.sessions.transcripts import contents
from kmem_desktop.sessions.transcripts.json_stream import members

_SCOPE = re.compile(r"(?:global|(?:project|repo):[a-z0-9_./-]+)", re.IGNORECASE)
_TAG = re.compile(r"[^a-z0-9-]+")
_CATEGORIES = {category.value: category for category in Category}
_FRONT_MATTER = re.compile(r"\A\ufeff?---[ \t]*\r?\n(.*?)\r?\n---[ \t]*(?:\r?\n|\Z)", re.DOTALL)
_OBSERVATION = re.compile(r"^\s*[-*]\s+\[(?P<category>[^\]\[]{1,60})\]\s+(?P<text>\S.*)$")
_RELATION = re.compile(r"^\s*[-*]\s+(?P<kind>[^\[\]]{0,100}?)\s*\[\[(?P<name>[^\]]{1,500})\]\]")
_TASK_MARKS = frozenset({" ", "x", "X", "-"})


@dataclass(frozen=True, slots=True)
class ImportedKnowledge:
    """A piece of knowledge of another program.

    Attributes:
        source_id: Its id there.
        draft: What to store.
        created_at: When it was made.
        updated_at: When it was last changed.
    """

    source_id: str
    draft: KnowledgeDraft
    created_at: datetime | None = None
    updated_at: datetime | None = None


Memory = ImportedKnowledge | Entity | Relation | ImportProblem


def ai_devkit_item(row: Mapping[str, Any]) -> ImportedKnowledge | None:
    """Return the item of a row of ai-devkit's `knowledge`; None where it has no text."""
    content = contents.checked_text(row.get("content")).strip()
    if not content:
        return None
    scope = contents.checked_text(row.get("scope")).strip().lower()
    draft = KnowledgeDraft(
        title=_title(contents.title(row.get("title")), content),
        content=content[: CONTENT_LENGTH[1]],
        tags=_tags(_json_list(row.get("tags"))),
        scope=scope if _SCOPE.fullmatch(scope) else GLOBAL_SCOPE,
        source="ai-devkit",
    )
    return ImportedKnowledge(
        contents.identifier(row.get("id")),
        draft,
        contents.time(row.get("created_at")),
        contents.time(row.get("updated_at")),
    )


def mark42_entities(
    entities: Iterable[Mapping[str, Any]], observations: Iterable[Mapping[str, Any]]
) -> Iterator[Entity]:
    """Yield mark42's entities with what is known of each; of one name several become one."""
    types: dict[str, str] = {}
    texts: dict[str, dict[str, None]] = {}
    for row in entities:
        name = _name(row.get("name"))
        if name:
            types.setdefault(name, _cut(row.get("entity_type"), ENTITY_TYPE_LENGTH) or "entity")
            texts.setdefault(name, {})
    for row in observations:
        name = _name(row.get("name"))
        text = contents.checked_text(row.get("content")).strip()
        if name in texts and text:
            texts[name][text[:OBSERVATION_LENGTH]] = None
    for name, kind in types.items():
        yield Entity(name, kind, tuple(texts[name]))


def mark42_relations(rows: Iterable[Mapping[str, Any]]) -> Iterator[Relation]:
    """Yield mark42's relations."""
    for row in rows:
        ends = _name(row.get("from_name")), _name(row.get("to_name"))
        kind = _cut(row.get("relation_type"), RELATION_TYPE_LENGTH)
        if all(ends) and kind:
            yield Relation(*ends, kind)


def read_memory_service(file: BinaryIO) -> Iterator[Memory]:
    """Read an export of mcp-memory-service, memory by memory.

    Args:
        file: The JSON file, open for reading in binary.
    """
    try:
        for number, found in enumerate(members(file, frozenset({"memories"})), 1):
            if isinstance(found, ImportProblem):
                yield found
                continue
            key, value = found
            if key not in ("memories", ""):
                continue
            item = memory_service_item(value) if isinstance(value, dict) else None
            yield item or ImportProblem(number, "a memory without text", str(value)[:200])
    except FormatError as error:
        yield ImportProblem(1, error.message, "")


def memory_service_item(row: Mapping[str, Any]) -> ImportedKnowledge | Entity | None:
    """Return the item of a memory; one too short for knowledge is an entity's observation."""
    content = contents.checked_text(row.get("content")).strip()
    if not content:
        return None
    kind = contents.title(row.get("memory_type")).lower()
    if len(content) < CONTENT_LENGTH[0]:
        return Entity(_name(content), kind or "memory", (content,))
    tags = row.get("tags")
    words = tags.split(",") if isinstance(tags, str) else tags
    draft = KnowledgeDraft(
        title=_title("", content),
        content=contents.shortened(content, CONTENT_LENGTH[1]),
        tags=_tags(words),
        category=_CATEGORIES.get(kind, Category.REFERENCE),
        source="mcp-memory-service",
    )
    return ImportedKnowledge(
        contents.identifier(row.get("content_hash")) or contents.identifier(row.get("id")),
        draft,
        contents.time(row.get("created_at")),
        contents.time(row.get("updated_at")),
    )


def basic_memory_note(text: str, name: str) -> list[Entity | Relation]:
    """Return a note of basic-memory: its entity with observations, and its relations.

    Args:
        text: The markdown file.
        name: The file's name without its ending: the title, should the note have none.
    """
    clean = contents.checked_text(text)
    facts = _front_matter(clean)
    body = _FRONT_MATTER.sub("", clean, count=1)
    title = _name(facts.get("title")) or _name(name) or "untitled"
    observations: dict[str, None] = {}
    relations: dict[Relation, None] = {}
    prose: list[str] = []
    for line in body.split("\n"):
        observation = _OBSERVATION.match(line)
        relation = None if observation else _RELATION.match(line)
        if observation and observation["category"] not in _TASK_MARKS:
            category, said = observation["category"].strip(), observation["text"].strip()
            observations[f"[{category}] {said}"[:OBSERVATION_LENGTH]] = None
        elif relation:
            kind = _cut(relation["kind"], RELATION_TYPE_LENGTH) or "links_to"
            relations[Relation(title, _name(relation["name"]), kind)] = None
        else:
            prose.append(line)
    rest = "\n".join(prose).strip()
    if rest:
        observations[contents.shortened(rest, OBSERVATION_LENGTH)] = None
    kind = _cut(facts.get("type"), ENTITY_TYPE_LENGTH) or "note"
    return [Entity(title, kind, tuple(observations)), *relations]


def _front_matter(text: str) -> dict[str, str]:
    """Return the plain members of a note's front matter; what is nested is left out."""
    found = _FRONT_MATTER.match(text)
    facts: dict[str, str] = {}
    for line in found.group(1).split("\n") if found else ():
        key, mark, value = line.partition(":")
        if mark and re.fullmatch(r"\w+", key) and value.strip():
            facts[key] = value.strip().strip("\"'")
    return facts


def _name(value: Any) -> str:
    return _cut(value, ENTITY_NAME_LENGTH)


def _cut(value: Any, length: int) -> str:
    text = " ".join(contents.checked_text(value).split()) if isinstance(value, str) else ""
    return text[:length]


def _title(title: str, content: str) -> str:
    low, high = TITLE_LENGTH
    words = title or contents.title(content.lstrip("# ").split("\n", maxsplit=1)[0])
    if len(words) < low:
        words = contents.title(f"{words} {content}") if not title else f"{words} (imported)"
    if len(words) > high:
        words = words[: high - 1].rsplit(" ", 1)[0] + "\u2026"
    return words if len(words) >= low else f"{words} (imported)"


def _tags(values: Any) -> tuple[str, ...]:
    """Return tags as kmem writes them; there is always one."""
    found: dict[str, None] = {}
    for value in values if isinstance(values, list | tuple) else ():
        tag = _TAG.sub("-", str(value).strip().lower()).strip("-")[:TAG_LENGTH].strip("-")
        if tag:
            found[tag] = None
    return tuple(found)[: TAG_COUNT[1]] or ("imported",)


def _json_list(text: Any) -> Any:
    try:
        return json.loads(text) if isinstance(text, str) else text
    except ValueError:
        return []
