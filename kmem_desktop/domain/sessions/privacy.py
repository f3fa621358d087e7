"""What is kept out of the memory: secrets that were removed, and what is never stored at all."""

from dataclasses import dataclass
from datetime import date, datetime
from enum import StrEnum

EXCLUDED_NAME_LENGTH = (1, 200)


class ExclusionKind(StrEnum):
    """What nothing is kept of."""

    PROJECT = "project"
    SESSION = "session"


@dataclass(frozen=True, slots=True)
class Exclusion:
    """A project or session of which nothing is kept.

    Attributes:
        kind: Which of both it is.
        name: The project's name, or the session's id, here or at the program it comes from.
        added_at: Since when.
    """

    kind: ExclusionKind
    name: str
    added_at: datetime


@dataclass(frozen=True, slots=True)
class SecretCount:
    """How many secrets of a kind were replaced before they reached the disk.

    Attributes:
        day: The day (UTC).
        source: The client or import they came through.
        kind: What they were, such as "AWS key"; never their value.
        count: How many.
    """

    day: date
    source: str
    kind: str
    count: int
