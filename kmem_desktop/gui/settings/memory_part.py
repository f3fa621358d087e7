"""The memory as a whole: what is in it, bringing in and copying, the room it takes, its files."""

from pathlib import Path

from PySide6.QtCore import QUrl
from PySide6.QtGui import QDesktopServices

from kmem_desktop.domain.found import Counts
from kmem_desktop.domain.space import Space, SpaceGivenBack
from kmem_desktop.errors import KmemError
from kmem_desktop.gui.context import Context
from kmem_desktop.gui.settings.copy_saving import choose_copy
from kmem_desktop.gui.settings.setting_row import SettingGroup, SettingRow
from kmem_desktop.gui.widgets.controls import Button
from kmem_desktop.gui.wording import counted


def megabytes(size_bytes: int) -> str:
    """Write a size."""
    return f"{size_bytes / 1e6:.1f} MB"


class MemoryPart(SettingGroup):
    """What can be done with the memory as a whole.

    Attributes:
        save: Saves a copy.
        give_back: Gives space back.
        space: Says how much room the memory takes.
    """

    def __init__(self, context: Context) -> None:
        """Lay out the rows."""
        super().__init__("The memory")
        self._context = context
        files = context.services.paths
        self.save = Button("Save a copy…", key="Ctrl ⇧ S")
        self.save.clicked.connect(self._on_save)
        self.give_back = Button("Give space back")
        self.give_back.clicked.connect(self._on_give_back)
        bring = Button("Import…", key="Ctrl I")
        bring.clicked.connect(context.shell.choose_import)
        self._contents = SettingRow("What is in it", " ", bring)
        self.space = SettingRow("Space", " ", self.give_back)
        self.add_rows(
            self._contents,
            SettingRow(
                "A copy of it",
                "Everything in one file, as JSON or markdown: to keep, to read, or to bring in on"
                " another computer by Import.",
                self.save,
            ),
            self.space,
            SettingRow(
                "Where it is",
                str(files.database),
                _opening("Open folder", files.database.parent),
            ),
        )

    def load(self) -> None:
        """Show what is so now."""
        services, tasks = self._context.services, self._context.tasks
        tasks.run(self._count(), self._show_counts, topic="counts")
        if self.give_back.isEnabled():
            tasks.run(services.maintenance.space(), self._show_space, topic="space")

    async def _count(self) -> tuple[int, Counts]:
        services = self._context.services
        return (await services.session_pages.facets()).total, await services.listing.counts()

    def _show_counts(self, found: tuple[int, Counts]) -> None:
        sessions, counts = found
        self._contents.words.setText(
            f"{counted(sessions, 'conversation')},"
            f" {counted(counts.knowledge, 'item')} of knowledge,"
            f" {counted(counts.entities, 'entity', 'entities')},"
            f" {counted(counts.observations, 'observation')},"
            f" {counted(counts.relations, 'relation')}."
            " Memories and conversations of other programs can be brought in."
        )

    def _on_save(self) -> None:
        choose_copy(self._context, self)

    def _show_space(self, space: Space) -> None:
        self.space.words.setText(
            f"The memory takes {megabytes(space.file_bytes)}; about"
            f" {megabytes(space.spare_bytes)} of it can be given back. When that is much, it"
            " happens by itself while nothing is going on."
        )

    def _on_give_back(self) -> None:
        async def run() -> SpaceGivenBack:
            self.give_back.setEnabled(False)
            try:
                return await self._context.services.maintenance.run(
                    lambda step: self.space.words.setText(f"{step}…")
                )
            finally:
                self.give_back.setEnabled(True)

        def failed(error: KmemError) -> bool:
            self.space.words.setText(f"{error.message} {error.hint}".rstrip())
            return True

        self._context.tasks.run(run(), self._show_given_back, failed=failed)

    def _show_given_back(self, outcome: SpaceGivenBack) -> None:
        rest = " Another program still reads the rest." if outcome.waits_for_others else ""
        self.space.words.setText(
            f"The memory took {megabytes(outcome.before_bytes)} and takes"
            f" {megabytes(outcome.after_bytes)} now. Everything that could be undone still can."
            f"{rest}"
        )


def _opening(words: str, path: Path) -> Button:
    """Return a button that opens a file or folder."""
    button = Button(words)
    button.clicked.connect(lambda: QDesktopServices.openUrl(QUrl.fromLocalFile(str(path))))
    return button
