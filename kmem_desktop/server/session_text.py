"""A conversation as text for people and models, with what fits of its turns."""

from collections.abc import Mapping, Sequence

from kmem_desktop.domain.found import EntryNote
from kmem_desktop.domain.sessions.recall import RestoredSession
from kmem_desktop.server.quoting import one_clean_line

TITLE_LENGTH = 120


def session_text(
    restored: RestoredSession, notes: Mapping[int, Sequence[EntryNote]], longest: int
) -> str:
    """Return a conversation as markdown; where it is too long, the oldest turns give way.

    Args:
        restored: What fits of it.
        notes: What no longer holds, by the position of the turn.
        longest: The most characters.
    """
    head = _head(restored)
    left = longest - len(head) - 200
    turns: list[str] = []
    for turn in reversed(restored.context.turns):
        told = "".join(f"\n({note.sentence})" for note in notes.get(turn.position, ()))
        at = f", {turn.at:%Y-%m-%d %H:%M}" if turn.at else ""
        who = f"{turn.role.value} {turn.speaker}".strip()
        text = f"**[{turn.position}] {who}{at}**{told}\n{turn.text}\n"
        if len(text) > left and turns:
            break
        turns.append(text if len(text) <= left else f"{text[:left]}…\n")
        left -= len(text)
    left_out = restored.facts.entry_count - len(turns)
    told_left_out = f"\n({left_out} of {restored.facts.entry_count} turns are left out.)\n"
    return "\n".join((head + (told_left_out if left_out else ""), *reversed(turns)))


def _head(restored: RestoredSession) -> str:
    facts, summary = restored.facts, restored.summary
    lines = [f"# {one_clean_line(facts.title, TITLE_LENGTH)}", ""]
    project = f", project {one_clean_line(facts.project, TITLE_LENGTH)}" if facts.project else ""
    lines.append(
        f"Session {facts.uuid}{project}, with {one_clean_line(facts.client, TITLE_LENGTH)},"
        f" {facts.created_at:%Y-%m-%d} to {facts.last_active:%Y-%m-%d}, {facts.entry_count} turns."
    )
    if summary.text:
        since = facts.entry_count - summary.turn_count
        stale = f" (of the first {summary.turn_count} turns; {since} came later)" if since else ""
        lines += ["", f"## Summary{stale}", summary.text]
    return "\n".join((*lines, "", "## Turns", ""))
