"""What the memory is made of, what is asked of it, and what in it may no longer hold."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from kmem_desktop.domain.library.reports import (
    ANALYSIS_DAYS,
    USUAL_ANALYSIS_DAYS,
    Aged,
    Analysis,
    Pair,
)
from kmem_desktop.services.library.duplicates import alike
from kmem_desktop.services.validation import Problems, normalise_scope, scope_problem
from kmem_desktop.store.connection import Connection
from kmem_desktop.store.database import Database
from kmem_desktop.store.library import figures
from kmem_desktop.store.library import tags as tag_rows

SHOWN = 10
MOST_COMPARED = 10_000
"""So many items, the newest, are compared with each other."""
STALE_AFTER_DAYS = 365


@dataclass(frozen=True, slots=True)
class _Asked:
    scope: str | None
    days: int
    since: datetime
    stale_before: datetime


class AnalysisService:
    """Tells what the memory is made of."""

    def __init__(self, database: Database) -> None:
        """Read from `database`."""
        self._database = database

    async def analyse(
        self, *, scope: str | None = None, days: int = USUAL_ANALYSIS_DAYS
    ) -> Analysis:
        """Return the memory in figures.

        Args:
            scope: Only the knowledge of this scope; None for all.
            days: How far back searches and activity are looked at.

        Raises:
            InvalidInputError: A field is out of its limits.
        """
        asked = _checked(scope, days)
        texts = await self._database.read(lambda c: figures.texts(c, asked.scope, MOST_COMPARED))
        # In a thread of its own, and beside no snapshot: it takes a second where there are many.
        pairs = await asyncio.to_thread(_pairs, texts)
        return await self._database.read(lambda c: _analysis(c, asked, pairs))


def _checked(scope: str | None, days: int) -> _Asked:
    problems = Problems()
    tidy = normalise_scope(scope) if scope else None
    if tidy:
        problems.check("scope", lambda: scope_problem(tidy))
    low, high = ANALYSIS_DAYS
    if not low <= days <= high:
        problems.add("days", f"days must be from {low} to {high:,} (it is {days}).")
    problems.raise_if_any()
    now = datetime.now(UTC)
    return _Asked(tidy, days, now - timedelta(days=days), now - timedelta(days=STALE_AFTER_DAYS))


def _pairs(texts: Sequence[tuple[str, str, str]]) -> tuple[Pair, ...]:
    found = alike([f"{title} {content}" for _, title, content in texts], SHOWN)
    return tuple(
        Pair(
            (texts[first][0], texts[second][0]),
            (texts[first][1], texts[second][1]),
            round(likeness, 4),
        )
        for first, second, likeness in found
    )


def _analysis(connection: Connection, asked: _Asked, pairs: tuple[Pair, ...]) -> Analysis:
    return Analysis(
        scope=asked.scope or "",
        days=asked.days,
        totals=figures.totals(connection),
        by_category=figures.items_by(connection, "category", asked.scope),
        by_scope=figures.items_by(connection, "scope", asked.scope),
        by_client=figures.items_by(connection, "client", asked.scope),
        by_month=figures.items_by(connection, "month", asked.scope),
        tags=tuple(tag_rows.counts(connection, scope=asked.scope)[: 2 * SHOWN]),
        referenced=tuple(figures.most_referenced(connection, asked.scope, SHOWN)),
        entities=tuple(figures.most_connected(connection, SHOWN)),
        sessions=figures.session_figures(connection, asked.since),
        asked=tuple(figures.searches(connection, asked.since, SHOWN, unanswered=False)),
        unanswered=tuple(figures.searches(connection, asked.since, SHOWN, unanswered=True)),
        stale=_stale(connection, asked),
        alike=pairs,
        contradictions=tuple(figures.contradictions(connection, asked.scope, SHOWN)),
    )


def _stale(connection: Connection, asked: _Asked) -> tuple[Aged, ...]:
    """Return what was replaced, then what nobody touched for long."""
    replaced = figures.superseded(connection, asked.scope, SHOWN)
    known = {item.uuid for item in replaced}
    old = figures.untouched(connection, asked.scope, asked.stale_before, 2 * SHOWN)
    return (*replaced, *[item for item in old if item.uuid not in known][:SHOWN])
