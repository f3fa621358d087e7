"""What a person decided about directives, carried through new versions of their document.

A file says something else now, or went and came back; what was rejected there must not be handed
out again because a word of it changed, and what was edited must not be lost because somebody
looked at another branch.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from difflib import SequenceMatcher
from typing import Any

from kmem_desktop.domain.rule_library import (
    DirectiveDifference,
    RuleChanges,
    RuleDifference,
    StoredDirective,
    StoredRule,
)
from kmem_desktop.domain.rules import Directive, Layer, RuleStatus, Severity
from kmem_desktop.rules.documents.parser import parse
from kmem_desktop.store.connection import Connection
from kmem_desktop.store.rules import library as rule_rows
from kmem_desktop.store.rules import set_aside
from kmem_desktop.store.rules.set_aside import Judgement

ALIKE = 0.6
"""From this share of equal characters on two directives say the same in other words."""


def replaced(
    connection: Connection,
    rule: StoredRule,
    new: rule_rows.NewRule,
    status: RuleStatus,
    now: datetime,
) -> None:
    """Read a document anew; nothing that a person rejected in it counts as approved by that.

    What says the same as before keeps its state. What a rejected directive says now in other words
    is proposed: it waits for a person.
    """
    stored = rule_rows.directives_of(connection, rule.id)
    judged = [each for each in stored if each.status is not RuleStatus.APPROVED]
    made_from: dict[int, Directive] = {}
    if any(each.is_edited for each in judged):
        source, _ = rule_rows.source_of(connection, rule.id)
        made_from = originals(rule.path, source, stored)
    rule_rows.replace_rule(connection, rule.id, new, status, now)
    if not judged:
        return
    before = {each.id for each in stored}
    after = rule_rows.directives_of(connection, rule.id)
    kept = {each.id for each in after}
    fresh = [each for each in after if each.id not in before]
    for old in judged:
        if old.id in kept:
            continue
        said = made_from.get(old.id, old.directive)
        same = next((each for each in fresh if _is_same(each.directive, said)), None)
        if same is not None:
            rule_rows.set_status(connection, [same.id], old.status)
            fresh.remove(same)
        elif (like := _most_alike(said, fresh)) is not None and like.status is status:
            rule_rows.set_status(connection, [like.id], RuleStatus.PROPOSED)
            fresh.remove(like)


def keep_judgements(connection: Connection, rule: StoredRule) -> None:
    """Keep what was decided about a file that goes, for when it comes back."""
    stored = rule_rows.directives_of(connection, rule.id)
    made_from: dict[int, Directive] = {}
    if any(each.is_edited for each in stored):
        source, _ = rule_rows.source_of(connection, rule.id)
        made_from = originals(rule.path, source, stored)
    kept = []
    for each in stored:
        said = made_from.get(each.id, each.directive)
        if each.is_edited or each.status is RuleStatus.REJECTED:
            edits = _edits(each.directive) if each.is_edited else None
            kept.append(Judgement(said.section, said.text, each.status, edits))
    set_aside.keep(connection, rule.path, rule.scope, kept)


def restore_judgements(connection: Connection, rule: rule_rows.NewRule, now: datetime) -> None:
    """Decide again what was decided about a file before it went; the document was just added."""
    path, scope = rule.document.path, rule.scope
    kept = set_aside.judgements(connection, path, scope)
    stored_rule = rule_rows.find_rule(connection, path, scope) if kept else None
    if stored_rule is None:
        return
    fresh = rule_rows.directives_of(connection, stored_rule.id)
    for each in kept:
        same = next(
            (
                s
                for s in fresh
                if (s.directive.section, s.directive.text) == (each.section, each.text)
            ),
            None,
        )
        if same is None:
            continue
        fresh.remove(same)
        if each.edits is not None:
            changes = _changes(each.edits)
            edited = replace(same.directive, **changes.given())
            rule_rows.edit_directive(connection, same, edited, now)
        rule_rows.set_status(connection, [same.id], each.status)
    set_aside.forget_judgements(connection, path, scope)


def originals(path: str, source: str, stored: Sequence[StoredDirective]) -> dict[int, Directive]:
    """Return for each directive that was edited what its file said when it was read."""
    said = list(parse(path, source).directives)
    for each in stored:
        if not each.is_edited:
            _take(said, each.directive)
    found: dict[int, Directive] = {}
    for each in stored:
        if each.is_edited:
            here = [one for one in said if one.section == each.directive.section]
            if here:
                found[each.id] = here[0]
                said.remove(here[0])
    return found


def difference(
    rule: StoredRule, stored: Sequence[StoredDirective], source: str, news: str | None
) -> RuleDifference:
    """Return how a document stands here and in its file."""
    made_from = originals(rule.path, source, stored)
    in_file = list(parse(rule.path, source if news is None else news).directives)
    changes: list[DirectiveDifference] = []
    unpaired: list[StoredDirective] = []
    for each in stored:
        said = made_from.get(each.id, each.directive)
        theirs = _take(in_file, said)
        if theirs is None:
            unpaired.append(each)
        elif each.is_edited and _differ(each.directive, theirs):
            changes.append(DirectiveDifference(each, theirs))
    for each in unpaired:
        said = made_from.get(each.id, each.directive)
        like = _most_alike_text(said, in_file)
        if like is not None:
            in_file.remove(like)
        changes.append(DirectiveDifference(each, like))
    changes += [DirectiveDifference(None, theirs) for theirs in in_file]
    return RuleDifference(rule, tuple(changes))


def _is_same(one: Directive, other: Directive) -> bool:
    return (one.section, one.text) == (other.section, other.text)


def _take(directives: list[Directive], wanted: Directive) -> Directive | None:
    """Take the directive of this section and text out of a list."""
    for each in directives:
        if _is_same(each, wanted):
            directives.remove(each)
            return each
    return None


def _differ(one: Directive, other: Directive) -> bool:
    return _edits(one) != _edits(other)


def _likeness(one: str, other: str) -> float:
    matcher = SequenceMatcher(None, one.casefold(), other.casefold(), autojunk=False)
    return matcher.ratio() if matcher.quick_ratio() >= ALIKE else 0.0


def _most_alike(said: Directive, stored: Sequence[StoredDirective]) -> StoredDirective | None:
    likeness = {each.id: _likeness(said.text, each.directive.text) for each in stored}
    best = max(stored, key=lambda each: likeness[each.id], default=None)
    return best if best is not None and likeness[best.id] >= ALIKE else None


def _most_alike_text(said: Directive, directives: Sequence[Directive]) -> Directive | None:
    here = [each for each in directives if each.section == said.section]
    likeness = [_likeness(said.text, each.text) for each in here]
    best = max(range(len(here)), key=likeness.__getitem__, default=None)
    return here[best] if best is not None and likeness[best] >= ALIKE else None


def _edits(directive: Directive) -> dict[str, Any]:
    return {
        "text": directive.text,
        "severity": directive.severity.value,
        "topics": list(directive.topics),
        "layer": directive.layer.value,
        "rationale": directive.rationale,
    }


def _changes(edits: Mapping[str, Any]) -> RuleChanges:
    return RuleChanges(
        text=edits["text"],
        severity=Severity(edits["severity"]),
        topics=tuple(edits["topics"]),
        layer=Layer(edits["layer"]),
        rationale=edits["rationale"],
    )
