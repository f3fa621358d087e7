"""What an assistant gets for a task, as it is read or as it is sent; and why a rule is in it."""

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QTextCursor
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QVBoxLayout, QWidget

from kmem_desktop.domain.rule_library import RuleAnswer
from kmem_desktop.domain.rules import Citation, CodeExample, RankedDirective, RuleStatus
from kmem_desktop.gui.appearance import appearance, theme
from kmem_desktop.gui.detail.parts import PaneBar, ScrolledColumn
from kmem_desktop.gui.lists.snippets import plain_snippet
from kmem_desktop.gui.markdown import Markdown, plain_format
from kmem_desktop.gui.rules.rule_parts import clear, fenced
from kmem_desktop.gui.rules.sentences import (
    FALLBACKS,
    layer_name,
    part_name,
    saving_words,
    source_words,
    why_sentence,
)
from kmem_desktop.gui.theme import META_LINE_PX, Type
from kmem_desktop.gui.widgets.controls import Button, IconButton, Look
from kmem_desktop.gui.widgets.labels import Card, Hairline, Label
from kmem_desktop.gui.widgets.text_view import TextView
from kmem_desktop.gui.wording import capitalised, counted
from kmem_desktop.services.rules.explaining import reasons

_LONGEST_TEXT = 320


class BlockText(TextView):
    """The block, each rule with its source, without the signs of markdown."""

    def __init__(self, parent: QWidget | None = None) -> None:
        """Start without a block."""
        super().__init__("What the assistant gets", parent)
        self._answer: RuleAnswer | None = None

    def set_answer(self, answer: RuleAnswer) -> None:
        """Show the rules of an answer."""
        self._answer = answer
        self.set_markdown(answer.block)

    def set_raw(self, block: str) -> None:
        """Show the block letter by letter."""
        self._answer = None
        self.set_markdown(fenced(CodeExample(block.rstrip())))

    def _render(self) -> None:
        if self._answer is None:
            super()._render()
            return
        self.document().clear()
        cursor = QTextCursor(self.document())
        look = theme()
        writing = Markdown(look)
        cursor.setBlockFormat(writing.paragraph_format())
        cursor.insertText("Rules for this task", plain_format(look, Type.NAME, "ink"))
        context = self._answer.context
        about = ", ".join((capitalised(layer_name(context.layer)), *context.topics))
        cursor.insertBlock(writing.paragraph_format(above=2))
        cursor.insertText(about, plain_format(look, Type.META, "ink3"))
        is_proposed = False
        for citation in self._answer.citations:
            if citation.status is RuleStatus.PROPOSED and not is_proposed:
                is_proposed = True
                cursor.insertBlock(writing.paragraph_format(above=16))
                words = "Proposed, not approved by a person yet"
                cursor.insertText(words, plain_format(look, Type.BODY_STRONG, "ink2"))
            self._write(citation, cursor, writing)
        if not self._answer.citations:
            cursor.insertBlock(writing.paragraph_format(above=10))
            words = "No known rule applies to this task."
            cursor.insertText(words, plain_format(look, Type.BODY, "ink"))
        self._fitting_width = -1
        self._fit()

    def _write(self, citation: Citation, cursor: QTextCursor, writing: Markdown) -> None:
        look = theme()
        cursor.insertBlock(writing.paragraph_format(above=10))
        cursor.insertText(f"{citation.severity}  ", plain_format(look, Type.BODY_STRONG, "ink"))
        words = plain_snippet(citation.text, ())[0]
        cursor.insertText(words, plain_format(look, Type.BODY, "ink"))
        source = ", ".join(part for part in (citation.rule, citation.section) if part)
        place = source_words(citation.path, citation.line)
        cursor.insertBlock(writing.paragraph_format(line=META_LINE_PX))
        source = f"{source.replace(' > ', ', ')} · {place}"
        cursor.insertText(source, plain_format(look, Type.META, "ink3"))


class WhyHere(QWidget):
    """The selected directive in full, why it is here, and the numbers on demand.

    Signals:
        show_wanted: It is to be shown in the library.
    """

    show_wanted = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        """Start hidden."""
        super().__init__(parent)
        self._has_room = True
        self._is_filled = False
        self.setProperty("surface", "bg")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self._text = TextView("Directive")
        self._sentence = Label("", Type.BODY, "ink2", wrap=True)
        self._toggle = Button("Show the numbers", look=Look.LINK)
        self._toggle.clicked.connect(self._on_toggle)
        self._show = Button("Show in all rules  ↵", look=Look.LINK)
        self._show.setAccessibleName("Show in all rules")
        self._show.clicked.connect(self.show_wanted)
        self._numbers = QWidget()
        self._grid = QGridLayout(self._numbers)
        self._grid.setContentsMargins(0, 2, 0, 0)
        self._grid.setHorizontalSpacing(20)
        self._grid.setVerticalSpacing(3)
        self._grid.setColumnStretch(3, 1)
        self._numbers.hide()
        links = QHBoxLayout()
        links.setSpacing(16)
        links.addWidget(self._toggle)
        links.addWidget(self._show)
        links.addStretch(1)
        self._column = QVBoxLayout()
        self._column.setSpacing(4)
        self._column.addWidget(Label("Why it is here", Type.META, "ink3"))
        self._column.addWidget(self._text)
        self._column.addWidget(self._sentence)
        self._column.addLayout(links)
        self._column.addWidget(self._numbers)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(Hairline())
        column.addLayout(self._column)
        appearance().changed.connect(self._space)
        self._space()
        self.hide()

    def _space(self) -> None:
        look = theme()
        self._column.setContentsMargins(look.px(20), look.px(10), look.px(20), look.px(10))

    def words(self) -> str:
        """Return what is said."""
        return self._sentence.text()

    def set_room(self, has_room: bool) -> None:  # noqa: FBT001 - a state, named like Qt's setters
        """Be shown, or leave the height to the list."""
        self._has_room = has_room
        self.setVisible(self._has_room and self._is_filled)

    def show_ranked(self, ranked: RankedDirective | None) -> None:
        """Explain a directive; nothing without one."""
        self._is_filled = ranked is not None
        self.set_room(self._has_room)
        if ranked is None:
            return
        text = ranked.directive.text
        self._text.set_markdown(text if len(text) <= _LONGEST_TEXT else text[:_LONGEST_TEXT] + "…")
        self._sentence.setText(why_sentence(ranked))
        self._show.setVisible(ranked.id.isdigit())
        clear(self._grid)
        rows = [
            (part_name(name), f"{value:.2f}", f"weight {weight:g}" if name != "relevance" else "")
            for name, value, weight in reasons(ranked.breakdown)
        ]
        rows.append(("Together", f"{ranked.score:.2f}", ""))
        for line, cells in enumerate(rows):
            for column, words in enumerate(cells):
                cell = Label(words, Type.META, "ink2" if column == 1 else "ink3")
                if column == 1:
                    cell.setAlignment(Qt.AlignmentFlag.AlignRight)
                self._grid.addWidget(cell, line, column)

    def _on_toggle(self) -> None:
        shown = self._numbers.isHidden()
        self._numbers.setVisible(shown)
        self._toggle.set_words("Hide the numbers" if shown else "Show the numbers")


class BlockView(QWidget):
    """The block, with what it saves.

    Signals:
        copy_wanted: The block is to go to the clipboard.
        review_wanted: What is proposed is to be reviewed.
        closed: The pane is to be left for the list.
    """

    copy_wanted = Signal()
    review_wanted = Signal()
    closed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        """Start without a block."""
        super().__init__(parent)
        self._block = ""
        self._answer: RuleAnswer | None = None
        self._is_raw = False
        self.back = IconButton("arrow-left", "Back to the list (Esc)")
        self.back.hide()
        self.back.clicked.connect(self.closed)
        self.copy_button = Button("Copy", key="Ctrl ↵", look=Look.PRIMARY)
        self.copy_button.clicked.connect(self.copy_wanted)
        self.raw_button = Button("As it is sent", key="V")
        self.raw_button.clicked.connect(self.toggle_raw)
        self._bar = PaneBar()
        for widget in (self.back, self.copy_button, self.raw_button):
            self._bar.line.addWidget(widget)
        self._bar.line.addStretch(1)
        self.area = ScrolledColumn("What the assistant gets")
        self._saving = Label("", Type.BODY, "ink2", wrap=True)
        self._fallback = Label("", Type.META, "ink3", wrap=True)
        self._card = Card()
        self._text = BlockText()
        self._card.body.addWidget(self._text)
        self._waiting = self._build_waiting()
        inner = self.area.column
        inner.addWidget(Label("What the assistant gets", Type.TITLE))
        inner.addSpacing(2)
        inner.addWidget(self._saving)
        inner.addWidget(self._fallback)
        inner.addSpacing(12)
        inner.addWidget(self._card)
        inner.addSpacing(12)
        inner.addWidget(self._waiting)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self._bar)
        column.addWidget(self.area, 1)
        self.show_answer(None)

    def _build_waiting(self) -> Card:
        card = Card("Waiting for you")
        self._waiting_words = Label("", Type.BODY, wrap=True)
        review = Button("Review", look=Look.LINK)
        review.clicked.connect(self.review_wanted)
        card.body.addWidget(self._waiting_words)
        card.body.addWidget(review)
        return card

    @property
    def is_raw(self) -> bool:
        """Whether the block is shown as it is sent."""
        return self._is_raw

    def words(self) -> str:
        """Return what is said above the block."""
        return f"{self._saving.text()} {self._fallback.text()}".strip()

    def shown_text(self) -> str:
        """Return the block as it is shown."""
        return self._text.toPlainText()

    def show_answer(self, answer: RuleAnswer | None) -> None:
        """Show a block; nothing without an answer."""
        for widget in (self._bar, self.area):
            widget.setVisible(answer is not None)
        if answer is None:
            self._block = ""
            return
        self._saving.setText(saving_words(answer))
        less = FALLBACKS.get(answer.fallback, answer.fallback)
        self._fallback.setText(f"{capitalised(less)}." if less else "")
        self._fallback.setVisible(bool(less))
        is_new = answer.block != self._block
        self._answer = answer
        self._block = answer.block
        if is_new:
            self._render()
        proposed = sum(each.status is RuleStatus.PROPOSED for each in answer.citations)
        rules = counted(proposed, "rule is", "rules are")
        self._waiting_words.setText(
            f"{rules} proposed and not approved yet: sent last, and marked so."
        )
        self._waiting.setVisible(proposed > 0)

    def toggle_raw(self) -> None:
        """Show the block as it is sent, or as it is read."""
        self._is_raw = not self._is_raw
        self.raw_button.set_words("As it is read" if self._is_raw else "As it is sent", "V")
        self._render()

    def _render(self) -> None:
        if self._is_raw:
            self._text.set_raw(self._block)
        elif self._answer is not None:
            self._text.set_answer(self._answer)
