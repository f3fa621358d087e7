"""What a person does to sessions; each says what happened, and how to take it back."""

from collections.abc import Callable, Coroutine
from typing import Any, Protocol

from kmem_desktop.domain.sessions.conversations import SummaryFormat
from kmem_desktop.domain.sessions.recall import SessionFacts, SessionState
from kmem_desktop.errors import KmemError
from kmem_desktop.gui.context import BY_WINDOW, Context, Undo
from kmem_desktop.gui.wording import quoted


class Teller(Protocol):
    """Where it is said what happened: the main window, or a window of its own."""

    def say(self, words: str, undo: Undo | None = None) -> None:
        """Say what happened, and how to take it back."""

    def show_error(self, message: str, hint: str = "") -> None:
        """Say what went wrong and what to do about it."""


class SessionDeeds:
    """The deeds, each off the Qt thread."""

    def __init__(self, context: Context, teller: Teller | None = None) -> None:
        """Do everything by the services of `context`; tell the main window, or `teller`."""
        self._context = context
        self._teller: Teller = teller or context.shell
        self._life = context.services.session_life

    def pin(self, facts: SessionFacts) -> None:
        """Keep a session at the top of the list, or let it go."""
        on = not facts.is_pinned
        words = (
            "Pinned: {title}. It stays on top of the list." if on else "No longer pinned: {title}."
        )
        self._do(
            self._life.pin(facts.uuid, on, BY_WINDOW),
            words.format(title=quoted(facts.title)),
            lambda: self._life.pin(facts.uuid, not on, BY_WINDOW),
        )

    def archive(self, facts: SessionFacts) -> None:
        """Put a session away, or take it out again."""
        if facts.state is SessionState.ARCHIVED:
            self._do(
                self._life.unarchive(facts.uuid, BY_WINDOW),
                f"Taken out of the archive: {quoted(facts.title)}.",
                lambda: self._life.archive(facts.uuid, BY_WINDOW),
            )
        else:
            self._do(
                self._life.archive(facts.uuid, BY_WINDOW),
                f"Archived: {quoted(facts.title)}. It is still found, and comes back by itself"
                " when it is gone on with.",
                lambda: self._life.unarchive(facts.uuid, BY_WINDOW),
            )

    def delete(self, facts: SessionFacts) -> None:
        """Delete a session; it can be had back."""
        self._do(
            self._life.delete(facts.uuid, BY_WINDOW),
            f"Deleted: {quoted(facts.title)}. Assistants no longer find it.",
            lambda: self._life.restore_deleted(facts.uuid, BY_WINDOW),
        )

    def mark(self, uuid: str, position: int, *, on: bool, done: Callable[[], None]) -> None:
        """Mark a turn as important, or take the mark away."""
        self._run(self._life.mark_important(uuid, position, on, BY_WINDOW), lambda _: done())

    def change(
        self,
        facts: SessionFacts,
        *,
        title: str,
        project: str,
        tags: tuple[str, ...],
        done: Callable[[], None],
        failed: Callable[[KmemError], bool],
    ) -> None:
        """Give a session another title, project or tags."""

        def changed(_answer: None) -> None:
            self._teller.say(
                f"Changed {quoted(title)}.",
                Undo(
                    "Undo",
                    lambda: self._run(self._change(facts, facts.title, facts.project, facts.tags)),
                ),
            )
            done()

        self._context.tasks.run(self._change(facts, title, project, tags), changed, failed=failed)

    async def _change(
        self, facts: SessionFacts, title: str, project: str, tags: tuple[str, ...]
    ) -> None:
        now = await self._context.services.session_pages.facts(facts.uuid)
        if title != now.title:
            await self._life.rename(facts.uuid, title, BY_WINDOW)
        if project != now.project:
            await self._life.set_project(facts.uuid, project, BY_WINDOW)
        if tags != now.tags:
            await self._life.set_tags(facts.uuid, tags, BY_WINDOW)

    def summarise(self, facts: SessionFacts) -> None:
        """Summarise a session in its own words."""
        recall = self._context.services.recall
        self._run(recall.summarise(facts.uuid, SummaryFormat.BULLET_POINTS, BY_WINDOW))

    def _do(
        self,
        deed: Coroutine[Any, Any, Any],
        words: str,
        back: Callable[[], Coroutine[Any, Any, Any]],
    ) -> None:
        def done(_answer: object) -> None:
            self._teller.say(words, Undo("Undo", lambda: self._run(back())))

        self._run(deed, done)

    def _run(
        self, coroutine: Coroutine[Any, Any, Any], done: Callable[[Any], None] | None = None
    ) -> None:
        def failed(error: KmemError) -> bool:
            self._teller.show_error(error.message, error.hint)
            return True

        self._context.tasks.run(coroutine, done, failed=failed)
