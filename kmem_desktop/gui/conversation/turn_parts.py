"""The text of a turn in parts, each laid out when it comes into sight, and painted from there.

A turn may be as long as a book. It is cut where its markdown allows, so that what is laid out at
one time fits between two frames.
"""

import re
from collections.abc import Iterator, Sequence

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import (
    QAbstractTextDocumentLayout,
    QPainter,
    QTextBlock,
    QTextCharFormat,
    QTextCursor,
    QTextDocument,
    QTextTable,
)

from kmem_desktop.gui.conversation.code_colours import coloured, family_of
from kmem_desktop.gui.markdown import INLINE_CODE, Markdown
from kmem_desktop.gui.theme import CODE_LINE_PX, LINE_PX, RADIUS_CODE, Theme, Type
from kmem_desktop.gui.widgets.text_view import line_x

PART_LENGTH = 1_000
"""About so many characters are laid out at a time."""
MOST_SHOWN = 200_000
"""Of a longer turn the rest is left to the export."""
_CODE_LINES = 40
_FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})(.*)$")
_BACKTICKS = re.compile(r"`{3,}")

Range = tuple[int, int]


class TurnMarkdown(Markdown):
    """Markdown whose code has the colours of its language."""

    def __init__(self, look: Theme) -> None:
        """Write in this theme."""
        super().__init__(look)
        self._families: list[str] = []

    def write(self, text: str, cursor: QTextCursor) -> None:
        """Insert a markdown text at the cursor of an empty document."""
        tokens = self._parser.parse(text)
        self._families = [
            family_of(token.info) for token in tokens if token.type in ("fence", "code_block")
        ]
        self._families.reverse()
        index = 0
        while index < len(tokens):
            index = self._block(tokens, index, cursor)

    def _code(self, text: str, cursor: QTextCursor) -> None:
        family = self._families.pop() if self._families else ""
        # Into a frame the text goes from its first place on; where that is, is known afterwards.
        before = cursor.position()
        super()._code(text, cursor)
        if family:
            self._colour(text.rstrip("\n"), family, before, cursor)

    def _colour(self, code: str, family: str, before: int, cursor: QTextCursor) -> None:
        document = cursor.document()
        start = document.find(code.split("\n", 1)[0], before).selectionStart() if code else -1
        if start < 0:
            return
        painter = QTextCursor(document)
        ends = _utf16_offsets(code)
        for piece in coloured(code, family):
            painter.setPosition(start + ends(piece.start))
            painter.setPosition(start + ends(piece.end), QTextCursor.MoveMode.KeepAnchor)
            ink = QTextCharFormat()
            ink.setForeground(self._theme.color(piece.ink.token))
            painter.mergeCharFormat(ink)


def _utf16_offsets(text: str) -> "type[int] | _Offsets":
    """Return what turns a place in a text into its place in a document, which counts UTF-16."""
    return int if text.isascii() or max(text) <= "\uffff" else _Offsets(text)


class _Offsets:
    """Places of a text with characters that a document counts twice."""

    def __init__(self, text: str) -> None:
        self._places = [0]
        for character in text:
            self._places.append(self._places[-1] + (2 if character > "\uffff" else 1))

    def __call__(self, place: int) -> int:
        return self._places[place]


class TurnPart:
    """A part of a turn: its source, and its layout while it is needed.

    Attributes:
        text: Its markdown.
        height: Its height in pixels, guessed until it is laid out for the width in force.
    """

    __slots__ = ("_found", "_frames", "_runs", "_width", "document", "height", "text")

    def __init__(self, text: str, height: float) -> None:
        """Wait to be laid out."""
        self.text = text
        self.height = height
        self.document: QTextDocument | None = None
        self._width = 0
        self._frames: list[QRectF] = []
        self._runs: list[QRectF] = []
        self._found: tuple[tuple[str, ...], list[Range]] = ((), [])

    def is_ready(self, width: int) -> bool:
        """Return whether it is laid out for a width."""
        return self.document is not None and self._width == width

    def lay_out(self, width: int, look: Theme) -> None:
        """Lay the part out."""
        if self.document is None:
            document = QTextDocument()
            document.setUndoRedoEnabled(False)
            document.setDocumentMargin(0)
            document.setDefaultFont(look.font(Type.BODY))
            TurnMarkdown(look).write(self.text, QTextCursor(document))
            self.document = document
        self._width = width
        self.document.setTextWidth(width)
        self.height = self.document.size().height()
        self._frames = list(_code_frames(self.document))
        self._runs = list(_inline_code(self.document, look))

    def forget(self) -> None:
        """Let go of the layout; the height stays known."""
        self.document = None
        self._width = 0
        self._frames, self._runs = [], []
        self._found = ((), [])

    def found(self, words: Sequence[str]) -> list[Range]:
        """Return where these words stand in the document."""
        if self.document is None or not words:
            return []
        if self._found[0] != tuple(words):
            ranges = []
            for word in words:
                cursor = self.document.find(word)
                while not cursor.isNull():
                    ranges.append((cursor.selectionStart(), cursor.selectionEnd()))
                    cursor = self.document.find(word, cursor)
            self._found = (tuple(words), sorted(ranges))
        return self._found[1]

    def top_of(self, position: int) -> float:
        """Return how far below the top of the part a place of the document stands."""
        if self.document is None:
            return 0.0
        block = self.document.findBlock(position)
        top = float(self.document.documentLayout().blockBoundingRect(block).top())
        line = block.layout().lineForTextPosition(position - block.position())
        return top + (line.y() if line.isValid() else 0.0)

    def position_at(self, point: QPointF) -> int:
        """Return the place of the document that is nearest to a point."""
        if self.document is None:
            return 0
        fuzzy = Qt.HitTestAccuracy.FuzzyHit
        return max(0, self.document.documentLayout().hitTest(point, fuzzy))

    def link_at(self, point: QPointF) -> str:
        """Return the address of the link at a point; empty where there is none."""
        return "" if self.document is None else self.document.documentLayout().anchorAt(point)

    def selected(self, start: int, end: int) -> str:
        """Return the text between two places of the document; -1 stands for its end."""
        if self.document is None:
            return self.text
        cursor = QTextCursor(self.document)
        last = self.document.characterCount() - 1
        cursor.setPosition(min(start, last))
        place = last if end < 0 else min(end, last)
        cursor.setPosition(place, QTextCursor.MoveMode.KeepAnchor)
        return cursor.selection().toPlainText()

    def paint(
        self,
        painter: QPainter,
        clip: QRectF,
        look: Theme,
        *,
        words: Sequence[str],
        selection: Range | None,
    ) -> None:
        """Paint the part with its top left corner at the painter's origin.

        Args:
            painter: Where.
            clip: What is in sight, in the part's own coordinates.
            look: The theme.
            words: What was looked for.
            selection: What is selected, as places of the document.
        """
        if self.document is None:
            return
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(look.color("code"))
        for rect in (*self._frames, *self._runs):
            if rect.intersects(clip):
                painter.drawRoundedRect(rect, RADIUS_CODE, RADIUS_CODE)
        context = QAbstractTextDocumentLayout.PaintContext()
        context.clip = clip
        context.palette.setColor(context.palette.ColorRole.Text, look.color("ink"))
        marks = [self._marked(a, b, "mark", "ink", look) for a, b in self.found(words)]
        if selection is not None:
            marks.append(self._marked(*selection, "accent", "on_accent", look))
        context.selections = marks
        self.document.documentLayout().draw(painter, context)

    def _marked(
        self, start: int, end: int, ground: str, ink: str, look: Theme
    ) -> QAbstractTextDocumentLayout.Selection:
        assert self.document is not None  # noqa: S101 - asked for above
        mark = QAbstractTextDocumentLayout.Selection()
        cursor = QTextCursor(self.document)
        last = self.document.characterCount() - 1
        cursor.setPosition(min(start, last))
        place = last if end < 0 else min(end, last)
        cursor.setPosition(place, QTextCursor.MoveMode.KeepAnchor)
        shape = QTextCharFormat()
        shape.setBackground(look.color(ground))
        shape.setForeground(look.color(ink))
        mark.cursor, mark.format = cursor, shape
        return mark


def parts_of(text: str, width: int, look: Theme, *, as_code: bool = False) -> list[TurnPart]:
    """Return the parts of a turn, not laid out yet.

    Args:
        text: What was said.
        width: The pixels it has.
        look: The theme, for a guess at their heights.
        as_code: Whether it is what a tool said, which is no markdown.
    """
    shown = text[:MOST_SHOWN]
    if as_code and "```" not in shown:
        longest = max((len(run) for run in _BACKTICKS.findall(shown)), default=2)
        fence = "`" * (longest + 1)
        shown = f"{fence}\n{shown}\n{fence}"
    sources = split(shown)
    if len(text) > MOST_SHOWN:
        rest = len(text) - MOST_SHOWN
        sources.append(f"*{rest:,} more characters are in the export.*")
    return [TurnPart(source, guessed_height(source, width, look)) for source in sources]


def guessed_height(text: str, width: int, look: Theme) -> float:
    """Return about how high a text is."""
    return height_of_lines(len(text), text.count("\n") + 1, width, look)


def height_of_lines(length: int, line_count: int, width: int, look: Theme) -> float:
    """Return about how high a text of so many characters and lines is."""
    across = max(20.0, width / (look.px(13) * 0.5))
    return max(line_count * 0.9, length / across + line_count * 0.4) * look.px(LINE_PX)


def split(text: str) -> list[str]:
    """Cut markdown into parts of about `PART_LENGTH` characters, between its blocks.

    A block of code that is longer is cut into several with the same fence.
    """
    cutter = _Cutter()
    for line in text.split("\n"):
        for piece in _short_lines(line):
            cutter.take(piece)
    cutter.close()
    return cutter.parts


class _Cutter:
    """Gathers lines into parts."""

    def __init__(self) -> None:
        self.parts: list[str] = []
        self._lines: list[str] = []
        self._length = 0
        self._fence = ""
        self._info = ""
        self._code_lines = 0

    def take(self, line: str) -> None:
        """Add a line to the part that is open, or begin another one with it."""
        opened = _FENCE.match(line)
        if self._fence:
            self._take_code(line, opened)
        else:
            if self._ends_before(line, is_fence=opened is not None):
                self.close()
            self._lines.append(line)
            if opened:
                self._fence, self._info, self._code_lines = opened[1], opened[2], 0
        self._length += len(line) + 1

    def _take_code(self, line: str, opened: "re.Match[str] | None") -> None:
        self._lines.append(line)
        self._code_lines += 1
        if opened and opened[1].startswith(self._fence) and not opened[2].strip():
            self._fence = ""
        elif self._code_lines >= _CODE_LINES:
            self._lines.append(self._fence)
            self.close()
            self._lines, self._code_lines = [self._fence + self._info], 0

    def _ends_before(self, line: str, *, is_fence: bool) -> bool:
        if self._length < PART_LENGTH:
            return False
        if not line.strip() or is_fence:
            return True
        goes_on = line.startswith((" ", "\t", "|"))
        return self._length >= PART_LENGTH * 2 and not goes_on

    def close(self) -> None:
        """End the part that is open."""
        if any(line.strip() for line in self._lines):
            self.parts.append("\n".join(self._lines))
        self._lines, self._length = [], 0


def _short_lines(line: str) -> Iterator[str]:
    """Cut a line that would be laid out too long at a time."""
    most = PART_LENGTH * 2
    while len(line) > most:
        place = line.rfind(" ", most // 2, most)
        place = most if place < 0 else place
        yield line[:place]
        line = line[place:].lstrip(" ")
    yield line


def _code_frames(document: QTextDocument) -> Iterator[QRectF]:
    layout = document.documentLayout()
    for frame in document.rootFrame().childFrames():
        if not isinstance(frame, QTextTable):
            rect = layout.frameBoundingRect(frame)
            shape = frame.frameFormat()
            yield rect.adjusted(0, shape.topMargin(), 0, -shape.bottomMargin())


def _inline_code(document: QTextDocument, look: Theme) -> Iterator[QRectF]:
    block = document.begin()
    while block.isValid():
        pieces = block.begin()
        while not pieces.atEnd():
            part = pieces.fragment()
            if part.isValid() and part.charFormat().property(INLINE_CODE):
                start = part.position() - block.position()
                yield from _line_boxes(document, block, start, start + part.length(), look)
            pieces += 1
        block = block.next()


def _line_boxes(
    document: QTextDocument, block: QTextBlock, start: int, end: int, look: Theme
) -> Iterator[QRectF]:
    origin = document.documentLayout().blockBoundingRect(block).topLeft()
    layout = block.layout()
    for index in range(layout.lineCount()):
        line = layout.lineAt(index)
        first = max(start, line.textStart())
        last = min(end, line.textStart() + line.textLength())
        if first < last:
            left, right = line_x(line.cursorToX(first)), line_x(line.cursorToX(last))
            height = look.px(CODE_LINE_PX)
            top = line.y() + (line.height() - height) / 2
            yield QRectF(origin.x() + left - 3, origin.y() + top, right - left + 6, height)
