"""Lines of a file that another program is writing: complete ones only, with where they end."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, BinaryIO

from kmem_desktop.domain.importing import ImportProblem
from kmem_desktop.errors import FormatError

LONGEST_LINE_BYTES = 16 * 1024 * 1024
_SHOWN_LENGTH = 200
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


@dataclass(slots=True)
class Bookmark:
    """How far a file has been read.

    Attributes:
        offset_bytes: Where the next line begins.
        line: The number of the last line that was read, from 1.
    """

    offset_bytes: int = 0
    line: int = 0


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a file: its number, and the object it holds."""

    number: int
    value: dict[str, Any]


def json_lines(
    file: BinaryIO, bookmark: Bookmark, *, is_growing: bool
) -> Iterator[Line | ImportProblem]:
    """Yield the objects of a JSON-lines file from a bookmark on, and move the bookmark.

    Lines that are broken are reported, never raised. A file that became shorter is read from its
    beginning.

    Args:
        file: Open for reading, at any place.
        bookmark: Where to begin; after each line it is where that line ends.
        is_growing: Whether a last line without an end is left for the next time.
    """
    size_bytes = file.seek(0, 2)
    if bookmark.offset_bytes > size_bytes:
        bookmark.offset_bytes, bookmark.line = 0, 0
    file.seek(bookmark.offset_bytes)
    while raw := file.readline(LONGEST_LINE_BYTES):
        is_too_long = len(raw) == LONGEST_LINE_BYTES and not raw.endswith(b"\n")
        is_complete = raw.endswith(b"\n") or (is_too_long and _skip_rest(file))
        if not is_complete and is_growing:
            return
        bookmark.line += 1
        bookmark.offset_bytes = file.tell()
        if is_too_long:
            yield problem(bookmark.line, f"longer than {LONGEST_LINE_BYTES >> 20} MB", raw)
        elif raw.strip(b" \t\r\n\xef\xbb\xbf\0"):
            yield _parsed(bookmark.line, raw)


def _skip_rest(file: BinaryIO) -> bool:
    while rest := file.readline(LONGEST_LINE_BYTES):
        if rest.endswith(b"\n"):
            return True
    return False


def _parsed(number: int, raw: bytes) -> Line | ImportProblem:
    try:
        value = json.loads(
            raw.removeprefix(_BYTE_ORDER_MARK).decode("utf-8"), parse_constant=_refuse
        )
    except UnicodeDecodeError:
        return problem(number, "not UTF-8 text", raw)
    except FormatError as error:
        return problem(number, error.message, raw)
    except (ValueError, RecursionError):
        return problem(number, "not valid JSON (cut off?)", raw)
    if not isinstance(value, dict):
        return problem(number, "not an object", raw)
    return Line(number, value)


def _refuse(name: str) -> None:
    raise FormatError(f"{name} is no number")


def problem(number: int, message: str, raw: bytes) -> ImportProblem:
    """Return the report of a line that was not understood."""
    text = raw[: _SHOWN_LENGTH * 4].decode("utf-8", "replace").strip()
    return ImportProblem(number, message, text[:_SHOWN_LENGTH])
