"""Takes rule documents in: from a client, a person, or a watched folder.

A document is parsed off the loop, then stored in one transaction of its own, so that one that
cannot be read keeps nobody else's out. What a person edited here is never overwritten: the new text
waits beside it. What a client submits is `proposed`, and it can neither change nor remove what a
person has approved.

Secrets are replaced in what is kept of a document; the file itself is never touched.
"""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from kmem_desktop.domain.changes import Noun, Origin, OriginKind
from kmem_desktop.domain.knowledge import GLOBAL_SCOPE
from kmem_desktop.domain.rule_library import (
    DOCUMENT_BATCH,
    DOCUMENT_LENGTH,
    PATH_LENGTH,
    IngestionReport,
    RuleFolder,
    SubmittedDocument,
)
from kmem_desktop.domain.rules import RuleDocument, RuleStatus
from kmem_desktop.errors import FormatError, InvalidInputError, KmemError
from kmem_desktop.events import Change, ChangeFeed
from kmem_desktop.rules.documents.parser import parse
from kmem_desktop.rules.relations import structure
from kmem_desktop.rules.tokens import count_tokens
from kmem_desktop.services.rules.files import read_document, real_path
from kmem_desktop.services.rules.judging import keep_judgements, replaced, restore_judgements
from kmem_desktop.services.sessions.privacy import refuse_excluded
from kmem_desktop.services.sessions.redacting import SecretFilter, without_secrets
from kmem_desktop.services.validation import Problems
from kmem_desktop.store.connection import Connection
from kmem_desktop.store.database import Database
from kmem_desktop.store.rules import folders as rule_folders
from kmem_desktop.store.rules import library as rule_rows
from kmem_desktop.store.rules.set_aside import is_ignored, take_back

MOST_WARNINGS = 200


class RuleIngestion:
    """Reads documents into the store."""

    def __init__(self, database: Database, feed: ChangeFeed) -> None:
        """Work on `database`, and tell `feed` what changed."""
        self._database = database
        self._feed = feed

    async def upsert(
        self,
        submitted: Sequence[SubmittedDocument],
        origin: Origin,
        *,
        overwrite: bool = False,
        validate_only: bool = False,
        scope: str = GLOBAL_SCOPE,
    ) -> IngestionReport:
        """Store documents; one that cannot be taken is reported, the others are stored.

        Args:
            submitted: Their paths, or their texts.
            origin: Who hands them in; a client's are proposed.
            overwrite: Replace what is known under the same path.
            validate_only: Only say what would be stored.
            scope: Of documents that lie in no approved folder.

        Raises:
            InvalidInputError: The batch is out of its limits.
        """
        _check(submitted)
        folders = await self._database.read(rule_folders.list_folders)
        report = IngestionReport()
        for document in submitted:
            taking = _Taking(origin, scope, overwrite=overwrite, validate_only=validate_only)
            try:
                folder = None
                if document.content is None:
                    document, folder = await self._from_disk(document, folders, origin)
                report = total(report, await self._take(document, folder, taking))
            except KmemError as error:
                said = f"{document.path}: {error.message} {error.hint}".rstrip()
                report = total(report, IngestionReport(errors=(said,)))
        return report

    async def take_file(self, path: Path, folder: RuleFolder, origin: Origin) -> IngestionReport:
        """Read a file of an approved folder, known or not; one that a person forgot is left."""
        if await self._database.read(lambda c: is_ignored(c, str(path), folder.scope)):
            return IngestionReport()
        text = await asyncio.to_thread(read_document, path)
        kept = await asyncio.to_thread(without_secrets, text)
        if await self._database.read(lambda c: _is_as_known(c, str(path), folder.scope, kept)):
            return IngestionReport(unchanged=1)
        taking = _Taking(origin, folder.scope, overwrite=True, validate_only=False)
        return await self._take(SubmittedDocument(str(path), text), folder, taking)

    async def forget_file(self, path: Path, folder: RuleFolder, origin: Origin) -> bool:
        """Let go of a file that is gone; return whether it was known.

        What a person decided about it is kept: on another branch it is still there.
        """

        def work(connection: Connection) -> list[int]:
            rule = rule_rows.find_rule(connection, str(path), folder.scope)
            if rule is None:
                return []
            keep_judgements(connection, rule)
            return rule_rows.delete_rules(connection, [rule.id])

        gone = await self._database.write(work)
        if gone:
            self._feed.publish(Change(Noun.DIRECTIVE, tuple(gone), origin))
        return bool(gone)

    async def _from_disk(
        self, document: SubmittedDocument, folders: Sequence[RuleFolder], origin: Origin
    ) -> tuple[SubmittedDocument, RuleFolder | None]:
        path = await asyncio.to_thread(real_path, document.path)
        folder = _folder_of(path, folders)
        if folder is None and origin.kind is OriginKind.CLIENT:
            raise InvalidInputError(
                "The path is in no folder that the user approved.",
                hint="Send the content, or ask the user to run: kmem rules allow FOLDER",
            )
        if folder is not None:
            await self._take_back(path, folder, origin)
        text = await asyncio.to_thread(read_document, path)
        return SubmittedDocument(str(path), text), folder

    async def _take_back(self, path: Path, folder: RuleFolder, origin: Origin) -> None:
        """Let a file that a person forgot be read again, if it is a person who asks."""
        if origin.kind is not OriginKind.CLIENT:
            await self._database.write(lambda c: take_back(c, str(path), folder.scope))
        elif await self._database.read(lambda c: is_ignored(c, str(path), folder.scope)):
            raise InvalidInputError(
                "The user forgot this file in kmem; only the user can take it back.",
                details={"path": str(path)},
            )

    async def _take(
        self, document: SubmittedDocument, folder: RuleFolder | None, taking: "_Taking"
    ) -> IngestionReport:
        text = document.content or ""
        if len(text) > DOCUMENT_LENGTH:
            raise FormatError(f"The document is longer than {DOCUMENT_LENGTH:,} characters.")
        secrets = SecretFilter(taking.origin.name)
        text = await asyncio.to_thread(secrets.text, text)
        parsed, tokens = await asyncio.to_thread(_parsed, document.path, text)
        report = _counted(parsed)
        if taking.validate_only:
            return report
        rule = rule_rows.NewRule(
            document=parsed,
            source=text,
            scope=folder.scope if folder else taking.scope,
            folder_id=folder.id if folder else None,
            stored_by=taking.origin.name,
            tokens=tokens,
        )

        def work(connection: Connection) -> _Outcome:
            if taking.origin.kind is OriginKind.CLIENT:  # a folder that a person approved is meant
                refuse_excluded(connection, scope=rule.scope)
            outcome = taking.store(connection, rule)
            if outcome.is_change:
                secrets.note(connection, datetime.now(UTC))
            return outcome

        outcome = await self._database.write(work)
        if outcome.is_change:
            self._feed.publish(Change(Noun.DIRECTIVE, (), taking.origin))
        return outcome.told(report, document.path)


class _Outcome:
    def __init__(self, *, is_change: bool, warning: str = "", is_known: bool = False) -> None:
        self.is_change = is_change
        self._warning = warning
        self._is_known = is_known

    def told(self, report: IngestionReport, path: str) -> IngestionReport:
        if self._is_known:
            report = IngestionReport(unchanged=1)
        if self._warning:
            report = replace(report, warnings=(f"{path}: {self._warning}", *report.warnings))
        return report


class _Taking:
    """How one document is taken."""

    def __init__(self, origin: Origin, scope: str, *, overwrite: bool, validate_only: bool) -> None:
        self.origin = origin
        self.scope = scope
        self.validate_only = validate_only
        self._overwrite = overwrite

    def store(self, connection: Connection, rule: rule_rows.NewRule) -> _Outcome:
        now = datetime.now(UTC)
        is_persons = self.origin.kind is not OriginKind.CLIENT or rule.folder_id is not None
        status = RuleStatus.APPROVED if is_persons else RuleStatus.PROPOSED
        known = rule_rows.find_rule(connection, rule.document.path, rule.scope)
        if known is None:
            rule_rows.insert(connection, rule, status, now)
            restore_judgements(connection, rule, now)
            return _Outcome(is_change=True)
        if rule_rows.source_of(connection, known.id)[0] == rule.source:
            rule_rows.set_news(connection, known.id, None)
            return _Outcome(is_change=known.has_news, is_known=True)
        if not self._overwrite:
            raise InvalidInputError(
                "A document of this path is already stored, and says something else.",
                hint="Set options.overwrite to replace it.",
            )
        if known.is_edited:
            rule_rows.set_news(connection, known.id, rule.source)
            return _Outcome(
                is_change=True,
                warning="A person edited this document in kmem; the new text waits for their word.",
            )
        if not is_persons:
            return self._propose(connection, known.id, rule, now)
        replaced(connection, known, rule, status, now)
        return _Outcome(is_change=True)

    def _propose(
        self, connection: Connection, rule_id: int, rule: rule_rows.NewRule, now: datetime
    ) -> _Outcome:
        stored = rule_rows.directives_of(connection, rule_id)
        if all(each.status is RuleStatus.PROPOSED for each in stored):
            rule_rows.replace_rule(connection, rule_id, rule, RuleStatus.PROPOSED, now)
            return _Outcome(is_change=True)
        known = {(each.directive.section, each.directive.text) for each in stored}
        new = [d for d in rule.document.directives if (d.section, d.text) not in known]
        rule_rows.add_directives(connection, rule_id, rule, new, now)
        return _Outcome(
            is_change=bool(new),
            warning=f"A person approved this document: {len(new)} new directives are proposed,"
            " what was approved stays as it is.",
        )


def _check(submitted: Sequence[SubmittedDocument]) -> None:
    problems = Problems()
    if not 1 <= len(submitted) <= DOCUMENT_BATCH:
        problems.add(
            "documents", f"documents must be 1 to {DOCUMENT_BATCH} (there are {len(submitted)})."
        )
    for index, document in enumerate(submitted[:DOCUMENT_BATCH]):
        if not document.path.strip() or len(document.path) > PATH_LENGTH or "\0" in document.path:
            field = f"documents[{index}].path"
            problems.add(field, f"{field} must be 1 to {PATH_LENGTH} characters, none of them NUL.")
    problems.raise_if_any()


def _is_as_known(connection: Connection, path: str, scope: str, text: str) -> bool:
    """Return whether nothing is to be done, which is so for nearly every file at each start."""
    rule = rule_rows.find_rule(connection, path, scope)
    if rule is None or rule.has_news:
        return False
    return rule_rows.source_of(connection, rule.id)[0] == text


def _folder_of(path: Path, folders: Sequence[RuleFolder]) -> RuleFolder | None:
    inside = [folder for folder in folders if path.is_relative_to(folder.path)]
    return max(inside, key=lambda folder: len(folder.path), default=None)


def _parsed(path: str, text: str) -> tuple[RuleDocument, int]:
    return parse(path, text), count_tokens(text)


def _counted(document: RuleDocument) -> IngestionReport:
    warnings = tuple(
        f"{document.path}, line {note.line}: {note.message}"
        if note.line
        else f"{document.path}: {note.message}"
        for note in document.notes
        if note.is_warning
    )
    ids = [str(number) for number in range(len(document.directives))]
    return IngestionReport(
        rules=1,
        sections=len(document.sections),
        directives=len(document.directives),
        patterns=sum(len(d.examples) + len(d.anti_patterns) for d in document.directives),
        relations=len(structure(document, "rule", ids)),
        warnings=warnings,
    )


def total(one: IngestionReport, other: IngestionReport) -> IngestionReport:
    """Return two reports as one."""
    add: Callable[[str], int] = lambda name: getattr(one, name) + getattr(other, name)  # noqa: E731
    return IngestionReport(
        rules=add("rules"),
        sections=add("sections"),
        directives=add("directives"),
        patterns=add("patterns"),
        relations=add("relations"),
        warnings=(*one.warnings, *other.warnings)[:MOST_WARNINGS],
        errors=(*one.errors, *other.errors),
        unchanged=add("unchanged"),
    )
