from kmem_desktop.bootstrap import Services, opened_services
from kmem_desktop.config import Paths
from kmem_desktop.domain.sessions.conversations import TurnDraft
from kmem_desktop.services.listing import View
from kmem_desktop.services.sessions.exchanges import SessionDraft
from tests.services.memory import ORIGIN, WINDOW, stored


async def tags_of(services: Services) -> dict[str, tuple[int, int]]:
    page = await services.library.tags.page()
    return {tag.name: (tag.items, tag.sessions) for tag in page.tags}


async def test_a_change_of_tags_is_undone_as_a_whole(services: Services) -> None:
    for number in range(4):
        await stored(services, f"Rule number {number} of the house", tags=("api", f"n{number}"))
    said = await services.sessions.add_exchange(
        SessionDraft(title="A talk", tags=("api",)), [TurnDraft("user", "Hello")], ORIGIN
    )
    before = await tags_of(services)
    done = await services.library.tags.merge(["api", "n1", "n2"], "web", ORIGIN)
    assert (done.items, done.sessions) == (4, 1)
    assert await tags_of(services) == {"web": (4, 1), "n0": (1, 0), "n3": (1, 0)}
    await services.history.undo_batch(done.batch, WINDOW)
    assert await tags_of(services) == before
    assert (await services.recall.facts(said.session_uuid)).tags == ("api",)


async def test_an_item_is_found_by_its_new_tag(services: Services) -> None:
    item = await stored(services, "Answer with DTO classes only", tags=("api",))
    await services.library.tags.rename("api", "Interfaces ", ORIGIN)
    assert (await services.knowledge.get(item.id)).tags == ("interfaces",)
    entry = (await services.history.of_item(item.uuid))[0]
    assert entry.origin.batch


async def found(services: Services, tag: str) -> int:
    """Return how many items the window finds by a tag."""
    return (await services.listing.show(View(f"tag:{tag}"))).total


async def test_many_items_are_found_by_their_new_tag_once_the_index_followed(
    services: Services,
) -> None:
    for number in range(12):
        await stored(services, f"Rule number {number} of the house", tags=("api",))
    assert await found(services, "api") == 12
    await services.library.tags.rename("api", "web", ORIGIN)
    assert await tags_of(services) == {"web": (12, 0)}
    await services.library.tags.settle()
    assert (await found(services, "web"), await found(services, "api")) == (12, 0)


async def test_what_the_index_missed_when_kmem_ended_is_done_after_the_next_start(
    services: Services, profile: Paths
) -> None:
    for number in range(12):
        await stored(services, f"Rule number {number} of the house", tags=("api",))
    await services.library.tags.rename("api", "web", ORIGIN)
    await services.library.stop()
    async with opened_services(profile) as again:
        assert await found(again, "web") == 0
        again.library.start()
        await again.library.tags.settle()
        assert await found(again, "web") == 12


async def test_tags_with_like_and_wildcard_characters_are_plain_text(services: Services) -> None:
    await stored(services, "Answer with DTO classes only", tags=("100%", "a_b", "it's"))
    page = await services.library.tags.page(containing="%")
    assert [tag.name for tag in page.tags] == ["100%"]
    await services.library.tags.merge(["it's", "a_b"], 'x"y', ORIGIN)
    assert set(await tags_of(services)) == {"100%", 'x"y'}
