"""Short lists of conversations and knowledge, newest first, and names that begin in some way."""

from datetime import datetime

from kmem_desktop.domain.library.reports import Listed
from kmem_desktop.store.connection import Connection


def recent_sessions(connection: Connection, limit: int) -> list[Listed]:
    """Return the sessions last active, archived ones left out."""
    query = (
        "SELECT uuid, title, client, last_active, entry_count FROM sessions"
        " WHERE status <> 'archived' ORDER BY last_active DESC, id DESC LIMIT ?"
    )
    return [
        Listed(row[0], row[1], row[2], datetime.fromisoformat(row[3]), row[4])
        for row in connection.execute(query, (limit,))
    ]


def recent_items(connection: Connection, limit: int) -> list[Listed]:
    """Return the knowledge that was changed last."""
    query = (
        "SELECT k.uuid, d.title, k.category, d.updated_at FROM documents AS d"
        " JOIN knowledge AS k USING (id) WHERE d.noun = 'knowledge'"
        " ORDER BY d.updated_at DESC, d.id DESC LIMIT ?"
    )
    return [
        Listed(row[0], row[1], row[2], datetime.fromisoformat(row[3]))
        for row in connection.execute(query, (limit,))
    ]


def sessions_beginning(connection: Connection, text: str, limit: int) -> list[Listed]:
    """Return sessions whose id or title begins with a text in any case, the last active first."""
    query = (
        "SELECT uuid, title, client, last_active, entry_count FROM sessions"
        " WHERE substr(lower(title), 1, length(?1)) = lower(?1)"
        " OR substr(uuid, 1, length(?1)) = lower(?1)"
        " ORDER BY last_active DESC, id DESC LIMIT ?2"
    )
    return [
        Listed(row[0], row[1], row[2], datetime.fromisoformat(row[3]), row[4])
        for row in connection.execute(query, (text, limit))
    ]


def items_beginning(connection: Connection, text: str, limit: int) -> list[str]:
    """Return the ids of items that begin with a text, those changed last first."""
    query = (
        "SELECT k.uuid FROM knowledge AS k JOIN documents AS d USING (id)"
        " WHERE substr(k.uuid, 1, length(?1)) = lower(?1)"
        " ORDER BY d.updated_at DESC, d.id DESC LIMIT ?2"
    )
    return [row[0] for row in connection.execute(query, (text, limit))]


def session_titled(connection: Connection, title: str) -> str | None:
    """Return the id of the session with this title in any case, the last active one, or None."""
    query = (
        "SELECT uuid FROM sessions WHERE lower(title) = lower(?)"
        " ORDER BY last_active DESC, id DESC LIMIT 1"
    )
    row = connection.execute(query, (title,)).fetchone()
    return row[0] if row else None
