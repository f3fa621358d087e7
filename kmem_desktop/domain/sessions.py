"""Conversations: sessions and their turns (seed 004), with their limits."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

TURN_BATCH = 500
"""At most this many turns in one call."""
TURN_LENGTH = 1_000_000
SPEAKER_LENGTH = 100
SESSION_TITLE_LENGTH = 200
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
