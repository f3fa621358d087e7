"""The pane beside the list of rules: shows what is selected, edits it, and judges it."""

from collections.abc import Callable, Sequence

from PySide6.QtCore import Qt, QUrl, Signal
from PySide6.QtGui import QDesktopServices, QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QStackedWidget, QVBoxLayout, QWidget

from kmem_desktop.domain.rule_library import (
    IngestionReport,
    RuleConflict,
    RuleDifference,
    RuleFolder,
    StoredDirective,
    StoredRule,
)
from kmem_desktop.domain.rules import RuleFormat, RuleSection, RuleStatus
from kmem_desktop.errors import InvalidInputError, KmemError
from kmem_desktop.gui.context import Context
from kmem_desktop.gui.detail.form_frame import LOSS_WORTH_ASKING
from kmem_desktop.gui.detail.parts import PaneBar
from kmem_desktop.gui.markdown import is_link
from kmem_desktop.gui.rules.difference_view import DifferenceView
from kmem_desktop.gui.rules.directive_form import DirectiveForm
from kmem_desktop.gui.rules.directive_view import ConflictView, DirectiveView
from kmem_desktop.gui.rules.document_views import DocumentView, FolderView, ReportView
from kmem_desktop.gui.rules.library_snapshot import Library
from kmem_desktop.gui.rules.rule_deeds import RuleDeeds, choose_target, file_name
from kmem_desktop.gui.rules.rule_parts import ExportCard
from kmem_desktop.gui.theme import Type
from kmem_desktop.gui.widgets.controls import Button, IconButton, Look
from kmem_desktop.gui.widgets.labels import Label
from kmem_desktop.gui.wording import quoted
from kmem_desktop.services.rules.explaining import severity_words


class DetailBar(QWidget):
    """The buttons above what is shown, each with its key; which there are depends on it.

    Signals:
        wanted: A button was pressed (its name).
    """

    wanted = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        """Show no button yet."""
        super().__init__(parent)
        self.back = IconButton("arrow-left", "Back to the list (Esc)")
        self.back.hide()
        primary = Look.PRIMARY
        self.buttons = {
            "approve": Button("Approve", key="A", look=primary),
            "edit": Button("Edit", key="E"),
            "reject": Button("Reject", key="R"),
            "propose": Button("Propose again", key="P"),
            "take": Button("Take the file's version", key="F", look=primary),
            "keep": Button("Keep yours", key="M"),
            "read": Button("Read again", key="G"),
            "copy": Button("Copy", key="Ctrl ↵"),
            "open": Button("Open file", key="O"),
            "done": Button("Done", key="Esc", look=primary),
            "later": Button("Decide later", key="Esc"),
            "forget": Button("Forget…", key="Del"),
        }
        line = QHBoxLayout(self)
        line.setContentsMargins(0, 0, 0, 0)
        line.setSpacing(6)
        line.addWidget(self.back)
        for name, button in self.buttons.items():
            if name == "forget":
                line.addStretch(1)
            button.clicked.connect(lambda _=False, name=name: self.wanted.emit(name))
            button.hide()
            line.addWidget(button)

    def offer(self, *names: str) -> None:
        """Show these buttons and no others."""
        for name, button in self.buttons.items():
            button.setVisible(name in names)
        self._fit()

    def offers(self, name: str) -> bool:
        """Return whether a button is there to be pressed."""
        return not self.buttons[name].isHidden()

    def _fit(self) -> None:
        shown = [button for button in self.buttons.values() if not button.isHidden()]
        needed = sum(button.full_width() + 6 for button in shown)
        needed += self.back.width() if self.back.isVisible() else 0
        for button in shown:
            button.set_key_shown(needed <= self.width())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()


class RuleDetail(QWidget):
    """Shows a directive, a document, a section, a project, a contradiction or a report.

    Signals:
        directive_wanted: Another directive is to be shown (its id).
        document_wanted: A document is to be shown (its number).
        topic_wanted: What is about a topic is to be shown.
        closed: The pane is to be left for the list.
        left: A form or a report was left for what is selected.
    """

    directive_wanted = Signal(int)
    document_wanted = Signal(int)
    topic_wanted = Signal(str)
    closed = Signal()
    left = Signal()

    def __init__(self, context: Context, deeds: RuleDeeds, parent: QWidget | None = None) -> None:
        """Start with nothing to show; do what is asked for by `deeds`."""
        super().__init__(parent)
        self._context = context
        self._deeds = deeds
        self._topic = f"rule detail {id(self)}"
        self.folder: RuleFolder | None = None
        self.library = Library()
        self.bar = DetailBar()
        self.directive_view = DirectiveView()
        self.document_view = DocumentView()
        self.folder_view = FolderView()
        self.conflict_view = ConflictView()
        self.report_view = ReportView()
        self.difference_view = DifferenceView()
        self.form = DirectiveForm()
        self._empty = Label("", Type.BODY, "ink3")
        self._empty.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._views = QStackedWidget()
        for view in (
            self._empty,
            self.directive_view,
            self.document_view,
            self.folder_view,
            self.conflict_view,
            self.report_view,
            self.difference_view,
        ):
            self._views.addWidget(view)
        self._modes = QStackedWidget()
        self._modes.addWidget(self._build_reading())
        self._modes.addWidget(self.form)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(self._modes)
        self._connect()

    def _build_reading(self) -> QWidget:
        page = QWidget()
        self._pane_bar = PaneBar()
        self._pane_bar.line.addWidget(self.bar)
        column = QVBoxLayout(page)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self._pane_bar)
        column.addWidget(self._views, 1)
        return page

    def _connect(self) -> None:
        self.bar.wanted.connect(self.do)
        self.bar.back.clicked.connect(self.closed)
        view = self.directive_view
        view.directive_wanted.connect(self.directive_wanted)
        view.document_wanted.connect(self.document_wanted)
        view.topic_wanted.connect(self.topic_wanted)
        view.link_wanted.connect(self._on_link)
        view.file_version_wanted.connect(lambda _rule_id: self.settle(take=True))
        self.document_view.settle_wanted.connect(lambda take: self.settle(take=take))
        self.folder_view.take_back_wanted.connect(self._take_back)
        self.conflict_view.directive_wanted.connect(self.directive_wanted)
        self.conflict_view.reject_wanted.connect(
            lambda stored: self._deeds.set_status(stored, RuleStatus.REJECTED)
        )
        for export in (self.document_view.export, self.folder_view.export):
            export.copy_wanted.connect(self._copy_export)
            export.save_wanted.connect(self._choose_target)
        self.form.save_wanted.connect(self.save)
        self.form.cancel_wanted.connect(self.cancel_edit)

    # What is shown

    @property
    def is_editing(self) -> bool:
        """Whether the form is open."""
        return self._modes.currentWidget() is self.form

    @property
    def shows_report(self) -> bool:
        """Whether a report, or a difference, is shown that stays until it is left."""
        lasting = (self.report_view, self.difference_view)
        return not self.is_editing and self._views.currentWidget() in lasting

    @property
    def stored(self) -> StoredDirective | None:
        """The directive that is shown."""
        is_shown = self._views.currentWidget() is self.directive_view
        return self.directive_view.stored if is_shown else None

    @property
    def rule(self) -> StoredRule | None:
        """The document that is shown, or that of the directive."""
        if self._views.currentWidget() is self.document_view:
            return self.document_view.rule
        if self._views.currentWidget() is self.difference_view:
            compared = self.difference_view.difference
            return self.library.by_id.get(compared.rule.id) if compared is not None else None
        stored = self.stored
        return self.library.by_id.get(stored.rule.id) if stored is not None else None

    @property
    def conflict(self) -> RuleConflict | None:
        """The contradiction that is shown."""
        is_shown = self._views.currentWidget() is self.conflict_view
        return self.conflict_view.conflict if is_shown else None

    def has_something_to_lose(self) -> bool:
        """Return whether leaving the form would lose more than a few characters."""
        return self.is_editing and self.form.lost_characters() > LOSS_WORTH_ASKING

    def show_nothing(self, words: str = "") -> None:
        """Show that nothing is selected."""
        self._context.tasks.drop(self._topic)
        self._empty.setText(words)
        self._show(self._empty)

    def show_directive(self, stored: StoredDirective) -> None:
        """Show a directive, with what contradicts it and what is related to it."""
        conflicts = self.library.conflicts_of(stored.id)
        self.directive_view.show_directive(stored, conflicts)
        own = ("copy", "open") if stored.rule.folder_id is not None else ("copy",)
        judging = {
            RuleStatus.PROPOSED: ("approve", "reject", "edit"),
            RuleStatus.APPROVED: ("edit", "reject"),
            RuleStatus.REJECTED: ("approve", "propose"),
        }
        self._show(self.directive_view, *judging[stored.status], *own)
        self._context.tasks.run(
            self._deeds.related(stored, conflicts),
            self.directive_view.show_related,
            failed=lambda _error: True,
            topic=self._topic,
        )

    def show_document(self, rule: StoredRule) -> None:
        """Show a document."""
        self._context.tasks.drop(self._topic)
        self.document_view.show_document(rule)
        names = ("open", "forget") if rule.folder_id is not None else ("forget",)
        self._show(self.document_view, *names)

    def show_section(self, rule: StoredRule, heading: str) -> None:
        """Show a section of a document as it is written."""

        def show(sections: Sequence[RuleSection]) -> None:
            found = next((each for each in sections if each.name == heading), None)
            shown = heading.replace(" > ", ", ")
            self.document_view.show_section(rule, shown, found)
            self._show(self.document_view, *(("open",) if rule.folder_id is not None else ()))

        sections = self._context.services.rules.library.sections(rule.id)
        self._context.tasks.run(sections, show, topic=self._topic)

    def show_folder(self, folder: RuleFolder) -> None:
        """Show a project's folder."""
        self._context.tasks.drop(self._topic)
        self.folder = folder
        self.folder_view.show_folder(folder, self.library.of_scope(folder.scope))
        self._show(self.folder_view, "read", "forget")

    def show_shelf(self, title: str, rules: Sequence[StoredRule]) -> None:
        """Show documents that belong to no folder."""
        self._context.tasks.drop(self._topic)
        self.folder = None
        self.folder_view.show_shelf(title, rules)
        self._show(self.folder_view)

    def show_conflict(self, conflict: RuleConflict) -> None:
        """Show two directives that contradict each other."""
        self._context.tasks.drop(self._topic)
        self.conflict_view.show_conflict(conflict)
        self._show(self.conflict_view)

    def show_report(self, title: str, report: IngestionReport, base: str) -> None:
        """Show what became of documents that were read."""
        self._context.tasks.drop(self._topic)
        self.report_view.show_report(title, report, base)
        self._modes.setCurrentIndex(0)
        self._show(self.report_view, "done")

    def show_difference(self, difference: RuleDifference) -> None:
        """Show what was edited here beside what the file says, to be decided about."""
        self.difference_view.show_difference(difference)
        self._show(self.difference_view, "take", "keep", "later")

    def _show(self, view: QWidget, *actions: str) -> None:
        self.bar.offer(*actions)
        self._pane_bar.setVisible(bool(actions) or not self.bar.back.isHidden())
        self._views.setCurrentWidget(view)

    def set_narrow(self, narrow: bool) -> None:  # noqa: FBT001 - a state, named like Qt's setters
        """Offer the way back to the list where the pane covers it."""
        self.bar.back.setVisible(narrow)
        self._pane_bar.setVisible(narrow or any(self.bar.offers(n) for n in self.bar.buttons))

    def focus_shown(self) -> None:
        """Put the keyboard on what is shown, which it scrolls then."""
        if (view := self._views.currentWidget()) is not None:
            view.setFocus()

    # What is done

    def do(self, name: str) -> None:
        """Do what a button of the bar says, if it is offered."""
        if self.is_editing or not self.bar.offers(name):
            return
        deeds: dict[str, Callable[[], None]] = {
            "approve": lambda: self._judge(RuleStatus.APPROVED),
            "reject": lambda: self._judge(RuleStatus.REJECTED),
            "propose": lambda: self._judge(RuleStatus.PROPOSED),
            "edit": self.edit,
            "copy": self.copy,
            "open": self._open_file,
            "read": self._read_again,
            "forget": self._forget,
            "done": self.left.emit,
            "later": self.left.emit,
            "take": lambda: self.settle(take=True),
            "keep": lambda: self.settle(take=False),
        }
        deeds[name]()

    def _judge(self, status: RuleStatus) -> None:
        if self.stored is not None:
            self._deeds.set_status(self.stored, status)

    def reject_side(self, number: int) -> None:
        """Reject the first (1) or the second (2) of two that contradict each other."""
        if self.conflict is not None:
            side = self.conflict.first if number == 1 else self.conflict.second
            self._deeds.set_status(side, RuleStatus.REJECTED)

    def show_side(self, number: int) -> None:
        """Show the first (1) or the second (2) of two that contradict each other."""
        if self.conflict is not None:
            side = self.conflict.first if number == 1 else self.conflict.second
            self.directive_wanted.emit(side.id)

    def settle(self, *, take: bool) -> None:
        """Take the file's version of what was edited here, after it was seen; or keep the edits."""
        rule = self.rule
        if self.is_editing or rule is None or not (rule.is_edited or rule.has_news):
            return
        if self._views.currentWidget() is self.difference_view:
            self._deeds.settle(rule, take=take, done=self.left.emit)
        elif take:
            compared = self._context.services.rules.library.difference(rule.id)
            self._context.tasks.run(compared, self.show_difference, topic=self._topic)
        else:
            self._deeds.settle(rule, take=False)

    def copy(self) -> None:
        """Put what is shown on the clipboard: a directive's words, or rules in a notation."""
        stored = self.stored
        if stored is not None:
            text = f"{severity_words(stored.directive)} {stored.directive.text}"
            self._deeds.copy(text, quoted(stored.directive.text))
        elif (export := self._export_card()) is not None:
            self._copy_export(export.chosen())

    def save_as(self) -> None:
        """Choose a file for rules in a notation."""
        if (export := self._export_card()) is not None:
            self._choose_target(export.chosen())

    def _export_card(self) -> ExportCard | None:
        view = self._views.currentWidget()
        if isinstance(view, DocumentView | FolderView) and not view.export.isHidden():
            return view.export
        return None

    def _exported(self) -> list[StoredRule]:
        if self._views.currentWidget() is self.folder_view:
            return list(self.folder_view.rules)
        return [self.rule] if self.rule is not None else []

    def _copy_export(self, rule_format: RuleFormat) -> None:
        self._deeds.copy_export(self._exported(), rule_format)

    def _choose_target(self, rule_format: RuleFormat) -> None:
        rules = self._exported()
        choose_target(
            self,
            file_name(rules, rule_format),
            lambda target: self._deeds.save_export(rules, rule_format, target),
        )

    def _open_file(self) -> None:
        if self.rule is not None:
            self._deeds.open_file(self.rule)

    def _read_again(self) -> None:
        if self.folder is not None:
            self._deeds.read_again(self.folder, self.show_report)

    def _forget(self) -> None:
        if self._views.currentWidget() is self.folder_view and self.folder is not None:
            self._deeds.forget_folder(self.folder)
        elif self.rule is not None:
            self._deeds.forget_rule(self.rule)

    def _take_back(self, path: str) -> None:
        if self.folder is not None:
            self._deeds.take_back(path, self.folder)

    def _on_link(self, address: str) -> None:
        if is_link(address):
            self._context.shell.ask(
                f"Open {address} in the browser?",
                "Open",
                lambda: QDesktopServices.openUrl(QUrl(address)),
            )

    # The form

    def edit(self) -> None:
        """Open the form for the directive that is shown."""
        if self.stored is not None:
            self.form.start_edit(self.stored)
            self._modes.setCurrentWidget(self.form)
            self.form.focus_first()

    def save(self) -> None:
        """Save what is typed; where it is not valid, say so under each field."""
        if not self.is_editing or self.form.stored is None:
            return
        changes = self.form.changes()
        if changes is None:
            self._leave_form()
        else:
            self._deeds.edit(self.form.stored, changes, self._leave_form, self._on_failed)

    def cancel_edit(self) -> None:
        """Leave the form; ask first where much would be lost."""
        if self.has_something_to_lose():
            self._context.shell.ask(
                "Leave without saving what you typed?", "Discard", self._leave_form
            )
        else:
            self._leave_form()

    def close_form(self) -> None:
        """Show what was behind the form, and tell nobody."""
        self._modes.setCurrentIndex(0)

    def _leave_form(self) -> None:
        self.close_form()
        self.left.emit()

    def _on_failed(self, error: KmemError) -> bool:
        if isinstance(error, InvalidInputError):
            self.form.show_invalid(error)
            return True
        return False
