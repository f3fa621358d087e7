"""The style sheet for Qt's own widgets, built from the tokens."""

from string import Template

from kmem_desktop.gui.theme import CONTROL_PX, RADIUS_BUTTON, RADIUS_CARD, Theme

_SHEET = Template("""
QMainWindow, QWidget[surface="bg"] { background: $bg; }
QWidget[surface="panel"] { background: $panel; }
QWidget[surface="rail"] { background: $rail; }
QFrame[role="hairline"] { background: $line; border: none; }
QFrame[role="card"] { background: $panel; border: 1px solid $line; border-radius: ${card}px; }
QFrame[role="popup"] { background: $panel; border: 1px solid $edge; border-radius: ${popup}px; }
QScrollArea { border: none; background: transparent; }
QScrollArea > QWidget > QWidget { background: transparent; }

QLineEdit, QPlainTextEdit, QSpinBox, QDoubleSpinBox {
    background: $panel; border: 1px solid $edge; border-radius: ${button}px;
    padding: 1px ${s8}px; min-height: ${field}px;
    selection-background-color: $accent; selection-color: $on_accent; }
QSpinBox, QDoubleSpinBox { min-height: ${spin}px; }
QPlainTextEdit { padding: ${s4}px; }
QLineEdit:focus, QPlainTextEdit:focus, QSpinBox:focus, QDoubleSpinBox:focus {
    border: 2px solid $accent; padding: 0px ${s7}px; }
QPlainTextEdit:focus { padding: ${s3}px; }
QLineEdit[invalid="true"], QPlainTextEdit[invalid="true"], QSpinBox[invalid="true"],
QDoubleSpinBox[invalid="true"] { border: 2px solid $bad; padding: 0px ${s7}px; }
QPlainTextEdit[invalid="true"] { padding: ${s3}px; }
QLineEdit:read-only { background: $bg; color: $ink2; border-color: $line; }
QLineEdit[role="bare"], QLineEdit[role="bare"]:focus { border: none; background: transparent;
    padding: 0px; }
QComboBox QLineEdit, QComboBox QLineEdit:focus, QAbstractSpinBox QLineEdit,
QAbstractSpinBox QLineEdit:focus { border: none; background: transparent;
    padding: 0px; min-height: 0px; }
QComboBox QAbstractItemView, QListView[role="choices"] { background: $panel;
    border: 1px solid $edge; outline: none; padding: ${s4}px;
    selection-background-color: $accent_soft; selection-color: $ink; }
QComboBox QAbstractItemView::item, QListView[role="choices"]::item { min-height: ${item}px;
    padding: 0px ${s8}px; }

QSpinBox::up-button, QSpinBox::down-button, QDoubleSpinBox::up-button,
QDoubleSpinBox::down-button { width: 0px; border: none; }

QTableView { background: $panel; border: none; outline: none; }
QTextBrowser { background: transparent; border: none;
    selection-background-color: $accent; selection-color: $on_accent; }
QToolTip { background: $panel; color: $ink; border: 1px solid $edge; padding: ${s4}px ${s8}px; }

QScrollBar:vertical { background: transparent; width: ${bar}px; margin: 0px; border: none; }
QScrollBar:horizontal { background: transparent; height: ${bar}px; margin: 0px; border: none; }
QScrollBar::handle:vertical { background: $handle; border-radius: ${bar_radius}px;
    min-height: 36px; margin: 2px 3px; }
QScrollBar::handle:horizontal { background: $handle; border-radius: ${bar_radius}px;
    min-width: 36px; margin: 3px 2px; }
QScrollBar::handle:hover { background: $edge; }
QScrollBar::add-line, QScrollBar::sub-line { width: 0px; height: 0px; }
QScrollBar::add-page, QScrollBar::sub-page { background: transparent; }
""")


def style_sheet(theme: Theme) -> str:
    """Return the application's style sheet in this theme."""
    tokens = theme.tokens
    colors = {name: getattr(tokens, name) for name in type(tokens).__slots__}
    bar_px = max(10, theme.px(10))
    return _SHEET.substitute(
        colors,
        card=RADIUS_CARD,
        popup=RADIUS_CARD,
        button=RADIUS_BUTTON,
        field=theme.px(CONTROL_PX) - 4,
        spin=theme.px(CONTROL_PX) - 7,
        item=theme.px(28),
        bar=bar_px,
        bar_radius=(bar_px - 6) // 2,
        s3=theme.px(4) - 1,
        s4=theme.px(4),
        s7=theme.px(8) - 1,
        s8=theme.px(8),
    )
