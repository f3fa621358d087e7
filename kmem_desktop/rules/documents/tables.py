"""Tables in rule documents: columns of do and don't, of rules, and cells with RFC 2119 words."""

import re

from kmem_desktop.domain.rules import Severity
from kmem_desktop.rules.documents.blocks import Block, clean
from kmem_desktop.rules.documents.draft import Draft
from kmem_desktop.rules.documents.wording import (
    emoji,
    marker,
    plain,
    prohibits,
    sentences,
    severity_of_item,
)

_DO = re.compile(
    r"(?:do|dos|good|prefer(?:red)?|use|recommended|correct|right|yes|instead use|use instead)",
    re.I,
)
_DO_NOT = re.compile(
    r"(?:don'?ts?|do not|bad|avoid|instead of|incorrect|wrong|no|not|don't use|discouraged"
    r"|anti-?patterns?)",
    re.I,
)
_RULES = re.compile(
    r"(?:rules?|guidelines?|requirements?|conventions?|(?:best )?practices?|instructions?"
    r"|directives?|规则)",
    re.I,
)
_RFC = re.compile(r"\b(?:MUST|SHALL|SHOULD|MAY)\b")
_SIGN_ONLY = re.compile(r"[\W_]*")


def directives(table: Block, section: str) -> list[Draft]:
    """Return the directives in a table."""
    if len(table.children) < 2:
        return []
    headers = [_header(cell) for cell in table.children[0].cells]
    good = _column(headers, _DO, "good")
    bad = _column(headers, _DO_NOT, "bad")
    rules = _column(headers, _RULES, "")
    found = []
    for row in table.children[1:]:
        cells = [clean(cell) for cell in row.cells]
        if good is not None or bad is not None:
            draft = _compared(_cell(cells, good), _cell(cells, bad), row.line, section)
        elif rules is not None:
            draft = _ruled(_cell(cells, rules), row.line, section)
        else:
            draft = _loud(cells, row.line, section)
        if draft is not None:
            found.append(draft)
    return found


def _header(cell: str) -> str:
    is_good, rest = emoji(cell + " .")
    if is_good is not None and _SIGN_ONLY.fullmatch(rest):
        return "good" if is_good else "bad"
    return plain(emoji(cell)[1]).strip(" :?!.")


def _column(headers: list[str], pattern: re.Pattern[str], word: str) -> int | None:
    return next(
        (
            n
            for n, header in enumerate(headers)
            if pattern.fullmatch(header) or (word and header == word)
        ),
        None,
    )


def _cell(cells: list[str], column: int | None) -> str:
    return cells[column] if column is not None and column < len(cells) else ""


def _compared(good: str, bad: str, line: int, section: str) -> Draft | None:
    if good:
        text = f"{good} (not: {bad})" if bad else good
        return Draft(text, severity_of_item(good) or Severity.SHOULD, section, line)
    if bad:
        return Draft(bad, Severity.SHOULD, section, line, is_not=not prohibits(bad))
    return None


def _ruled(cell: str, line: int, section: str) -> Draft | None:
    if found := marker(cell):
        return Draft(found.text, found.severity, section, line, is_not=found.prohibits)
    level = severity_of_item(cell)
    return Draft(cell, level, section, line) if level else None


def _loud(cells: list[str], line: int, section: str) -> Draft | None:
    """Return the sentences with RFC 2119 words of a row, behind what the row is about."""
    for number, cell in enumerate(cells):
        if not _RFC.search(cell):
            continue
        told = [each for each in sentences(cell) if _RFC.search(each)]
        level = next((found for each in told if (found := severity_of_item(each))), None)
        if level is None:
            return None
        about = f"{cells[0]}: " if number and cells[0] else ""
        return Draft(about + " ".join(told), level, section, line)
    return None
