"""Everyone who speaks OpenAI's language: LM Studio, LocalAI, llama.cpp, OpenRouter, OpenAI itself.

What a server tells besides (LM Studio's list with sizes and states, llama.cpp's figures, the
graphics memory of seed 004's server) is taken where it is there.

References:
    OpenAI, "API reference": models, embeddings, chat completions. LM Studio, "REST API v0".
    Seed 004, "Integration with Unified LLM": /health/vram and /v1/models?type=embedding.
"""

import asyncio
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from kmem_desktop.domain.models import ChatReply, ChatRequest, ModelInfo, ModelKind
from kmem_desktop.errors import ProviderError
from kmem_desktop.providers.http.failures import FailureKind, failure, kind_of, malformed
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

if TYPE_CHECKING:
    from kmem_desktop.providers.http.client import HttpClient

GIGABYTE = 10**9
END_OF_STREAM = "[DONE]"

EMBEDDING_WORDS = ("embed", "minilm", "bge-", "gte-", "e5-", "nomic", "mxbai", "arctic", "jina")
"""A server that does not tell what a model can do is asked by the model's name."""
OTHER_WORDS = (
    "whisper",
    "tts",
    "dall-e",
    "image",
    "moderation",
    "rerank",
    "transcribe",
    "realtime",
)


@dataclass(frozen=True, slots=True)
class Dialect:
    """What differs between those who speak the language.

    Attributes:
        has_state_list: Whether it lists models with their state at /api/v0/models (LM Studio).
        has_vram: Whether it tells the graphics memory at /health/vram (seed 004).
        owner: What its models say of who owns them, where that tells it apart from others.
        stranger: What only the models of another program on the same port say of their owner.
        limit_name: What it calls the longest answer.
        takes_temperature: Whether it lets one choose.
        takes_texts_at_once: How many texts one request may hold.
    """

    has_state_list: bool = False
    has_vram: bool = False
    owner: str = ""
    stranger: str = ""
    limit_name: str = "max_tokens"
    takes_temperature: bool = True
    takes_texts_at_once: int = 256


class OpenAICompatible(HttpProvider):
    """A server that speaks OpenAI's language."""

    def __init__(
        self,
        provider_id: str,
        name: str,
        client: "HttpClient",
        *,
        host: str = "",
        dialect: Dialect | None = None,
    ) -> None:
        """Serve under these names, in a dialect."""
        super().__init__(provider_id, name, client, host=host)
        self._dialect = dialect or Dialect()

    async def available(self, *, deadline_s: float) -> Greeting:
        """Return what it says of itself; where it has nothing to say, its list of models tells."""
        answer = await self._client.get("/v1/models", deadline_s=deadline_s)
        rows = self._rows(answer)
        owners = {text_of(row.get("owned_by")) for row in rows}
        ours, stranger = self._dialect.owner, self._dialect.stranger
        is_ours = (not ours or ours in owners) and not (stranger and stranger in owners)
        free = await self._free_vram(deadline_s) if self._dialect.has_vram else 0
        return Greeting(is_ours=is_ours, free_vram_bytes=free)

    async def models(self, *, deadline_s: float) -> tuple[ModelInfo, ...]:
        """Return its models."""
        if self._dialect.has_state_list:
            try:
                answer = await self._client.get("/api/v0/models", deadline_s=deadline_s)
                return tuple(_with_state(row) for row in self._rows(answer))
            except ProviderError as error:
                if kind_of(error) is not FailureKind.NO_MODEL:
                    raise
        listed = self._client.get("/v1/models", deadline_s=deadline_s)
        if not self._dialect.has_vram:
            return tuple(_plain(row) for row in self._rows(await listed))
        everything, embedding = await asyncio.gather(listed, self._embedding_names(deadline_s))
        found = [_plain(row) for row in self._rows(everything)]
        return tuple(
            replace(model, kind=ModelKind.EMBEDDING) if model.name in embedding else model
            for model in found
        )

    async def embed(self, texts: Sequence[str], model: str, *, deadline_s: float) -> Vectors:
        """Return a vector for each text."""
        vectors: Vectors = []
        step = self._dialect.takes_texts_at_once
        loop = asyncio.get_running_loop()
        end_s = loop.time() + deadline_s
        for start in range(0, len(texts), step):
            some = list(texts[start : start + step])
            body = {"model": model, "input": some}
            left_s = max(0.001, end_s - loop.time())
            answer = await self._client.post("/v1/embeddings", body, deadline_s=left_s)
            rows = rows_of(answer, "data")
            if [count_of(row.get("index")) for row in rows] != list(range(len(some))):
                rows.sort(key=lambda row: count_of(row.get("index")))
            vectors += self._checked([row.get("embedding") for row in rows], len(some))
        return vectors

    async def chat(
        self, request: ChatRequest, on_text: OnText | None = None, *, deadline_s: float
    ) -> ChatReply:
        """Return the answer; a server that refuses a schema is asked again without it."""
        try:
            return await self._chat(request, on_text, deadline_s)
        except ProviderError as error:
            if request.schema is None or kind_of(error) is not FailureKind.REFUSED:
                raise
            return await self._chat(replace(request, schema=None), on_text, deadline_s)

    async def _chat(
        self, request: ChatRequest, on_text: OnText | None, deadline_s: float
    ) -> ChatReply:
        body = self._body(request)
        path = "/v1/chat/completions"
        if on_text is None:
            answer = await self._client.post(
                path, body, deadline_s=deadline_s, max_bytes=MAX_CHAT_BYTES
            )
            choice = self._choice(answer)
            text = part_of(choice, "message").get("content")
            if not isinstance(text, str):
                raise malformed(self.name)
            return self._reply(request, text, choice.get("finish_reason"), answer)
        body["stream"] = True
        stream = _Stream(self, on_text)
        await self._client.stream(path, body, stream.take, deadline_s=deadline_s)
        text = "".join(stream.pieces)
        return self._reply(request, text, stream.finish_reason, stream.last)

    def _body(self, request: ChatRequest) -> dict[str, Any]:
        body: dict[str, Any] = {
            "model": request.model,
            "messages": [{"role": m.role, "content": m.text} for m in request.messages],
            self._dialect.limit_name: request.max_tokens,
        }
        if self._dialect.takes_temperature:
            body["temperature"] = request.temperature
        if request.schema is not None:
            schema = {"name": "answer", "strict": True, "schema": dict(request.schema)}
            body["response_format"] = {"type": "json_schema", "json_schema": schema}
        return body

    def _reply(self, request: ChatRequest, text: str, finish_reason: Any, answer: Any) -> ChatReply:
        usage = part_of(answer, "usage")
        return ChatReply(
            text,
            model=request.model,
            provider=self.id,
            tokens_in=count_of(usage.get("prompt_tokens")),
            tokens_out=count_of(usage.get("completion_tokens")),
            is_cut=finish_reason == "length",
        )

    def _choice(self, answer: Any) -> dict[str, Any]:
        if isinstance(answer, dict) and answer.get("error"):
            raise failure(FailureKind.SERVER_ERROR, f"{self.name} could not go on.")
        choices = rows_of(answer, "choices")
        if not choices:
            raise malformed(self.name)
        return choices[0]

    def _rows(self, answer: Any) -> list[dict[str, Any]]:
        # Seed 004's server says "models" where OpenAI says "data".
        if not isinstance(answer, dict) or not any(
            isinstance(answer.get(name), list) for name in ("data", "models")
        ):
            raise malformed(self.name)
        return [row for row in rows_of(answer, "data", "models") if _name(row)]

    async def _free_vram(self, deadline_s: float) -> int:
        try:
            answer = await self._client.get("/health/vram", deadline_s=deadline_s)
        except ProviderError:
            return 0
        free = answer.get("available_gb") if isinstance(answer, dict) else None
        is_number = isinstance(free, int | float) and not isinstance(free, bool)
        return count_of(free * GIGABYTE) if is_number and free is not None else 0

    async def _embedding_names(self, deadline_s: float) -> set[str]:
        try:
            answer = await self._client.get("/v1/models?type=embedding", deadline_s=deadline_s)
        except ProviderError:
            return set()
        # One that does not know the question gives its whole list again.
        rows = rows_of(answer, "data", "models")
        return {_name(row) for row in rows if text_of(row.get("type")).startswith("embed")}


class _Stream:
    """Puts an answer together from the events of a stream."""

    def __init__(self, provider: OpenAICompatible, on_text: OnText) -> None:
        self._provider = provider
        self._on_text = on_text
        self.pieces: list[str] = []
        self.finish_reason: Any = None
        self.last: dict[str, Any] = {}

    def take(self, line: str) -> bool:
        """Take one line; return whether it was the last one."""
        if not line.startswith("data:"):
            return False
        data = line[len("data:") :].strip()
        if data == END_OF_STREAM:
            return True
        answer = parsed_event(data, self._provider.name)
        if answer.get("error"):
            message = f"{self._provider.name} could not go on."
            raise failure(FailureKind.SERVER_ERROR, message)
        self.last = answer if answer.get("usage") or not self.last else self.last
        for choice in rows_of(answer, "choices")[:1]:
            self.finish_reason = choice.get("finish_reason") or self.finish_reason
            piece = text_of(part_of(choice, "delta").get("content"))
            if piece:
                self.pieces.append(piece)
                self._on_text(piece)
        return False


def parsed_event(data: str, name: str) -> dict[str, Any]:
    """Return the object of a server-sent event."""
    try:
        answer = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise malformed(name) from error
    if not isinstance(answer, dict):
        raise malformed(name)
    return answer


def kind_by_name(name: str) -> ModelKind:
    """Return what a model can do, as far as its name tells."""
    lowered = name.lower()
    if any(word in lowered for word in EMBEDDING_WORDS):
        return ModelKind.EMBEDDING
    if any(word in lowered for word in OTHER_WORDS):
        return ModelKind.UNKNOWN
    return ModelKind.CHAT


def _name(row: dict[str, Any]) -> str:
    return text_of(row.get("id")) or text_of(row.get("name"))


def _plain(row: dict[str, Any]) -> ModelInfo:
    """Return a model of the common list; llama.cpp and OpenRouter tell more than its name."""
    meta = part_of(row, "meta")
    told = text_of(row.get("type"))
    kind = ModelKind.EMBEDDING if told.startswith("embed") else kind_by_name(_name(row))
    return ModelInfo(
        _name(row),
        kind=kind,
        size_bytes=count_of(meta.get("size")),
        context_tokens=count_of(meta.get("n_ctx"))
        or count_of(meta.get("n_ctx_train"))
        or count_of(row.get("context_length")),
        dimension=count_of(meta.get("n_embd")),
        parameter_count=count_of(meta.get("n_params")),
        quantisation=text_of(meta.get("ftype")),
        # llama.cpp serves what it was started with.
        is_loaded=True if text_of(row.get("owned_by")) == "llamacpp" and meta else None,
    )


def _with_state(row: dict[str, Any]) -> ModelInfo:
    """Return a model of LM Studio's list."""
    kinds = {
        "llm": ModelKind.CHAT,
        "vlm": ModelKind.CHAT,
        "embeddings": ModelKind.EMBEDDING,
        "embedding": ModelKind.EMBEDDING,
    }
    return ModelInfo(
        _name(row),
        kind=kinds.get(text_of(row.get("type")), ModelKind.UNKNOWN),
        context_tokens=count_of(row.get("loaded_context_length"))
        or count_of(row.get("max_context_length")),
        quantisation=text_of(row.get("quantization")),
        is_loaded=text_of(row.get("state")) == "loaded",
    )
