"""Why an item was not in an answer: told by the ranking itself, run wider.

The question is ranked twice on one snapshot, by the code that answers it: as it was asked, and with
so much compared that the item has a place. What is said is read off the two; what is suggested was
tried.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from kmem_desktop.domain.absence import (
    Absence,
    Cause,
    ExpectedItem,
    Reason,
    Standing,
    Suggestion,
)
from kmem_desktop.domain.changes import HistoryEntry, Noun
from kmem_desktop.domain.found import Explanation
from kmem_desktop.errors import InvalidInputError
from kmem_desktop.search.query import STOP_WORDS, parse
from kmem_desktop.services import found
from kmem_desktop.services.embedding import EmbeddingService
from kmem_desktop.services.retrieval import comparing, targets
from kmem_desktop.services.retrieval.hits import Breadth, Hit, Ranking
from kmem_desktop.services.retrieval.questions import Prepared, Question, prepare, with_text
from kmem_desktop.services.retrieval.targets import Target
from kmem_desktop.services.sessions.exchanges import SessionService
from kmem_desktop.store import fulltext
from kmem_desktop.store.connection import Connection
from kmem_desktop.store.database import Database
from kmem_desktop.store.retrieval import identities
from kmem_desktop.store.retrieval.identities import Identity

WIDE_WORDS = 5_000
WIDE_CLOSE = 2_000
"""So much is compared to give an item its place: with more matches than that it is said "about"."""
TRIED_WORDS = 3
"""So many words are tried, each alone, to find what would have found an item."""
_WORD = re.compile(r"[^\W_]{3,}")
_PHRASE = re.compile(r'"[^"]*"')


@dataclass(frozen=True, slots=True)
class _Findings:
    """What the two rankings say of one item.

    Attributes:
        actual: The ranking as it was asked.
        wide: The ranking with the item in it, where it can be.
        target: What was looked for.
        document_id: The document of it that stands best.
        hit: That document as it was ranked; None where it cannot be.
        place: Where it stands in what may be shown; None where it does not.
        columns: The words of the question that it has, and where.
        cosine: How close it is in meaning; None where that is not known.
    """

    actual: Ranking
    wide: Ranking
    target: Target
    document_id: int
    hit: Hit | None
    place: int | None
    columns: Mapping[str, tuple[str, ...]]
    cosine: float | None


@dataclass(frozen=True, slots=True)
class _Verdict:
    """What was found out, and what may be tried to find the item.

    Attributes:
        absence: What is told.
        blocking: The filters that keep the item out.
        words: Words of the item that the question does not have, the rarest first.
    """

    absence: Absence
    blocking: tuple[str, ...] = ()
    words: tuple[str, ...] = ()


class AbsenceService:
    """Tells why an item was not in an answer."""

    def __init__(
        self, database: Database, embedding: EmbeddingService, sessions: SessionService
    ) -> None:
        """Read `database`, and understand questions by `embedding` and `sessions`."""
        self._database = database
        self._embedding = embedding
        self._sessions = sessions

    async def why_not(self, question: Question, key: int | str) -> Absence:
        """Say why an item is not in the answer to a question, or where in it it is.

        Args:
            question: The question exactly as it was asked: of either tool, or of the window.
            key: The item's integer id or its UUID.

        Raises:
            InvalidInputError: A field of the question is out of its limits.
            NotFoundError: There is no such item, and there was none.
        """
        prepared = await prepare(question, self._embedding, self._sessions)
        failure = self._embedding.failure
        verdict = await self._database.read(lambda c: _judge(c, prepared, key, failure))
        absence = verdict.absence
        if absence.place is not None or absence.own is None:
            return absence
        suggestions = await self._tried(question, prepared, verdict)
        return replace(absence, suggestions=tuple(suggestions))

    async def _tried(
        self, question: Question, prepared: Prepared, verdict: _Verdict
    ) -> list[Suggestion]:
        """Return what finds the item, after having tried it."""
        absence = verdict.absence
        if verdict.blocking:
            return await self._without_filters(prepared, verdict)
        suggestions = []
        is_beyond = any(reason.cause is Cause.BEYOND_LIMIT for reason in absence.reasons)
        if is_beyond and absence.rank is not None and absence.rank <= prepared.most:
            words = f"Asking for {absence.rank} results would show it."
            suggestions.append(Suggestion(words, absence.rank, limit=absence.rank))
        for word in verdict.words:
            text = f"{prepared.text.rstrip()} {word}"
            place = await self._place(with_text(question, f"{text} "), absence.item)
            if place is not None:
                words = f"Adding “{word}” would find it: place {place}."
                suggestions.append(Suggestion(words, place, question=text))
                break
        return suggestions

    async def _without_filters(self, prepared: Prepared, verdict: _Verdict) -> list[Suggestion]:
        blocking = verdict.blocking
        if "nouns" in blocking and not prepared.folds:
            return []
        lifted = replace(prepared.breadth, lifted=blocking)
        item = verdict.absence.item
        place = await self._database.read(lambda c: _place(c, prepared, lifted, item.uuid))
        if place is None:
            return []
        names = comparing.listed(
            list(dict.fromkeys(targets.LIFTED_WORDS[name] for name in blocking))
        )
        return [Suggestion(f"Without {names} it would be at place {place}.", place)]

    async def _place(self, question: Question, item: ExpectedItem) -> int | None:
        try:
            prepared = await prepare(question, self._embedding, self._sessions)
        except InvalidInputError:  # one word more is too many
            return None
        breadth = prepared.breadth
        return await self._database.read(lambda c: _place(c, prepared, breadth, item.uuid))


def place_in(
    connection: Connection, prepared: Prepared, identity: Identity, breadth: Breadth
) -> int | None:
    """Return the place of an item in all that may be shown; None where it is not in it."""
    target = targets.target_of(connection, identity, folds=prepared.folds)
    answer = prepared.answer(prepared.rank(connection, breadth))
    return _first_place(answer, target)


def _place(connection: Connection, prepared: Prepared, breadth: Breadth, uuid: str) -> int | None:
    """Return the place of an item in what is shown; None where it is not shown."""
    identity = identities.of_uuids(connection, [uuid]).get(uuid)
    if identity is None:
        return None
    place = place_in(connection, prepared, identity, breadth)
    return place if place is not None and place <= prepared.limit else None


def _first_place(answer: list[int], target: Target) -> int | None:
    for place, shown_id in enumerate(answer, start=1):
        if shown_id in target.shown_ids:
            return place
    return None


def _judge(connection: Connection, prepared: Prepared, key: int | str, failure: str) -> _Verdict:
    named = targets.find(connection, key)
    actual = prepared.rank(connection, prepared.breadth)
    if isinstance(named, HistoryEntry):
        return _Verdict(_deleted(prepared, actual, named))
    target = targets.target_of(connection, named, folds=prepared.folds)
    blocking = targets.blocking_filters(connection, actual.filters, target)
    findings = _findings(connection, prepared, actual, target)
    if findings.place is not None and findings.place <= prepared.limit:
        return _Verdict(_there(connection, prepared, findings))
    reasons = [targets.filter_reason(name, actual.filters, named) for name in blocking]
    parsed = actual.reading.parsed
    if not blocking and not found.allowed(connection, parsed, actual.filters, target.documents):
        phrases = _PHRASE.findall(parsed.unwanted)
        reasons.append(targets.unwanted_reason(connection, phrases, target))
    absence = _absence(connection, prepared, findings)
    if reasons:
        return _Verdict(replace(absence, reasons=tuple(reasons)), tuple(blocking))
    reasons = _ranking_reasons(prepared, findings, absence, failure)
    absence = replace(absence, reasons=tuple(reasons))
    return _Verdict(absence, words=_other_words(connection, findings))


def _findings(
    connection: Connection, prepared: Prepared, actual: Ranking, target: Target
) -> _Findings:
    words, close = prepared.breadth.words, prepared.breadth.close
    breadth = replace(
        prepared.breadth,
        words=max(words, WIDE_WORDS),
        close=max(close, WIDE_CLOSE),
        expected=target.documents,
    )
    wide = prepared.rank(connection, breadth)
    hit = _hit_of(actual, target) or _hit_of(wide, target)
    document_id = hit.id if hit else target.identity.id
    cosine = hit.cosine if hit else None
    if hit is None:
        nouns = dict.fromkeys(target.documents, Noun.OBSERVATION)
        nouns[target.identity.id] = target.identity.noun
        cosines = found.closeness(connection, nouns, prepared.meaning)
        document_id = max(cosines, key=lambda i: cosines[i], default=document_id)
        cosine = cosines.get(document_id)
    return _Findings(
        actual=actual,
        wide=wide,
        target=target,
        document_id=document_id,
        hit=hit,
        place=_first_place(prepared.answer(actual), target),
        columns=_columns(connection, prepared, actual, document_id),
        cosine=cosine,
    )


def _hit_of(ranking: Ranking, target: Target) -> Hit | None:
    return next((hit for i, hit in ranking.hits.items() if i in target.shown_ids), None)


def _columns(
    connection: Connection, prepared: Prepared, ranking: Ranking, document_id: int
) -> dict[str, tuple[str, ...]]:
    """Return for each word of the question that a document has in which columns it stands."""
    words = ranking.reading.words
    unfinished = prepared.is_typed and not prepared.text[-1:].isspace()
    terms: dict[str, str] = {}
    for number, word in enumerate(words, start=1):
        is_open = unfinished and number == len(words)
        if term := parse(word, typing=is_open).match:
            terms.setdefault(term, word)
    places = identities.columns_with(connection, document_id, list(terms))
    return {terms[term]: columns for term, columns in places.items()}


def _deleted(prepared: Prepared, actual: Ranking, change: HistoryEntry) -> Absence:
    answer = prepared.answer(actual)
    words = f"It was deleted on {comparing.day(change.at)} by {change.origin.name}."
    return Absence(
        item=ExpectedItem(0, change.item_uuid, change.noun, change.title),
        question=prepared.text,
        place=None,
        rank=None,
        total=prepared.total(actual, len(answer)),
        shown=min(len(answer), prepared.limit),
        reasons=(Reason(Cause.DELETED, words),),
    )


def _there(connection: Connection, prepared: Prepared, findings: _Findings) -> Absence:
    absence = _absence(connection, prepared, findings)
    place = findings.place
    words = f"It was there: place {place} of {absence.total}."
    if place != 1 and absence.own is not None and absence.other is not None:
        title = comparing.quoted_title(absence.other.item.title)
        if lead := _advantages(prepared, findings, absence.own, absence.other):
            words += f" {title}, the first, {lead}."
    return replace(absence, place=place, reasons=(Reason(Cause.THERE, words),))


def _absence(connection: Connection, prepared: Prepared, findings: _Findings) -> Absence:
    """Return everything about an item's absence but the reasons."""
    actual = findings.actual
    answer = prepared.answer(actual)
    rank, total = findings.place, prepared.total(actual, len(answer))
    if rank is None and findings.hit is not None:
        rank = _first_place(list(findings.wide.hits), findings.target)
        total = max(total, findings.wide.total, len(findings.wide.hits))
        if rank is not None and rank > WIDE_WORDS:
            rank = None  # what stands behind all that was compared may be anywhere
    shown = answer[: prepared.limit]
    is_there = findings.place is not None and findings.place <= prepared.limit
    other = None
    if shown:
        other = _standing_of(connection, prepared, actual, shown[0 if is_there else -1])
    return Absence(
        item=findings.target.item,
        question=prepared.text,
        place=None,
        rank=rank,
        total=total,
        shown=len(shown),
        reasons=(),
        own=_own_standing(connection, prepared, findings, rank),
        other=other,
    )


def _own_standing(
    connection: Connection, prepared: Prepared, findings: _Findings, rank: int | None
) -> Standing:
    item = findings.target.item
    hit = findings.hit
    if hit is None:
        words = tuple(findings.columns)
        explanation = Explanation("", words, 0.0, 0.0, cosine=findings.cosine)
        return Standing(item, rank, None, explanation, findings.columns)
    ranking = findings.actual if _hit_of(findings.actual, findings.target) else findings.wide
    explanation = replace(prepared.explain(connection, hit, ranking), words=tuple(findings.columns))
    shown_id = next(i for i in ranking.hits if i in findings.target.shown_ids)
    return Standing(item, rank, ranking.scores[shown_id], explanation, findings.columns)


def _standing_of(
    connection: Connection, prepared: Prepared, ranking: Ranking, shown_id: int
) -> Standing | None:
    """Return how a hit that is shown stands to the question."""
    hit = ranking.hits[shown_id]
    identity = identities.of_id(connection, shown_id)
    if identity is None:
        return None
    columns = _columns(connection, prepared, ranking, hit.id)
    explanation = replace(prepared.explain(connection, hit, ranking), words=tuple(columns))
    place = prepared.answer(ranking).index(shown_id) + 1
    item = targets.item_of(identity)
    return Standing(item, place, ranking.scores[shown_id], explanation, columns)


def _advantages(prepared: Prepared, findings: _Findings, own: Standing, other: Standing) -> str:
    best = max((hit.bm25 for hit in findings.actual.hits.values()), default=0.0)
    knows_meaning = prepared.meaning is not None
    return comparing.advantages(own, other, knows_meaning=knows_meaning, best_bm25=best)


def _ranking_reasons(
    prepared: Prepared, findings: _Findings, absence: Absence, failure: str
) -> list[Reason]:
    """Say why an item that passes every filter is not shown."""
    if not findings.actual.reading.words:
        words = "The question has no words that can be looked up."
        return [Reason(Cause.NOTHING_ASKED, words)]
    if findings.hit is None:
        return _unfound_reasons(prepared, findings, failure)
    reasons = [
        _place_reason(prepared, findings, findings.hit, absence),
        _weaker_reason(prepared, findings, absence),
    ]
    if findings.columns and not findings.hit.bm25:
        reasons.append(_frequent_reason(findings))
    if prepared.meaning is not None and findings.cosine is None:
        words = f"{_no_vector(findings)}: only its words were compared."
        reasons.append(Reason(Cause.NO_VECTOR, words))
    return reasons


def _place_reason(prepared: Prepared, findings: _Findings, hit: Hit, absence: Absence) -> Reason:
    if findings.place is not None:
        shown = f"first {absence.shown:,} were" if absence.shown > 1 else "first was"
        words = f"Ranked {findings.place:,} of {absence.total:,}; the {shown} shown."
        return Reason(Cause.BEYOND_LIMIT, words)
    if hit.relevance < prepared.least_relevance:
        words = (
            f"Its relevance {hit.relevance:.2f} is below the {prepared.least_relevance:g} that"
            " the question asks for."
        )
        return Reason(Cause.LOW_RELEVANCE, words)
    breadth = prepared.breadth
    about = "about " if findings.wide.total > WIDE_WORDS else ""
    place = (
        f"been {about}number {absence.rank:,}"
        if absence.rank is not None
        else (f"stood after the first {WIDE_WORDS:,}")
    )
    words = (
        f"It is neither among the {breadth.words} best by words nor among the {breadth.close}"
        f" closest in meaning, which alone are compared. It would have {place} of"
        f" {absence.total:,}."
    )
    return Reason(Cause.NOT_COMPARED, words)


def _weaker_reason(prepared: Prepared, findings: _Findings, absence: Absence) -> Reason:
    own, other = absence.own, absence.other
    words = comparing.words_sentence(_asked(findings), findings.columns)
    if own is not None and other is not None:
        lead = _advantages(prepared, findings, own, other)
        title = comparing.quoted_title(other.item.title)
        words += f" {title}, the last one shown, {lead or 'is ahead by a little of everything'}."
    return Reason(Cause.WEAKER, words)


def _asked(findings: _Findings) -> list[str]:
    """Return the words of the question, without the parts of its identifiers."""
    reading = findings.actual.reading
    return [word for word in reading.words if word not in reading.parsed.parts]


def _unfound_reasons(prepared: Prepared, findings: _Findings, failure: str) -> list[Reason]:
    """Say why an item has no place at all: neither its words nor its meaning bring it in."""
    reasons = []
    if findings.columns:
        reasons.append(_frequent_reason(findings))
        also = "Besides, "
    else:
        words = comparing.words_sentence(_asked(findings), {})
        reasons.append(Reason(Cause.NO_SHARED_WORD, words))
        also = ""
    if prepared.meaning is None:
        why = failure or "No embedding model is there."
        reasons.append(Reason(Cause.NO_MEANING, f"Its meaning was not compared: {why}"))
    elif findings.cosine is None:
        words = f"{_no_vector(findings)}, so its meaning could not be compared."
        reasons.append(Reason(Cause.NO_VECTOR, words))
    else:
        least = found.least_cosine(findings.target.identity.noun, prepared.breadth)
        cosine = max(0.0, findings.cosine)
        words = f"its meaning is too far ({cosine:.2f}; at least {least:.2f} is needed)."
        words = f"{also}{words}" if also else f"{words[0].upper()}{words[1:]}"
        reasons.append(Reason(Cause.TOO_FAR, words))
    return reasons


def _frequent_reason(findings: _Findings) -> Reason:
    shared = list(findings.columns)
    words = comparing.quoted_words(shared)
    if len(shared) == 1:
        sentence = (
            f"The word you share, {words}, stands in so many texts that it was not looked up."
        )
    else:
        sentence = (
            f"The words you share, {words}, stand in so many texts that they were not looked up."
        )
    return Reason(Cause.FREQUENT_WORDS, sentence)


def _no_vector(findings: _Findings) -> str:
    stored = comparing.age(findings.target.identity.updated_at, datetime.now(UTC))
    return f"It has no vector yet (it was stored {stored})"


def _other_words(connection: Connection, findings: _Findings) -> tuple[str, ...]:
    """Return a few words of an item that the question does not have, the rarest first."""
    identity = findings.target.identity
    asked = set(findings.actual.reading.words)
    words = dict.fromkeys(
        word.lower()
        for text in (identity.title, *identity.tags)
        for word in _WORD.findall(text)
        if not word.isdecimal()
    )
    new = [word for word in words if word not in asked and word not in STOP_WORDS]
    new = [word for word in new if word not in findings.columns]
    counts = fulltext.document_counts(connection, new)
    return tuple(sorted(new, key=lambda word: counts[word])[:TRIED_WORDS])
