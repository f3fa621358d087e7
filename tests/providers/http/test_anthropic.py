"""Anthropic's language, as its documentation shows it; the service itself is not asked."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from kmem_desktop.domain.models import ChatRequest, Message
from kmem_desktop.errors import ProviderError
from kmem_desktop.providers.http.anthropic import Anthropic
from kmem_desktop.providers.http.client import HttpClient
from kmem_desktop.providers.http.failures import FailureKind, kind_of
from tests.providers.servers import Answer, Server, reply, serving, streamed

LONG_S = 10.0
QUESTION = ChatRequest(
    (Message("system", "Be short."), Message("user", "Are you there?")), "claude", max_tokens=7
)
ANSWER = {
    "type": "message",
    "content": [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "yes"}],
    "stop_reason": "end_turn",
    "usage": {"input_tokens": 11, "output_tokens": 3},
}


def events(*more: dict[str, Any]) -> Answer:
    told: list[dict[str, Any]] = [
        {"type": "message_start", "message": {"usage": {"input_tokens": 11}}},
        {"type": "ping"},
        {"type": "content_block_delta", "delta": {"type": "text_delta", "text": "ye"}},
        {"type": "content_block_delta", "delta": {"type": "text_delta", "text": "s"}},
        *more,
    ]
    return streamed(*(f"event: {e['type']}\ndata: {json.dumps(e)}\n\n" for e in told))


@asynccontextmanager
async def anthropic(answer: Answer) -> AsyncIterator[tuple[Anthropic, Server]]:
    with serving({"*": answer}) as server:
        provider = Anthropic("anthropic", "Anthropic", HttpClient("Anthropic", server.address))
        yield provider, server
        await provider.close()


async def test_what_the_system_says_travels_apart() -> None:
    async with anthropic(reply(ANSWER)) as (provider, server):
        answer = await provider.chat(QUESTION, deadline_s=LONG_S)
    assert (answer.text, answer.tokens_in, answer.tokens_out) == ("yes", 11, 3)
    body = server.requests[0].body
    assert body["system"] == "Be short."
    assert body["messages"] == [{"role": "user", "content": "Are you there?"}]
    assert body["max_tokens"] == 7


async def test_pieces_come_as_they_are_said() -> None:
    pieces: list[str] = []
    end = {"type": "message_delta", "delta": {"stop_reason": "max_tokens"},
           "usage": {"output_tokens": 3}}  # fmt: skip
    async with anthropic(events(end, {"type": "message_stop"})) as (provider, _):
        answer = await provider.chat(QUESTION, pieces.append, deadline_s=LONG_S)
    assert pieces == ["ye", "s"]
    assert (answer.text, answer.tokens_out, answer.is_cut) == ("yes", 3, True)


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (events(), FailureKind.TRUNCATED),
        (
            events({"type": "error", "error": {"type": "overloaded_error"}}),
            FailureKind.SERVER_ERROR,
        ),
        (reply({}, status=529), FailureKind.SERVER_ERROR),
        (reply({}, status=401), FailureKind.NO_KEY),
    ],
)
async def test_what_goes_wrong_is_told(answer: Answer, kind: FailureKind) -> None:
    async with anthropic(answer) as (provider, _):
        with pytest.raises(ProviderError) as caught:
            await provider.chat(QUESTION, lambda piece: None, deadline_s=LONG_S)
    assert kind_of(caught.value) is kind


async def test_its_models_are_listed() -> None:
    listed = reply({"data": [{"type": "model", "id": "claude-x"}, {"id": 3}], "has_more": False})
    async with anthropic(listed) as (provider, _):
        assert (await provider.available(deadline_s=LONG_S)).is_ours
        assert [each.name for each in await provider.models(deadline_s=LONG_S)] == ["claude-x"]


@pytest.mark.parametrize("answer", [reply({}), reply([]), reply({"content": "yes"})])
async def test_an_answer_that_is_none_is_told(answer: Answer) -> None:
    async with anthropic(answer) as (provider, _):
        with pytest.raises(ProviderError):
            await provider.chat(QUESTION, deadline_s=LONG_S)


async def test_it_has_no_embeddings() -> None:
    async with anthropic(reply({})) as (provider, server):
        with pytest.raises(ProviderError) as caught:
            await provider.embed(["a"], "claude", deadline_s=LONG_S)
        assert server.requests == []
    assert kind_of(caught.value) is FailureKind.NO_MODEL
