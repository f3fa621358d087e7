"""The Qt application: its name, its icon, and the look that was chosen."""

from PySide6.QtWidgets import QApplication

from kmem_desktop.config import Settings
from kmem_desktop.gui.appearance import appearance
from kmem_desktop.gui.icons import many_sized_icon

NAME = "kmem"


def create_application(arguments: list[str]) -> QApplication:
    """Return the application, which goes on when its last window is closed."""
    application = QApplication(arguments)
    application.setApplicationName(NAME)
    application.setApplicationDisplayName(NAME)
    application.setDesktopFileName(NAME)
    application.setQuitOnLastWindowClosed(False)
    application.setWindowIcon(many_sized_icon("kmem"))
    return application


def apply_theme(settings: Settings) -> None:
    """Show the theme and the size of text that these settings choose."""
    appearance().apply(settings.theme, settings.zoom_percent)
