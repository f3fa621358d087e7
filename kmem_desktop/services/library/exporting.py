"""Copies of the memory: a page at a time for assistants, whole into a file for people.

Each page is a copy by itself, so that it can be brought in alone. A cursor says where the next page
begins (`k12`: the items after number 12; `e7.30`: entity 7 from its observation 30; `r5`;
`s3.40`: session 3 from its turn 40) and holds no state of the server.
"""

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from tempfile import NamedTemporaryFile

from kmem_desktop.domain.library.copies import (
    CopiedEntity,
    CopiedItem,
    CopiedTurn,
    CopyFormat,
    CopyPage,
    CopyPart,
    CopyQuery,
    Piece,
)
from kmem_desktop.errors import InvalidInputError, StoreError
from kmem_desktop.services.library.copy_writing import piece_json, writer
from kmem_desktop.services.validation import Problems, normalise_scope, scope_problem
from kmem_desktop.store.connection import Connection
from kmem_desktop.store.database import Database
from kmem_desktop.store.library import copies as copy_rows
from kmem_desktop.text import one_line

SLICE = 200
LONGEST_IN_PAGE = 32_000
"""A text that would never fit into a page is cut to half of this, a quarter, ..."""
SHORTEST_CUT = 500
SPARE = 2_000
CUT = "… [cut: too long for a page of an export; `kmem export` writes it whole]"

_CURSOR = re.compile(
    r"(?:(?P<noun>[kr])(?P<after>\d{1,18})|(?P<part>[es])(?P<id>\d{1,18})\.(?P<index>\d{1,9}))"
)
_ORDER = "kers"

Fits = Callable[[Piece], bool]
"""Whether a page has room for a piece."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a copy goes on.

    Attributes:
        noun: k (knowledge), e (entities), r (relations) or s (sessions).
        number: For k and r what was copied last, for e and s what comes next.
        index: The observation or turn that comes next.
    """

    noun: str
    number: int = 0
    index: int = 0

    def __str__(self) -> str:
        """Return it as a cursor."""
        if self.noun in "kr":
            return f"{self.noun}{self.number}"
        return f"{self.noun}{self.number}.{self.index}"


class ExportingService:
    """Copies the memory."""

    def __init__(self, database: Database) -> None:
        """Read from `database`."""
        self._database = database

    async def page(
        self,
        query: CopyQuery,
        copy_format: CopyFormat,
        cursor: str | None,
        size: int,
        cost: Callable[[str], int],
    ) -> CopyPage:
        """Return as much of a copy as fits.

        Args:
            query: What is to be copied.
            copy_format: How it is written.
            cursor: Where to go on; None for the beginning.
            size: The most that the page may cost.
            cost: What a text costs.

        Raises:
            InvalidInputError: The cursor is none of ours, or a field is out of its limits.
        """
        checked = checked_query(query)
        start = _place(cursor)
        return await self._database.read(
            lambda c: _page(c, checked, copy_format, start, (size, cost))
        )

    async def to_file(
        self, query: CopyQuery, copy_format: CopyFormat, path: Path
    ) -> dict[str, int]:
        """Write a copy into a file, which is replaced only when the copy is whole.

        Returns:
            How many of each noun were written.

        Raises:
            StoreError: The file could not be written; what was there is as it was.
            InvalidInputError: A field is out of its limits.
        """
        checked = checked_query(query)
        return await self._database.read(lambda c: _write_file(c, checked, copy_format, path))


def checked_query(query: CopyQuery) -> CopyQuery:
    """Return a query in its normal form.

    Raises:
        InvalidInputError: A field is out of its limits.
    """
    problems = Problems()
    scope = normalise_scope(query.scope) if query.scope else None
    if scope:
        problems.check("scope", lambda: scope_problem(scope))
    problems.raise_if_any()
    tags = tuple(one_line(tag).lower() for tag in query.tags)
    session = query.session_uuid.strip().lower() if query.session_uuid else None
    since = query.since
    if since is not None:
        since = since.replace(tzinfo=UTC) if since.tzinfo is None else since.astimezone(UTC)
    return replace(query, scope=scope, tags=tags, session_uuid=session, since=since)


def _place(cursor: str | None) -> Place:
    if not cursor:
        return Place("k")
    found = _CURSOR.fullmatch(cursor.strip())
    if found is None:
        message = "cursor is not one that an earlier answer gave."
        raise InvalidInputError(
            message, details={"errors": [{"field": "cursor", "message": message}]}
        )
    if found["noun"]:
        return Place(found["noun"], int(found["after"]))
    return Place(found["part"], int(found["id"]), int(found["index"]))


def _page(
    connection: Connection,
    query: CopyQuery,
    copy_format: CopyFormat,
    start: Place,
    limit: tuple[int, Callable[[str], int]],
) -> CopyPage:
    size, cost = limit
    copy = writer(copy_format, datetime.now(UTC))
    parts = [copy.begin()]
    left = size - cost(parts[0]) - cost(copy.end())

    def fits(piece: Piece, room: int = left - SPARE) -> bool:
        return cost(json.dumps(piece_json(piece), ensure_ascii=False)) <= room

    counts: Counter[str] = Counter()
    cut_count = 0
    first: Place | None = None
    next_cursor = None
    for place, whole in _pieces(connection, query, start, fits):
        first = first or place
        piece = _fitting(whole, fits)
        text = copy.add(piece)
        left -= cost(text)
        # A session without any of its turns would be a page that does not get on.
        if left < 0 and counts and place != first:
            next_cursor = str(place)
            break
        counts = Counter(copy.counts)
        cut_count += piece is not whole
        parts.append(text)
    return CopyPage("".join((*parts, copy.end())), dict(counts), next_cursor, cut_count)


def _fitting(piece: Piece, fits: Fits) -> Piece:
    """Shorten the text of a piece that no page has room for."""
    longest = LONGEST_IN_PAGE
    shown = piece
    while longest > SHORTEST_CUT and not fits(shown):
        longest //= 2
        shown = _cut(piece, longest)
    return shown


def _cut(piece: Piece, longest: int) -> Piece:
    if isinstance(piece, CopiedItem):
        return replace(piece, content=piece.content[:longest] + CUT)
    if isinstance(piece, CopiedTurn):
        return replace(piece, text=piece.text[:longest] + CUT, metadata=None)
    if isinstance(piece, CopiedEntity):
        # Parts are small: one observation at most is too long.
        seen = tuple(replace(o, text=o.text[:longest] + CUT) for o in piece.observations)
        return replace(piece, observations=seen)
    return piece


def _pieces(
    connection: Connection, query: CopyQuery, start: Place, fits: Fits
) -> Iterator[tuple[Place, Piece]]:
    """Yield what is to be copied, each with the cursor by which a page would begin with it."""
    wanted = {
        "k": CopyPart.KNOWLEDGE in query.parts,
        "e": CopyPart.GRAPH in query.parts,
        "r": CopyPart.GRAPH in query.parts,
        "s": CopyPart.SESSIONS in query.parts,
    }
    for noun in _ORDER[_ORDER.index(start.noun) :]:
        place = start if noun == start.noun else Place(noun)
        if wanted[noun]:
            if noun == "k":
                yield from _items(connection, query, place)
            elif noun == "e":
                yield from _entities(connection, query, place, fits)
            elif noun == "r":
                yield from _relations(connection, query, place)
            else:
                yield from _sessions(connection, query, place)


def _items(connection: Connection, query: CopyQuery, place: Place) -> Iterator[tuple[Place, Piece]]:
    while rows := copy_rows.items_after(connection, query, place.number, SLICE):
        for number, item in rows:
            yield place, item
            place = Place("k", number)


def _relations(
    connection: Connection, query: CopyQuery, place: Place
) -> Iterator[tuple[Place, Piece]]:
    while rows := copy_rows.relations_after(connection, query, place.number, SLICE):
        for number, relation in rows:
            yield place, relation
            place = Place("r", number)


def _entities(
    connection: Connection, query: CopyQuery, place: Place, fits: Fits
) -> Iterator[tuple[Place, Piece]]:
    while rows := copy_rows.entities_from(connection, query, place.number, SLICE):
        for number, entity in rows:
            index = place.index if number == place.number else 0
            while True:
                part = _part(entity, index, fits)
                yield Place("e", number, index), part
                index += max(1, len(part.observations))
                if index >= len(entity.observations):
                    break
        place = Place("e", rows[-1][0] + 1)


def _part(entity: CopiedEntity, index: int, fits: Fits) -> CopiedEntity:
    """Return the entity with as many of its observations as fit, at least one."""
    count = len(entity.observations) - index
    while True:
        part = replace(entity, observations=entity.observations[index : index + count])
        if count <= 1 or fits(part):
            return part
        count //= 2


def _sessions(
    connection: Connection, query: CopyQuery, place: Place
) -> Iterator[tuple[Place, Piece]]:
    while found := copy_rows.next_session(connection, query, place.number):
        session_id, session = found
        position = place.index if session_id == place.number else 0
        yield Place("s", session_id, position), session
        while turns := copy_rows.turns_from(connection, session_id, position, SLICE):
            for position, turn in turns:
                yield Place("s", session_id, position), turn
            position += 1
        place = Place("s", session_id + 1)


def _everything(_piece: Piece) -> bool:
    """Say that there is room for a piece: a file has no end."""
    return True


def _write_file(
    connection: Connection, query: CopyQuery, copy_format: CopyFormat, path: Path
) -> dict[str, int]:
    copy = writer(copy_format, datetime.now(UTC))
    try:
        with NamedTemporaryFile(
            "w", encoding="utf-8", newline="", dir=path.parent, prefix=f".{path.name}", delete=False
        ) as file:
            unfinished = Path(file.name)
            try:
                file.write(copy.begin())
                for _, piece in _pieces(connection, query, Place("k"), _everything):
                    file.write(copy.add(piece))
                file.write(copy.end())
            except BaseException:
                unfinished.unlink(missing_ok=True)
                raise
        unfinished.replace(path)
    except OSError as error:
        raise StoreError(f"{path} cannot be written: {error.strerror}.") from error
    return dict(copy.counts)
