"""`kmem`, `kmem serve` and `kmem mcp`: the programs that stay."""

import argparse
import asyncio
import os
import sys
from collections.abc import Awaitable
from typing import TypeVar

from kmem_desktop.address import chosen_database
from kmem_desktop.commands.adding import Add
from kmem_desktop.config import Paths
from kmem_desktop.log import log_to_file
from kmem_desktop.services.connecting import connection_help

T = TypeVar("T")


def add_commands(add: Add) -> None:
    """Add `serve` and `mcp`."""
    serve = add("serve", "serve assistants without a window", _run_serve)
    serve.add_argument("--while-needed", action="store_true", help="end when nobody needs it")
    mcp = add("mcp", "what an assistant launches: connects it to kmem", _run_mcp)
    mcp.add_argument("--tools", default="", help="profiles: graph, knowledge, or all")
    mcp.add_argument("--standalone", action="store_true", help="serve in this process, alone")


def run_app(options: argparse.Namespace, profile: Paths) -> int:
    """Run the desktop app, or serve without it where there is no display."""
    if not _has_display():
        print("There is no display: kmem serves without a window. Stop it with Ctrl+C.\n")
        print(connection_help(profile), flush=True)
        return _run_serve(options, profile)
    from kmem_desktop.app import run

    return run(profile, in_background=options.background)


def _has_display() -> bool:
    if sys.platform in ("win32", "darwin"):
        return True
    names = ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM")
    return any(os.environ.get(name) for name in names)


def _run_serve(options: argparse.Namespace, profile: Paths) -> int:
    from kmem_desktop.resident import serve

    log_to_file(profile.log)
    while_needed = getattr(options, "while_needed", False)
    return _loop_run(serve(profile, while_needed=while_needed))


def _loop_run(work: Awaitable[T]) -> T:
    """Run a coroutine on the loop that this system's local socket needs."""
    if sys.platform == "win32":
        from kmem_desktop.app import run_without_window

        return run_without_window(work)

    async def main() -> T:
        return await work

    return asyncio.run(main())


def _run_mcp(options: argparse.Namespace, profile: Paths) -> int:
    if not options.standalone:
        from kmem_desktop.bridge import run as run_bridge

        return run_bridge(chosen_database(options.db), options.tools)
    from kmem_desktop.server.standalone import serve_standard_streams

    log_to_file(profile.log)
    asyncio.run(serve_standard_streams(profile, options.tools))
    return 0
