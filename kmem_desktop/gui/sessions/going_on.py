"""The right side of a session's window: how to go on from here, and what belongs to it."""

from collections.abc import Sequence
from datetime import datetime

from PySide6.QtCore import QRectF, Qt, Signal
from PySide6.QtGui import QFontMetricsF, QPainter, QResizeEvent
from PySide6.QtWidgets import QGridLayout, QSizePolicy, QVBoxLayout, QWidget

from kmem_desktop.domain.sessions.browsing import RelatedToSession, RestorePreview
from kmem_desktop.domain.sessions.conversations import Summary
from kmem_desktop.domain.sessions.recall import ContextSnapshot, SnapshotReason
from kmem_desktop.gui.appearance import appearance, theme
from kmem_desktop.gui.conversation.wording import day_and_clock
from kmem_desktop.gui.detail.parts import ScrolledColumn
from kmem_desktop.gui.lists.snippets import plain_snippet
from kmem_desktop.gui.rules.rule_parts import clear
from kmem_desktop.gui.sessions.budget import BudgetPart
from kmem_desktop.gui.sessions.summary_view import BulletCard, told_apart
from kmem_desktop.gui.theme import LINE_PX, META_LINE_PX, Type
from kmem_desktop.gui.widgets.controls import Button, Look
from kmem_desktop.gui.widgets.labels import Card, Hairline, Label
from kmem_desktop.gui.widgets.two_line_link import TwoLineLink
from kmem_desktop.gui.wording import capitalised, counted, scope_name
from kmem_desktop.services.rules.explaining import severity_words
from kmem_desktop.text import one_line

_REASONS = {
    SnapshotReason.ASKED: "taken by you or an assistant",
    SnapshotReason.TURNS: "taken by itself",
    SnapshotReason.ARCHIVED: "taken when it was archived",
}
_SHOWN_SNAPSHOTS = 5
_ROOMY_PX = 330


class LinkRow(TwoLineLink):
    """Something to go to, in two lines."""

    def __init__(self, words: str, facts: str, parent: QWidget | None = None) -> None:
        """Show its words, and what else is known below them."""
        self._words = plain_snippet(one_line(words), ())[0]
        self._facts = facts
        caption = self._words.replace("&", "&&")
        super().__init__(caption, f"{self._words}, {facts}", self._words, parent)

    def paint_words(self, painter: QPainter, rect: QRectF) -> None:
        look = theme()
        top = look.px(4)
        for text, style, color, height in (
            (self._words, Type.BODY, "accent", LINE_PX),
            (self._facts, Type.META, "ink3", META_LINE_PX),
        ):
            line = QRectF(look.px(4), top, rect.width() - look.px(8), look.px(height))
            font = look.font(style)
            painter.setFont(font)
            painter.setPen(look.color(color))
            elide = Qt.TextElideMode.ElideRight
            words = QFontMetricsF(font).elidedText(text, elide, line.width())
            painter.drawText(line, Qt.AlignmentFlag.AlignVCenter, words)
            top += look.px(height)


class DeedsFoot(QWidget):
    """What can be done with a session, always in sight.

    Signals:
        wanted: A button was pressed (its name).
    """

    wanted = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        """Lay out the buttons."""
        super().__init__(parent)
        self.buttons = {
            "copy": Button("Copy for any assistant", key="Ctrl ⇧ C", look=Look.PRIMARY),
            "prompt": Button("Copy the one-line prompt", key="Ctrl L"),
            "chat": Button("Open as a chat here", key="Ctrl ↵"),
            "export": Button("Export as markdown…", key="Ctrl S"),
        }
        tips = {
            "copy": "The text of what it gets back, for any chat",
            "prompt": "One line: an assistant that is connected to kmem loads the session itself",
            "chat": "Ask the configured model, which gets what was said before",
            "export": "Write the whole conversation into a file",
        }
        grid = QGridLayout()
        grid.setHorizontalSpacing(8)
        grid.setVerticalSpacing(8)
        grid.addWidget(self.buttons["copy"], 0, 0, 1, 2)
        grid.addWidget(self.buttons["prompt"], 1, 0, 1, 2)
        grid.addWidget(self.buttons["chat"], 2, 0)
        grid.addWidget(self.buttons["export"], 2, 1)
        for name, button in self.buttons.items():
            button.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
            button.setToolTip(tips[name])
            button.setAccessibleDescription(tips[name])
            button.clicked.connect(lambda _=False, name=name: self.wanted.emit(name))
        self._inner = QVBoxLayout()
        self._inner.addLayout(grid)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(Hairline())
        column.addLayout(self._inner)
        appearance().changed.connect(self._space)
        self._space()

    def _space(self) -> None:
        look = theme()
        self._inner.setContentsMargins(look.px(22), look.px(12), look.px(22), look.px(14))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        roomy = self.width() >= theme().px(_ROOMY_PX)
        self.buttons["export"].set_words("Export as markdown…" if roomy else "Export…", "Ctrl S")


class GoOnPanel(QWidget):
    """Budget, summary and what is related, above the deeds.

    Signals:
        budget_changed: Another budget is chosen.
        turn_wanted: A turn is to be shown (its position).
        knowledge_wanted: A piece of knowledge is to be shown (its id).
        rule_wanted: A directive is to be shown (its id).
        wanted: A deed (its name).
    """

    budget_changed = Signal()
    turn_wanted = Signal(int)
    knowledge_wanted = Signal(int)
    rule_wanted = Signal(int)
    wanted = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        """Lay out the parts; all but the budget wait for what they show."""
        super().__init__(parent)
        self.setProperty("surface", "bg")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.budget = BudgetPart()
        self.decisions = BulletCard("What was decided")
        self.questions = BulletCard("Still open")
        self.summary = BulletCard("Summary", is_labelled=True)
        self._knowledge, self._knowledge_rows = _link_card("Related knowledge")
        self._rules, self._rule_rows = _link_card("Rules that apply")
        self._snapshots = Card("Snapshots")
        self._snapshot_words = Label("", Type.META, "ink2", wrap=True)
        self._snapshots.body.addWidget(self._snapshot_words)
        self._snapshots.hide()
        self.foot = DeedsFoot()
        self.area = ScrolledColumn("Go on from here")
        self.area.column.addWidget(Label("Go on from here", Type.NAME))
        self.area.column.addSpacing(2)
        self.area.column.addWidget(self.budget)
        self.area.column.addSpacing(10)
        cards = QVBoxLayout()
        cards.setSpacing(10)
        for card in (
            self.decisions,
            self.questions,
            self.summary,
            self._knowledge,
            self._rules,
            self._snapshots,
        ):
            cards.addWidget(card)
        self.area.column.addLayout(cards)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.area, 1)
        column.addWidget(self.foot)
        self.budget.changed.connect(self.budget_changed)
        self.foot.wanted.connect(self.wanted)
        for part in (self.decisions, self.questions, self.summary):
            part.turn_wanted.connect(self.turn_wanted)

    def show_preview(self, preview: RestorePreview) -> None:
        """Show what would be given back, and the summary."""
        self.budget.show_preview(preview)
        self.show_summary(preview.session.summary)

    def show_summary(self, summary: Summary) -> None:
        """Show the statements of a summary."""
        decisions, questions, rest = told_apart(summary.bullets)
        self.decisions.set_bullets(decisions)
        self.questions.set_bullets(questions)
        self.summary.set_bullets(rest)

    def show_related(self, related: RelatedToSession) -> None:
        """Show knowledge and rules that belong to the session."""
        clear(self._knowledge_rows)
        for item in related.knowledge:
            facts = f"{capitalised(item.category.value)} · {scope_name(item.scope)}"
            row = LinkRow(item.title, facts)
            row.clicked.connect(lambda _=False, n=item.id: self.knowledge_wanted.emit(n))
            self._knowledge_rows.addWidget(row)
        self._knowledge.setVisible(bool(related.knowledge))
        clear(self._rule_rows)
        for rule in related.rules:
            words = f"{severity_words(rule.directive)} {rule.directive.text}"
            row = LinkRow(words, rule.rule)
            if rule.id.isdigit():
                row.clicked.connect(lambda _=False, n=int(rule.id): self.rule_wanted.emit(n))
            self._rule_rows.addWidget(row)
        self._rules.setVisible(bool(related.rules))

    def show_snapshots(self, snapshots: Sequence[ContextSnapshot]) -> None:
        """Show what was kept of the session at other times."""
        newest = sorted(snapshots, key=lambda snapshot: snapshot.at, reverse=True)
        lines = [snapshot_words(each) for each in newest[:_SHOWN_SNAPSHOTS]]
        self._snapshot_words.setText("\n".join(lines))
        self._snapshots.setVisible(bool(lines))


def snapshot_words(snapshot: ContextSnapshot, now: datetime | None = None) -> str:
    """Return what a snapshot is: when it was taken, why, and of how much."""
    return (
        f"{day_and_clock(snapshot.at, now)}: {counted(snapshot.turn_count, 'turn')},"
        f" {counted(snapshot.token_count, 'token')}, {_REASONS[snapshot.reason]}"
    )


def _link_card(title: str) -> tuple[Card, QVBoxLayout]:
    card = Card(title)
    rows = QVBoxLayout()
    rows.setSpacing(2)
    card.body.addLayout(rows)
    card.hide()
    return card, rows
