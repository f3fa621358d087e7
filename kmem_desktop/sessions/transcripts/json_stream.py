"""JSON files of any size, element by element: never more than one element is in memory.

Python's own parser takes a file whole: an export of 200 MB would take over a gigabyte.
"""

import codecs
import json
import re
from collections.abc import Iterator
from typing import Any, BinaryIO

from kmem_desktop.domain.importing import ImportProblem
from kmem_desktop.errors import FormatError

CHUNK_BYTES = 256 * 1024
LONGEST_ELEMENT = 48 * 1024 * 1024
"""In characters; what is longer is skipped and reported."""
_SHOWN_LENGTH = 200

_AFTER = tuple(", ]}\n\r\t")
_SPACE = re.compile(r"[\s\ufeff]*")
_IN_STRING = re.compile(r'["\\]')
_OUTSIDE = re.compile(r'["{}\[\]]')


class _ElementError(FormatError):
    """An element was skipped; what follows can be read."""


class _Text:
    """The text of a file, of which only a part is in memory, and a place in it."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._text = ""
        self._place = 0
        self._is_at_end = False

    def shown(self) -> str:
        """Return what comes next, as far as a report shows it."""
        return self._text[self._place : self._place + _SHOWN_LENGTH]

    def peek(self) -> str:
        """Return the next character that is no space; empty at the end."""
        while True:
            space = _SPACE.match(self._text, self._place)
            self._place = space.end() if space else self._place
            if self._place < len(self._text):
                return self._text[self._place]
            if not self._more():
                return ""

    def take(self, character: str) -> bool:
        """Skip the next character if it is this one."""
        if self.peek() != character:
            return False
        self._place += 1
        return True

    def value(self) -> Any:
        """Read a value.

        Raises:
            _ElementError: It is not valid, or too long; it was skipped.
        """
        self.peek()
        decoder = json.JSONDecoder(parse_constant=_refuse)
        while True:
            try:
                found, end = decoder.raw_decode(self._text, self._place)
            except (FormatError, RecursionError) as error:
                self._skip()
                raise _ElementError(getattr(error, "message", "nested too deeply")) from error
            except ValueError as error:
                # The end may not have been read yet. Reading as much again each time keeps the
                # whole work in proportion to the length.
                length = len(self._text) - self._place
                if length < LONGEST_ELEMENT and self._more(length):
                    continue
                self._skip()
                raise _ElementError("not valid JSON, or cut off") from error
            # A number could go on in what is not read yet: "-2" and "-2.5" are both one.
            is_whole = not isinstance(found, int | float) or self._text[end : end + 1] in _AFTER
            if is_whole or not self._more():
                self._place = end
                return found

    def _more(self, least: int = 1) -> bool:
        """Read on, and forget what lies behind; return whether there was more."""
        parts = [self._text[self._place :]]
        self._place = 0
        length = 0
        while length < least and not self._is_at_end:
            raw = self._file.read(CHUNK_BYTES)
            self._is_at_end = not raw
            text = self._decoder.decode(raw, final=self._is_at_end)
            parts.append(text)
            length += len(text)
        self._text = "".join(parts)
        return length > 0

    def _skip(self) -> None:
        """Skip a value that cannot be read, by its brackets alone."""
        depth = 0
        is_in_string = False
        while True:
            match = (_IN_STRING if is_in_string else _OUTSIDE).search(self._text, self._place)
            self._place = match.end() if match else len(self._text)
            if match is None:
                if not self._more():
                    return
            elif match.group() == "\\":
                if self._place == len(self._text) and not self._more():
                    return
                self._place += 1
            elif match.group() == '"':
                is_in_string = not is_in_string
            else:
                depth += 1 if match.group() in "{[" else -1
            if match and depth <= 0 and not is_in_string:
                # A bracket that closes what is around belongs to that.
                self._place += min(0, depth)
                return


def _refuse(name: str) -> None:
    raise FormatError(f"{name} is no number")


def members(
    file: BinaryIO, streamed: frozenset[str] = frozenset()
) -> Iterator[tuple[str, Any] | ImportProblem]:
    """Yield the elements of a file's array, or the members of its object.

    Args:
        file: Open for reading in binary; UTF-8.
        streamed: The keys of the object whose arrays are yielded element by element.

    Yields:
        ("", element) for each element of an array; (key, value) for each member of an object, and
        (key, element) for the elements of a streamed one. A problem's line is the number of the
        element.

    Raises:
        FormatError: The file is neither an array nor an object.
    """
    text = _Text(file)
    if text.take("["):
        yield from _elements(text, "")
    elif text.take("{"):
        yield from _object(text, streamed)
    else:
        raise FormatError("This is no JSON file: neither an array nor an object.")


def _object(text: _Text, streamed: frozenset[str]) -> Iterator[tuple[str, Any] | ImportProblem]:
    number = 0
    while text.peek() not in ("}", ""):
        number += 1
        try:
            key = text.value()
        except _ElementError as error:
            yield _problem(number, error.message, text)
            return
        if not isinstance(key, str) or not text.take(":"):
            yield _problem(number, "a key without a value", text)
            return
        if key in streamed and text.take("["):
            yield from _elements(text, key)
        else:
            try:
                yield key, text.value()
            except _ElementError as error:
                yield _problem(number, error.message, text)
        if not text.take(",") and text.peek() != "}":
            yield _problem(number, "cut off", text)
            return


def _elements(text: _Text, key: str) -> Iterator[tuple[str, Any] | ImportProblem]:
    number = 0
    if text.take("]"):
        return
    while text.peek():
        number += 1
        text.peek()
        shown = text.shown()
        try:
            yield key, text.value()
        except _ElementError as error:
            yield ImportProblem(number, error.message, shown)
        if text.take(","):
            continue
        if not text.take("]"):
            yield _problem(number, "cut off", text)
        return
    yield _problem(number + 1, "cut off", text)


def _problem(number: int, message: str, text: _Text) -> ImportProblem:
    return ImportProblem(number, message, text.shown())
