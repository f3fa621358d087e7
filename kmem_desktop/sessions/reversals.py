"""What was said and later taken back: corrections, and the passages that no longer hold.

A memory that tells an abandoned plan as the present one is worse than none. A correction is found
by its wording; what it corrects, by what it quotes, by the label it names ("no on D4"), by a path
that it replaces, by being about the same things a few turns before, or by being the last thing
that was done ("I undid that").
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kmem_desktop.domain.sessions.conversations import Role
from kmem_desktop.sessions import cues
from kmem_desktop.sessions.sentences import Passage, PassageKind
from kmem_desktop.sessions.words import content_words, weighted_terms

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

TURNS_BACK = 12
"""What is corrected was said at most so many turns before, unless it is quoted or named."""
SAME_SUBJECT = 0.5
"""Share of a correction's words that a corrected passage has."""
SAME_MATTER = 0.6
"""Cosine from which a passage is about what a correction is about."""
SAME_QUOTE = 0.6
"""Share of a quotation's words that the quoted passage has."""
SAME_STATEMENT = 0.75
"""Cosine from which two passages say the same."""
LONGEST_CORRECTION = 2_000
SHORTEST_QUOTE = 20

_QUOTED = re.compile(
    r"[\"\u201c]([^\"\u201c\u201d]{20,600})[\"\u201d]|^>\s*(.{20,600})$", re.MULTILINE
)
_LABEL = r"[A-Z]{1,4}-?[A-Z]{0,3}\d{1,3}|(?:[Oo]ption|[Pp]lan|[Vv]ariant|[Ss]tep) [A-Z\d]{1,2}"
_NAMED = re.compile(
    rf"\b(?:[Nn]o (?:on|to)|[Nn]ot|[Dd]rop|[Uu]ndo|[Cc]ancel|[Rr]evert|[Rr]everse|[Ss]cratch"
    rf"|[Ff]orget) ({_LABEL})\b"
    rf"|\b({_LABEL}) (?:is|was) (?:wrong|off|dead|out|dropped|reversed|not)\b"
)
_PATH = re.compile(r"(?<![\w:/])(?:\.{0,2}/)?(?:[\w.@-]+/)+[\w.@-]+\.\w{1,6}\b")
_NOW_IN_TURNS = 3
_OWN_WORDS = 3
_REPLIED_TURNS = 2
_BEGINNING = 5


@dataclass(frozen=True, slots=True)
class Reversal:
    """Something that was said, and what holds instead.

    Attributes:
        was: The passage (its number) that no longer holds, the last of its kind.
        now: The passage that says what holds.
        superseded: Every passage that says what no longer holds, `was` among them.
    """

    was: int
    now: int
    superseded: frozenset[int]


def find_reversals(
    passages: Sequence[Passage], vectors: "NDArray[np.float32] | None" = None
) -> list[Reversal]:
    """Find what the turns take back.

    Args:
        passages: The conversation's passages, in order.
        vectors: Their vectors, float32, shape (len(passages), dim), L2-normalised; None where no
            model is there: then only wording counts.
    """
    words = [weighted_terms(passage.text) for passage in passages]
    found: list[Reversal] = []
    for start, end in _turn_ranges(passages):
        turn = range(start, end)
        if not _is_correction(passages, turn):
            continue
        targets = _targets(passages, words, turn, vectors)
        if not targets:
            found += _undone(passages, turn)
            continue
        superseded = _restated(passages, words, targets, start, vectors)
        superseded |= _answered(passages, words, turn, targets)
        now = _now(passages, words, turn, targets)
        if now is not None:
            superseded |= {i for i in turn if i != now and _is_quotation(passages[i].text)}
            was = max(targets, key=lambda i: (_share(words[i], words[now]), i))
            found.append(Reversal(was, now, frozenset(superseded)))
    return found


def _undone(passages: Sequence[Passage], turn: range) -> list[Reversal]:
    """Return what the answer before a turn tells as done, where the turn says it is undone."""
    now = next((i for i in turn if _speaks(passages[i]) and cues.undoes(passages[i].text)), None)
    if now is None:
        return []
    done: list[int] = []
    for i in range(turn[0] - 1, -1, -1):
        if passages[i].role is Role.USER:
            break
        if _speaks(passages[i]) and not cues.is_narration(passages[i].text):
            done.append(i)
    if not done:
        return []
    report = passages[done[0]].index
    was = min(i for i in done if passages[i].index == report)
    return [Reversal(was, now, frozenset(done))]


def _turn_ranges(passages: Sequence[Passage]) -> Iterator[tuple[int, int]]:
    start = 0
    for number in range(1, len(passages) + 1):
        if number == len(passages) or passages[number].index != passages[start].index:
            yield start, number
            start = number


def _is_correction(passages: Sequence[Passage], turn: range) -> bool:
    """Only people take back: what an assistant says about its own mistakes follows upon that."""
    if passages[turn[0]].role is not Role.USER:
        return False
    texts = [passages[i].text for i in turn if passages[i].kind is not PassageKind.LOG]
    return sum(map(len, texts)) <= LONGEST_CORRECTION and any(map(cues.corrects, texts))


def _targets(
    passages: Sequence[Passage],
    words: Sequence[Mapping[str, float]],
    turn: range,
    vectors: "NDArray[np.float32] | None",
) -> set[int]:
    """Return the earlier passages that a turn corrects."""
    text = "\n".join(passages[i].text for i in turn if _speaks(passages[i]))
    earlier = [i for i in range(turn[0]) if _speaks(passages[i])]
    targets = _quoted(text, words, earlier) | _replaced_paths(text, passages, earlier)
    corrections = [i for i in turn if cues.corrects(passages[i].text) and _speaks(passages[i])]
    for i in corrections:
        targets |= _labelled(passages[i].text, passages, earlier)
    if not targets:
        first_turn = passages[turn[0]].index - TURNS_BACK
        near = [i for i in earlier if passages[i].index >= first_turn]
        for i in corrections:
            targets |= _about_the_same(i, words, near, vectors)
    return targets


def _speaks(passage: Passage) -> bool:
    return passage.kind in (PassageKind.SENTENCE, PassageKind.ITEM, PassageKind.ROW)


def _quoted(text: str, words: Sequence[Mapping[str, float]], earlier: Sequence[int]) -> set[int]:
    found: set[int] = set()
    for match in _QUOTED.finditer(text):
        quote = weighted_terms(match.group(1) or match.group(2))
        found |= {
            i
            for i in earlier
            if _share(quote, words[i]) >= SAME_QUOTE and _share(words[i], quote) >= SAME_SUBJECT
        }
    return found


def _labelled(sentence: str, passages: Sequence[Passage], earlier: Sequence[int]) -> set[int]:
    """Return what was said under a label that a correction names: "no on D4"."""
    labels = [re.escape(first or second) for first, second in _NAMED.findall(sentence)]
    if not labels:
        return set()
    begins = re.compile(rf"[\W_]*(?:{'|'.join(labels)})\b", re.IGNORECASE)
    return {i for i in earlier if begins.match(passages[i].text)}


def _replaced_paths(text: str, passages: Sequence[Passage], earlier: Sequence[int]) -> set[int]:
    """Return what names a file in another folder than the one a correction gives it."""
    found: set[int] = set()
    for path in _PATH.findall(text):
        name = path.rsplit("/", 1)[-1]
        for i in earlier:
            others = [
                other for other in _PATH.findall(passages[i].text) if other.endswith(f"/{name}")
            ]
            if others and not any(other.endswith(path.lstrip("./")) for other in others):
                found.add(i)
    return found


def _about_the_same(
    number: int,
    words: Sequence[Mapping[str, float]],
    near: Sequence[int],
    vectors: "NDArray[np.float32] | None",
) -> set[int]:
    """Return what was said about the same shortly before, by its words or by its meaning."""
    said = {word: weight for word, weight in words[number].items() if weight >= 1}
    related = [i for i in near if len(words[i].keys() & said) > 1]
    found = {i for i in related if _share(said, words[i]) >= SAME_SUBJECT}
    things = _things(words, [number])
    for i in near:
        mine = _things(words, [i])
        if len(mine & things) > 1 and len(mine & things) >= SAME_QUOTE * len(mine):
            found.add(i)
    if vectors is not None:
        found |= {i for i in related if float(vectors[i] @ vectors[number]) >= SAME_MATTER}
    return found


def _share(of: Mapping[str, float], within: Mapping[str, float]) -> float:
    """Return the weighted share of some words that others have too."""
    total = sum(of.values())
    return sum(weight for word, weight in of.items() if word in within) / total if total else 0.0


def _is_quotation(text: str) -> bool:
    """Return whether a passage says next to nothing but what it quotes."""
    rest, count = _QUOTED.subn(" ", text)
    return count > 0 and len(weighted_terms(rest)) < _OWN_WORDS


def _restated(
    passages: Sequence[Passage],
    words: Sequence[Mapping[str, float]],
    targets: set[int],
    before: int,
    vectors: "NDArray[np.float32] | None",
) -> set[int]:
    """Return the targets and what says the same before the correction."""
    found = set(targets)
    for i in range(before):
        if _speaks(passages[i]) and any(_says_the_same(words[i], words[t]) for t in targets):
            found.add(i)
    if vectors is not None:
        same = (vectors[:before] @ vectors[sorted(targets)].T).max(axis=1) >= SAME_STATEMENT
        found |= {int(i) for i in same.nonzero()[0]}
    return found


def _answered(
    passages: Sequence[Passage],
    words: Sequence[Mapping[str, float]],
    turn: range,
    targets: set[int],
) -> set[int]:
    """Return what led to the corrected statement, and what the turns just before say of it."""
    corrections = [i for i in turn if _speaks(passages[i]) and cues.corrects(passages[i].text)]
    corrected = _things(words, corrections)
    stated = _things(words, sorted(targets)) & (corrected | _things(words, turn))
    now = passages[turn[0]].index
    first = min(passages[i].index for i in targets) - TURNS_BACK
    found: set[int] = set()
    for i in range(turn[0]):
        if passages[i].index < first or not _speaks(passages[i]):
            continue
        things = _things(words, [i])
        is_reply = passages[i].index >= now - _REPLIED_TURNS
        if (is_reply and len(things & corrected) > 1) or (
            len(things & stated) > 1
            and len(things & (corrected | stated)) >= SAME_SUBJECT * len(things)
        ):
            found.add(i)
    return found


def _things(words: Sequence[Mapping[str, float]], numbers: Iterable[int]) -> set[str]:
    """Return what passages name, by the beginnings of the words: excluding, exclusion."""
    return {word[:_BEGINNING] for i in numbers for word, weight in words[i].items() if weight >= 1}


def _says_the_same(one: Mapping[str, float], other: Mapping[str, float]) -> bool:
    return _share(one, other) >= SAME_QUOTE and _share(other, one) >= SAME_QUOTE


def _now(
    passages: Sequence[Passage],
    words: Sequence[Mapping[str, float]],
    turn: range,
    targets: set[int],
) -> int | None:
    """Return what holds instead: of the correction, else of the answers to it, the nearest."""
    was = set().union(*(content_words(passages[i].text) for i in targets))
    own = [
        i
        for i in turn
        if _speaks(passages[i])
        and not cues.is_question(passages[i].text)
        and not _is_quotation(passages[i].text)
        and len(words[i]) > 1
    ]
    near = [i for i in own if words[i].keys() & was]
    if near:
        return max(near, key=lambda i: (len(words[i].keys() & was), i))
    last = passages[turn[-1]].index + _NOW_IN_TURNS
    for i in range(turn[-1] + 1, len(passages)):
        if passages[i].index > last:
            break
        holds = len(words[i].keys() & was) > 1 and not cues.is_narration(passages[i].text)
        if holds and _speaks(passages[i]):
            return i
    return own[-1] if own else None
