"""The services for the length of one command."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

from kmem_desktop.bootstrap import Services, opened_services
from kmem_desktop.config import Paths

T = TypeVar("T")


def with_services(profile: Paths, work: Callable[[Services], Awaitable[T]]) -> T:
    """Open the memory, do some work with it, and close it."""

    async def main() -> T:
        async with opened_services(profile) as services:
            return await work(services)

    return asyncio.run(main())
