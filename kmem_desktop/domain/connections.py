"""Assistants that are connected."""

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True)
class ConnectedClient:
    """An assistant that is connected right now."""

    name: str
    version: str
    connected_at: datetime
    calls: int
