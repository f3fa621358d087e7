"""Questions that must find an item: the tests of search that a person owns, with their limits."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from kmem_desktop.domain.absence import ExpectedItem
from kmem_desktop.domain.found import ENTRY_QUERY_LENGTH, ENTRY_SEARCH_LIMIT

QUESTION_LENGTH = ENTRY_QUERY_LENGTH
AMONG_FIRST = ENTRY_SEARCH_LIMIT
USUAL_AMONG_FIRST = 5
MOST_TESTS = 1_000


class State(StrEnum):
    """How a test stands."""

    GREEN = "green"
    RED = "red"
    GREY = "grey"
    """Its item was deleted."""
    NEW = "new"
    """It has not been run."""


@dataclass(frozen=True, slots=True)
class Situation:
    """What may change how a question is answered, besides what is stored.

    Attributes:
        program: The version of kmem.
        model: The model whose vectors serve; empty where words alone are compared.
    """

    program: str
    model: str


@dataclass(frozen=True, slots=True)
class Result:
    """What a test came to, in runs that came out the same.

    Attributes:
        is_found: Whether the item stood among the first.
        place: Where it stood; None where it was nowhere.
        first_at: When this came out first.
        last_at: When it came out last.
        situation: In which situation it came out last.
    """

    is_found: bool
    place: int | None
    first_at: datetime
    last_at: datetime
    situation: Situation


@dataclass(frozen=True, slots=True)
class RetrievalTest:
    """A question that must find an item.

    Attributes:
        id: Its number.
        uuid: Its UUID.
        question: What is asked.
        scope: Where it is asked: that scope and what is global; empty for everything.
        item: What must be found; under the id 0 where it was deleted.
        among_first: So far down it may stand.
        created_at: When it was kept.
        last: What it came to last; None where it has not been run.
        before: What it came to before that; None where nothing else did.
    """

    id: int
    uuid: str
    question: str
    scope: str
    item: ExpectedItem
    among_first: int
    created_at: datetime
    last: Result | None = None
    before: Result | None = None

    @property
    def state(self) -> State:
        """How it stands."""
        if not self.item.id:
            return State.GREY
        if self.last is None:
            return State.NEW
        return State.GREEN if self.last.is_found else State.RED


@dataclass(frozen=True, slots=True)
class RemovedTest:
    """A test that was removed, with all its results: whatever is needed to put it back."""

    test: RetrievalTest
    results: tuple[Result, ...]


@dataclass(frozen=True, slots=True)
class TestRun:
    """What a run of tests came to.

    Attributes:
        tests: The tests that were run, as they stand now.
        turned_red: Those that were green before.
    """

    __test__ = False  # no test of pytest's

    tests: tuple[RetrievalTest, ...]
    turned_red: tuple[RetrievalTest, ...]

    def count(self, state: State) -> int:
        """Return how many of the tests stand like this."""
        return sum(test.state is state for test in self.tests)
