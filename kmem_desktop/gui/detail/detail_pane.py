"""The pane beside a list: shows one item, edits it in place, and shows what happened to it."""

from dataclasses import dataclass, replace

from PySide6.QtCore import Qt, QUrl, Signal
from PySide6.QtGui import QDesktopServices, QGuiApplication
from PySide6.QtWidgets import QStackedWidget, QVBoxLayout, QWidget

from kmem_desktop.bootstrap import Services
from kmem_desktop.domain.changes import HistoryEntry, Noun
from kmem_desktop.domain.found import Explanation
from kmem_desktop.domain.graph import EntityDetails
from kmem_desktop.domain.knowledge import KnowledgeItem
from kmem_desktop.domain.sessions.inbox import EntryLink
from kmem_desktop.errors import KmemError, NotFoundError
from kmem_desktop.events import Change
from kmem_desktop.gui.context import Context, undo_of
from kmem_desktop.gui.detail import deeds
from kmem_desktop.gui.detail.deeds import Deed
from kmem_desktop.gui.detail.editing import Editing
from kmem_desktop.gui.detail.entity_actions import EntityActions
from kmem_desktop.gui.detail.entity_view import EntityView
from kmem_desktop.gui.detail.history_view import HistoryView
from kmem_desktop.gui.detail.item_toolbar import ItemToolbar
from kmem_desktop.gui.detail.knowledge_view import KnowledgeView
from kmem_desktop.gui.detail.parts import PaneBar
from kmem_desktop.gui.found.directive_view import (
    FoundDirective,
    FoundDirectiveView,
    read_directive,
)
from kmem_desktop.gui.found.turn_view import FoundTurn, TurnView, read_turn
from kmem_desktop.gui.markdown import is_link
from kmem_desktop.gui.theme import Type
from kmem_desktop.gui.widgets.labels import Label
from kmem_desktop.gui.wording import quoted
from kmem_desktop.services.rules.explaining import severity_words

_DEEDS = {
    Noun.KNOWLEDGE: ("edit", "copy", "history", "forget", "keep_test"),
    Noun.ENTITY: ("edit", "copy", "history", "forget", "keep_test"),
    Noun.TURN: ("open", "copy", "keep_test"),
    Noun.DIRECTIVE: ("open", "copy"),
}
"""What can be done here with an item; the rest is done on the page of its own."""
_OPENS = {Noun.TURN: "Open the conversation", Noun.DIRECTIVE: "Open in Rules"}
_KEPT = "Search and assistants no longer find it. History keeps it, so it can be had back."


ItemView = KnowledgeView | EntityView | TurnView | FoundDirectiveView
Item = KnowledgeItem | EntityDetails | FoundTurn | FoundDirective


@dataclass(frozen=True, slots=True)
class Shown:
    """What the pane is asked to show."""

    noun: Noun
    id: int
    explanation: Explanation | None


class DetailPane(QWidget):
    """Shows, edits and forgets one item.

    Signals:
        saved: An item was stored or changed here (its id).
        closed: The pane is to be left for the list.
        mode_changed: Another of item, form and history is shown.
        other_expected: Something else was expected than the item that is shown.
        test_wanted: The question must find the item that is shown.
    """

    saved = Signal(int)
    closed = Signal()
    mode_changed = Signal()
    other_expected = Signal()
    test_wanted = Signal()

    def __init__(self, context: Context, parent: QWidget | None = None) -> None:
        """Start with nothing to show."""
        super().__init__(parent)
        self._context = context
        self._topic = f"detail {id(self)}"
        self.shown: Shown | None = None
        self.toolbar = ItemToolbar()
        self.knowledge_view = KnowledgeView()
        self.entity_view = EntityView()
        self.turn_view = TurnView()
        self.directive_view = FoundDirectiveView()
        self._entity_actions = EntityActions(context, self.entity_view)
        self.history_view = HistoryView()
        self.editing = Editing(context)
        self._empty = Label("", Type.BODY, "ink3")
        self._empty.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._views = QStackedWidget()
        for view in (self.knowledge_view, self.entity_view, self.turn_view, self.directive_view):
            self._views.addWidget(view)
        self._item = self._build_item()
        self._modes = QStackedWidget(self)
        for mode in (self._empty, self._item, self.editing, self.history_view):
            self._modes.addWidget(mode)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(self._modes)
        self._connect()

    def _build_item(self) -> QWidget:
        page = QWidget()
        column = QVBoxLayout(page)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        bar = PaneBar()
        bar.line.addWidget(self.toolbar)
        column.addWidget(bar)
        column.addWidget(self._views, 1)
        return page

    def _connect(self) -> None:
        self.toolbar.open_wanted.connect(self.open_elsewhere)
        self.toolbar.edit_wanted.connect(self.edit)
        self.toolbar.copy_wanted.connect(self.copy)
        self.toolbar.history_wanted.connect(self.show_history)
        self.toolbar.forget_wanted.connect(self.forget)
        self.toolbar.back_wanted.connect(self.closed)
        shell = self._context.shell
        self.knowledge_view.tag_wanted.connect(lambda tag: shell.search_for(f"tag:{tag} "))
        self.knowledge_view.entry_wanted.connect(self._on_entry)
        self.entity_view.entity_wanted.connect(shell.open_entity_named)
        directive = self.directive_view
        directive.directive_wanted.connect(lambda other: shell.open_item(Noun.DIRECTIVE, other))
        directive.document_wanted.connect(lambda _rule_id: self.open_elsewhere())
        directive.file_version_wanted.connect(lambda _rule_id: self.open_elsewhere())
        directive.topic_wanted.connect(shell.search_for)
        for view in (self.knowledge_view, self.entity_view, self.turn_view, directive):
            view.link_wanted.connect(self._on_link)
            view.why.other_expected.connect(self.other_expected)
            view.why.test_wanted.connect(self.test_wanted)
        self.history_view.undo_wanted.connect(shell.undo_change)
        self.history_view.closed.connect(self.leave_history)
        self.editing.finished.connect(self._on_edited)
        self.editing.duplicate_wanted.connect(self._on_duplicate_wanted)

    @property
    def is_editing(self) -> bool:
        """Whether a form is open."""
        return self._modes.currentWidget() is self.editing

    @property
    def shows_history(self) -> bool:
        """Whether the history of an item is open."""
        return self._modes.currentWidget() is self.history_view

    @property
    def has_item(self) -> bool:
        """Whether an item is shown that can be acted on."""
        return self._modes.currentWidget() is self._item

    def offers(self, deed: str) -> bool:
        """Return whether an item is shown with which this can be done here."""
        return self.has_item and self.shown is not None and deed in _DEEDS[self.shown.noun]

    def show_item(self, noun: Noun, item_id: int, explanation: Explanation | None = None) -> None:
        """Show an item; a form with something to lose stays open instead."""
        self.shown = Shown(noun, item_id, explanation)
        if not (self.is_editing and self.editing.has_something_to_lose()):
            self._load()

    def explain(self, item_id: int, explanation: Explanation | None) -> None:
        """Say why the item that is shown was found, now that something else was asked."""
        if self.shown is None or self.shown.id != item_id:
            return
        self.shown = replace(self.shown, explanation=explanation)
        if self.has_item and (item := self._current()) is not None and item.id == item_id:
            self._item_view().why.show_explanation(explanation)

    def show_nothing(self, words: str = "") -> None:
        """Show that nothing is selected."""
        self.shown = None
        self._context.tasks.drop(self._topic)
        self._empty.setText(words)
        if not self.is_editing:
            self._set_mode(self._empty)

    def take_change(self, change: Change) -> None:
        """Read the item again if it may have changed."""
        if self.shown is None or self.is_editing:
            return
        related = change.noun is Noun.RELATION and self.shown.noun is Noun.ENTITY
        if related or not change.ids or self.shown.id in change.ids:
            if self.shows_history:
                self.show_history()
            else:
                self._load()

    def reload(self) -> None:
        """Read the item again, unless it is being edited or its history is open."""
        if self.has_item:
            self._load()

    def focus_item(self) -> None:
        """Put the keyboard on the item, which it scrolls then."""
        if self.has_item:
            self._item_view().setFocus()

    def new_knowledge(self, title: str = "") -> None:
        """Open an empty form for knowledge."""
        self.editing.new_knowledge(title)
        self._set_mode(self.editing)
        self.editing.focus_first()

    def new_entity(self) -> None:
        """Open an empty form for an entity."""
        self.editing.new_entity()
        self._set_mode(self.editing)
        self.editing.focus_first()

    def open_elsewhere(self) -> None:
        """Open the item on the page of its own."""
        if self.offers("open") and self.shown is not None:
            self._context.shell.open_item(self.shown.noun, self.shown.id)

    def edit(self) -> None:
        """Open the form for the item that is shown."""
        item = self._current()
        if not isinstance(item, KnowledgeItem | EntityDetails):
            return
        self.editing.edit(item)
        self._set_mode(self.editing)
        self.editing.focus_first()

    def save(self) -> None:
        """Save what is typed into the form."""
        self.editing.save()

    def copy(self) -> None:
        """Put the item's text on the clipboard."""
        item = self._current()
        if item is None:
            return
        title, text = as_text(item)
        QGuiApplication.clipboard().setText(text)
        self._context.shell.say(f"Copied {quoted(title)}.")

    def show_history(self) -> None:
        """Show what happened to the item."""
        item = self._current()
        if not isinstance(item, KnowledgeItem | EntityDetails):
            return
        title = as_text(item)[0]

        def show(entries: list[HistoryEntry]) -> None:
            self.history_view.show_entries(title, entries)
            self._set_mode(self.history_view)

        entries = self._context.services.history.of_item(item.uuid)
        self._context.tasks.run(entries, show, topic=self._topic)

    def leave_history(self) -> None:
        """Go back from the history to the item."""
        self._load()

    def forget(self) -> None:
        """Take the item out of the memory, and say how to have it back."""
        item = self._current()
        if not isinstance(item, KnowledgeItem | EntityDetails):
            return
        services = self._context.services
        deed = (
            deeds.forget_knowledge(services, item)
            if isinstance(item, KnowledgeItem)
            else deeds.forget_entity(services, item)
        )
        shell = self._context.shell

        def done(deed: Deed) -> None:
            words = f"Forgotten: {quoted(deed.title)}. {_KEPT}"
            shell.say(words, undo_of(shell, deed.change_id))

        self._context.tasks.run(deed, done)

    def _item_view(self) -> ItemView:
        noun = self.shown.noun if self.shown is not None else Noun.KNOWLEDGE
        views: dict[Noun, ItemView] = {
            Noun.KNOWLEDGE: self.knowledge_view,
            Noun.TURN: self.turn_view,
            Noun.DIRECTIVE: self.directive_view,
        }
        return views.get(noun, self.entity_view)

    def _current(self) -> Item | None:
        view = self._item_view() if self.shown is not None else None
        if view is None:
            return None
        return view.details if isinstance(view, EntityView) else view.item

    def _load(self) -> None:
        shown = self.shown
        if shown is None:
            self.show_nothing()
            self._set_mode(self._empty)
            return
        read = read_item(self._context.services, shown.noun, shown.id)
        self._context.tasks.run(
            read, self._show_loaded, failed=self._on_load_failed, topic=self._topic
        )

    def _show_loaded(self, item: Item) -> None:
        explanation = self.shown.explanation if self.shown else None
        if isinstance(item, KnowledgeItem):
            self._show_knowledge(item, explanation)
        elif isinstance(item, EntityDetails):
            self.entity_view.show_entity(item, explanation)
        elif isinstance(item, FoundTurn):
            self.turn_view.show_turn(item, explanation)
        else:
            self.directive_view.show_found(item, explanation)
        view = self._item_view()
        noun = self.shown.noun if self.shown is not None else Noun.KNOWLEDGE
        is_other = self._views.currentWidget() is not view
        self._views.setCurrentWidget(view)
        self.toolbar.offer(*_DEEDS[noun], opens=_OPENS.get(noun, "Open"))
        self._set_mode(self._item)
        if is_other:
            self.mode_changed.emit()

    def _show_knowledge(self, item: KnowledgeItem, explanation: Explanation | None) -> None:
        self.knowledge_view.show_item(item, explanation)
        links = self._context.services.entry_relations.relations_of([item.id])
        self._context.tasks.run(
            links, self.knowledge_view.show_links, topic=f"relations {id(self)}"
        )

    def _on_load_failed(self, error: KmemError) -> bool:
        if isinstance(error, NotFoundError):
            self.show_nothing("This is no longer there.")
            return True
        return False

    def _set_mode(self, mode: QWidget) -> None:
        if self._modes.currentWidget() is not mode:
            self._modes.setCurrentWidget(mode)
            self.mode_changed.emit()

    def _on_edited(self, noun: Noun | None, item_id: int) -> None:
        if noun is not None:
            self.shown = Shown(noun, item_id, None)
            self._load()
            self.saved.emit(item_id)
        else:
            self._load()

    def _on_duplicate_wanted(self, noun: Noun, item_id: int) -> None:
        self.shown = Shown(noun, item_id, None)
        self._load()

    def _on_entry(self, link: EntryLink) -> None:
        if link.session_uuid:
            self._context.shell.open_session(link.session_uuid, link.position)
        else:
            self._context.shell.open_item(Noun.KNOWLEDGE, link.other_id)

    def _on_link(self, address: str) -> None:
        if is_link(address):
            self._context.shell.ask(
                f"Open {address} in the browser?",
                "Open",
                lambda: QDesktopServices.openUrl(QUrl(address)),
            )


async def read_item(services: Services, noun: Noun, item_id: int) -> Item:
    """Return an item of any noun.

    Raises:
        NotFoundError: It is no longer there.
    """
    if noun is Noun.KNOWLEDGE:
        return await services.knowledge.get(item_id)
    if noun is Noun.TURN:
        return await read_turn(services, item_id)
    if noun is Noun.DIRECTIVE:
        return await read_directive(services, item_id)
    return await services.graph.details(item_id)


def as_text(item: Item) -> tuple[str, str]:
    """Return an item's title, and all of it as plain text."""
    if isinstance(item, KnowledgeItem):
        return item.title, f"{item.title}\n\n{item.content}"
    if isinstance(item, FoundTurn):
        return item.place.session_title, item.turn.text
    if isinstance(item, FoundDirective):
        directive = item.stored.directive
        return directive.text, f"{severity_words(directive)} {directive.text}"
    entity = item.entity
    lines = [
        f"{entity.name} ({entity.entity_type})",
        *(f"- {text}" for text in entity.observations),
    ]
    lines += [f"{r.from_name} {r.relation_type} {r.to_name}" for r in item.relations]
    return entity.name, "\n".join(lines)
