"""What is kept out of the memory: secrets by kind and day, projects and sessions."""

from collections import Counter
from collections.abc import Coroutine, Sequence
from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHBoxLayout, QLineEdit, QVBoxLayout, QWidget

from kmem_desktop.domain.sessions.privacy import (
    EXCLUDED_NAME_LENGTH,
    Exclusion,
    ExclusionKind,
    SecretCount,
)
from kmem_desktop.gui.context import BY_WINDOW, Context, Undo
from kmem_desktop.gui.settings.setting_row import SettingGroup, SettingRow
from kmem_desktop.gui.theme import Type
from kmem_desktop.gui.widgets.controls import Button, Choice
from kmem_desktop.gui.widgets.labels import Label

DAYS_SHOWN = 7


class PrivacyPart(SettingGroup):
    """What is kept out of the memory: secrets by kind and day, projects and sessions.

    Attributes:
        removed: Says how many secrets of which kind were removed.
        days: The last days on which some were, with whom they came through.
        kind: Whether a project or a session is to be excluded.
        name: Which.
        exclude: Excludes it.
        lines: One for each exclusion, with the button that lifts it.
    """

    def __init__(self, context: Context) -> None:
        """Lay out both settings."""
        super().__init__("Privacy")
        self._context = context
        removed = SettingRow("Secrets", " ")
        self.removed = removed.words
        self.days = Label("", Type.META, "ink2", wrap=True)
        self.days.setContentsMargins(0, 0, 0, 14)
        self.kind = Choice("What to exclude")
        for kind in ExclusionKind:
            self.kind.addItem(kind.capitalize(), kind)
        self.name = QLineEdit()
        self.name.setAccessibleName("Name of the project, or id of the session")
        self.name.setPlaceholderText("Name, or id of the session")
        self.name.setMaxLength(EXCLUDED_NAME_LENGTH[1])
        self.name.setMinimumWidth(220)
        self.name.returnPressed.connect(self._on_exclude)
        self.exclude = Button("Exclude")
        self.exclude.clicked.connect(self._on_exclude)
        self._excluded = QWidget()
        self.lines = QVBoxLayout(self._excluded)
        self.lines.setContentsMargins(0, 0, 0, 0)
        self.lines.setSpacing(2)
        excluding = SettingRow(
            "Exclusions",
            "Nothing more is stored of an excluded project or session, from wherever it comes."
            " What is there already stays until you delete it.",
            self.kind,
            self.name,
            self.exclude,
        )
        self.add_rows(_stacked(removed, self.days), _stacked(excluding, self._excluded))
        self.days.hide()

    def load(self) -> None:
        """Show what is so now."""
        privacy, tasks = self._context.services.privacy, self._context.tasks
        tasks.run(privacy.removed(), self._show_removed, topic="secrets removed")
        tasks.run(privacy.exclusions(), self._show_exclusions, topic="exclusions")

    def _show_removed(self, counts: Sequence[SecretCount]) -> None:
        kinds: Counter[str] = Counter()
        days: dict[str, Counter[str]] = {}
        for each in counts:
            kinds[each.kind] += each.count
            day = f"{each.day:%d %b %Y}".lstrip("0") + f", {each.source}"
            days.setdefault(day, Counter())[each.kind] += each.count
        self.removed.setText(
            "Keys, tokens and passwords are replaced in everything before it reaches the disk."
            " What they were is kept nowhere. "
            + (f"So far: {_listed(kinds)}." if kinds else "There were none so far.")
        )
        lines = [f"{day}: {_listed(found)}" for day, found in list(days.items())[:DAYS_SHOWN]]
        self.days.setText("\n".join(lines))
        self.days.setVisible(bool(lines))

    def _show_exclusions(self, exclusions: Sequence[Exclusion]) -> None:
        while (item := self.lines.takeAt(0)) is not None:
            if (widget := item.widget()) is not None:
                widget.hide()
                widget.deleteLater()
        for exclusion in exclusions:
            self.lines.addWidget(self._line(exclusion))

    def _line(self, exclusion: Exclusion) -> QWidget:
        line = QWidget()
        row = QHBoxLayout(line)
        row.setContentsMargins(0, 2, 0, 6)
        since = f"{exclusion.added_at.astimezone():%d %b %Y}".lstrip("0")
        words = f"{exclusion.kind.capitalize()} {exclusion.name}, since {since}"
        row.addWidget(Label(words, wrap=True), 1, Qt.AlignmentFlag.AlignVCenter)
        again = Button("Store again")
        again.setAccessibleName(f"Store {exclusion.kind} {exclusion.name} again")
        again.clicked.connect(lambda: self._include(exclusion.kind, exclusion.name))
        row.addWidget(again)
        return line

    def _on_exclude(self) -> None:
        kind, name = ExclusionKind(self.kind.currentData()), self.name.text().strip()
        if not name:
            self.name.setFocus()
            return
        self.name.clear()
        self._change(
            self._context.services.privacy.exclude(kind, name, BY_WINDOW),
            f"Nothing more is stored of the {kind} {name}.",
            Undo("Undo", lambda: self._include(kind, name)),
        )

    def _include(self, kind: ExclusionKind, name: str) -> None:
        self._change(
            self._context.services.privacy.include(kind, name, BY_WINDOW),
            f"What comes of the {kind} {name} is stored again.",
        )

    def _change(
        self, work: Coroutine[Any, Any, bool], words: str, undo: Undo | None = None
    ) -> None:
        def done(_is_change: bool) -> None:  # noqa: FBT001 - the service's answer
            self._context.shell.say(words, undo)
            self.load()

        self._context.tasks.run(work, done)


def _stacked(row: QWidget, more: QWidget) -> QWidget:
    """Put what belongs to a row under it, before the line that ends it."""
    whole = QWidget()
    column = QVBoxLayout(whole)
    column.setContentsMargins(0, 0, 0, 0)
    column.setSpacing(0)
    column.addWidget(row)
    column.addWidget(more)
    return whole


def _listed(kinds: Counter[str]) -> str:
    """Write how many there are of each kind, the most first."""
    return ", ".join(f"{kind} ({count})" for kind, count in kinds.most_common())
