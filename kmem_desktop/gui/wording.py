"""Times, counts and changes as people say them."""

from datetime import datetime, timedelta

from kmem_desktop.domain.changes import Action, HistoryEntry, Noun, OriginKind
from kmem_desktop.domain.found import Row
from kmem_desktop.domain.knowledge import GLOBAL_SCOPE

YOU = "You"
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_NOUN_NAMES = {Noun.TURN: "Turn of a conversation", Noun.DIRECTIVE: "Rule"}
_VERBS = {
    Action.CREATED: "stored",
    Action.UPDATED: "changed",
    Action.DELETED: "forgot",
    Action.RESTORED: "brought back",
}


def counted(count: int, one: str, many: str = "") -> str:
    """Return "1 item", "1,204 items"."""
    return f"{count:,} {one if count == 1 else many or one + 's'}"


def when(moment: datetime, now: datetime | None = None) -> str:
    """Return a time as people say it: "just now", "14:02", "yesterday", "3 May", "3 May 2024"."""
    local = moment.astimezone()
    present = (now or datetime.now(tz=local.tzinfo)).astimezone()
    age = present - local
    if timedelta(0) <= age < timedelta(minutes=1):
        return "just now"
    days = (present.date() - local.date()).days
    if days == 0:
        return f"{local:%H:%M}"
    if days == 1:
        return "yesterday"
    day = f"{local.day} {_MONTHS[local.month - 1]}"
    return day if local.year == present.year else f"{day} {local.year}"


def exactly(moment: datetime) -> str:
    """Return a time in full, for tooltips."""
    local = moment.astimezone()
    return f"{local.day} {_MONTHS[local.month - 1]} {local.year}, {local:%H:%M:%S}"


def scope_name(scope: str) -> str:
    """Return a scope without its prefix; "everywhere" for the global one."""
    if scope == GLOBAL_SCOPE:
        return "everywhere"
    return scope.partition(":")[2] or scope


def from_whom(stored_by: str) -> str:
    """Return "from Claude Code", "from you"."""
    return "from you" if stored_by == YOU else f"from {stored_by}"


def by_whom(stored_by: str) -> str:
    """Return "by Claude Code", "by you"."""
    return "by you" if stored_by == YOU else f"by {stored_by}"


def row_facts(row: Row) -> str:
    """Return the last line of a row: what it is, where it holds, from whom."""
    if row.noun is Noun.ENTITY:
        return " · ".join(part for part in (capitalised(row.kind), row.detail) if part)
    if row.noun is Noun.TURN:
        other = "" if row.kind == row.stored_by else row.stored_by
        parts = (f"{row.kind}, {row.detail}", _project(row.scope), other)
        return " · ".join(part for part in parts if part)
    if row.noun is Noun.DIRECTIVE:
        parts = (capitalised(row.kind), row.detail, _project(row.scope))
        return " · ".join(part for part in parts if part)
    return " · ".join((capitalised(row.kind), scope_name(row.scope), from_whom(row.stored_by)))


def _project(scope: str) -> str:
    return "" if scope == GLOBAL_SCOPE else scope_name(scope)


def capitalised(text: str) -> str:
    """Return the text with its first letter large."""
    return text[:1].upper() + text[1:]


def quoted(text: str, longest: int = 60) -> str:
    """Return a text in quotation marks, cut where it is long."""
    return f"“{text if len(text) <= longest else text[: longest - 1].rstrip() + '…'}”"


def change_sentence(entry: HistoryEntry) -> str:
    """Return who did what: "Claude Code stored “Queue moved from Redis”"."""
    verb = _VERBS[entry.action]
    who = entry.origin.name
    if entry.origin.kind is OriginKind.IMPORT and entry.action is Action.CREATED:
        verb = "brought in"
    if entry.noun is Noun.OBSERVATION:
        what = f"an observation of {quoted(entry.title)}"
    elif entry.noun is Noun.RELATION:
        what = f"the relation {quoted(entry.title, 80)}"
    else:
        what = quoted(entry.title, 80)
    return f"{who} {verb} {what}"


def noun_name(noun: Noun) -> str:
    """Return what people call the noun."""
    return _NOUN_NAMES.get(noun, capitalised(noun.value))
