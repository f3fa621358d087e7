"""The icon in the tray, with the system's own menu."""

import asyncio
from collections.abc import Callable

from PySide6.QtCore import QObject
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QMenu, QSystemTrayIcon

from kmem_desktop.bootstrap import Services
from kmem_desktop.gui.icons import many_sized_icon
from kmem_desktop.gui.main_window import MainWindow
from kmem_desktop.gui.shell.leaving import WENT_ON, WHERE_QUIT_IS, has_tray
from kmem_desktop.gui.wording import counted

_TRAY_PATIENCE_S = 20


class Tray(QObject):
    """The tray icon; without a tray it stays away and the window is all there is.

    Attributes:
        icon: Qt's icon.
        menu: Its menu.
    """

    def __init__(self, window: MainWindow, services: Services) -> None:
        """Build icon and menu, and put the icon into the tray, now or once there is one."""
        super().__init__(window)
        self._window = window
        self._activity = services.activity
        self._attention = ""
        self.icon = QSystemTrayIcon(self)
        self.menu = QMenu()
        self._state = self._add("", window.bring_to_front)
        self.menu.addSeparator()
        self._add("Open kmem", window.bring_to_front)
        self._add("Quick search…", window.open_quick_search)
        self._add("New knowledge…", self._new_knowledge)
        self.menu.addSeparator()
        self._pause = self._add("Pause serving", self._toggle_pause)
        self._login = self._add("Start at login", self._toggle_login)
        self._login.setCheckable(True)
        self.menu.addSeparator()
        self._add("Quit kmem", window.quit)
        self.icon.setContextMenu(self.menu)
        self.icon.activated.connect(self._on_activated)
        self.menu.aboutToShow.connect(self._read_login)
        window.leaving.hidden_first.connect(self._say_that_kmem_goes_on)
        self._end = self._activity.listen(self._refresh)
        self._refresh()
        self._read_login()
        self.icon.show()

    async def comes_up(self) -> bool:
        """Wait a while for the tray, which may start later than kmem at login; tell if it came."""
        for _ in range(_TRAY_PATIENCE_S * 5):
            if has_tray():
                return True
            await asyncio.sleep(0.2)
        return has_tray()

    def set_attention(self, words: str) -> None:
        """Say that something needs a person; empty words say that nothing does."""
        self._attention = words
        self._refresh()

    def release(self) -> None:
        """Leave the tray."""
        self._end()
        self.icon.hide()

    def state(self) -> tuple[str, str]:
        """Return how things stand in words, and the icon's name for it."""
        if self._attention:
            return self._attention, "tray-attention"
        if self._activity.is_paused:
            return "Serving is paused", "tray-paused"
        count = len(self._activity.clients())
        who = counted(count, "assistant") if count else "No assistant"
        return f"{who} connected", "tray-serving"

    def _add(self, words: str, run: Callable[[], object]) -> QAction:
        action = QAction(words, self.menu)
        action.triggered.connect(lambda _checked=False: run())
        self.menu.addAction(action)
        return action

    def _refresh(self) -> None:
        words, icon_name = self.state()
        self._state.setText(words)
        self._pause.setText("Resume serving" if self._activity.is_paused else "Pause serving")
        self.icon.setIcon(many_sized_icon(icon_name))
        self.icon.setToolTip(f"kmem: {words}")

    def _new_knowledge(self) -> None:
        self._window.bring_to_front()
        self._window.new_knowledge()

    def _say_that_kmem_goes_on(self) -> None:
        if self.icon.supportsMessages():
            self.icon.showMessage(WENT_ON.replace("went", "goes"), WHERE_QUIT_IS, self.icon.icon())

    def _toggle_pause(self) -> None:
        self._activity.pause(paused=not self._activity.is_paused)

    def _toggle_login(self) -> None:
        context = self._window.context
        enabled = self._login.isChecked()
        context.tasks.run(
            context.startup.set_start_at_login(enabled=enabled), lambda _: self._read_login()
        )

    def _read_login(self) -> None:
        context = self._window.context
        context.tasks.run(
            context.startup.starts_at_login(), self._login.setChecked, topic="tray login"
        )

    def _on_activated(self, reason: QSystemTrayIcon.ActivationReason) -> None:
        reasons = QSystemTrayIcon.ActivationReason
        if reason in (reasons.Trigger, reasons.DoubleClick):
            self._window.bring_to_front()
