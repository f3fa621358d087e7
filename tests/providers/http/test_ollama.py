"""Ollama's own interface, against a server in the shapes of its documentation."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from kmem_desktop.domain.models import ELSEWHERE, ChatRequest, Message, ModelKind
from kmem_desktop.errors import ProviderError
from kmem_desktop.providers.http.client import HttpClient
from kmem_desktop.providers.http.failures import FailureKind, kind_of
from kmem_desktop.providers.http.ollama import Ollama, parameter_count
from tests.providers import servers
from tests.providers.ollama_server import (
    DIMENSION,
    model,
    ollama_routes,
    passing_on_routes,
    said,
    shown,
)
from tests.providers.servers import Server, reply, serving, streamed

LONG_S = 10.0
QUESTION = ChatRequest((Message("user", "Are you there?"),), "llama3.2:3b", max_tokens=7)


@asynccontextmanager
async def ollama(**routes: Any) -> AsyncIterator[tuple[Ollama, Server]]:
    changed = {key.replace("_", " ", 1).replace("_", "/"): value for key, value in routes.items()}
    with serving({**ollama_routes(loaded=("llama3.2:3b",)), **changed}) as server:
        provider = Ollama("ollama", "Ollama", HttpClient("Ollama", server.address))
        yield provider, server
        await provider.close()


async def test_it_tells_its_version() -> None:
    async with ollama() as (provider, _):
        greeting = await provider.available(deadline_s=LONG_S)
    assert (greeting.version, greeting.is_ours) == ("0.12.10", True)


async def test_what_has_no_version_is_something_else() -> None:
    async with ollama(**{"GET_/api_version": reply({"status": "fine"})}) as (provider, _):
        assert not (await provider.available(deadline_s=LONG_S)).is_ours


async def test_its_models_are_told_with_all_it_says_of_them() -> None:
    async with ollama() as (provider, _):
        chat, embedding = await provider.models(deadline_s=LONG_S)
    assert chat.name == "llama3.2:3b"
    assert chat.kind is ModelKind.CHAT
    assert (chat.size_bytes, chat.vram_bytes) == (2_019_393_189, 2_019_393_189)
    assert chat.context_tokens == 4096  # as loaded, not the 131,072 that it could read
    assert (chat.parameter_count, chat.quantisation) == (3_212_749_888, "Q4_K_M")
    assert chat.is_loaded is True
    assert embedding.kind is ModelKind.EMBEDDING
    assert (embedding.dimension, embedding.context_tokens) == (768, 2048)
    assert (embedding.is_loaded, embedding.vram_bytes) == (False, 0)


async def test_an_older_one_that_tells_no_capabilities_is_understood() -> None:
    with serving(ollama_routes(is_old=True)) as server:
        provider = Ollama("ollama", "Ollama", HttpClient("Ollama", server.address))
        kinds = [each.kind for each in await provider.models(deadline_s=LONG_S)]
        await provider.close()
    assert kinds == [ModelKind.CHAT, ModelKind.EMBEDDING]


async def test_a_model_is_shown_once_until_it_changes() -> None:
    async with ollama() as (provider, server):
        await provider.models(deadline_s=LONG_S)
        await provider.models(deadline_s=LONG_S)
    assert server.count("/api/show") == 2
    assert server.count("/api/tags") == 2


async def test_models_of_another_computer_are_told_apart() -> None:
    far = model("gpt-oss:120b-cloud", size=384, remote_host="https://ollama.com:443")
    with serving(ollama_routes(far)) as server:
        provider = Ollama("ollama", "Ollama", HttpClient("Ollama", server.address))
        (found,) = await provider.models(deadline_s=LONG_S)
        await provider.close()
    assert found.remote_host == "ollama.com"


async def test_without_ps_and_show_the_list_is_enough() -> None:
    routes = {"GET_/api_ps": reply({}, status=404), "POST_/api_show": reply(b"?", status=500)}
    async with ollama(**routes) as (provider, _):
        found = await provider.models(deadline_s=LONG_S)
    assert [each.name for each in found] == ["llama3.2:3b", "nomic-embed-text:latest"]
    assert found[0].parameter_count == 3_200_000_000
    assert found[1].kind is ModelKind.EMBEDDING  # by its family


async def test_a_show_that_hangs_costs_its_deadline_only() -> None:
    async with ollama(**{"POST_/api_show": servers.hanging()}) as (provider, _):
        found = await provider.models(deadline_s=0.4)
    assert len(found) == 2


@pytest.mark.parametrize("tags", [[], {}, {"models": "none"}, b"null"])
async def test_a_list_that_is_none_is_told(tags: Any) -> None:
    async with ollama(**{"GET_/api_tags": reply(tags)}) as (provider, _):
        with pytest.raises(ProviderError) as caught:
            await provider.models(deadline_s=LONG_S)
    assert kind_of(caught.value) is FailureKind.MALFORMED


async def test_rows_of_the_wrong_kind_are_passed_over() -> None:
    rows = [1, None, {}, {"name": 7}, {"name": "x", "size": "big", "details": []}]
    async with ollama(**{"GET_/api_tags": reply({"models": rows})}) as (provider, _):
        (found,) = await provider.models(deadline_s=LONG_S)
    assert (found.name, found.size_bytes) == ("x", 0)


async def test_it_answers_at_once_or_in_pieces() -> None:
    pieces: list[str] = []
    with serving(ollama_routes(words="yes I am")) as server:
        provider = Ollama("ollama", "Ollama", HttpClient("Ollama", server.address))
        whole = await provider.chat(QUESTION, deadline_s=LONG_S)
        reply_ = await provider.chat(QUESTION, pieces.append, deadline_s=LONG_S)
        await provider.close()
    assert whole.text == "yes I am"
    assert (whole.tokens_in, whole.tokens_out) == (26, 5)
    assert pieces == ["yes ", "I ", "am "]
    assert reply_.text == "yes I am "
    assert server.requests[0].body["options"] == {"temperature": 0.2, "num_predict": 7}


async def test_a_schema_is_handed_on() -> None:
    asked = ChatRequest(QUESTION.messages, "llama3.2:3b", schema={"type": "object"})
    async with ollama() as (provider, server):
        await provider.chat(asked, deadline_s=LONG_S)
    assert server.requests[0].body["format"] == {"type": "object"}


async def test_a_model_that_is_not_there_is_told() -> None:
    async with ollama() as (provider, _):
        with pytest.raises(ProviderError) as caught:
            await provider.chat(ChatRequest(QUESTION.messages, "gone"), deadline_s=LONG_S)
    assert kind_of(caught.value) is FailureKind.NO_MODEL


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (streamed(json.dumps(said("a", done=False)) + "\n"), FailureKind.TRUNCATED),
        (streamed('{"message": \n'), FailureKind.MALFORMED),
        (streamed("[1]\n"), FailureKind.MALFORMED),
        (streamed('{"done": true}\n'), FailureKind.MALFORMED),
        (streamed('{"error": "out of memory"}\n'), FailureKind.SERVER_ERROR),
    ],
)
async def test_a_stream_that_goes_wrong_is_told(answer: Any, kind: FailureKind) -> None:
    async with ollama(**{"POST_/api_chat": answer}) as (provider, _):
        with pytest.raises(ProviderError) as caught:
            await provider.chat(QUESTION, lambda piece: None, deadline_s=LONG_S)
    assert kind_of(caught.value) is kind


async def test_each_text_gets_a_vector() -> None:
    async with ollama() as (provider, server):
        vectors = await provider.embed(["a", "bc"], "nomic-embed-text", deadline_s=LONG_S)
    assert [len(vector) for vector in vectors] == [DIMENSION, DIMENSION]
    assert vectors[0][0] == 1.0
    assert server.requests[0].body["input"] == ["a", "bc"]


@pytest.mark.parametrize(
    "embeddings",
    [
        None,
        [],
        [[1.0]],
        [[1.0], [1.0, 2.0]],
        [[], []],
        [[0.0], [0.0]],
        [["1"], ["2"]],
        [[True], [True]],
        [[float("nan")], [1.0]],
        [[1e999], [1.0]],
        ["ab", "cd"],
    ],
)
async def test_vectors_that_are_none_are_refused(embeddings: Any) -> None:
    content = json.dumps({"embeddings": embeddings}).encode()
    async with ollama(**{"POST_/api_embed": reply(content)}) as (provider, _):
        with pytest.raises(ProviderError) as caught:
            await provider.embed(["a", "b"], "x", deadline_s=LONG_S)
    assert kind_of(caught.value) is FailureKind.MALFORMED


async def test_it_tells_what_a_task_is_about() -> None:
    words = '{"layer": "4-Persistence", "topics": ["database"], "confidence": 0.9}'
    with serving(ollama_routes(words=words)) as server:
        provider = Ollama("ollama", "Ollama", HttpClient("Ollama", server.address))
        context = await provider.detect_context("Add an index", "llama3.2:3b", deadline_s=LONG_S)
        await provider.close()
    assert (context.layer, context.topics, context.confidence) == (
        "persistence", ("database",), 0.9,
    )  # fmt: skip
    assert (context.method, context.model) == ("model", "ollama:llama3.2:3b")
    assert server.requests[0].body["format"]["type"] == "object"


async def test_words_instead_of_a_context_are_a_failure() -> None:
    with serving(ollama_routes(words="I cannot tell.")) as server:
        provider = Ollama("ollama", "Ollama", HttpClient("Ollama", server.address))
        with pytest.raises(ProviderError) as caught:
            await provider.detect_context("Add an index", "llama3.2:3b", deadline_s=LONG_S)
        await provider.close()
    assert kind_of(caught.value) is FailureKind.MALFORMED


@pytest.mark.parametrize(
    ("text", "count"),
    [("8.0B", 8_000_000_000), ("137M", 137_000_000), ("", 0), ("big", 0), ("B", 0), ("infB", 0)],
)
def test_sizes_are_read_as_ollama_writes_them(text: str, count: int) -> None:
    assert parameter_count(text) == count


async def test_models_that_lie_on_no_disk_are_somewhere_else() -> None:
    with serving(passing_on_routes()) as server:
        provider = Ollama("ollama", "Ollama", HttpClient("Ollama", server.address))
        greeting = await provider.available(deadline_s=LONG_S)
        chat, embedding = await provider.models(deadline_s=LONG_S)
        await provider.close()
    assert greeting.is_ours
    assert (chat.kind, chat.remote_host, chat.is_loaded) == (ModelKind.CHAT, ELSEWHERE, None)
    assert (embedding.kind, embedding.remote_host) == (ModelKind.EMBEDDING, ELSEWHERE)
    assert server.count("/api/show") == 0


@pytest.mark.parametrize("is_old", [False, True])
@pytest.mark.parametrize("in_pieces", [False, True])
async def test_who_passes_texts_on_is_asked_in_the_way_that_it_knows(
    is_old: bool, in_pieces: bool
) -> None:
    pieces: list[str] = []
    question = ChatRequest((Message("user", "Are you there?"),), "gpt-5", max_tokens=7)
    with serving(passing_on_routes(words="yes", is_old=is_old)) as server:
        provider = Ollama("ollama", "Ollama", HttpClient("Ollama", server.address))
        await provider.models(deadline_s=LONG_S)
        answer = await provider.chat(
            question, pieces.append if in_pieces else None, deadline_s=LONG_S
        )
        with pytest.raises(ProviderError) as caught:
            await provider.embed(["a"], "text-embedding-3-small", deadline_s=LONG_S)
        await provider.close()
    assert answer.text.strip() == "yes"
    assert "".join(pieces) == (answer.text if in_pieces else "")
    assert kind_of(caught.value) is FailureKind.NO_MODEL
    assert server.count("/v1/chat/completions") == is_old


async def test_a_real_ollama_is_asked_in_no_other_way() -> None:
    not_there = reply({"error": "model not found"}, status=404)
    async with ollama(**{"POST_/api_chat": not_there}) as (provider, server):
        await provider.models(deadline_s=LONG_S)
        with pytest.raises(ProviderError):
            await provider.chat(QUESTION, deadline_s=LONG_S)
    assert server.count("/v1/chat/completions") == 0


async def test_an_ollama_that_does_not_tell_what_is_loaded_says_neither_yes_nor_no() -> None:
    async with ollama(**{"GET_/api_ps": reply({}, status=404)}) as (provider, _):
        found = await provider.models(deadline_s=LONG_S)
    assert {each.is_loaded for each in found} == {None}


def test_the_fake_shows_what_the_documentation_shows() -> None:
    assert {"model_info", "details", "template", "capabilities"} <= set(shown("llama3.2:3b"))
