"""A copy of the memory as text: JSON for programs, markdown for people; both can be brought in.

The text grows piece by piece, so that a large memory never stands in the working memory whole.
"""

import json
from collections import Counter
from collections.abc import Callable, Iterator
from datetime import datetime
from typing import Any, Protocol

from kmem_desktop.domain.library.copies import (
    CopiedEntity,
    CopiedItem,
    CopiedRelation,
    CopiedSession,
    CopiedTurn,
    CopyFormat,
    Piece,
)

FORMAT_VERSION = 1
JSON_SECTIONS: dict[type, str] = {
    CopiedItem: "knowledge",
    CopiedEntity: "entities",
    CopiedRelation: "relations",
    CopiedSession: "sessions",
}
MARKDOWN_SECTIONS = {
    "Knowledge": "knowledge",
    "Entities": "entities",
    "Relations": "relations",
    "Sessions": "sessions",
}
NOUNS: dict[type, str] = {**JSON_SECTIONS, CopiedTurn: "turns"}


class CopyWriter(Protocol):
    """Writes pieces in their order: items, entities, relations, then sessions with their turns.

    Attributes:
        counts: How many pieces of each noun were written.
    """

    counts: Counter[str]

    def begin(self) -> str:
        """Return the text that a copy begins with."""

    def add(self, piece: Piece) -> str:
        """Return the text of the next piece."""

    def end(self) -> str:
        """Return the text that a copy ends with."""


def writer(copy_format: CopyFormat, now: datetime) -> CopyWriter:
    """Return what writes a copy in this format."""
    return (JsonWriter if copy_format is CopyFormat.JSON else MarkdownWriter)(now)


class JsonWriter:
    """Writes one JSON object, a line for each piece."""

    def __init__(self, now: datetime) -> None:
        """Begin a copy made `now`."""
        self.counts: Counter[str] = Counter()
        self._now = now
        self._section = ""
        self._has_turns = False

    def begin(self) -> str:
        """Return the object's opening."""
        return f'{{"kmem_export": {FORMAT_VERSION}, "exported_at": "{_time(self._now)}"'

    def add(self, piece: Piece) -> str:
        """Return one more line."""
        self.counts[NOUNS[type(piece)]] += 1
        text = json.dumps(piece_json(piece), ensure_ascii=False)
        if isinstance(piece, CopiedTurn):
            opening = ",\n" if self._has_turns else "\n"
            self._has_turns = True
            return opening + text
        section = JSON_SECTIONS[type(piece)]
        opening = ",\n" if section == self._section else f'{self._end_section()},\n"{section}": [\n'
        if section == self._section == "sessions":
            opening = f"]}}{opening}"
        self._section, self._has_turns = section, False
        if section == "sessions":
            text = f'{text[:-1]}, "turns": ['
        return opening + text

    def end(self) -> str:
        """Return the object's end."""
        return f"{self._end_section()}}}\n"

    def _end_section(self) -> str:
        if not self._section:
            return ""
        return "]}\n]" if self._section == "sessions" else "\n]"


class MarkdownWriter:
    """Writes headings, fields and quotations that read well and can be read back exactly."""

    def __init__(self, now: datetime) -> None:
        """Begin a copy made `now`."""
        self.counts: Counter[str] = Counter()
        self._now = now
        self._section = ""

    def begin(self) -> str:
        """Return the title and the mark by which a copy is known."""
        at = _time(self._now)
        return f"# Memory\n\n<!-- kmem export {FORMAT_VERSION}, {at} -->\n"

    def add(self, piece: Piece) -> str:
        """Return one more block."""
        self.counts[NOUNS[type(piece)]] += 1
        heading = ""
        section = "Sessions" if isinstance(piece, CopiedTurn) else NOUNS[type(piece)].title()
        if section != self._section:
            self._section = section
            heading = f"\n## {section}\n"
        return heading + _BLOCKS[type(piece)](piece)

    def end(self) -> str:
        """Return nothing: a markdown text simply ends."""
        return ""


def piece_json(piece: Piece) -> dict[str, Any]:
    """Return a piece as JSON values; what is empty is left out."""
    value = _FIELDS[type(piece)](piece)
    return {name: part for name, part in value.items() if part not in (None, "", (), [], False)}


def _item_fields(item: CopiedItem) -> dict[str, Any]:
    return {
        "id": item.uuid,
        "title": item.title,
        "content": item.content,
        "tags": list(item.tags),
        "scope": item.scope,
        "category": item.category.value,
        "priority": item.priority,
        "confidence": item.confidence,
        "source": item.source,
        "stored_by": item.stored_by,
        "created_at": _time(item.created_at),
        "updated_at": _time(item.updated_at),
        "links": [
            {
                "to": link.to_uuid,
                "relation": link.relation.value,
                "strength": link.strength,
                "words": link.words,
            }
            for link in item.links
        ],
    }


def _entity_fields(entity: CopiedEntity) -> dict[str, Any]:
    return {
        "name": entity.name,
        "entityType": entity.entity_type,
        "observations": [
            {"text": seen.text, "stored_by": seen.stored_by, "created_at": _time(seen.created_at)}
            for seen in entity.observations
        ],
        "stored_by": entity.stored_by,
        "created_at": _time(entity.created_at),
        "updated_at": _time(entity.updated_at),
    }


def _relation_fields(relation: CopiedRelation) -> dict[str, Any]:
    return {
        "from": relation.from_name,
        "to": relation.to_name,
        "relationType": relation.relation_type,
        "stored_by": relation.stored_by,
        "created_at": _time(relation.created_at),
    }


def _session_fields(session: CopiedSession) -> dict[str, Any]:
    return {
        "id": session.uuid,
        "title": session.title,
        "project": session.project,
        "tags": list(session.tags),
        "status": session.status,
        "client": session.client,
        "created_at": _time(session.created_at),
        "last_active": _time(session.last_active),
        "pinned": session.is_pinned,
    }


def _turn_fields(turn: CopiedTurn) -> dict[str, Any]:
    return {
        "id": turn.uuid,
        "role": turn.role.value,
        "speaker": turn.speaker,
        "text": turn.text,
        "time": _time(turn.at),
        "important": turn.is_important,
        "metadata": dict(turn.metadata) if turn.metadata else None,
    }


_FIELDS: dict[type, Callable[[Any], dict[str, Any]]] = {
    CopiedItem: _item_fields,
    CopiedEntity: _entity_fields,
    CopiedRelation: _relation_fields,
    CopiedSession: _session_fields,
    CopiedTurn: _turn_fields,
}


def plain(text: str) -> str:
    """Return a text as it stands on one line of markdown: as it is, or as a JSON string."""
    is_odd = not text.isprintable() or text != text.strip() or text[:1] in ('"', "[", "{", "")
    return json.dumps(text, ensure_ascii=False) if is_odd else text


def _item_block(item: CopiedItem) -> str:
    fields = piece_json(item)
    shown = _fields(fields, ("title", "content"))
    return f"\n### {plain(item.title)}\n{shown}\n{_quote(item.content)}"


def _entity_block(entity: CopiedEntity) -> str:
    fields = piece_json(entity)
    lines = [f"\n### {plain(entity.name)}\n{_fields(fields, ('name', 'observations'))}"]
    if entity.observations:
        lines.append("\n")
    for seen in entity.observations:
        at = _time(seen.created_at)
        told = f"  ({at}, {plain(seen.stored_by)})\n" if at else ""
        lines.append(f"* {plain(seen.text)}\n{told}")
    return "".join(lines)


def _relation_block(relation: CopiedRelation) -> str:
    ends = (relation.from_name, relation.relation_type, relation.to_name)
    at = _time(relation.created_at)
    told = f"  ({at}, {plain(relation.stored_by)})\n" if at else ""
    return f"* {' '.join(json.dumps(end, ensure_ascii=False) for end in ends)}\n{told}"


def _session_block(session: CopiedSession) -> str:
    return f"\n### {plain(session.title)}\n{_fields(piece_json(session), ('title',))}"


def _turn_block(turn: CopiedTurn) -> str:
    fields = _fields(piece_json(turn), ("role", "text"))
    return f"\n#### {turn.role.value}\n{fields}\n{_quote(turn.text)}"


_BLOCKS: dict[type, Callable[[Any], str]] = {
    CopiedItem: _item_block,
    CopiedEntity: _entity_block,
    CopiedRelation: _relation_block,
    CopiedSession: _session_block,
    CopiedTurn: _turn_block,
}


def _fields(values: dict[str, Any], others: tuple[str, ...]) -> str:
    return "".join(
        f"- {name}: {plain(value) if isinstance(value, str) else _json(value)}\n"
        for name, value in values.items()
        if name not in others
    )


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _quote(text: str) -> str:
    return "".join(_quoted_lines(text))


def _quoted_lines(text: str) -> Iterator[str]:
    """Quote each line; what would be taken for a line's end is left inside of it."""
    for line in text.split("\n"):
        yield f"> {line}\n" if line else ">\n"


def _time(at: datetime | None) -> str:
    return at.isoformat() if at else ""
