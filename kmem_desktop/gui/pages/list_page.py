"""A page with a search field, a list and the detail of what is selected in it."""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHBoxLayout, QStackedWidget, QVBoxLayout, QWidget

from kmem_desktop.domain.changes import Noun
from kmem_desktop.events import Change
from kmem_desktop.gui.appearance import appearance, theme
from kmem_desktop.gui.context import Context
from kmem_desktop.gui.detail.detail_pane import DetailPane
from kmem_desktop.gui.lists.list_loader import ListLoader
from kmem_desktop.gui.lists.row_delegate import Density
from kmem_desktop.gui.lists.row_list_view import RowListView
from kmem_desktop.gui.lists.row_table_model import RowTableModel
from kmem_desktop.gui.pages.answer_foot import AnswerFoot
from kmem_desktop.gui.pages.columns import Columns
from kmem_desktop.gui.pages.page import Page
from kmem_desktop.gui.theme import Type
from kmem_desktop.gui.widgets.controls import Button, Look
from kmem_desktop.gui.widgets.empty import EmptyState
from kmem_desktop.gui.widgets.labels import Hairline, KeyHint, Label
from kmem_desktop.gui.widgets.search_field import SearchField
from kmem_desktop.gui.wording import counted
from kmem_desktop.services.listing import EVERYTHING, View

NOUN_PLACES = {
    Noun.KNOWLEDGE: "Knowledge",
    Noun.ENTITY: "Graph",
    Noun.TURN: "Sessions",
    Noun.DIRECTIVE: "Rules",
}
ELSEWHERE = (Noun.TURN, Noun.DIRECTIVE)
"""What is opened on a page of its own."""


class ListPage(Page):
    """The common ground of Search, Knowledge and Graph."""

    def __init__(
        self,
        context: Context,
        nouns: tuple[Noun, ...],
        invitation: str,
        density: Density = Density.FULL,
        parent: QWidget | None = None,
    ) -> None:
        """Lay out the page; the field invites with `invitation`."""
        super().__init__(context, parent)
        self.nouns = nouns
        self._wanted: tuple[Noun, int] | None = None
        self._unread: int | None = None
        self._focus_later = False
        self._has_asked = False
        self._is_stale = False
        self.field = SearchField(invitation, large=len(nouns) > 1)
        self.model = RowTableModel()
        self.list = RowListView(self.model, invitation, density)
        self.loader = ListLoader(context.services.listing, context.tasks, self.list)
        self.detail: DetailPane = DetailPane(context)
        self.empty = EmptyState()
        self.sort_name = Label("Last changed", Type.META, "ink2")
        self._hints = QWidget()
        self.foot = AnswerFoot()
        self._stack = QStackedWidget()
        self._waiting = QWidget()
        for page in (self._waiting, self.list, self.empty):
            self._stack.addWidget(page)
        self.columns = Columns(self._build_list_column(), self.detail)
        self._connect()

    def _build_list_column(self) -> QWidget:
        column = QWidget()
        column.setProperty("surface", "panel")
        column.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        hints = QHBoxLayout(self._hints)
        hints.setContentsMargins(0, 0, 0, 0)
        hints.setSpacing(10)
        hints.addWidget(KeyHint(("↑", "↓"), "browse"))
        hints.addWidget(KeyHint(("Ctrl K",), "everything else"))
        self._list_head = QHBoxLayout()
        self._list_head.addWidget(self.sort_name)
        self._list_head.addStretch(1)
        self._list_head.addWidget(self._hints)
        layout = QVBoxLayout(column)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addLayout(self._list_head)
        layout.addWidget(Hairline())
        layout.addWidget(self._stack, 1)
        layout.addWidget(self.foot)
        appearance().changed.connect(self._on_appearance_changed)
        self._on_appearance_changed()
        return column

    def _on_appearance_changed(self) -> None:
        look = theme()
        self._list_head.setContentsMargins(look.px(20), look.px(7), look.px(20), look.px(7))

    def _connect(self) -> None:
        self.field.asked.connect(self.ask)
        self.field.moved.connect(self.list.move)
        self.field.entered.connect(self._on_entered)
        self.field.left.connect(self.list.setFocus)
        self.list.current_changed.connect(self._on_current_changed)
        self.list.chosen.connect(self._on_chosen)
        self.loader.loaded.connect(self._on_loaded)
        self.model.dataChanged.connect(self._on_rows_read)
        self.foot.other_expected.connect(self.ask_why_not)
        self.foot.tests_wanted.connect(lambda: self.context.shell.show_page("tests"))
        self.detail.other_expected.connect(self.ask_why_not)
        self.detail.test_wanted.connect(self.keep_as_test)
        self.detail.saved.connect(self._on_saved)
        self.detail.closed.connect(self.leave_detail)
        self.detail.mode_changed.connect(self.context.shell.update_actions)

    def shown_nouns(self) -> tuple[Noun, ...]:
        """Return what the list is limited to at the moment."""
        return self.nouns

    def ask(self, text: str | None = None) -> None:
        """Ask for what stands in the field."""
        self._has_asked = True
        self.loader.ask(self.field.edit.text() if text is None else text, self.shown_nouns())

    def open_item(self, noun: Noun, item_id: int) -> None:
        """Show an item, selecting it where the list has it."""
        if self.loader.everything is None:
            self._wanted = (noun, item_id)
        else:
            self._select_or_show(noun, item_id)
        self.columns.open_right(True)
        self.context.shell.update_actions()

    def _select_or_show(self, noun: Noun, item_id: int) -> None:
        if not self.list.select_id(item_id):
            self.list.select_id(None, quietly=True)
            self.detail.show_item(noun, item_id)
        elif (row := self.model.row_of(item_id)) is not None:
            self.list.scrollTo(self.model.index(row, 0))

    def activate(self) -> None:
        if not self._has_asked:
            self.ask()
        elif self._is_stale:
            self.loader.refresh()
            self.detail.reload()
        self._is_stale = False

    def take_change(self, change: Change) -> None:
        if self.isVisible():
            self.loader.refresh()
            self.detail.take_change(change)
        else:
            self._is_stale = True

    @property
    def has_question(self) -> bool:
        return bool(self.field.edit.text().strip())

    def ask_why_not(self) -> None:
        if self.has_question:
            view = View(self.field.edit.text(), self.shown_nouns())
            self.context.shell.ask_why_not(view)

    def keep_as_test(self) -> None:
        if self.has_question and self.detail.offers("keep_test") and self.detail.shown is not None:
            question = self.field.edit.text().strip()
            self.context.shell.keep_as_test(question, self.detail.shown.id)

    def focus_search(self) -> bool:
        self.field.edit.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.field.edit.selectAll()
        return True

    def focus_columns(self) -> list[QWidget]:
        return [self.field.edit, self.list, self.detail]

    def go_back(self) -> bool:
        if self.detail.is_editing:
            self.detail.editing.cancel()
        elif self.detail.shows_history:
            self.detail.leave_history()
        elif self.columns.right_covers:
            self.leave_detail()
        elif self.field.edit.text():
            self.field.edit.clear()
            self.field.edit.setFocus()
        elif not self.list.hasFocus() and self._stack.currentWidget() is self.list:
            self.list.setFocus()
        else:
            return False
        return True

    def leave_detail(self) -> None:
        """Go back from the detail to the list."""
        self.columns.open_right(False)
        self.list.setFocus()

    def set_narrow(self, narrow: bool) -> None:  # noqa: FBT001 - as in the base
        self.columns.set_narrow(narrow)
        self.detail.toolbar.back.setVisible(narrow)
        self._hints.setVisible(not narrow)

    def new_knowledge(self, title: str = "") -> None:
        """Open an empty form for knowledge in the detail pane."""
        self.columns.open_right(True)
        self.detail.new_knowledge(title)

    def new_entity(self) -> None:
        """Open an empty form for an entity in the detail pane."""
        self.columns.open_right(True)
        self.detail.new_entity()

    def _on_entered(self) -> None:
        self.list.setFocus()
        self.list.choose_current()

    def _on_chosen(self, item_id: int) -> None:
        row = self.model.row_of(item_id)
        text = None if row is None else self.model.row_at(row)
        if text is not None and text.noun in ELSEWHERE:
            self.context.shell.open_item(text.noun, item_id)
            return
        self.columns.open_right(True)
        self.detail.focus_item()

    def _on_current_changed(self, item_id: int) -> None:
        row = self.model.row_of(item_id) if item_id else None
        if row is None:
            self.detail.show_nothing()
            return
        text = self.model.row_at(row)
        self._unread = item_id if text is None else None
        if text is not None:
            self.detail.show_item(text.noun, item_id, text.explanation)

    def _on_rows_read(self) -> None:
        if self._unread is not None:
            self._on_current_changed(self.list.current_id() or 0)

    def _on_saved(self, item_id: int) -> None:
        if self.detail.shown is not None:
            self._wanted = (self.detail.shown.noun, item_id)
        self._focus_later = True
        self.loader.refresh()

    def _on_loaded(self) -> None:
        listing = self.model.listing
        order = "Best match" if listing.scores else "Last changed"
        self.sort_name.setText(order if len(listing.ids) else "")
        self.foot.setVisible(bool(listing.view.text.strip()))
        if self._wanted is not None:
            wanted, self._wanted = self._wanted, None
            self._select_or_show(*wanted)
        self._explain_current()
        if len(listing.ids):
            self._stack.setCurrentWidget(self.list)
            if self._focus_later:
                self._focus_list_or_item()
        else:
            self._show_empty()
        self._focus_later = False
        self.context.shell.update_actions()

    def _focus_list_or_item(self) -> None:
        # A list without a current row makes the first one current when it gets the keyboard.
        if self.list.current_id() is not None:
            self.list.setFocus()
        else:
            self.detail.focus_item()

    def _explain_current(self) -> None:
        """Keep the reason in step with the question where the same row stays selected."""
        row = self.model.row_at(self.list.currentIndex().row())
        if row is not None:
            self.detail.explain(row.id, row.explanation)

    def _show_empty(self) -> None:
        if not self.detail.is_editing:
            self.detail.show_nothing()
        text = self.field.edit.text().strip()
        everything = self.loader.everything
        elsewhere = len(everything.ids) if everything else 0
        if not text and not elsewhere:
            self.empty.set_words(*self.first_words(), *self.first_buttons())
        elif elsewhere:
            self._offer_to_widen(text, elsewhere)
        else:
            new = Button("Store it as knowledge", key="Ctrl N")
            new.clicked.connect(lambda: self.new_knowledge(text))
            words = "Other words, or fewer of them, may find it. tag: and scope: narrow a search."
            self.empty.set_words(f"Nothing has “{text[:60]}”", words, new)
        self._stack.setCurrentWidget(self.empty)

    def show_empty(self, title: str, words: str, *buttons: Button) -> None:
        """Say why there are no rows, and what can be done about it."""
        self.empty.set_words(title, words, *buttons)
        self._stack.setCurrentWidget(self.empty)

    def _offer_to_widen(self, text: str, elsewhere: int) -> None:
        noun = self.shown_nouns()[0]
        place = NOUN_PLACES[noun] if len(self.shown_nouns()) == 1 else "here"
        wide = Button("Search everything", key="Alt A")
        wide.clicked.connect(self.widen)
        title = f"0 in {place}, {elsewhere:,} in Everything"
        if not text:
            words = f"Nothing is stored in {place} yet. The rest of the memory is in Everything."
            self.empty.set_words(title, words, wide, *self.first_buttons()[:1])
        else:
            words = f"“{text[:60]}” is found in {counted(elsewhere, 'place')} outside of {place}."
            self.empty.set_words(title, words, wide)

    def widen(self) -> bool:
        if self.shown_nouns() == EVERYTHING:
            return False
        self.context.shell.search_for(self.field.edit.text())
        return True

    def first_words(self) -> tuple[str, str]:
        """Return title and sentence for a memory that is empty."""
        return (
            "Nothing is remembered yet",
            "Connect an assistant and it stores what it learns here; or write the first piece"
            " yourself, or bring in conversations and memories of other programs.",
        )

    def first_buttons(self) -> list[Button]:
        """Return what can be done about an empty memory."""
        shell = self.context.shell
        connect = Button("Connect an assistant", look=Look.PRIMARY)
        connect.clicked.connect(lambda: shell.show_page("connections"))
        new = Button("New knowledge", key="Ctrl N")
        new.clicked.connect(lambda: self.new_knowledge())
        bring = Button("Import…")
        bring.clicked.connect(shell.choose_import)
        return [connect, new, bring]
