"""A session's life: summarised when long, archived when idle, deleted only if the user wants it."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from kmem_desktop.domain.sessions.conversations import Summary, SummaryFormat
from kmem_desktop.domain.sessions.recall import SessionFacts, SessionState
from kmem_desktop.sessions.lifecycle import (
    LifecycleRules,
    SessionStep,
    needs_summary,
    steps_due,
)

NOW = datetime(2026, 11, 22, 12, tzinfo=UTC)
FRESH = SessionFacts(
    id=1,
    uuid="5f0d5c3e-0000-4000-8000-000000000001",
    title="Releases",
    project="",
    tags=(),
    state=SessionState.ACTIVE,
    client="a client",
    created_at=NOW - timedelta(days=500),
    last_active=NOW,
    entry_count=10,
    token_count=100,
)
ARCHIVED = replace(
    FRESH,
    last_active=NOW - timedelta(days=120),
    state=SessionState.ARCHIVED,
    archived_at=NOW - timedelta(days=100),
)
DELETING = LifecycleRules(deletes_archived=True)


def _of_turns(count: int) -> Summary:
    return Summary(SummaryFormat.BULLET_POINTS, "- It works.", (), count)


@pytest.mark.parametrize(
    ("turns", "summarised", "expected"),
    [(20, None, False), (21, None, True), (30, 30, False), (31, 30, False), (33, 30, True)],
)
def test_a_session_is_summarised_past_twenty_turns(
    turns: int, summarised: int | None, expected: bool
) -> None:
    summary = None if summarised is None else _of_turns(summarised)
    facts = replace(FRESH, entry_count=turns, summary=summary)
    assert needs_summary(facts) is expected


def test_a_summary_is_stale_once_turns_were_added() -> None:
    assert not FRESH.is_stale
    assert not replace(FRESH, summary=_of_turns(10)).is_stale
    assert replace(FRESH, summary=_of_turns(9)).is_stale


def test_an_idle_session_is_archived_after_a_week_and_summarised_before() -> None:
    idle = replace(FRESH, last_active=NOW - timedelta(days=7))
    assert steps_due(idle, NOW) == (SessionStep.ARCHIVE,)
    assert steps_due(replace(idle, last_active=NOW - timedelta(days=6, hours=23)), NOW) == ()
    stale = replace(idle, entry_count=31, summary=_of_turns(30))
    assert steps_due(stale, NOW) == (SessionStep.SUMMARISE, SessionStep.ARCHIVE)


def test_nothing_is_deleted_unless_the_user_switched_it_on() -> None:
    assert steps_due(ARCHIVED, NOW) == ()
    assert steps_due(ARCHIVED, NOW, DELETING) == (SessionStep.DELETE,)


def test_an_archived_session_is_deleted_after_ninety_days_not_before() -> None:
    young = replace(ARCHIVED, archived_at=NOW - timedelta(days=89))
    assert steps_due(young, NOW, DELETING) == ()


def test_a_session_that_was_opened_again_is_not_deleted() -> None:
    opened = replace(ARCHIVED, last_active=NOW - timedelta(days=2))
    assert steps_due(opened, NOW, DELETING) == ()
    active = replace(ARCHIVED, state=SessionState.ACTIVE, last_active=NOW)
    assert steps_due(active, NOW, DELETING) == ()


def test_a_pinned_session_is_neither_archived_nor_deleted() -> None:
    idle = replace(FRESH, last_active=NOW - timedelta(days=400), is_pinned=True)
    assert steps_due(idle, NOW, DELETING) == ()
    assert steps_due(replace(ARCHIVED, is_pinned=True), NOW, DELETING) == ()
