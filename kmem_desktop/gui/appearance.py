"""The look that is in force, and telling everyone when it changes."""

from functools import cache
from typing import cast

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtGui import QFont, QPalette
from PySide6.QtWidgets import QApplication

from kmem_desktop.gui.stylesheet import style_sheet
from kmem_desktop.gui.theme import Theme, Type, build_theme

_MIDDLE_LIGHTNESS = 128


class Appearance(QObject):
    """Holds the theme of the program and applies it to the application.

    Signals:
        changed: The theme was replaced; whoever paints or lays out by it does so again.
    """

    changed = Signal()

    def __init__(self, application: QApplication) -> None:
        """Take the system's font and brightness as they are now."""
        super().__init__(application)
        self._application = application
        self._system_font: QFont = application.font()
        base = application.palette().color(QPalette.ColorRole.Window)
        self._palette_is_dark = base.lightness() < _MIDDLE_LIGHTNESS
        self._choice = "system"
        self._zoom_percent = 100
        # Kept: a chained call on styleHints() finds its C++ object already deleted.
        self._hints = application.styleHints()
        self._hints.colorSchemeChanged.connect(self._on_system_changed)
        self._accessibility = self._hints.accessibility()
        self._accessibility.contrastPreferenceChanged.connect(self._on_system_changed)
        application.setStyle("Fusion")
        self.theme: Theme = self._build()

    def apply(self, choice: str, zoom_percent: int) -> None:
        """Show "system", "light" or "dark" at this size of text."""
        self._choice = choice
        self._zoom_percent = zoom_percent
        self.theme = self._build()
        self._application.setPalette(self.theme.palette())
        self._application.setFont(self.theme.font(Type.BODY))
        self._application.setStyleSheet(style_sheet(self.theme))
        self.changed.emit()

    def _build(self) -> Theme:
        more = self._accessibility.contrastPreference() == Qt.ContrastPreference.HighContrast
        return build_theme(
            self._system_font,
            is_dark=self._wants_dark(),
            zoom_percent=self._zoom_percent,
            contrast=more,
        )

    def _wants_dark(self) -> bool:
        if self._choice != "system":
            return self._choice == "dark"
        scheme = self._hints.colorScheme()
        if scheme == Qt.ColorScheme.Unknown:
            return self._palette_is_dark
        return scheme == Qt.ColorScheme.Dark

    def _on_system_changed(self) -> None:
        self.apply(self._choice, self._zoom_percent)


@cache
def appearance() -> Appearance:
    """Return the appearance of the running application."""
    return Appearance(cast("QApplication", QApplication.instance()))


def theme() -> Theme:
    """Return the theme in force."""
    return appearance().theme
