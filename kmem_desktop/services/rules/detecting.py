"""What a task is about: by a model where one is there and quick, else by kmem's own head.

Both begin at once. A model has what 400 ms leave (DESIGN.md, "Limits"); an answer that comes later
is kept for the next time by `services.models`. A model that is less than 60 % sure is not believed
(seed 001, "FallbackManager").
"""

import asyncio
from dataclasses import dataclass
from functools import cache
from typing import Protocol

from kmem_desktop.config import resource_path
from kmem_desktop.domain.models import Detected as ModelAnswer
from kmem_desktop.domain.models import FallbackReason
from kmem_desktop.domain.rules import Layer, TaskContext
from kmem_desktop.rules.detection import Head, detect, load_head
from kmem_desktop.search.meaning import Meaning
from kmem_desktop.services.embedding import EmbeddingService

HEAD_FILE = "detection/head.json"
MEANING_DEADLINE_S = 0.3
"""kmem's own model is there in 3 ms, and after a pause in 200."""
MODEL_DEADLINE_S = 0.32
"""From the start, too; what remains of 400 ms is for the search."""
LEAST_MODEL_CONFIDENCE = 0.6
NO_MEANING = "embedding_unavailable"
NOT_SURE = "low_confidence"


class ModelDetector(Protocol):
    """Asks a model; `ModelService.detect` is one."""

    async def __call__(self, task: str, *, deadline_s: float) -> ModelAnswer:
        """Return what it says, in time, or why it says nothing."""


@dataclass(frozen=True, slots=True)
class Detected:
    """What a task is about, and how that was found out.

    Attributes:
        context: What it is about.
        meaning: The task's meaning; None where there is no embedding.
        fallback: Why less than everything was used; empty where nothing was missing.
    """

    context: TaskContext
    meaning: Meaning | None
    fallback: str = ""


@cache
def head() -> Head:
    """Return the heads that were made with the program."""
    return load_head(resource_path(HEAD_FILE))


class ContextDetector:
    """Tells what a task is about, within a fixed time."""

    def __init__(self, embedding: EmbeddingService, model: ModelDetector | None = None) -> None:
        """Embed tasks by `embedding`, and ask `model` too."""
        self._embedding = embedding
        self._model = model

    def use_model(self, model: ModelDetector | None) -> None:
        """Ask this model from now on; None for none."""
        self._model = model

    async def detect(self, task: str) -> Detected:
        """Return what a task is about; never later than the model's deadline."""
        asked = None
        if self._model is not None:
            asked = asyncio.ensure_future(self._model(task, deadline_s=MODEL_DEADLINE_S))
        meaning = await self._meaning(task)
        vector = meaning.question if meaning is not None else None
        if not head.cache_info().currsize:
            await asyncio.to_thread(head)
        own = detect(task, vector, head())
        fallback = "" if meaning is not None else NO_MEANING
        if asked is None:
            return Detected(own, meaning, fallback)
        answer = await asked
        if answer.context is None:
            return Detected(own, meaning, _reason(answer) or fallback)
        if not _is_sure(answer.context):
            return Detected(own, meaning, NOT_SURE)
        return Detected(answer.context, meaning, fallback)

    async def _meaning(self, task: str) -> Meaning | None:
        try:
            async with asyncio.timeout(MEANING_DEADLINE_S):
                return await self._embedding.meaning_of(task)
        except TimeoutError:
            return None


def _is_sure(context: TaskContext) -> bool:
    return context.confidence > LEAST_MODEL_CONFIDENCE and context.layer is not Layer.ANY


def _reason(answer: ModelAnswer) -> str:
    """Return why a model that is there said nothing; that there is none is no news."""
    told = answer.diagnostics
    if told.failures or told.fallback is FallbackReason.QUERY_TIMEOUT:
        return (told.fallback or FallbackReason.MODEL_PROVIDER_UNAVAILABLE).value
    return ""
