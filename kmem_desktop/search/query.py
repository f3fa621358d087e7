"""From what a person or a model typed to an FTS5 expression that is never a syntax error.

Words are joined by OR without stop words: joined by AND three quarters of real questions find
nothing. Each word goes into the expression as a quoted string, so that no character of the text is
ever read as FTS5's syntax. Besides plain words a query may hold "quoted phrases", -unwanted words,
and tag:x, scope:x, type:x, before:2026-05-03, after:2026-05.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime

from kmem_desktop.text import identifier_parts, unspaced_pairs, unspaced_runs

LEAST_BEGUN = 3
"""So many letters of a word that is being typed find, in any text, what begins with them."""
MOST_WORDS = 64
"""Words past this number are left out: a pasted page is no better question than its start."""

_STOP_WORDS_OF_ENGLISH = """
    a about above after again against all also am an and any are aren as at be because been
    before being below between both but by can could couldn d did didn do does doesn doing don
    down during each else ever few for from further get gets getting go goes going got had
    hadn has hasn have haven having he her here hers herself him himself his how however i if
    in into is isn it its itself just let ll m may me might mine more most much must my myself
    near no nor not now of off on once only or other our ours ourselves out over own per re s
    same shall she should shouldn so some such t than that the their theirs them themselves
    then there these they this those through to too under until up us ve very was wasn we were
    weren what when where which while who whom whose why will with won would wouldn you your
    yours yourself yourselves
"""
STOP_WORDS = frozenset(_STOP_WORDS_OF_ENGLISH.split())

_PIECE = re.compile(r'-?"[^"]*"?|\S+')
_WORD = re.compile(r"[^\W_]+", re.UNICODE)
_UNWANTED = re.compile(r'-"?[^\W_]')  # not --option
_FIELD = re.compile(r"(tag|scope|type|before|after):(\S+)$", re.IGNORECASE)
_DATE = re.compile(r"(\d{4})(?:-(\d{1,2})(?:-(\d{1,2}))?)?$")


@dataclass(frozen=True, slots=True)
class ParsedQuery:
    """What a query asks for.

    Attributes:
        match: The FTS5 expression; empty where nothing in the query can be looked up.
        narrowed: The same with only the rarest words looked up, the others scored; empty where
            there is no need.
        words: The words that are looked up, lower-case, as typed.
        parts: Parts of identifiers among them that are looked up too, lower-case.
        begun: The last word, lower-case, where it is still being typed; else empty.
        unwanted: The FTS5 expression of what must not be there; empty for nothing.
        tags: Only items with all of these tags.
        scope: Only items of this scope; None for any.
        kind: Only items of this noun, category or entity type; None for any.
        before: Only items changed before this time.
        after: Only items changed at or after this time.
    """

    match: str
    words: tuple[str, ...]
    parts: tuple[str, ...] = ()
    begun: str = ""
    narrowed: str = ""
    unwanted: str = ""
    tags: tuple[str, ...] = ()
    scope: str | None = None
    kind: str | None = None
    before: datetime | None = None
    after: datetime | None = None

    @property
    def has_filters(self) -> bool:
        """Whether the query narrows by something other than words."""
        return bool(self.tags or self.scope or self.kind or self.before or self.after)


def parse(text: str, *, typing: bool = False, without: frozenset[str] = frozenset()) -> ParsedQuery:
    """Read a query.

    Args:
        text: Anything at all.
        typing: The last word is still being typed: words that begin with it match too.
        without: Words, lower-case, that stand nearly everywhere: passed over like stop words.
    """
    passed_over = STOP_WORDS | without if without else STOP_WORDS
    text = text.encode("utf-8", "replace").decode("utf-8")  # half a character finds nothing
    wanted: list[str] = []
    unwanted: list[str] = []
    fields: dict[str, list[str]] = {}
    pieces = _PIECE.findall(text)
    for piece in pieces:
        if field := _read_field(piece):
            fields.setdefault(field[0], []).append(field[1])
        elif _UNWANTED.match(piece):
            unwanted.append(piece)
        else:
            wanted.append(piece)
    # A word that was finished with a space is finished.
    open_end = typing and bool(wanted) and wanted[-1] == pieces[-1] and not text[-1:].isspace()
    words = _plain_words(wanted, passed_over)
    return ParsedQuery(
        match=_expression(wanted, unwanted, passed_over, open_end=open_end),
        words=tuple(words),
        parts=tuple(_parts_of(wanted, passed_over)),
        begun=_last_word(wanted) if open_end else "",
        unwanted=" OR ".join(_unwanted_phrases(unwanted)),
        tags=tuple(tag.lower() for tag in fields.get("tag", ())),
        scope=_last(fields.get("scope")),
        kind=_last(fields.get("type")),
        before=_date(_last(fields.get("before"))),
        after=_date(_last(fields.get("after"))),
    )


def _last_word(pieces: list[str]) -> str:
    words = _WORD.findall(pieces[-1].lower())
    return words[-1] if words else ""


def _read_field(piece: str) -> tuple[str, str] | None:
    found = _FIELD.match(piece)
    if found is None:
        return None
    name, value = found.group(1).lower(), found.group(2)
    if name in ("before", "after") and _date(value) is None:
        return None
    return name, value


def _last(values: list[str] | None) -> str | None:
    return values[-1].lower() if values else None


def _date(value: str | None) -> datetime | None:
    found = _DATE.match(value) if value else None
    if found is None:
        return None
    year, month, day = (int(part) if part else 1 for part in found.groups())
    try:
        return datetime(year, month, day, tzinfo=UTC)
    except ValueError:
        return None


def _plain_words(pieces: Iterable[str], passed_over: frozenset[str]) -> list[str]:
    words = dict.fromkeys(word.lower() for piece in pieces for word in _WORD.findall(piece))
    telling = [word for word in words if word not in passed_over]
    return (telling or list(words))[:MOST_WORDS]


def _parts_of(pieces: Iterable[str], passed_over: frozenset[str]) -> list[str]:
    words = (word for piece in pieces for word in _WORD.findall(piece))
    telling = (word for word in words if word.lower() not in passed_over)
    return list(dict.fromkeys(part for word in telling for part in _parts(word, passed_over)))


def _parts(word: str, passed_over: frozenset[str]) -> list[str]:
    """Return the parts of an identifier that are worth looking up."""
    parts = [part.lower() for part in identifier_parts(word)]
    if len(parts) < 2:
        return []
    return [part for part in parts if len(part) > 1 and part not in passed_over]


def _expression(
    wanted: list[str], unwanted: list[str], passed_over: frozenset[str], *, open_end: bool
) -> str:
    terms: dict[str, None] = {}
    for piece in wanted:
        terms.update(dict.fromkeys(_terms(piece, passed_over)))
    if not terms:
        terms.update(dict.fromkeys(_stop_word_phrase(wanted)))
    chosen = list(terms)[:MOST_WORDS]
    if open_end and (last := _WORD.findall(wanted[-1])):
        chosen += _begun_terms(last[-1], is_alone={*chosen} <= {_quoted(last[-1])})
    if not chosen:
        return ""
    expression = f"({' OR '.join(chosen)})"
    for phrase in _unwanted_phrases(unwanted):
        expression += f" NOT {phrase}"
    return expression


def _unwanted_phrases(pieces: list[str]) -> list[str]:
    return [_quoted(" ".join(_WORD.findall(piece))) for piece in pieces[:MOST_WORDS]]


def _terms(piece: str, passed_over: frozenset[str]) -> list[str]:
    """Return the quoted strings to look for: the piece as a whole, its words, and their parts."""
    words = _WORD.findall(piece)
    telling = [word for word in words if word.lower() not in passed_over]
    terms = []
    if len(words) > 1 and telling:
        terms.append(_quoted(" ".join(words)))
    for word in telling:
        terms.append(_quoted(word))
        terms.extend(_quoted(part) for part in _parts(word, passed_over))
        for run in unspaced_runs(word):
            terms.extend(_unspaced_terms(run))
    return terms


def _begun_terms(word: str, *, is_alone: bool) -> list[str]:
    """Return the terms that find what begins with a word that is still being typed.

    Half of all texts have a word that begins with some two letters, or with "the": they tell
    nothing beside other words, and alone they are looked for in the titles.
    """
    begun = f"{_quoted(word)} *"
    is_telling = len(word) >= LEAST_BEGUN and word.lower() not in STOP_WORDS
    if is_telling or unspaced_runs(word):
        return [begun]
    return [f"title : {begun}"] if is_alone else []


def _unspaced_terms(run: str) -> list[str]:
    if len(run) == 1:
        return [f"{_quoted(run)} *"]
    return [_quoted(pair) for pair in unspaced_pairs(run)]


def _stop_word_phrase(wanted: list[str]) -> list[str]:
    """A question of stop words alone is looked up as a phrase: "to be or not to be"."""
    words = [word for piece in wanted for word in _WORD.findall(piece)]
    return [_quoted(" ".join(words[:MOST_WORDS]))] if len(words) > 1 else []


def _quoted(text: str) -> str:
    return '"' + text.replace('"', '""') + '"'
