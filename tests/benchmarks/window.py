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
from unittest.mock import patch

import psutil  # type: ignore[import-untyped]

from kmem_desktop import bootstrap

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


def measure_here(database: str) -> None:
    """Run the program in this process, use it as a person does, and print what came out."""
    from PySide6.QtCore import QElapsedTimer, QEvent, QObject, Qt, QTimer
    from PySide6.QtTest import QTest

    from kmem_desktop import app
    from kmem_desktop.config import paths
    from kmem_desktop.gui.main_window import MainWindow
    from kmem_desktop.gui.pages.list_page import ListPage

    spawned = float(os.environ["KMEM_SPAWNED"])
    figures: dict[str, float] = {}

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
            self.worst_ms = 0
            self._last.start()
            self._timer.start(TICK_MS)

        def _tick(self) -> None:
            self.worst_ms = max(self.worst_ms, self._last.restart())

    class Measured(MainWindow):
        """The window, which notes when it stands and then uses itself."""

        def showEvent(self, event: object) -> None:
            super().showEvent(event)  # type: ignore[arg-type]
            page = self.current_page
            assert isinstance(page, ListPage)
            self.used_page = page
            page.list.viewport().installEventFilter(self)

        def eventFilter(self, watched: QObject, event: QEvent) -> bool:
            rows = self.used_page.model.rowCount()
            if event.type() == QEvent.Type.Paint and rows and "rows painted" not in figures:
                figures["rows painted"] = (time.time() - spawned) * 1000
                asyncio.ensure_future(self._use())  # noqa: RUF006 - it ends the program itself
            return super().eventFilter(watched, event)

        async def _use(self) -> None:
            process = psutil.Process()
            await asyncio.sleep(SETTLE_S)
            figures["idle MB"] = process.memory_info().rss / 1e6
            stalls = Stalls()
            edit, view = self.used_page.field.edit, self.used_page.list
            stalls.start()
            for letter in QUERY:
                QTest.keyClick(edit, letter)
                await asyncio.sleep(0.06)
            await asyncio.sleep(0.5)
            figures["typing, longest stall"] = stalls.worst_ms
            edit.clear()
            await asyncio.sleep(1.0)
            stalls.start()
            bar = view.verticalScrollBar()
            for step in range(200):
                bar.setValue(bar.maximum() * step // 200)
                await asyncio.sleep(0.01)
            for _ in range(100):
                QTest.keyClick(view, Qt.Key.Key_Up)
                await asyncio.sleep(0.01)
            figures["scrolling, longest stall"] = stalls.worst_ms
            figures["MB after use"] = process.memory_info().rss / 1e6
            self.quit()

    with without_model(), patch.object(app, "MainWindow", Measured):
        app.run(paths(database), in_background=False)
    print(json.dumps(figures))


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
