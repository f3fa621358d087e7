import pytest

from kmem_desktop.bootstrap import Services
from kmem_desktop.domain.changes import Action, Noun
from kmem_desktop.domain.graph import Entity, Graph, Relation
from kmem_desktop.errors import InvalidInputError, NotFoundError
from kmem_desktop.events import Change
from kmem_desktop.services.graph_pages import PageLimit
from tests.services.memory import EVERYTHING, ORIGIN, entity, relate

ADA = Entity("Ada", "person", ("likes tea", "writes programs"))
BOB = Entity("Bob", "person", ())
KNOWS = Relation("Ada", "Bob", "knows")


async def read(services: Services) -> Graph:
    return await services.graph.read(None, EVERYTHING)


def names(graph: Graph) -> list[str]:
    return [found.name for found in graph.entities]


async def found(services: Services, text: str) -> list[str]:
    """Return the names of what a search finds."""
    return names(await services.graph.search(text, None, EVERYTHING))


async def test_an_empty_graph_is_empty(services: Services) -> None:
    assert await read(services) == Graph((), (), None, 0)
    assert await found(services, "anything") == []


async def test_new_entities_are_stored_and_told(services: Services) -> None:
    assert await services.graph.create_entities([ADA, BOB], ORIGIN) == (ADA, BOB)
    graph = await read(services)
    assert graph.entities == (ADA, BOB)
    assert graph.entity_count == 2


async def test_an_entity_that_exists_is_skipped_with_its_observations(services: Services) -> None:
    await services.graph.create_entities([ADA], ORIGIN)
    again = Entity("Ada", "machine", ("is new",))
    assert await services.graph.create_entities([again, BOB], ORIGIN) == (BOB,)
    assert (await read(services)).entities == (ADA, BOB)


async def test_of_two_entities_of_one_name_in_a_call_the_first_is_kept(services: Services) -> None:
    assert await services.graph.create_entities([ADA, Entity("Ada", "x")], ORIGIN) == (ADA,)


async def test_names_differ_by_case_and_by_bytes(services: Services) -> None:
    given = [Entity(name, "t") for name in ("Ada", "ada", "Ada ", "A\0da", "😀", "caf\u00e9")]
    await services.graph.create_entities(given, ORIGIN)
    for each in given:
        opened = await services.graph.open([each.name], None, EVERYTHING)
        assert opened.entities == (each,)
    await services.graph.delete_entities([each.name for each in given], ORIGIN)
    assert names(await read(services)) == []


async def test_the_same_observation_is_stored_once(services: Services) -> None:
    await services.graph.create_entities([Entity("Ada", "person", ("a", "b", "a"))], ORIGIN)
    assert (await read(services)).entities == (Entity("Ada", "person", ("a", "b")),)


async def test_new_relations_are_stored_and_told(services: Services) -> None:
    assert await services.graph.create_relations([KNOWS, KNOWS], ORIGIN) == (KNOWS,)
    assert await services.graph.create_relations([KNOWS], ORIGIN) == ()
    assert (await read(services)).relations == (KNOWS,)


async def test_a_relation_may_dangle(services: Services) -> None:
    await entity(services, "Ada")
    ghost = Relation("Ada", "Ghost", "sees")
    assert await services.graph.create_relations([ghost], ORIGIN) == (ghost,)
    assert (await services.graph.open(["Ada"], None, EVERYTHING)).relations == (ghost,)


async def test_new_observations_are_told_for_each_addition(services: Services) -> None:
    await services.graph.create_entities([ADA, BOB], ORIGIN)
    results = await services.graph.add_observations(
        [("Ada", ["likes tea", "is tall", "is tall"]), ("Bob", []), ("Ada", ["is tall", "swims"])],
        ORIGIN,
    )
    assert results == [("Ada", ["is tall"]), ("Bob", []), ("Ada", ["swims"])]
    assert (await read(services)).entities[0].observations == (
        "likes tea",
        "writes programs",
        "is tall",
        "swims",
    )


async def test_an_unknown_entity_stops_the_whole_addition(services: Services) -> None:
    await services.graph.create_entities([ADA], ORIGIN)
    with pytest.raises(NotFoundError) as caught:
        await services.graph.add_observations([("Ada", ["x"]), ("Nope", ["y"])], ORIGIN)
    assert caught.value.message == "Entity with name Nope not found"
    assert (await read(services)).entities == (ADA,)


async def test_deleting_an_entity_takes_its_relations_along(services: Services) -> None:
    await services.graph.create_entities([ADA, BOB], ORIGIN)
    await relate(services, ("Ada", "knows", "Bob"), ("Bob", "knows", "Ada"), ("Bob", "is", "Bob"))
    changes = await services.graph.delete_entities(["Ada", "Nope", "Ada"], ORIGIN)
    assert len(changes) == 1
    graph = await read(services)
    assert graph.entities == (BOB,)
    assert graph.relations == (Relation("Bob", "Bob", "is"),)
    counts = await services.listing.counts()
    assert (counts.entities, counts.observations, counts.relations) == (1, 0, 1)


async def test_deleting_what_is_not_there_is_no_error(services: Services) -> None:
    await services.graph.create_entities([ADA], ORIGIN)
    await services.graph.delete_entities(["Nope"], ORIGIN)
    await services.graph.delete_observations([("Nope", ["x"]), ("Ada", ["x"])], ORIGIN)
    await services.graph.delete_relations([KNOWS], ORIGIN)
    assert (await read(services)).entities == (ADA,)


async def test_some_observations_are_deleted(services: Services) -> None:
    await services.graph.create_entities([ADA], ORIGIN)
    await services.graph.delete_observations([("Ada", ["likes tea", "nope"])], ORIGIN)
    assert (await read(services)).entities == (Entity("Ada", "person", ("writes programs",)),)
    assert await found(services, "tea") == []


async def test_a_relation_is_deleted(services: Services) -> None:
    other = Relation("Ada", "Bob", "likes")
    await services.graph.create_relations([KNOWS, other], ORIGIN)
    await services.graph.delete_relations([KNOWS], ORIGIN)
    assert (await read(services)).relations == (other,)


async def test_opening_gives_every_relation_that_touches(services: Services) -> None:
    for name in ("Ada", "Bob", "Cleo"):
        await entity(services, name)
    await relate(services, ("Ada", "knows", "Bob"), ("Cleo", "knows", "Ada"), ("Bob", "is", "Cleo"))
    graph = await services.graph.open(["Ada", "Nope"], None, EVERYTHING)
    assert names(graph) == ["Ada"]
    assert [r.from_name for r in graph.relations] == ["Ada", "Cleo"]


@pytest.mark.parametrize(
    "text",
    [
        "ada",
        "ADA",
        "Lovelace",
        "person",
        "tea",
        "programs",
        "writing",
        "who likes tea?",
        "Ada Love",
    ],
)
async def test_words_are_found_in_name_type_and_observations(services: Services, text: str) -> None:
    await entity(services, "Ada Lovelace", "likes tea", "writes programs", kind="person")
    await entity(services, "Sirius", "is far away", kind="star")
    assert await found(services, text) == ["Ada Lovelace"]


@pytest.mark.parametrize("text", ["ovelac", "OVELA", "kes te", "berga", "ÜBERGA", "überg", "文字"])
async def test_a_part_of_a_word_is_found_where_no_word_is(services: Services, text: str) -> None:
    await entity(services, "Lovelace", "likes tea", "Übergang", "中文字")
    await entity(services, "Sirius", "is far away")
    assert await found(services, text) == ["Lovelace"]


@pytest.mark.parametrize("text", ["", " ", "%", "_", "?", "e", "' OR 1=1 --", "\0", "zzz"])
async def test_nothing_is_found_by_accident(services: Services, text: str) -> None:
    await entity(services, "Lovelace", "likes tea")
    await entity(services, "Sirius", "is far away")
    assert await found(services, text) == []


async def test_a_search_gives_the_relations_of_its_hits(services: Services) -> None:
    await entity(services, "Ada", "likes tea")
    await relate(services, ("Ghost", "sees", "Ada"), ("Ghost", "sees", "Bob"))
    graph = await services.graph.search("tea", None, EVERYTHING)
    assert graph.relations == (Relation("Ghost", "Ada", "sees"),)


async def test_the_best_hit_comes_first(services: Services) -> None:
    await entity(services, "Notes", "tea is mentioned somewhere here among many other things")
    await entity(services, "Tea", "tea")
    assert await found(services, "tea") == ["Tea", "Notes"]


async def test_an_entity_has_a_page_of_facts(services: Services) -> None:
    entity_id = await entity(services, "Ada", "likes tea", kind="person")
    await relate(services, ("Ada", "knows", "Bob"))
    details = await services.graph.details(entity_id)
    assert details.entity == Entity("Ada", "person", ("likes tea",))
    assert details.relations == (KNOWS,)
    assert details.stored_by == "Claude Code"
    with pytest.raises(NotFoundError):
        await services.graph.details(entity_id + 1000)


async def test_the_type_of_an_entity_is_changed(services: Services) -> None:
    entity_id = await entity(services, "Ada", kind="person")
    await services.graph.set_type(entity_id, "engineer", ORIGIN)
    assert (await read(services)).entities == (Entity("Ada", "engineer"),)
    assert await found(services, "engineer") == ["Ada"]
    assert await found(services, "person") == []
    with pytest.raises(NotFoundError):
        await services.graph.set_type(entity_id + 1000, "x", ORIGIN)
    with pytest.raises(InvalidInputError, match="entityType must not be empty"):
        await services.graph.set_type(entity_id, "  ", ORIGIN)


@pytest.mark.parametrize(
    ("bad", "says"),
    [
        (Entity("", "t"), "entities[1].name must not be empty."),
        (Entity("x" * 501, "t"), "entities[1].name must be at most 500 characters (it has 501)."),
        (Entity("a", " "), "entities[1].entityType must not be empty."),
        (Entity("a", "x" * 201), "entities[1].entityType must be at most 200 characters"),
        (Entity("a", "t", ("ok", "")), "entities[1].observations[1] must not be empty."),
        (Entity("a", "t", ("x" * 20_001,)), "entities[1].observations[0] must be at most 20000"),
        (
            Entity("a", "t", ("x",) * 1001),
            "entities[1].observations must have at most 1000 entries",
        ),
    ],
)
async def test_one_bad_entity_stores_nothing(services: Services, bad: Entity, says: str) -> None:
    with pytest.raises(InvalidInputError) as caught:
        await services.graph.create_entities([ADA, bad], ORIGIN)
    assert caught.value.message.startswith(says)
    assert names(await read(services)) == []


async def test_values_at_the_limits_are_stored(services: Services) -> None:
    big = Entity("n" * 500, "t" * 200, ("o" * 20_000, *(str(n) for n in range(999))))
    assert await services.graph.create_entities([big], ORIGIN) == (big,)
    ends = Relation("n" * 500, "m" * 500, "r" * 200)
    assert await services.graph.create_relations([ends], ORIGIN) == (ends,)


@pytest.mark.parametrize(
    ("bad", "says"),
    [
        (Relation("", "b", "r"), "relations[1].from must not be empty."),
        (Relation("a", "x" * 501, "r"), "relations[1].to must be at most 500"),
        (Relation("a", "b", "x" * 201), "relations[1].relationType must be at most 200"),
    ],
)
async def test_one_bad_relation_stores_nothing(
    services: Services, bad: Relation, says: str
) -> None:
    with pytest.raises(InvalidInputError) as caught:
        await services.graph.create_relations([KNOWS, bad], ORIGIN)
    assert caught.value.message.startswith(says)
    assert (await read(services)).relations == ()


async def test_one_bad_observation_adds_nothing(services: Services) -> None:
    await services.graph.create_entities([ADA, BOB], ORIGIN)
    with pytest.raises(InvalidInputError, match=r"observations\[1\]\.contents\[0\]"):
        await services.graph.add_observations([("Ada", ["x"]), ("Bob", [" "])], ORIGIN)
    assert (await read(services)).entities == (ADA, BOB)


async def test_a_call_takes_a_thousand_and_no_more(services: Services) -> None:
    many = [Entity(f"e{n}", "t") for n in range(1001)]
    with pytest.raises(InvalidInputError, match="entities must have at most 1000 entries"):
        await services.graph.create_entities(many, ORIGIN)
    assert len(await services.graph.create_entities(many[:1000], ORIGIN)) == 1000


async def test_half_a_character_stores_nothing(services: Services) -> None:
    with pytest.raises(InvalidInputError, match="surrogate"):
        await services.graph.create_entities([ADA, Entity("\ud800", "t")], ORIGIN)
    assert names(await read(services)) == []


async def test_an_entity_may_grow_to_ten_thousand_observations(services: Services) -> None:
    entity_id = await entity(services, "Log")
    for start in range(0, 10_000, 1000):
        texts = [f"observation number {n}" for n in range(start, start + 1000)]
        await services.graph.add_observations([("Log", texts)], ORIGIN)
    assert await services.graph.add_observations([("Log", ["one more"])], ORIGIN) == [
        ("Log", ["one more"])
    ]
    assert len((await services.graph.details(entity_id)).entity.observations) == 10_001
    page = await services.graph.read(None, PageLimit(100, lambda part: 1))
    assert page.entity_count == 1


async def test_changes_are_published_with_their_ids(services: Services) -> None:
    seen: list[Change] = []
    services.feed.subscribe(seen.append)
    ada = await entity(services, "Ada")
    await services.graph.add_observations([("Ada", ["x"])], ORIGIN)
    await relate(services, ("Ada", "knows", "Bob"))
    await services.graph.delete_observations([("Ada", ["x"])], ORIGIN)
    await services.graph.delete_relations([KNOWS], ORIGIN)
    await services.graph.delete_entities(["Ada"], ORIGIN)
    assert [change.noun for change in seen] == [
        Noun.ENTITY,
        Noun.ENTITY,
        Noun.RELATION,
        Noun.ENTITY,
        Noun.RELATION,
        Noun.ENTITY,
    ]
    assert all(change.ids == (ada,) for change in seen if change.noun is Noun.ENTITY)
    assert all(change.origin == ORIGIN for change in seen)


async def test_what_changes_nothing_is_not_published(services: Services) -> None:
    await entity(services, "Ada")
    seen: list[Change] = []
    services.feed.subscribe(seen.append)
    await services.graph.create_entities([ADA], ORIGIN)
    await services.graph.delete_entities(["Nope"], ORIGIN)
    await services.graph.delete_relations([KNOWS], ORIGIN)
    assert seen == []


async def test_every_change_is_in_the_history(services: Services) -> None:
    await entity(services, "Ada", "x")
    await services.graph.add_observations([("Ada", ["y"])], ORIGIN)
    await relate(services, ("Ada", "knows", "Bob"))
    await services.graph.delete_entities(["Ada"], ORIGIN)
    entries = [(e.action, e.noun, e.title) for e in await services.history.newest()]
    assert entries == [
        (Action.DELETED, Noun.ENTITY, "Ada"),
        (Action.CREATED, Noun.RELATION, "Ada knows Bob"),
        (Action.CREATED, Noun.OBSERVATION, "Ada"),
        (Action.CREATED, Noun.ENTITY, "Ada"),
    ]
