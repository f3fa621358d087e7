"""Tags of knowledge and conversations: which there are, and changing many of them at once.

A change is one transaction with a batch of its own in the history, so that it is undone as a whole.
The search index follows a few items at a time, so that who stores something does not wait; what is
not done when kmem ends is done after the next start.
"""

import asyncio
import functools
import json
import re
import uuid
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime

from kmem_desktop.domain.changes import Action, Noun, Origin
from kmem_desktop.domain.knowledge import TAG_COUNT, TAG_LENGTH, KnowledgeItem
from kmem_desktop.domain.library.reports import MOST_TAGGED, TAG_PAGE, Tagging, TagPage
from kmem_desktop.domain.sessions.conversations import SESSION_TAG_COUNT
from kmem_desktop.errors import InvalidInputError, NotFoundError
from kmem_desktop.events import Change, ChangeFeed
from kmem_desktop.services.sessions.redacting import SecretFilter
from kmem_desktop.services.validation import Problems
from kmem_desktop.store import history
from kmem_desktop.store import knowledge as knowledge_rows
from kmem_desktop.store.connection import Connection
from kmem_desktop.store.database import Database
from kmem_desktop.store.library import tags as tag_rows
from kmem_desktop.store.sessions import conversations as session_rows
from kmem_desktop.store.sessions import life as life_rows
from kmem_desktop.text import one_line

MOST_TAGS = 50
"""A call names at most so many tags."""
SLICE_S = 0.01
"""So long others wait at most while the index follows."""
INDEXED_AT_ONCE = 5
"""So few items are in the index before the change is told of."""

Tags = tuple[str, ...]
Chosen = tuple[list[KnowledgeItem], list[int]]

_CURSOR = re.compile(r"t(\d{1,9})")


class TagService:
    """What can be done with tags."""

    def __init__(self, database: Database, feed: ChangeFeed) -> None:
        """Work on `database`, and tell `feed` what changed."""
        self._database = database
        self._feed = feed
        self._indexing: asyncio.Task[None] | None = None
        self._is_due = False

    def start(self) -> None:
        """Begin to bring the index up to date with the tags, where it is not."""
        self._is_due = True
        if self._indexing is None or self._indexing.done():
            self._indexing = asyncio.ensure_future(self._index())

    async def settle(self) -> None:
        """Wait until the index has every tag."""
        self.start()
        if self._indexing is not None:
            await asyncio.shield(self._indexing)

    async def stop(self) -> None:
        """End the work in the background; the next start goes on with it."""
        if self._indexing is not None:
            self._indexing.cancel()
            await asyncio.gather(self._indexing, return_exceptions=True)

    async def _index(self) -> None:
        while self._is_due:
            self._is_due = False
            ids = await self._database.read(tag_rows.unindexed)
            left = tuple(ids)
            while left:
                work = functools.partial(tag_rows.index_some, ids=left, seconds=SLICE_S)
                left = left[await self._database.write(work) :]
                await asyncio.sleep(SLICE_S if left else 0)
            if ids:
                await self._database.write(_say_indexed)

    async def page(
        self, *, containing: str = "", limit: int = 100, cursor: str | None = None
    ) -> TagPage:
        """Return tags, those used most first.

        Raises:
            InvalidInputError: The limit or the cursor is none.
        """
        problems = Problems()
        low, high = TAG_PAGE
        if not low <= limit <= high:
            problems.add("limit", f"limit must be from {low} to {high} (it is {limit}).")
        found = _CURSOR.fullmatch(cursor or "t0")
        if found is None:
            problems.add("cursor", "cursor is not one that an earlier answer gave.")
        problems.raise_if_any()
        start = int(found[1]) if found else 0
        tags = await self._database.read(lambda c: tag_rows.counts(c, one_line(containing).lower()))
        shown = tuple(tags[start : start + limit])
        end = start + len(shown)
        return TagPage(shown, len(tags), f"t{end}" if end < len(tags) else None)

    async def rename(self, old: str, new: str, origin: Origin) -> Tagging:
        """Give a tag another name wherever it is used.

        Raises:
            InvalidInputError: The new name is no tag, or there is such a tag already.
            NotFoundError: Nothing has the old tag.
        """
        (before,), (after,) = _checked([old], "tags"), _checked([new], "to")

        def choose(connection: Connection) -> Chosen:
            if before != after and any(_with(connection, [after])):
                message = f"There is a tag {after!r} already."
                raise InvalidInputError(
                    message,
                    hint="To put both together, use merge.",
                    details={"errors": [{"field": "to", "message": message}]},
                )
            return _required(connection, [before])

        return await self._change(choose, lambda tags: _renamed(tags, (before,), after), origin)

    async def merge(self, tags: Sequence[str], into: str, origin: Origin) -> Tagging:
        """Put one tag in the place of several.

        Raises:
            InvalidInputError: A name is no tag.
            NotFoundError: Nothing has one of the tags.
        """
        before, (after,) = _checked(tags, "tags"), _checked([into], "to")
        return await self._change(
            lambda connection: _required(connection, before),
            lambda there: _renamed(there, before, after),
            origin,
        )

    async def delete(self, tags: Sequence[str], origin: Origin) -> Tagging:
        """Take tags from everything that has them.

        Raises:
            InvalidInputError: An item would be left without any tag; nothing was changed.
            NotFoundError: Nothing has one of the tags.
        """
        checked = _checked(tags, "tags")
        return await self._change(
            lambda connection: _required(connection, checked),
            lambda there: tuple(tag for tag in there if tag.lower() not in checked),
            origin,
        )

    async def add(self, tags: Sequence[str], ids: Sequence[str], origin: Origin) -> Tagging:
        """Put tags on items and conversations, given by their ids.

        Raises:
            InvalidInputError: A name is no tag, or something would have too many.
            NotFoundError: There is nothing with one of the ids.
        """
        secrets = SecretFilter(origin.name)
        checked = _checked(secrets.texts(tags), "tags")

        def choose(connection: Connection) -> Chosen:
            secrets.note(connection, datetime.now(UTC))
            return _named(connection, ids)

        return await self._change(
            choose, lambda there: tuple(dict.fromkeys((*there, *checked))), origin
        )

    async def remove(self, tags: Sequence[str], ids: Sequence[str], origin: Origin) -> Tagging:
        """Take tags from items and conversations, given by their ids.

        Raises:
            InvalidInputError: An item would be left without any tag; nothing was changed.
            NotFoundError: There is nothing with one of the ids.
        """
        checked = _checked(tags, "tags")
        return await self._change(
            lambda connection: _named(connection, ids),
            lambda there: tuple(tag for tag in there if tag.lower() not in checked),
            origin,
        )

    async def _change(
        self, choose: Callable[[Connection], Chosen], retag: Callable[[Tags], Tags], origin: Origin
    ) -> Tagging:
        batch = replace(origin, batch=str(uuid.uuid4()))
        now = datetime.now(UTC)

        def work(connection: Connection) -> tuple[list[int], list[int]]:
            items, sessions = choose(connection)
            changed = [(item, retag(item.tags)) for item in items]
            changed = [(item, tags) for item, tags in changed if tags != item.tags]
            _refuse_odd_counts(changed)
            for item, tags in changed:
                _retag_item(connection, item, tags, batch, now)
            if len(changed) > INDEXED_AT_ONCE:
                tag_rows.mark_unindexed(connection, is_unindexed=True)
            else:
                tag_rows.index_some(connection, [item.id for item, _ in changed], seconds=60.0)
            moved = [s for s in sessions if _retag_session(connection, s, retag, batch, now)]
            return [item.id for item, _ in changed], moved

        items, sessions = await self._database.write(work)
        if items:
            self._feed.publish(Change(Noun.KNOWLEDGE, tuple(items), batch))
            self.start()
        if sessions:
            self._feed.publish(Change(Noun.SESSION, tuple(sessions), batch))
        return Tagging(len(items), len(sessions), batch.batch if items or sessions else "")


def _renamed(tags: Tags, old: Tags, new: str) -> Tags:
    return tuple(dict.fromkeys(new if tag.lower() in old else tag for tag in tags))


def _with(connection: Connection, tags: Sequence[str]) -> Chosen:
    return tag_rows.items_with(connection, tags), tag_rows.sessions_with(connection, tags)


def _required(connection: Connection, tags: Sequence[str]) -> Chosen:
    there = {count.name for count in tag_rows.counts(connection)}
    missing = [tag for tag in tags if tag not in there]
    if missing:
        raise NotFoundError(
            f"Nothing has the tag {missing[0]!r}.",
            hint="The action list tells which tags there are.",
            details={"tags": missing},
        )
    return _with(connection, tags)


def _named(connection: Connection, ids: Sequence[str]) -> Chosen:
    problems = Problems()
    if not 1 <= len(ids) <= MOST_TAGGED:
        problems.add("ids", f"ids must have 1 to {MOST_TAGGED:,} entries (it has {len(ids)}).")
    problems.raise_if_any()
    items: list[KnowledgeItem] = []
    sessions: list[int] = []
    for name in dict.fromkeys(str(each).strip().lower() for each in ids):
        item = _item(connection, name)
        session = None if item else session_rows.find(connection, name)
        if item is not None:
            items.append(item)
        elif session is not None:
            sessions.append(session.id)
        else:
            raise NotFoundError(
                f"There is no item and no session {name[:80]!r}.", details={"id": name[:80]}
            )
    return items, sessions


def _item(connection: Connection, name: str) -> KnowledgeItem | None:
    if name.isdecimal() and len(name) <= 18:
        return knowledge_rows.get(connection, int(name))
    return knowledge_rows.get_by_uuid(connection, name)


def _refuse_odd_counts(changed: Sequence[tuple[KnowledgeItem, Tags]]) -> None:
    low, high = TAG_COUNT
    bare = [item for item, tags in changed if len(tags) < low]
    full = [item for item, tags in changed if len(tags) > high]
    problems = Problems()
    if bare:
        problems.add(
            "tags",
            f"{_so_many(bare)} would be left without any tag, such as “{bare[0].title}”."
            " Rename or merge the tag, or add another one first.",
        )
    if full:
        problems.add(
            "tags",
            f"{_so_many(full)} would have more than {high} tags, such as “{full[0].title}”.",
        )
    problems.raise_if_any()


def _so_many(items: Sequence[KnowledgeItem]) -> str:
    return "1 item" if len(items) == 1 else f"{len(items)} items"


def _say_indexed(connection: Connection) -> None:
    if not tag_rows.unindexed(connection):
        tag_rows.mark_unindexed(connection, is_unindexed=False)


def _retag_item(
    connection: Connection, old: KnowledgeItem, tags: Tags, origin: Origin, now: datetime
) -> None:
    tag_rows.retag(connection, old.id, tags, now)
    before = knowledge_rows.to_json(old)
    record = history.Record(Action.UPDATED, Noun.KNOWLEDGE, old.uuid, old.id, old.title, before)
    history.add(connection, record, origin, now)


def _retag_session(
    connection: Connection,
    session_id: int,
    retag: Callable[[Tags], Tags],
    origin: Origin,
    now: datetime,
) -> bool:
    session_uuid, title, tags = tag_rows.session_facts(connection, session_id)
    changed = retag(tags)
    if changed == tags:
        return False
    if len(changed) > SESSION_TAG_COUNT:
        problems = Problems()
        most = SESSION_TAG_COUNT
        problems.add("tags", f"The session “{title}” would have more than {most} tags.")
        problems.raise_if_any()
    before = life_rows.values(connection, session_id)
    life_rows.set_values(connection, session_id, {"tags": json.dumps(changed, ensure_ascii=False)})
    record = history.Record(Action.UPDATED, Noun.SESSION, session_uuid, session_id, title, before)
    history.add(connection, record, origin, now)
    return True


def _checked(tags: Sequence[str], field: str) -> Tags:
    """Return tags as they are stored.

    Raises:
        InvalidInputError: One of them is none.
    """
    tidy = tuple(dict.fromkeys(one_line(tag).lower() for tag in tags))
    problems = Problems()
    if not 1 <= len(tidy) <= MOST_TAGS:
        problems.add(field, f"{field} must name 1 to {MOST_TAGS} tags.")
    if any(not tag for tag in tidy):
        problems.add(field, f"{field} must not be empty.")
    if any(len(tag) > TAG_LENGTH for tag in tidy):
        problems.add(field, f"Each of {field} must be at most {TAG_LENGTH} characters.")
    problems.raise_if_any()
    return tidy
