"""Finds the memories of other programs on the disk, and reads them without their secrets."""

from collections.abc import Callable, Iterator, Mapping, Set
from dataclasses import dataclass, replace
from pathlib import Path

from kmem_desktop.domain.importing import FoundMemory, ImportProblem, MemoryProgram
from kmem_desktop.errors import FormatError
from kmem_desktop.services.sessions.redacting import SecretFilter, without_secrets
from kmem_desktop.sessions.transcripts.memories import (
    TABLES,
    Memory,
    Row,
    basic_memory_note,
    is_basic_memory_note,
    memories_of,
    program_of,
    read_memory_service,
)
from kmem_desktop.store import foreign

LARGEST_NOTE_BYTES = 4 * 1024 * 1024
MOST_NOTES = 100_000
LOOKED_AT_NOTES = 2_000
"""So many notes of a folder are looked at to tell whether basic-memory wrote them."""
_BEGINNING_BYTES = 4096
_DATABASES = ("memory.db", "sqlite_vec.db")


@dataclass(frozen=True, slots=True)
class Place:
    """Where a memory is, and whose it is."""

    program: MemoryProgram
    path: Path


@dataclass(frozen=True, slots=True)
class Reading:
    """How a memory is read.

    Attributes:
        secrets: Takes secrets out.
        excluded: Projects of which nothing is to be kept, in small letters.
        is_cancelled: Whether to stop.
    """

    secrets: SecretFilter
    excluded: Set[str]
    is_cancelled: Callable[[], bool]


def program_at(path: Path) -> Place | None:
    """Return whose memory a file or folder is, and where it is in it; None for nobody's.

    Raises:
        FormatError: It cannot be read.
    """
    try:
        if path.is_dir():
            return _in_folder(path)
        if not path.is_file():
            raise FormatError(f"{path} is not there.")
        if foreign.is_database(path):
            program = program_of(foreign.columns_of(path))
            return Place(program, path) if program else None
        return Place(MemoryProgram.MEMORY_SERVICE, path) if _is_export(path) else None
    except OSError as error:
        raise FormatError(f"{path} cannot be read: {error.strerror}.") from error


def read_memories(place: Place, reading: Reading) -> Iterator[Memory]:
    """Yield what a memory holds, without its secrets: what others refer to comes first.

    Raises:
        FormatError: It cannot be read.
    """
    try:
        if place.program is MemoryProgram.BASIC_MEMORY:
            yield from _notes(place.path, reading.secrets)
        elif foreign.is_database(place.path):
            yield from _rows(place, reading)
        else:
            with place.path.open("rb") as file:
                for memory in read_memory_service(file, reading.secrets.value):
                    if isinstance(memory, ImportProblem):
                        memory = replace(memory, text=without_secrets(memory.text))
                    yield memory
    except OSError as error:
        raise FormatError(f"{place.path} cannot be read: {error.strerror}.") from error


def found_memories(home: Path, environment: Mapping[str, str]) -> list[FoundMemory]:
    """Return the memories that lie where their programs keep them.

    Args:
        home: The person's folder.
        environment: The variables, some of which say where else they are.
    """
    local = Path(environment.get("LOCALAPPDATA") or home / "AppData" / "Local")
    places = (
        home / ".ai-devkit" / "memory.db",
        Path(environment.get("CLAUDE_MEMORY_DB") or home / ".claude" / "memory.db"),
        home / ".local" / "share" / "mcp-memory" / "sqlite_vec.db",
        home / "Library" / "Application Support" / "mcp-memory" / "sqlite_vec.db",
        local / "mcp-memory" / "sqlite_vec.db",
        Path(environment.get("BASIC_MEMORY_HOME") or home / "basic-memory"),
    )
    found = []
    for path in places:
        try:
            place = program_at(path)
        except FormatError:
            continue
        if place is not None:
            found.append(FoundMemory(place.program, str(place.path)))
    return found


def _in_folder(folder: Path) -> Place | None:
    for name in _DATABASES:
        if (folder / name).is_file() and (place := program_at(folder / name)):
            return place
    for number, note in enumerate(_files(folder)):
        if is_basic_memory_note(_beginning(note)):
            return Place(MemoryProgram.BASIC_MEMORY, folder)
        if number == LOOKED_AT_NOTES:
            break
    return None


def _is_export(path: Path) -> bool:
    """Return whether a file looks like an export of mcp-memory-service."""
    beginning = _beginning(path).lstrip("\ufeff \t\r\n")
    return beginning.startswith("{") and (
        '"export_metadata"' in beginning or '"memories"' in beginning
    )


def _beginning(path: Path) -> str:
    with path.open("rb") as file:
        return file.read(_BEGINNING_BYTES).decode("utf-8", "replace")


def _rows(place: Place, reading: Reading) -> Iterator[Memory]:
    tables = foreign.read_tables(place.path, TABLES[place.program], reading.is_cancelled)
    for name, table in tables.items():
        for number in table.unreadable:
            yield ImportProblem(number, f"the row in {name} cannot be read", "")
    clean: dict[str, list[Row]] = {}
    for name, table in tables.items():
        rows = clean[name] = []
        for number, row in enumerate(table.rows, 1):
            # mark42 notes the project of an entity in this column.
            if str(row.get("container_tag") or "").casefold() in reading.excluded:
                yield ImportProblem(number, "its project is excluded", "")
            else:
                rows.append(reading.secrets.value(row))
    yield from memories_of(place.program, clean)


def _notes(folder: Path, secrets: SecretFilter) -> Iterator[Memory]:
    for number, path in enumerate(_files(folder), 1):
        if number > MOST_NOTES:
            yield ImportProblem(number, f"more than {MOST_NOTES:,} notes: the rest was left", "")
            return
        name = secrets.text(path.stem.encode("utf-8", "replace").decode("utf-8"))
        if path.stat().st_size > LARGEST_NOTE_BYTES:
            mb = LARGEST_NOTE_BYTES >> 20
            yield ImportProblem(number, f"the note is larger than {mb} MB", name)
            continue
        text = path.read_bytes().decode("utf-8", "replace")
        yield from basic_memory_note(secrets.text(text), name)


def _files(folder: Path) -> Iterator[Path]:
    """Yield the notes of a folder in their order: nothing hidden, and no link out of it."""
    for path in sorted(folder.iterdir()):
        if path.name.startswith(".") or path.is_symlink():
            continue
        if path.is_dir():
            yield from _files(path)
        elif path.suffix.lower() == ".md" and path.is_file():
            yield path
