"""Knowledge and Graph: one kind of thing each, last changed first, with a filter."""

from PySide6.QtGui import QAction
from PySide6.QtWidgets import QVBoxLayout, QWidget

from kmem_desktop.domain.changes import Noun
from kmem_desktop.gui.context import Context
from kmem_desktop.gui.lists.row_delegate import Density
from kmem_desktop.gui.pages.list_page import ListPage
from kmem_desktop.gui.pages.page import PageHead
from kmem_desktop.gui.widgets.controls import Button
from kmem_desktop.gui.wording import counted

_FIELD_WIDTH = 260


class NounPage(ListPage):
    """A list of one noun under a head with a filter and a button for a new one."""

    def __init__(
        self,
        context: Context,
        noun: Noun,
        title: str,
        new: Button,
        parent: QWidget | None = None,
    ) -> None:
        """Lay out the page."""
        density = Density.SHORT if noun is Noun.ENTITY else Density.FULL
        super().__init__(context, (noun,), f"Filter {title.lower()}", density, parent)
        self.head = PageHead(title, " ")
        self.field.setFixedWidth(_FIELD_WIDTH)
        self.field.note.hide()
        self.head.right.addWidget(self.field)
        self.head.right.addWidget(new)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.head)
        column.addWidget(self.columns, 1)

    def summary(self, count: int) -> str:
        """Return what the head says about so many rows."""
        return counted(count, "item")

    def _on_loaded(self) -> None:
        super()._on_loaded()
        listing = self.model.listing
        found = counted(len(listing.ids), "match", "matches")
        has_text = bool(listing.view.text.strip())
        self.head.set_words(found if has_text else self.summary(len(listing.ids)))


class KnowledgePage(NounPage):
    """All knowledge."""

    def __init__(self, context: Context, parent: QWidget | None = None) -> None:
        """Lay out the page."""
        new = Button("New knowledge", key="Ctrl N")
        super().__init__(context, Noun.KNOWLEDGE, "Knowledge", new, parent)
        new.clicked.connect(lambda: self.new_knowledge())

    def summary(self, count: int) -> str:
        return f"{counted(count, 'item')} that assistants find before they answer."


class GraphPage(NounPage):
    """All entities of the knowledge graph."""

    def __init__(self, context: Context, parent: QWidget | None = None) -> None:
        """Lay out the page."""
        new = Button("New entity", key="Ctrl ⇧ N")
        super().__init__(context, Noun.ENTITY, "Graph", new, parent)
        self.picture_button = Button("Picture", key="Ctrl G")
        self.picture_button.clicked.connect(self._show_picture)
        self.head.right.addWidget(self.picture_button)
        new.clicked.connect(lambda: self.new_entity())

    def _show_picture(self) -> None:
        action = self.window().findChild(QAction, "picture")
        if isinstance(action, QAction):  # the same as by its key, with what is selected
            action.trigger()

    def summary(self, count: int) -> str:
        return f"{counted(count, 'entity', 'entities')} with what is known about them."

    def first_buttons(self) -> list[Button]:
        connect, _, bring = super().first_buttons()
        new = Button("New entity", key="Ctrl ⇧ N")
        new.clicked.connect(lambda: self.new_entity())
        return [connect, new, bring]
