"""Which tools a client sees: a comma-separated list of profiles, or `all`."""

import dataclasses
from functools import cache

from kmem_desktop.errors import InvalidInputError
from kmem_desktop.server.tools import (
    graph_tools,
    knowledge_tools,
    library_tools,
    recall_tools,
    rules_tools,
    session_tools,
)
from kmem_desktop.server.tools.tool import Tool

PROFILES: dict[str, tuple[Tool, ...]] = {
    "graph": graph_tools.TOOLS,
    "knowledge": knowledge_tools.TOOLS,
    "rules": rules_tools.TOOLS,
    "sessions": (*recall_tools.TOOLS, *session_tools.TOOLS),
    "library": library_tools.TOOLS,
}
DEFAULT_PROFILES = ("graph", "knowledge", "rules", "sessions")
DROP_IN = ("graph",)
"""Alone, the graph's tools stand in for the reference server: with its output schemas."""


def profile_names(text: str) -> tuple[str, ...]:
    """Read a profile list as it was given on the command line.

    Raises:
        InvalidInputError: A name is unknown.
    """
    names = tuple(dict.fromkeys(part.strip().lower() for part in text.split(",") if part.strip()))
    if not names:
        return DEFAULT_PROFILES
    if names == ("all",):
        return tuple(PROFILES)
    unknown = [name for name in names if name not in PROFILES]
    if unknown:
        raise InvalidInputError(
            f"--tools knows {', '.join(PROFILES)} and all, not {', '.join(unknown)}."
        )
    return names


@cache
def tools_of(names: tuple[str, ...]) -> dict[str, Tool]:
    """Return the tools of some profiles by name, in a fixed order."""
    tools: dict[str, Tool] = {}
    for name in names:
        for tool in PROFILES[name]:
            listed = tool if names == DROP_IN else dataclasses.replace(tool, output_schema=None)
            tools[tool.name] = listed
    return tools


def called_name(name: str) -> str:
    """Return the listed name for a name as clients write it: `memory.storeKnowledge` too."""
    return name.removeprefix("mcp__kmem__").replace(".", "_")
