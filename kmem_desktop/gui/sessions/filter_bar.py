"""What narrows the list of sessions: project, assistant, tag, time and state."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QWidget

from kmem_desktop.domain.sessions.browsing import Facet, SessionFacets, SessionView
from kmem_desktop.domain.sessions.recall import SessionState
from kmem_desktop.gui.conversation.wording import NO_PROJECT, STATES
from kmem_desktop.gui.widgets.controls import Button, Chip, Choice, Look
from kmem_desktop.gui.widgets.flow_layout import FlowLayout

MOST_OFFERED = 200
"""So many values of one kind are offered, the most frequent ones."""
_TIMES = (
    ("Any time", None),
    ("Today", 0),
    ("Last 7 days", 6),
    ("Last 30 days", 29),
    ("Last 12 months", 364),
)


class FilterBar(QWidget):
    """The filters in one line, or in as many as the width needs.

    Signals:
        changed: Something else is chosen.
        deleted_wanted: The deleted conversations are to be shown.
    """

    changed = Signal()
    deleted_wanted = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        """Narrow nothing yet."""
        super().__init__(parent)
        self.project = Choice("Project")
        self.client = Choice("Assistant")
        self.tag = Choice("Tag")
        self.time = Choice("Time")
        self.state = Choice("State")
        self.pinned = Chip("Pinned")
        self.pinned.setAutoExclusive(False)
        self.clear_button = Button("Clear the filters", look=Look.LINK)
        self.clear_button.setToolTip("Clear the filters  (Esc)")
        self.clear_button.hide()
        for words, days in _TIMES:
            self.time.addItem(words, days)
        self._anything = {
            self.project: "Any project",
            self.client: "Any assistant",
            self.tag: "Any tag",
            self.state: "Any state",
        }
        for choice, words in self._anything.items():
            choice.addItem(words, None)
        area = QWidget()
        flow = FlowLayout(area, gap=8)
        deleted = Button("Deleted…", look=Look.LINK)
        deleted.setToolTip("Deleted conversations, which can be restored")
        deleted.clicked.connect(self.deleted_wanted)
        for widget in (*self.choices(), self.pinned, self.clear_button, deleted):
            flow.addWidget(widget)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.addWidget(area, 1)
        for choice in self.choices():
            choice.currentIndexChanged.connect(self._on_changed)
        self.pinned.toggled.connect(self._on_changed)
        self.clear_button.clicked.connect(self.clear)

    def choices(self) -> tuple[Choice, ...]:
        """Return the filters that are chosen from lists."""
        return (self.project, self.client, self.tag, self.time, self.state)

    def applied_to(self, view: SessionView) -> SessionView:
        """Return a view narrowed by what is chosen here."""
        days = self.time.currentData()
        since = None
        if days is not None:
            midnight = (
                datetime.now().astimezone().replace(hour=0, minute=0, second=0, microsecond=0)
            )
            since = (midnight - timedelta(days=days)).astimezone(UTC)
        state = self.state.currentData()
        return replace(
            view,
            project=self.project.currentData(),
            client=self.client.currentData(),
            tag=self.tag.currentData(),
            since=since,
            state=SessionState(state) if state else None,
            is_pinned=self.pinned.isChecked(),
        )

    @property
    def is_narrowing(self) -> bool:
        """Whether something is chosen."""
        return self.pinned.isChecked() or any(c.currentData() is not None for c in self.choices())

    def clear(self) -> None:
        """Narrow nothing any more."""
        self._set_all(0)
        self._on_changed()

    def _set_all(self, index: int) -> None:
        for choice in self.choices():
            choice.blockSignals(True)
            choice.setCurrentIndex(index)
            choice.blockSignals(False)
        self.pinned.blockSignals(True)
        self.pinned.setChecked(False)
        self.pinned.blockSignals(False)

    def choose_tag(self, tag: str) -> None:
        """Show only sessions with this tag."""
        if self.tag.findData(tag) < 0:
            self.tag.addItem(tag, tag)
        self.tag.setCurrentIndex(self.tag.findData(tag))

    def set_facets(self, facets: SessionFacets) -> None:
        """Offer what there is, with its counts; what is chosen stays chosen."""
        self._fill(self.project, facets.projects)
        self._fill(self.client, facets.clients)
        self._fill(self.tag, facets.tags)
        states = {facet.name: facet.count for facet in facets.states}
        self._fill(self.state, [Facet(s.value, states[s]) for s in STATES if s in states])
        self.tag.setVisible(bool(facets.tags))
        self.pinned.setVisible(bool(facets.pinned) or self.pinned.isChecked())
        self.pinned.set_words(f"Pinned {facets.pinned:,}" if facets.pinned else "Pinned")

    def _fill(self, choice: Choice, facets: Sequence[Facet]) -> None:
        chosen = choice.currentData()
        offered = list(facets[:MOST_OFFERED])
        if chosen is not None and all(facet.name != chosen for facet in offered):
            offered.append(Facet(chosen, 0))
        wanted = [(_name(choice is self.project, facet), facet.name) for facet in offered]
        if choice is self.state:
            wanted = [(f"{STATES[SessionState(f.name)]}  {f.count:,}", f.name) for f in offered]
        if wanted == [(choice.itemText(i), choice.itemData(i)) for i in range(1, choice.count())]:
            return
        choice.blockSignals(True)
        choice.clear()
        choice.addItem(self._anything[choice], None)
        for words, value in wanted:
            choice.addItem(words, value)
        choice.setCurrentIndex(max(0, choice.findData(chosen)) if chosen is not None else 0)
        choice.blockSignals(False)
        choice.updateGeometry()

    def _on_changed(self) -> None:
        self.clear_button.setVisible(self.is_narrowing)
        self.changed.emit()


def _name(is_project: bool, facet: Facet) -> str:  # noqa: FBT001 - one of two
    name = facet.name or (NO_PROJECT if is_project else "Unknown")
    return f"{name}  {facet.count:,}"
