"""What knowledge must be like to be stored: the limits, and "specific, actionable, not generic".

The tools and the window's form call the same functions, so that both say the same sentences.
"""

import re
import unicodedata
from collections.abc import Callable
from dataclasses import replace

from kmem_desktop.domain.knowledge import (
    CONFIDENCE,
    CONTENT_LENGTH,
    PRIORITY,
    QUERY_LENGTH,
    SCOPE_LENGTH,
    SEARCH_LIMIT,
    SOURCE_LENGTH,
    TAG_COUNT,
    TAG_LENGTH,
    TITLE_LENGTH,
    Category,
    KnowledgeDraft,
    KnowledgeQuery,
)
from kmem_desktop.errors import InvalidInputError
from kmem_desktop.search.query import STOP_WORDS
from kmem_desktop.text import normalise_content, one_line

GENERIC_PHRASES = (
    "this is important",
    "remember this",
    "note to self",
    "todo",
    "to do",
    "fix this",
    "do this",
    "always do",
    "never do",
    "be careful",
    "keep in mind",
    "best practice",
    "best practices",
    "good code",
    "clean code",
    "important note",
    "do it right",
    "do the right thing",
)
FEWEST_TELLING_WORDS = 4
MOST_WORDED = 8
"""An error says at most this many problems in its sentence,"""
MOST_LISTED = 20
"""and lists at most this many: a thousand wrong entries are wrong in the same way."""

_SCOPE = re.compile(r"(?:global|(?:project|repo):[^\s:][^\x00-\x1f\x7f]*)$")
_WORD = re.compile(r"[^\W_]+")
_GENERIC = re.compile(
    r"\b(?:"
    + "|".join(re.escape(p) for p in sorted(GENERIC_PHRASES, key=len, reverse=True))
    + r")\b"
)


class Problems:
    """Collects what is wrong with an input, field by field, so that all is told at once."""

    def __init__(self) -> None:
        """Start with nothing wrong."""
        self._found: list[dict[str, str]] = []

    def __bool__(self) -> bool:
        """Return whether something is wrong."""
        return bool(self._found)

    def add(self, field: str, message: str) -> None:
        """Note that `field` is wrong."""
        self._found.append({"field": field, "message": message})

    def check(self, field: str, rule: Callable[[], str | None]) -> None:
        """Note what `rule` returns, if anything."""
        if message := rule():
            self.add(field, message)

    def raise_if_any(self) -> None:
        """Raise one error that tells everything.

        Raises:
            InvalidInputError: Something was noted; `details["errors"]` lists it.
        """
        if self._found:
            message = " ".join(problem["message"] for problem in self._found[:MOST_WORDED])
            raise InvalidInputError(message, details={"errors": self._found[:MOST_LISTED]})


def checked_draft(draft: KnowledgeDraft) -> KnowledgeDraft:
    """Return the draft in its stored form.

    Raises:
        InvalidInputError: Something is out of its limits or too generic; the message says what
            and `details["errors"]` names each field.
    """
    tidy = replace(
        draft,
        title=one_line(unicodedata.normalize("NFC", draft.title)),
        content=normalise_content(draft.content),
        tags=tuple(dict.fromkeys(one_line(tag).lower() for tag in draft.tags)),
        scope=normalise_scope(draft.scope),
        category=draft.category.strip().lower(),
        source=one_line(draft.source) or "manual",
    )
    problems = Problems()
    _check_length(problems, "title", tidy.title, TITLE_LENGTH)
    _check_length(problems, "content", tidy.content, CONTENT_LENGTH)
    _check_tags(problems, draft.tags, tidy.tags)
    problems.check("scope", lambda: scope_problem(tidy.scope))
    if tidy.category not in set(Category):
        problems.add("category", f"Category must be one of {', '.join(Category)}.")
    _check_range(problems, "priority", tidy.priority, PRIORITY)
    _check_range(problems, "confidence", tidy.confidence, CONFIDENCE)
    if len(tidy.source) > SOURCE_LENGTH:
        problems.add("source", f"Source must be at most {SOURCE_LENGTH} characters.")
    problems.raise_if_any()
    _check_specific(problems, tidy)
    problems.raise_if_any()
    return tidy


def checked_query(query: KnowledgeQuery) -> KnowledgeQuery:
    """Return the query in its normal form.

    Raises:
        InvalidInputError: A field is out of its limits.
    """
    text = query.text.strip()
    scope = normalise_scope(query.scope) if query.scope else None
    problems = Problems()
    _check_length(problems, "query", text, QUERY_LENGTH)
    _check_range(problems, "limit", query.limit, SEARCH_LIMIT)
    _check_range(problems, "minConfidence", query.min_confidence, CONFIDENCE)
    if scope is not None:
        problems.check("scope", lambda: scope_problem(scope))
    problems.raise_if_any()
    return replace(query, text=text, scope=scope)


def normalise_scope(scope: str) -> str:
    """Return the form in which two scopes count as the same."""
    return one_line(scope).casefold()


def scope_problem(scope: str) -> str | None:
    """Return what is wrong with a scope in its normal form, or None."""
    if len(scope) > SCOPE_LENGTH:
        return f"Scope must be at most {SCOPE_LENGTH} characters."
    if not _SCOPE.match(scope):
        return (
            "Scope must be global, project:<name> or repo:<name>, such as repo:myorg/my-monorepo."
        )
    return None


def _check_length(problems: Problems, field: str, value: str, limits: tuple[int, int]) -> None:
    low, high = limits
    name = field.capitalize()
    if len(value) < low:
        problems.add(field, f"{name} must be at least {low} characters (it has {len(value)}).")
    elif len(value) > high:
        problems.add(field, f"{name} must be at most {high} characters (it has {len(value)}).")


def _check_range(problems: Problems, field: str, value: float, limits: tuple[float, float]) -> None:
    low, high = limits
    if not low <= value <= high:
        name = field[0].upper() + field[1:]
        problems.add(field, f"{name} must be from {low} to {high} (it is {value}).")


def _check_tags(problems: Problems, given: tuple[str, ...], tags: tuple[str, ...]) -> None:
    low, high = TAG_COUNT
    if not low <= len(given) <= high:
        problems.add("tags", f"Tags must be {low} to {high} words (there are {len(given)}).")
    elif not all(tags):
        problems.add("tags", "Tags must not be empty.")
    elif any(len(tag) > TAG_LENGTH for tag in tags):
        problems.add("tags", f"Each tag must be at most {TAG_LENGTH} characters.")


def _check_specific(problems: Problems, draft: KnowledgeDraft) -> None:
    """Refuse what helps nobody later: no words at all, or nothing but stock phrases."""
    if not _WORD.search(draft.title):
        problems.add("title", "Title has no words: name the thing it is about.")
    if not _WORD.search(draft.content):
        problems.add("content", "Content has no words: say what to do, where, and why.")
    if _is_generic(draft.title, fewest=2):
        problems.add(
            "title",
            "Title is too generic: name the thing and what holds for it, such as"
            " 'Build API responses from DTO classes'.",
        )
    if _is_generic(draft.content, fewest=FEWEST_TELLING_WORDS):
        problems.add(
            "content",
            "Content is too generic: say what to do, where it applies, and why;"
            " name the file, tool or case.",
        )


def _is_generic(text: str, *, fewest: int) -> bool:
    folded = text.casefold()
    rest, phrases = _GENERIC.subn(" ", folded)
    telling = {word for word in _WORD.findall(rest) if word not in STOP_WORDS}
    return phrases > 0 and len(telling) < fewest
