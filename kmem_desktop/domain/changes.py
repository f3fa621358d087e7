"""What is remembered, who changes it, and the record of each change."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any


class Noun(StrEnum):
    """What a row is; sessions and proposals are not searched themselves."""

    KNOWLEDGE = "knowledge"
    ENTITY = "entity"
    OBSERVATION = "observation"
    RELATION = "relation"
    TURN = "turn"
    DIRECTIVE = "directive"
    SESSION = "session"
    PROPOSAL = "proposal"


class OriginKind(StrEnum):
    """Through which door a change came."""

    CLIENT = "client"
    WINDOW = "window"
    COMMAND_LINE = "command_line"
    IMPORT = "import"
    UPKEEP = "upkeep"


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
