"""The four acceptance runs of issue 2, and kill -9; their large versions are in `storm`."""

import sys

import pytest

from tests.end_to_end.programs import Memory
from tests.end_to_end.storm import create_in_turn, kept_names, kill_storm, parallel_creates


def test_fifty_parallel_creates_of_one_client_are_all_kept(memory: Memory) -> None:
    acknowledged = parallel_creates(memory, 50)
    assert len(acknowledged) == 50
    assert kept_names(memory) == acknowledged


def test_two_clients_of_the_resident_keep_all_of_two_hundred(memory: Memory) -> None:
    clients = [memory.client(), memory.client()]
    assert len(create_in_turn(clients, 100)) == 200
    assert len(kept_names(memory)) == 200


@pytest.mark.parametrize("is_warm", [True, False], ids=["warm", "fresh"])
def test_two_standalone_processes_on_one_file_keep_all_of_two_hundred(
    memory: Memory, is_warm: bool
) -> None:
    if is_warm:
        memory.client("--standalone").close()
    clients = [memory.client("--standalone", initialize=False) for _ in range(2)]
    for client in clients:
        client.initialize()
    assert len(create_in_turn(clients, 100)) == 200
    assert len(kept_names(memory)) == 200


def test_four_clients_keep_everything(memory: Memory) -> None:
    clients = [memory.client() for _ in range(4)]
    assert len(create_in_turn(clients, 60)) == 240
    assert len(kept_names(memory)) == 240


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no kill -9")
def test_kills_of_the_resident_lose_nothing_that_was_acknowledged(memory: Memory) -> None:
    report = kill_storm(memory, kills=8, client_count=2, is_impatient=True)
    print(report)
    assert report.kills == 8
    assert report.lost == set()
    assert report.integrity == "ok"
    assert report.unanswered == 0
    assert report.acknowledged > 0
