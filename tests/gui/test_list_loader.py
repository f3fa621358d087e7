"""Loading of lists: the newest question wins."""

import asyncio
from array import array
from collections.abc import Sequence

from pytestqt.qtbot import QtBot

from kmem_desktop.domain.changes import Noun
from kmem_desktop.domain.found import Row
from kmem_desktop.gui.lists.list_loader import ListLoader
from kmem_desktop.gui.lists.row_delegate import Density
from kmem_desktop.gui.lists.row_list_view import RowListView
from kmem_desktop.gui.lists.row_table_model import RowTableModel
from kmem_desktop.gui.tasks import Tasks
from kmem_desktop.services.listing import Listing, View
from tests.gui.conftest import Runner
from tests.gui.scenes import wait_for

BOTH = (Noun.KNOWLEDGE, Noun.ENTITY)


class SlowListing:
    """Answers each question when the test lets it."""

    def __init__(self) -> None:
        self.gates: dict[str, asyncio.Event] = {}

    async def show(self, view: View) -> Listing:
        await self.gates.setdefault(view.text, asyncio.Event()).wait()
        return Listing(view, array("q", [len(view.text)]), 1, {}, 1.0, {})

    async def rows(self, listing: Listing, ids: Sequence[int]) -> list[Row]:
        return []


def test_a_stale_answer_is_dropped(run: Runner, qtbot: QtBot) -> None:
    service = SlowListing()
    model = RowTableModel()
    view = RowListView(model, "Items", Density.FULL)
    qtbot.addWidget(view)
    tasks = Tasks(lambda message, hint: None)
    loader = ListLoader(service, tasks, view)  # type: ignore[arg-type]
    loader.ask("re", BOTH)
    loader.ask("redis", BOTH)
    wait_for(qtbot, lambda: len(service.gates) == 2)
    service.gates["redis"].set()
    wait_for(qtbot, lambda: model.rowCount() == 1)
    service.gates["re"].set()
    run(asyncio.sleep(0))
    wait_for(qtbot, lambda: not [task for task in tasks._running if not task.done()])
    assert model.id_at(0) == len("redis")


def test_questions_that_were_overtaken_are_never_asked(run: Runner, qtbot: QtBot) -> None:
    service = SlowListing()
    model = RowTableModel()
    view = RowListView(model, "Items", Density.FULL)
    qtbot.addWidget(view)
    tasks = Tasks(lambda message, hint: None)
    loader = ListLoader(service, tasks, view)  # type: ignore[arg-type]
    for length in range(1, len("why redis") + 1):
        loader.ask("why redis"[:length], BOTH)
    wait_for(qtbot, lambda: len(service.gates) == 2)
    for gate in list(service.gates.values()):
        gate.set()
    wait_for(qtbot, lambda: "why redis" in service.gates)
    service.gates["why redis"].set()
    wait_for(qtbot, lambda: model.rowCount() == 1)
    assert sorted(service.gates) == ["w", "wh", "why redis"]
    assert model.listing.view.text == "why redis"
