"""A program that serves a database on either kind of local socket until its input ends.

`python -m tests.server.listening unix_socket|named_pipe ADDRESS DATABASE`
"""

import asyncio
import os
import sys
from typing import Any

from kmem_desktop.bootstrap import opened_services
from kmem_desktop.config import paths
from kmem_desktop.server.connections import Connections, Listener


async def serve(kind: str, address: str, database: str) -> None:
    """Serve until somebody asks to end."""
    ended = asyncio.Event()

    def answer(what: str) -> dict[str, Any]:
        if what == "end":
            ended.set()
        return {"pid": os.getpid(), "asked": what, "clients": connections.client_count}

    async with opened_services(paths(database)) as services:
        connections = Connections(services, database, answer)
        listener = listener_of(kind, connections)
        await listener.listen(address)
        print("listening", flush=True)
        await ended.wait()
        listener.stop_listening()
        await connections.stop()
    print("ended", flush=True)


def listener_of(kind: str, connections: Connections) -> Listener:
    """Return the local socket of one kind."""
    if kind == "named_pipe":
        from kmem_desktop.server.named_pipe import NamedPipeListener

        return NamedPipeListener(connections)
    from kmem_desktop.server.unix_socket import UnixSocketListener

    return UnixSocketListener(connections)


def main() -> None:
    """Run on the event loop that the socket needs."""
    kind, address, database = sys.argv[1:]
    if kind != "named_pipe":
        asyncio.run(serve(kind, address, database))
        return
    import qasync
    from PySide6.QtCore import QCoreApplication

    with qasync.QEventLoop(QCoreApplication(sys.argv[:1])) as loop:
        asyncio.set_event_loop(loop)
        loop.run_until_complete(serve(kind, address, database))


if __name__ == "__main__":
    main()
