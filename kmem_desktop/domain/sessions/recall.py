"""What is given back of conversations: lists of sessions, what fits of one, answers with memory."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

from kmem_desktop.domain.found import Entry
from kmem_desktop.domain.sessions.conversations import RestoredContext, Summary

SESSION_LIST_LIMIT = (1, 100)
CONTEXT_TURNS = (0, 200)
RESTORE_TOKENS = (100, 100_000)
USUAL_RESTORE_TOKENS = 4_000
MESSAGE_LENGTH = (1, 100_000)
SAVED_LENGTH = (1, 20_000)
PRIORITIES: Mapping[str, int] = {"low": 2, "medium": 5, "high": 8, "critical": 10}
"""Seed 004's words on seed 000's scale (DESIGN.md, "Data")."""


class SessionState(StrEnum):
    """Where a session is in its life."""

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

    @property
    def is_stale(self) -> bool:
        """Whether turns were added since it was summarised."""
        return self.summary is not None and self.summary.turn_count < self.entry_count


@dataclass(frozen=True, slots=True)
class RestoredSession:
    """A session that is gone on with."""

    facts: SessionFacts
    summary: Summary
    context: RestoredContext


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
