"""What a page of the window is, and what the window may ask of it."""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from kmem_desktop.events import Change
from kmem_desktop.gui.appearance import appearance, theme
from kmem_desktop.gui.context import Context
from kmem_desktop.gui.detail.detail_pane import DetailPane
from kmem_desktop.gui.theme import Type
from kmem_desktop.gui.widgets.labels import Hairline, Label


class Page(QWidget):
    """One page; the defaults suit a page without a list.

    Attributes:
        detail: The pane that shows an item, where the page has one.
    """

    detail: DetailPane | None = None

    def __init__(self, context: Context, parent: QWidget | None = None) -> None:
        """Remember what the page may use."""
        super().__init__(parent)
        self.context = context

    def activate(self) -> None:
        """Become the page that is shown."""

    def focus_search(self) -> bool:
        """Put the caret into the page's own search field, if it has one."""
        return False

    def focus_first(self) -> None:
        """Put the keyboard where this page begins."""
        if not self.focus_search() and (columns := self.focus_columns()):
            columns[0].setFocus(Qt.FocusReason.OtherFocusReason)

    def focus_columns(self) -> list[QWidget]:
        """Return what F6 walks through on this page."""
        return []

    def go_back(self) -> bool:
        """Leave the innermost thing that is open; return whether there was one."""
        return False

    def has_something_to_lose(self) -> bool:
        """Return whether a form of this page holds text that nobody has saved."""
        detail = self.detail
        return detail is not None and detail.is_editing and detail.editing.has_something_to_lose()

    def widen(self) -> bool:
        """Show what the page's filter hides; return whether there was such a filter."""
        return False

    @property
    def has_question(self) -> bool:
        """Whether something is asked here whose answer can be doubted."""
        return False

    def ask_why_not(self) -> None:
        """Ask why something is not in the answer that is shown."""

    def keep_as_test(self) -> None:
        """Keep it as a test that the question finds the item that is shown."""

    def take_change(self, change: Change) -> None:
        """Learn that something in the memory changed."""

    def take_activity(self) -> None:
        """Learn that a client came or went."""

    def set_narrow(self, narrow: bool) -> None:  # noqa: FBT001 - a state, named like Qt's setters
        """Make do with little width, or use it."""


class PageHead(QWidget):
    """The head of a page: a title, a sentence, and what belongs at the right.

    Attributes:
        right: Where buttons go.
    """

    def __init__(self, title: str, words: str = "", parent: QWidget | None = None) -> None:
        """Show title and sentence."""
        super().__init__(parent)
        self._words = Label(words, Type.META, "ink3", wrap=True)
        texts = QVBoxLayout()
        texts.setSpacing(3)
        texts.addWidget(Label(title, Type.TITLE))
        texts.addWidget(self._words)
        self.right = QHBoxLayout()
        self.right.setSpacing(8)
        self._line = QHBoxLayout()
        self._line.setSpacing(16)
        self._line.addLayout(texts, 1)
        self._line.addLayout(self.right)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addLayout(self._line)
        column.addWidget(Hairline())
        appearance().changed.connect(self._on_appearance_changed)
        self._on_appearance_changed()

    def set_words(self, words: str) -> None:
        """Change the sentence."""
        self._words.setText(words)

    def _on_appearance_changed(self) -> None:
        look = theme()
        self._line.setContentsMargins(look.px(20), look.px(14), look.px(20), look.px(13))
