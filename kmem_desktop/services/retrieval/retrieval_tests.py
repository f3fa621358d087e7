"""Retrieval tests: a question that must find an item, run on demand, and after what may change it.

A question is asked as `search_knowledge` asks it: of everything that is remembered, or of one scope
and what is global. The place is the item's in that answer; it counts as found among the first so
many. A test follows its item by its UUID.
"""

import asyncio
import logging
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import cached_property
from importlib.metadata import version

from kmem_desktop.domain.absence import ExpectedItem
from kmem_desktop.domain.changes import Noun
from kmem_desktop.domain.found import EntryQuery
from kmem_desktop.domain.retrieval_tests import (
    AMONG_FIRST,
    MOST_TESTS,
    QUESTION_LENGTH,
    USUAL_AMONG_FIRST,
    RemovedTest,
    Result,
    RetrievalTest,
    Situation,
    State,
    TestRun,
)
from kmem_desktop.errors import DuplicateError, InvalidInputError, KmemError, NotFoundError
from kmem_desktop.services.background import BackgroundTask
from kmem_desktop.services.embedding import EmbeddingService
from kmem_desktop.services.retrieval import targets
from kmem_desktop.services.retrieval.absence import place_in
from kmem_desktop.services.retrieval.questions import prepare
from kmem_desktop.services.sessions.exchanges import SessionService
from kmem_desktop.services.sessions.redacting import SecretFilter
from kmem_desktop.services.validation import Problems, normalise_scope, scope_problem
from kmem_desktop.store import history as history_rows
from kmem_desktop.store.connection import Connection
from kmem_desktop.store.database import Database
from kmem_desktop.store.retrieval import identities
from kmem_desktop.store.retrieval import retrieval_tests as test_rows
from kmem_desktop.store.retrieval.identities import Identity
from kmem_desktop.text import one_line

log = logging.getLogger(__name__)

KEPT_BY = "You"
"""Only a person keeps tests."""
FIRST_LOOK_S = 10.0
"""So long after the start it is looked whether tests are due: commands are over by then."""
LOOK_AGAIN_S = 30.0
PAUSE_S = 0.05
"""Between two tests that run by themselves, so that nobody waits for them."""


class RetrievalTestService:
    """Keeps, runs and lists the retrieval tests."""

    def __init__(
        self,
        database: Database,
        embedding: EmbeddingService,
        sessions: SessionService,
    ) -> None:
        """Ask `database` through `embedding` and `sessions`."""
        self._database = database
        self._embedding = embedding
        self._sessions = sessions
        self._work = BackgroundTask()
        self._listeners: list[Callable[[], None]] = []
        self._seen: Situation | None = None

    @cached_property
    def program(self) -> str:
        """The version of kmem that runs."""
        return version("kmem")

    def situation(self) -> Situation:
        """Return what a test that is run now is run with."""
        return Situation(self.program, self._embedding.serving)

    def start(self) -> None:
        """Begin to look from time to time whether tests are due."""
        self._work.begin(self._watch())

    async def stop(self) -> None:
        """End that."""
        await self._work.end()

    def listen(self, listener: Callable[[], None]) -> Callable[[], None]:
        """Call `listener` whenever tests were kept, removed, changed or run.

        Returns:
            A function that ends it.
        """
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)

    async def tests(self) -> list[RetrievalTest]:
        """Return all tests: red ones first, then those whose item is gone, then the others."""
        order = {State.RED: 0, State.GREY: 1, State.NEW: 2, State.GREEN: 3}
        tests = await self._database.read(_tests)
        return sorted(tests, key=lambda test: (order[test.state], -test.id))

    async def add(
        self,
        question: str,
        key: int | str,
        *,
        scope: str = "",
        among_first: int = USUAL_AMONG_FIRST,
    ) -> RetrievalTest:
        """Keep a test and run it once.

        Args:
            question: What is asked, 1 to 2,000 characters.
            key: The integer id or UUID of the item that must be found.
            scope: Where it is asked; empty for everything.
            among_first: So far down the item may stand, 1 to 50.

        Raises:
            InvalidInputError: A field is out of its limits, or there are too many tests.
            DuplicateError: There is this test already; `details` names it.
            NotFoundError: There is no such item.
        """
        secrets = SecretFilter(KEPT_BY)
        asked, place = one_line(secrets.text(question)), normalise_scope(scope)
        _check(asked, place, among_first)
        now = datetime.now(UTC)

        def work(connection: Connection) -> int:
            item = _require_item(connection, key)
            known = test_rows.find(connection, asked, place, item.uuid)
            if known is not None:
                raise DuplicateError(
                    "There is this test already.",
                    hint="Change its place instead.",
                    details={"existingId": known, "duplicateType": "test"},
                )
            if test_rows.count(connection) >= MOST_TESTS:
                raise InvalidInputError(
                    f"There are {MOST_TESTS:,} tests, as many as there may be.",
                    hint="Remove one first.",
                    details=_field("tests"),
                )
            secrets.note(connection, now)
            return test_rows.insert(connection, asked, place, item.uuid, among_first, now)

        test_id = await self._database.write(work)
        return await self.run_one(test_id)

    async def remove(self, key: int | str) -> RemovedTest:
        """Remove a test by its number or UUID; `put_back` undoes it.

        Raises:
            NotFoundError: There is no such test.
        """

        def work(connection: Connection) -> RemovedTest:
            test = _require_test(connection, key)
            kept = tuple(test_rows.results(connection, test.id))
            test_rows.delete(connection, test.id)
            return RemovedTest(test, kept)

        removed = await self._database.write(work)
        self._tell()
        return removed

    async def put_back(self, removed: RemovedTest) -> None:
        """Undo the removal of a test.

        Raises:
            DuplicateError: Somebody has kept the same test again.
        """

        def work(connection: Connection) -> None:
            test = removed.test
            if test_rows.find(connection, test.question, test.scope, test.item.uuid) is not None:
                raise DuplicateError("There is this test again.")
            test_rows.restore(connection, test, removed.results)

        await self._database.write(work)
        self._tell()

    async def set_among_first(self, key: int | str, among_first: int) -> RetrievalTest:
        """Change how far down the item may stand, and run the test.

        Raises:
            InvalidInputError: It is out of its limits.
            NotFoundError: There is no such test.
        """
        problems = Problems()
        _check_among_first(problems, among_first)
        problems.raise_if_any()

        def work(connection: Connection) -> int:
            test = _require_test(connection, key)
            test_rows.set_among_first(connection, test.id, among_first)
            return test.id

        return await self.run_one(await self._database.write(work))

    async def run_one(self, key: int | str) -> RetrievalTest:
        """Run one test and return it as it stands now.

        Raises:
            NotFoundError: There is no such test.
        """
        return (await self.run_these([key])).tests[0]

    async def run_these(
        self,
        keys: Sequence[int | str] | None = None,
        progress: Callable[[int, int], None] | None = None,
    ) -> TestRun:
        """Run some tests, or all.

        Args:
            keys: Numbers or UUIDs; None for all.
            progress: Is told after each test how many are done, and of how many.

        Raises:
            NotFoundError: There is no test with one of the keys; none was run.
        """

        def chosen(connection: Connection) -> list[RetrievalTest]:
            if keys is None:
                return _tests(connection)
            return [_require_test(connection, key) for key in keys]

        tests = await self._database.read(chosen)
        ran = await self._run(tests, pause_s=0.0, is_told=True, progress=progress)
        self._tell()
        return ran

    async def run_due(self) -> TestRun:
        """Run the tests that were last run by another version of kmem or with another model."""
        now = self.situation()
        tests = await self._database.read(lambda c: _tests(c, test_rows.due_ids(c, now)))
        alive = [test for test in tests if test.item.id]
        ran = await self._run(alive, pause_s=PAUSE_S, is_told=False)
        if alive:
            self._tell()
        return ran

    async def turned_red(self) -> list[RetrievalTest]:
        """Return the tests that turned red by themselves and that nobody was told of yet."""
        return await self._database.read(lambda c: _tests(c, test_rows.untold_ids(c)))

    async def note_told(self) -> None:
        """Note that a person was told of those."""
        await self._database.write(test_rows.mark_told)

    async def _run(
        self,
        tests: Sequence[RetrievalTest],
        *,
        pause_s: float,
        is_told: bool,
        progress: Callable[[int, int], None] | None = None,
    ) -> TestRun:
        ran = []
        turned_red = []
        for number, test in enumerate(tests, start=1):
            result = await self._result(test)
            after = test
            if result is not None:
                is_news = not result.is_found and test.state is State.GREEN
                after = await self._note(test, result, is_told=is_told or not is_news)
                if is_news:
                    turned_red.append(after)
            ran.append(after)
            if progress is not None:
                progress(number, len(tests))
            await asyncio.sleep(pause_s)
        return TestRun(tuple(ran), tuple(turned_red))

    async def _note(self, test: RetrievalTest, result: Result, *, is_told: bool) -> RetrievalTest:
        def work(connection: Connection) -> list[RetrievalTest]:
            # It may have been removed while its question was asked.
            if test_rows.rows(connection, [test.id]):
                test_rows.add_result(connection, test.id, result, is_told=is_told)
            return _tests(connection, [test.id])

        noted = await self._database.write(work)
        return noted[0] if noted else replace(test, last=result)

    async def _result(self, test: RetrievalTest) -> Result | None:
        """Ask a test's question; None where its item is gone."""
        query = EntryQuery(
            test.question, limit=test.among_first, scope=test.scope or None, explain=False
        )
        prepared = await prepare(query, self._embedding, self._sessions)

        def work(connection: Connection) -> tuple[bool, int | None]:
            item = identities.of_uuids(connection, [test.item.uuid]).get(test.item.uuid)
            if item is None:
                return False, None
            return True, place_in(connection, prepared, item, prepared.breadth)

        is_there, place = await self._database.read(work)
        now = datetime.now(UTC)
        if not is_there:
            return None
        is_found = place is not None and place <= test.among_first
        return Result(is_found, place, now, now, self.situation())

    async def _watch(self) -> None:
        """Run what is due after an upgrade or a change of the model, when vectors have settled."""
        await asyncio.sleep(FIRST_LOOK_S)
        while True:
            try:
                if self.situation() != self._seen and self._is_settled():
                    now = self.situation()
                    await self.run_due()
                    self._seen = now
            except KmemError as error:
                log.warning("The retrieval tests could not be run: %s", error.message)
            except Exception:
                log.exception("The retrieval tests could not be run")
            await asyncio.sleep(LOOK_AGAIN_S)

    def _is_settled(self) -> bool:
        if not self._embedding.is_available:
            return True
        progress = self._embedding.progress
        return bool(self._embedding.serving) and progress.done >= progress.total

    def _tell(self) -> None:
        for listener in list(self._listeners):
            listener()


def _tests(connection: Connection, ids: Iterable[int] | None = None) -> list[RetrievalTest]:
    rows = test_rows.rows(connection, ids)
    found = identities.of_uuids(connection, [row.item_uuid for row in rows])
    results = test_rows.last_two(connection, [row.id for row in rows])
    tests = []
    for row in rows:
        last_two = results.get(row.id, [])
        tests.append(
            RetrievalTest(
                id=row.id,
                uuid=row.uuid,
                question=row.question,
                scope=row.scope,
                item=_item(connection, row.item_uuid, found.get(row.item_uuid)),
                among_first=row.among_first,
                created_at=row.created_at,
                last=last_two[0] if last_two else None,
                before=last_two[1] if len(last_two) > 1 else None,
            )
        )
    return tests


def _item(connection: Connection, uuid: str, identity: Identity | None) -> ExpectedItem:
    """Return the item of a test; of one that is gone what the history still says."""
    if identity is not None:
        return targets.item_of(identity)
    changes = history_rows.of_item(connection, uuid)
    if not changes:
        return ExpectedItem(0, uuid, Noun.KNOWLEDGE, "")
    return ExpectedItem(0, uuid, changes[0].noun, changes[0].title)


def _require_item(connection: Connection, key: int | str) -> Identity:
    named = targets.find(connection, key)
    if not isinstance(named, Identity):
        raise NotFoundError(
            "The item was deleted.", hint="Undo that first.", details={"id": str(key)[:80]}
        )
    return named


def _require_test(connection: Connection, key: int | str) -> RetrievalTest:
    text = str(key).strip().lower()
    if text.isdecimal() and len(text) < len(str(targets.LARGEST_ID)):
        test_id: int | None = int(text)
    else:
        test_id = test_rows.id_of_uuid(connection, text)
    tests = [] if test_id is None else _tests(connection, [test_id])
    if not tests:
        raise NotFoundError(f"There is no test {text[:80]}.", details={"id": text[:80]})
    return tests[0]


def _check(question: str, scope: str, among_first: int) -> None:
    problems = Problems()
    low, high = QUESTION_LENGTH
    if not low <= len(question) <= high:
        problems.add(
            "question",
            f"question must be {low} to {high:,} characters (it has {len(question):,}).",
        )
    if scope:
        problems.check("scope", lambda: scope_problem(scope))
    _check_among_first(problems, among_first)
    problems.raise_if_any()


def _check_among_first(problems: Problems, among_first: int) -> None:
    low, high = AMONG_FIRST
    if not low <= among_first <= high:
        problems.add("within", f"within must be from {low} to {high} (it is {among_first}).")


def _field(name: str) -> dict[str, list[dict[str, str]]]:
    message = f"at most {MOST_TESTS:,}"
    return {"errors": [{"field": name, "message": message}]}
