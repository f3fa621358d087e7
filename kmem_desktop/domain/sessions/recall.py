"""What is given back of conversations: lists of sessions, what fits of one, answers with memory."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

from kmem_desktop.domain.found import Entry
from kmem_desktop.domain.sessions.conversations import RestoredContext, RestoredTurn, Summary

SESSION_LIST_LIMIT = (1, 100)
CONTEXT_TURNS = (0, 200)
RESTORE_TOKENS = (100, 100_000)
USUAL_RESTORE_TOKENS = 4_000
MESSAGE_LENGTH = (1, 100_000)
SAVED_LENGTH = (1, 20_000)
PRIORITIES: Mapping[str, int] = {"low": 2, "medium": 5, "high": 8, "critical": 10}
"""Seed 004's words on seed 000's scale (DESIGN.md, "Data")."""


class SessionState(StrEnum):
    """Where a session is in its life (seed 004)."""

    ACTIVE = "active"
    SUMMARIZED = "summarized"
    ARCHIVED = "archived"


class SessionOrder(StrEnum):
    """By what sessions are listed, the highest first."""

    LAST_ACTIVE = "last_active"
    CREATED_AT = "created_at"
    ENTRY_COUNT = "entry_count"


@dataclass(frozen=True, slots=True)
class SessionFacts:
    """A session without its turns.

    Attributes:
        id: Its number.
        uuid: Its id on the wire.
        title: What people call it.
        project: The project it belongs to; empty for none.
        tags: Its tags.
        state: Where it is in its life.
        client: The assistant that stored it.
        created_at: When it began.
        last_active: When a turn was last added.
        entry_count: How many turns it has.
        token_count: About how many tokens they have.
        summary: Its summary; None where none was made.
        is_pinned: Whether a person keeps it at hand: then it is neither archived nor deleted.
        archived_at: When it was archived; None where it is not.
        metadata: What its source says of it; None for nothing.
        source: The key of the program it was imported from; empty where it was stored here.
        is_renamed: Whether a person gave it its title: then an import leaves that alone.
    """

    id: int
    uuid: str
    title: str
    project: str
    tags: tuple[str, ...]
    state: SessionState
    client: str
    created_at: datetime
    last_active: datetime
    entry_count: int
    token_count: int
    summary: Summary | None = None
    is_pinned: bool = False
    archived_at: datetime | None = None
    metadata: Mapping[str, Any] | None = None
    source: str = ""
    is_renamed: bool = False

    @property
    def is_stale(self) -> bool:
        """Whether turns were added since it was summarised."""
        return self.summary is not None and self.summary.turn_count < self.entry_count


@dataclass(frozen=True, slots=True)
class RestoredSession:
    """A session that is gone on with.

    Attributes:
        facts: The session.
        summary: Its summary; without text where a long session has none yet, and of fewer turns
            than the session has where it is stale.
        context: What fits of its turns.
        is_preliminary: Whether the best of its older turns was not known yet: it is being worked
            out, and the next restore has it.
    """

    facts: SessionFacts
    summary: Summary
    context: RestoredContext
    is_preliminary: bool = False


@dataclass(frozen=True, slots=True)
class DeletedSession:
    """A session that was deleted and can be restored.

    Attributes:
        uuid: Its id on the wire.
        title: What people called it.
        turn_count: How many turns it had.
        deleted_at: When.
        deleted_by: Who deleted it.
    """

    uuid: str
    title: str
    turn_count: int
    deleted_at: datetime
    deleted_by: str


class SnapshotReason(StrEnum):
    """Why a context snapshot was taken."""

    ASKED = "asked"
    TURNS = "turns"
    ARCHIVED = "archived"


@dataclass(frozen=True, slots=True)
class ContextSnapshot:
    """What was given back of a session at one time (seed 004, context_snapshots).

    Attributes:
        uuid: Its id.
        at: When it was taken.
        reason: Why.
        turns: The turns as they were restored then.
        token_count: What they cost.
        turn_count: How many turns the session had.
        summary: The text of its summary then; empty for none.
    """

    uuid: str
    at: datetime
    reason: SnapshotReason
    turns: tuple[RestoredTurn, ...]
    token_count: int
    turn_count: int
    summary: str


@dataclass(frozen=True, slots=True)
class RememberedAnswer:
    """What chatting with memory gives.

    Attributes:
        session_uuid: The session, new where none was named.
        answer: What the model said; empty where none answered.
        model: The model that answered; empty for none.
        why_no_answer: Why no model answered; empty where one did.
        context: The turns before, as they were given to the model.
        related: What else is remembered about the message.
        entry_ids: The turns that were stored.
        metadata: Facts of the answer: tokens and the like.
    """

    session_uuid: str
    answer: str
    model: str
    why_no_answer: str
    context: RestoredContext
    related: tuple[Entry, ...]
    entry_ids: tuple[int, ...]
    metadata: Mapping[str, Any]
