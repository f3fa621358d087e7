"""The inbox: knowledge that was taken from conversations, until a person decides about it.

Also how entries of the memory relate, as people and assistants are told it.
"""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from kmem_desktop.domain.knowledge import Category
from kmem_desktop.domain.sessions.conversations import EntryRelation, Role

PROPOSAL_PAGE = (1, 500)
FULL = 400
"""While so many wait, older conversations are not looked through: nobody reads an endless list."""


class Decision(StrEnum):
    """What became of a proposal."""

    PROPOSED = "proposed"
    ACCEPTED = "accepted"
    MERGED = "merged"
    DROPPED = "dropped"


@dataclass(frozen=True, slots=True)
class Proposal:
    """Something out of a conversation that may be worth keeping.

    Attributes:
        id: Its number; later ones are larger.
        uuid: Its UUID.
        title: 10 to 100 characters.
        content: 50 to 5,000 characters.
        category: What kind of knowledge it would be.
        scope: Where it would hold.
        score: 0 to 1: how sure it is that this is knowledge and no junk.
        session_uuid: The conversation.
        session_title: What people call it.
        client: The program it was held with.
        position: The turn it stands in.
        role: Who said it.
        said_at: When.
        also_positions: Other turns of the conversation that say the same.
        like_uuid: Knowledge that nearly says it already; empty for none.
        like_title: Its title.
        likeness: 0 to 1: how near that knowledge is.
        decision: What became of it.
        knowledge_uuid: What it became; empty for nothing.
        created_at: When it was found.
        decided_at: When it was decided about; None while it waits.
    """

    id: int
    uuid: str
    title: str
    content: str
    category: Category
    scope: str
    score: float
    session_uuid: str
    session_title: str
    client: str
    position: int
    role: Role
    said_at: datetime
    also_positions: tuple[int, ...]
    like_uuid: str
    like_title: str
    likeness: float
    decision: Decision
    knowledge_uuid: str
    created_at: datetime
    decided_at: datetime | None = None

    @property
    def place(self) -> tuple[float, int]:
        """Where it stands in the list; the page after it begins there."""
        return self.score, self.id


@dataclass(frozen=True, slots=True)
class InboxState:
    """How far conversations are looked through.

    Attributes:
        waiting: How many proposals wait for a decision.
        left: How many conversations are still to be looked through; those that go on right now
            are not counted.
        is_full: Whether so many wait that older conversations are left for later.
    """

    waiting: int
    left: int
    is_full: bool


@dataclass(frozen=True, slots=True)
class BulkDecision:
    """What was decided for a whole conversation in one step.

    Attributes:
        done: How many proposals were accepted or dropped.
        left: Those that could not be accepted, each with the reason; they wait on.
    """

    done: int
    left: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class TakenBack:
    """A decision that was undone.

    Attributes:
        uuids: The proposals that wait again.
        decision: What had been decided.
        title: What the first of them is called.
    """

    uuids: tuple[str, ...]
    decision: Decision
    title: str


@dataclass(frozen=True, slots=True)
class EntryLink:
    """A relation between two entries, seen from one of them.

    Attributes:
        from_id: The later entry.
        to_id: The earlier entry.
        relation: How the later one relates to the earlier one.
        strength: 0 to 1.
        words: The words it was seen by; empty where somebody told it.
        other_id: The entry at the other end.
        title: What that one is called; for a turn the title of its conversation.
        text: The beginning of what it says.
        at: When it was said or stored.
        session_uuid: Its conversation, where it is a turn; else empty.
        position: Its number there; None where it is no turn.
    """

    from_id: int
    to_id: int
    relation: EntryRelation
    strength: float
    words: str
    other_id: int
    title: str
    text: str
    at: datetime
    session_uuid: str
    position: int | None

    @property
    def is_outgoing(self) -> bool:
        """Whether it is the asked-for entry that relates to the other one."""
        return self.other_id == self.to_id
