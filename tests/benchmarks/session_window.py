"""How fast sessions are listed and opened, and how long the window stalls while one scrolls.

    python -m tests.benchmarks.session_window

lists 10,000 sessions and opens one of 2,000 turns, without a display and an embedding model.
Beside the time on the wall stands what the Qt thread itself worked, which other programs on a busy
machine do not change.
"""

import asyncio
import os
import random
import tempfile
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

import apsw
import qasync
from PySide6.QtCore import QEvent, QObject, Qt, QTimer
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QWidget

from kmem_desktop.app import leave_out_of_collections
from kmem_desktop.bootstrap import Services, opened_services
from kmem_desktop.config import SettingsFile, paths
from kmem_desktop.domain.changes import Origin, OriginKind
from kmem_desktop.domain.sessions.conversations import TurnDraft
from kmem_desktop.gui.application import apply_theme, create_application
from kmem_desktop.gui.conversation.conversation_view import ConversationView
from kmem_desktop.gui.main_window import MainWindow
from kmem_desktop.gui.sessions.sessions_page import SessionsPage
from kmem_desktop.services.sessions.exchanges import SessionDraft
from kmem_desktop.services.startup import StartupService
from tests.benchmarks.measures import machine
from tests.benchmarks.texts import run as words
from tests.benchmarks.window import without_model

SESSIONS = 10_000
TURNS = 2_000
OPENINGS = 5
SETTLE_S = 1.5
TICK_MS = 1
BY_CLIENT = Origin(OriginKind.CLIENT, "Claude Code", "add_exchange")


class Watch(QObject):
    """Notes the longest time for which the loop did not come round, and what it worked then."""

    def __init__(self) -> None:
        super().__init__()
        self.worst_ms = self.worst_work_ms = 0.0
        self.late = 0
        self._timer = QTimer(self)
        self._timer.setTimerType(Qt.TimerType.PreciseTimer)
        self._timer.timeout.connect(self._tick)
        self._wall = self._work = 0.0

    def start(self) -> None:
        """Begin to watch."""
        self.worst_ms = self.worst_work_ms = 0.0
        self.late = 0
        self._wall, self._work = time.perf_counter(), time.thread_time()
        self._timer.start(TICK_MS)

    def words(self) -> str:
        """Return what was seen."""
        self._timer.stop()
        return (
            f"longest stall {self.worst_ms:.1f} ms, longest work {self.worst_work_ms:.1f} ms,"
            f" over 16 ms of work {self.late} times"
        )

    def _tick(self) -> None:
        wall, work = time.perf_counter(), time.thread_time()
        worked = (work - self._work) * 1000
        self.worst_ms = max(self.worst_ms, (wall - self._wall) * 1000)
        self.worst_work_ms = max(self.worst_work_ms, worked)
        self.late += worked > 16
        self._wall, self._work = wall, work


class FirstPaint(QObject):
    """Waits until a widget is painted while something is true."""

    def __init__(self, widget: QWidget) -> None:
        super().__init__(widget)
        self.at = 0.0
        widget.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802 - Qt's name
        if event.type() == QEvent.Type.Paint:
            self.at = time.perf_counter()
        return super().eventFilter(watched, event)


def turn_text(number: int, chance: random.Random) -> str:
    """Return what is said in a turn: prose, lists, tables and code, sometimes long."""
    parts = [words(chance, chance.randint(8, 90))]
    kind = number % 7
    if kind == 2:
        parts.append("\n".join(f"- **{words(chance, 2)}** {words(chance, 9)}" for _ in range(6)))
    elif kind == 4:
        body = "\n".join(f"    value_{n} = {n}  # {words(chance, 4)}" for n in range(14))
        parts.append(f"```python\ndef work():\n{body}\n    return value_1\n```")
    elif kind == 5:
        rows = "\n".join(f"| {words(chance, 2)} | `{words(chance, 1)}` |" for _ in range(6))
        parts.append(f"| What | Where |\n| --- | --- |\n{rows}")
    if number % 41 == 0:
        parts += [words(chance, 160) for _ in range(12)]
    return "\n\n".join(parts)


async def fill(services: Services, database: Path) -> str:
    """Store a long session and many short ones; return the id of the long one."""
    chance = random.Random(6)
    start = datetime.now(UTC) - timedelta(days=40)
    roles = ("user", "assistant", "tool", "tool", "assistant")
    drafts = [
        TurnDraft(
            roles[number % 5],
            turn_text(number, chance),
            time=(start + timedelta(minutes=20 * number)).isoformat(),
        )
        for number in range(TURNS)
    ]
    uuid = None
    for place in range(0, TURNS, 500):
        session = SessionDraft(uuid=uuid, title="The long one" if uuid is None else "")
        stored = await services.sessions.add_exchange(
            session, drafts[place : place + 500], BY_CLIENT
        )
        uuid = stored.session_uuid
    connection = apsw.Connection(str(database))
    connection.set_busy_timeout(10_000)
    with connection:
        for number in range(SESSIONS):
            at = (datetime.now(UTC) - timedelta(hours=number + 1)).isoformat()
            connection.execute(
                "INSERT INTO sessions (uuid, title, project, tags, client, created_at, last_active,"
                " entry_count, token_count) VALUES (?, ?, ?, '[\"queue\"]', ?, ?, ?, 12, 900)",
                (
                    f"00000000-0000-4000-8000-{number:012}",
                    words(chance, 6),
                    f"project-{number % 60}",
                    ("Claude Code", "Cursor", "Codex")[number % 3],
                    at,
                    at,
                ),
            )
    connection.close()
    assert uuid is not None
    return uuid


async def until(condition: Callable[[], bool]) -> None:
    """Wait until something is true."""
    while not condition():  # noqa: ASYNC110 - the window tells nobody when it was painted
        await asyncio.sleep(0.001)


async def listing(window: MainWindow) -> SessionsPage:
    """Measure the list."""
    watch = Watch()
    watch.start()
    started = time.perf_counter()
    window.show_page("sessions")
    page = window.current_page
    assert isinstance(page, SessionsPage)
    await until(lambda: page.list.current_row() is not None)
    took_ms = (time.perf_counter() - started) * 1000
    print(f"{'open the list of ' + format(SESSIONS, ','):34} {took_ms:.0f} ms, {watch.words()}")
    await asyncio.sleep(SETTLE_S)
    watch.start()
    bar = page.list.verticalScrollBar()
    for step in range(300):
        bar.setValue(bar.maximum() * step // 300)
        await asyncio.sleep(0.01)
    for _ in range(100):
        QTest.keyClick(page.list, Qt.Key.Key_Up)
        await asyncio.sleep(0.01)
    print(f"{'scroll and walk through it':34} {watch.words()}")
    watch.start()
    started = time.perf_counter()
    page.filters.choose_tag("queue")
    await until(lambda: page.list.rows.listing.view.tag == "queue")
    print(f"{'narrow it':34} {(time.perf_counter() - started) * 1000:.0f} ms, {watch.words()}")
    return page


async def opening(page: SessionsPage, uuid: str) -> None:
    """Measure the window of the long session."""
    for number in range(OPENINGS):
        watch = Watch()
        watch.start()
        started = time.perf_counter()
        page.open_session(uuid, 0 if number % 2 else None)
        view = page.windows[uuid].view
        paint = FirstPaint(view.viewport())
        await until(partial(_is_shown, view, paint, started))
        took_ms = (paint.at - started) * 1000
        print(f"{'open ' + format(TURNS, ',') + ' turns':34} {took_ms:.0f} ms, {watch.words()}")
        await asyncio.sleep(SETTLE_S)
        page.windows[uuid].close()
        await asyncio.sleep(0.2)


async def scrolling(page: SessionsPage, uuid: str) -> None:
    """Measure scrolling, searching and the slider in that window."""
    watch = Watch()
    page.open_session(uuid)
    view = page.windows[uuid].view
    await asyncio.sleep(SETTLE_S)
    view.go_to(0)
    await asyncio.sleep(0.3)
    bar = view.verticalScrollBar()
    for name, step, count in (("wheel", 120, 900), ("page", 600, 300), ("jump", 40_000, 40)):
        bar.setValue(0)
        await asyncio.sleep(0.3)
        watch.start()
        for _ in range(count):
            bar.setValue(bar.value() + step if bar.value() < bar.maximum() else 0)
            await asyncio.sleep(0.016)
        print(f"{f'scroll by {name}':34} {watch.words()}")
    watch.start()
    page.windows[uuid].search.field.edit.setText("statement")
    await asyncio.sleep(1.0)
    print(f"{'find in it':34} {page.windows[uuid].search.count_words()}, {watch.words()}")
    watch.start()
    for value in range(12):
        page.windows[uuid].panel.budget.slider.setValue(value)
        await asyncio.sleep(0.3)
    print(f"{'move the budget':34} {watch.words()}")


def _is_shown(view: ConversationView, paint: FirstPaint, since: float) -> bool:
    """Return whether a conversation was painted since, and can be read."""
    return paint.at > since and _is_readable(view)


def _is_readable(view: ConversationView) -> bool:
    """Return whether what is in sight can be read."""
    row = view.rowAt(view.viewport().height() // 2)
    item = view.turns.items[row] if row >= 0 else None
    return item is not None and (
        view.turns.is_folded(row) or any(part.document is not None for part in item.parts or ())
    )


async def measure() -> None:
    """Print all figures."""
    with tempfile.TemporaryDirectory() as folder, without_model():
        files = paths(str(Path(folder) / "kmem.db"))
        settings = SettingsFile(files.settings)
        settings.change(theme="light", told_that_closing_hides=True)
        apply_theme(settings.current)
        async with opened_services(files) as services:
            uuid = await fill(services, files.database)
            # As in the program: summaries and digests are made beforehand, in the background.
            services.session_upkeep.start()
            while (await services.session_pages.facts(uuid)).summary is None:  # noqa: ASYNC110
                await asyncio.sleep(0.2)
            await services.session_pages.preview(uuid, 4_000)
            await asyncio.sleep(SETTLE_S)
            print(f"\n## sessions in the window ({machine()})")
            window = MainWindow(services, settings, lambda: None, startup=StartupService())
            window.resize(1280, 800)
            window.show()
            await asyncio.sleep(SETTLE_S)
            leave_out_of_collections()
            page = await listing(window)
            await opening(page, uuid)
            await scrolling(page, uuid)
            page.close_windows()
            await services.session_upkeep.stop()
            window.hide()
            window.release()
            print(f"afterwards: {machine()}")


def main() -> None:
    """Run on a loop of Qt."""
    application = create_application(["kmem"])
    loop = qasync.QEventLoop(application)
    asyncio.set_event_loop(loop)
    with loop:
        loop.run_until_complete(measure())


if __name__ == "__main__":
    main()
