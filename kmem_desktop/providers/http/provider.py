"""What everyone who serves models has in common, whatever language he speaks."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from kmem_desktop.domain.models import ChatReply, ChatRequest, ModelInfo
from kmem_desktop.domain.rules import TaskContext
from kmem_desktop.providers.http.context_prompt import context_request, read_context
from kmem_desktop.providers.http.failures import malformed

if TYPE_CHECKING:
    from kmem_desktop.providers.http.client import HttpClient

MAX_CHAT_BYTES = 1024 * 1024
"""No model says more at once; a server that does not stop is not listened to for long."""

OnText = Callable[[str], None]
Vectors = list[list[float]]


@dataclass(frozen=True, slots=True)
class Greeting:
    """What a server says when it is first asked.

    Attributes:
        version: Its version; empty where it does not tell.
        is_ours: Whether the answer is that of the program it was taken for.
        free_vram_bytes: Free memory of the graphics card, where it tells.
    """

    version: str = ""
    is_ours: bool = True
    free_vram_bytes: int = 0


class Provider(Protocol):
    """Serves AI models.

    Every method raises ProviderError when it did not work, with a kind of
    `providers/http/failures.py` in its details, and takes a deadline for all of its work. All run
    on the loop of `providers/http/background.py`; cancelling one ends its request.

    Attributes:
        id: Its name in settings.
        name: Its name for people.
        host: Who gets what is sent to it; empty for this computer.
    """

    id: str
    name: str
    host: str

    async def available(self, *, deadline_s: float) -> Greeting:
        """Return what it says of itself."""

    async def models(self, *, deadline_s: float) -> tuple[ModelInfo, ...]:
        """Return what it serves."""

    async def embed(self, texts: Sequence[str], model: str, *, deadline_s: float) -> Vectors:
        """Return a vector for each text, all of one length."""

    async def chat(
        self, request: ChatRequest, on_text: OnText | None = None, *, deadline_s: float
    ) -> ChatReply:
        """Return the answer; with `on_text` each piece of it is also handed over as it comes."""

    async def detect_context(self, task: str, model: str, *, deadline_s: float) -> TaskContext:
        """Return what a task is about."""

    async def close(self) -> None:
        """Close its connections."""


class HttpProvider(ABC):
    """A provider that is reached by HTTP."""

    def __init__(self, provider_id: str, name: str, client: HttpClient, *, host: str = "") -> None:
        """Serve under these names.

        Args:
            provider_id: Its name in settings.
            name: Its name for people.
            client: Reaches it.
            host: Who gets what is sent to it; empty for this computer.
        """
        self.id = provider_id
        self.name = name
        self.host = host
        self._client = client

    @abstractmethod
    async def available(self, *, deadline_s: float) -> Greeting:
        """Return what it says of itself."""

    @abstractmethod
    async def models(self, *, deadline_s: float) -> tuple[ModelInfo, ...]:
        """Return what it serves."""

    @abstractmethod
    async def embed(self, texts: Sequence[str], model: str, *, deadline_s: float) -> Vectors:
        """Return a vector for each text, all of one length."""

    @abstractmethod
    async def chat(
        self, request: ChatRequest, on_text: OnText | None = None, *, deadline_s: float
    ) -> ChatReply:
        """Return the answer; with `on_text` each piece of it is also handed over as it comes."""

    async def detect_context(self, task: str, model: str, *, deadline_s: float) -> TaskContext:
        """Return what a task is about."""
        reply = await self.chat(context_request(task, model), deadline_s=deadline_s)
        context = read_context(reply.text, task, f"{self.id}:{model}")
        if context is None:
            raise malformed(self.name)
        return context

    async def close(self) -> None:
        """Close its connections."""
        await self._client.close()

    def _checked(self, vectors: Any, count: int) -> Vectors:
        """Return vectors that are what was asked for: as many, of one length, all numbers."""
        if not isinstance(vectors, list) or len(vectors) != count:
            raise malformed(self.name)
        lengths = {len(vector) if isinstance(vector, list) else 0 for vector in vectors}
        if count and (len(lengths) != 1 or 0 in lengths):
            raise malformed(self.name)
        for vector in vectors:
            if not all(_is_number(value) for value in vector) or not any(vector):
                raise malformed(self.name)
        return vectors


def _is_number(value: Any) -> bool:
    return type(value) in (int, float) and math.isfinite(value)


def text_of(value: Any) -> str:
    """Return a text of an answer; empty where there is none."""
    return value if isinstance(value, str) else ""


def count_of(value: Any) -> int:
    """Return a count of an answer; 0 where there is none."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return 0
    return max(0, int(value))


def rows_of(value: Any, *names: str) -> list[dict[str, Any]]:
    """Return the objects in the first of these lists that an answer has."""
    for name in names:
        rows = value.get(name) if isinstance(value, dict) else None
        if isinstance(rows, list):
            return [row for row in rows if isinstance(row, dict)]
    return []


def part_of(value: Any, name: str) -> dict[str, Any]:
    """Return an object inside an answer; an empty one where there is none."""
    part = value.get(name) if isinstance(value, dict) else None
    return part if isinstance(part, dict) else {}
