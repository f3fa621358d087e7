"""The icon in the tray, with the system's own menu."""

from collections.abc import Callable

from PySide6.QtCore import QObject
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QMenu, QSystemTrayIcon

from kmem_desktop.bootstrap import Services
from kmem_desktop.gui.icons import many_sized_icon
from kmem_desktop.gui.main_window import MainWindow
from kmem_desktop.gui.wording import counted


class Tray(QObject):
    """The tray icon; without a tray it stays away and the window is all there is.

    Attributes:
        icon: Qt's icon.
        menu: Its menu.
    """

    def __init__(
        self, window: MainWindow, services: Services, quit_program: Callable[[], None]
    ) -> None:
        """Build icon and menu; `show` puts the icon into the tray."""
        super().__init__(window)
        self._window = window
        self._activity = services.activity
        self._quit_program = quit_program
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
        self._add("Quit kmem", self._quit)
        self.icon.setContextMenu(self.menu)
        self.icon.activated.connect(self._on_activated)
        self.menu.aboutToShow.connect(self._read_login)
        self._end = self._activity.listen(self._refresh)
        self._refresh()
        self._read_login()
        self.show()

    @property
    def is_available(self) -> bool:
        """Whether this desktop has a tray."""
        return QSystemTrayIcon.isSystemTrayAvailable()

    def show(self) -> None:
        """Put the icon into the tray, if there is one."""
        if self.is_available:
            self.icon.show()

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

    def _quit(self) -> None:
        self._window.prepare_to_quit()
        self._quit_program()

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
