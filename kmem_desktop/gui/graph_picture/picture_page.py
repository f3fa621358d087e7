"""The page with the picture: the same dots as a list, the drawing, and what is chosen in it."""

from collections import Counter

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHBoxLayout, QListWidget, QListWidgetItem, QVBoxLayout, QWidget

from kmem_desktop.domain.changes import Noun
from kmem_desktop.domain.library.reports import PICTURE_LIMIT, Picture, PictureNode
from kmem_desktop.events import Change
from kmem_desktop.gui.appearance import appearance, theme
from kmem_desktop.gui.context import Context
from kmem_desktop.gui.detail.detail_pane import DetailPane
from kmem_desktop.gui.graph_picture.legend import Legend
from kmem_desktop.gui.graph_picture.picture_view import PictureView, plain_tip
from kmem_desktop.gui.pages.columns import Columns
from kmem_desktop.gui.pages.page import Page, PageHead
from kmem_desktop.gui.theme import BAR_PX
from kmem_desktop.gui.widgets.controls import Button
from kmem_desktop.gui.widgets.empty import EmptyState
from kmem_desktop.gui.widgets.labels import Hairline
from kmem_desktop.gui.wording import counted, quoted
from kmem_desktop.text import one_line

DEPTH = 2
LIMITS = (60, 150, PICTURE_LIMIT[1])
"""So many dots at first, and after each wish for more."""
_LIST_PX = 210
_NAME_LENGTH = 60

Center = tuple[Noun, int]


class PicturePage(Page):
    """A part of the graph as a picture.

    Attributes:
        view: The drawing.
        list: The same dots as a list, for the keyboard and for screen readers.
    """

    def __init__(self, context: Context, parent: QWidget | None = None) -> None:
        """Lay out the page."""
        super().__init__(context, parent)
        self._center: Center | None = None
        self._earlier: list[Center | None] = []
        self._limit = LIMITS[0]
        self._is_stale = True
        self._is_narrow = False
        self.head = PageHead("Picture of the graph", " ")
        self.back_button = Button("Back", key="Esc")
        self.whole_button = Button("Most connected")
        self.more_button = Button("Show more")
        self.view = PictureView()
        self.list = QListWidget()
        self.list.setAccessibleName("What the picture shows")
        self.list.setFrameShape(QListWidget.Shape.NoFrame)
        self.legend = Legend()
        self._nothing = self._build_nothing()
        self.detail: DetailPane = DetailPane(context)
        self.columns = Columns(self._build_left(), self.detail)
        for button in (self.back_button, self.whole_button, self.more_button):
            self.head.right.addWidget(button)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.head)
        column.addWidget(self.columns, 1)
        self._connect()

    def _build_nothing(self) -> EmptyState:
        nothing = EmptyState()
        new = Button("New entity", key="Ctrl ⇧ N")
        new.clicked.connect(self.context.shell.new_entity)
        nothing.set_words(
            "Nothing to draw yet",
            "There are no entities: assistants store what they learn, and you can add the first.",
            new,
        )
        nothing.hide()
        return nothing

    def _build_left(self) -> QWidget:
        left = QWidget()
        left.setProperty("surface", "panel")
        left.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        drawing = QVBoxLayout()
        drawing.setContentsMargins(0, 0, 0, 0)
        drawing.setSpacing(0)
        drawing.addWidget(self._nothing)
        drawing.addWidget(self.view, 1)
        self._parts = (self.view, Hairline(), self.legend)
        for part in self._parts[1:]:
            drawing.addWidget(part)
        line = QHBoxLayout(left)
        line.setContentsMargins(0, 0, 0, 0)
        line.setSpacing(0)
        line.addWidget(self.list)
        self._beside = Hairline(vertical=True)
        line.addWidget(self._beside)
        line.addLayout(drawing, 1)
        return left

    def _connect(self) -> None:
        self.back_button.clicked.connect(self.go_back)
        self.whole_button.clicked.connect(lambda: self.show_center(None))
        self.more_button.clicked.connect(self._show_more)
        self.view.chosen_changed.connect(self._on_chosen)
        self.view.center_wanted.connect(self._on_center_wanted)
        self.list.currentItemChanged.connect(self._on_row_changed)
        self.list.itemActivated.connect(lambda item: self._on_center_wanted(_key(item)))
        self.detail.closed.connect(self._leave_detail)
        self.detail.saved.connect(lambda _: self.reload())
        self.detail.mode_changed.connect(self.context.shell.update_actions)
        appearance().changed.connect(self._on_appearance_changed)
        self._on_appearance_changed()

    def show_center(self, center: Center | None) -> None:
        """Draw what lies around an entity or item; None for what is most connected."""
        if not self._is_stale and center != self._center:
            self._earlier.append(self._center)
        self._center, self._limit = center, LIMITS[0]
        self.reload()

    def activate(self) -> None:
        if self._is_stale:
            self.reload()

    def reload(self) -> None:
        """Read the picture again."""
        self._is_stale = False
        pictures = self.context.services.library.picture
        self.context.tasks.run(
            pictures.placed(self._center, depth=DEPTH, limit=self._limit),
            lambda answer: self._show(*answer),
            topic=f"picture {id(self)}",
        )

    def _show(self, picture: Picture, places: list[tuple[float, float]]) -> None:
        kinds = [kind for kind, _ in Counter(_kind(node) for node in picture.nodes).most_common()]
        kinds = [kind for kind in kinds if kind]
        wanted = self._chosen_again(picture)
        self.view.show_picture(picture, places, kinds)
        self.legend.show_kinds(kinds)
        self._fill_list(picture)
        self._show_nothing(not picture.nodes)
        self.head.set_words(_words(picture))
        self.back_button.setText("Back" if self._earlier else "Back to the list")
        self.more_button.setVisible(bool(picture.left_out) and self._limit < LIMITS[-1])
        self.whole_button.setVisible(self._center is not None)
        if wanted:
            self.view.choose(wanted)
        else:
            self.detail.show_nothing()
        self.context.shell.update_actions()

    def _show_nothing(self, is_empty: bool) -> None:  # noqa: FBT001 - a state
        self._nothing.setVisible(is_empty)
        for part in self._parts:
            part.setVisible(not is_empty)
        self._show_list()

    def _show_list(self) -> None:
        """Show the list where there is something in it, and room for it."""
        is_shown = self._nothing.isHidden() and not self._is_narrow
        self.list.setVisible(is_shown)
        self._beside.setVisible(is_shown)

    def _chosen_again(self, picture: Picture) -> str:
        """Return the dot that stays chosen: the one that was, or the new centre."""
        chosen = self.view.dots.get(self.view.chosen)
        if chosen is not None and not picture.center:
            for node in picture.nodes:
                if node.uuid and node.uuid == chosen.node.uuid:
                    return node.key
        return picture.center

    def _fill_list(self, picture: Picture) -> None:
        self.list.blockSignals(True)
        self.list.clear()
        for node in picture.nodes:
            item = QListWidgetItem(one_line(node.title)[:_NAME_LENGTH])
            item.setData(Qt.ItemDataRole.UserRole, node.key)
            links = counted(node.links, "relation")
            facts = ", ".join(part for part in (_kind(node), links) if part)
            item.setToolTip(plain_tip(node.title, facts))
            item.setData(Qt.ItemDataRole.AccessibleTextRole, f"{item.text()}, {facts}")
            self.list.addItem(item)
        self.list.blockSignals(False)

    def _on_chosen(self, key: str) -> None:
        for row in range(self.list.count()):
            if _key(self.list.item(row)) == key:
                self.list.setCurrentRow(row)
        dot = self.view.dots.get(key)
        if dot is None or not dot.node.uuid:
            self.detail.show_nothing()
        else:
            self.detail.show_item(_noun(dot.node), dot.node.number)
        self.context.shell.update_actions()

    def _on_row_changed(self, item: QListWidgetItem | None) -> None:
        if item is not None:
            self.view.choose(_key(item))

    def _on_center_wanted(self, key: str) -> None:
        dot = self.view.dots.get(key)
        if dot is None:
            return
        if not dot.node.uuid:
            self.context.shell.say(f"Only relations name {quoted(one_line(dot.node.title))}.")
        else:
            self.show_center((_noun(dot.node), dot.node.number))

    def _show_more(self) -> None:
        self._limit = next((limit for limit in LIMITS if limit > self._limit), LIMITS[-1])
        self.reload()

    def take_change(self, change: Change) -> None:
        if change.noun not in (Noun.ENTITY, Noun.RELATION, Noun.OBSERVATION, Noun.KNOWLEDGE):
            return
        if self.isVisible():
            self.reload()
        else:
            self._is_stale = True

    def focus_first(self) -> None:
        self.list.setFocus(Qt.FocusReason.OtherFocusReason)

    def focus_columns(self) -> list[QWidget]:
        return [self.list, self.view, self.detail]

    def go_back(self) -> bool:
        if self.detail.is_editing:
            self.detail.editing.cancel()
        elif self.detail.shows_history:
            self.detail.leave_history()
        elif self.columns.right_covers:
            self._leave_detail()
        elif self._earlier:
            self._center, self._limit = self._earlier.pop(), LIMITS[0]
            self.reload()
        else:
            self.context.shell.show_page("graph")
        return True

    def set_narrow(self, narrow: bool) -> None:  # noqa: FBT001 - as in the base
        self.columns.set_narrow(narrow)
        self.detail.toolbar.back.setVisible(narrow)
        self._is_narrow = narrow
        self._show_list()

    def _leave_detail(self) -> None:
        self.columns.open_right(False)
        self.list.setFocus()

    def _on_appearance_changed(self) -> None:
        look = theme()
        self.list.setFixedWidth(look.px(_LIST_PX))
        tokens = look.tokens
        self.list.setStyleSheet(
            f"QListWidget {{ background: {tokens.panel}; outline: none; }}"
            f" QListWidget::item {{ padding: {look.px(6)}px {look.px(14)}px; }}"
            f" QListWidget::item:selected {{ background: {tokens.accent_soft};"
            f" color: {tokens.ink}; border-left: {BAR_PX}px solid {tokens.accent};"
            f" padding-left: {look.px(14) - BAR_PX}px; }}"
        )


def _key(item: QListWidgetItem) -> str:
    return str(item.data(Qt.ItemDataRole.UserRole))


def _noun(node: PictureNode) -> Noun:
    return Noun.KNOWLEDGE if node.is_item else Noun.ENTITY


def _kind(node: PictureNode) -> str:
    return one_line(node.kind)


def _words(picture: Picture) -> str:
    if not picture.nodes:
        return "What is known, and how it hangs together."
    shown = counted(len(picture.nodes), "dot")
    if picture.center:
        shown = f"{shown} around {quoted(one_line(picture.nodes[0].title))}"
    more = f", {picture.left_out:,} more are not shown" if picture.left_out else ""
    return f"{shown}{more}. Click shows what is known, a double click makes it the centre."
