"""Turns as a search shows them: what was said, by whom, and where in which conversation."""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from kmem_desktop.domain.found import TurnPlace
from kmem_desktop.domain.sessions.conversations import Role
from kmem_desktop.store.connection import Connection


@dataclass(frozen=True, slots=True)
class TurnRow:
    """A turn that was found.

    Attributes:
        place: Where it stands.
        role: Who speaks.
        speaker: The person's name, in conversations of several people.
        text: What was said, cut where it is very long.
        at: When.
    """

    place: TurnPlace
    role: Role
    speaker: str
    text: str
    at: datetime


def get(connection: Connection, ids: Iterable[int], longest: int) -> dict[int, TurnRow]:
    """Return the turns that exist among `ids`, their texts cut to `longest` characters."""
    query = (
        "SELECT t.id, s.uuid, s.title, t.position, s.entry_count, s.client, d.scope, t.role,"
        " t.speaker, substr(d.body, 1, ?), t.at FROM json_each(?) AS wanted"
        " CROSS JOIN turns AS t ON t.id = wanted.value JOIN sessions AS s ON s.id = t.session_id"
        " JOIN documents AS d ON d.id = t.id"
    )
    return {
        row[0]: TurnRow(
            place=TurnPlace(*row[:7]),
            role=Role(row[7]),
            speaker=row[8],
            text=row[9],
            at=datetime.fromisoformat(row[10]),
        )
        for row in connection.execute(query, (longest, json.dumps(list(ids))))
    }
