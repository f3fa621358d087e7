"""The facts of a rule document: layer, topics and the like, in whatever spelling they are given."""

import re

from kmem_desktop.domain.rules import LAYER_LABELS, CodeExample, Layer
from kmem_desktop.rules.documents.front_matter import plain_key, split_list, unquoted
from kmem_desktop.text import one_line

LONGEST_TEXT = 1000
"""A directive says one thing: what is longer is cut, and a note says so."""
LONGEST_RATIONALE = 2000
LONGEST_CODE = 6000

_LAYERS = {
    "presentation": Layer.PRESENTATION,
    "ui": Layer.PRESENTATION,
    "frontend": Layer.PRESENTATION,
    "application": Layer.APPLICATION,
    "domain": Layer.DOMAIN,
    "persistence": Layer.PERSISTENCE,
    "data": Layer.PERSISTENCE,
    "tests": Layer.TESTS,
    "test": Layer.TESTS,
    "testing": Layer.TESTS,
    "docs": Layer.DOCS,
    "documentation": Layer.DOCS,
    "deployment": Layer.DEPLOYMENT,
    # Seed 002's name for it.
    "infrastructure": Layer.DEPLOYMENT,
    "any": Layer.ANY,
    "all": Layer.ANY,
}
_FACT = re.compile(
    r"(?:\*\*|__)?([A-Za-z][A-Za-z _-]{2,30}?)(?::(?:\*\*|__)|(?:\*\*|__)?[ \t]*[:\uff1a])["
    r" \t]*(.*)",
    re.DOTALL,
)
_KEYS = {
    "layer": "layer",
    "layers": "layer",
    "architecturallayer": "layer",
    "authoritativefor": "authoritative_for",
    "authority": "authoritative_for",
    "topics": "topics",
    "topic": "topics",
    "description": "description",
    "globs": "globs",
    "alwaysapply": "always_apply",
}
_SECTION_BREAK = " > "
_HEADING_STEPS = (
    # Tags go, but not those that stand in code.
    (re.compile(r"(`[^`]*`)|</?[a-zA-Z][^<>]*>"), r"\1"),
    (re.compile(r"!?\[([^\[\]]*)\]\([^()]*\)"), r"\1"),
    (re.compile(r"^\*\*(.+)\*\*$"), r"\1"),
    (re.compile(r"\*\*([^*]+)\*\*"), r"\1"),
    (re.compile(r"(?:^|\s)#+\s*$"), ""),
    (re.compile(r"\s*\{#[^{}]*\}\s*$"), ""),
    (re.compile(r"\s+"), " "),
)
_BLOCK_START = re.compile(r"(?:[-*+#>|=~:_\s]|\d+[.)]|\[[^\[\]]*\]:|\[[ xX]?\]|<|`{3,})+")


def layer_named(text: str) -> Layer | None:
    """Return the layer of a name; the number before it is not looked at, as the seeds disagree.

    Returns:
        None for a name that is no layer.
    """
    text = unquoted(text.strip().strip("`[]").strip())
    if text == "*":
        return Layer.ANY
    return _LAYERS.get(re.sub(r"[^a-z]", "", text.casefold()).removesuffix("layer"))


def layer_label(layer: Layer) -> str:
    """Return how a layer is written into a document."""
    return LAYER_LABELS[layer]


def fact(line: str) -> tuple[str, str] | None:
    """Return name and value of a fact about the document, as `**Layer**: 2-Application`."""
    match = _FACT.fullmatch(line)
    key = _KEYS.get(plain_key(match[1])) if match else None
    return (key, match[2].strip()) if match and key else None


def labelled(line: str) -> tuple[str, str] | None:
    """Return the label of a line and what is behind it, as `**Why**: it is slow`; label plain."""
    match = _FACT.fullmatch(line)
    return (plain_key(match[1]), match[2].strip()) if match else None


def names_listed(text: str) -> tuple[str, ...]:
    """Return the names of a list, each once."""
    return tuple(dict.fromkeys(one_line(name.strip("`*")) for name in split_list(text)))


def directive_text(text: str) -> str:
    """Return the normal form of a directive's words: one line, no mark left of its marker."""
    return cut(one_line(text).lstrip(":\uff1a "), LONGEST_TEXT)


def rationale_text(text: str) -> str:
    """Return the normal form of a reason."""
    return cut(one_line(text).lstrip(":\uff1a "), LONGEST_RATIONALE)


def cut(text: str, most: int) -> str:
    """Return a text of at most so many characters, cut between words and marked so."""
    if len(text) <= most:
        return text
    end = text.rfind(" ", most * 3 // 4, most - 2)
    return text[: end if end > 0 else most - 2].rstrip() + " …"


def code_example(code: str, language: str = "") -> CodeExample:
    """Return an example in normal form: no empty lines round it, a language of one word."""
    code = code.strip("\n")
    if len(code) > LONGEST_CODE:
        end = code.rfind("\n", 0, LONGEST_CODE - 2)
        code = code[: end if end > 0 else LONGEST_CODE - 2].rstrip("\n") + "\n…"
    return CodeExample(code, re.sub(r"[`~\s].*", "", language, flags=re.DOTALL))


def heading_name(text: str) -> str:
    """Return the name in a heading: without links, anchors, emphasis and closing marks."""
    previous = ""
    text = text[:500]
    while text != previous:
        previous = text
        for pattern, replacement in _HEADING_STEPS:
            text = pattern.sub(replacement, text)
        text = text.strip()
    return text


def section_path(names: list[str]) -> str:
    """Join the names of headings that stand inside each other."""
    return _SECTION_BREAK.join(name for name in names if name)


def section_names(path: str) -> list[str]:
    """Return the headings of a path, in normal form."""
    return [name for name in map(heading_name, path.split(_SECTION_BREAK)) if name]


def condition_text(text: str) -> str:
    """Return the normal form of a condition: one line that is nothing but text in a list."""
    text = cut(one_line(text), LONGEST_TEXT)
    match = _BLOCK_START.match(text)
    return text[match.end() :].strip() if match else text
