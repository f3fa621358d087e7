"""What assistants do to the memory while one looks on, in a sentence."""

from collections.abc import Callable
from dataclasses import dataclass

from PySide6.QtCore import QObject, QTimer

from kmem_desktop.domain.changes import HistoryEntry, Noun, OriginKind
from kmem_desktop.events import Change
from kmem_desktop.gui.tasks import Tasks
from kmem_desktop.gui.wording import change_sentence, counted
from kmem_desktop.services.history import HistoryService

_FRAME_MS = 16
_LOOKED_AT = 50


@dataclass(frozen=True, slots=True)
class News:
    """What others have done since the last news.

    Attributes:
        sentence: Who did what last.
        more: How much else was done; empty where nothing was.
        entry: The change the sentence is about.
    """

    sentence: str
    more: str
    entry: HistoryEntry


class NewsDesk(QObject):
    """Turns changes by others into news, several at once into one."""

    def __init__(
        self,
        history: HistoryService,
        tasks: Tasks,
        tell: Callable[[News], None],
        parent: QObject | None = None,
    ) -> None:
        """Read `history` and hand the news to `tell`."""
        super().__init__(parent)
        self._history = history
        self._tasks = tasks
        self._tell = tell
        self._seen_id: int | None = None
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.timeout.connect(self._look)
        tasks.run(history.newest(1), self._on_start)

    def take_change(self, change: Change) -> None:
        """Learn of a change; those of the window itself are no news."""
        kind = change.origin.kind if change.origin else None
        if kind is not OriginKind.WINDOW and not self._timer.isActive():
            self._timer.start(_FRAME_MS)

    def _on_start(self, entries: list[HistoryEntry]) -> None:
        if self._seen_id is None:
            self._seen_id = entries[0].id if entries else 0

    def _look(self) -> None:
        self._tasks.run(self._history.newest(_LOOKED_AT), self._on_entries, topic="news")

    def _on_entries(self, entries: list[HistoryEntry]) -> None:
        seen = self._seen_id if self._seen_id is not None else 0
        fresh = [
            entry
            for entry in entries
            if entry.id > seen and entry.origin.kind is not OriginKind.WINDOW
        ]
        if not fresh:
            return
        self._seen_id = fresh[0].id
        named = next((e for e in fresh if e.noun in (Noun.KNOWLEDGE, Noun.ENTITY)), fresh[0])
        rest = len(fresh) - 1
        more = ""
        if rest:
            open_end = "at least " if len(fresh) == _LOOKED_AT else ""
            more = f"and {open_end}{counted(rest, 'more change')}"
        self._tell(News(change_sentence(named), more, named))
