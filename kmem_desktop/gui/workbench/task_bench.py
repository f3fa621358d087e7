"""The workbench: a task is typed, and one sees what an assistant would be told, and why."""

from collections.abc import Sequence
from enum import Enum

from PySide6.QtCore import QRectF, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QFontMetricsF, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QLabel, QSizePolicy, QSpinBox, QStackedWidget, QVBoxLayout, QWidget

from kmem_desktop.domain.rule_library import (
    MAX_ITEMS,
    TASK_LENGTH,
    TOKEN_BUDGET,
    RuleAnswer,
    RuleFolder,
    RuleQuery,
)
from kmem_desktop.domain.rules import Layer, RankedDirective, RuleStatus, TaskContext
from kmem_desktop.gui.appearance import appearance, theme
from kmem_desktop.gui.context import Context
from kmem_desktop.gui.rules.directive_list import DirectiveLine, DirectiveListView, Statement
from kmem_desktop.gui.rules.rule_parts import clear
from kmem_desktop.gui.rules.sentences import (
    context_words,
    layer_name,
    project_name,
    source_words,
    why_parts,
)
from kmem_desktop.gui.theme import CONTROL_PX, Type
from kmem_desktop.gui.widgets.controls import Choice, Tick
from kmem_desktop.gui.widgets.empty import EmptyState
from kmem_desktop.gui.widgets.flow_layout import FlowLayout
from kmem_desktop.gui.widgets.labels import Hairline, Label
from kmem_desktop.gui.wording import counted
from kmem_desktop.gui.workbench.block_view import BlockView, WhyHere
from kmem_desktop.services.rules.explaining import severity_words

PAUSE_MS = 180
"""After the last key; a query takes some milliseconds, but each would redraw the page."""
_MODES = (
    ("", "Any work"),
    ("architect", "Architecture"),
    ("code", "Writing code"),
    ("debug", "Debugging"),
)
_LEAST_ALTERNATIVE = 0.15
_ROOM_PX = 400
"""Below this height the list needs all of it, and the reason is left out."""


class Surety(Enum):
    """How a word is shown: as being so, as being possible, or as part of a sentence."""

    SURE = ("accent", "accent_soft", "accent_soft", 10)
    POSSIBLE = ("ink2", "panel", "line", 10)
    PLAIN = ("ink2", "bg", "bg", 0)


class Pill(QLabel):
    """A word on a round ground: a layer, a topic."""

    def __init__(self, words: str, surety: Surety, parent: QWidget) -> None:
        """Show the word."""
        super().__init__(words, parent)
        self._ink, self._ground, self._outline, self._air = surety.value
        self._type = Type.BUTTON if surety is Surety.SURE else Type.BODY
        appearance().changed.connect(self.updateGeometry)
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)

    def sizeHint(self) -> QSize:
        look = theme()
        width = QFontMetricsF(look.font(self._type)).horizontalAdvance(self.text())
        return QSize(round(width + 0.5) + 2 * look.px(self._air) + 2, look.px(24))

    def minimumSizeHint(self) -> QSize:
        return self.sizeHint()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        look = theme()
        rect = QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5)
        painter.setPen(look.color(self._outline))
        painter.setBrush(look.color(self._ground))
        painter.drawRoundedRect(rect, rect.height() / 2, rect.height() / 2)
        painter.setFont(look.font(self._type))
        painter.setPen(look.color(self._ink))
        painter.drawText(rect, Qt.AlignmentFlag.AlignCenter, self.text())


class ContextLine(QWidget):
    """What a task looks like: its layer, in words how sure that is, and its topics."""

    def __init__(self, parent: QWidget | None = None) -> None:
        """Start without words."""
        super().__init__(parent)
        self._flow = FlowLayout(self, gap=6)

    def words(self) -> str:
        """Return what is said."""
        return " ".join(label.text() for label in self.findChildren(QLabel) if label.isVisible())

    def show_context(self, context: TaskContext | None) -> None:
        """Say what a task looks like."""
        clear(self._flow)
        if context is None:
            return
        self._flow.addWidget(Pill(context_words(context), Surety.PLAIN, self))
        has_layer = context.layer is not Layer.ANY and context.method != "default"
        if has_layer:
            pill = Pill(layer_name(context.layer), Surety.SURE, self)
            pill.setToolTip(f"{context.confidence:.0%} of such answers are right")
            self._flow.addWidget(pill)
        for topic in context.topics:
            self._flow.addWidget(Pill(topic, Surety.SURE, self))
        for layer, share in context.alternatives[:2]:
            if has_layer and layer is not context.layer and share >= _LEAST_ALTERNATIVE:
                maybe = Pill(f"{layer_name(layer)}?", Surety.POSSIBLE, self)
                maybe.setToolTip(f"{share:.0%}")
                self._flow.addWidget(maybe)
        for row in range(self._flow.count()):
            item = self._flow.itemAt(row)
            if item is not None and (widget := item.widget()) is not None:
                widget.show()
        self.updateGeometry()


class TaskOptions(QWidget):
    """How a task is asked: for which project, which work, and how much comes back.

    Signals:
        changed: Something was chosen.
    """

    changed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        """Offer the defaults that an assistant has."""
        super().__init__(parent)
        self.scope = Choice("Rules of which project")
        self.scope.addItem("Every project", "")
        self.mode = Choice("Kind of work")
        for mode, words in _MODES:
            self.mode.addItem(words, mode)
        defaults = RuleQuery("")
        self.items = NumberBox("At most so many rules", MAX_ITEMS, defaults.max_items, " rules")
        self.tokens = NumberBox(
            "About so many tokens", TOKEN_BUDGET, defaults.token_budget, " tokens"
        )
        self.tokens.setSingleStep(100)
        self.strict = Tick("This layer only")
        flow = FlowLayout(self, gap=8)
        for widget in (
            self.scope,
            self.mode,
            self.items,
            self.tokens,
            self.strict,
        ):
            flow.addWidget(widget)
        for choice in (self.scope, self.mode):
            choice.currentIndexChanged.connect(self.changed)
        for number in (self.items, self.tokens):
            number.valueChanged.connect(self.changed)
        self.strict.toggled.connect(self.changed)
        appearance().changed.connect(self._space)
        self._space()

    def _space(self) -> None:
        # Boxes and ticks stand in one line: they have one height.
        self.strict.setMinimumHeight(theme().px(CONTROL_PX))

    def set_projects(self, folders: Sequence[RuleFolder]) -> None:
        """Offer these projects; the chosen one stays chosen."""
        chosen = self.scope.currentData()
        self.scope.blockSignals(True)
        self.scope.clear()
        self.scope.addItem("Every project", "")
        for folder in folders:
            self.scope.addItem(project_name(folder), folder.scope)
        self.scope.setCurrentIndex(max(0, self.scope.findData(chosen)))
        self.scope.blockSignals(False)
        self.scope.setVisible(len(folders) > 1)
        self.scope.updateGeometry()

    def query(self, task: str) -> RuleQuery:
        """Return the question for a task."""
        return RuleQuery(
            task=task,
            mode=str(self.mode.currentData()),
            strict_layer=self.strict.isChecked(),
            max_items=self.items.value(),
            token_budget=self.tokens.value(),
            scope=str(self.scope.currentData()),
        )


class NumberBox(QSpinBox):
    """A number with its unit, as wide as its largest value."""

    def __init__(self, name: str, limits: tuple[int, int], value: int, unit: str) -> None:
        """Begin with `value`; `name` is for screen readers."""
        super().__init__()
        self.setRange(*limits)
        self.setValue(value)
        self.setSuffix(unit)
        self.setGroupSeparatorShown(True)
        self.setAccessibleName(name)
        self.setToolTip(f"{name}, {limits[0]:,} to {limits[1]:,}")
        self.setKeyboardTracking(False)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.lineEdit().setTextMargins(6, 0, 0, 0)

    def sizeHint(self) -> QSize:
        look = theme()
        widest = f"{self.maximum():,}{self.suffix()}"
        width = QFontMetricsF(look.font(Type.BODY)).horizontalAdvance(widest)
        return QSize(round(width) + 6 + look.px(16), super().sizeHint().height())


class TaskBench(QWidget):
    """The list of what matters for a task, with the reason for the selected one below it.

    Signals:
        answered: Another answer is shown (`RuleAnswer`, or None without a task).
        directive_wanted: A directive is to be shown in the library (its id).
        review_wanted: What is proposed is to be reviewed.
    """

    answered = Signal(object)
    directive_wanted = Signal(int)
    review_wanted = Signal()

    def __init__(self, context: Context, parent: QWidget | None = None) -> None:
        """Start without a task."""
        super().__init__(parent)
        self._context = context
        self._topic = f"rules for a task {id(self)}"
        self.task = ""
        self._shown_task = ""
        self.answer: RuleAnswer | None = None
        self.context_line = ContextLine()
        self.options = TaskOptions()
        self.list = DirectiveListView("Rules for this task")
        self.why = WhyHere()
        self.block = BlockView()
        self.foot = Label("", Type.META, "ink3", wrap=True)
        self.empty = EmptyState()
        self._stack = QStackedWidget()
        for widget in (self.empty, self.list):
            self._stack.addWidget(widget)
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(PAUSE_MS)
        self._timer.timeout.connect(self.ask_now)
        self._head = QVBoxLayout()
        self._head.addWidget(self.options)
        self._foot_line = QVBoxLayout()
        self._foot_line.addWidget(self.foot)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addLayout(self._head)
        column.addWidget(Hairline())
        column.addWidget(self._stack, 1)
        column.addLayout(self._foot_line)
        column.addWidget(self.why)
        self._connect()
        self._space()
        self._show_nothing()

    def _connect(self) -> None:
        self.options.changed.connect(self._timer.start)
        self.list.current_changed.connect(self._on_current_changed)
        self.list.chosen.connect(self._on_chosen)
        self.why.show_wanted.connect(lambda: self._on_chosen(self.list.current_key()))
        self.block.review_wanted.connect(self.review_wanted)
        appearance().changed.connect(self._space)

    def _space(self) -> None:
        look = theme()
        self._head.setContentsMargins(look.px(20), look.px(8), look.px(20), look.px(8))
        self._foot_line.setContentsMargins(look.px(20), look.px(8), look.px(20), look.px(8))

    def ask(self, task: str) -> None:
        """Ask after a short pause, unless something else is typed meanwhile."""
        self.task = task.strip()
        self._timer.start()

    def ask_now(self) -> None:
        """Ask what stands there."""
        self._timer.stop()
        if not self.task:
            self._context.tasks.drop(self._topic)
            self._show_nothing()
            return
        query = self.options.query(self.task[: TASK_LENGTH[1]])
        self._context.tasks.run(
            self._context.services.rules.queries.query(query), self._show, topic=self._topic
        )

    def ranked(self, key: str) -> RankedDirective | None:
        """Return what stands in a row."""
        found = self.answer.ranked if self.answer is not None else ()
        return next((each for each in found if each.id == key), None)

    def _show_nothing(self) -> None:
        self.answer = None
        self.empty.set_words(
            "What is to be done?",
            "Type a task as you would tell it an assistant: you see which rules it would be given,"
            " where each comes from, and why it is there.",
        )
        self._stack.setCurrentWidget(self.empty)
        self._show_parts(None)

    def _show(self, answer: RuleAnswer) -> None:
        is_new = self._shown_task != self.task
        self._shown_task = self.task
        self.answer = answer
        lines = _lines(answer)
        self.list.set_lines(lines, anew=is_new)
        if not lines:
            words = "Nothing of what is known has to do with it. Other words may, or fewer limits."
            self.empty.set_words("No rule applies to this task", words)
        self._stack.setCurrentWidget(self.list if lines else self.empty)
        self._show_parts(answer)

    def _show_parts(self, answer: RuleAnswer | None) -> None:
        self.context_line.show_context(answer.context if answer is not None else None)
        self.foot.setText(_foot_words(answer) if answer is not None else "")
        self.foot.setVisible(answer is not None)
        self.why.show_ranked(self.ranked(self.list.current_key()))
        self.block.show_answer(answer)
        self.answered.emit(answer)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.why.set_room(self.height() >= theme().px(_ROOM_PX))

    def _on_current_changed(self, key: str) -> None:
        self.why.show_ranked(self.ranked(key))

    def _on_chosen(self, key: str) -> None:
        if key.isdigit():
            self.directive_wanted.emit(int(key))


def _lines(answer: RuleAnswer) -> list[DirectiveLine]:
    """Return what goes to the assistant in its order, then what matters but does not fit."""
    by_id = {each.id: each for each in answer.ranked}
    sent = [by_id[citation.id] for citation in answer.citations if citation.id in by_id]
    sent_ids = {each.id for each in sent}
    rest = [each for each in answer.ranked if each.id not in sent_ids]
    return [_line(each, "") for each in sent] + [_line(each, "not sent: no room") for each in rest]


def _line(ranked: RankedDirective, mark: str) -> DirectiveLine:
    directive = ranked.directive
    reasons = why_parts(ranked.breakdown, ranked)[:2]
    facts = " · ".join((source_words(ranked.path, directive.line), *reasons))
    if ranked.status is RuleStatus.PROPOSED:
        mark = mark or "proposed"
    return DirectiveLine(
        ranked.id, (Statement(severity_words(directive), directive.text),), facts, mark
    )


def _foot_words(answer: RuleAnswer) -> str:
    """Return how many of all directives go to the assistant."""
    if answer.fallback in ("no_rules", "database_unavailable"):
        return f"{counted(answer.selected, 'baseline rule')} of kmem's own."
    rest = answer.searched - len(answer.ranked)
    unsent = len(answer.ranked) - answer.selected
    words = f"{answer.selected:,} of {answer.searched:,} go to the assistant"
    if unsent > 0:
        words += f", {unsent:,} more would fit the task"
    return f"{words}; {rest:,} have nothing to do with it." if rest > 0 else f"{words}."
