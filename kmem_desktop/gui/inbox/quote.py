"""A quotation: plain text as it was said, with the passage marked that something was taken from."""

import re

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from kmem_desktop.gui.appearance import appearance, theme
from kmem_desktop.gui.lists.row_painting import MarkedText
from kmem_desktop.gui.theme import LINE_PX, Type

AROUND = 220
"""So many characters before and after the passage are quoted."""
MOST_LINES = 24
_LINE_BREAK = "\u2028"


def quotation(text: str, passage: str) -> tuple[str, tuple[tuple[int, int], ...]]:
    """Return what is quoted of a turn, and where the passage stands in it.

    Args:
        text: What was said.
        passage: A part of it, its white space folded; where it is not found, the beginning of the
            text is quoted and nothing is marked.
    """
    words = passage.rstrip("\u2026").split()
    found = re.search(r"\s+".join(map(re.escape, words)), text) if words else None
    if found is None:
        return _cut(text, 0, 2 * AROUND), ()
    start = max(0, found.start() - AROUND)
    if start:  # at a word's beginning
        start = text.find(" ", start, found.start()) + 1 or found.start()
    end = min(len(text), found.end() + AROUND)
    before = "\u2026" if start else ""
    quoted = before + _cut(text, start, end)
    # A cut end is at least as far from the passage as its mark is long.
    offset = len(before) - start
    return quoted, ((found.start() + offset, found.end() + offset),)


def _cut(text: str, start: int, end: int) -> str:
    if end >= len(text):
        return text[start:].rstrip()
    last = text.rfind(" ", start, end)
    return text[start : last if last > start else end].rstrip() + "\u2026"


class Quote(QWidget):
    """Shows a quotation; never as markup."""

    def __init__(self, parent: QWidget | None = None) -> None:
        """Start empty."""
        super().__init__(parent)
        self._text = ""
        self._marks: tuple[tuple[int, int], ...] = ()
        self._color = "ink"
        policy = QSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Minimum)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)
        appearance().changed.connect(self._on_appearance_changed)

    def set_text(
        self, text: str, marks: tuple[tuple[int, int], ...] = (), color: str = "ink"
    ) -> None:
        """Quote a text; the marked ranges stand on another ground."""
        self._text = text.replace("\r\n", "\n").replace("\n", _LINE_BREAK).replace("\t", "  ")
        self._marks = marks if "\r\n" not in text and "\t" not in text else ()
        self._color = color
        self.setAccessibleName(text)
        self.updateGeometry()
        self.update()

    def text(self) -> str:
        """Return what is quoted."""
        return self._text.replace(_LINE_BREAK, "\n")

    def marked(self) -> list[str]:
        """Return what is marked in it."""
        return [self._text[start:end].replace(_LINE_BREAK, "\n") for start, end in self._marks]

    def _painter(self) -> MarkedText:
        look = theme()
        ink = look.color(self._color)
        return MarkedText(look.font(Type.BODY), ink, look.color("mark"), look.color("ink"))

    def heightForWidth(self, width: int) -> int:
        lines = self._painter().line_count(self._text, self._marks, max(width, 1), MOST_LINES)
        return max(1, lines) * theme().px(LINE_PX)

    def minimumSizeHint(self) -> QSize:
        return QSize(theme().px(60), theme().px(LINE_PX))

    def sizeHint(self) -> QSize:
        return QSize(theme().px(200), self.heightForWidth(max(self.width(), 1)))

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setLayoutDirection(Qt.LayoutDirection.LayoutDirectionAuto)
        line = theme().px(LINE_PX)
        self._painter().paint(painter, QRectF(self.rect()), self._text, self._marks, line)

    def _on_appearance_changed(self) -> None:
        self.updateGeometry()
        self.update()
