"""The thread on which models are asked."""

import asyncio
import threading

import pytest

from kmem_desktop.errors import ProviderUnavailableError
from kmem_desktop.providers.http.background import THREAD_NAME, Background

PATIENCE_S = 10.0


def threads() -> list[str]:
    return [each.name for each in threading.enumerate() if each.name == THREAD_NAME]


async def named() -> str:
    return threading.current_thread().name


async def test_nothing_is_started_before_it_is_needed() -> None:
    background = Background()
    assert threads() == []
    await background.stop()


async def test_work_is_done_on_a_thread_of_its_own_and_ends_with_it() -> None:
    background = Background()
    assert await background.run(named()) == THREAD_NAME
    assert await asyncio.to_thread(background.call, named()) == THREAD_NAME
    assert threads() == [THREAD_NAME]
    await background.stop()
    assert threads() == []


async def test_an_exception_comes_back() -> None:
    async def failing() -> None:
        raise ValueError("a bug")

    background = Background()
    with pytest.raises(ValueError, match="a bug"):
        await background.run(failing())
    await background.stop()


async def test_who_is_cancelled_here_is_cancelled_there() -> None:
    begun, ended = threading.Event(), threading.Event()

    async def waiting() -> None:
        begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    background = Background()
    running = asyncio.ensure_future(background.run(waiting()))
    assert await asyncio.to_thread(begun.wait, PATIENCE_S)
    running.cancel()
    assert await asyncio.to_thread(ended.wait, PATIENCE_S)
    await background.stop()


async def test_stopping_frees_a_thread_that_waits() -> None:
    begun = threading.Event()

    async def waiting() -> None:
        begun.set()
        await asyncio.Event().wait()

    background = Background()
    blocked = asyncio.ensure_future(asyncio.to_thread(background.call, waiting()))
    assert await asyncio.to_thread(begun.wait, PATIENCE_S)
    await background.stop()
    with pytest.raises(ProviderUnavailableError):
        await blocked


async def test_stopping_closes_what_was_opened_and_refuses_more() -> None:
    closed = []

    async def close() -> None:
        closed.append(threading.current_thread().name)

    background = Background()
    background.on_stop(close)
    await background.run(named())
    await background.stop()
    await background.stop()
    assert closed == [THREAD_NAME]
    with pytest.raises(ProviderUnavailableError):
        await background.run(named())
