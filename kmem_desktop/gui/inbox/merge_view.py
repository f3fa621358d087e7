"""Choosing the knowledge that a proposal is added to."""

from PySide6.QtCore import QTimer, Signal
from PySide6.QtWidgets import QStackedWidget, QVBoxLayout, QWidget

from kmem_desktop.domain.changes import Noun
from kmem_desktop.domain.sessions.inbox import Proposal
from kmem_desktop.gui.context import Context
from kmem_desktop.gui.detail.parts import PaneBar
from kmem_desktop.gui.lists.list_loader import ListLoader
from kmem_desktop.gui.lists.row_delegate import Density
from kmem_desktop.gui.lists.row_list_view import RowListView
from kmem_desktop.gui.lists.row_table_model import RowTableModel
from kmem_desktop.gui.theme import Type
from kmem_desktop.gui.widgets.controls import Button, Look
from kmem_desktop.gui.widgets.empty import EmptyState
from kmem_desktop.gui.widgets.labels import Hairline, Label
from kmem_desktop.gui.widgets.search_field import SearchField
from kmem_desktop.gui.wording import quoted


class MergeView(QWidget):
    """A field and the knowledge it finds; begins with the words of the proposal.

    Signals:
        chosen: This item is to be added to (its id).
        cancelled: Nothing is to be added.
    """

    chosen = Signal(int)
    cancelled = Signal()

    def __init__(self, context: Context, parent: QWidget | None = None) -> None:
        """Lay out field and list."""
        super().__init__(parent)
        self.proposal: Proposal | None = None
        self._words = Label("", Type.BODY, "ink2", wrap=True)
        self.field = SearchField("Words of the knowledge to add to", large=False)
        self.model = RowTableModel()
        self.list = RowListView(self.model, "Knowledge to add to", Density.SHORT)
        self.loader = ListLoader(context.services.listing, context.tasks, self.list)
        self._nothing = EmptyState()
        self._nothing.set_words("No knowledge has these words", "Other words may find it.")
        self._faces = QStackedWidget()
        for face in (QWidget(), self.list, self._nothing):
            self._faces.addWidget(face)
        self._add = Button("Add to this", key="\u21b5", look=Look.PRIMARY)
        self._cancel = Button("Cancel", key="Esc")
        bar = PaneBar()
        bar.line.addWidget(self._add)
        bar.line.addWidget(self._cancel)
        bar.line.addStretch(1)
        bar.line.addWidget(Label("Merging", Type.BODY, "ink3"))
        head = QVBoxLayout()
        head.setContentsMargins(22, 14, 22, 12)
        head.setSpacing(10)
        head.addWidget(self._words)
        head.addWidget(self.field)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(bar)
        column.addLayout(head)
        column.addWidget(Hairline())
        column.addWidget(self._faces, 1)
        self._connect()

    def _connect(self) -> None:
        self.field.asked.connect(lambda text: self.loader.ask(text, (Noun.KNOWLEDGE,)))
        self.field.moved.connect(self.list.move)
        self.field.entered.connect(self.list.choose_current)
        self.field.left.connect(self.cancelled)
        self.list.chosen.connect(self.chosen)
        self.loader.loaded.connect(self._on_loaded)
        self._add.clicked.connect(self.list.choose_current)
        self._cancel.clicked.connect(self.cancelled)

    def start(self, proposal: Proposal) -> None:
        """Let the knowledge be chosen that this is added to."""
        self.proposal = proposal
        self._words.setText(
            f"Which knowledge is {quoted(proposal.title, 80)} added to? Its title and tags stay;"
            " the text gets a paragraph."
        )
        self.field.edit.setText("")
        self.field.edit.setText(" ".join(proposal.title.split()[:6]))
        self.field.edit.selectAll()
        self.field.edit.setFocus()

    def _on_loaded(self) -> None:
        count = self.model.rowCount()
        self._faces.setCurrentWidget(self.list if count else self._nothing)
        self._add.setEnabled(bool(count))
        if count and not self.list.currentIndex().isValid():
            QTimer.singleShot(0, self, lambda: self.list.move(1))
