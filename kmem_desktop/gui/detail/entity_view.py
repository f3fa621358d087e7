"""One entity: what was observed about it, and what it is related to."""

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QLineEdit, QVBoxLayout, QWidget

from kmem_desktop.domain.found import Explanation
from kmem_desktop.domain.graph import EntityDetails, Relation
from kmem_desktop.gui.detail.parts import CutText, ScrolledColumn, WhyCard
from kmem_desktop.gui.detail.relation_editor import RelationEditor
from kmem_desktop.gui.theme import Type
from kmem_desktop.gui.widgets.controls import Button, IconButton, Look
from kmem_desktop.gui.widgets.labels import Card, Hairline, Label
from kmem_desktop.gui.wording import by_whom, capitalised, counted, exactly, when

SHOWN_OBSERVATIONS = 60
SHOWN_RELATIONS = 60


class EntityView(ScrolledColumn):
    """Shows an entity.

    Signals:
        entity_wanted: The name at the other end of a relation was clicked.
        link_wanted: A link in an observation was clicked.
        observation_added: A new observation was typed.
        observation_removed: An observation is to be forgotten.
        relation_added: A new relation was typed.
        relation_removed: A relation is to be forgotten.
    """

    entity_wanted = Signal(str)
    link_wanted = Signal(str)
    observation_added = Signal(str)
    observation_removed = Signal(str)
    relation_added = Signal(object)
    relation_removed = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        """Start without an entity."""
        super().__init__("Entity", parent=parent)
        self.details: EntityDetails | None = None
        self._shows_all = False
        self._title = Label("", Type.TITLE, wrap=True).allow_selection()
        self._kind = Label("", Type.META, "ink3", wrap=True)
        self._observations = QVBoxLayout()
        self._observations.setSpacing(0)
        self._all = Button("Show all", look=Look.LINK)
        self._all.clicked.connect(self._on_show_all)
        self.new_observation = QLineEdit()
        self.new_observation.setPlaceholderText("Add an observation, then Enter")
        self.new_observation.setAccessibleName("Add an observation")
        self.new_observation.returnPressed.connect(self._on_entered)
        self._relations_card = Card("Related")
        self._relations = QVBoxLayout()
        self._relations.setSpacing(2)
        self._relations_card.body.addLayout(self._relations)
        self.new_relation = RelationEditor()
        self.new_relation.added.connect(self._on_relation_entered)
        self._relations_card.body.addWidget(self.new_relation)
        self.why = WhyCard()
        for widget, gap in (
            (self._title, 2),
            (self._kind, 10),
        ):
            self.column.addWidget(widget)
            self.column.addSpacing(gap)
        self.column.addLayout(self._observations)
        self.column.addWidget(self._all)
        self.column.addSpacing(10)
        self.column.addWidget(self.new_observation)
        self.column.addSpacing(16)
        self.column.addWidget(self._relations_card)
        self.column.addSpacing(12)
        self.column.addWidget(self.why)

    def show_entity(self, details: EntityDetails, explanation: Explanation | None) -> None:
        """Show an entity, and why it was found."""
        again = self.details is not None and self.details.id == details.id
        changed = self.details is None or self.details != details
        self.details = details
        if not again:
            self._shows_all = False
            self.new_observation.clear()
            self.new_relation.clear()
        if changed:
            self._title.setText(details.entity.name)
            self._fill_observations()
            self._fill_relations()
        self._kind.setText(
            f"{capitalised(details.entity.entity_type)}. Stored {by_whom(details.stored_by)},"
            f" {when(details.created_at)}."
        )
        self._kind.setToolTip(f"Changed {exactly(details.updated_at)}")
        self.why.show_explanation(explanation)
        if not again:
            self.verticalScrollBar().setValue(0)

    def _fill_observations(self) -> None:
        assert self.details is not None  # noqa: S101 - only called with an entity
        _clear(self._observations)
        texts = self.details.entity.observations
        shown = texts if self._shows_all else texts[:SHOWN_OBSERVATIONS]
        for text in shown:
            self._observations.addWidget(self._observation(text))
            self._observations.addWidget(Hairline())
        if not texts:
            words = "Nothing has been observed about it yet."
            self._observations.addWidget(Label(words, Type.BODY, "ink3"))
        self._all.setVisible(len(shown) < len(texts))
        self._all.set_words(f"Show all {counted(len(texts), 'observation')}")

    def _observation(self, text: str) -> QWidget:
        words = CutText("Observation")
        words.set_markdown(text)
        words.view.link_wanted.connect(self.link_wanted)
        cross = IconButton("close", "Forget this observation")
        cross.clicked.connect(lambda: self.observation_removed.emit(text))
        row = QWidget()
        line = QHBoxLayout(row)
        line.setContentsMargins(0, 6, 0, 6)
        line.setSpacing(8)
        line.addWidget(words, 1)
        line.addWidget(cross, 0, Qt.AlignmentFlag.AlignTop)
        return row

    def _fill_relations(self) -> None:
        assert self.details is not None  # noqa: S101 - only called with an entity
        _clear(self._relations)
        relations = self.details.relations
        for relation in relations[:SHOWN_RELATIONS]:
            self._relations.addWidget(self._relation(relation, self.details.entity.name))
        if len(relations) > SHOWN_RELATIONS:
            words = f"and {len(relations) - SHOWN_RELATIONS:,} more"
            self._relations.addWidget(Label(words, Type.META, "ink3"))

    def _relation(self, relation: Relation, own_name: str) -> QWidget:
        row = QWidget()
        line = QHBoxLayout(row)
        line.setContentsMargins(0, 0, 0, 0)
        line.setSpacing(4)
        outgoing = relation.from_name == own_name
        other = relation.to_name if outgoing else relation.from_name
        name = Button(_short(other), look=Look.LINK)
        name.setToolTip(other)
        name.setAccessibleName(f"Open {other}")
        name.clicked.connect(lambda: self.entity_wanted.emit(other))
        kind = Label(_short(relation.relation_type), Type.BODY, "ink2")
        words = (kind, name) if outgoing else (name, kind)
        for word in words:
            line.addWidget(word)
        if not outgoing:
            line.addWidget(Label("this", Type.BODY, "ink2"))
        line.addStretch(1)
        cross = IconButton("close", "Forget this relation")
        cross.clicked.connect(lambda: self.relation_removed.emit(relation))
        line.addWidget(cross)
        return row

    def _on_show_all(self) -> None:
        self._shows_all = True
        self._fill_observations()

    def _on_relation_entered(self, kind: str, other: str) -> None:
        if self.details is not None:
            self.relation_added.emit(Relation(self.details.entity.name, other, kind))

    def _on_entered(self) -> None:
        if text := self.new_observation.text().strip():
            self.observation_added.emit(text)
            self.new_observation.clear()


def _short(text: str) -> str:
    return text if len(text) <= 44 else text[:43].rstrip() + "…"


def _clear(layout: QVBoxLayout) -> None:
    while item := layout.takeAt(0):
        if (widget := item.widget()) is not None:
            widget.hide()
            widget.deleteLater()
