"""One that serves models on this computer, or at an address that a person added."""

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from kmem_desktop.domain.models import KeyPlace, Program, ProviderReport, Trial
from kmem_desktop.gui.models.key_form import KeyForm
from kmem_desktop.gui.models.model_list import ModelList
from kmem_desktop.gui.models.parts import Row
from kmem_desktop.gui.models.sentences import (
    LONGEST_NAME,
    allowed_words,
    available_words,
    stopped_words,
    trial_words,
)
from kmem_desktop.gui.widgets.controls import Button


class ProviderRow(Row):
    """Its state, its models, and what can be done with it.

    Signals:
        start_wanted: Its program is to be started.
        test_wanted: A real question is to be put to a model (its name; empty for the best).
        remove_wanted: It was added by a person, who wants it gone.
        off_wanted: Nothing is to be sent to it any more.
        key_wanted: It is to have this key.
        forget_wanted: Its key is to be forgotten.
        opened: What belongs to it was unfolded.
    """

    start_wanted = Signal()
    test_wanted = Signal(str)
    remove_wanted = Signal()
    off_wanted = Signal()
    key_wanted = Signal(str)
    forget_wanted = Signal()
    opened = Signal()

    def __init__(self, report: ProviderReport, parent: QWidget | None = None) -> None:
        """Show one of them."""
        name = report.name[:LONGEST_NAME]
        super().__init__(name, parent)
        self.report = report
        self._has_asked = False
        self.start = self.add_button(Button("Start"), f"Start {name}")
        self.off = self.add_button(Button("Switch off"), f"Send nothing to {name} any more")
        self.remove = self.add_button(Button("Remove"), f"Remove {name}")
        self.test = self.add_button(Button("Test"), f"Test {name}")
        self.test.setToolTip("Put a small real question to its best model")
        self.more = self.add_button(Button("Models"), f"Models of {name}")
        self.key_form = KeyForm(name)
        self.models = ModelList()
        self.inside.addWidget(self.key_form)
        self.inside.addWidget(self.models)
        self.start.clicked.connect(self._on_start)
        self.off.clicked.connect(self.off_wanted)
        self.remove.clicked.connect(self.remove_wanted)
        self.test.clicked.connect(lambda: self.test_wanted.emit(""))
        self.more.clicked.connect(self.toggle)
        self.models.test_wanted.connect(self.test_wanted)
        self.key_form.key_wanted.connect(self.key_wanted)
        self.key_form.forget_wanted.connect(self.forget_wanted)

    def set_facts(
        self,
        report: ProviderReport,
        program: Program | None,
        *,
        place: KeyPlace = KeyPlace.NOWHERE,
        is_added: bool = False,
    ) -> None:
        """Show what is known of it now."""
        self.report = report
        self._show_state(report, program)
        is_keyless = place is KeyPlace.NOWHERE and not report.is_available
        if report.needs_key and report.is_allowed_for and report.host and is_keyless:
            self._ask_for_key()
        self.start.setVisible(
            program is not None and program.can_be_started and not report.is_available
        )
        self.remove.setVisible(is_added)
        self.off.setVisible(bool(report.host and report.is_allowed_for))
        self.test.setVisible(report.is_available and bool(report.models))
        has_key_form = report.needs_key and bool(report.host or place is not KeyPlace.NOWHERE)
        self.key_form.setVisible(has_key_form)
        self.models.set_models(report.models)
        self.models.setVisible(bool(report.models))
        self.more.setVisible(bool(report.models) or has_key_form)
        if not self.more.isVisibleTo(self):
            self.body.hide()
        self._word_more()

    def _show_state(self, report: ProviderReport, program: Program | None) -> None:
        if report.host:
            self._show_far_state(report)
        elif report.is_available:
            self.state.set_state("running", "good")
            self.words.setText(available_words(report))
        elif report.is_ill:
            self.state.set_state("does not work", "bad")
            self.words.setText(report.problem)
        elif program is not None and program.is_installed:
            is_up = program.is_running
            self.state.set_state("running, serves nothing" if is_up else "installed, not running",
                                 "warn" if is_up else "")  # fmt: skip
            self.words.setText(stopped_words(program))
        else:
            self.state.set_state("not there")
            self.words.setText(f"Nobody answers at {report.address}.")

    def _show_far_state(self, report: ProviderReport) -> None:
        is_on = bool(report.is_allowed_for)
        if is_on and not report.is_available:
            self.state.set_state(allowed_words(report), "warn")
            self.words.setText(report.problem)
        elif is_on:
            self.state.set_state(allowed_words(report), "good")
            self.words.setText(f"Texts go to {report.host}. {available_words(report)}")
        else:
            self.state.set_state("off")
            self.words.setText(f"Nothing is sent to {report.host}.")

    def _ask_for_key(self) -> None:
        """Unfold by itself, once: without a keychain each run of kmem needs the key anew."""
        if not self._has_asked:
            self._has_asked = True
            self.body.show()
            self.opened.emit()

    def toggle(self) -> None:
        """Unfold what belongs to it, or fold it."""
        self.body.setVisible(self.body.isHidden())
        self._word_more()
        if not self.body.isHidden():
            self.opened.emit()

    def _word_more(self) -> None:
        name = self.report.name[:LONGEST_NAME]
        is_open = not self.body.isHidden()
        closed = "Set up…" if self.report.host and not self.report.models else "Models"
        self.more.set_words("Close" if is_open else closed)
        self.more.setAccessibleName(f"{'Close' if is_open else closed} {name}")

    def _on_start(self) -> None:
        self.start.setEnabled(False)
        self.start_wanted.emit()

    def show_starting(self) -> None:
        """Say that its program is being started."""
        self.start.setEnabled(True)
        self.start.hide()
        self.set_problem("")
        self.state.set_state("starting", "warn")
        self.words.setText("It was started and is looked for every second until it answers.")

    def show_failed_start(self, words: str) -> None:
        """Say why it could not be started."""
        self.start.setEnabled(True)
        self.set_problem(words)

    def show_asking(self, model: str) -> None:
        """Say that a model is being asked."""
        self.test.setEnabled(False)
        if (line := self.models.line(model)) is not None:
            line.show_busy()
        else:
            self.problem.set_color("ink2")
            self.set_problem("Asking it… A model that is not loaded takes a while.")

    def show_trial(self, asked: str, trial: Trial) -> None:
        """Say what a model answered: at its line, or under the name where none was picked."""
        self.test.setEnabled(True)
        if (line := self.models.line(asked)) is not None:
            line.show_trial(trial)
            return
        self.problem.set_color("ink" if trial.is_working else "bad")
        self.set_problem(trial_words(trial))
