"""The form for a directive: its words, how binding it is, where it applies, and why."""

from PySide6.QtWidgets import QHBoxLayout, QLineEdit, QWidget

from kmem_desktop.domain.rule_library import DIRECTIVE_LENGTH, RuleChanges, StoredDirective
from kmem_desktop.domain.rules import Layer, Severity
from kmem_desktop.gui.detail.form_frame import FormFrame
from kmem_desktop.gui.rules.sentences import layer_name
from kmem_desktop.gui.widgets.controls import Choice
from kmem_desktop.gui.widgets.fields import Field, TextEditor
from kmem_desktop.gui.wording import capitalised


class DirectiveForm(FormFrame):
    """Changes a directive."""

    def __init__(self, parent: QWidget | None = None) -> None:
        """Lay out the fields."""
        super().__init__(parent)
        self.stored: StoredDirective | None = None
        self.text = TextEditor(4)
        self.severity = Choice("Severity")
        for severity in Severity:
            self.severity.addItem(severity.value, severity)
        self.layer = Choice("Layer")
        for layer in (Layer.ANY, *(each for each in Layer if each is not Layer.ANY)):
            self.layer.addItem(capitalised(layer_name(layer)), layer)
        self.topics = QLineEdit()
        self.topics.setPlaceholderText("security, api")
        self.rationale = TextEditor(4)
        low, high = DIRECTIVE_LENGTH
        text = Field("Text", self.text, hint="one instruction", limits=(low, high))
        why = Field("Why", self.rationale, hint="may be empty", limits=(0, high))
        choices = QHBoxLayout()
        choices.setSpacing(12)
        choices.addWidget(self.add_field("severity", Field("Severity", self.severity)))
        choices.addWidget(self.add_field("layer", Field("Layer", self.layer)))
        choices.addStretch(1)
        topics = Field("Topics", self.topics, hint="separated by commas")
        column = self.area.column
        column.addWidget(self.add_field("text", text), 2)
        column.addLayout(choices)
        column.addWidget(self.add_field("topics", topics))
        column.addWidget(self.add_field("rationale", why), 1)

    def start_edit(self, stored: StoredDirective) -> None:
        """Begin to change a directive."""
        self.stored = stored
        directive = stored.directive
        self.set_heading("Editing")
        self.text.setPlainText(directive.text)
        self.severity.setCurrentIndex(self.severity.findData(directive.severity))
        self.layer.setCurrentIndex(self.layer.findData(directive.layer))
        self.topics.setText(", ".join(directive.topics))
        self.rationale.setPlainText(directive.rationale)
        self.note_start()

    def focus_first(self) -> None:
        """Put the caret where writing begins."""
        self.text.setFocus()

    def changes(self) -> RuleChanges | None:
        """Return what was changed; None where nothing was."""
        if self.stored is None:
            return None
        before = self.stored.directive
        text, why = self.text.toPlainText().strip(), self.rationale.toPlainText().strip()
        severity = Severity(self.severity.currentData())
        layer = Layer(self.layer.currentData())
        topics = tuple(dict.fromkeys(t.strip() for t in self.topics.text().split(",") if t.strip()))
        changes = RuleChanges(
            text=text if text != before.text else None,
            severity=severity if severity is not before.severity else None,
            topics=topics if topics != before.topics else None,
            layer=layer if layer is not before.layer else None,
            rationale=why if why != before.rationale.strip() else None,
        )
        return changes if changes.given() else None

    def worded(self, message: str) -> str:
        return message[:1].upper() + message[1:]


def as_it_was(stored: StoredDirective, changes: RuleChanges) -> RuleChanges:
    """Return the changes that take back `changes` of a directive."""
    return RuleChanges(**{name: getattr(stored.directive, name) for name in changes.given()})
