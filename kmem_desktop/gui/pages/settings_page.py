"""Settings: the look, starting at login, and where the files are."""

from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from PySide6.QtCore import Qt, QUrl
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from kmem_desktop.config import Settings
from kmem_desktop.domain.found import Counts
from kmem_desktop.domain.space import Space, SpaceGivenBack
from kmem_desktop.errors import KmemError
from kmem_desktop.gui.appearance import appearance
from kmem_desktop.gui.context import Context
from kmem_desktop.gui.detail.parts import ScrolledColumn
from kmem_desktop.gui.pages.page import Page, PageHead
from kmem_desktop.gui.theme import Type
from kmem_desktop.gui.widgets.controls import Button, Chip, Choice, Tick
from kmem_desktop.gui.widgets.labels import Hairline, Label
from kmem_desktop.gui.wording import counted

ZOOM_PERCENTS = (80, 90, 100, 110, 125, 150, 175, 200)
_THEMES = (("system", "As the system"), ("light", "Light"), ("dark", "Dark"))


def megabytes(size_bytes: int) -> str:
    """Write a size."""
    return f"{size_bytes / 1e6:.1f} MB"


def program_version() -> str:
    """Return the version of the installed program."""
    try:
        return version("kmem")
    except PackageNotFoundError:
        return "unknown"


class SettingRow(QWidget):
    """A name, a sentence, and at the right what is chosen."""

    def __init__(self, name: str, words: str, *controls: QWidget) -> None:
        """Show the setting."""
        super().__init__()
        self.words = Label(words, Type.META, "ink3", wrap=True)
        texts = QVBoxLayout()
        texts.setSpacing(2)
        texts.addWidget(Label(name, Type.BODY_STRONG))
        texts.addWidget(self.words)
        line = QHBoxLayout(self)
        line.setContentsMargins(0, 14, 0, 14)
        line.setSpacing(6)
        line.addLayout(texts, 1)
        line.addSpacing(16)
        for control in controls:
            line.addWidget(control, 0, Qt.AlignmentFlag.AlignVCenter)


class SettingsPage(Page):
    """What a person can choose; everything applies at once."""

    def __init__(self, context: Context, parent: QWidget | None = None) -> None:
        """Lay out the page."""
        super().__init__(context, parent)
        self._area = ScrolledColumn("Settings", margins=(20, 0, 20, 24))
        self.themes = {name: Chip(words) for name, words in _THEMES}
        self.text_size = Choice("Text size")
        self.at_login = Tick("Start kmem when I log in")
        self.proposed_rules = Tick("Hand out proposed rules, marked as such")
        self._memory = SettingRow("Memory", " ", self._button("Import…", "import"))
        self.give_back = self._button("Give space back", "give back")
        self.space = SettingRow("Space", " ", self.give_back)
        self._build()
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(PageHead("Settings", "Everything applies at once."))
        column.addWidget(self._panel(), 1)
        appearance().changed.connect(self._show_look)
        self._show_look()

    def _panel(self) -> QWidget:
        panel = QWidget()
        panel.setProperty("surface", "panel")
        panel.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        inside = QVBoxLayout(panel)
        inside.setContentsMargins(0, 0, 0, 0)
        inside.addWidget(self._area)
        return panel

    def _build(self) -> None:
        for name, chip in self.themes.items():
            chip.clicked.connect(lambda _=False, name=name: self._change(theme=name))
        for percent in ZOOM_PERCENTS:
            self.text_size.addItem(f"{percent} %", percent)
        self.text_size.activated.connect(
            lambda _index: self._change(zoom_percent=self.text_size.currentData())
        )
        self.at_login.clicked.connect(self._on_login_clicked)
        self.proposed_rules.clicked.connect(
            lambda ticked: self._change(hands_out_proposed_rules=ticked)
        )
        files = self.context.services.paths
        folder = self._button("Open folder", "folder")
        log_file = self._button("Open log", "log")
        rows = (
            SettingRow(
                "Appearance", "Light, dark, or what the system says.", *self.themes.values()
            ),
            SettingRow("Text size", "Also by Ctrl + and Ctrl -; Ctrl 0 is 100 %.", self.text_size),
            SettingRow(
                "Start at login",
                "Off until you tick it. Assistants can also start kmem when they need it.",
                self.at_login,
            ),
            SettingRow(
                "Closing and quitting",
                "Closing the window hides it, and assistants are served on; where the desktop has"
                " no tray, it quits. Quit (Ctrl Q) ends every process of kmem.",
            ),
            SettingRow(
                "Rules that assistants submit",
                "They wait for your word on the page Rules. Until then assistants get them after"
                " the approved ones, in a section that says so, or not at all.",
                self.proposed_rules,
            ),
            self._memory,
            self.space,
            SettingRow("Where the memory is", str(files.database), folder),
            SettingRow("Log", str(files.log), log_file),
            SettingRow("Version", f"kmem {program_version()}. It looks for no updates by itself."),
        )
        for row in rows:
            self._area.column.addWidget(row)
            self._area.column.addWidget(Hairline())

    def _button(self, words: str, deed: str) -> Button:
        button = Button(words)
        button.clicked.connect(lambda: self._do(deed))
        return button

    def focus_columns(self) -> list[QWidget]:
        return [self._area]

    def activate(self) -> None:
        services, tasks = self.context.services, self.context.tasks
        tasks.run(services.listing.counts(), self._show_counts, topic="counts")
        if self.give_back.isEnabled():
            tasks.run(services.maintenance.space(), self._show_space, topic="space")
        tasks.run(self.context.startup.starts_at_login(), self.at_login.setChecked, topic="login")

    def _show_counts(self, counts: Counts) -> None:
        self._memory.words.setText(
            f"{counted(counts.knowledge, 'item')} of knowledge,"
            f" {counted(counts.entities, 'entity', 'entities')},"
            f" {counted(counts.observations, 'observation')},"
            f" {counted(counts.relations, 'relation')}."
            " The memory file of the reference server can be brought in."
        )

    def _show_space(self, space: Space) -> None:
        self.space.words.setText(
            f"The memory takes {megabytes(space.file_bytes)}; about"
            f" {megabytes(space.spare_bytes)} of it can be given back. When that is much, it"
            " happens by itself while nothing is going on."
        )

    def _give_back(self) -> None:
        async def run() -> SpaceGivenBack:
            self.give_back.setEnabled(False)
            try:
                return await self.context.services.maintenance.run(
                    lambda step: self.space.words.setText(f"{step}…")
                )
            finally:
                self.give_back.setEnabled(True)

        def failed(error: KmemError) -> bool:
            self.space.words.setText(f"{error.message} {error.hint}".rstrip())
            return True

        self.context.tasks.run(run(), self._show_given_back, failed=failed)

    def _show_given_back(self, outcome: SpaceGivenBack) -> None:
        rest = " Another program still reads the rest." if outcome.waits_for_others else ""
        self.space.words.setText(
            f"The memory took {megabytes(outcome.before_bytes)} and takes"
            f" {megabytes(outcome.after_bytes)} now. Everything that could be undone still can."
            f"{rest}"
        )

    def _show_look(self) -> None:
        settings = self.context.settings.current
        self.themes[settings.theme].setChecked(True)
        self.proposed_rules.setChecked(settings.hands_out_proposed_rules)
        index = self.text_size.findData(settings.zoom_percent)
        if index < 0:
            self.text_size.addItem(f"{settings.zoom_percent} %", settings.zoom_percent)
            index = self.text_size.count() - 1
        self.text_size.setCurrentIndex(index)

    def _change(self, **values: object) -> None:
        settings: Settings = self.context.settings.change(**values)
        appearance().apply(settings.theme, settings.zoom_percent)

    def _on_login_clicked(self, ticked: bool) -> None:  # noqa: FBT001 - Qt's signal
        startup = self.context.startup

        async def change() -> bool:
            await startup.set_start_at_login(enabled=ticked)
            return await startup.starts_at_login()

        def failed(_error: KmemError) -> bool:
            self.at_login.setChecked(not ticked)
            return False

        self.context.tasks.run(change(), self.at_login.setChecked, failed=failed, topic="login")

    def _do(self, deed: str) -> None:
        files = self.context.services.paths
        if deed == "import":
            self.context.shell.choose_import()
        elif deed == "give back":
            self._give_back()
        else:
            path: Path = files.database.parent if deed == "folder" else files.log
            QDesktopServices.openUrl(QUrl.fromLocalFile(str(path)))
