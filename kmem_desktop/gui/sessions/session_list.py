"""The list of sessions, and keeping it in step with what is asked and with what changes."""

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QItemSelectionModel, QModelIndex, QObject, Qt, QTimer, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QTableView, QWidget

from kmem_desktop.domain.sessions.browsing import (
    SessionFacets,
    SessionListing,
    SessionRow,
    SessionView,
)
from kmem_desktop.errors import KmemError
from kmem_desktop.gui.appearance import appearance, theme
from kmem_desktop.gui.lists.one_column import show_one_column
from kmem_desktop.gui.sessions.session_rows import (
    BLOCK_SIZE,
    SessionDelegate,
    SessionTableModel,
)
from kmem_desktop.gui.tasks import Tasks
from kmem_desktop.services.sessions.browsing import SessionPages

_STEPS = {Qt.Key.Key_J: 1, Qt.Key.Key_K: -1, Qt.Key.Key_Down: 1, Qt.Key.Key_Up: -1}
_REFRESH_MS = 120


class SessionListView(QTableView):
    """Sessions under their days; arrows walk from session to session.

    Signals:
        current_changed: Another session is selected (its number; 0 for none).
        chosen: A row was double-clicked or Enter was pressed on it (its number).
    """

    current_changed = Signal(int)
    chosen = Signal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        """Start empty."""
        super().__init__(parent)
        self.rows = SessionTableModel()
        self._delegate = SessionDelegate(self)
        self._keeps_quiet = False
        self._heading_lines: list[int] = []
        self.setAccessibleName("Sessions")
        self.setModel(self.rows)
        self.setItemDelegate(self._delegate)
        show_one_column(self)
        self.rows.modelReset.connect(self._size_lines)
        self.selectionModel().currentRowChanged.connect(self._on_current_changed)
        self.doubleClicked.connect(lambda index: self._choose(index.row()))
        appearance().changed.connect(self._on_appearance_changed)
        self._on_appearance_changed()

    def current_id(self) -> int | None:
        """Return the number of the selected session, or None."""
        index = self.currentIndex()
        return self.rows.id_at(index.row()) if index.isValid() else None

    def current_row(self) -> SessionRow | None:
        """Return what is known of the selected session, or None."""
        index = self.currentIndex()
        return self.rows.row_at(index.row()) if index.isValid() else None

    def select_id(self, session_id: int | None, *, quietly: bool = False) -> bool:
        """Select a session; return whether it is in the list.

        Args:
            session_id: Its number; None selects nothing.
            quietly: Whether nobody is told, because the same one stays selected.
        """
        line = None if session_id is None else self.rows.line_of(session_id)
        self._keeps_quiet = quietly
        try:
            if line is None:
                self.selectionModel().clear()
            else:
                self._set_current(line)
        finally:
            self._keeps_quiet = False
        return line is not None

    def select_first(self) -> None:
        """Select the first session, at the top of the list."""
        self.scrollToTop()
        self.select_id(next(iter(self.rows.listing.ids), None))

    def move(self, step: int) -> None:  # type: ignore[override]
        """Select the session `step` further down."""
        count = len(self.rows.listing.ids)
        if not count:
            return
        here = self.rows.place_at(self.currentIndex().row())
        place = 0 if here is None else min(max(here + step, 0), count - 1)
        line = self.rows.line_of(self.rows.listing.ids[place])
        if line is not None:
            self._set_current(line)
            # The first session of a day is shown with its day.
            heading = line - 1 if self.rows.heading_at(line - 1) else line
            self.scrollTo(self.rows.index(heading, 0))
            self.scrollTo(self.rows.index(line, 0))

    def choose_current(self) -> None:
        """Act as if Enter was pressed on the selected row."""
        if self.currentIndex().isValid():
            self._choose(self.currentIndex().row())

    def _set_current(self, line: int) -> None:
        flags = QItemSelectionModel.SelectionFlag
        self.selectionModel().setCurrentIndex(
            self.rows.index(line, 0), flags.ClearAndSelect | flags.Rows
        )

    def _choose(self, line: int) -> None:
        if (session_id := self.rows.id_at(line)) is not None:
            self.chosen.emit(session_id)

    def _on_current_changed(self, current: QModelIndex, previous: QModelIndex) -> None:
        if self.rows.heading_at(current.row()):
            return
        if not self._keeps_quiet:
            self.current_changed.emit(self.rows.id_at(current.row()) or 0)

    def _on_appearance_changed(self) -> None:
        header = self.verticalHeader()
        header.setMinimumSectionSize(1)
        header.setDefaultSectionSize(self._delegate.row_height())
        self.verticalScrollBar().setSingleStep(theme().px(36))
        self._size_lines()
        self.viewport().update()

    def _size_lines(self) -> None:
        """Give each line its height: the days are lower than the sessions."""
        header = self.verticalHeader()
        # The header keeps the heights of lines over a change of the model.
        for line in self._heading_lines:
            if line < self.rows.rowCount():
                header.resizeSection(line, self._delegate.row_height())
        self._heading_lines = self.rows.headings()
        for line in self._heading_lines:
            header.resizeSection(line, self._delegate.heading_height())

    def keyboardSearch(self, search: str) -> None:
        """Do nothing: letters are keys of the program here."""

    def keyPressEvent(self, event: QKeyEvent) -> None:
        plain = event.modifiers() in (
            Qt.KeyboardModifier.NoModifier,
            Qt.KeyboardModifier.KeypadModifier,
        )
        key = Qt.Key(event.key())
        if plain and key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.choose_current()
        elif plain and key in _STEPS:
            self.move(_STEPS[key])
        elif plain and key in (Qt.Key.Key_PageDown, Qt.Key.Key_PageUp):
            page = max(1, self.viewport().height() // self._delegate.row_height() - 1)
            self.move(page if key == Qt.Key.Key_PageDown else -page)
        elif plain and key in (Qt.Key.Key_Home, Qt.Key.Key_End):
            count = len(self.rows.listing.ids)
            self.move(count if key == Qt.Key.Key_End else -count)
        else:
            event.ignore()


@dataclass(frozen=True, slots=True)
class Answer:
    """What a list was told."""

    listing: SessionListing
    facets: SessionFacets
    start: int
    rows: Sequence[SessionRow]


class SessionLoader(QObject):
    """Asks the service for the list, the newest question first.

    Signals:
        loaded: An answer was put into the list (`Answer`).
        failed: The sessions could not be read (`KmemError`).
    """

    loaded = Signal(object)
    failed = Signal(object)

    def __init__(self, service: SessionPages, tasks: Tasks, view: SessionListView) -> None:
        """Fill `view` from `service`."""
        super().__init__(view)
        self._service = service
        self._tasks = tasks
        self._view = view
        self._topic = f"sessions {id(self)}"
        self.asked = SessionView()
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(_REFRESH_MS)
        self._timer.timeout.connect(self._refresh_now)
        view.rows.block_wanted.connect(self._load_block)

    def ask(self, asked: SessionView) -> None:
        """Show the answer to this question, from its top."""
        self.asked = asked
        self._run(asked, 0, self._show_new)

    def refresh(self) -> None:
        """Ask the same again soon; what is selected and in sight stays where it is."""
        if not self._timer.isActive():
            self._timer.start()

    def _refresh_now(self) -> None:
        first = self._view.rows.place_at(max(0, self._view.rowAt(0))) or 0
        self._run(self.asked, first, self._show_refreshed)

    def _run(self, asked: SessionView, first: int, show: object) -> None:
        assert callable(show)  # noqa: S101 - one of the two below
        self._tasks.run(self._answer(asked, first), show, failed=self._on_failed, topic=self._topic)

    async def _answer(self, asked: SessionView, first: int) -> Answer:
        listing = await self._service.show(asked)
        start = min(first, max(0, len(listing.ids) - 1)) // BLOCK_SIZE * BLOCK_SIZE
        rows = await self._service.rows(listing, listing.ids[start : start + BLOCK_SIZE].tolist())
        return Answer(listing, await self._service.facets(), start, rows)

    def _on_failed(self, error: KmemError) -> bool:
        self.failed.emit(error)
        return True

    def _show_new(self, answer: Answer) -> None:
        self._put(answer)
        self._view.select_first()
        self.loaded.emit(answer)

    def _show_refreshed(self, answer: Answer) -> None:
        view, rows = self._view, self._view.rows
        selected = view.current_id()
        place = rows.place_at(view.currentIndex().row()) or 0
        top = view.rowAt(0)
        anchor, offset = rows.id_at(top), view.rowViewportPosition(max(0, top))
        if anchor is None and top >= 0:
            anchor, offset = rows.id_at(top + 1), view.rowViewportPosition(top + 1)
        was_at_top = view.verticalScrollBar().value() == 0
        if self._put(answer):
            ids = answer.listing.ids
            if not view.select_id(selected, quietly=True) and len(ids):
                view.select_id(ids[min(place, len(ids) - 1)])
            line = rows.line_of(anchor) if anchor is not None else None
            if line is not None and not was_at_top:
                target = view.verticalHeader().sectionPosition(line) - offset
                view.verticalScrollBar().setValue(target)
        self.loaded.emit(answer)

    def _put(self, answer: Answer) -> bool:
        return self._view.rows.set_listing(answer.listing, answer.rows, answer.start)

    def _load_block(self, start: int) -> None:
        rows = self._view.rows
        listing = rows.listing
        self._tasks.run(
            self._service.rows(listing, rows.ids_of_block(start)),
            lambda found: rows.set_rows(listing, start, found),
        )
