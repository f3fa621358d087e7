"""The memory as a whole (seed 004, supporting tools): archive, copy, bring in, count, tag, draw.

No tool takes or gives a path: a copy goes out and comes in as text. `kmem export` writes files.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import datetime
from typing import Any

from kmem_desktop.domain.knowledge import Category
from kmem_desktop.domain.library.copies import (
    CopyFormat,
    CopyPart,
    CopyQuery,
    CopyReport,
)
from kmem_desktop.domain.library.reports import (
    ANALYSIS_DAYS,
    PICTURE_DEPTH,
    PICTURE_LIMIT,
    USUAL_ANALYSIS_DAYS,
    Aged,
    Analysis,
    Pair,
    Picture,
    Search,
)
from kmem_desktop.errors import InvalidInputError
from kmem_desktop.server.tools import tag_tools
from kmem_desktop.server.tools.recall_tools import QUOTED, facts_json
from kmem_desktop.server.tools.tag_tools import tag_json
from kmem_desktop.server.tools.tool import (
    ADDS,
    READ_ONLY,
    RESULT_SIZE,
    Answer,
    Arguments,
    Caller,
    Tool,
    json_answer,
    whole_number,
    wire_cost,
)
from kmem_desktop.services.library.picture import USUAL_DEPTH, USUAL_LIMIT, mermaid

LARGEST = RESULT_SIZE - 2_000
SHOWN_PROBLEMS = 50
MOST_GROUPS = 20


async def archive_session(caller: Caller, arguments: Arguments) -> Answer:
    """Put a session away, or take it back."""
    uuid = arguments["session_id"]
    life = caller.services.session_life
    if arguments.get("archive", True):
        await life.archive(uuid, caller.origin)
    else:
        await life.unarchive(uuid, caller.origin)
    return json_answer(facts_json(await caller.services.recall.facts(uuid)))


async def export_knowledge(caller: Caller, arguments: Arguments) -> Answer:
    """Answer with a page of a copy of the memory."""
    page = await caller.services.library.exporting.page(
        _copy_query(arguments),
        CopyFormat(arguments.get("format") or CopyFormat.MARKDOWN),
        arguments.get("cursor"),
        LARGEST - 500,
        lambda text: wire_cost({"text": text}) - wire_cost({"text": ""}),
    )
    value: dict[str, Any] = {"text": page.text, "counts": dict(page.counts)}
    notes = [QUOTED]
    if page.cut_count:
        value["cut_texts"] = page.cut_count
        notes.append(
            f"{page.cut_count} texts are too long for an answer and are cut;"
            " the user can write everything to a file with: kmem export FILE"
        )
    if page.next_cursor is not None:
        value["next_cursor"] = page.next_cursor
        notes.append(f'Call again with cursor "{page.next_cursor}" for the next page.')
    return json_answer(value, notes)


def _copy_query(arguments: Arguments) -> CopyQuery:
    category = arguments.get("category")
    since = arguments.get("since")
    filters = ("scope", "category", "tags", "session_id")
    usual: Sequence[str] = [CopyPart.KNOWLEDGE, CopyPart.GRAPH]
    if any(arguments.get(name) for name in filters):
        # The graph has neither scope nor tags: who asks for some knowledge does not mean all of it.
        usual = [CopyPart.KNOWLEDGE]
    wanted = arguments.get("include") or usual
    return CopyQuery(
        parts=tuple(part for part in CopyPart if part.value in wanted),
        scope=arguments.get("scope"),
        category=Category(category) if category else None,
        tags=tuple(arguments.get("tags") or ()),
        session_uuid=arguments.get("session_id"),
        since=_time(since) if since else None,
    )


def _time(text: str) -> datetime:
    try:
        return datetime.fromisoformat(text.strip())
    except ValueError as error:
        message = "since must be a date such as 2026-05-03."
        raise InvalidInputError(
            message, details={"errors": [{"field": "since", "message": message}]}
        ) from error


async def import_knowledge(caller: Caller, arguments: Arguments) -> Answer:
    """Bring a copy in, or tell what would happen."""
    report = await caller.services.library.importing.bring_in(
        arguments["content"], caller.origin, dry_run=bool(arguments.get("dry_run", False))
    )
    return json_answer(report_json(report))


def report_json(report: CopyReport) -> dict[str, Any]:
    """Return what bringing a copy in did as the wire writes it."""
    value: dict[str, Any] = {
        "dry_run": report.is_dry_run,
        "new": dict(report.new),
        "changed": report.changed,
        "already_there": dict(report.known),
        "problems": [asdict(problem) for problem in report.problems[:SHOWN_PROBLEMS]],
        "problem_count": len(report.problems),
        "message": _report_sentence(report),
    }
    if report.batch:
        value["undo_id"] = report.batch
    if report.secrets:
        value["secrets_replaced"] = dict(report.secrets)
    return value


def _report_sentence(report: CopyReport) -> str:
    if report.is_dry_run:
        return "Nothing was written: this is what would happen."
    if not report.batch:
        return "Everything in it was there already; nothing was changed."
    return "Brought in; the user can undo it as a whole in the window."


async def analyze_knowledge(caller: Caller, arguments: Arguments) -> Answer:
    """Answer with what the memory is made of."""
    analysis = await caller.services.library.analysis.analyse(
        scope=arguments.get("scope"), days=int(arguments.get("days", USUAL_ANALYSIS_DAYS))
    )
    return json_answer(analysis_json(analysis), [QUOTED])


def analysis_json(analysis: Analysis) -> dict[str, Any]:
    """Return what the memory is made of as the wire writes it."""
    sessions = analysis.sessions
    return {
        "scope": analysis.scope or None,
        "days": analysis.days,
        "totals": dict(analysis.totals),
        "by_category": dict(analysis.by_category),
        "by_scope": _largest(analysis.by_scope),
        "by_client": _largest(analysis.by_client),
        "by_month": dict(list(analysis.by_month.items())[-24:]),
        "tags": [tag_json(tag) for tag in analysis.tags],
        "most_referenced": [asdict(entry) for entry in analysis.referenced],
        "most_connected_entities": [asdict(entity) for entity in analysis.entities],
        "sessions": {
            "count": sessions.count,
            "active_in_period": sessions.active_in_period,
            "turns": sessions.turns,
            "tokens": sessions.tokens,
            "longest_turns": sessions.longest,
            "by_status": dict(sessions.by_state),
            "by_client": dict(sessions.by_client),
        },
        "searches": {
            "most_asked": [_search_json(search) for search in analysis.asked],
            "found_nothing": [_search_json(search) for search in analysis.unanswered],
        },
        "stale": [_aged_json(item) for item in analysis.stale],
        "suspected_duplicates": [_pair_json(pair) for pair in analysis.alike],
        "contradictions": [_pair_json(pair) for pair in analysis.contradictions],
    }


def _largest(groups: Mapping[str, int]) -> dict[str, int]:
    return dict(list(groups.items())[:MOST_GROUPS])


def _search_json(search: Search) -> dict[str, Any]:
    at = search.last_at.isoformat(timespec="seconds")
    return {
        "query": search.text[:200],
        "times": search.count,
        "results": search.found,
        "last_at": at,
    }


def _aged_json(item: Aged) -> dict[str, Any]:
    value = {
        "id": item.uuid,
        "title": item.title,
        "updated_at": item.updated_at.isoformat(timespec="seconds"),
    }
    return {**value, "superseded_by": item.superseded_by} if item.superseded_by else value


def _pair_json(pair: Pair) -> dict[str, Any]:
    return {"ids": list(pair.uuids), "titles": list(pair.titles), "strength": pair.strength}


async def visualize_knowledge_graph(caller: Caller, arguments: Arguments) -> Answer:
    """Answer with a part of the graph as a picture."""
    limit = int(arguments.get("limit", USUAL_LIMIT))
    as_json = arguments.get("format") == "json"
    while True:
        picture = await caller.services.library.picture.draw(
            arguments.get("center"), depth=int(arguments.get("depth", USUAL_DEPTH)), limit=limit
        )
        value = picture_json(picture) if as_json else mermaid_json(picture)
        if wire_cost(value) <= LARGEST or limit == 1:
            break
        limit = max(1, limit * 3 // 4)
    notes = [QUOTED]
    if picture.left_out:
        notes.append(
            f"{picture.left_out} more are not shown: name a center, or give a higher limit."
        )
    while wire_cost(value) > LARGEST and value.get("edges"):
        value["edges"] = value["edges"][: len(value["edges"]) // 2]
        value["left_out_edges"] = len(picture.edges) - len(value["edges"])
    return json_answer(value, notes)


def mermaid_json(picture: Picture) -> dict[str, Any]:
    """Return a picture as Mermaid text, with its figures."""
    return {
        "format": "mermaid",
        "mermaid": mermaid(picture),
        "node_count": len(picture.nodes),
        "edge_count": len(picture.edges),
        "left_out": picture.left_out,
    }


def picture_json(picture: Picture) -> dict[str, Any]:
    """Return a picture as dots and lines."""
    return {
        "format": "json",
        "nodes": [
            {
                "key": node.key,
                "title": node.title,
                "kind": node.kind or None,
                "noun": "knowledge" if node.is_item else "entity",
                "id": node.uuid or None,
                "links": node.links,
            }
            for node in picture.nodes
        ],
        "edges": [
            {"from": edge.start, "to": edge.end, "label": edge.label} for edge in picture.edges
        ],
        "center": picture.center or None,
        "left_out": picture.left_out,
    }


_TEXT = {"type": "string"}
_TEXTS = {"type": "array", "items": _TEXT}


TOOLS: tuple[Tool, ...] = (
    Tool(
        name="archive_session",
        title="Archive a session",
        description="Put a session away, out of the lists; archive=false brings it back.",
        input_schema={
            "type": "object",
            "properties": {
                "session_id": _TEXT,
                "archive": {"type": "boolean", "default": True},
            },
            "required": ["session_id"],
        },
        annotations={**ADDS, "idempotentHint": True},
        call=archive_session,
    ),
    Tool(
        name="export_knowledge",
        title="Export knowledge",
        description=(
            "Return a copy of what is remembered as text, page by page; each page can be given to"
            " import_knowledge. Without include: knowledge and graph, with a filter knowledge only."
        ),
        input_schema={
            "type": "object",
            "properties": {
                "format": {"enum": [each.value for each in CopyFormat], "default": "markdown"},
                "scope": _TEXT,
                "category": {"enum": [category.value for category in Category]},
                "tags": _TEXTS,
                "session_id": _TEXT,
                "since": {**_TEXT, "description": "date, ISO 8601"},
                "include": {
                    "type": "array",
                    "items": {"enum": [part.value for part in CopyPart]},
                },
                "cursor": _TEXT,
            },
        },
        annotations=READ_ONLY,
        call=export_knowledge,
    ),
    Tool(
        name="import_knowledge",
        title="Import knowledge",
        description=(
            "Store the text that export_knowledge returned, or lines of the reference memory's"
            " memory.jsonl. What is there already is skipped; the user can undo it as a whole."
        ),
        input_schema={
            "type": "object",
            "properties": {
                "content": {**_TEXT, "description": "the text itself, not a path"},
                "dry_run": {
                    "type": "boolean",
                    "default": False,
                    "description": "only report what would happen",
                },
            },
            "required": ["content"],
        },
        annotations={**ADDS, "idempotentHint": True},
        call=import_knowledge,
    ),
    Tool(
        name="analyze_knowledge",
        title="Analyse the memory",
        description=(
            "Count what is remembered by category, scope, client and month; name the most used"
            " tags, searches without result, stale items, duplicates and contradictions."
        ),
        input_schema={
            "type": "object",
            "properties": {
                "scope": _TEXT,
                "days": whole_number(*ANALYSIS_DAYS, USUAL_ANALYSIS_DAYS),
            },
        },
        annotations=READ_ONLY,
        call=analyze_knowledge,
    ),
    tag_tools.MANAGE_TAGS,
    Tool(
        name="visualize_knowledge_graph",
        title="Draw the knowledge graph",
        description=(
            "Draw entities and relations around a center (entity name or item id), or the most"
            " connected ones, as a Mermaid flowchart or as JSON nodes and edges."
        ),
        input_schema={
            "type": "object",
            "properties": {
                "center": _TEXT,
                "depth": whole_number(*PICTURE_DEPTH, USUAL_DEPTH),
                "limit": whole_number(*PICTURE_LIMIT, USUAL_LIMIT),
                "format": {"enum": ["mermaid", "json"], "default": "mermaid"},
            },
        },
        annotations=READ_ONLY,
        call=visualize_knowledge_graph,
    ),
)
