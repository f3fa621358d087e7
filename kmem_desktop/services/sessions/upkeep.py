"""What is done for sessions by itself: archiving, summaries, digests, snapshots, deleting.

It begins some seconds after turns were added, after a start, and each hour, and works on one
session at a time, the last active first, while nobody uses the memory for a moment. After each step
it rests for a multiple of what the step took, so that thousands of imported sessions are summarised
in hours rather than at the cost of everything else. What is done is in the database: a restart goes
on from there. No model is loaded for it.

An imported session is as old as its last turn: one of last month is archived at once, and
summarised when its turn comes. Digests that somebody waits for are made first, and at once.
Archived sessions are deleted only if a person switched that on; they can still be restored, for as
long again as a session waits in the archive.
"""

import asyncio
import contextlib
import logging
import time
from collections.abc import Callable, Coroutine
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar

from kmem_desktop.config import Settings
from kmem_desktop.domain.changes import Noun, Origin, OriginKind
from kmem_desktop.domain.sessions.conversations import SummaryFormat
from kmem_desktop.domain.sessions.recall import SessionFacts, SessionState
from kmem_desktop.errors import KmemError, NotFoundError
from kmem_desktop.events import Change, ChangeFeed
from kmem_desktop.services.background import BackgroundTask
from kmem_desktop.services.sessions.digests import LEAST_TOKENS, MOST_NEWER, SessionDigests
from kmem_desktop.services.sessions.life import SessionLife
from kmem_desktop.services.sessions.recall import SessionRecall
from kmem_desktop.services.sessions.summaries import SessionSummaries
from kmem_desktop.sessions.lifecycle import LifecycleRules, SessionStep, steps_due
from kmem_desktop.sessions.salience import outline
from kmem_desktop.store.database import Database
from kmem_desktop.store.sessions import life as life_rows

log = logging.getLogger(__name__)

UPKEEP = Origin(OriginKind.UPKEEP, "kmem")
ARCHIVE_BATCH = 100
QUIET_S = 2.0
"""Nobody has used the memory for so long before a step is taken,"""
PATIENCE_S = 60.0
"""but this is waited for no longer."""
LOOK_EVERY_S = 3_600.0
REST = 4.0
"""A step is followed by so many times its length of rest."""

T = TypeVar("T")


def lifecycle_rules(settings: Settings) -> LifecycleRules:
    """Return what a person set of the life of sessions."""
    return LifecycleRules(
        archive_after_days=settings.archive_after_days,
        delete_after_days=settings.delete_after_days,
        deletes_archived=settings.deletes_archived_sessions,
    )


class SessionUpkeep:
    """Looks after sessions while nobody needs the computer for something else."""

    def __init__(
        self,
        database: Database,
        feed: ChangeFeed,
        recall: SessionRecall,
        life: SessionLife,
        digests: SessionDigests,
        summaries: SessionSummaries,
        rules: Callable[[], LifecycleRules],
    ) -> None:
        """Work on `database` by the rules that `rules` returns, and tell `feed`."""
        self._database = database
        self._feed = feed
        self._recall = recall
        self._life = life
        self._digests = digests
        self._summaries = summaries
        self._rules = rules
        self._news = digests.news
        self._settled = asyncio.Event()
        self._own_use = 0.0
        self._work = BackgroundTask()

    def start(self) -> None:
        """Begin to work in the background."""
        self._digests.is_kept_up = True
        self._work.begin(self._run(), forget=self._feed.subscribe(self._on_change))

    async def stop(self) -> None:
        """End the work; what is not done is done after the next start."""
        self._digests.is_kept_up = False
        await self._work.end()
        await self._life.stop()

    def _on_change(self, change: Change) -> None:
        is_own = change.origin is UPKEEP
        if not is_own and change.noun in (Noun.TURN, Noun.SESSION):
            self._settled.clear()
            self._news.set()

    async def settled(self) -> None:
        """Wait until everything that was due is done."""
        await self._settled.wait()

    async def _run(self) -> None:
        while True:
            try:
                await self.catch_up(datetime.now(UTC), in_haste=False)
            except KmemError as error:
                log.info("Sessions wait: %s", error.message)
            except Exception:
                log.exception("Looking after sessions failed")
            if not self._news.is_set():
                self._settled.set()
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(LOOK_EVERY_S):
                    await self._news.wait()
            self._news.clear()

    async def catch_up(self, now: datetime, *, in_haste: bool = True) -> None:
        """Do everything that is due.

        Args:
            now: The time.
            in_haste: Do not wait for a quiet moment, and do not rest.
        """
        rules = self._rules()
        if not self._digests.wanted:
            await self._wait_for_quiet(in_haste=in_haste)
            self._life.take_out()
            await self._as_own_use(self._archive(now, rules))
            await self._as_own_use(self._delete(now, rules))
        refused: set[str] = set()
        while (uuid := await self._as_own_use(self._next(now, rules, refused))) is not None:
            if uuid not in self._digests.wanted:
                await self._wait_for_quiet(in_haste=in_haste)
            started = time.monotonic()
            try:
                await self._as_own_use(self._look_after(uuid, now, rules))
            except NotFoundError:  # deleted meanwhile
                self._digests.wanted.pop(uuid, None)
            except KmemError as error:
                self._digests.wanted.pop(uuid, None)
                refused.add(uuid)
                log.info("A session waits: %s", error.message)
            if not in_haste and not self._digests.wanted:
                await self._rest(REST * (time.monotonic() - started))

    async def _rest(self, seconds: float) -> None:
        """Rest, unless somebody waits for a digest meanwhile."""
        self._news.clear()
        end = time.monotonic() + seconds
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                while not self._digests.wanted and time.monotonic() < end:
                    await self._news.wait()
                    self._news.clear()

    async def _wait_for_quiet(self, *, in_haste: bool) -> None:
        """Wait until nobody else has used the memory for a moment."""
        end = time.monotonic() + PATIENCE_S
        while not in_haste and not self._digests.wanted and time.monotonic() < end:
            used_at = self._database.used_at
            left = QUIET_S - (time.monotonic() - used_at)
            if used_at == self._own_use or left <= 0:
                self._own_use = used_at
                return
            await asyncio.sleep(min(left, QUIET_S) + 0.01)

    async def _as_own_use(self, work: Coroutine[Any, Any, T]) -> T:
        """Do some work; if nobody else used the memory before it, it is no reason to wait after."""
        is_quiet = self._database.used_at == self._own_use
        try:
            return await work
        finally:
            if is_quiet:
                self._own_use = self._database.used_at

    async def _archive(self, now: datetime, rules: LifecycleRules) -> None:
        before = now - timedelta(days=rules.archive_after_days)
        while True:
            found = await self._database.write(
                lambda c: life_rows.archive_idle(c, before, now, ARCHIVE_BATCH)
            )
            if not found:
                return
            self._feed.publish(Change(Noun.SESSION, tuple(found), UPKEEP))

    async def _delete(self, now: datetime, rules: LifecycleRules) -> None:
        if not rules.deletes_archived:
            return
        span = timedelta(days=rules.delete_after_days)
        due = await self._database.read(lambda c: life_rows.archived(c, now - span))
        for facts in due:
            if SessionStep.DELETE in steps_due(facts, now, rules):
                with contextlib.suppress(NotFoundError):
                    await self._life.delete(facts.uuid, UPKEEP, now)
        # Those that it deleted itself are kept for the same time once more.
        for deleted in await self._life.deleted():
            if deleted.deleted_by == UPKEEP.name and now - deleted.deleted_at >= span:
                await self._life.delete_for_good(deleted.uuid, UPKEEP)

    async def _next(self, now: datetime, rules: LifecycleRules, refused: set[str]) -> str | None:
        """Return the session to look after next, or None when all is done."""
        due = await self._digests.first_due(refused)
        if due is not None:
            return due

        def is_due(facts: SessionFacts) -> bool:
            return facts.uuid not in refused and SessionStep.SUMMARISE in steps_due(
                facts, now, rules
            )

        found = await self._database.read(lambda c: life_rows.first_to_summarise(c, is_due))
        return found.uuid if found else None

    async def _look_after(self, uuid: str, now: datetime, rules: LifecycleRules) -> None:
        """Make the digest, the summary and the snapshot of one session that are due."""
        is_wanted = uuid in self._digests.wanted
        facts, turns, kept = await self._recall.read(uuid)
        newer = facts.entry_count - (kept.digest.turn_count if kept else 0)
        is_fresh = kept is not None and 0 <= newer <= MOST_NEWER and not is_wanted
        needs_summary = SessionStep.SUMMARISE in steps_due(facts, now, rules) or (
            is_wanted and facts.summary is None
        )
        found = await asyncio.to_thread(outline, turns)
        if facts.token_count >= LEAST_TOKENS and not is_fresh:
            await self._digests.make(facts, turns, found)
        self._digests.wanted.pop(uuid, None)
        if needs_summary:
            style = facts.summary.format if facts.summary else SummaryFormat.BULLET_POINTS
            is_recent = facts.state is not SessionState.ARCHIVED
            summary = await self._summaries.in_background(found, style, is_recent=is_recent)
            await self._summaries.keep(facts.id, summary)
            self._feed.publish(Change(Noun.SESSION, (facts.id,), UPKEEP))
        if facts.state is not SessionState.ARCHIVED:
            await self._life.snapshot_if_grown(uuid)
