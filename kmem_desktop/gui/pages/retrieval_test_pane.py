"""One retrieval test: what it asks, what it came to now and before, and what can be done."""

from PySide6.QtCore import Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QSpinBox, QStackedWidget, QVBoxLayout, QWidget

from kmem_desktop.domain.retrieval_tests import AMONG_FIRST, Result, RetrievalTest, State
from kmem_desktop.gui.detail.parts import PaneBar, ScrolledColumn
from kmem_desktop.gui.lists.retrieval_test_delegate import STATE_COLORS
from kmem_desktop.gui.theme import Type
from kmem_desktop.gui.widgets.controls import Button, IconButton, Look
from kmem_desktop.gui.widgets.labels import Card, Label
from kmem_desktop.gui.wording import exactly, when


class TestToolbar(QWidget):
    """Run, Open the item, Why not and, apart from them, Remove."""

    __test__ = False  # no test of pytest's

    def __init__(self, parent: QWidget | None = None) -> None:
        """Show the four buttons."""
        super().__init__(parent)
        self.back = IconButton("arrow-left", "Back to the list (Esc)")
        self.back.hide()
        self.run = Button("Run", key="R")
        self.open = Button("Open item", key="↵")
        self.why = Button("Why not?", key="W")
        self.remove = Button("Remove", key="Del")
        self._buttons = (self.run, self.open, self.why, self.remove)
        line = QHBoxLayout(self)
        line.setContentsMargins(0, 0, 0, 0)
        line.setSpacing(6)
        for button in (self.back, self.run, self.open, self.why):
            line.addWidget(button)
        line.addStretch(1)
        line.addWidget(self.remove)

    def fit(self) -> None:
        """Show the keys where there is room for all of them."""
        shown = [button for button in self._buttons if not button.isHidden()]
        needed = sum(button.full_width() + 6 for button in shown)
        needed += self.back.width() if self.back.isVisible() else 0
        for button in self._buttons:
            button.set_key_shown(needed <= self.width())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.fit()


class RetrievalTestPane(QWidget):
    """Shows a test.

    Signals:
        limit_changed: The item may stand so far down from now on.
    """

    limit_changed = Signal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        """Start without a test."""
        super().__init__(parent)
        self.test: RetrievalTest | None = None
        self.toolbar = TestToolbar()
        self._question = Label("", Type.TITLE, wrap=True).allow_selection()
        self._facts = Label("", Type.META, "ink3", wrap=True)
        self._result = Label("", Type.BODY_STRONG, wrap=True)
        self._ran = Label("", Type.META, "ink3", wrap=True)
        self._before = Label("", Type.BODY, "ink2", wrap=True)
        self._item = Button("", look=Look.LINK)
        self._item.clicked.connect(self.toolbar.open.click)
        self.limit = QSpinBox()
        self.limit.setRange(*AMONG_FIRST)
        self.limit.setKeyboardTracking(False)
        self.limit.setAccessibleName("Among the first so many results")
        self.limit.setFixedWidth(64)
        self.limit.lineEdit().setTextMargins(8, 0, 0, 0)
        self.limit.valueChanged.connect(self._on_limit_changed)
        self._modes = QStackedWidget()
        self._modes.addWidget(QWidget())
        self._modes.addWidget(self._build())
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(self._modes)

    def _build(self) -> QWidget:
        page = QWidget()
        column = QVBoxLayout(page)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        bar = PaneBar()
        bar.line.addWidget(self.toolbar)
        column.addWidget(bar)
        scrolled = ScrolledColumn("Retrieval test")
        outcome = Card("What it came to")
        outcome.body.setSpacing(4)
        outcome.body.addWidget(self._result)
        outcome.body.addWidget(self._ran)
        outcome.body.addWidget(self._before)
        wanted = Card("Must find")
        wanted.body.addWidget(self._item)
        line = QHBoxLayout()
        line.setSpacing(8)
        line.addWidget(Label("among the first", Type.BODY, "ink2"))
        line.addWidget(self.limit)
        line.addWidget(Label("results", Type.BODY, "ink2"))
        line.addStretch(1)
        wanted.body.addLayout(line)
        scrolled.column.addWidget(self._question)
        scrolled.column.addSpacing(2)
        scrolled.column.addWidget(self._facts)
        scrolled.column.addSpacing(14)
        scrolled.column.addWidget(outcome)
        scrolled.column.addSpacing(12)
        scrolled.column.addWidget(wanted)
        column.addWidget(scrolled, 1)
        return page

    def show_test(self, test: RetrievalTest | None) -> None:
        """Show a test, or nothing."""
        self.test = test
        self._modes.setCurrentIndex(0 if test is None else 1)
        if test is None:
            return
        self._question.setText(test.question)
        asked = f"in {test.scope} and everywhere" if test.scope else "of everything"
        self._facts.setText(
            f"Asked {asked}, as assistants ask search_knowledge. Kept {when(test.created_at)}."
        )
        self._facts.setToolTip(f"Kept {exactly(test.created_at)}")
        self._result.setText(result_words(test))
        self._result.set_color("ink" if test.state is State.NEW else STATE_COLORS[test.state])
        is_run = test.last is not None and test.state is not State.GREY
        self._ran.setVisible(is_run)
        if test.last is not None:
            self._ran.setText(f"Ran {when(test.last.last_at)} {_with(test.last)}.")
            self._ran.setToolTip(exactly(test.last.last_at))
        before = before_sentence(test)
        self._before.setText(before)
        self._before.setVisible(bool(before))
        self._item.set_words(test.item.title or "An item that is gone for good")
        is_there = test.state is not State.GREY
        self._item.setEnabled(is_there)
        self.limit.blockSignals(True)
        self.limit.setValue(test.among_first)
        self.limit.blockSignals(False)
        self.limit.setEnabled(is_there)
        for button in (self.toolbar.run, self.toolbar.open):
            button.setEnabled(is_there)
        self.toolbar.why.setVisible(test.state is State.RED)
        self.toolbar.remove.set_words("Remove test" if not is_there else "Remove", "Del")
        self.toolbar.fit()

    def _on_limit_changed(self, value: int) -> None:
        self.limit_changed.emit(value)


def result_words(test: RetrievalTest) -> str:
    """Say what a test came to last."""
    if test.state is State.GREY:
        return (
            "Its item was deleted, so there is nothing to find. Bring it back, or remove the test."
        )
    last = test.last
    if last is None:
        return "It has not been run yet."
    if last.place is None:
        return "Not found at all."
    return f"Found {'' if last.is_found else 'only '}at place {last.place}."


def before_sentence(test: RetrievalTest) -> str:
    """Say what a test came to before; empty where nothing else ever came out."""
    before = test.before
    if before is None or test.state is State.GREY:
        return ""
    place = "not found" if before.place is None else f"at place {before.place}"
    return f"Until {when(before.last_at)} it was {place} {_with(before)}."


def _with(result: Result) -> str:
    # A model's name is not broken at its hyphens.
    model = result.situation.model.replace("-", "\u2011") or "words alone"
    return f"with kmem {result.situation.program} and {model}"
