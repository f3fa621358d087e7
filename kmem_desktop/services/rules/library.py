"""The rules that are kept: looked at, edited, approved, deleted, written back."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from kmem_desktop.domain.changes import Noun, Origin
from kmem_desktop.domain.rule_library import (
    DIRECTIVE_LENGTH,
    RuleChanges,
    RuleConflict,
    RuleDifference,
    StoredDirective,
    StoredRule,
)
from kmem_desktop.domain.rules import (
    RuleDocument,
    RuleFormat,
    RuleRelation,
    RuleSection,
    RuleStatus,
)
from kmem_desktop.errors import InvalidInputError, NotFoundError
from kmem_desktop.events import Change, ChangeFeed
from kmem_desktop.rules.documents import export
from kmem_desktop.rules.documents.parser import parse
from kmem_desktop.rules.relations import node, structure
from kmem_desktop.rules.tokens import count_tokens
from kmem_desktop.services.rules.judging import difference, keep_judgements, replaced
from kmem_desktop.services.sessions.redacting import SecretFilter
from kmem_desktop.services.validation import Problems
from kmem_desktop.sessions.secrets import holds_marks
from kmem_desktop.store.connection import Connection
from kmem_desktop.store.database import Database
from kmem_desktop.store.rules import library as rule_rows
from kmem_desktop.store.rules import relations as rule_relations
from kmem_desktop.store.rules import set_aside
from kmem_desktop.text import one_line


class RuleLibrary:
    """What can be done with rules that are there."""

    def __init__(self, database: Database, feed: ChangeFeed) -> None:
        """Work on `database`, and tell `feed` what changed."""
        self._database = database
        self._feed = feed

    async def rules(self) -> list[StoredRule]:
        """Return every document, by project and path."""
        return await self._database.read(rule_rows.list_rules)

    async def sections(self, rule_id: int) -> list[RuleSection]:
        """Return a document's parts."""
        return await self._database.read(lambda c: rule_rows.sections_of(c, rule_id))

    async def directives(self, rule_id: int) -> list[StoredDirective]:
        """Return a document's directives in their order, rejected ones too."""
        return await self._database.read(lambda c: rule_rows.directives_of(c, rule_id))

    async def directive(self, directive_id: int) -> StoredDirective:
        """Return one directive.

        Raises:
            NotFoundError: There is none with this id.
        """
        return await self._database.read(lambda c: _require(c, directive_id))

    async def proposed(self) -> list[StoredDirective]:
        """Return the directives that wait for a person's word."""

        def work(connection: Connection) -> list[StoredDirective]:
            ids = rule_rows.directive_ids(connection, status=RuleStatus.PROPOSED)
            return list(rule_rows.get_directives(connection, ids).values())

        return await self._database.read(work)

    async def edit(
        self, directive_id: int, changes: RuleChanges, origin: Origin
    ) -> StoredDirective:
        """Change a directive; its document is not read over it from then on without asking.

        Raises:
            NotFoundError: There is none with this id.
            InvalidInputError: The text is out of its limits.
        """
        _check(changes)
        now = datetime.now(UTC)
        secrets = SecretFilter(origin.name)
        clean = {name: secrets.value(value) for name, value in changes.given().items()}

        def work(connection: Connection) -> StoredDirective:
            stored = _require(connection, directive_id)
            secrets.note(connection, now)
            given = clean
            if "text" in given:
                given = {**given, "text": one_line(given["text"])}
            rule_rows.edit_directive(connection, stored, replace(stored.directive, **given), now)
            return _require(connection, directive_id)

        edited = await self._database.write(work)
        self._feed.publish(Change(Noun.DIRECTIVE, (directive_id,), origin))
        return edited

    async def set_status(
        self, directive_ids: Sequence[int], status: RuleStatus, origin: Origin
    ) -> int:
        """Approve, reject, or propose directives again; return how many there were.

        A rejected one is kept: read again in its document it stays rejected.
        """
        count = await self._database.write(lambda c: rule_rows.set_status(c, directive_ids, status))
        self._feed.publish(Change(Noun.DIRECTIVE, tuple(directive_ids), origin))
        return count

    async def difference(self, rule_id: int) -> RuleDifference:
        """Return how a document that was edited here differs from its file.

        Raises:
            NotFoundError: There is no such document.
        """

        def work(connection: Connection) -> RuleDifference:
            rule = _require_rule(connection, rule_id)
            source, news = rule_rows.source_of(connection, rule_id)
            stored = rule_rows.directives_of(connection, rule_id)
            return difference(rule, stored, source, news)

        return await self._database.read(work)

    async def settle_news(self, rule_id: int, origin: Origin, *, take: bool) -> None:
        """Decide about a document that was edited here and whose file changed since.

        Args:
            rule_id: The document.
            origin: Who decides.
            take: Take what the file says, and lose the edits; else keep them. What was rejected is
                not approved by that.

        Raises:
            NotFoundError: There is no such document.
        """
        now = datetime.now(UTC)

        def work(connection: Connection) -> None:
            rule = _require_rule(connection, rule_id)
            source, news = rule_rows.source_of(connection, rule_id)
            if take:
                text = news if news is not None else source
                # What was handed in meanwhile nobody has read yet: it is proposed, as at first.
                is_persons = rule.folder_id is not None or (
                    news is None and rule.stored_by == origin.name
                )
                status = RuleStatus.APPROVED if is_persons else RuleStatus.PROPOSED
                _read_again(connection, rule, text, status, now)
            else:
                rule_rows.set_news(connection, rule_id, None)

        await self._database.write(work)
        self._feed.publish(Change(Noun.DIRECTIVE, (), origin))

    async def delete(self, rule_id: int, origin: Origin) -> StoredRule:
        """Remove a document with its directives; a file of a watched folder stays on the disk.

        Such a file is not read again until it is taken back (`RuleFolders.take_back`).

        Raises:
            NotFoundError: There is no such document.
        """
        now = datetime.now(UTC)

        def work(connection: Connection) -> tuple[StoredRule, list[int]]:
            rule = _require_rule(connection, rule_id)
            if rule.folder_id is not None:
                keep_judgements(connection, rule)
                set_aside.ignore(connection, rule.path, rule.scope, now)
            return rule, rule_rows.delete_rules(connection, [rule_id])

        rule, gone = await self._database.write(work)
        self._feed.publish(Change(Noun.DIRECTIVE, tuple(gone), origin))
        return rule

    async def relations(self, rule_id: int) -> list[RuleRelation]:
        """Return what a document states of itself, and what its directives are related to."""

        def work(connection: Connection) -> list[RuleRelation]:
            document, ids = _document(connection, rule_id)
            stated = structure(document, str(rule_id), [str(i) for i in ids])
            return [*stated, *rule_relations.related(connection, ids, node)]

        return await self._database.read(work)

    async def conflicts(self) -> list[RuleConflict]:
        """Return the pairs of directives that contradict each other."""

        def work(connection: Connection) -> list[RuleConflict]:
            pairs = rule_relations.contradictions(connection)
            ids = {i for first, second, _ in pairs for i in (first, second)}
            stored = rule_rows.get_directives(connection, ids)
            return [RuleConflict(stored[one], stored[two], why) for one, two, why in pairs]

        return await self._database.read(work)

    async def export(
        self, rule_ids: Sequence[int], rule_format: RuleFormat, *, target: Path | None = None
    ) -> str:
        """Return documents in a notation; what is proposed or rejected is left out.

        Args:
            rule_ids: The documents.
            rule_format: The notation.
            target: The file that is to hold them.

        Raises:
            NotFoundError: There is no such document.
            InvalidInputError: `target` is there already, and a secret was removed from a document:
                writing it would take the secret out of the person's own file.
        """

        def work(connection: Connection) -> list[RuleDocument]:
            return [_document(connection, rule_id)[0] for rule_id in rule_ids]

        documents = await self._database.read(work)
        document = documents[0] if len(documents) == 1 else export.merged(documents, "Rules")
        text = export.export(document, rule_format)
        if target is not None and holds_marks(text) and await asyncio.to_thread(target.exists):
            raise InvalidInputError(
                "A secret was removed from these rules before they were stored, so that writing"
                f" them over {target.name} could take it out of that file.",
                hint="Write them to a new file.",
            )
        return text


def _require(connection: Connection, directive_id: int) -> StoredDirective:
    stored = rule_rows.get_directives(connection, [directive_id]).get(directive_id)
    if stored is None:
        raise NotFoundError(f"There is no directive {directive_id}.", details={"id": directive_id})
    return stored


def _require_rule(connection: Connection, rule_id: int) -> StoredRule:
    rule = rule_rows.get_rule(connection, rule_id)
    if rule is None:
        raise NotFoundError(f"There is no rule document {rule_id}.", details={"id": rule_id})
    return rule


def _document(connection: Connection, rule_id: int) -> tuple[RuleDocument, list[int]]:
    """Return a document as it stands now, approved directives only, and their ids."""
    rule = _require_rule(connection, rule_id)
    approved = [
        each
        for each in rule_rows.directives_of(connection, rule_id)
        if each.status is RuleStatus.APPROVED
    ]
    document = RuleDocument(
        name=rule.name,
        path=rule.path,
        format=rule.format,
        layer=rule.layer,
        description=rule.description,
        authoritative_for=rule.authoritative_for,
        topics=rule.topics,
        when_to_apply=rule.when_to_apply,
        globs=rule.globs,
        always_apply=rule.always_apply,
        sections=tuple(rule_rows.sections_of(connection, rule_id)),
        directives=tuple(each.directive for each in approved),
    )
    return document, [each.id for each in approved]


def _read_again(
    connection: Connection, rule: StoredRule, text: str, status: RuleStatus, now: datetime
) -> None:
    new = rule_rows.NewRule(
        document=parse(rule.path, text),
        source=text,
        scope=rule.scope,
        folder_id=rule.folder_id,
        stored_by=rule.stored_by,
        tokens=count_tokens(text),
    )
    replaced(connection, rule, new, status, now)


def _check(changes: RuleChanges) -> None:
    if not changes.given():
        raise InvalidInputError("Nothing to change was given.")
    problems = Problems()
    low, high = DIRECTIVE_LENGTH
    if changes.text is not None and not low <= len(changes.text.strip()) <= high:
        problems.add("text", f"text must be {low} to {high:,} characters.")
    if changes.rationale is not None and len(changes.rationale) > high:
        problems.add("rationale", f"rationale must be at most {high:,} characters.")
    problems.raise_if_any()
