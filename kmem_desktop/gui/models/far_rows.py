"""Those at other hosts: one quiet line until a person wants to set one up."""

from collections.abc import Callable, Mapping, Sequence

from PySide6.QtWidgets import QVBoxLayout, QWidget

from kmem_desktop.domain.models import KeyPlace, ProviderReport
from kmem_desktop.gui.models.parts import Lined, Row
from kmem_desktop.gui.models.provider_row import ProviderRow
from kmem_desktop.gui.widgets.controls import Button

WORDS = "Nothing is sent anywhere until you switch one on, for one purpose."


class FarRows(QWidget):
    """One line for all, or a row for each.

    Attributes:
        together: The line for all.
        rows: The rows by the providers' ids.
    """

    def __init__(
        self, new_row: Callable[[ProviderReport], ProviderRow], parent: QWidget | None = None
    ) -> None:
        """Make rows by `new_row` when they are wanted."""
        super().__init__(parent)
        self.rows: dict[str, ProviderRow] = {}
        self._new_row = new_row
        self._reports: Sequence[ProviderReport] = ()
        self._places: Mapping[str, KeyPlace] = {}
        self._is_open = False
        self.together = Row("Models at other hosts")
        self.together.state.set_state("off")
        self.together.words.setText(WORDS)
        self.set_up = self.together.add_button(Button("Set up…"), "Set up models at other hosts")
        self.set_up.clicked.connect(self.open)
        self._line = Lined(self.together)
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(0)
        self._column.addWidget(self._line)

    def show_reports(
        self, reports: Sequence[ProviderReport], places: Mapping[str, KeyPlace]
    ) -> None:
        """Show those that there are; each by itself once one is switched on."""
        self._reports, self._places = reports, places
        self.together.name.setText(", ".join(report.name for report in reports))
        self._is_open |= any(report.is_allowed_for for report in reports)
        self._fill()

    def open(self) -> None:
        """Show each by itself."""
        self._is_open = True
        self._fill()
        if self.rows:
            next(iter(self.rows.values())).more.setFocus()

    def _fill(self) -> None:
        self.setVisible(bool(self._reports))
        self._line.setVisible(not self._is_open)
        if not self._is_open:
            return
        for report in sorted(self._reports, key=lambda each: each.name):
            if report.id not in self.rows:
                row = self.rows[report.id] = self._new_row(report)
                self._column.addWidget(Lined(row))
            place = self._places.get(report.id, KeyPlace.NOWHERE)
            self.rows[report.id].set_facts(report, None, place=place)
