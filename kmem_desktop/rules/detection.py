"""What a task is about, told without a language model: its layer, its topics, its technologies.

A linear head answers for seven layers (and "no task at all") and seven topics at once. It sees the
concepts of rules/vocabulary and, where there is one, the sentence's embedding. It was fitted in
closed form by packaging/build_detection.py to sentences of our own wording; the same program
measured the temperature that turns its answers into honest confidences.

Without the embedding runtime a second head sees the concepts alone; it needs no numpy.

References:
    Seed 001, "Context Detection Engine": the layers, the topics, and what they mean.
    Seed 002, "Accuracy Testing": layer over 0.80, topics over 0.75.
"""

from __future__ import annotations

import base64
import json
import math
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from kmem_desktop.domain.rules import TOPICS, Layer, TaskContext
from kmem_desktop.rules.vocabulary import Words, concept_names, read_words

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    import numpy as np
    from numpy.typing import NDArray

    Vector = NDArray[np.float32]

LAYERS: tuple[Layer, ...] = tuple(Layer)
"""The order of the head's first outputs; `Layer.ANY`, "no task", is the last of them."""
REAL_LAYERS = len(LAYERS) - 1
OUTPUTS = len(LAYERS) + len(TOPICS)
BIAS = 0.3
"""The constant that is appended to what the heads see."""
MEANINGLESS = 0.5
"""From this probability of "no task" on the layer is left open."""
UNKNOWN_CONFIDENCE = 0.1
LEAST_ALTERNATIVE = 0.03
RULE_LAYER_CONFIDENCE = 0.6
"""From which probability on a rule that states no layer is taken to be of one."""
RULE_TEMPERATURE = 8.0
"""A whole document is less like the sentences the head was fitted to than a task is."""


class WordsHead(NamedTuple):
    """The head that sees the concepts alone.

    Attributes:
        rows: For each concept its share in every output; the last row is the bias.
        temperature: What the outputs are multiplied with before the softmax.
        threshold: From which output on a topic counts.
    """

    rows: dict[str, tuple[float, ...]]
    bias: tuple[float, ...]
    temperature: float
    threshold: float


class MeaningHead(NamedTuple):
    """The head that sees the embedding and the concepts.

    Attributes:
        weights: float32, shape (dimension + concepts + 1, outputs).
        concept_weight: What the concepts' shares are multiplied with beside a vector of length 1.
        temperature: What the outputs are multiplied with before the softmax.
        threshold: From which output on a topic counts.
    """

    weights: NDArray[np.float32]
    concept_weight: float
    temperature: float
    threshold: float


class Head(NamedTuple):
    """Both heads.

    Attributes:
        words: The one that sees words alone.
        packed: The other, as it is stored: it is unpacked when the first vector comes.
        model: The embedding model whose vectors the other understands, and no other's.
        dimension: How long these vectors are.
        version: Changes whenever traits made with another head must not be compared.
        rarity: For each concept 0..1: how much it tells that two texts share it.
    """

    words: WordsHead
    packed: str
    model: str
    dimension: int
    version: str
    rarity: dict[str, float]


@cache
def load_head(path: Path) -> Head:
    """Return the heads of a file that packaging/build_detection.py has made.

    Raises:
        OSError: It cannot be read.
        ValueError: It is none.
    """
    data = json.loads(path.read_text(encoding="utf-8"))
    try:
        words = data["words"]
        rows = {name: tuple(row) for name, row in words["rows"].items()}
        bias = rows.pop("")
        return Head(
            WordsHead(rows, bias, words["temperature"], words["threshold"]),
            json.dumps(data["meaning"]),
            data["model"],
            data["dimension"],
            data["version"],
            data["rarity"],
        )
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"{path} is no detection head") from error


def detect(text: str, vector: Vector | None, head: Head) -> TaskContext:
    """Return what a task is about.

    Args:
        text: The task, in any language; without a vector only words of the vocabulary tell.
        vector: Its embedding by `head.model`, float32, shape (384,), L2-normalised; a vector of
            another length is not used.
        head: As `load_head` returns it.
    """
    words = read_words(text)
    usable = _usable(vector, head)
    if not text.strip() or (usable is None and not words.concepts):
        return TaskContext(
            Layer.ANY,
            keywords=words.keywords,
            technologies=words.technologies,
            confidence=UNKNOWN_CONFIDENCE,
        )
    outputs = _outputs(words, usable, head)
    temperature, threshold = _calibration(usable, head)
    shares = _softmax(outputs[: len(LAYERS)], temperature)
    order = sorted(range(REAL_LAYERS), key=lambda index: -shares[index])
    if shares[REAL_LAYERS] >= MEANINGLESS:
        return TaskContext(
            Layer.ANY,
            keywords=words.keywords,
            technologies=words.technologies,
            confidence=min(UNKNOWN_CONFIDENCE, shares[order[0]]),
            alternatives=_alternatives(order, shares),
        )
    return TaskContext(
        LAYERS[order[0]],
        topics=_topics_over(outputs, threshold),
        keywords=words.keywords,
        technologies=words.technologies,
        confidence=round(shares[order[0]], 4),
        alternatives=_alternatives(order[1:], shares),
        method="embedding" if usable is not None else "words",
        model=head.model if usable is not None else "",
    )


def traits(text: str, vector: Vector | None, head: Head) -> Vector:
    """Return what rules/ranking compares a task and a directive by.

    Shares of the layers, of "no task" and of the topics, then those of the concepts. Traits may be
    kept beside a directive, as long as `head.version` stays the same.

    Returns:
        float32, shape (`traits_size()`,), all in 0..1.
    """
    import numpy as np

    words = read_words(text)
    usable = _usable(vector, head)
    outputs = _outputs(words, usable, head)
    temperature, _ = _calibration(usable, head)
    found = np.zeros(traits_size(), np.float32)
    found[: len(LAYERS)] = _softmax(outputs[: len(LAYERS)], min(temperature, RULE_TEMPERATURE))
    found[len(LAYERS) : OUTPUTS] = [min(max(value, 0.0), 1.0) for value in outputs[len(LAYERS) :]]
    for concept, share in words.concepts.items():
        found[OUTPUTS + _place_of_concept()[concept]] = share * head.rarity.get(concept, 1.0)
    return found


def traits_size() -> int:
    """Return how many traits there are."""
    return OUTPUTS + len(concept_names())


def directive_text(rule: str, section: str, text: str, rationale: str = "") -> str:
    """Return the words by which a directive is embedded, and its traits are read.

    The document's and the section's name place it, its reason tells what it is for: on the
    development half nDCG@10 by cosine alone is 0.661 with the text only, 0.759 with both names, and
    0.778 with the reason.

    Args:
        rule: The document's name.
        section: Its heading; of a path of headings the last one counts.
        text: What it says.
        rationale: Why.
    """
    heading = section.rsplit(" > ", 1)[-1]
    return " ".join(f"{rule}. {heading}. {text} {rationale}".split())


def _usable(vector: Vector | None, head: Head) -> Vector | None:
    return vector if vector is not None and vector.shape == (head.dimension,) else None


def _calibration(vector: Vector | None, head: Head) -> tuple[float, float]:
    part = head.words if vector is None else _unpacked(head.packed)
    return part.temperature, part.threshold


def _outputs(words: Words, vector: Vector | None, head: Head) -> list[float]:
    """Return what the head says of each layer and topic."""
    if vector is None:
        outputs = [BIAS * share for share in head.words.bias]
        for concept, share in words.concepts.items():
            for index, weight in enumerate(head.words.rows.get(concept, ())):
                outputs[index] += share * weight
        return outputs
    part = _unpacked(head.packed)
    values = vector @ part.weights[: head.dimension] + BIAS * part.weights[-1]
    for concept, share in words.concepts.items():
        row = part.weights[head.dimension + _place_of_concept()[concept]]
        values = values + share * part.concept_weight * row
    return [float(value) for value in values]


@cache
def _unpacked(packed: str) -> MeaningHead:
    import numpy as np

    data = json.loads(packed)
    flat = np.frombuffer(base64.b64decode(data["weights"]), np.float16).astype(np.float32)
    stored = flat.reshape(-1, OUTPUTS)
    concepts: list[str] = data["concepts"]
    dimension = len(stored) - len(concepts) - 1
    # By name, so that a vocabulary that has grown since does not shift the weights.
    weights = np.zeros((dimension + len(concept_names()) + 1, OUTPUTS), np.float32)
    weights[:dimension] = stored[:dimension]
    weights[-1] = stored[-1]
    for index, name in enumerate(concepts):
        if name in _place_of_concept():
            weights[dimension + _place_of_concept()[name]] = stored[dimension + index]
    return MeaningHead(weights, data["concept_weight"], data["temperature"], data["threshold"])


@cache
def _place_of_concept() -> dict[str, int]:
    return {name: index for index, name in enumerate(concept_names())}


def _softmax(outputs: Sequence[float], temperature: float) -> list[float]:
    highest = max(outputs)
    powers = [math.exp((value - highest) * temperature) for value in outputs]
    total = math.fsum(powers)
    return [power / total for power in powers]


def _topics_over(outputs: Sequence[float], threshold: float) -> tuple[str, ...]:
    scored = zip(TOPICS, outputs[len(LAYERS) :], strict=True)
    found = [(value, topic) for topic, value in scored if value > threshold]
    return tuple(topic for _, topic in sorted(found, key=lambda pair: -pair[0]))


def _alternatives(order: Sequence[int], shares: Sequence[float]) -> tuple[tuple[Layer, float], ...]:
    return tuple(
        (LAYERS[index], round(shares[index], 4))
        for index in order
        if shares[index] >= LEAST_ALTERNATIVE
    )
