"""A model's summary is checked against the turns: what they do not bear out is left out.

A statement has to name a turn, and its names, numbers, paths and most of its words have to stand in
that turn or in those beside it.
"""

import re
from collections.abc import Sequence
from dataclasses import replace

from kmem_desktop.domain.sessions.conversations import Bullet, Role, SpokenTurn, Summary
from kmem_desktop.sessions.reversals import find_reversals
from kmem_desktop.sessions.salience import outline
from kmem_desktop.sessions.summary import LONGEST, SHARE, told
from kmem_desktop.sessions.words import identifiers, weighted_terms

LEAST_SHARE = 0.6
"""So much of what a statement says has to stand in the turns it cites."""
NEIGHBOURS = 1
"""A statement may rest on a question and its answer: so many turns on each side count too."""

_NAME = re.compile(r"(?<!^)(?<![.!?:] )\b[A-Z][a-z]{2,}\w*")
_CODE = re.compile(r"`([^`]{2,200})`")
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")


def checked(summary_by_model: Summary, turns: Sequence[SpokenTurn]) -> Summary:
    """Return a model's summary with only the statements that the turns bear out.

    Statements that the conversation took back later are left out too, unless they are told as
    reversed. What was left out is counted in `dropped_count`.

    Args:
        summary_by_model: The summary; each bullet cites its turn by position.
        turns: The whole conversation.
    """
    indexes = {turn.position: index for index, turn in enumerate(turns)}
    taken_back = _taken_back(turns)
    kept = tuple(
        bullet
        for bullet in summary_by_model.bullets
        if bullet.position in indexes
        and _is_borne_out(bullet, turns, indexes)
        and not _was_taken_back(bullet, taken_back)
    )
    return Summary(
        format=summary_by_model.format,
        text=told(kept, summary_by_model.format),
        bullets=kept,
        turn_count=len(turns),
        dropped_count=len(summary_by_model.bullets) - len(kept),
    )


def shortened(summary: Summary, turns: Sequence[SpokenTurn]) -> Summary:
    """Return a summary that is no longer than one in the session's own words may be.

    The statements that come last in it give way, and are not counted as left out.
    """
    longest = min(int(SHARE * sum(len(turn.text) for turn in turns)), LONGEST)
    bullets = summary.bullets
    while len(told(bullets, summary.format)) > longest:
        bullets = bullets[:-1]
    return replace(summary, bullets=bullets, text=told(bullets, summary.format))


def _is_borne_out(bullet: Bullet, turns: Sequence[SpokenTurn], indexes: dict[int, int]) -> bool:
    cited = _around(turns, indexes[bullet.position])
    if bullet.was_position is not None:
        if bullet.was_position not in indexes:
            return False
        cited += "\n" + _around(turns, indexes[bullet.was_position])
    return is_supported(bullet.text, cited)


def _around(turns: Sequence[SpokenTurn], index: int) -> str:
    near = turns[max(0, index - NEIGHBOURS) : index + NEIGHBOURS + 1]
    return "\n".join(f"{turn.speaker} {turn.text}" for turn in near if turn.role is not Role.SYSTEM)


def is_supported(statement: str, source: str) -> bool:
    """Return whether a statement stands in a source: every name and number, and most words."""
    low = source.casefold()
    exact = [*identifiers(statement), *_NAME.findall(statement), *_NUMBER.findall(statement)]
    exact += _CODE.findall(statement)
    if any(name.casefold().strip("./") not in low for name in exact):
        return False
    said = weighted_terms(statement)
    there = weighted_terms(source)
    total = sum(said.values())
    held = sum(weight for word, weight in said.items() if word in there)
    return bool(said) and held >= LEAST_SHARE * total


def _taken_back(turns: Sequence[SpokenTurn]) -> list[tuple[int, dict[str, float]]]:
    """Return what was taken back: the turn's position, and its words."""
    found = outline(turns)
    numbers = {n for reversal in find_reversals(found.passages) for n in reversal.superseded}
    return [
        (turns[found.passages[n].index].position, weighted_terms(found.passages[n].text))
        for n in sorted(numbers)
    ]


def _was_taken_back(bullet: Bullet, taken_back: Sequence[tuple[int, dict[str, float]]]) -> bool:
    if bullet.was_position is not None:
        return False
    said = weighted_terms(bullet.text)
    total = sum(said.values())
    return any(
        position == bullet.position
        and sum(weight for word, weight in said.items() if word in words) >= LEAST_SHARE * total
        for position, words in taken_back
    )
