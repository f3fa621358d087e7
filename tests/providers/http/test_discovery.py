"""Looking for everybody at once, in a fixed time."""

import logging
import socket
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from kmem_desktop.domain.models import ProviderReport
from kmem_desktop.providers.http.catalogue import (
    KNOWN,
    Known,
    is_address,
    known_servers,
    make_provider,
)
from kmem_desktop.providers.http.discovery import look
from kmem_desktop.providers.http.provider import Provider
from tests.providers import servers
from tests.providers.ollama_server import ollama_routes
from tests.providers.openai_server import openai_routes
from tests.providers.servers import reply, serving

LIMIT_S = 0.5
LOCAL = tuple(each for each in KNOWN if not each.host)


def at(name: str, address: str) -> Known:
    return replace(next(each for each in KNOWN if each.id == name), address=address)


async def looked(known: Sequence[Known]) -> tuple[dict[str, ProviderReport], float]:
    made: list[Provider] = []

    async def provider_for(each: Known) -> Provider:
        made.append(make_provider(each))
        return made[-1]

    begin = time.monotonic()
    reports = await look(known, provider_for)
    took_s = time.monotonic() - begin
    for each in made:
        await each.close()
    return {report.id: report for report in reports}, took_s


async def test_with_nothing_there_it_is_quick_and_quiet(caplog: pytest.LogCaptureFixture) -> None:
    known = [at(each.id, servers.free_address()) for each in LOCAL]
    with caplog.at_level(logging.INFO):
        reports, took_s = await looked(known)
    assert took_s < LIMIT_S
    assert len(reports) == len(LOCAL)
    assert not any(report.is_available for report in reports.values())
    assert all("is not running" in report.problem for report in reports.values())
    assert caplog.records == []


def test_with_nothing_there_no_http_library_is_loaded() -> None:
    code = (
        "import asyncio, sys\n"
        "from kmem_desktop.providers.http.discovery import look\n"
        "from kmem_desktop.providers.http.catalogue import Known\n"
        f"known = [Known('x', 'X', {servers.free_address()!r})]\n"
        "asyncio.run(look(known, None))\n"
        "print([m for m in ('httpx', 'stamina', 'keyring', 'psutil') if m in sys.modules])"
    )
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.strip() == "[]"


async def test_a_port_that_hangs_costs_its_deadline_only() -> None:
    with serving({"*": servers.hanging()}) as hanging, serving(ollama_routes()) as there:
        known = [at("lm-studio", hanging.address), at("ollama", there.address)]
        await looked(known)  # the HTTP library is imported once
        reports, took_s = await looked(known)
    assert took_s < LIMIT_S
    assert "did not answer" in reports["lm-studio"].problem
    assert reports["ollama"].is_available


async def test_a_port_that_takes_nobody_costs_its_deadline_only() -> None:
    with socket.socket() as deaf:
        deaf.bind(("127.0.0.1", 0))
        deaf.listen(0)
        address = f"http://127.0.0.1:{deaf.getsockname()[1]}"
        fillers = [socket.create_connection(deaf.getsockname()) for _ in range(1)]
        reports, took_s = await looked([at("ollama", address)])
        for each in fillers:
            each.close()
    assert took_s < 2 * LIMIT_S
    assert not reports["ollama"].is_available


async def test_who_is_there_is_told_with_models_and_latency() -> None:
    with (
        serving(ollama_routes(loaded=("llama3.2:3b",))) as ollama,
        serving(openai_routes("x-1b", owner="llamacpp", meta={"n_params": 10**9})) as shared,
        serving({**openai_routes(), "GET /health/vram": reply({"available_gb": 2})}) as unified,
    ):
        reports, _ = await looked(
            [
                at("ollama", ollama.address),
                at("llama-cpp", shared.address),
                at("localai", shared.address),
                at("unified", unified.address),
                at("lm-studio", servers.free_address()),
            ]
        )
    there = {name for name, report in reports.items() if report.is_available}
    assert there == {"ollama", "llama-cpp", "unified"}
    assert reports["ollama"].version == "0.12.10"
    assert [model.name for model in reports["ollama"].models] == [
        "llama3.2:3b", "nomic-embed-text:latest",
    ]  # fmt: skip
    assert reports["ollama"].latency_ms > 0
    assert reports["unified"].free_vram_bytes == 2 * 10**9
    assert reports["localai"].problem == "Something else than LocalAI is at its address."


@pytest.mark.parametrize(
    "answer",
    [
        reply(b"<html>It works!</html>"),
        reply({}, status=404),
        reply({}, status=302, headers={"Location": "/login"}),
        reply({}, status=400),
        reply([1, 2]),
    ],
)
async def test_a_web_server_on_the_port_is_told_from_what_was_looked_for(answer: Any) -> None:
    with serving({"*": answer}) as server:
        reports, _ = await looked([at("localai", server.address), at("ollama", server.address)])
    for report in reports.values():
        assert not report.is_available
        assert report.problem.startswith("Something else")


async def test_a_server_that_is_ill_is_told() -> None:
    with serving({"*": servers.reset()}) as server:
        reports, _ = await looked([at("ollama", server.address)])
    assert "broke the connection" in reports["ollama"].problem


@pytest.mark.parametrize(
    ("variable", "address"),
    [
        ("", "http://127.0.0.1:11434"),
        ("127.0.0.1:12000", "http://127.0.0.1:12000"),
        ("0.0.0.0", "http://127.0.0.1:11434"),
        ("0.0.0.0:12000", "http://127.0.0.1:12000"),
        ("http://localhost:12000/", "http://127.0.0.1:12000"),
        ("[::1]:12000", "http://[::1]:12000"),
        ("gpu.example:11434", "http://127.0.0.1:11434"),
        ("x:y:z", "http://127.0.0.1:11434"),
    ],
)
def test_ollama_is_looked_for_where_its_variable_says(variable: str, address: str) -> None:
    known = {each.id: each for each in known_servers({}, {"OLLAMA_HOST": variable})}
    assert known["ollama"].address == address


def test_servers_that_a_person_added_are_known_too() -> None:
    own = {"gpu": "http://10.0.0.5:8000", "openai": "http://evil.example", "bad": "no url"}
    known = {each.id: each for each in known_servers(own, {})}
    assert known["gpu"].host == "10.0.0.5"
    assert known["openai"].host == "api.openai.com"
    assert "bad" not in known


@pytest.mark.parametrize(
    "text",
    ["", "x", "ftp://a", "http://", "http://a:99999", "http://u:p@a", "http://a?x", "file:///etc"],
)
def test_what_is_no_address_is_not_taken_for_one(text: str) -> None:
    assert not is_address(text)
