"""What a search over everything takes and gives, and why."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

from kmem_desktop.domain.changes import Noun

ENTRY_LENGTH = 100_000
ENTRY_SEARCH_LIMIT = (1, 50)
ENTRY_QUERY_LENGTH = (1, 2_000)


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
        explain: Whether hits name the words that matched, which costs a millisecond.
        scope: Only this scope and what is global; None for all.
    """

    text: str
    limit: int = 5
    types: tuple[str, ...] = ()
    session_uuid: str | None = None
    tags: tuple[str, ...] = ()
    min_relevance: float = 0.0
    explain: bool = True
    scope: str | None = None


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
        notes: Why it may no longer hold.
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
    notes: "tuple[EntryNote, ...]" = ()


class Doubt(StrEnum):
    """Why an entry may no longer hold."""

    SUPERSEDED = "superseded"
    CONTRADICTED = "contradicted"


@dataclass(frozen=True, slots=True)
class EntryNote:
    """What has to be said with an entry wherever it is recalled: it may no longer hold.

    Attributes:
        doubt: What a later entry does to it.
        by_id: The later entry.
        by_title: What that is called; for a turn what it says, shortened.
        at: When the later one was said.
    """

    doubt: Doubt
    by_id: int
    by_title: str
    at: datetime

    @property
    def sentence(self) -> str:
        """The note in words, for people and for assistants alike."""
        day = f"{self.at.day} {self.at:%B %Y}"
        return f"{self.doubt.capitalize()} by \u201c{self.by_title}\u201d (#{self.by_id}) on {day}."


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
class Row:
    """One line of a list in the window: any noun, cut to what a row shows.

    Attributes:
        id: The id in the search index.
        noun: KNOWLEDGE, ENTITY, TURN or DIRECTIVE.
        title: The title, the entity's name, the conversation's title, or what a rule asks for.
        snippet: Up to about 240 characters of the text, around what matched where there is a query.
        title_marks: Half-open (start, end) ranges of `title` whose words scored.
        snippet_marks: The same for `snippet`.
        kind: The category, the entity's type, who speaks, or whether a rule is only proposed.
        scope: The scope; empty for entities.
        detail: What else the third line says ("6 observations, 4 relations", "turn 41 of 96",
            "docs/api.md, line 12"); empty for knowledge.
        stored_by: The client that stored it.
        updated_at: When it was last changed, or said.
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
class TurnPlace:
    """Where a turn of a conversation stands.

    Attributes:
        id: Its id in the search index.
        session_uuid: The conversation.
        session_title: What people call that.
        position: Its number in it, from 0.
        entry_count: How many turns there are.
        client: The program that stored them.
        scope: The scope of what is said there.
    """

    id: int
    session_uuid: str
    session_title: str
    position: int
    entry_count: int
    client: str
    scope: str


@dataclass(frozen=True, slots=True)
class Counts:
    """How much is remembered."""

    knowledge: int
    entities: int
    observations: int
    relations: int
