"""What a search compares and finds, before anything of it is shown."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from kmem_desktop.domain.changes import Noun
from kmem_desktop.domain.sessions.conversations import Turn
from kmem_desktop.search.query import ParsedQuery
from kmem_desktop.store import fulltext


@dataclass(frozen=True, slots=True)
class Hit:
    """A document that a search found.

    Attributes:
        id: Its id.
        noun: What it is.
        bm25: Its lexical score; 0 where no word matched.
        cosine: How close in meaning; None where only words were compared.
        priors: Named additions for turns of a conversation.
        relevance: 0..1.
        turn: The turn, where it is one.
    """

    id: int
    noun: Noun
    bm25: float
    cosine: float | None
    priors: tuple[tuple[str, float], ...]
    relevance: float
    turn: Turn | None = None


@dataclass(frozen=True, slots=True)
class Breadth:
    """How much is compared with a question.

    Attributes:
        words: So many candidates by words.
        close: At most so many by meaning alone.
        expected: Documents that are compared too, where they pass.
        lifted: Filters, by their names, that do not count: to tell what they keep out.
        least_cosine: How close a text without a word in common must be; None for what suits its
            noun.
    """

    words: int
    close: int
    expected: tuple[int, ...] = ()
    lifted: tuple[str, ...] = ()
    least_cosine: float | None = None

    def applied_to(self, filters: fulltext.Filters) -> fulltext.Filters:
        """Return the filters without those that are lifted."""
        idle = fulltext.Filters()
        return replace(filters, **{name: getattr(idle, name) for name in self.lifted})


@dataclass(frozen=True, slots=True)
class Reading:
    """A query as it is looked up, and what became of its words.

    Attributes:
        parsed: The query.
        words: All its words that tell something, in their order.
        looked_up: Those of them that bring texts in.
        scored: Those that count for the score of what was brought in.
    """

    parsed: ParsedQuery
    words: tuple[str, ...]
    looked_up: frozenset[str]
    scored: frozenset[str]


@dataclass(frozen=True, slots=True)
class Ranking:
    """What a question finds, before it is cut to what is shown.

    Attributes:
        reading: The question as it was read.
        filters: What hits had to be.
        hits: Under the id that is shown, best first.
        scores: Their scores, under the same ids.
        total: How many match in all.
        best_relevance: The relevance of the best; 1 where there is none.
        is_cut: Whether more was found than the window shows.
    """

    reading: Reading
    filters: fulltext.Filters
    hits: dict[int, Hit]
    scores: Mapping[int, float]
    total: int
    best_relevance: float
    is_cut: bool = False
