"""Rows of `entry_relations`: how the later of two entries relates to the earlier (seed 004)."""

import json
from collections.abc import Sequence
from datetime import datetime

from kmem_desktop.domain.sessions.conversations import EntryRelation
from kmem_desktop.store.connection import Connection


def tell(
    connection: Connection,
    entry_id: int,
    earlier_ids: Sequence[int],
    relation: EntryRelation,
    now: datetime,
) -> list[int]:
    """Note what somebody said of an entry; return the earlier ones that do not exist."""
    there = {
        row[0]
        for row in connection.execute(
            "SELECT id FROM documents WHERE id IN (SELECT value FROM json_each(?))",
            (json.dumps(list(earlier_ids)),),
        )
    }
    connection.executemany(
        "INSERT OR IGNORE INTO entry_relations VALUES (?, ?, ?, 1.0, '', ?)",
        ((entry_id, to_id, relation.value, now.isoformat()) for to_id in sorted(there)),
    )
    return [to_id for to_id in earlier_ids if to_id not in there]


def told(connection: Connection, entry_id: int) -> list[int]:
    """Return the entries that an entry was said to refer to."""
    query = (
        "SELECT DISTINCT to_id FROM entry_relations WHERE from_id = ? AND words = '' ORDER BY to_id"
    )
    return [row[0] for row in connection.execute(query, (entry_id,))]
