"""The room that the memory takes on the disk."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Space:
    """What the memory takes.

    Attributes:
        file_bytes: The file with its log.
        spare_bytes: About how much of it can be given back.
    """

    file_bytes: int
    spare_bytes: int

    @property
    def spare_share(self) -> float:
        """How much of it can be given back, 0..1."""
        return self.spare_bytes / self.file_bytes if self.file_bytes else 0.0


@dataclass(frozen=True, slots=True)
class SpaceGivenBack:
    """What giving space back came to.

    Attributes:
        before_bytes: What the memory took before, the log included.
        after_bytes: What it takes now.
        took_s: How long it took.
        waits_for_others: Whether another program still reads an older state: the rest of the space
            comes back when it is done.
    """

    before_bytes: int
    after_bytes: int
    took_s: float
    waits_for_others: bool
