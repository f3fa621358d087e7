"""The form for knowledge: the same fields and the same sentences as the tools."""

import re
from collections.abc import Sequence
from typing import Any

from PySide6.QtCore import Signal
from PySide6.QtWidgets import (
    QDoubleSpinBox,
    QHBoxLayout,
    QLineEdit,
    QSpinBox,
    QWidget,
)

from kmem_desktop.domain.knowledge import (
    CONFIDENCE,
    CONTENT_LENGTH,
    GLOBAL_SCOPE,
    PRIORITY,
    TITLE_LENGTH,
    Category,
    KnowledgeDraft,
    KnowledgeItem,
)
from kmem_desktop.gui.detail.form_frame import FormFrame
from kmem_desktop.gui.theme import Type
from kmem_desktop.gui.widgets.controls import Button, Choice, Look
from kmem_desktop.gui.widgets.fields import Field, TextEditor
from kmem_desktop.gui.widgets.labels import Card, Label
from kmem_desktop.gui.widgets.text_view import TextView
from kmem_desktop.gui.wording import capitalised, when


class KnowledgeForm(FormFrame):
    """Writes a new item, or changes one.

    Signals:
        keep_mine_wanted: What is typed is to replace what somebody else wrote meanwhile.
        take_theirs_wanted: What somebody else wrote meanwhile is to stay.
    """

    keep_mine_wanted = Signal()
    take_theirs_wanted = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        """Lay out the fields."""
        super().__init__(parent)
        self.item: KnowledgeItem | None = None
        self._conflict = Card("Changed while you were writing")
        self._conflict_words = Label("", Type.BODY, wrap=True)
        self._their_title = Label("", Type.BODY_STRONG, wrap=True).allow_selection()
        self._their_text = TextView("Their version")
        self._build_conflict()
        self.area.column.addWidget(self._conflict)
        self._title = QLineEdit()
        self._content = TextEditor(9)
        self._tags = QLineEdit()
        self._tags.setPlaceholderText("queue, postgres, operations")
        self._scope = Choice("Scope")
        self._scope.setEditable(True)
        self._category = Choice("Category")
        for category in Category:
            self._category.addItem(capitalised(category.value), category.value)
        self._priority = QSpinBox()
        self._priority.setRange(*PRIORITY)
        self._confidence = QDoubleSpinBox()
        self._confidence.setRange(*CONFIDENCE)
        self._confidence.setSingleStep(0.05)
        for box in (self._priority, self._confidence):
            box.lineEdit().setTextMargins(7, 0, 0, 0)
        self._build_fields()
        self.start_new(KnowledgeDraft("", "", ()), ())

    def _build_fields(self) -> None:
        column = self.area.column
        column.addWidget(self.add_field("title", Field("Title", self._title, limits=TITLE_LENGTH)))
        content = Field("Content", self._content, hint="markdown", limits=CONTENT_LENGTH)
        column.addWidget(self.add_field("content", content), 1)
        tags = Field("Tags", self._tags, hint="1 to 10, separated by commas")
        column.addWidget(self.add_field("tags", tags))
        scope = Field("Scope", self._scope, hint="global, project:name or repo:name")
        column.addWidget(self.add_field("scope", scope))
        numbers = QHBoxLayout()
        numbers.setSpacing(12)
        for key, field, share in (
            ("category", Field("Category", self._category), 2),
            ("priority", Field("Priority", self._priority, hint="1 to 10"), 1),
            ("confidence", Field("Confidence", self._confidence, hint="0 to 1"), 1),
        ):
            numbers.addWidget(self.add_field(key, field), share)
        column.addLayout(numbers)

    def _build_conflict(self) -> None:
        theirs = Button("Take theirs")
        theirs.clicked.connect(self.take_theirs_wanted)
        mine = Button("Save mine instead", look=Look.PRIMARY)
        mine.clicked.connect(self.keep_mine_wanted)
        buttons = QHBoxLayout()
        buttons.setSpacing(6)
        buttons.addWidget(theirs)
        buttons.addWidget(mine)
        buttons.addStretch(1)
        for widget in (self._conflict_words, self._their_title, self._their_text):
            self._conflict.body.addWidget(widget)
        self._conflict.body.addLayout(buttons)

    def start_new(self, draft: KnowledgeDraft, scopes: Sequence[str]) -> None:
        """Begin a new item."""
        self.item = None
        self.set_heading("New knowledge")
        self._fill(draft, scopes)

    def start_edit(self, item: KnowledgeItem, scopes: Sequence[str]) -> None:
        """Begin to change an item."""
        self.item = item
        self.set_heading("Editing")
        draft = KnowledgeDraft(
            item.title,
            item.content,
            item.tags,
            item.scope,
            item.category.value,
            item.priority,
            item.confidence,
        )
        self._fill(draft, scopes)

    def set_scopes(self, scopes: Sequence[str]) -> None:
        """Offer these scopes; what is typed stays."""
        typed = self._scope.currentText()
        self._scope.clear()
        self._scope.addItems(list(dict.fromkeys([GLOBAL_SCOPE, *scopes])))
        self._scope.setEditText(typed)

    def focus_first(self) -> None:
        """Put the caret where writing begins."""
        self._title.setFocus()
        self._title.deselect()
        self._title.end(False)

    def draft(self) -> KnowledgeDraft:
        """Return what is typed."""
        return KnowledgeDraft(**self.changes())

    def changes(self) -> dict[str, Any]:
        """Return what is typed as fields of a draft."""
        pieces = re.split(r"[,;\n]", self._tags.text())
        return {
            "title": self._title.text(),
            "content": self._content.toPlainText(),
            "tags": tuple(piece.strip() for piece in pieces if piece.strip()),
            "scope": self._scope.currentText(),
            "category": str(self._category.currentData()),
            "priority": self._priority.value(),
            "confidence": round(self._confidence.value(), 2),
        }

    def show_conflict(self, theirs: KnowledgeItem, who: str) -> None:
        """Show what somebody else wrote meanwhile, and let a person choose."""
        self.clear_errors()
        self.item = theirs
        self._conflict_words.setText(
            f"{who} changed this {when(theirs.updated_at)}. What you typed is kept below."
            " Whichever is not taken stays in the history."
        )
        self._their_title.setText(theirs.title)
        self._their_text.set_markdown(theirs.content)
        self._conflict.show()
        self.area.verticalScrollBar().setValue(0)

    def is_in_conflict(self) -> bool:
        """Return whether a choice between two versions is open."""
        return not self._conflict.isHidden()

    def _fill(self, draft: KnowledgeDraft, scopes: Sequence[str]) -> None:
        self._conflict.hide()
        self._title.setText(draft.title)
        self._content.setPlainText(draft.content)
        self._tags.setText(", ".join(draft.tags))
        self.set_scopes(scopes)
        self._scope.setEditText(draft.scope)
        self._category.setCurrentIndex(max(0, self._category.findData(str(draft.category))))
        self._priority.setValue(draft.priority)
        self._confidence.setValue(draft.confidence)
        self.area.verticalScrollBar().setValue(0)
        self.note_start()

    def fill_title(self, text: str) -> None:
        """Put words into the title of a new item, as if they had been typed."""
        self._title.setText(text)
