"""Rows of `outgoing`: what left the computer, by minute, never the text."""

from collections.abc import Sequence
from datetime import datetime

from kmem_desktop.domain.models import Purpose, Sent
from kmem_desktop.store.connection import Connection


def add(connection: Connection, sent: Sent) -> None:
    """Add what leaves now to what left in the same minute."""
    connection.execute(
        "INSERT INTO outgoing (minute, host, purpose, provider, model, calls, characters, tokens)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
        " ON CONFLICT DO UPDATE SET calls = calls + excluded.calls,"
        " characters = characters + excluded.characters, tokens = tokens + excluded.tokens",
        (
            sent.minute.isoformat(timespec="minutes"),
            sent.host,
            str(sent.purpose),
            sent.provider,
            sent.model,
            sent.calls,
            sent.characters,
            sent.tokens,
        ),
    )


def newest(connection: Connection, limit: int) -> Sequence[Sent]:
    """Return what left last, the newest first."""
    rows = connection.execute(
        "SELECT minute, host, purpose, provider, model, calls, characters, tokens FROM outgoing"
        " ORDER BY minute DESC, host, purpose, provider, model LIMIT ?",
        (limit,),
    )
    return [Sent(datetime.fromisoformat(row[0]), row[1], Purpose(row[2]), *row[3:]) for row in rows]
