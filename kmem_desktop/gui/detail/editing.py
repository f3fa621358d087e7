"""The forms of the detail pane: opening, saving, leaving, and two people at one item."""

from collections.abc import Callable, Coroutine
from functools import cached_property
from typing import Any

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QStackedWidget, QWidget

from kmem_desktop.domain.changes import Noun
from kmem_desktop.domain.graph import EntityDetails
from kmem_desktop.domain.knowledge import KnowledgeDraft, KnowledgeItem
from kmem_desktop.errors import InvalidInputError, KmemError
from kmem_desktop.gui.context import Context, undo_of
from kmem_desktop.gui.detail import deeds
from kmem_desktop.gui.detail.deeds import Deed
from kmem_desktop.gui.detail.entity_form import EntityForm
from kmem_desktop.gui.detail.form_frame import LOSS_WORTH_ASKING, FormFrame
from kmem_desktop.gui.detail.knowledge_form import KnowledgeForm
from kmem_desktop.gui.wording import quoted


class Editing(QStackedWidget):
    """Holds the two forms and saves what is typed into them.

    Signals:
        finished: The form is done: noun and id of what was saved, or None and 0.
        duplicate_wanted: What is there already is to be shown: noun and id.
    """

    finished = Signal(object, int)
    duplicate_wanted = Signal(object, int)

    def __init__(self, context: Context, parent: QWidget | None = None) -> None:
        """Hold no form yet: each is built when it is first opened."""
        super().__init__(parent)
        self._context = context
        self._is_saving = False

    @cached_property
    def knowledge_form(self) -> KnowledgeForm:
        """The form for knowledge."""
        form = KnowledgeForm()
        self._add_form(form, Noun.KNOWLEDGE)
        form.keep_mine_wanted.connect(self._save_knowledge)
        form.take_theirs_wanted.connect(self._leave)
        return form

    @cached_property
    def entity_form(self) -> EntityForm:
        """The form for entities."""
        form = EntityForm()
        self._add_form(form, Noun.ENTITY)
        return form

    def _add_form(self, form: FormFrame, noun: Noun) -> None:
        self.addWidget(form)
        form.save_wanted.connect(self.save)
        form.cancel_wanted.connect(self.cancel)
        form.duplicate_wanted.connect(lambda item_id: self.duplicate_wanted.emit(noun, item_id))

    @property
    def form(self) -> KnowledgeForm | EntityForm:
        """The form that is open."""
        current = self.currentWidget()
        return current if isinstance(current, EntityForm) else self.knowledge_form

    def has_something_to_lose(self) -> bool:
        """Return whether leaving the form would lose more than a few characters."""
        return self.form.lost_characters() > LOSS_WORTH_ASKING

    def new_knowledge(self, title: str = "") -> None:
        """Open an empty form for knowledge."""
        self.knowledge_form.start_new(KnowledgeDraft("", "", ()), ())
        self.knowledge_form.fill_title(title)
        self.setCurrentWidget(self.knowledge_form)
        self._offer_scopes()

    def new_entity(self) -> None:
        """Open an empty form for an entity."""
        self.entity_form.start_new()
        self.setCurrentWidget(self.entity_form)

    def edit(self, item: KnowledgeItem | EntityDetails) -> None:
        """Open the form for what is there."""
        if isinstance(item, KnowledgeItem):
            self.knowledge_form.start_edit(item, ())
            self.setCurrentWidget(self.knowledge_form)
            self._offer_scopes()
        else:
            self.entity_form.start_edit(item)
            self.setCurrentWidget(self.entity_form)

    def focus_first(self) -> None:
        """Put the caret where writing begins."""
        self.form.focus_first()

    def save(self) -> None:
        """Save what is typed; where it is not valid, say so under each field."""
        if isinstance(self.form, EntityForm):
            self._save_entity()
        elif not self.knowledge_form.is_in_conflict():
            self._save_knowledge()

    def cancel(self) -> None:
        """Leave the form; ask first where much would be lost."""
        if self.has_something_to_lose():
            self._context.shell.ask("Leave without saving what you typed?", "Discard", self._leave)
        else:
            self._leave()

    def _leave(self) -> None:
        self.finished.emit(None, 0)

    def _offer_scopes(self) -> None:
        self._context.tasks.run(
            self._context.services.knowledge.scopes(),
            self.knowledge_form.set_scopes,
            topic=f"scopes {id(self)}",
        )

    def _save_knowledge(self) -> None:
        form, services = self.knowledge_form, self._context.services
        if form.item is None:
            self._run(
                deeds.store(services, form.draft()),
                lambda deed: self._on_saved(deed, Noun.KNOWLEDGE, f"Stored {quoted(deed.title)}."),
            )
            return
        item = form.item
        self._run(
            deeds.update(services, item, form.changes(), item.updated_at),
            lambda deed: self._on_saved(deed, Noun.KNOWLEDGE, f"Changed {quoted(deed.title)}."),
        )

    def _save_entity(self) -> None:
        form, services = self.entity_form, self._context.services
        if form.details is not None:
            self._run(
                deeds.set_type(services, form.details, form.entity().entity_type),
                lambda deed: self._on_saved(deed, Noun.ENTITY, f"Changed {quoted(deed.title)}."),
            )
            return

        def done(answer: tuple[Deed, bool]) -> None:
            deed, is_new = answer
            if is_new:
                self._on_saved(deed, Noun.ENTITY, f"Stored {quoted(deed.title)}.")
            else:
                form.show_taken(deed.item_id)

        self._run(deeds.create_entity(services, form.entity()), done)

    def _run(self, deed: Coroutine[Any, Any, Any], done: Callable[[Any], None]) -> None:
        if self._is_saving:
            deed.close()
            return
        self._is_saving = True

        async def once() -> Any:
            try:
                return await deed
            finally:
                self._is_saving = False

        self._context.tasks.run(once(), done, failed=self._on_failed)

    def _on_saved(self, deed: Deed, noun: Noun, words: str) -> None:
        if deed.change_id:
            self._context.shell.say(words, undo_of(self._context.shell, deed.change_id))
        self.finished.emit(noun, deed.item_id)

    def _on_failed(self, error: KmemError) -> bool:
        if not isinstance(error, InvalidInputError):
            return False
        if error.details.get("changedMeanwhile"):
            self._show_conflict()
        else:
            self.form.show_invalid(error)
        return True

    def _show_conflict(self) -> None:
        item = self.knowledge_form.item
        if item is None:
            return
        services, item_id, uuid = self._context.services, item.id, item.uuid

        async def theirs() -> tuple[KnowledgeItem, str]:
            changed = await services.knowledge.get(item_id)
            entries = await services.history.of_item(uuid)
            return changed, entries[0].origin.name if entries else "Somebody"

        self._context.tasks.run(theirs(), lambda answer: self.knowledge_form.show_conflict(*answer))
