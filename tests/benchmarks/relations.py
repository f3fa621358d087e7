"""Relations between entries: how many of those that are found are right, on labelled pairs.

The pairs are statements of the corpora's developer conversations with a cosine of 0.7 or more; a
person read them and said how the later one relates to the earlier. Of the corpora nothing is kept
here: a pair is known by a hash of its texts. The rules were tuned on these pairs, so this is a
score on what was seen; the pairs of the long dialogues are small talk, where nothing is to be
found at all.
"""

import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

from _pytest.outcomes import Skipped

from kmem_desktop.domain.sessions.conversations import FoundRelation, Role
from kmem_desktop.providers.embedded import EmbeddedModel
from kmem_desktop.sessions import cues
from kmem_desktop.sessions.relations import LEAST_SIMILARITY, RelatedEntry, relation_between
from kmem_desktop.sessions.salience import outline
from kmem_desktop.sessions.sentences import PassageKind
from tests.benchmarks.measures import Measure
from tests.server.corpora import corpora
from tests.sessions.conversations import spoken

MODEL = Path(__file__).parents[2] / "resources" / "embedding"
SHORTEST = 60
DIALOGUES = 2
BOUND = "> 70 % (seed 004)"

# What a pair's relation may be called, and the pairs: "none" where finding nothing is right too.
LABELS = {
    "none": (
        "b087a8bdb18e 6532142c4bea bf559258f571 be21b26b277e ec0c464aec95 a7e708896e72 "
        "818a1db747f4 026ac5233ee7 c961ef5eee56 43c2ff08cb36 fcb24f1e6bc2 792b22532bb3 "
        "b6468852a257 421c496ecd4d 6a84e50b73fd 65dec2073601 c96c282d3378 2d4e45cdc32c "
        "f6dbbdcf904e 1852864ca042 4c6f7b5f4c2b c3e19b9fcb27 e4a67c932c87 71f1ba56a36f "
        "374be6830c94 bdaedc3cc2c0 3009ccc87d5b db386e9c1494 f62cdb095ccc 0b78a54c8e72 "
        "e8e9f7503620 cfcb2b618374 40cb0e400c77 65bc9361faf1 cf6a3e50ae00 5dafa4029444 "
        "4f579c44daa5 886d2dd8ba74 e2d870df1a2b e087f501b8af 7be32fe8f245 4603b188e8b8 "
        "cf9df35f3b39 eeb664dc40a9 307c20807092 09b23e511957 36ea74591516 2573543858cb "
        "a4210f00a28a 2106a20acb17"
    ),
    "implements builds_on none": "847ec92dd82f",
    "implements": "7876c12b4197",
    "references": (
        "0c06f82b8e26 b0be2f90d5ad 15c06bac4e89 bfeec43953e6 c9e4dac08c9a 86783043b0bb "
        "3bd65c41cb21 1a5a67619c81 a7a5cdcf6565 7fa429f8051b cf7e51349c57 89f0016e8889 "
        "08aa1c0fa444 3840ba7de77b 12d58e275740 1d3feda77bec dc0cbe733758 fe5b92146abe"
    ),
    "references none": (
        "305884888580 fcce0c1099a2 b68ea9c40bc9 a2fc6821bf45 baaba9e3de06 c6458ea57204"
    ),
    "supersedes": "7ec5e763ba14 23c909f7362b",
    "builds_on implements": "a269a2279a17",
    "references builds_on none": "b4a8c1258eaf 2eeab15aa28d ae913b769c37",
    "implements references none": "1c6b7723a3ff",
    "supersedes references": "215fc5a06c3c",
    "references builds_on": "b39dc995619c 36ef3529e467 c0774923d395",
    "builds_on references none": "416b41f0f8d0",
    "builds_on implements references": "dfe7b4d38dc8 1f44d27c27a3",
    "contradicts": "c8c9a8862275",
    "references implements builds_on": "f2cbc031114c",
    "contradicts supersedes": "dd169e43d835",
    "builds_on": "944bf457b426",
}

Said = tuple[int, str]
"""The turn, and a sentence of it."""


def relations() -> list[Measure]:
    """Measure how many found relations are right, and how many are found in small talk."""
    try:
        folder = corpora()
    except Skipped as reason:
        return [Measure(f"not measured: {reason}", "", "", "")]
    model = EmbeddedModel(MODEL)
    if not model.is_available():
        return [Measure("not measured: the embedding model is not built", "", "", "")]
    return [*_labelled(folder, model), _small_talk(folder, model)]


def _labelled(folder: Path, model: EmbeddedModel) -> list[Measure]:
    labels = {name: set(key.split()) for key, names in LABELS.items() for name in names.split()}
    right: Counter[str] = Counter()
    seen: Counter[str] = Counter()
    there = missed = unlabelled = 0
    for file in sorted((folder / "conversations").glob("conv-*.json")):
        said = _statements(json.loads(file.read_text(encoding="utf-8")))
        for one, other, found in _pairs(said, model, "decision"):
            label = labels.get(_name(one, other))
            if label is None:
                unlabelled += found is not None
            elif found is not None:
                seen[found.relation] += 1
                right[found.relation] += found.relation in label
            else:
                missed += "none" not in label
            there += label is not None and "none" not in label
    total = sum(seen.values())
    by_kind = ", ".join(f"{name} {right[name]} of {count}" for name, count in seen.items())
    return [
        Measure(
            "found relations that are right",
            f"{sum(right.values()) / max(1, total):.0%} ({sum(right.values())} of {total})",
            f"{unlabelled} unlabelled",
            BOUND,
        ),
        Measure("  of each kind", by_kind),
        Measure("labelled relations that are not found", f"{missed} of {there}"),
    ]


def _small_talk(folder: Path, model: EmbeddedModel) -> Measure:
    dialogues = json.loads((folder / "locomo-dev.json").read_text(encoding="utf-8"))
    count = found = 0
    for dialogue in dialogues[:DIALOGUES]:
        for _, _, relation in _pairs(_sentences(dialogue["conversation"]), model, "insight"):
            count += 1
            found += relation is not None
    return Measure("relations found in pairs of small talk", f"{found} of {count}")


def _statements(conversation: dict) -> list[Said]:  # type: ignore[type-arg]
    passages = outline(spoken(conversation)).passages
    return [
        (passage.index, passage.text)
        for passage in passages
        if passage.kind in (PassageKind.SENTENCE, PassageKind.ITEM)
        and passage.role in (Role.USER, Role.ASSISTANT)
        and len(passage.text) > SHORTEST
        and not cues.is_question(passage.text)
    ]


def _sentences(conversation: dict) -> list[Said]:  # type: ignore[type-arg]
    names = [n for n in conversation if re.fullmatch(r"session_\d+", n)]
    turns = [t for n in sorted(names, key=lambda n: int(n[8:])) for t in conversation[n]]
    return [
        (number, sentence)
        for number, turn in enumerate(turns)
        for sentence in re.split(r"(?<=[.!?])\s", turn["text"])
        if len(sentence) > SHORTEST and not sentence.endswith("?")
    ]


def _pairs(
    said: list[Said], model: EmbeddedModel, kind: str
) -> Iterator[tuple[str, str, FoundRelation | None]]:
    vectors = model.embed([text for _, text in said])
    cosines = vectors @ vectors.T
    start = datetime(2026, 1, 1, tzinfo=UTC)
    entries = [
        RelatedEntry(number, kind, "", text, start + timedelta(seconds=number))
        for number, (_, text) in enumerate(said)
    ]
    for first, one in enumerate(entries):
        for other in entries[first + 1 :]:
            cosine = float(cosines[one.id, other.id])
            if cosine >= LEAST_SIMILARITY and said[one.id][0] != said[other.id][0]:
                yield one.text, other.text, relation_between(one, other, cosine)


def _name(one: str, other: str) -> str:
    return hashlib.sha256(f"{one}\n{other}".encode()).hexdigest()[:12]
