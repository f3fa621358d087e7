"""The one place where the window waits for services."""

import asyncio

from pytestqt.qtbot import QtBot

from kmem_desktop.errors import KmemError, NotFoundError
from kmem_desktop.gui.tasks import Tasks
from tests.gui.conftest import Runner
from tests.gui.scenes import wait_for


async def answer(value: int, gate: asyncio.Event) -> int:
    await gate.wait()
    return value


def test_only_the_newest_answer_of_a_topic_counts(run: Runner, qtbot: QtBot) -> None:
    tasks = Tasks(lambda message, hint: None)
    got: list[int] = []
    gates = [asyncio.Event(), asyncio.Event()]
    for number, gate in enumerate(gates):
        tasks.run(answer(number, gate), got.append, topic="numbers")
    gates[1].set()
    wait_for(qtbot, lambda: got == [1])
    gates[0].set()
    wait_for(qtbot, lambda: not tasks._running)
    assert got == [1]


def test_answers_without_a_topic_all_count(run: Runner, qtbot: QtBot) -> None:
    tasks = Tasks(lambda message, hint: None)
    got: list[int] = []
    gate = asyncio.Event()
    gate.set()
    tasks.run(answer(1, gate), got.append)
    tasks.run(answer(2, gate), got.append)
    wait_for(qtbot, lambda: sorted(got) == [1, 2])


def test_whoever_asked_may_show_the_error_itself(run: Runner, qtbot: QtBot) -> None:
    shown: list[str] = []
    tasks = Tasks(lambda message, hint: shown.append(f"{message} {hint}"))
    own: list[KmemError] = []

    async def fail() -> None:
        raise NotFoundError("Gone.", hint="Look elsewhere.")

    def take(error: KmemError) -> bool:
        own.append(error)
        return len(own) == 1

    tasks.run(fail(), failed=take)
    tasks.run(fail(), failed=take)
    wait_for(qtbot, lambda: len(own) == 2)
    assert shown == ["Gone. Look elsewhere."]


def test_what_runs_is_given_up_when_the_window_lets_go(run: Runner, qtbot: QtBot) -> None:
    tasks = Tasks(lambda message, hint: None)
    got: list[int] = []
    tasks.run(answer(1, asyncio.Event()), got.append)
    tasks.close()
    wait_for(qtbot, lambda: not tasks._running)
    assert got == []
