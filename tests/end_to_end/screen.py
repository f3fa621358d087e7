"""A desktop of its own: display, session bus, window manager and tray, driven as a person does."""

import os
import re
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType

from tests.end_to_end.reading import Reader

PROGRAMS = {
    "Xvfb": "xvfb",
    "dbus-daemon": "dbus-daemon",
    "import": "imagemagick",
    "openbox": "openbox",
    "trayer": "trayer",
    "xdotool": "xdotool",
    "xprop": "x11-utils",
    "xwininfo": "x11-utils",
}
ACCESSIBILITY = Path("/usr/share/dbus-1/services/org.a11y.Bus.service")
SIZE = (1360, 880)
START_S = 10.0
POLL_S = 0.02
_WINDOW = re.compile(r'^\s+(0x\w+) "(.*)": \("(.*?)".*\)\s+(\d+)x(\d+)\S*\s+\+(-?\d+)\+(-?\d+)')


def missing() -> list[str]:
    """Return the Debian packages that this desktop needs and that are not there."""
    packages = [package for program, package in PROGRAMS.items() if not shutil.which(program)]
    if not ACCESSIBILITY.exists():
        packages.append("at-spi2-core")
    return sorted(set(packages))


class Screen:
    """Starts everything on a free display, and ends it."""

    def __init__(self, folder: Path, *, scale: int = 1, has_tray: bool = True) -> None:
        self.scale = scale
        self.folder = folder
        self._has_tray = has_tray
        self._stack = ExitStack()
        runtime = folder / "runtime"
        runtime.mkdir(mode=0o700, parents=True)
        self.environment = {
            name: value
            for name, value in os.environ.items()
            if name not in ("KMEM_DB", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM", "XDG_DATA_HOME")
        }
        self.environment.update(
            XDG_RUNTIME_DIR=str(runtime),
            QT_SCALE_FACTOR=str(scale),
            # Qt tells a screen reader what it shows; the tests read the window as one.
            QT_LINUX_ACCESSIBILITY_ALWAYS_ON="1",
        )

    def __enter__(self) -> "Screen":
        try:
            self._start()
        except BaseException:
            self._stack.close()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._stack.close()

    def _start(self) -> None:
        reading, writing = os.pipe()
        width, height = (edge * self.scale for edge in SIZE)
        geometry = f"{width}x{height}x24"
        command = ["Xvfb", "-displayfd", str(writing), "-screen", "0", geometry]
        self._run([*command, "-nolisten", "tcp", "-noreset"], pass_fds=(writing,))
        os.close(writing)
        with os.fdopen(reading) as pipe:
            self.environment["DISPLAY"] = f":{pipe.readline().strip()}"
        bus = self._run(
            ["dbus-daemon", "--session", "--print-address", "--nofork"], stdout=subprocess.PIPE
        )
        assert bus.stdout is not None
        address = bus.stdout.readline().decode().strip()
        self._stack.callback(bus.stdout.close)
        self.environment["DBUS_SESSION_BUS_ADDRESS"] = address
        self.reader = self._stack.enter_context(Reader(address))
        self._run(["openbox"])
        wait_until(lambda: "window id" in self._x("xprop", "-root", "_NET_CLIENT_LIST"))
        if self._has_tray:
            edge = ("--edge", "top", "--align", "right", "--widthtype", "pixel")
            size = ("--width", str(160 * self.scale), "--height", str(26 * self.scale))
            look = ("--transparent", "true", "--alpha", "0", "--tint", "0x2b2b2b")
            self._run(["trayer", *edge, *size, *look])
            wait_until(lambda: any(window[0] == "panel" for window in self._windows()))

    def _run(
        self, command: Sequence[str], pass_fds: Sequence[int] = (), stdout: int = subprocess.DEVNULL
    ) -> "subprocess.Popen[bytes]":
        process = subprocess.Popen(
            command,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=stdout,
            stderr=subprocess.DEVNULL,
            pass_fds=pass_fds,
            start_new_session=True,
        )
        self._stack.callback(_end_group, process)
        return process

    def press(self, *keys: str) -> None:
        """Press keys one after the other, named as xdotool does."""
        self._x("xdotool", "key", "--clearmodifiers", *keys)

    def type(self, text: str) -> None:
        """Type a text."""
        self._x("xdotool", "type", "--clearmodifiers", "--delay", "4", text)

    def click(self, place: tuple[int, int], button: int = 1) -> None:
        """Click at a place of the screen."""
        self._x("xdotool", "mousemove", *map(str, place), "click", str(button))

    def active_title(self) -> str:
        """Return the title of the window that has the keyboard."""
        return self._x("xdotool", "getactivewindow", "getwindowname").strip()

    def close_active_window(self) -> None:
        """Press the cross of the window's frame, as the window manager does it."""
        self.press("alt+F4")

    def tray_icon(self) -> tuple[int, int] | None:
        """Return the middle of kmem's icon in the tray, once it is there."""
        for title, program, (x, y, width, height) in self._windows():
            if title == program == "kmem" and 8 < width < 100 and 8 < height < 100:
                return x + width // 2, y + height // 2
        return None

    def shows_window(self, title: str = "kmem") -> bool:
        """Tell whether a window with this title is on the screen, the icon in the tray aside."""
        return any(title == window[0] and window[2][2] > 300 for window in self._windows())

    def shows_menu(self) -> bool:
        """Tell whether the menu of the icon is open."""
        return any(
            program == "kmem" and 80 < width < 300 * self.scale and height > 80
            for _, program, (_, _, width, height) in self._windows()
        )

    def picture(self, path: Path) -> None:
        """Keep what is on the screen."""
        self._x("import", "-window", "root", str(path))

    def picture_of(self, place: tuple[int, int], edge: int) -> bytes:
        """Return the pixels around a place."""
        x, y = place[0] - edge // 2, place[1] - edge // 2
        command = ["import", "-window", "root", "-crop", f"{edge}x{edge}+{x}+{y}", "rgb:-"]
        return subprocess.run(command, env=self.environment, capture_output=True, check=True).stdout

    def _windows(self) -> list[tuple[str, str, tuple[int, int, int, int]]]:
        """Return title, program and place of the windows that are mapped somewhere."""
        found = []
        for line in self._x("xwininfo", "-root", "-tree").splitlines():
            if match := _WINDOW.match(line):
                window, title, program, width, height, x, y = match.groups()
                if "IsViewable" in self._x("xwininfo", "-id", window):
                    place = (int(x), int(y), int(width), int(height))
                    found.append((title, program, place))
        return found

    def _x(self, *command: str) -> str:
        done = subprocess.run(
            command, env=self.environment, capture_output=True, text=True, timeout=20, check=False
        )
        return done.stdout


def wait_until(condition: Callable[[], bool], timeout_s: float = START_S) -> None:
    """Wait for a part of the desktop."""
    deadline = time.monotonic() + timeout_s
    while not condition():
        assert time.monotonic() < deadline, "the desktop did not come up"
        time.sleep(POLL_S)


def _end_group(process: "subprocess.Popen[bytes]") -> None:
    """End a program of the desktop, and what it started."""
    for how in (signal.SIGTERM, signal.SIGKILL):
        if process.poll() is None:
            os.killpg(process.pid, how)
            try:
                process.wait(3)
            except subprocess.TimeoutExpired:
                continue
