"""A limit on how fast one connection may call: a token bucket that makes callers wait."""

import asyncio
import time


class RateLimit:
    """Lets bursts through and slows a flood down, so that one client cannot starve the others."""

    def __init__(self, per_second: float, at_once: float) -> None:
        """Allow `at_once` calls in a burst and `per_second` in the long run."""
        self._per_second = per_second
        self._at_once = at_once
        self._tokens = at_once
        self._filled_at = time.monotonic()

    async def wait(self) -> None:
        """Return when the caller may go on."""
        now = time.monotonic()
        gained = (now - self._filled_at) * self._per_second
        self._tokens = min(self._at_once, self._tokens + gained) - 1
        self._filled_at = now
        if self._tokens < 0:
            await asyncio.sleep(-self._tokens / self._per_second)
