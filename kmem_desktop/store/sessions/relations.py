"""Rows of `entry_relations`: how the later of two entries relates to the earlier (seed 004)."""

import json
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

from kmem_desktop.domain.changes import Noun
from kmem_desktop.domain.found import Doubt, EntryNote
from kmem_desktop.domain.sessions.conversations import EntryRelation, FoundRelation
from kmem_desktop.domain.sessions.inbox import EntryLink
from kmem_desktop.store.connection import Connection
from kmem_desktop.text import one_line

NOTE_TITLE_LENGTH = 90

_DOUBTS = {"supersedes": Doubt.SUPERSEDED, "contradicts": Doubt.CONTRADICTED}
_STAMPS = "entry_relations_of"
# What an entry at the other end is called, and when it was said.
_OTHER = (
    "d.id, d.title, substr(d.body, 1, 300), coalesce(t.at, d.created_at),"
    " coalesce(s.uuid, ''), coalesce(s.title, ''), t.position"
)
_OTHER_JOINS = " LEFT JOIN turns AS t ON t.id = d.id LEFT JOIN sessions AS s ON s.id = t.session_id"

_DOUBTFUL = (
    " AND r.relation IN ('supersedes', 'contradicts')"
    # What a person has dropped from the inbox speaks against nothing.
    " AND NOT EXISTS (SELECT 1 FROM proposals AS p WHERE p.session_id = t.session_id"
    " AND p.position = t.position AND p.status = 'dropped')"
)
_NOTES = (
    f"SELECT r.to_id, r.relation, {_OTHER}, r.strength FROM entry_relations AS r"
    f" JOIN documents AS d ON d.id = r.from_id{_OTHER_JOINS}"
    f" WHERE r.to_id IN (SELECT value FROM json_each(?1)){_DOUBTFUL}"
)
# What speaks against knowledge speaks against the turn too that it was taken from.
_NOTES_OF_ACCEPTED = (
    f"SELECT own.id, r.relation, {_OTHER}, r.strength FROM turns AS own"
    " JOIN proposals AS a ON a.session_id = own.session_id AND a.position = own.position"
    " AND a.status = 'accepted' JOIN knowledge AS k ON k.uuid = a.knowledge_uuid"
    " JOIN entry_relations AS r ON r.to_id = k.id"
    f" JOIN documents AS d ON d.id = r.from_id{_OTHER_JOINS}"
    f" WHERE own.id IN (SELECT value FROM json_each(?1)){_DOUBTFUL}"
)
_NOTES_ORDER = "ORDER BY 2 DESC, strength DESC, 3 DESC"


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


def untell(connection: Connection, entry_id: int, earlier_id: int) -> None:
    """Remove what somebody said of an entry and an earlier one."""
    connection.execute(
        "DELETE FROM entry_relations WHERE from_id = ? AND to_id = ? AND words = ''",
        (entry_id, earlier_id),
    )


def told(connection: Connection, entry_id: int) -> list[int]:
    """Return the entries that an entry was said to refer to."""
    query = (
        "SELECT DISTINCT to_id FROM entry_relations WHERE from_id = ? AND words = '' ORDER BY to_id"
    )
    return [row[0] for row in connection.execute(query, (entry_id,))]


def replace_found(
    connection: Connection, entry_ids: Iterable[int], found: Iterable[FoundRelation], now: datetime
) -> None:
    """Keep what was found about some entries, and nothing that was found about them before.

    What somebody told stays. Relations of an entry that is gone by now are left out.
    """
    connection.executemany(
        "DELETE FROM entry_relations WHERE words <> '' AND (from_id = ?1 OR to_id = ?1)",
        ((entry_id,) for entry_id in entry_ids),
    )
    add_found(connection, found, now)


def add_found(connection: Connection, found: Iterable[FoundRelation], now: datetime) -> None:
    """Keep relations that were found beside those that are there."""
    connection.executemany(
        "INSERT OR IGNORE INTO entry_relations SELECT f.id, t.id, ?3, ?4, ?5, ?6"
        " FROM documents AS f, documents AS t WHERE f.id = ?1 AND t.id = ?2",
        (
            (r.from_id, r.to_id, r.relation.value, r.strength, r.words, now.isoformat())
            for r in found
        ),
    )


def links(connection: Connection, entry_ids: Sequence[int]) -> list[EntryLink]:
    """Return the relations of some entries in both directions, the strongest first."""
    wanted = json.dumps(list(entry_ids))
    query = (
        f"SELECT r.from_id, r.to_id, r.relation, r.strength, r.words, {_OTHER}"
        " FROM entry_relations AS r JOIN documents AS d ON d.id = r.{far}"
        f"{_OTHER_JOINS} WHERE r.{{near}} IN (SELECT value FROM json_each(?))"
        " ORDER BY r.strength DESC, r.from_id DESC, r.to_id"
    )
    ends = (("from_id", "to_id"), ("to_id", "from_id"))
    return [
        _link(row)
        for near, far in ends
        for row in connection.execute(query.format(near=near, far=far), (wanted,))
    ]


def notes_of(connection: Connection, entry_ids: Sequence[int]) -> dict[int, tuple[EntryNote, ...]]:
    """Return what has to be said with entries that are recalled: which may no longer hold, and why.

    Returns:
        The notes under the entries' ids, the surest first; entries without any are left out.
    """
    wanted = json.dumps(list(entry_ids))
    rows = connection.execute(f"{_NOTES} UNION {_NOTES_OF_ACCEPTED} {_NOTES_ORDER}", (wanted,))
    found: dict[int, dict[tuple[Doubt, int], EntryNote]] = {}
    for row in rows:
        other_id, title, text, at = row[2:6]
        note = EntryNote(
            _DOUBTS[row[1]], other_id, _called(title, text), datetime.fromisoformat(at)
        )
        found.setdefault(row[0], {}).setdefault((note.doubt, note.by_id), note)
    return {entry_id: tuple(notes.values()) for entry_id, notes in found.items()}


def notes_of_session(connection: Connection, session_uuid: str) -> dict[int, tuple[EntryNote, ...]]:
    """Return the same for the turns of a conversation, under their positions."""
    query = (
        "SELECT t.id, t.position FROM turns AS t JOIN sessions AS s ON s.id = t.session_id"
        " WHERE s.uuid = ? AND (t.id IN (SELECT to_id FROM entry_relations) OR t.position IN"
        " (SELECT position FROM proposals WHERE session_id = s.id AND status = 'accepted'))"
    )
    positions = {int(row[0]): int(row[1]) for row in connection.execute(query, (session_uuid,))}
    return {positions[i]: notes for i, notes in notes_of(connection, list(positions)).items()}


def stamp(connection: Connection) -> tuple[int, int, int]:
    """Return how far relations were worked out: of the history, of knowledge, of proposals.

    The first is -1 before the first time.
    """
    row = connection.execute("SELECT value FROM meta WHERE key = ?", (_STAMPS,)).fetchone()
    history, knowledge, proposals = json.loads(row[0]) if row else (-1, 0, 0)
    return history, knowledge, proposals


def set_stamp(connection: Connection, stamp: tuple[int, int, int]) -> None:
    """Note how far relations were worked out."""
    connection.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (_STAMPS, json.dumps(stamp)))


def newest_change(connection: Connection) -> int:
    """Return the number of the last change in the history."""
    return int(connection.execute("SELECT coalesce(max(id), 0) FROM history").get)


def changed_knowledge(connection: Connection, after_id: int, limit: int) -> list[tuple[int, int]]:
    """Return (change, item) for knowledge that was changed after a number and is there."""
    query = (
        "SELECT h.id, k.id FROM history AS h JOIN knowledge AS k ON k.uuid = h.item_uuid"
        " WHERE h.id > ? AND h.noun = ? ORDER BY h.id LIMIT ?"
    )
    rows = connection.execute(query, (after_id, Noun.KNOWLEDGE.value, limit))
    return [(row[0], row[1]) for row in rows]


def knowledge_after(connection: Connection, after_id: int, limit: int) -> list[int]:
    """Return the ids of knowledge in their order, after an id."""
    query = "SELECT id FROM knowledge WHERE id > ? ORDER BY id LIMIT ?"
    return [row[0] for row in connection.execute(query, (after_id, limit))]


def _called(title: str, text: str) -> str:
    if title:
        return title
    said = one_line(text)
    is_long = len(said) > NOTE_TITLE_LENGTH
    return f"{said[:NOTE_TITLE_LENGTH].rsplit(' ', 1)[0]}\u2026" if is_long else said


def _link(row: tuple[Any, ...]) -> EntryLink:
    return EntryLink(
        from_id=row[0],
        to_id=row[1],
        relation=EntryRelation(row[2]),
        strength=row[3],
        words=row[4],
        other_id=row[5],
        title=row[6] or row[10] or _called("", row[7]),
        text=row[7],
        at=datetime.fromisoformat(row[8]),
        session_uuid=row[9],
        position=row[11],
    )
