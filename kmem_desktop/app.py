"""`kmem`: the desktop program. Window and tray first, then the resident server, in one loop.

Start: claim the database (a windowless resident hands it over, another window is brought to the
front instead), open the memory, show window and tray, and only then import the MCP server, which
takes most of a second. Stop runs the other way round: no new calls, calls in flight finish, window
and tray go, the database is closed.
"""

import asyncio
import gc
import importlib
import logging
import sys
from collections.abc import Awaitable
from typing import TypeVar

import qasync
from PySide6.QtCore import QCoreApplication

from kmem_desktop.bootstrap import Services, opened_services
from kmem_desktop.config import Paths, SettingsFile
from kmem_desktop.errors import StoreError
from kmem_desktop.gui.application import NAME, apply_theme, create_application
from kmem_desktop.gui.main_window import MainWindow
from kmem_desktop.gui.tray import Tray
from kmem_desktop.gui.trouble import tell
from kmem_desktop.log import log_to_file
from kmem_desktop.services.residence import Residence

log = logging.getLogger(__name__)

T = TypeVar("T")

HAND_OVER_TRIES = 5
HAND_OVER_PATIENCE_S = 3.0


def run(paths: Paths, *, in_background: bool) -> int:
    """Run the desktop program until it is quit; return the exit code.

    Args:
        paths: The profile.
        in_background: Show the tray icon only.
    """
    application = create_application([NAME])
    settings = SettingsFile(paths.settings)
    apply_theme(settings.current)
    with qasync.QEventLoop(application) as loop:
        asyncio.set_event_loop(loop)
        try:
            log_to_file(paths.log)
            main = _main(paths, settings, in_background=in_background)
            return int(loop.run_until_complete(main))
        except Exception as error:
            log.exception("kmem could not start")
            tell(error, paths)
            return 1


def run_without_window(work: Awaitable[T]) -> T:
    """Run a coroutine on Qt's event loop without windows, for systems whose socket is Qt's."""
    application = QCoreApplication(sys.argv[:1])
    with qasync.QEventLoop(application) as loop:
        asyncio.set_event_loop(loop)
        result: T = loop.run_until_complete(work)
        return result


async def _main(paths: Paths, settings: SettingsFile, *, in_background: bool) -> int:
    residence = Residence(paths)
    if not await _claim(residence):
        return 0
    try:
        async with opened_services(paths) as services:
            await _serve_with_window(services, residence, settings, in_background=in_background)
    finally:
        residence.release()
    return 0


async def _claim(residence: Residence) -> bool:
    """Take the database over; return False where another window has it and was shown instead."""
    if await residence.claim():
        return True
    loop = asyncio.get_running_loop()
    status = await loop.run_in_executor(None, residence.ask, "show")
    if status is not None and status.get("windows"):
        return False
    # A bridge may start another resident just as the first one ends: it is asked in its turn.
    for _ in range(HAND_OVER_TRIES):
        await loop.run_in_executor(None, residence.ask, "hand_over")
        if await residence.claim(HAND_OVER_PATIENCE_S):
            return True
    raise StoreError(
        "Another kmem keeps the memory and does not answer.",
        hint="End it in the system's task list, then start kmem again.",
    )


async def _serve_with_window(
    services: Services, residence: Residence, settings: SettingsFile, *, in_background: bool
) -> None:
    stopped = asyncio.Event()
    window = MainWindow(services, settings, stopped.set)
    tray = Tray(window, services)
    if not in_background:
        window.bring_to_front()
    loop = asyncio.get_running_loop()
    # Type checkers know the module's name; the import itself waits for the icon to be there.
    resident_module = await loop.run_in_executor(
        None, importlib.import_module, "kmem_desktop.resident"
    )
    resident = resident_module.Resident(
        services, residence, stop=stopped.set, show_window=window.bring_to_front
    )
    resident_module.stop_on_signals(stopped.set)
    await resident.start()
    leave_out_of_collections()
    watch = None
    if in_background:
        watch = asyncio.ensure_future(_show_without_tray(window, tray))
    try:
        await stopped.wait()
    finally:
        if watch is not None:
            watch.cancel()
        tray.release()
        window.release()
        await resident.stop()


def leave_out_of_collections() -> None:
    """Let the garbage collector pass over what is there for good.

    A full collection of all modules and widgets holds the Qt thread for 70 to 240 ms.
    """
    gc.collect()
    gc.freeze()


async def _show_without_tray(window: MainWindow, tray: Tray) -> None:
    """Show the window where nothing else would tell that kmem runs."""
    if not await tray.comes_up() and not window.isVisible():
        window.bring_to_front()
