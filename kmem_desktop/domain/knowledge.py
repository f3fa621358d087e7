"""Knowledge: items, drafts, queries and hits (seed 000), with their limits."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from kmem_desktop.domain.found import EntryNote, Explanation

TITLE_LENGTH = (10, 100)
CONTENT_LENGTH = (50, 5000)
TAG_COUNT = (1, 10)
TAG_LENGTH = 50
PRIORITY = (1, 10)
CONFIDENCE = (0.0, 1.0)
SOURCE_LENGTH = 200
SCOPE_LENGTH = 200
QUERY_LENGTH = (3, 500)
SEARCH_LIMIT = (1, 20)
GLOBAL_SCOPE = "global"


class Category(StrEnum):
    """What kind of knowledge an item is: the union of seed 000's and seed 004's lists."""

    RULE = "rule"
    GUIDELINE = "guideline"
    DECISION = "decision"
    PATTERN = "pattern"
    INSIGHT = "insight"
    CODE = "code"
    REFERENCE = "reference"
    ERROR = "error"
    SOLUTION = "solution"


@dataclass(frozen=True, slots=True)
class KnowledgeDraft:
    """What somebody wants to store, not yet checked (seed 000, storeKnowledge)."""

    title: str
    content: str
    tags: tuple[str, ...]
    scope: str = GLOBAL_SCOPE
    category: str = Category.RULE
    priority: int = 5
    confidence: float = 0.8
    source: str = "manual"


@dataclass(frozen=True, slots=True)
class KnowledgeItem:
    """One piece of knowledge as it is stored."""

    id: int
    uuid: str
    title: str
    content: str
    tags: tuple[str, ...]
    scope: str
    category: Category
    priority: int
    confidence: float
    source: str
    stored_by: str
    created_at: datetime
    updated_at: datetime


@dataclass(frozen=True, slots=True)
class KnowledgeQuery:
    """A search for knowledge (seed 000, searchKnowledge).

    Attributes:
        text: The question.
        context_tags: Hits with these tags rank higher.
        scope: Only this scope and what is global; None for all.
        category: Only this category; None for all.
        limit: 1 to 20.
        min_confidence: 0..1.
        explain: Whether hits name the words that matched, which costs a millisecond.
    """

    text: str
    context_tags: tuple[str, ...] = ()
    scope: str | None = None
    category: Category | None = None
    limit: int = 5
    min_confidence: float = 0.0
    explain: bool = True


@dataclass(frozen=True, slots=True)
class KnowledgeHit:
    """A found item with its score and the reasons for it; `notes` say why it may no longer hold."""

    item: KnowledgeItem
    score: float
    explanation: Explanation
    notes: tuple[EntryNote, ...] = ()


@dataclass(frozen=True, slots=True)
class KnowledgeResults:
    """What a search for knowledge found."""

    hits: tuple[KnowledgeHit, ...]
    total_matches: int
    query: str
