"""What is worked out about rules in the background: traits, relations, contradictions.

It begins when the vectors of changed directives are there, off the loop's thread, and a query
never waits for it: what is missing then is made for the few candidates of that query.
"""

import asyncio
import logging
from collections.abc import Sequence

from kmem_desktop.domain.changes import Noun
from kmem_desktop.domain.rule_library import StoredDirective
from kmem_desktop.domain.rules import RuleRelationKind, RuleStatus
from kmem_desktop.errors import KmemError
from kmem_desktop.events import Change, ChangeFeed
from kmem_desktop.rules import contradictions, relations
from kmem_desktop.search.meaning import Meaning
from kmem_desktop.services.background import BackgroundTask
from kmem_desktop.services.embedding import EmbeddingService
from kmem_desktop.services.rules.detecting import head
from kmem_desktop.services.rules.querying import traits_of
from kmem_desktop.store.connection import Connection
from kmem_desktop.store.database import Database
from kmem_desktop.store.rules import library as rule_rows
from kmem_desktop.store.rules import relations as rule_relations

log = logging.getLogger(__name__)

BATCH_COUNT = 200
QUIET_S = 1.0
"""A burst of changes, such as a folder that is read, is waited for."""

Relation = tuple[int, int, str, float, str]


class RuleRelations:
    """Works traits and relations out after each change of rules."""

    def __init__(self, database: Database, feed: ChangeFeed, embedding: EmbeddingService) -> None:
        """Work on `database`, hear of changes by `feed`, and compare by `embedding`."""
        self._database = database
        self._embedding = embedding
        self._news = asyncio.Event()
        self._news.set()
        self._settled = asyncio.Event()
        self._work = BackgroundTask()
        feed.subscribe(self._on_change)

    def _on_change(self, change: Change) -> None:
        if change.noun is Noun.DIRECTIVE:
            self._settled.clear()
            self._news.set()

    def start(self) -> None:
        """Begin to work in the background."""
        self._work.begin(self._run())

    async def stop(self) -> None:
        """End the work; what is not done is done after the next start."""
        await self._work.end()

    async def settled(self) -> None:
        """Wait until everything that is there now is worked out."""
        await self._settled.wait()

    async def _run(self) -> None:
        while True:
            await self._news.wait()
            self._news.clear()
            try:
                await self._embedding.settled()
                await self._work_out()
            except KmemError as error:
                log.info("Relations between rules wait: %s", error.message)
            except Exception:
                log.exception("Relations between rules could not be worked out")
            if not self._news.is_set():
                self._settled.set()
            await asyncio.sleep(QUIET_S)

    async def _work_out(self) -> None:
        # Nothing is asked of the model, which takes 100 MB, unless directives changed.
        stamp, known = await self._database.read(
            lambda c: (rule_rows.stamp(c) + head().version, rule_relations.worked_out(c))
        )
        if stamp in (known, head().version):
            return
        meaning = await self._embedding.meaning_of("rules")
        while await self._make_traits(meaning):
            pass
        stored = await self._database.read(_standing)
        found = [*await asyncio.to_thread(_related, stored, meaning), *await self._opposed(stored)]

        def keep(connection: Connection) -> None:
            rule_relations.replace_all(connection, found)
            if meaning is not None:  # else there is more to be found once meaning can be compared
                rule_relations.note_worked_out(connection, stamp)

        await self._database.write(keep)

    async def _opposed(self, stored: Sequence[StoredDirective]) -> list[Relation]:
        """Return what contradicts itself: words disagree, and the texts speak of the same."""
        statements = [_statement(each) for each in stored]
        suspected = await asyncio.to_thread(contradictions.suspects, statements)
        cosines = []
        for pair in suspected:
            one = await self._embedding.meaning_of(statements[pair.first].text)
            two = await self._embedding.meaning_of(statements[pair.second].text)
            cosines.append(float(one.question @ two.question) if one and two else 0.0)
        return [
            (int(each.first), int(each.second), rule_relations.CONTRADICTS, 1.0, each.reason)
            for each in contradictions.contradictions(statements, suspected, cosines)
        ]

    async def _make_traits(self, meaning: Meaning | None) -> int:
        version = head().version

        def make(connection: Connection) -> list[tuple[int, bytes]]:
            ids = rule_rows.without_traits(connection, version, BATCH_COUNT)
            stored = rule_rows.get_directives(connection, ids)
            vectors = meaning.vectors(ids) if meaning is not None else {}
            return [
                (i, traits_of(each, vectors.get(i)).astype("float16").tobytes())
                for i, each in stored.items()
            ]

        made = await self._database.read(make)
        if made:
            await self._database.write(lambda c: rule_rows.put_traits(c, made, version))
        return len(made)


def _standing(connection: Connection) -> list[StoredDirective]:
    ids = rule_rows.directive_ids(connection)
    stored = rule_rows.get_directives(connection, ids).values()
    return [each for each in stored if each.status is not RuleStatus.REJECTED]


def _statement(stored: StoredDirective) -> contradictions.Statement:
    return contradictions.Statement(
        id=str(stored.id),
        text=stored.directive.text,
        prohibits=stored.directive.prohibits,
        source=_source(stored),
        scope=frozenset(stored.rule.globs),
    )


def _source(stored: StoredDirective) -> str:
    return f"{stored.rule.id}#{stored.directive.section}"


def _related(stored: Sequence[StoredDirective], meaning: Meaning | None) -> list[Relation]:
    import numpy as np

    if meaning is None or not stored:
        return []
    known = meaning.vectors([each.id for each in stored])
    vectors = np.zeros((len(stored), len(meaning.question)), np.float32)
    for place, each in enumerate(stored):
        if each.id in known:
            vectors[place] = known[each.id]
    found: list[Relation] = []
    ids = [str(each.id) for each in stored]
    for relation in relations.related(ids, [_source(each) for each in stored], vectors):
        first, second = (int(end.split(":")[1]) for end in (relation.source, relation.target))
        found.append((first, second, RuleRelationKind.RELATED_TO.value, relation.weight, ""))
    return found
