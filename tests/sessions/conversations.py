"""Conversations for tests: short ones in the tests' own words, and the corpora's."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from kmem_desktop.domain.sessions.conversations import Role, SpokenTurn
from tests.server.corpora import corpora


def said(*lines: tuple[str, str], important: Sequence[int] = ()) -> list[SpokenTurn]:
    """Return turns: who, and what."""
    return [
        SpokenTurn(number, Role(role), text, is_important=number in important)
        for number, (role, text) in enumerate(lines)
    ]


def spoken(conversation: dict[str, Any]) -> list[SpokenTurn]:
    """Return the turns of a conversation of the corpora."""
    return [
        SpokenTurn(turn["turn"], Role(turn["role"]), turn["text"], turn.get("speaker") or "")
        for turn in conversation["turns"]
    ]


def corpus() -> list[dict[str, Any]]:
    """Return the corpora's conversations; skip where they are not there."""
    files = sorted(Path(corpora() / "conversations").glob("conv-*.json"))
    return [json.loads(file.read_text(encoding="utf-8")) for file in files]


def missing_facts(conversation: dict[str, Any], text: str) -> list[str]:
    """Return the key facts that a text does not hold, as the corpora's score.py counts them."""
    lower = text.lower()
    return [
        fact["id"]
        for fact in conversation["key_facts"]
        if not all(any(p.lower() in lower for p in group) for group in fact["match_all_of_any"])
    ]


PLANNING = said(
    ("user", "We need a cache for the invoice service. Please propose a design."),
    (
        "assistant",
        "Proposal:\n\n- **D1** Redis holds the rendered invoices for 15 minutes.\n"
        "- **D2** The key is `invoice:{id}:{version}`.\n"
        "- **D3** Eviction follows `allkeys-lru` with 512 MB.\n\nShall I write it down?",
    ),
    ("user", "ok"),
    ("assistant", "Let me write the document."),
    ("assistant", "Done. `docs/cache.md` holds D1 to D3, and `deploy/redis.conf` the limits."),
    ("user", "No on D1. Redis is not available there. We use memcached on the same host instead."),
    (
        "assistant",
        "Understood: memcached replaces Redis for the rendered invoices. I fixed docs/cache.md.",
    ),
    ("user", "Why did the test fail?"),
    (
        "assistant",
        "The test failed because `test_expiry` slept for one second while the clock was frozen.\n\n"
        "```python\ndef test_expiry(clock):\n    clock.advance(901)\n"
        "    assert cache.get('a') is None\n```",
    ),
    ("user", "Good. Is the deployment still open?"),
)
