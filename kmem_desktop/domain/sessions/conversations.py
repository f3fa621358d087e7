"""Conversations: sessions and their turns (seed 004), with their limits."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

from kmem_desktop.domain.knowledge import Category

TURN_BATCH = 500
"""At most this many turns in one call."""
TURN_LENGTH = 1_000_000
SPEAKER_LENGTH = 100
SESSION_TITLE_LENGTH = 200
SESSION_TAG_COUNT = 20
METADATA_LENGTH = 20_000


class Role(StrEnum):
    """Who speaks in a turn of a conversation."""

    USER = "user"
    ASSISTANT = "assistant"
    TOOL = "tool"
    SYSTEM = "system"


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
class SpokenTurn:
    """A turn as summaries and context windows read it.

    Attributes:
        position: Its number in the session; links of bullets name it.
        role: Who speaks.
        text: What was said.
        speaker: The person's name, in conversations of several people.
        at: When.
        token_count: Its stored estimate; None where it is to be counted.
        is_important: Whether a person marked it.
    """

    position: int
    role: Role
    text: str
    speaker: str = ""
    at: datetime | None = None
    token_count: int | None = None
    is_important: bool = False


class SummaryFormat(StrEnum):
    """How a summary is told (seed 004, summarize_session)."""

    BULLET_POINTS = "bullet_points"
    NARRATIVE = "narrative"
    TECHNICAL = "technical"


class BulletKind(StrEnum):
    """What a bullet of a summary tells."""

    GOAL = "goal"
    DECISION = "decision"
    OUTCOME = "outcome"
    REVERSAL = "reversal"
    FACT = "fact"
    QUESTION = "open question"
    FILES = "files"
    COMMANDS = "commands"


@dataclass(frozen=True, slots=True)
class Bullet:
    """One statement of a summary and the turn it was taken from.

    Attributes:
        kind: What it tells.
        text: The statement.
        position: The turn it links to.
        was_position: For a reversal, the turn that said what no longer holds.
    """

    kind: BulletKind
    text: str
    position: int
    was_position: int | None = None


@dataclass(frozen=True, slots=True)
class Summary:
    """A summary and what it rests on.

    Attributes:
        format: How it is told.
        text: The whole, as it is shown.
        bullets: Its statements, each with its turn, in the order of the text.
        turn_count: How many turns the session had: it is stale once there are more.
        dropped_count: Statements of a model that the turns do not bear out, and so are left out.
        model: The model that worded it; empty where it quotes the session's own words.
    """

    format: SummaryFormat
    text: str
    bullets: tuple[Bullet, ...]
    turn_count: int
    dropped_count: int = 0
    model: str = ""


@dataclass(frozen=True, slots=True)
class DigestPiece:
    """A passage that is worth keeping of a conversation.

    Attributes:
        position: The number of the turn it stands in.
        last_position: The last turn it is made of: half sentences sent in a row are one passage.
        place: Its number within the turn.
        is_last: Whether the turn ends with it.
        text: What it says; code with its fences closed.
        token_count: What it costs.
    """

    position: int
    last_position: int
    place: int
    is_last: bool
    text: str
    token_count: int


@dataclass(frozen=True, slots=True)
class Digest:
    """What is worth keeping of a conversation, ready for a context window of any size.

    It is made once, in the background, and kept: reading a long conversation takes longer than a
    client should wait.

    Attributes:
        turn_count: How many turns were read: later ones are not in it.
        pieces: The passages, the most useful first.
        code: The code blocks, the latest first.
        taken_back: What was said and later taken back: the turn's position, and the passage.
    """

    turn_count: int
    pieces: tuple[DigestPiece, ...]
    code: tuple[DigestPiece, ...]
    taken_back: tuple[tuple[int, str], ...]


@dataclass(frozen=True, slots=True)
class RestoredTurn:
    """A turn in a context window.

    Attributes:
        position: Its number in the session.
        role: Who speaks.
        speaker: The person's name.
        text: What is left of it; where something was cut, a mark says so.
        is_shortened: Whether it is not the whole turn.
        at: When.
    """

    position: int
    role: Role
    speaker: str
    text: str
    is_shortened: bool = False
    at: datetime | None = None


@dataclass(frozen=True, slots=True)
class ContextGap:
    """Turns that were left out of a context window.

    Attributes:
        before_position: The restored turn that follows.
        turn_count: How many turns.
        token_count: How many tokens they have.
    """

    before_position: int
    turn_count: int
    token_count: int


@dataclass(frozen=True, slots=True)
class RestoredContext:
    """What is given back of a session within a budget of tokens.

    Attributes:
        turns: What is given, in the conversation's order.
        gaps: Where whole turns were left out.
        text: The same as one text, with its marks: what the budget counts.
        token_count: The tokens of `text`.
        left_out_turns: How many turns are missing altogether.
        left_out_tokens: How many tokens are missing, those of shortened turns included.
        is_complete: Whether it is the whole conversation, unchanged.
    """

    turns: tuple[RestoredTurn, ...]
    gaps: tuple[ContextGap, ...]
    text: str
    token_count: int
    left_out_turns: int
    left_out_tokens: int
    is_complete: bool


@dataclass(frozen=True, slots=True)
class ImportedSession:
    """A conversation that another program keeps, as its transcript or export describes it.

    Attributes:
        source_id: Its id there: what is imported twice is recognised by it.
        client: The program.
        title: What it is called there; empty where it has no title.
        project: The folder or project it belongs to, its name only.
        started_at: When it began.
        metadata: What else is known: the whole path, the branch, lines of unknown types.
    """

    source_id: str
    client: str
    title: str = ""
    project: str = ""
    started_at: datetime | None = None
    metadata: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class ImportedTurn:
    """A turn of a conversation that another program keeps.

    Attributes:
        session_id: The `source_id` of its session.
        source_id: Its id there, unique within the session.
        role: Who speaks; what a tool was asked and what it returned are turns of the tool.
        text: What was said; calls and results of tools are shortened.
        at: When.
        metadata: What else is known of it.
    """

    session_id: str
    source_id: str
    role: Role
    text: str
    at: datetime | None = None
    metadata: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Candidate:
    """Something that may be worth keeping.

    Attributes:
        title: 10 to 100 characters.
        content: 50 to 5,000 characters.
        category: decision, solution or guideline.
        position: The turn it stands in.
        score: 0 to 1: how sure it is that this is knowledge and no junk.
        also_positions: Other turns that say the same.
    """

    title: str
    content: str
    category: Category
    position: int
    score: float
    also_positions: tuple[int, ...] = ()


class EntryRelation(StrEnum):
    """How the later entry relates to the earlier one (seed 004)."""

    REFERENCES = "references"
    BUILDS_ON = "builds_on"
    CONTRADICTS = "contradicts"
    IMPLEMENTS = "implements"
    SUPERSEDES = "supersedes"


@dataclass(frozen=True, slots=True)
class FoundRelation:
    """A relation from the later entry to the earlier one.

    Attributes:
        from_id: The later entry.
        to_id: The earlier entry.
        relation: How it relates.
        strength: 0 to 1: the likeness, less where the wording is weak.
        words: The words it was seen by.
    """

    from_id: int
    to_id: int
    relation: EntryRelation
    strength: float
    words: str
