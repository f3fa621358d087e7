"""How fast the window opens, how long it stalls while one types and scrolls, and what it holds.

    python -m tests.benchmarks.window [COUNT ...]

runs the real program without a display on so many items, without an embedding model.
"""

import asyncio
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import ClassVar
from unittest.mock import patch

import psutil  # type: ignore[import-untyped]
from PySide6.QtCore import QElapsedTimer, QEvent, QObject, Qt, QTimer
from PySide6.QtGui import QShowEvent
from PySide6.QtTest import QTest

from kmem_desktop import app, bootstrap
from kmem_desktop.config import paths
from kmem_desktop.gui.main_window import MainWindow

COUNTS = (10_000, 100_000)
STARTS = 3
QUERY = "why did the payment worker retry the invoice"
SETTLE_S = 3.0
TICK_MS = 2


@contextmanager
def without_model() -> Iterator[None]:
    """Let words alone decide: the model is measured elsewhere."""
    with patch.object(bootstrap, "resource_path", lambda name: Path("/nowhere") / name):
        yield


class Stalls(QObject):
    """Notes the longest time for which the loop did not come round."""

    def __init__(self) -> None:
        super().__init__()
        self.worst_ms = 0
        self._last = QElapsedTimer()
        self._timer = QTimer(self)
        self._timer.setTimerType(Qt.TimerType.PreciseTimer)
        self._timer.timeout.connect(self._tick)

    def start(self) -> None:
        """Begin to watch."""
        self.worst_ms = 0
        self._last.start()
        self._timer.start(TICK_MS)

    def _tick(self) -> None:
        self.worst_ms = max(self.worst_ms, self._last.restart())


class MeasuredWindow(MainWindow):
    """The window, which notes when it stands and then uses itself."""

    figures: ClassVar[dict[str, float]] = {}

    def showEvent(self, event: QShowEvent) -> None:  # noqa: N802 - Qt's name
        super().showEvent(event)
        self._list_page().list.viewport().installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802 - Qt's name
        has_rows = self._list_page().model.rowCount() > 0
        if event.type() == QEvent.Type.Paint and has_rows and not self.figures:
            took_s = time.time() - float(os.environ["KMEM_SPAWNED"])
            self.figures["start to rows painted"] = took_s * 1000
            self.tasks.run(self._use())
        return super().eventFilter(watched, event)

    async def _use(self) -> None:
        process = psutil.Process()
        await asyncio.sleep(SETTLE_S)
        self.figures["idle MB"] = process.memory_info().rss / 1e6
        stalls = Stalls()
        await self._type(stalls)
        self.figures["typing, longest stall"] = stalls.worst_ms
        await self._scroll(stalls)
        self.figures["scrolling, longest stall"] = stalls.worst_ms
        self.figures["MB after use"] = process.memory_info().rss / 1e6
        self.quit()

    async def _type(self, stalls: Stalls) -> None:
        edit = self._list_page().field.edit
        stalls.start()
        for letter in QUERY:
            QTest.keyClicks(edit, letter)
            await asyncio.sleep(0.06)
        await asyncio.sleep(0.5)

    async def _scroll(self, stalls: Stalls) -> None:
        page = self._list_page()
        page.field.edit.clear()
        await asyncio.sleep(1.0)
        stalls.start()
        bar = page.list.verticalScrollBar()
        for step in range(200):
            bar.setValue(bar.maximum() * step // 200)
            await asyncio.sleep(0.01)
        for _ in range(100):
            QTest.keyClick(page.list, Qt.Key.Key_Up)
            await asyncio.sleep(0.01)


def measure_here(database: str) -> None:
    """Run the program in this process, let it use itself, and print what came out."""
    with without_model(), patch.object(app, "MainWindow", MeasuredWindow):
        app.run(paths(database), in_background=False)
    print(json.dumps(MeasuredWindow.figures))


def opened(database: Path) -> dict[str, float]:
    """Start the program in a process of its own; return what it measured."""
    variables = {"QT_QPA_PLATFORM": "offscreen", "KMEM_SPAWNED": str(time.time())}
    done = subprocess.run(
        [sys.executable, "-m", "tests.benchmarks.window", "--here", str(database)],
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
        check=True,
        timeout=300,
    )
    figures: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return figures


def measure(count: int, say: Callable[[str], None]) -> None:
    """Print what the window does on so many items."""
    # Not above: the process that is measured would hold what it never uses.
    from tests.benchmarks.measures import fill, machine

    with tempfile.TemporaryDirectory() as folder:
        database = Path(folder) / "kmem.db"
        with without_model():
            asyncio.run(fill(database, count))
        say(f"\n## window on {count:,} items ({machine()})")
        runs = [opened(database) for _ in range(STARTS)]
        for name in runs[0]:
            values = sorted(run[name] for run in runs)
            unit = "" if "MB" in name else " ms"
            say(f"{name:28} median {values[len(values) // 2]:7.0f}{unit}, worst {values[-1]:.0f}")
        say(f"afterwards: {machine()}")


def main(arguments: list[str]) -> None:
    """Measure here, or for each count."""
    if arguments[:1] == ["--here"]:
        measure_here(arguments[1])
        return
    for count in [int(argument) for argument in arguments] or COUNTS:
        measure(count, lambda words: print(words, flush=True))


if __name__ == "__main__":
    main(sys.argv[1:])
