"""Home: search everything, as one types."""

from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from kmem_desktop.domain.changes import Noun
from kmem_desktop.gui.appearance import appearance, theme
from kmem_desktop.gui.context import Context
from kmem_desktop.gui.pages.list_page import ELSEWHERE, NOUN_PLACES, ListPage
from kmem_desktop.gui.widgets.controls import Button, Chip
from kmem_desktop.gui.widgets.labels import Hairline
from kmem_desktop.gui.wording import counted
from kmem_desktop.services.listing import EVERYTHING, Listing

_CHIPS = (Noun.TURN, Noun.KNOWLEDGE, Noun.ENTITY, Noun.DIRECTIVE)
_HINTS = {
    Noun.TURN: (
        "What was said is found by its words",
        "Type a few that you remember. All conversations are on their own page.",
        "Show all sessions",
        "sessions",
    ),
    Noun.DIRECTIVE: (
        "A rule is found by its words",
        "Type a few of them. All rules, by project and file, are on their own page.",
        "Show all rules",
        "rules",
    ),
}
"""What is not listed unless something is asked: title, words, button and page."""


class SearchPage(ListPage):
    """The search field over everything, narrowed by kind."""

    def __init__(self, context: Context, parent: QWidget | None = None) -> None:
        """Lay out the page."""
        super().__init__(context, EVERYTHING, "Search everything", parent=parent)
        self.chips: dict[tuple[Noun, ...], Chip] = {
            EVERYTHING: Chip("Everything"),
            **{(noun,): Chip(NOUN_PLACES[noun]) for noun in _CHIPS},
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
        for noun in _CHIPS:
            count = everything.counts.get(noun)
            words = "" if count is None else f" {count:,}{more if count else ''}"
            self.chips[noun,].set_words(f"{NOUN_PLACES[noun]}{words}")
        self.field.note.setText(result_note(listing))

    def _show_empty(self) -> None:
        noun = self.shown_nouns()[0]
        if noun not in ELSEWHERE or self.has_question:
            super()._show_empty()
            return
        self.detail.show_nothing()
        title, words, all_of_them, page = _HINTS[noun]
        button = Button(all_of_them)
        button.clicked.connect(lambda: self.context.shell.show_page(page))
        self.show_empty(title, words, button)


def is_cut(listing: Listing) -> bool:
    """Return whether a search matched more than its list shows."""
    return bool(listing.scores) and listing.total > len(listing.ids)


def result_note(listing: Listing) -> str:
    """Return how much was found, and how fast."""
    milliseconds = max(1, round(listing.elapsed_ms))
    if not listing.total:
        return ""
    if not listing.view.text.strip():
        return counted(listing.total, "item")
    if is_cut(listing):
        return f"best {len(listing.ids):,} of {listing.total:,} in {milliseconds} ms"
    return f"{counted(len(listing.ids), 'result')} in {milliseconds} ms"
