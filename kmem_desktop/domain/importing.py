"""What an import found and did."""

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class ImportProblem:
    """A line of an imported file that was not taken, and why."""

    line: int
    message: str
    text: str


@dataclass(frozen=True, slots=True)
class ImportReport:
    """What an import found and did, or would do.

    Attributes:
        path: The file that was read.
        dry_run: True where nothing was written.
        entities_new: Entities that were (or would be) created.
        entities_known: Entities that were already there.
        observations_new: Observations that were added.
        relations_new: Relations that were added.
        relations_known: Relations that were already there.
        dangling_relations: Relations with an end that has no entity; kept.
        problems: Lines that were not understood, with their number.
        kept_lines_path: Where those lines were kept; empty where there were none or in a dry run.
        batch: The UUID by which the whole import can be undone; empty in a dry run.
    """

    path: str
    dry_run: bool
    entities_new: int = 0
    entities_known: int = 0
    observations_new: int = 0
    relations_new: int = 0
    relations_known: int = 0
    dangling_relations: int = 0
    problems: tuple[ImportProblem, ...] = field(default=())
    kept_lines_path: str = ""
    batch: str = ""
