"""What the page of rules says: of documents, of waiting, of a task, of a place in a ranking."""

from collections.abc import Iterable
from pathlib import PurePath

from kmem_desktop.domain.knowledge import GLOBAL_SCOPE
from kmem_desktop.domain.rule_library import (
    IngestionReport,
    RuleAnswer,
    RuleFolder,
    StoredDirective,
    StoredRule,
)
from kmem_desktop.domain.rules import (
    Layer,
    RankedDirective,
    RuleFormat,
    RuleStatus,
    ScoreBreakdown,
    TaskContext,
)
from kmem_desktop.gui.wording import YOU, by_whom, counted, scope_name, when
from kmem_desktop.services.rules.explaining import reasons

FORMAT_NAMES = {
    RuleFormat.CLAUDE: "CLAUDE.md",
    RuleFormat.AGENTS: "AGENTS.md",
    RuleFormat.CURSOR: "Cursor rule",
    RuleFormat.COPILOT: "Copilot instructions",
    RuleFormat.SEED: "Rule document",
    RuleFormat.MARKDOWN: "Markdown guide",
}
EXPORT_NAMES = {
    RuleFormat.CLAUDE: "CLAUDE.md",
    RuleFormat.AGENTS: "AGENTS.md",
    RuleFormat.CURSOR: "Cursor .mdc",
    RuleFormat.COPILOT: "Copilot",
    RuleFormat.SEED: "Schema",
}
STATUS_WORDS = {
    RuleStatus.APPROVED: "Approved",
    RuleStatus.PROPOSED: "Proposed, not approved yet",
    RuleStatus.REJECTED: "Rejected",
}
FALLBACKS = {
    "embedding_unavailable": "without a model: chosen by words alone",
    "model_timeout": "the model was too slow and was not waited for",
    "model_unavailable": "the model did not answer",
    "low_confidence": "the model was not sure and was not believed",
    "no_rules": "there are no rules yet; these are the baseline rules that come with kmem",
    "database_unavailable": "the rules could not be read; these are kmem's baseline rules",
}
_SURE = ((0.85, "almost surely"), (0.65, "probably"), (0.4, "perhaps"))
_PART_NAMES = {
    "relevance": "Has to do with the task",
    "authority": "Last word on the topic",
    "when_to_apply": "Its condition is met",
    "layer": "Belongs to the layer",
    "topics": "Shares the topics",
    "severity": "How binding it is",
    "semantic": "Close in meaning",
}
_STRONG = 0.6


def layer_name(layer: Layer) -> str:
    """Return a layer as people say it."""
    return "any layer" if layer is Layer.ANY else f"{layer.value} layer"


def source_words(place: str, line: int) -> str:
    """Return "docs/api.md, line 12"."""
    return f"{place}, line {line}" if line else place


def source_of(stored: StoredDirective) -> str:
    """Return where a directive stands."""
    return source_words(stored.rule.place, stored.directive.line)


def project_name(folder: RuleFolder) -> str:
    """Return what people call a folder."""
    return PurePath(folder.path).name or folder.path


def inside(path: str, folder: RuleFolder) -> str:
    """Return a file's path from the project's folder."""
    return path.removeprefix(folder.path).lstrip("/\\").replace("\\", "/")


def _project_of(scope: str) -> str:
    """Return for which project rules are."""
    return "every project" if scope == GLOBAL_SCOPE else scope_name(scope)


def proposers(proposed: Iterable[StoredDirective]) -> str:
    """Return who proposed, "Claude Code", "Claude Code and Cursor", "3 assistants"."""
    # What was added to a document that a person or a folder brought does not say by whom.
    known = {each.rule.stored_by for each in proposed if each.rule.folder_id is None}
    names = sorted(known - {YOU}) or ["an assistant"]
    if len(names) > 2:
        return f"{len(names)} assistants"
    return " and ".join(names)


def waiting_words(proposed: list[StoredDirective]) -> str:
    """Return "3 proposed by Claude Code wait for you"."""
    verb = "waits" if len(proposed) == 1 else "wait"
    return f"{len(proposed):,} proposed by {proposers(proposed)} {verb} for you"


def conflict_words(count: int) -> str:
    """Return "2 pairs contradict each other"."""
    return f"{counted(count, 'pair')} {'contradicts' if count == 1 else 'contradict'} each other"


def document_facts(rule: StoredRule) -> str:
    """Return what is known about a document, in sentences."""
    found = [
        f"{FORMAT_NAMES[rule.format]} of {_project_of(rule.scope)}.",
        f"{counted(rule.directives, 'directive')} in about {rule.tokens:,} tokens.",
    ]
    if rule.folder_id is not None:
        found.append(f"Read {when(rule.updated_at)}, and again whenever the file changes.")
    else:
        found.append(f"Handed in {by_whom(rule.stored_by)}, {when(rule.updated_at)}.")
    return " ".join(found)


def document_rows(rule: StoredRule) -> list[tuple[str, str]]:
    """Return what a document says of itself, as (name, words)."""
    rows = [
        ("About", ", ".join(rule.topics)),
        ("Layer", "" if rule.layer is Layer.ANY else layer_name(rule.layer)),
        ("Last word on", ", ".join(rule.authoritative_for)),
        ("Applies when", "; ".join(rule.when_to_apply)),
        ("For files", ", ".join(rule.globs)),
        ("Always", "It says that it always applies." if rule.always_apply else ""),
    ]
    return [row for row in rows if row[1]]


def directive_facts(stored: StoredDirective) -> str:
    """Return what is known about a directive, in sentences."""
    directive = stored.directive
    parts = [f"{STATUS_WORDS[stored.status]}."]
    if stored.status is RuleStatus.PROPOSED:
        parts = [f"Proposed by {proposers([stored])}, not approved yet."]
    parts.append(f"For {layer_name(directive.layer)} of {_project_of(stored.rule.scope)}.")
    return " ".join(parts)


def report_summary(report: IngestionReport) -> str:
    """Return what was understood of documents."""
    if not report.rules and not report.unchanged:
        return "No rules were read."
    words = [
        f"{counted(report.rules, 'document')} read:"
        f" {counted(report.directives, 'directive')} in {counted(report.sections, 'section')},"
        f" {counted(report.patterns, 'example')}."
    ]
    if not report.rules:
        words = []
    if report.unchanged:
        verb = "was" if report.unchanged == 1 else "were"
        words.append(f"{counted(report.unchanged, 'document')} {verb} known, word for word.")
    return " ".join(words)


def library_words(documents: int, directives: int) -> str:
    """Return "212 directives in 4 files"."""
    return f"{counted(directives, 'directive')} in {counted(documents, 'file')}"


def context_words(context: TaskContext) -> str:
    """Return how sure the layer of a task is."""
    if context.layer is Layer.ANY or context.method == "default":
        return "No layer stands out"
    for least, words in _SURE:
        if context.confidence >= least:
            return f"Looks {words} like"
    return "A guess:"


def saving_words(answer: RuleAnswer) -> str:
    """Return "565 tokens instead of 44,000: 1.3 %"."""
    tokens = counted(answer.tokens, "token")
    if not answer.source_tokens:
        return f"{tokens}."
    if answer.tokens >= answer.source_tokens:
        return f"{tokens}; the files have {answer.source_tokens:,} as a whole."
    share = 100 * answer.tokens / answer.source_tokens
    shown = f"{share:.1f}" if share < 10 else f"{share:.0f}"
    return f"{tokens} instead of {answer.source_tokens:,}: {shown} %."


def answer_words(answer: RuleAnswer) -> str:
    """Return how long an answer took, and what it had to do without."""
    context = answer.context
    how = {"model": f"with {context.model}", "embedding": "by meaning and words"}
    return f"{max(1, round(answer.ms)):,} ms, {how.get(context.method, 'by words')}"


def part_name(name: str) -> str:
    """Return what people call a part of a score."""
    return _PART_NAMES.get(name, name)


def why_parts(breakdown: ScoreBreakdown, ranked: RankedDirective) -> list[str]:
    """Return why a directive is where it is, the most decisive first, in a few words each."""
    topics = ", ".join(ranked.directive.topics[:2])
    words = {
        "authority": "its document has the last word",
        "when_to_apply": "its condition is met",
        "layer": layer_name(ranked.directive.layer),
        "topics": f"about {topics}" if topics else "same topics",
        "semantic": "close in meaning",
    }
    found = [
        words[name] for name, value, _ in reasons(breakdown) if name in words and value >= _STRONG
    ]
    if breakdown.lexical >= _STRONG:
        found.append("shares its words")
    if not found and breakdown.concepts is not None and breakdown.concepts >= _STRONG:
        found.append("speaks of the same things")
    return found


def why_sentence(ranked: RankedDirective) -> str:
    """Return why a directive is where it is, as a sentence."""
    parts = why_parts(ranked.breakdown, ranked)
    binding = {"MUST": "binding", "SHOULD": "advised", "MAY": "optional"}
    parts.append(binding[ranked.directive.severity.value])
    if ranked.status is RuleStatus.PROPOSED:
        parts.append("not approved yet, so it is sent last")
    text = "; ".join(parts)
    return f"{text[:1].upper()}{text[1:]}."
