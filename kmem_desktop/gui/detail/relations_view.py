"""How an item relates to others: what it replaces, what replaced it, what it builds on."""

from collections.abc import Sequence

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QFontMetricsF, QResizeEvent
from PySide6.QtWidgets import QGridLayout, QWidget

from kmem_desktop.domain.sessions.conversations import EntryRelation
from kmem_desktop.domain.sessions.inbox import EntryLink
from kmem_desktop.gui.appearance import appearance, theme
from kmem_desktop.gui.theme import Type
from kmem_desktop.gui.widgets.controls import Button, Look
from kmem_desktop.gui.widgets.labels import Card, Label
from kmem_desktop.gui.wording import quoted, when

SHOWN = 12
_TITLE = 52
_FORWARD = {
    EntryRelation.SUPERSEDES: "Supersedes",
    EntryRelation.CONTRADICTS: "Contradicts",
    EntryRelation.IMPLEMENTS: "Implements",
    EntryRelation.BUILDS_ON: "Builds on",
    EntryRelation.REFERENCES: "References",
}
_BACKWARD = {
    EntryRelation.SUPERSEDES: "Superseded by",
    EntryRelation.CONTRADICTS: "Contradicted by",
    EntryRelation.IMPLEMENTS: "Implemented by",
    EntryRelation.BUILDS_ON: "Built on by",
    EntryRelation.REFERENCES: "Referenced by",
}
_DOUBTS = (EntryRelation.SUPERSEDES, EntryRelation.CONTRADICTS)


def relation_words(link: EntryLink) -> str:
    """Return how the shown item relates to the other one."""
    return (_FORWARD if link.is_outgoing else _BACKWARD)[link.relation]


def doubts(links: Sequence[EntryLink]) -> list[str]:
    """Return why the shown item may no longer hold, in sentences."""
    return [
        f"{relation_words(link)} {quoted(link.title, _TITLE)}, {when(link.at)}."
        for link in links
        if not link.is_outgoing and link.relation in _DOUBTS
    ]


class EntryButton(Button):
    """A link to an entry, whose title is cut where there is little width."""

    def __init__(self, title: str, parent: QWidget | None = None) -> None:
        """Name the entry."""
        super().__init__(title, look=Look.LINK, parent=parent)
        self.title = title

    def sizeHint(self) -> QSize:
        width = QFontMetricsF(theme().font(Type.BODY)).horizontalAdvance(self.title)
        return QSize(round(width + 1), super().minimumSizeHint().height())

    def minimumSizeHint(self) -> QSize:
        return QSize(theme().px(60), super().minimumSizeHint().height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        metrics = QFontMetricsF(theme().font(Type.BODY))
        self.setText(metrics.elidedText(self.title, Qt.TextElideMode.ElideRight, self.width()))


class RelationsCard(Card):
    """The relations of an item, each with a link to the other end; hidden where there is none.

    Signals:
        entry_wanted: The other end is to be opened (an EntryLink).
    """

    entry_wanted = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        """Start hidden."""
        super().__init__("Related", parent)
        self.links: tuple[EntryLink, ...] = ()
        self._grid = QGridLayout()
        self._grid.setVerticalSpacing(0)
        self._grid.setColumnStretch(1, 1)
        self._shown: list[QWidget] = []
        self._more = Label("", Type.META, "ink3")
        self.body.addLayout(self._grid)
        self.body.addWidget(self._more)
        appearance().changed.connect(self._space)
        self._space()
        self.hide()

    def show_links(self, links: Sequence[EntryLink]) -> None:
        """Show the relations of an item, what speaks against it first."""
        if tuple(links) == self.links:
            return
        self.links = tuple(links)
        for old in self._shown:
            old.deleteLater()
        self._shown = []
        ordered = sorted(links, key=lambda link: (link.is_outgoing, -link.strength))
        for line, link in enumerate(ordered[:SHOWN]):
            words = Label(relation_words(link), Type.META, "ink3")
            button = EntryButton(quoted(link.title, _TITLE))
            seen = f"Seen by: {link.words}" if link.words else "Told when it was stored"
            button.setToolTip(f"{link.text}\n{seen}, {when(link.at)}")
            button.setAccessibleName(f"{words.text()} {link.title}")
            button.clicked.connect(lambda _=False, link=link: self.entry_wanted.emit(link))
            self._grid.addWidget(words, line, 0)
            self._grid.addWidget(button, line, 1)
            self._shown += [words, button]
        rest = len(ordered) - SHOWN
        self._more.setText(f"And {rest} more." if rest > 0 else "")
        self._more.setVisible(rest > 0)
        self.setVisible(bool(links))

    def _space(self) -> None:
        self._grid.setHorizontalSpacing(theme().px(14))
