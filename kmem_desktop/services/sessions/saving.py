"""Knowledge that is saved out of a conversation, in few words (seed 004, save_knowledge).

Seed 000 asks for a title, tags and fifty characters at least; seed 004 for a text and its type.
What is saved this way takes its title from its first words, and is found, shown and edited like any
other knowledge. Saved twice, it is there once.
"""

import uuid
from collections.abc import Sequence
from datetime import UTC, datetime

from kmem_desktop.domain.changes import Action, Noun, Origin
from kmem_desktop.domain.knowledge import (
    GLOBAL_SCOPE,
    TAG_COUNT,
    TAG_LENGTH,
    TITLE_LENGTH,
    Category,
    KnowledgeItem,
)
from kmem_desktop.domain.sessions.conversations import EntryRelation
from kmem_desktop.domain.sessions.recall import PRIORITIES, SAVED_LENGTH
from kmem_desktop.errors import NotFoundError
from kmem_desktop.events import Change, ChangeFeed
from kmem_desktop.services.sessions.exchanges import require_session
from kmem_desktop.services.sessions.privacy import refuse_excluded
from kmem_desktop.services.sessions.redacting import SecretFilter
from kmem_desktop.services.validation import Problems
from kmem_desktop.store import history
from kmem_desktop.store import knowledge as knowledge_rows
from kmem_desktop.store.connection import Connection
from kmem_desktop.store.database import Database
from kmem_desktop.store.sessions import relations
from kmem_desktop.text import normalise_content, one_line

MOST_RELATED = 50


class KnowledgeSaving:
    """Saves knowledge out of conversations."""

    def __init__(self, database: Database, feed: ChangeFeed) -> None:
        """Write to `database`, and tell `feed`."""
        self._database = database
        self._feed = feed

    async def save(
        self,
        content: str,
        category: Category,
        origin: Origin,
        *,
        tags: Sequence[str] = (),
        priority: str = "medium",
        session_uuid: str | None = None,
        related_to: Sequence[int] = (),
    ) -> KnowledgeItem:
        """Save a text; when this returns it is on the disk.

        Args:
            content: The text.
            category: What it is.
            origin: Who saves it.
            tags: Its tags.
            priority: low, medium, high or critical.
            session_uuid: The conversation it comes from; it gets its project's scope.
            related_to: Entries that it refers to.

        Raises:
            InvalidInputError: A field is out of its limits.
                The session or its project is excluded.
            NotFoundError: There is no such session, or no such entry; nothing was saved.
        """
        secrets = SecretFilter(origin.name)
        content, tags = secrets.text(content), secrets.texts(tags)
        _check(content, tags, related_to)
        now = datetime.now(UTC)

        def work(connection: Connection) -> tuple[KnowledgeItem, bool]:
            scope = GLOBAL_SCOPE
            if session_uuid is not None:
                session = require_session(connection, session_uuid)
                refuse_excluded(connection, scope=session.scope, session_ids=[session.uuid])
                scope = session.scope
            item = KnowledgeItem(
                id=0,
                uuid=str(uuid.uuid4()),
                title=_free_title(connection, content, scope),
                content=normalise_content(content),
                tags=tuple(dict.fromkeys(one_line(tag).lower() for tag in tags if tag.strip())),
                scope=scope,
                category=category,
                priority=PRIORITIES[priority],
                confidence=0.8,
                source=f"session {session_uuid}" if session_uuid else "conversation",
                stored_by=origin.name,
                created_at=now,
                updated_at=now,
            )
            known = knowledge_rows.find_duplicate(connection, item)
            if known is not None and (there := knowledge_rows.get_by_uuid(connection, known[0])):
                return there, False
            stored = knowledge_rows.insert(connection, item)
            missing = relations.tell(
                connection, stored.id, related_to, EntryRelation.REFERENCES, now
            )
            if missing:
                raise NotFoundError(
                    f"There is no entry {missing[0]}.", details={"related_to": missing}
                )
            record = history.Record(
                Action.CREATED, Noun.KNOWLEDGE, stored.uuid, stored.id, stored.title
            )
            history.add(connection, record, origin, now)
            secrets.note(connection, now)
            return stored, True

        item, is_new = await self._database.write(work)
        if is_new:
            self._feed.publish(Change(Noun.KNOWLEDGE, (item.id,), origin))
        return item


def _free_title(connection: Connection, content: str, scope: str) -> str:
    """Return the first words as a title; the same words with another text get a number."""
    longest = TITLE_LENGTH[1]
    first = one_line(content.strip().splitlines()[0].lstrip("#>*- "))[:longest].strip()
    title, number = first or "Saved knowledge", 2
    while knowledge_rows.has_title(connection, title, scope):
        if knowledge_rows.has_content(connection, normalise_content(content), scope):
            return title
        ending = f" ({number})"
        title = first[: longest - len(ending)] + ending
        number += 1
    return title


def _check(content: str, tags: Sequence[str], related_to: Sequence[int]) -> None:
    problems = Problems()
    low, high = SAVED_LENGTH
    if not low <= len(content.strip()) <= high:
        problems.add("content", f"content must be {low} to {high:,} characters.")
    if len(tags) > TAG_COUNT[1]:
        problems.add("tags", f"tags must be at most {TAG_COUNT[1]} (there are {len(tags)}).")
    if any(len(tag) > TAG_LENGTH for tag in tags):
        problems.add("tags", f"each of the tags must be at most {TAG_LENGTH} characters.")
    if len(related_to) > MOST_RELATED:
        problems.add("related_to", f"related_to must have at most {MOST_RELATED} entries.")
    problems.raise_if_any()
