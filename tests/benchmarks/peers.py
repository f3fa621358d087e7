"""The same questions and calls to other programs: ai-devkit's memory and the reference server.

Both come from npm, and are measured where they are in the cache or KMEM_TEST_INSTALL=1 lets them
be installed; where they are not, a row says so.
"""

import asyncio
import json
import os
import random
import re
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil  # type: ignore[import-untyped]
from _pytest.outcomes import Skipped

from kmem_desktop.domain.knowledge import KnowledgeDraft
from tests.benchmarks.measures import (
    ITEMS,
    Measure,
    percentile,
    settle,
    spread,
    timed_call,
)
from tests.benchmarks.quality import (
    Recall,
    conversations,
    dialogues_of,
    questions_of,
    session_numbers,
    text_of,
)
from tests.benchmarks.texts import english_draft, question
from tests.end_to_end.programs import (
    AI_DEVKIT,
    NPM_REFERENCE,
    Memory,
    Message,
    StdioClient,
    npm_peer,
    resident_bytes,
)
from tests.server.corpora import corpora

QUESTIONS = 200
PATIENCE_S = 180.0
"""How long storing may take before fewer items have to do."""
VECTORS = "vectors made meanwhile"
LONGEST_QUERY = 500


@dataclass
class Times:
    """What one program took.

    Attributes:
        stores: Seconds of each store.
        searches: Seconds of each search.
        refused: How many stores were answered with an error.
        memory: What it held in memory after the searches.
    """

    stores: list[float] = field(default_factory=list)
    searches: list[float] = field(default_factory=list)
    refused: int = 0
    memory: str = ""


def peers() -> list[Measure]:
    """Measure how well and how fast other programs find, beside ours."""
    return [
        *_or_why_not("LoCoMo", _quality),
        *_or_why_not("knowledge, by ai-devkit", _knowledge),
        *_or_why_not("graph, by the reference", _graph),
    ]


def _or_why_not(what: str, measured: Callable[[], list[Measure]]) -> list[Measure]:
    try:
        return measured()
    except Skipped as reason:
        return [Measure(f"{what}: not measured: {reason}", "")]


def _ai_devkit() -> list[str]:
    # Started by npm's link to it, version 0.20.1 ends at once without a word: it compares the path
    # of the link with its own. So it is started by the file that the link leads to.
    (program,) = npm_peer(AI_DEVKIT, "ai-devkit-memory")
    return ["node", os.path.realpath(program)]


@contextmanager
def _ai_devkit_client() -> Iterator[StdioClient]:
    """Start ai-devkit's server on a memory of its own, in a home folder of its own."""
    command = _ai_devkit()
    with tempfile.TemporaryDirectory() as home:
        client = StdioClient(command, {"HOME": home, "USERPROFILE": home})
        try:
            client.initialize()
            yield client
        finally:
            client.close()


def _quality() -> list[Measure]:
    folder = corpora()
    _ai_devkit()
    recall = Recall()
    refused = sum(_one_dialogue(dialogue, recall) for dialogue in dialogues_of(folder))
    return [
        *asyncio.run(conversations(folder)),
        *recall.measures("LoCoMo, ai-devkit 0.20.1", ""),
        Measure("LoCoMo, ai-devkit: turns that it refused to store", str(refused)),
    ]


def _one_dialogue(dialogue: dict[str, Any], recall: Recall) -> int:
    """Count its answers to the questions of a dialogue; return how many turns it refused."""
    names: dict[str, str] = {}
    refused = 0
    with _ai_devkit_client() as client:
        for name, item in _as_items(dialogue):
            answer = client.call("memory_storeKnowledge", item)
            if answer.get("isError"):
                refused += 1
            else:
                names[_value(answer)["id"]] = name
        for category, asked, evidence in questions_of(dialogue):
            query = {"query": asked[:LONGEST_QUERY], "limit": 10}
            answer = client.call("memory_searchKnowledge", query)
            assert not answer.get("isError"), answer
            ranking = [names[hit["id"]] for hit in _value(answer)["results"]]
            recall.add(category, evidence, ranking)
    return refused


def _as_items(dialogue: dict[str, Any]) -> Iterator[tuple[str, Message]]:
    """Yield each turn's id and the turn as an item of knowledge that ai-devkit takes.

    Our sessions are told the speaker and the time of each turn; an item has no field for either, so
    they follow its words. That also makes every item as long as it demands, and gives it the best
    recall of what was tried: R@10 0.629, 0.591 where only items that were too short got them.
    """
    conversation = dialogue["conversation"]
    for number in session_numbers(conversation):
        date = conversation[f"session_{number}_date_time"]
        for turn in conversation[f"session_{number}"]:
            name, speaker = turn["dia_id"], turn["speaker"]
            content = f"{text_of(turn)} (said by {speaker} in the conversation at {date})"
            yield name, {"title": f"{speaker}, turn {name}", "content": content, "tags": []}


def _value(answer: Message) -> Any:
    """Read the JSON that ai-devkit writes as text."""
    return json.loads(answer["content"][0]["text"])


def _drafts() -> list[KnowledgeDraft]:
    chance = random.Random(4)
    return [english_draft(number, chance) for number in range(ITEMS)]


def _knowledge() -> list[Measure]:
    _ai_devkit()
    items = [_item(draft) for draft in _drafts()]
    theirs = _their_knowledge(items)
    ours = _our_knowledge(items[: len(theirs.stores)])
    fewer = "" if len(theirs.stores) == ITEMS else f", of {ITEMS:,}: the time was up"
    at = f"{len(theirs.stores):,} items{fewer}"
    return [
        Measure(f"kmem: store, one by one, {at}", spread(ours.stores), VECTORS),
        Measure(
            f"ai-devkit: the same, not fsync'd, refused {theirs.refused}",
            spread(theirs.stores),
            _beside(theirs.stores, ours.stores),
        ),
        Measure("kmem: search of 8 words, words and meaning", spread(ours.searches)),
        Measure(
            "ai-devkit: the same, words alone",
            spread(theirs.searches),
            _beside(theirs.searches, ours.searches),
        ),
        Measure("kmem: resident set after it", ours.memory),
        Measure("ai-devkit: resident set after it", theirs.memory),
    ]


def _item(draft: KnowledgeDraft) -> Message:
    """Return an item that both take: a tag of ai-devkit's has no underscore."""
    tags = [re.sub(r"_+", "-", tag) for tag in draft.tags]
    return {"title": draft.title, "content": draft.content, "tags": tags}


def _their_knowledge(items: list[Message]) -> Times:
    times = Times()
    with _ai_devkit_client() as client:
        _store_all(client, items, times)
        times.searches = _search_all(client)
        times.memory = _megabytes(resident_bytes(client.process.pid))
    return times


def _our_knowledge(items: list[Message]) -> Times:
    """Store and search through the bridge; every text has its vector before the searches."""
    times = Times()
    with tempfile.TemporaryDirectory() as folder:
        database = Path(folder) / "kmem.db"
        with _served(database) as memory:
            _store_all(memory.client(), items, times)
        asyncio.run(settle(database))
        with _served(database) as memory:
            client = memory.client()
            times.searches = _search_all(client)
            times.memory = _held(memory, client)
    assert not times.refused
    return times


@contextmanager
def _served(database: Path) -> Iterator[Memory]:
    memory = Memory(database)
    try:
        yield memory
    finally:
        memory.close()


def _store_all(client: StdioClient, items: list[Message], times: Times) -> None:
    """Store items one by one until the time is up."""
    until = time.monotonic() + PATIENCE_S
    for item in items:
        started = time.perf_counter()
        answer = client.call("memory_storeKnowledge", item)
        times.stores.append(time.perf_counter() - started)
        times.refused += bool(answer.get("isError"))
        if time.monotonic() > until:
            return


def _search_all(client: StdioClient) -> list[float]:
    chance = random.Random(7)
    client.call("memory_searchKnowledge", {"query": "first words"})
    queries = [{"query": question(chance), "limit": 10} for _ in range(QUESTIONS)]
    return [timed_call(client, "memory_searchKnowledge", query) for query in queries]


def _graph() -> list[Measure]:
    """Measure the graph tools: the reference finds one substring, so it is asked for one word."""
    command = npm_peer(NPM_REFERENCE, "mcp-server-memory")
    entities = [
        {"name": draft.title, "entityType": "item", "observations": [draft.content]}
        for draft in _drafts()
    ]
    queries = _rarest_words(entities)
    with tempfile.TemporaryDirectory() as folder:
        ours = _our_graph(Path(folder) / "kmem.db", entities, queries)
        reference = StdioClient(command, {"MEMORY_FILE_PATH": str(Path(folder) / "memory.jsonl")})
        try:
            reference.initialize()
            _fill_graph(reference, entities[:-QUESTIONS])
            theirs = _graph_times(reference, entities[-QUESTIONS:], queries)
            theirs.memory = _megabytes(resident_bytes(reference.process.pid))
        finally:
            reference.close()
    return [
        Measure(f"kmem: create_entities, one, at {ITEMS:,}", spread(ours.stores)),
        Measure(
            "reference: the same, not fsync'd",
            spread(theirs.stores),
            _beside(theirs.stores, ours.stores),
        ),
        Measure("kmem: search_nodes, the question's rarest word", spread(ours.searches)),
        Measure(
            "reference: the same", spread(theirs.searches), _beside(theirs.searches, ours.searches)
        ),
        Measure("kmem: resident set after it", ours.memory),
        Measure("reference: resident set after it", theirs.memory),
    ]


def _rarest_words(entities: list[Message]) -> list[str]:
    """Return the word of each question that the fewest texts have, yet one of them at least."""
    words = Counter(
        word
        for entity in entities
        for word in set(re.findall(r"\w+", f"{entity['name']} {entity['observations'][0]}".lower()))
    )
    chance = random.Random(7)
    asked = [question(chance).lower().split() for _ in range(QUESTIONS)]
    return [min(filter(words.get, one), key=words.__getitem__) for one in asked]


def _our_graph(database: Path, entities: list[Message], queries: list[str]) -> Times:
    """Fill our graph and time it once its texts have their vectors."""
    with _served(database) as memory:
        _fill_graph(memory.client("--tools", "graph"), entities[:-QUESTIONS])
    asyncio.run(settle(database))
    with _served(database) as memory:
        client = memory.client("--tools", "graph")
        client.call("search_nodes", {"query": "first words"})
        times = _graph_times(client, entities[-QUESTIONS:], queries)
        times.memory = _held(memory, client)
    return times


def _fill_graph(client: StdioClient, entities: list[Message]) -> None:
    for start in range(0, len(entities), 1_000):
        answer = client.call("create_entities", {"entities": entities[start : start + 1_000]})
        assert not answer.get("isError"), answer


def _graph_times(client: StdioClient, entities: list[Message], queries: list[str]) -> Times:
    return Times(
        [timed_call(client, "create_entities", {"entities": [entity]}) for entity in entities],
        [timed_call(client, "search_nodes", {"query": query}) for query in queries],
    )


def _held(memory: Memory, client: StdioClient) -> str:
    """Write what the resident holds, which serves all clients, and the bridge of this one."""
    resident = memory.resident().memory_info().rss
    bridge = psutil.Process(client.process.pid).memory_info().rss
    return f"{_megabytes(resident)}, bridge {_megabytes(bridge)}"


def _beside(theirs: list[float], ours: list[float]) -> str:
    """Write how many times as long theirs took, at p50 and p95."""
    ratios = (percentile(theirs, share) / percentile(ours, share) for share in (0.5, 0.95))
    return " / ".join(f"{ratio:.2f}" for ratio in ratios) + " x kmem"


def _megabytes(size: int) -> str:
    return f"{size / 1e6:.0f} MB"
