"""Rules: what every project asks of its assistants, what waits, and what a task would get."""

from collections.abc import Callable, Sequence

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QApplication, QStackedWidget, QVBoxLayout, QWidget

from kmem_desktop.domain.changes import Noun
from kmem_desktop.domain.rule_library import IngestionReport, RuleAnswer, StoredDirective
from kmem_desktop.errors import KmemError
from kmem_desktop.events import Change
from kmem_desktop.gui.appearance import appearance, theme
from kmem_desktop.gui.context import Context
from kmem_desktop.gui.pages.columns import Columns
from kmem_desktop.gui.pages.page import Page
from kmem_desktop.gui.rules.library_snapshot import Library, LibraryReader
from kmem_desktop.gui.rules.rule_deeds import RuleDeeds, choose_folder, choose_rule_files
from kmem_desktop.gui.rules.rule_detail import RuleDetail
from kmem_desktop.gui.rules.rule_lists import Face, FaceBar, RuleLists
from kmem_desktop.gui.rules.rule_tree_model import Key, Kind
from kmem_desktop.gui.rules.sentences import answer_words
from kmem_desktop.gui.widgets.controls import Button
from kmem_desktop.gui.widgets.labels import Hairline
from kmem_desktop.gui.widgets.search_field import SearchField
from kmem_desktop.gui.workbench.task_bench import TaskBench

_CONTROL = Qt.KeyboardModifier.ControlModifier
_ALT = Qt.KeyboardModifier.AltModifier
_SHIFT = Qt.KeyboardModifier.ShiftModifier
_NONE = Qt.KeyboardModifier.NoModifier
_TASK_KEYS = {
    *((key, _NONE) for key in (Qt.Key.Key_L, Qt.Key.Key_T, Qt.Key.Key_W, Qt.Key.Key_C)),
    (Qt.Key.Key_V, _NONE),
    (Qt.Key.Key_Return, _CONTROL),
    (Qt.Key.Key_Enter, _CONTROL),
    (Qt.Key.Key_O, _CONTROL),
    (Qt.Key.Key_O, _CONTROL | _SHIFT),
}


class RulesPage(Page):
    """The page: a field, four faces, the list of each and the detail beside it."""

    def __init__(self, context: Context, parent: QWidget | None = None) -> None:
        """Lay out the page."""
        super().__init__(context, parent)
        self.library: Library | None = None
        self._face = Face.LIBRARY
        self._texts = dict.fromkeys(Face, "")
        self._is_stale = False
        self._focus_later = False
        self._wanted_directive = 0
        self.deeds = RuleDeeds(context, self.focus_list)
        self.field = SearchField(Face.LIBRARY.value)
        self.bar = FaceBar()
        self.bench = TaskBench(context)
        self.lists = RuleLists(self.bench)
        self.pane = RuleDetail(context, self.deeds)
        self.reader = LibraryReader(
            context.services, context.tasks, self._documents_to_read, parent=self
        )
        self._right = QStackedWidget()
        self._right.addWidget(self.pane)
        self._right.addWidget(self.bench.block)
        self.columns = Columns(self.lists, self._right)
        self._keys = self._build_keys()
        self._lay_out()
        self._connect()
        self._space()
        self._show_face()

    def _lay_out(self) -> None:
        self._head = QVBoxLayout()
        self._head.addWidget(self.field)
        self._head.addWidget(self.bar)
        self._head.addWidget(self.bench.context_line)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addLayout(self._head)
        column.addWidget(Hairline())
        column.addWidget(self.columns, 1)

    def _connect(self) -> None:
        self.bar.wanted.connect(self.show_face)
        self.bar.add_wanted.connect(self.choose_project)
        self.bar.import_wanted.connect(self.choose_files)
        self.field.asked.connect(self._on_text)
        self.field.moved.connect(self._on_moved)
        self.field.entered.connect(self._on_entered)
        self.field.left.connect(self.focus_list)
        self.reader.loaded.connect(self._show)
        self.reader.failed.connect(self._on_failed)
        lists = self.lists
        lists.model.directives_wanted.connect(self._load_document)
        lists.current_changed.connect(self._on_selected)
        lists.chosen.connect(self._on_chosen)
        lists.face_wanted.connect(self.show_face)
        lists.everything_wanted.connect(self.field.edit.clear)
        lists.add_wanted.connect(self.choose_project)
        lists.import_wanted.connect(self.choose_files)
        lists.again_wanted.connect(self.reader.read)
        self.pane.directive_wanted.connect(self.open_directive)
        self.pane.document_wanted.connect(lambda rule_id: self.go_to(("rule", rule_id)))
        self.pane.topic_wanted.connect(self._on_topic)
        self.pane.closed.connect(self._leave_right)
        self.pane.left.connect(self._on_left)
        self.bench.answered.connect(self._on_answered)
        self.bench.directive_wanted.connect(self.open_directive)
        self.bench.review_wanted.connect(lambda: self.show_face(Face.WAITING))
        self.bench.block.copy_wanted.connect(self.copy)
        self.bench.block.closed.connect(self._leave_right)
        appearance().changed.connect(self._space)

    def _space(self) -> None:
        look = theme()
        self._head.setContentsMargins(look.px(20), look.px(15), look.px(20), look.px(10))
        self._head.setSpacing(look.px(10))

    # What the window asks

    def activate(self) -> None:
        if self.library is None or self._is_stale:
            self._is_stale = False
            self.reader.read()

    def take_change(self, change: Change) -> None:
        if change.noun is not Noun.DIRECTIVE and change.origin is not None:
            return
        model = self.lists.model
        self.reader.outdate(model.rules_of(change.ids) if change.ids else model.loaded)
        if self.isVisible():
            self.reader.read_soon()
        else:
            self._is_stale = True

    def focus_search(self) -> bool:
        self.field.edit.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.field.edit.selectAll()
        return True

    def focus_first(self) -> None:
        self._focus_later = self.library is None
        self.focus_list()

    def focus_columns(self) -> list[QWidget]:
        return [self.field.edit, self.lists.list_of(self._face), self._right]

    def has_something_to_lose(self) -> bool:
        return self.pane.has_something_to_lose()

    def set_narrow(self, narrow: bool) -> None:  # noqa: FBT001 - as in the base
        self.columns.set_narrow(narrow)
        self.pane.set_narrow(narrow)
        self.bench.block.back.setVisible(narrow)

    def go_back(self) -> bool:
        if self.pane.is_editing and self._face is not Face.TASK:
            self.pane.cancel_edit()
        elif self.pane.shows_report and self._face is not Face.TASK:
            self._on_left()
        elif self.columns.right_covers:
            self._leave_right()
        elif self.field.edit.text():
            self.field.edit.clear()
        elif self._face is not Face.LIBRARY:
            self.show_face(Face.LIBRARY)
        elif not self.lists.tree.hasFocus() and self.lists.tree.isVisible():
            self.lists.tree.setFocus()
        else:
            return False
        return True

    # Faces

    @property
    def face(self) -> Face:
        """What the page shows."""
        return self._face

    def show_face(self, face: Face) -> None:
        """Show all rules, those for a task, those that wait, or the contradictions."""
        self._texts[self._face] = self.field.edit.text()
        self._face = face
        self.columns.open_right(False)
        self._show_face()
        self._on_selected()
        if face is Face.TASK:
            self.focus_search()
        else:
            self.focus_list()

    def _show_face(self) -> None:
        face = self._face
        edit = self.field.edit
        edit.setPlaceholderText(face.value)
        edit.setAccessibleName(face.value)
        if edit.text() != self._texts[face]:
            edit.blockSignals(True)
            edit.setText(self._texts[face])
            edit.blockSignals(False)
        is_task = face is Face.TASK
        self._right.setCurrentWidget(self.bench.block if is_task else self.pane)
        self.bench.context_line.setVisible(is_task and self.bench.answer is not None)
        self._show_lists()

    def _show_lists(self) -> None:
        """Show the list of the face, the chips with their counts, and what the field says."""
        library = self.library
        self.bar.show_face(self._face, library or Library())
        if library is None:
            self.lists.show_loading()
            return
        has_keyboard = self.lists.isAncestorOf(QApplication.focusWidget() or self)
        has_something = self.lists.show_list(self._face)
        if has_keyboard and not self.lists.isAncestorOf(QApplication.focusWidget() or self):
            self.focus_list()
        if not has_something and not self.pane.is_editing and not self.pane.shows_report:
            self.pane.show_nothing()
        self.field.note.setText(self._note(library))

    def _note(self, library: Library) -> str:
        if self._face is Face.TASK:
            return answer_words(self.bench.answer) if self.bench.answer is not None else ""
        return "" if library.is_empty else self.lists.note(self._face)

    def focus_list(self) -> None:
        """Put the keyboard on the list of this face."""
        shown = self.lists.list_of(self._face)
        target = self.bench.list if self._face is Face.TASK else shown
        if not target.isVisible():
            target = self.lists.empty.findChild(Button) or self.field.edit
        target.setFocus(Qt.FocusReason.OtherFocusReason)

    # Reading

    def _documents_to_read(self, library: Library) -> set[int]:
        """Return what a filter has to look through and was not read yet."""
        model = self.lists.model
        return library.by_id.keys() - model.loaded if model.is_filtered else set()

    def _show(self, library: Library, directives: dict[int, Sequence[StoredDirective]]) -> None:
        self.library = self.pane.library = library
        self.lists.set_library(library, directives)
        self.bench.options.set_projects(library.folders)
        self._show_lists()
        if self._face is Face.TASK:
            self.bench.ask_now()
        self._show_selected()
        if self._focus_later:
            self._focus_later = False
            self.focus_list()
        if self._wanted_directive:
            wanted, self._wanted_directive = self._wanted_directive, 0
            self.open_directive(wanted)

    def _on_failed(self, error: KmemError) -> None:
        self.lists.show_failure(f"{error.message} {error.hint}".strip())

    def _load_document(self, rule_id: int) -> None:
        def show(directives: Sequence[StoredDirective]) -> None:
            self.lists.model.set_directives(rule_id, directives)
            self.lists.tree.restore_open()

        found = self.context.services.rules.library.directives(rule_id)
        self.context.tasks.run(found, show)

    # What is typed

    def _on_text(self, text: str) -> None:
        self._texts[self._face] = text
        if self._face is Face.TASK:
            self.bench.ask(text)
            return
        self.lists.set_filter(self._face, text)
        if self._face is Face.LIBRARY:
            if self.lists.lacks_documents():
                self.reader.read()
            self.lists.open_matches()
        self._show_lists()
        self._show_selected()

    def _on_moved(self, step: int) -> None:
        views = {
            Face.LIBRARY: self.lists.tree.move,
            Face.WAITING: self.lists.waiting.move,
            Face.CONFLICTS: self.lists.conflicts.move,
            Face.TASK: self.bench.list.move,
        }
        views[self._face](step)

    def _on_entered(self) -> None:
        if self._face is Face.TASK:
            self.bench.ask_now()
        self.focus_list()

    def _on_answered(self, answer: RuleAnswer | None) -> None:
        self.bench.context_line.setVisible(self._face is Face.TASK and answer is not None)
        self._show_lists()

    def _on_topic(self, topic: str) -> None:
        self.show_face(Face.LIBRARY)
        self.field.edit.setText(topic)

    # What is selected

    def _on_selected(self) -> None:
        if self.pane.is_editing:
            if self.pane.has_something_to_lose():
                return
            self.pane.close_form()
        self._show_selected(leave_report=True)

    def _show_selected(self, *, leave_report: bool = False) -> None:
        """Show what is selected, unless a form or a report is open."""
        if self.library is None or self.pane.is_editing:
            return
        if self.pane.shows_report and not leave_report:
            return
        if self._face is Face.LIBRARY:
            self._show_node()
        elif self._face is Face.WAITING:
            key = self.lists.waiting.current_key()
            found = (each for each in self.library.proposed if str(each.id) == key)
            if (stored := next(found, None)) is not None:
                self.pane.show_directive(stored)
        elif self._face is Face.CONFLICTS:
            row = self.lists.conflicts.current_key()
            pairs = (c for c in self.library.conflicts if f"{c.first.id}-{c.second.id}" == row)
            if (conflict := next(pairs, None)) is not None:
                self.pane.show_conflict(conflict)

    def _show_node(self) -> None:
        node, library = self.lists.tree.current_node(), self.library
        if node is None or library is None or not self.lists.tree.isVisibleTo(self.lists):
            return
        if node.stored is not None:
            self.pane.show_directive(node.stored)
        elif node.kind is Kind.RULE and node.rule is not None:
            self.pane.show_document(node.rule)
        elif node.kind is Kind.SECTION and node.rule is not None:
            rule = library.by_id.get(node.rule.id, node.rule)
            self.pane.show_section(rule, str(node.key[2]))
        elif node.folder is not None:
            self.pane.show_folder(node.folder)
        else:
            rules = [child.rule for child in node.children if child.rule is not None]
            self.pane.show_shelf(node.words, rules)

    def _on_chosen(self) -> None:
        self._show_selected(leave_report=True)
        self.columns.open_right(True)
        self.pane.focus_shown()

    def _on_left(self) -> None:
        """Go on where a form or a report was opened."""
        if self.pane.shows_report:
            self.columns.open_right(False)
        self._show_selected(leave_report=True)
        if self.pane.shows_report:
            self.pane.show_nothing()
        self.focus_list()

    def _leave_right(self) -> None:
        self.columns.open_right(False)
        self.focus_list()

    def open_directive(self, directive_id: int) -> None:
        """Show a directive in the tree, wherever it stands."""
        library = self.context.services.rules.library

        async def found() -> tuple[StoredDirective, list[StoredDirective]]:
            stored = await library.directive(directive_id)
            return stored, await library.directives(stored.rule.id)

        def show(answer: tuple[StoredDirective, list[StoredDirective]]) -> None:
            stored, directives = answer
            if self.library is None or stored.rule.id not in self.library.by_id:
                # The page was not shown yet, or not since that document came.
                self._wanted_directive = directive_id
                self.reader.read()
                return
            if stored.rule.id not in self.lists.model.loaded:
                self.lists.model.set_directives(stored.rule.id, directives)
            self.go_to(("directive", directive_id))

        self.context.tasks.run(found(), show, topic="open directive")

    def go_to(self, key: Key) -> None:
        """Show something in the tree, without a filter that hides it."""
        self._texts[Face.LIBRARY] = ""
        self.lists.set_filter(Face.LIBRARY, "")
        if self._face is Face.LIBRARY:
            self.field.edit.clear()
        else:
            self.show_face(Face.LIBRARY)
        tree = self.lists.tree
        tree.open_keys(self.lists.model.ancestors(key))
        if tree.select(key):
            self._on_chosen()

    # What is done

    def choose_project(self) -> None:
        """Let a project's folder be chosen, then read its rules."""
        choose_folder(self, self.add_project)

    def add_project(self, path: str) -> None:
        """Read a project's rules, and report what was understood."""
        self.deeds.add_project(path, self._show_report)

    def choose_files(self) -> None:
        """Let rule files be chosen, then read them once."""
        choose_rule_files(self, self.import_files)

    def import_files(self, paths: list[str]) -> None:
        """Read files once, and report what was understood."""
        self.deeds.import_files(paths, self._show_report)

    def _show_report(self, title: str, report: IngestionReport, base: str) -> None:
        if self._face is Face.TASK:
            self.show_face(Face.LIBRARY)
        self.pane.show_report(title, report, base)
        self.columns.open_right(True)

    def judge(self, deed: str) -> None:
        """Approve or reject what is selected; of what waits, go on to the next."""
        if not self.pane.bar.offers(deed):
            return
        self.pane.do(deed)
        if self._face is Face.WAITING:
            self.lists.waiting.move(1)

    def copy(self) -> None:
        """Put the block, or what the detail shows, on the clipboard."""
        answer = self.bench.answer
        if self._face is not Face.TASK:
            self.pane.copy()
        elif answer is not None:
            self.deeds.copy(answer.block, "what the assistant gets")

    def _on_face(self, face: Face) -> None:
        if self.bar.offers(face):
            self.show_face(face)

    def _build_keys(self) -> dict[tuple[Qt.Key, Qt.KeyboardModifier], Callable[[], object]]:
        key, pane = Qt.Key, self.pane
        return {
            (key.Key_L, _NONE): lambda: self._on_face(Face.LIBRARY),
            (key.Key_T, _NONE): lambda: self._on_face(Face.TASK),
            (key.Key_W, _NONE): lambda: self._on_face(Face.WAITING),
            (key.Key_C, _NONE): lambda: self._on_face(Face.CONFLICTS),
            (key.Key_A, _NONE): lambda: self.judge("approve"),
            (key.Key_R, _NONE): lambda: self.judge("reject"),
            (key.Key_P, _NONE): lambda: pane.do("propose"),
            (key.Key_E, _NONE): lambda: pane.do("edit"),
            (key.Key_O, _NONE): lambda: pane.do("open"),
            (key.Key_G, _NONE): lambda: pane.do("read"),
            (key.Key_Delete, _NONE): lambda: pane.do("forget"),
            (key.Key_F, _NONE): lambda: pane.settle(take=True),
            (key.Key_M, _NONE): lambda: pane.settle(take=False),
            (key.Key_S, _NONE): pane.save_as,
            (key.Key_V, _NONE): self.bench.block.toggle_raw,
            (key.Key_1, _NONE): lambda: pane.show_side(1),
            (key.Key_2, _NONE): lambda: pane.show_side(2),
            (key.Key_1, _ALT): lambda: pane.reject_side(1),
            (key.Key_2, _ALT): lambda: pane.reject_side(2),
            (key.Key_Return, _CONTROL): self.copy,
            (key.Key_Enter, _CONTROL): self.copy,
            (key.Key_S, _CONTROL): pane.save,
            (key.Key_O, _CONTROL): self.choose_project,
            (key.Key_O, _CONTROL | _SHIFT): self.choose_files,
        }

    def keyPressEvent(self, event: QKeyEvent) -> None:
        modifiers = event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier
        key = (Qt.Key(event.key()), modifiers)
        deed = self._keys.get(key)
        # What is not seen is not to be judged: beside a task there is the block, not the detail.
        rests = self._face is Face.TASK and key not in _TASK_KEYS
        if deed is None or rests:
            super().keyPressEvent(event)
        else:
            deed()
