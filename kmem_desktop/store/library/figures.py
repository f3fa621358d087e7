"""What the memory is made of, counted where it lies."""

from datetime import datetime
from typing import Any

from kmem_desktop.domain.library.reports import (
    Aged,
    Pair,
    Referenced,
    Search,
    SessionFigures,
)
from kmem_desktop.domain.sessions.conversations import EntryRelation
from kmem_desktop.store.connection import Connection

_GROUPS = {
    "category": "k.category",
    "scope": "k.scope",
    "client": "d.stored_by",
    "month": "substr(d.created_at, 1, 7)",
}
_ENTRY_NAMES = (
    " LEFT JOIN knowledge AS {0}k ON {0}k.id = {1} LEFT JOIN turns AS {0}t ON {0}t.id = {1}"
    " LEFT JOIN documents AS {0}d ON {0}d.id = {1}"
)
TITLE_LENGTH = 120


def totals(connection: Connection) -> dict[str, int]:
    """Return how much there is of each noun."""
    tables = ("knowledge", "entities", "observations", "relations", "sessions", "turns")
    query = ", ".join(f"(SELECT count(*) FROM {table})" for table in tables)
    row = connection.execute(f"SELECT {query}").fetchone() or ()
    return dict(zip(tables, row, strict=True))


def items_by(connection: Connection, group: str, scope: str | None) -> dict[str, int]:
    """Return how many items each category, scope, client or month has.

    Args:
        connection: A snapshot.
        group: "category", "scope", "client" or "month".
        scope: Only the items of this scope; None for all.
    """
    column = _GROUPS[group]
    order = "1" if group == "month" else "2 DESC, 1"
    query = (
        f"SELECT {column}, count(*) FROM knowledge AS k JOIN documents AS d USING (id)"
        f" WHERE ?1 IS NULL OR k.scope = ?1 GROUP BY 1 ORDER BY {order}"
    )
    return {row[0]: row[1] for row in connection.execute(query, (scope,))}


def most_referenced(connection: Connection, scope: str | None, limit: int) -> list[Referenced]:
    """Return the items and turns that most other entries refer to."""
    query = (
        "SELECT coalesce(tk.uuid, tt.uuid),"
        " substr(CASE td.title WHEN '' THEN td.body ELSE td.title END, 1, ?3), count(*)"
        " FROM entry_relations AS r" + _ENTRY_NAMES.format("t", "r.to_id") + " WHERE"
        " coalesce(tk.uuid, tt.uuid) IS NOT NULL AND (?1 IS NULL OR td.scope = ?1)"
        " GROUP BY r.to_id ORDER BY 3 DESC, r.to_id LIMIT ?2"
    )
    return [Referenced(*row) for row in connection.execute(query, (scope, limit, TITLE_LENGTH))]


def most_connected(connection: Connection, limit: int) -> list[Referenced]:
    """Return the entities with most relations."""
    query = (
        "SELECT e.uuid, e.name, count(*) FROM (SELECT from_name AS name FROM relations"
        " UNION ALL SELECT to_name FROM relations WHERE to_name <> from_name) AS ends"
        " JOIN entities AS e USING (name) GROUP BY e.id ORDER BY 3 DESC, e.id LIMIT ?"
    )
    return [Referenced(*row) for row in connection.execute(query, (limit,))]


def session_figures(connection: Connection, since: datetime) -> SessionFigures:
    """Return the conversations in figures; `since` begins the period."""
    row: tuple[Any, ...] = connection.execute(
        "SELECT count(*), coalesce(sum(entry_count), 0), coalesce(sum(token_count), 0),"
        " coalesce(max(entry_count), 0), coalesce(sum(last_active >= ?), 0) FROM sessions",
        (since.isoformat(),),
    ).get
    return SessionFigures(
        count=row[0],
        turns=row[1],
        tokens=row[2],
        longest=row[3],
        active_in_period=row[4],
        by_state=_sessions_by(connection, "status"),
        by_client=_sessions_by(connection, "client"),
    )


def _sessions_by(connection: Connection, column: str) -> dict[str, int]:
    query = f"SELECT {column}, count(*) FROM sessions GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 20"
    return {row[0]: row[1] for row in connection.execute(query)}


def searches(
    connection: Connection, since: datetime, limit: int, *, unanswered: bool
) -> list[Search]:
    """Return the questions asked most since a time, or those that found nothing the last time."""
    # With one max() in it, the other columns are those of the row that has it: the last one.
    query = (
        "SELECT query, count(*), result_count, at, max(id) FROM search_history WHERE at >= ?"
        " GROUP BY lower(trim(query)) ORDER BY 2 DESC, 5 DESC"
    )
    found = (
        Search(row[0], row[1], row[2], datetime.fromisoformat(row[3]))
        for row in connection.execute(query, (since.isoformat(),))
    )
    chosen = (search for search in found if not unanswered or search.found == 0)
    return [search for search, _ in zip(chosen, range(limit), strict=False)]


def superseded(connection: Connection, scope: str | None, limit: int) -> list[Aged]:
    """Return items that a later entry replaced, with the title of what replaced them."""
    query = (
        "SELECT tk.uuid, td.title, td.updated_at,"
        " substr(CASE fd.title WHEN '' THEN fd.body ELSE fd.title END, 1, ?4)"
        " FROM entry_relations AS r JOIN knowledge AS tk ON tk.id = r.to_id"
        " JOIN documents AS td ON td.id = r.to_id JOIN documents AS fd ON fd.id = r.from_id"
        " WHERE r.relation = ?1 AND (?2 IS NULL OR tk.scope = ?2)"
        " GROUP BY r.to_id ORDER BY td.updated_at LIMIT ?3"
    )
    values = (EntryRelation.SUPERSEDES.value, scope, limit, TITLE_LENGTH)
    return [
        Aged(row[0], row[1], datetime.fromisoformat(row[2]), row[3])
        for row in connection.execute(query, values)
    ]


def untouched(
    connection: Connection, scope: str | None, before: datetime, limit: int
) -> list[Aged]:
    """Return items that were last changed before a time, the oldest first."""
    query = (
        "SELECT k.uuid, d.title, d.updated_at FROM knowledge AS k JOIN documents AS d USING (id)"
        " WHERE d.updated_at < ?1 AND (?2 IS NULL OR k.scope = ?2)"
        " ORDER BY d.updated_at, k.id LIMIT ?3"
    )
    return [
        Aged(row[0], row[1], datetime.fromisoformat(row[2]))
        for row in connection.execute(query, (before.isoformat(), scope, limit))
    ]


def contradictions(connection: Connection, scope: str | None, limit: int) -> list[Pair]:
    """Return entries that contradict each other, the surest first."""
    query = (
        "SELECT coalesce(fk.uuid, ft.uuid), coalesce(tk.uuid, tt.uuid),"
        " substr(CASE fd.title WHEN '' THEN fd.body ELSE fd.title END, 1, ?4),"
        " substr(CASE td.title WHEN '' THEN td.body ELSE td.title END, 1, ?4), r.strength"
        " FROM entry_relations AS r"
        + _ENTRY_NAMES.format("f", "r.from_id")
        + _ENTRY_NAMES.format("t", "r.to_id")
        + " WHERE r.relation = ?1 AND (?2 IS NULL OR ?2 IN (fd.scope, td.scope))"
        " AND coalesce(fk.uuid, ft.uuid) IS NOT NULL AND coalesce(tk.uuid, tt.uuid) IS NOT NULL"
        " ORDER BY r.strength DESC, r.from_id LIMIT ?3"
    )
    values = (EntryRelation.CONTRADICTS.value, scope, limit, TITLE_LENGTH)
    return [
        Pair((row[0], row[1]), (row[2], row[3]), row[4])
        for row in connection.execute(query, values)
    ]


def texts(connection: Connection, scope: str | None, limit: int) -> list[tuple[str, str, str]]:
    """Return UUID, title and content of items, the newest first."""
    query = (
        "SELECT k.uuid, d.title, d.body FROM knowledge AS k JOIN documents AS d USING (id)"
        " WHERE ?1 IS NULL OR k.scope = ?1 ORDER BY k.id DESC LIMIT ?2"
    )
    return [(row[0], row[1], row[2]) for row in connection.execute(query, (scope, limit))]
