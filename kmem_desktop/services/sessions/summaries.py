"""Summaries of sessions: by a chat model that was chosen for it, else in the session's own words.

What a model says is checked against the turns, and left out where they do not bear it out; where
little is left, or no model answers in time, the session's own words tell it.
"""

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace

from kmem_desktop.domain.models import ChatReply, Message
from kmem_desktop.domain.sessions.conversations import (
    Digest,
    SpokenTurn,
    Summary,
    SummaryFormat,
)
from kmem_desktop.errors import ProviderError
from kmem_desktop.services.embedding import EmbeddingService
from kmem_desktop.sessions.context_window import restore
from kmem_desktop.sessions.digest import digest
from kmem_desktop.sessions.model_summary import INSTRUCTION, question, read_answer
from kmem_desktop.sessions.salience import Outline, outline
from kmem_desktop.sessions.summary import summarise
from kmem_desktop.sessions.verification import checked, shortened
from kmem_desktop.store.connection import Connection
from kmem_desktop.store.database import Database
from kmem_desktop.store.sessions import conversations as session_rows

log = logging.getLogger(__name__)

MOST_EMBEDDED = 400
"""Passages of a longer conversation are compared by words alone: embedding them takes seconds."""
MODEL_TOKENS = 6_000
"""So much of a conversation is put before a model; small ones read no more at a time."""
LEAST_STATEMENTS = 3

Chat = Callable[[list[Message]], Awaitable[tuple[ChatReply, object]]]


@dataclass(frozen=True, slots=True)
class SummaryModel:
    """A chat model for summaries, as a person chose it.

    Attributes:
        chat: Asks it; raises ProviderError.
        is_chosen: Whether a model was chosen; one that is there by chance is not asked.
        is_local: Whether what it reads stays on this computer.
    """

    chat: Chat
    is_chosen: Callable[[], bool]
    is_local: Callable[[], bool]


class SessionSummaries:
    """Makes summaries and keeps them."""

    def __init__(
        self,
        database: Database,
        embedding: EmbeddingService,
        model: SummaryModel | None = None,
    ) -> None:
        """Keep them in `database`; compare by `embedding`, and ask `model` where one is chosen."""
        self._database = database
        self._embedding = embedding
        self._model = model

    def asks_model(self) -> bool:
        """Return whether a model is chosen that is asked first."""
        return self._model is not None and self._model.is_chosen()

    async def on_request(
        self, turns: Sequence[SpokenTurn], summary_format: SummaryFormat
    ) -> Summary:
        """Return a summary for somebody who asked for it; `model` says who worded it."""
        if self._model is not None and self._model.is_chosen():
            told = await self._by_model(self._model, turns, summary_format, None)
            if told is not None:
                return told
        found = await asyncio.to_thread(outline, turns)
        vectors = None
        if len(found.texts) <= MOST_EMBEDDED:
            with contextlib.suppress(ProviderError):  # words alone will do
                vectors = await self._embedding.vectors_of(found.texts)
        return await asyncio.to_thread(summarise, found, summary_format, vectors)

    async def in_background(
        self, found: Outline, summary_format: SummaryFormat, *, is_recent: bool
    ) -> Summary:
        """Return a summary that nobody waits for: by words, or by a model of this computer.

        The embedding model is not loaded for it. A model is asked about recent sessions only:
        thousands of imported ones would keep it busy for days.
        """
        model = self._model
        if is_recent and model is not None and model.is_chosen() and model.is_local():
            told = await self._by_model(model, found.turns, summary_format, found)
            if told is not None:
                return told
        return await asyncio.to_thread(summarise, found, summary_format)

    async def by_words(self, turns: Sequence[SpokenTurn]) -> Summary:
        """Return a summary of a short session, in some milliseconds."""
        return await asyncio.to_thread(
            lambda: summarise(outline(turns), SummaryFormat.BULLET_POINTS)
        )

    async def keep(self, session_id: int, summary: Summary) -> None:
        """Keep a session's summary."""

        def work(connection: Connection) -> None:
            session_rows.set_summary(connection, session_id, summary)

        await self._database.write(work)

    async def _by_model(
        self,
        model: SummaryModel,
        turns: Sequence[SpokenTurn],
        summary_format: SummaryFormat,
        found: Outline | None,
    ) -> Summary | None:
        """Return what a model says that the turns bear out; None where that is too little."""

        def shown() -> str:
            kept: Digest | None = None if found is None else digest(found)
            return question(restore(turns, MODEL_TOKENS, kept).turns)

        messages = [
            Message("system", INSTRUCTION),
            Message("user", await asyncio.to_thread(shown)),
        ]
        try:
            reply, _ = await model.chat(messages)
        except ProviderError as error:
            log.info("No model summarised a session: %s", error.message)
            return None

        def judged() -> Summary:
            said = read_answer(reply.text, summary_format, len(turns))
            return shortened(checked(said, turns), turns)

        summary = await asyncio.to_thread(judged)
        if len(summary.bullets) < LEAST_STATEMENTS:
            log.info("A model's summary was not borne out by the turns")
            return None
        return replace(summary, model=reply.model)
