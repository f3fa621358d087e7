"""Conversations for tests of the life of sessions."""

from collections.abc import Sequence
from pathlib import Path

from kmem_desktop.bootstrap import Services
from kmem_desktop.domain.sessions.conversations import TurnDraft
from kmem_desktop.services.sessions.exchanges import SessionDraft
from tests.services.memory import ORIGIN

TALK = (
    "Which database do we take for orders?",
    "We decided on PostgreSQL, because orders need transactions.",
    "And the cache?",
    "We use no Redis: the cache lives in the process.",
)


async def talk(
    services: Services, texts: Sequence[str] = TALK, *, uuid: str | None = None, title: str = "Shop"
) -> str:
    """Store a conversation, or go on with one; return the session's id."""
    drafts = [
        TurnDraft("user" if number % 2 == 0 else "assistant", text)
        for number, text in enumerate(texts)
    ]
    stored = await services.sessions.add_exchange(
        SessionDraft(uuid=uuid, title=title), drafts, ORIGIN
    )
    return stored.session_uuid


def long_talk(count: int) -> list[str]:
    """Return the turns of a long conversation, some 40 tokens each."""
    nouns = ("invoice", "cache", "worker", "schema", "release", "tenant", "index", "queue")
    return [
        f"The {nouns[n % 8]} of `{nouns[n // 8 % 8]}_{n}.py` was fixed in step {n}, because the"
        f" {nouns[n * 3 % 8]} {n} of the {nouns[n * 5 % 8]} failed when run {n % 7} was repeated."
        for n in range(count)
    ]


def bytes_of(database: Path) -> bytes:
    """Return everything that stands in a database's files."""
    return b"".join(file.read_bytes() for file in sorted(database.parent.glob("kmem.db*")))
