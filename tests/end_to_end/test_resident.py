"""Bridges and residents as real processes."""

import signal
import subprocess
from importlib.metadata import version
from pathlib import Path

import pytest

from kmem_desktop import resident
from kmem_desktop.bridge import ask
from kmem_desktop.config import paths
from tests.end_to_end.programs import TIMEOUT_S, Memory, StdioClient, entity, wait_until_dead


def test_the_first_client_starts_a_resident_and_the_second_finds_what_it_stored(
    memory: Memory,
) -> None:
    assert memory.status() is None
    first = memory.client(name="claude-code")
    first.call("create_entities", entity("Ada"))
    status = memory.status()
    assert status is not None
    assert status["version"] == version("kmem")
    assert status["windows"] is False
    assert status["database"] == str(memory.database)
    second = memory.client(name="cursor")
    found = second.call("open_nodes", {"names": ["Ada"]})
    assert found["structuredContent"]["entities"] == entity("Ada")["entities"]
    assert memory.resident().pid == status["pid"]


def test_five_clients_that_start_at_once_share_one_resident(memory: Memory) -> None:
    clients = [memory.client(initialize=False) for _ in range(5)]
    for number, client in enumerate(clients):
        client.initialize(f"client {number}")
        client.call("create_entities", entity(f"Entity {number}"))
    names = {
        one["name"]
        for client in clients
        for one in client.call("read_graph", {})["structuredContent"]["entities"]
    }
    assert names == {f"Entity {number}" for number in range(5)}
    status = memory.status()
    assert status is not None
    assert status["clients"] == 5


def test_the_bridge_ends_with_its_client_and_the_resident_stays(memory: Memory) -> None:
    client = memory.client()
    resident_process = memory.resident()
    client.close()
    assert client.process.returncode == 0
    assert resident_process.is_running()


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_resident_that_is_asked_to_end_ends_in_order(memory: Memory, how: signal.Signals) -> None:
    client = memory.client()
    client.call("create_entities", entity("Ada"))
    process = memory.resident()
    process.send_signal(how)
    wait_until_dead(process)
    log = memory.database.with_name("kmem.db.log").read_text()
    assert "Stopped serving" in log
    assert "Traceback" not in log
    assert not memory.database.with_name("kmem.db-wal").exists()
    assert not Path(memory.address).exists()


def test_a_client_goes_on_with_the_next_resident(memory: Memory) -> None:
    client = memory.client()
    client.call("create_entities", entity("Ada"))
    first = memory.resident()
    first.kill()
    wait_until_dead(first)
    assert names_read_in_the_end(client) == {"Ada"}
    client.call("create_entities", entity("Bob"))
    assert memory.resident().pid != first.pid


def test_a_resident_that_hands_over_makes_room_for_the_next_one(memory: Memory) -> None:
    client = memory.client()
    client.call("create_entities", entity("Ada"))
    first = memory.resident()
    assert ask(memory.address, "hand_over", TIMEOUT_S) is not None
    wait_until_dead(first)
    with subprocess.Popen(memory.command("serve")) as second:
        try:
            # Asked before somebody serves, the bridge would start a resident of its own.
            assert memory.status_once_served()["pid"] == second.pid
            assert names_read_in_the_end(client) == {"Ada"}
            assert memory.resident().pid == second.pid
        finally:
            second.terminate()
            second.wait(TIMEOUT_S)


def names_read_in_the_end(client: StdioClient) -> set[str]:
    """Read the graph; what was on its way to a resident that died is answered by an error."""
    while True:
        answer = client.answer(client.start_call("read_graph", {}))
        if "result" in answer:
            return {one["name"] for one in answer["result"]["structuredContent"]["entities"]}
        assert "restarted" in answer["error"]["message"]


def test_a_second_resident_leaves_the_first_alone(memory: Memory) -> None:
    client = memory.client()
    asked_for = memory.run("serve")
    assert asked_for.returncode == 1
    assert "already serves this memory" in asked_for.stderr
    started_by_a_bridge = memory.run("serve", "--while-needed")
    assert started_by_a_bridge.returncode == 0
    assert not client.call("read_graph", {}).get("isError")


def test_an_older_client_still_hears_of_changes_after_a_restart(memory: Memory) -> None:
    listener, writer = memory.client(), memory.client()
    listener.request("resources/subscribe", {"uri": "memory://knowledge-graph"})
    process = memory.resident()
    process.kill()
    wait_until_dead(process)
    names_read_in_the_end(listener)
    names_read_in_the_end(writer)
    writer.call("create_entities", entity("Ada"))
    heard = listener.notifications.get(timeout=TIMEOUT_S)
    assert heard["method"] == "notifications/resources/updated"


def test_a_client_with_another_idea_of_the_tools_is_told_so(memory: Memory) -> None:
    client = memory.client("--tools", "nope", initialize=False)
    answer = client.request("initialize", {"protocolVersion": "2025-06-18"})
    assert "--tools knows graph, knowledge" in answer["error"]["message"]
    assert "not nope" in answer["error"]["message"]


def test_standalone_serves_without_a_resident(memory: Memory) -> None:
    client = memory.client("--standalone")
    client.call("create_entities", entity("Ada"))
    assert memory.status() is None
    client.close()
    assert client.process.returncode == 0
    assert client.errors == []
    again = memory.client("--standalone")
    assert again.call("read_graph", {})["structuredContent"]["entities"]


def test_standalone_answers_what_was_asked_before_its_input_ended(memory: Memory) -> None:
    client = memory.client("--standalone")
    calls = [client.start_call("create_entities", entity(f"Entity {n}")) for n in range(20)]
    assert client.process.stdin is not None
    client.process.stdin.close()
    assert all("result" in client.answer(call) for call in calls)


async def test_a_resident_that_nobody_needs_ends_by_itself(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(resident, "IDLE_EXIT_S", 0.05)
    assert await resident.serve(paths(str(memory.database)), while_needed=True) == 0


def test_a_resident_on_a_file_of_another_program_says_why_and_leaves_it(memory: Memory) -> None:
    memory.database.write_bytes(b"this is no database at all, and somebody needs it" * 100)
    before = memory.database.read_bytes()
    done = memory.run("serve")
    assert done.returncode == 1
    assert done.stderr.startswith("kmem: ")
    assert "Traceback" not in done.stderr
    client = memory.client(initialize=False)
    answer = client.request("initialize", {"protocolVersion": "2025-06-18"})
    assert "error" in answer
    assert memory.database.read_bytes() == before
