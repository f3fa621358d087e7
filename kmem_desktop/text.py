"""Normal forms of text: what counts as the same title, the same content, the same word."""

import hashlib
import re
import unicodedata

_WHITESPACE = re.compile(r"\s+")
_TOKEN = re.compile(r"\w{1,8}|[^\w\s]")
_MANY_NEWLINES = re.compile(r"\n{3,}")
_CAMEL_PARTS = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+")
_WORD = re.compile(r"\b(?![a-z]+\b)\w{3,}")
"""A word that is not small letters alone: most are, and have no parts."""
_MIXED = re.compile(r"[a-z][A-Z]|[A-Z]{2}[a-z]|[A-Za-z]\d|\d[A-Za-z]")
# Scripts written without spaces: Chinese, Japanese, Korean syllables, Thai.
_UNSPACED = re.compile(
    "[\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\uff66-\uff9f"
    "\u0e00-\u0e7f\U00020000-\U0003ffff]+"
)


def normalise_title(title: str) -> str:
    """Return the form under which two titles count as the same (seed 000, deduplication)."""
    return _WHITESPACE.sub(" ", unicodedata.normalize("NFC", title)).strip().casefold()


def normalise_content(content: str) -> str:
    """Return the content as it is stored: line ends, blank lines and edges made regular."""
    lines = unicodedata.normalize("NFC", content).replace("\r\n", "\n").replace("\r", "\n")
    return _MANY_NEWLINES.sub("\n\n", lines).strip()


def content_hash(content: str) -> str:
    """Return the SHA-256 of a text as 64 hexadecimal digits."""
    return hashlib.sha256(content.encode("utf-8")).hexdigest()


def one_line(text: str) -> str:
    """Return `text` on one line, runs of white space folded to one space."""
    return _WHITESPACE.sub(" ", text).strip()


def count_tokens(text: str) -> int:
    """Estimate how many tokens a model makes of a text.

    Words and marks are counted, long words as several: within 10 % for chat and prose; code and
    JSON are denser, and their many marks are what this counts.
    """
    return len(_TOKEN.findall(text))


def identifier_parts(word: str) -> list[str]:
    """Split an identifier into its parts: `getUserName2` -> get User Name 2."""
    return _CAMEL_PARTS.findall(word)


def unspaced_pairs(run: str) -> list[str]:
    """Return the overlapping character pairs of a run of a script without spaces."""
    return [run[i : i + 2] for i in range(len(run) - 1)] or [run]


def unspaced_runs(text: str) -> list[str]:
    """Return the runs of `text` in scripts that are written without spaces."""
    return _UNSPACED.findall(text)


def hidden_words(*texts: str) -> str:
    """Return words that a reader sees in the texts but FTS5's tokenizer does not.

    These are the parts of camelCase identifiers and the character pairs of Chinese, Japanese,
    Korean and Thai. They are indexed beside the text, so that a part finds the whole.
    """
    words: dict[str, None] = {}
    for text in texts:
        for word in dict.fromkeys(_WORD.findall(text)):
            parts = identifier_parts(word) if _MIXED.search(word) else []
            if len(parts) > 1:
                words.update(dict.fromkeys(parts))
        for run in () if text.isascii() else unspaced_runs(text):
            words.update(dict.fromkeys(unspaced_pairs(run)))
    return " ".join(words)
