"""Conversations and everything that is remembered (seed 004)."""

import json
from typing import Any

from kmem_desktop.domain.found import ENTRY_SEARCH_LIMIT, Entry, EntryQuery
from kmem_desktop.domain.sessions.conversations import TURN_BATCH, Role, TurnDraft
from kmem_desktop.errors import InvalidInputError
from kmem_desktop.server.tools.absence_json import absence_json
from kmem_desktop.server.tools.knowledge_tools import EXPECTED, QUOTED, proposed_json
from kmem_desktop.server.tools.tool import (
    ADDS,
    READ_ONLY,
    RESULT_SIZE,
    Answer,
    Arguments,
    Caller,
    Tool,
    wire_cost,
)
from kmem_desktop.services.sessions.exchanges import ENTRY_TYPES, SessionDraft

LARGEST = RESULT_SIZE - 2_000
LEAST_CONTENT = 200
"""So many characters of a result are shown, however many there are."""


async def add_exchange(caller: Caller, arguments: Arguments) -> Answer:
    """Store turns of a conversation that the client itself holds."""
    session = SessionDraft(
        uuid=arguments.get("session_id"),
        title=arguments.get("title") or "",
        project=arguments.get("project") or "",
        tags=tuple(arguments.get("tags") or ()),
    )
    stored = await caller.services.sessions.add_exchange(session, _turns(arguments), caller.origin)
    return _answer({"session_id": stored.session_uuid, "entry_ids": list(stored.entry_ids)})


async def search_knowledge(caller: Caller, arguments: Arguments) -> Answer:
    """Answer with what helps of everything that is remembered, best first."""
    types = arguments.get("type_filter") or ()
    explain = bool(arguments.get("explain", False))
    query = EntryQuery(
        text=arguments["query"],
        limit=int(arguments.get("limit", 5)),
        types=(types,) if isinstance(types, str) else tuple(types),
        session_uuid=arguments.get("session_id"),
        tags=tuple(tag.lower() for tag in arguments.get("tags") or ()),
        min_relevance=arguments.get("min_relevance", 0.0),
        explain=explain,
    )
    entries, total = await caller.services.sessions.search(query, caller.origin.name)
    results = [entry_json(entry, explain=explain) for entry in entries]
    value: dict[str, Any] = {"results": results, "total": total, "query": arguments["query"]}
    if expected := arguments.get("why_not"):
        value["why_not"] = absence_json(await caller.services.absence.why_not(query, expected))
    if proposed := await proposed_json(caller, arguments["query"]):
        value["proposed"] = proposed
    _fit(value)
    return _answer(value, quoted=bool(results or expected or proposed))


def entry_json(entry: Entry, *, explain: bool) -> dict[str, Any]:
    """Return an entry as DESIGN.md's search_knowledge writes it."""
    value: dict[str, Any] = {
        "entry_id": entry.id,
        "id": entry.uuid,
        "type": entry.type,
        "title": entry.title,
        "content": entry.content,
        "tags": list(entry.tags),
        "session_id": entry.session_uuid or None,
        "timestamp": entry.at.isoformat(timespec="seconds"),
        "relevance": round(entry.relevance, 4),
    }
    if entry.notes:
        value["notes"] = [note.sentence for note in entry.notes]
    if entry.metadata is not None:
        value["metadata"] = dict(entry.metadata)
    if explain:
        reasons = entry.explanation
        value["explanation"] = {
            "sentence": reasons.sentence,
            "words": list(reasons.words),
            "bm25": reasons.bm25,
            "cosine": None if reasons.cosine is None else round(reasons.cosine, 4),
            "priors": {name: round(share, 4) for name, share in reasons.priors},
        }
    return value


def _fit(value: dict[str, Any]) -> None:
    """Cut the longest contents until the answer fits; then the last results give way."""
    results: list[dict[str, Any]] = value["results"]
    share = max((len(result["content"]) for result in results), default=0)
    while wire_cost(value) > LARGEST and share > LEAST_CONTENT:
        share = max(LEAST_CONTENT, min(share * 3 // 4, LARGEST))
        for result in results:
            if len(result["content"]) > share + 1:
                result["content"] = f"{result['content'][:share]}…"
                result["truncated"] = True
    while wire_cost(value) > LARGEST and results:
        results.pop()


def _turns(arguments: Arguments) -> list[TurnDraft]:
    if arguments.get("turns") is not None:
        return [
            TurnDraft(
                role=turn["role"],
                text=turn["text"],
                speaker=turn.get("speaker") or "",
                time=turn.get("time"),
                metadata=turn.get("metadata"),
            )
            for turn in arguments["turns"]
        ]
    exchange = [
        TurnDraft(role, arguments[field])
        for role, field in ((Role.USER, "question"), (Role.ASSISTANT, "answer"))
        if arguments.get(field)
    ]
    if len(exchange) != 2:
        raise InvalidInputError(
            "Give question and answer, or turns.",
            details={"errors": [{"field": "turns", "message": "missing"}]},
        )
    return exchange


def _answer(value: dict[str, Any], *, quoted: bool = False) -> Answer:
    texts = [json.dumps(value, ensure_ascii=False)]
    if quoted:
        texts.append(QUOTED)
    return Answer(value, tuple(texts))


_TEXT = {"type": "string"}

TOOLS: tuple[Tool, ...] = (
    Tool(
        name="add_exchange",
        title="Add exchange",
        description="Store turns of this conversation, to go on with it another day.",
        input_schema={
            "type": "object",
            "properties": {
                "question": _TEXT,
                "answer": _TEXT,
                "turns": {
                    "type": "array",
                    "maxItems": TURN_BATCH,
                    "items": {
                        "type": "object",
                        "properties": {
                            "role": {"enum": [role.value for role in Role]},
                            "text": _TEXT,
                            "speaker": _TEXT,
                            "time": _TEXT,
                            "metadata": {"type": "object"},
                        },
                        "required": ["role", "text"],
                    },
                },
                "session_id": _TEXT,
                "title": _TEXT,
                "project": _TEXT,
                "tags": {"type": "array", "items": _TEXT},
            },
        },
        annotations=ADDS,
        call=add_exchange,
    ),
    Tool(
        name="search_knowledge",
        title="Search everything",
        description="Search conversations, knowledge and the graph by words and meaning.",
        input_schema={
            "type": "object",
            "properties": {
                "query": {"type": "string", "minLength": 1},
                "limit": {
                    "type": "integer",
                    "minimum": ENTRY_SEARCH_LIMIT[0],
                    "maximum": ENTRY_SEARCH_LIMIT[1],
                    "default": 5,
                },
                "type_filter": {
                    "type": ["array", "string", "null"],
                    "items": {"enum": list(ENTRY_TYPES)},
                },
                "session_id": {"type": ["string", "null"]},
                "tags": {"type": "array", "items": _TEXT},
                "min_relevance": {"type": "number", "minimum": 0, "maximum": 1},
                "explain": {"type": "boolean"},
                "why_not": {"type": "string", "description": EXPECTED},
            },
            "required": ["query"],
        },
        annotations=READ_ONLY,
        call=search_knowledge,
    ),
)
