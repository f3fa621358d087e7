"""What kmem does with models: with none, with good ones, and with bad ones."""

import asyncio
import json
import logging
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kmem_desktop.domain.models import (
    ELSEWHERE,
    OFF,
    Choice,
    FallbackReason,
    Message,
    ProgramKind,
    Purpose,
)
from kmem_desktop.domain.rules import Layer
from kmem_desktop.errors import InvalidInputError, NotFoundError, ProviderError, StoreError
from kmem_desktop.platforms.system import Process
from kmem_desktop.services.models import service as service_module
from kmem_desktop.store import outgoing
from tests.platforms.described import linux
from tests.providers import servers
from tests.providers.ollama_server import (
    DIMENSION,
    model,
    ollama_routes,
    passing_on_routes,
    said,
)
from tests.providers.openai_server import openai_routes
from tests.providers.servers import after, free_address, reading, reply, serving
from tests.services.models.bench import LONG_S, MemoryKeychain, far, models, near

QUESTION = [Message("user", "Are you there?")]
CONTEXT = '{"layer": "4-Persistence", "topics": ["database"], "confidence": 0.9}'
TASK = "Add an index to the users table"
UNCHOSEN = {**dict.fromkeys(Purpose, Choice()), Purpose.RERANKING: Choice(OFF)}
LOADED = ("llama3.2:3b",)
LIMIT_S = 0.4
LOAD_S = 0.2
"""What a busy computer may take on top."""


async def test_with_nothing_there_everything_says_so_and_nothing_fails(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    known = [near(name, free_address()) for name in ("ollama", "lm-studio", "unified")]
    with caplog.at_level(logging.INFO):
        async with models(tmp_path, *known) as service:
            found = await service.discover()
            detected = await service.detect(TASK)
            assert service.embeddings.model() is None
            with pytest.raises(ProviderError, match="No model is there"):
                await service.chat(QUESTION)
    assert found.took_ms < 500
    assert not any(each.is_available for each in found.providers)
    assert detected.context is None
    assert detected.diagnostics.fallback is FallbackReason.MODEL_PROVIDER_UNAVAILABLE
    assert caplog.records == []


async def test_what_is_there_is_found_and_told_to_those_who_listen(tmp_path: Path) -> None:
    news: list[int] = []
    with serving(ollama_routes(loaded=LOADED)) as server:
        async with models(
            tmp_path, near("lm-studio", free_address()), near("ollama", server.address)
        ) as service:
            forget = service.listen(lambda: news.append(len(service.found.providers)))
            await asyncio.gather(service.discover(), service.discover())
            forget()
            await service.discover()
    assert news == [2]
    assert [each.id for each in service.found.providers] == ["ollama", "lm-studio"]
    assert service.found.at is not None
    assert server.count("/api/version") == 2  # one look for both who asked at once


async def test_it_looks_again_when_a_program_or_the_network_changes(tmp_path: Path) -> None:
    system = linux()
    async with models(tmp_path, near("ollama", free_address()), system=system) as service:
        assert await service.discover_if_changed()
        assert not await service.discover_if_changed()
        system.running.append(Process(7, "ollama", ("ollama", "serve")))
        assert await service.discover_if_changed()
        assert service.found.programs[0].is_running
        system.addresses.add("10.0.0.2")
        assert await service.discover_if_changed()


async def test_a_program_that_has_just_started_is_looked_for_until_it_answers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(service_module, "SETTLING_EVERY_S", 0.01)
    system = linux("/usr/bin/ollama")
    up = asyncio.Event()
    with serving() as server:
        async with models(tmp_path, near("ollama", server.address), system=system) as service:
            await service.discover()

            def note() -> None:
                if service.found.providers[0].is_available:
                    up.set()

            service.listen(note)
            await service.start_program(ProgramKind.OLLAMA)
            system.running.append(Process(7, "ollama", ("ollama", "serve")))
            while server.count("/api/version") < 4:  # noqa: ASYNC110 - a thread counts
                await asyncio.sleep(0)
            assert not up.is_set()
            server.routes.update(ollama_routes())
            async with asyncio.timeout(LONG_S):
                await up.wait()
            await service.discover_if_changed()
            asked = server.count("/api/version")
            await service.discover_if_changed()
            assert server.count("/api/version") == asked  # it is there: nothing more to look for


async def test_nobody_is_looked_for_without_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(service_module, "SETTLING_LOOKS", 2)
    system = linux(running=[Process(7, "LM Studio", ("lm-studio",))])
    with serving() as server:
        async with models(tmp_path, near("lm-studio", server.address), system=system) as service:
            for _ in range(5):
                await service.discover_if_changed()
    assert server.count("/v1/models") == 2


async def test_a_program_that_does_not_run_is_an_offer(tmp_path: Path) -> None:
    system = linux("/usr/bin/ollama")
    async with models(tmp_path, near("ollama", free_address()), system=system) as service:
        found = await service.discover()
        assert found.programs[0].can_be_started
        assert "does not run" in found.hints[0].words
        await service.start_program(ProgramKind.OLLAMA)
        with pytest.raises(NotFoundError):
            await service.start_program(ProgramKind.LM_STUDIO)
    assert system.started == [("/usr/bin/ollama", "serve")]


async def test_an_ollama_without_models_gets_a_hint_what_to_pull(tmp_path: Path) -> None:
    with serving({**ollama_routes(), "GET /api/tags": reply({"models": []})}) as server:
        async with models(tmp_path, near("ollama", server.address)) as service:
            hints = (await service.discover()).hints
    assert any(hint.command == "ollama pull llama3.2:3b" for hint in hints)
    assert any(hint.command == "ollama pull nomic-embed-text" for hint in hints)


async def test_chat_uses_what_is_there(tmp_path: Path) -> None:
    pieces: list[str] = []
    with serving(ollama_routes(words="yes I am", loaded=LOADED)) as server:
        async with models(tmp_path, near("ollama", server.address)) as service:
            answer, diagnostics = await service.chat(QUESTION)
            streamed, _ = await service.chat(QUESTION, on_text=pieces.append)
            await asyncio.sleep(0)
            sent = await service.sent()
    assert answer.text == "yes I am"
    assert (diagnostics.provider, diagnostics.model) == ("ollama", "llama3.2:3b")
    assert diagnostics.fallback is None
    assert "".join(pieces) == streamed.text == "yes I am "
    assert sent == []  # nothing left the computer


async def test_chat_goes_on_with_the_next_one_and_names_who_failed(tmp_path: Path) -> None:
    ill = {**ollama_routes(loaded=LOADED), "POST /api/chat": servers.reset()}
    with serving(ill) as first, serving(openai_routes("x-1b")) as second:
        known = near("ollama", first.address), near("unified", second.address)
        async with models(tmp_path, *known) as service:
            answer, diagnostics = await service.chat(QUESTION)
    assert answer.text == "ready"
    assert diagnostics.provider == "unified"
    assert [(each.provider, each.kind) for each in diagnostics.failures] == [
        ("ollama", "broken_off")
    ]


async def test_chat_that_is_given_up_ends_the_request(tmp_path: Path) -> None:
    asked = threading.Event()

    def hang(request: servers.Request) -> servers.Answer:
        asked.set()
        return servers.hanging()

    with serving({**ollama_routes(), "POST /api/chat": reading(hang)}) as server:
        async with models(tmp_path, near("ollama", server.address)) as service:
            chatting = asyncio.ensure_future(service.chat(QUESTION))
            assert await asyncio.to_thread(asked.wait, LONG_S)
            server.left.clear()
            chatting.cancel()
            with pytest.raises(asyncio.CancelledError):
                await chatting
            assert await asyncio.to_thread(server.left.wait, LONG_S)


async def test_choices_survive_and_damaged_ones_are_automatic(tmp_path: Path) -> None:
    known = near("ollama", free_address())
    async with models(tmp_path, known) as service:
        assert await service.choices() == UNCHOSEN
        await service.choose(Purpose.CHAT, Choice("ollama", "llama3.2:3b"))
        await service.choose(Purpose.DETECTION, Choice(OFF))
    settings = tmp_path / "settings.json"
    async with models(tmp_path, known) as service:
        choices = await service.choices()
        assert str(choices[Purpose.CHAT]) == "ollama:llama3.2:3b"
        assert choices[Purpose.DETECTION] == Choice(OFF)
        stored = json.loads(settings.read_text())
        stored["models"]["chat"] = {"provider": 7, "model": ["x"]}
        stored["models"]["detection"] = "off"
        settings.write_text(json.dumps(stored))
        assert await service.choices() == UNCHOSEN


async def test_a_chosen_model_is_the_one_that_is_asked(tmp_path: Path) -> None:
    routes = ollama_routes(model("llama3.2:3b"), model("mistral:7b"), loaded=LOADED)
    with serving(routes) as server:
        async with models(tmp_path, near("ollama", server.address)) as service:
            await service.choose(Purpose.CHAT, Choice("ollama", "mistral:7b"))
            _, diagnostics = await service.chat(QUESTION)
            await service.choose(Purpose.CHAT, Choice(OFF))
            with pytest.raises(ProviderError):
                await service.chat(QUESTION)
    assert diagnostics.model == "mistral:7b"


async def test_nobody_far_away_is_asked_unless_the_host_is_named(tmp_path: Path) -> None:
    with serving(openai_routes()) as server:
        async with models(tmp_path, far(server.address)) as service:
            await service.set_key("far", "sk-x")
            report = (await service.discover()).providers[0]
            assert (report.host, report.is_available, report.is_allowed_for) == (
                "api.far.example", False, (),
            )  # fmt: skip
            for host in ("", "elsewhere.example"):
                with pytest.raises(InvalidInputError, match=r"api\.far\.example"):
                    await service.choose(Purpose.CHAT, Choice("far", "a-model", host))
            assert not (await service.test("far")).is_working
    assert server.requests == []


async def test_what_is_switched_on_for_chat_is_not_used_for_anything_else(tmp_path: Path) -> None:
    with serving(openai_routes(words=CONTEXT)) as server:
        async with models(tmp_path, far(server.address)) as service:
            await service.choose(Purpose.CHAT, Choice("far", "a-model", "api.far.example"))
            await service.discover()
            answer, _ = await service.chat(QUESTION)
            assert (await service.detect(TASK)).context is None
            with pytest.raises(ProviderError, match="Nothing may be sent"):
                await service._there(
                    service._asking.embed("far", "a-model", ["secret"], service.found)
                )
            sent = await service.sent()
            await service.choose(Purpose.CHAT, Choice())
            with pytest.raises(ProviderError):
                await service.chat(QUESTION)
    assert answer.text == CONTEXT
    assert server.count("/v1/chat/completions") == 1
    assert server.count("/v1/embeddings") == 0
    (record,) = sent
    assert (record.host, record.purpose, record.calls) == ("api.far.example", Purpose.CHAT, 1)
    assert record.characters == len(QUESTION[0].text)
    assert record.tokens > 0


async def test_a_local_server_that_passes_texts_on_counts_as_far_away(tmp_path: Path) -> None:
    cloud = model("big:cloud", size=384, remote_host="https://ollama.com:443")
    with serving(ollama_routes(cloud)) as server:
        async with models(tmp_path, near("ollama", server.address)) as service:
            with pytest.raises(ProviderError, match="No model is there"):
                await service.chat(QUESTION)
            with pytest.raises(InvalidInputError, match=r"ollama\.com"):
                await service.choose(Purpose.CHAT, Choice("ollama", "big:cloud"))
            chosen = Choice("ollama", "big:cloud", "ollama.com")
            await service.choose(Purpose.CHAT, chosen)
            await service.chat(QUESTION)
            (record,) = await service.sent()
    assert record.host == "ollama.com"
    assert server.count("/api/chat") == 1


async def test_a_model_of_ollamas_cloud_is_known_by_its_name_before_it_is_listed(
    tmp_path: Path,
) -> None:
    with serving(ollama_routes()) as server:
        async with models(tmp_path, near("ollama", server.address)) as service:
            for name in ("big:cloud", "big:120b-cloud"):
                with pytest.raises(InvalidInputError, match=r"ollama\.com"):
                    await service.choose(Purpose.CHAT, Choice("ollama", name))


async def test_a_server_that_tells_not_where_its_models_are_counts_as_far_away(
    tmp_path: Path,
) -> None:
    with serving(passing_on_routes(words=CONTEXT)) as server:
        async with models(tmp_path, near("ollama", server.address)) as service:
            await service.discover()
            assert (await service.detect(TASK, deadline_s=LONG_S)).context is None
            with pytest.raises(ProviderError, match="No model is there"):
                await service.chat(QUESTION)
            for name in ("gpt-5", "one-that-it-does-not-list"):
                with pytest.raises(InvalidInputError, match=ELSEWHERE):
                    await service.choose(Purpose.CHAT, Choice("ollama", name))
            assert server.count("/api/chat") == 0
            await service.choose(Purpose.CHAT, Choice("ollama", "gpt-5", ELSEWHERE))
            answer, diagnostics = await service.chat(QUESTION)
            (record,) = await service.sent()
            wanted = Choice("ollama", "text-embedding-3-small", ELSEWHERE)
            with pytest.raises(ProviderError):
                await service.choose(Purpose.EMBEDDINGS, wanted)  # it has no /api/embed
            assert (await service.choices())[Purpose.EMBEDDINGS] == Choice()
    assert answer.text == CONTEXT
    assert diagnostics.model == "gpt-5"
    assert record.host == ELSEWHERE


async def test_what_cannot_be_written_down_is_not_sent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(connection: object, sent: object) -> None:
        raise StoreError("The disk is full.")

    monkeypatch.setattr(outgoing, "add", full)
    with serving(openai_routes()) as server:
        async with models(tmp_path, far(server.address)) as service:
            await service.choose(Purpose.CHAT, Choice("far", "a-model", "api.far.example"))
            with pytest.raises(ProviderError, match="could not be written down"):
                await service.chat(QUESTION)
    assert server.count("/v1/chat/completions") == 0


async def test_detection_takes_a_loaded_model_that_answers_in_time(tmp_path: Path) -> None:
    with serving(ollama_routes(words=CONTEXT, loaded=LOADED)) as server:
        async with models(tmp_path, near("ollama", server.address)) as service:
            await service.discover()
            detected = await service.detect(TASK, deadline_s=LONG_S)
            again = await service.detect(TASK)
    assert detected.context is not None
    assert detected.context.layer is Layer.PERSISTENCE
    assert detected.diagnostics.fallback is None
    assert again.context == detected.context
    assert again.diagnostics.is_remembered
    assert server.count("/api/chat") == 1


async def test_detection_loads_no_model_that_nobody_chose(tmp_path: Path) -> None:
    with serving(ollama_routes(words=CONTEXT)) as server:
        async with models(tmp_path, near("ollama", server.address)) as service:
            assert (await service.detect(TASK, deadline_s=LONG_S)).context is None
            await service.choose(Purpose.DETECTION, Choice("ollama", "llama3.2:3b"))
            assert (await service.detect(TASK, deadline_s=LONG_S)).context is not None


async def test_detection_that_comes_late_serves_the_next_time(tmp_path: Path) -> None:
    free = threading.Event()
    slow = after(free, reply(said(CONTEXT)))
    with serving({**ollama_routes(loaded=LOADED), "POST /api/chat": slow}) as server:
        async with models(tmp_path, near("ollama", server.address)) as service:
            await service.discover()
            begin = time.monotonic()
            late = await service.detect(TASK)
            took_s = time.monotonic() - begin
            free.set()
            await service._late.settled()
            known = await service.detect_context(TASK)
    assert late.context is None
    assert late.diagnostics.fallback is FallbackReason.QUERY_TIMEOUT
    assert took_s < LIMIT_S + LOAD_S
    assert known is not None
    assert server.count("/api/chat") == 1


async def test_a_slow_model_is_not_asked_ever_more(tmp_path: Path) -> None:
    with serving({**ollama_routes(loaded=LOADED), "POST /api/chat": servers.hanging()}) as server:
        async with models(tmp_path, near("ollama", server.address)) as service:
            await service.discover()
            for number in range(6):
                detected = await service.detect(f"Task {number}", deadline_s=0.02)
                assert detected.diagnostics.fallback is FallbackReason.QUERY_TIMEOUT
            begin = time.monotonic()
            await service.detect("Task 9", deadline_s=LONG_S)
            assert time.monotonic() - begin < 1
    assert server.count("/api/chat") <= 2


@pytest.mark.parametrize(
    "answer",
    [
        servers.reset(),
        servers.cut_off(),
        servers.dripping(),
        servers.hanging(),
        servers.endless(),
        reply(b"<html>"),
        reply({}, status=404),
        reply({}, status=429, headers={"Retry-After": "1"}),
        reply({}, status=500),
        reply({}, status=302, headers={"Location": "http://192.0.2.1/"}),
        reply(said("I cannot tell.")),
        reply(said('{"layer": "everything"}')),
    ],
)
async def test_whatever_a_model_does_detection_ends_in_time_and_says_why(
    tmp_path: Path, answer: Any
) -> None:
    with serving({**ollama_routes(loaded=LOADED), "POST /api/chat": answer}) as server:
        async with models(tmp_path, near("ollama", server.address)) as service:
            await service.discover()
            begin = time.monotonic()
            detected = await service.detect(TASK)
            assert time.monotonic() - begin < LIMIT_S + LOAD_S
    assert detected.context is None
    assert detected.diagnostics.fallback in tuple(FallbackReason)


async def test_a_task_of_nothing_needs_no_model(tmp_path: Path) -> None:
    async with models(tmp_path) as service:
        detected = await service.detect("  \n")
        assert detected.diagnostics.fallback is FallbackReason.INSUFFICIENT_CONTEXT
        await service.choose(Purpose.DETECTION, Choice(OFF))
        assert (await service.detect(TASK)).diagnostics.fallback is None


async def test_an_embedding_model_is_tried_when_it_is_chosen(tmp_path: Path) -> None:
    told: list[Any] = []

    async def listener(chosen: Any) -> None:
        told.append(chosen)

    with serving(ollama_routes()) as server:
        async with models(tmp_path, near("ollama", server.address)) as service:
            service.embeddings.on_model = listener
            choice = await service.choose(Purpose.EMBEDDINGS, Choice("ollama"))
            chosen = service.embeddings.model()
            assert chosen is not None
            vectors = await asyncio.to_thread(chosen.embed, ["a", "bc"])
            await service.choose(Purpose.EMBEDDINGS, Choice())
    assert (choice.model, choice.dimension) == ("nomic-embed-text:latest", DIMENSION)
    assert chosen.name == "ollama:nomic-embed-text:latest"
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(1.0)
    assert [each and each.name for each in told] == [chosen.name, None]


async def test_an_embedding_model_that_does_not_answer_is_not_chosen(tmp_path: Path) -> None:
    with serving({**ollama_routes(), "POST /api/embed": reply({}, status=500)}) as server:
        async with models(tmp_path, near("ollama", server.address)) as service:
            with pytest.raises(ProviderError):
                await service.choose(Purpose.EMBEDDINGS, Choice("ollama"))
            assert (await service.choices())[Purpose.EMBEDDINGS] == Choice()
            assert service.embeddings.model() is None


async def test_a_chosen_embedding_model_needs_nobody_until_it_is_used(tmp_path: Path) -> None:
    with serving(ollama_routes()) as server:
        async with models(tmp_path, near("ollama", server.address)) as service:
            await service.choose(Purpose.EMBEDDINGS, Choice("ollama"))
    async with models(tmp_path, near("ollama", free_address())) as service:
        chosen = service.embeddings.model()
        assert chosen is not None
        assert chosen.is_available()
        for _ in range(3):
            with pytest.raises(ProviderError):
                await asyncio.to_thread(chosen.embed, ["a"])
        assert not chosen.is_available()


async def test_a_trial_tells_a_real_answer_and_how_long_it_took(tmp_path: Path) -> None:
    with serving(ollama_routes()) as server:
        async with models(tmp_path, near("ollama", server.address)) as service:
            chat = await service.test("ollama")
            vectors = await service.test("ollama", "nomic-embed-text:latest")
            gone = await service.test("ollama", "gone")
            with pytest.raises(NotFoundError):
                await service.test("nobody")
    assert (chat.is_working, chat.answer, chat.model) == (True, "ready", "llama3.2:3b")
    assert chat.latency_ms > 0
    assert vectors.answer == f"vectors of {DIMENSION} numbers"
    assert not gone.is_working


async def test_a_trial_of_what_is_ill_tells_why(tmp_path: Path) -> None:
    with serving({**ollama_routes(), "POST /api/chat": reply({}, status=500)}) as server:
        known = near("ollama", server.address), near("unified", free_address())
        async with models(tmp_path, *known) as service:
            assert "status 500" in (await service.test("ollama")).problem
            assert "not running" in (await service.test("unified")).problem


async def test_a_server_that_a_person_added_is_used(tmp_path: Path) -> None:
    with serving(openai_routes("x-1b")) as server:
        async with models(tmp_path) as service:
            await service.add_server("mine", f"{server.address}/v1/")
            await service.discover()
            await service.choose(Purpose.CHAT, Choice("mine"))
            assert (await service.chat(QUESTION))[0].text == "ready"
            await service.remove_server("mine")
            assert (await service.choices())[Purpose.CHAT] == Choice()
            for name, address, wrong in (
                ("", server.address, ["name"]),
                ("a b", server.address, ["name"]),
                ("auto", server.address, ["name"]),
                ("x", "ftp://a", ["address"]),
                ("x" * 41, "http://a:b", ["name", "address"]),
            ):
                with pytest.raises(InvalidInputError) as caught:
                    await service.add_server(name, address)
                assert [each["field"] for each in caught.value.details["errors"]] == wrong
            await service.add_server("theirs", server.address)
            assert await service.added_servers() == {"theirs"}


async def test_after_the_end_nothing_is_left_and_nothing_is_done(tmp_path: Path) -> None:
    with serving(ollama_routes(loaded=LOADED)) as server:
        async with models(tmp_path, near("ollama", server.address)) as service:
            await service.chat(QUESTION)
        with pytest.raises(ProviderError):
            await service.chat(QUESTION)
    assert not [each.name for each in threading.enumerate() if each.name.startswith("kmem-")]


async def test_without_a_keychain_a_key_is_good_for_this_run(tmp_path: Path) -> None:
    keychain = MemoryKeychain(works=False)
    with serving(openai_routes()) as server:
        async with models(tmp_path, far(server.address), keychain=keychain) as service:
            assert await service.set_key("far", "sk-x") == "this run"
            await service.choose(Purpose.CHAT, Choice("far", "a-model", "api.far.example"))
            await service.chat(QUESTION)
            await service.forget_key("far")
            assert await service.key_place("far") == "nowhere"
    assert server.requests[-1].headers["authorization"] == "Bearer sk-x"
    assert keychain.kept == {}
