"""Puts questions to models: by chains, with what may leave the computer written down first.

Everything here runs on the loop of `providers/http/background.py`.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace

from kmem_desktop.domain.models import (
    ChatReply,
    ChatRequest,
    Message,
    ModelInfo,
    ModelKind,
    Purpose,
    Snapshot,
)
from kmem_desktop.domain.rules import TaskContext
from kmem_desktop.errors import StoreError
from kmem_desktop.providers.http.chain import ONCE, Chain, Link, Outcome, RetryPolicy, error_of
from kmem_desktop.providers.http.context_prompt import context_request
from kmem_desktop.providers.http.failures import FailureKind, failure
from kmem_desktop.providers.http.provider import Vectors
from kmem_desktop.providers.http.rank_prompt import rank_request, read_marks
from kmem_desktop.services.models.outgoing import OutgoingRecord
from kmem_desktop.services.models.servers import Servers, host_of

LATE_DEADLINE_S = 20.0
EMBEDDING_DEADLINE_S = 60.0
TRIAL_DEADLINE_S = 60.0
TRIAL_TOKENS = 16
TRIAL_WORDS = "Answer with the one word: ready"
TRIAL_TEXT = "memory"


class Asking:
    """Asks those who serve models."""

    def __init__(self, servers: Servers, outgoing: OutgoingRecord, policy: RetryPolicy) -> None:
        """Ask `servers`, and write down in `outgoing` what leaves the computer."""
        self._servers = servers
        self._outgoing = outgoing
        self._policy = policy

    async def chat(
        self,
        request: ChatRequest,
        snapshot: Snapshot,
        *,
        on_text: Callable[[str], None] | None,
        deadline_s: float,
    ) -> Outcome[ChatReply]:
        """Put a question to the models for chat; once a piece was shown, to no other."""
        texts = [message.text for message in request.messages]
        shown: list[str] = []

        def take(text: str) -> None:
            shown.append(text)
            if on_text is not None:
                on_text(text)

        async def question(link: Link, left_s: float) -> ChatReply:
            await self._permit(link, Purpose.CHAT, texts, snapshot)
            asked = replace(request, model=link.model)
            piece = take if on_text is not None else None
            return await link.provider.chat(asked, piece, deadline_s=left_s)

        chain = Chain(await self._servers.links(Purpose.CHAT, snapshot), policy=self._policy)
        return await chain.ask(question, deadline_s=deadline_s, is_repeatable=lambda: not shown)

    async def detect(self, task: str, snapshot: Snapshot) -> Outcome[TaskContext]:
        """Ask what a task is about, however long it takes within reason."""

        async def question(link: Link, left_s: float) -> TaskContext:
            texts = [message.text for message in context_request(task, link.model).messages]
            await self._permit(link, Purpose.DETECTION, texts, snapshot)
            return await link.provider.detect_context(task, link.model, deadline_s=left_s)

        chain = Chain(await self._servers.links(Purpose.DETECTION, snapshot), policy=ONCE)
        return await chain.ask(question, deadline_s=LATE_DEADLINE_S)

    async def rerank(
        self, question: str, texts: Sequence[str], snapshot: Snapshot
    ) -> tuple[float | None, ...] | None:
        """Ask how well each text answers a question, however long it takes within reason."""

        async def ask(link: Link, left_s: float) -> tuple[float | None, ...] | None:
            request = rank_request(question, texts, link.model)
            sent = [message.text for message in request.messages]
            await self._permit(link, Purpose.RERANKING, sent, snapshot)
            reply = await link.provider.chat(request, deadline_s=left_s)
            return read_marks(reply.text, len(texts))

        chain = Chain(await self._servers.links(Purpose.RERANKING, snapshot), policy=ONCE)
        outcome = await chain.ask(ask, deadline_s=LATE_DEADLINE_S)
        return outcome.value

    async def embed(
        self, provider_id: str, model: str, texts: Sequence[str], snapshot: Snapshot
    ) -> Vectors:
        """Return the texts' vectors by one model: those of another could not be compared.

        Raises:
            ProviderError: There are none.
        """

        async def question(link: Link, left_s: float) -> Vectors:
            await self._permit(link, Purpose.EMBEDDINGS, texts, snapshot)
            return await link.provider.embed(texts, link.model, deadline_s=left_s)

        link = await self._servers.link(provider_id, model, Purpose.EMBEDDINGS)
        chain = Chain([link], policy=self._policy)
        outcome = await chain.ask(question, deadline_s=EMBEDDING_DEADLINE_S)
        if outcome.value is None:
            raise error_of(outcome.diagnostics)
        return outcome.value

    async def try_out(self, provider_id: str, model: ModelInfo, snapshot: Snapshot) -> str:
        """Return what a model answers to a small question, without any second attempt.

        Raises:
            ProviderError: It does not answer.
        """
        if model.kind is ModelKind.EMBEDDING:
            vectors = await self.embed(provider_id, model.name, [TRIAL_TEXT], snapshot)
            return f"vectors of {len(vectors[0])} numbers"
        link = await self._servers.link(provider_id, model.name, Purpose.CHAT)
        await self._permit(link, Purpose.CHAT, [TRIAL_WORDS], snapshot)
        request = ChatRequest(
            (Message("user", TRIAL_WORDS),), model.name, TRIAL_TOKENS, temperature=0.0
        )
        reply = await link.provider.chat(request, deadline_s=TRIAL_DEADLINE_S)
        return " ".join(reply.text.split())

    async def _permit(
        self, link: Link, purpose: Purpose, texts: Sequence[str], snapshot: Snapshot
    ) -> None:
        """Let texts leave the computer if they may, and write down that they do."""
        host = host_of(link, snapshot)
        if not host:
            return
        self._servers.require_allowed(host, purpose)
        try:
            await self._outgoing.note(host, purpose, link.provider.id, link.model, texts)
        except StoreError as error:
            message = "Nothing was sent, because that could not be written down."
            raise failure(FailureKind.NOT_ALLOWED, message) from error
