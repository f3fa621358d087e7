"""`kmem models` in a terminal, and a resident that is running meanwhile."""

import json
import threading
import time
from typing import Any

import pytest

from tests.end_to_end.programs import TIMEOUT_S, Memory
from tests.providers.ollama_server import ollama_routes
from tests.providers.servers import Request, after, reading, serving

NOMIC = "ollama:nomic-embed-text:latest"
ITEM = {
    "title": "Queue moved from Redis to PostgreSQL",
    "content": "Jobs are rows of a table and are taken with SKIP LOCKED; Redis is gone for good.",
    "tags": ["queue"],
    "scope": "project:shopfront",
}


def test_an_embedding_model_that_is_chosen_in_the_terminal_reaches_the_resident(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "OPENROUTER_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    routes = ollama_routes()
    embed = routes["POST /api/embed"]
    terminal_has_ended = threading.Event()

    def slow(request: Request) -> Any:
        # The terminal's own process may ask for a first vector, and make no further ones.
        is_first = request.body["input"] == ["memory"]
        return embed(request) if is_first else after(terminal_has_ended, embed(request))

    with serving({**routes, "POST /api/embed": reading(slow)}) as server:
        monkeypatch.setenv("OLLAMA_HOST", server.address)
        client = memory.client()
        client.call("memory_storeKnowledge", ITEM)
        resident = memory.resident()
        done = memory.run("models", "use", "embeddings", "ollama", "--json")
        assert json.loads(done.stdout)["model"] == "nomic-embed-text:latest"
        terminal_has_ended.set()
        del server.requests[:]
        deadline = time.monotonic() + TIMEOUT_S
        # The resident compares a question by that model once every text has its vector of it.
        while ["search_query: where do jobs live"] not in [
            request.body["input"] for request in server.requests if request.path == "/api/embed"
        ]:
            assert time.monotonic() < deadline, memory.run("doctor").stdout
            client.call("memory_searchKnowledge", {"query": "where do jobs live"})
        texts = [r.body["input"][0] for r in server.requests if r.path == "/api/embed"]
        assert any(text.startswith("search_document: ") for text in texts)
        assert memory.resident().pid == resident.pid
