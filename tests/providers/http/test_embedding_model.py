"""A provider's embedding model, as the embedding service uses one."""

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Sequence

import numpy as np
import pytest

from kmem_desktop.errors import ProviderError, ProviderUnavailableError
from kmem_desktop.providers.http.background import Background
from kmem_desktop.providers.http.embedding_model import RemoteEmbeddingModel
from kmem_desktop.providers.http.failures import FailureKind, failure
from kmem_desktop.providers.model import Model, vectors_of


@pytest.fixture
async def background() -> AsyncIterator[Background]:
    made = Background()
    yield made
    await made.stop()


def model_of(
    background: Background,
    answer: Callable[[Sequence[str]], list[list[float]]],
    context_tokens: int = 0,
    is_up: bool = True,
) -> RemoteEmbeddingModel:
    async def embed(texts: Sequence[str]) -> list[list[float]]:
        return answer(texts)

    return RemoteEmbeddingModel(
        "ollama:nomic", 2, background, embed, is_up=lambda: is_up, context_tokens=context_tokens
    )


async def embedded(model: Model, texts: Sequence[str]):
    return await asyncio.to_thread(model.embed, texts)


async def test_vectors_are_of_length_one_and_made_on_the_models_thread(
    background: Background,
) -> None:
    seen: list[str] = []

    def answer(texts: Sequence[str]) -> list[list[float]]:
        seen.append(threading.current_thread().name)
        return [[3.0, 4.0] for _ in texts]

    vectors = await embedded(model_of(background, answer), ["a", "b"])
    assert vectors.dtype == np.float32
    assert vectors.tolist() == [[pytest.approx(0.6), pytest.approx(0.8)]] * 2
    assert seen == ["kmem-models"]


async def test_no_texts_need_nobody(background: Background) -> None:
    model = model_of(background, lambda texts: [])
    assert (await embedded(model, [])).shape == (0, 2)


async def test_vectors_of_another_length_than_before_are_refused(background: Background) -> None:
    with pytest.raises(ProviderError, match="another length"):
        await embedded(model_of(background, lambda texts: [[1.0] for _ in texts]), ["a"])


async def test_a_text_is_cut_to_what_the_model_reads(background: Background) -> None:
    seen: list[int] = []

    def answer(texts: Sequence[str]) -> list[list[float]]:
        seen.extend(len(text) for text in texts)
        return [[1.0, 0.0] for _ in texts]

    await embedded(model_of(background, answer, context_tokens=512), ["x" * 8000, "", "\ud83d"])
    assert seen == [1536, 1, 1]


async def test_a_text_that_is_still_too_long_is_cut_again_and_that_is_remembered(
    background: Background,
) -> None:
    seen: list[int] = []

    def answer(texts: Sequence[str]) -> list[list[float]]:
        seen.append(max(map(len, texts)))
        if seen[-1] > 600:
            raise failure(FailureKind.SERVER_ERROR, "too long")
        return [[1.0, 0.0] for _ in texts]

    model = model_of(background, answer, context_tokens=2048)
    assert (await embedded(model, ["語" * 8000])).shape == (1, 2)
    await embedded(model, ["語" * 8000])
    assert seen == [6144, 1500, 400, 400]


async def test_a_short_text_that_fails_is_not_cut(background: Background) -> None:
    asked: list[int] = []

    def answer(texts: Sequence[str]) -> list[list[float]]:
        asked.append(len(texts[0]))
        raise failure(FailureKind.SERVER_ERROR, "ill")

    with pytest.raises(ProviderError):
        await embedded(model_of(background, answer), ["short"])
    assert asked == [5]


@pytest.mark.parametrize(
    "kind", [FailureKind.TIMEOUT, FailureKind.UNREACHABLE, FailureKind.CIRCUIT_OPEN]
)
async def test_a_provider_that_is_gone_is_not_asked_for_each_text(
    background: Background, kind: FailureKind
) -> None:
    asked: list[int] = []

    def answer(texts: Sequence[str]) -> list[list[float]]:
        asked.append(len(texts))
        raise failure(kind, "gone")

    model = model_of(background, answer)
    with pytest.raises(ProviderUnavailableError):
        await asyncio.to_thread(vectors_of, model, ["a", "b", "c"])
    assert asked == [3]


async def test_one_text_that_is_refused_does_not_stop_the_others(background: Background) -> None:
    def answer(texts: Sequence[str]) -> list[list[float]]:
        if "bad" in texts:
            raise failure(FailureKind.REFUSED, "no")
        return [[1.0, 0.0] for _ in texts]

    found = await asyncio.to_thread(vectors_of, model_of(background, answer), ["a", "bad", "c"])
    assert found.tolist() == [[1.0, 0.0], [0.0, 0.0], [1.0, 0.0]]


async def test_it_is_as_available_as_its_provider(background: Background) -> None:
    up, down = (model_of(background, lambda texts: [], is_up=is_up) for is_up in (True, False))
    assert (up.is_available(), up.is_loaded()) == (True, True)
    assert (down.is_available(), down.is_loaded()) == (False, False)
    up.release()


async def test_questions_and_texts_are_marked_as_the_model_wants_them(
    background: Background,
) -> None:
    asked: list[str] = []

    async def embed(texts: Sequence[str]) -> list[list[float]]:
        asked.extend(texts)
        return [[3.0, 4.0] for _ in texts]

    name = "ollama:nomic-embed-text:latest"
    model = RemoteEmbeddingModel(name, 2, background, embed, is_up=lambda: True, context_tokens=10)
    await embedded(model, ["a text", "x" * 99])
    await asyncio.to_thread(model.embed_questions, ["a question"])
    plain = RemoteEmbeddingModel("lm-studio:bge-m3", 2, background, embed, is_up=lambda: True)
    await asyncio.to_thread(plain.embed_questions, ["a question"])
    longest = ("search_document: " + "x" * 99)[:30]
    assert asked == ["search_document: a text", longest, "search_query: a question", "a question"]
