"""Retrieval tests: the questions that must find an item, green or red."""

from PySide6.QtCore import QModelIndex, Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import (
    QHBoxLayout,
    QLineEdit,
    QStackedWidget,
    QTableView,
    QVBoxLayout,
    QWidget,
)

from kmem_desktop.domain.changes import Noun
from kmem_desktop.domain.found import EntryQuery
from kmem_desktop.domain.retrieval_tests import (
    QUESTION_LENGTH,
    RemovedTest,
    RetrievalTest,
    State,
    TestRun,
)
from kmem_desktop.events import Change
from kmem_desktop.gui.appearance import appearance, theme
from kmem_desktop.gui.context import Context, Undo
from kmem_desktop.gui.lists.one_column import show_one_column
from kmem_desktop.gui.lists.retrieval_test_delegate import RetrievalTestDelegate
from kmem_desktop.gui.lists.retrieval_test_model import RetrievalTestModel
from kmem_desktop.gui.pages.columns import Columns
from kmem_desktop.gui.pages.page import Page, PageHead
from kmem_desktop.gui.pages.retrieval_test_pane import RetrievalTestPane
from kmem_desktop.gui.widgets.controls import Button
from kmem_desktop.gui.widgets.empty import EmptyState
from kmem_desktop.gui.widgets.labels import Hairline
from kmem_desktop.gui.wording import counted, quoted

_PURPOSE = "They are run after each update of kmem and each change of the model."
_STEPS = {Qt.Key.Key_J: 1, Qt.Key.Key_K: -1}


class RetrievalTestListView(QTableView):
    """The list of tests; its keys do what the buttons beside it do."""

    def __init__(self, page: "RetrievalTestsPage") -> None:
        """Show the tests of `page`."""
        super().__init__(page)
        self._page = page
        self.setAccessibleName("Retrieval tests")
        self.setModel(page.model)
        self._rows = RetrievalTestDelegate(self)
        self.setItemDelegate(self._rows)
        show_one_column(self)
        self.verticalHeader().setMinimumSectionSize(1)
        appearance().changed.connect(self._on_appearance_changed)
        self._on_appearance_changed()

    def _on_appearance_changed(self) -> None:
        self.verticalHeader().setDefaultSectionSize(self._rows.row_height())
        self.verticalScrollBar().setSingleStep(theme().px(36))

    def keyboardSearch(self, search: str) -> None:
        """Do nothing: letters are keys of the program here."""

    def keyPressEvent(self, event: QKeyEvent) -> None:
        deeds = {
            Qt.Key.Key_Return: self._page.choose_selected,
            Qt.Key.Key_Enter: self._page.choose_selected,
            Qt.Key.Key_R: self._page.run_selected,
            Qt.Key.Key_W: self._page.ask_why_not,
            Qt.Key.Key_Delete: self._page.remove_selected,
        }
        key = Qt.Key(event.key())
        if key == Qt.Key.Key_R and event.modifiers() == Qt.KeyboardModifier.ShiftModifier:
            self._page.run_all()
        elif event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier:
            super().keyPressEvent(event)
        elif key in deeds:
            deeds[key]()
        elif key in _STEPS:
            row = self.currentIndex().row() + _STEPS[key]
            self.selectRow(min(max(row, 0), self.model().rowCount() - 1))
        else:
            super().keyPressEvent(event)


class RetrievalTestsPage(Page):
    """Lists the tests, and keeps, runs and removes them."""

    def __init__(self, context: Context, parent: QWidget | None = None) -> None:
        """Lay out the page."""
        super().__init__(context, parent)
        self._service = context.services.retrieval_tests
        self._is_running = False
        self._is_narrow = False
        self.head = PageHead("Retrieval tests", " ")
        self.run_all_button = Button("Run all", key="Shift R")
        self.head.right.addWidget(self.run_all_button)
        self.question = QLineEdit()
        self.question.setPlaceholderText("A question that must find something")
        self.question.setAccessibleName("A question that must find something")
        self.question.setMaxLength(QUESTION_LENGTH[1])
        self.choose_button = Button("Choose what it must find…", key="↵")
        self.choose_button.setEnabled(False)
        self.model = RetrievalTestModel()
        self.list = RetrievalTestListView(self)
        self.pane = RetrievalTestPane()
        self.empty = EmptyState()
        self.empty.set_words(
            "No tests yet",
            "Keep a question and the item it must find, and kmem tells you when an update or"
            " another model no longer finds it: press T on a result of a search, or type the"
            " question above.",
        )
        self.columns = Columns(self.list, self.pane)
        self._stack = QStackedWidget()
        self._stack.setProperty("surface", "panel")
        self._stack.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        for widget in (QWidget(), self.columns, self.empty):
            self._stack.addWidget(widget)
        self._new = QHBoxLayout()
        self._new.addWidget(self.question, 1)
        self._new.addWidget(self.choose_button)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.head)
        column.addLayout(self._new)
        column.addWidget(Hairline())
        column.addWidget(self._stack, 1)
        self._connect()
        self._space()

    def _connect(self) -> None:
        self.run_all_button.clicked.connect(self.run_all)
        self.question.textChanged.connect(self._on_question_changed)
        self.question.returnPressed.connect(self._choose)
        self.choose_button.clicked.connect(self._choose)
        self.list.selectionModel().currentRowChanged.connect(self._on_current_changed)
        self.list.doubleClicked.connect(lambda _index: self.choose_selected())
        self.model.dataChanged.connect(self._show_current)
        toolbar = self.pane.toolbar
        toolbar.run.clicked.connect(self.run_selected)
        toolbar.open.clicked.connect(self.open_selected)
        toolbar.why.clicked.connect(self.ask_why_not)
        toolbar.remove.clicked.connect(self.remove_selected)
        toolbar.back.clicked.connect(self.go_back)
        self.pane.limit_changed.connect(self._on_limit_changed)
        appearance().changed.connect(self._space)
        end = self._service.listen(self.reload)
        self.destroyed.connect(end)

    def _space(self) -> None:
        look = theme()
        self._new.setContentsMargins(look.px(20), look.px(10), look.px(20), look.px(10))
        self._new.setSpacing(look.px(8))

    def activate(self) -> None:
        self.reload()

    def take_change(self, change: Change) -> None:
        if self.isVisible():
            self.reload()

    def focus_first(self) -> None:
        self.list.setFocus(Qt.FocusReason.OtherFocusReason)

    def focus_columns(self) -> list[QWidget]:
        return [self.question, self.list, self.pane]

    def set_narrow(self, narrow: bool) -> None:  # noqa: FBT001 - as in the base
        self._is_narrow = narrow
        self.columns.set_narrow(narrow)
        self.pane.toolbar.back.setVisible(narrow)

    def go_back(self) -> bool:
        if self.columns.right_covers:
            self.columns.open_right(False)
            self.list.setFocus()
            return True
        return False

    def reload(self) -> None:
        """Read the tests again."""
        self.context.tasks.run(self._service.tests(), self._show, topic="retrieval tests")

    def selected(self) -> RetrievalTest | None:
        """Return the selected test."""
        return self.model.test_at(self.list.currentIndex().row())

    def run_all(self) -> None:
        """Run every test."""
        if self._is_running or not self.model.rowCount():
            return
        self._is_running = True
        self.run_all_button.setEnabled(False)

        def progress(done: int, total: int) -> None:
            self.run_all_button.set_words(f"Running {done:,} of {total:,}…")

        self.context.tasks.run(self._run_all(progress), self._say_result)

    async def _run_all(self, progress: object) -> TestRun:
        try:
            return await self._service.run_these(progress=progress)  # type: ignore[arg-type]
        finally:
            self._is_running = False
            self.run_all_button.set_words("Run all", "Shift R")
            self.run_all_button.setEnabled(True)

    def run_selected(self) -> None:
        """Run the selected test."""
        test = self.selected()
        if test is not None and test.item.id:
            self.context.tasks.run(self._service.run_one(test.id))

    def choose_selected(self) -> None:
        """Show the item of the selected test; first the test itself where it has no room yet."""
        if self._is_narrow and not self.columns.right_covers:
            self.columns.open_right(True)
            self.pane.toolbar.open.setFocus()
        else:
            self.open_selected()

    def open_selected(self) -> None:
        """Show the item of the selected test."""
        test = self.selected()
        if test is None or not test.item.id:
            return
        if test.item.noun is Noun.TURN:
            self.context.shell.say("It is a turn of a conversation, which has no page of its own.")
            return
        noun = Noun.KNOWLEDGE if test.item.noun is Noun.KNOWLEDGE else Noun.ENTITY
        self.context.shell.open_item(noun, test.item.owner_id)

    def ask_why_not(self) -> None:
        """Explain why the selected test's item was not among the first."""
        test = self.selected()
        if test is not None and test.state is State.RED:
            query = EntryQuery(test.question, limit=test.among_first, scope=test.scope or None)
            self.context.shell.ask_why_not(query, test.item.uuid)

    def remove_selected(self) -> None:
        """Remove the selected test, and say how to have it back."""
        test = self.selected()
        if test is None:
            return

        def done(removed: RemovedTest) -> None:
            self.context.shell.say(
                f"Removed the test {quoted(removed.test.question)}.",
                Undo("Undo", lambda: self.context.tasks.run(self._service.put_back(removed))),
            )

        self.context.tasks.run(self._service.remove(test.id), done)

    def _on_limit_changed(self, among_first: int) -> None:
        test = self.pane.test
        if test is not None and test.among_first != among_first:
            self.context.tasks.run(self._service.set_among_first(test.id, among_first))

    def _on_question_changed(self, text: str) -> None:
        self.choose_button.setEnabled(bool(text.strip()))

    def _choose(self) -> None:
        question = self.question.text().strip()
        if question:
            self.context.shell.choose_item(question, lambda key: self._keep(question, key))

    def _keep(self, question: str, key: int | str) -> None:
        self.question.clear()
        self.context.shell.keep_as_test(question, key)

    def _show(self, tests: list[RetrievalTest]) -> None:
        selected = self.selected()
        self.model.set_tests(tests)
        self.head.set_words(_summary(tests))
        self.run_all_button.setVisible(bool(tests))
        self._stack.setCurrentWidget(self.columns if tests else self.empty)
        row = self.model.row_of(selected.id) if selected is not None else None
        if tests and (row is not None or not self.list.currentIndex().isValid()):
            self.list.selectRow(row or 0)
        self._show_current()

    def _on_current_changed(self, _current: QModelIndex, _previous: QModelIndex) -> None:
        self._show_current()

    def _show_current(self) -> None:
        self.pane.show_test(self.selected())

    def _say_result(self, ran: TestRun) -> None:
        red = ran.count(State.RED)
        words = f"{counted(len(ran.tests), 'test')} run: "
        if red:
            words += f"{counted(red, 'question does', 'questions do')} not find what it must."
        else:
            words += "every question finds what it must."
        self.context.shell.say(words)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        shift = Qt.KeyboardModifier.ShiftModifier
        if event.key() == Qt.Key.Key_R and event.modifiers() == shift:
            self.run_all()
        else:
            super().keyPressEvent(event)


def _summary(tests: list[RetrievalTest]) -> str:
    """Say how many tests there are, and how they stand."""
    if not tests:
        return "Questions that must find an item."
    counts = {state: sum(test.state is state for test in tests) for state in State}
    parts = [
        f"{counts[state]:,} {words}"
        for state, words in (
            (State.RED, "red"),
            (State.GREEN, "green"),
            (State.GREY, "without their item"),
            (State.NEW, "not run yet"),
        )
        if counts[state]
    ]
    return f"{counted(len(tests), 'question')}: {', '.join(parts)}. {_PURPOSE}"
