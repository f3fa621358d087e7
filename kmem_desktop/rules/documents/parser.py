"""Reads a rule document in any notation into one model; no text makes it fail.

The notation is chosen by the file's name and by what stands in it. Every line is accounted for: it
became part of a directive or a fact, or a note says why it was passed over.
"""

import re

from kmem_desktop.domain.rules import RuleDocument, RuleFormat, RuleSection
from kmem_desktop.rules.documents.blocks import (
    MOST_CHARACTERS,
    Block,
    Kind,
    blocks,
    mended,
    readable,
    shortened,
    unwrapped,
)
from kmem_desktop.rules.documents.draft import DocumentDraft
from kmem_desktop.rules.documents.facts import heading_name, names_listed, section_path
from kmem_desktop.rules.documents.front_matter import FrontMatter, front_matter
from kmem_desktop.rules.documents.guides import GuideReader
from kmem_desktop.rules.documents.names import named_format
from kmem_desktop.rules.documents.seed_schema import SeedReader, is_seed_schema
from kmem_desktop.text import one_line

_FORMAT_OF_KEY = (
    ("applyto", RuleFormat.COPILOT),
    ("globs", RuleFormat.CURSOR),
    ("alwaysapply", RuleFormat.CURSOR),
    ("paths", RuleFormat.CLAUDE),
)
"""Keys of a front matter that only one tool knows."""
_LEAVES = (Kind.HEADING, Kind.PARAGRAPH, Kind.CODE, Kind.HTML, Kind.TABLE)


def parse(path: str, text: str) -> RuleDocument:
    """Read a rule document.

    Args:
        path: Where it comes from; only its name is looked at.
        text: What stands in it; anything at all.
    """
    document = DocumentDraft(path, named_format(path))
    whole = readable(text)
    read = shortened(whole)
    if len(whole) > len(read):
        document.notes.warn(
            read.count("\n") + 1, f"Only the first {MOST_CHARACTERS:,} characters are read"
        )
    head = front_matter(read)
    _take_front_matter(head, document)
    lines = read.split("\n")
    body, fence = unwrapped("\n".join([""] * head.lines + lines[head.lines :]))
    if fence:
        document.notes.understand(fence, "The document stands in a code block of markdown")
    roots = blocks(mended(body))
    title = _title(roots)
    document.sections = _sections(roots, body.split("\n"), title)
    if is_seed_schema(roots):
        document.format = RuleFormat.SEED
        SeedReader(document).read(roots)
    else:
        document.name = heading_name(title.text) if title else ""
        GuideReader(document, has_title=title is not None).read(roots)
    document.name = document.name or head.text("name", "title") or _stem(path)
    _account_for_every_line(document, roots, body.split("\n"))
    _say_why_nothing_was_found(document, roots, head)
    return document.finished()


def _take_front_matter(head: FrontMatter, document: DocumentDraft) -> None:
    if not head.lines:
        return
    document.notes.understand(1, "Front matter")
    if document.format is RuleFormat.MARKDOWN:
        keys = {*head.values, *head.lists}
        document.format = next(
            (each for key, each in _FORMAT_OF_KEY if key in keys), document.format
        )
    document.description = one_line(head.text("description"))
    document.globs = head.listed("globs", "glob", "applyto", "paths", "path")
    document.always_apply = head.is_true("alwaysapply")
    document.topics = names_listed(", ".join(head.listed("topics")))
    document.authoritative_for = names_listed(", ".join(head.listed("authoritativefor")))
    for condition in head.listed("whentoapply"):
        document.condition(condition, 1)
    if layer := head.text("layer"):
        document.learn("layer", layer, 1)
    for line in head.not_read:
        document.notes.warn(line, "A line of the front matter that is no name and value")


def _title(roots: list[Block]) -> Block | None:
    """Return the heading that names the document: the only one of the first level."""
    titles = [
        block
        for block in roots
        if block.kind is Kind.HEADING and block.level == 1 and re.search(r"\w", block.text)
    ]
    return titles[0] if len(titles) == 1 else None


def _stem(path: str) -> str:
    name = path.replace("\\", "/").rstrip("/").rsplit("/", maxsplit=1)[-1]
    return heading_name(name.rsplit(".", maxsplit=1)[0] or name) or "Rules"


def _sections(roots: list[Block], lines: list[str], title: Block | None) -> tuple[RuleSection, ...]:
    """Return the parts between the headings, as written."""
    headings = [block for block in roots if block.kind is Kind.HEADING]
    starts = [block.line for block in headings] + [len(lines) + 1]
    sections = []
    first = roots[0].line if roots else 1
    if preamble := "\n".join(lines[first - 1 : starts[0] - 1]).strip():
        sections.append(RuleSection("", first, preamble))
    path: list[tuple[int, str]] = []
    for place, block in enumerate(headings):
        name = heading_name(block.text)
        if block is not title:
            path = [each for each in path if each[0] < block.level] + [(block.level, name)]
        content = "\n".join(lines[block.end : starts[place + 1] - 1]).strip("\n")
        full_name = name if block is title else section_path([each[1] for each in path])
        sections.append(RuleSection(full_name, block.line, content))
    return tuple(sections)


def _account_for_every_line(document: DocumentDraft, roots: list[Block], lines: list[str]) -> None:
    """Note the lines that are in no block: link definitions, and what is nested too deep."""
    seen = bytearray(len(lines) + 2)
    for root in roots:
        for block in root.walk():
            if block.kind in _LEAVES:
                seen[block.line : block.end + 1] = b"\1" * (block.end + 1 - block.line)
    number = 1
    while number <= len(lines):
        start = number
        while number <= len(lines) and not seen[number] and lines[number - 1].strip():
            number += 1
        if number > start:
            document.notes.skip(start, number - 1, "link definitions or too deep a nesting")
        number += 1


def _say_why_nothing_was_found(
    document: DocumentDraft, roots: list[Block], head: FrontMatter
) -> None:
    if document.directives:
        return
    leaves = [block for root in roots for block in root.walk() if block.kind in _LEAVES]
    if not leaves:
        where = "front matter and nothing else" if head.lines else "nothing"
        document.notes.warn(0, f"No rules: there is {where} in the document")
        return
    kinds = {
        kind: sum(block.kind is kind for block in leaves) for kind in (Kind.PARAGRAPH, Kind.CODE)
    }
    document.notes.warn(
        0,
        f"No rules: nothing of {kinds[Kind.PARAGRAPH]} paragraphs and items is worded as an "
        f"instruction, {kinds[Kind.CODE]} blocks of code are not read",
    )
