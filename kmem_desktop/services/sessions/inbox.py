"""The inbox: a person decides what is kept of what was gathered from conversations.

Nothing that waits here is knowledge yet, and no assistant is served it. Each decision is one
transaction, and the last ones can be taken back, one after the other.
"""

import asyncio
import contextlib
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import TypeVar

from kmem_desktop.domain.changes import Noun, Origin
from kmem_desktop.domain.knowledge import (
    GLOBAL_SCOPE,
    TAG_COUNT,
    TAG_LENGTH,
    KnowledgeDraft,
    KnowledgeItem,
)
from kmem_desktop.domain.sessions.conversations import EntryRelation, SpokenTurn
from kmem_desktop.domain.sessions.inbox import (
    PROPOSAL_PAGE,
    BulkDecision,
    Decision,
    InboxState,
    Proposal,
    TakenBack,
)
from kmem_desktop.errors import DuplicateError, InvalidInputError, NotFoundError, ProviderError
from kmem_desktop.events import Change, ChangeFeed
from kmem_desktop.services import history as history_service
from kmem_desktop.services.embedding import EmbeddingService
from kmem_desktop.services.knowledge import add_item, change_item, require_item
from kmem_desktop.services.sessions.gathering import Gathering
from kmem_desktop.services.sessions.likeness import Likeness
from kmem_desktop.services.sessions.redacting import SecretFilter
from kmem_desktop.services.validation import Problems, checked_draft
from kmem_desktop.store import history as history_rows
from kmem_desktop.store import knowledge as knowledge_rows
from kmem_desktop.store.connection import Connection
from kmem_desktop.store.database import Database
from kmem_desktop.store.sessions import proposals, relations
from kmem_desktop.text import one_line

TURNS_AROUND = 2
"""So many turns before and after the one a proposal stands in are shown with it."""
PREFERENCE_PRIORITY = 6
_UUID_LENGTH = 36
_FITS = 0.4
"""Cosine from which a proposal answers a question."""

T = TypeVar("T")


class InboxService:
    """What can be done with what waits for a person's decision."""

    def __init__(
        self,
        database: Database,
        feed: ChangeFeed,
        embedding: EmbeddingService,
        hands_out: Callable[[], bool] = lambda: False,
    ) -> None:
        """Work on `database`, tell `feed` what changed, compare meaning by `embedding`.

        `hands_out` tells whether the person lets assistants have what waits.
        """
        self._hands_out = hands_out
        self._likeness = Likeness(embedding)
        self._database = database
        self._feed = feed
        self._gathering = Gathering(database, feed, embedding)

    def start(self) -> None:
        """Begin to look conversations through in the background."""
        self._gathering.start()

    async def stop(self) -> None:
        """End that."""
        await self._gathering.stop()

    async def look_through(self, now: datetime | None = None) -> bool:
        """Look a part of one conversation through; return False where nothing was left.

        Args:
            now: The time, by which it is told which conversations rest; None for the computer's.
        """
        return await self._gathering.look_through(now)

    async def state(self, now: datetime | None = None) -> InboxState:
        """Return how many proposals wait, and how much is still to be looked through."""
        return await self._gathering.state(now)

    async def count(self) -> int:
        """Return how many proposals wait for a decision."""
        return await self._database.read(proposals.count_open)

    async def page(
        self, *, after: tuple[float, int] | None = None, limit: int = 100
    ) -> list[Proposal]:
        """Return what waits, the surest first.

        Args:
            after: The `place` of the last proposal of the page before; None for the first page.
            limit: 1 to 500.

        Raises:
            InvalidInputError: The limit is out of its limits.
        """
        problems = Problems()
        low, high = PROPOSAL_PAGE
        if not low <= limit <= high:
            problems.add("limit", f"limit must be from {low} to {high} (it is {limit}).")
        problems.raise_if_any()
        return await self._database.read(lambda c: proposals.open_page(c, after, limit))

    async def get(self, uuid: str) -> Proposal:
        """Return one proposal, whatever became of it.

        Raises:
            NotFoundError: There is none with this id.
        """
        return await self._database.read(lambda c: _require(c, uuid))

    async def source(self, uuid: str) -> list[SpokenTurn]:
        """Return the turn that a proposal stands in, with those around it.

        Raises:
            NotFoundError: There is no such proposal.
        """

        def work(connection: Connection) -> list[SpokenTurn]:
            one = _require(connection, uuid)
            return proposals.turns_around(connection, one.session_uuid, one.position, TURNS_AROUND)

        return await self._database.read(work)

    async def draft(self, uuid: str) -> KnowledgeDraft:
        """Return what accepting a proposal would store, to be edited before.

        Raises:
            NotFoundError: There is no such proposal.
        """
        return await self._database.read(lambda c: _draft(c, _require(c, uuid)))

    async def handed_out(self, question: str, *, limit: int = 3) -> list[Proposal]:
        """Return what waits and fits a question, for an assistant: nothing unless that is allowed.

        What is returned is to be marked as proposed: no person has agreed to it.

        Args:
            question: What the assistant asked for.
            limit: At most so many.
        """
        if not self._hands_out():
            return []
        stated = await self._database.read(lambda c: proposals.statements(c, ()))
        waiting = [each for each in stated if each.decision is Decision.PROPOSED]
        near = await asyncio.to_thread(self._likeness.shortlist, question, waiting, words_needed=1)
        vectors = {}
        with contextlib.suppress(ProviderError):  # words alone will do
            vectors = await self._likeness.vectors([question, *(each.text for each, _ in near)])
        if vectors:
            asked = vectors[question]
            near = [(each, float(vectors[each.text] @ asked)) for each, _ in near]
            near = sorted((n for n in near if n[1] >= _FITS), key=lambda n: -n[1])
        return [await self.get(each.uuid) for each, _ in near[:limit]]

    async def accept(
        self, uuid: str, origin: Origin, *, edited: KnowledgeDraft | None = None
    ) -> KnowledgeItem:
        """Make knowledge of a proposal; it links to the turn it was said in.

        Args:
            uuid: The proposal.
            origin: Who decides.
            edited: What is to be stored instead of what was proposed.

        Raises:
            NotFoundError: There is no such proposal.
            InvalidInputError: It was decided already, or a field is out of its limits.
            DuplicateError: The scope already has this title or this content.
        """

        def work(connection: Connection, now: datetime) -> KnowledgeItem:
            return _accept(connection, _require_open(connection, uuid), edited, origin, now)

        item = await self._decided(work)
        self._publish(item, origin)
        return item

    async def merge(self, uuid: str, origin: Origin, into_uuid: str | None = None) -> KnowledgeItem:
        """Add what a proposal says to knowledge that is there; its tags and title stay.

        Args:
            uuid: The proposal.
            origin: Who decides.
            into_uuid: The knowledge; None for what is most like the proposal.

        Raises:
            NotFoundError: There is no such proposal, or no such knowledge.
            InvalidInputError: It was decided already, nothing is like it, or the text got too long.
        """

        def work(connection: Connection, now: datetime) -> KnowledgeItem:
            proposal = _require_open(connection, uuid)
            target = into_uuid or proposal.like_uuid
            if not target:
                raise InvalidInputError(
                    "Nothing that is known is like this.", hint="Accept it, or name what to add to."
                )
            return _merge(connection, proposal, require_item(connection, target), origin, now)

        item = await self._decided(work)
        self._publish(item, origin)
        return item

    async def drop(self, uuid: str, origin: Origin) -> None:
        """Let a proposal go; the same is not proposed again.

        Raises:
            NotFoundError: There is no such proposal.
            InvalidInputError: It was decided already.
        """

        def work(connection: Connection, now: datetime) -> None:
            proposal = _require_open(connection, uuid)
            proposals.decide(connection, proposal.id, Decision.DROPPED, "", now)

        await self._decided(work)
        self._publish(None, origin)

    async def accept_session(self, session_uuid: str, origin: Origin) -> BulkDecision:
        """Accept everything that waits of one conversation, in one step.

        What the scope has already, or what cannot be stored, waits on.
        """

        def work(connection: Connection, now: datetime) -> BulkDecision:
            left: list[tuple[str, str]] = []
            waiting = proposals.open_of_session(connection, session_uuid)
            for proposal in waiting:
                try:
                    _accept(connection, proposal, None, origin, now)
                except (DuplicateError, InvalidInputError) as error:
                    left.append((proposal.title, error.message))
            return BulkDecision(len(waiting) - len(left), tuple(left))

        outcome = await self._decided(work)
        self._feed.publish(Change(Noun.KNOWLEDGE, (), origin))
        self._publish(None, origin)
        return outcome

    async def drop_session(self, session_uuid: str, origin: Origin) -> BulkDecision:
        """Drop everything that waits of one conversation, in one step."""

        def work(connection: Connection, now: datetime) -> BulkDecision:
            waiting = proposals.open_of_session(connection, session_uuid)
            for proposal in waiting:
                proposals.decide(connection, proposal.id, Decision.DROPPED, "", now)
            return BulkDecision(len(waiting))

        outcome = await self._decided(work)
        self._publish(None, origin)
        return outcome

    async def take_back(self, uuid: str | None, origin: Origin) -> TakenBack:
        """Undo a decision, and what it did to the knowledge.

        Args:
            uuid: The proposal; None for what was decided last, as a whole.
            origin: Who asks.

        Raises:
            NotFoundError: Nothing was decided.
            InvalidInputError: The knowledge was changed since; nothing was undone.
        """

        def work(connection: Connection, now: datetime) -> TakenBack:
            decided = [_require(connection, uuid)] if uuid else proposals.last_decided(connection)
            decided = [each for each in decided if each.decision is not Decision.PROPOSED]
            if not decided:
                raise NotFoundError("There is no decision to take back.")
            for proposal in reversed(decided):
                _take_back(connection, proposal, origin, now)
            first = decided[0]
            return TakenBack(tuple(each.uuid for each in decided), first.decision, first.title)

        outcome = await self._decided(work)
        if outcome.decision is not Decision.DROPPED:
            self._feed.publish(Change(Noun.KNOWLEDGE, (), origin))
        self._publish(None, origin)
        return outcome

    async def _decided(self, work: Callable[[Connection, datetime], T]) -> T:
        def at_its_time(connection: Connection) -> T:
            now = datetime.now(UTC)
            last = proposals.last_decision(connection)
            if last is not None and now <= last:  # one time for each step, whatever the clock says
                now = last + timedelta(microseconds=1)
            return work(connection, now)

        return await self._database.write(at_its_time)

    def _publish(self, item: KnowledgeItem | None, origin: Origin) -> None:
        if item is not None:
            self._feed.publish(Change(Noun.KNOWLEDGE, (item.id,), origin))
        self._feed.publish(Change(Noun.PROPOSAL, (), origin))


def _require(connection: Connection, uuid: str) -> Proposal:
    found = proposals.get(connection, uuid.strip().lower())
    if found is None:
        shown = uuid[:_UUID_LENGTH]
        raise NotFoundError(f"Nothing of this id was proposed: {shown}", details={"id": shown})
    return found


def _require_open(connection: Connection, uuid: str) -> Proposal:
    found = _require(connection, uuid)
    if found.decision is not Decision.PROPOSED:
        raise InvalidInputError(f"This was {found.decision} already.", hint="Take that back first.")
    return found


def _draft(connection: Connection, proposal: Proposal) -> KnowledgeDraft:
    tags = [
        one_line(tag).lower() for tag in proposals.session_tags(connection, proposal.session_uuid)
    ]
    if proposal.scope != GLOBAL_SCOPE:
        tags.append(one_line(proposal.scope.partition(":")[2]))
    tags = [tag for tag in dict.fromkeys(tags) if 0 < len(tag) <= TAG_LENGTH][: TAG_COUNT[1]]
    is_preference = proposal.category == "guideline"
    return KnowledgeDraft(
        title=proposal.title,
        content=proposal.content,
        tags=tuple(tags) or (proposal.category.value,),
        scope=proposal.scope,
        category=proposal.category,
        priority=PREFERENCE_PRIORITY if is_preference else 5,
        source=f"session {proposal.session_uuid}, turn {proposal.position + 1}",
    )


def _accept(
    connection: Connection,
    proposal: Proposal,
    edited: KnowledgeDraft | None,
    origin: Origin,
    now: datetime,
) -> KnowledgeItem:
    proposed = _draft(connection, proposal)
    secrets = SecretFilter(origin.name)
    wanted = replace(edited, source=proposed.source) if edited is not None else proposed
    item = add_item(connection, checked_draft(secrets.draft(wanted)), origin, now)
    secrets.note(connection, now)
    _link(connection, item, proposal, now)
    proposals.decide(connection, proposal.id, Decision.ACCEPTED, item.uuid, now)
    return item


def _merge(
    connection: Connection,
    proposal: Proposal,
    known: KnowledgeItem,
    origin: Origin,
    now: datetime,
) -> KnowledgeItem:
    item = known
    if one_line(proposal.content) not in one_line(known.content):
        content = f"{known.content}\n\n{proposal.content}"
        # What was saved out of a conversation may have no tags, and is to have some once changed.
        changes = {"content": content, "tags": known.tags or _draft(connection, proposal).tags}
        item = change_item(connection, known, changes, origin, now)
    _link(connection, item, proposal, now)
    proposals.decide(connection, proposal.id, Decision.MERGED, item.uuid, now)
    return item


def _link(connection: Connection, item: KnowledgeItem, proposal: Proposal, now: datetime) -> None:
    turn_id = proposals.turn_id(connection, proposal.session_uuid, proposal.position)
    if turn_id is not None:
        relations.tell(connection, item.id, [turn_id], EntryRelation.REFERENCES, now)


def _take_back(connection: Connection, proposal: Proposal, origin: Origin, now: datetime) -> None:
    item = knowledge_rows.get_by_uuid(connection, proposal.knowledge_uuid)
    if item is not None:
        _undo(connection, proposal, item, origin, now)
    proposals.decide(connection, proposal.id, Decision.PROPOSED, "", now)


def _undo(
    connection: Connection,
    proposal: Proposal,
    item: KnowledgeItem,
    origin: Origin,
    now: datetime,
) -> None:
    """Undo what a decision did to knowledge, unless somebody changed that since."""
    changes = [e for e in history_rows.of_item(connection, item.uuid) if not e.undone]
    own = next((e for e in changes if e.at == proposal.decided_at), None)
    if own is not None:
        if changes[0].id != own.id:
            raise InvalidInputError(
                f"\u201c{item.title}\u201d was changed since.",
                hint="Change it, or delete it, among your knowledge.",
            )
        history_service.take_back(connection, own, origin, now)
    turn_id = proposals.turn_id(connection, proposal.session_uuid, proposal.position)
    if turn_id is not None and proposal.decision is Decision.MERGED:
        relations.untell(connection, item.id, turn_id)
