import contextlib
import json
import os
import queue
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, cast

import pytest

from kmem_desktop import bridge
from kmem_desktop.bridge_conversation import Conversation, hello_line
from kmem_desktop.bridge_wires import CLIENT, Lines, Outbox

if TYPE_CHECKING:
    from kmem_desktop.bridge_wires import Event, Wires

Message = dict[str, Any]

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the residents are Unix sockets")

ROOT = Path(__file__).parent.parent
TIMEOUT_S = 30

DRIVER = """
import sys
from kmem_desktop.bridge import run
sys.exit(run(None, "graph", address=sys.argv[1], resident_command=sys.argv[2:]))
"""

THREADED_DRIVER = """
import socket, sys
from kmem_desktop import bridge
from kmem_desktop.bridge_conversation import hello_line
from kmem_desktop.bridge_pipe import ThreadedWires

class Channel:
    def __init__(self, connection: socket.socket) -> None:
        self.read = lambda: connection.recv(65536)
        self.write = connection.sendall
        self.connection = connection
    def close(self) -> None:
        try:
            self.connection.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
        self.connection.close()

def dial():
    connection = socket.socket(socket.AF_UNIX)
    try:
        connection.connect(sys.argv[1])
    except OSError:
        connection.close()
        return None
    return Channel(connection)

hello = hello_line(None, "graph")
bridge.Bridge(ThreadedWires(dial), hello, lambda: bridge.start_detached(sys.argv[2:])).run()
"""

# Answers every request until its client has gone.
ECHO_RESIDENT = """
import json, socket, sys
with socket.socket(socket.AF_UNIX) as server:
    server.bind(sys.argv[1])
    server.listen()
    with server.accept()[0] as connection, connection.makefile("rwb", 0) as stream:
        stream.readline()
        for line in stream:
            message = json.loads(line)
            if "id" in message:
                answer = {"jsonrpc": "2.0", "id": message["id"], "result": {"served": True}}
                stream.write(json.dumps(answer).encode() + b"\\n")
"""


class Connection:
    """The resident's end of one connection."""

    def __init__(self, connection: socket.socket) -> None:
        self.socket = connection
        self.socket.settimeout(TIMEOUT_S)
        self.stream = connection.makefile("rb")
        self.hello = self.receive()

    def receive(self) -> Any:
        return json.loads(self.stream.readline())

    def send(self, message: object) -> None:
        self.socket.sendall(json.dumps(message).encode() + b"\n")

    def answer(self, request: Message, **result: object) -> None:
        self.send({"jsonrpc": "2.0", "id": request["id"], "result": result})

    def close(self) -> None:
        self.stream.close()
        self.socket.close()


class Resident:
    """A resident that does what the test says."""

    def __init__(self, address: str) -> None:
        self.server = socket.socket(socket.AF_UNIX)
        self.server.bind(address)
        self.server.listen()
        self.server.settimeout(TIMEOUT_S)
        self.address = address
        self.connections: list[Connection] = []

    def accept(self) -> Connection:
        self.connections.append(Connection(self.server.accept()[0]))
        return self.connections[-1]

    def close(self) -> None:
        for connection in self.connections:
            connection.close()
        self.server.close()
        Path(self.address).unlink(missing_ok=True)


class Client:
    """An MCP client which has launched the bridge."""

    def __init__(self, driver: str, address: str, command: Sequence[str]) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", driver, address, *command],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=ROOT,
        )
        pipes = (self.process.stdin, self.process.stdout, self.process.stderr)
        self.stdin, self.stdout, self.stderr = (cast("IO[bytes]", pipe) for pipe in pipes)
        self.lines: queue.Queue[bytes] = queue.Queue()
        self.log: queue.Queue[bytes] = queue.Queue()
        self.threads = [
            threading.Thread(target=self._collect_lines),
            threading.Thread(target=self._collect_log),
        ]
        for thread in self.threads:
            thread.start()

    def _collect_lines(self) -> None:
        for line in self.stdout:
            self.lines.put(line)
        self.lines.put(b"")

    def _collect_log(self) -> None:
        for line in self.stderr:
            self.log.put(line)

    def write(self, data: bytes) -> None:
        self.stdin.write(data)
        self.stdin.flush()

    def send(self, message: object) -> None:
        self.write(json.dumps(message).encode() + b"\n")

    def request(self, request_id: object, method: str = "tools/call", **params: object) -> None:
        self.send({"jsonrpc": "2.0", "id": request_id, "method": method, "params": params})

    def notify(self, method: str, **params: object) -> None:
        self.send({"jsonrpc": "2.0", "method": method, "params": params})

    def receive(self) -> Any:
        line = self.lines.get(timeout=TIMEOUT_S)
        assert line.endswith(b"\n"), line
        return json.loads(line)

    def logged(self) -> bytes:
        """Return what the ended bridge has logged."""
        return b"".join(self.log.get() for _ in range(self.log.qsize()))

    def end(self) -> int:
        with contextlib.suppress(BrokenPipeError):
            self.stdin.close()
        return self.wait()

    def wait(self) -> int:
        code = self.process.wait(TIMEOUT_S)
        for thread in self.threads:
            thread.join(TIMEOUT_S)
        return code

    def close(self) -> None:
        self.process.kill()
        self.end()
        self.stdout.close()
        self.stderr.close()


Launch = Callable[..., Client]


@pytest.fixture
def address() -> Iterator[str]:
    # pytest's own folders may be too deep for a socket
    folder = tempfile.mkdtemp(prefix="kmem")
    yield f"{folder}/s"
    shutil.rmtree(folder)


@pytest.fixture
def start_resident(address: str) -> Iterator[Callable[[], Resident]]:
    with contextlib.ExitStack() as stack:

        def start() -> Resident:
            resident = Resident(address)
            stack.callback(resident.close)
            return resident

        yield start


@pytest.fixture
def resident(start_resident: Callable[[], Resident]) -> Resident:
    return start_resident()


@pytest.fixture(params=[DRIVER, THREADED_DRIVER], ids=["poll", "threads"])
def launch(request: pytest.FixtureRequest, address: str) -> Iterator[Launch]:
    """Launches a bridge as a client does; without a resident of its own it starts none."""
    yield from _launcher(request.param, address)


@pytest.fixture
def launch_polling(address: str) -> Iterator[Launch]:
    yield from _launcher(DRIVER, address)


def _launcher(driver: str, address: str) -> Iterator[Launch]:
    with contextlib.ExitStack() as stack:

        def start(command: Sequence[str] = (sys.executable, "-c", "")) -> Client:
            client = Client(driver, address, command)
            stack.callback(client.close)
            return client

        yield start


def handshake(client: Client, connection: Connection) -> None:
    client.request(0, "initialize", protocolVersion="2025-11-25")
    connection.answer(connection.receive(), protocolVersion="2025-11-25")
    client.receive()
    client.notify("notifications/initialized")
    connection.receive()


# Carrying lines


def test_the_bridge_introduces_itself_and_carries_lines_both_ways(
    launch: Launch, resident: Resident
) -> None:
    client = launch()
    connection = resident.accept()
    pid = client.process.pid
    assert connection.hello == {
        "kmem": 1, "open": "mcp", "database": "", "tools": "graph", "pid": pid,
    }  # fmt: skip
    client.request(1, "tools/list")
    connection.answer(connection.receive(), tools=[])
    assert client.receive() == {"jsonrpc": "2.0", "id": 1, "result": {"tools": []}}
    connection.send({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"})
    assert client.receive()["method"] == "notifications/tools/list_changed"


def test_a_path_of_any_letters_survives_the_introduction() -> None:
    database = 'C:\\Users\\Jörg\\"x"\n.db'
    assert json.loads(hello_line(database, "graph"))["database"] == database


def test_many_and_large_messages_pass_both_ways_at_once(launch: Launch, resident: Resident) -> None:
    client = launch()
    connection = resident.accept()
    large = "x" * 3_000_000
    texts = [large if number % 50 == 0 else str(number) for number in range(200)]

    def write_all(send: Callable[[object], None]) -> None:
        for number, text in enumerate(texts):
            send({"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": {"t": text}})

    writers = [
        threading.Thread(target=write_all, args=(client.send,)),
        threading.Thread(target=write_all, args=(connection.send,)),
    ]
    for writer in writers:
        writer.start()
    # Nobody reads before both are stuck in full buffers: whoever blocks here, blocks for ever.
    assert [connection.receive()["params"]["t"] for _ in texts] == texts
    assert [client.receive()["params"]["t"] for _ in texts] == texts
    for writer in writers:
        writer.join(TIMEOUT_S)
        assert not writer.is_alive()


def test_a_line_that_is_no_json_is_the_residents_to_complain_about(
    launch: Launch, resident: Resident
) -> None:
    client = launch()
    connection = resident.accept()
    client.write(b"{nonsense\n")
    assert connection.stream.readline() == b"{nonsense\n"
    client.request(1, "ping")
    connection.answer(connection.receive())
    assert client.receive()["id"] == 1


def test_a_line_over_8_mib_is_dropped_and_the_next_one_passes(
    launch: Launch, resident: Resident
) -> None:
    client = launch()
    connection = resident.accept()
    client.write(b'{"id":1,"x":"' + b"x" * (9 << 20) + b'"}\n')
    client.request(2, "ping")
    assert connection.receive()["id"] == 2
    error = client.receive()
    assert error["id"] is None
    assert "8 MiB" in error["error"]["message"]


def test_two_bridges_share_one_resident(launch: Launch, resident: Resident) -> None:
    clients = [launch(), launch()]
    connections = {}
    for _ in clients:
        connection = resident.accept()
        connections[connection.hello["pid"]] = connection
    for client in clients:
        client.request(1, "ping")
        mine = connections[client.process.pid]
        mine.answer(mine.receive(), pid=client.process.pid)
        assert client.receive()["result"]["pid"] == client.process.pid


# Losing the resident


def test_a_restart_answers_what_was_in_flight_and_replays_the_handshake(
    launch: Launch, resident: Resident, start_resident: Callable[[], Resident]
) -> None:
    client = launch()
    connection = resident.accept()
    handshake(client, connection)
    client.request(1)
    connection.receive()
    resident.close()
    lost = client.receive()
    assert lost["id"] == 1
    assert lost["error"]["code"] == -32000
    assert "restarted" in lost["error"]["message"]

    connection = start_resident().accept()
    initialize = connection.receive()
    assert initialize["method"] == "initialize"
    assert connection.receive()["method"] == "notifications/initialized"
    connection.answer(initialize, protocolVersion="2025-11-25")
    client.request(2)
    connection.answer(connection.receive(), served=True)
    assert client.receive() == {"jsonrpc": "2.0", "id": 2, "result": {"served": True}}


def test_a_request_that_only_reads_is_asked_again_but_only_once(
    launch: Launch, resident: Resident, start_resident: Callable[[], Resident]
) -> None:
    client = launch()
    connection = resident.accept()
    client.request(1, "initialize")
    connection.receive()
    resident.close()

    second = start_resident()
    connection = second.accept()
    assert connection.receive()["method"] == "initialize"
    connection.send({"jsonrpc": "2.0", "method": "notifications/message"})
    assert client.receive()["method"] == "notifications/message"
    second.close()
    assert client.receive()["error"]["code"] == -32000


def test_a_request_of_a_disconnected_client_is_served_by_the_next_resident(
    launch: Launch, resident: Resident, start_resident: Callable[[], Resident]
) -> None:
    client = launch()
    handshake(client, resident.accept())
    resident.close()
    assert b"looking for the next one" in client.log.get(timeout=TIMEOUT_S)
    client.request(1)
    connection = start_resident().accept()
    connection.receive()
    connection.receive()
    connection.answer(connection.receive(), served=True)
    assert client.receive() == {"jsonrpc": "2.0", "id": 1, "result": {"served": True}}


def test_half_a_line_of_a_lost_resident_never_reaches_the_client(
    launch: Launch, resident: Resident, start_resident: Callable[[], Resident]
) -> None:
    client = launch()
    connection = resident.accept()
    client.request(1)
    connection.receive()
    connection.socket.sendall(b'{"jsonrpc":"2.0","id":1,"resu')
    resident.close()
    assert "error" in client.receive()
    connection = start_resident().accept()
    client.request(2)
    connection.answer(connection.receive())
    assert client.receive()["id"] == 2


def test_a_line_that_was_sent_half_is_sent_whole_to_the_next_resident(
    launch_polling: Launch, resident: Resident, start_resident: Callable[[], Resident]
) -> None:
    client = launch_polling()
    connection = resident.accept()
    client.request(1, text="x" * 3_000_000)
    assert len(connection.stream.read(1000)) == 1000
    resident.close()
    connection = start_resident().accept()
    request = connection.receive()
    assert len(request["params"]["text"]) == 3_000_000
    connection.answer(request)
    assert client.receive() == {"jsonrpc": "2.0", "id": 1, "result": {}}


def test_open_subscriptions_are_renewed_without_a_second_acknowledgment(
    launch: Launch, resident: Resident, start_resident: Callable[[], Resident]
) -> None:
    client = launch()
    connection = resident.accept()

    def acknowledge() -> None:
        meta = {"io.modelcontextprotocol/subscriptionId": "listen-1"}
        params = {"_meta": meta, "notifications": {}}
        method = "notifications/subscriptions/acknowledged"
        connection.send({"jsonrpc": "2.0", "method": method, "params": params})

    client.request("listen-1", "subscriptions/listen", notifications={"toolsListChanged": True})
    assert connection.receive()["id"] == "listen-1"
    acknowledge()
    assert client.receive()["method"] == "notifications/subscriptions/acknowledged"
    resident.close()

    connection = start_resident().accept()
    assert connection.receive()["id"] == "listen-1"
    acknowledge()
    connection.send({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"})
    assert client.receive()["method"] == "notifications/tools/list_changed"


# Starting one


def test_a_resident_is_started_when_nobody_listens(launch: Launch, address: str) -> None:
    client = launch([sys.executable, "-c", ECHO_RESIDENT, address])
    client.request(1)
    assert client.receive()["result"] == {"served": True}
    assert client.end() == 0


def test_two_bridges_without_a_resident_both_get_one(
    launch: Launch, start_resident: Callable[[], Resident]
) -> None:
    # Each may start one; here every one that is started finds that another holds the lock.
    clients = [launch(), launch()]
    for number, client in enumerate(clients):
        client.request(number)
    resident = start_resident()
    for _ in clients:
        connection = resident.accept()
        connection.answer(connection.receive())
    assert [client.receive()["id"] for client in clients] == [0, 1]


def test_a_resident_that_cannot_start_is_an_error_and_the_next_request_tries_again(
    launch: Launch, start_resident: Callable[[], Resident]
) -> None:
    client = launch([sys.executable, "-c", "raise SystemExit(3)"])
    client.request(1)
    error = client.receive()["error"]
    assert "code 3" in error["message"]
    assert "kmem doctor" in error["message"]
    resident = start_resident()
    client.request(2)
    connection = resident.accept()
    connection.answer(connection.receive())
    assert client.receive()["id"] == 2


def test_a_program_that_is_not_there_is_an_error(launch: Launch) -> None:
    client = launch(["/nowhere/kmem"])
    client.request(1)
    assert "/nowhere/kmem" in client.receive()["error"]["message"]


def test_a_resident_is_started_from_our_folder_and_not_from_the_clients() -> None:
    child = bridge.start_detached(
        [sys.executable, "-c", "import os, kmem_desktop; assert os.getsid(0) == os.getpid()"]
    )
    assert isinstance(child, subprocess.Popen)
    assert child.wait(TIMEOUT_S) == 0


def test_the_command_names_the_database() -> None:
    assert bridge.serve_command(None)[1:] == ["-m", "kmem_desktop", "serve", "--while-needed"]
    assert bridge.serve_command("/a.db")[-2:] == ["--db", "/a.db"]


def test_a_frozen_program_starts_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    assert bridge.serve_command(None) == [sys.executable, "serve", "--while-needed"]


def test_an_address_that_cannot_be_is_told_in_a_sentence(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("_signal.signal", lambda number, handler: None)
    monkeypatch.setattr(bridge, "socket_address", _raise_too_long)
    assert bridge.run(None, "") == 1
    assert capfd.readouterr().err == "kmem: The path is too long.\n"


def _raise_too_long(database: str | None) -> str:
    raise ValueError("The path is too long.")


# Being refused


def test_a_refusal_answers_every_request_with_its_sentence(
    launch: Launch, resident: Resident
) -> None:
    client = launch()
    connection = resident.accept()
    client.request(1)
    client.request("listen-1", "subscriptions/listen")
    connection.receive()
    connection.receive()
    connection.send({"kmem": 1, "refused": "Another version of kmem is running."})
    resident.close()
    client.request(2)
    answers = [client.receive() for _ in range(3)]
    assert {answer["id"] for answer in answers} == {1, 2, "listen-1"}
    assert {answer["error"]["message"] for answer in answers} == {
        "Another version of kmem is running."
    }
    assert client.end() == 0
    assert b"Another version of kmem is running." in client.logged()


def test_a_refusal_is_read_although_the_resident_read_nothing(
    launch: Launch, resident: Resident
) -> None:
    client = launch()
    client.request(1, text="x" * 3_000_000)
    connection = resident.accept()
    connection.send({"kmem": 1, "refused": "Too many clients."})
    resident.close()
    assert client.receive()["error"]["message"] == "Too many clients."


# Ending


def test_the_end_of_the_client_ends_the_bridge(launch: Launch, resident: Resident) -> None:
    client = launch()
    connection = resident.accept()
    client.stdin.close()
    assert connection.stream.read() == b""
    connection.close()
    assert client.wait() == 0
    assert client.logged() == b""


def test_answers_that_are_owed_are_delivered_before_the_end(
    launch: Launch, resident: Resident
) -> None:
    client = launch()
    connection = resident.accept()
    client.write(b'{"jsonrpc":"2.0","id":1,"method":"tools/call"}')  # and no line break
    client.stdin.close()
    connection.answer(connection.receive(), text="x" * 1_000_000)
    assert connection.stream.read() == b""
    connection.close()
    assert len(client.receive()["result"]["text"]) == 1_000_000
    assert client.wait() == 0


def test_what_was_asked_before_the_end_is_answered_by_a_resident_that_first_has_to_start(
    launch: Launch, address: str
) -> None:
    client = launch([sys.executable, "-c", ECHO_RESIDENT, address])
    client.request(1)
    client.stdin.close()
    assert client.receive()["result"] == {"served": True}
    assert client.wait() == 0


def test_the_end_of_the_client_ends_the_wait_for_a_resident(launch: Launch) -> None:
    client = launch([sys.executable, "-c", "import sys; sys.stdin.read()"])
    assert client.end() == 0
    assert client.lines.get(timeout=TIMEOUT_S) == b""


def test_a_client_that_reads_no_more_ends_the_bridge(address: str, resident: Resident) -> None:
    read_end, write_end = os.pipe()
    with subprocess.Popen(
        [sys.executable, "-c", DRIVER, address],
        stdin=subprocess.PIPE,
        stdout=write_end,
        stderr=subprocess.PIPE,
        cwd=ROOT,
    ) as process:
        os.close(write_end)
        resident.accept()
        os.close(read_end)
        assert process.wait(TIMEOUT_S) == 0
        assert process.stderr is not None
        assert process.stderr.read() == b""


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_the_bridge_quietly(
    launch_polling: Launch, resident: Resident, number: int
) -> None:
    client = launch_polling()
    resident.accept()
    client.process.send_signal(number)
    assert client.wait() == 0
    assert client.logged() == b""


# Patience, with a clock of our own


class ScriptedWires:
    """Wires at whose resident's end nobody is; each wait lets its time pass."""

    undelivered = unsent = 0

    def __init__(self, *events: "Event") -> None:
        self.now = 0.0
        self.events = list(events)
        self.waits: list[float | None] = []
        self.client_read = b""

    def take_sent(self) -> bytes:
        return b""

    def connect(self) -> bool:
        return False

    def to_client(self, lines: bytes) -> None:
        self.client_read += lines

    def wait(self, timeout_s: float | None, *, hear_client: bool) -> "list[Event]":
        self.waits.append(timeout_s)
        if timeout_s is not None:
            self.now += timeout_s
            return []
        return [self.events.pop(0)]


class Child:
    """A resident which starts for ever."""

    def poll(self) -> int | None:
        return None


def test_a_resident_that_never_listens_is_given_up_after_20_s_and_nothing_wakes_up_again() -> None:
    wires = ScriptedWires((CLIENT, b'{"id":1,"method":"ping"}\n'), (CLIENT, b""))
    started_at: list[float] = []

    def start() -> Child:
        started_at.append(wires.now)
        return Child()

    bridge.Bridge(cast("Wires", wires), b"", start, clock=lambda: wires.now).run()
    assert len(started_at) == 2  # at once, and for the request
    assert started_at[0] == 0
    assert started_at[1] == pytest.approx(20, abs=0.1)
    assert [wait for wait in wires.waits if wait is None] == [None, None]
    assert wires.client_read.count(b"did not start within 20 seconds") == 1


# Questions of kmem's own


def test_ask_returns_the_answer(resident: Resident, address: str) -> None:
    def answer() -> None:
        connection = resident.accept()
        assert connection.hello == {"kmem": 1, "ask": "status"}
        connection.send({"kmem": 1, "pid": 7})

    thread = threading.Thread(target=answer)
    thread.start()
    assert bridge.ask(address, "status", TIMEOUT_S) == {"kmem": 1, "pid": 7}
    thread.join()


def test_ask_returns_none_when_nobody_listens(address: str) -> None:
    assert bridge.ask(address, "status", TIMEOUT_S) is None
    left_behind = socket.socket(socket.AF_UNIX)
    left_behind.bind(address)
    left_behind.close()
    assert bridge.ask(address, "status", TIMEOUT_S) is None


def test_ask_does_not_wait_for_ever(resident: Resident, address: str) -> None:
    with pytest.raises(TimeoutError):
        bridge.ask(address, "status", 0.01)


# The parts


def test_the_start_imports_small_modules_only() -> None:
    program = (
        f"import sys; sys.path.insert(0, {str(ROOT)!r}); before = set(sys.modules);"
        "import kmem_desktop.bridge, kmem_desktop.bridge_socket;"
        "print(*sorted(set(sys.modules) - before))"
    )
    run = subprocess.run([sys.executable, "-I", "-c", program], capture_output=True, check=True)
    allowed = {"__future__", "_signal", "_socket", "errno", "select", "time", "kmem_desktop"}
    others = set(run.stdout.decode().split()) - allowed
    assert all(name.startswith("kmem_desktop.") for name in others), others


def test_lines_are_put_together_from_chunks() -> None:
    lines = Lines(max_bytes=10)
    chunks = [b"ab", b"c\nd", b"\n\n", b"e" * 11, b"ee", b"e\nf\n", b"g"]
    fed = [lines.feed(chunk) for chunk in chunks]
    assert b"".join(whole for whole, _ in fed) == b"abc\nd\n\nf\n"
    assert [is_too_long for _, is_too_long in fed] == [False] * 3 + [True] + [False] * 3
    assert lines.end() == b"g\n"


def test_a_dropped_line_can_end_with_its_chunk() -> None:
    lines = Lines(max_bytes=3)
    assert [lines.feed(chunk) for chunk in (b"aaaa", b"a\n", b"b\n")] == [
        (b"", True), (b"", False), (b"b\n", False),
    ]  # fmt: skip


def test_an_outbox_reports_a_line_as_soon_as_it_is_out() -> None:
    outbox = Outbox()
    outbox.put(b"first\nsecond\n")
    room = [8]

    def write(block: memoryview) -> int:
        if not room[0]:
            raise BlockingIOError
        written = min(room[0], len(block))
        room[0] -= written
        return written

    done: list[bytes] = []
    outbox.flush(write, done)
    assert done == [b"first\n"]
    assert outbox.size == len(b"second\n")
    assert outbox.take_back() == b"second\n"
    assert outbox.size == 0


def lines_of(*messages: object) -> bytes:
    return b"".join(json.dumps(message).encode() + b"\n" for message in messages)


def test_what_a_legacy_client_said_for_the_whole_connection_is_replayed_in_order() -> None:
    conversation = Conversation()
    said = [
        {"id": 0, "method": "initialize"},
        {"method": "notifications/initialized"},
        {"id": 1, "method": "resources/subscribe", "params": {"uri": "a"}},
        {"id": 2, "method": "resources/subscribe", "params": {"uri": "b"}},
        {"id": 3, "method": "resources/unsubscribe", "params": {"uri": "a"}},
        {"id": 4, "method": "logging/setLevel", "params": {"level": "debug"}},
        {"id": 5, "method": "tools/list"},
    ]
    conversation.sent(lines_of(*said))
    conversation.received(lines_of(*({"id": number, "result": {}} for number in range(6))))
    assert conversation.lost() == (b"", b"")
    assert conversation.replay() == lines_of(said[0], said[1], said[3], said[5])
    answers = lines_of(*({"id": number, "result": {}} for number in (0, 2, 4, 9)))
    assert conversation.without_repetitions(answers) == lines_of({"id": 9, "result": {}})


def test_a_batch_counts_as_its_messages() -> None:
    conversation = Conversation()
    conversation.sent(lines_of([{"id": 1, "method": "tools/call"}, {"id": 2, "method": "ping"}]))
    errors, again = conversation.lost()
    assert json.loads(errors)["id"] == 1
    assert json.loads(again) == {"id": 2, "method": "ping"}


def test_a_cancelled_request_is_owed_no_answer() -> None:
    conversation = Conversation()
    cancelled = {"method": "notifications/cancelled", "params": {"requestId": 1}}
    conversation.sent(lines_of({"id": 1, "method": "tools/call"}, cancelled))
    assert not conversation.awaits_answers()
    assert conversation.lost() == (b"", b"")


def test_a_subscription_that_has_ended_is_not_renewed() -> None:
    conversation = Conversation()
    conversation.sent(lines_of({"id": 1, "method": "subscriptions/listen"}))
    assert not conversation.awaits_answers()
    conversation.received(lines_of({"id": 1, "result": {}}))
    assert conversation.replay() == b""


def test_ids_of_one_value_and_two_types_are_two_ids() -> None:
    conversation = Conversation()
    conversation.sent(lines_of({"id": 1, "method": "x"}, {"id": "1", "method": "x"}))
    conversation.received(lines_of({"id": "1", "result": {}}))
    errors, _ = conversation.lost()
    assert [json.loads(line)["id"] for line in errors.splitlines()] == [1]


def test_an_id_that_is_no_id_is_passed_over() -> None:
    conversation = Conversation()
    odd = [{"id": [1], "method": "x"}, {"id": True, "method": "x"}, {"id": {}, "result": {}}, [3]]
    conversation.sent(lines_of(*odd, {"id": None, "method": "x"}) + b"\xff\n\n5\n")
    conversation.received(lines_of(*odd))
    assert not conversation.awaits_answers()
