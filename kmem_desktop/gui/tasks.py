"""Runs coroutines of the services beside the window, and words what goes wrong, in one place."""

import asyncio
import logging
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

from kmem_desktop.errors import KmemError

log = logging.getLogger(__name__)

T = TypeVar("T")

GENERIC_MESSAGE = "Something went wrong inside kmem."
GENERIC_HINT = "What you stored is safe. The log says more; Settings shows where it is."


class Tasks:
    """Starts coroutines on the running loop and delivers their answers on the Qt thread.

    An answer of a topic is dropped when something newer was asked under the same topic.
    """

    def __init__(self, show_error: Callable[[str, str], None]) -> None:
        """Report what goes wrong as message and hint to `show_error`."""
        self._show_error = show_error
        self._running: set[asyncio.Task[None]] = set()
        self._numbers: dict[str, int] = {}

    def run(
        self,
        coroutine: Coroutine[Any, Any, T],
        done: Callable[[T], None] | None = None,
        *,
        failed: Callable[[KmemError], bool] | None = None,
        topic: str = "",
    ) -> None:
        """Run a coroutine.

        Args:
            coroutine: What to do.
            done: Gets the answer.
            failed: Gets an error that a person can act on; returns whether it has shown it.
            topic: Of several answers under one topic only that of the newest question counts.
        """
        number = self._numbers[topic] = self._numbers.get(topic, 0) + 1
        task = asyncio.get_running_loop().create_task(
            self._answer(coroutine, done, failed, lambda: self._is_stale(topic, number))
        )
        self._running.add(task)
        task.add_done_callback(self._running.discard)
        # A task that is given up before its first step leaves its coroutine behind.
        task.add_done_callback(lambda _task: coroutine.close())

    def drop(self, topic: str) -> None:
        """Let no answer of a topic that is still awaited count."""
        self._numbers[topic] = self._numbers.get(topic, 0) + 1

    def close(self) -> None:
        """Give up everything that is still running."""
        for task in self._running:
            task.cancel()

    def _is_stale(self, topic: str, number: int) -> bool:
        return bool(topic) and self._numbers[topic] != number

    async def _answer(
        self,
        coroutine: Coroutine[Any, Any, T],
        done: Callable[[T], None] | None,
        failed: Callable[[KmemError], bool] | None,
        is_stale: Callable[[], bool],
    ) -> None:
        try:
            answer = await coroutine
            if done is not None and not is_stale():
                done(answer)
        except KmemError as error:
            if not is_stale() and (failed is None or not failed(error)):
                self._show_error(error.message, error.hint)
        except Exception:
            log.exception("A task of the window failed")
            self._show_error(GENERIC_MESSAGE, GENERIC_HINT)
