"""The tags of `knowledge` and `sessions`: how often each is used, and what has them.

Another tag means that the whole text is taken out of the index and put in again, some 2 to 8 ms.
Who changes the tags of many items does that in two steps: the rows first, at once, and the index
after it, a few at a time. What is left to do is what differs between the rows and their documents;
a mark in `meta` says that there may be something.
"""

import json
import time
from collections.abc import Sequence
from datetime import datetime

from kmem_desktop.domain.knowledge import KnowledgeItem
from kmem_desktop.domain.library.reports import TagCount
from kmem_desktop.store import knowledge as knowledge_rows
from kmem_desktop.store.connection import Connection

_USES = (
    "SELECT lower(j.value) AS name, 1 AS items, 0 AS sessions, d.updated_at AS at"
    " FROM knowledge AS k JOIN documents AS d USING (id), json_each(k.tags) AS j"
    " WHERE ?1 IS NULL OR k.scope = ?1"
    " UNION ALL SELECT lower(j.value), 0, 1, s.last_active"
    " FROM sessions AS s, json_each(s.tags) AS j WHERE ?1 IS NULL"
)
_HAS = (
    " IN (SELECT {0}.id FROM {0}, json_each({0}.tags) AS j"
    " WHERE lower(j.value) IN (SELECT value FROM json_each(?)))"
)


def counts(
    connection: Connection, containing: str = "", *, scope: str | None = None
) -> list[TagCount]:
    """Return every tag with its uses, those used most first.

    Args:
        connection: A snapshot.
        containing: Only tags that hold this text, in lower case.
        scope: Only the knowledge of this scope; None for all of it and the conversations.
    """
    query = (
        f"SELECT name, sum(items), sum(sessions), max(at) FROM ({_USES})"
        " WHERE instr(name, ?2) GROUP BY name ORDER BY sum(items) + sum(sessions) DESC, name"
    )
    return [
        TagCount(row[0], row[1], row[2], datetime.fromisoformat(row[3]))
        for row in connection.execute(query, (scope, containing))
    ]


def items_with(connection: Connection, tags: Sequence[str]) -> list[KnowledgeItem]:
    """Return the items that have at least one of these tags, in stored order."""
    query = "SELECT id FROM knowledge WHERE id" + _HAS.format("knowledge") + " ORDER BY id"
    ids = [row[0] for row in connection.execute(query, (json.dumps(list(tags)),))]
    return list(knowledge_rows.get_many(connection, ids).values())


def sessions_with(connection: Connection, tags: Sequence[str]) -> list[int]:
    """Return the numbers of the sessions that have at least one of these tags."""
    query = "SELECT id FROM sessions WHERE id" + _HAS.format("sessions") + " ORDER BY id"
    return [row[0] for row in connection.execute(query, (json.dumps(list(tags)),))]


def session_facts(connection: Connection, session_id: int) -> tuple[str, str, tuple[str, ...]]:
    """Return UUID, title and tags of a session."""
    uuid, title, tags = connection.execute(
        "SELECT uuid, title, tags FROM sessions WHERE id = ?", (session_id,)
    ).get
    return uuid, title, tuple(json.loads(tags))


def retag(connection: Connection, item_id: int, tags: Sequence[str], now: datetime) -> None:
    """Give an item other tags; the index has them after `index_some`."""
    connection.execute(
        "UPDATE knowledge SET tags = ? WHERE id = ?",
        (json.dumps(list(tags), ensure_ascii=False), item_id),
    )
    connection.execute(
        "UPDATE documents SET updated_at = ? WHERE id = ?", (now.isoformat(), item_id)
    )


def mark_unindexed(connection: Connection, *, is_unindexed: bool) -> None:
    """Note that there may be tags which the index does not have, or that there are none."""
    if is_unindexed:
        connection.execute("INSERT OR REPLACE INTO meta VALUES (?, '1')", (_MARK,))
    else:
        connection.execute("DELETE FROM meta WHERE key = ?", (_MARK,))


def unindexed(connection: Connection) -> list[int]:
    """Return the items whose tags the index does not have."""
    marked = connection.execute("SELECT 1 FROM meta WHERE key = ?", (_MARK,)).fetchone()
    if marked is None:
        return []
    query = (
        "SELECT d.id FROM knowledge AS k JOIN documents AS d USING (id) WHERE d.tags <>"
        " coalesce((SELECT group_concat(j.value, ' ') FROM json_each(k.tags) AS j), '')"
    )
    return [row[0] for row in connection.execute(query)]


def index_some(connection: Connection, ids: Sequence[int], seconds: float) -> int:
    """Put tags of items into the index until the time is up; return how many were done."""
    until = time.monotonic() + seconds
    for done, item_id in enumerate(ids):
        if time.monotonic() > until and done:
            return done
        connection.execute(
            "UPDATE documents SET tags = coalesce((SELECT group_concat(j.value, ' ')"
            " FROM knowledge AS k, json_each(k.tags) AS j WHERE k.id = documents.id), '')"
            " WHERE id = ?",
            (item_id,),
        )
    return len(ids)


_MARK = "tags_to_index"
