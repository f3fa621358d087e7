"""The thread and event loop on which all calls to models run.

The window's loop is Qt's: an answer of some megabytes would be parsed there. And a worker thread
that needs vectors has no loop of its own. Both hand their coroutines over to this one.
"""

import asyncio
import concurrent.futures
import contextlib
import threading
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, TypeVar

from kmem_desktop.errors import ProviderUnavailableError

T = TypeVar("T")

THREAD_NAME = "kmem-models"
STOP_PATIENCE_S = 10.0


class Background:
    """A loop in a thread; both begin with the first call."""

    def __init__(self) -> None:
        """Begin nothing yet."""
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._closers: list[Callable[[], Awaitable[None]]] = []
        self._is_stopped = False

    async def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine there and wait for it here; who is cancelled here is cancelled there."""
        return await asyncio.wrap_future(self._submit(work))

    def call(self, work: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine there and block this thread until it is done.

        Raises:
            ProviderUnavailableError: The loop was stopped meanwhile.
        """
        try:
            return self._submit(work).result()
        except concurrent.futures.CancelledError as error:
            raise ProviderUnavailableError("kmem is ending.") from error

    def on_stop(self, closer: Callable[[], Awaitable[None]]) -> None:
        """Run `closer` there before the loop ends."""
        self._closers.append(closer)

    async def stop(self) -> None:
        """End what still runs there, and the thread."""
        with self._lock:
            self._is_stopped = True
            loop, thread = self._loop, self._thread
            self._loop = self._thread = None
        if loop is None or thread is None:
            return
        asyncio.run_coroutine_threadsafe(self._wind_up(), loop)
        await asyncio.get_running_loop().run_in_executor(None, thread.join, STOP_PATIENCE_S)

    def _submit(self, work: Coroutine[Any, Any, T]) -> "concurrent.futures.Future[T]":
        with self._lock:
            if self._is_stopped:
                work.close()
                raise ProviderUnavailableError("kmem is ending.")
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                self._thread = threading.Thread(
                    target=_serve, args=(self._loop,), name=THREAD_NAME, daemon=True
                )
                self._thread.start()
            return asyncio.run_coroutine_threadsafe(work, self._loop)

    async def _wind_up(self) -> None:
        this = asyncio.current_task()
        tasks = [task for task in asyncio.all_tasks() if task is not this]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        for closer in self._closers:
            with contextlib.suppress(Exception):
                await closer()
        asyncio.get_running_loop().stop()


def _serve(loop: asyncio.AbstractEventLoop) -> None:
    asyncio.set_event_loop(loop)
    try:
        loop.run_forever()
    finally:
        loop.run_until_complete(loop.shutdown_asyncgens())
        loop.run_until_complete(loop.shutdown_default_executor())
        loop.close()
