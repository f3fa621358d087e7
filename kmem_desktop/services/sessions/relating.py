"""How entries of the memory relate is found in the background (seed 004).

Knowledge that is new or was changed is compared with the nearest of everything that is known, and
with what conversations state (not with each of their turns: there may be half a million). What they
state is compared in the same way when it is proposed. How far that went stands in the database, by
the history's numbers: a crash, or another process that writes, loses nothing.
"""

import asyncio
import contextlib
import functools
import logging
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from kmem_desktop.domain.changes import Noun
from kmem_desktop.domain.found import EntryNote
from kmem_desktop.domain.knowledge import GLOBAL_SCOPE, KnowledgeItem
from kmem_desktop.domain.sessions.conversations import FoundRelation
from kmem_desktop.domain.sessions.inbox import Decision, EntryLink
from kmem_desktop.errors import KmemError
from kmem_desktop.events import Change, ChangeFeed
from kmem_desktop.providers.model import PROBE
from kmem_desktop.search.meaning import Meaning
from kmem_desktop.services.background import BackgroundTask
from kmem_desktop.services.embedding import EmbeddingService
from kmem_desktop.services.sessions.likeness import Likeness
from kmem_desktop.sessions.relations import LEAST_SIMILARITY, RelatedEntry, relation_between
from kmem_desktop.store import fulltext
from kmem_desktop.store import knowledge as knowledge_rows
from kmem_desktop.store.connection import Connection
from kmem_desktop.store.database import Database
from kmem_desktop.store.sessions import proposals, relations

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

log = logging.getLogger(__name__)

MOST_RELATIONS = 10
"""Of one entry with earlier and later ones (seed 004)."""
NEAREST = 64
MOST_NEAREST = 4_096
BATCH = 20
QUIET_S = 2.0
VECTORS_AFTER_S = 30.0
RETRY_AFTER_S = 60.0
LONGEST_S = 3_600.0
PAUSE_S = 0.2
_DONE = -1


@dataclass(frozen=True, slots=True)
class _Neighbour:
    """An entry and how near it is."""

    entry: RelatedEntry
    similarity: float


class EntryRelationService:
    """Relates entries in the background, and tells how they relate."""

    def __init__(self, database: Database, feed: ChangeFeed, embedding: EmbeddingService) -> None:
        """Work on `database`, hear of changes by `feed`, and compare by `embedding`."""
        self._database = database
        self._feed = feed
        self._embedding = embedding
        self._likeness = Likeness(embedding)
        self._news = asyncio.Event()
        self._news.set()
        self._work = BackgroundTask()

    def start(self) -> None:
        """Begin to work in the background."""
        self._work.begin(self._run(), forget=self._feed.subscribe(self._on_change))

    async def stop(self) -> None:
        """End the work; what is not done is done after the next start."""
        await self._work.end()

    def _on_change(self, change: Change) -> None:
        if change.noun in (Noun.KNOWLEDGE, Noun.PROPOSAL):
            self._news.set()

    async def relations_of(self, entry_ids: Sequence[int]) -> list[EntryLink]:
        """Return how entries relate to others, in both directions, the strongest first."""
        return await self._database.read(lambda c: relations.links(c, entry_ids))

    async def notes_of(self, entry_ids: Sequence[int]) -> dict[int, tuple[EntryNote, ...]]:
        """Return under their ids what has to be said with entries that may no longer hold."""
        return await self._database.read(lambda c: relations.notes_of(c, entry_ids))

    async def notes_of_session(self, session_uuid: str) -> dict[int, tuple[EntryNote, ...]]:
        """Return the same for the turns of a conversation, under their positions."""
        return await self._database.read(lambda c: relations.notes_of_session(c, session_uuid))

    async def _run(self) -> None:
        retry_after_s = RETRY_AFTER_S
        while True:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(retry_after_s if retry_after_s else None):
                    await self._news.wait()
            self._news.clear()
            await asyncio.sleep(QUIET_S)
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(VECTORS_AFTER_S):
                    await self._embedding.settled()
            try:
                was_done = await self._relate_all()
            except KmemError as error:
                log.info("Relations between entries wait: %s", error.message)
                was_done = False
            except Exception:
                log.exception("Relations between entries could not be found")
                return
            # What cannot be done now is tried again ever more seldom: a memory that nobody uses is
            # to be left alone.
            retry_after_s = 0 if was_done else min(2 * retry_after_s or RETRY_AFTER_S, LONGEST_S)

    async def _relate_all(self) -> bool:
        """Relate what waits for it; return False where something has to wait on."""
        while True:
            if not await self.relate_some():
                return not await self.is_behind()
            await asyncio.sleep(PAUSE_S)

    async def is_behind(self) -> bool:
        """Return whether something waits to be related."""

        def work(connection: Connection) -> bool:
            history, knowledge, proposal = relations.stamp(connection)
            return bool(
                history < 0
                or relations.changed_knowledge(connection, history, 1)
                or (knowledge != _DONE and relations.knowledge_after(connection, knowledge, 1))
                or proposals.statements(connection, (), after_id=proposal, limit=1)
            )

        return await self._database.read(work)

    async def relate_some(self) -> bool:
        """Relate some entries that wait for it; return False where none could be related.

        Raises:
            ProviderError: The model failed.
        """
        if not await self.is_behind():
            return False
        # Any text will do: it gives access to the vectors of all others.
        probe = await self._embedding.meaning_of(PROBE)
        if probe is None:
            return False
        stamp = await self._database.read(relations.stamp)
        if stamp[0] < 0:
            newest = await self._database.read(relations.newest_change)
            stamp = (newest, 0, 0)
            await self._database.write(lambda c: relations.set_stamp(c, stamp))
        return (
            await self._relate_changed(probe, stamp)
            or await self._relate_earlier(probe, stamp)
            or await self._relate_statements(probe, stamp)
        )

    async def _relate_changed(self, probe: Meaning, stamp: tuple[int, int, int]) -> bool:
        history, knowledge, proposal = stamp
        changed = await self._database.read(
            lambda c: relations.changed_knowledge(c, history, BATCH)
        )
        done, reached = await self._relate_knowledge(probe, [item for _, item in changed])
        if done:
            last_change = changed[done - 1][0]
            await self._keep(reached, (last_change, knowledge, proposal))
        return done > 0

    async def _relate_earlier(self, probe: Meaning, stamp: tuple[int, int, int]) -> bool:
        """Relate what was there before relations were found by themselves."""
        history, knowledge, proposal = stamp
        if knowledge == _DONE:
            return False
        ids = await self._database.read(lambda c: relations.knowledge_after(c, knowledge, BATCH))
        done, reached = await self._relate_knowledge(probe, ids)
        if done:
            await self._keep(reached, (history, ids[done - 1], proposal))
        elif not ids:
            await self._keep([], (history, _DONE, proposal))
        return done > 0

    async def _relate_knowledge(
        self, probe: Meaning, ids: Sequence[int]
    ) -> tuple[int, list[tuple[list[int], list[FoundRelation]]]]:
        """Relate items until one has no vector yet; return how many, and what was found."""
        vectors = await asyncio.to_thread(probe.vectors, ids)
        items = await self._database.read(lambda c: knowledge_rows.get_many(c, ids))
        found: list[tuple[list[int], list[FoundRelation]]] = []
        for item_id in ids:
            item = items.get(item_id)
            if item is not None:
                if item_id not in vectors:
                    break
                near = await self._near(
                    probe, vectors[item_id], item.content, item.scope, item.uuid
                )
                found.append(([item_id], _found(_entry_of(item), near)))
            else:
                found.append(([], []))
        return len(found), found

    async def _relate_statements(self, probe: Meaning, stamp: tuple[int, int, int]) -> bool:
        history, knowledge, proposal = stamp
        new = await self._database.read(
            lambda c: proposals.statements(c, (), after_id=proposal, limit=BATCH)
        )
        if not new:
            return False
        vectors = await self._likeness.vectors([each.text for each in new])
        if not vectors:
            return False
        found: list[tuple[list[int], list[FoundRelation]]] = []
        for each in new:
            near = await self._near(
                probe, vectors[each.text], each.text, each.scope, each.knowledge_uuid
            )
            # A turn may state several things: what was found of one does not replace another's.
            found.append(([], _found(_entry_of_statement(each), near)))
        await self._keep(found, (history, knowledge, new[-1].proposal_id))
        return True

    async def _near(
        self,
        probe: Meaning,
        vector: "NDArray[np.float32]",
        text: str,
        scope: str,
        own_uuid: str,
    ) -> list[_Neighbour]:
        """Return the knowledge and the statements that are near in meaning and hold here too.

        Args:
            probe: Gives access to the vectors.
            vector: Of what is asked about.
            text: What it says.
            scope: Where it holds.
            own_uuid: The knowledge that it is, or became; empty for none.
        """
        meaning = probe.asking(vector)
        items = await self._database.read(functools.partial(_near_items, meaning, scope))
        near = [
            _Neighbour(_entry_of(item), cosine) for item, cosine in items if item.uuid != own_uuid
        ]
        scopes = () if scope == GLOBAL_SCOPE else (scope, GLOBAL_SCOPE)
        stated = await self._database.read(lambda c: proposals.statements(c, scopes))
        stated = [
            each
            for each in stated
            # What was accepted is knowledge, and compared as such.
            if each.decision in (Decision.PROPOSED, Decision.MERGED)
            and not (own_uuid and each.knowledge_uuid == own_uuid)
        ]
        listed = await asyncio.to_thread(self._likeness.shortlist, text, stated)
        vectors = await self._likeness.vectors([each.text for each, _ in listed])
        for each, _ in listed:
            if each.text != text and vectors:
                cosine = float(vectors[each.text] @ vector)
                if cosine >= LEAST_SIMILARITY:
                    near.append(_Neighbour(_entry_of_statement(each), cosine))
        return near

    async def _keep(
        self,
        found: Iterable[tuple[list[int], list[FoundRelation]]],
        stamp: tuple[int, int, int],
    ) -> None:
        now = datetime.now(UTC)

        def work(connection: Connection) -> None:
            for entry_ids, its in found:
                relations.replace_found(connection, entry_ids, its, now)
            relations.set_stamp(connection, stamp)

        await self._database.write(work)
        changed = {end for _, its in found for each in its for end in (each.from_id, each.to_id)}
        if changed:
            self._feed.publish(Change(Noun.PROPOSAL, ()))


def _near_items(
    meaning: Meaning, scope: str, connection: Connection
) -> list[tuple[KnowledgeItem, float]]:
    scopes = () if scope == GLOBAL_SCOPE else (scope, GLOBAL_SCOPE)
    filters = fulltext.Filters(nouns=(Noun.KNOWLEDGE,), scopes=scopes)
    count = NEAREST
    while True:
        ids = meaning.nearest(count)
        cosines = meaning.cosines(ids, [])
        near = [i for i in ids if cosines.get(i, 0.0) >= LEAST_SIMILARITY]
        if len(near) < len(ids) or len(ids) < count or count >= MOST_NEAREST:
            break
        count *= 8
    passing = fulltext.passing(connection, filters, near)
    chosen = [i for i in near if i in passing][:NEAREST]
    items = knowledge_rows.get_many(connection, chosen)
    return [(items[i], cosines[i]) for i in chosen if i in items]


def _found(entry: RelatedEntry, near: Sequence[_Neighbour]) -> list[FoundRelation]:
    """Return the strongest relations of an entry, one with each neighbour."""
    found = [
        relation
        for neighbour in near
        if (relation := relation_between(entry, neighbour.entry, neighbour.similarity))
    ]
    return sorted(found, key=lambda each: -each.strength)[:MOST_RELATIONS]


def _entry_of(item: KnowledgeItem) -> RelatedEntry:
    return RelatedEntry(item.id, item.category.value, item.title, item.content, item.created_at)


def _entry_of_statement(statement: proposals.Statement) -> RelatedEntry:
    return RelatedEntry(statement.turn_id, statement.kind, "", statement.text, statement.at)
