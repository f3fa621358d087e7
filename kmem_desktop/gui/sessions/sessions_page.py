"""Sessions: every conversation that is kept, by the day it was last gone on with."""

from collections.abc import Callable
from functools import partial

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QApplication, QStackedWidget, QVBoxLayout, QWidget

from kmem_desktop.domain.changes import Noun
from kmem_desktop.domain.sessions.browsing import SessionView
from kmem_desktop.errors import KmemError
from kmem_desktop.events import Change
from kmem_desktop.gui.appearance import appearance, theme
from kmem_desktop.gui.context import Context
from kmem_desktop.gui.pages.columns import Columns
from kmem_desktop.gui.pages.page import Page
from kmem_desktop.gui.rules.rules_page import RulesPage
from kmem_desktop.gui.sessions.filter_bar import FilterBar
from kmem_desktop.gui.sessions.restore_window import RestoreWindow
from kmem_desktop.gui.sessions.session_detail import SessionDetail
from kmem_desktop.gui.sessions.session_list import Answer, SessionListView, SessionLoader
from kmem_desktop.gui.widgets.controls import Button, Look
from kmem_desktop.gui.widgets.empty import EmptyState
from kmem_desktop.gui.widgets.labels import Hairline
from kmem_desktop.gui.widgets.search_field import SearchField
from kmem_desktop.gui.wording import counted

_INVITATION = "Search sessions by title, or by what was said"
_NOUNS = (Noun.SESSION, Noun.TURN)
_NONE = Qt.KeyboardModifier.NoModifier
_CONTROL = Qt.KeyboardModifier.ControlModifier


class SessionsPage(Page):
    """The page: a field, the filters, the list and the detail beside it.

    Attributes:
        windows: The sessions that are open in a window of their own, by their id.
    """

    def __init__(self, context: Context, parent: QWidget | None = None) -> None:
        """Lay out the page."""
        super().__init__(context, parent)
        self.windows: dict[str, RestoreWindow] = {}
        self._has_asked = False
        self._is_stale = False
        self._focus_later = False
        self._pending: tuple[str, int | None] | None = None
        self.field = SearchField(_INVITATION)
        self.filters = FilterBar()
        self.list = SessionListView()
        self.loader = SessionLoader(context.services.session_pages, context.tasks, self.list)
        self.pane = SessionDetail(context)
        self.empty = EmptyState()
        self._waiting = QWidget()
        self._stack = QStackedWidget()
        self._stack.setProperty("surface", "panel")
        self._stack.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        for widget in (self._waiting, self.list, self.empty):
            self._stack.addWidget(widget)
        self.columns = Columns(self._stack, self.pane)
        self._keys = self._build_keys()
        self._lay_out()
        self._connect()

    def _lay_out(self) -> None:
        self._head = QVBoxLayout()
        self._head.addWidget(self.field)
        self._head.addWidget(self.filters)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addLayout(self._head)
        column.addWidget(Hairline())
        column.addWidget(self.columns, 1)
        self._space()

    def _connect(self) -> None:
        self.field.asked.connect(self.ask)
        self.field.moved.connect(self.list.move)
        self.field.entered.connect(self._on_entered)
        self.field.left.connect(self.focus_list)
        self.filters.changed.connect(self.ask)
        self.filters.deleted_wanted.connect(lambda: self.context.shell.show_page("deleted"))
        self.list.current_changed.connect(self._on_current_changed)
        self.list.chosen.connect(self._on_chosen)
        self.loader.loaded.connect(self._on_loaded)
        self.loader.failed.connect(self._on_failed)
        self.list.rows.dataChanged.connect(self._on_rows_read)
        self.pane.open_wanted.connect(self._open_window)
        self.pane.tag_wanted.connect(self.filters.choose_tag)
        self.pane.closed.connect(self._leave_pane)
        self.pane.left.connect(self.focus_list)
        appearance().changed.connect(self._space)
        if (application := QApplication.instance()) is not None:
            application.aboutToQuit.connect(self.close_windows)
        # They are no children of this page: as such they would always lie above the main window.
        self.destroyed.connect(partial(_let_go, self.windows))

    def _space(self) -> None:
        look = theme()
        self._head.setContentsMargins(look.px(20), look.px(15), look.px(20), look.px(10))
        self._head.setSpacing(look.px(10))

    # What the window asks

    def activate(self) -> None:
        if not self._has_asked:
            self.ask()
        elif self._is_stale:
            self.loader.refresh()
            self.pane.reload()
        self._is_stale = False

    def take_change(self, change: Change) -> None:
        if change.noun not in _NOUNS and change.origin is not None:
            return
        for window in self.windows.values():
            window.take_change(change)
        if self.isVisible():
            self.loader.refresh()
            self.pane.reload()
        else:
            self._is_stale = True

    def focus_search(self) -> bool:
        self.field.edit.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.field.edit.selectAll()
        return True

    def focus_first(self) -> None:
        self._focus_later = self._stack.currentWidget() is self._waiting
        self.focus_list()

    def focus_columns(self) -> list[QWidget]:
        return [self.field.edit, self.filters, self.list, self.pane]

    def has_something_to_lose(self) -> bool:
        return self.pane.has_something_to_lose()

    def set_narrow(self, narrow: bool) -> None:  # noqa: FBT001 - as in the base
        self.columns.set_narrow(narrow)
        self.pane.set_narrow(narrow)

    def go_back(self) -> bool:
        if self.pane.is_editing:
            self.pane.cancel_edit()
        elif self.columns.right_covers:
            self._leave_pane()
        elif self.field.edit.text():
            self.field.edit.clear()
            self.field.edit.setFocus()
        elif self.filters.is_narrowing:
            self.filters.clear()
        elif not self.list.hasFocus() and self.list.isVisible():
            self.list.setFocus()
        else:
            return False
        return True

    # What is asked

    def ask(self) -> None:
        """Ask for what stands in the field, narrowed by the filters."""
        self._has_asked = True
        self.loader.ask(self.filters.applied_to(SessionView(text=self.field.edit.text())))

    def focus_list(self) -> None:
        """Put the keyboard on the list, or on what can be done where there is none."""
        target: QWidget = self.list
        if self._stack.currentWidget() is self.empty:
            target = self.empty.findChild(Button) or self.field.edit
        elif self._stack.currentWidget() is self._waiting:
            target = self.field.edit
        target.setFocus(Qt.FocusReason.OtherFocusReason)

    def _on_loaded(self, answer: Answer) -> None:
        listing, facets = answer.listing, answer.facets
        had_list = self._stack.currentWidget() is self.list
        self.filters.set_facets(facets)
        self.filters.setVisible(facets.total > 0)
        count = len(listing.ids)
        order = ", best match first" if listing.hits else ""
        of_all = f"{count:,} of {counted(listing.total, 'session')}{order}"
        self.field.note.setText(
            of_all if listing.view.is_narrowed else counted(listing.total, "session")
        )
        if count:
            self._stack.setCurrentWidget(self.list)
            if self.list.current_id() is None:
                self.list.select_first()
        else:
            self._show_empty(listing.total)
        if self._focus_later or (not had_list and self.empty.hasFocus()):
            self._focus_later = False
            self.focus_list()

    def _show_empty(self, total: int) -> None:
        if not self.pane.is_editing:
            self.pane.show_nothing()
        if total:
            show_all = Button("Show all", key="Esc")
            show_all.clicked.connect(self._show_all)
            words = "Other words, a longer time or another project may have it."
            title = f"None of {counted(total, 'session')} is like that"
            self.empty.set_words(title, words, show_all)
        else:
            shell = self.context.shell
            connect = Button("Connect an assistant", look=Look.PRIMARY)
            connect.clicked.connect(lambda: shell.show_page("connections"))
            bring = Button("Import transcripts…")
            bring.clicked.connect(lambda: shell.show_page("import"))
            words = (
                "A connected assistant stores its conversations here as they go on. Those that"
                " Claude Code, Codex and other programs keep on this computer, and exports of"
                " claude.ai and ChatGPT, can be imported."
            )
            self.empty.set_words("No conversations yet", words, connect, bring)
        self._stack.setCurrentWidget(self.empty)

    def _on_failed(self, error: KmemError) -> None:
        again = Button("Try again")
        again.clicked.connect(self.ask)
        words = f"{error.message} {error.hint}".strip()
        self.empty.set_words("The sessions could not be read", words, again)
        self._stack.setCurrentWidget(self.empty)

    def _show_all(self) -> None:
        self.field.edit.clear()
        self.filters.clear()
        self.focus_list()

    # What is selected

    def _on_current_changed(self, session_id: int) -> None:
        if self.pane.is_editing:
            return
        row = self.list.current_row() if session_id else None
        if row is not None:
            self.pane.show_session(row.uuid, row.position)
        elif not session_id:
            self.pane.show_nothing()

    def _on_rows_read(self) -> None:
        facts, row = self.pane.facts, self.list.current_row()
        if row is not None and (facts is None or facts.uuid != row.uuid):
            self._on_current_changed(row.id)

    def _on_entered(self) -> None:
        self.list.setFocus()

    def _on_chosen(self, session_id: int) -> None:
        row = self.list.current_row()
        if row is not None:
            self.open_session(row.uuid, row.position)

    def _leave_pane(self) -> None:
        self.columns.open_right(False)
        self.focus_list()

    # Windows

    def open_session(self, uuid: str, position: int | None = None) -> None:
        """Open a session in a window of its own, at a turn; or bring its window to the front."""
        window = self.windows.get(uuid)
        if window is None:
            window = self.windows[uuid] = RestoreWindow(self.context, uuid)
            window.closed.connect(self._on_window_closed)
            window.page_wanted.connect(self._on_page_wanted)
            window.rule_wanted.connect(self._on_rule_wanted)
        window.bring_to_front()
        if position is not None:
            window.go_to(position)

    def _open_window(self, uuid: str, position: int) -> None:
        self.open_session(uuid, None if position < 0 else position)

    def _on_window_closed(self, uuid: str) -> None:
        if (window := self.windows.pop(uuid, None)) is not None:
            window.deleteLater()

    def _on_page_wanted(self, name: str) -> None:
        self.context.shell.show_page(name)
        own = self.window()
        own.show()
        own.raise_()
        own.activateWindow()

    def _on_rule_wanted(self, directive_id: int) -> None:
        self._on_page_wanted("rules")
        window = self.window()
        page = getattr(window, "current_page", None)
        if isinstance(page, RulesPage):
            page.open_directive(directive_id)

    def close_windows(self) -> None:
        """Close every session that is open in a window of its own."""
        for window in list(self.windows.values()):
            window.close()

    # Keys

    def _build_keys(self) -> dict[tuple[Qt.Key, Qt.KeyboardModifier], Callable[[], object]]:
        key, pane = Qt.Key, self.pane
        return {
            (key.Key_O, _NONE): lambda: pane.do("open"),
            (key.Key_P, _NONE): lambda: pane.do("pin"),
            (key.Key_E, _NONE): lambda: pane.do("edit"),
            (key.Key_A, _NONE): lambda: pane.do("archive"),
            (key.Key_S, _NONE): lambda: pane.do("summarise"),
            (key.Key_Delete, _NONE): lambda: pane.do("delete"),
            (key.Key_Right, _NONE): self._show_pane,
            (key.Key_S, _CONTROL): pane.save,
        }

    def _show_pane(self) -> None:
        if self.pane.facts is not None:
            self.columns.open_right(True)
            self.pane.focus_shown()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        modifiers = event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier
        deed = self._keys.get((Qt.Key(event.key()), modifiers))
        if deed is None or (self.pane.is_editing and deed != self.pane.save):
            super().keyPressEvent(event)
        else:
            deed()


def _let_go(windows: dict[str, RestoreWindow]) -> None:
    for window in windows.values():
        window.deleteLater()
    windows.clear()
