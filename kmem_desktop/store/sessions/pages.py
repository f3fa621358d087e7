"""Reads conversations for the window: which sessions, their lines, their turns by range.

A list is read as the numbers of all its sessions in one JSON text, and the lines of those in sight
by their numbers: nothing is ever passed over to come to a later page.
"""

import json
from array import array
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

from kmem_desktop.domain.sessions.browsing import (
    Facet,
    SessionFacets,
    SessionRow,
    SessionView,
    ShownTurn,
    TurnOutline,
)
from kmem_desktop.domain.sessions.conversations import Role
from kmem_desktop.domain.sessions.recall import SessionState
from kmem_desktop.store.connection import Connection

BEGINNING_LENGTH = 480
_LOCAL_DAY = "CAST(julianday(last_active, 'localtime', 'start of day') - 1721424.5 AS INTEGER)"
"""Counted as `date.toordinal` counts."""


def listed(connection: Connection, view: SessionView) -> "tuple[array[int], array[int]]":
    """Return the numbers of the sessions a view has, and the day of each (0 where pinned)."""
    conditions, values = _conditions(view)
    query = (
        "SELECT json_group_array(id), json_group_array(day) FROM"
        f" (SELECT id, CASE is_pinned WHEN 1 THEN 0 ELSE {_LOCAL_DAY} END AS day FROM sessions"
        f" WHERE 1{conditions} ORDER BY is_pinned DESC, last_active DESC, id DESC)"
    )
    ids, days = _only_row(connection, query, values)
    return array("q", json.loads(ids)), array("q", json.loads(days))


def titles(connection: Connection, view: SessionView) -> list[tuple[int, str]]:
    """Return number and title of the sessions a view has, whatever its text, last active first."""
    conditions, values = _conditions(view)
    query = (
        "SELECT json_group_array(id), json_group_array(title) FROM (SELECT id, title FROM sessions"
        f" WHERE 1{conditions} ORDER BY last_active DESC, id DESC)"
    )
    ids, names = _only_row(connection, query, values)
    return list(zip(json.loads(ids), json.loads(names), strict=True))


def count(connection: Connection) -> int:
    """Return how many sessions there are."""
    return int(connection.execute("SELECT count(*) FROM sessions").get)


def rows(connection: Connection, ids: Iterable[int]) -> dict[int, SessionRow]:
    """Return the lines of these sessions, with the first statement of each summary."""
    query = (
        "SELECT s.id, s.uuid, s.title, coalesce(json_extract(s.summary, '$.bullets[0].text'),"
        " (SELECT substr(d.body, 1, ?) FROM turns AS t JOIN documents AS d USING (id)"
        " WHERE t.session_id = s.id ORDER BY t.position LIMIT 1), ''),"
        " s.project, s.client, s.tags, s.status, s.is_pinned, s.created_at, s.last_active,"
        " s.entry_count, s.token_count FROM json_each(?) AS wanted"
        " CROSS JOIN sessions AS s ON s.id = wanted.value"
    )
    found = connection.execute(query, (BEGINNING_LENGTH, json.dumps(list(ids))))
    return {row[0]: _row(row) for row in found}


def _row(row: tuple[Any, ...]) -> SessionRow:
    return SessionRow(
        id=row[0],
        uuid=row[1],
        title=row[2],
        title_marks=(),
        snippet=row[3],
        snippet_marks=(),
        position=None,
        project=row[4],
        client=row[5],
        tags=tuple(json.loads(row[6])),
        state=SessionState(row[7]),
        is_pinned=bool(row[8]),
        created_at=datetime.fromisoformat(row[9]),
        last_active=datetime.fromisoformat(row[10]),
        entry_count=row[11],
        token_count=row[12],
    )


def session_of_turns(connection: Connection, turn_ids: Sequence[int]) -> dict[int, tuple[int, int]]:
    """Return for each of these turns the number of its session, and its position there."""
    query = (
        "SELECT id, session_id, position FROM turns WHERE id IN (SELECT value FROM json_each(?))"
    )
    found = connection.execute(query, (json.dumps(list(turn_ids)),))
    return {row[0]: (row[1], row[2]) for row in found}


def number_of(connection: Connection, uuid: str) -> int | None:
    """Return the number of the session with this id, or None."""
    found = connection.execute("SELECT id FROM sessions WHERE uuid = ?", (uuid,)).fetchone()
    return None if found is None else int(found[0])


def facets(connection: Connection) -> SessionFacets:
    """Return what sessions can be narrowed to, the most frequent first."""
    totals = "SELECT count(*), coalesce(sum(is_pinned), 0) FROM sessions"
    total, pinned = _only_row(connection, totals, ())
    return SessionFacets(
        total=total,
        pinned=pinned,
        projects=_facet(connection, "SELECT project AS name FROM sessions"),
        clients=_facet(connection, "SELECT client AS name FROM sessions"),
        tags=_facet(
            connection, "SELECT value AS name FROM sessions, json_each(tags) WHERE tags <> '[]'"
        ),
        states=_facet(connection, "SELECT status AS name FROM sessions"),
    )


def _facet(connection: Connection, names: str) -> tuple[Facet, ...]:
    query = f"SELECT name, count(*) AS n FROM ({names}) GROUP BY name ORDER BY n DESC, name"
    return tuple(Facet(str(row[0]), row[1]) for row in connection.execute(query))


def outline(connection: Connection, session_id: int) -> list[TurnOutline]:
    """Return a session's turns in their order, without their texts."""
    query = (
        "SELECT t.position, t.role, t.at, length(d.body),"
        " length(d.body) - length(replace(d.body, char(10), '')) + 1, t.is_important,"
        " instr(d.body, '```') > 0 FROM turns AS t JOIN documents AS d USING (id)"
        " WHERE t.session_id = ? ORDER BY t.position"
    )
    return [
        TurnOutline(
            position=row[0],
            role=Role(row[1]),
            at=datetime.fromisoformat(row[2]),
            length=row[3],
            line_count=row[4],
            is_important=bool(row[5]),
            has_code=bool(row[6]),
        )
        for row in connection.execute(query, (session_id,))
    ]


def turns(connection: Connection, session_id: int, position: int, most: int) -> list[ShownTurn]:
    """Return up to `most` turns of a session from a position on."""
    query = (
        "SELECT t.id, t.position, t.role, t.speaker, d.body, t.at, t.token_count, t.is_important"
        " FROM turns AS t JOIN documents AS d USING (id)"
        " WHERE t.session_id = ? AND t.position >= ? ORDER BY t.position LIMIT ?"
    )
    return [
        ShownTurn(
            id=row[0],
            position=row[1],
            role=Role(row[2]),
            speaker=row[3],
            text=row[4],
            at=datetime.fromisoformat(row[5]),
            token_count=row[6],
            is_important=bool(row[7]),
        )
        for row in connection.execute(query, (session_id, position, most))
    ]


def texts(connection: Connection, session_id: int) -> Iterable[tuple[int, str]]:
    """Return position and text of each turn of a session, in their order."""
    query = (
        "SELECT t.position, d.body FROM turns AS t JOIN documents AS d USING (id)"
        " WHERE t.session_id = ? ORDER BY t.position"
    )
    return connection.execute(query, (session_id,))


def _only_row(connection: Connection, query: str, values: Sequence[Any]) -> tuple[Any, ...]:
    found: list[tuple[Any, ...]] = connection.execute(query, values).fetchall()
    return found[0]


def _conditions(view: SessionView) -> tuple[str, list[Any]]:
    """Return what a view's sessions must be, its text aside."""
    words: list[str] = []
    values: list[Any] = []
    for condition, value in (
        ("project = ?", view.project),
        ("client = ?", view.client),
        ("EXISTS (SELECT 1 FROM json_each(tags) WHERE value = ?)", view.tag),
        ("status = ?", view.state.value if view.state else None),
        ("last_active >= ?", view.since.isoformat() if view.since else None),
        ("last_active < ?", view.until.isoformat() if view.until else None),
    ):
        if value is not None:
            words.append(f" AND {condition}")
            values.append(value)
    if view.is_pinned:
        words.append(" AND is_pinned = 1")
    return "".join(words), values
