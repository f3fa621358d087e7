"""Being the one resident of a database: taking the place, and asking who has it."""

import asyncio
from typing import Any

from kmem_desktop.address import prepare_socket_directory, socket_address
from kmem_desktop.bridge import ask
from kmem_desktop.config import Paths
from kmem_desktop.errors import StoreError
from kmem_desktop.platforms.instance_lock import InstanceLock

RETRY_S = 0.02
ANSWER_TIMEOUT_S = 2.0


class Residence:
    """The right to serve one database on its socket.

    Attributes:
        address: The socket.
        database: The database as bridges name it; "" for the default one.
    """

    def __init__(self, paths: Paths) -> None:
        """Name the place of the resident of the database of `paths`.

        Raises:
            StoreError: The folder of the database or of the socket cannot be used.
        """
        self.database = "" if paths.is_default else str(paths.database)
        try:
            prepare_socket_directory()
            self.address = socket_address(self.database or None)
            paths.database.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        except (OSError, ValueError) as error:
            raise StoreError(str(error)) from error
        self._lock = InstanceLock(paths.database.with_name(f"{paths.database.name}.lock"))

    async def claim(self, patience_s: float = 0.0) -> bool:
        """Take the place, waiting for it at most `patience_s`; return whether it is held now."""
        deadline = asyncio.get_running_loop().time() + patience_s
        while not self._lock.acquire():
            if asyncio.get_running_loop().time() >= deadline:
                return False
            await asyncio.sleep(RETRY_S)
        return True

    def release(self) -> None:
        """Give the place up."""
        self._lock.release()

    def ask(self, what: str) -> dict[str, Any] | None:
        """Ask whoever serves now; None where nobody answers."""
        return ask(self.address, what, ANSWER_TIMEOUT_S)
