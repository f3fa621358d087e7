"""Rows of `secrets_removed` and `exclusions`: what was kept out of the memory.

A secret itself is never in them: only its kind, its day and through whom it came.
"""

import json
from collections.abc import Iterable, Mapping
from datetime import date, datetime

from kmem_desktop.domain.sessions.privacy import Exclusion, ExclusionKind, SecretCount
from kmem_desktop.store.connection import Connection
from kmem_desktop.store.sessions import imports
from kmem_desktop.text import one_line


def add_counts(
    connection: Connection, source: str, counts: Mapping[str, int], now: datetime
) -> None:
    """Add how many secrets of which kind were removed from what came through `source`."""
    connection.executemany(
        "INSERT INTO secrets_removed VALUES (?, ?, ?, ?)"
        " ON CONFLICT DO UPDATE SET count = count + excluded.count",
        ((now.date().isoformat(), source, kind, count) for kind, count in counts.items() if count),
    )


def counts(connection: Connection) -> list[SecretCount]:
    """Return what was removed, the latest day first."""
    query = (
        "SELECT day, source, kind, count FROM secrets_removed"
        " ORDER BY day DESC, count DESC, kind, source"
    )
    return [
        SecretCount(date.fromisoformat(day), source, kind, count)
        for day, source, kind, count in connection.execute(query)
    ]


def exclude(connection: Connection, kind: ExclusionKind, name: str, now: datetime) -> bool:
    """Keep nothing more of a project or session; return False where that was so already."""
    if _find(connection, kind, name):
        return False
    connection.execute(
        "INSERT INTO exclusions VALUES (?, ?, ?)", (kind.value, one_line(name), now.isoformat())
    )
    return True


def include(connection: Connection, kind: ExclusionKind, name: str) -> bool:
    """Keep what comes of a project or session again; return False where it was never excluded."""
    found = _find(connection, kind, name)
    if found is not None:
        connection.execute(
            "DELETE FROM exclusions WHERE kind = ? AND name = ?", (kind.value, found.name)
        )
        imports.read_left_out_again(connection)
    return found is not None


def exclusions(connection: Connection) -> list[Exclusion]:
    """Return what is excluded: projects first, each by name."""
    query = "SELECT kind, name, added_at FROM exclusions ORDER BY kind, name COLLATE NOCASE"
    return [
        Exclusion(ExclusionKind(kind), name, datetime.fromisoformat(added_at))
        for kind, name, added_at in connection.execute(query)
    ]


def excluded_projects(connection: Connection) -> frozenset[str]:
    """Return the names of the excluded projects, in small letters."""
    return frozenset(
        _key(each.name) for each in exclusions(connection) if each.kind is ExclusionKind.PROJECT
    )


def is_excluded(connection: Connection, project: str, session_ids: Iterable[str]) -> bool:
    """Return whether nothing is to be kept of a session.

    Args:
        connection: Where to look.
        project: The session's project; empty for none.
        session_ids: Every id it goes by: its UUID here, its id at the program it comes from.
    """
    return exclusion_of(connection, project, session_ids) is not None


def exclusion_of(
    connection: Connection, project: str, session_ids: Iterable[str]
) -> Exclusion | None:
    """Return the exclusion that a session falls under, or None."""
    known = exclusions(connection)
    if not known:
        return None
    names = {_key(name) for name in session_ids}
    query = "SELECT uuid, source_id FROM sessions WHERE uuid IN (SELECT value FROM json_each(?))"
    for ids in connection.execute(query, (json.dumps(list(names)),)):
        names.update(_key(each) for each in ids)
    sought = {ExclusionKind.PROJECT: {_key(project)}, ExclusionKind.SESSION: names}
    return next((each for each in known if _key(each.name) in sought[each.kind]), None)


def _find(connection: Connection, kind: ExclusionKind, name: str) -> Exclusion | None:
    """Return the exclusion with this name; there are few, so that each is looked at."""
    for exclusion in exclusions(connection):
        if exclusion.kind is kind and _key(exclusion.name) == _key(name):
            return exclusion
    return None


def _key(name: str) -> str:
    """Return a name as it is compared: case and surrounding space make no difference."""
    return one_line(name).casefold()
