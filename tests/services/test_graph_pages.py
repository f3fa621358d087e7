from collections import Counter
from collections.abc import Awaitable, Callable

import pytest

from kmem_desktop.bootstrap import Services
from kmem_desktop.domain.graph import Entity, Graph, Relation
from kmem_desktop.errors import InvalidInputError
from kmem_desktop.services.graph_pages import PageLimit
from tests.services.memory import ORIGIN, entity, relate

MOST_PAGES = 3000


def cost(part: Entity | Relation) -> int:
    """Count characters, as a client's limit does."""
    if isinstance(part, Relation):
        return len(part.from_name + part.to_name + part.relation_type)
    return len(part.name + part.entity_type) + sum(map(len, part.observations))


async def pages(
    ask: Callable[[str | None, PageLimit], Awaitable[Graph]], size: int
) -> tuple[list[Graph], dict[str, list[str]], Counter[Relation]]:
    """Read page after page; return them, observations by entity, and how often each relation."""
    found: list[Graph] = []
    observations: dict[str, list[str]] = {}
    relations: Counter[Relation] = Counter()
    cursor: str | None = None
    while True:
        page = await ask(cursor, PageLimit(size, cost))
        found.append(page)
        for part in page.entities:
            observations.setdefault(part.name, []).extend(part.observations)
        relations.update(page.relations)
        cursor = page.next_cursor
        if cursor is None:
            return found, observations, relations
        assert len(found) < MOST_PAGES


async def fill(services: Services) -> tuple[dict[str, list[str]], set[Relation]]:
    """Store a graph with small, huge and empty entities."""
    expected: dict[str, list[str]] = {}
    for number in range(12):
        name = f"Entity {number}"
        expected[name] = [f"topic {number}.{n} " + "x" * (n % 30) for n in range(number**2 % 40)]
        await entity(services, name, *expected[name], kind="topic")
    expected["Huge"] = [f"topic huge {n}" for n in range(300)]
    await entity(services, "Huge", *expected["Huge"], kind="topic")
    expected["Empty"] = []
    await entity(services, "Empty", kind="topic")
    ends = [(f"Entity {n}", "leads to", f"Entity {n + 1}") for n in range(15)]
    await relate(services, *ends)
    return expected, {Relation(start, end, kind) for start, kind, end in ends}


@pytest.mark.parametrize("size", [1, 15, 60, 400, 5000, 10**9])
async def test_everything_comes_exactly_once_over_the_pages(services: Services, size: int) -> None:
    expected, relations = await fill(services)
    _, observations, found = await pages(services.graph.read, size)
    assert observations == expected
    assert found == Counter(relations)


@pytest.mark.parametrize("size", [1, 60, 400, 10**9])
async def test_opened_entities_come_exactly_once_over_the_pages(
    services: Services, size: int
) -> None:
    expected, relations = await fill(services)
    chosen = ["Huge", "Entity 3", "Empty", "Nope", "Entity 11"]
    _, observations, found = await pages(lambda c, p: services.graph.open(chosen, c, p), size)
    assert observations == {n: o for n, o in expected.items() if n in chosen}
    touching = {r for r in relations if {r.from_name, r.to_name} & set(chosen)}
    assert found == Counter(touching)


@pytest.mark.parametrize("size", [60, 400, 10**9])
async def test_hits_come_exactly_once_over_the_pages(services: Services, size: int) -> None:
    expected, relations = await fill(services)
    _, observations, found = await pages(lambda c, p: services.graph.search("topic", c, p), size)
    assert observations == expected
    assert found == Counter(r for r in relations if {r.from_name, r.to_name} & set(expected))


async def test_a_page_stays_inside_its_limit(services: Services) -> None:
    await fill(services)
    found, _, _ = await pages(services.graph.read, 400)
    assert len(found) > 5
    for page in found:
        parts: list[Entity | Relation] = [*page.entities, *page.relations]
        assert sum(map(cost, parts)) <= 400


async def test_every_page_tells_how_much_there_is(services: Services) -> None:
    expected, _ = await fill(services)
    found, _, _ = await pages(services.graph.read, 400)
    assert {page.entity_count for page in found} == {len(expected)}


async def test_the_last_page_has_no_cursor(services: Services) -> None:
    await entity(services, "Ada", "likes tea")
    assert (await services.graph.read(None, PageLimit(10**6, cost))).next_cursor is None
    assert (await services.graph.read("", PageLimit(10**6, cost))).next_cursor is None


async def test_an_entity_that_is_too_big_for_a_page_goes_out_all_the_same(
    services: Services,
) -> None:
    await entity(services, "A name longer than the page")
    await entity(services, "Ada", "an observation longer than the page", "another")
    _, observations, _ = await pages(services.graph.read, 5)
    assert observations == {
        "A name longer than the page": [],
        "Ada": ["an observation longer than the page", "another"],
    }


async def test_a_page_goes_on_where_an_entity_was_deleted(services: Services) -> None:
    for name in ("Ada", "Bob", "Cleo"):
        await entity(services, name, *(f"{name} {n}" for n in range(30)))
    first = await services.graph.read(None, PageLimit(60, cost))
    assert first.next_cursor is not None
    await services.graph.delete_entities(["Ada"], ORIGIN)
    rest = await services.graph.read(first.next_cursor, PageLimit(10**6, cost))
    assert [e.name for e in rest.entities] == ["Bob", "Cleo"]
    assert [len(e.observations) for e in rest.entities] == [30, 30]


@pytest.mark.parametrize(
    "cursor",
    ["x", "e", "e1", "e1.", "e-1.0", "r", "r-1", "e1.0 ", "r1r1", "9" * 50, "e" + "9" * 50 + ".0"],
)
async def test_a_cursor_of_somebody_else_is_refused(services: Services, cursor: str) -> None:
    limit = PageLimit(100, cost)
    for call in (
        services.graph.read(cursor, limit),
        services.graph.open(["Ada"], cursor, limit),
        services.graph.search("Ada", cursor, limit),
    ):
        with pytest.raises(InvalidInputError, match="cursor"):
            await call


@pytest.mark.parametrize("cursor", ["e999999.5", "r999999", "e0.0", "e" + "9" * 18 + ".0"])
async def test_a_cursor_past_the_end_gives_an_end(services: Services, cursor: str) -> None:
    await entity(services, "Ada", "likes tea")
    page = await services.graph.read(cursor, PageLimit(100, cost))
    assert page.next_cursor is None
