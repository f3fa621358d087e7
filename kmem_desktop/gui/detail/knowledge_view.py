"""One piece of knowledge: its text first, then the facts about it."""

from collections.abc import Sequence

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from kmem_desktop.domain.found import Explanation
from kmem_desktop.domain.knowledge import KnowledgeItem
from kmem_desktop.domain.sessions.inbox import EntryLink
from kmem_desktop.gui.detail.parts import CutText, ScrolledColumn, WhyCard
from kmem_desktop.gui.detail.relations_view import RelationsCard, doubts
from kmem_desktop.gui.theme import Type
from kmem_desktop.gui.widgets.controls import TagButton
from kmem_desktop.gui.widgets.flow_layout import FlowLayout
from kmem_desktop.gui.widgets.labels import Label
from kmem_desktop.gui.wording import by_whom, capitalised, exactly, scope_name, when


class KnowledgeView(ScrolledColumn):
    """Shows an item.

    Signals:
        tag_wanted: A tag was clicked.
        link_wanted: A link in the text was clicked.
        entry_wanted: What it relates to is to be opened (an EntryLink).
    """

    tag_wanted = Signal(str)
    link_wanted = Signal(str)
    entry_wanted = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        """Start without an item."""
        super().__init__("Knowledge", parent=parent)
        self.item: KnowledgeItem | None = None
        self._title = Label("", Type.TITLE, wrap=True).allow_selection()
        self.doubt = Label("", Type.BODY_STRONG, "warn", wrap=True)
        self.doubt.setContentsMargins(0, 0, 0, 8)
        self.doubt.hide()
        self._text = CutText("Content")
        self._text.view.link_wanted.connect(self.link_wanted)
        self._facts = Label("", Type.META, "ink3", wrap=True)
        self._tags = QWidget()
        self._tag_flow = FlowLayout(self._tags)
        self.relations = RelationsCard()
        self.relations.entry_wanted.connect(self.entry_wanted)
        self.why = WhyCard()
        self.column.addWidget(self._title)
        self.column.addSpacing(8)
        self.column.addWidget(self.doubt)
        self.column.addWidget(self._text)
        self.column.addSpacing(10)
        self.column.addWidget(self._facts)
        self.column.addSpacing(10)
        self.column.addWidget(self._tags)
        self.column.addSpacing(14)
        self.column.addWidget(self.relations)
        self.column.addSpacing(12)
        self.column.addWidget(self.why)

    def show_item(self, item: KnowledgeItem, explanation: Explanation | None) -> None:
        """Show an item, and why it was found."""
        again = self.item is not None and self.item.id == item.id
        if self.item != item:
            self._title.setText(item.title)
            self._text.set_markdown(item.content)
            self._set_tags(item.tags)
        self.item = item
        self._facts.setText(facts(item))
        self._facts.setToolTip(
            f"Stored {exactly(item.created_at)}\nChanged {exactly(item.updated_at)}"
        )
        self.why.show_explanation(explanation)
        if not again:
            self.show_links(())
            self.verticalScrollBar().setValue(0)

    def show_links(self, links: Sequence[EntryLink]) -> None:
        """Show how the item relates to others; above its text, why it may no longer hold."""
        sentences = doubts(links)
        self.doubt.setText("\n".join(sentences))
        self.doubt.setVisible(bool(sentences))
        self.relations.show_links(links)

    def _set_tags(self, tags: tuple[str, ...]) -> None:
        while item := self._tag_flow.takeAt(0):
            if (old := item.widget()) is not None:
                old.deleteLater()
        for tag in tags:
            button = TagButton(tag, self._tags)
            button.clicked.connect(lambda _=False, tag=tag: self.tag_wanted.emit(tag))
            self._tag_flow.addWidget(button)
            button.show()
        self._tags.updateGeometry()


def facts(item: KnowledgeItem) -> str:
    """Return what is known about an item, in sentences."""
    where = "everywhere" if item.scope == "global" else f"in {scope_name(item.scope)}"
    text = (
        f"{capitalised(item.category.value)}, priority {item.priority},"
        f" confidence {item.confidence:g}, {where}."
        f" Stored {by_whom(item.stored_by)}, {when(item.created_at)}."
    )
    if item.source and item.source != "manual":
        text += f" Source: {item.source}."
    if item.updated_at != item.created_at:
        text += f" Changed {when(item.updated_at)}."
    return text
