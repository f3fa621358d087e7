"""The look in one place: colours, type scale, spacing; sizes follow the system font and zoom."""

from dataclasses import dataclass, replace
from enum import Enum
from functools import cached_property

from PySide6.QtGui import QColor, QFont, QFontDatabase, QFontInfo, QGuiApplication, QPalette

BASE_FONT_PX = 13
"""The body size the scale is drawn for; a larger system font enlarges everything."""

POOR_FAMILIES = frozenset(
    {
        "bitstream vera sans",
        "dejavu sans",
        "freesans",
        "helvetica",
        "liberation sans",
        "ms shell dlg 2",
        "nimbus sans",
        "sans serif",
        "verdana",
    }
)


@dataclass(frozen=True, slots=True)
class Tokens:
    """The colours by what they mean; every text pair in use has a contrast of 4.5:1 or more."""

    bg: str
    panel: str
    rail: str
    line: str
    edge: str
    ink: str
    ink2: str
    ink3: str
    accent: str
    accent_soft: str
    on_accent: str
    hover: str
    good: str
    good_soft: str
    warn: str
    warn_soft: str
    bad: str
    bad_soft: str
    mark: str
    code: str
    handle: str


LIGHT = Tokens(
    bg="#f7f6f3",
    panel="#fffefb",
    rail="#efede7",
    line="#e3dfd6",
    edge="#8f897d",
    ink="#1f1d1a",
    ink2="#5b564d",
    ink3="#696257",
    accent="#2f5d8a",
    accent_soft="#e3ecf5",
    on_accent="#fffefb",
    hover="#f5f3ee",
    good="#2c6e49",
    good_soft="#e0efe6",
    warn="#8a5a12",
    warn_soft="#f7ead2",
    bad="#a23b32",
    bad_soft="#f8e2df",
    mark="#fff0b8",
    code="#f1efe9",
    handle="#cbc6bb",
)

DARK = Tokens(
    bg="#191a1c",
    panel="#212326",
    rail="#141517",
    line="#33363b",
    edge="#7d7a73",
    ink="#e9e7e2",
    ink2="#b3b0a8",
    ink3="#a5a29a",
    accent="#8db8e6",
    accent_soft="#26364a",
    on_accent="#141517",
    hover="#272a2e",
    good="#84c9a0",
    good_soft="#22382c",
    warn="#e0b36a",
    warn_soft="#3c3120",
    bad="#ee9a90",
    bad_soft="#43292a",
    mark="#4a3e14",
    code="#2a2c30",
    handle="#4a4d53",
)


def with_more_contrast(tokens: Tokens) -> Tokens:
    """Return the tokens for people who asked their system for more contrast."""
    return replace(
        tokens,
        ink2=tokens.ink,
        ink3=tokens.ink,
        line=tokens.edge,
        edge=tokens.ink,
        handle=tokens.edge,
    )


class Type(Enum):
    """The type scale: size in px at 100 %, weight, tracking in percent, whether monospace."""

    META = (12.0, 400, 100.0, False)
    META_STRONG = (12.0, 600, 100.0, False)
    BODY = (13.0, 400, 100.0, False)
    BODY_STRONG = (13.0, 600, 100.0, False)
    BUTTON = (13.0, 500, 100.0, False)
    ROW_TITLE = (13.5, 600, 100.0, False)
    NAME = (14.5, 600, 99.5, False)
    FIELD = (15.0, 400, 100.0, False)
    TITLE = (18.0, 700, 99.0, False)
    CODE = (12.0, 400, 100.0, True)


LINE_PX = 20
META_LINE_PX = 18
CODE_LINE_PX = 18
RADIUS_CODE = 4
RADIUS_BUTTON = 6
RADIUS_CARD = 8
RADIUS_POPUP = 12
CONTROL_PX = 30
CHIP_PX = 26
FOCUS_PX = 2
BAR_PX = 3


@dataclass(frozen=True)
class Theme:
    """One look: tokens, the size of things, and the faces.

    Attributes:
        tokens: The colours.
        is_dark: Whether text is light on dark.
        scale: How much larger than drawn everything is (system font and zoom together).
        family: The face of text.
        mono_family: The face of code.
        points_per_px: For font sizes, which Qt takes in fractions only as points.
    """

    tokens: Tokens
    is_dark: bool
    scale: float
    family: str
    mono_family: str
    points_per_px: float = 0.75

    def px(self, size: float) -> int:
        """Return a length of the drawing in device-independent pixels."""
        return round(size * self.scale)

    def points(self, size_px: float) -> float:
        """Return a font size of the drawing in points."""
        return round(size_px * self.scale * self.points_per_px, 2)

    def color(self, name: str) -> QColor:
        """Return a token as a colour."""
        return QColor(getattr(self.tokens, name))

    def font(self, style: Type) -> QFont:
        """Return the font of a step of the type scale."""
        return QFont(self._fonts[style])

    @cached_property
    def _fonts(self) -> dict[Type, QFont]:
        fonts = {}
        for style in Type:
            size_px, weight, tracking, is_mono = style.value
            font = QFont(self.mono_family if is_mono else self.family)
            font.setPointSizeF(self.points(size_px))
            font.setWeight(QFont.Weight(weight))
            font.setLetterSpacing(QFont.SpacingType.PercentageSpacing, tracking)
            if is_mono:
                font.setStyleHint(QFont.StyleHint.Monospace)
            else:
                font.setFeature(QFont.Tag("tnum"), 1)
            fonts[style] = font
        return fonts

    def palette(self) -> QPalette:
        """Return Qt's palette for what no style sheet reaches."""
        palette = QPalette()
        role = QPalette.ColorRole
        for name, roles in {
            "bg": (role.Window, role.Button),
            "panel": (role.Base, role.ToolTipBase),
            "hover": (role.AlternateBase,),
            "ink": (role.WindowText, role.Text, role.ButtonText, role.ToolTipText),
            "ink3": (role.PlaceholderText,),
            "accent": (role.Highlight, role.Link, role.Accent),
            "on_accent": (role.HighlightedText,),
            "line": (role.Mid, role.Midlight, role.Light),
            "edge": (role.Dark,),
        }.items():
            for each in roles:
                palette.setColor(each, self.color(name))
        disabled = QPalette.ColorGroup.Disabled
        for each in (role.WindowText, role.Text, role.ButtonText):
            palette.setColor(disabled, each, self.color("ink3"))
        return palette


def build_theme(system_font: QFont, *, is_dark: bool, zoom_percent: int, contrast: bool) -> Theme:
    """Return the look for this system font, brightness and zoom."""
    tokens = DARK if is_dark else LIGHT
    info = QFontInfo(system_font)
    screen = QGuiApplication.primaryScreen()
    dpi = screen.logicalDotsPerInchY()
    system_px = system_font.pointSizeF() * dpi / 72 if system_font.pointSizeF() > 0 else 0.0
    size_px = max(system_px or float(system_font.pixelSize()), float(BASE_FONT_PX))
    family = info.family()
    if family.lower() in POOR_FAMILIES and "Inter" in QFontDatabase.families():
        family = "Inter"
    mono = QFontInfo(QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont)).family()
    return Theme(
        tokens=with_more_contrast(tokens) if contrast else tokens,
        is_dark=is_dark,
        scale=size_px / BASE_FONT_PX * zoom_percent / 100,
        family=family,
        mono_family=mono,
        points_per_px=72 / dpi,
    )
