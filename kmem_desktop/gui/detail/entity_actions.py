"""What is done to an entity where it is shown: observations and relations come and go."""

from collections.abc import Callable, Coroutine
from typing import Any

from PySide6.QtCore import QObject

from kmem_desktop.domain.graph import Relation
from kmem_desktop.gui.context import Context, undo_of
from kmem_desktop.gui.detail import deeds
from kmem_desktop.gui.detail.deeds import Deed
from kmem_desktop.gui.detail.entity_view import EntityView
from kmem_desktop.gui.wording import quoted


class EntityActions(QObject):
    """Does what is wanted in an entity view, and says how to take it back."""

    def __init__(self, context: Context, view: EntityView) -> None:
        """Act on what `view` shows."""
        super().__init__(view)
        self._context = context
        self._view = view
        view.observation_added.connect(self._on_observation_added)
        view.observation_removed.connect(self._on_observation_removed)
        view.relation_added.connect(self._on_relation_added)
        view.relation_removed.connect(self._on_relation_removed)
        view.new_relation.names_wanted.connect(self._on_names_wanted)

    def _on_observation_added(self, text: str) -> None:
        if details := self._view.details:
            deed = deeds.add_observation(self._context.services, details, text)
            self._do(deed, lambda deed: f"Added an observation to {quoted(deed.title)}.")

    def _on_observation_removed(self, text: str) -> None:
        if details := self._view.details:
            deed = deeds.remove_observation(self._context.services, details, text)
            self._do(deed, lambda deed: f"Forgot an observation of {quoted(deed.title)}.")

    def _on_relation_added(self, relation: Relation) -> None:
        if details := self._view.details:
            deed = deeds.add_relation(self._context.services, details, relation)
            self._do(deed, lambda deed: _added_words(deed, relation))

    def _on_relation_removed(self, relation: Relation) -> None:
        if details := self._view.details:
            deed = deeds.remove_relation(self._context.services, details, relation)
            self._do(deed, lambda deed: f"Forgot a relation of {quoted(deed.title)}.")

    def _on_names_wanted(self, start: str) -> None:
        self._context.tasks.run(
            deeds.entity_names(self._context.services, start),
            self._view.new_relation.offer,
            topic=f"names {id(self)}",
        )

    def _do(self, deed: Coroutine[Any, Any, Deed], worded: Callable[[Deed], str]) -> None:
        shell = self._context.shell
        self._context.tasks.run(
            deed, lambda done: shell.say(worded(done), undo_of(shell, done.change_id))
        )


def _added_words(deed: Deed, relation: Relation) -> str:
    words = quoted(f"{relation.from_name} {relation.relation_type} {relation.to_name}", 80)
    return f"Added the relation {words}." if deed.change_id else f"{words} is there already."
