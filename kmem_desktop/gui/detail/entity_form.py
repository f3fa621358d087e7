"""The form for an entity: a name, a kind, and one observation a line."""

from PySide6.QtWidgets import QLineEdit, QWidget

from kmem_desktop.domain.graph import Entity, EntityDetails
from kmem_desktop.gui.detail.form_frame import FormFrame
from kmem_desktop.gui.widgets.fields import Field, TextEditor

_WIRE_NAMES = {"name": "name", "entityType": "type"}


class EntityForm(FormFrame):
    """Writes a new entity, or changes what kind of thing one is."""

    def __init__(self, parent: QWidget | None = None) -> None:
        """Lay out the fields."""
        super().__init__(parent)
        self.details: EntityDetails | None = None
        self._name = QLineEdit()
        self._name.setPlaceholderText("shopfront-worker")
        self._kind = QLineEdit()
        self._kind.setPlaceholderText("service, person, library …")
        self._observations = TextEditor(7)
        self._observations_field = Field(
            "Observations", self._observations, hint="one a line, may be empty"
        )
        name = Field("Name", self._name)
        column = self.area.column
        column.addWidget(self.add_field("name", name))
        column.addWidget(self.add_field("type", Field("Type", self._kind)))
        column.addWidget(self.add_field("observations", self._observations_field), 1)

    def start_new(self) -> None:
        """Begin a new entity."""
        self.details = None
        self.set_heading("New entity")
        self._fill("", "", editable=True)

    def start_edit(self, details: EntityDetails) -> None:
        """Begin to change the type; names are what relations hold on to, so they stay."""
        self.details = details
        self.set_heading("Editing")
        self._fill(details.entity.name, details.entity.entity_type, editable=False)

    def focus_first(self) -> None:
        """Put the caret where writing begins."""
        (self._kind if self._name.isReadOnly() else self._name).setFocus()

    def entity(self) -> Entity:
        """Return what is typed."""
        lines = self._observations.toPlainText().splitlines()
        return Entity(
            self._name.text().strip(),
            self._kind.text().strip(),
            tuple(line.strip() for line in lines if line.strip()),
        )

    def field_of(self, name: str) -> str:
        last = name.rpartition(".")[2].partition("[")[0]
        return _WIRE_NAMES.get(last, last)

    def worded(self, message: str) -> str:
        path, _, rest = message.partition(" ")
        return f"{self.field_of(path).capitalize()} {rest}"

    def show_taken(self, existing_id: int) -> None:
        """Say that the name is taken."""
        self.fields["name"].set_error("There is an entity with this name already.")
        self._duplicate_id = existing_id
        self._open_other.setVisible(existing_id != 0)
        self._name.setFocus()

    def _fill(self, name: str, kind: str, *, editable: bool) -> None:
        self._name.setText(name)
        self._name.setReadOnly(not editable)
        self._kind.setText(kind)
        self._observations.clear()
        self._observations_field.setVisible(editable)
        self.note_start()
