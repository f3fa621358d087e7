"""Days, gaps and facts of conversations as people say them."""

from datetime import date, datetime, timedelta

from kmem_desktop.domain.sessions.browsing import SessionRow
from kmem_desktop.domain.sessions.conversations import Bullet, BulletKind
from kmem_desktop.domain.sessions.recall import SessionState
from kmem_desktop.gui.wording import counted, when

STATES = {
    SessionState.ACTIVE: "Active",
    SessionState.SUMMARIZED: "Summarised",
    SessionState.ARCHIVED: "Archived",
}
NO_PROJECT = "No project"
LEAST_GAP = timedelta(hours=1)
"""A shorter pause between two turns is not worth a line."""
_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_MONTHS = (
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
)
_LABELS = {
    BulletKind.GOAL: "Goal",
    BulletKind.DECISION: "Decided",
    BulletKind.QUESTION: "Still open",
    BulletKind.FILES: "Files",
    BulletKind.COMMANDS: "Commands",
}


def day_words(day: date, today: date) -> str:
    """Return a day as the heading of a group: "Today", "Thursday, 19 November"."""
    age = (today - day).days
    if age == 0:
        return "Today"
    if age == 1:
        return "Yesterday"
    words = f"{_DAYS[day.weekday()]}, {day.day} {_MONTHS[day.month - 1]}"
    return words if day.year == today.year else f"{words} {day.year}"


def clock(moment: datetime) -> str:
    """Return the time of the day here."""
    return f"{moment.astimezone():%H:%M}"


def day_and_clock(moment: datetime, now: datetime | None = None) -> str:
    """Return when something was said: "18:04" today, "3 May, 18:04" before."""
    local = moment.astimezone()
    present = (now or datetime.now(tz=local.tzinfo)).astimezone()
    if local.date() == present.date():
        return clock(moment)
    day = f"{local.day} {_MONTHS[local.month - 1][:3]}"
    year = "" if local.year == present.year else f" {local.year}"
    return f"{day}{year}, {clock(moment)}"


def gap_words(before: datetime, after: datetime) -> str:
    """Return how long nothing was said: "14 hours later"; empty for a short while."""
    gap = after - before
    if gap < LEAST_GAP:
        return ""
    hours = round(gap.total_seconds() / 3600)
    if hours < 36:
        return f"{counted(hours, 'hour')} later"
    days = round(hours / 24)
    if days < 14:
        return f"{counted(days, 'day')} later"
    if days < 60:
        return f"{counted(round(days / 7), 'week')} later"
    if days < 700:
        return f"{counted(round(days / 30.4), 'month')} later"
    return f"{counted(round(days / 365), 'year')} later"


def row_words(row: SessionRow) -> str:
    """Return the last line of a row: how long it is, who stored it, what it belongs to."""
    parts = [counted(row.entry_count, "turn"), row.client, row.project, ", ".join(row.tags[:4])]
    if row.position is not None:
        parts[0] = f"turn {row.position + 1} of {row.entry_count:,}"
    return " · ".join(part for part in parts if part)


def spoken_row(row: SessionRow) -> str:
    """Return a row as a screen reader says it."""
    state = f", {STATES[row.state].lower()}" if row.state is SessionState.ARCHIVED else ""
    pinned = ", pinned" if row.is_pinned else ""
    return f"{row.title}. {row_words(row)}{pinned}{state}, {when(row.last_active)}"


def span_words(first: datetime, last: datetime) -> str:
    """Return from when to when something went on: "3 May", "1 to 3 May"."""
    start, end = first.astimezone(), last.astimezone()
    if start.date() == end.date():
        return _day(end)
    if (start.year, start.month) == (end.year, end.month):
        return f"{start.day} to {_day(end)}"
    return f"{_day(start)} to {_day(end)}"


def _day(moment: datetime) -> str:
    words = f"{moment.day} {_MONTHS[moment.month - 1][:3]}"
    return words if moment.year == datetime.now().astimezone().year else f"{words} {moment.year}"


def bullet_label(bullet: Bullet) -> str:
    """Return what a statement of a summary is, where its words do not say so themselves."""
    label = _LABELS.get(bullet.kind, "")
    return "" if bullet.text.casefold().startswith(label.casefold() or "\0") else label


def turn_words(position: int) -> str:
    """Return a turn as people number it, from 1."""
    return f"turn\u00a0{position + 1}"
