"""Servers that speak OpenAI's language, as their documentations show it."""

import json
from typing import Any

from tests.providers.servers import Answer, Request, reading, reply, streamed

DIMENSION = 3


def completion(text: str, finish_reason: str = "stop") -> dict[str, Any]:
    """Return the answer of /v1/chat/completions."""
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": text},
                "finish_reason": finish_reason,
            }
        ],
        "usage": {"prompt_tokens": 9, "completion_tokens": 2, "total_tokens": 11},
    }


def events(*texts: str, ends: bool = True) -> Answer:
    """Stream pieces of an answer."""
    lines = [
        "data: " + json.dumps({"choices": [{"index": 0, "delta": {"content": text}}]}) + "\n\n"
        for text in texts
    ]
    last = {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}
    lines += [f"data: {json.dumps(last)}\n\n", "data: [DONE]\n\n"] if ends else []
    return streamed(": a comment\n\n", *lines)


def openai_routes(
    *names: str, owner: str = "someone", words: str = "ready", **rows: Any
) -> dict[str, Any]:
    """Return the routes of a server with these models."""
    models = [
        {"id": name, "object": "model", "owned_by": owner, **rows} for name in names or ("a-model",)
    ]

    def chat(request: Request) -> Answer:
        if request.body.get("stream"):
            return events(*(f"{word} " for word in words.split()))
        return reply(completion(words))

    def embeddings(request: Request) -> Answer:
        data = [
            {"object": "embedding", "index": n, "embedding": [float(len(text)), 1.0, 2.0]}
            for n, text in enumerate(request.body["input"])
        ]
        return reply({"object": "list", "data": data[::-1]})

    return {
        "GET /v1/models": reply({"object": "list", "data": models}),
        "POST /v1/chat/completions": reading(chat),
        "POST /v1/embeddings": reading(embeddings),
    }
