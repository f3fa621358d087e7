"""Imports of memories: where they come from, how far an import is, what it found and did."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum


class MemoryProgram(StrEnum):
    """A program whose memories can be brought in."""

    REFERENCE = "reference-memory"
    AI_DEVKIT = "ai-devkit"
    MARK42 = "mark42"
    MEMORY_SERVICE = "mcp-memory-service"
    BASIC_MEMORY = "basic-memory"


@dataclass(frozen=True, slots=True)
class FoundMemory:
    """The memory of another program on this computer.

    Attributes:
        program: Whose it is.
        path: Where it is.
    """

    program: MemoryProgram
    path: str


@dataclass(frozen=True, slots=True)
class MemoryProgress:
    """How far an import of memories is.

    Attributes:
        done: Memories that were looked at.
        total: All memories; 0 while they are read.
    """

    done: int = 0
    total: int = 0


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
        path: The file or folder that was read.
        dry_run: True where nothing was written.
        program: Whose memory it is.
        knowledge_new: Pieces of knowledge that were (or would be) created.
        knowledge_known: Pieces of knowledge that were already there.
        entities_new: Entities that were (or would be) created.
        entities_known: Entities that were already there.
        observations_new: Observations that were added.
        relations_new: Relations that were added.
        relations_known: Relations that were already there.
        dangling_relations: Relations with an end that has no entity; kept.
        problems: Lines that were not understood, with their number.
        kept_lines_path: Where those lines were kept; empty where there were none or in a dry run.
        excluded: Memories of projects of which nothing is to be kept.
        was_cancelled: Whether it was ended early: what was stored stays, and the next import of
            the same path finishes it.
        secrets_removed: How many secrets of which kind were replaced before storing.
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
    program: MemoryProgram = MemoryProgram.REFERENCE
    knowledge_new: int = 0
    knowledge_known: int = 0
    excluded: int = 0
    was_cancelled: bool = False
    secrets_removed: Mapping[str, int] = field(default_factory=dict)
    batch: str = ""
