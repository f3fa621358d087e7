"""Knowledge: store, change, delete, get and search (seed 000)."""

import uuid
from collections.abc import Mapping
from dataclasses import asdict, replace
from datetime import UTC, datetime
from typing import Any

from kmem_desktop.domain.changes import Action, Noun, Origin
from kmem_desktop.domain.knowledge import (
    GLOBAL_SCOPE,
    Category,
    KnowledgeDraft,
    KnowledgeItem,
    KnowledgeQuery,
    KnowledgeResults,
)
from kmem_desktop.errors import DuplicateError, InvalidInputError, NotFoundError
from kmem_desktop.events import Change, ChangeFeed
from kmem_desktop.services import found
from kmem_desktop.services.embedding import EmbeddingService
from kmem_desktop.services.retrieval.reranking import MOST_MARKED, Marker, Reranker, reranked
from kmem_desktop.services.sessions.privacy import refuse_excluded
from kmem_desktop.services.sessions.redacting import SecretFilter
from kmem_desktop.services.validation import checked_draft, checked_query
from kmem_desktop.store import fulltext, history
from kmem_desktop.store import knowledge as knowledge_rows
from kmem_desktop.store.connection import Connection
from kmem_desktop.store.database import Database

LARGEST_ID = 2**63 - 1


class KnowledgeService:
    """What can be done with knowledge."""

    def __init__(
        self,
        database: Database,
        feed: ChangeFeed,
        embedding: EmbeddingService,
        marker: Marker | None = None,
    ) -> None:
        """Work on `database`, tell `feed` what changed, compare meaning by `embedding`.

        `marker` puts what is found in order, where a person chose a model for that.
        """
        self._reranker = Reranker(marker)
        self._database = database
        self._feed = feed
        self._embedding = embedding

    async def store(self, draft: KnowledgeDraft, origin: Origin) -> KnowledgeItem:
        """Check, normalise and store a draft; when this returns it is on the disk.

        Raises:
            InvalidInputError: A field is out of its limits, the text is too generic, or the
                project is excluded.
            DuplicateError: The scope already has this title or this content.
            StoreError: Nothing was stored.
        """
        secrets = SecretFilter(origin.name)
        tidy = checked_draft(secrets.draft(draft))
        now = datetime.now(UTC)

        def work(connection: Connection) -> KnowledgeItem:
            stored = add_item(connection, tidy, origin, now)
            secrets.note(connection, now)
            return stored

        stored = await self._database.write(work)
        self._feed.publish(Change(Noun.KNOWLEDGE, (stored.id,), origin))
        return stored

    async def update(
        self,
        item_id: int | str,
        changes: Mapping[str, Any],
        origin: Origin,
        *,
        expected: datetime | None = None,
    ) -> KnowledgeItem:
        """Change some fields of an item.

        Args:
            item_id: The integer id or the UUID.
            changes: Fields of `KnowledgeDraft` with their new values.
            origin: Who asks.
            expected: The `updated_at` that the asker has seen; None to change whatever is there.

        Raises:
            NotFoundError: There is no such item.
            InvalidInputError: A field is out of its limits, or the item changed meanwhile.
            DuplicateError: Another item of the scope already says this.
        """
        now = datetime.now(UTC)
        secrets = SecretFilter(origin.name)
        clean = {name: secrets.value(value) for name, value in changes.items()}

        def work(connection: Connection) -> KnowledgeItem:
            old = require_item(connection, item_id)
            if expected is not None and old.updated_at != expected:
                raise InvalidInputError(
                    f"Somebody else changed this at {old.updated_at:%H:%M} UTC.",
                    hint="Look at the new text, then change it again.",
                    details={"changedMeanwhile": True},
                )
            new = change_item(connection, old, clean, origin, now)
            secrets.note(connection, now)
            return new

        item = await self._database.write(work)
        self._feed.publish(Change(Noun.KNOWLEDGE, (item.id,), origin))
        return item

    async def delete(self, item_id: int | str, origin: Origin) -> tuple[KnowledgeItem, int]:
        """Take an item out of the memory; the history keeps it for undo.

        Returns:
            The item as it was, and the number of the change, for `HistoryService.undo`.

        Raises:
            NotFoundError: There is no such item.
        """
        now = datetime.now(UTC)

        def work(connection: Connection) -> tuple[KnowledgeItem, int]:
            old = require_item(connection, item_id)
            knowledge_rows.delete(connection, old.id)
            record = history.Record(
                Action.DELETED,
                Noun.KNOWLEDGE,
                old.uuid,
                old.id,
                old.title,
                knowledge_rows.to_json(old),
            )
            return old, history.add(connection, record, origin, now)

        item, change_id = await self._database.write(work)
        self._feed.publish(Change(Noun.KNOWLEDGE, (item.id,), origin))
        return item, change_id

    async def get(self, item_id: int | str) -> KnowledgeItem:
        """Return an item by its integer id or UUID.

        Raises:
            NotFoundError: There is no such item.
        """
        return await self._database.read(lambda connection: require_item(connection, item_id))

    async def scopes(self) -> list[str]:
        """Return every scope in use."""
        return await self._database.read(knowledge_rows.scopes)

    async def search(self, query: KnowledgeQuery) -> KnowledgeResults:
        """Find the knowledge that answers a question, best first.

        With a scope, items of that scope and global ones are searched.

        Raises:
            InvalidInputError: A field is out of its limits.
        """
        tidy = checked_query(query)
        filters = filters_of(tidy)
        meaning = await self._embedding.meaning_of(tidy.text)
        asked = tidy
        if self._reranker.is_on:
            asked = replace(tidy, limit=max(tidy.limit, MOST_MARKED))
        results = await self._database.read(
            lambda connection: found.knowledge(connection, asked, filters, meaning)
        )
        return await self._reranked(results, tidy) if self._reranker.is_on else results

    async def _reranked(self, results: KnowledgeResults, query: KnowledgeQuery) -> KnowledgeResults:
        ordered = await self._reranker.ordered(
            query.text,
            results.hits,
            lambda hit: hit.score,
            lambda hit: f"{hit.item.title}. {hit.item.content}",
        )
        hits = tuple(
            hit if mark is None else replace(hit, explanation=reranked(hit.explanation, mark))
            for hit, mark in ordered[: query.limit]
        )
        return replace(results, hits=hits)


def add_item(
    connection: Connection, tidy: KnowledgeDraft, origin: Origin, now: datetime
) -> KnowledgeItem:
    """Store a checked draft, with its history, within a transaction of the caller's.

    Raises:
        InvalidInputError: The project is excluded.
        DuplicateError: The scope already has this title or this content.
    """
    item = KnowledgeItem(
        id=0,
        uuid=str(uuid.uuid4()),
        title=tidy.title,
        content=tidy.content,
        tags=tidy.tags,
        scope=tidy.scope,
        category=Category(tidy.category),
        priority=tidy.priority,
        confidence=tidy.confidence,
        source=tidy.source,
        stored_by=origin.name,
        created_at=now,
        updated_at=now,
    )
    refuse_excluded(connection, scope=item.scope)
    _refuse_duplicate(connection, item)
    stored = knowledge_rows.insert(connection, item)
    record = history.Record(Action.CREATED, Noun.KNOWLEDGE, stored.uuid, stored.id, stored.title)
    history.add(connection, record, origin, now)
    return stored


def change_item(
    connection: Connection,
    old: KnowledgeItem,
    changes: Mapping[str, Any],
    origin: Origin,
    now: datetime,
) -> KnowledgeItem:
    """Change some fields of an item, with its history, within a transaction of the caller's.

    Raises:
        InvalidInputError: A field is out of its limits, or the project is excluded.
        DuplicateError: Another item of the scope already says this.
    """
    tidy = checked_draft(replace(_as_draft(old), **changes))
    new = replace(old, **{**asdict(tidy), "category": Category(tidy.category)}, updated_at=now)
    if replace(new, updated_at=old.updated_at) == old:
        return old
    refuse_excluded(connection, scope=new.scope)
    _refuse_duplicate(connection, new)
    knowledge_rows.replace(connection, new)
    before = knowledge_rows.to_json(old)
    record = history.Record(Action.UPDATED, Noun.KNOWLEDGE, new.uuid, new.id, new.title, before)
    history.add(connection, record, origin, now)
    return new


def filters_of(query: KnowledgeQuery) -> fulltext.Filters:
    """Return what the hits of a checked query must be."""
    return fulltext.Filters(
        nouns=(Noun.KNOWLEDGE,),
        scopes=(query.scope, GLOBAL_SCOPE) if query.scope else (),
        category=query.category,
        min_confidence=query.min_confidence,
    )


def _as_draft(item: KnowledgeItem) -> KnowledgeDraft:
    return KnowledgeDraft(
        title=item.title,
        content=item.content,
        tags=item.tags,
        scope=item.scope,
        category=item.category,
        priority=item.priority,
        confidence=item.confidence,
        source=item.source,
    )


def require_item(connection: Connection, item_id: int | str) -> KnowledgeItem:
    """Return an item by its integer id or UUID.

    Raises:
        NotFoundError: There is none.
    """
    item = None
    if isinstance(item_id, int) or item_id.isdecimal():
        number = int(item_id) if len(str(item_id)) <= len(str(LARGEST_ID)) else LARGEST_ID
        if 0 < number <= LARGEST_ID:
            item = knowledge_rows.get(connection, number)
    else:
        item = knowledge_rows.get_by_uuid(connection, item_id)
    if item is None:
        shown = str(item_id)[:80]
        raise NotFoundError(f"Knowledge item not found: {shown}", details={"id": shown})
    return item


def _refuse_duplicate(connection: Connection, item: KnowledgeItem) -> None:
    duplicate = knowledge_rows.find_duplicate(connection, item, except_id=item.id)
    if duplicate is None:
        return
    existing_id, kind = duplicate
    existing = require_item(connection, existing_id)
    like = "similar title" if kind == "title" else "identical content"
    raise DuplicateError(
        f"Knowledge with {like} already exists in this scope.",
        hint="Update the existing item, or choose another scope.",
        details={"existingId": existing_id, "entryId": existing.id, "duplicateType": kind},
    )
