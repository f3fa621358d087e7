"""Rule files that a person let go of, and what was decided about files that are gone.

Both outlive the file's own rows: a file that a person forgot is not read again unasked, and one
that comes back, from another branch say, finds what was edited and rejected in it.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from kmem_desktop.domain.rules import RuleStatus
from kmem_desktop.store.connection import Connection


@dataclass(frozen=True, slots=True)
class Judgement:
    """What a person decided about a directive.

    Attributes:
        section: Where it stands in its file.
        text: What the file says.
        status: Whether a person stands behind it.
        edits: What a person made of it, by field; None where nothing was edited.
    """

    section: str
    text: str
    status: RuleStatus
    edits: Mapping[str, Any] | None


def ignore(connection: Connection, path: str, scope: str, now: datetime) -> None:
    """Read a file no more until it is taken back."""
    connection.execute(
        "INSERT INTO ignored_rule_files (path, scope, at) VALUES (?, ?, ?)"
        " ON CONFLICT (path, scope) DO UPDATE SET at = excluded.at",
        (path, scope, now.isoformat()),
    )


def is_ignored(connection: Connection, path: str, scope: str) -> bool:
    """Return whether a person forgot a file."""
    query = "SELECT 1 FROM ignored_rule_files WHERE path = ? AND scope = ?"
    return connection.execute(query, (path, scope)).fetchone() is not None


def ignored(connection: Connection, scope: str) -> list[str]:
    """Return the files of a project that a person forgot."""
    query = "SELECT path FROM ignored_rule_files WHERE scope = ? ORDER BY path"
    return [row[0] for row in connection.execute(query, (scope,))]


def take_back(connection: Connection, path: str, scope: str) -> bool:
    """Let a file be read again; return whether it was forgotten."""
    query = "DELETE FROM ignored_rule_files WHERE path = ? AND scope = ?"
    connection.execute(query, (path, scope))
    return bool(connection.changes())


def keep(connection: Connection, path: str, scope: str, judgements: Sequence[Judgement]) -> None:
    """Keep what was decided about a file that is gone, instead of what was kept before."""
    forget_judgements(connection, path, scope)
    connection.executemany(
        "INSERT INTO kept_judgements (path, scope, section, text, status, edits)"
        " VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
        (
            (
                path,
                scope,
                each.section,
                each.text,
                each.status.value,
                json.dumps(each.edits, ensure_ascii=False) if each.edits is not None else None,
            )
            for each in judgements
        ),
    )


def judgements(connection: Connection, path: str, scope: str) -> list[Judgement]:
    """Return what was decided about a file before it went."""
    query = (
        "SELECT section, text, status, edits FROM kept_judgements WHERE path = ? AND scope = ?"
        " ORDER BY section, text"
    )
    return [
        Judgement(row[0], row[1], RuleStatus(row[2]), json.loads(row[3]) if row[3] else None)
        for row in connection.execute(query, (path, scope))
    ]


def forget_judgements(connection: Connection, path: str, scope: str) -> None:
    """Forget what was decided about a file."""
    query = "DELETE FROM kept_judgements WHERE path = ? AND scope = ?"
    connection.execute(query, (path, scope))


def forget_scope(connection: Connection, scope: str) -> None:
    """Forget everything about a project that is let go of."""
    connection.execute("DELETE FROM ignored_rule_files WHERE scope = ?", (scope,))
    connection.execute("DELETE FROM kept_judgements WHERE scope = ?", (scope,))
