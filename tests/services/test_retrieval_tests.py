"""Questions that must find an item: kept, run, removed, and run again when something changed."""

import asyncio
from typing import Any

import pytest

from kmem_desktop.bootstrap import Services
from kmem_desktop.domain.found import EntryQuery
from kmem_desktop.domain.retrieval_tests import RetrievalTest, State
from kmem_desktop.errors import DuplicateError, InvalidInputError, NotFoundError
from kmem_desktop.services.retrieval import retrieval_tests
from tests.services.memory import WINDOW, entity, stored

QUESTION = "where is the cache"
AT_WORK = "The night crew keeps a list of what was done at work, on paper, in the hall."


async def kept(services: Services, *, among_first: int = 5) -> RetrievalTest:
    """Store an item and keep a test that it is found."""
    item = await stored(services, "Rules of the shop", content=f"The cache is here. {AT_WORK}")
    return await services.retrieval_tests.add(QUESTION, item.uuid, among_first=among_first)


async def push_down(services: Services, count: int = 2) -> None:
    """Store better answers to the question."""
    for number in range(count):
        await stored(services, f"Cache of the cache number {number}")


def upgrade(services: Services) -> None:
    """Let kmem be another version from now on."""
    services.retrieval_tests.program = "9.9.9"


async def test_a_test_is_run_when_it_is_kept(services: Services) -> None:
    test = await kept(services)
    assert test.state is State.GREEN
    assert test.last is not None
    assert (test.last.place, test.among_first, test.before) == (1, 5, None)
    assert test.item.title == "Rules of the shop"
    assert await services.retrieval_tests.tests() == [test]


async def test_the_place_is_that_of_the_search_of_the_tools(services: Services) -> None:
    test = await kept(services)
    await push_down(services)
    test = await services.retrieval_tests.run_one(test.id)
    entries, _ = await services.sessions.search(EntryQuery(QUESTION), "Test")
    assert test.last is not None
    assert entries[(test.last.place or 0) - 1].uuid == test.item.uuid


async def test_a_place_too_far_down_is_red_and_tells_both_places(services: Services) -> None:
    test = await kept(services, among_first=1)
    await push_down(services)
    ran = await services.retrieval_tests.run_these()
    red = ran.tests[0]
    assert (ran.count(State.RED), [each.id for each in ran.turned_red]) == (1, [test.id])
    assert red.last is not None
    assert red.before is not None
    assert (red.last.place, red.before.place) == (3, 1)


async def test_the_same_result_again_does_not_hide_what_was_before(services: Services) -> None:
    test = await kept(services, among_first=1)
    await push_down(services)
    for _ in range(2):
        await services.retrieval_tests.run_one(test.id)
    red = await services.retrieval_tests.run_one(test.uuid)
    assert red.last is not None
    assert red.before is not None
    assert (red.last.place, red.before.place) == (3, 1)
    assert red.last.first_at < red.last.last_at


async def test_a_question_that_finds_nothing_has_no_place(services: Services) -> None:
    item = await stored(services, "Rules of the shop")
    test = await services.retrieval_tests.add("zebra crossing", item.id)
    assert test.state is State.RED
    assert test.last is not None
    assert test.last.place is None


async def test_another_limit_is_judged_at_once(services: Services) -> None:
    test = await kept(services)
    await push_down(services)
    assert (await services.retrieval_tests.set_among_first(test.id, 2)).state is State.RED
    assert (await services.retrieval_tests.set_among_first(test.id, 3)).state is State.GREEN


async def test_a_test_of_a_deleted_item_is_grey_until_the_item_is_back(services: Services) -> None:
    test = await kept(services)
    _, change = await services.knowledge.delete(test.item.uuid, WINDOW)
    grey = (await services.retrieval_tests.tests())[0]
    assert (grey.state, grey.item.title) == (State.GREY, "Rules of the shop")
    assert (await services.retrieval_tests.run_these()).count(State.RED) == 0
    await services.history.undo(change, WINDOW)
    assert (await services.retrieval_tests.tests())[0].state is State.GREEN


async def test_a_test_follows_its_item_to_another_id(services: Services) -> None:
    entity_id = await entity(services, "cache", "keeps pages")
    test = await services.retrieval_tests.add(QUESTION, entity_id)
    await services.graph.delete_entities(["cache"], WINDOW)
    change = (await services.history.newest(1))[0]
    await services.history.undo(change.id, WINDOW)
    again = await services.retrieval_tests.run_one(test.id)
    assert again.state is State.GREEN
    assert again.item.id == await services.graph.find("cache")


async def test_an_entity_is_found_by_one_of_its_observations(services: Services) -> None:
    entity_id = await entity(services, "worker", "looks after the cache")
    test = await services.retrieval_tests.add(QUESTION, entity_id)
    assert test.state is State.GREEN


async def test_a_scope_limits_where_it_is_asked(services: Services) -> None:
    item = await stored(services, "Cache rule of the shop", scope="project:shop")
    inside = await services.retrieval_tests.add(QUESTION, item.id, scope="Project:Shop")
    outside = await services.retrieval_tests.add(QUESTION, item.id, scope="project:site")
    assert (inside.state, inside.scope) == (State.GREEN, "project:shop")
    assert outside.state is State.RED


async def test_a_removed_test_comes_back_with_what_it_knew(services: Services) -> None:
    test = await kept(services, among_first=1)
    await push_down(services)
    red = await services.retrieval_tests.run_one(test.id)
    removed = await services.retrieval_tests.remove(test.uuid)
    assert await services.retrieval_tests.tests() == []
    await services.retrieval_tests.put_back(removed)
    assert await services.retrieval_tests.tests() == [red]
    with pytest.raises(DuplicateError):
        await services.retrieval_tests.put_back(removed)


async def test_the_same_test_is_kept_once(services: Services) -> None:
    test = await kept(services)
    with pytest.raises(DuplicateError, match="already") as caught:
        await services.retrieval_tests.add(f"  {QUESTION}\n", test.item.id)
    assert caught.value.details["existingId"] == test.id


@pytest.mark.parametrize(
    ("question", "more", "said"),
    [
        ("", {}, "question must be 1 to 2,000 characters"),
        ("x" * 2001, {}, "it has 2,001"),
        ("cache", {"among_first": 0}, "within must be from 1 to 50"),
        ("cache", {"among_first": 51}, "it is 51"),
        ("cache", {"scope": "shop"}, "Scope must be global, project:<name> or repo:<name>"),
    ],
)
async def test_what_is_out_of_its_limits_is_refused_by_name(
    services: Services, question: str, more: dict[str, Any], said: str
) -> None:
    item = await stored(services, "Rules of the shop")
    with pytest.raises(InvalidInputError, match=said):
        await services.retrieval_tests.add(question, item.id, **more)
    assert await services.retrieval_tests.tests() == []


async def test_there_are_only_so_many_tests(
    services: Services, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(retrieval_tests, "MOST_TESTS", 1)
    test = await kept(services)
    with pytest.raises(InvalidInputError, match="There are 1 tests, as many as there may be"):
        await services.retrieval_tests.add("another question", test.item.id)


async def test_items_and_tests_that_are_not_there_are_named(services: Services) -> None:
    item = await stored(services, "Rules of the shop")
    await services.knowledge.delete(item.id, WINDOW)
    with pytest.raises(NotFoundError, match="The item was deleted"):
        await services.retrieval_tests.add(QUESTION, item.uuid)
    with pytest.raises(NotFoundError, match="There is no item 77"):
        await services.retrieval_tests.add(QUESTION, 77)
    for deed in (services.retrieval_tests.run_one, services.retrieval_tests.remove):
        with pytest.raises(NotFoundError, match="There is no test 77"):
            await deed("77")


async def test_nothing_is_due_after_a_run_until_kmem_is_another_version(
    services: Services,
) -> None:
    await kept(services)
    assert (await services.retrieval_tests.run_due()).tests == ()
    upgrade(services)
    ran = await services.retrieval_tests.run_due()
    assert ran.count(State.GREEN) == 1
    last = ran.tests[0].last
    assert last is not None
    assert last.situation.program == "9.9.9"
    assert (await services.retrieval_tests.run_due()).tests == ()


async def test_another_model_makes_every_test_due(
    services: Services, monkeypatch: pytest.MonkeyPatch
) -> None:
    await kept(services)
    monkeypatch.setattr(type(services.embedding), "serving", "another model")
    ran = await services.retrieval_tests.run_due()
    assert len(ran.tests) == 1
    last = ran.tests[0].last
    assert last is not None
    assert last.situation.model == "another model"


async def test_what_turned_red_by_itself_is_to_be_told_once(services: Services) -> None:
    test = await kept(services, among_first=1)
    await push_down(services)
    upgrade(services)
    ran = await services.retrieval_tests.run_due()
    assert [each.id for each in ran.turned_red] == [test.id]
    assert [each.id for each in await services.retrieval_tests.turned_red()] == [test.id]
    await services.retrieval_tests.note_told()
    assert await services.retrieval_tests.turned_red() == []


async def test_what_a_person_ran_is_not_told_again(services: Services) -> None:
    await kept(services, among_first=1)
    await push_down(services)
    await services.retrieval_tests.run_these()
    assert await services.retrieval_tests.turned_red() == []


async def test_a_listener_hears_of_every_deed(services: Services) -> None:
    heard: list[str] = []
    end = services.retrieval_tests.listen(lambda: heard.append("news"))
    test = await kept(services)
    await services.retrieval_tests.run_these()
    removed = await services.retrieval_tests.remove(test.id)
    await services.retrieval_tests.put_back(removed)
    assert len(heard) == 4
    end()
    await services.retrieval_tests.run_these()
    assert len(heard) == 4


async def test_a_run_tells_how_far_it_is(services: Services) -> None:
    test = await kept(services)
    await services.retrieval_tests.add("the cache again", test.item.id)
    seen: list[tuple[int, int]] = []
    await services.retrieval_tests.run_these(progress=lambda *numbers: seen.append(numbers))
    assert seen == [(1, 2), (2, 2)]


async def test_due_tests_run_by_themselves_after_the_start(
    services: Services, monkeypatch: pytest.MonkeyPatch
) -> None:
    await kept(services)
    upgrade(services)
    monkeypatch.setattr(retrieval_tests, "FIRST_LOOK_S", 0.0)
    ran = asyncio.Event()
    services.retrieval_tests.listen(ran.set)
    await services.retrieval_tests.stop()
    services.retrieval_tests.start()
    async with asyncio.timeout(5):
        await ran.wait()
    last = (await services.retrieval_tests.tests())[0].last
    assert last is not None
    assert last.situation.program == "9.9.9"


async def test_red_tests_stand_before_grey_and_green_ones(services: Services) -> None:
    green = await kept(services)
    red = await services.retrieval_tests.add("zebra crossing", green.item.id)
    other = await stored(services, "Another rule of the shop")
    grey = await services.retrieval_tests.add("another rule", other.id)
    await services.knowledge.delete(other.id, WINDOW)
    order = [test.id for test in await services.retrieval_tests.tests()]
    assert order == [red.id, grey.id, green.id]
