"""Tags of knowledge and conversations: listed, or changed in many places at once."""

from collections.abc import Callable, Mapping
from typing import Any

from kmem_desktop.domain.library.reports import MOST_TAGGED, TAG_PAGE, TagCount, Tagging
from kmem_desktop.errors import InvalidInputError
from kmem_desktop.server.tools.tool import (
    ADDS,
    RESULT_SIZE,
    Answer,
    Arguments,
    Caller,
    Tool,
    json_answer,
    whole_number,
    wire_cost,
)
from kmem_desktop.services.library.tags import MOST_TAGS

LARGEST = RESULT_SIZE - 2_000


async def manage_tags(caller: Caller, arguments: Arguments) -> Answer:
    """List tags, or change many of them at once."""
    action = arguments["action"]
    if action == "list":
        return await _listed_tags(caller, arguments)
    missing = [name for name in _NEEDED[action] if not arguments.get(name)]
    if missing:
        errors = [
            {"field": name, "message": f"{action} needs {name}: {_MEANING[name]}."}
            for name in missing
        ]
        message = " ".join(error["message"] for error in errors)
        raise InvalidInputError(message, details={"errors": errors})
    tagging = await _CHANGES[action](caller, arguments)
    changed = tagging.items + tagging.sessions
    value: dict[str, Any] = {
        "action": action,
        "items_changed": tagging.items,
        "sessions_changed": tagging.sessions,
        "message": "Done; the user can undo it." if changed else "Nothing had to be changed.",
    }
    if tagging.batch:
        value["undo_id"] = tagging.batch
    return json_answer(value)


async def _listed_tags(caller: Caller, arguments: Arguments) -> Answer:
    page = await caller.services.library.tags.page(
        containing=arguments.get("query") or "",
        limit=int(arguments.get("limit", 100)),
        cursor=arguments.get("cursor"),
    )
    value: dict[str, Any] = {"tags": [tag_json(tag) for tag in page.tags], "total": page.total}
    notes = []
    start = int((arguments.get("cursor") or "t0")[1:])
    while wire_cost(value) > LARGEST:
        value["tags"] = value["tags"][: len(value["tags"]) * 3 // 4]
    end = start + len(value["tags"])
    if end < page.total:
        value["next_cursor"] = f"t{end}"
        notes.append(f'Call again with cursor "t{end}" for more.')
    return json_answer(value, notes)


async def _rename(caller: Caller, arguments: Arguments) -> Tagging:
    tags = arguments["tags"]
    if len(tags) != 1:
        message = "rename takes one tag in tags; to put several together, use merge."
        raise InvalidInputError(
            message, details={"errors": [{"field": "tags", "message": message}]}
        )
    return await caller.services.library.tags.rename(tags[0], arguments["to"], caller.origin)


async def _merge(caller: Caller, arguments: Arguments) -> Tagging:
    tags = caller.services.library.tags
    return await tags.merge(arguments["tags"], arguments["to"], caller.origin)


async def _delete(caller: Caller, arguments: Arguments) -> Tagging:
    return await caller.services.library.tags.delete(arguments["tags"], caller.origin)


async def _add(caller: Caller, arguments: Arguments) -> Tagging:
    tags = caller.services.library.tags
    return await tags.add(arguments["tags"], _ids(arguments), caller.origin)


async def _remove(caller: Caller, arguments: Arguments) -> Tagging:
    tags = caller.services.library.tags
    return await tags.remove(arguments["tags"], _ids(arguments), caller.origin)


def _ids(arguments: Arguments) -> list[str]:
    return [str(each) for each in arguments["ids"]]


_CHANGES: Mapping[str, Callable[..., Any]] = {
    "rename": _rename,
    "merge": _merge,
    "delete": _delete,
    "add": _add,
    "remove": _remove,
}
_NEEDED = {
    "rename": ("tags", "to"),
    "merge": ("tags", "to"),
    "delete": ("tags",),
    "add": ("tags", "ids"),
    "remove": ("tags", "ids"),
}
_MEANING = {
    "tags": "the tags",
    "to": "the new name",
    "ids": "ids of items or sessions",
}


def tag_json(tag: TagCount) -> dict[str, Any]:
    """Return a tag as the wire writes it."""
    return {
        "tag": tag.name,
        "items": tag.items,
        "sessions": tag.sessions,
        "last_used": tag.last_used.isoformat(timespec="seconds"),
    }


_TEXT = {"type": "string"}

MANAGE_TAGS = Tool(
    name="manage_tags",
    title="Manage tags",
    description=(
        "List, rename, merge or delete tags everywhere, or add and remove them on some ids."
        ' rename: tags ["old"], to "new"; merge: tags, to; delete: tags; add, remove: tags,'
        " ids (of items or sessions)."
    ),
    input_schema={
        "type": "object",
        "properties": {
            "action": {"enum": ["list", *_CHANGES]},
            "tags": {"type": "array", "items": _TEXT, "maxItems": MOST_TAGS},
            "to": _TEXT,
            "ids": {
                "type": "array",
                "items": {"type": ["string", "integer"]},
                "maxItems": MOST_TAGGED,
            },
            "query": {**_TEXT, "description": "list: only tags with this text"},
            "limit": whole_number(*TAG_PAGE, 100),
            "cursor": _TEXT,
        },
        "required": ["action"],
    },
    annotations={**ADDS, "destructiveHint": True},
    call=manage_tags,
)
