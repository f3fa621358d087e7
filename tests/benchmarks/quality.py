"""How well search finds: LoCoMo's and Cranfield's development halves, beside plain FTS5.

The corpora are no part of the project; where they are not, this says so and measures nothing.
"""

import asyncio
import json
import math
import re
import tempfile
from collections import defaultdict
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import apsw
from _pytest.outcomes import Skipped

from kmem_desktop.bootstrap import Services, opened_services
from kmem_desktop.config import paths
from kmem_desktop.domain.changes import Origin, OriginKind
from kmem_desktop.domain.found import EntryQuery
from kmem_desktop.domain.sessions.conversations import TurnDraft
from kmem_desktop.search.query import parse
from kmem_desktop.services.sessions.exchanges import SessionDraft
from tests.benchmarks.measures import Measure
from tests.server.corpora import corpora

ORIGIN = Origin(OriginKind.CLIENT, "Benchmark")
CATEGORIES = {1: "multi-hop", 2: "time", 3: "open domain", 4: "single hop"}
ADVERSARIAL = 5


@dataclass
class Recall:
    """Turn recall in the best 5 and 10, summed up for each category."""

    count: dict[str, int] = field(default_factory=lambda: defaultdict(int))
    at_5: dict[str, float] = field(default_factory=lambda: defaultdict(float))
    at_10: dict[str, float] = field(default_factory=lambda: defaultdict(float))

    def add(self, category: int, evidence: set[str], ranking: Sequence[str]) -> None:
        """Count one question."""
        for name in ("all", CATEGORIES[category]):
            self.count[name] += 1
            self.at_5[name] += len(evidence & set(ranking[:5])) / len(evidence)
            self.at_10[name] += len(evidence & set(ranking[:10])) / len(evidence)

    def measures(self, what: str, bound: str) -> list[Measure]:
        """Return a row for all and for each category."""
        return [
            Measure(
                f"{what}, {name} ({self.count[name]})",
                f"R@5 {self.at_5[name] / self.count[name]:.3f},"
                f" R@10 {self.at_10[name] / self.count[name]:.3f}",
                "",
                bound if name == "all" else "",
            )
            for name in ("all", *CATEGORIES.values())
        ]


def quality() -> list[Measure]:
    """Measure recall on conversations and nDCG on abstracts."""
    try:
        folder = corpora()
    except Skipped as reason:
        return [Measure(f"not measured: {reason}", "", "", "")]
    return asyncio.run(_quality(folder))


async def _quality(folder: Path) -> list[Measure]:
    return [*await conversations(folder), *await _cranfield(folder / "retrieval")]


def dialogues_of(folder: Path) -> list[dict[str, Any]]:
    """Return the conversations of LoCoMo's development half."""
    dialogues = json.loads((folder / "locomo-dev.json").read_text(encoding="utf-8"))
    assert isinstance(dialogues, list)
    return dialogues


async def conversations(folder: Path) -> list[Measure]:
    """Measure recall on conversations, ours and that of plain FTS5."""
    hybrid, lexical, plain = Recall(), Recall(), Recall()
    for dialogue in dialogues_of(folder):
        await _one_dialogue(dialogue, hybrid, lexical, plain)
    return [
        *hybrid.measures("LoCoMo, words and meaning", "R@10 0.85, R@5 0.77"),
        *lexical.measures("LoCoMo, words alone", "R@10 0.75"),
        *plain.measures("LoCoMo, plain FTS5 (OR, porter)", ""),
    ]


@asynccontextmanager
async def _memory() -> AsyncIterator[Services]:
    with tempfile.TemporaryDirectory() as folder:
        async with opened_services(paths(str(Path(folder) / "kmem.db"))) as services:
            yield services


async def _one_dialogue(
    dialogue: dict[str, Any], hybrid: Recall, lexical: Recall, plain: Recall
) -> None:
    turns = {turn["dia_id"]: text_of(turn) for turn in turns_of(dialogue)}
    plain_search = _plain_fts5(turns)
    async with _memory() as services:
        await _store_dialogue(services, dialogue)
        await services.embedding.settled()
        for recall in (hybrid, lexical):
            if recall is lexical:
                services.embedding.failure = "switched off for the measurement"
            for category, question, evidence in questions_of(dialogue):
                query = EntryQuery(question, limit=10)
                entries, _ = await services.sessions.search(query, "benchmark")
                ranking = [(entry.metadata or {})["dia_id"] for entry in entries]
                recall.add(category, evidence, ranking)
                if recall is lexical:
                    plain.add(category, evidence, plain_search(question))


def questions_of(dialogue: dict[str, Any]) -> Iterator[tuple[int, str, set[str]]]:
    """Yield category, question and evidence of what is counted: categories 1 to 4."""
    turns = {turn["dia_id"] for turn in turns_of(dialogue)}
    for question in dialogue["qa"]:
        evidence = set(question.get("evidence") or ()) & turns
        if evidence and question["category"] != ADVERSARIAL:
            yield question["category"], question["question"], evidence


async def _store_dialogue(services: Services, dialogue: dict[str, Any]) -> None:
    conversation = dialogue["conversation"]
    for number in session_numbers(conversation):
        drafts = [
            TurnDraft(
                role="user" if turn["speaker"] == conversation["speaker_a"] else "assistant",
                text=text_of(turn),
                speaker=turn["speaker"],
                time=conversation[f"session_{number}_date_time"],
                metadata={"dia_id": turn["dia_id"]},
            )
            for turn in conversation[f"session_{number}"]
        ]
        await services.sessions.add_exchange(SessionDraft(), drafts, ORIGIN)


def session_numbers(conversation: dict[str, Any]) -> list[int]:
    """Return the numbers of a conversation's sessions, in order."""
    names = (re.fullmatch(r"session_(\d+)", name) for name in conversation)
    return sorted(int(name.group(1)) for name in names if name)


def turns_of(dialogue: dict[str, Any]) -> list[dict[str, Any]]:
    """Return every turn of a dialogue."""
    conversation = dialogue["conversation"]
    return [t for n in session_numbers(conversation) for t in conversation[f"session_{n}"]]


def text_of(turn: dict[str, Any]) -> str:
    """Return what was said, with the caption of a picture that was shared."""
    caption = turn.get("blip_caption")
    return f"{turn['text']} [shared a picture: {caption}]" if caption else str(turn["text"])


def _plain_fts5(texts: dict[str, str]) -> Callable[[str], list[str]]:
    connection = apsw.Connection(":memory:")
    connection.execute("CREATE VIRTUAL TABLE texts USING fts5(body, tokenize='porter unicode61')")
    names = list(texts)
    connection.executemany(
        "INSERT INTO texts (rowid, body) VALUES (?, ?)",
        ((index, texts[name]) for index, name in enumerate(names)),
    )

    def search(question: str) -> list[str]:
        match = parse(question).match
        if not match:
            return []
        query = "SELECT rowid FROM texts WHERE texts MATCH ? ORDER BY rank LIMIT 10"
        return [names[row[0]] for row in connection.execute(query, (match,))]

    return search


async def _cranfield(folder: Path) -> list[Measure]:
    documents = _lines(folder / "cranfield-corpus.jsonl")
    texts = {d["id"]: f"{d['title']}. {d['text']}" for d in documents if d["text"].strip()}
    grades: dict[str, dict[str, int]] = defaultdict(dict)
    for line in _lines(folder / "cranfield-qrels-dev.jsonl"):
        grades[line["query"]][line["doc"]] = line["grade"]
    queries = [q for q in _lines(folder / "cranfield-queries-dev.jsonl") if grades[q["id"]]]
    plain_search = _plain_fts5(texts)
    hybrid = plain = 0.0
    async with _memory() as services:
        for name, text in texts.items():
            draft = TurnDraft("assistant", text, metadata={"id": name})
            await services.sessions.add_exchange(SessionDraft(), [draft], ORIGIN)
        await services.embedding.settled()
        for query in queries:
            entries, _ = await services.sessions.search(EntryQuery(query["text"], limit=10), "b")
            ranking = [(entry.metadata or {})["id"] for entry in entries]
            hybrid += ndcg(ranking, grades[query["id"]])
            plain += ndcg(plain_search(query["text"]), grades[query["id"]])
    return [
        Measure("Cranfield, words and meaning", f"nDCG@10 {hybrid / len(queries):.3f}", "", "0.43"),
        Measure("Cranfield, plain FTS5", f"nDCG@10 {plain / len(queries):.3f}", "", ""),
    ]


def _lines(path: Path) -> list[dict[str, Any]]:
    lines = path.read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines if line.strip()]


def ndcg(ranking: Sequence[str], grades: dict[str, int], depth: int = 10) -> float:
    def gain(values: Sequence[int]) -> float:
        return math.fsum(
            (2**value - 1) / math.log2(place + 2) for place, value in enumerate(values)
        )

    ideal = gain(sorted(grades.values(), reverse=True)[:depth])
    return gain([grades.get(name, 0) for name in ranking[:depth]]) / ideal if ideal else 0.0
