"""A model's marks for found texts: who does not mark in time marks for the next who asks the same.

Nothing is asked unless a person chose a model for it.
"""

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Sequence

Marks = tuple[float | None, ...]
Ask = Callable[[], Awaitable[Marks | None]]
Key = tuple[str, str, tuple[str, ...]]

REMEMBERED = 128
MOST_LATE = 2


class LateMarks:
    """Waits for marks only so long, and keeps those that come later."""

    def __init__(self) -> None:
        """Know nothing yet."""
        self._known: OrderedDict[Key, Marks] = OrderedDict()
        self._running: dict[Key, asyncio.Task[None]] = {}

    async def marks(
        self, asked: str, question: str, texts: Sequence[str], ask: Ask, *, deadline_s: float
    ) -> Marks | None:
        """Return each text's mark if that is known, or can be found out in time."""
        key = (asked, question, tuple(texts))
        if key not in self._known:
            running = self._running.get(key)
            if running is None:
                if len(self._running) >= MOST_LATE:
                    return None
                running = asyncio.ensure_future(self._find_out(key, ask))
                self._running[key] = running
            await asyncio.wait((running,), timeout=deadline_s)
        return self._known.get(key)

    async def settled(self) -> None:
        """Wait until everything that was asked is answered."""
        while self._running:
            await asyncio.wait(list(self._running.values()))

    async def stop(self) -> None:
        """Give up what is still being asked."""
        running = list(self._running.values())
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)

    async def _find_out(self, key: Key, ask: Ask) -> None:
        try:
            marks = await ask()
            if marks is not None:
                self._known[key] = marks
                if len(self._known) > REMEMBERED:
                    self._known.popitem(last=False)
        finally:
            self._running.pop(key, None)
