"""When a session is summarised, archived and deleted: decisions, given the facts and the clock.

References:
    Seed 004, "Auto-Summarization Trigger" and the configuration's `session`; deletion is off unless
    the user switched it on: losing memory silently is what users hate.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from kmem_desktop.domain.sessions.recall import SessionFacts, SessionState

TURNS_BEFORE_SUMMARY = 20
ARCHIVE_AFTER_DAYS = 7
DELETE_AFTER_DAYS = 90


class SessionStep(StrEnum):
    """What is due for a session."""

    SUMMARISE = "summarise"
    ARCHIVE = "archive"
    DELETE = "delete"


@dataclass(frozen=True, slots=True)
class LifecycleRules:
    """What the user has set.

    Attributes:
        turns_before_summary: A session with more turns is summarised.
        archive_after_days: Idle for so long, it is archived.
        delete_after_days: Archived for so long, it is deleted, if that is on.
        deletes_archived: Whether archived sessions are deleted at all.
    """

    turns_before_summary: int = TURNS_BEFORE_SUMMARY
    archive_after_days: int = ARCHIVE_AFTER_DAYS
    delete_after_days: int = DELETE_AFTER_DAYS
    deletes_archived: bool = False


DEFAULT_RULES = LifecycleRules()


def needs_summary(facts: SessionFacts, rules: LifecycleRules = DEFAULT_RULES) -> bool:
    """Return whether a session is to be summarised: it is long without a summary, or that is stale.

    A stale summary is made anew once as many turns were added as a tenth of those it has read, so
    that a long session is not summarised after each turn; when the session is archived, at once.
    """
    if facts.summary is None:
        return facts.entry_count > rules.turns_before_summary
    added = facts.entry_count - facts.summary.turn_count
    return added > 0 and (
        facts.state is SessionState.ARCHIVED or added >= max(1, facts.summary.turn_count // 10)
    )


def is_idle(facts: SessionFacts, now: datetime, rules: LifecycleRules = DEFAULT_RULES) -> bool:
    """Return whether a session was not continued for so long that it is to be archived."""
    idle = now - facts.last_active
    return (
        not facts.is_pinned
        and facts.state is not SessionState.ARCHIVED
        and idle >= timedelta(days=rules.archive_after_days)
    )


def may_be_deleted(
    facts: SessionFacts, now: datetime, rules: LifecycleRules = DEFAULT_RULES
) -> bool:
    """Return whether an archived session's time is over, and the user wants such ones deleted."""
    if not rules.deletes_archived or facts.is_pinned or facts.archived_at is None:
        return False
    since = max(facts.archived_at, facts.last_active)
    return facts.state is SessionState.ARCHIVED and now - since >= timedelta(
        days=rules.delete_after_days
    )


def steps_due(
    facts: SessionFacts, now: datetime, rules: LifecycleRules = DEFAULT_RULES
) -> tuple[SessionStep, ...]:
    """Return what is due for a session, in the order in which to do it."""
    if may_be_deleted(facts, now, rules):
        return (SessionStep.DELETE,)
    steps: list[SessionStep] = []
    archives = is_idle(facts, now, rules)
    is_due = needs_summary(facts, rules) or (archives and facts.is_stale)
    if is_due:
        steps.append(SessionStep.SUMMARISE)
    if archives:
        steps.append(SessionStep.ARCHIVE)
    return tuple(steps)
