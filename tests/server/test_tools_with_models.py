"""Tools while a model is well, ill, slow, or gone: in time, in form, and with the reason named."""

import time
from typing import Any

import pytest

from kmem_desktop.bootstrap import Services
from kmem_desktop.domain.changes import Origin, OriginKind
from kmem_desktop.domain.models import FallbackReason, Purpose
from kmem_desktop.domain.rule_library import SubmittedDocument
from kmem_desktop.domain.rules import TOPICS
from kmem_desktop.providers.http import chain
from kmem_desktop.providers.http.chain import CircuitState
from tests.providers import servers
from tests.providers.ollama_server import ollama_routes, said
from tests.providers.servers import reply, serving
from tests.server.clients import in_memory, structure_of

YOU = Origin(OriginKind.COMMAND_LINE, "You")
RULES = "# API rules\n\n- You MUST validate the body of every request before it is used.\n"
TASK = "Add an endpoint that validates the body of a request"
LOADED = ("llama3.2:3b",)
CONTEXT = '{"layer": "4-Persistence", "topics": ["database"], "confidence": 0.9}'
LIMIT_S = 0.4
LOAD_S = 0.25
"""What a busy computer may take on top."""
LAYERS = {
    "1-Presentation", "2-Application", "3-Domain", "4-Persistence", "5-Tests", "6-Docs",
    "7-Deployment", "*",
}  # fmt: skip

ILL: dict[str, tuple[Any, str]] = {
    "no JSON": (reply(b"<html>"), FallbackReason.MODEL_PROVIDER_UNAVAILABLE),
    "words": (reply(said("I cannot tell.")), FallbackReason.MODEL_PROVIDER_UNAVAILABLE),
    "another form": (
        reply(said('{"layer": "everything"}')),
        FallbackReason.MODEL_PROVIDER_UNAVAILABLE,
    ),
    "cut off": (servers.cut_off(), FallbackReason.MODEL_PROVIDER_UNAVAILABLE),
    "no such model": (reply({}, status=404), FallbackReason.MODEL_PROVIDER_UNAVAILABLE),
    "too often": (
        reply({}, status=429, headers={"Retry-After": "1"}),
        FallbackReason.MODEL_PROVIDER_UNAVAILABLE,
    ),
    "failed": (reply({}, status=500), FallbackReason.MODEL_PROVIDER_UNAVAILABLE),
    "reset": (servers.reset(), FallbackReason.MODEL_PROVIDER_UNAVAILABLE),
    "redirected": (
        reply({}, status=302, headers={"Location": "http://192.0.2.1/"}),
        FallbackReason.MODEL_PROVIDER_UNAVAILABLE,
    ),
    "too much": (servers.endless(), FallbackReason.MODEL_PROVIDER_UNAVAILABLE),
    "slow drip": (servers.dripping(), FallbackReason.QUERY_TIMEOUT),
    "no answer": (servers.hanging(), FallbackReason.QUERY_TIMEOUT),
}


@pytest.fixture
def _nobody_else(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "OPENROUTER_API_KEY"):
        monkeypatch.delenv(name, raising=False)


async def told_by(client: Any, tool: str, text: str) -> tuple[dict[str, Any], float]:
    """Call a tool; return what it told and how long it took."""
    name = "taskDescription" if tool.endswith("directives") else "text"
    begin = time.monotonic()
    result = await client.call_tool(tool, {name: text})
    took_s = time.monotonic() - begin
    return structure_of(result), took_s


def state_of(breaker: chain.CircuitBreaker) -> CircuitState:
    """Return whether it is open now."""
    return breaker.state


async def approve(services: Services) -> None:
    report = await services.rules.ingestion.upsert([SubmittedDocument("docs/api.md", RULES)], YOU)
    assert report.errors == ()


@pytest.mark.usefixtures("_nobody_else")
@pytest.mark.parametrize("how", ILL)
async def test_whatever_a_model_does_rules_come_in_time_and_the_reason_is_named(
    services: Services, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    answer, reason = ILL[how]
    await approve(services)
    with serving({**ollama_routes(loaded=LOADED), "POST /api/chat": answer}) as server:
        monkeypatch.setenv("OLLAMA_HOST", server.address)
        await services.models.discover()
        async with in_memory(services) as client:
            await told_by(client, "memory_rules_detect_context", "warm up the head")
            told, took_s = await told_by(client, "memory_rules_query_directives", TASK)
            context, _ = await told_by(client, "memory_rules_detect_context", TASK)
    assert took_s < LIMIT_S + LOAD_S
    assert "validate the body" in told["context_block"]
    diagnostics = told["diagnostics"]
    assert diagnostics["fallback"] == reason
    assert diagnostics["detectedLayer"] == context["detectedLayer"] == "2-Application"
    assert set(context["topics"]) <= set(TOPICS)


@pytest.mark.usefixtures("_nobody_else")
async def test_a_model_that_is_well_tells_what_a_task_is_about(
    services: Services, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serving(ollama_routes(words=CONTEXT, loaded=LOADED)) as server:
        monkeypatch.setenv("OLLAMA_HOST", server.address)
        await services.models.discover()
        async with in_memory(services) as client:
            await told_by(client, "memory_rules_detect_context", TASK)
            await services.models._late.settled()
            told, took_s = await told_by(client, "memory_rules_detect_context", TASK)
    assert took_s < LIMIT_S + LOAD_S
    assert told["detectedLayer"] == "4-Persistence"
    assert told["detectedLayer"] in LAYERS


@pytest.mark.usefixtures("_nobody_else")
async def test_who_fails_again_and_again_is_left_alone_and_asked_again_later(
    services: Services, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [1000.0]
    breaker = chain.CircuitBreaker(clock=lambda: now[0])
    await approve(services)
    with serving({**ollama_routes(loaded=LOADED), "POST /api/chat": servers.reset()}) as server:
        monkeypatch.setenv("OLLAMA_HOST", server.address)
        await services.models.discover()
        services.models._servers._breakers["ollama", Purpose.DETECTION] = breaker
        async with in_memory(services) as client:
            for number in range(8):
                await told_by(client, "memory_rules_detect_context", f"{TASK} {number}")
            assert state_of(breaker) is CircuitState.OPEN
            asked = server.count("/api/chat")
            told, _ = await told_by(client, "memory_rules_query_directives", TASK)
            assert server.count("/api/chat") == asked < 8
            reason = FallbackReason.MODEL_PROVIDER_UNAVAILABLE
            assert told["diagnostics"]["fallback"] == reason
            server.routes["POST /api/chat"] = reply(said(CONTEXT))
            now[0] += 3600
            assert state_of(breaker) is CircuitState.HALF_OPEN
            await told_by(client, "memory_rules_detect_context", TASK)
            await services.models._late.settled()
            told, _ = await told_by(client, "memory_rules_detect_context", TASK)
    assert state_of(breaker) is CircuitState.CLOSED
    assert told["detectedLayer"] == "4-Persistence"


@pytest.mark.usefixtures("_nobody_else")
async def test_a_port_that_hangs_holds_up_neither_discovery_nor_a_tool(
    services: Services, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serving({"*": servers.hanging()}) as server:
        monkeypatch.setenv("OLLAMA_HOST", server.address)
        await approve(services)
        found = await services.models.discover()
        async with in_memory(services) as client:
            _, took_s = await told_by(client, "memory_rules_query_directives", TASK)
    assert found.took_ms < 500 + LOAD_S * 1000
    assert took_s < LIMIT_S + LOAD_S
    report = found.provider("ollama")
    assert report is not None
    assert (report.is_available, report.is_ill) == (False, True)
