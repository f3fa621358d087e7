"""Settings, in groups: the look, starting, assistants, conversations, privacy, the memory."""

from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from PySide6.QtCore import Qt, QUrl
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QVBoxLayout, QWidget

from kmem_desktop.config import Settings
from kmem_desktop.domain.changes import Noun
from kmem_desktop.errors import KmemError
from kmem_desktop.events import Change
from kmem_desktop.gui.appearance import appearance
from kmem_desktop.gui.context import Context
from kmem_desktop.gui.detail.parts import ScrolledColumn
from kmem_desktop.gui.pages.page import Page, PageHead
from kmem_desktop.gui.settings.conversations_part import ConversationsPart
from kmem_desktop.gui.settings.memory_part import MemoryPart
from kmem_desktop.gui.settings.privacy_part import PrivacyPart
from kmem_desktop.gui.settings.setting_row import SettingGroup, SettingRow
from kmem_desktop.gui.widgets.controls import Button, Chip, Choice, Tick

ZOOM_PERCENTS = (80, 90, 100, 110, 125, 150, 175, 200)
_THEMES = (("system", "As the system"), ("light", "Light"), ("dark", "Dark"))


def program_version() -> str:
    """Return the version of the installed program."""
    try:
        return version("kmem")
    except PackageNotFoundError:
        return "unknown"


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
        self.proposed_knowledge = Tick("Hand out what waits in the inbox, marked as such")
        self.conversations = ConversationsPart(context)
        self.privacy = PrivacyPart(context)
        self.memory = MemoryPart(context)
        self._connect()
        for group in (
            self._window_group(),
            self._assistants_group(),
            self.conversations,
            self.privacy,
            self.memory,
            self._program_group(),
        ):
            self._area.column.addWidget(group)
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

    def _connect(self) -> None:
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
        self.proposed_knowledge.clicked.connect(
            lambda ticked: self._change(hands_out_proposed_knowledge=ticked)
        )

    def _window_group(self) -> SettingGroup:
        group = SettingGroup("The window")
        group.add_rows(
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
        )
        return group

    def _assistants_group(self) -> SettingGroup:
        group = SettingGroup("What assistants get")
        group.add_rows(
            SettingRow(
                "Rules that assistants submit",
                "They wait for your word on the page Rules. Until then assistants get them after"
                " the approved ones, in a section that says so, or not at all.",
                self.proposed_rules,
            ),
            SettingRow(
                "Knowledge that waits in the inbox",
                "It was taken from your conversations, and nobody has agreed to it yet. Off until"
                " you tick it: then assistants get up to three such pieces with an answer.",
                self.proposed_knowledge,
            ),
        )
        return group

    def _program_group(self) -> SettingGroup:
        group = SettingGroup("The program")
        log_file: Path = self.context.services.paths.log
        open_log = Button("Open log")
        open_log.clicked.connect(
            lambda: QDesktopServices.openUrl(QUrl.fromLocalFile(str(log_file)))
        )
        group.add_rows(
            SettingRow("Log", str(log_file), open_log),
            SettingRow("Version", f"kmem {program_version()}. It looks for no updates by itself."),
        )
        return group

    def focus_columns(self) -> list[QWidget]:
        return [self._area]

    def activate(self) -> None:
        self.conversations.load()
        self.privacy.load()
        self.memory.load()
        startup = self.context.startup
        self.context.tasks.run(startup.starts_at_login(), self.at_login.setChecked, topic="login")

    def take_change(self, change: Change) -> None:
        if change.noun is Noun.SESSION and self.isVisible():
            self.conversations.load()

    def _show_look(self) -> None:
        settings = self.context.settings.current
        self.themes[settings.theme].setChecked(True)
        self.proposed_rules.setChecked(settings.hands_out_proposed_rules)
        self.proposed_knowledge.setChecked(settings.hands_out_proposed_knowledge)
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
