"""Keeps a list in step with what is asked and with what changes, without moving what is read."""

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QElapsedTimer, QObject, QTimer, Signal

from kmem_desktop.domain.changes import Noun
from kmem_desktop.domain.found import Row
from kmem_desktop.gui.lists.row_list_view import RowListView
from kmem_desktop.gui.lists.row_table_model import BLOCK_SIZE
from kmem_desktop.gui.tasks import Tasks
from kmem_desktop.services.listing import Listing, ListingService, View

_FRAME_MS = 16
_LONGEST_PAUSE_MS = 1000
_MOST_AT_ONCE = 2


@dataclass(frozen=True, slots=True)
class Answer:
    """What a list was told: the rows it shows and the counts over all nouns."""

    listing: Listing
    everything: Listing
    start: int
    rows: Sequence[Row]


class ListLoader(QObject):
    """Asks the service for one list, newest question first.

    Signals:
        loaded: An answer was put into the list.
    """

    loaded = Signal()

    def __init__(self, service: ListingService, tasks: Tasks, view: RowListView) -> None:
        """Fill `view` from `service`."""
        super().__init__(view)
        self._service = service
        self._tasks = tasks
        self._view = view
        self._model = view.row_model
        self._topic = f"list {id(self)}"
        self.asked = View()
        self.everything: Listing | None = None
        self._asking = 0
        self._is_waiting = False
        self._is_refreshing = False
        self._refresh_again = False
        self._since_refresh = QElapsedTimer()
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.timeout.connect(self._refresh_now)
        self._model.block_wanted.connect(self._load_block)

    def ask(self, text: str, nouns: tuple[Noun, ...]) -> None:
        """Show the answer to this question, unless another one is asked meanwhile."""
        self.asked = View(text, nouns)
        self._is_waiting = True
        self._ask_next()

    def _ask_next(self) -> None:
        # Questions that were overtaken before they were asked are never asked: they would keep
        # the readers busy while the newest one waits.
        if self._is_waiting and self._asking < _MOST_AT_ONCE:
            self._is_waiting = False
            self._asking += 1
            self._tasks.run(self._answer_new(self.asked), self._show_new, topic=self._topic)

    async def _answer_new(self, view: View) -> Answer:
        try:
            return await self._answer(view, 0)
        finally:
            self._asking -= 1
            self._ask_next()

    def refresh(self) -> None:
        """Ask the same again soon; what is selected and in sight stays where it is."""
        if self._is_refreshing:
            self._refresh_again = True
        elif not self._timer.isActive():
            self._timer.start(max(_FRAME_MS, self._rest_ms()))

    def _rest_ms(self) -> int:
        """Return how long to rest: under many changes at once no longer work than rest."""
        if not self._since_refresh.isValid():
            return 0
        pause_ms = min(_LONGEST_PAUSE_MS, int(self._model.listing.elapsed_ms))
        return pause_ms - self._since_refresh.elapsed()

    async def _answer(self, view: View, first_row: int) -> Answer:
        listing = await self._service.show(view)
        everything = listing
        if len(view.nouns) == 1:
            everything = await self._service.show(View(view.text))
        start = min(first_row, max(0, len(listing.ids) - 1)) // BLOCK_SIZE * BLOCK_SIZE
        rows = await self._service.rows(listing, listing.ids[start : start + BLOCK_SIZE].tolist())
        return Answer(listing, everything, start, rows)

    def _show_new(self, answer: Answer) -> None:
        self._put(answer)
        self._view.scrollToTop()
        self._view.select_id(next(iter(answer.listing.ids), None))
        self.loaded.emit()

    def _refresh_now(self) -> None:
        self._is_refreshing = True
        first_row = self._view.rowAt(0)
        self._tasks.run(self._refreshed(self.asked, max(0, first_row)))

    async def _refreshed(self, view: View, first_row: int) -> None:
        try:
            answer = await self._answer(view, first_row)
            if view is self.asked:
                self._show_refreshed(answer)
        finally:
            self._is_refreshing = False
            self._since_refresh.start()
            if self._refresh_again:
                self._refresh_again = False
                self.refresh()

    def _show_refreshed(self, answer: Answer) -> None:
        view, model = self._view, self._model
        selected, was_empty = view.current_id(), not len(model.listing.ids)
        place = self._place()
        self._put(answer)
        if selected is not None:
            if not view.select_id(selected, quietly=True):
                view.select_id(self._neighbour(answer.listing))
        elif was_empty:
            view.select_id(next(iter(answer.listing.ids), None))
        if place is not None and (row := model.row_of(place[0])) is not None:
            height = view.verticalHeader().defaultSectionSize()
            view.verticalScrollBar().setValue(row * height - place[1])
        self.loaded.emit()

    def _place(self) -> tuple[int, int] | None:
        """Return the first row in sight and where it stands; None at the very top."""
        bar = self._view.verticalScrollBar()
        if bar.value() == 0:
            return None
        row = self._view.rowAt(0)
        item_id = self._model.id_at(row)
        return None if item_id is None else (item_id, self._view.rowViewportPosition(row))

    def _neighbour(self, listing: Listing) -> int | None:
        """Return what stands now where the row stood that is gone."""
        if not len(listing.ids):
            return None
        return listing.ids[min(self._last_row, len(listing.ids) - 1)]

    def _put(self, answer: Answer) -> None:
        self._last_row = max(0, self._view.currentIndex().row())
        self.everything = answer.everything
        self._model.set_listing(answer.listing, answer.rows, answer.start)

    def _load_block(self, start: int) -> None:
        listing = self._model.listing
        self._tasks.run(
            self._service.rows(listing, self._model.ids_of_block(start)),
            lambda rows: self._model.set_rows(listing, start, rows),
        )
