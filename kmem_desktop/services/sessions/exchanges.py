"""Conversations: their turns are stored as they come, and found again (seed 004)."""

import asyncio
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from kmem_desktop.domain.changes import Noun, Origin
from kmem_desktop.domain.found import ENTRY_QUERY_LENGTH, ENTRY_SEARCH_LIMIT, Entry, EntryQuery
from kmem_desktop.domain.knowledge import TAG_LENGTH, Category
from kmem_desktop.domain.sessions.conversations import (
    METADATA_LENGTH,
    SESSION_TAG_COUNT,
    SESSION_TITLE_LENGTH,
    SPEAKER_LENGTH,
    TURN_BATCH,
    TURN_LENGTH,
    Role,
    TurnDraft,
)
from kmem_desktop.errors import NotFoundError
from kmem_desktop.events import Change, ChangeFeed
from kmem_desktop.search.conversation import AskedFor, understand
from kmem_desktop.services import found
from kmem_desktop.services.embedding import EmbeddingService, Meaning
from kmem_desktop.services.retrieval.reranking import MOST_MARKED, Marker, Reranker, reranked
from kmem_desktop.services.sessions.privacy import project_of, refuse_excluded
from kmem_desktop.services.sessions.redacting import SecretFilter
from kmem_desktop.services.validation import Problems
from kmem_desktop.store.connection import Connection
from kmem_desktop.store.database import Database
from kmem_desktop.store.sessions import conversations as session_rows
from kmem_desktop.store.sessions.secrets import is_excluded
from kmem_desktop.text import count_tokens, one_line

ENTRY_TYPES = (*(category.value for category in Category), "question", "answer", "entity")
UNTITLED_LENGTH = 60
_YEARS = range(2, 9_999)

# "1:56 pm on 8 May, 2023", as people and exports write it.
_CLOCK_AND_DAY = re.compile(
    r"(?P<clock>\d{1,2}:\d{2}\s*[ap]m)\s+on\s+(?P<day>\d{1,2}\s+\w+),?\s+(?P<year>\d{4})$",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Stored:
    """What storing turns made.

    Attributes:
        session_uuid: The session's id on the wire.
        entry_ids: The ids of the turns, in their order.
    """

    session_uuid: str
    entry_ids: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class SessionDraft:
    """What a new session is called; a known one is only named by its id."""

    uuid: str | None = None
    title: str = ""
    project: str = ""
    tags: tuple[str, ...] = ()


class SessionService:
    """What can be done with conversations."""

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
        self._speakers: list[str] | None = None
        self._notes: set[asyncio.Task[None]] = set()

    async def add_exchange(
        self, session: SessionDraft, drafts: Sequence[TurnDraft], origin: Origin
    ) -> Stored:
        """Add turns to a session, or begin one with them.

        Raises:
            InvalidInputError: A turn is out of its limits, or the session or its project is
                excluded; nothing was stored.
            NotFoundError: There is no session with that id.
        """
        now = datetime.now(UTC)
        secrets = SecretFilter(origin.name)
        turns = _checked_turns(await secrets.turns(drafts), now)
        session = replace(
            session,
            title=secrets.text(session.title),
            project=secrets.text(session.project),
            tags=checked_tags(secrets.texts(session.tags)),
        )
        title = _checked_title(session, turns)

        def work(connection: Connection) -> tuple[str, list[int]]:
            row = _session(connection, session, title, origin, now)
            refuse_excluded(connection, scope=row.scope, session_ids=[row.uuid])
            secrets.note(connection, now)
            return row.uuid, session_rows.append(connection, row, turns, now)

        uuid, ids = await self._database.write(work)
        self._speakers = None
        self._feed.publish(Change(Noun.TURN, tuple(ids), origin))
        return Stored(uuid, tuple(ids))

    async def search(self, query: EntryQuery, asked_by: str) -> tuple[list[Entry], int]:
        """Find what answers a question in everything that is remembered, best first.

        Returns:
            The entries, and how many there are in all.

        Raises:
            InvalidInputError: A field is out of its limits.
            NotFoundError: There is no session with that id.
        """
        asked, meaning = await self.understood(query)
        wide = query
        if self._reranker.is_on:
            wide = replace(query, limit=max(query.limit, MOST_MARKED))
        entries, total = await self._database.read(
            lambda c: found.entries(c, wide, session_of(c, query), asked, meaning)
        )
        if self._reranker.is_on:
            entries = (await self._reranked(entries, query.text))[: query.limit]
        self._remember_search(query, asked_by, total)
        return entries, total

    async def _reranked(self, entries: list[Entry], question: str) -> list[Entry]:
        ordered = await self._reranker.ordered(
            question,
            entries,
            lambda entry: entry.relevance,
            lambda entry: f"{entry.title}. {entry.content}",
        )
        return [
            entry if mark is None else replace(entry, explanation=reranked(entry.explanation, mark))
            for entry, mark in ordered
        ]

    async def understood(self, query: EntryQuery) -> tuple[AskedFor, Meaning | None]:
        """Check a question, and return what it asks for and what it means.

        Raises:
            InvalidInputError: A field is out of its limits.
        """
        _check_query(query)
        if self._speakers is None:
            self._speakers = await self._database.read(session_rows.speakers)
        asked = understand(query.text, self._speakers)
        return asked, await self._embedding.meaning_of(asked.meaning)

    def _remember_search(self, query: EntryQuery, asked_by: str, total: int) -> None:
        """Note what was looked for, without keeping the answer waiting for the disk."""
        at = datetime.now(UTC)
        secrets = SecretFilter(asked_by)
        text, session = secrets.text(query.text), query.session_uuid or ""

        def work(connection: Connection) -> None:
            if not is_excluded(connection, project_of(query.scope or ""), [session]):
                session_rows.add_search(connection, text, session, asked_by, total, at)
                secrets.note(connection, at)

        task = asyncio.ensure_future(self._database.write(work))
        self._notes.add(task)
        task.add_done_callback(self._notes.discard)

    async def settle(self) -> None:
        """Wait until what is being noted is on the disk."""
        await asyncio.gather(*self._notes, return_exceptions=True)


def session_of(connection: Connection, query: EntryQuery) -> int | None:
    """Return the session a question is limited to, or None.

    Raises:
        NotFoundError: There is no session with that id.
    """
    return (
        None if query.session_uuid is None else require_session(connection, query.session_uuid).id
    )


def _session(
    connection: Connection, draft: SessionDraft, title: str, origin: Origin, now: datetime
) -> session_rows.SessionRow:
    if draft.uuid is not None:
        return require_session(connection, draft.uuid)
    return session_rows.insert(
        connection,
        title=title,
        project=one_line(draft.project),
        tags=draft.tags,
        client=origin.name,
        now=now,
    )


def require_session(connection: Connection, uuid: str) -> session_rows.SessionRow:
    """Return a session.

    Raises:
        NotFoundError: There is none with this id.
    """
    row = session_rows.find(connection, uuid.strip().lower())
    if row is None:
        raise NotFoundError(
            f"There is no session {uuid[:80]!r}.",
            hint="Leave session_id out to begin a new one.",
            details={"session_id": uuid[:80]},
        )
    return row


def checked_tags(tags: Sequence[str]) -> tuple[str, ...]:
    """Return a session's tags as they are kept, each once.

    Raises:
        InvalidInputError: There are too many, or one is too long.
    """
    problems = Problems()
    kept = tuple(dict.fromkeys(one_line(tag).lower() for tag in tags if tag.strip()))
    _check_tag_count(problems, kept)
    if any(len(tag) > TAG_LENGTH for tag in kept):
        problems.add("tags", f"each of the tags must be at most {TAG_LENGTH} characters.")
    problems.raise_if_any()
    return kept


def _check_tag_count(problems: Problems, tags: Sequence[str]) -> None:
    if len(tags) > SESSION_TAG_COUNT:
        problems.add("tags", f"tags must be at most {SESSION_TAG_COUNT} (there are {len(tags)}).")


def _checked_title(session: SessionDraft, turns: Sequence[session_rows.NewTurn]) -> str:
    problems = Problems()
    for field, value in (("title", session.title), ("project", session.project)):
        if len(value) > SESSION_TITLE_LENGTH:
            limit = SESSION_TITLE_LENGTH
            problems.add(field, f"{field} must be at most {limit} characters.")
    problems.raise_if_any()
    return one_line(session.title) or one_line(turns[0].text)[:UNTITLED_LENGTH]


def _checked_turns(drafts: Sequence[TurnDraft], now: datetime) -> list[session_rows.NewTurn]:
    problems = Problems()
    if not 1 <= len(drafts) <= TURN_BATCH:
        problems.add("turns", f"turns must be 1 to {TURN_BATCH} (there are {len(drafts)}).")
        problems.raise_if_any()
    turns = []
    for index, draft in enumerate(drafts):
        field = f"turns[{index}]"
        if not draft.text.strip():
            problems.add(f"{field}.text", f"{field}.text must not be empty.")
        if len(draft.text) > TURN_LENGTH:
            problems.add(f"{field}.text", f"{field}.text must be at most {TURN_LENGTH} characters.")
        if draft.role not in set(Role):
            problems.add(f"{field}.role", f"{field}.role must be one of {', '.join(Role)}.")
        if len(draft.speaker) > SPEAKER_LENGTH:
            problems.add(
                f"{field}.speaker",
                f"{field}.speaker must be at most {SPEAKER_LENGTH} characters.",
            )
        metadata = _metadata_json(problems, f"{field}.metadata", draft.metadata)
        at = _time(problems, f"{field}.time", draft.time, now)
        if not problems:
            turns.append(
                session_rows.NewTurn(
                    role=Role(draft.role),
                    text=draft.text,
                    speaker=one_line(draft.speaker),
                    at=at,
                    token_count=count_tokens(draft.text),
                    metadata=metadata,
                )
            )
    problems.raise_if_any()
    return turns


def _metadata_json(
    problems: Problems, field: str, metadata: Mapping[str, Any] | None
) -> str | None:
    if not metadata:
        return None
    text = json.dumps(metadata, ensure_ascii=False)
    if len(text) > METADATA_LENGTH:
        problems.add(field, f"{field} must be at most {METADATA_LENGTH} characters.")
    return text


def _time(problems: Problems, field: str, text: str | None, now: datetime) -> datetime:
    """Read a time as ISO 8601 or as people write it; without a zone it is UTC."""
    if not text:
        return now
    at: datetime | None
    try:
        at = datetime.fromisoformat(text.strip())
    except ValueError:
        at = _written_time(text.strip())
    # In the first and last year of all, another place may have no name for the same moment.
    if at is None or at.year not in _YEARS:
        problems.add(field, f"{field} must be a time such as 2026-05-03T14:00:00Z.")
        return now
    return at.replace(tzinfo=UTC) if at.tzinfo is None else at.astimezone(UTC)


def _written_time(text: str) -> datetime | None:
    written = _CLOCK_AND_DAY.match(text)
    if written is None:
        return None
    clock = written["clock"].replace(" ", "").upper()
    try:
        return datetime.strptime(  # noqa: DTZ007 - the caller gives it its zone
            f"{clock} {written['day']} {written['year']}", "%I:%M%p %d %B %Y"
        )
    except ValueError:
        return None


def _check_query(query: EntryQuery) -> None:
    problems = Problems()
    low, high = ENTRY_QUERY_LENGTH
    if not low <= len(query.text.strip()) <= high:
        problems.add("query", f"query must be {low} to {high} characters.")
    low, high = ENTRY_SEARCH_LIMIT
    if not low <= query.limit <= high:
        problems.add("limit", f"limit must be from {low} to {high} (it is {query.limit}).")
    _check_tag_count(problems, query.tags)
    if not 0 <= query.min_relevance <= 1:
        problems.add("min_relevance", "min_relevance must be from 0 to 1.")
    unknown = [name for name in query.types if name not in ENTRY_TYPES]
    if unknown:
        problems.add("type_filter", f"type_filter knows {', '.join(ENTRY_TYPES)}.")
    problems.raise_if_any()
