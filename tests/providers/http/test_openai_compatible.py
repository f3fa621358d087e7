"""OpenAI's language and its dialects."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from kmem_desktop.domain.models import ChatRequest, Message, ModelKind
from kmem_desktop.errors import ProviderError
from kmem_desktop.providers.http.catalogue import KNOWN, OPENAI, Known
from kmem_desktop.providers.http.client import HttpClient
from kmem_desktop.providers.http.failures import FailureKind, kind_of
from kmem_desktop.providers.http.openai_compatible import (
    Dialect,
    OpenAICompatible,
    kind_by_name,
)
from tests.providers.openai_server import completion, events, openai_routes
from tests.providers.servers import Server, reply, serving, streamed

LONG_S = 10.0
QUESTION = ChatRequest((Message("user", "Are you there?"),), "a-model", max_tokens=7)
DIALECTS = {known.id: known.dialect for known in KNOWN}


@asynccontextmanager
async def speaking(
    routes: dict[str, Any], dialect: Dialect | None = None
) -> AsyncIterator[tuple[OpenAICompatible, Server]]:
    with serving({**openai_routes(), **routes}) as server:
        client = HttpClient("Someone", server.address)
        provider = OpenAICompatible("someone", "Someone", client, dialect=dialect)
        yield provider, server
        await provider.close()


def known(name: str) -> Known:
    return next(each for each in KNOWN if each.id == name)


async def test_models_are_told_apart_by_their_names_where_nothing_else_tells() -> None:
    names = ("llama-3.2-3b", "text-embedding-nomic-embed-text-v1.5", "whisper-1")
    async with speaking(openai_routes(*names)) as (provider, _):
        found = await provider.models(deadline_s=LONG_S)
    assert [each.kind for each in found] == [
        ModelKind.CHAT, ModelKind.EMBEDDING, ModelKind.UNKNOWN,
    ]  # fmt: skip
    assert found[0].is_loaded is None


@pytest.mark.parametrize("name", ["bge-m3", "all-MiniLM-L6-v2", "mxbai-embed-large", "jina-v3"])
def test_embedding_models_are_known_by_their_families(name: str) -> None:
    assert kind_by_name(name) is ModelKind.EMBEDDING


async def test_llama_cpp_tells_its_figures() -> None:
    meta = {"n_ctx_train": 8192, "n_embd": 576, "n_params": 134_515_008, "size": 96_000_000}
    routes = openai_routes("SmolLM2", owner="llamacpp", meta=meta)
    async with speaking(routes, DIALECTS["llama-cpp"]) as (provider, _):
        assert (await provider.available(deadline_s=LONG_S)).is_ours
        (found,) = await provider.models(deadline_s=LONG_S)
    assert (found.context_tokens, found.dimension) == (8192, 576)
    assert (found.parameter_count, found.size_bytes) == (134_515_008, 96_000_000)
    assert found.is_loaded is True


async def test_two_programs_that_use_one_port_are_told_apart() -> None:
    for owner, is_llama in (("llamacpp", True), ("localai", False)):
        routes = openai_routes("x", owner=owner)
        async with speaking(routes, DIALECTS["llama-cpp"]) as (provider, _):
            assert (await provider.available(deadline_s=LONG_S)).is_ours is is_llama
        async with speaking(routes, DIALECTS["localai"]) as (provider, _):
            assert (await provider.available(deadline_s=LONG_S)).is_ours is not is_llama


async def test_lm_studio_tells_which_models_are_loaded() -> None:
    rows = [
        {"id": "qwen2.5-3b", "type": "llm", "state": "loaded", "quantization": "Q4_K_M",
         "max_context_length": 32768, "loaded_context_length": 4096},
        {"id": "text-embedding-nomic", "type": "embeddings", "state": "not-loaded",
         "max_context_length": 2048},
    ]  # fmt: skip
    routes = {"GET /api/v0/models": reply({"object": "list", "data": rows})}
    async with speaking(routes, DIALECTS["lm-studio"]) as (provider, _):
        chat, embedding = await provider.models(deadline_s=LONG_S)
    assert (chat.kind, chat.is_loaded, chat.context_tokens) == (ModelKind.CHAT, True, 4096)
    assert (embedding.kind, embedding.is_loaded) == (ModelKind.EMBEDDING, False)


async def test_an_lm_studio_without_that_list_gives_the_common_one() -> None:
    async with speaking({}, DIALECTS["lm-studio"]) as (provider, _):
        (found,) = await provider.models(deadline_s=LONG_S)
    assert found.name == "a-model"


async def test_the_unified_server_tells_its_graphics_memory_and_its_embedding_models() -> None:
    chat = {"id": "local-chat"}
    vectors = {"id": "local-vectors", "type": "embedding"}
    routes = {
        "GET /v1/models?type=embedding": reply({"models": [vectors]}),
        "GET /v1/models": reply({"models": [chat, vectors]}),
        "GET /health/vram": reply({"available_gb": 6.5}),
    }
    async with speaking(routes, DIALECTS["unified"]) as (provider, _):
        greeting = await provider.available(deadline_s=LONG_S)
        found = {each.name: each.kind for each in await provider.models(deadline_s=LONG_S)}
    assert greeting.free_vram_bytes == 6_500_000_000
    assert found == {"local-chat": ModelKind.CHAT, "local-vectors": ModelKind.EMBEDDING}


@pytest.mark.parametrize("vram", [reply({}, status=404), reply([]), reply({"available_gb": "6"})])
async def test_a_server_without_graphics_memory_is_there_all_the_same(vram: Any) -> None:
    async with speaking({"GET /health/vram": vram}, DIALECTS["unified"]) as (provider, _):
        assert (await provider.available(deadline_s=LONG_S)).free_vram_bytes == 0
        assert await provider.models(deadline_s=LONG_S)


async def test_it_answers_at_once_or_in_pieces() -> None:
    pieces: list[str] = []
    async with speaking(openai_routes(words="yes I am")) as (provider, server):
        whole = await provider.chat(QUESTION, deadline_s=LONG_S)
        streamed_ = await provider.chat(QUESTION, pieces.append, deadline_s=LONG_S)
    assert (whole.text, whole.tokens_in, whole.tokens_out) == ("yes I am", 9, 2)
    assert pieces == ["yes ", "I ", "am "]
    assert streamed_.text == "yes I am "
    assert server.requests[0].body["max_tokens"] == 7


async def test_openai_itself_is_spoken_to_as_it_wants() -> None:
    async with speaking({}, OPENAI.dialect) as (provider, server):
        await provider.chat(QUESTION, deadline_s=LONG_S)
    assert server.requests[0].body["max_completion_tokens"] == 7
    assert not {"max_tokens", "temperature"} & set(server.requests[0].body)


async def test_an_answer_that_became_too_long_says_so() -> None:
    routes = {"POST /v1/chat/completions": reply(completion("and then", "length"))}
    async with speaking(routes) as (provider, _):
        assert (await provider.chat(QUESTION, deadline_s=LONG_S)).is_cut


async def test_who_refuses_a_schema_is_asked_without_it() -> None:
    answers = [reply({"error": "?"}, status=400), reply(completion("{}"))]
    asked = ChatRequest(QUESTION.messages, "a-model", schema={"type": "object"})
    async with speaking({"POST /v1/chat/completions": answers}) as (provider, server):
        assert (await provider.chat(asked, deadline_s=LONG_S)).text == "{}"
    first, second = (request.body for request in server.requests)
    assert first["response_format"]["json_schema"]["schema"] == {"type": "object"}
    assert "response_format" not in second


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (reply({}), FailureKind.MALFORMED),
        (reply({"choices": []}), FailureKind.MALFORMED),
        (reply({"choices": [{"message": {"content": None}}]}), FailureKind.MALFORMED),
        (reply({"error": {"message": "no"}}), FailureKind.SERVER_ERROR),
    ],
)
async def test_an_answer_that_is_none_is_told(answer: Any, kind: FailureKind) -> None:
    async with speaking({"POST /v1/chat/completions": answer}) as (provider, _):
        with pytest.raises(ProviderError) as caught:
            await provider.chat(QUESTION, deadline_s=LONG_S)
    assert kind_of(caught.value) is kind


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (events("a", ends=False), FailureKind.TRUNCATED),
        (streamed("data: {\n\n"), FailureKind.MALFORMED),
        (streamed("data: 1\n\n"), FailureKind.MALFORMED),
        (streamed('data: {"error": "no"}\n\n'), FailureKind.SERVER_ERROR),
        (reply({}, status=404), FailureKind.NO_MODEL),
    ],
)
async def test_a_stream_that_goes_wrong_is_told(answer: Any, kind: FailureKind) -> None:
    async with speaking({"POST /v1/chat/completions": answer}) as (provider, _):
        with pytest.raises(ProviderError) as caught:
            await provider.chat(QUESTION, lambda piece: None, deadline_s=LONG_S)
    assert kind_of(caught.value) is kind


async def test_vectors_come_in_the_order_of_the_texts() -> None:
    async with speaking({}) as (provider, _):
        vectors = await provider.embed(["a", "bc", "def"], "m", deadline_s=LONG_S)
    assert [vector[0] for vector in vectors] == [1.0, 2.0, 3.0]


async def test_many_texts_are_sent_in_parts() -> None:
    async with speaking({}, Dialect(takes_texts_at_once=2)) as (provider, server):
        vectors = await provider.embed(["a"] * 5, "m", deadline_s=LONG_S)
    assert len(vectors) == 5
    assert [len(request.body["input"]) for request in server.requests] == [2, 2, 1]


async def test_a_list_of_models_that_is_none_is_something_else() -> None:
    for answer in (reply([]), reply({"status": "ok"}), reply({"data": {}})):
        async with speaking({"GET /v1/models": answer}) as (provider, _):
            with pytest.raises(ProviderError) as caught:
                await provider.available(deadline_s=LONG_S)
        assert kind_of(caught.value) is FailureKind.MALFORMED
