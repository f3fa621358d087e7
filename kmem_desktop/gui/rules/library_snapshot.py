"""All that the page of rules shows, read in one go, and read again when something changes."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from PySide6.QtCore import QObject, QTimer, Signal

from kmem_desktop.bootstrap import Services
from kmem_desktop.domain.rule_library import (
    RuleConflict,
    RuleFolder,
    StoredDirective,
    StoredRule,
)
from kmem_desktop.errors import KmemError
from kmem_desktop.gui.tasks import Tasks

_PAUSE_MS = 30


@dataclass(frozen=True)
class Library:
    """The folders, documents, and what waits for a person, as they were at one moment.

    Attributes:
        folders: The folders that are read.
        rules: Every document.
        proposed: The directives that wait for a person's word.
        conflicts: The pairs that contradict each other.
    """

    folders: Sequence[RuleFolder] = ()
    rules: Sequence[StoredRule] = ()
    proposed: Sequence[StoredDirective] = ()
    conflicts: Sequence[RuleConflict] = ()

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to show."""
        return not self.rules and not self.folders

    @cached_property
    def directives(self) -> int:
        """How many directives there are that nobody rejected."""
        return sum(rule.directives for rule in self.rules)

    @cached_property
    def by_id(self) -> dict[int, StoredRule]:
        """The documents by their numbers."""
        return {rule.id: rule for rule in self.rules}

    @cached_property
    def conflicting(self) -> Counter[int]:
        """How many contradictions each document has a side in."""
        return Counter(
            rule_id
            for conflict in self.conflicts
            for rule_id in {conflict.first.rule.id, conflict.second.rule.id}
        )

    @cached_property
    def contradicted(self) -> set[int]:
        """The directives that another one contradicts."""
        return {side.id for each in self.conflicts for side in (each.first, each.second)}

    def conflicts_of(self, directive_id: int) -> list[RuleConflict]:
        """Return the contradictions that a directive is part of."""
        return [each for each in self.conflicts if directive_id in (each.first.id, each.second.id)]

    def of_scope(self, scope: str) -> list[StoredRule]:
        """Return the documents of a project, or those for every project."""
        return [rule for rule in self.rules if rule.scope == scope]


async def read_library(services: Services) -> Library:
    """Read everything that the page begins with."""
    library = services.rules.library
    return Library(
        await services.rules.folders.list_folders(),
        await library.rules(),
        await library.proposed(),
        await library.conflicts(),
    )


class LibraryReader(QObject):
    """Reads the library; of many changes at once some are read together.

    Signals:
        loaded: What is there now: a `Library`, and a dict of the directives read anew by document.
        failed: It could not be read (`KmemError`).
    """

    loaded = Signal(object, object)
    failed = Signal(object)

    def __init__(
        self,
        services: Services,
        tasks: Tasks,
        wanted: Callable[[Library], Iterable[int]],
        parent: QObject | None = None,
    ) -> None:
        """Read by `services`; `wanted` tells which documents are to be read besides."""
        super().__init__(parent)
        self._services = services
        self._tasks = tasks
        self._wanted = wanted
        self._stale: set[int] = set()
        self._is_reading = False
        self._again = False
        self._awaits_relations = False
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(_PAUSE_MS)
        self._timer.timeout.connect(self.read)

    def outdate(self, rule_ids: Iterable[int]) -> None:
        """Learn that what was read of these documents may no longer hold."""
        self._stale |= set(rule_ids)
        self._await_relations()

    def read_soon(self) -> None:
        """Read after a moment, in which more may change."""
        if not self._timer.isActive():
            self._timer.start()

    def read(self) -> None:
        """Read now, or again after what is being read."""
        if self._is_reading:
            self._again = True
            return
        self._is_reading = True
        self._tasks.run(self._read(), failed=self._on_failed)

    async def _read(self) -> None:
        stale = set(self._stale)
        try:
            library = await read_library(self._services)
            ids = (stale | set(self._wanted(library))) & library.by_id.keys()
            directives = self._services.rules.library.directives
            found = {rule_id: await directives(rule_id) for rule_id in ids}
            self._stale -= stale
            self.loaded.emit(library, found)
        finally:
            self._is_reading = False
            if self._again:
                self._again = False
                self.read_soon()

    def _on_failed(self, error: KmemError) -> bool:
        self.failed.emit(error)
        return True

    def _await_relations(self) -> None:
        """Contradictions are found in the background, and that publishes no change."""
        if not self._awaits_relations:
            self._awaits_relations = True
            self._tasks.run(self._read_when_settled())

    async def _read_when_settled(self) -> None:
        try:
            await self._services.rules.relations.settled()
        finally:
            self._awaits_relations = False
        self.read_soon()
