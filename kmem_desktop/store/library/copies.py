"""Rows as a copy of the memory holds them: read in slices, and written with the dates they had."""

import json
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from kmem_desktop.domain.knowledge import Category
from kmem_desktop.domain.library.copies import (
    CopiedEntity,
    CopiedItem,
    CopiedLink,
    CopiedObservation,
    CopiedRelation,
    CopiedSession,
    CopiedTurn,
    CopyQuery,
)
from kmem_desktop.domain.sessions.conversations import EntryRelation, Role
from kmem_desktop.store.connection import Connection

_HAS_TAGS = (
    " AND NOT EXISTS (SELECT 1 FROM json_each(?2) AS wanted"
    " WHERE wanted.value NOT IN (SELECT value FROM json_each({}.tags)))"
)


def items_after(
    connection: Connection, query: CopyQuery, after_id: int, limit: int
) -> list[tuple[int, CopiedItem]]:
    """Return items in stored order, each with its number, those after `after_id`."""
    rows: list[tuple[Any, ...]] = connection.execute(
        "SELECT k.id, k.uuid, d.title, d.body, k.tags, k.scope, k.category, k.priority,"
        " k.confidence, k.source, d.stored_by, d.created_at, d.updated_at"
        " FROM knowledge AS k JOIN documents AS d USING (id)"
        " WHERE k.id > ?1" + _HAS_TAGS.format("k") + " AND (?3 IS NULL OR k.scope = ?3)"
        " AND (?4 IS NULL OR k.category = ?4) AND (?5 IS NULL OR k.source = ?5)"
        " AND (?6 IS NULL OR d.updated_at >= ?6) ORDER BY k.id LIMIT ?7",
        (
            after_id,
            json.dumps(list(query.tags)),
            query.scope,
            query.category.value if query.category else None,
            f"session {query.session_uuid}" if query.session_uuid else None,
            query.since.isoformat() if query.since else None,
            limit,
        ),
    ).fetchall()
    links = _links(connection, [row[0] for row in rows])
    return [
        (
            row[0],
            CopiedItem(
                uuid=row[1],
                title=row[2],
                content=row[3],
                tags=tuple(json.loads(row[4])),
                scope=row[5],
                category=Category(row[6]),
                priority=row[7],
                confidence=row[8],
                source=row[9],
                stored_by=row[10],
                created_at=datetime.fromisoformat(row[11]),
                updated_at=datetime.fromisoformat(row[12]),
                links=tuple(links.get(row[0], ())),
            ),
        )
        for row in rows
    ]


def _links(connection: Connection, ids: Sequence[int]) -> dict[int, list[CopiedLink]]:
    links: dict[int, list[CopiedLink]] = {}
    for from_id, uuid, relation, strength, words in connection.execute(
        "SELECT r.from_id, coalesce(k.uuid, t.uuid), r.relation, r.strength, r.words"
        " FROM entry_relations AS r LEFT JOIN knowledge AS k ON k.id = r.to_id"
        " LEFT JOIN turns AS t ON t.id = r.to_id"
        " WHERE r.from_id IN (SELECT value FROM json_each(?))"
        " AND coalesce(k.uuid, t.uuid) IS NOT NULL ORDER BY r.from_id, r.to_id, r.relation",
        (json.dumps(list(ids)),),
    ):
        link = CopiedLink(uuid, EntryRelation(relation), strength, words)
        links.setdefault(from_id, []).append(link)
    return links


def entities_from(
    connection: Connection, query: CopyQuery, first_id: int, limit: int
) -> list[tuple[int, CopiedEntity]]:
    """Return entities in stored order, each with its number, from `first_id` on."""
    rows: list[tuple[Any, ...]] = connection.execute(
        "SELECT e.id, e.name, e.entity_type, d.stored_by, d.created_at, d.updated_at"
        " FROM entities AS e JOIN documents AS d USING (id) WHERE e.id >= ?1"
        " AND (?2 IS NULL OR d.updated_at >= ?2) ORDER BY e.id LIMIT ?3",
        (first_id, query.since.isoformat() if query.since else None, limit),
    ).fetchall()
    observations: dict[int, list[CopiedObservation]] = {row[0]: [] for row in rows}
    for entity_id, content, stored_by, created_at in connection.execute(
        "SELECT o.entity_id, o.content, d.stored_by, d.created_at FROM observations AS o"
        " JOIN documents AS d USING (id)"
        " WHERE o.entity_id IN (SELECT value FROM json_each(?)) ORDER BY o.id",
        (json.dumps(list(observations)),),
    ):
        at = datetime.fromisoformat(created_at)
        observations[entity_id].append(CopiedObservation(content, stored_by, at))
    return [
        (
            row[0],
            CopiedEntity(
                name=row[1],
                entity_type=row[2],
                observations=tuple(observations[row[0]]),
                stored_by=row[3],
                created_at=datetime.fromisoformat(row[4]),
                updated_at=datetime.fromisoformat(row[5]),
            ),
        )
        for row in rows
    ]


def relations_after(
    connection: Connection, query: CopyQuery, after_id: int, limit: int
) -> list[tuple[int, CopiedRelation]]:
    """Return relations in stored order, each with its number, those after `after_id`."""
    rows = connection.execute(
        "SELECT id, from_name, to_name, relation_type, stored_by, created_at FROM relations"
        " WHERE id > ?1 AND (?2 IS NULL OR created_at >= ?2) ORDER BY id LIMIT ?3",
        (after_id, query.since.isoformat() if query.since else None, limit),
    )
    return [
        (row[0], CopiedRelation(row[1], row[2], row[3], row[4], datetime.fromisoformat(row[5])))
        for row in rows
    ]


def next_session(
    connection: Connection, query: CopyQuery, first_id: int
) -> tuple[int, CopiedSession] | None:
    """Return the first session from the number `first_id` on that is to be copied, or None."""
    row: tuple[Any, ...] | None = connection.execute(
        "SELECT s.id, s.uuid, s.title, s.project, s.tags, s.status, s.client, s.created_at,"
        " s.last_active, s.is_pinned FROM sessions AS s WHERE s.id >= ?1"
        + _HAS_TAGS.format("s")
        + " AND (?3 IS NULL OR s.uuid = ?3) AND (?4 IS NULL OR s.last_active >= ?4)"
        " ORDER BY s.id LIMIT 1",
        (
            first_id,
            json.dumps(list(query.tags)),
            query.session_uuid,
            query.since.isoformat() if query.since else None,
        ),
    ).fetchone()
    if row is None:
        return None
    return row[0], CopiedSession(
        uuid=row[1],
        title=row[2],
        project=row[3],
        tags=tuple(json.loads(row[4])),
        status=row[5],
        client=row[6],
        created_at=datetime.fromisoformat(row[7]),
        last_active=datetime.fromisoformat(row[8]),
        is_pinned=bool(row[9]),
    )


def turns_from(
    connection: Connection, session_id: int, position: int, limit: int
) -> list[tuple[int, CopiedTurn]]:
    """Return turns of a session, each with its position, from `position` on."""
    rows = connection.execute(
        "SELECT t.position, t.uuid, t.role, t.speaker, d.body, t.at, t.is_important, t.metadata"
        " FROM turns AS t JOIN documents AS d USING (id)"
        " WHERE t.session_id = ? AND t.position >= ? ORDER BY t.position LIMIT ?",
        (session_id, position, limit),
    )
    return [
        (
            row[0],
            CopiedTurn(
                uuid=row[1],
                role=Role(row[2]),
                speaker=row[3],
                text=row[4],
                at=datetime.fromisoformat(row[5]),
                is_important=bool(row[6]),
                metadata=json.loads(row[7]) if row[7] else None,
            ),
        )
        for row in rows
    ]


def entry_id(connection: Connection, uuid: str) -> int | None:
    """Return the number of the item or turn with this UUID, or None."""
    row = connection.execute(
        "SELECT id FROM knowledge WHERE uuid = ?1 UNION ALL SELECT id FROM turns WHERE uuid = ?1",
        (uuid,),
    ).fetchone()
    return int(row[0]) if row else None


def add_link(connection: Connection, from_id: int, to_id: int, link: CopiedLink, at: str) -> bool:
    """Note how an item relates to an earlier entry; return False where that was known."""
    connection.execute(
        "INSERT OR IGNORE INTO entry_relations VALUES (?, ?, ?, ?, ?, ?)",
        (from_id, to_id, link.relation.value, link.strength, link.words, at),
    )
    return bool(connection.changes())


def turn_uuids(connection: Connection, session_id: int) -> set[str]:
    """Return the UUIDs of a session's turns."""
    rows = connection.execute("SELECT uuid FROM turns WHERE session_id = ?", (session_id,))
    return {row[0] for row in rows}


def has_turn(connection: Connection, uuid: str) -> bool:
    """Return whether there is a turn with this UUID, in any session."""
    row = connection.execute("SELECT 1 FROM turns WHERE uuid = ?", (uuid,)).fetchone()
    return row is not None


def date_session(connection: Connection, session_id: int, session: CopiedSession) -> None:
    """Give a session that was just begun the UUID, state and times that its copy has."""
    connection.execute(
        "UPDATE sessions SET uuid = ?1, status = ?2, created_at = ?3, last_active = ?4,"
        " is_pinned = ?5, archived_at = CASE ?2 WHEN 'archived' THEN ?4 END WHERE id = ?6",
        (
            session.uuid,
            session.status,
            session.created_at.isoformat(),
            session.last_active.isoformat(),
            int(session.is_pinned),
            session_id,
        ),
    )


State = tuple[str, str, str | None]


def state_of(connection: Connection, session_id: int) -> State:
    """Return status, last activity and time of archiving of a session."""
    found: State = connection.execute(
        "SELECT status, last_active, archived_at FROM sessions WHERE id = ?", (session_id,)
    ).get
    return found


def set_state(connection: Connection, session_id: int, state: State) -> None:
    """Put back what adding older turns changed."""
    connection.execute(
        "UPDATE sessions SET status = ?, last_active = ?, archived_at = ? WHERE id = ?",
        (*state, session_id),
    )


def identify_turns(connection: Connection, ids: Sequence[int], turns: Sequence[CopiedTurn]) -> None:
    """Give turns that were just added the UUIDs and marks that their copies have."""
    connection.executemany(
        "UPDATE turns SET uuid = ?, is_important = ? WHERE id = ?",
        (
            (turn.uuid, int(turn.is_important), turn_id)
            for turn_id, turn in zip(ids, turns, strict=True)
        ),
    )
