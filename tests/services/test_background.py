"""What a service does while nobody waits for it."""

import asyncio

from kmem_desktop.bootstrap import Services
from kmem_desktop.services.background import BackgroundTask


async def test_work_in_the_background_is_no_use_of_the_memory(services: Services) -> None:
    database = services.maintenance._database
    done = asyncio.Event()

    async def look() -> None:
        await database.read(lambda connection: connection.execute("SELECT 1").get)
        await database.write(lambda connection: connection.execute("SELECT 1").get)
        done.set()

    await services.inbox.count()
    used_at = database.used_at
    task = BackgroundTask()
    task.begin(look())
    await done.wait()
    await task.end()
    assert database.used_at == used_at
    await services.inbox.count()
    assert database.used_at > used_at
