"""How long conversations stay: when they are archived, whether and when they are deleted."""

from kmem_desktop.domain.sessions.recall import DeletedSession
from kmem_desktop.gui.context import Context, Undo
from kmem_desktop.gui.settings.setting_row import DaysField, SettingGroup, SettingRow
from kmem_desktop.gui.widgets.controls import Button, Tick
from kmem_desktop.gui.widgets.labels import Label
from kmem_desktop.gui.wording import counted


class ConversationsPart(SettingGroup):
    """The life of conversations.

    Attributes:
        archive_days: After how many idle days a conversation is archived.
        deletes: Whether archived ones are deleted.
        delete_days: After how many days.
        archiving: The row of the first, which tells what is wrong with it.
        deleting: The row of the others.
        deleted: Says how many can be restored, and leads there.
    """

    def __init__(self, context: Context) -> None:
        """Lay out the rows."""
        super().__init__("Conversations")
        self._context = context
        self.archive_days = DaysField(
            "Archive after so many idle days",
            lambda days: context.settings.change(archive_after_days=days),
            lambda words: self.archiving.set_problem(words),
        )
        self.deletes = Tick("Delete them after")
        self.deletes.setAccessibleName("Delete archived conversations")
        self.deletes.clicked.connect(self._on_deletes_clicked)
        self.delete_days = DaysField(
            "Delete archived conversations after so many days",
            lambda days: context.settings.change(delete_after_days=days),
            lambda words: self.deleting.set_problem(words),
        )
        self.archiving = SettingRow(
            "Archive conversations",
            "One that nobody went on with for so long is put aside: still found and restored, and"
            " back when it is gone on with. Pinned ones stay.",
            Label("after"),
            self.archive_days,
            Label("idle days"),
        )
        self.deleting = SettingRow(
            "Delete archived conversations",
            "Off until you tick it. Then a conversation that was archived for so long is deleted,"
            " unless it is pinned. It can be restored for as long again; after that it is gone for"
            " good.",
            self.deletes,
            self.delete_days,
            Label("days"),
        )
        show = Button("Show…")
        show.setAccessibleName("Show deleted conversations")
        show.clicked.connect(lambda: context.shell.show_page("deleted"))
        self.deleted = SettingRow("Deleted conversations", " ", show)
        self.add_rows(self.archiving, self.deleting, self.deleted)

    def load(self) -> None:
        """Show what is so now."""
        self.show_settings()
        life = self._context.services.session_life
        self._context.tasks.run(life.deleted(), self._show_deleted, topic="deleted conversations")

    def show_settings(self) -> None:
        """Show what was chosen."""
        settings = self._context.settings.current
        self.archive_days.show_days(settings.archive_after_days)
        self.deletes.setChecked(settings.deletes_archived_sessions)
        self.delete_days.show_days(settings.delete_after_days)
        self.delete_days.setEnabled(settings.deletes_archived_sessions)

    def _show_deleted(self, deleted: list[DeletedSession]) -> None:
        count = len(deleted)
        self.deleted.words.setText(
            f"{counted(count, 'conversation')} can be restored."
            if count
            else "None now. What you delete can be restored here until you delete it for good."
        )

    def _on_deletes_clicked(self, ticked: bool) -> None:  # noqa: FBT001 - Qt's signal
        self._set_deletes(on=ticked)
        if not ticked:
            self._context.shell.say("Archived conversations are kept from now on.")
            return
        days = counted(self._context.settings.current.delete_after_days, "day")
        self._context.shell.say(
            f"What was archived for {days} is deleted from now on, and can be restored for {days}"
            " more.",
            Undo("Undo", lambda: self._set_deletes(on=False)),
        )

    def _set_deletes(self, *, on: bool) -> None:
        self._context.settings.change(deletes_archived_sessions=on)
        self.show_settings()
