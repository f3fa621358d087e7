"""Says in the rail whether something left this computer, and when the last of it did."""

from collections.abc import Sequence

from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QWidget

from kmem_desktop.domain.models import Sent
from kmem_desktop.gui.tasks import Tasks
from kmem_desktop.gui.widgets.labels import Label
from kmem_desktop.gui.wording import exactly, when
from kmem_desktop.services.models.service import ModelService

EVERY_MS = 10_000
NOTHING = "Nothing left this computer"


class LeftWatch:
    """Looks at the record now and then while the window is visible."""

    def __init__(self, models: ModelService, tasks: Tasks, label: Label, window: QWidget) -> None:
        """Say in `label` what the record of `models` tells."""
        self._models = models
        self._tasks = tasks
        self._label = label
        self._window = window
        self._timer = QTimer(window)
        self._timer.setInterval(EVERY_MS)
        self._timer.timeout.connect(self.look)
        self._timer.start()

    def look(self) -> None:
        """Look at the record."""
        if self._window.isVisible():
            self._tasks.run(self._models.sent(), self._show, topic="left")

    def end(self) -> None:
        """Look no more."""
        self._timer.stop()

    def _show(self, sent: Sequence[Sent]) -> None:
        if not sent:
            self._label.setText(NOTHING)
            return
        last = sent[0]
        self._label.setText(f"Texts last left {when(last.minute)}, to {last.host[:40]}")
        self._label.setToolTip(f"{exactly(last.minute)}. All of it: Connections.")
