"""The main window: rail, pages, notices; what is open, and what the keys do."""

import base64
from collections.abc import Callable
from functools import cached_property

from PySide6.QtCore import QByteArray, Qt, QTimer
from PySide6.QtGui import QCloseEvent, QGuiApplication, QResizeEvent, QShowEvent
from PySide6.QtWidgets import (
    QApplication,
    QHBoxLayout,
    QMainWindow,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from kmem_desktop.bootstrap import Services
from kmem_desktop.config import SettingsFile
from kmem_desktop.domain.changes import HistoryEntry, Noun
from kmem_desktop.domain.sessions.importing import TranscriptProgram
from kmem_desktop.events import Change
from kmem_desktop.gui.appearance import appearance, theme
from kmem_desktop.gui.context import BY_WINDOW, Context, Question, Undo
from kmem_desktop.gui.importing.first_question import FirstQuestion
from kmem_desktop.gui.inbox.waiting_watch import WaitingWatch
from kmem_desktop.gui.pages.import_page import ImportPage
from kmem_desktop.gui.pages.list_page import ListPage
from kmem_desktop.gui.pages.page import Page
from kmem_desktop.gui.pages.registry import PAGES
from kmem_desktop.gui.popups.command_palette import CommandPalette
from kmem_desktop.gui.popups.key_list import KeyList
from kmem_desktop.gui.popups.overlay import Overlay
from kmem_desktop.gui.popups.quick_search import QuickSearch
from kmem_desktop.gui.popups.why_not import WhyNotPanel
from kmem_desktop.gui.rules.rules_page import RulesPage
from kmem_desktop.gui.sessions.sessions_page import SessionsPage
from kmem_desktop.gui.shell.actions import Actions
from kmem_desktop.gui.shell.leaving import Leaving
from kmem_desktop.gui.shell.left_watch import LeftWatch
from kmem_desktop.gui.shell.news import News, NewsDesk
from kmem_desktop.gui.shell.rail import Rail
from kmem_desktop.gui.shell.test_watch import TestWatch, keep_as_test
from kmem_desktop.gui.shell.window_actions import add_window_actions
from kmem_desktop.gui.tasks import Tasks
from kmem_desktop.gui.widgets.notices import LiveLine, NoticeLine
from kmem_desktop.gui.wording import change_sentence, quoted
from kmem_desktop.services.startup import StartupService

_DEFAULT_SIZE = (1280, 800)
_SMALLEST_SIZE = (640, 440)
NARROW_PX = 900
"""Below this width of the drawing the rail shows icons and the detail covers the list."""
ZOOM_STEPS = (80, 90, 100, 110, 125, 150, 175, 200)


class MainWindow(QMainWindow):
    """The window."""

    def __init__(
        self,
        services: Services,
        settings: SettingsFile,
        quit_program: Callable[[], None],
        *,
        startup: StartupService | None = None,
    ) -> None:
        """Show what `services` know; the first page is built at once, the others when needed."""
        super().__init__()
        self.setWindowTitle("kmem")
        self.setMinimumSize(*_SMALLEST_SIZE)
        self._services = services
        self._settings = settings
        self._quit_program = quit_program
        self._narrow = False
        self._is_quitting = False
        self.tasks = Tasks(self.show_error)
        self.context = Context(
            services, settings, startup or StartupService(), self.tasks, shell=self
        )
        self.pages: dict[str, Page] = {}
        self.page_name = ""
        self.actions_of_window = Actions(self)
        self.rail = Rail(PAGES)
        self.notice = NoticeLine()
        self.live = LiveLine()
        self.first_question = FirstQuestion(
            self.context, self.keep_transcripts, self.look_at_transcripts
        )
        self.leaving = Leaving(self, self.notice, settings, self.quit)
        self._page_stack = QStackedWidget()
        self._build()
        add_window_actions(self)
        self.palette_overlay = CommandPalette(self.actions_of_window, self)
        self.quick_search = QuickSearch(self.context, self)
        self.test_watch = TestWatch(
            services.retrieval_tests,
            self.tasks,
            self.notice,
            self,
            lambda: self.show_page("tests"),
        )
        self.left_watch = LeftWatch(services.models, self.tasks, self.rail.left, self)
        self._waiting = WaitingWatch(
            services.inbox, self.tasks, lambda count: self.rail.show_waiting("inbox", count)
        )
        self._news: News | None = None
        self._desk = NewsDesk(services.history, self.tasks, self._on_news, self)
        self._endings = [
            services.feed.subscribe(self._on_change),
            services.activity.listen(self._on_activity),
            self.test_watch.end,
            self.left_watch.end,
        ]
        self.rail.page_wanted.connect(self.show_page)
        self.rail.new_wanted.connect(lambda: self.new_knowledge())
        self.live.clicked.connect(self._on_live_clicked)
        appearance().changed.connect(self._fit_width)
        self._restore_geometry()
        self._on_activity()
        self._waiting.look()
        self.show_page("search")

    def _build(self) -> None:
        content = QWidget()
        column = QVBoxLayout(content)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.first_question)
        column.addWidget(self._page_stack, 1)
        column.addWidget(self.live)
        column.addWidget(self.notice)
        middle = QWidget()
        line = QHBoxLayout(middle)
        line.setContentsMargins(0, 0, 0, 0)
        line.setSpacing(0)
        line.addWidget(self.rail)
        line.addWidget(content, 1)
        self.setCentralWidget(middle)

    # What app.py and the tray call

    def bring_to_front(self) -> None:
        """Show the window above the others, with the keyboard."""
        if self.isMinimized():
            self.showNormal()
        self.show()
        self.raise_()
        self.activateWindow()

    def open_quick_search(self) -> None:
        """Show the quick search popup."""
        self.quick_search.open()

    @cached_property
    def key_list(self) -> KeyList:
        """The list of all keys, built when it is first asked for."""
        return KeyList(self.actions_of_window, self)

    @cached_property
    def why_not(self) -> WhyNotPanel:
        """The panel that tells why an item was not found, built when it is first asked for."""
        return WhyNotPanel(self.context, self)

    def overlay(self, name: str) -> Overlay:
        """Return what lies over the window: "palette" or "keys"."""
        return self.palette_overlay if name == "palette" else self.key_list

    def quit(self) -> None:
        """End the program, not only the window; ask first where typed text would be lost."""
        for name, page in self.pages.items():
            if page.has_something_to_lose():
                self.bring_to_front()
                self.show_page(name)
                self.ask("Quit without saving what you typed?", "Quit", self._quit)
                return
        self._quit()

    def _quit(self) -> None:
        self._is_quitting = True
        self._save_geometry()
        self._quit_program()

    def release(self) -> None:
        """Let go of the services: nothing is asked of them any more."""
        for end in self._endings:
            end()
        self._endings = []
        self.tasks.close()

    # The shell of the pages

    def page(self, name: str) -> Page:
        """Return a page, building it when it is first asked for."""
        if name not in self.pages:
            entry = next(entry for entry in PAGES if entry.name == name)
            page = entry.make(self.context)
            page.setAccessibleName(entry.title)
            page.set_narrow(self._narrow)
            self.pages[name] = page
            self._page_stack.addWidget(page)
        return self.pages[name]

    @property
    def current_page(self) -> Page:
        """The page that is shown."""
        return self.page(self.page_name)

    def show_page(self, name: str) -> None:
        """Go to a page."""
        changed = name != self.page_name
        page = self.page(name)
        self.page_name = name
        self._page_stack.setCurrentWidget(page)
        self.rail.show_page(name)
        page.activate()
        if changed:
            page.focus_first()
        self.update_actions()

    def open_item(self, noun: Noun, item_id: int) -> None:
        """Show an item on the page that is open, or on the page of its noun."""
        if noun is Noun.TURN:
            self.tasks.run(
                self._services.listing.turn_place(item_id),
                lambda place: self.open_session(place.session_uuid, place.position),
            )
            return
        if noun is Noun.DIRECTIVE:
            self._open_directive(item_id)
            return
        page = self.current_page
        if not isinstance(page, ListPage):
            self.show_page("knowledge" if noun is Noun.KNOWLEDGE else "graph")
            page = self.current_page
        if isinstance(page, ListPage):
            page.open_item(noun, item_id)

    def _open_directive(self, directive_id: int) -> None:
        self.show_page("rules")
        page = self.current_page
        if isinstance(page, RulesPage):
            page.open_directive(directive_id)

    def open_session(self, uuid: str, position: int | None = None) -> None:
        """Show a conversation in a window of its own, at a turn."""
        page = self.page("sessions")
        if isinstance(page, SessionsPage):
            page.open_session(uuid, position)

    def open_entity_named(self, name: str) -> None:
        """Show the entity with this name, or say that there is none."""

        def show(entity_id: int | None) -> None:
            if entity_id is None:
                self.say(f"There is no entity named {quoted(name)}; only relations name it.")
            else:
                self.open_item(Noun.ENTITY, entity_id)

        self.tasks.run(self._services.graph.find(name), show)

    def search_for(self, text: str) -> None:
        """Go to the search page and ask this of everything."""
        self.show_page("search")
        page = self.current_page
        if isinstance(page, ListPage):
            page.widen()
            page.field.edit.setText(text)
            page.focus_search()
            page.field.edit.end(False)

    def new_knowledge(self, title: str = "") -> None:
        """Open a form for knowledge, empty but for the title."""
        self._list_page().new_knowledge(title)

    def new_entity(self) -> None:
        """Open an empty form for an entity."""
        self._list_page().new_entity()

    def choose_import(self) -> None:
        """Go where files, folders and programs to import are chosen."""
        self.show_page("import")

    def _import_page(self) -> ImportPage:
        self.show_page("import")
        page = self.current_page
        assert isinstance(page, ImportPage)  # noqa: S101 - the registry says so
        return page

    def keep_transcripts(self, program: TranscriptProgram) -> None:
        """Bring in a program's transcripts, and keep them while they grow."""
        self._import_page().follow(program, on=True)

    def look_at_transcripts(self, program: TranscriptProgram) -> None:
        """Show what keeping a program's transcripts would bring."""
        self._import_page().look_at(program)

    def open_import(self, path: str) -> None:
        """Show what importing a file would do."""
        self._import_page().start(path)

    def say(self, words: str, undo: Undo | None = None) -> None:
        """Say what happened, and how to take it back."""
        if undo is None:
            self.notice.show_words(words)
        else:
            self.notice.show_words(words, button=undo.words, key="Ctrl Z", then=undo.run)

    def show_error(self, message: str, hint: str = "") -> None:
        """Say what went wrong and what to do about it."""
        self.notice.show_words(message, hint=hint, ground="bad_soft")

    def ask(self, words: str, answer: str, then: Callable[[], object]) -> None:
        """Say something that waits for a yes; Esc is a no."""
        self.notice.show_words(words, button=answer, key="↵", then=then, ground="warn_soft")
        self.notice.take_focus()

    def ask_why_not(self, question: Question, key: int | str | None = None) -> None:
        """Explain why an item was not found; let it be picked where none is given."""
        self.why_not.ask(question, key)

    def choose_item(self, question: str, then: Callable[[int | str], None]) -> None:
        """Let an item be picked that a question must find."""
        self.why_not.choose(question, then)

    def keep_as_test(self, question: str, key: int | str) -> None:
        """Keep it as a test that a question finds an item."""
        keep_as_test(self.context, question, key)

    def undo_change(self, change_id: int) -> None:
        """Take back a change of the history."""

        def done(entry: HistoryEntry) -> None:
            self.say(f"Taken back: {change_sentence(entry)}.")

        self.tasks.run(self._services.history.undo(change_id, BY_WINDOW), done)

    def update_actions(self) -> None:
        """Look again which actions make sense."""
        detail = self.current_page.detail
        for name in ("edit", "copy", "history", "forget"):
            self.actions_of_window.enable(name, on=detail is not None and detail.offers(name))
        asks = self.current_page.has_question
        can_keep = detail is not None and detail.offers("keep_test")
        self.actions_of_window.enable("why_not", on=asks)
        self.actions_of_window.enable("keep_test", on=asks and can_keep)
        self.actions_of_window.enable("save", on=detail is not None and detail.is_editing)

    # What keys do

    def go_back(self) -> None:
        """Leave the innermost thing that is open."""
        if self.notice.is_asking:
            self.notice.hide()
            self.current_page.setFocus()
        elif not self.current_page.go_back() and self.notice.isVisible():
            self.notice.hide()

    def undo_last(self) -> None:
        """Press the button of the notice, if it offers to take something back."""
        if self.notice.offers_undo:
            self.notice.press()

    def cycle_columns(self) -> None:
        """Move the keyboard to the next column."""
        rail = self.rail.buttons.get(self.page_name)
        columns = [rail, self.first_question, *self.current_page.focus_columns()]
        stops = [column for column in columns if column is not None and column.isVisible()]
        focus = QApplication.focusWidget()
        here = -1
        for index, stop in enumerate(stops):
            if focus is not None and (stop is focus or stop.isAncestorOf(focus)):
                here = index
        for step in range(1, len(stops) + 1):
            stop = stops[(here + step) % len(stops)]
            target = stop if stop.focusPolicy() != Qt.FocusPolicy.NoFocus else _first_stop(stop)
            if target is not None:
                target.setFocus(Qt.FocusReason.ShortcutFocusReason)
                return

    def focus_search(self) -> None:
        """Put the caret into the search field, of this page or of the search page."""
        if not self.current_page.focus_search():
            self.show_page("search")

    def zoom(self, direction: int) -> None:
        """Make text larger (1), smaller (-1), or as large as drawn (0)."""
        now = self._settings.current.zoom_percent
        if direction > 0:
            percent = next((step for step in ZOOM_STEPS if step > now), ZOOM_STEPS[-1])
        elif direction < 0:
            percent = next((step for step in reversed(ZOOM_STEPS) if step < now), ZOOM_STEPS[0])
        else:
            percent = 100
        settings = self._settings.change(zoom_percent=percent)
        appearance().apply(settings.theme, settings.zoom_percent)

    # Signals

    def _on_change(self, change: Change) -> None:
        for page in self.pages.values():
            page.take_change(change)
        self.quick_search.take_change()
        self._waiting.take_change(change)
        self._desk.take_change(change)

    def _on_activity(self) -> None:
        activity = self._services.activity
        self.rail.show_state(len(activity.clients()), is_paused=activity.is_paused)
        for page in self.pages.values():
            page.take_activity()

    def _on_news(self, news: News) -> None:
        self._news = news
        self.live.tell(news.sentence, news.more)

    def _on_live_clicked(self) -> None:
        if self._news is None:
            return
        entry = self._news.entry
        if entry.noun in (Noun.KNOWLEDGE, Noun.ENTITY):
            self.open_item(entry.noun, entry.item_id)
        elif entry.noun is Noun.OBSERVATION:
            self.open_entity_named(entry.title)
        else:
            self.show_page("activity")

    # Size, closing

    def _list_page(self) -> ListPage:
        page = self.current_page
        if not isinstance(page, ListPage):
            self.show_page("search")
            page = self.current_page
        assert isinstance(page, ListPage)  # noqa: S101 - search is a list page
        return page

    def _fit_width(self) -> None:
        narrow = self.width() / theme().scale < NARROW_PX
        if narrow != self._narrow:
            self._narrow = narrow
            self.rail.set_narrow(narrow)
            for page in self.pages.values():
                page.set_narrow(narrow)

    def _restore_geometry(self) -> None:
        saved = self._settings.current.window_geometry
        if not saved or not self.restoreGeometry(QByteArray(base64.b64decode(saved))):
            self.resize(*_DEFAULT_SIZE)

    def _save_geometry(self) -> None:
        geometry = base64.b64encode(self.saveGeometry().data()).decode()
        if geometry != self._settings.current.window_geometry:
            self._settings.change(window_geometry=geometry)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit_width()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        if self.page_name:
            QTimer.singleShot(0, self, self.current_page.activate)
            QTimer.singleShot(0, self, self.test_watch.look)
            QTimer.singleShot(0, self, self.left_watch.look)
            self.leaving.speak_on_return()

    def closeEvent(self, event: QCloseEvent) -> None:
        self._save_geometry()
        application = QGuiApplication.instance()
        if self._is_quitting or (
            isinstance(application, QGuiApplication) and application.isSavingSession()
        ):
            event.accept()
            return
        event.ignore()
        self.leaving.close()


def _first_stop(area: QWidget) -> QWidget | None:
    """Return the first widget inside that takes the keyboard."""
    for child in area.findChildren(QWidget):
        if (
            child.isVisible()
            and child.isEnabled()
            and child.focusPolicy() & Qt.FocusPolicy.TabFocus
        ):
            return child
    return None
