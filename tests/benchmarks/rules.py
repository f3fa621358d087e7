"""How well tasks are told apart and directives are ranked, on the development halves.

Everything goes through the pure functions of kmem_desktop/rules, with the bundled model's vectors
and FTS5 for the words. The corpora are no part of the project; where they are not, this says so and
measures nothing.
"""

import json
import math
import re
import statistics
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import apsw
import numpy as np
from _pytest.outcomes import Skipped
from numpy.typing import NDArray

from kmem_desktop.domain.rules import (
    LAYER_LABELS,
    TOPICS,
    Directive,
    Layer,
    RankedDirective,
    Severity,
    TaskContext,
)
from kmem_desktop.providers.embedded import EmbeddedModel
from kmem_desktop.rules import ranking
from kmem_desktop.rules.context_block import context_block
from kmem_desktop.rules.detection import LAYERS as HEAD_LAYERS
from kmem_desktop.rules.detection import (
    OUTPUTS,
    RULE_LAYER_CONFIDENCE,
    Head,
    detect,
    directive_text,
    load_head,
    traits,
)
from kmem_desktop.rules.ranking import EVERYTHING, Candidate, Cut, rank
from kmem_desktop.rules.tokens import count_tokens
from kmem_desktop.search.query import parse
from kmem_desktop.services.rules.querying import SURE_TOPIC
from tests.benchmarks.measures import Measure
from tests.server.corpora import ROOT, corpora

Vectors = NDArray[np.float32]
Line = dict[str, Any]
LAYERS = {label: layer for layer, label in LAYER_LABELS.items()}
MANY = 200


def rules() -> list[Measure]:
    """Measure detection and ranking."""
    try:
        folder = corpora()
    except Skipped as reason:
        return [Measure(f"not measured: {reason}", "", "", "")]
    head = load_head(ROOT / "resources" / "detection" / "head.json")
    model = EmbeddedModel(ROOT / "resources" / "embedding")
    return [*_detection(folder, head, model), *_ranking(folder, head, model)]


def _detection(folder: Path, head: Head, model: EmbeddedModel) -> list[Measure]:
    gold = _lines(folder / "context" / "context-dev.jsonl")
    vectors = model.embed([item["text"] for item in gold])
    rows = []
    for name, known, bounds in (
        ("embedding and words", list(vectors), ("0.95", "0.90")),
        ("words alone", [None] * len(gold), ("0.80", "0.75")),
    ):
        start = time.perf_counter()
        found = [detect(item["text"], v, head) for item, v in zip(gold, known, strict=True)]
        took = (time.perf_counter() - start) / len(gold)
        right = np.array([_is_right(each, item) for each, item in zip(found, gold, strict=True)])
        sure = np.array([each.confidence for each in found])
        rows += [
            Measure(f"layer, {name} ({len(gold)})", f"{right.mean():.3f}", "seed 0.48", bounds[0]),
            Measure(f"topics, {name}", f"micro-F1 {_f1(found, gold):.3f}", "seed 0.45", bounds[1]),
            Measure(f"confidence, {name}", f"error {_calibration_error(sure, right):.3f}"),
            Measure(f"detect, {name}, the embedding aside", f"{took * 1000:.2f} ms"),
        ]
    return rows


def _is_right(found: TaskContext, item: Line) -> bool:
    return LAYER_LABELS[found.layer] in item["acceptable_layers"]


def _f1(found: Sequence[TaskContext], gold: Sequence[Line]) -> float:
    right = wrong = missed = 0
    for each, item in zip(found, gold, strict=True):
        topics, wanted = set(each.topics) - set(item["optional_topics"]), set(item["topics"])
        right += len(topics & wanted)
        wrong += len(topics - wanted)
        missed += len(wanted - topics)
    return 2 * right / (2 * right + wrong + missed)


def _calibration_error(sure: NDArray[Any], right: NDArray[Any]) -> float:
    """Return the error over ten bins, as score.py of the corpora has it."""
    places = np.minimum((sure * 10).astype(int), 9)
    bins = (abs(float((sure - right)[places == place].sum())) for place in range(10))
    return math.fsum(bins) / len(sure)


@dataclass
class _Pool:
    """The directives, the tasks and what is known of both."""

    candidates: list[Candidate]
    tasks: list[str]
    grades: list[dict[str, int]]
    contexts: list[TaskContext]
    traits: list[Vectors]
    cosines: Vectors
    conditions: list[dict[str, float]]
    lexical: list[list[float]]
    tokens: int

    def ranked(
        self,
        cut: Cut = EVERYTHING,
        edit: Callable[[Candidate], Candidate] = lambda candidate: candidate,
    ) -> list[list[RankedDirective]]:
        """Rank all directives for every task."""
        return [
            rank(
                self.contexts[task],
                text,
                [edit(each) for each in self.for_task(task)],
                traits=self.traits[task],
                cut=cut,
            )
            for task, text in enumerate(self.tasks)
        ]

    def for_task(self, task: int) -> list[Candidate]:
        """Return the candidates as they stand to a task."""
        return [
            replace(
                each,
                cosine=float(self.cosines[task, place]),
                when_cosine=self.conditions[task].get(each.path),
                lexical=self.lexical[task][place],
            )
            for place, each in enumerate(self.candidates)
        ]


def _ranking(folder: Path, head: Head, model: EmbeddedModel) -> list[Measure]:
    pool = _pool(folder, head, model)
    names = [each.id for each in pool.candidates]
    cosine = [[names[place] for place in np.argsort(-row)] for row in pool.cosines]
    words = [[names[place] for place in np.argsort(-np.array(row))] for row in pool.lexical]
    whole = [_ids(each) for each in pool.ranked()]
    cut = pool.ranked(Cut())
    grade_2 = [_recall(r, g, least=2) for r, g in zip(map(_ids, cut), pool.grades, strict=True)]
    blocks = [context_block(each, c) for each, c in zip(cut, pool.contexts, strict=True)]
    tokens = statistics.mean(block.tokens for block in blocks)
    shown = [len(block.citations) for block in blocks]
    useful = [
        sum(grades.get(citation.id, 0) > 0 for citation in block.citations)
        for block, grades in zip(blocks, pool.grades, strict=True)
    ]
    return [
        _ndcg_row(f"directives ({len(pool.tasks)} tasks), words alone (FTS5)", words, pool, ""),
        _ndcg_row("directives, cosine alone", cosine, pool, ""),
        _ndcg_row("directives, ranked", whole, pool, ""),
        _ndcg_row("directives, ranked and cut", [_ids(each) for each in cut], pool, "0.80"),
        Measure(
            "directives, recall@10 of all, of grade 2",
            f"{_mean(_recall(r, g) for r, g in zip(map(_ids, cut), pool.grades, strict=True)):.3f}"
            f", {_mean(each for each in grade_2 if each >= 0):.3f}",
        ),
        Measure(
            "shown at the default budget, of these useful",
            f"{_mean(shown):.1f}, {sum(useful) / sum(shown):.2f}",
        ),
        Measure(
            "tokens of a block, of the documents",
            f"{tokens:.0f}, {tokens / pool.tokens:.1%}",
            f"{pool.tokens} tokens",
            "15 %",
        ),
        *_without(pool),
        _speed(pool),
    ]


def _without(pool: _Pool) -> list[Measure]:
    """Leave out each part in turn."""
    edits: dict[str, Callable[[Candidate], Candidate]] = {
        "vectors": lambda each: replace(each, cosine=None, when_cosine=None),
        "traits": lambda each: replace(each, traits=None),
        "authority": lambda each: replace(each, authoritative_for=()),
        "conditions": lambda each: replace(each, when_to_apply=(), when_cosine=None),
        "layers": lambda each: replace(each, directive=replace(each.directive, layer=Layer.ANY)),
        "topics": lambda each: replace(each, directive=replace(each.directive, topics=())),
        "words": lambda each: replace(each, lexical=0.0),
    }
    rows = [
        _ndcg_row(f"  without {name}", [_ids(r) for r in pool.ranked(edit=edit)], pool, "")
        for name, edit in edits.items()
    ]
    weights = dict(ranking.WEIGHTS)
    for name in weights:
        ranking.WEIGHTS[name] = 0.0
        rows.append(_ndcg_row(f"  weight of {name} 0", [_ids(r) for r in pool.ranked()], pool, ""))
        ranking.WEIGHTS[name] = weights[name]
    return rows


def _speed(pool: _Pool) -> Measure:
    candidates = (pool.for_task(0) * 3)[:MANY]
    times = []
    for _ in range(30):
        start = time.perf_counter()
        rank(pool.contexts[0], pool.tasks[0], candidates, traits=pool.traits[0])
        times.append(time.perf_counter() - start)
    value = f"p50 {statistics.median(times) * 1000:.2f} ms"
    return Measure(f"rank {MANY} candidates", value, "", "2 ms")


def _topics_of(shares: NDArray[np.float32]) -> tuple[str, ...]:
    """Return the topics of a directive that states none, as a query takes them."""
    topics = shares[len(HEAD_LAYERS) : OUTPUTS] >= SURE_TOPIC
    return tuple(topic for topic, is_sure in zip(TOPICS, topics, strict=True) if is_sure)


def _layer_of(shares: NDArray[np.float32]) -> Layer:
    """Return the layer of a directive that states none, as a query takes it."""
    layers = shares[: len(HEAD_LAYERS)]
    best = int(layers.argmax())
    return HEAD_LAYERS[best] if layers[best] >= RULE_LAYER_CONFIDENCE else Layer.ANY


def _pool(folder: Path, head: Head, model: EmbeddedModel) -> _Pool:
    lines = _lines(folder / "directives" / "directives-dev.jsonl")
    queries = _lines(folder / "directives" / "relevance-dev.jsonl")
    documents = {line["doc"]: _Document(folder / "rules" / line["doc"]) for line in lines}
    texts = [
        directive_text(
            documents[line["doc"]].name,
            documents[line["doc"]].section(line),
            line["text"],
            documents[line["doc"]].rationale(line),
        )
        for line in lines
    ]
    tasks = [query["task"] for query in queries]
    directive_vectors, task_vectors = model.embed(texts), model.embed(tasks)
    own = [traits(t, v, head) for t, v in zip(texts, directive_vectors, strict=True)]
    candidates = []
    for place, line in enumerate(lines):
        document = documents[line["doc"]]
        severity = (line["severity"] or "SHOULD").removesuffix(" NOT")
        directive = Directive(
            line["text"],
            Severity(severity),
            document.section(line),
            line["line"],
            topics=tuple(line["rule_topics"]) or _topics_of(own[place]),
            layer=LAYERS[line["rule_layer"]] if line["rule_layer"] else _layer_of(own[place]),
        )
        candidates.append(
            Candidate(
                line["id"],
                directive,
                document.name,
                line["doc"],
                document.authoritative_for,
                document.conditions,
                traits=own[place],
            )
        )
    with_conditions = {p: d for p, d in documents.items() if d.conditions}
    near = {
        p: (task_vectors @ model.embed(d.conditions).T).max(1) for p, d in with_conditions.items()
    }
    pairs = list(zip(tasks, task_vectors, strict=True))
    return _Pool(
        candidates,
        tasks,
        [query["grades"] for query in queries],
        [detect(task, vector, head) for task, vector in pairs],
        [traits(task, vector, head) for task, vector in pairs],
        task_vectors @ directive_vectors.T,
        [{p: float(values[n]) for p, values in near.items()} for n in range(len(tasks))],
        _fts5(texts, tasks),
        sum(count_tokens(document.text) for document in documents.values()),
    )


class _Document:
    """What the names and conditions of a document are, read roughly."""

    def __init__(self, path: Path) -> None:
        self.text = path.read_text(encoding="utf-8")
        self.lines = self.text.splitlines()
        title = re.search(r"^# +(.+)$", self.text, re.MULTILINE)
        self.name = title.group(1).strip() if title else path.stem.rpartition("__")[2].split(".")[0]
        when = re.search(r"## When to Apply\s*\n((?:- .*\n)+)", self.text)
        self.conditions = tuple(line[2:] for line in when.group(1).splitlines()) if when else ()
        topics = re.search(r"AuthoritativeFor\*\*:\s*\[(.*?)\]", self.text)
        self.authoritative_for = tuple(topics.group(1).split(", ")) if topics else ()

    def section(self, line: Line) -> str:
        """Return the heading a directive stands under."""
        above = reversed(self.lines[: line["line"]])
        found = (re.match(r"#{2,6} +(.+)", each) for each in above)
        return line["section"] or next((m.group(1).strip("* ") for m in found if m), "")

    def rationale(self, line: Line) -> str:
        """Return the reason that follows a directive of the seed's schema."""
        for each in self.lines[line["line"] :]:
            if each.startswith(("**[", "#")):
                break
            if each.startswith("**Rationale**:"):
                return each.removeprefix("**Rationale**:").strip()
        return ""


def _fts5(texts: Sequence[str], tasks: Sequence[str]) -> list[list[float]]:
    """Return each text's bm25 for each task, over the best one's."""
    connection = apsw.Connection(":memory:")
    connection.execute("CREATE VIRTUAL TABLE texts USING fts5(body, tokenize='porter unicode61')")
    connection.executemany("INSERT INTO texts (rowid, body) VALUES (?, ?)", enumerate(texts))
    rows = []
    for task in tasks:
        row = [0.0] * len(texts)
        query = "SELECT rowid, -rank FROM texts WHERE texts MATCH ?"
        for place, value in connection.execute(query, (parse(task).match,)):
            row[place] = value
        rows.append([value / (max(row) or 1.0) for value in row])
    return rows


def _ndcg_row(what: str, rankings: Sequence[Sequence[str]], pool: _Pool, bound: str) -> Measure:
    values = [_ndcg(r, g) for r, g in zip(rankings, pool.grades, strict=True)]
    error = statistics.stdev(values) / math.sqrt(len(values))
    return Measure(what, f"nDCG@10 {_mean(values):.3f} +- {error:.3f}", "", bound)


def _ids(ranked: Sequence[RankedDirective]) -> list[str]:
    return [each.id for each in ranked]


def _ndcg(ranking_: Sequence[str], grades: dict[str, int], depth: int = 10) -> float:
    def gain(values: Sequence[int]) -> float:
        return math.fsum((2**v - 1) / math.log2(place + 2) for place, v in enumerate(values))

    return gain([grades.get(name, 0) for name in ranking_[:depth]]) / gain(
        sorted(grades.values(), reverse=True)[:depth]
    )


def _recall(ranking_: Sequence[str], grades: dict[str, int], least: int = 1) -> float:
    """Return the share of relevant ones in the best ten; -1 where there is none."""
    wanted = {name for name, grade in grades.items() if grade >= least}
    return len(wanted & set(ranking_[:10])) / len(wanted) if wanted else -1.0


def _mean(values: Iterable[float]) -> float:
    return statistics.mean(values)


def _lines(path: Path) -> list[Line]:
    lines = path.read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines if line.strip()]


if __name__ == "__main__":
    from tests.benchmarks.measures import machine

    print(machine())
    for measure in rules():
        print(f"{measure.what:52} {measure.value:32} {measure.beside:18} {measure.bound}")
