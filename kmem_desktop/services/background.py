"""A task in the background: begun once, and ended without leaving anything behind."""

import asyncio
import contextlib
import contextvars
from collections.abc import Callable, Coroutine
from typing import Any

from kmem_desktop.store.database import in_background


class BackgroundTask:
    """What a service does while nobody waits for it."""

    def __init__(self) -> None:
        """Nothing runs yet."""
        self._task: asyncio.Task[None] | None = None
        self._forget: Callable[[], None] | None = None

    @property
    def is_running(self) -> bool:
        """Whether it was begun and not ended since."""
        return self._task is not None

    def begin(
        self, work: Coroutine[Any, Any, None], *, forget: Callable[[], None] | None = None
    ) -> None:
        """Begin to work.

        Args:
            work: What runs until the end.
            forget: Takes back what was subscribed to for it; called at the end.
        """
        context = contextvars.copy_context()
        context.run(in_background.set, True)
        self._task = asyncio.get_running_loop().create_task(work, context=context)
        self._forget = forget

    async def end(self) -> None:
        """Cancel the work and wait until it is over; nothing happens where there is none."""
        task, self._task = self._task, None
        if task is None:
            return
        if self._forget is not None:
            self._forget()
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task
