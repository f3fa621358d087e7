"""Writes markdown into a text document as formats and plain text: no HTML, no images, no resources.

Stored text is only ever inserted as text, so that nothing in it can become markup of the window.
"""

from collections.abc import Sequence
from functools import cache

from markdown_it import MarkdownIt
from markdown_it.token import Token
from PySide6.QtGui import (
    QFont,
    QTextBlockFormat,
    QTextCharFormat,
    QTextCursor,
    QTextFormat,
    QTextFrameFormat,
    QTextLength,
    QTextListFormat,
    QTextTableFormat,
)

from kmem_desktop.gui.theme import CODE_LINE_PX, LINE_PX, Theme, Type

INLINE_CODE = int(QTextFormat.Property.UserProperty) + 1
"""Marks characters that get the rounded ground of inline code."""

HAIR = "\u200a"
"""Air around inline code; left out of what is copied."""

LINK_SCHEMES = ("http://", "https://")
_FIXED = QTextBlockFormat.LineHeightTypes.FixedHeight.value


def plain_format(theme: Theme, style: Type, color: str) -> QTextCharFormat:
    """Return the character format of a step of the type scale."""
    text_format = QTextCharFormat()
    text_format.setFont(theme.font(style))
    text_format.setForeground(theme.color(color))
    return text_format


def is_link(address: str) -> bool:
    """Return whether an address of a stored text may become a link."""
    return address.lower().startswith(LINK_SCHEMES)


@cache
def _parser() -> MarkdownIt:
    """Return the parser; it keeps nothing of what it has read."""
    return MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])


class Markdown:
    """Writes one markdown text in a theme."""

    def __init__(self, theme: Theme) -> None:
        """Write in this theme."""
        self._theme = theme
        self._parser = _parser()
        self._base = plain_format(theme, Type.BODY, "ink")
        self._is_first = True
        self._depth = 0

    def write(self, text: str, cursor: QTextCursor) -> None:
        """Insert a markdown text at the cursor of an empty document."""
        tokens = self._parser.parse(text)
        index = 0
        while index < len(tokens):
            index = self._block(tokens, index, cursor)

    def paragraph_format(self, *, above: int = 0, line: int = LINE_PX) -> QTextBlockFormat:
        """Return the block format of running text."""
        block = QTextBlockFormat()
        block.setLineHeight(self._theme.px(line), _FIXED)
        block.setTopMargin(self._theme.px(above))
        block.setLeftMargin(self._depth * self._theme.px(12))
        return block

    def _next_block(self, cursor: QTextCursor, block: QTextBlockFormat) -> None:
        if self._is_first:
            cursor.setBlockFormat(block)
            self._is_first = False
        else:
            cursor.insertBlock(block)
        cursor.setCharFormat(self._base)

    def _gap(self) -> int:
        return 0 if self._is_first else 8

    def _block(self, tokens: Sequence[Token], index: int, cursor: QTextCursor) -> int:
        """Write the block that begins at `index`; return where the next one begins."""
        token = tokens[index]
        if token.type in ("fence", "code_block"):
            self._code(token.content, cursor)
        elif token.type == "heading_open":
            self._next_block(cursor, self.paragraph_format(above=0 if self._is_first else 14))
            style = Type.NAME if token.tag in ("h1", "h2") else Type.BODY_STRONG
            self._inline(tokens[index + 1], cursor, plain_format(self._theme, style, "ink"))
        elif token.type == "paragraph_open":
            self._next_block(cursor, self.paragraph_format(above=self._gap()))
            self._inline(tokens[index + 1], cursor, self._base)
        elif token.type in ("bullet_list_open", "ordered_list_open"):
            return self._list(tokens, index, cursor, level=1)
        elif token.type == "table_open":
            return self._table(tokens, index, cursor)
        elif token.type == "blockquote_open":
            self._depth += 1
        elif token.type == "blockquote_close":
            self._depth -= 1
        elif token.type == "hr":
            self._next_block(cursor, self.paragraph_format(above=4))
            cursor.insertText("———", plain_format(self._theme, Type.BODY, "ink3"))
        return index + (3 if token.type in ("heading_open", "paragraph_open") else 1)

    def _code(self, text: str, cursor: QTextCursor) -> None:
        frame = QTextFrameFormat()
        frame.setPadding(self._theme.px(9))
        frame.setTopMargin(self._theme.px(self._gap()))
        frame.setBottomMargin(self._theme.px(2))
        frame.setBorder(0)
        if self._is_first:
            # A document begins with a block, and the frame stands below it.
            cursor.setBlockFormat(self.paragraph_format(line=1))
        cursor.insertFrame(frame)
        cursor.setBlockFormat(self.paragraph_format(line=CODE_LINE_PX))
        cursor.insertText(text.rstrip("\n"), plain_format(self._theme, Type.CODE, "ink"))
        cursor.movePosition(QTextCursor.MoveOperation.End)
        # After a frame the document always has a block: the next text goes into it.
        cursor.setBlockFormat(self.paragraph_format(line=2))
        self._is_first = False

    def _list(self, tokens: Sequence[Token], index: int, cursor: QTextCursor, *, level: int) -> int:
        opening = tokens[index]
        style = QTextListFormat()
        ordered = opening.type == "ordered_list_open"
        style.setStyle(
            QTextListFormat.Style.ListDecimal if ordered else QTextListFormat.Style.ListDisc
        )
        style.setIndent(level)
        if ordered:
            style.setStart(int(opening.attrGet("start") or 1))
        closing = opening.type.replace("_open", "_close")
        text_list = None
        starts_item = False
        index += 1
        while tokens[index].type != closing:
            token = tokens[index]
            if token.type == "list_item_open":
                starts_item = True
            elif token.type in ("bullet_list_open", "ordered_list_open"):
                index = self._list(tokens, index, cursor, level=level + 1)
                continue
            elif token.type == "inline":
                above = 8 if text_list is None and level == 1 and not self._is_first else 2
                self._next_block(cursor, self.paragraph_format(above=above))
                if starts_item and text_list is None:
                    text_list = cursor.createList(style)
                elif starts_item and text_list is not None:
                    text_list.add(cursor.block())
                else:
                    block = self.paragraph_format(above=above)
                    block.setIndent(level)
                    cursor.setBlockFormat(block)
                starts_item = False
                self._inline(token, cursor, self._base)
            elif token.type in ("fence", "code_block"):
                self._code(token.content, cursor)
            index += 1
        return index + 1

    def _table(self, tokens: Sequence[Token], index: int, cursor: QTextCursor) -> int:
        rows: list[list[Token]] = []
        while tokens[index].type != "table_close":
            if tokens[index].type == "tr_open":
                rows.append([])
            elif tokens[index].type == "inline":
                rows[-1].append(tokens[index])
            index += 1
        columns = max((len(row) for row in rows), default=0)
        if not columns:
            return index + 1
        style = QTextTableFormat()
        style.setBorder(0.5)
        style.setBorderBrush(self._theme.color("line"))
        style.setBorderCollapse(True)
        style.setCellPadding(self._theme.px(5))
        style.setTopMargin(self._theme.px(self._gap()))
        style.setWidth(QTextLength(QTextLength.Type.PercentageLength, 100))
        table = cursor.insertTable(len(rows), columns, style)
        strong = plain_format(self._theme, Type.BODY_STRONG, "ink")
        for number, row in enumerate(rows):
            for column, token in enumerate(row):
                cell = table.cellAt(number, column).firstCursorPosition()
                self._inline(token, cell, strong if number == 0 else self._base)
        cursor.movePosition(QTextCursor.MoveOperation.End)
        cursor.setBlockFormat(self.paragraph_format(line=2))
        self._is_first = False
        return index + 1

    def _inline(self, token: Token, cursor: QTextCursor, base: QTextCharFormat) -> None:
        """Write the runs of a line of text; what is no known run is written as it stands."""
        stack = [base]
        for child in token.children or []:
            if child.nesting == 1:
                stack.append(self._changed(stack[-1], child))
            elif child.nesting == -1 and len(stack) > 1:
                stack.pop()
            elif child.type == "code_inline":
                cursor.insertText(HAIR, stack[-1])
                cursor.insertText(child.content, self._code_format())
                cursor.insertText(HAIR, stack[-1])
            elif child.type == "hardbreak":
                cursor.insertText("\u2028", stack[-1])
            elif child.type == "softbreak":
                cursor.insertText(" ", stack[-1])
            elif child.type == "image":
                address = str(child.attrGet("src") or "")
                words = f"{child.content} ({address})" if child.content else address
                cursor.insertText(words, stack[-1])
            else:
                cursor.insertText(child.content, stack[-1])

    def _code_format(self) -> QTextCharFormat:
        code = plain_format(self._theme, Type.CODE, "ink")
        code.setProperty(INLINE_CODE, True)
        return code

    def _changed(self, base: QTextCharFormat, token: Token) -> QTextCharFormat:
        changed = QTextCharFormat(base)
        if token.type == "strong_open":
            changed.setFontWeight(QFont.Weight.DemiBold)
        elif token.type == "em_open":
            changed.setFontItalic(True)
        elif token.type == "s_open":
            changed.setFontStrikeOut(True)
        elif token.type == "link_open":
            address = str(token.attrGet("href") or "")
            if is_link(address):
                changed.setAnchor(True)
                changed.setAnchorHref(address)
                changed.setForeground(self._theme.color("accent"))
        return changed
