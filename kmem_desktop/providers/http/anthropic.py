"""Anthropic's models.

References:
    Anthropic, "Messages" and "Streaming messages", version 2023-06-01.
"""

from collections.abc import Sequence
from typing import Any

from kmem_desktop.domain.models import ChatReply, ChatRequest, ModelInfo, ModelKind
from kmem_desktop.providers.http.failures import FailureKind, failure, malformed
from kmem_desktop.providers.http.openai_compatible import parsed_event
from kmem_desktop.providers.http.provider import (
    MAX_CHAT_BYTES,
    Greeting,
    HttpProvider,
    OnText,
    Vectors,
    count_of,
    part_of,
    rows_of,
    text_of,
)

VERSION = "2023-06-01"
MOST_MODELS = 100


class Anthropic(HttpProvider):
    """Anthropic's service; it has no embeddings."""

    async def available(self, *, deadline_s: float) -> Greeting:
        """Ask for one model, which shows that the key is good."""
        answer = await self._client.get("/v1/models?limit=1", deadline_s=deadline_s)
        return Greeting(VERSION, is_ours=bool(rows_of(answer, "data")))

    async def models(self, *, deadline_s: float) -> tuple[ModelInfo, ...]:
        """Return its models."""
        answer = await self._client.get(f"/v1/models?limit={MOST_MODELS}", deadline_s=deadline_s)
        if not isinstance(answer, dict) or not isinstance(answer.get("data"), list):
            raise malformed(self.name)
        names = [text_of(row.get("id")) for row in rows_of(answer, "data")]
        return tuple(ModelInfo(name, ModelKind.CHAT) for name in names if name)

    async def embed(
        self,
        texts: Sequence[str],  # noqa: ARG002 - the protocol's
        model: str,  # noqa: ARG002
        *,
        deadline_s: float,  # noqa: ARG002
    ) -> Vectors:
        """Refuse: Anthropic has no embedding models."""
        raise failure(FailureKind.NO_MODEL, f"{self.name} has no embedding models.")

    async def chat(
        self, request: ChatRequest, on_text: OnText | None = None, *, deadline_s: float
    ) -> ChatReply:
        """Return the answer; what the system says travels apart from the conversation."""
        body: dict[str, Any] = {
            "model": request.model,
            "max_tokens": request.max_tokens,
            "temperature": min(1.0, request.temperature),
            "messages": [
                {"role": message.role, "content": message.text}
                for message in request.messages
                if message.role != "system"
            ],
        }
        system = "\n\n".join(m.text for m in request.messages if m.role == "system")
        if system:
            body["system"] = system
        if on_text is None:
            answer = await self._client.post(
                "/v1/messages", body, deadline_s=deadline_s, max_bytes=MAX_CHAT_BYTES
            )
            return self._reply(answer, request)
        stream = _Stream(self.name, on_text)
        await self._client.stream(
            "/v1/messages", {**body, "stream": True}, stream.take, deadline_s=deadline_s
        )
        return ChatReply(
            "".join(stream.pieces),
            model=request.model,
            provider=self.id,
            tokens_in=stream.tokens_in,
            tokens_out=stream.tokens_out,
            is_cut=stream.stop_reason == "max_tokens",
        )

    def _reply(self, answer: Any, request: ChatRequest) -> ChatReply:
        if not isinstance(answer, dict) or not isinstance(answer.get("content"), list):
            raise malformed(self.name)
        blocks = [row for row in rows_of(answer, "content") if row.get("type") == "text"]
        usage = part_of(answer, "usage")
        return ChatReply(
            "".join(text_of(block.get("text")) for block in blocks),
            model=request.model,
            provider=self.id,
            tokens_in=count_of(usage.get("input_tokens")),
            tokens_out=count_of(usage.get("output_tokens")),
            is_cut=answer.get("stop_reason") == "max_tokens",
        )


class _Stream:
    """Puts an answer together from the events of a stream."""

    def __init__(self, name: str, on_text: OnText) -> None:
        self._name = name
        self._on_text = on_text
        self.pieces: list[str] = []
        self.tokens_in = 0
        self.tokens_out = 0
        self.stop_reason = ""

    def take(self, line: str) -> bool:
        """Take one line; return whether it was the last one."""
        if not line.startswith("data:"):
            return False
        event = parsed_event(line[len("data:") :].strip(), self._name)
        kind = event.get("type")
        if kind == "error":
            raise failure(FailureKind.SERVER_ERROR, f"{self._name} could not go on.")
        if kind == "message_start":
            usage = part_of(part_of(event, "message"), "usage")
            self.tokens_in = count_of(usage.get("input_tokens"))
        elif kind == "message_delta":
            self.tokens_out = count_of(part_of(event, "usage").get("output_tokens"))
            self.stop_reason = text_of(part_of(event, "delta").get("stop_reason"))
        elif kind == "content_block_delta":
            piece = text_of(part_of(event, "delta").get("text"))
            if piece:
                self.pieces.append(piece)
                self._on_text(piece)
        return kind == "message_stop"
