"""Writes rules back into files: the notations of the assistants, and seed 002's schema.

Reading what was written gives the same rules: `parse(file_name(...), export(...))` has the same
directives in every notation. Outside of the schema a directive is a bullet in plain words:

    - **MUST NOT** Depend on a database from the domain layer.
      - Why: The domain outlives the database.
      - Example:

        ```python
        ...
        ```
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from kmem_desktop.domain.rules import CodeExample, Directive, Layer, RuleDocument, RuleFormat
from kmem_desktop.rules.documents.draft import label
from kmem_desktop.rules.documents.facts import (
    code_example,
    condition_text,
    directive_text,
    heading_name,
    layer_label,
    rationale_text,
    section_names,
    section_path,
)
from kmem_desktop.rules.documents.front_matter import quoted
from kmem_desktop.rules.documents.wording import prohibits
from kmem_desktop.text import one_line

_DEEPEST_HEADING = 6
_NOT_IN_NAMES = re.compile(r"[\[\]{}(),'\"`*]+")
_WITH_FRONT_MATTER = (RuleFormat.CURSOR, RuleFormat.COPILOT)


def export(document: RuleDocument, rule_format: RuleFormat) -> str:
    """Return the text of a rule file that holds a document's directives.

    Args:
        document: With the directives that are wanted; its sections and notes are not looked at.
        rule_format: How to write it.
    """
    is_seed = rule_format is RuleFormat.SEED
    write = _seed_directive if is_seed else _bullet
    chosen = [each for each in document.directives if directive_text(each.text)]
    bare = [each for each in chosen if not section_names(each.section)]
    blocks = [f"# {_title(document)}"]
    # What has no section stands before the first heading, else it would belong to that.
    blocks += [] if is_seed else [write(each, document) for each in bare]
    blocks += _facts(document, rule_format)
    blocks += ["## Directives", *(write(each, document) for each in bare)] if is_seed else []
    section = ""
    for directive in chosen:
        path = section_path(section_names(directive.section))
        if path:
            blocks += [*_headings(section, path, is_seed=is_seed), write(directive, document)]
            section = path
    return "\n".join(_front_matter(document, rule_format)) + "\n\n".join(blocks) + "\n"


def file_name(rule_format: RuleFormat, name: str) -> str:
    """Return the path in a project that a file of rules belongs to, by what it is called."""
    slug = re.sub(r"[^\w]+", "-", name.casefold()).strip("-") or "rules"
    return {
        RuleFormat.CLAUDE: "CLAUDE.md",
        RuleFormat.AGENTS: "AGENTS.md",
        RuleFormat.CURSOR: f".cursor/rules/{slug}.mdc",
        RuleFormat.COPILOT: f".github/instructions/{slug}.instructions.md",
    }.get(rule_format, f"rules/{slug}.md")


def merged(documents: Sequence[RuleDocument], name: str) -> RuleDocument:
    """Put several documents together into one, as CLAUDE.md takes them.

    The name of each becomes a heading; its layer, topics and conditions go to its directives.
    """
    directives: list[Directive] = []
    for document in documents:
        conditions = list(document.when_to_apply)
        if document.globs and not document.always_apply:
            conditions.append(f"Working on files: {', '.join(document.globs)}")
        directives += [
            replace(
                directive,
                section=section_path([document.name, directive.section]),
                when_to_apply=tuple(dict.fromkeys([*conditions, *directive.when_to_apply])),
            )
            for directive in document.directives
        ]
    return RuleDocument(name, "", RuleFormat.MARKDOWN, directives=tuple(directives))


def severity_label(directive: Directive) -> str:
    """Return the words to write before a directive's text: `MUST`, or `MUST NOT`.

    A text that forbids in its own words ("Never ...") gets no second NOT: it would say the reverse.
    """
    is_not = directive.prohibits and not prohibits(directive_text(directive.text))
    return label(directive.severity, is_not=is_not)


def _title(document: RuleDocument) -> str:
    name = heading_name(document.name)
    return name if re.search(r"\w", name) else "Rules"


def _front_matter(document: RuleDocument, rule_format: RuleFormat) -> list[str]:
    if rule_format not in _WITH_FRONT_MATTER:
        return []
    description = quoted(one_line(document.description)) if document.description.strip() else ""
    globs = ", ".join(document.globs)
    if rule_format is RuleFormat.CURSOR:
        bare = f"[{globs}]" if globs.startswith("[") else globs
        always = str(document.always_apply).lower()
        lines = [f"description: {description}", f"globs: {bare}", f"alwaysApply: {always}"]
    else:
        lines = [f"description: {description}"] if description else []
        lines += [f"applyTo: '{globs}'"] if globs else []
        if not lines:
            return []
    return ["---", *(line.rstrip() for line in lines), "---", "", ""]


def _facts(document: RuleDocument, rule_format: RuleFormat) -> list[str]:
    """Return the parts that say when the document applies, as far as no front matter does."""
    lines = []
    if rule_format is RuleFormat.SEED or document.layer is not Layer.ANY:
        lines.append(f"- **Layer**: {layer_label(document.layer)}")
    lines += _listed("AuthoritativeFor", _names(document.authoritative_for))
    lines += _listed("Topics", _names(document.topics))
    if rule_format not in _WITH_FRONT_MATTER:
        if document.description.strip():
            lines.append(f"- **Description**: {one_line(document.description)}")
        lines += _listed("Globs", list(document.globs))
    if document.always_apply and rule_format is not RuleFormat.CURSOR:
        lines.append("- **AlwaysApply**: true")
    conditions = [f"- {text}" for text in map(condition_text, document.when_to_apply) if text]
    parts = ["\n".join(["## Metadata", *lines])] if lines else []
    return parts + (["\n".join(["## When to Apply", *conditions])] if conditions else [])


def _listed(name: str, values: list[str]) -> list[str]:
    return [f"- **{name}**: [{', '.join(values)}]"] if values else []


def _names(names: Sequence[str]) -> list[str]:
    plain = (one_line(_NOT_IN_NAMES.sub(" ", name)) for name in names)
    return list(dict.fromkeys(name for name in plain if name))


def _headings(before: str, path: str, *, is_seed: bool) -> list[str]:
    """Return the headings that lead from one section to the next."""
    if path == before:
        return []
    if is_seed:
        return [f"### {path}"]
    old, new = section_names(before), section_names(path)
    most = _DEEPEST_HEADING - 1
    if len(new) > most:
        new = [*new[: most - 1], section_path(new[most - 1 :])]
    if len(old) > most:
        old = [*old[: most - 1], section_path(old[most - 1 :])]
    shared = 0
    while shared < min(len(old), len(new) - 1) and old[shared] == new[shared]:
        shared += 1
    return [f"{'#' * (level + 2)} {new[level]}" for level in range(shared, len(new))]


def _own(directive: Directive, document: RuleDocument) -> Iterator[tuple[str, str]]:
    """Give the facts of a directive that differ from those of its document."""
    if directive.rationale.strip():
        yield "Why", rationale_text(directive.rationale)
    if _names(directive.topics) != _names(document.topics):
        yield "Topics", f"[{', '.join(_names(directive.topics))}]"
    if directive.layer is not document.layer:
        yield "Layer", layer_label(directive.layer)
    for condition in map(condition_text, directive.when_to_apply):
        if condition:
            yield "When", condition


def _shown(directive: Directive) -> Iterator[tuple[str, CodeExample]]:
    for name, examples in (
        ("Example", directive.examples),
        ("Anti-pattern", directive.anti_patterns),
    ):
        for example in examples:
            plain = code_example(example.code, example.language)
            if plain.code.strip():
                yield name, plain


def _is_inline(example: CodeExample) -> bool:
    return not example.language and example.code == one_line(example.code)


def _fenced(example: CodeExample, indent: str) -> str:
    runs = [len(run) for run in re.findall(r"`{3,}", example.code)]
    fence = "`" * (max(runs, default=2) + 1)
    lines = [f"{fence}{example.language}", *example.code.split("\n"), fence]
    return "\n".join(indent + line if line else "" for line in lines)


def _bullet(directive: Directive, document: RuleDocument) -> str:
    lines = [f"- **{severity_label(directive)}** {directive_text(directive.text)}"]
    lines += [f"  - {name}: {value}" for name, value in _own(directive, document)]
    for name, example in _shown(directive):
        if _is_inline(example):
            lines.append(f"  - {name}: {example.code}")
        else:
            lines += [f"  - {name}:", "", _fenced(example, " " * 4), ""]
    return "\n".join(lines).rstrip("\n")


def _seed_directive(directive: Directive, document: RuleDocument) -> str:
    blocks = [f"**[{severity_label(directive)}]** {directive_text(directive.text)}"]
    names = {"Why": "Rationale", "When": "When to Apply"}
    blocks += [f"**{names.get(key, key)}**: {value}" for key, value in _own(directive, document)]
    for name, example in _shown(directive):
        if _is_inline(example):
            blocks.append(f"**{name}**: {example.code}")
        else:
            blocks.append(f"**{name}**:\n{_fenced(example, '')}")
    return "\n\n".join(blocks)
