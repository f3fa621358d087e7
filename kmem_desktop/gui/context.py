"""What every part of the window may use: the services, and the window as a place to go."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from kmem_desktop.bootstrap import Services
from kmem_desktop.config import SettingsFile
from kmem_desktop.domain.changes import Noun, Origin, OriginKind
from kmem_desktop.domain.found import EntryQuery
from kmem_desktop.domain.knowledge import KnowledgeQuery
from kmem_desktop.gui.tasks import Tasks
from kmem_desktop.gui.wording import YOU
from kmem_desktop.services.listing import View
from kmem_desktop.services.startup import StartupService

Question = KnowledgeQuery | EntryQuery | View
BY_WINDOW = Origin(OriginKind.WINDOW, YOU)


@dataclass(frozen=True, slots=True)
class Undo:
    """How something that was just done is taken back.

    Attributes:
        words: What the button says.
        run: Takes it back.
    """

    words: str
    run: Callable[[], None]


class Shell(Protocol):
    """The window, as its pages see it."""

    def show_page(self, name: str) -> None:
        """Go to a page."""

    def open_item(self, noun: Noun, item_id: int) -> None:
        """Show an item where items are shown."""

    def open_session(self, uuid: str, position: int | None = None) -> None:
        """Show a conversation in a window of its own, at a turn."""

    def open_entity_named(self, name: str) -> None:
        """Show the entity with this name, if there is one."""

    def search_for(self, text: str) -> None:
        """Go to the search page and ask this."""

    def new_knowledge(self, title: str = "") -> None:
        """Open a form for knowledge, empty but for the title."""

    def new_entity(self) -> None:
        """Open an empty form for an entity."""

    def choose_import(self) -> None:
        """Let a file be chosen for import."""

    def say(self, words: str, undo: Undo | None = None) -> None:
        """Say what happened, and how to take it back."""

    def show_error(self, message: str, hint: str = "") -> None:
        """Say what went wrong and what to do about it."""

    def ask(self, words: str, answer: str, then: Callable[[], object]) -> None:
        """Say something that waits for a yes."""

    def ask_why_not(self, question: Question, key: int | str | None = None) -> None:
        """Explain why an item was not found; let it be picked where none is given."""

    def choose_item(self, question: str, then: Callable[[int | str], None]) -> None:
        """Let an item be picked that a question must find."""

    def keep_as_test(self, question: str, key: int | str) -> None:
        """Keep it as a test that a question finds an item."""

    def undo_change(self, change_id: int) -> None:
        """Take back a change of the history."""

    def update_actions(self) -> None:
        """Look again which actions make sense."""


@dataclass(frozen=True, slots=True)
class Context:
    """What a page gets."""

    services: Services
    settings: SettingsFile
    startup: StartupService
    tasks: Tasks
    shell: Shell


def undo_of(shell: Shell, change_id: int) -> Undo | None:
    """Return how a change is taken back; None where nothing changed."""
    return Undo("Undo", lambda: shell.undo_change(change_id)) if change_id else None
