import asyncio

from kmem_desktop.server.rate import RateLimit


async def test_a_burst_goes_through_at_once_and_the_rest_at_the_rate() -> None:
    rate = RateLimit(per_second=100.0, at_once=5.0)
    loop = asyncio.get_running_loop()
    started = loop.time()
    for _ in range(5):
        await rate.wait()
    assert loop.time() - started < 0.04
    await asyncio.gather(*(rate.wait() for _ in range(20)))
    assert loop.time() - started >= 0.19


async def test_a_pause_is_not_saved_up_beyond_the_burst() -> None:
    rate = RateLimit(per_second=10_000.0, at_once=1.0)
    await rate.wait()
    await asyncio.sleep(0.01)
    loop = asyncio.get_running_loop()
    started = loop.time()
    await asyncio.gather(*(rate.wait() for _ in range(500)))
    assert loop.time() - started >= 0.049
