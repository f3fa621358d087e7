"""The models of one that serves them, each with what is known of it and a real question to it."""

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from kmem_desktop.domain.models import ModelInfo, ModelKind, Trial
from kmem_desktop.gui.models.sentences import LONGEST_NAME, model_facts, trial_words
from kmem_desktop.gui.theme import Type
from kmem_desktop.gui.widgets.controls import Button, Look
from kmem_desktop.gui.widgets.labels import Label

SHOWN = 12
"""Of a longer list the rest is shown on demand."""


class ModelLine(QWidget):
    """One model: its name, what is known of it, a test, and what came of the test.

    Signals:
        test_wanted: A real question is to be put to it (its name).
    """

    test_wanted = Signal(str)

    def __init__(self, model: ModelInfo, parent: QWidget | None = None) -> None:
        """Show the model."""
        super().__init__(parent)
        self.model = model
        name = model.name[:LONGEST_NAME]
        self.test = Button("Test", look=Look.LINK)
        self.test.setAccessibleName(f"Test {name}")
        self.test.setToolTip("Put a small real question to it")
        self.test.clicked.connect(lambda: self.test_wanted.emit(model.name))
        self.test.setVisible(model.kind is not ModelKind.UNKNOWN)
        self.outcome = Label("", Type.META, "ink2", wrap=True)
        self.outcome.hide()
        texts = QVBoxLayout()
        texts.setSpacing(1)
        texts.addWidget(Label(name, Type.BODY_STRONG))
        texts.addWidget(Label(model_facts(model), Type.META, "ink3", wrap=True))
        texts.addWidget(self.outcome)
        line = QHBoxLayout(self)
        line.setContentsMargins(0, 0, 0, 0)
        line.setSpacing(16)
        line.addLayout(texts, 1)
        line.addWidget(self.test, 0, Qt.AlignmentFlag.AlignTop)

    def show_busy(self) -> None:
        """Say that it is being asked."""
        self.test.setEnabled(False)
        self.outcome.set_color("ink2")
        self.outcome.setText("Asking it… A model that is not loaded takes a while.")
        self.outcome.show()

    def show_trial(self, trial: Trial) -> None:
        """Say what it answered, or why it did not."""
        self.test.setEnabled(True)
        self.outcome.set_color("ink" if trial.is_working else "bad")
        self.outcome.setText(trial_words(trial))
        self.outcome.show()


class ModelList(QWidget):
    """The models.

    Signals:
        test_wanted: A real question is to be put to one (its name).
    """

    test_wanted = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        """Start without models."""
        super().__init__(parent)
        self._models: tuple[ModelInfo, ...] = ()
        self._shows_all = False
        self.lines: list[ModelLine] = []
        self._all = Button("Show more", look=Look.LINK)
        self._all.clicked.connect(self._on_show_all)
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(14, 0, 0, 0)
        self._column.setSpacing(9)
        self._column.addWidget(self._all, 0, Qt.AlignmentFlag.AlignLeft)
        self._all.hide()

    def set_models(self, models: Sequence[ModelInfo]) -> None:
        """Show these; lines of models that did not change stay, with what they say."""
        if tuple(models) == self._models:
            return
        self._models = tuple(models)
        self._fill()

    def line(self, name: str) -> ModelLine | None:
        """Return the line of a model."""
        return next((line for line in self.lines if line.model.name == name), None)

    def _fill(self) -> None:
        shown = self._models if self._shows_all else self._models[:SHOWN]
        kept = {line.model: line for line in self.lines}
        lines = [kept.pop(model) if model in kept else self._new_line(model) for model in shown]
        for line in kept.values():
            line.hide()
            line.deleteLater()
        for line in self.lines:
            self._column.removeWidget(line)
        self.lines = lines
        for place, line in enumerate(lines):
            self._column.insertWidget(place, line)
        rest = len(self._models) - len(shown)
        self._all.set_words(f"Show {rest:,} more")
        self._all.setVisible(rest > 0)

    def _new_line(self, model: ModelInfo) -> ModelLine:
        line = ModelLine(model)
        line.test_wanted.connect(self.test_wanted)
        return line

    def _on_show_all(self) -> None:
        self._shows_all = True
        self._fill()
