"""Rows of `session_digests`: what is worth keeping of long sessions, packed (domain Digest)."""

import json
import zlib
from collections.abc import Collection
from dataclasses import asdict, dataclass
from typing import Any

from kmem_desktop.domain.sessions.conversations import Digest, DigestPiece
from kmem_desktop.store.connection import Connection

_VERSION = 1
"""A digest of another version is made anew."""


@dataclass(frozen=True, slots=True)
class KeptDigest:
    """A digest, and the turn that it ends with.

    Attributes:
        digest: The digest.
        last_hash: The hash of the text of the last turn it has read: where that is another one,
            turns were taken away since, and the digest says nothing.
    """

    digest: Digest
    last_hash: str


def get(connection: Connection, session_id: int) -> KeptDigest | None:
    """Return a session's digest, or None where there is none that can be read."""
    query = "SELECT packed FROM session_digests WHERE session_id = ?"
    row = connection.execute(query, (session_id,)).fetchone()
    if row is None:
        return None
    try:
        kept = json.loads(zlib.decompress(row[0]))
        return _read(kept) if kept["version"] == _VERSION else None
    except (zlib.error, ValueError, KeyError, TypeError):
        return None  # it is made anew


def _read(kept: dict[str, Any]) -> KeptDigest:
    digest = Digest(
        turn_count=kept["turn_count"],
        pieces=tuple(DigestPiece(*piece) for piece in kept["pieces"]),
        code=tuple(DigestPiece(*piece) for piece in kept["code"]),
        taken_back=tuple((position, text) for position, text in kept["taken_back"]),
    )
    return KeptDigest(digest, kept["last_hash"])


def put(connection: Connection, session_id: int, kept: KeptDigest) -> None:
    """Keep a session's digest; nothing where the session is gone."""
    value = {
        "version": _VERSION,
        "last_hash": kept.last_hash,
        "turn_count": kept.digest.turn_count,
        "pieces": [list(asdict(piece).values()) for piece in kept.digest.pieces],
        "code": [list(asdict(piece).values()) for piece in kept.digest.code],
        "taken_back": kept.digest.taken_back,
    }
    packed = zlib.compress(json.dumps(value, ensure_ascii=False).encode(), 6)
    connection.execute(
        "INSERT OR REPLACE INTO session_digests (session_id, turn_count, packed)"
        " SELECT id, ?2, ?3 FROM sessions WHERE id = ?1",
        (session_id, kept.digest.turn_count, packed),
    )


def drop(connection: Connection, session_id: int) -> None:
    """Forget a session's digest."""
    connection.execute("DELETE FROM session_digests WHERE session_id = ?", (session_id,))


def first_due(
    connection: Connection, *, least_tokens: int, most_newer: int, refused: Collection[str] = ()
) -> str | None:
    """Return the session last active that needs a new digest, or None.

    Args:
        connection: A snapshot.
        least_tokens: Shorter sessions need none.
        most_newer: So many turns may be newer than the digest.
        refused: Sessions that are passed over.
    """
    query = (
        "SELECT s.uuid FROM sessions AS s INDEXED BY sessions_by_last_active"
        " LEFT JOIN session_digests AS d ON d.session_id = s.id"
        " WHERE s.token_count >= ? AND (d.turn_count IS NULL OR d.turn_count > s.entry_count"
        " OR s.entry_count - d.turn_count > ?) ORDER BY s.last_active DESC, s.id DESC"
    )
    rows = connection.execute(query, (least_tokens, most_newer))
    return next((uuid for (uuid,) in rows if uuid not in refused), None)
