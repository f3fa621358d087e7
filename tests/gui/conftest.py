"""A qasync loop under pytest-qt's own event loop, real services, and the window on them."""

import asyncio
import os
from collections.abc import Callable, Coroutine, Iterator
from pathlib import Path
from typing import Any, TypeVar

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

import pytest
import qasync
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from kmem_desktop.bootstrap import Services, opened_services
from kmem_desktop.config import Paths, SettingsFile
from kmem_desktop.gui.application import apply_theme
from kmem_desktop.gui.main_window import MainWindow
from kmem_desktop.services.startup import StartupService

T = TypeVar("T")

WAIT_MS = 5000


class Runner:
    """Runs coroutines to their end on the loop that the window uses."""

    def __init__(self, loop: asyncio.AbstractEventLoop, qtbot: QtBot) -> None:
        self._loop = loop
        self._qtbot = qtbot

    def __call__(self, coroutine: Coroutine[Any, Any, T]) -> T:
        task = self._loop.create_task(coroutine)
        self._qtbot.waitUntil(task.done, timeout=WAIT_MS)
        return task.result()


class LoginEntryInMemory:
    """A start entry that is nowhere on the disk."""

    def __init__(self) -> None:
        self.is_there = False

    def exists(self) -> bool:
        return self.is_there

    def write(self) -> None:
        self.is_there = True

    def remove(self) -> None:
        self.is_there = False


@pytest.fixture(scope="session")
def session_loop(qapp: QApplication) -> Iterator[asyncio.AbstractEventLoop]:
    """A loop that runs whenever Qt's does, so that waiting for a signal runs tasks too."""
    made = qasync.QEventLoop(qapp, already_running=True)
    asyncio.events._set_running_loop(None)
    yield made
    # Its own stop() would end Qt's loops for good; nothing runs any more here.
    made._QEventLoop__is_running = False
    made.close()


@pytest.fixture
def loop(
    session_loop: asyncio.AbstractEventLoop, qapp: QApplication
) -> Iterator[asyncio.AbstractEventLoop]:
    """The loop, running for the length of one test."""
    asyncio.events._set_running_loop(session_loop)
    yield session_loop
    for task in asyncio.all_tasks(session_loop):
        task.cancel()
    for _ in range(3):
        qapp.processEvents()
    asyncio.events._set_running_loop(None)


@pytest.fixture
def run(loop: asyncio.AbstractEventLoop, qtbot: QtBot) -> Runner:
    return Runner(loop, qtbot)


@pytest.fixture
def services(run: Runner, profile: Paths) -> Iterator[Services]:
    opened = opened_services(profile)
    yield run(opened.__aenter__())
    run(opened.__aexit__(None, None, None))


@pytest.fixture
def login_entry() -> LoginEntryInMemory:
    return LoginEntryInMemory()


@pytest.fixture
def settings(profile: Paths) -> SettingsFile:
    file = SettingsFile(profile.settings)
    file.change(theme="light", told_that_closing_hides=True, asked_about_transcripts=True)
    apply_theme(file.current)
    return file


OpenWindow = Callable[[], MainWindow]


@pytest.fixture
def quits() -> list[str]:
    """Collects that the program was asked to quit."""
    return []


@pytest.fixture
def open_window(
    services: Services,
    settings: SettingsFile,
    login_entry: LoginEntryInMemory,
    qtbot: QtBot,
    quits: list[str],
) -> Iterator[OpenWindow]:
    """Opens the window once the test has stored what it is to show."""
    windows: list[MainWindow] = []

    def open_one() -> MainWindow:
        window = MainWindow(
            services, settings, lambda: quits.append("quit"), startup=StartupService(login_entry)
        )
        windows.append(window)
        window.resize(1280, 800)
        with qtbot.waitExposed(window):
            window.show()
        return window

    yield open_one
    for window in windows:
        window.hide()
        window.release()
        window.deleteLater()
    QApplication.processEvents()


@pytest.fixture
def memory_file(tmp_path: Path) -> Path:
    """A file of the reference memory server with one broken line."""
    path = tmp_path / "memory.jsonl"
    path.write_text(
        '{"type":"entity","name":"catalogue","entityType":"component","observations":["fast"]}\n'
        '{"type":"relation","from":"catalogue","to":"warehouse","relationType":"feeds"}\n'
        '{"type":"entity","name":"cut of\n',
        encoding="utf-8",
    )
    return path
