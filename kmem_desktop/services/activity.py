"""Who is connected, whether serving is paused, and what is going on."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime

from kmem_desktop.domain.connections import ConnectedClient


@dataclass(eq=False, slots=True)
class Visit:
    """One connection of one client, from its hello to its end.

    Attributes:
        name: The client's name; "Unknown client" until it said one.
        version: The client's version.
        connected_at: When it came.
        calls: How many tools it has called.
    """

    name: str = "Unknown client"
    version: str = ""
    connected_at: datetime = field(default_factory=lambda: datetime.now(UTC))
    calls: int = 0


class ActivityService:
    """Keeps the list of connected clients and tells the window when it changes."""

    def __init__(self) -> None:
        """Start with nobody connected and serving."""
        self._visits: list[Visit] = []
        self._listeners: list[Callable[[], None]] = []
        self.is_paused = False

    def arrive(self) -> Visit:
        """Note a new connection."""
        visit = Visit()
        self._visits.append(visit)
        self._tell()
        return visit

    def name(self, visit: Visit, name: str, version: str) -> None:
        """Note who a connection is."""
        if (visit.name, visit.version) != (name, version):
            visit.name, visit.version = name, version
            self._tell()

    def leave(self, visit: Visit) -> None:
        """Note the end of a connection."""
        self._visits.remove(visit)
        self._tell()

    def clients(self) -> list[ConnectedClient]:
        """Return who is connected, first come first."""
        return [ConnectedClient(v.name, v.version, v.connected_at, v.calls) for v in self._visits]

    def pause(self, *, paused: bool) -> None:
        """Stop or resume answering tool calls; clients stay connected and are told so."""
        self.is_paused = paused
        self._tell()

    def listen(self, listener: Callable[[], None]) -> Callable[[], None]:
        """Call `listener` whenever somebody comes, goes, or serving is paused or resumed.

        Returns:
            A function that ends it.
        """
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)

    def _tell(self) -> None:
        for listener in list(self._listeners):
            listener()
