"""`kmem serve`: the resident server without windows, and the part of it that the app shares."""

import asyncio
import contextlib
import logging
import os
import signal
import sys
from collections.abc import Callable
from importlib.metadata import version
from typing import Any

from kmem_desktop.bootstrap import Services, opened_services
from kmem_desktop.config import Paths
from kmem_desktop.domain.changes import Noun
from kmem_desktop.errors import StoreError
from kmem_desktop.events import Change
from kmem_desktop.server.connections import Connections, Listener
from kmem_desktop.services.residence import Residence

log = logging.getLogger(__name__)

IDLE_EXIT_S = 600.0
FOREIGN_WRITE_CHECK_S = 2.0


class Resident:
    """Serves one database on its socket until it is stopped.

    Attributes:
        client_count: How many clients are being served.
    """

    def __init__(
        self,
        services: Services,
        residence: Residence,
        *,
        stop: Callable[[], None],
        show_window: Callable[[], None] | None = None,
    ) -> None:
        """Serve `services` at `residence`.

        Args:
            services: The use cases.
            residence: The place, already claimed.
            stop: Ends the program; called when another kmem takes over.
            show_window: Brings the window to the front; None where there is none.
        """
        self._services = services
        self._residence = residence
        self._stop = stop
        self._show_window = show_window
        self._connections = Connections(services, residence.database, self._answer)
        self._listener = _listener(self._connections)
        self._watch: asyncio.Task[None] | None = None

    @property
    def client_count(self) -> int:
        """How many clients are being served."""
        return self._connections.client_count

    async def start(self) -> None:
        """Begin to serve.

        Raises:
            StoreError: The socket could not be made.
        """
        await self._listener.listen(self._residence.address)
        self._services.maintenance.start()
        self._services.rules.start()
        self._services.library.start()
        self._services.transcripts.start()
        self._services.session_upkeep.start()
        self._services.inbox.start()
        self._services.entry_relations.start()
        self._watch = asyncio.ensure_future(_watch_foreign_writes(self._services))
        log.info("Serving %s", self._services.paths.database)

    async def stop(self) -> None:
        """Let the calls in flight finish and close every connection."""
        self._listener.stop_listening()
        if self._watch is not None:
            self._watch.cancel()
        await self._services.transcripts.stop()
        await self._services.maintenance.stop()
        await self._services.session_upkeep.stop()
        await self._connections.stop()
        log.info("Stopped serving %s", self._services.paths.database)

    def _answer(self, what: str) -> dict[str, Any]:
        if what == "show" and self._show_window is not None:
            self._show_window()
        if what == "hand_over" and self._show_window is None:
            asyncio.get_running_loop().call_soon(self._stop)
        return {
            "pid": os.getpid(),
            "version": version("kmem"),
            "windows": self._show_window is not None,
            "clients": self.client_count,
            "database": str(self._services.paths.database),
        }


def _listener(connections: Connections) -> Listener:
    if sys.platform == "win32":
        from kmem_desktop.server.named_pipe import NamedPipeListener

        return NamedPipeListener(connections)
    from kmem_desktop.server.unix_socket import UnixSocketListener

    return UnixSocketListener(connections)


async def serve(paths: Paths, *, while_needed: bool) -> int:
    """Serve until told to stop; return the exit code.

    Args:
        paths: The profile.
        while_needed: End when no client has been there for ten minutes.

    Raises:
        StoreError: The database or the socket cannot be used, or somebody else serves it.
    """
    residence = Residence(paths)
    if not await residence.claim():
        if while_needed:
            log.info("Another kmem already serves %s", paths.database)
            return 0
        raise StoreError("kmem already serves this memory.", hint="Assistants can connect to it.")
    try:
        stopped = asyncio.Event()
        stop_on_signals(stopped.set)
        async with opened_services(paths) as services:
            resident = Resident(services, residence, stop=stopped.set)
            await resident.start()
            try:
                await _wait(resident, stopped, while_needed=while_needed)
            finally:
                await resident.stop()
    finally:
        residence.release()
    return 0


def stop_on_signals(stop: Callable[[], None]) -> None:
    """Call `stop` when the system or the terminal asks this process to end."""
    loop = asyncio.get_running_loop()
    for name in ("SIGTERM", "SIGINT", "SIGHUP"):
        with contextlib.suppress(NotImplementedError, AttributeError, ValueError):
            loop.add_signal_handler(getattr(signal, name), stop)


async def _wait(resident: Resident, stopped: asyncio.Event, *, while_needed: bool) -> None:
    """Return when told to stop, or when nobody has needed the resident for a while."""
    idle_since_clients = False
    while not stopped.is_set():
        timeout_s = IDLE_EXIT_S if while_needed else None
        try:
            async with asyncio.timeout(timeout_s):
                await stopped.wait()
        except TimeoutError:
            if resident.client_count == 0 and idle_since_clients:
                log.info("No client for a while: ending")
                return
            idle_since_clients = resident.client_count == 0


async def _watch_foreign_writes(services: Services) -> None:
    """Tell everyone when another process (`--standalone`, the command line) has written."""
    seen = await services.listing.foreign_version()
    while True:
        await asyncio.sleep(FOREIGN_WRITE_CHECK_S)
        await services.models.take_settings()
        version = await services.listing.foreign_version()
        if version != seen:
            seen = version
            for noun in (Noun.KNOWLEDGE, Noun.ENTITY, Noun.DIRECTIVE, Noun.TURN, Noun.SESSION):
                services.feed.publish(Change(noun))
