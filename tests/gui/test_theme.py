"""The look: contrast, sizes, and icons that are there."""

import re
from dataclasses import fields

import pytest
from PySide6.QtCore import QCoreApplication, QTimer
from PySide6.QtGui import QColor, QFont
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from kmem_desktop.config import Settings, resource_path
from kmem_desktop.gui.appearance import appearance, theme
from kmem_desktop.gui.application import apply_theme
from kmem_desktop.gui.icons import icon_pixmap
from kmem_desktop.gui.pages.registry import PAGES
from kmem_desktop.gui.theme import DARK, LIGHT, Tokens, Type, build_theme, with_more_contrast

GROUNDS = ("bg", "panel", "rail", "accent_soft", "hover", "code")


def luminance(color: str) -> float:
    def linear(channel: float) -> float:
        return channel / 12.92 if channel <= 0.04045 else ((channel + 0.055) / 1.055) ** 2.4

    value = QColor(color)
    red, green, blue = (linear(c) for c in (value.redF(), value.greenF(), value.blueF()))
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("tokens", [LIGHT, DARK, with_more_contrast(LIGHT)])
def test_all_text_is_read_and_all_outlines_are_seen(tokens: Tokens) -> None:
    for ground in GROUNDS:
        for ink in ("ink", "ink2", "ink3"):
            assert contrast(getattr(tokens, ink), getattr(tokens, ground)) >= 4.5, (ink, ground)
    for kind in ("good", "warn", "bad"):
        soft = getattr(tokens, f"{kind}_soft")
        assert contrast(getattr(tokens, kind), soft) >= 4.5
        assert contrast(tokens.ink, soft) >= 4.5
    assert contrast(tokens.on_accent, tokens.accent) >= 4.5
    assert contrast(tokens.ink, tokens.mark) >= 4.5
    for ground in ("bg", "panel"):
        assert contrast(tokens.edge, getattr(tokens, ground)) >= 3
        assert contrast(tokens.accent, getattr(tokens, ground)) >= 3


def test_every_token_is_a_colour() -> None:
    for tokens in (LIGHT, DARK):
        for field in fields(tokens):
            assert re.fullmatch(r"#[0-9a-f]{6}", getattr(tokens, field.name))


def test_sizes_follow_the_system_font_and_the_zoom(qtbot: QtBot) -> None:
    font = QFont()
    font.setPointSizeF(26 * 0.75)
    large = build_theme(font, is_dark=False, zoom_percent=100, contrast=False)
    assert large.px(13) == 26
    zoomed = build_theme(font, is_dark=False, zoom_percent=50, contrast=False)
    assert zoomed.px(13) == 13
    assert all(style.value[0] >= 12 for style in Type)


def test_dark_is_an_explicit_palette(qtbot: QtBot) -> None:
    heard: list[bool] = []
    appearance().changed.connect(lambda: heard.append(theme().is_dark))
    apply_theme(Settings(theme="dark"))
    assert QApplication.palette().window().color().name() == DARK.bg
    apply_theme(Settings(theme="light"))
    assert QApplication.palette().window().color().name() == LIGHT.bg
    assert heard[:2] == [True, False]


def test_every_page_has_its_icon(qtbot: QtBot) -> None:
    for entry in PAGES:
        image = icon_pixmap(entry.icon, "#000000", 16, 2.0).toImage()
        assert image.width() == 32
        assert not image.createAlphaMask().isNull()
        assert resource_path(f"icons/{entry.icon}.svg").is_file()


def test_icons_are_one_family() -> None:
    for path in resource_path("icons").glob("*.svg"):
        text = path.read_text(encoding="utf-8")
        if 'viewBox="0 0 16 16"' in text:
            assert 'stroke-width="1.6"' in text, path


def test_qt_calls_lose_no_reference_to_none(qtbot: QtBot) -> None:
    """PySide6 6.12.0 on Python 3.11 loses one with each call, until the process aborts."""
    import sys

    calls = 0

    def count() -> None:
        nonlocal calls
        calls += 1

    timer = QTimer()
    timer.setInterval(0)
    timer.timeout.connect(count)
    before = sys.getrefcount(None)
    timer.start()
    while calls < 3000:
        QCoreApplication.processEvents()
    timer.stop()
    assert sys.getrefcount(None) > before - 1500
