"""The reference memory server's nine tools (seed 003): same names, inputs, results and error texts.

What differs is meant: search finds words instead of one substring, an answer that would be too
large comes in pages, and names and texts have limits.
"""

import json
from collections.abc import Mapping
from typing import Any

from jsonschema.exceptions import ValidationError

from kmem_desktop.domain.graph import Entity, Graph, Relation
from kmem_desktop.errors import InvalidInputError, KmemError
from kmem_desktop.server.tools.tool import (
    ADDS,
    DELETES,
    READ_ONLY,
    RESULT_SIZE,
    Answer,
    Arguments,
    Caller,
    Tool,
)
from kmem_desktop.server.tools.tool import field_name as schema_field
from kmem_desktop.services.graph_pages import PageLimit

MOST_SENTENCES = 50
"""An error names at most this many wrong arguments."""

_TEXT = {"type": "string"}
_TEXTS = {"type": "array", "items": _TEXT}
_CURSOR = {"type": "string"}


def _object(required: Mapping[str, Any], **optional: Any) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {**required, **optional},
        "required": list(required),
    }


def _closed(properties: Mapping[str, Any]) -> dict[str, Any]:
    return {**_object(properties), "additionalProperties": False}


def _list_of(item: Mapping[str, Any]) -> dict[str, Any]:
    return {"type": "array", "items": item}


_ENTITY_FIELDS = {"name": _TEXT, "entityType": _TEXT, "observations": _TEXTS}
_RELATION_FIELDS = {"from": _TEXT, "to": _TEXT, "relationType": _TEXT}
_GRAPH_RESULT = _closed(
    {
        "entities": _list_of(_closed(_ENTITY_FIELDS)),
        "relations": _list_of(_closed(_RELATION_FIELDS)),
    }
)
_DONE_RESULT = _closed({"success": {"type": "boolean"}, "message": _TEXT})


async def create_entities(caller: Caller, arguments: Arguments) -> Answer:
    """Store entities; answer with the new ones."""
    entities = [
        Entity(entity["name"], entity["entityType"], tuple(entity["observations"]))
        for entity in arguments["entities"]
    ]
    created = await caller.services.graph.create_entities(entities, caller.origin)
    return _listed("entities", [entity_json(entity) for entity in created])


async def create_relations(caller: Caller, arguments: Arguments) -> Answer:
    """Store relations; answer with the new ones."""
    created = await caller.services.graph.create_relations(_relations(arguments), caller.origin)
    return _listed("relations", [relation_json(relation) for relation in created])


async def add_observations(caller: Caller, arguments: Arguments) -> Answer:
    """Add observations; answer with those that were new."""
    additions = [(one["entityName"], one["contents"]) for one in arguments["observations"]]
    results = await caller.services.graph.add_observations(additions, caller.origin)
    return _listed(
        "results", [{"entityName": name, "addedObservations": added} for name, added in results]
    )


async def delete_entities(caller: Caller, arguments: Arguments) -> Answer:
    """Take entities and their relations out."""
    await caller.services.graph.delete_entities(arguments["entityNames"], caller.origin)
    return _done("Entities deleted successfully")


async def delete_observations(caller: Caller, arguments: Arguments) -> Answer:
    """Take observations out."""
    deletions = [(one["entityName"], one["observations"]) for one in arguments["deletions"]]
    await caller.services.graph.delete_observations(deletions, caller.origin)
    return _done("Observations deleted successfully")


async def delete_relations(caller: Caller, arguments: Arguments) -> Answer:
    """Take relations out."""
    await caller.services.graph.delete_relations(_relations(arguments), caller.origin)
    return _done("Relations deleted successfully")


async def read_graph(caller: Caller, arguments: Arguments) -> Answer:
    """Answer with the graph, a page at a time."""
    return graph_answer(await caller.services.graph.read(arguments.get("cursor"), PAGE))


async def search_nodes(caller: Caller, arguments: Arguments) -> Answer:
    """Answer with the entities that a question is about, and their relations."""
    graph = caller.services.graph
    return graph_answer(await graph.search(arguments["query"], arguments.get("cursor"), PAGE))


async def open_nodes(caller: Caller, arguments: Arguments) -> Answer:
    """Answer with the entities of these names, and their relations."""
    graph = caller.services.graph
    return graph_answer(await graph.open(arguments["names"], arguments.get("cursor"), PAGE))


def entity_json(entity: Entity) -> dict[str, Any]:
    """Return an entity as the reference server writes it."""
    return {
        "name": entity.name,
        "entityType": entity.entity_type,
        "observations": list(entity.observations),
    }


def relation_json(relation: Relation) -> dict[str, Any]:
    """Return a relation as the reference server writes it."""
    return {
        "from": relation.from_name,
        "to": relation.to_name,
        "relationType": relation.relation_type,
    }


def graph_json(graph: Graph) -> dict[str, Any]:
    """Return a graph as the reference server writes it."""
    return {
        "entities": [entity_json(entity) for entity in graph.entities],
        "relations": [relation_json(relation) for relation in graph.relations],
    }


def graph_answer(graph: Graph) -> Answer:
    """Answer with a page of a graph; say how to get the rest where there is one."""
    value = graph_json(graph)
    texts = [_pretty(value)]
    meta = None
    if graph.next_cursor is not None:
        texts.append(
            f"This is a part: {len(graph.entities)} of {graph.entity_count} entities are shown."
            f' Call again with cursor "{graph.next_cursor}" for more.'
        )
        meta = {"kmem/nextCursor": graph.next_cursor, "kmem/truncated": True}
    return Answer(value, tuple(texts), meta=meta)


def wire_cost(part: Entity | Relation) -> int:
    """Return what an entity or a relation adds to an answer, in characters of JSON.

    It goes out twice: as structure, and as indented text inside a JSON string.
    """
    value = entity_json(part) if isinstance(part, Entity) else relation_json(part)
    compact = json.dumps(value, ensure_ascii=False)
    indented = json.dumps([[value]], ensure_ascii=False, indent=2)
    return len(compact) + len(json.dumps(indented, ensure_ascii=False))


PAGE = PageLimit(size=RESULT_SIZE - 1_000, cost=wire_cost)


def reference_error(tool_name: str, error: KmemError) -> Answer:
    """Word an error as the reference server does: one line of text."""
    if isinstance(error, InvalidInputError):
        return invalid_arguments(tool_name, error.message)
    return Answer(None, (f"{error.message} {error.hint}".rstrip(),), is_error=True)


def invalid_arguments(tool_name: str, message: str) -> Answer:
    """Word what is wrong with arguments as the reference server does."""
    text = (
        f"MCP error -32602: Input validation error: Invalid arguments for tool {tool_name}:"
        f" {message}"
    )
    return Answer(None, (text,), is_error=True)


def reference_sentence(problem: ValidationError) -> str:
    """Word a schema problem as the reference server's validator does."""
    field = schema_field(problem)
    if problem.validator == "required":
        wanted = problem.schema["properties"][field.rpartition(".")[2]]["type"]
        received = "undefined"
    else:
        wanted = problem.validator_value
        received = _received(problem.instance)
    place = "" if field == "arguments" else f" at {field}"
    return f"Invalid input: expected {wanted}, received {received}{place}"


def _received(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int | float):
        return "number"
    if isinstance(value, str):
        return "string"
    return "array" if isinstance(value, list) else "object"


class _ReferenceTool(Tool):
    """A tool whose errors read like the reference server's."""

    def check(self, arguments: Arguments) -> None:
        """Refuse arguments that do not fit the schema, in the reference server's words."""
        sentences = [reference_sentence(problem) for problem in self.problems(arguments)]
        if sentences:
            raise InvalidInputError("\n".join(sentences[:MOST_SENTENCES]))


def _relations(arguments: Arguments) -> list[Relation]:
    return [Relation(r["from"], r["to"], r["relationType"]) for r in arguments["relations"]]


def _listed(key: str, values: list[dict[str, Any]]) -> Answer:
    return Answer({key: values}, (_pretty(values),))


def _done(message: str) -> Answer:
    return Answer({"success": True, "message": message}, (message,))


def _pretty(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2)


def _tool(name: str, description: str, **parts: Any) -> Tool:
    return _ReferenceTool(
        name=name,
        title=name.replace("_", " ").title(),
        description=description,
        call=globals()[name],
        format_error=reference_error,
        **parts,
    )


TOOLS: tuple[Tool, ...] = (
    _tool(
        "create_entities",
        "Create entities in the knowledge graph; existing names are skipped",
        input_schema=_object({"entities": _list_of(_object(_ENTITY_FIELDS))}),
        output_schema=_closed({"entities": _list_of(_closed(_ENTITY_FIELDS))}),
        annotations=ADDS,
    ),
    _tool(
        "create_relations",
        "Create relations between entities, in active voice",
        input_schema=_object({"relations": _list_of(_object(_RELATION_FIELDS))}),
        output_schema=_closed({"relations": _list_of(_closed(_RELATION_FIELDS))}),
        annotations=ADDS,
    ),
    _tool(
        "add_observations",
        "Add observations to existing entities",
        input_schema=_object(
            {"observations": _list_of(_object({"entityName": _TEXT, "contents": _TEXTS}))}
        ),
        output_schema=_closed(
            {"results": _list_of(_closed({"entityName": _TEXT, "addedObservations": _TEXTS}))}
        ),
        annotations=ADDS,
    ),
    _tool(
        "delete_entities",
        "Delete entities and their relations",
        input_schema=_object({"entityNames": _TEXTS}),
        output_schema=_DONE_RESULT,
        annotations=DELETES,
    ),
    _tool(
        "delete_observations",
        "Delete observations from entities",
        input_schema=_object(
            {"deletions": _list_of(_object({"entityName": _TEXT, "observations": _TEXTS}))}
        ),
        output_schema=_DONE_RESULT,
        annotations=DELETES,
    ),
    _tool(
        "delete_relations",
        "Delete relations",
        input_schema=_object({"relations": _list_of(_object(_RELATION_FIELDS))}),
        output_schema=_DONE_RESULT,
        annotations=DELETES,
    ),
    _tool(
        "read_graph",
        "Read the knowledge graph, in pages if it is large",
        input_schema=_object({}, cursor=_CURSOR),
        output_schema=_GRAPH_RESULT,
        annotations=READ_ONLY,
    ),
    _tool(
        "search_nodes",
        "Search the knowledge graph by words in names, types and observations",
        input_schema=_object({"query": _TEXT}, cursor=_CURSOR),
        output_schema=_GRAPH_RESULT,
        annotations=READ_ONLY,
    ),
    _tool(
        "open_nodes",
        "Open entities by their names",
        input_schema=_object({"names": _TEXTS}, cursor=_CURSOR),
        output_schema=_GRAPH_RESULT,
        annotations=READ_ONLY,
    ),
)
