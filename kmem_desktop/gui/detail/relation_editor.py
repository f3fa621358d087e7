"""Two small fields that relate an entity to another: how, and to which."""

from collections.abc import Sequence

from PySide6.QtCore import QStringListModel, Qt, Signal
from PySide6.QtWidgets import QCompleter, QHBoxLayout, QLineEdit, QListView, QWidget

from kmem_desktop.domain.graph import ENTITY_NAME_LENGTH, RELATION_TYPE_LENGTH


class RelationEditor(QWidget):
    """Takes a relation from the entity that is shown; Enter adds it.

    Signals:
        added: A relation was typed: its type, and the other entity's name.
        names_wanted: Names that these words find are wanted, to choose from.
    """

    added = Signal(str, str)
    names_wanted = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        """Start empty."""
        super().__init__(parent)
        self.kind = _field("Related how?", "How it is related", RELATION_TYPE_LENGTH)
        self.other = _field("To which entity? Enter adds", "To which entity", ENTITY_NAME_LENGTH)
        self._names = QStringListModel(self)
        completer = QCompleter(self._names, self)
        completer.setCaseSensitivity(Qt.CaseSensitivity.CaseInsensitive)
        completer.setFilterMode(Qt.MatchFlag.MatchContains)
        choices = QListView()
        choices.setProperty("role", "choices")
        completer.setPopup(choices)
        self.other.setCompleter(completer)
        self.other.textEdited.connect(self.names_wanted)
        self.kind.returnPressed.connect(self._on_entered)
        self.other.returnPressed.connect(self._on_entered)
        line = QHBoxLayout(self)
        line.setContentsMargins(0, 4, 0, 0)
        line.setSpacing(8)
        line.addWidget(self.kind, 2)
        line.addWidget(self.other, 3)

    def clear(self) -> None:
        """Forget what is typed."""
        self.kind.clear()
        self.other.clear()

    def offer(self, names: Sequence[str]) -> None:
        """Offer these names to choose from."""
        self._names.setStringList(list(names))

    def _on_entered(self) -> None:
        kind, other = self.kind.text().strip(), self.other.text().strip()
        if kind and other:
            self.added.emit(kind, other)
            self.clear()
            self.kind.setFocus()
        else:
            (self.other if kind else self.kind).setFocus()


def _field(invitation: str, name: str, longest: int) -> QLineEdit:
    field = QLineEdit()
    field.setPlaceholderText(invitation)
    field.setAccessibleName(name)
    field.setMaxLength(longest)
    return field
