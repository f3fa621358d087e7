"""Providers asked in order; breakers, retries, deadlines, and giving up."""

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest

from kmem_desktop.domain.models import ChatReply, ChatRequest, FallbackReason, Message
from kmem_desktop.errors import DeadlineError, ProviderUnavailableError
from kmem_desktop.providers.http.chain import (
    ONCE,
    Chain,
    CircuitBreaker,
    CircuitState,
    Link,
    RetryPolicy,
    error_of,
)
from kmem_desktop.providers.http.client import HttpClient
from kmem_desktop.providers.http.failures import FailureKind
from kmem_desktop.providers.http.openai_compatible import OpenAICompatible
from tests.providers import servers
from tests.providers.openai_server import completion, events, openai_routes
from tests.providers.servers import reply, serving

LONG_S = 10.0
QUICK = RetryPolicy(attempts=3, wait_initial_s=0.001, wait_max_s=0.002, wait_jitter_s=0.001)
REQUEST = ChatRequest((Message("user", "Are you there?"),), "a-model")
CHAT = "POST /v1/chat/completions"


class Clock:
    """A clock that the test moves."""

    now = 100.0

    def __call__(self) -> float:
        return self.now


def breaker(clock: Clock | None = None) -> CircuitBreaker:
    return CircuitBreaker(failures_to_open=3, open_for_s=30, clock=clock or Clock())


def links(*addresses: str, breakers: Sequence[CircuitBreaker] = ()) -> list[Link]:
    made = [
        OpenAICompatible(f"p{n}", f"Provider {n}", HttpClient(f"Provider {n}", address))
        for n, address in enumerate(addresses)
    ]
    kept = [*breakers] + [breaker() for _ in made]
    return [Link(each, "a-model", kept[n]) for n, each in enumerate(made)]


def state(kept: CircuitBreaker) -> CircuitState:
    """Return a breaker's state, which mypy believes to stay as it was."""
    return kept.state


async def ask(chain: Chain, deadline_s: float = LONG_S, pieces: list[str] | None = None):
    async def question(link: Link, left_s: float) -> ChatReply:
        take = None if pieces is None else pieces.append
        return await link.provider.chat(REQUEST, take, deadline_s=left_s)

    return await chain.ask(question, deadline_s=deadline_s, is_repeatable=lambda: not pieces)


async def outcome(*routes: Any, policy: RetryPolicy = QUICK, deadline_s: float = LONG_S):
    with serving({**openai_routes(), CHAT: list(routes)}) as server:
        made = links(server.address)
        found = await ask(Chain(made, policy=policy), deadline_s)
        await made[0].provider.close()
    return found, server.count("/v1/chat/completions")


async def test_the_first_who_answers_is_enough() -> None:
    with serving(openai_routes()) as first, serving(openai_routes()) as second:
        made = links(first.address, second.address)
        found = await ask(Chain(made))
    assert found.value is not None
    assert found.value.text == "ready"
    assert (found.diagnostics.provider, found.diagnostics.fallback) == ("p0", None)
    assert second.requests == []


@pytest.mark.parametrize(
    ("answer", "kind", "asked"),
    [
        (reply(b"<html>"), "malformed", 1),
        (reply({}, status=404), "no_model", 1),
        (reply({}, status=400), "refused", 1),
        (reply({}, status=500), "server_error", 3),
        (reply({}, status=429), "rate_limited", 3),
        (reply({}, status=429, headers={"Retry-After": "60"}), "rate_limited", 1),
        (servers.cut_off(), "truncated", 3),
        (servers.reset(), "broken_off", 3),
        (reply({}, status=302, headers={"Location": "http://192.0.2.1/"}), "redirected", 1),
    ],
)
async def test_after_each_failure_the_next_one_answers_and_the_reason_is_kept(
    answer: Any, kind: str, asked: int
) -> None:
    with serving({CHAT: answer}) as first, serving(openai_routes()) as second:
        found = await ask(Chain(links(first.address, second.address), policy=QUICK))
    assert found.value is not None
    assert found.diagnostics.provider == "p1"
    assert [(each.provider, each.kind) for each in found.diagnostics.failures] == [("p0", kind)]
    assert len(first.requests) == asked


async def test_what_passes_by_itself_is_asked_again() -> None:
    found, asked = await outcome(
        reply({}, status=503), servers.reset(), reply(completion("at last"))
    )
    assert found.value is not None
    assert (found.value.text, asked) == ("at last", 3)
    assert found.diagnostics.failures == ()


async def test_it_waits_as_long_as_the_server_asks_if_there_is_time() -> None:
    found, asked = await outcome(
        reply({}, status=429, headers={"Retry-After": "0"}), reply(completion("yes"))
    )
    assert found.value is not None
    assert asked == 2


@pytest.mark.parametrize("answer", [servers.hanging(), servers.dripping()])
async def test_who_is_too_slow_leaves_time_for_the_next(answer: Any) -> None:
    with serving({CHAT: answer}) as first, serving(openai_routes()) as second:
        found = await ask(Chain(links(first.address, second.address), policy=ONCE), 1.0)
        assert await asyncio.to_thread(first.left.wait, LONG_S)
    assert found.value is not None
    assert found.diagnostics.failures[0].kind == "timeout"
    assert found.diagnostics.took_ms < 1000


async def test_when_all_are_too_slow_the_reason_is_the_time() -> None:
    found, _ = await outcome(servers.hanging(), deadline_s=0.1)
    assert found.value is None
    assert found.diagnostics.fallback is FallbackReason.QUERY_TIMEOUT
    assert isinstance(error_of(found.diagnostics), DeadlineError)


async def test_retries_end_at_the_deadline() -> None:
    slow = RetryPolicy(attempts=100, wait_initial_s=0.05, wait_max_s=0.05, wait_jitter_s=0.0)
    found, asked = await outcome(reply({}, status=500), policy=slow, deadline_s=0.3)
    assert found.value is None
    assert asked < 20


async def test_when_nobody_is_there_the_reason_is_that() -> None:
    found = await ask(Chain(links(servers.free_address()), policy=QUICK))
    assert found.value is None
    assert found.diagnostics.fallback is FallbackReason.MODEL_PROVIDER_UNAVAILABLE
    assert isinstance(error_of(found.diagnostics), ProviderUnavailableError)


async def test_a_chain_of_nobody_says_so() -> None:
    found = await ask(Chain([]))
    assert found.diagnostics.fallback is FallbackReason.MODEL_PROVIDER_UNAVAILABLE
    assert "No model" in error_of(found.diagnostics).message


async def test_an_answer_that_was_shown_in_part_is_not_begun_again() -> None:
    pieces: list[str] = []
    with serving({CHAT: events("half", ends=False)}) as first, serving(openai_routes()) as second:
        found = await ask(Chain(links(first.address, second.address), policy=QUICK), pieces=pieces)
    assert found.value is None
    assert pieces == ["half"]
    assert (len(first.requests), len(second.requests)) == (1, 0)
    assert found.diagnostics.failures[0].kind == "truncated"


async def test_the_breaker_opens_and_closes_again_round_a_real_server() -> None:
    clock = Clock()
    kept = breaker(clock)
    with serving({CHAT: reply({}, status=500)}) as server:
        chain = Chain(links(server.address, breakers=[kept]), policy=ONCE)
        for _ in range(3):
            await ask(chain)
        assert kept.state is CircuitState.OPEN
        refused = await ask(chain)
        assert refused.diagnostics.failures[0].kind == "circuit_open"
        assert len(server.requests) == 3
        clock.now += 30
        await ask(chain)  # the probe fails, too
        assert len(server.requests) == 4
        assert kept.state is CircuitState.OPEN
        server.routes[CHAT] = reply(completion("again"))
        clock.now += 30
        found = await ask(chain)
    assert found.value is not None
    assert state(kept) is CircuitState.CLOSED


async def test_a_server_that_wants_to_be_left_alone_is() -> None:
    clock = Clock()
    kept = breaker(clock)
    busy = reply({}, status=429, headers={"Retry-After": "120"})
    with serving({CHAT: busy}) as server:
        chain = Chain(links(server.address, breakers=[kept]), policy=QUICK)
        await ask(chain)
        clock.now += 119
        await ask(chain)
    assert len(server.requests) == 1
    assert kept.state is CircuitState.OPEN


async def test_a_wrong_question_does_not_open_the_breaker() -> None:
    kept = breaker()
    with serving({CHAT: reply({}, status=404)}) as server:
        chain = Chain(links(server.address, breakers=[kept]), policy=ONCE)
        for _ in range(5):
            await ask(chain)
    assert kept.state is CircuitState.CLOSED
    assert len(server.requests) == 5


def test_only_one_question_goes_through_a_half_open_breaker() -> None:
    clock = Clock()
    kept = breaker(clock)
    for _ in range(3):
        assert kept.enter()
        kept.failed()
    assert not kept.enter()
    clock.now += 30
    assert kept.state is CircuitState.HALF_OPEN
    assert kept.enter()
    assert not kept.enter()
    kept.given_up()
    assert kept.enter()
    kept.succeeded()
    assert state(kept) is CircuitState.CLOSED


async def test_giving_up_ends_the_request_and_frees_the_breaker() -> None:
    clock = Clock()
    kept = breaker(clock)
    with serving({CHAT: servers.hanging()}) as server:
        chain = Chain(links(server.address, breakers=[kept]), policy=QUICK)
        asking = asyncio.ensure_future(ask(chain, 60))
        assert await asyncio.to_thread(server.asked.wait, LONG_S)
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking
        assert await asyncio.to_thread(server.left.wait, LONG_S)
    assert kept.state is CircuitState.CLOSED
    assert kept.enter()


def test_the_kinds_that_diagnostics_name_are_known() -> None:
    assert FailureKind("truncated") is FailureKind.TRUNCATED
    assert str(FallbackReason.QUERY_TIMEOUT) == "query_timeout"
