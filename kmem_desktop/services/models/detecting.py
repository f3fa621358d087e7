"""Questions with little time: who does not answer in time answers for the next one who asks."""

import asyncio
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from dataclasses import replace

from kmem_desktop.domain.models import Detected, Diagnostics, FallbackReason
from kmem_desktop.domain.rules import TaskContext

REMEMBERED = 256
MOST_LATE = 2
"""A slow model is not asked ever more while it is still busy with what it was asked before."""

Ask = Callable[[], Awaitable[Detected]]


class LateAnswers:
    """Waits for answers only so long, and keeps those that come later."""

    def __init__(self) -> None:
        """Know nothing yet."""
        self._known: OrderedDict[tuple[str, str], Detected] = OrderedDict()
        self._running: dict[tuple[str, str], asyncio.Task[Detected]] = {}

    async def answer(self, task: str, asked: str, ask: Ask, *, deadline_s: float) -> Detected:
        """Return what is known of a task, or can be found out in time.

        Args:
            task: The task.
            asked: Who is asked: an answer of somebody else does not count.
            ask: Asks, taking its own time.
            deadline_s: How long to wait here.
        """
        begin = time.monotonic()
        key = (task, asked)
        if known := self._known.get(key):
            self._known.move_to_end(key)
            diagnostics = replace(known.diagnostics, is_remembered=True, took_ms=0.0)
            return replace(known, diagnostics=diagnostics)
        running = self._running.get(key)
        if running is None:
            if len(self._running) >= MOST_LATE:
                return _late(begin)
            running = asyncio.ensure_future(self._find_out(key, ask))
            self._running[key] = running
        await asyncio.wait((running,), timeout=deadline_s)
        if not running.done() or running.cancelled():
            return _late(begin)
        found = running.result()
        took_ms = (time.monotonic() - begin) * 1000
        return replace(found, diagnostics=replace(found.diagnostics, took_ms=took_ms))

    def remembered(self, task: str, asked: str) -> TaskContext | None:
        """Return what is known of a task already."""
        known = self._known.get((task, asked))
        return known.context if known else None

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

    async def _find_out(self, key: tuple[str, str], ask: Ask) -> Detected:
        try:
            found = await ask()
            if found.context is not None:
                self._known[key] = found
                if len(self._known) > REMEMBERED:
                    self._known.popitem(last=False)
            return found
        finally:
            del self._running[key]


def _late(begin: float) -> Detected:
    took_ms = (time.monotonic() - begin) * 1000
    return Detected(None, Diagnostics(fallback=FallbackReason.QUERY_TIMEOUT, took_ms=took_ms))
