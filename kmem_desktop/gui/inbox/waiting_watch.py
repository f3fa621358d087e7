"""How much waits in the inbox, kept in step on the rail."""

from collections.abc import Callable

from kmem_desktop.domain.changes import Noun
from kmem_desktop.events import Change
from kmem_desktop.gui.tasks import Tasks
from kmem_desktop.services.sessions.inbox import InboxService


class WaitingWatch:
    """Counts again whenever something may wait that did not, or no longer."""

    def __init__(self, inbox: InboxService, tasks: Tasks, show: Callable[[int], None]) -> None:
        """Give what `inbox` counts to `show`."""
        self._inbox = inbox
        self._tasks = tasks
        self._show = show

    def look(self) -> None:
        """Count."""
        self._tasks.run(self._inbox.count(), self._show, topic="inbox count")

    def take_change(self, change: Change) -> None:
        """Learn that something in the memory changed."""
        if change.noun in (Noun.PROPOSAL, Noun.SESSION) or not change.ids:
            self.look()
