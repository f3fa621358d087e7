"""Rows of `rule_folders`: the folders whose rule files a person let kmem read."""

import uuid as uuids
from datetime import datetime
from pathlib import Path
from typing import Any

from kmem_desktop.domain.rule_library import RuleFolder
from kmem_desktop.store.connection import Connection
from kmem_desktop.store.rules import library as rules
from kmem_desktop.store.rules import set_aside

_SELECT = (
    "SELECT f.id, f.path, f.scope, f.added_at, count(r.id) FROM rule_folders AS f"
    " LEFT JOIN rules AS r ON r.folder_id = f.id"
)


def list_folders(connection: Connection) -> list[RuleFolder]:
    """Return every folder, in the order they were added."""
    rows = connection.execute(f"{_SELECT} GROUP BY f.id ORDER BY f.id").fetchall()
    return [_folder(connection, row) for row in rows]


def find(connection: Connection, path: str) -> RuleFolder | None:
    """Return the folder of this path, or None."""
    row = connection.execute(f"{_SELECT} WHERE f.path = ? GROUP BY f.id", (path,)).fetchone()
    return _folder(connection, row) if row else None


def add(connection: Connection, path: str, scope: str, now: datetime) -> RuleFolder:
    """Add a folder."""
    connection.execute(
        "INSERT INTO rule_folders (uuid, path, scope, added_at) VALUES (?, ?, ?, ?)",
        (str(uuids.uuid4()), path, scope, now.isoformat()),
    )
    return RuleFolder(connection.last_insert_rowid(), path, scope, now)


def remove(connection: Connection, folder_id: int) -> list[int]:
    """Let go of a folder and of what was read from it; return the directives' ids."""
    numbers = [rule.id for rule in rules.list_rules(connection, folder_id=folder_id)]
    gone = rules.delete_rules(connection, numbers)
    scope = connection.execute("SELECT scope FROM rule_folders WHERE id = ?", (folder_id,)).get
    set_aside.forget_scope(connection, scope)
    connection.execute("DELETE FROM rule_folders WHERE id = ?", (folder_id,))
    return gone


def paths_of(connection: Connection, folder_id: int) -> list[str]:
    """Return the paths of the documents that were read from a folder."""
    query = "SELECT path FROM rules WHERE folder_id = ? ORDER BY path"
    return [row[0] for row in connection.execute(query, (folder_id,))]


def scopes_in_use(connection: Connection, prefix: str) -> set[str]:
    """Return the folders' scopes that begin with `prefix`."""
    scopes = {row[0] for row in connection.execute("SELECT scope FROM rule_folders")}
    return {scope for scope in scopes if scope.startswith(prefix)}


def _folder(connection: Connection, row: tuple[Any, ...]) -> RuleFolder:
    return RuleFolder(
        id=row[0],
        path=row[1],
        scope=row[2],
        added_at=datetime.fromisoformat(row[3]),
        rules=row[4],
        is_there=Path(row[1]).is_dir(),
        ignored=tuple(set_aside.ignored(connection, row[2])),
    )
