"""How an assistant is connected: the command it launches, and what to write where."""

import json
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path

from kmem_desktop.config import Paths


@dataclass(frozen=True, slots=True)
class Recipe:
    """How to connect one assistant.

    Attributes:
        assistant: Its name.
        instruction: What to do with the text.
        text: A command line, or a piece of a configuration file.
    """

    assistant: str
    instruction: str
    text: str


def launch_command(profile: Paths) -> list[str]:
    """Return the command that an assistant launches, with absolute paths.

    Assistants start it with few variables, so the database is named wherever it is not the one that
    the home folder alone leads to.
    """
    script = Path(sys.executable).with_name("kmem.exe" if sys.platform == "win32" else "kmem")
    if getattr(sys, "frozen", False):
        command = [sys.executable, "mcp"]
    elif script.exists():
        command = [str(script), "mcp"]
    elif found := shutil.which("kmem"):
        command = [found, "mcp"]
    else:
        command = [sys.executable, "-m", "kmem_desktop", "mcp"]
    if not profile.is_default:
        command += ["--db", str(profile.database)]
    return command


def recipes(profile: Paths) -> list[Recipe]:
    """Return how to connect each assistant that kmem knows."""
    command = launch_command(profile)
    server = {"command": command[0], "args": command[1:]}
    quoted = " ".join(_quoted(part) for part in command)
    return [
        Recipe(
            "Claude Code", "Run this once in a terminal", f"claude mcp add -s user kmem -- {quoted}"
        ),
        Recipe(
            "Claude Desktop, Cursor, Windsurf",
            "Add this to the MCP configuration file",
            json.dumps({"mcpServers": {"kmem": server}}, indent=2),
        ),
        Recipe(
            "VS Code",
            "Add this to mcp.json",
            json.dumps({"servers": {"kmem": {"type": "stdio", **server}}}, indent=2),
        ),
        Recipe("Codex", "Run this once in a terminal", f"codex mcp add kmem -- {quoted}"),
    ]


def connection_help(profile: Paths) -> str:
    """Return the recipes as text for a terminal."""
    parts = [
        f"{recipe.assistant}: {recipe.instruction}\n\n{recipe.text}\n"
        for recipe in recipes(profile)
    ]
    return "\n".join(parts)


def _quoted(part: str) -> str:
    if part and all(c.isalnum() or c in "/\\:._-~" for c in part):
        return part
    return f'"{part}"' if sys.platform == "win32" else "'" + part.replace("'", "'\\''") + "'"
