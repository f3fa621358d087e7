"""Retrieval tests in the window: keeping one, and telling once that one turned red by itself."""

from collections.abc import Callable

from PySide6.QtWidgets import QWidget

from kmem_desktop.domain.retrieval_tests import RetrievalTest
from kmem_desktop.errors import DuplicateError, KmemError
from kmem_desktop.gui.context import Context, Undo
from kmem_desktop.gui.lists.retrieval_test_model import (
    among_words,
    before_words,
    place_words,
    wanted_words,
)
from kmem_desktop.gui.tasks import Tasks
from kmem_desktop.gui.widgets.notices import NoticeLine
from kmem_desktop.gui.wording import counted, quoted
from kmem_desktop.services.retrieval.retrieval_tests import RetrievalTestService


class TestWatch:
    """Looks, while the window is visible, whether there is something to tell."""

    __test__ = False  # no test of pytest's

    def __init__(
        self,
        service: RetrievalTestService,
        tasks: Tasks,
        notice: NoticeLine,
        window: QWidget,
        show_tests: Callable[[], object],
    ) -> None:
        """Tell what `service` found in `notice`, whose button calls `show_tests`."""
        self._service = service
        self._tasks = tasks
        self._notice = notice
        self._window = window
        self._show_tests = show_tests
        self.end = service.listen(self.look)

    def look(self) -> None:
        """Tell what has turned red since the last time."""
        if self._window.isVisible() and not self._notice.isVisible():
            self._tasks.run(self._service.turned_red(), self._tell, topic="turned red")

    def _tell(self, tests: list[RetrievalTest]) -> None:
        if not tests:
            return
        self._notice.show_words(
            red_words(tests), button="Show", then=self._show_tests, ground="warn_soft"
        )
        self._tasks.run(self._service.note_told())


def red_words(tests: list[RetrievalTest]) -> str:
    """Say which questions no longer find what they must."""
    if len(tests) > 1:
        return f"{counted(len(tests), 'question')} no longer find what they must."
    test = tests[0]
    facts = ", ".join(part for part in (place_words(test), before_words(test)) if part)
    return f"{quoted(test.question)} no longer finds {quoted(test.item.title)}: {facts}."


def keep_as_test(context: Context, question: str, key: int | str) -> None:
    """Keep it as a test that a question finds an item; say how it stands, and how to undo that."""
    service, tasks, shell = context.services.retrieval_tests, context.tasks, context.shell

    def done(test: RetrievalTest) -> None:
        undo = Undo("Undo", lambda: tasks.run(service.remove(test.id)))
        shell.say(
            f"Kept as a test: {quoted(test.question)} {wanted_words(test)} {among_words(test)}."
            f" Now: {place_words(test)}.",
            undo,
        )

    def failed(error: KmemError) -> bool:
        if isinstance(error, DuplicateError):
            shell.say("That is a test already.")
            return True
        return False

    tasks.run(service.add(question, key), done, failed=failed)
