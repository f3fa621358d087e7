"""The real program on a desktop of its own, used by a person while two assistants store.

    python -m tests.end_to_end.desktop OUT_DIR [--scale 2] [--dark]

plays every scene and keeps a picture of each step in OUT_DIR; the tests play the same scenes.
"""

import argparse
import asyncio
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from mcp import Client

from tests.end_to_end.desk import (
    OPEN_KMEM,
    QUIT_KMEM,
    Desk,
    answers,
    has_ended,
    store,
    titles_found,
    two_assistants,
)
from tests.end_to_end.programs import Memory
from tests.end_to_end.screen import Screen, missing
from tests.gui.shopfront import ENTITIES, KNOWLEDGE, RELATIONS

QUIT_S = 3.0
SCOPE = "project:shopfront"
QUEUE_TITLE = "Queue moved from Redis to PostgreSQL"
ALERT_TITLE = "Alert when the oldest job is over five minutes"
QUEUE = {
    "title": QUEUE_TITLE,
    "content": "Jobs were lost when Redis was restarted without persistence. `LISTEN/NOTIFY` with"
    " `SKIP LOCKED` carries 400 jobs a second here, and there is one thing less to run.",
    "tags": ["queue", "postgres"],
    "scope": SCOPE,
    "category": "decision",
}
ALERT = {
    "title": ALERT_TITLE,
    "content": "Page on the age of the oldest job, never on queue length alone: a long queue that"
    " moves is fine, an old job is not.",
    "tags": ["queue", "alerts"],
    "scope": SCOPE,
    "category": "guideline",
}
PAGES = ("Knowledge", "Graph", "Activity", "Connections", "Settings")
CHANGED = "Queue moved from Redis to PostgreSQL in May"
NEW = "Prices are integers in cents"
NEW_CONTENT = "All prices are integers in the smallest unit, with a currency code beside them."


async def one_memory_for_all(desk: Desk) -> None:
    """Two assistants and a person share one memory, from the first item to Quit."""
    async with two_assistants(desk.memory) as (claude, cursor):
        await store(claude, QUEUE)
        first = desk.memory.resident()
        desk.start()
        await desk.has_window()
        await desk.until(lambda: has_ended(first), "the resident without a window is gone")
        await window_shows_what_assistants_store(desk, cursor)
        assert QUEUE_TITLE in await titles_found(claude, "redis"), "the bridge went on"
        await person_searches_and_edits(desk, claude)
        await person_forgets_and_takes_it_back(desk, cursor)
        await person_writes(desk, cursor)
        await closing_hides_and_a_second_start_brings_back(desk)
        await quitting_ends_everything(desk, claude, cursor)


async def window_shows_what_assistants_store(desk: Desk, cursor: Client) -> None:
    """What an assistant stores appears by itself, with its name; the tray says who is there."""
    await desk.finds_icon()
    row = await desk.sees(QUEUE_TITLE, "cell")
    assert "from Claude Code" in row
    # Both have to come back from the resident that handed over: their next call brings them.
    await store(cursor, ALERT)
    row = await desk.sees(ALERT_TITLE, "cell")
    assert "from Cursor" in row
    await desk.sees(f"Cursor stored “{ALERT_TITLE}”")
    await desk.picture("2-stored-by-an-assistant")


async def person_searches_and_edits(desk: Desk, claude: Client) -> None:
    """Search, walk to a row, edit and save it by the keyboard; assistants find the change."""
    screen = desk.screen
    await desk.sees("2 assistants connected")
    screen.press("ctrl+f")
    await desk.replace_text("Search everything", "job queue")
    await desk.sees("2 results in")
    await desk.sees("Best match")
    screen.press("Home", "Down")
    screen.press("Up")
    await desk.until(lambda: len(desk.selected_rows()) == 1, "a row is selected")
    if not desk.selected_rows()[0].startswith(QUEUE_TITLE):
        screen.press("Down")
    await desk.selects(QUEUE_TITLE)
    await desk.sees("Why it was found")
    await desk.picture("3-searched")
    screen.press("Return")
    screen.press("e")
    await desk.replace_text("Title", CHANGED)
    await desk.picture("4-editing")
    screen.press("ctrl+s")
    await desk.sees(f"Changed “{CHANGED}”")
    await desk.selects(CHANGED)
    await desk.picture("5-saved")
    assert CHANGED in await titles_found(claude, "queue moved in May")


async def person_forgets_and_takes_it_back(desk: Desk, cursor: Client) -> None:
    """Del forgets, Ctrl+Z takes it back; assistants see both."""
    screen = desk.screen
    screen.press("Delete")
    await desk.sees(f"Forgotten: “{CHANGED}”")
    await desk.sees_no_more(f"{CHANGED}.", "cell")
    await desk.picture("6-forgotten")
    assert CHANGED not in await titles_found(cursor, "queue moved in May")
    screen.press("ctrl+z")
    await desk.sees("Taken back")
    await desk.sees(f"{CHANGED}.", "cell")
    assert CHANGED in await titles_found(cursor, "queue moved in May")


async def person_writes(desk: Desk, cursor: Client) -> None:
    """What a person writes is found by assistants."""
    screen = desk.screen
    screen.press("ctrl+n")
    await desk.replace_text("Title", NEW)
    screen.press("Tab")
    await desk.focus_is_on("text", "Content")
    screen.type(NEW_CONTENT)
    screen.press("Tab")
    await desk.focus_is_on("text", "Tags")
    screen.type("money")
    await desk.picture("7-written")
    screen.press("ctrl+s")
    await desk.sees(f"Stored “{NEW}”")
    await desk.until(lambda: NEW in desk.reader.texts("label"), "what was written is shown")
    assert NEW in await titles_found(cursor, "prices in cents")


async def closing_hides_and_a_second_start_brings_back(desk: Desk) -> None:
    """Closing hides and says so once; starting kmem again shows the window and ends at once."""
    desk.screen.close_active_window()
    await desk.has_no_window()
    assert desk.memory.status() is not None, "kmem serves on"
    await desk.picture("8-closed")
    second = desk.start()
    await desk.has_window()
    assert await asyncio.to_thread(second.wait, 10) == 0
    await desk.sees("kmem went on in the tray")
    await desk.sees("Quit instead", "push button")
    await desk.picture("9-brought-back")
    desk.screen.close_active_window()
    await desk.has_no_window()
    await desk.choose_in_tray(*OPEN_KMEM, picture="10-tray-menu")
    await desk.has_window()
    await desk.sees("2 assistants connected")
    assert "kmem went on in the tray." not in desk.reader.texts()


async def quitting_ends_everything(desk: Desk, claude: Client, cursor: Client) -> None:
    """Quit in the tray ends every process; what assistants ask meanwhile is answered."""
    asked = [
        asyncio.create_task(answers(client.call_tool("read_graph", {})))
        for client in (claude, cursor)
        for _ in range(5)
    ]
    await desk.choose_in_tray(*QUIT_KMEM)
    took = await desk.until(lambda: not desk.window_processes(), "kmem has ended", QUIT_S)
    desk.note(f"Quit took {took:.2f} s")
    assert all(await asyncio.gather(*asked))
    await desk.until(lambda: desk.screen.tray_icon() is None, "the icon is gone")
    assert await answers(titles_found(claude, "redis"))
    # The next question of an assistant starts the resident without a window again.
    assert CHANGED in await titles_found(cursor, "queue moved in May")


async def background_shows_only_the_icon(desk: Desk) -> None:
    """`kmem --background` shows the icon; its menu opens the window, and Quit ends it."""
    program = desk.start("--background")
    await desk.finds_icon()
    await desk.until(lambda: desk.memory.status() is not None, "kmem serves")
    assert not desk.screen.shows_window()
    await desk.picture("background")
    await desk.choose_in_tray(*OPEN_KMEM)
    await desk.has_window()
    await desk.sees("Nothing is remembered yet")
    await desk.picture("1-empty")
    desk.screen.press("ctrl+q")
    assert await asyncio.to_thread(program.wait, QUIT_S) == 0
    assert desk.kmem_processes() == []


async def without_a_tray_closing_quits(desk: Desk) -> None:
    """Where there is no tray the window says that closing quits, and it does."""
    program = desk.start()
    await desk.has_window()
    await desk.sees("This desktop has no tray, so closing this window quits kmem.")
    await desk.until(lambda: desk.memory.status() is not None, "kmem serves")
    await desk.picture("no-tray")
    desk.screen.close_active_window()
    assert await asyncio.to_thread(program.wait, QUIT_S) == 0
    assert desk.kmem_processes() == []


async def a_wrong_file_is_explained(desk: Desk) -> None:
    """A file that is no memory is left alone, and the window says what to do."""
    text = "this is a shopping list and no database\n" * 200
    desk.memory.database.write_text(text, encoding="utf-8")
    program = desk.start()
    await desk.has_window()
    await desk.sees("This file is not a memory of kmem.")
    await desk.sees("What is safe")
    await desk.sees("What to do")
    await desk.picture("wrong-file")
    desk.screen.press("Escape")
    assert await asyncio.to_thread(program.wait, 10) == 1
    assert desk.memory.database.read_text(encoding="utf-8") == text


async def damage_is_explained(desk: Desk) -> None:
    """A damaged memory is not touched, and the window says what is safe."""
    done = desk.memory.run("search", "anything")
    assert done.returncode == 0, done.stderr
    whole = bytearray(desk.memory.database.read_bytes())
    whole[100:4096] = b"\xff" * 3996
    desk.memory.database.write_bytes(whole)
    program = desk.start()
    await desk.has_window()
    await desk.sees("The memory file is damaged.")
    await desk.picture("damaged")
    desk.screen.press("Escape")
    assert await asyncio.to_thread(program.wait, 10) == 1
    assert desk.memory.database.read_bytes() == bytes(whole)


async def a_full_memory(desk: Desk) -> None:
    """What the window looks like with a project in it."""
    desk.start()
    await desk.has_window()
    async with two_assistants(desk.memory) as (claude, cursor):
        for number, (title, content, tags, scope, category, priority) in enumerate(KNOWLEDGE):
            item = {"title": title, "content": content, "tags": list(tags), "scope": scope}
            more = {"category": category, "priority": priority, "confidence": 0.9}
            await store((claude, cursor)[number % 2], {**item, **more})
        await create_graph(claude)
        await desk.sees(f"{len(KNOWLEDGE) + len(ENTITIES)} items")
        desk.screen.press("ctrl+f")
        await desk.replace_text("Search everything", "why did we move off redis")
        await desk.sees("Best match")
        await desk.sees("Why it was found")
        desk.screen.press("Down")
        desk.screen.press("Up")
        await desk.picture("full-search")
        for number, title in enumerate(PAGES, start=2):
            desk.screen.press(f"ctrl+{number}")
            await desk.sees(title, "filler")
            await desk.picture(f"full-{title.lower()}")
        desk.screen.press("ctrl+k")
        await desk.focus_is_on("text", "What do you want to do?")
        await desk.picture("full-palette")
        desk.screen.press("Escape")
        desk.screen.press("ctrl+shift+f")
        await desk.until(
            lambda: "Quick search" in desk.screen.active_title(), "the quick search is there"
        )
        await desk.replace_text("Search everything", "queue alerts")
        await desk.picture("full-quick-search")


async def create_graph(client: Client) -> None:
    """Let an assistant store the entities and relations of the project."""
    entities = [
        {"name": name, "entityType": kind, "observations": list(observations)}
        for name, kind, observations in ENTITIES
    ]
    relations = [
        {"from": first, "to": second, "relationType": kind} for first, second, kind in RELATIONS
    ]
    await client.call_tool("create_entities", {"entities": entities})
    await client.call_tool("create_relations", {"relations": relations})


SCENES = (
    background_shows_only_the_icon,
    one_memory_for_all,
    a_full_memory,
    a_wrong_file_is_explained,
    damage_is_explained,
)


@contextmanager
def desk_on(screen: Screen, folder: Path, **options: Any) -> Iterator[Desk]:
    """Sit down at a screen with a fresh memory."""
    folder.mkdir()
    desk = Desk(screen, Memory(folder / "kmem.db"), **options)
    try:
        yield desk
    finally:
        desk.close()


def play(out: Path, *, scale: int, theme: str) -> None:
    """Play all scenes on one screen, and keep pictures."""
    out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as name:
        root = Path(name)
        with Screen(root / "screen", scale=scale) as screen:
            for scene in SCENES:
                with desk_on(screen, root / scene.__name__, pictures=out, theme=theme) as desk:
                    print(scene.__name__, flush=True)
                    asyncio.run(scene(desk))
        with (
            Screen(root / "bare", scale=scale, has_tray=False) as screen,
            desk_on(screen, root / "no-tray", pictures=out, theme=theme) as desk,
        ):
            asyncio.run(without_a_tray_closing_quits(desk))


def main() -> int:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="python -m tests.end_to_end.desktop")
    parser.add_argument("out", type=Path, help="the folder for the pictures")
    parser.add_argument("--scale", type=int, default=1, help="pixels for each of the drawing")
    parser.add_argument("--dark", action="store_true", help="light on dark")
    options = parser.parse_args()
    if packages := missing():
        print(f"Not there: {', '.join(packages)}. Install with apt-get install.")
        return 2
    play(options.out, scale=options.scale, theme="dark" if options.dark else "light")
    return 0


if __name__ == "__main__":
    sys.exit(main())
