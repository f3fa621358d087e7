"""Deleted conversations: each can be restored, or deleted for good."""

from datetime import datetime, timedelta

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QHBoxLayout, QVBoxLayout, QWidget

from kmem_desktop.domain.changes import Noun
from kmem_desktop.domain.sessions.recall import DeletedSession
from kmem_desktop.errors import KmemError
from kmem_desktop.events import Change
from kmem_desktop.gui.context import BY_WINDOW, Context, Undo
from kmem_desktop.gui.detail.parts import ScrolledColumn
from kmem_desktop.gui.models.parts import Lined
from kmem_desktop.gui.pages.page import Page, PageHead
from kmem_desktop.gui.settings.setting_row import SettingRow
from kmem_desktop.gui.widgets.controls import Button
from kmem_desktop.gui.widgets.empty import EmptyState
from kmem_desktop.gui.wording import by_whom, counted, exactly, quoted, when

SHOWN = 50
"""So many rows are shown at first, and after each wish for more."""
_BY_ITSELF = "kmem"


class DeletedRow(SettingRow):
    """A deleted conversation and what can be done with it.

    Attributes:
        deleted: The conversation.
        restore: Brings it back.
        for_good: Leaves nothing of it.
    """

    def __init__(self, deleted: DeletedSession, kept_days: int) -> None:
        """Show the conversation; what upkeep deleted is kept for `kept_days`."""
        title = quoted(deleted.title)
        self.deleted = deleted
        self.restore = Button("Restore")
        self.restore.setAccessibleName(f"Restore {title}")
        self.for_good = Button("Delete for good…")
        self.for_good.setAccessibleName(f"Delete {title} for good")
        words = deleted_words(deleted, kept_days)
        super().__init__(deleted.title, words, self.restore, self.for_good)
        self.setToolTip(exactly(deleted.deleted_at))


def deleted_words(deleted: DeletedSession, kept_days: int, now: datetime | None = None) -> str:
    """Return how long it was, who deleted it when, and until when it can be restored."""
    turns = counted(deleted.turn_count, "turn")
    at = when(deleted.deleted_at, now)
    if deleted.deleted_by != _BY_ITSELF:
        return f"{turns}, deleted {by_whom(deleted.deleted_by)}, {at}"
    end = deleted.deleted_at + timedelta(days=kept_days)
    return f"{turns}, deleted from the archive by itself, {at}; gone for good on {when(end, now)}"


class DeletedPage(Page):
    """The list of what can be restored.

    Attributes:
        rows: The rows that are shown.
        more: Shows more of them.
    """

    def __init__(self, context: Context, parent: QWidget | None = None) -> None:
        """Lay out the page."""
        super().__init__(context, parent)
        self._deleted: list[DeletedSession] = []
        self._kept_days = 0
        self._limit = SHOWN
        self.rows: list[DeletedRow] = []
        self.head = PageHead("Deleted conversations", " ")
        self._back = Button("Back to Sessions", key="Esc")
        self._back.clicked.connect(lambda: context.shell.show_page("sessions"))
        self.head.right.addWidget(self._back)
        self._empty = EmptyState()
        self._empty.set_words(
            "Nothing deleted",
            "A conversation that is deleted waits here, and can be restored as it was.",
        )
        self._empty.hide()
        self._area = ScrolledColumn("Deleted conversations", margins=(20, 6, 20, 24))
        self.more = Button("Show more")
        self.more.clicked.connect(self._on_more)
        line = QHBoxLayout()
        line.setContentsMargins(0, 14, 0, 0)
        line.addWidget(self.more)
        line.addStretch(1)
        self._list = QVBoxLayout()
        self._area.column.addLayout(self._list)
        self._area.column.addLayout(line)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.head)
        column.addWidget(self._panel(), 1)

    def _panel(self) -> QWidget:
        panel = QWidget()
        panel.setProperty("surface", "panel")
        panel.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        inside = QVBoxLayout(panel)
        inside.setContentsMargins(0, 0, 0, 0)
        inside.addWidget(self._empty)
        inside.addWidget(self._area)
        return panel

    def activate(self) -> None:
        life = self.context.services.session_life
        self.context.tasks.run(life.deleted(), self._show, topic="deleted sessions")

    def take_change(self, change: Change) -> None:
        if change.noun is Noun.SESSION and self.isVisible():
            self.activate()

    def focus_columns(self) -> list[QWidget]:
        return [self._area, self._back]

    def focus_first(self) -> None:
        # The list is looked at later; what is hidden then would hand the keyboard to the rail.
        self._back.setFocus(Qt.FocusReason.OtherFocusReason)

    def go_back(self) -> bool:
        self.context.shell.show_page("sessions")
        return True

    def _show(self, deleted: list[DeletedSession]) -> None:
        count = counted(len(deleted), "conversation")
        self.head.set_words(
            f"{count}; assistants find nothing of them. Restored, one is as it was."
            if deleted
            else "What is deleted on the page Sessions can be restored here."
        )
        days = self.context.settings.current.delete_after_days
        if (deleted, days) != (self._deleted, self._kept_days):
            self._deleted, self._kept_days = deleted, days
            self._fill()
        self._empty.setVisible(not deleted)
        self._area.setVisible(bool(deleted))

    def _on_more(self) -> None:
        self._limit += SHOWN
        self._fill()

    def _fill(self) -> None:
        """Make the rows anew; the keyboard stays at the place where it was."""
        focus = QApplication.focusWidget()
        rows = enumerate(self.rows)
        at = next((n for n, row in rows if focus and row.isAncestorOf(focus)), None)
        while item := self._list.takeAt(0):
            if (widget := item.widget()) is not None:
                widget.hide()
                widget.deleteLater()
        shown = self._deleted[: self._limit]
        self.rows = [DeletedRow(each, self._kept_days) for each in shown]
        for row in self.rows:
            row.restore.clicked.connect(lambda _=False, one=row.deleted: self.restore(one))
            row.for_good.clicked.connect(lambda _=False, one=row.deleted: self.ask_for_good(one))
            lined = Lined(row)
            self._list.addWidget(lined)
            lined.show()  # at once: what is not shown yet takes no keyboard
        if at is not None:
            last = len(self.rows) - 1
            target = self.rows[min(at, last)].restore if self.rows else self._back
            target.setFocus(Qt.FocusReason.OtherFocusReason)
        hidden = len(self._deleted) - len(self.rows)
        self.more.setVisible(hidden > 0)
        self.more.set_words(f"Show more ({hidden:,} are not shown)")

    def restore(self, deleted: DeletedSession) -> None:
        """Bring a conversation back."""
        life, shell = self.context.services.session_life, self.context.shell

        def again() -> None:
            self.context.tasks.run(life.delete(deleted.uuid, BY_WINDOW))

        self.context.tasks.run(
            life.restore_deleted(deleted.uuid, BY_WINDOW),
            lambda _: shell.say(
                f"Restored: {quoted(deleted.title)}. It is on the page Sessions again.",
                Undo("Undo", again),
            ),
        )

    def ask_for_good(self, deleted: DeletedSession) -> None:
        """Leave nothing of a conversation, after a question."""
        self.context.shell.ask(
            f"Delete {quoted(deleted.title)} for good? Nobody can restore it then, and no import"
            " brings it back.",
            "Delete for good",
            lambda: self._delete_for_good(deleted),
        )

    def _delete_for_good(self, deleted: DeletedSession) -> None:
        shell = self.context.shell

        def failed(error: KmemError) -> bool:
            shell.show_error(error.message, error.hint)
            self.activate()
            return True

        self.context.tasks.run(
            self.context.services.session_life.delete_for_good(deleted.uuid, BY_WINDOW),
            lambda _: shell.say(f"Deleted for good: {quoted(deleted.title)}."),
            failed=failed,
        )
