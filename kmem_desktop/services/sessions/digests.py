"""Digests of long sessions: made in the background, kept, and used when a session is restored.

A short session is read whole. Of a long one the digest says what is worth keeping: making it takes
half a second for 2,000 turns, so it is kept in the database, and brought up to date after some
turns. Turns that are newer than it are read when a context is restored. Where there is none yet, or
one that is too old, the beginning and the end are read now, which takes some milliseconds, and the
whole is put on the list of those that the upkeep makes first. Where there is no upkeep (a command,
`--standalone`), it is made while the caller waits.
"""

import asyncio
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from kmem_desktop.domain.sessions.conversations import Digest, SpokenTurn
from kmem_desktop.domain.sessions.recall import SessionFacts
from kmem_desktop.sessions.context_window import NEWEST_TURNS
from kmem_desktop.sessions.digest import digest, merged, quick_digest
from kmem_desktop.sessions.salience import Outline, outline
from kmem_desktop.store.connection import Connection
from kmem_desktop.store.database import Database
from kmem_desktop.store.sessions import digests as digest_rows
from kmem_desktop.text import content_hash

LEAST_TOKENS = 4_000
"""A session of fewer is read whole: that takes at most some 40 ms."""
MOST_NEWER = 30
"""So many turns may be newer than the digest before it is made anew."""


@dataclass(frozen=True, slots=True)
class ReadyDigest:
    """What a context is restored from.

    Attributes:
        digest: The digest; None where the turns are to be read whole.
        is_preliminary: Whether it lacks something that is being worked out.
    """

    digest: Digest | None
    is_preliminary: bool = False


class SessionDigests:
    """Keeps digests.

    Attributes:
        wanted: Sessions that somebody is going on with, which lack something; the newest last.
        is_kept_up: Whether somebody makes those that are wanted.
        news: Set when one is wanted.
    """

    def __init__(self, database: Database) -> None:
        """Keep them in `database`."""
        self._database = database
        self.wanted: dict[str, None] = {}
        self.is_kept_up = False
        self.news = asyncio.Event()

    async def ready(
        self, facts: SessionFacts, turns: Sequence[SpokenTurn], kept: digest_rows.KeptDigest | None
    ) -> ReadyDigest:
        """Return the digest to restore a session from, in a few milliseconds."""
        if facts.token_count < LEAST_TOKENS:
            return ReadyDigest(None)
        if kept is not None and not _fits(kept, turns):
            kept = None
        newer = len(turns) - kept.digest.turn_count if kept else len(turns)
        if kept is not None and newer <= NEWEST_TURNS:
            return ReadyDigest(kept.digest)
        if not self.is_kept_up:
            made = await asyncio.to_thread(lambda: digest(outline(turns)))
            await self.keep(facts, turns, made)
            return ReadyDigest(made)
        self.want(facts.uuid)
        return ReadyDigest(await asyncio.to_thread(_quick, turns, kept), is_preliminary=True)

    def want(self, uuid: str) -> None:
        """Let what a session lacks be made before anything else."""
        self.wanted.pop(uuid, None)
        self.wanted[uuid] = None
        self.news.set()

    async def first_due(self, refused: Collection[str] = ()) -> str | None:
        """Return the session whose digest is to be made next, but for some; or None."""
        if self.wanted:
            return next(reversed(self.wanted))
        return await self._database.read(
            lambda c: digest_rows.first_due(
                c, least_tokens=LEAST_TOKENS, most_newer=MOST_NEWER, refused=refused
            )
        )

    async def make(self, facts: SessionFacts, turns: Sequence[SpokenTurn], found: Outline) -> None:
        """Make a session's digest and keep it."""
        await self.keep(facts, turns, await asyncio.to_thread(digest, found))

    async def keep(self, facts: SessionFacts, turns: Sequence[SpokenTurn], made: Digest) -> None:
        """Keep a session's digest."""
        self.wanted.pop(facts.uuid, None)
        last_hash = content_hash(turns[-1].text) if turns else ""
        kept = digest_rows.KeptDigest(made, last_hash)

        def work(connection: Connection) -> None:
            digest_rows.put(connection, facts.id, kept)

        await self._database.write(work)


def _fits(kept: digest_rows.KeptDigest, turns: Sequence[SpokenTurn]) -> bool:
    count = kept.digest.turn_count
    return 0 < count <= len(turns) and kept.last_hash == content_hash(turns[count - 1].text)


def _quick(turns: Sequence[SpokenTurn], kept: digest_rows.KeptDigest | None) -> Digest:
    made = quick_digest(turns)
    return made if kept is None else merged(len(turns), [made, kept.digest])
