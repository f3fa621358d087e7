"""A session's life: summarised when long, archived when idle, deleted only if the user wants it."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from kmem_desktop.domain.sessions.conversations import SessionStatus
from kmem_desktop.sessions.lifecycle import (
    LifecycleRules,
    SessionFacts,
    SessionStep,
    is_summary_stale,
    needs_summary,
    steps_due,
)

NOW = datetime(2026, 11, 22, 12, tzinfo=UTC)
FRESH = SessionFacts(turn_count=10, last_active=NOW)
ARCHIVED = SessionFacts(
    turn_count=10,
    last_active=NOW - timedelta(days=120),
    status=SessionStatus.ARCHIVED,
    archived_at=NOW - timedelta(days=100),
)
DELETING = LifecycleRules(deletes_archived=True)


@pytest.mark.parametrize(
    ("turns", "summarised", "expected"),
    [(20, None, False), (21, None, True), (30, 30, False), (31, 30, False), (33, 30, True)],
)
def test_a_session_is_summarised_past_twenty_turns(
    turns: int, summarised: int | None, expected: bool
) -> None:
    facts = replace(FRESH, turn_count=turns, summarised_turns=summarised)
    assert needs_summary(facts) is expected


def test_a_summary_is_stale_once_turns_were_added() -> None:
    assert not is_summary_stale(FRESH)
    assert not is_summary_stale(replace(FRESH, summarised_turns=10))
    assert is_summary_stale(replace(FRESH, summarised_turns=9))


def test_an_idle_session_is_archived_after_a_week_and_summarised_before() -> None:
    idle = replace(FRESH, last_active=NOW - timedelta(days=7))
    assert steps_due(idle, NOW) == (SessionStep.ARCHIVE,)
    assert steps_due(replace(idle, last_active=NOW - timedelta(days=6, hours=23)), NOW) == ()
    stale = replace(idle, turn_count=31, summarised_turns=30)
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
    active = replace(ARCHIVED, status=SessionStatus.ACTIVE, last_active=NOW)
    assert steps_due(active, NOW, DELETING) == ()


def test_a_pinned_session_is_neither_archived_nor_deleted() -> None:
    idle = replace(FRESH, last_active=NOW - timedelta(days=400), is_pinned=True)
    assert steps_due(idle, NOW, DELETING) == ()
    assert steps_due(replace(ARCHIVED, is_pinned=True), NOW, DELETING) == ()
