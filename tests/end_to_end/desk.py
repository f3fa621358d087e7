"""A person at a desktop of its own with kmem on it, and the assistants that share its memory."""

import asyncio
import contextlib
import json
import subprocess
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import psutil  # type: ignore[import-untyped]
from mcp import Client, StdioServerParameters
from mcp_types import Implementation

from tests.end_to_end.programs import KMEM, ROOT, Memory
from tests.end_to_end.screen import POLL_S, Screen

PATIENCE_S = 20.0
# Menus are not told to screen readers by Qt as windows are: the keys that lead to an entry.
OPEN_KMEM = ("Down", "Down")
QUIT_KMEM = ("Up",)
ASSISTANTS = {"claude-code": "Claude Code", "cursor-vscode": "Cursor"}


class Desk:
    """A screen, a memory, and kmem's window on it."""

    def __init__(
        self, screen: Screen, memory: Memory, *, pictures: Path | None = None, theme: str = "light"
    ) -> None:
        self.screen = screen
        self.memory = memory
        self.reader = screen.reader
        self._pictures = pictures
        self._programs: list[subprocess.Popen[bytes]] = []
        settings = memory.database.with_name(f"{memory.database.name}-settings.json")
        settings.write_text(json.dumps({"theme": theme}), encoding="utf-8")

    def start(self, *options: str) -> "subprocess.Popen[bytes]":
        """Start `kmem` as the entry of a menu does."""
        command = [*KMEM, *options, "--db", str(self.memory.database)]
        environment = {**self.screen.environment, "PYTHONPATH": str(ROOT)}
        program = subprocess.Popen(command, env=environment, cwd=self.screen.folder)
        self._programs.append(program)
        return program

    def close(self) -> None:
        """End what is still running."""
        for program in self._programs:
            program.terminate()
            program.wait(PATIENCE_S)
        self.memory.close()

    async def until(
        self, condition: Callable[[], bool], what: str, timeout_s: float = PATIENCE_S
    ) -> float:
        """Wait for a condition; return how long it took."""
        started = time.monotonic()
        while not await asyncio.to_thread(condition):
            if time.monotonic() - started > timeout_s:
                shown = self.reader.texts()
                raise AssertionError(f"{what}: not within {timeout_s} s. On the screen: {shown}")
            await asyncio.sleep(POLL_S)
        return time.monotonic() - started

    async def sees(self, text: str, role: str = "") -> str:
        """Wait until a text is to be read on the screen; return all of it."""
        await self.until(lambda: self._read(text, role) is not None, f"“{text}” is shown")
        return self._read(text, role) or ""

    async def sees_no_more(self, text: str, role: str = "") -> None:
        """Wait until a text is not to be read any more."""
        await self.until(lambda: self._read(text, role) is None, f"“{text}” is gone")

    async def has_window(self) -> None:
        """Wait until the window is on the screen and has the keyboard."""
        await self.until(lambda: self.screen.shows_window(), "the window is there")
        await self.until(lambda: self.screen.active_title() == "kmem", "it has the keyboard")

    async def has_no_window(self) -> None:
        """Wait until no window of kmem is on the screen."""
        await self.until(lambda: not self.screen.shows_window(), "the window is gone")

    async def finds_icon(self) -> tuple[int, int]:
        """Wait for the icon in the tray, with something drawn into it; return where it is."""

        def is_drawn() -> bool:
            place = self.screen.tray_icon()
            return place is not None and len(set(self.screen.picture_of(place, 12))) > 3

        await self.until(is_drawn, "the icon is in the tray")
        place = self.screen.tray_icon()
        assert place is not None
        return place

    async def choose_in_tray(self, *keys: str, picture: str = "") -> None:
        """Open the menu of the icon by the right button, and choose an entry by these keys."""
        self.screen.click(await self.finds_icon(), 3)
        await self.until(self.screen.shows_menu, "the menu is open")
        await self.picture(picture)
        self.screen.press(*keys, "Return")
        await self.until(lambda: not self.screen.shows_menu(), "the menu is closed")

    async def focus_is_on(self, role: str, name: str = "") -> None:
        """Wait until something has the keyboard."""

        def is_there() -> bool:
            return any(
                node.is_focused and node.role == role and name in node.name
                for node in self.reader.nodes()
            )

        await self.until(is_there, f"the {role} {name} has the keyboard")

    async def replace_text(self, field: str, text: str) -> None:
        """Write another text into the field that has the keyboard."""
        await self.focus_is_on("text", field)
        self.screen.press("ctrl+a")
        self.screen.type(text)

        def is_written() -> bool:
            return any(
                self.reader.typed_text(node) == text
                for node in self.reader.nodes()
                if node.role == "text" and node.name == field
            )

        await self.until(is_written, f"{field} holds what was typed")

    async def selects(self, title: str) -> None:
        """Wait until the row with this title is the selected one, and shown beside the list."""

        def is_selected() -> bool:
            nodes = self.reader.nodes()
            rows = [node for node in nodes if node.role == "cell" and node.is_selected]
            shown = [node for node in nodes if node.role == "label" and node.name == title]
            return any(row.name.startswith(f"{title}.") for row in rows) and bool(shown)

        await self.until(is_selected, f"{title} is selected and shown")

    def selected_rows(self) -> list[str]:
        """Return what the selected rows of the list say."""
        nodes = self.reader.nodes()
        return [node.name for node in nodes if node.role == "cell" and node.is_selected]

    def window_processes(self) -> list[Any]:
        """Return the processes of the window that still run."""
        return [program for program in self._programs if program.poll() is None]

    def note(self, words: str) -> None:
        """Say something that is worth knowing, where pictures are taken."""
        if self._pictures is not None:
            print(words, flush=True)

    def kmem_processes(self) -> list[Any]:
        """Return the processes that serve this memory; bridges belong to their assistants."""
        found = []
        for process in psutil.process_iter(["cmdline"]):
            command = process.info["cmdline"] or []
            serves = str(self.memory.database) in command and "mcp" not in command
            if serves and not has_ended(process):
                found.append(process)
        return found

    async def picture(self, name: str) -> None:
        """Keep what is on the screen, where pictures are wanted."""
        if self._pictures is not None and name:
            await asyncio.sleep(0.3)  # for the eye only: what fades in is there then
            self.screen.picture(self._pictures / f"{name}.png")

    def _read(self, text: str, role: str) -> str | None:
        return next((name for name in self.reader.texts(role) if text in name), None)


def assistant(memory: Memory, name: str) -> Client:
    """Return the SDK's client on a bridge of its own."""
    command, *arguments = memory.command("mcp")
    server = StdioServerParameters(
        command=command, args=arguments, env={"PYTHONPATH": str(ROOT)}, cwd=str(ROOT)
    )
    mode = "auto" if name == "claude-code" else "legacy"
    info = Implementation(name=name, version="2.1.0")
    return Client(server, client_info=info, mode=mode, read_timeout_seconds=PATIENCE_S)


@asynccontextmanager
async def two_assistants(memory: Memory) -> AsyncIterator[tuple[Client, Client]]:
    """Connect Claude Code and Cursor."""
    async with AsyncExitStack() as stack:
        claude, cursor = [
            await stack.enter_async_context(assistant(memory, name)) for name in ASSISTANTS
        ]
        yield claude, cursor


async def store(client: Client, item: dict[str, Any]) -> None:
    """Let an assistant store an item."""
    result = await client.call_tool("memory_storeKnowledge", item)
    assert not result.is_error, result


async def titles_found(client: Client, query: str) -> list[str]:
    """Let an assistant search; return the titles."""
    result = await client.call_tool("memory_searchKnowledge", {"query": query, "limit": 20})
    assert not result.is_error, result
    assert result.structured_content is not None
    return [hit["title"] for hit in result.structured_content["results"]]


def has_ended(process: Any) -> bool:
    """Tell whether a process has ended, whether or not its parent has taken note of it."""
    try:
        return not process.is_running() or process.status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


async def answers(call: Awaitable[Any]) -> bool:
    """Tell whether a call is answered, by a result or an error, instead of left hanging."""
    async with asyncio.timeout(PATIENCE_S):
        with contextlib.suppress(Exception):
            await call
    return True
