"""Memories of other programs as kmem's nouns: rows and documents in, knowledge and entities out.

Where a program keeps a SQLite file, `store.foreign` reads its tables and gives the rows as mappings
by column; nothing here opens a file. Which program a file belongs to is told by its tables and
their columns (`PROGRAMS`); what is old or deleted there is left out:

- ai-devkit `~/.ai-devkit/memory.db`: `knowledge` -> knowledge with its scope, tags and times
- mark42 `~/.claude/memory.db`: `entities` that are the latest of their name, `observations` that
  still hold, `relations` -> the same of ours
- mcp-memory-service `sqlite_vec.db`: `memories` that were not deleted -> knowledge; what is too
  short or too long for that becomes an entity with it as observation. `memory_graph` -> how one
  piece of knowledge relates to another, but for likeness, which kmem finds itself. Its JSON export
  likewise
- basic-memory `~/basic-memory/**/*.md`: each note -> an entity with observations and relations

Texts are cut here where they are too long: who wants secrets out takes them out before.
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
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
from kmem_desktop.domain.importing import ImportProblem, MemoryProgram
from kmem_desktop.domain.knowledge import (
    CONTENT_LENGTH,
    GLOBAL_SCOPE,
    TAG_COUNT,
    TAG_LENGTH,
    TITLE_LENGTH,
    Category,
    KnowledgeDraft,
)
from kmem_desktop.domain.sessions.conversations import EntryRelation
from kmem_desktop.errors import FormatError
from kmem_desktop.sessions.transcripts import contents
from kmem_desktop.sessions.transcripts.json_stream import members

_SCOPE = re.compile(r"(?:global|(?:project|repo):[a-z0-9_./-]+)", re.IGNORECASE)
_TAG = re.compile(r"[^a-z0-9-]+")
_CATEGORIES = {category.value: category for category in Category}
_FRONT_MATTER = re.compile(r"\A\ufeff?---[ \t]*\r?\n(.*?)\r?\n---[ \t]*(?:\r?\n|\Z)", re.DOTALL)
_OBSERVATION = re.compile(r"^\s*[-*]\s+\[(?P<category>[^\]\[]{1,60})\]\s+(?P<text>\S.*)$")
_RELATION = re.compile(r"^\s*[-*]\s+(?P<kind>[^\[\]]{0,100}?)\s*\[\[(?P<name>[^\]]{1,500})\]\]")
NO_TAGS = ("imported",)
"""What is imported without tags gets this one: knowledge has at least one."""
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


@dataclass(frozen=True, slots=True)
class KnowledgeLink:
    """How one piece of imported knowledge relates to another.

    Attributes:
        from_id: The source id of the later one.
        to_id: The source id of the earlier one.
        relation: How.
    """

    from_id: str
    to_id: str
    relation: EntryRelation


Memory = ImportedKnowledge | Entity | Relation | KnowledgeLink | ImportProblem
Row = Mapping[str, Any]
Tables = Mapping[str, Sequence[Row]]


PROGRAMS: Mapping[MemoryProgram, Mapping[str, frozenset[str]]] = {
    MemoryProgram.AI_DEVKIT: {
        "knowledge": frozenset({"id", "title", "content", "tags", "scope", "normalized_title"}),
    },
    MemoryProgram.MARK42: {
        "entities": frozenset({"id", "name", "entity_type"}),
        "observations": frozenset({"entity_id", "content"}),
        "relations": frozenset({"from_entity_id", "to_entity_id", "relation_type"}),
    },
    MemoryProgram.MEMORY_SERVICE: {
        "memories": frozenset({"content_hash", "content", "tags", "memory_type"}),
    },
}
"""The tables by which a program's SQLite file is known, each with columns that it has."""

TABLES: Mapping[MemoryProgram, tuple[str, ...]] = {
    MemoryProgram.AI_DEVKIT: ("knowledge",),
    MemoryProgram.MARK42: ("entities", "observations", "relations"),
    MemoryProgram.MEMORY_SERVICE: ("memories", "memory_graph"),
}
"""The tables that are read of each; the last need not be there."""

_LINKS: Mapping[str, EntryRelation] = {
    "contradicts": EntryRelation.CONTRADICTS,
    "fixes": EntryRelation.REFERENCES,
    "supports": EntryRelation.REFERENCES,
    "follows": EntryRelation.BUILDS_ON,
    "causes": EntryRelation.REFERENCES,
}


def program_of(tables: Mapping[str, Set[str]]) -> MemoryProgram | None:
    """Return the program that a SQLite file belongs to, by its tables and their columns."""
    for program, needed in PROGRAMS.items():
        if all(columns <= tables.get(name, frozenset()) for name, columns in needed.items()):
            return program
    return None


def is_basic_memory_note(text: str) -> bool:
    """Return whether basic-memory wrote a markdown file: it gives notes a permalink or a type."""
    facts = _front_matter(text)
    return "permalink" in facts or {"title", "type"} <= facts.keys()


def memories_of(program: MemoryProgram, tables: Tables) -> Iterator[Memory]:
    """Yield what the tables of a program hold: what others refer to comes first."""
    if program is MemoryProgram.MARK42:
        yield from _mark42(tables)
        return
    read = ai_devkit_item if program is MemoryProgram.AI_DEVKIT else memory_service_item
    for number, row in enumerate(tables[TABLES[program][0]], 1):
        if row.get("deleted_at") is None:
            yield read(row) or ImportProblem(number, "a memory without text", "")
    for row in tables.get("memory_graph", ()):
        relation = _LINKS.get(str(row.get("relationship_type")))
        if relation is not None:
            ends = contents.identifier(row.get("source_hash")), row.get("target_hash")
            yield KnowledgeLink(ends[0], contents.identifier(ends[1]), relation)


def _mark42(tables: Tables) -> Iterator[Memory]:
    entities = [row for row in tables["entities"] if row.get("is_latest", 1) in (1, None)]
    names = {row["id"]: row["name"] for row in entities}
    observations = [
        {"name": names[row["entity_id"]], "content": row["content"]}
        for row in tables["observations"]
        if row["entity_id"] in names and not row.get("valid_until")
    ]
    yield from mark42_entities(entities, observations)
    all_names = {row["id"]: row["name"] for row in tables["entities"]}
    ends = [
        {
            "from_name": all_names.get(row["from_entity_id"]),
            "to_name": all_names.get(row["to_entity_id"]),
            "relation_type": row["relation_type"],
        }
        for row in tables["relations"]
    ]
    yield from mark42_relations(ends)


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


def _as_it_is(value: Any) -> Any:
    return value


def read_memory_service(
    file: BinaryIO, clean: Callable[[Any], Any] = _as_it_is
) -> Iterator[Memory]:
    """Read an export of mcp-memory-service, memory by memory.

    Args:
        file: The JSON file, open for reading in binary.
        clean: Takes out of a memory's JSON what is not to be kept, before anything is cut.
    """
    try:
        for number, found in enumerate(members(file, frozenset({"memories"})), 1):
            if isinstance(found, ImportProblem):
                yield found
                continue
            key, value = found[0], clean(found[1])
            if key not in ("memories", ""):
                continue
            item = memory_service_item(value) if isinstance(value, dict) else None
            yield item or ImportProblem(number, "a memory without text", str(value)[:200])
    except FormatError as error:
        yield ImportProblem(1, error.message, "")


def memory_service_item(row: Mapping[str, Any]) -> ImportedKnowledge | Entity | None:
    """Return the item of a memory; one of no knowledge's length is an entity's observations."""
    content = contents.checked_text(row.get("content")).strip()
    if not content:
        return None
    kind = contents.title(row.get("memory_type")).lower()
    tags = row.get("tags")
    words = _tags(tags.split(",") if isinstance(tags, str) else tags)
    low, high = CONTENT_LENGTH
    if not low <= len(content) <= high:
        name = _title("", content) if len(content) > high else content
        return as_entity(name, kind, content, () if words == NO_TAGS else words)
    draft = KnowledgeDraft(
        title=_title("", content),
        content=content,
        tags=words,
        category=_CATEGORIES.get(kind, Category.REFERENCE),
        source="mcp-memory-service",
    )
    return ImportedKnowledge(
        contents.identifier(row.get("content_hash")) or contents.identifier(row.get("id")),
        draft,
        contents.time(row.get("created_at")),
        contents.time(row.get("updated_at")),
    )


def as_entity(name: str, kind: str, content: str, tags: Iterable[str] = ()) -> Entity:
    """Return a text of any length, and its tags, as what is known of an entity."""
    step = OBSERVATION_LENGTH
    parts = [content[start : start + step] for start in range(0, len(content), step)]
    words = ", ".join(tags)
    parts += [f"Tags: {words}"] if words else []
    return Entity(_name(name), _cut(kind, ENTITY_TYPE_LENGTH) or "memory", tuple(parts))


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
    return tuple(found)[: TAG_COUNT[1]] or NO_TAGS


def _json_list(text: Any) -> Any:
    try:
        return json.loads(text) if isinstance(text, str) else text
    except ValueError:
        return []
