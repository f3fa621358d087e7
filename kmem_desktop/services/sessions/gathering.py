"""Knowledge is gathered from conversations in the background, and proposed to the person.

A conversation that rests is looked through, the newest first and a slice at a time: what may be
knowledge is taken from the turns that are new in it, compared with what was proposed before and
with what is known, and what is left waits in the inbox. Each slice is one transaction with the mark
of how far it went: a crash costs nothing. Four fifths of the time nothing is done, so that
thousands of imported conversations do not take the computer over.
"""

import asyncio
import contextlib
import functools
import logging
import re
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any

from kmem_desktop.domain.changes import Noun
from kmem_desktop.domain.knowledge import GLOBAL_SCOPE, QUERY_LENGTH, KnowledgeDraft, KnowledgeQuery
from kmem_desktop.domain.sessions.conversations import Candidate, EntryRelation, SpokenTurn
from kmem_desktop.domain.sessions.inbox import FULL, Decision, InboxState
from kmem_desktop.errors import InvalidInputError, KmemError, ProviderError
from kmem_desktop.events import Change, ChangeFeed
from kmem_desktop.platforms.priority import step_back
from kmem_desktop.services import found
from kmem_desktop.services.background import BackgroundTask
from kmem_desktop.services.embedding import EmbeddingService
from kmem_desktop.services.knowledge import filters_of
from kmem_desktop.services.sessions.likeness import Likeness
from kmem_desktop.services.validation import checked_draft, scope_problem
from kmem_desktop.sessions.candidates import SAME_WORDS, candidates, same_words
from kmem_desktop.sessions.relations import RelatedEntry, relation_between
from kmem_desktop.sessions.salience import outline
from kmem_desktop.store import knowledge as knowledge_rows
from kmem_desktop.store.connection import Connection
from kmem_desktop.store.database import Database
from kmem_desktop.store.sessions import proposals
from kmem_desktop.text import normalise_content

log = logging.getLogger(__name__)

REST = timedelta(minutes=5)
"""Nothing is taken from a conversation that goes on."""
RECENT = timedelta(days=14)
"""While the inbox is full, only what was said since then is looked through."""
START_AFTER_S = 20.0
SLICE_TURNS = 400
CONTEXT_TURNS = 20
"""So many turns before the new ones are read too: they tell what the new ones take back."""
IDLE_SHARE = 4.0
LEAST_PAUSE_S = 0.1
TELL_EVERY_S = 5.0

SAYS_THE_SAME = 0.9
"""Cosine from which something was proposed before, in other words."""
KNOWN = 0.97
"""Cosine from which something is known already."""
LIKE = 0.75
"""Cosine from which knowledge is shown beside what is proposed."""
_LIKE_IN_WORDS = 0.4
_KNOWN_IN_WORDS = 0.95
_NEIGHBOURS = 5

_NEWS = (EntryRelation.SUPERSEDES, EntryRelation.CONTRADICTS)
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class _Fresh:
    """What is to be proposed: the candidate, and the knowledge that is like it."""

    candidate: Candidate
    like: tuple[str, float]


@dataclass(frozen=True, slots=True)
class _Known:
    """Knowledge beside a candidate: how near it is in meaning, and in words."""

    uuid: str
    content: str
    cosine: float
    words: float

    @property
    def likeness(self) -> float:
        return round(min(1.0, max(self.cosine, self.words)), 3)

    def says(self, candidate: Candidate) -> bool:
        """Return whether it says what the candidate says."""
        is_same = self.cosine >= KNOWN or self.words >= _KNOWN_IN_WORDS
        return is_same and not _takes_back(candidate, self.content)


class Gathering:
    """Looks conversations through, in the background or step by step."""

    def __init__(self, database: Database, feed: ChangeFeed, embedding: EmbeddingService) -> None:
        """Read and write `database`, hear of turns and tell of proposals by `feed`."""
        self._database = database
        self._feed = feed
        self._embedding = embedding
        self._likeness = Likeness(embedding)
        self._reading = ThreadPoolExecutor(
            1, thread_name_prefix="kmem-inbox", initializer=step_back
        )
        self._told_at = 0.0
        self._news = asyncio.Event()
        self._news.set()
        self._work = BackgroundTask()

    def start(self) -> None:
        """Begin to work in the background."""
        self._work.begin(self._run(), forget=self._feed.subscribe(self._on_change))

    async def stop(self) -> None:
        """End the work; what is not done is done after the next start."""
        await self._work.end()
        shut_down = functools.partial(self._reading.shutdown, cancel_futures=True)
        await asyncio.get_running_loop().run_in_executor(None, shut_down)

    def _on_change(self, change: Change) -> None:
        # A decision makes room in a full inbox; what this service tells itself has no origin.
        is_decision = change.noun is Noun.PROPOSAL and change.origin is not None
        if change.noun in (Noun.TURN, Noun.SESSION) or is_decision:
            self._news.set()

    async def _run(self) -> None:
        await asyncio.sleep(START_AFTER_S)
        while True:
            try:
                await self._until_nothing_is_left()
            except KmemError as error:
                log.info("Conversations wait to be looked through: %s", error.message)
                await asyncio.sleep(REST.total_seconds())
            except Exception:
                log.exception("Conversations could not be looked through")
                return
            # Between two conversations the memory rests too: it is not asked every minute.
            await self._news.wait()
            self._news.clear()
            await asyncio.sleep(REST.total_seconds() + 1)

    async def _until_nothing_is_left(self) -> None:
        while True:
            began = time.monotonic()
            if not await self.look_through():
                return
            took_s = time.monotonic() - began
            await asyncio.sleep(max(LEAST_PAUSE_S, took_s * IDLE_SHARE))

    async def state(self, now: datetime | None = None) -> InboxState:
        """Return how many proposals wait, and how many conversations are still to be read."""
        rested_since = (now or datetime.now(UTC)) - REST

        def work(connection: Connection) -> InboxState:
            waiting = proposals.count_open(connection)
            after = self._after(waiting, rested_since)
            left = proposals.count_unread(connection, rested_since, after)
            return InboxState(waiting, left, waiting >= FULL)

        return await self._database.read(work)

    @staticmethod
    def _after(waiting: int, rested_since: datetime) -> datetime | None:
        return rested_since - RECENT if waiting >= FULL else None

    async def look_through(self, now: datetime | None = None) -> bool:
        """Look one slice of one conversation through; return False where none was left.

        Args:
            now: The time; None for the computer's.
        """
        at = now or datetime.now(UTC)
        rested_since = at - REST

        def next_slice(
            connection: Connection,
        ) -> tuple[proposals.Unread, list[SpokenTurn]] | None:
            after = self._after(proposals.count_open(connection), rested_since)
            session = proposals.unread(connection, rested_since, after)
            if session is None:
                return None
            first = max(0, min(session.looked_through, session.entry_count) - CONTEXT_TURNS)
            count = SLICE_TURNS + CONTEXT_TURNS
            return session, proposals.some_turns(connection, session.id, first, count)

        piece = await self._database.read(next_slice)
        if piece is None:
            if self._told_at:
                self._told_at = 0.0
                self._feed.publish(Change(Noun.PROPOSAL))
            return False
        session, turns = piece
        if scope_problem(session.scope):
            session = replace(session, scope=GLOBAL_SCOPE)
        fresh, repeats = await self._fresh(session, turns)
        is_last = len(turns) < SLICE_TURNS + CONTEXT_TURNS
        reached = session.entry_count if is_last else turns[-1].position + 1

        def keep(connection: Connection) -> list[int]:
            proposals.note_looked_through(connection, session.id, reached)
            for proposal_id, position in repeats:
                proposals.add_position(connection, proposal_id, position)
            added = [proposals.add(connection, session, f.candidate, f.like, at) for f in fresh]
            return [number for number in added if number is not None]

        added = await self._database.write(keep)
        # Whoever shows how far it is need not be told of each of thousands of conversations.
        if added or time.monotonic() - self._told_at >= TELL_EVERY_S:
            self._told_at = time.monotonic()
            self._feed.publish(Change(Noun.PROPOSAL, tuple(added)))
        return True

    async def _fresh(
        self, session: proposals.Unread, turns: list[SpokenTurn]
    ) -> tuple[list[_Fresh], list[tuple[int, int]]]:
        """Return what is to be proposed, and which proposals were said again, and where."""
        new = await self._on_own_thread(_candidates_after, turns, session.looked_through)
        new = [each for each in new if is_storable(each, session.scope)]
        if not new:
            return [], []
        earlier = await self._database.read(
            lambda c: proposals.statements(c, (session.scope, GLOBAL_SCOPE))
        )
        fresh: list[_Fresh] = []
        repeats: list[tuple[int, int]] = []
        for candidate in new:
            same = await self._said_before(candidate, earlier)
            if same is None:
                like = await self._like(candidate, session.scope)
                if like is not None:
                    fresh.append(_Fresh(candidate, like))
            elif same.session_id == session.id and same.decision is Decision.PROPOSED:
                repeats.append((same.proposal_id, candidate.position))
        return fresh, repeats

    async def _said_before(
        self, candidate: Candidate, earlier: list[proposals.Statement]
    ) -> proposals.Statement | None:
        """Return what was proposed before and says the same, whatever became of it."""
        near: list[tuple[proposals.Statement, float]] = await self._on_own_thread(
            self._likeness.shortlist, candidate.content, earlier
        )
        near = [each for each in near if not _takes_back(candidate, each[0].text)]
        for statement, share in near:
            if share >= SAME_WORDS:
                return statement
        vectors = await self._vectors([candidate.content, *(s.text for s, _ in near)])
        if vectors:
            ours = vectors[candidate.content]
            for statement, _ in near:
                if float(ours @ vectors[statement.text]) >= SAYS_THE_SAME:
                    return statement
        return None

    async def _like(self, candidate: Candidate, scope: str) -> tuple[str, float] | None:
        """Return the knowledge that is most like a candidate; None where it says it already."""
        words = " ".join(_WORD.findall(candidate.content))[: QUERY_LENGTH[1]]
        meaning = await self._embedding.meaning_of(candidate.content)
        query = KnowledgeQuery(words, scope=scope, limit=_NEIGHBOURS, explain=False)

        def near(connection: Connection) -> tuple[bool, list[_Known]]:
            content = normalise_content(candidate.content)
            is_there = knowledge_rows.has_content(connection, content, scope)
            hits = found.knowledge(connection, query, filters_of(query), meaning).hits
            return is_there, [
                _Known(
                    hit.item.uuid,
                    hit.item.content,
                    hit.explanation.cosine or 0.0,
                    same_words(candidate.content, hit.item.content),
                )
                for hit in hits
            ]

        is_there, known = await self._database.read(near)
        if is_there or any(each.says(candidate) for each in known):
            return None
        like = [each for each in known if each.cosine >= LIKE or each.words >= _LIKE_IN_WORDS]
        nearest = max(like, key=lambda each: each.likeness, default=None)
        return (nearest.uuid, nearest.likeness) if nearest else ("", 0.0)

    async def _vectors(self, texts: list[str]) -> dict[str, Any]:
        with contextlib.suppress(ProviderError):  # words alone will do
            return await self._likeness.vectors(texts)
        return {}

    async def _on_own_thread(self, work: Callable[..., Any], *arguments: object) -> Any:
        return await asyncio.get_running_loop().run_in_executor(self._reading, work, *arguments)


def _candidates_after(turns: list[SpokenTurn], position: int) -> list[Candidate]:
    return [each for each in candidates(outline(turns)) if each.position >= position]


def _takes_back(candidate: Candidate, earlier: str) -> bool:
    """Return whether a candidate replaces or contradicts what it is so like: then it is news."""
    began = datetime.min.replace(tzinfo=UTC)
    one = RelatedEntry(1, candidate.category, "", earlier, began)
    other = RelatedEntry(2, candidate.category, "", candidate.content, began + timedelta(days=1))
    relation = relation_between(one, other, 1.0)
    return relation is not None and relation.relation in _NEWS


def is_storable(candidate: Candidate, scope: str) -> bool:
    """Return whether a candidate could be accepted as it is: else it would only annoy."""
    draft = KnowledgeDraft(
        title=candidate.title,
        content=candidate.content,
        tags=(candidate.category,),
        scope=scope,
        category=candidate.category,
    )
    try:
        checked_draft(draft)
    except InvalidInputError:
        return False
    return True
