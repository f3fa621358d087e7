"""The chosen embedding model: chosen here or by another process, changed, and given up again."""

import asyncio
import threading
from pathlib import Path
from typing import Any

import pytest

from kmem_desktop.bootstrap import Services, opened_services
from kmem_desktop.config import Paths
from kmem_desktop.domain.models import Choice, Purpose
from kmem_desktop.errors import ProviderError, ProviderUnavailableError
from tests.providers.ollama_server import model, ollama_routes
from tests.providers.openai_server import openai_routes
from tests.providers.servers import Request, after, free_address, reading, reply, serving
from tests.services.memory import stored
from tests.services.models.bench import LONG_S, far, models, near

NOMIC = "ollama:nomic-embed-text:latest"
BUNDLED = "all-minilm-l6-v2-int8"


class Listener:
    """Hears which model is to embed."""

    def __init__(self) -> None:
        self.told: list[str] = []

    async def __call__(self, chosen: Any) -> None:
        self.told.append(chosen.name if chosen is not None else "bundled")


async def test_what_another_process_chooses_is_heard_of_once(tmp_path: Path) -> None:
    heard = Listener()
    with serving(ollama_routes()) as server:
        known = near("ollama", server.address)
        async with models(tmp_path, known) as resident, models(tmp_path, known) as terminal:
            resident.embeddings.on_model = heard
            assert resident.embeddings.model() is None
            await resident.take_settings()
            await terminal.choose(Purpose.CHAT, Choice("ollama", "llama3.2:3b"))
            await resident.take_settings()
            assert heard.told == []
            await terminal.choose(Purpose.EMBEDDINGS, Choice("ollama"))
            await resident.take_settings()
            await resident.take_settings()
            assert heard.told == [NOMIC]
            await terminal.choose(Purpose.EMBEDDINGS, Choice())
            await resident.take_settings()
    assert heard.told == [NOMIC, "bundled"]


async def test_what_was_chosen_between_the_start_and_the_first_look_is_heard_of(
    tmp_path: Path,
) -> None:
    heard = Listener()
    with serving(ollama_routes()) as server:
        known = near("ollama", server.address)
        async with models(tmp_path, known) as resident, models(tmp_path, known) as terminal:
            resident.embeddings.on_model = heard
            resident.embeddings.model()
            await terminal.choose(Purpose.EMBEDDINGS, Choice("ollama"))
            await resident.take_settings()
    assert heard.told == [NOMIC]


async def test_what_is_chosen_here_is_not_heard_of_twice(tmp_path: Path) -> None:
    heard = Listener()
    with serving(ollama_routes()) as server:
        async with models(tmp_path, near("ollama", server.address)) as service:
            service.embeddings.on_model = heard
            await service.take_settings()
            await service.choose(Purpose.EMBEDDINGS, Choice("ollama"))
            await service.take_settings()
    assert heard.told == [NOMIC]


async def test_who_has_looked_looks_again_when_the_settings_change(tmp_path: Path) -> None:
    with serving(ollama_routes()) as server, serving(openai_routes()) as second:
        known = near("ollama", server.address)
        async with models(tmp_path, known) as resident, models(tmp_path, known) as terminal:
            await resident.take_settings()
            await resident.discover()
            await terminal.add_server("mine", second.address)
            await resident.take_settings()
            assert [each.id for each in resident.found.providers] == ["ollama", "mine"]


async def test_a_model_that_cannot_be_used_does_not_end_the_watch(tmp_path: Path) -> None:
    async def refuse(_chosen: Any) -> None:
        raise ProviderUnavailableError("It is not there.")

    with serving(ollama_routes()) as server:
        known = near("ollama", server.address)
        async with models(tmp_path, known) as resident, models(tmp_path, known) as terminal:
            resident.embeddings.on_model = refuse
            resident.embeddings.model()
            await terminal.choose(Purpose.EMBEDDINGS, Choice("ollama"))
            await resident.take_settings()
            assert not await resident.embeddings.take_settings()


async def test_models_of_before_are_kept_in_mind_and_one_can_be_gone_back_to(
    tmp_path: Path,
) -> None:
    rows = (model("nomic-embed-text"), model("all-minilm-embed"))
    stays: list[str] = []

    async def stay() -> None:
        stays.append("stay")

    with serving(ollama_routes(*rows)) as server:
        async with models(tmp_path, near("ollama", server.address)) as service:
            service.embeddings.on_stay = stay
            first = await service.choose(Purpose.EMBEDDINGS, Choice("ollama", "nomic-embed-text"))
            await service.choose(Purpose.EMBEDDINGS, Choice("ollama", "all-minilm-embed"))
            before = [each.name for each in service.embeddings.models_before()]
            assert before == ["ollama:nomic-embed-text"]
            assert await service.embeddings.stay_with("ollama:nomic-embed-text") == first
            assert (await service.choices())[Purpose.EMBEDDINGS] == first
            assert await service.embeddings.stay_with(BUNDLED) == Choice()
    assert stays == ["stay", "stay"]


async def test_a_far_provider_is_asked_what_it_has_only_once_it_may_be_asked(
    tmp_path: Path,
) -> None:
    with serving(openai_routes("gpt-5", "text-embedding-3-small")) as server:
        async with models(tmp_path, far(server.address)) as service:
            await service.set_key("far", "sk-x")
            await service.discover()
            assert server.requests == []
            choice = await service.choose(
                Purpose.EMBEDDINGS, Choice("far", send_to="api.far.example")
            )
            (record,) = await service.sent()
    assert choice.model == "text-embedding-3-small"
    assert record.purpose is Purpose.EMBEDDINGS


async def test_a_far_provider_without_an_embedding_model_is_not_chosen(tmp_path: Path) -> None:
    with serving(openai_routes("gpt-5")) as server:
        async with models(tmp_path, far(server.address)) as service:
            with pytest.raises(ProviderError, match="no model for embeddings"):
                await service.choose(Purpose.EMBEDDINGS, Choice("far", send_to="api.far.example"))
            assert (await service.choices())[Purpose.EMBEDDINGS] == Choice()


@pytest.fixture
def _ollama_only(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "OPENROUTER_API_KEY"):
        monkeypatch.delenv(name, raising=False)


async def switched(services: Services, name: str) -> None:
    """Wait until a model serves."""
    async with asyncio.timeout(LONG_S):
        while services.embedding.serving != name:  # noqa: ASYNC110 - there is no event for it
            await asyncio.sleep(0.01)


@pytest.mark.usefixtures("_ollama_only")
async def test_a_change_of_model_is_given_up_and_the_old_vectors_serve_on(
    profile: Paths, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate = threading.Event()
    routes = ollama_routes()
    embed = routes["POST /api/embed"]
    with serving(routes) as server:
        monkeypatch.setenv("OLLAMA_HOST", server.address)
        async with opened_services(profile) as services:
            await stored(services, "Queue moved from Redis to PostgreSQL")
            await services.embedding.settled()
            assert services.embedding.serving == BUNDLED
            server.routes["POST /api/embed"] = [embed, after(gate, reply({}, status=500))]
            await services.models.choose(Purpose.EMBEDDINGS, Choice("ollama"))
            async with asyncio.timeout(LONG_S):
                while services.embedding.switching_to != NOMIC:  # noqa: ASYNC110 - as above
                    await asyncio.sleep(0.01)
            assert services.embedding.progress.done == 0
            assert await services.embedding.meaning_of("queue") is not None
            await services.models.embeddings.stay_with(services.embedding.serving)
            gate.set()
            await services.embedding.settled()
            assert (services.embedding.serving, services.embedding.switching_to) == (BUNDLED, "")
            assert (await services.models.choices())[Purpose.EMBEDDINGS] == Choice()


@pytest.mark.usefixtures("_ollama_only")
async def test_the_model_of_before_serves_until_a_change_is_done_though_kmem_was_restarted(
    profile: Paths, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = (model("nomic-embed-text:latest"), model("all-minilm-embed:latest"))
    gate = threading.Event()
    routes = ollama_routes(*rows)
    embed = routes["POST /api/embed"]

    def slow(request: Request) -> Any:
        is_new = request.body["model"] != "nomic-embed-text:latest"
        is_batch = request.body["input"] != ["memory"]
        answer = embed(request)
        return after(gate, answer) if is_new and is_batch else answer

    with serving(routes) as server:
        monkeypatch.setenv("OLLAMA_HOST", server.address)
        async with opened_services(profile) as services:
            await stored(services, "Queue moved from Redis to PostgreSQL")
            await services.models.choose(Purpose.EMBEDDINGS, Choice("ollama"))
            await switched(services, NOMIC)
            server.routes["POST /api/embed"] = reading(slow)
            await services.models.choose(
                Purpose.EMBEDDINGS, Choice("ollama", "all-minilm-embed:latest")
            )
        async with opened_services(profile) as services:
            await switched(services, NOMIC)
            assert await services.embedding.meaning_of("queue") is not None
            gate.set()
            await switched(services, "ollama:all-minilm-embed:latest")
    asked = [r.body["input"] for r in server.requests if r.path == "/api/embed"]
    assert ["search_query: queue"] in asked
    assert any("search_document: " in texts[0] and "Redis" in texts[0] for texts in asked)


async def test_with_nobody_there_the_choice_stays_and_the_model_is_not_up(tmp_path: Path) -> None:
    with serving(ollama_routes()) as server:
        async with models(tmp_path, near("ollama", server.address)) as service:
            await service.choose(Purpose.EMBEDDINGS, Choice("ollama"))
    async with models(tmp_path, near("ollama", free_address())) as service:
        await service.discover()
        use = (await service.uses())[Purpose.EMBEDDINGS]
    assert (use.provider, use.model) == ("Ollama", "nomic-embed-text:latest")
    assert use.problem == "Ollama is not running."
