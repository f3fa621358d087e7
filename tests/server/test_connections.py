"""The conversation on a real socket, on both kinds of local socket, in a process of its own."""

import contextlib
import json
import os
import socket
import stat
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kmem_desktop.bridge import ask
from kmem_desktop.server.connections import MOST_CLIENTS
from kmem_desktop.server.lines import LONGEST_LINE_BYTES
from tests.server.clients import draft
from tests.server.corpora import ROOT, raw_frames

Message = dict[str, Any]

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the clients are Unix sockets")

TIMEOUT_S = 60.0
MODERN_META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
    "io.modelcontextprotocol/clientInfo": {"name": "raw", "version": "1"},
}


class Served:
    """A serving process and the place where it listens."""

    def __init__(self, kind: str, folder: Path) -> None:
        self.address = str(folder / "s.sock")
        self.database = str(folder / "kmem.db")
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tests.server.listening", kind, self.address, self.database],
            stdout=subprocess.PIPE,
            cwd=ROOT,
            text=True,
        )
        assert self.process.stdout is not None
        assert self.process.stdout.readline() == "listening\n"

    def end(self) -> None:
        if self.process.poll() is None:
            ask(self.address, "end", TIMEOUT_S)
        try:
            output, _ = self.process.communicate(timeout=TIMEOUT_S)
        finally:
            self.process.kill()
            self.process.communicate()
        assert output == "ended\n"
        assert self.process.returncode == 0


class RawClient:
    """A socket with lines, and no idea of what a client should say."""

    def __init__(self, served: Served) -> None:
        self._served = served
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.settimeout(TIMEOUT_S)
        self._socket.connect(served.address)
        self._lines = self._socket.makefile("rb")
        self.shutdown = self._socket.shutdown
        self.received_late: list[Message] = []

    def __enter__(self) -> "RawClient":
        return self

    def __exit__(self, *_: object) -> None:
        self._lines.close()
        self._socket.close()

    def send(self, line: bytes | Message) -> None:
        data = line if isinstance(line, bytes) else json.dumps(line).encode()
        self._socket.sendall(data + b"\n")

    def send_as_far_as_it_goes(self, data: bytes) -> None:
        with contextlib.suppress(ConnectionError):
            self._socket.sendall(data)

    def line(self) -> Message | None:
        """Return the next message; None where the server closed the connection."""
        try:
            line = self._lines.readline()
        except ConnectionError:
            return None
        message = json.loads(line) if line else None
        assert message is None or isinstance(message, dict)
        return message

    def greet(self, **fields: Any) -> None:
        database = self._served.database
        self.send({"kmem": 1, "open": "mcp", "database": database, "tools": "", **fields})

    def initialize(self) -> None:
        self.greet()
        params = {
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": {"name": "raw", "version": "1"},
        }
        self.send({"jsonrpc": "2.0", "id": "init", "method": "initialize", "params": params})
        answer = self.line()
        assert answer is not None
        assert answer["result"]["serverInfo"]["name"] == "kmem"
        self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def call(self, tool: str, arguments: Message, call_id: str = "call") -> Message:
        """Call a tool and return its result; keep what else comes before it."""
        params = {"name": tool, "arguments": arguments}
        self.send({"jsonrpc": "2.0", "id": call_id, "method": "tools/call", "params": params})
        while (message := self.line()) is not None:
            if message.get("id") == call_id:
                result = message["result"]
                assert isinstance(result, dict)
                return result
            self.received_late.append(message)
        raise AssertionError("the server closed the connection")


@pytest.fixture(scope="module", params=["unix_socket", "named_pipe"])
def kind(request: pytest.FixtureRequest) -> str:
    """Which local socket is listened on."""
    return str(request.param)


@pytest.fixture(scope="module")
def served(kind: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A memory that these tests share, in a process of its own which has to end by itself."""
    process = Served(kind, tmp_path_factory.mktemp(kind))
    yield process
    process.end()


@pytest.fixture
def served_alone(kind: str, tmp_path: Path) -> Iterator[Served]:
    """A fresh memory for one test."""
    process = Served(kind, tmp_path)
    yield process
    process.end()


def entity(number: int) -> Message:
    return {"name": f"Entity {number}", "entityType": "thing", "observations": ["one"]}


def assert_alive(served: Served) -> None:
    with RawClient(served) as client:
        client.initialize()
        assert not client.call("read_graph", {}).get("isError")


def test_the_socket_is_its_owners_alone(served: Served) -> None:
    mode = os.stat(served.address).st_mode  # noqa: PTH116 - the bare call, as a stranger would
    assert stat.S_ISSOCK(mode)
    assert stat.S_IMODE(mode) & 0o077 == 0


def test_both_eras_talk_on_the_socket(served: Served) -> None:
    with RawClient(served) as old, RawClient(served) as new:
        old.initialize()
        assert not old.call("memory.storeKnowledge", draft(1)).get("isError")
        new.greet()
        params = {"_meta": MODERN_META}
        new.send({"jsonrpc": "2.0", "id": 1, "method": "server/discover", "params": params})
        discovered = new.line()
        assert discovered is not None
        assert "2026-07-28" in discovered["result"]["supportedVersions"]
        arguments = {"query": "shared client"}
        call = {"name": "memory_searchKnowledge", "arguments": arguments, "_meta": MODERN_META}
        new.send({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": call})
        found = new.line()
        assert found is not None
        assert found["result"]["structuredContent"]["totalMatches"] == 1


def test_every_raw_frame_is_answered_and_survived(served: Served) -> None:
    for frame in raw_frames():
        with RawClient(served) as client:
            client.initialize()
            client.send(frame)
            assert not client.call("read_graph", {}).get("isError"), frame
            errors = [message for message in client.received_late if "error" in message]
            demands_answer, request_id = demands(frame)
            assert bool(errors) == demands_answer, (frame, errors)
            if errors and request_id is not None:
                assert errors[0]["id"] == request_id, (frame, errors)


def demands(frame: bytes) -> tuple[bool, int | str | None]:
    """Tell whether a frame must be answered by an error, and under which id."""
    if not frame.strip():
        return False, None
    try:
        message = json.loads(frame)
    except ValueError:
        return True, None
    if not isinstance(message, dict):
        return True, None
    is_right = message.get("jsonrpc") == "2.0"
    if is_right and ("result" in message or ("method" in message and "id" not in message)):
        return False, None
    request_id = message.get("id")
    return True, request_id if isinstance(request_id, int | str) else None


def test_all_raw_frames_one_after_the_other_are_survived(served: Served) -> None:
    with RawClient(served) as client:
        client.initialize()
        for number, frame in enumerate(raw_frames()):
            client.send(frame)
            assert not client.call("read_graph", {}, f"call {number}").get("isError"), frame


def test_a_frame_before_any_greeting_is_refused_and_survived(served: Served) -> None:
    for frame in [*raw_frames(), b'{"kmem":2}', b'{"kmem":1,"open":"ftp"}', b'{"ask":[]}']:
        with RawClient(served) as client:
            client.send(frame)
            client.shutdown(socket.SHUT_WR)
            while (message := client.line()) is not None:
                assert message["kmem"] == 1
    assert_alive(served)


def test_a_line_of_nine_megabytes_ends_that_connection_alone(served: Served) -> None:
    with RawClient(served) as witness:
        witness.initialize()
        for line in (b"x" * (9 << 20), b'{"a":"' + b"y" * (9 << 20) + b'"}\n'):
            with RawClient(served) as client:
                client.initialize()
                client.send_as_far_as_it_goes(line)
                assert client.line() is None
        assert not witness.call("read_graph", {}).get("isError")


def test_a_line_just_below_the_limit_is_an_answerable_call(served: Served) -> None:
    with RawClient(served) as client:
        client.initialize()
        text = "z" * (LONGEST_LINE_BYTES - 4_096)
        result = client.call("memory_searchKnowledge", {"query": text})
        assert json.loads(result["content"][0]["text"])["error"] == "VALIDATION_ERROR"


def test_json_that_is_5000_levels_deep_is_survived(served: Served) -> None:
    deep = b"[" * 5_000 + b"]" * 5_000
    with RawClient(served) as client:
        client.initialize()
        for line in (
            deep,
            b'{"jsonrpc":"2.0","id":7,"method":"ping","params":{"a":' + deep + b"}}",
            b'{"jsonrpc":"2.0","id":8,"method":"tools/call","params":{"name":"create_entities",'
            b'"arguments":{"entities":' + deep + b"}}}",
        ):
            client.send(line)
            assert not client.call("read_graph", {}).get("isError")
        assert len(client.received_late) == 3
        assert all("error" in m or m["result"]["isError"] for m in client.received_late)


@pytest.mark.parametrize("number", ["1" * 10_000, "1e400", "-0", "NaN", "1" + "0" * 4_000])
def test_odd_numbers_are_answered(served: Served, number: str) -> None:
    with RawClient(served) as client:
        client.initialize()
        client.send(
            b'{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":'
            b'"memory_searchKnowledge","arguments":{"query":"some words","limit":'
            + number.encode()
            + b"}}}"
        )
        assert not client.call("read_graph", {}).get("isError")
        (answer,) = client.received_late
        assert "error" in answer or answer["result"]["isError"]
        assert "bug" not in json.dumps(answer)


def test_a_lone_surrogate_never_gets_into_the_memory(served: Served) -> None:
    with RawClient(served) as client:
        client.initialize()
        for text in ("\\ud800", "a\\udfff", "\\udc00\\ud800"):
            client.send(
                b'{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":"create_entities",'
                b'"arguments":{"entities":[{"name":"%s","entityType":"x","observations":[]}]}}}'
                % text.encode()
            )
            names = ["\ufffd", "a\ufffd", "?", "a?", ""]
            graph = client.call("open_nodes", {"names": names})
            assert graph["structuredContent"]["entities"] == []
        assert len(client.received_late) == 3
        assert {message["id"] for message in client.received_late} == {9}
        assert all("error" in message for message in client.received_late)


def test_a_string_of_all_kinds_of_characters_comes_back_as_it_was(served: Served) -> None:
    text = "".join(map(chr, [*range(0x01, 0x300), 0x2028, 0x2029, 0xFFFE, 0xFFFF, 0x1F600]))
    stored = {"name": text[:400], "entityType": text[-200:], "observations": [text]}
    with RawClient(served) as client:
        client.initialize()
        client.call("create_entities", {"entities": [stored]})
        graph = client.call("open_nodes", {"names": [stored["name"]]})
        assert graph["structuredContent"]["entities"] == [stored]
        assert json.loads(graph["content"][0]["text"])["entities"] == [stored]


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"database": "/somewhere/else.db"}, "same --db everywhere"),
        ({"tools": "graph,nope"}, "--tools knows"),
        ({"open": "http"}, "two versions"),
        ({"kmem": 2}, "two versions"),
        ({"tools": ["graph"]}, "--tools knows"),
    ],
)
def test_a_client_that_cannot_be_served_is_told_why(
    served: Served, fields: Message, reason: str
) -> None:
    with RawClient(served) as client:
        client.greet(**fields)
        answer = client.line()
        assert answer is not None
        assert reason in answer["refused"]
        assert client.line() is None


def test_the_tools_of_the_hello_are_served(served: Served) -> None:
    with RawClient(served) as client:
        client.greet(tools="graph")
        params = {"_meta": MODERN_META}
        client.send({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": params})
        answer = client.line()
        assert answer is not None
        assert len(answer["result"]["tools"]) == 9


def test_a_question_of_another_kmem_is_answered_with_one_line(served_alone: Served) -> None:
    with RawClient(served_alone) as client:
        client.initialize()
        answer = ask(served_alone.address, "status", TIMEOUT_S)
    assert answer == {"kmem": 1, "pid": served_alone.process.pid, "asked": "status", "clients": 1}


def test_more_clients_than_can_be_served_are_told_so_and_cost_the_others_nothing(
    served_alone: Served,
) -> None:
    with contextlib.ExitStack() as stack:
        clients = []
        for _ in range(MOST_CLIENTS):
            clients.append(stack.enter_context(RawClient(served_alone)))
            clients[-1].initialize()
        with RawClient(served_alone) as one_too_many:
            one_too_many.greet()
            answer = one_too_many.line()
            assert answer is not None
            assert "too many clients" in answer["refused"]
            assert one_too_many.line() is None
        status = ask(served_alone.address, "status", TIMEOUT_S)
        assert status is not None
        assert status["clients"] == MOST_CLIENTS
        for client in clients:
            assert not client.call("read_graph", {}).get("isError")
        clients[0].__exit__()
        # The place is free again as soon as the end of the first has been noticed.
        while True:
            with RawClient(served_alone) as late:
                late.greet()
                late.send({"jsonrpc": "2.0", "id": 1, "method": "nope", "params": {}})
                answer = late.line()
                if answer is not None and "refused" not in answer:
                    break


def test_a_client_that_leaves_in_the_middle_of_a_line_is_forgotten(served_alone: Served) -> None:
    with RawClient(served_alone) as client:
        client.initialize()
        client.send_as_far_as_it_goes(b'{"jsonrpc":"2.0","id":1,"method":"tools/')
    while True:
        status = ask(served_alone.address, "status", TIMEOUT_S)
        if status is not None and status["clients"] == 0:
            break
    assert_alive(served_alone)


def test_calls_of_many_clients_at_once_are_all_answered_under_their_own_ids(
    served: Served,
) -> None:
    counts: list[int] = []

    def work(first: int) -> None:
        with RawClient(served) as client:
            client.initialize()
            for number in range(first, first + 50):
                params = {"name": "create_entities", "arguments": {"entities": [entity(number)]}}
                message = {"jsonrpc": "2.0", "id": number, "method": "tools/call"}
                client.send({**message, "params": params})
            answers = [client.line() for _ in range(50)]
            for answer in answers:
                assert answer is not None
                created = answer["result"]["structuredContent"]["entities"]
                assert created == [entity(answer["id"])]
            counts.append(len({answer["id"] for answer in answers if answer is not None}))

    threads = [threading.Thread(target=work, args=(1_000 * n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(TIMEOUT_S)
    assert counts == [50] * 4


def test_a_stop_lets_the_calls_in_flight_finish_and_loses_nothing(
    served_alone: Served, tmp_path: Path
) -> None:
    with RawClient(served_alone) as client, RawClient(served_alone) as other:
        client.initialize()
        other.initialize()
        for number in range(200):
            params = {"name": "create_entities", "arguments": {"entities": [entity(number)]}}
            message = {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}
            client.send(message)
        assert ask(served_alone.address, "end", TIMEOUT_S) is not None
        answers: dict[int, Message] = {}
        while (answer := client.line()) is not None:
            answers[answer["id"]] = answer
        assert other.line() is None
    kept = {number for number, answer in answers.items() if "result" in answer}
    refused = [answer for answer in answers.values() if "error" in answer]
    assert all("restarting" in answer["error"]["message"] for answer in refused)
    served_alone.process.wait(TIMEOUT_S)
    again = Served("unix_socket", tmp_path)
    try:
        with RawClient(again) as client:
            client.initialize()
            graph = client.call("read_graph", {})["structuredContent"]
    finally:
        again.end()
    stored = {int(one["name"].rpartition(" ")[2]) for one in graph["entities"]}
    assert kept <= stored
