"""Looks who of those that could serve models is there, all at once and within a fixed time.

First it is tried whether anybody listens at all, by the system's own means: where nobody does,
which is the usual case, not even the HTTP library is loaded.
"""

import asyncio
import contextlib
import importlib
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from urllib.parse import urlsplit

from kmem_desktop.domain.models import ProviderReport, Purpose
from kmem_desktop.errors import ProviderError
from kmem_desktop.providers.http.catalogue import Known
from kmem_desktop.providers.http.choosing import ranked_models
from kmem_desktop.providers.http.failures import FailureKind, kind_of
from kmem_desktop.providers.http.provider import Provider

CONNECT_DEADLINE_S = 0.15
"""Windows tries a closed port for two seconds; whoever listens answers within a millisecond."""
ANSWER_DEADLINE_S = 0.3
MODELS_DEADLINE_S = 3.0
FAR_DEADLINE_S = 3.0

HTTP_PORTS = {"http": 80, "https": 443}

ProviderFor = Callable[[Known], Awaitable[Provider]]


async def look(known: Sequence[Known], provider_for: ProviderFor) -> list[ProviderReport]:
    """Return a report of each, in their order.

    Args:
        known: Who may be there; those who are not on this computer and not switched on are left
            out by the caller.
        provider_for: Makes one who can be asked; called for those only who listen.
    """
    near = {each.address for each in known if not each.host}
    addresses = sorted(near)
    listening = await asyncio.gather(*(_listens(address) for address in addresses))
    is_there = dict(zip(addresses, listening, strict=True))
    if any(listening) or len(near) < len({each.address for each in known}):
        module = "kmem_desktop.providers.http.client"
        await asyncio.to_thread(importlib.import_module, module)
    return list(
        await asyncio.gather(
            *(_report(each, provider_for, is_there.get(each.address, True)) for each in known)
        )
    )


def blank_report(known: Known) -> ProviderReport:
    """Return what is known of one who was not asked."""
    return ProviderReport(
        known.id, known.name, known.address, host=known.host, needs_key=bool(known.key_variable)
    )


async def _listens(address: str) -> bool:
    parts = urlsplit(address)
    port = parts.port or HTTP_PORTS.get(parts.scheme, 0)
    try:
        async with asyncio.timeout(CONNECT_DEADLINE_S):
            _, writer = await asyncio.open_connection(parts.hostname, port)
    except (OSError, TimeoutError):
        return False
    writer.close()
    with contextlib.suppress(OSError):
        await writer.wait_closed()
    return True


async def _report(known: Known, provider_for: ProviderFor, is_there: bool) -> ProviderReport:  # noqa: FBT001
    report = blank_report(known)
    if not is_there:
        return replace(report, problem=f"{known.name} is not running.")
    try:
        return await _asked(report, await provider_for(known))
    except ProviderError as error:
        is_foreign = not known.host and kind_of(error) in (
            FailureKind.MALFORMED,
            FailureKind.NO_MODEL,
            FailureKind.REFUSED,
            FailureKind.REDIRECTED,
        )
        if is_foreign:
            return replace(report, problem=f"Something else than {known.name} is at its address.")
        return replace(report, problem=error.message, is_ill=True)


async def _asked(report: ProviderReport, provider: Provider) -> ProviderReport:
    begin = time.monotonic()
    deadline_s = FAR_DEADLINE_S if report.host else ANSWER_DEADLINE_S
    greeting = await provider.available(deadline_s=deadline_s)
    latency_ms = (time.monotonic() - begin) * 1000
    if not greeting.is_ours:
        message = f"Something else than {report.name} is at its address."
        return replace(report, problem=message)
    models = await provider.models(deadline_s=MODELS_DEADLINE_S)
    ranked = ranked_models(models, Purpose.CHAT)
    names = {model.name for model in ranked}
    rest = [model for model in models if model.name not in names]
    return replace(
        report,
        is_available=True,
        latency_ms=latency_ms,
        version=greeting.version,
        free_vram_bytes=greeting.free_vram_bytes,
        models=tuple(ranked + rest),
    )
