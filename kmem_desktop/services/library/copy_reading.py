"""A copy of the memory read back from text: kmem's own, or the reference memory's JSON lines.

What is not understood never stops the rest: it is noted with its place.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from kmem_desktop.domain.graph import (
    ENTITY_NAME_LENGTH,
    ENTITY_TYPE_LENGTH,
    OBSERVATION_LENGTH,
    RELATION_TYPE_LENGTH,
)
from kmem_desktop.domain.knowledge import (
    CONFIDENCE,
    GLOBAL_SCOPE,
    PRIORITY,
    SOURCE_LENGTH,
    TAG_COUNT,
    TAG_LENGTH,
    TITLE_LENGTH,
    Category,
)
from kmem_desktop.domain.library.copies import (
    CopiedEntity,
    CopiedItem,
    CopiedLink,
    CopiedObservation,
    CopiedRelation,
    CopiedSession,
    CopiedTurn,
    CopyProblem,
    Piece,
)
from kmem_desktop.domain.sessions.conversations import (
    METADATA_LENGTH,
    SESSION_TAG_COUNT,
    SESSION_TITLE_LENGTH,
    SPEAKER_LENGTH,
    TURN_LENGTH,
    EntryRelation,
    Role,
)
from kmem_desktop.domain.sessions.recall import SAVED_LENGTH, SessionState
from kmem_desktop.errors import FormatError
from kmem_desktop.services.library.copy_writing import MARKDOWN_SECTIONS
from kmem_desktop.services.validation import normalise_scope, scope_problem
from kmem_desktop.text import normalise_content, one_line

MOST_PROBLEMS = 200
MARK = "<!-- kmem export "
UNREADABLE = (
    "This is neither what export_knowledge or `kmem export` wrote, nor the reference memory's"
    " lines of JSON."
)
HINT = "To remember something new, use save_knowledge or create_entities."

_FENCED = re.compile(r"\s*(`{3,}|~{3,})\w*\n(?P<inner>.*)\n\1\s*", re.DOTALL)
_UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_FIELD = re.compile(r"- (?P<name>[\w ]{1,40}): (?P<value>.*)", re.DOTALL)
_TOLD = re.compile(r" {2}\((?P<at>[^,]+), (?P<by>.*)\)", re.DOTALL)


@dataclass(slots=True)
class ReadCopy:
    """What a text says, and what of it was not understood."""

    pieces: list[Piece] = field(default_factory=list)
    problems: list[CopyProblem] = field(default_factory=list)

    def note(self, place: str, message: str) -> None:
        """Note what was not understood."""
        if len(self.problems) < MOST_PROBLEMS:
            self.problems.append(CopyProblem(place, message))


def read_copy(text: str) -> ReadCopy:
    """Read a copy of the memory.

    Raises:
        FormatError: It is none.
    """
    fenced = _FENCED.fullmatch(text)
    text = (fenced["inner"] if fenced else text).removeprefix("\ufeff").lstrip()
    if MARK in text[:400]:
        return _read(_markdown_values(text))
    if not text.startswith("{"):
        raise FormatError(UNREADABLE, hint=HINT)
    return _read(_json_values(text))


Value = tuple[str, str, Mapping[str, Any] | str]
"""The noun, the place, and the fields; a text instead of them says why they cannot be read."""


def _read(values: Iterator[Value]) -> ReadCopy:
    copy = ReadCopy()
    is_in_session = False
    for noun, place, fields in values:
        if noun == "turns" and not is_in_session:
            continue  # its session was not understood, and that has been told
        piece = _piece(noun, fields)
        if isinstance(piece, str):
            copy.note(place, piece)
            is_in_session = is_in_session and noun == "turns"
        else:
            copy.pieces.append(piece)
            is_in_session = isinstance(piece, CopiedSession | CopiedTurn)
    if not copy.pieces and not copy.problems:
        raise FormatError("There is nothing in this copy.")
    return copy


def _piece(noun: str, fields: Mapping[str, Any] | str) -> Piece | str:
    """Return a piece, or why there is none."""
    if isinstance(fields, str):
        return fields
    try:
        return _PIECES[noun](fields)
    except FormatError as error:
        return error.message
    except UnicodeError:
        return "It holds what is no text."


def _json_values(text: str) -> Iterator[Value]:
    try:
        whole = json.loads(text)
    except (ValueError, RecursionError) as error:
        if '"kmem_export"' in text[:100]:
            raise FormatError(
                "This copy is not valid JSON: it was cut off, or changed on the way.",
                hint="Each page of an export is brought in by itself, unchanged.",
            ) from error
        yield from _line_values(text)
        return
    if isinstance(whole, dict) and "type" in whole:
        yield from _line_values(text)
        return
    yield from _sections(whole)


def _sections(whole: Any) -> Iterator[Value]:
    known = False
    for noun in ("knowledge", "entities", "relations", "sessions"):
        rows = whole.get(noun, []) if isinstance(whole, dict) else []
        known = known or (isinstance(whole, dict) and noun in whole)
        for number, row in enumerate(rows if isinstance(rows, list) else [], start=1):
            place = f"{noun} {number}"
            yield noun, place, row if isinstance(row, dict) else "It is not an object."
            turns = row.get("turns", []) if noun == "sessions" and isinstance(row, dict) else []
            for index, turn in enumerate(turns if isinstance(turns, list) else []):
                fields = turn if isinstance(turn, dict) else "It is not an object."
                yield "turns", f"{place}, turn {index}", fields
    if not known and not (isinstance(whole, dict) and "kmem_export" in whole):
        raise FormatError(UNREADABLE, hint=HINT)


def _line_values(text: str) -> Iterator[Value]:
    """Read the reference memory's file: one entity or relation a line."""
    nouns = {"entity": "entities", "relation": "relations"}
    understood = False
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        place = f"line {number}"
        try:
            value = json.loads(line)
        except (ValueError, RecursionError):
            yield "entities", place, "It is not valid JSON (cut off?)."
            continue
        noun = nouns.get(str(value.get("type")), "") if isinstance(value, dict) else ""
        if noun:
            value = {_REFERENCE_NAMES.get(name, name): part for name, part in value.items()}
        understood = understood or bool(noun)
        yield (noun, place, value) if noun else ("entities", place, "It is of no known type.")
    if not understood:
        raise FormatError(UNREADABLE, hint=HINT)


_REFERENCE_NAMES = {
    "entityName": "name",
    "entity_type": "entityType",
    "from_id": "from",
    "to_id": "to",
    "relation_type": "relationType",
    "id": "name",
}
"""How older files of the reference memory call the same."""


def _markdown_values(text: str) -> Iterator[Value]:
    """Yield the blocks of a markdown copy as the JSON values they stand for."""
    noun, place = "", ""
    values: dict[str, Any] = {}
    quoted: list[str] = []
    for number, line in enumerate(text.split("\n"), start=1):
        heading = _heading(line)
        if heading is not None or (noun == "relations" and line.startswith("* ")):
            if values:
                yield noun, place, _whole(noun, values, quoted)
            values, quoted, place = {}, [], f"line {number}"
        if heading is not None:
            level, title = heading
            if level == 2:
                noun = MARKDOWN_SECTIONS.get(title, "")
            elif noun:
                noun = "turns" if level == 4 else "sessions" if noun == "turns" else noun
                values = {_TITLES[noun]: _unplain(title)}
        elif noun:
            _take_line(noun, line, values, quoted)
    if values:
        yield noun, place, _whole(noun, values, quoted)


_TITLES = {
    "knowledge": "title",
    "entities": "name",
    "sessions": "title",
    "turns": "role",
    "relations": "",
}


def _heading(line: str) -> tuple[int, str] | None:
    marks, _, title = line.partition(" ")
    return (len(marks), title) if marks in ("##", "###", "####") else None


def _take_line(noun: str, line: str, values: dict[str, Any], quoted: list[str]) -> None:
    if line.startswith(">"):
        quoted.append(line[2:])
    elif line.startswith("* ") and noun == "relations":
        ends = list(_json_texts(line[2:]))
        if len(ends) == 3:
            values.update(zip(("from", "relationType", "to"), ends, strict=True))
        else:
            values["broken"] = True
    elif line.startswith("* ") and values:
        values.setdefault("observations", []).append({"text": _unplain(line[2:])})
    elif told := _TOLD.fullmatch(line):
        seen = values["observations"][-1] if values.get("observations") else values
        seen.update(created_at=told["at"], stored_by=_unplain(told["by"]))
    elif (found := _FIELD.fullmatch(line)) and values:
        values[found["name"]] = _unplain(found["value"])


def _json_texts(text: str) -> Iterator[str]:
    decoder = json.JSONDecoder()
    position = 0
    while position < len(text):
        try:
            value, position = decoder.raw_decode(text, position)
        except ValueError:
            return
        if isinstance(value, str):
            yield value
        position += 1


def _unplain(text: str) -> Any:
    if text[:1] in ('"', "[", "{"):
        try:
            return json.loads(text)
        except (ValueError, RecursionError):
            return text
    return text


def _whole(noun: str, values: dict[str, Any], quoted: list[str]) -> dict[str, Any] | str:
    if noun in ("knowledge", "turns"):
        values["content" if noun == "knowledge" else "text"] = "\n".join(quoted)
    for name, make in (("priority", int), ("confidence", float)):
        try:
            if isinstance(values.get(name), str):
                values[name] = make(values[name])
        except ValueError:
            return f"{name} is no number."
    for name in ("pinned", "important"):
        if name in values:
            values[name] = values[name] == "true"
    return values


def _item(fields: Mapping[str, Any]) -> CopiedItem:
    now = datetime.now(UTC)
    created_at = _time(fields, "created_at") or now
    scope = normalise_scope(_text(fields, "scope", 1_000, default=GLOBAL_SCOPE))
    if problem := scope_problem(scope):
        raise FormatError(problem)
    return CopiedItem(
        uuid=_uuid(fields, default=""),
        title=one_line(_text(fields, "title", TITLE_LENGTH[1])),
        content=normalise_content(_text(fields, "content", SAVED_LENGTH[1])),
        tags=_tags(fields, TAG_COUNT[1]),
        scope=scope,
        category=Category(_choice(fields, "category", set(Category), Category.REFERENCE)),
        priority=int(_number(fields, "priority", PRIORITY, 5)),
        confidence=_number(fields, "confidence", CONFIDENCE, 0.8),
        source=one_line(_text(fields, "source", SOURCE_LENGTH, default="import")),
        stored_by=_text(fields, "stored_by", SOURCE_LENGTH, default=""),
        created_at=created_at,
        updated_at=_time(fields, "updated_at") or created_at,
        links=tuple(_link(link) for link in _list(fields, "links")),
    )


def _link(fields: Any) -> CopiedLink:
    if not isinstance(fields, dict):
        raise FormatError("links must be objects.")
    return CopiedLink(
        to_uuid=_text(fields, "to", 80).lower(),
        relation=EntryRelation(_choice(fields, "relation", set(EntryRelation), "references")),
        strength=_number(fields, "strength", (0.0, 1.0), 1.0),
        words=_text(fields, "words", 1_000, default=""),
    )


def _entity(fields: Mapping[str, Any]) -> CopiedEntity:
    created_at = _time(fields, "created_at")
    return CopiedEntity(
        name=_text(fields, "name", ENTITY_NAME_LENGTH),
        entity_type=_text(fields, "entityType", ENTITY_TYPE_LENGTH),
        observations=tuple(_observation(seen) for seen in _list(fields, "observations")),
        stored_by=_text(fields, "stored_by", SOURCE_LENGTH, default=""),
        created_at=created_at,
        updated_at=_time(fields, "updated_at") or created_at,
    )


def _observation(seen: Any) -> CopiedObservation:
    fields = {"text": seen} if isinstance(seen, str) else seen
    if not isinstance(fields, dict):
        raise FormatError("observations must be texts.")
    return CopiedObservation(
        text=_text(fields, "text", OBSERVATION_LENGTH),
        stored_by=_text(fields, "stored_by", SOURCE_LENGTH, default=""),
        created_at=_time(fields, "created_at"),
    )


def _relation(fields: Mapping[str, Any]) -> CopiedRelation:
    return CopiedRelation(
        from_name=_text(fields, "from", ENTITY_NAME_LENGTH),
        to_name=_text(fields, "to", ENTITY_NAME_LENGTH),
        relation_type=_text(fields, "relationType", RELATION_TYPE_LENGTH),
        stored_by=_text(fields, "stored_by", SOURCE_LENGTH, default=""),
        created_at=_time(fields, "created_at"),
    )


def _session(fields: Mapping[str, Any]) -> CopiedSession:
    created_at = _time(fields, "created_at") or datetime.now(UTC)
    return CopiedSession(
        uuid=_uuid(fields),
        title=one_line(_text(fields, "title", SESSION_TITLE_LENGTH)),
        project=one_line(_text(fields, "project", SESSION_TITLE_LENGTH, default="")),
        tags=_tags(fields, SESSION_TAG_COUNT),
        status=_choice(fields, "status", set(SessionState), SessionState.ACTIVE),
        client=_text(fields, "client", SOURCE_LENGTH, default="import"),
        created_at=created_at,
        last_active=_time(fields, "last_active") or created_at,
        is_pinned=fields.get("pinned") is True,
    )


def _turn(fields: Mapping[str, Any]) -> CopiedTurn:
    metadata = fields.get("metadata")
    if metadata is not None and not isinstance(metadata, dict):
        raise FormatError("metadata must be an object.")
    if metadata and len(json.dumps(metadata)) > METADATA_LENGTH:
        raise FormatError(f"metadata must be at most {METADATA_LENGTH} characters.")
    return CopiedTurn(
        uuid=_uuid(fields),
        role=Role(_choice(fields, "role", set(Role), Role.USER)),
        speaker=one_line(_text(fields, "speaker", SPEAKER_LENGTH, default="")),
        text=_text(fields, "text", TURN_LENGTH),
        at=_time(fields, "time") or datetime.now(UTC),
        is_important=fields.get("important") is True,
        metadata=metadata,
    )


_PIECES: dict[str, Callable[[Mapping[str, Any]], Piece]] = {
    "knowledge": _item,
    "entities": _entity,
    "relations": _relation,
    "sessions": _session,
    "turns": _turn,
}


def _text(fields: Mapping[str, Any], name: str, longest: int, *, default: str | None = None) -> str:
    value = fields.get(name, default)
    if value is None:
        raise FormatError(f"{name} is missing.")
    if not isinstance(value, str):
        raise FormatError(f"{name} must be text.")
    if not value.strip() and default is None:
        raise FormatError(f"{name} is empty.")
    if len(value) > longest:
        raise FormatError(f"{name} is longer than {longest:,} characters.")
    value.encode("utf-8")  # a lone surrogate cannot be stored
    return value


def _uuid(fields: Mapping[str, Any], default: str | None = None) -> str:
    """Return the UUID that a piece has; where it needs none, `default` stands for it."""
    value = _text(fields, "id", 80, default=default).strip().lower()
    if value and not _UUID.fullmatch(value):
        raise FormatError("id is no UUID.")
    return value


def _tags(fields: Mapping[str, Any], most: int) -> tuple[str, ...]:
    tags = tuple(dict.fromkeys(_tag(tag) for tag in _list(fields, "tags")))
    if len(tags) > most:
        raise FormatError(f"tags must be at most {most} (there are {len(tags)}).")
    return tags


def _tag(tag: Any) -> str:
    if not isinstance(tag, str) or not tag.strip() or len(tag) > TAG_LENGTH:
        raise FormatError(f"tags must be texts of 1 to {TAG_LENGTH} characters.")
    return one_line(tag).lower()


def _list(fields: Mapping[str, Any], name: str) -> list[Any]:
    value = fields.get(name) or []
    if not isinstance(value, list):
        raise FormatError(f"{name} must be a list.")
    return value


def _choice(fields: Mapping[str, Any], name: str, choices: set[Any], default: str) -> str:
    value = fields.get(name, default)
    if value not in choices:
        raise FormatError(f"{name} must be one of {', '.join(sorted(choices))}.")
    return str(value)


def _number(
    fields: Mapping[str, Any], name: str, limits: tuple[float, float], default: float
) -> float:
    value = fields.get(name, default)
    low, high = limits
    if isinstance(value, bool) or not isinstance(value, int | float) or not low <= value <= high:
        raise FormatError(f"{name} must be a number from {low} to {high}.")
    return value


def _time(fields: Mapping[str, Any], name: str) -> datetime | None:
    value = fields.get(name)
    if not value:
        return None
    try:
        at = datetime.fromisoformat(str(value))
    except ValueError as error:
        raise FormatError(f"{name} is no time such as 2026-05-03T14:00:00+00:00.") from error
    return at.replace(tzinfo=UTC) if at.tzinfo is None else at.astimezone(UTC)
