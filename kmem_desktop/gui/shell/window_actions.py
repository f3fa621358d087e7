"""The actions of the main window and their keys."""

from typing import Protocol

from kmem_desktop.gui.context import Context
from kmem_desktop.gui.graph_picture.picture_page import PicturePage
from kmem_desktop.gui.pages.page import Page
from kmem_desktop.gui.pages.registry import PAGES
from kmem_desktop.gui.popups.overlay import Overlay
from kmem_desktop.gui.settings.copy_saving import choose_copy
from kmem_desktop.gui.shell.actions import Actions

ITEM = "The item"
GO = "Go"
WINDOW = "Window"
MEMORY = "Memory"


class Window(Protocol):
    """What the actions ask of the window."""

    @property
    def actions_of_window(self) -> Actions:
        """Where the actions are kept."""

    @property
    def context(self) -> Context:
        """The services and the shell."""

    @property
    def current_page(self) -> Page:
        """The page that is shown."""

    def overlay(self, name: str) -> Overlay:
        """Return the palette or the key list."""

    def show_page(self, name: str) -> None:
        """Go to a page."""

    def open_quick_search(self) -> None:
        """Show the quick search popup."""

    def focus_search(self) -> None:
        """Put the caret into the search field."""

    def cycle_columns(self) -> None:
        """Move the keyboard to the next column."""

    def go_back(self) -> None:
        """Leave the innermost thing that is open."""

    def undo_last(self) -> None:
        """Take back what the notice is about."""

    def zoom(self, direction: int) -> None:
        """Make text larger, smaller, or as drawn."""

    def close(self) -> bool:
        """Hide the window."""

    def quit(self) -> None:
        """End the program."""


def add_window_actions(window: Window) -> None:
    """Add every action to the window."""
    _add_item_actions(window)
    _add_memory_actions(window)
    _add_ways(window)
    _add_window_actions(window)


def _add_item_actions(window: Window) -> None:
    add = window.actions_of_window.add

    def on_detail(deed: str) -> None:
        if (detail := window.current_page.detail) is not None:
            getattr(detail, deed)()

    add("edit", "Edit", "E", lambda: on_detail("edit"), group=ITEM)
    add("copy", "Copy", "Ctrl+Return Ctrl+Enter", lambda: on_detail("copy"), group=ITEM)
    add("history", "History", "H", lambda: on_detail("show_history"), group=ITEM)
    add("keep_test", "Must find this", "T", lambda: window.current_page.keep_as_test(), group=ITEM)
    add("forget", "Forget…", "Del", lambda: on_detail("forget"), group=ITEM)
    add("save", "Save", "Ctrl+S", lambda: on_detail("save"), group=ITEM)


def _add_memory_actions(window: Window) -> None:
    add = window.actions_of_window.add
    activity = window.context.services.activity
    add("new", "New knowledge", "Ctrl+N", window.context.shell.new_knowledge, group=MEMORY)
    add("new_entity", "New entity", "Ctrl+Shift+N", window.context.shell.new_entity, group=MEMORY)
    add("undo", "Undo", "Ctrl+Z", window.undo_last, group=MEMORY)
    add(
        "import",
        "Import…",
        "Ctrl+I",
        window.context.shell.choose_import,
        group=MEMORY,
    )
    add(
        "save_copy",
        "Save a copy of the memory…",
        "Ctrl+Shift+S",
        lambda: choose_copy(window.context, window.current_page),
        group=MEMORY,
    )
    add("pause", "Pause serving", "", lambda: activity.pause(paused=True), group=MEMORY)
    add("resume", "Resume serving", "", lambda: activity.pause(paused=False), group=MEMORY)


def _add_ways(window: Window) -> None:
    add = window.actions_of_window.add
    add("find", "Search", "Ctrl+F /", window.focus_search, group=GO)
    add("widen", "Search everything", "Alt+A", lambda: window.current_page.widen(), group=GO)
    add(
        "why_not",
        "Why was it not found?",
        "Alt+W",
        lambda: window.current_page.ask_why_not(),
        group=GO,
    )
    rail = [entry for entry in PAGES if entry.in_rail]
    for number, entry in enumerate(rail, start=1):
        add(
            f"go_{entry.name}",
            f"Go to {entry.title}",
            f"Ctrl+{number}",
            lambda name=entry.name: window.show_page(name),  # type: ignore[misc]
            group=GO,
        )
    add("go_tests", "Go to Retrieval tests", "Ctrl+T", lambda: window.show_page("tests"), group=GO)
    add("deleted", "Deleted conversations", "", lambda: window.show_page("deleted"), group=GO)
    add("picture", "Picture of the graph", "Ctrl+G", lambda: show_picture(window), group=GO)
    add("columns", "Next column", "F6", window.cycle_columns, group=GO)
    add("back", "Back", "Esc", window.go_back, group=GO)


def show_picture(window: Window) -> None:
    """Go to the picture; where an item is shown, it becomes the centre."""
    detail = window.current_page.detail
    shown = detail.shown if detail is not None and detail.has_item else None
    window.show_page("picture")
    page = window.current_page
    if isinstance(page, PicturePage) and shown is not None:
        page.show_center((shown.noun, shown.id))


def _add_window_actions(window: Window) -> None:
    add = window.actions_of_window.add
    add(
        "palette",
        "Everything else",
        "Ctrl+K",
        lambda: window.overlay("palette").open(),
        group=WINDOW,
    )
    add("keys", "Keys", "? F1", lambda: window.overlay("keys").open(), group=WINDOW)
    add("quick", "Quick search", "Ctrl+Shift+F", window.open_quick_search, group=WINDOW)
    add("larger", "Larger text", "Ctrl++ Ctrl+=", lambda: window.zoom(1), group=WINDOW)
    add("smaller", "Smaller text", "Ctrl+-", lambda: window.zoom(-1), group=WINDOW)
    add("normal", "Text as drawn", "Ctrl+0", lambda: window.zoom(0), group=WINDOW)
    add("hide", "Close the window", "Ctrl+W", window.close, group=WINDOW)
    add("quit", "Quit kmem", "Ctrl+Q", window.quit, group=WINDOW)
