"""Rules as they are kept: folders, documents and directives with their state, and answers to tasks.

What a rule document says stands in `domain.rules`; this is what kmem knows about it besides.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from kmem_desktop.domain.rules import (
    Citation,
    Directive,
    Layer,
    ParseNote,
    RankedDirective,
    RuleFormat,
    RuleStatus,
    Severity,
    TaskContext,
)

DOCUMENT_BATCH = 200
"""At most this many documents in one call."""
DOCUMENT_LENGTH = 2_000_000
PATH_LENGTH = 1_000
TASK_LENGTH = (1, 8_000)
DIRECTIVE_LENGTH = (3, 2_000)
MAX_ITEMS = (1, 50)
TOKEN_BUDGET = (50, 20_000)
MODES = ("architect", "code", "debug")


@dataclass(frozen=True, slots=True)
class RuleFolder:
    """A project's folder, whose rule files are read and watched.

    Attributes:
        id: Its number.
        path: The folder.
        scope: The scope of its rules, `project:<name>`.
        added_at: When it was added.
        rules: How many rule documents it has.
        is_there: Whether the folder can be read now.
        ignored: Files in it that a person forgot: they are not read until they are taken back.
    """

    id: int
    path: str
    scope: str
    added_at: datetime
    rules: int = 0
    is_there: bool = True
    ignored: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class StoredRule:
    """A rule document as it is kept.

    Attributes:
        id: Its number.
        uuid: Its UUID.
        folder_id: The folder it was read from; None for what was submitted.
        path: Where it was read from, or the name it was submitted under.
        name: Its title.
        format: How it is written.
        layer: Where it applies.
        description: What it says of itself.
        authoritative_for: Topics on which it has the last word.
        topics: What it is about.
        when_to_apply: When it applies.
        globs: Files it applies to.
        always_apply: Whether it says that it always applies.
        scope: `global` or `project:<name>`.
        is_edited: Whether a person changed it in kmem since it was read.
        has_news: Whether its file changed since, and waits for a person's word.
        notes: What was understood and what was passed over.
        stored_by: Who submitted it.
        updated_at: When it was last changed.
        directives: How many directives it has.
        proposed: How many of them wait for a person's word.
        tokens: About how many tokens the whole document has.
        folder: The folder it was read from; empty for what was submitted.
    """

    id: int
    uuid: str
    folder_id: int | None
    path: str
    name: str
    format: RuleFormat
    layer: Layer
    description: str
    authoritative_for: tuple[str, ...]
    topics: tuple[str, ...]
    when_to_apply: tuple[str, ...]
    globs: tuple[str, ...]
    always_apply: bool
    scope: str
    is_edited: bool
    has_news: bool
    notes: tuple[ParseNote, ...]
    stored_by: str
    updated_at: datetime
    directives: int = 0
    proposed: int = 0
    tokens: int = 0
    folder: str = ""

    @property
    def place(self) -> str:
        """Its path from the project's folder, as people and assistants there know it."""
        if not self.folder:
            return self.path
        return self.path[len(self.folder) :].lstrip("/\\").replace("\\", "/")


@dataclass(frozen=True, slots=True)
class StoredDirective:
    """A directive as it is kept.

    Attributes:
        id: Its id in the search index.
        uuid: Its UUID.
        rule: Its document.
        directive: What it says.
        status: Whether a person stands behind it.
        is_edited: Whether a person changed it in kmem.
    """

    id: int
    uuid: str
    rule: StoredRule
    directive: Directive
    status: RuleStatus
    is_edited: bool


@dataclass(frozen=True, slots=True)
class SubmittedDocument:
    """A rule document that somebody hands in.

    Attributes:
        path: Its file, or the name it is to be kept under.
        content: Its text; None to read the file.
    """

    path: str
    content: str | None = None


@dataclass(frozen=True, slots=True)
class IngestionReport:
    """What became of submitted documents (seed 001, UpsertMarkdownOutput).

    Attributes:
        rules: Documents that were stored, or would be.
        sections: Their sections.
        directives: Their directives.
        patterns: Their examples and anti-patterns.
        relations: Relations they state.
        warnings: What a person should look at, by document and line.
        errors: Documents that were not taken, and why; the others were.
        unchanged: Documents that were there already, word for word.
    """

    rules: int = 0
    sections: int = 0
    directives: int = 0
    patterns: int = 0
    relations: int = 0
    warnings: tuple[str, ...] = ()
    errors: tuple[str, ...] = ()
    unchanged: int = 0


@dataclass(frozen=True, slots=True)
class RuleQuery:
    """A task for which directives are wanted (seed 001, QueryDirectivesInput).

    Attributes:
        task: The task, in the assistant's words.
        mode: "architect", "code", "debug", or empty.
        strict_layer: Only directives of the task's layer, and those for any.
        max_items: At most so many directives.
        token_budget: About so many tokens for the block.
        breadcrumbs: Whether each entry names its source.
        severities: Only these; empty for all.
        scope: Only this project's rules, and global ones; empty for all.
    """

    task: str
    mode: str = ""
    strict_layer: bool = False
    max_items: int = 8
    token_budget: int = 1_000
    breadcrumbs: bool = True
    severities: tuple[Severity, ...] = ()
    scope: str = ""


@dataclass(frozen=True, slots=True)
class RuleAnswer:
    """What an assistant is given for a task, and how it came about.

    Attributes:
        block: The context block, markdown.
        citations: One for each directive in it, in their order.
        context: What the task is about.
        fallback: Why something less than everything was used; empty where nothing was missing.
        searched: How many directives there are.
        considered: How many were compared with the task.
        selected: How many are in the block.
        tokens: About how many tokens the block has.
        source_tokens: About how many the documents it was taken from have as a whole.
        ms: How long it took.
        ranked: The directives that matter, best first, with the breakdown of their scores.
    """

    block: str
    citations: tuple[Citation, ...]
    context: TaskContext
    fallback: str
    searched: int
    considered: int
    selected: int
    tokens: int
    source_tokens: int
    ms: float
    ranked: tuple[RankedDirective, ...] = field(default=())


@dataclass(frozen=True, slots=True)
class RuleConflict:
    """Two directives that contradict each other."""

    first: StoredDirective
    second: StoredDirective
    reason: str


@dataclass(frozen=True, slots=True)
class DirectiveDifference:
    """A directive that is another one here than in its file.

    Attributes:
        here: What is kept; None for what only the file says.
        in_file: What the file says; None for what only is kept.
    """

    here: StoredDirective | None
    in_file: Directive | None


@dataclass(frozen=True, slots=True)
class RuleDifference:
    """How a document that a person edited differs from its file."""

    rule: StoredRule
    changes: tuple[DirectiveDifference, ...]


@dataclass(frozen=True, slots=True)
class RuleChanges:
    """What a person changes of a directive; None leaves a field as it is."""

    text: str | None = None
    severity: Severity | None = None
    topics: tuple[str, ...] | None = None
    layer: Layer | None = None
    rationale: str | None = None

    def given(self) -> Mapping[str, Any]:
        """Return the fields that are to change."""
        names = ("text", "severity", "topics", "layer", "rationale")
        return {name: getattr(self, name) for name in names if getattr(self, name) is not None}
