"""Embedding models for tests: small, exact, and able to wait or fail when they are told to."""

import threading
import zlib
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from kmem_desktop.errors import ProviderError, ProviderUnavailableError
from kmem_desktop.providers.embedded import EmbeddedModel
from kmem_desktop.providers.model import PROBE

if TYPE_CHECKING:
    from numpy.typing import NDArray

TIMEOUT_S = 30


class WordModel:
    """Adds up a direction for each word: texts that share words are alike.

    Attributes:
        gate: Texts are embedded while it is set; a question is let through always.
        at_gate: Set while a batch waits.
        is_there: Whether it can be reached.
        refused: A word that it does not take.
        embedded: The texts that it was given, but for probes.
    """

    def __init__(self, name: str = "words", dimension: int = 64) -> None:
        self.name = name
        self.dimension = dimension
        self.gate = threading.Event()
        self.gate.set()
        self.at_gate = threading.Event()
        self.is_there = True
        self.is_known_gone = False
        self.refused = ""
        self.embedded: list[str] = []

    def is_available(self) -> bool:
        return not self.is_known_gone

    def is_loaded(self) -> bool:
        return True

    def release(self) -> None:
        pass

    def embed(self, texts: Sequence[str]) -> "NDArray[np.float32]":
        if not self.gate.is_set() and threading.current_thread().name.startswith("kmem-embedding"):
            self.at_gate.set()
            assert self.gate.wait(TIMEOUT_S)
        if not self.is_there:
            raise ProviderUnavailableError(f"{self.name} does not answer.")
        if self.refused and any(self.refused in text for text in texts):
            raise ProviderError("The text is not allowed.")
        self.embedded += [text for text in texts if text != PROBE]
        made = np.stack([self._vector(text) for text in texts])
        return np.asarray(made / np.linalg.norm(made, axis=1, keepdims=True), np.float32)

    def embed_questions(self, questions: Sequence[str]) -> "NDArray[np.float32]":
        return self.embed(questions)

    def _vector(self, text: str) -> "NDArray[np.float64]":
        vector = np.full(self.dimension, 1e-3)
        for word in text.lower().split():
            numbers = np.random.default_rng(zlib.crc32(f"{self.name} {word}".encode()))
            vector += numbers.standard_normal(self.dimension)
        return vector


class PeakedModel(WordModel):
    """Puts nearly everything into one component, which another model's scale would cut."""

    def _vector(self, text: str) -> "NDArray[np.float64]":
        vector = np.full(self.dimension, 0.01)
        vector[zlib.crc32(text.encode()) % self.dimension] = 1.0
        return vector


class WrongSizeModel(WordModel):
    """Announces another size than it delivers."""

    def embed(self, texts: Sequence[str]) -> "NDArray[np.float32]":
        return super().embed(texts)[:, :-1]


class ShortenedModel:
    """The bundled model's first components, brought to length 1: another model, and a real one."""

    def __init__(self, model: EmbeddedModel, dimension: int = 128) -> None:
        self.name = f"{model.name}-{dimension}"
        self.dimension = dimension
        self._model = model

    def is_available(self) -> bool:
        return self._model.is_available()

    def is_loaded(self) -> bool:
        return self._model.is_loaded()

    def release(self) -> None:
        self._model.release()

    def embed(self, texts: Sequence[str]) -> "NDArray[np.float32]":
        made = self._model.embed(texts)[:, : self.dimension]
        return np.asarray(made / np.linalg.norm(made, axis=1, keepdims=True), np.float32)

    def embed_questions(self, questions: Sequence[str]) -> "NDArray[np.float32]":
        return self.embed(questions)
