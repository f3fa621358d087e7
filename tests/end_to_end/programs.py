"""kmem's own programs as a client starts them, and a small MCP client on their standard streams."""

import contextlib
import itertools
import json
import os
import queue
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import platformdirs
import psutil  # type: ignore[import-untyped]
import pytest

from kmem_desktop.address import socket_address
from kmem_desktop.bridge import ask

Message = dict[str, Any]

ROOT = Path(__file__).parents[2]
KMEM = [sys.executable, "-m", "kmem_desktop"]
TIMEOUT_S = 30.0
PROTOCOL = "2025-06-18"
NPM_REFERENCE = "@modelcontextprotocol/server-memory@2026.8.31"
AI_DEVKIT = "@ai-devkit/memory@0.20.1"


def clean_environment(**variables: str) -> dict[str, str]:
    """Return the variables of this process without those that choose another database."""
    kept = {name: value for name, value in os.environ.items() if name != "KMEM_DB"}
    return {**kept, "PYTHONPATH": str(ROOT), **variables}


class Memory:
    """One database, and every process that a test starts on it."""

    def __init__(self, database: Path) -> None:
        self.database = Path(os.path.realpath(database))
        self.address = socket_address(str(self.database))
        self.clients: list[StdioClient] = []

    def command(self, *arguments: str) -> list[str]:
        """Return a command line of kmem on this database."""
        return [*KMEM, *arguments, "--db", str(self.database)]

    def client(self, *options: str, name: str = "test", initialize: bool = True) -> "StdioClient":
        """Start `kmem mcp` and introduce a client to it."""
        client = StdioClient(self.command("mcp", *options))
        self.clients.append(client)
        if initialize:
            client.initialize(name)
        return client

    def impatient_client(self) -> "StdioClient":
        """Start a bridge that does not wait for somebody else to start the next resident."""
        code = (
            "import sys; from kmem_desktop import bridge;"
            "bridge.PATIENCE_WITH_A_RESTART_S = 0.1; sys.exit(bridge.run(sys.argv[1], ''))"
        )
        client = StdioClient([sys.executable, "-c", code, str(self.database)])
        self.clients.append(client)
        client.initialize()
        return client

    def run(self, *arguments: str, **options: Any) -> "subprocess.CompletedProcess[str]":
        """Run a command of kmem to its end."""
        return subprocess.run(
            self.command(*arguments),
            capture_output=True,
            text=True,
            timeout=TIMEOUT_S,
            env=clean_environment(),
            check=False,
            **options,
        )

    def status_once_served(self) -> Message:
        """Wait until somebody serves, and ask how it is."""
        deadline = time.monotonic() + TIMEOUT_S
        while (status := self.status()) is None:
            assert time.monotonic() < deadline, "nobody serves"
        return status

    def status(self) -> Message | None:
        """Ask the resident how it is; None where there is none."""
        return ask(self.address, "status", TIMEOUT_S)

    def resident(self) -> Any:
        """Return the resident, which has to be there, as psutil's process."""
        status = self.status()
        assert status is not None
        return psutil.Process(status["pid"])

    def kill_resident(self) -> None:
        """Kill whoever serves now, as kill -9 does, and wait until it is dead."""
        while True:
            with contextlib.suppress(OSError, psutil.NoSuchProcess):
                status = self.status()
                if status is not None:
                    process = psutil.Process(status["pid"])
                    process.kill()
                    wait_until_dead(process)
                    return

    def close(self) -> None:
        """End every process, and leave no socket behind."""
        for client in self.clients:
            client.close()
        end_resident(self.address)


def end_resident(address: str) -> None:
    """End the resident that listens at an address, if there is one, and remove its socket."""
    with contextlib.suppress(OSError, psutil.NoSuchProcess):
        status = ask(address, "status", TIMEOUT_S)
        if status is not None:
            process = psutil.Process(status["pid"])
            process.terminate()
            wait_until_dead(process)
    Path(address).unlink(missing_ok=True)


def resident_bytes(pid: int) -> int:
    """Return how much memory a process and its children hold."""
    process = psutil.Process(pid)
    family = [process, *process.children(recursive=True)]
    return sum(int(member.memory_info().rss) for member in family)


def wait_until_dead(process: Any) -> None:
    """Wait until a process has ended, whether or not its parent has taken note of it."""
    deadline = time.monotonic() + TIMEOUT_S
    while process.is_running() and process.status() != psutil.STATUS_ZOMBIE:
        assert time.monotonic() < deadline, f"{process} does not end"
        with contextlib.suppress(psutil.TimeoutExpired):
            process.wait(0.02)


class StdioClient:
    """A client that launched an MCP server and reads its answers in a thread."""

    def __init__(self, command: Sequence[str], variables: Mapping[str, str] | None = None) -> None:
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=clean_environment(**(variables or {})),
        )
        self.notifications: queue.Queue[Message] = queue.Queue()
        self.errors: list[str] = []
        self._ids = itertools.count(1)
        self._answers: dict[int, queue.Queue[Message | None]] = {}
        self._has_ended = False
        self._lock = threading.Lock()
        self._threads = [
            threading.Thread(target=self._read, daemon=True),
            threading.Thread(target=self._read_errors, daemon=True),
        ]
        for thread in self._threads:
            thread.start()

    def initialize(self, name: str = "test") -> Message:
        """Shake hands as clients up to 2025-11-25 do; return the server's answer."""
        params = {
            "protocolVersion": PROTOCOL,
            "capabilities": {},
            "clientInfo": {"name": name, "version": "1"},
        }
        answer = self.request("initialize", params)
        self._send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        return answer

    def start(self, method: str, params: Mapping[str, Any] | None = None) -> int:
        """Send a request without waiting for its answer; return its id."""
        request_id = next(self._ids)
        with self._lock:
            self._answers[request_id] = queue.Queue()
            if self._has_ended:
                self._answers[request_id].put(None)
        message: Message = {"jsonrpc": "2.0", "id": request_id, "method": method}
        self._send(message if params is None else {**message, "params": params})
        return request_id

    def answer(self, request_id: int, timeout_s: float = TIMEOUT_S) -> Message:
        """Wait for the answer to a request: the whole message."""
        answer = self._answers[request_id].get(timeout=timeout_s)
        if answer is None:
            self.process.wait(TIMEOUT_S)
            raise AssertionError(f"the server ended: {self.errors}")
        return answer

    def request(self, method: str, params: Mapping[str, Any] | None = None) -> Message:
        """Send a request and return its answer."""
        return self.answer(self.start(method, params))

    def start_call(self, tool: str, arguments: Mapping[str, Any]) -> int:
        """Call a tool without waiting; return the id of the request."""
        return self.start("tools/call", {"name": tool, "arguments": arguments})

    def call(self, tool: str, arguments: Mapping[str, Any]) -> Message:
        """Call a tool and return its result, which may be an error of the tool."""
        answer = self.answer(self.start_call(tool, arguments))
        assert "result" in answer, answer
        result = answer["result"]
        assert isinstance(result, dict)
        return result

    def close(self) -> None:
        """End as a client does, by closing the streams."""
        with contextlib.suppress(OSError):
            if self.process.stdin is not None:
                self.process.stdin.close()
        try:
            self.process.wait(TIMEOUT_S)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        for thread in self._threads:
            thread.join(TIMEOUT_S)
        for stream in (self.process.stdout, self.process.stderr):
            if stream is not None:
                stream.close()

    def _send(self, message: Message) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(message).encode() + b"\n")
        self.process.stdin.flush()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            message = json.loads(line)
            if "id" in message and "method" not in message:
                self._answers[message["id"]].put(message)
            else:
                self.notifications.put(message)
        with self._lock:
            self._has_ended = True
            for answers in self._answers.values():
                answers.put(None)

    def _read_errors(self) -> None:
        assert self.process.stderr is not None
        for line in self.process.stderr:
            self.errors.append(line.decode(errors="replace").rstrip())


def entity(name: str) -> Message:
    """Return arguments that create one entity."""
    return {"entities": [{"name": name, "entityType": "thing", "observations": [f"is {name}"]}]}


def npm_program(package: str, executable: str) -> list[str]:
    """Return the command of a program of the npm registry, installed once in the user's cache.

    Skips the test where it cannot be installed; says so.
    """
    npm = shutil.which("npm")
    if npm is None:
        pytest.skip("npm is not there: install Node.js to compare with other programs")
    name = package.rpartition("@")[0].rpartition("/")[2]
    folder = platformdirs.user_cache_path("kmem-tests", appauthor=False) / name
    program = folder / "node_modules" / ".bin" / executable
    if not program.exists():
        command = [npm, "install", "--no-audit", "--no-fund", "--prefix", str(folder), package]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
        except subprocess.TimeoutExpired:
            pytest.skip(f"{package} could not be installed from the npm registry in five minutes")
        if done.returncode:
            pytest.skip(f"{package} could not be installed from npm: {done.stderr[-300:]}")
    return [str(program)]


def npm_is_cached(package: str, executable: str) -> bool:
    """Tell whether a program of the npm registry is in the cache already."""
    name = package.rpartition("@")[0].rpartition("/")[2]
    folder = platformdirs.user_cache_path("kmem-tests", appauthor=False) / name
    return (folder / "node_modules" / ".bin" / executable).exists()


def npm_peer(package: str, executable: str) -> list[str]:
    """Return the command of a program of npm that is in the cache or may be put there.

    Skips where it is not and KMEM_TEST_INSTALL does not allow the installation; says so.
    """
    if not npm_is_cached(package, executable) and "KMEM_TEST_INSTALL" not in os.environ:
        pytest.skip(f"{package} is not installed: set KMEM_TEST_INSTALL=1 to install it from npm")
    return npm_program(package, executable)
