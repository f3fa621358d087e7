"""Tells comments, strings, numbers and keywords apart in code of the languages people paste.

It reads line by line with one expression for each family of languages: enough to see a program's
shape, in microseconds for a block that fits the window.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from functools import cache

LONGEST = 20_000
"""Longer code stays in one colour."""


class Ink(StrEnum):
    """What a piece of code is; its value is the token of its colour."""

    KEYWORD = "accent"
    TEXT = "good"
    NUMBER = "warn"
    COMMENT = "ink3"
    ADDED = "good_"
    REMOVED = "bad"

    @property
    def token(self) -> str:
        """The token of its colour."""
        return self.value.rstrip("_")


@dataclass(frozen=True, slots=True)
class Piece:
    """A range of characters that has a colour of its own."""

    start: int
    end: int
    ink: Ink


_C_LIKE = (
    "abstract async await auto bool boolean break case catch char class const constexpr continue"
    " crate default defer delete do double dyn else enum export extends extern false final finally"
    " float fn for from func function go goto if impl implements import in inline instanceof int"
    " interface internal is let long loop map match mod move mut namespace new nil null nullptr"
    " override package private protected pub public range readonly record ref return self select"
    " short signed sizeof static string struct super switch template this throw throws trait true"
    " try type typedef typename typeof undefined union unsafe unsigned use using val var virtual"
    " void volatile where while yield"
)
_PYTHON = (
    "False None True and as assert async await break case class continue def del elif else except"
    " finally for from global if import in is lambda match nonlocal not or pass raise return self"
    " try while with yield"
)
_SHELL = (
    "case cd do done echo elif else esac exit export fi for function if in local return select set"
    " source sudo then until while"
)
_SQL = (
    "add all alter and as asc begin between by case cascade check column commit conflict constraint"
    " create cross default delete desc distinct drop else end except exists foreign from full group"
    " having if in index inner insert intersect into is join key left like limit not null on or"
    " order outer primary references returning right rollback select set table then transaction"
    " trigger union unique update using values view when where with"
)
_DATA = "true false null yes no on off"
_STRINGS = r"\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'"
_TEMPLATE = r"`(?:\\.|[^`\\])*`"
_NUMBER = r"\b(?:0[xX][0-9a-fA-F_]+|\d[\d_]*(?:\.\d+)?(?:[eE][+-]?\d+)?)\b"
_NAMES = {
    "python": ("py", "python", "python3", "pycon", "ipython", "starlark"),
    "c": (
        *("c", "h", "cc", "cpp", "c++", "cs", "csharp", "dart", "go", "golang", "groovy", "java"),
        *("javascript", "js", "jsx", "kotlin", "kt", "mjs", "objc", "php", "proto", "rs", "rust"),
        *("scala", "swift", "ts", "tsx", "typescript", "zig", "graphql"),
    ),
    "css": ("css", "less", "scss"),
    "shell": (
        *("bash", "console", "docker", "dockerfile", "fish", "make", "makefile", "powershell"),
        *("ps1", "sh", "shell", "shell-session", "zsh", "ruby", "rb", "perl", "r", "elixir"),
    ),
    "sql": ("sql", "mysql", "pgsql", "plpgsql", "postgres", "postgresql", "sqlite"),
    "data": ("conf", "env", "hcl", "ini", "json", "json5", "jsonc", "properties", "terraform"),
    "yaml": ("toml", "yaml", "yml"),
    "markup": ("html", "svg", "vue", "xml", "svelte"),
    "diff": ("diff", "patch"),
}
_FAMILIES = {name: family for family, names in _NAMES.items() for name in names}


@cache
def _expression(family: str) -> re.Pattern[str]:
    hash_comment = r"(?:(?<=\s)|^)#[^\n]*"
    slashes = r"//[^\n]*|/\*[\s\S]*?(?:\*/|\Z)"
    comments = {
        "python": r"#[^\n]*",
        "c": slashes,
        "css": r"/\*[\s\S]*?(?:\*/|\Z)",
        "shell": hash_comment,
        "sql": r"--[^\n]*|/\*[\s\S]*?(?:\*/|\Z)",
        "data": rf"{slashes.split('|')[0]}|{hash_comment}|(?:(?<=\n)|^);[^\n]*",
        "yaml": hash_comment,
        "markup": r"<!--[\s\S]*?(?:-->|\Z)",
    }
    words = {
        "python": _PYTHON,
        "c": _C_LIKE,
        "css": "important media import",
        "shell": _SHELL,
        "sql": _SQL,
        "data": _DATA,
        "yaml": _DATA,
        "markup": "",
    }
    strings = _STRINGS
    if family == "python":
        strings = rf"\"\"\"[\s\S]*?(?:\"\"\"|\Z)|'''[\s\S]*?(?:'''|\Z)|{strings}"
    elif family == "c":
        strings = f"{strings}|{_TEMPLATE}"
    keywords = "|".join(words[family].split())
    keyword = rf"\b(?:{keywords})\b"
    if family == "markup":
        keyword = r"</?[A-Za-z][\w:.-]*|/?>"
    elif family in ("yaml", "data"):
        keyword = rf"(?:(?<=\n)|^)[ \t-]*[\w.\"-]+(?=\s*[:=])|^\[[^\]\n]*\]|{keyword}"
    flags = re.IGNORECASE if family == "sql" else re.NOFLAG
    # An address in a text is no comment: a string that begins before it wins, as in the language.
    return re.compile(
        rf"(?P<COMMENT>{comments[family]})|(?P<TEXT>{strings})"
        rf"|(?P<KEYWORD>{keyword})|(?P<NUMBER>{_NUMBER})",
        flags | re.MULTILINE,
    )


def family_of(fence: str) -> str:
    """Return the family of languages that the words after a fence name; empty for none known."""
    name = fence.strip().split(maxsplit=1)[0] if fence.strip() else ""
    return _FAMILIES.get(name.strip("{}.").split(":")[0].lower(), "")


def coloured(code: str, family: str) -> Iterator[Piece]:
    """Return the pieces of code that have a colour of their own, in their order.

    Args:
        code: The code.
        family: What `family_of` returned.
    """
    if not family or len(code) > LONGEST:
        return
    if family == "diff":
        yield from _diff(code)
        return
    for match in _expression(family).finditer(code):
        if match.lastgroup is not None:
            yield Piece(match.start(), match.end(), Ink[match.lastgroup])


def _diff(code: str) -> Iterator[Piece]:
    inks = {"+": Ink.ADDED, "-": Ink.REMOVED, "@": Ink.COMMENT}
    start = 0
    for line in code.splitlines(keepends=True):
        ink = inks.get(line[:1])
        if ink is not None:
            yield Piece(start, start + len(line), ink)
        start += len(line)
