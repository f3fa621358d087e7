"""Rules: documents, their sections and directives, and what a task is about (seeds 001 and 002)."""

from dataclasses import dataclass
from enum import StrEnum


class Layer(StrEnum):
    """Where in a system a change is made (seed 001's seven layers), by name."""

    PRESENTATION = "presentation"
    APPLICATION = "application"
    DOMAIN = "domain"
    PERSISTENCE = "persistence"
    TESTS = "tests"
    DOCS = "docs"
    DEPLOYMENT = "deployment"
    ANY = "*"


LAYER_LABELS = {
    Layer.PRESENTATION: "1-Presentation",
    Layer.APPLICATION: "2-Application",
    Layer.DOMAIN: "3-Domain",
    Layer.PERSISTENCE: "4-Persistence",
    Layer.TESTS: "5-Tests",
    Layer.DOCS: "6-Docs",
    Layer.DEPLOYMENT: "7-Deployment",
    Layer.ANY: "*",
}
"""How seed 001 writes them on the wire."""

TOPICS = ("security", "testing", "performance", "api", "database", "frontend", "backend")
"""Seed 001's seven topics, the ones that are detected; a rule may name others."""


class Severity(StrEnum):
    """How binding a directive is (RFC 2119)."""

    MUST = "MUST"
    SHOULD = "SHOULD"
    MAY = "MAY"


@dataclass(frozen=True, slots=True)
class CodeExample:
    """A piece of code that shows what to do, or what not to do."""

    code: str
    language: str = ""


@dataclass(frozen=True, slots=True)
class Directive:
    """One instruction of a rule document.

    Attributes:
        text: The instruction, in the document's own words.
        severity: How binding it is.
        section: The heading it stands under; a path of headings is joined by " > ".
        line: Its line in the source, from 1.
        prohibits: Whether it says what must not be done.
        rationale: Why.
        examples: What is right.
        anti_patterns: What is wrong.
        topics: What it is about: its own topics, else those of its document.
        layer: Where it applies: its own layer, else that of its document.
        when_to_apply: Conditions of its own; the document's hold as well.
    """

    text: str
    severity: Severity
    section: str
    line: int
    prohibits: bool = False
    rationale: str = ""
    examples: tuple[CodeExample, ...] = ()
    anti_patterns: tuple[CodeExample, ...] = ()
    topics: tuple[str, ...] = ()
    layer: Layer = Layer.ANY
    when_to_apply: tuple[str, ...] = ()


class RuleFormat(StrEnum):
    """How a rule document is written."""

    SEED = "seed"
    CURSOR = "cursor"
    COPILOT = "copilot"
    CLAUDE = "claude"
    AGENTS = "agents"
    MARKDOWN = "markdown"


@dataclass(frozen=True, slots=True)
class RuleSection:
    """A part of a rule document under one heading.

    Attributes:
        name: The heading; a path of headings is joined by " > ".
        line: Its line, from 1.
        content: The markdown under it, as written.
    """

    name: str
    line: int
    content: str


@dataclass(frozen=True, slots=True)
class ParseNote:
    """What was understood of a line, or why it was passed over.

    Attributes:
        line: Its number, from 1; 0 for the whole document.
        message: What a person should know.
        is_warning: Whether something was not understood that looks as if it should be.
    """

    line: int
    message: str
    is_warning: bool = False


@dataclass(frozen=True, slots=True)
class RuleDocument:
    """A rule document as it was understood.

    Attributes:
        name: Its title.
        path: Where it was read from, as given.
        format: How it is written.
        layer: Where its directives apply, unless they say otherwise.
        description: What it says of itself.
        authoritative_for: Topics on which it has the last word.
        topics: What it is about.
        when_to_apply: When its directives apply.
        globs: Files that it applies to.
        always_apply: Whether it says that it always applies.
        sections: Its parts, in order.
        directives: Its instructions, in order.
        notes: What was understood and what was passed over, by line.
    """

    name: str
    path: str
    format: RuleFormat
    layer: Layer = Layer.ANY
    description: str = ""
    authoritative_for: tuple[str, ...] = ()
    topics: tuple[str, ...] = ()
    when_to_apply: tuple[str, ...] = ()
    globs: tuple[str, ...] = ()
    always_apply: bool = False
    sections: tuple[RuleSection, ...] = ()
    directives: tuple[Directive, ...] = ()
    notes: tuple[ParseNote, ...] = ()


@dataclass(frozen=True, slots=True)
class TaskContext:
    """What a task is about.

    Attributes:
        layer: Where the change would be made.
        topics: What it is about, of `TOPICS`, surest first.
        keywords: Words of the task that tell most.
        technologies: Products and languages that it names.
        confidence: 0..1, how often such an answer is right.
        alternatives: Other layers with their confidence, surest first.
        method: What detected it: "model", "embedding", "words" or "default".
        model: The model that was used; empty for none.
    """

    layer: Layer
    topics: tuple[str, ...] = ()
    keywords: tuple[str, ...] = ()
    technologies: tuple[str, ...] = ()
    confidence: float = 0.0
    alternatives: tuple[tuple[Layer, float], ...] = ()
    method: str = "default"
    model: str = ""


class RuleStatus(StrEnum):
    """Whether a person stands behind a directive."""

    APPROVED = "approved"
    PROPOSED = "proposed"
    REJECTED = "rejected"


@dataclass(frozen=True, slots=True)
class ScoreBreakdown:
    """Why a directive stands where it stands; every part is 0..1 (seed 001, "Ranking Algorithm").

    A part is None where nothing is known, such as the conditions of a document that states none;
    it then neither helps nor harms.

    Attributes:
        authority: Whether its document has the last word on a topic of the task.
        when_to_apply: How well the task meets its conditions.
        layer: How likely the change is made in its layer.
        topics: How much its topics are the task's.
        severity: How binding it is.
        semantic: How near its meaning is.
        lexical: How well the words fit.
        concepts: How much it speaks of the same things in other words.
        relevance: Whether it has to do with the task at all; this gates the other parts.
    """

    authority: float | None
    when_to_apply: float | None
    layer: float | None
    topics: float | None
    severity: float
    semantic: float | None
    lexical: float
    concepts: float | None
    relevance: float


@dataclass(frozen=True, slots=True)
class RankedDirective:
    """A directive that matters for a task.

    Attributes:
        id: Its id, as the store has it.
        directive: What it says.
        rule: The name of its document.
        path: Where the document was read from.
        score: 0..1.
        breakdown: Of what the score is made.
        status: Whether a person stands behind it.
    """

    id: str
    directive: Directive
    rule: str
    path: str
    score: float
    breakdown: ScoreBreakdown
    status: RuleStatus = RuleStatus.APPROVED


@dataclass(frozen=True, slots=True)
class Citation:
    """Where a shown directive comes from (DESIGN.md, "Tools").

    Attributes:
        id: The directive's id.
        text: Its words, verbatim.
        severity: MUST, SHOULD or MAY, with NOT where it prohibits in other words than its own.
        status: Whether a person stands behind it.
        rule: The name of its document.
        section: The heading it stands under.
        path: Where the document was read from.
        line: Its line in the source, from 1.
        score: 0..1.
    """

    id: str
    text: str
    severity: str
    status: RuleStatus
    rule: str
    section: str
    path: str
    line: int
    score: float


@dataclass(frozen=True, slots=True)
class ContextBlock:
    """What an assistant is given for a task.

    Attributes:
        text: Markdown in seed 001's format.
        citations: One for each directive shown, in their order.
        tokens: About how many tokens the text has.
    """

    text: str
    citations: tuple[Citation, ...]
    tokens: int


class RuleRelationKind(StrEnum):
    """How two things of the rules' graph belong together (seed 002, "Relationship")."""

    CONTAINS = "CONTAINS"
    AUTHORITATIVE_FOR = "AUTHORITATIVE_FOR"
    APPLIES_TO = "APPLIES_TO"
    RELATED_TO = "RELATED_TO"


@dataclass(frozen=True, slots=True)
class RuleRelation:
    """An edge of the rules' graph.

    Attributes:
        source: The node it leaves, such as "rule:docs/api.md" or "directive:17".
        target: The node it reaches, such as "topic:security" or "layer:persistence".
        kind: How they belong together.
        weight: 0..1; for RELATED_TO the cosine of both directives.
    """

    source: str
    target: str
    kind: RuleRelationKind
    weight: float = 1.0


@dataclass(frozen=True, slots=True)
class Contradiction:
    """Two directives that cannot both be followed.

    Attributes:
        first: The id of one.
        second: The id of the other.
        reason: What they disagree about, for people.
    """

    first: str
    second: str
    reason: str
