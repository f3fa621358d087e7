"""The nouns of kmem as frozen values, with their limits.

Times are aware UTC datetimes. Every row that a person would miss has a UUID; knowledge and other
searchable things also have an integer id, which is the id of their row in the one search index.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any

TITLE_LENGTH = (10, 100)
CONTENT_LENGTH = (50, 5000)
TAG_COUNT = (1, 10)
TAG_LENGTH = 50
PRIORITY = (1, 10)
CONFIDENCE = (0.0, 1.0)
SOURCE_LENGTH = 200
SCOPE_LENGTH = 200
QUERY_LENGTH = (3, 500)
SEARCH_LIMIT = (1, 20)
ENTITY_NAME_LENGTH = 500
ENTITY_TYPE_LENGTH = 200
RELATION_TYPE_LENGTH = 200
OBSERVATION_LENGTH = 20_000
GRAPH_BATCH = 1_000
"""At most this many entities, relations or observations in one call."""

TURN_BATCH = 500
"""At most this many turns in one call."""
TURN_LENGTH = 1_000_000
SPEAKER_LENGTH = 100
SESSION_TITLE_LENGTH = 200
METADATA_LENGTH = 20_000
ENTRY_LENGTH = 100_000
ENTRY_SEARCH_LIMIT = (1, 50)
ENTRY_QUERY_LENGTH = (1, 2_000)

GLOBAL_SCOPE = "global"


class Noun(StrEnum):
    """What a searchable row is."""

    KNOWLEDGE = "knowledge"
    ENTITY = "entity"
    OBSERVATION = "observation"
    RELATION = "relation"
    TURN = "turn"


class Category(StrEnum):
    """What kind of knowledge an item is: the union of seed 000's and seed 004's lists."""

    RULE = "rule"
    GUIDELINE = "guideline"
    DECISION = "decision"
    PATTERN = "pattern"
    INSIGHT = "insight"
    CODE = "code"
    REFERENCE = "reference"
    ERROR = "error"
    SOLUTION = "solution"


class Role(StrEnum):
    """Who speaks in a turn of a conversation."""

    USER = "user"
    ASSISTANT = "assistant"
    TOOL = "tool"
    SYSTEM = "system"


class OriginKind(StrEnum):
    """Through which door a change came."""

    CLIENT = "client"
    WINDOW = "window"
    COMMAND_LINE = "command_line"
    IMPORT = "import"


class Action(StrEnum):
    """What a change did to a row."""

    CREATED = "created"
    UPDATED = "updated"
    DELETED = "deleted"
    RESTORED = "restored"


@dataclass(frozen=True, slots=True)
class Origin:
    """Who asked for a change.

    Attributes:
        kind: The door it came through.
        name: The client's or person's name as shown ("Claude Code", "You").
        tool: The tool that was called; empty outside of MCP.
        batch: A UUID shared by all changes of one import or one call, for undo as a whole.
    """

    kind: OriginKind
    name: str
    tool: str = ""
    batch: str = ""


@dataclass(frozen=True, slots=True)
class KnowledgeDraft:
    """What somebody wants to store, not yet checked (seed 000, storeKnowledge)."""

    title: str
    content: str
    tags: tuple[str, ...]
    scope: str = GLOBAL_SCOPE
    category: str = Category.RULE
    priority: int = 5
    confidence: float = 0.8
    source: str = "manual"


@dataclass(frozen=True, slots=True)
class KnowledgeItem:
    """One piece of knowledge as it is stored."""

    id: int
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


@dataclass(frozen=True, slots=True)
class Entity:
    """A node of the knowledge graph with what is known about it."""

    name: str
    entity_type: str
    observations: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class EntityDetails:
    """An entity with the facts the window shows beside it."""

    id: int
    uuid: str
    entity: Entity
    relations: tuple["Relation", ...]
    stored_by: str
    created_at: datetime
    updated_at: datetime


@dataclass(frozen=True, slots=True)
class Relation:
    """A directed edge of the knowledge graph; its ends need not exist (as in the reference)."""

    from_name: str
    to_name: str
    relation_type: str


@dataclass(frozen=True, slots=True)
class Graph:
    """Entities and relations, in the order they were stored.

    Attributes:
        entities: The entities of this page.
        relations: The relations of this page.
        next_cursor: Where the next page begins; None where this is all.
        entity_count: How many entities the whole answer has, not only this page.
    """

    entities: tuple[Entity, ...]
    relations: tuple[Relation, ...]
    next_cursor: str | None = None
    entity_count: int = 0


@dataclass(frozen=True, slots=True)
class KnowledgeQuery:
    """A search for knowledge (seed 000, searchKnowledge)."""

    text: str
    context_tags: tuple[str, ...] = ()
    scope: str | None = None
    category: Category | None = None
    limit: int = 5
    min_confidence: float = 0.0


@dataclass(frozen=True, slots=True)
class TurnDraft:
    """One turn of a conversation, not yet checked (DESIGN.md, add_exchange).

    Attributes:
        role: user, assistant, tool or system.
        text: What was said.
        speaker: The person's name, in conversations of several people.
        time: When, ISO 8601 or as the client writes it; None for now.
        metadata: Facts of the client's own, kept and given back.
    """

    role: str
    text: str
    speaker: str = ""
    time: str | None = None
    metadata: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Turn:
    """One stored turn.

    Attributes:
        id: Its id in the search index, the wire's `entry_id`.
        uuid: Its UUID.
        session_uuid: The session's id on the wire.
        session_title: What people call the session.
        position: Its number in the session, from 0.
    """

    id: int
    uuid: str
    session_uuid: str
    session_title: str
    position: int
    role: Role
    speaker: str
    text: str
    at: datetime
    metadata: Mapping[str, Any] | None


@dataclass(frozen=True, slots=True)
class EntryQuery:
    """A search over everything that is remembered (seed 004, search_knowledge).

    Attributes:
        text: The question.
        limit: 1 to 50.
        types: Categories of knowledge, or question and answer for turns; empty for all.
        session_uuid: Only entries of this session; None for all.
        tags: Only entries with all of these tags.
        min_relevance: 0..1.
    """

    text: str
    limit: int = 5
    types: tuple[str, ...] = ()
    session_uuid: str | None = None
    tags: tuple[str, ...] = ()
    min_relevance: float = 0.0


@dataclass(frozen=True, slots=True)
class Entry:
    """Anything that a search over everything finds: a turn, an item, or an entity.

    Attributes:
        id: The wire's `entry_id`.
        uuid: Its UUID.
        type: A category; question or answer for turns; entity.
        title: Its title; empty for turns.
        content: Its text.
        tags: Its tags.
        session_uuid: The session it belongs to; empty where it belongs to none.
        at: When it was said or last changed.
        relevance: 0..1.
        explanation: Why it was found.
        metadata: What the client stored with it.
    """

    id: int
    uuid: str
    type: str
    title: str
    content: str
    tags: tuple[str, ...]
    session_uuid: str
    at: datetime
    relevance: float
    explanation: "Explanation"
    metadata: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Explanation:
    """Why a hit stands where it stands: each factor of DESIGN's ranking formula.

    Attributes:
        sentence: The reason in words, for people.
        words: The words of the question that the item has.
        bm25: The raw lexical score, larger is better.
        relevance: 0..1, the score of the fused search.
        cosine: How close in meaning, -1..1; None where only words were compared.
        priors: Named additions for conversations: speaker, date, length and the like.
        priority_boost: 0.8..1.25.
        confidence: 0..1.
        tag_boost: 1 and a tenth for each matching tag.
        scope_boost: 0.5 same scope, 0.2 global, else 0.
    """

    sentence: str
    words: tuple[str, ...]
    bm25: float
    relevance: float
    priority_boost: float = 1.0
    confidence: float = 1.0
    tag_boost: float = 1.0
    scope_boost: float = 0.0
    cosine: float | None = None
    priors: tuple[tuple[str, float], ...] = ()


@dataclass(frozen=True, slots=True)
class KnowledgeHit:
    """A found item with its score and the reasons for it."""

    item: KnowledgeItem
    score: float
    explanation: Explanation


@dataclass(frozen=True, slots=True)
class KnowledgeResults:
    """What a search for knowledge found."""

    hits: tuple[KnowledgeHit, ...]
    total_matches: int
    query: str


@dataclass(frozen=True, slots=True)
class Row:
    """One line of a list in the window: any noun, cut to what a row shows.

    Attributes:
        id: The id in the search index (knowledge id or entity id).
        noun: KNOWLEDGE or ENTITY.
        title: The title or the entity's name.
        snippet: Up to about 240 characters of the text, around what matched where there is a query.
        title_marks: Half-open (start, end) ranges of `title` whose words scored.
        snippet_marks: The same for `snippet`.
        kind: The category, or the entity's type.
        scope: The scope of knowledge; empty for entities.
        detail: What else the third line says ("6 observations, 4 relations"); empty for knowledge.
        stored_by: The client that stored it.
        updated_at: When it was last changed.
        explanation: Why it was found; None without a query.
    """

    id: int
    noun: Noun
    title: str
    snippet: str
    kind: str
    scope: str
    detail: str
    stored_by: str
    updated_at: datetime
    title_marks: tuple[tuple[int, int], ...] = ()
    snippet_marks: tuple[tuple[int, int], ...] = ()
    explanation: Explanation | None = None


@dataclass(frozen=True, slots=True)
class HistoryEntry:
    """One recorded change with what was there before.

    Attributes:
        id: Its number; larger is later.
        at: When.
        action: What was done.
        noun: To what.
        item_uuid: The UUID of the row; relations and observations carry their own.
        item_id: The integer id it had.
        title: What people call it.
        before: The row before the change as JSON fields; None for a creation.
        origin: Who asked for it.
        undone: Whether it has been undone since.
    """

    id: int
    at: datetime
    action: Action
    noun: Noun
    item_uuid: str
    item_id: int
    title: str
    before: Mapping[str, Any] | None
    origin: Origin
    undone: bool


@dataclass(frozen=True, slots=True)
class Counts:
    """How much is remembered."""

    knowledge: int
    entities: int
    observations: int
    relations: int


@dataclass(frozen=True, slots=True)
class ConnectedClient:
    """An assistant that is connected right now."""

    name: str
    version: str
    connected_at: datetime
    calls: int


@dataclass(frozen=True, slots=True)
class ImportProblem:
    """A line of an imported file that was not taken, and why."""

    line: int
    message: str
    text: str


@dataclass(frozen=True, slots=True)
class ImportReport:
    """What an import found and did, or would do.

    Attributes:
        path: The file that was read.
        dry_run: True where nothing was written.
        entities_new: Entities that were (or would be) created.
        entities_known: Entities that were already there.
        observations_new: Observations that were added.
        relations_new: Relations that were added.
        relations_known: Relations that were already there.
        dangling_relations: Relations with an end that has no entity; kept.
        problems: Lines that were not understood, with their number.
        kept_lines_path: Where those lines were kept; empty where there were none or in a dry run.
        batch: The UUID by which the whole import can be undone; empty in a dry run.
    """

    path: str
    dry_run: bool
    entities_new: int = 0
    entities_known: int = 0
    observations_new: int = 0
    relations_new: int = 0
    relations_known: int = 0
    dangling_relations: int = 0
    problems: tuple[ImportProblem, ...] = field(default=())
    kept_lines_path: str = ""
    batch: str = ""
