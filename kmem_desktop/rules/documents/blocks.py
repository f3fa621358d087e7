"""The blocks of a markdown text by line: headings, paragraphs, lists, code and tables.

Only blocks are read, by markdown-it; what stands inside a line stays as it was written, so that a
rule keeps its own words and no HTML in it ever becomes markup. `clean` takes links, formatting tags
and numbers out of the words of a line.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import StrEnum

from markdown_it import MarkdownIt
from markdown_it.token import Token

from kmem_desktop.text import one_line

MOST_CHARACTERS = 600_000
"""What stands behind this in a text is not read: no rule document is longer, an attack may be."""

_SURROGATE = re.compile("[\ud800-\udfff]")
_OPENS_WRAPPING = re.compile(r"\s{0,3}(?:`{3,}|~{3,})\s*(?:markdown|md|mdc)\s*", re.IGNORECASE)
_WRAPPED_WITHIN_LINES = 4
_OPENS_CODE = re.compile(r"( *(?:(?:[-*+]|\d{1,9}[.)]) +)*)(`{3,}|~{3,})[^`]*")
LONGEST_READ = 4000

_SPAN = re.compile(r"(`+)(?!`).*?(?<!`)\1(?!`)", re.DOTALL)
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_BREAK = re.compile(r"<br\s*/?>", re.IGNORECASE)
_CODE_TAG = re.compile(r"</?(?:code|kbd|tt)>", re.IGNORECASE)
_TAG = re.compile(
    r"</?(?:a|span|strong|b|em|i|u|p|div|sub|sup|details|summary|font|center|small|mark|pre"
    r"|ins|del)"
    r"(?:\s[^<>]*)?/?>",
    re.IGNORECASE,
)
_IMAGE = re.compile(r"!\[([^\[\]]*)\]\([^()]*\)")
_LINK = re.compile(r"\[([^\[\]]+)\]\((?:[^()\s]|\([^()]*\))*(?:\s+\"[^\"]*\")?\)")
_ANCHOR_NUMBER = re.compile(r"^\s*\[[\d.]+\]\(#[^()]*\)\s*")
_BOLD_NUMBER = re.compile(r"^\*\*\d{1,3}[.)]?\*\*\s+(?=\S)")
_CHECKBOX = re.compile(r"^\[[ xX]\]\s+")
_AUTOLINK = re.compile(r"<(https?://[^<>\s]+)>")
_ONLY_LINK = re.compile(r"^\W*!?\[[^\[\]]*\](?:\([^()]*\)|\[[^\[\]]*\])[\s.,;:*_]*$")
_LEADING_LINK = re.compile(
    r"^[*_]*\[(?![\d.]+\]\(#)[^\[\]]+\]\([^()]*\)[*_]*\s*(?:[-:\u2013\u2014]|$)"
)


class Kind(StrEnum):
    """What a block is."""

    HEADING = "heading"
    PARAGRAPH = "paragraph"
    CODE = "code"
    HTML = "html"
    LIST = "list"
    ITEM = "item"
    QUOTE = "quote"
    TABLE = "table"
    ROW = "row"


_OPENING = {
    "heading_open": Kind.HEADING,
    "paragraph_open": Kind.PARAGRAPH,
    "bullet_list_open": Kind.LIST,
    "ordered_list_open": Kind.LIST,
    "list_item_open": Kind.ITEM,
    "blockquote_open": Kind.QUOTE,
    "table_open": Kind.TABLE,
    "tr_open": Kind.ROW,
}


@dataclass(slots=True)
class Block:
    """A block of a markdown text.

    Attributes:
        kind: What it is.
        line: Its first line, from 1.
        end: Its last line.
        text: What it says: of a heading, paragraph, code or HTML.
        level: Of a heading, 1 to 6.
        language: Of code, the first word behind its fence.
        is_ordered: Whether a list is numbered.
        is_closed: Whether the fence of code has its end.
        cells: Of a row of a table.
        children: The blocks inside.
    """

    kind: Kind
    line: int
    end: int
    text: str = ""
    level: int = 0
    language: str = ""
    is_ordered: bool = False
    is_closed: bool = True
    cells: list[str] = field(default_factory=list)
    children: list["Block"] = field(default_factory=list)

    def walk(self) -> Iterator["Block"]:
        """Give the block and all the blocks inside, in order."""
        yield self
        for child in self.children:
            yield from child.walk()


def readable(text: str) -> str:
    """Return a text as it can be stored: line ends of one kind, no NUL, no half of a character."""
    text = text.lstrip("\ufeff").replace("\r\n", "\n").replace("\r", "\n").replace("\0", "\ufffd")
    if _SURROGATE.search(text):
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def shortened(text: str) -> str:
    """Return the part of a text that is read; whole lines where lines are short."""
    if len(text) <= MOST_CHARACTERS:
        return text
    end = text.rfind("\n", 0, MOST_CHARACTERS)
    return text[: end if end > MOST_CHARACTERS // 2 else MOST_CHARACTERS]


def unwrapped(text: str) -> tuple[str, int]:
    """Take away the fence of a document that was pasted whole into a code block of markdown.

    Returns:
        The text, and the line of the fence; 0 where there was none.
    """
    lines = text.split("\n")
    filled = [number for number, line in enumerate(lines) if line.strip()][:_WRAPPED_WITHIN_LINES]
    for place, number in enumerate(filled):
        if _OPENS_WRAPPING.fullmatch(lines[number]):
            before = [lines[other] for other in filled[:place]]
            if all(line.lstrip().startswith("#") for line in before):
                lines[number] = ""
                return "\n".join(lines), number + 1
    return text, 0


def mended(text: str) -> str:
    """Give code in a list the indent of its fence, where lines or the closing fence have less.

    Strictly read such code ends early, and its closing fence takes the rules below for code.
    """
    lines = text.split("\n")
    changed: dict[int, str] = {}
    fence, indent = "", 0
    for number, line in enumerate(lines):
        if not fence:
            if opening := _OPENS_CODE.fullmatch(line):
                fence, indent, changed = opening[2], len(opening[1]), {}
            continue
        bare = line.strip(" ")
        if bare and len(line) - len(line.lstrip(" ")) < indent:
            changed[number] = " " * indent + bare
        if bare.startswith(fence) and not bare.strip(fence[0]):
            for place, mend in changed.items():
                lines[place] = mend
            fence = ""
    return "\n".join(lines)


def blocks(text: str) -> list[Block]:
    """Return the blocks of a readable text, in order."""
    parser = MarkdownIt("commonmark", {"html": True}).enable("table")
    parser.core.ruler.disable("inline")
    lines = text.split("\n")
    roots: list[Block] = []
    stack: list[Block] = []
    for token in parser.parse(text):
        if token.nesting == 1 and token.type in _OPENING:
            block = _opened(token, stack[-1] if stack else None)
            (stack[-1].children if stack else roots).append(block)
            stack.append(block)
        elif token.nesting == -1 and stack and token.type.replace("_close", "_open") in _OPENING:
            stack.pop()
        elif token.type == "inline" and stack:
            _fill(stack[-1], token)
        elif token.type in ("fence", "code_block", "html_block"):
            (stack[-1].children if stack else roots).append(_raw(token, lines))
    return roots


def _opened(token: Token, parent: Block | None) -> Block:
    line, end = token.map or ((parent.line - 1, parent.end) if parent else (0, 0))
    level = int(token.tag[1]) if token.type == "heading_open" else 0
    return Block(
        _OPENING[token.type],
        line + 1,
        max(end, line + 1),
        level=level,
        is_ordered=token.type == "ordered_list_open",
    )


def _fill(block: Block, token: Token) -> None:
    if block.kind is Kind.ROW:
        block.cells.append(token.content.strip())
    else:
        block.text = token.content


def _raw(token: Token, lines: list[str]) -> Block:
    start, end = token.map or (0, 0)
    if token.type == "html_block":
        return Block(Kind.HTML, start + 1, max(end, start + 1), token.content)
    last = lines[min(end, len(lines)) - 1].strip(" \t>")
    is_closed = token.type == "code_block" or (
        end - start > 1 and last.startswith(token.markup) and not last.strip(token.markup[:1])
    )
    language = token.info.strip().split(" ", maxsplit=1)[0]
    return Block(
        Kind.CODE,
        start + 1,
        max(end, start + 1),
        token.content.strip("\n"),
        language=language,
        is_closed=is_closed,
    )


def clean(text: str) -> str:
    """Return the words of a piece of markdown on one line: emphasis and code stay as written."""
    text = text[:LONGEST_READ]
    text = _ANCHOR_NUMBER.sub("", _COMMENT.sub("", text))
    text = "".join(_outside_code(text))
    text = _BOLD_NUMBER.sub("", one_line(text))
    return _CHECKBOX.sub("", text).strip()


def without_tags(text: str) -> str:
    """Return a text with its lines, `<br>` as a line end, formatting tags taken out."""
    text = _BREAK.sub("\n", _COMMENT.sub("", text[:LONGEST_READ]))
    return _TAG.sub("", _CODE_TAG.sub("`", text))


def is_link_only(text: str) -> bool:
    """Return whether a text is a link, or a link and a description of it."""
    return bool(_ONLY_LINK.match(text) or _LEADING_LINK.match(text))


def _outside_code(text: str) -> list[str]:
    """Return the text in pieces, those outside of code spans without links and tags."""
    pieces = []
    start = 0
    # A link's text may itself be code: links are found first, with the code inside of them.
    text = _LINK.sub(r"\1", _IMAGE.sub(r"\1", text))
    for span in _SPAN.finditer(text):
        pieces += [_bare(text[start : span.start()]), span[0]]
        start = span.end()
    return [*pieces, _bare(text[start:])]


def _bare(text: str) -> str:
    text = _AUTOLINK.sub(r"\1", _BREAK.sub(" ", text))
    return _TAG.sub("", _CODE_TAG.sub("`", text))
