"""Ollama, by its own interface, which tells more than the one it shares with others.

Programs such as oai2ollama take Ollama's place and pass everything on to another server. Their
models have neither size nor digest, which those of an Ollama always have: that tells them apart,
and texts go there only where a person allowed it.

References:
    Ollama, docs/api.md: version, tags, ps, show, embed, chat. Models that run at ollama.com are
    listed beside the others, with `remote_host`. CNSeniorious000/oai2ollama, oai2ollama/_app.py:
    versions of it without /api/chat know only OpenAI's way.
"""

import asyncio
import contextlib
import json
from collections.abc import Sequence
from typing import Any
from urllib.parse import urlsplit

from kmem_desktop.domain.models import ELSEWHERE, ChatReply, ChatRequest, ModelInfo, ModelKind
from kmem_desktop.errors import ProviderError
from kmem_desktop.providers.http.failures import FailureKind, failure, kind_of, malformed
from kmem_desktop.providers.http.openai_compatible import OpenAICompatible, kind_by_name
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

MOST_SHOWN = 64
SHOWN_AT_ONCE = 8


class Ollama(HttpProvider):
    """An Ollama on this computer, or a program that speaks like one."""

    _shown: dict[str, dict[str, Any]] | None = None
    _passes_on = False

    async def available(self, *, deadline_s: float) -> Greeting:
        """Return its version."""
        answer = await self._client.get("/api/version", deadline_s=deadline_s)
        version = text_of(answer.get("version")) if isinstance(answer, dict) else ""
        return Greeting(version, is_ours=bool(version))

    async def models(self, *, deadline_s: float) -> tuple[ModelInfo, ...]:
        """Return its models, with what it tells of each."""
        tags, loaded = await asyncio.gather(
            self._client.get("/api/tags", deadline_s=deadline_s / 2),
            self._loaded(deadline_s / 2),
        )
        if not isinstance(tags, dict) or not isinstance(tags.get("models"), list):
            raise malformed(self.name)
        rows = [row for row in rows_of(tags, "models") if _name(row)]
        self._passes_on = any(_is_passed_on(row) for row in rows)
        # What is not told in time is left out, and asked for the next time.
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(deadline_s / 2):
                await self._show_all(rows, deadline_s / 2)
        return tuple(self._model(row, loaded) for row in rows)

    async def embed(self, texts: Sequence[str], model: str, *, deadline_s: float) -> Vectors:
        """Return a vector for each text; one that is too long is cut by Ollama."""
        body = {"model": model, "input": list(texts), "truncate": True}
        answer = await self._client.post("/api/embed", body, deadline_s=deadline_s)
        vectors = answer.get("embeddings") if isinstance(answer, dict) else None
        return self._checked(vectors, len(texts))

    async def chat(
        self, request: ChatRequest, on_text: OnText | None = None, *, deadline_s: float
    ) -> ChatReply:
        """Return the answer; who only passes texts on may know no other way than OpenAI's."""
        try:
            return await self._chat(request, on_text, deadline_s)
        except ProviderError as error:
            if not self._passes_on or kind_of(error) is not FailureKind.NO_MODEL:
                raise
        other_way = OpenAICompatible(self.id, self.name, self._client, host=self.host)
        return await other_way.chat(request, on_text, deadline_s=deadline_s)

    async def _chat(
        self, request: ChatRequest, on_text: OnText | None, deadline_s: float
    ) -> ChatReply:
        body: dict[str, Any] = {
            "model": request.model,
            "messages": [{"role": m.role, "content": m.text} for m in request.messages],
            "stream": on_text is not None,
            "options": {"temperature": request.temperature, "num_predict": request.max_tokens},
        }
        if request.schema is not None:
            body["format"] = dict(request.schema)
        if on_text is None:
            answer = await self._client.post(
                "/api/chat", body, deadline_s=deadline_s, max_bytes=MAX_CHAT_BYTES
            )
            return self._reply(answer, [self._piece(answer)], request)
        return await self._streamed(body, request, on_text, deadline_s)

    async def _streamed(
        self, body: dict[str, Any], request: ChatRequest, on_text: OnText, deadline_s: float
    ) -> ChatReply:
        pieces: list[str] = []
        last: list[Any] = []

        def on_line(line: str) -> bool:
            if not line:
                return False
            try:
                answer = json.loads(line)
            except (ValueError, RecursionError) as error:
                raise malformed(self.name) from error
            piece = self._piece(answer)
            if piece:
                pieces.append(piece)
                on_text(piece)
            last[:] = [answer]
            return answer.get("done") is True

        await self._client.stream("/api/chat", body, on_line, deadline_s=deadline_s)
        return self._reply(last[0], pieces, request)

    def _piece(self, answer: Any) -> str:
        if not isinstance(answer, dict):
            raise malformed(self.name)
        if "error" in answer:
            raise failure(FailureKind.SERVER_ERROR, f"{self.name} could not go on.")
        content = part_of(answer, "message").get("content")
        if not isinstance(content, str):
            raise malformed(self.name)
        return content

    def _reply(self, answer: dict[str, Any], pieces: list[str], request: ChatRequest) -> ChatReply:
        return ChatReply(
            "".join(pieces),
            model=text_of(answer.get("model")) or request.model,
            provider=self.id,
            tokens_in=count_of(answer.get("prompt_eval_count")),
            tokens_out=count_of(answer.get("eval_count")),
            is_cut=answer.get("done_reason") == "length",
        )

    async def _loaded(self, deadline_s: float) -> dict[str, dict[str, Any]] | None:
        """Return what is in memory now; None where it does not tell."""
        try:
            answer = await self._client.get("/api/ps", deadline_s=deadline_s)
        except ProviderError:
            return None
        return {_name(row): row for row in rows_of(answer, "models")}

    async def _show_all(self, rows: list[dict[str, Any]], deadline_s: float) -> None:
        """Ask for what is not known yet; what has the same digest has not changed."""
        places = asyncio.Semaphore(SHOWN_AT_ONCE)
        if self._shown is None:
            self._shown = {}
        shown = self._shown

        async def show(row: dict[str, Any]) -> None:
            async with places:
                try:
                    body = {"model": _name(row)}
                    found = await self._client.post("/api/show", body, deadline_s=deadline_s)
                except ProviderError:
                    return
            if isinstance(found, dict):
                shown[_digest(row)] = {
                    name: found.get(name) for name in ("capabilities", "model_info", "details")
                }

        new = [
            row for row in rows[:MOST_SHOWN] if _digest(row) not in shown and not _is_passed_on(row)
        ]
        await asyncio.gather(*(show(row) for row in new))

    def _model(self, row: dict[str, Any], loaded: dict[str, dict[str, Any]] | None) -> ModelInfo:
        shown = (self._shown or {}).get(_digest(row), {})
        info = part_of(shown, "model_info")
        details = part_of(row, "details")
        architecture = text_of(info.get("general.architecture"))
        running = (loaded or {}).get(_name(row), {})
        if _is_passed_on(row):
            # What it shows is the same for every model: only the name tells something.
            return ModelInfo(_name(row), kind_by_name(_name(row)), remote_host=ELSEWHERE)
        return ModelInfo(
            _name(row),
            kind=_kind(shown, info, architecture, text_of(details.get("family"))),
            size_bytes=count_of(row.get("size")),
            vram_bytes=count_of(running.get("size_vram")),
            context_tokens=count_of(running.get("context_length"))
            or count_of(info.get(f"{architecture}.context_length")),
            dimension=count_of(info.get(f"{architecture}.embedding_length")),
            parameter_count=count_of(info.get("general.parameter_count"))
            or parameter_count(text_of(details.get("parameter_size"))),
            quantisation=text_of(details.get("quantization_level")),
            is_loaded=_name(row) in loaded if loaded is not None else None,
            remote_host=urlsplit(text_of(row.get("remote_host"))).hostname or "",
        )


def parameter_count(text: str) -> int:
    """Return the number that Ollama writes as "8.0B" or "137M"."""
    factor = {"K": 10**3, "M": 10**6, "B": 10**9, "T": 10**12}.get(text[-1:].upper(), 0)
    try:
        return int(float(text[:-1]) * factor) if factor else 0
    except (ValueError, OverflowError):
        return 0


def _name(row: dict[str, Any]) -> str:
    return text_of(row.get("name")) or text_of(row.get("model"))


def _is_passed_on(row: dict[str, Any]) -> bool:
    """Return whether a model lies on no disk, and nobody tells where it is."""
    return not (row.get("digest") or row.get("size") or row.get("remote_host"))


def _digest(row: dict[str, Any]) -> str:
    return text_of(row.get("digest")) or _name(row)


def _kind(shown: dict[str, Any], info: dict[str, Any], architecture: str, family: str) -> ModelKind:
    capabilities = shown.get("capabilities")
    if isinstance(capabilities, list):
        if "embedding" in capabilities:
            return ModelKind.EMBEDDING
        return ModelKind.CHAT if "completion" in capabilities else ModelKind.UNKNOWN
    # An Ollama before 0.6.4 does not tell; what pools its outputs makes vectors.
    if f"{architecture}.pooling_type" in info or "bert" in family.lower():
        return ModelKind.EMBEDDING
    return ModelKind.CHAT if info else ModelKind.UNKNOWN
