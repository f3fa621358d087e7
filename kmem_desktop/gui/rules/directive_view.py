"""One directive: its words first, then why, how and when; and two that contradict each other."""

from collections.abc import Sequence

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from kmem_desktop.domain.rule_library import RuleConflict, StoredDirective
from kmem_desktop.domain.rules import CodeExample, RuleStatus
from kmem_desktop.gui.detail.parts import ScrolledColumn
from kmem_desktop.gui.rules.rule_parts import DirectiveLink, LoudText, clear, fenced
from kmem_desktop.gui.rules.rule_tree_view import severity_color
from kmem_desktop.gui.rules.sentences import directive_facts, source_of
from kmem_desktop.gui.theme import Type
from kmem_desktop.gui.widgets.controls import Button, Look, TagButton
from kmem_desktop.gui.widgets.flow_layout import FlowLayout
from kmem_desktop.gui.widgets.labels import Card, Label
from kmem_desktop.gui.widgets.text_view import TextView
from kmem_desktop.services.rules.explaining import severity_words


class TextCard(Card):
    """A titled text; hidden where there is none."""

    def __init__(self, title: str, parent: QWidget | None = None) -> None:
        """Start hidden."""
        super().__init__(title, parent)
        self.text = TextView(title)
        self.body.addWidget(self.text)
        self.hide()

    def set_markdown(self, text: str) -> None:
        """Show a text."""
        self.setVisible(bool(text.strip()))
        self.text.set_markdown(text)


class DirectiveView(ScrolledColumn):
    """Shows a directive.

    Signals:
        directive_wanted: Another directive is to be shown (its id).
        document_wanted: The document is to be shown (its number).
        topic_wanted: What is about a topic is to be shown.
        link_wanted: A link in a text was clicked.
        file_version_wanted: What the file says is to be taken (the document's number).
    """

    directive_wanted = Signal(int)
    document_wanted = Signal(int)
    topic_wanted = Signal(str)
    link_wanted = Signal(str)
    file_version_wanted = Signal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        """Start without a directive."""
        super().__init__("Directive", parent=parent)
        self.stored: StoredDirective | None = None
        self._severity = Label("", Type.META_STRONG)
        self._section = Label("", Type.META, "ink3", wrap=True)
        self.text = LoudText("Text")
        self._source = Button("Its file", look=Look.LINK)
        self._facts = Label("", Type.META, "ink3", wrap=True)
        self._edited = self._build_edited()
        self._why = TextCard("Why")
        self._good = TextCard("Like this")
        self._bad = TextCard("Not like this")
        self._when = TextCard("When it applies")
        self._conflicts = Card("Contradicts")
        self._conflict_lines = QVBoxLayout()
        self._related = Card("Speaks of the same")
        self._related_lines = QVBoxLayout()
        self._topics = QWidget()
        self._topic_flow = FlowLayout(self._topics)
        self._lay_out()
        self._connect()

    def _build_edited(self) -> Card:
        card = Card("Edited here")
        words = "Your words are kept when the file is read again."
        card.body.addWidget(Label(words, Type.BODY, wrap=True))
        self._take_file = Button("Compare with the file…", key="F")
        card.body.addWidget(self._take_file)
        card.hide()
        return card

    def _lay_out(self) -> None:
        head = QHBoxLayout()
        head.setSpacing(10)
        head.addWidget(self._severity)
        head.addWidget(self._section, 1)
        for card, lines in (
            (self._conflicts, self._conflict_lines),
            (self._related, self._related_lines),
        ):
            lines.setSpacing(4)
            card.body.addLayout(lines)
            card.hide()
        column = self.column
        column.addLayout(head)
        column.addSpacing(6)
        column.addWidget(self.text)
        column.addSpacing(4)
        column.addWidget(self._source)
        column.addWidget(self._facts)
        column.addSpacing(10)
        column.addWidget(self._topics)
        cards = QVBoxLayout()
        cards.setSpacing(10)
        for card in (
            self._conflicts,
            self._edited,
            self._why,
            self._when,
            self._good,
            self._bad,
            self._related,
        ):
            cards.addWidget(card)
        column.addSpacing(12)
        column.addLayout(cards)

    def _connect(self) -> None:
        self._source.clicked.connect(self._on_source)
        self._take_file.clicked.connect(self._on_take_file)
        for view in (self.text, self._why.text, self._good.text, self._bad.text, self._when.text):
            view.link_wanted.connect(self.link_wanted)

    def show_directive(self, stored: StoredDirective, conflicts: Sequence[RuleConflict]) -> None:
        """Show a directive, and what contradicts it."""
        again = self.stored is not None and self.stored.id == stored.id
        self.stored = stored
        directive = stored.directive
        severity = severity_words(directive)
        self._severity.setText(severity)
        self._severity.set_color(severity_color(severity))
        self._section.setText(directive.section.replace(" > ", ", "))
        self.text.set_markdown(directive.text)
        self._source.set_words(source_of(stored))
        self._source.setToolTip(stored.rule.path)
        self._facts.setText(directive_facts(stored))
        self._edited.setVisible(stored.is_edited)
        self._why.set_markdown(directive.rationale)
        self._good.set_markdown(_code(directive.examples))
        self._bad.set_markdown(_code(directive.anti_patterns))
        self._when.set_markdown("\n".join(f"- {each}" for each in directive.when_to_apply))
        self._set_topics(directive.topics)
        self._show_conflicts(conflicts)
        if not again:
            self.show_related(())
            self.verticalScrollBar().setValue(0)

    def show_related(self, related: Sequence[StoredDirective]) -> None:
        """Show what else speaks of the same."""
        clear(self._related_lines)
        for other in related:
            self._related_lines.addWidget(self._link(other))
        self._related.setVisible(bool(related))

    def _show_conflicts(self, conflicts: Sequence[RuleConflict]) -> None:
        clear(self._conflict_lines)
        for conflict in conflicts:
            is_first = self.stored is not None and conflict.first.id == self.stored.id
            other = conflict.second if is_first else conflict.first
            self._conflict_lines.addWidget(Label(conflict.reason, Type.BODY, wrap=True))
            self._conflict_lines.addWidget(self._link(other))
        self._conflicts.setVisible(bool(conflicts))

    def _link(self, other: StoredDirective) -> DirectiveLink:
        link = DirectiveLink(other)
        link.clicked.connect(lambda: self.directive_wanted.emit(other.id))
        return link

    def _set_topics(self, topics: Sequence[str]) -> None:
        clear(self._topic_flow)
        for topic in topics:
            button = TagButton(topic, self._topics)
            button.setToolTip(f"Show the rules about {topic}")
            button.clicked.connect(lambda _=False, topic=topic: self.topic_wanted.emit(topic))
            self._topic_flow.addWidget(button)
            button.show()
        self._topics.setVisible(bool(topics))
        self._topics.updateGeometry()

    def _on_source(self) -> None:
        if self.stored is not None:
            self.document_wanted.emit(self.stored.rule.id)

    def _on_take_file(self) -> None:
        if self.stored is not None:
            self.file_version_wanted.emit(self.stored.rule.id)


class ConflictView(ScrolledColumn):
    """Shows both sides, and lets either be rejected.

    Signals:
        directive_wanted: A side is to be shown (its id).
        reject_wanted: A side is to be rejected (`StoredDirective`).
    """

    directive_wanted = Signal(int)
    reject_wanted = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        """Start without a pair."""
        super().__init__("Contradiction", parent=parent)
        self.conflict: RuleConflict | None = None
        self._reason = Label("", Type.TITLE, wrap=True)
        words = (
            "An assistant that gets both cannot follow both. Reject one, or edit either so that it"
            " says for which case it is."
        )
        self._sides = QVBoxLayout()
        self._sides.setSpacing(10)
        self.column.addWidget(self._reason)
        self.column.addSpacing(4)
        self.column.addWidget(Label(words, Type.BODY, "ink2", wrap=True))
        self.column.addSpacing(14)
        self.column.addLayout(self._sides)

    def show_conflict(self, conflict: RuleConflict) -> None:
        """Show a pair."""
        if conflict == self.conflict:
            return
        self.conflict = conflict
        self._reason.setText(conflict.reason or "These contradict each other")
        clear(self._sides)
        for number, stored in enumerate((conflict.first, conflict.second), start=1):
            self._sides.addWidget(self._side(stored, number))
        self.verticalScrollBar().setValue(0)

    def _side(self, stored: StoredDirective, number: int) -> Card:
        card = Card()
        section = stored.directive.section.replace(" > ", ", ")
        head = QHBoxLayout()
        head.setSpacing(10)
        head.addWidget(Label(severity_words(stored.directive), Type.META_STRONG))
        head.addWidget(Label(section, Type.META, "ink3", wrap=True), 1)
        text = LoudText("Text")
        text.set_markdown(stored.directive.text)
        card.body.addLayout(head)
        card.body.addWidget(text)
        card.body.addWidget(Label(source_of(stored), Type.META, "ink2", wrap=True))
        if stored.status is not RuleStatus.APPROVED:
            card.body.addWidget(Label(directive_facts(stored), Type.META, "accent", wrap=True))
        show = Button("Show", key=f"{number}")
        show.setAccessibleName(f"Show {stored.directive.text[:60]}")
        show.clicked.connect(lambda: self.directive_wanted.emit(stored.id))
        reject = Button("Reject this one", key=f"Alt {number}")
        reject.setAccessibleName(f"Reject {stored.directive.text[:60]}")
        reject.clicked.connect(lambda: self.reject_wanted.emit(stored))
        line = QHBoxLayout()
        line.setSpacing(8)
        line.addWidget(show)
        line.addWidget(reject)
        line.addStretch(1)
        card.body.addLayout(line)
        return card


def _code(examples: Sequence[CodeExample]) -> str:
    return "\n\n".join(fenced(example) for example in examples)
