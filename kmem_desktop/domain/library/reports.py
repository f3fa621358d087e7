"""Tags, what the memory is made of, and its picture."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

TAG_PAGE = (1, 500)
MOST_TAGGED = 1_000
"""Tags are put on, or taken from, at most so many things in one call."""
ANALYSIS_DAYS = (1, 3_650)
USUAL_ANALYSIS_DAYS = 90
PICTURE_DEPTH = (1, 5)
PICTURE_LIMIT = (1, 300)


@dataclass(frozen=True, slots=True)
class Listed:
    """A conversation or an item of knowledge in a short list.

    Attributes:
        uuid: Its id on the wire.
        title: Its title.
        kind: The client of a conversation, or the category of an item.
        at: When it was last active or changed.
        turns: How many turns a conversation has.
    """

    uuid: str
    title: str
    kind: str
    at: datetime
    turns: int = 0


@dataclass(frozen=True, slots=True)
class TagCount:
    """A tag and how often it is used.

    Attributes:
        name: The tag.
        items: How many items of knowledge have it.
        sessions: How many conversations have it.
        last_used: When something that has it was last changed.
    """

    name: str
    items: int
    sessions: int
    last_used: datetime


@dataclass(frozen=True, slots=True)
class TagPage:
    """Some of the tags, those used most first.

    Attributes:
        tags: The tags of this page.
        total: How many there are in all.
        next_cursor: Where the next page begins; None where this is the last.
    """

    tags: tuple[TagCount, ...]
    total: int
    next_cursor: str | None


@dataclass(frozen=True, slots=True)
class Tagging:
    """What a change of tags did.

    Attributes:
        items: How many items of knowledge were changed.
        sessions: How many conversations were changed.
        batch: The UUID by which it can be undone as a whole; empty where nothing was changed.
    """

    items: int
    sessions: int
    batch: str


@dataclass(frozen=True, slots=True)
class Referenced:
    """An entry that others refer to, or an entity with relations."""

    uuid: str
    title: str
    count: int


@dataclass(frozen=True, slots=True)
class Search:
    """A question that was asked.

    Attributes:
        text: The question.
        count: How often.
        found: How many results it had the last time.
        last_at: When it was asked last.
    """

    text: str
    count: int
    found: int
    last_at: datetime


@dataclass(frozen=True, slots=True)
class Aged:
    """An item that may no longer hold.

    Attributes:
        uuid: The item.
        title: Its title.
        updated_at: When it was last changed.
        superseded_by: The title of what replaced it; empty for nothing.
    """

    uuid: str
    title: str
    updated_at: datetime
    superseded_by: str = ""


@dataclass(frozen=True, slots=True)
class Pair:
    """Two entries that say nearly the same, or contradict each other.

    Attributes:
        uuids: Both; the later one first where one is.
        titles: Their titles.
        strength: 0 to 1: how alike they are, or how sure the contradiction is.
    """

    uuids: tuple[str, str]
    titles: tuple[str, str]
    strength: float


@dataclass(frozen=True, slots=True)
class SessionFigures:
    """What the conversations are, in figures."""

    count: int
    turns: int
    tokens: int
    longest: int
    active_in_period: int
    by_state: Mapping[str, int]
    by_client: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Analysis:
    """What the memory is made of.

    Attributes:
        scope: The scope of the knowledge that was looked at; empty for all.
        days: How far back searches, activity and "changed" reach.
        totals: How much there is, by noun.
        by_category: Items by category, the most first.
        by_scope: Items by scope.
        by_client: Items by who stored them.
        by_month: Items by the month they were stored in, in order.
        tags: The tags used most.
        referenced: The entries that most others refer to.
        entities: The entities with most relations.
        sessions: The conversations.
        asked: The questions asked most in the period.
        unanswered: Those that found nothing the last time.
        stale: Items that were replaced, or not touched for long, the oldest first.
        alike: Items that say nearly the same.
        contradictions: Entries that contradict each other.
    """

    scope: str
    days: int
    totals: Mapping[str, int]
    by_category: Mapping[str, int]
    by_scope: Mapping[str, int]
    by_client: Mapping[str, int]
    by_month: Mapping[str, int]
    tags: tuple[TagCount, ...]
    referenced: tuple[Referenced, ...]
    entities: tuple[Referenced, ...]
    sessions: SessionFigures
    asked: tuple[Search, ...]
    unanswered: tuple[Search, ...]
    stale: tuple[Aged, ...]
    alike: tuple[Pair, ...]
    contradictions: tuple[Pair, ...]


@dataclass(frozen=True, slots=True)
class PictureNode:
    """A dot of the picture.

    Attributes:
        key: Its name in the picture, such as "n0".
        title: The entity's name, or the item's title.
        kind: The entity's type, or the item's category; empty for an end that has no entity.
        is_item: Whether it is an item of knowledge.
        uuid: Its UUID; empty for an end that has no entity.
        number: Its id in the database; 0 for an end that has no entity.
        links: How many relations it has in all, also to what is not in the picture.
    """

    key: str
    title: str
    kind: str
    is_item: bool
    uuid: str
    number: int
    links: int


@dataclass(frozen=True, slots=True)
class PictureEdge:
    """A line of the picture, by the keys of its ends."""

    start: str
    end: str
    label: str


@dataclass(frozen=True, slots=True)
class Picture:
    """A part of the graph.

    Attributes:
        nodes: The dots, the centre first.
        edges: The lines between them.
        center: The key of the centre; empty where the most connected were taken.
        total: How many entities there are in all.
        left_out: How many neighbours did not find room.
    """

    nodes: tuple[PictureNode, ...] = ()
    edges: tuple[PictureEdge, ...] = field(default=())
    center: str = ""
    total: int = 0
    left_out: int = 0
