"""Summaries without a model: the passages that tell most, quoted, each with the turn it stands in.

Nothing is put into other words, so nothing can be made up. What was taken back is told as such, or
not at all.
"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from kmem_desktop.domain.sessions.conversations import (
    Bullet,
    BulletKind,
    Role,
    Summary,
    SummaryFormat,
)
from kmem_desktop.sessions import cues
from kmem_desktop.sessions.salience import Outline, Ranking, rank, shortened_links
from kmem_desktop.sessions.sentences import Passage, PassageKind
from kmem_desktop.text import one_line

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

SHARE = 0.15
"""A summary has at most this share of the characters of the conversation."""
LONGEST = 6_000
"""In characters: of a very long conversation people read no more."""

_WIDEST = 0.34
"""No passage takes more than this share of a summary."""
_ALWAYS_FITS = 90
_GOAL_SHARE = 0.15
_LATER_IN_REQUEST = 0.5
_LATE = 0.6
"""Where the last part of a conversation begins, as a share of its turns."""
_RESOLUTION_SHARE = 0.35
_REVERSAL_SHARE = 0.25
_LIST_SHARE = {
    SummaryFormat.BULLET_POINTS: 0.08,
    SummaryFormat.NARRATIVE: 0.0,
    SummaryFormat.TECHNICAL: 0.15,
}
_ROOM_FOR_LISTS = 900
"""Below this many characters a summary has no lists of files and commands."""
_QUOTED_LENGTH = 160
_FILES = 12
_OPEN_TURNS = 6
"""Questions of the last so many turns may be open."""

_LEAD = re.compile(
    r"^(?:(?:so|well|ok(?:ay)?|um+|uh+|oh|hmm+|and|also|then|btw|lol|yes|yeah|yep|aha|plus|done"
    r"|hi|hello|hey|thanks|however|therefore|thus|additionally|moreover|furthermore|in other words"
    r"|in addition|as a result|now|great|perfect|right|actually|basically|i (?:think|guess) that)\b"
    r"[\s,.!;:\u2026\u2014-]+)+(?=\S+\s+\S+)",
    re.IGNORECASE,
)
# What many answers end their sentences with: praise of what was just said.
_TAIL = re.compile(
    r",\s(?:and thus |thus |thereby )?(?:ensuring|providing|allowing|making|giving|enabling|helping"
    r"|improving|offering|reflecting|demonstrating|highlighting)\b[^,;:`]{12,}$"
)
_COMMAND_FENCE = re.compile(
    r"^[ \t]*(?:`{3,}|~{3,})(?:sh|bash|zsh|shell|console|powershell|cmd)\b", re.IGNORECASE
)
_COMMAND = re.compile(
    r"`((?:\$ )?(?:[a-z][\w.-]+|\./[\w./-]+)(?: (?:-{1,2}[\w=.-]+|[\w./:@=*~^-]+))+)`"
)
_FILE = re.compile(
    r"(?<![\w/@.~>-])(?<!:(?=/))[\w.@~-]*(?:/[\w.@-]+)*/?[\w@-]*\.[A-Za-z]{1,5}\d?\b(?!\()(?!\.\w)"
)
_ENDINGS = (
    "bash bat c cc cfg conf cpp cs css csv go gradle h hpp html ini ipynb java js json jsx kt lock"
    " lua m md mjs nix php pl proto ps1 py pyi r rb rs rst scala scss sh sql svelte swift tf toml"
    " ts tsx txt vue xml yaml yml zig"
)
_FILE_ENDINGS = frozenset(_ENDINGS.split())
_PRODUCTS = "d3.js express.js next.js node.js nuxt.js react.js three.js vue.js"
_NO_FILES = frozenset(_PRODUCTS.split())


@dataclass(slots=True)
class _Draft:
    """A summary while it is put together."""

    ranking: Ranking
    format: SummaryFormat
    budget: int
    bullets: list[Bullet] = field(default_factory=list)
    used: int = 0

    @property
    def passages(self) -> tuple[Passage, ...]:
        return self.ranking.outline.passages

    def position(self, number: int) -> int:
        return self.ranking.outline.turns[self.passages[number].index].position

    def add(self, bullet: Bullet, *, within: float = 1.0) -> bool:
        """Add a bullet if it fits into a share of the budget and what is left."""
        price = len(_line(bullet, self.format)) + 1
        if price > self.budget * within or self.used + price > self.budget:
            return False
        self.bullets.append(bullet)
        self.used += price
        return True


def summarise(
    found: Outline,
    summary_format: SummaryFormat = SummaryFormat.BULLET_POINTS,
    vectors: "NDArray[np.float32] | None" = None,
    *,
    share: float = SHARE,
    longest: int = LONGEST,
) -> Summary:
    """Summarise a conversation in its own words.

    Args:
        found: The conversation.
        summary_format: How to tell it.
        vectors: The vectors of `found.texts`: float32, shape (passages, dim), L2-normalised; None
            where there is no model.
        share: The most characters, as a share of the conversation's.
        longest: The most characters.
    """
    size = sum(len(turn.text) for turn in found.turns)
    budget = min(int(size * share), longest)
    if summary_format is SummaryFormat.TECHNICAL and budget >= _ROOM_FOR_LISTS:
        budget -= _HEADINGS_LENGTH
    draft = _Draft(rank(found, vectors), summary_format, budget)
    _add_reversals(draft)
    _add_goal(draft)
    _add_resolution(draft)
    _add_lists(draft)
    _add_passages(draft)
    limit = min(int(size * share), longest)
    while True:
        bullets = tuple(_in_order(draft.bullets, summary_format))
        text = told(bullets, summary_format)
        if len(text) <= limit:
            return Summary(summary_format, text, bullets, len(found.turns))
        draft.bullets.pop()  # the one that was chosen last tells least


def _add_goal(draft: _Draft) -> None:
    """Begin with what was asked for: the passage of the first requests that tells most."""
    import numpy as np

    opening = [
        i
        for i, passage in enumerate(draft.passages)
        if passage.role is Role.USER and draft.ranking.prior[i] > 0 and _is_prose(passage)
    ]
    if not opening or draft.budget < _ROOM_FOR_LISTS:
        return
    first_turn = draft.passages[opening[0]].index
    asked = [i for i in opening if draft.passages[i].index == first_turn]
    worth = draft.ranking.worth()
    # What somebody wants is said first, and then how they want it.
    worth[asked] /= 1 + _LATER_IN_REQUEST * np.arange(len(asked))
    for number in sorted(asked, key=lambda i: -worth[i]):
        bullet = Bullet(BulletKind.GOAL, _quoted(draft.passages[number]), draft.position(number))
        if draft.add(bullet, within=_GOAL_SHARE):
            draft.ranking.take(number)
            draft.ranking.prior[number] = 0
            return


def _add_resolution(draft: _Draft) -> None:
    """Tell what a person said last, near the end, of a problem that is gone."""
    first = len(draft.ranking.outline.turns) * _LATE
    for number in range(len(draft.passages) - 1, -1, -1):
        passage = draft.passages[number]
        if passage.index < first:
            return
        is_resolution = passage.role is Role.USER and cues.tells_resolution(passage.text)
        if is_resolution and _is_prose(passage) and draft.ranking.prior[number] > 0:
            bullet = Bullet(BulletKind.OUTCOME, _quoted(passage), draft.position(number))
            if draft.add(bullet, within=_RESOLUTION_SHARE):
                draft.ranking.take(number)
                draft.ranking.prior[number] = 0
            return


def _add_reversals(draft: _Draft) -> None:
    """Tell what was taken back, the latest first, as long as it leaves room for what holds."""
    spent = 0
    for reversal in reversed(draft.ranking.reversals):
        quoted = _shortened(_quoted(draft.passages[reversal.was]), _QUOTED_LENGTH)
        told_now = _what_holds(draft, reversal.now)
        holds = " ".join(_quoted(draft.passages[number]) for number in told_now)
        holds = _shortened(holds, _QUOTED_LENGTH)
        bullet = Bullet(
            BulletKind.REVERSAL,
            f"No longer: \u201c{quoted}\u201d. Now: {holds}",
            draft.position(reversal.now),
            draft.position(reversal.was),
        )
        price = len(_line(bullet, draft.format))
        if spent + price > draft.budget * _REVERSAL_SHARE or not draft.add(bullet):
            continue
        spent += price
        for number in told_now:
            draft.ranking.take(number)
            draft.ranking.prior[number] = 0


def _what_holds(draft: _Draft, now: int) -> list[int]:
    """Return what says what holds: a passage, and what follows it in its turn, if that is short."""
    found = [now]
    length = len(draft.passages[now].text)
    for number in range(now + 1, len(draft.passages)):
        passage = draft.passages[number]
        length += len(passage.text)
        if passage.index != draft.passages[now].index or length > _QUOTED_LENGTH:
            break
        if not _is_prose(passage) or cues.is_question(passage.text):
            break
        found.append(number)
    return found


def _add_lists(draft: _Draft) -> None:
    """List the files and the commands that come up most, where there is room for lists."""
    room = int(draft.budget * _LIST_SHARE[draft.format])
    if draft.budget < _ROOM_FOR_LISTS or not room:
        return
    held = [p for i, p in enumerate(draft.passages) if not _is_superseded(draft, i)]
    for kind, named in (
        (BulletKind.FILES, _files(held)),
        (BulletKind.COMMANDS, _commands(held)),
    ):
        text, index = _listed(named, room)
        if text:
            draft.add(Bullet(kind, text, draft.ranking.outline.turns[index].position))


def _is_superseded(draft: _Draft, number: int) -> bool:
    return any(number in reversal.superseded for reversal in draft.ranking.reversals)


def _files(passages: Iterable[Passage]) -> list[tuple[str, int]]:
    """Return the files that are named, the most often named first, each with its last turn."""
    count: Counter[str] = Counter()
    last: dict[str, int] = {}
    for passage in passages:
        for name in _FILE.findall(passage.text) if passage.kind is not PassageKind.LOG else ():
            path = name.removeprefix("./").rstrip(".")
            stem, _, ending = path.rpartition(".")
            is_file = ending.lower() in _FILE_ENDINGS and path.lower() not in _NO_FILES
            if is_file and stem.strip("/~."):
                count[path] += 1
                last[path] = passage.index
    named = [path for path, _ in count.most_common(30)]
    # A file that is named with its folder too is listed once.
    return [(path, last[path]) for path in named if not any(_ends(p, path) for p in named)][:_FILES]


def _ends(longer: str, path: str) -> bool:
    return longer != path and longer.endswith(f"/{path.lstrip('/')}")


def _commands(passages: Iterable[Passage]) -> list[tuple[str, int]]:
    """Return the commands that were given, the last first."""
    found: dict[str, int] = {}
    for passage in passages:
        if passage.kind is PassageKind.CODE:
            if _COMMAND_FENCE.match(passage.text):
                for line in passage.text.split("\n")[1:-1]:
                    if line.strip() and not line.lstrip().startswith("#"):
                        found[line.strip().removeprefix("$ ")] = passage.index
        elif passage.kind is not PassageKind.LOG:
            for command in _COMMAND.findall(passage.text):
                if "-" in command:
                    found[command.removeprefix("$ ")] = passage.index
    return sorted(found.items(), key=lambda item: -item[1])


def _listed(named: Sequence[tuple[str, int]], room: int) -> tuple[str, int]:
    chosen: list[tuple[str, int]] = []
    length = 0
    for name, index in named:
        if length + len(name) + 4 <= room:
            chosen.append((name, index))
            length += len(name) + 4
    text = ", ".join(f"`{name}`" for name, _ in chosen)
    return text, max((index for _, index in chosen), default=0)


def _add_passages(draft: _Draft) -> None:
    import numpy as np

    texts = [_quoted(passage) for passage in draft.passages]
    kinds = [_kind(draft, number) for number in range(len(texts))]
    costs = np.array([len(_ended(text, SummaryFormat.NARRATIVE)) + 1 for text in texts], float)
    lines = {
        (b.kind if draft.format is SummaryFormat.TECHNICAL else None, b.position)
        for b in draft.bullets
    }

    def opening(number: int) -> float:
        """Return what a line of its own costs, where the turn has none yet."""
        kind, position = kinds[number], draft.position(number)
        line = (kind if draft.format is SummaryFormat.TECHNICAL else None, position)
        if line in lines:
            return 0
        lines.add(line)
        return len(_line(Bullet(kind, "", position), draft.format))

    widest = max(_ALWAYS_FITS, _WIDEST * draft.budget)
    is_quotable = np.array(
        [passage.kind is not PassageKind.CODE for passage in draft.passages], bool
    )
    left = draft.budget - draft.used
    narrow = np.where(is_quotable & (costs <= widest), costs, np.inf)
    chosen = draft.ranking.choose(left, narrow, opening=opening)
    if not chosen and not draft.bullets:  # where every sentence is long, one long one is best
        chosen = draft.ranking.choose(left, np.where(is_quotable, costs, np.inf), opening=opening)
    for number in chosen:
        draft.bullets.append(Bullet(kinds[number], texts[number], draft.position(number)))


def _kind(draft: _Draft, number: int) -> BulletKind:
    passage = draft.passages[number]
    is_late = passage.index >= len(draft.ranking.outline.turns) - _OPEN_TURNS
    if is_late and (cues.is_question(passage.text) or cues.is_open_question(passage.text)):
        return BulletKind.QUESTION
    if cues.tells_outcome(passage.text):
        return BulletKind.OUTCOME
    return BulletKind.DECISION if cues.tells_decision(passage.text) else BulletKind.FACT


def _is_prose(passage: Passage) -> bool:
    return passage.kind in (PassageKind.SENTENCE, PassageKind.ITEM)


def _quoted(passage: Passage) -> str:
    """Return a passage as it is quoted: on one line, without "ok, so", long links and praise."""
    return _TAIL.sub("\u2026", _LEAD.sub("", one_line(shortened_links(passage.text))))


def _shortened(text: str, length: int) -> str:
    return text if len(text) <= length else text[: length - 1].rsplit(" ", 1)[0] + "\u2026"


_SECTIONS = (
    (BulletKind.GOAL, "Goal"),
    (BulletKind.DECISION, "Decisions"),
    (BulletKind.REVERSAL, "Reversed"),
    (BulletKind.OUTCOME, "Outcomes"),
    (BulletKind.FACT, "Facts"),
    (BulletKind.QUESTION, "Open questions"),
    (BulletKind.FILES, "Files"),
    (BulletKind.COMMANDS, "Commands"),
)
_LAST_KINDS = (BulletKind.QUESTION, BulletKind.FILES, BulletKind.COMMANDS)
_LABELS = {
    BulletKind.GOAL: "Goal: ",
    BulletKind.QUESTION: "Open: ",
    BulletKind.FILES: "Files: ",
    BulletKind.COMMANDS: "Commands: ",
}
_HEADINGS_LENGTH = sum(len(name) + 5 for _, name in _SECTIONS)


def _in_order(bullets: Iterable[Bullet], summary_format: SummaryFormat) -> list[Bullet]:
    """Return the goal first, then what happened in its order, then what is open, then the lists."""
    if summary_format is SummaryFormat.TECHNICAL:
        places = {kind: place for place, (kind, _) in enumerate(_SECTIONS)}
        return sorted(bullets, key=lambda b: (places[b.kind], b.position))

    def place(bullet: Bullet) -> tuple[int, int]:
        if bullet.kind in _LAST_KINDS:
            return (2 + _LAST_KINDS.index(bullet.kind), bullet.position)
        return (0 if bullet.kind is BulletKind.GOAL else 1, bullet.position)

    return sorted(bullets, key=place)


def told(bullets: Sequence[Bullet], summary_format: SummaryFormat) -> str:
    """Return bullets as one text; `[12]` is the turn that says it."""
    if summary_format is SummaryFormat.TECHNICAL:
        return _told_in_sections(bullets)
    lines = [_line(bullet, summary_format) for bullet in _joined(bullets)]
    return ("\n" if summary_format is SummaryFormat.BULLET_POINTS else " ").join(lines)


def _joined(bullets: Iterable[Bullet]) -> list[Bullet]:
    """Return bullets with those of one turn on one line."""
    found: list[Bullet] = []
    for bullet in bullets:
        last = found[-1] if found else None
        if last is not None and last.position == bullet.position and _may_join(last, bullet):
            text = f"{_ended(last.text, SummaryFormat.NARRATIVE)} {bullet.text}"
            found[-1] = replace(last, text=text)
        else:
            found.append(bullet)
    return found


def _may_join(one: Bullet, other: Bullet) -> bool:
    return other.kind not in (BulletKind.REVERSAL, *_LAST_KINDS) and one.kind not in _LAST_KINDS


def _told_in_sections(bullets: Sequence[Bullet]) -> str:
    size = sum(len(_line(b, SummaryFormat.TECHNICAL)) for b in bullets)
    if size < _ROOM_FOR_LISTS:
        return "\n".join(_line(b, SummaryFormat.TECHNICAL) for b in _joined(bullets))
    parts: list[str] = []
    for kind, heading in _SECTIONS:
        of_kind = _joined(b for b in bullets if b.kind is kind)
        lines = [_line(bullet, SummaryFormat.TECHNICAL) for bullet in of_kind]
        if lines:
            parts += [f"## {heading}", *lines]
    return "\n".join(parts)


def _line(bullet: Bullet, summary_format: SummaryFormat) -> str:
    text = _ended(bullet.text, summary_format)
    if summary_format is SummaryFormat.NARRATIVE:
        return f"{_LABELS.get(bullet.kind, '')}{text}"
    label = _LABELS.get(bullet.kind, "") if summary_format is SummaryFormat.BULLET_POINTS else ""
    return f"- {label}{text} [{bullet.position}]"


def _ended(text: str, summary_format: SummaryFormat) -> str:
    """Return a text as it stands in a line: in a narrative each statement ends as a sentence."""
    is_ended = not text or text.endswith((".", "!", "?", ":", ";", "\u2026"))
    return text if is_ended or summary_format is not SummaryFormat.NARRATIVE else f"{text}."
