"""What the window shows of conversations: lists, facets, turns by their range, and previews."""

from array import array
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, datetime

from kmem_desktop.domain.knowledge import KnowledgeItem
from kmem_desktop.domain.rules import RankedDirective
from kmem_desktop.domain.sessions.conversations import Role
from kmem_desktop.domain.sessions.recall import RestoredSession, SessionState

Marks = tuple[tuple[int, int], ...]
"""Half-open (start, end) ranges of a text whose words were looked for."""


@dataclass(frozen=True, slots=True)
class SessionView:
    """Which sessions a list is to show.

    Attributes:
        text: Words of the title, or of what was said; empty for all, last active first.
        project: Only this project; None for all, empty for those of no project.
        client: Only those that this client stored; None for all.
        tag: Only those with this tag; None for all.
        state: Only those in this state; None for all.
        since: Last active at or after.
        until: Last active before.
        is_pinned: Only those that are pinned.
    """

    text: str = ""
    project: str | None = None
    client: str | None = None
    tag: str | None = None
    state: SessionState | None = None
    since: datetime | None = None
    until: datetime | None = None
    is_pinned: bool = False

    @property
    def is_narrowed(self) -> bool:
        """Whether it leaves anything out."""
        return self != SessionView()


@dataclass(frozen=True, slots=True)
class SessionHit:
    """Where in a session something was found.

    Attributes:
        turn_id: The turn that answers best; 0 where only the title has the words.
        position: The turn's number in the session.
        relevance: 0..1, of the best turn.
    """

    turn_id: int
    position: int
    relevance: float


@dataclass(frozen=True, slots=True)
class SessionListing:
    """Which sessions a view has, in order.

    Attributes:
        view: What was asked for.
        ids: Their numbers (type "q").
        days: For each the local day it was last active, as the number that `date.fromordinal`
            takes; 0 for what is pinned, which comes first. Empty where they stand by likeness.
        total: How many sessions there are without any filter.
        elapsed_ms: How long it took.
        hits: Under a session's number where the words were found; empty without a text.
    """

    view: SessionView
    ids: "array[int]"
    days: "array[int]"
    total: int
    elapsed_ms: float
    hits: Mapping[int, SessionHit] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class SessionRow:
    """One line of a list of sessions.

    Attributes:
        id: Its number.
        uuid: Its id on the wire.
        title: What people call it.
        snippet: The first statement of its summary or, for a text that was looked for, the words
            around it; without either, how it begins.
        position: The turn that `snippet` was said in; None for the summary.
        entry_count: How many turns it has.
    """

    id: int
    uuid: str
    title: str
    title_marks: Marks
    snippet: str
    snippet_marks: Marks
    position: int | None
    project: str
    client: str
    tags: tuple[str, ...]
    state: SessionState
    is_pinned: bool
    created_at: datetime
    last_active: datetime
    entry_count: int
    token_count: int


@dataclass(frozen=True, slots=True)
class Facet:
    """A value that sessions can be narrowed to, and how many have it."""

    name: str
    count: int


@dataclass(frozen=True, slots=True)
class SessionFacets:
    """What sessions can be narrowed to, the most frequent first.

    Attributes:
        total: How many sessions there are.
        pinned: How many are pinned.
        projects: Their projects; the empty name stands for those of none.
        clients: The programs that stored them.
        tags: Their tags.
        states: Their states.
    """

    total: int = 0
    pinned: int = 0
    projects: tuple[Facet, ...] = ()
    clients: tuple[Facet, ...] = ()
    tags: tuple[Facet, ...] = ()
    states: tuple[Facet, ...] = ()


@dataclass(frozen=True, slots=True)
class TurnOutline:
    """A turn without its text: enough to leave room for it.

    Attributes:
        position: Its number in the session, from 0.
        role: Who speaks.
        at: When.
        length: The characters of its text.
        line_count: The lines of its text.
        is_important: Whether a person marked it.
        has_code: Whether it has a block of code.
    """

    position: int
    role: Role
    at: datetime
    length: int
    line_count: int
    is_important: bool
    has_code: bool


@dataclass(frozen=True, slots=True)
class ShownTurn:
    """A turn as the window shows it.

    Attributes:
        id: Its id in the search index.
        position: Its number in the session, from 0.
        role: Who speaks.
        speaker: The person's name, in conversations of several people.
        text: What was said.
        at: When.
        token_count: About how many tokens it has.
        is_important: Whether a person marked it.
    """

    id: int
    position: int
    role: Role
    speaker: str
    text: str
    at: datetime
    token_count: int
    is_important: bool


@dataclass(frozen=True, slots=True)
class PreviewPart:
    """A line of what an assistant gets back.

    Attributes:
        name: What it is.
        words: How much of it.
        token_count: What it costs.
    """

    name: str
    words: str
    token_count: int


@dataclass(frozen=True, slots=True)
class RestorePreview:
    """What an assistant would get back of a session within a budget.

    Attributes:
        session: The session with its summary and what fits.
        budget_tokens: The budget that was asked for.
        parts: What it is made of.
        kept: The turns that are given back as they are.
        shortened: The turns of which a part is given back.
    """

    session: RestoredSession
    budget_tokens: int
    parts: tuple[PreviewPart, ...]
    kept: frozenset[int]
    shortened: frozenset[int]


@dataclass(frozen=True, slots=True)
class RelatedToSession:
    """What else is remembered about what a session was about."""

    knowledge: tuple[KnowledgeItem, ...] = ()
    rules: tuple[RankedDirective, ...] = ()


def day_of(ordinal: int) -> date | None:
    """Return the day that a listing names by a number; None for what is pinned."""
    return date.fromordinal(ordinal) if ordinal else None
