"""What the inbox says: where something was said, how sure it is, and what became of it."""

from kmem_desktop.domain.sessions.conversations import Role
from kmem_desktop.domain.sessions.inbox import (
    BulkDecision,
    Decision,
    InboxState,
    Proposal,
    TakenBack,
)
from kmem_desktop.gui.wording import capitalised, counted, quoted, scope_name

_SURE = 0.8
_LIKELY = 0.65
_TITLE = 60

ABOUT = "Taken from your conversations, not used until you say so."


def how_sure(score: float) -> str:
    """Return in a word how sure it is that something is worth keeping."""
    if score >= _SURE:
        return "quite sure"
    return "likely" if score >= _LIKELY else "maybe not worth keeping"


def percent(share: float) -> str:
    """Return "94 %"; what is not quite the same is never told as 100 %."""
    return f"{min(99, round(share * 100))} %"


def who_said(proposal: Proposal) -> str:
    """Return who said it: "You said", "Assistant concluded"."""
    return "You said" if proposal.role is Role.USER else "Assistant concluded"


def where_said(proposal: Proposal) -> str:
    """Return in which conversation it was said, in a sentence."""
    who = "You said it" if proposal.role is Role.USER else "The assistant concluded it"
    again = len(proposal.also_positions)
    often = f", and {counted(again, 'time')} more" if again else ""
    return f"{who} in {quoted(proposal.session_title, _TITLE)}{often}."


def row_words(proposal: Proposal) -> str:
    """Return the second line of a row: what is most worth knowing before deciding."""
    if proposal.like_uuid:
        return f"Says nearly the same as {quoted(proposal.like_title, _TITLE)}."
    return where_said(proposal)


def row_facts(proposal: Proposal) -> str:
    """Return the last line of a row."""
    parts = [who_said(proposal), proposal.category.value, scope_name(proposal.scope)]
    if proposal.like_uuid:
        parts.append(f"{percent(proposal.likeness)} alike: merge?")
    elif proposal.score < _SURE:
        parts.append(how_sure(proposal.score))
    return " \u00b7 ".join(parts)


def spoken_row(proposal: Proposal) -> str:
    """Return what a screen reader says of a row."""
    return f"{proposal.title}. {row_words(proposal)} {capitalised(row_facts(proposal))}"


def tooltip(proposal: Proposal) -> str:
    """Return the numbers behind a row's words."""
    return f"{capitalised(how_sure(proposal.score))}: {proposal.score:.2f} of 1."


def head_words(state: InboxState | None) -> str:
    """Return the sentence below the page's title."""
    if state is None or (not state.left and not state.is_full):
        return ABOUT
    if state.is_full:
        return f"{ABOUT} So much waits that older conversations are left for later."
    return f"{ABOUT} {_left(state.left)}"


def _left(count: int) -> str:
    if count == 1:
        return "1 conversation is still to be looked through."
    return f"{count:,} conversations are still to be looked through."


def empty_words(state: InboxState | None, *, has_decided: bool) -> tuple[str, str]:
    """Return title and sentence for an inbox in which nothing waits."""
    if state is not None and state.left:
        return "Looking through your conversations", (
            f"{_left(state.left)} Decisions, fixes and preferences that are worth keeping appear"
            " here by themselves."
        )
    words = (
        "When a conversation has rested for five minutes, decisions, fixes and preferences in it"
        " are proposed here. None of it is used until you say so."
    )
    if has_decided:
        return "That was all", f"{words} Z takes your last decision back."
    return "Nothing waits for you", words


def decided_words(decision: Decision, title: str) -> str:
    """Return what was just decided."""
    name = quoted(title)
    if decision is Decision.ACCEPTED:
        return f"Accepted {name}. Assistants find it from now on."
    if decision is Decision.MERGED:
        return f"Added to {name}."
    return f"Dropped {name}. It does not come again."


def bulk_words(outcome: BulkDecision, decision: Decision) -> str:
    """Return what was decided for a whole conversation."""
    verb = "Accepted" if decision is Decision.ACCEPTED else "Dropped"
    words = f"{verb} {counted(outcome.done, 'proposal')} of this conversation."
    if outcome.left:
        first, reason = outcome.left[0]
        words += f" {counted(len(outcome.left), 'proposal')} still waits: {quoted(first)}. {reason}"
    return words


def taken_back_words(back: TakenBack) -> str:
    """Return what waits again."""
    if len(back.uuids) > 1:
        return f"{counted(len(back.uuids), 'proposal')} wait for you again."
    return f"{quoted(back.title)} waits for you again."
