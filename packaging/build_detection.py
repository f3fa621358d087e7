# ruff: noqa: INP001, T201
# A script beside the package, not in one; printing is its face.
"""Builds resources/detection/head.json from detection_sentences.txt: how tasks are told apart.

Two ridge heads in closed form, one for embeddings and concepts together and one for concepts alone.
How far their answers can be trusted is measured by cross validation on the same sentences: the
temperature that makes the probabilities most likely, and the topic threshold with the best F1.

    python packaging/build_detection.py           builds
    python packaging/build_detection.py --check   says whether the file is what would be built
"""

from __future__ import annotations

import argparse
import base64
import hashlib
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

import numpy as np  # noqa: E402

from kmem_desktop.domain.rules import TOPICS  # noqa: E402
from kmem_desktop.providers.embedded import EmbeddedModel  # noqa: E402
from kmem_desktop.rules.detection import BIAS, LAYERS  # noqa: E402
from kmem_desktop.rules.vocabulary import concept_names, read_words  # noqa: E402

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Matrix = NDArray[np.float64]

SENTENCES = Path(__file__).with_name("detection_sentences.txt")
TARGET = ROOT / "resources" / "detection" / "head.json"
MODEL = ROOT / "resources" / "embedding"

CONCEPT_WEIGHT = 0.5
MEANING_RIDGE = 2.0
WORDS_RIDGE = 1.0
OTHER_LAYER_SHARE = 0.4
"""How much of a sentence belongs to a second layer that a reader could choose too."""
OPTIONAL_TOPIC = 0.3
LAST_DIGITS = 0.02
"""How far weights may differ that were made of the same sentences on two kinds of processors."""
FOLDS = 10
REPETITIONS = 3
TEMPERATURES = range(2, 31)
THRESHOLDS = tuple(step / 100 for step in range(20, 61))


class Sentence(NamedTuple):
    """A labelled sentence."""

    text: str
    layer: str
    other_layers: tuple[str, ...]
    topics: tuple[str, ...]
    optional_topics: tuple[str, ...]


class Fitted(NamedTuple):
    """A head, and how well it did on sentences that it had not seen."""

    weights: Matrix
    temperature: float
    threshold: float
    layer_accuracy: float
    topics_f1: float
    calibration_error: float


def read_sentences(path: Path = SENTENCES) -> list[Sentence]:
    """Return the labelled sentences."""
    sentences = []
    layer = ""
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.startswith("## "):
            layer = line[3:].strip()
        elif line.strip() and not line.startswith("#"):
            labels, text = line.split(" | ", 1)
            words = [word for word in labels.split() if word != "-"]
            sentences.append(
                Sentence(
                    text.strip(),
                    layer,
                    tuple(word[1:] for word in words if word.startswith("+")),
                    tuple(word for word in words if word in TOPICS),
                    tuple(word[:-1] for word in words if word.endswith("?")),
                )
            )
    return sentences


def concepts_of(texts: list[str]) -> Matrix:
    """Return the concepts' shares, shape (texts, concepts)."""
    names = concept_names()
    place = {name: index for index, name in enumerate(names)}
    found = np.zeros((len(texts), len(names)))
    for row, text in enumerate(texts):
        for concept, share in read_words(text).concepts.items():
            found[row, place[concept]] = share
    return found


def rarity_of(concepts: Matrix) -> dict[str, float]:
    """Return for each concept how rare it is, 0..1, by the inverse document frequency."""
    count = (concepts > 0).sum(0)
    rarity = np.log((len(concepts) + 1) / (count + 1))
    return {
        name: round(float(value), 3)
        for name, value in zip(concept_names(), rarity / rarity.max(), strict=True)
    }


def targets_of(sentences: list[Sentence]) -> Matrix:
    """Return what the head should say, shape (sentences, outputs)."""
    names = [layer.value for layer in LAYERS]
    wanted = np.zeros((len(sentences), len(names) + len(TOPICS)))
    for row, sentence in enumerate(sentences):
        wanted[row, names.index(sentence.layer)] = 1.0
        for other in sentence.other_layers:
            wanted[row, names.index(sentence.layer)] -= OTHER_LAYER_SHARE
            wanted[row, names.index(other)] += OTHER_LAYER_SHARE
        for topic in sentence.topics:
            wanted[row, len(names) + TOPICS.index(topic)] = 1.0
        for topic in sentence.optional_topics:
            wanted[row, len(names) + TOPICS.index(topic)] = OPTIONAL_TOPIC
    return wanted


def ridge(seen: Matrix, wanted: Matrix, strength: float) -> Matrix:
    """Return the weights with the least squared error plus `strength` times their own squares."""
    return np.asarray(
        np.linalg.solve(seen.T @ seen + strength * np.eye(seen.shape[1]), seen.T @ wanted)
    )


def fit(seen: Matrix, sentences: list[Sentence], strength: float) -> Fitted:
    """Return a head with its calibration, measured on folds it was not fitted to."""
    wanted = targets_of(sentences)
    answers = [_held_out(seen, wanted, strength, seed) for seed in range(REPETITIONS)]
    layers = np.vstack([answer[:, : len(LAYERS)] for answer in answers])
    right = np.concatenate([_is_right(answer, sentences) for answer in answers])
    temperature = min(TEMPERATURES, key=lambda each: _surprise(layers, right, each))
    f1 = {
        threshold: float(np.mean([_topics_f1(each, sentences, threshold) for each in answers]))
        for threshold in THRESHOLDS
    }
    threshold = max(f1, key=lambda each: f1[each])
    confidence = _probabilities(layers, temperature).max(1)
    return Fitted(
        ridge(seen, wanted, strength),
        float(temperature),
        threshold,
        float(right.mean()),
        f1[threshold],
        calibration_error(confidence, right),
    )


def calibration_error(confidence: Matrix, right: NDArray[np.bool_]) -> float:
    """Return the expected calibration error over ten bins, as score.py of the corpora has it."""
    error = 0.0
    for lower in range(10):
        inside = (confidence >= lower / 10) & (confidence < (lower + 1) / 10 + (lower == 9))
        error += abs(float(confidence[inside].sum() - right[inside].sum()))
    return error / len(confidence)


def build() -> tuple[str, Fitted, Fitted]:
    """Return the file's content and both heads."""
    sentences = read_sentences()
    texts = [sentence.text for sentence in sentences]
    model = EmbeddedModel(MODEL)
    vectors = model.embed(texts).astype(np.float64)
    concepts = concepts_of(texts)
    bias = np.full((len(texts), 1), BIAS)
    meaning = fit(np.hstack([vectors, CONCEPT_WEIGHT * concepts, bias]), sentences, MEANING_RIDGE)
    words = fit(np.hstack([concepts, bias]), sentences, WORDS_RIDGE)
    names = [*concept_names(), ""]
    halves = meaning.weights.astype(np.float16).tobytes()
    rows = {
        name: [round(float(value), 3) for value in row]
        for name, row in zip(names, words.weights, strict=True)
    }
    rarity = rarity_of(concepts)
    content = {
        "version": hashlib.sha256(halves + repr((rows, rarity)).encode()).hexdigest()[:12],
        "model": model.name,
        "dimension": model.dimension,
        "rarity": rarity,
        "words": {
            "temperature": words.temperature,
            "threshold": words.threshold,
            "rows": rows,
        },
        "meaning": {
            "temperature": meaning.temperature,
            "threshold": meaning.threshold,
            "concept_weight": CONCEPT_WEIGHT,
            "concepts": list(concept_names()),
            "weights": base64.b64encode(halves).decode("ascii"),
        },
    }
    return json.dumps(content, ensure_ascii=False, indent=0) + "\n", meaning, words


def tells_the_same(one: str, other: str) -> bool:
    """Return whether two files hold the same head, but for the last digits of other processors."""
    first, second = json.loads(one), json.loads(other)
    for content in (first, second):
        content.pop("version")
    weights = [
        np.frombuffer(base64.b64decode(content["meaning"].pop("weights")), np.float16)
        for content in (first, second)
    ]
    return (
        first == second
        and weights[0].shape == weights[1].shape
        and bool(np.allclose(*weights, atol=LAST_DIGITS))
    )


def main(arguments: list[str]) -> int:
    """Build the file, or check it."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--check", action="store_true", help="change nothing")
    options = parser.parse_args(arguments)
    content, meaning, words = build()
    for name, fitted in (("meaning and words", meaning), ("words alone", words)):
        print(
            f"{name}: layer {fitted.layer_accuracy:.3f}, topics F1 {fitted.topics_f1:.3f}, "
            f"calibration error {fitted.calibration_error:.3f} on held-out folds; "
            f"temperature {fitted.temperature}, threshold {fitted.threshold}"
        )
    if options.check:
        same = TARGET.is_file() and tells_the_same(TARGET.read_text(encoding="utf-8"), content)
        print(f"{TARGET} is {'what' if same else 'not what'} would be built")
        return 0 if same else 1
    TARGET.parent.mkdir(parents=True, exist_ok=True)
    TARGET.write_text(content, encoding="utf-8")
    print(f"{TARGET}: {len(content):,} characters from {len(read_sentences())} sentences")
    return 0


def _held_out(seen: Matrix, wanted: Matrix, strength: float, seed: int) -> Matrix:
    order = np.random.default_rng(seed).permutation(len(seen))
    answers = np.zeros_like(wanted)
    for fold in range(FOLDS):
        test = order[fold::FOLDS]
        train = np.setdiff1d(order, test)
        answers[test] = seen[test] @ ridge(seen[train], wanted[train], strength)
    return answers


def _is_right(answers: Matrix, sentences: list[Sentence]) -> NDArray[np.bool_]:
    best = answers[:, : len(LAYERS)].argmax(1)
    return np.array(
        [
            LAYERS[index].value in (sentence.layer, *sentence.other_layers)
            for index, sentence in zip(best, sentences, strict=True)
        ]
    )


def _probabilities(outputs: Matrix, temperature: float) -> Matrix:
    powers = np.exp((outputs - outputs.max(1, keepdims=True)) * temperature)
    return np.asarray(powers / powers.sum(1, keepdims=True))


def _surprise(outputs: Matrix, right: NDArray[np.bool_], temperature: float) -> float:
    confidence = _probabilities(outputs, temperature).max(1)
    return float(-np.log(np.where(right, confidence, 1 - confidence) + 1e-9).mean())


def _topics_f1(answers: Matrix, sentences: list[Sentence], threshold: float) -> float:
    right = wrong = missed = 0
    for row, sentence in zip(answers[:, len(LAYERS) :], sentences, strict=True):
        found = {topic for topic, value in zip(TOPICS, row, strict=True) if value > threshold}
        found -= set(sentence.optional_topics)
        right += len(found & set(sentence.topics))
        wrong += len(found - set(sentence.topics))
        missed += len(set(sentence.topics) - found)
    return 2 * right / (2 * right + wrong + missed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
