"""What closing the window and quitting mean, each said once."""

from collections.abc import Callable

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QMainWindow, QSystemTrayIcon

from kmem_desktop.config import SettingsFile
from kmem_desktop.gui.widgets.notices import NoticeLine

WENT_ON = "kmem went on in the tray."
WHERE_QUIT_IS = "Quit is in the menu of its icon, and Ctrl Q."
NO_TRAY = "This desktop has no tray, so closing this window quits kmem."
NO_TRAY_HINT = "Assistants start it again by themselves when they need it, without a window."


def has_tray() -> bool:
    """Return whether this desktop has a tray to go on in."""
    return QSystemTrayIcon.isSystemTrayAvailable()


class Leaving(QObject):
    """Hides the window where there is a tray, and quits where there is none.

    Signals:
        hidden_first: The window was closed for the first time, and the program goes on.
    """

    hidden_first = Signal()

    def __init__(
        self,
        window: QMainWindow,
        notice: NoticeLine,
        settings: SettingsFile,
        quit_window: Callable[[], None],
    ) -> None:
        """Close `window`, and quit by `quit_window`."""
        super().__init__(window)
        self._window = window
        self._notice = notice
        self._settings = settings
        self._quit_window = quit_window
        self._owes_a_word = False

    def close(self) -> None:
        """Do what closing means on this desktop."""
        if not has_tray():
            self._quit_window()
            return
        self._notice.hide()
        self._window.hide()
        if not self._settings.current.told_that_closing_hides:
            self._settings.change(told_that_closing_hides=True)
            self._owes_a_word = True
            self.hidden_first.emit()

    def speak_on_return(self) -> None:
        """Say what closing did or will do, if nobody has said it yet."""
        if self._owes_a_word:
            self._owes_a_word = False
            self._notice.show_words(
                WENT_ON, hint=WHERE_QUIT_IS, button="Quit instead", then=self._quit_window
            )
        elif not self._settings.current.told_that_closing_hides and not has_tray():
            self._settings.change(told_that_closing_hides=True)
            self._notice.show_words(NO_TRAY, hint=NO_TRAY_HINT)
