"""Why an item was not in an answer: what a person or an assistant is told about it."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from kmem_desktop.domain.changes import Noun
from kmem_desktop.domain.found import Explanation


class Cause(StrEnum):
    """Why an item is not in an answer, for programs."""

    THERE = "there"
    DELETED = "deleted"
    OTHER_NOUN = "other_noun"
    OTHER_SCOPE = "other_scope"
    OTHER_TAGS = "other_tags"
    OTHER_TYPE = "other_type"
    OTHER_SESSION = "other_session"
    TOO_OLD = "too_old"
    TOO_NEW = "too_new"
    LOW_CONFIDENCE = "low_confidence"
    UNWANTED_WORD = "unwanted_word"
    NOTHING_ASKED = "nothing_asked"
    NO_SHARED_WORD = "no_shared_word"
    FREQUENT_WORDS = "frequent_words"
    TOO_FAR = "too_far"
    NO_VECTOR = "no_vector"
    NO_MEANING = "no_meaning"
    NOT_COMPARED = "not_compared"
    LOW_RELEVANCE = "low_relevance"
    BEYOND_LIMIT = "beyond_limit"
    WEAKER = "weaker"


@dataclass(frozen=True, slots=True)
class ExpectedItem:
    """What was expected.

    Attributes:
        id: Its integer id; 0 where it was deleted.
        uuid: Its UUID.
        noun: What it is.
        title: What people call it: of a turn the beginning of its text. It is stored text.
        owner_id: Of an observation its entity; else its own id.
    """

    id: int
    uuid: str
    noun: Noun
    title: str
    owner_id: int = 0


@dataclass(frozen=True, slots=True)
class Reason:
    """One reason.

    Attributes:
        cause: For programs.
        sentence: For people.
    """

    cause: Cause
    sentence: str


@dataclass(frozen=True, slots=True)
class Standing:
    """How an item stands to a question.

    Attributes:
        item: The item.
        place: Its place among all that was compared; None where it has none.
        score: What it was ordered by; None where it has none.
        explanation: The factors of the score.
        columns: For each word of the question that it has, where: title, body, tags,
            hidden_words, context.
    """

    item: ExpectedItem
    place: int | None
    score: float | None
    explanation: Explanation
    columns: Mapping[str, tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class Suggestion:
    """Something that was tried, and finds the item.

    Attributes:
        sentence: What to do, for people.
        place: The place the item has then.
        question: The text to ask instead; empty where the text may stay.
        limit: How many results to ask for; None where that may stay.
    """

    sentence: str
    place: int
    question: str = ""
    limit: int | None = None


@dataclass(frozen=True, slots=True)
class Absence:
    """Why an item is not in the answer to a question, or where in it it is.

    Attributes:
        item: What was expected.
        question: The question's text.
        place: Its place in the answer; None where it is not there.
        rank: Its place in all that was compared; None where it cannot be, or stands behind that.
        total: How many match in all.
        shown: How many the answer shows.
        reasons: Why, the most important first.
        own: How the item stands to the question; None where it was deleted.
        other: How the last one that was shown does (the first, where the item is there); None
            where there is none.
        suggestions: What would find it, each of them tried.
    """

    item: ExpectedItem
    question: str
    place: int | None
    rank: int | None
    total: int
    shown: int
    reasons: tuple[Reason, ...]
    own: Standing | None = None
    other: Standing | None = None
    suggestions: tuple[Suggestion, ...] = ()

    @property
    def sentences(self) -> tuple[str, ...]:
        """All that is to be said, for people."""
        said = tuple(reason.sentence for reason in self.reasons)
        return (*said, *(suggestion.sentence for suggestion in self.suggestions))

    @property
    def sentence(self) -> str:
        """All that is to be said, in one text."""
        return " ".join(self.sentences)
