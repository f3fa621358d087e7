"""A copy of the memory, piece by piece, and what came of bringing one in."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any

from kmem_desktop.domain.knowledge import Category
from kmem_desktop.domain.sessions.conversations import EntryRelation, Role

LARGEST_IMPORT = 8_000_000
"""A copy that is brought in as text has at most so many characters."""


class CopyFormat(StrEnum):
    """How a copy is written."""

    MARKDOWN = "markdown"
    JSON = "json"


class CopyPart(StrEnum):
    """What a copy can hold."""

    KNOWLEDGE = "knowledge"
    GRAPH = "graph"
    SESSIONS = "sessions"


@dataclass(frozen=True, slots=True)
class CopyQuery:
    """What is to be copied.

    Attributes:
        parts: Knowledge, the graph, conversations.
        scope: Only knowledge of this scope; None for all.
        category: Only knowledge of this category; None for all.
        tags: Only knowledge and conversations with all of these tags.
        session_uuid: Only this conversation, and what was saved out of it.
        since: Only what was changed since then.
    """

    parts: tuple[CopyPart, ...] = (CopyPart.KNOWLEDGE, CopyPart.GRAPH)
    scope: str | None = None
    category: Category | None = None
    tags: tuple[str, ...] = ()
    session_uuid: str | None = None
    since: datetime | None = None


@dataclass(frozen=True, slots=True)
class CopiedLink:
    """How an item relates to an earlier entry.

    Attributes:
        to_uuid: The UUID of the earlier item or turn.
        relation: How.
        strength: 0 to 1.
        words: The words it was seen by; empty where somebody told it.
    """

    to_uuid: str
    relation: EntryRelation
    strength: float = 1.0
    words: str = ""


@dataclass(frozen=True, slots=True)
class CopiedItem:
    """An item of knowledge without the number that it has in one database."""

    uuid: str
    title: str
    content: str
    tags: tuple[str, ...]
    scope: str
    category: Category
    priority: int
    confidence: float
    source: str
    stored_by: str
    created_at: datetime
    updated_at: datetime
    links: tuple[CopiedLink, ...] = ()


@dataclass(frozen=True, slots=True)
class CopiedObservation:
    """What is known about an entity; who stored it and when may be unknown."""

    text: str
    stored_by: str = ""
    created_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class CopiedEntity:
    """An entity, or a part of one that has many observations."""

    name: str
    entity_type: str
    observations: tuple[CopiedObservation, ...]
    stored_by: str = ""
    created_at: datetime | None = None
    updated_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class CopiedRelation:
    """A relation of the graph."""

    from_name: str
    to_name: str
    relation_type: str
    stored_by: str = ""
    created_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class CopiedSession:
    """A conversation; its turns follow it."""

    uuid: str
    title: str
    project: str
    tags: tuple[str, ...]
    status: str
    client: str
    created_at: datetime
    last_active: datetime
    is_pinned: bool = False


@dataclass(frozen=True, slots=True)
class CopiedTurn:
    """A turn of the conversation that stands before it."""

    uuid: str
    role: Role
    speaker: str
    text: str
    at: datetime
    is_important: bool = False
    metadata: Mapping[str, Any] | None = None


Piece = CopiedItem | CopiedEntity | CopiedRelation | CopiedSession | CopiedTurn


@dataclass(frozen=True, slots=True)
class CopyPage:
    """A part of a copy that is a whole copy by itself.

    Attributes:
        text: The copy.
        counts: How many items, entities, relations, sessions and turns it holds, by noun.
        next_cursor: Where the next page begins; None where this is all.
        cut_count: How many texts were too long for a page, and so are cut.
    """

    text: str
    counts: Mapping[str, int]
    next_cursor: str | None
    cut_count: int


@dataclass(frozen=True, slots=True)
class CopyProblem:
    """A piece of a copy that was not taken, and why.

    Attributes:
        place: Where it stands: "knowledge 3", or "line 12".
        message: Why.
    """

    place: str
    message: str


@dataclass(frozen=True, slots=True)
class CopyReport:
    """What bringing a copy in did, or would do.

    Attributes:
        is_dry_run: Whether nothing was written.
        new: How many of each noun were new, by noun.
        changed: How many items were older here, and so were changed.
        known: How many were there already.
        problems: What was not taken.
        batch: The UUID by which it can be undone as a whole; empty where nothing was written.
        secrets: How many secrets were replaced, by kind.
        path: The file it stood in; empty for a text.
        was_cancelled: Whether it was ended early: nothing was written then.
    """

    is_dry_run: bool
    new: Mapping[str, int]
    changed: int
    known: Mapping[str, int]
    problems: tuple[CopyProblem, ...] = ()
    batch: str = ""
    secrets: Mapping[str, int] = field(default_factory=dict)
    path: str = ""
    was_cancelled: bool = False
