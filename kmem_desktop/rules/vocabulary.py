"""The words of tasks and rules: what a term speaks of, what is a technology, what a path says.

A *concept* is a group of terms that speak of the same thing, such as "index" or "code signing". The
groups carry no weights: how much each tells of a layer or a topic is learnt by
packaging/build_detection.py. A term may be a word, a phrase of up to three words, or a stem that
ends in "*". Scripts that are written without spaces, and Korean with its endings, are searched for
the term itself.

References:
    Seed 001, "Layer Detection Algorithm" and "Rule-Based Topic Extraction".
"""

import re
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

from kmem_desktop.rules.terms import CONCEPTS, STOP_WORDS, TECHNOLOGIES
from kmem_desktop.text import identifier_parts, unspaced_runs

MAX_CHARACTERS = 4_000
"""Of a longer task only the beginning counts: what it is about stands there."""
LONGEST_PHRASE = 3
SHORTEST_STEM = 3
LONGEST_WORD, LONGEST_UNSPACED = 40, 6
TITLE_SHARE, BODY_SHARE, AGAIN_SHARE = 1.0, 0.6, 0.25

_WORD = re.compile(r"[^\W_]+(?:[+#]+|\.(?=js\b|net\b)[^\W_]+)?|(?<!\w)\.net\b", re.IGNORECASE)
_N_PLUS_ONE = re.compile(r"\bn\s?\+\s?1\b", re.IGNORECASE)
_TITLE_END = re.compile(r"(?<=[.!?])\s|\n|[\u3002\uff01\uff1f]")  # the last three are Chinese
_LEADING_TAGS = re.compile(
    r"^\s*(?:[\[(][^\])]{1,30}[\])]\s*)*(?:\w{1,12}(?:[(\[][^)\]]{0,40}[)\]])?!?:\s)?"
)

_PATHS: tuple[tuple[str, str], ...] = (
    ("path tests", r"(?:^|[\s/`'\"(])(?:tests?|specs?|__tests__|e2e|cypress)/|\bconftest\.py"),
    (
        "path tests",
        r"\btest_\w+(?:\.py)?\b|\w+_(?:test|spec)\.\w+|\w+\.(?:test|spec|cy)\.[jt]sx?\b",
    ),
    ("path docs", r"\b[\w-]+\.(?:md|rst|adoc)\b|\bdocs?/|\bmkdocs\.yml\b"),
    ("path deployment", r"\bdockerfile\b|\.github/|\bdocker-compose[\w.-]*|\bjenkinsfile\b"),
    ("path deployment", r"\b[\w-]+\.tf(?:vars)?\b|\bchart\.yaml\b|\bmakefile\b|\.gitlab-ci\.yml"),
    ("path interface", r"\.(?:tsx|jsx|vue|svelte|s?css|less|html|xaml|storyboard|qml)\b"),
    ("path interface", r"\b(?:components?|pages|views|layouts|widgets|screens|styles)/"),
    ("path database", r"\bmigrations?/|\.sql\b|\bdb/|\b(?:repositor(?:y|ies)|dao|entities)/"),
    ("path database", r"\bschema\.(?:prisma|rb|sql)\b"),
    (
        "path service",
        r"\b(?:controllers?|services?|handlers?|middlewares?|routes?|api|jobs|workers)/",
    ),
    ("path domain", r"\b(?:domain|aggregates?|value_?objects?)/"),
)
_COMPILED_PATHS = tuple((concept, re.compile(p, re.IGNORECASE)) for concept, p in _PATHS)

_COMMIT_CONCEPTS = {
    **dict.fromkeys(("doc", "docs", "documentation", "readme"), "says docs"),
    **dict.fromkeys(("test", "tests", "testing", "e2e"), "says tests"),
    **dict.fromkeys(("ci", "build", "release", "infra", "deploy", "devops", "ops"), "says build"),
    **dict.fromkeys(("ui", "ux", "frontend", "style", "a11y", "web", "mobile"), "says interface"),
    **dict.fromkeys(("db", "sql", "database", "orm"), "says database"),
    **dict.fromkeys(("api", "backend", "server"), "says service"),
    **dict.fromkeys(("domain", "model"), "says domain"),
}
_DOCUMENT = (
    "document documents documented explain explains describe describes clarify mention translate "
    "note dokumentiere dokumentieren beschreiben documentar documenter"
)
_DOCUMENT_VERBS = frozenset(_DOCUMENT.split())


class Words(NamedTuple):
    """What the words of a text say.

    Attributes:
        concepts: Each concept's share, 0..1: 1 in the title, less in the body.
        technologies: Names in their canonical spelling, in the text's order.
        keywords: The words that tell most, best first.
    """

    concepts: dict[str, float]
    technologies: tuple[str, ...]
    keywords: tuple[str, ...]


class _Lexicon(NamedTuple):
    exact: dict[str, tuple[str, ...]]  # words and phrases
    stems: dict[str, tuple[str, ...]]
    unspaced: tuple[tuple[str, str], ...]
    technologies: dict[str, str]


def concept_names() -> tuple[str, ...]:
    """Return every concept's name, in a fixed order."""
    return tuple(
        dict.fromkeys(
            (
                *CONCEPTS,
                *(f"uses {group}" for group in TECHNOLOGIES),
                *(concept for concept, _ in _PATHS),
                *_COMMIT_CONCEPTS.values(),
                "begins with document",
            )
        )
    )


def read_words(text: str, *, keyword_limit: int = 8) -> Words:
    """Return what the words of a text say.

    Args:
        text: A task or a rule; of a long one the first 4,000 characters count.
        keyword_limit: At most this many keywords.
    """
    text = _N_PLUS_ONE.sub("n-plus-one", text[:MAX_CHARACTERS])
    title, body = _title_and_body(text)
    technologies: dict[str, None] = {}
    telling: dict[str, int] = {}
    in_title = _concepts_of(title, technologies, telling)
    in_body = _concepts_of(body, technologies, telling)
    for concept in _lead_concepts(title):
        in_title[concept] = in_title.get(concept, 0) + 1
    concepts: dict[str, float] = {}
    for concept in {**in_title, **in_body}:
        first, more = in_title.get(concept, 0), in_body.get(concept, 0)
        share = TITLE_SHARE if first else BODY_SHARE
        concepts[concept] = min(TITLE_SHARE, share + AGAIN_SHARE * (first + more > 1))
    return Words(concepts, tuple(technologies), _keywords(text, telling, keyword_limit))


def content_words(text: str) -> list[str]:
    """Return the words of a text that say something, in lower case, without stop words."""
    return [
        word
        for word in (match.group().casefold() for match in _WORD.finditer(text))
        if word not in STOP_WORDS and (len(word) > 1 or not word.isascii())
    ]


def stemmed(word: str) -> str:
    """Return a lower-case word without the commonest English endings.

    Rough on purpose: two forms of a word should meet, whatever the stem looks like.
    """
    if len(word) < 5 or not word.isascii():
        return word
    for ending, instead in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= SHORTEST_STEM:
            return word[: len(word) - len(ending)] + instead
    return word


_ENDINGS = (
    ("ations", "at"), ("ation", "at"), ("ating", "at"), ("ated", "at"), ("ates", "at"),
    ("ization", "iz"), ("izing", "iz"), ("ized", "iz"), ("ies", "y"), ("ing", ""),
    ("ions", ""), ("ion", ""), ("ed", ""), ("es", ""), ("ly", ""), ("s", ""), ("e", ""),
)  # fmt: skip


def _title_and_body(text: str) -> tuple[str, str]:
    """Split after the first sentence or line."""
    text = text.lstrip()
    end = _TITLE_END.search(text, 8) if len(text) > 8 else None
    return (text[: end.start()], text[end.end() :]) if end else (text, "")


def _concepts_of(
    text: str, technologies: dict[str, None], telling: dict[str, int]
) -> dict[str, int]:
    """Count the concepts of a text; note technologies and the words that told on the way."""
    lexicon = _lexicon()
    found: dict[str, int] = {}
    for phrase in _phrases(_split_words(text)):
        joined = " ".join(phrase)
        if name := lexicon.technologies.get(joined):
            technologies.setdefault(name)
        concepts = _concepts_of_phrase(joined, lexicon)
        for concept in concepts:
            found[concept] = found.get(concept, 0) + 1
        if concepts:
            telling.update(dict.fromkeys(phrase, 1))
    for term, concept in lexicon.unspaced if unspaced_runs(text) else ():
        if term in text:
            found[concept] = found.get(concept, 0) + 1
            telling[term] = 1
    for concept, pattern in _COMPILED_PATHS:
        if pattern.search(text):
            found[concept] = found.get(concept, 0) + 1
    return found


def _concepts_of_phrase(phrase: str, lexicon: _Lexicon) -> tuple[str, ...]:
    """Return what a phrase speaks of: as it stands, by its stem, or by its singular."""
    if concepts := lexicon.exact.get(phrase):
        return concepts
    shortest = phrase.rfind(" ") + 1 + SHORTEST_STEM
    for length in range(len(phrase), shortest - 1, -1):
        if concepts := lexicon.stems.get(phrase[:length]):
            return concepts
    return _plural(phrase, lexicon.exact)


def _split_words(text: str) -> list[str]:
    """Return the words in lower case; of camelCase identifiers the parts."""
    words: list[str] = []
    for match in _WORD.finditer(text):
        word = match.group()
        if word.casefold() in _lexicon().technologies or word.islower() or not word.isascii():
            words.append(word.casefold())
        else:
            parts = identifier_parts(word)
            whole = len(parts) < 2 or not word[1:-1].isalpha() or word.isupper()
            words.extend([word.casefold()] if whole else [part.casefold() for part in parts])
    return words


def _phrases(words: list[str]) -> Iterator[list[str]]:
    """Yield every run of one to three words."""
    for start in range(len(words)):
        for length in range(1, LONGEST_PHRASE + 1):
            if start + length <= len(words):
                yield words[start : start + length]


def _plural(phrase: str, exact: dict[str, tuple[str, ...]]) -> tuple[str, ...]:
    """Return the concepts of the singular of a phrase."""
    if phrase.endswith("ies"):
        return exact.get(phrase[:-3] + "y", ())
    if phrase.endswith("es") and (concepts := exact.get(phrase[:-2])):
        return concepts
    return exact.get(phrase[:-1], ()) if phrase.endswith("s") else ()


def _lead_concepts(title: str) -> Iterator[str]:
    """Yield what a commit's type, or a verb at the beginning, says."""
    lead = _LEADING_TAGS.match(title)
    start = lead.end() if lead else 0
    yield from {
        concept
        for word in _WORD.findall(title[:start])
        if (concept := _COMMIT_CONCEPTS.get(word.casefold()))
    }
    first = _WORD.search(title, start)
    if first and first.group().casefold() in _DOCUMENT_VERBS:
        yield "begins with document"


def _keywords(text: str, telling: dict[str, int], limit: int) -> tuple[str, ...]:
    """Return the words that tell most: those of the vocabulary, then long and rare looking ones."""
    best: dict[str, float] = {}
    words = [word for word in content_words(text) if _is_a_word(word)]
    for place, word in enumerate(words):
        value = 2.0 * (word in telling) + min(len(word), 12) / 12 - place / (len(words) + 1)
        best.setdefault(word, value)
    for term in telling:
        if not term.isascii():
            best.setdefault(term, 2.0)
    return tuple(sorted(best, key=lambda word: -best[word])[:limit])


def _is_a_word(word: str) -> bool:
    """Return whether people would call it a word: no blob, no sentence without spaces."""
    return len(word) <= (LONGEST_UNSPACED if unspaced_runs(word) else LONGEST_WORD)


@cache
def _lexicon() -> _Lexicon:
    exact: dict[str, list[str]] = {}
    stems: dict[str, list[str]] = {}
    unspaced: list[tuple[str, str]] = []
    for concept, terms in CONCEPTS.items():
        for term in (part.strip() for part in terms.split(",")):
            if unspaced_runs(term):
                unspaced.append((term, concept))
            elif term.endswith("*"):
                stems.setdefault(term[:-1], []).append(concept)
            else:
                exact.setdefault(term, []).append(concept)
    technologies: dict[str, str] = {}
    for group, names in TECHNOLOGIES.items():
        for entry in (part.strip() for part in names.split(",")):
            name, *aliases = entry.split("=")
            for alias in (name, *aliases):
                technologies[alias.casefold()] = name
                exact.setdefault(alias.casefold(), []).append(f"uses {group}")
    return _Lexicon(
        {term: tuple(concepts) for term, concepts in exact.items()},
        {stem: tuple(concepts) for stem, concepts in stems.items()},
        tuple(unspaced),
        technologies,
    )
