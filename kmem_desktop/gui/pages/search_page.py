"""Home: search everything, as one types."""

from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from kmem_desktop.domain.changes import Noun
from kmem_desktop.gui.appearance import appearance, theme
from kmem_desktop.gui.context import Context
from kmem_desktop.gui.pages.list_page import EVERYTHING, ListPage
from kmem_desktop.gui.widgets.controls import Chip
from kmem_desktop.gui.widgets.labels import Hairline
from kmem_desktop.gui.wording import counted
from kmem_desktop.services.listing import MOST_RESULTS, Listing


class SearchPage(ListPage):
    """The search field over everything, narrowed by kind."""

    def __init__(self, context: Context, parent: QWidget | None = None) -> None:
        """Lay out the page."""
        super().__init__(context, EVERYTHING, "Search everything", parent=parent)
        self.chips = {
            EVERYTHING: Chip("Everything"),
            (Noun.KNOWLEDGE,): Chip("Knowledge"),
            (Noun.ENTITY,): Chip("Graph"),
        }
        self.chips[EVERYTHING].setChecked(True)
        chips = QHBoxLayout()
        chips.setSpacing(6)
        for nouns, chip in self.chips.items():
            chip.clicked.connect(lambda _=False, nouns=nouns: self._choose(nouns))
            chips.addWidget(chip)
        chips.addStretch(1)
        self._head = QVBoxLayout()
        self._head.addWidget(self.field)
        self._head.addLayout(chips)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addLayout(self._head)
        column.addWidget(Hairline())
        column.addWidget(self.columns, 1)
        appearance().changed.connect(self._space_head)
        self._space_head()

    def _space_head(self) -> None:
        look = theme()
        self._head.setContentsMargins(look.px(20), look.px(15), look.px(20), look.px(10))
        self._head.setSpacing(look.px(10))

    def shown_nouns(self) -> tuple[Noun, ...]:
        return next(nouns for nouns, chip in self.chips.items() if chip.isChecked())

    def widen(self) -> bool:
        if self.shown_nouns() == EVERYTHING:
            return False
        self.chips[EVERYTHING].setChecked(True)
        self.ask()
        return True

    def _choose(self, nouns: tuple[Noun, ...]) -> None:
        self.ask()

    def _on_loaded(self) -> None:
        super()._on_loaded()
        listing, everything = self.model.listing, self.loader.everything or self.model.listing
        more = "+" if is_cut(everything) else ""
        for nouns, name in (((Noun.KNOWLEDGE,), "Knowledge"), ((Noun.ENTITY,), "Graph")):
            count = everything.counts.get(nouns[0], 0)
            self.chips[nouns].set_words(f"{name} {count:,}{more if count else ''}")
        self.field.note.setText(result_note(listing))


def is_cut(listing: Listing) -> bool:
    """Return whether a search matched more than its list shows."""
    return bool(listing.scores) and len(listing.ids) >= MOST_RESULTS


def result_note(listing: Listing) -> str:
    """Return how much was found, and how fast."""
    milliseconds = max(1, round(listing.elapsed_ms))
    if not listing.view.text.strip():
        return counted(listing.total, "item")
    if is_cut(listing) or listing.total > len(listing.ids):
        return f"best {len(listing.ids):,} of {listing.total:,} in {milliseconds} ms"
    return f"{counted(len(listing.ids), 'result')} in {milliseconds} ms"
