"""The change feed: services publish what was changed after commit, anyone subscribes."""

import logging
from collections.abc import Callable
from dataclasses import dataclass

from kmem_desktop.domain.changes import Noun, Origin

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Change:
    """Something in the memory changed.

    Attributes:
        noun: What kind of thing.
        ids: The integer ids that changed; empty where they are not known (a write by another
            process): whoever shows that noun reloads.
        origin: Who asked for it; None for a write by another process.
    """

    noun: Noun
    ids: tuple[int, ...] = ()
    origin: Origin | None = None


class ChangeFeed:
    """Hands each published change to every subscriber, on the thread of the event loop."""

    def __init__(self) -> None:
        """Start with nobody listening."""
        self._subscribers: list[Callable[[Change], None]] = []

    def subscribe(self, subscriber: Callable[[Change], None]) -> Callable[[], None]:
        """Call `subscriber` with every change from now on.

        Returns:
            A function that ends the subscription.
        """
        self._subscribers.append(subscriber)
        return lambda: self._subscribers.remove(subscriber)

    def publish(self, change: Change) -> None:
        """Tell everyone; one subscriber's bug does not keep the news from the others."""
        for subscriber in list(self._subscribers):
            try:
                subscriber(change)
            except Exception:
                log.exception("A subscriber of the change feed failed")
