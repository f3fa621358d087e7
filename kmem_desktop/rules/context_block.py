"""The block of markdown that an assistant is given for a task, in seed 001's format.

The text of a rule is data that somebody else wrote. In the block it is one item of a list and can
be nothing else: no line of its own, no heading, no open code span, no markup, no hidden character.

References:
    Seed 001, "Context Block Formatter"; DESIGN.md, "Tools" (citations, proposed rules).
"""

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from kmem_desktop.domain.rules import (
    LAYER_LABELS,
    Citation,
    ContextBlock,
    RankedDirective,
    RuleStatus,
    Severity,
    TaskContext,
)
from kmem_desktop.rules.tokens import count_tokens

DEFAULT_TOKEN_BUDGET = 1_000
DEFAULT_MAX_ITEMS = 8
ALWAYS_SHOWN = 3
"""So many of the best MUST directives are shown whatever they cost."""
LONGEST_TEXT = 1_000
LONGEST_NAME = 120

PROPOSED_HEADING = "## Proposed rules, not yet approved by a person"
NOTHING = "No known rule applies to this task.\n"

_SPACES = re.compile(r"\s+")
_CODE_SPAN = re.compile(r"(?<!`)(`+)(?!`)(.+?)(?<!`)\1(?!`)")
_MARKUP = re.compile(r"<(?=[!/?a-zA-Z])")
_PICTURE = re.compile(r"!(?=\[)")
_NEGATION = re.compile(
    r"\b(?:not|never|no|none|avoid|cannot|without|nicht|kein\w*|nie|nunca|jamais)\b"
    r"|n['\u2019]t\b|禁止|不得|不要|不可|しない|避け",
    re.IGNORECASE,
)
_INVISIBLE = {"Cc", "Cf", "Cs", "Co", "Cn"}


@dataclass(frozen=True, slots=True)
class BlockOptions:
    """What the caller wants (seed 001, QueryDirectivesInput).

    Attributes:
        max_items: At most this many directives.
        token_budget: About so many tokens for the whole block.
        breadcrumbs: Whether each entry says where it comes from.
        severities: Only these; empty for all.
        proposed: Whether proposed rules are shown at all.
    """

    max_items: int = DEFAULT_MAX_ITEMS
    token_budget: int = DEFAULT_TOKEN_BUDGET
    breadcrumbs: bool = True
    severities: tuple[Severity, ...] = ()
    proposed: bool = True


def context_block(
    ranked: Sequence[RankedDirective], task: TaskContext, options: BlockOptions | None = None
) -> ContextBlock:
    """Return the block for a task.

    The best three MUST directives that a person approved are in it, even past the budget, and past
    it nothing else is. Then what fits: a directive that is too long gives way to the next. All of
    them stand best first, whatever they say of their severity: listing MUST first puts what matters
    little for the task before what matters most (nDCG@10 0.64 instead of 0.80). Proposed ones
    follow in a section of their own that says what they are.

    Args:
        ranked: What matters for the task, best first, below the cut left out.
        task: What it is about.
        options: What the caller wants.
    """
    options = options or BlockOptions()
    wanted = [
        each
        for each in ranked
        if not options.severities or each.directive.severity in options.severities
    ]
    approved, proposed = _selected(wanted, task, options)
    parts = [_header(task)]
    parts += [_entry(each, options) for each in approved] or [NOTHING]
    if proposed:
        parts.append(f"{PROPOSED_HEADING}\n\n")
        parts += [_entry(each, options) for each in proposed]
    text = "".join(parts)
    return ContextBlock(
        text, tuple(_citation(each) for each in (*approved, *proposed)), count_tokens(text)
    )


def severity_label(ranked: RankedDirective) -> str:
    """Return MUST, SHOULD or MAY, with NOT where it prohibits and its own words do not say so.

    "[MUST NOT] Depend on a database" (seed 002's schema) keeps it; "Never use eval" needs none.
    """
    directive = ranked.directive
    denied = directive.prohibits and not _NEGATION.search(directive.text[:80])
    return f"{directive.severity} NOT" if denied else directive.severity.value


@lru_cache(maxsize=4096)
def as_data(text: str, limit: int = LONGEST_TEXT) -> str:
    """Return a text as it can stand inside a line of markdown and mean nothing to markdown.

    Line breaks become spaces, hidden characters go; code spans stay if they are closed; markup and
    pictures outside of them are written out.

    Args:
        text: What somebody else wrote.
        limit: In characters; a longer text ends in an ellipsis.
    """
    seen = (c for c in text if c.isspace() or unicodedata.category(c) not in _INVISIBLE)
    line = _SPACES.sub(" ", "".join(seen)).strip()
    if len(line) > limit:
        line = line[: limit - 1].rstrip() + "…"
    pieces: list[str] = []
    end = 0
    for span in _CODE_SPAN.finditer(line):
        pieces += [_written_out(line[end : span.start()]), span.group()]
        end = span.end()
    pieces.append(_written_out(line[end:]))
    return "".join(pieces)


def _selected(
    ranked: Sequence[RankedDirective], task: TaskContext, options: BlockOptions
) -> tuple[list[RankedDirective], list[RankedDirective]]:
    approved = [each for each in ranked if each.status is RuleStatus.APPROVED]
    musts = [each for each in approved if each.directive.severity is Severity.MUST]
    chosen = musts[: min(ALWAYS_SHOWN, options.max_items)]
    left = options.token_budget - count_tokens(_header(task))
    left -= sum(_tokens(each, options) for each in chosen)
    rest = (each for each in approved if each not in chosen)
    more = _fitting(rest, options, options.max_items - len(chosen), left)
    chosen = [each for each in approved if each in chosen or each in more]
    if not options.proposed:
        return chosen, []
    left -= sum(_tokens(each, options) for each in more) + count_tokens(PROPOSED_HEADING) + 1
    proposed = (each for each in ranked if each.status is RuleStatus.PROPOSED)
    return chosen, _fitting(proposed, options, options.max_items - len(chosen), left)


def _fitting(
    ranked: Iterable[RankedDirective], options: BlockOptions, count: int, tokens: int
) -> list[RankedDirective]:
    """Return at most `count` directives that fit into `tokens` together."""
    chosen: list[RankedDirective] = []
    for each in ranked:
        if len(chosen) >= count or tokens <= 0:
            break
        cost = _tokens(each, options)
        if cost <= tokens:
            chosen.append(each)
            tokens -= cost
    return chosen


def _tokens(ranked: RankedDirective, options: BlockOptions) -> int:
    return _counted(_entry(ranked, options))


_counted = lru_cache(maxsize=4096)(count_tokens)
"""The same directives come up for task after task."""


def _header(task: TaskContext) -> str:
    context = ", ".join((LAYER_LABELS[task.layer], *task.topics))
    return (
        f"# Contextual Rules for Task\n\n**Detected Context**: {context}\n\n## Key Directives\n\n"
    )


def _entry(ranked: RankedDirective, options: BlockOptions) -> str:
    directive = ranked.directive
    lines = [f"- **[{severity_label(ranked)}]** {as_data(directive.text)}"]
    if directive.topics:
        lines.append(f"  - *Applies to: {_name(', '.join(directive.topics))}*")
    if options.breadcrumbs:
        lines.append(f"  - *Source: {_breadcrumb(ranked)}*")
    return "\n".join(lines) + "\n\n"


def _breadcrumb(ranked: RankedDirective) -> str:
    trail = " → ".join(_name(part) for part in (ranked.rule, ranked.directive.section) if part)
    place = f"{_name(ranked.path)}:{ranked.directive.line}" if ranked.path else ""
    return f"{trail} ({place})" if trail and place else trail or place


def _citation(ranked: RankedDirective) -> Citation:
    return Citation(
        id=ranked.id,
        text=ranked.directive.text,
        severity=severity_label(ranked),
        status=ranked.status,
        rule=ranked.rule,
        section=ranked.directive.section,
        path=ranked.path,
        line=ranked.directive.line,
        score=round(ranked.score, 4),
    )


def _name(text: str) -> str:
    """Return a name for a line in italics: a star or a backtick would end it."""
    return as_data(text.replace("`", "'").replace("*", ""), LONGEST_NAME)


def _written_out(text: str) -> str:
    """Return text outside of code spans without what markdown would act upon."""
    return _PICTURE.sub("", _MARKUP.sub("&lt;", text.replace("`", "'")))
