from datetime import UTC, datetime

import pytest

from kmem_desktop.bootstrap import Services
from kmem_desktop.domain.changes import Noun
from kmem_desktop.domain.found import Counts, Row
from kmem_desktop.domain.graph import Entity
from kmem_desktop.services.listing import MOST_RESULTS, Listing, View
from kmem_desktop.store.database import Database
from tests.services.memory import CONTENT, ORIGIN, entity, relate, stored


async def shown(services: Services, text: str = "", *nouns: Noun) -> tuple[Listing, list[Row]]:
    """Return a listing and all its rows."""
    view = View(text, nouns) if nouns else View(text)
    listing = await services.listing.show(view)
    return listing, await services.listing.rows(listing, list(listing.ids))


def marked(text: str, ranges: tuple[tuple[int, int], ...]) -> list[str]:
    """Return the marked pieces of a text; every range has to lie inside it, in order."""
    end = 0
    for low, high in ranges:
        assert end <= low < high <= len(text)
        end = high
    return [text[low:high] for low, high in ranges]


async def test_an_empty_memory_shows_nothing(services: Services) -> None:
    listing, rows = await shown(services)
    assert (list(listing.ids), listing.total, rows) == ([], 0, [])
    assert listing.counts == {Noun.KNOWLEDGE: 0, Noun.ENTITY: 0}
    assert await services.listing.counts() == Counts(0, 0, 0, 0)


async def test_without_a_query_everything_is_shown_last_changed_first(services: Services) -> None:
    first = await stored(services, "The first of the items")
    ada = await entity(services, "Ada")
    second = await stored(services, "The second of the items")
    listing, _ = await shown(services)
    assert list(listing.ids) == [second.id, ada, first.id]
    await services.knowledge.update(first.id, {"priority": 9}, ORIGIN)
    await services.graph.add_observations([("Ada", ["swims"])], ORIGIN)
    listing, rows = await shown(services)
    assert list(listing.ids) == [ada, first.id, second.id]
    assert all(row.explanation is None for row in rows)


async def test_one_noun_is_shown_alone(services: Services) -> None:
    item = await stored(services, "The first of the items")
    ada = await entity(services, "Ada", "the first of the programmers")
    for text in ("", "first"):
        for noun, expected in ((Noun.KNOWLEDGE, item.id), (Noun.ENTITY, ada)):
            listing, _ = await shown(services, text, noun)
            assert list(listing.ids) == [expected]
            assert listing.counts == {noun: 1}


async def test_a_row_of_knowledge_says_what_it_is(services: Services) -> None:
    item = await stored(services, "Use pnpm in the web workspace", scope="repo:a", category="code")
    _, (row,) = await shown(services)
    assert (row.id, row.noun, row.title) == (item.id, Noun.KNOWLEDGE, item.title)
    assert (row.kind, row.scope, row.stored_by) == ("code", "repo:a", "Claude Code")
    assert row.updated_at == item.updated_at
    assert row.snippet == item.content[:240]


async def test_a_row_of_an_entity_counts_what_is_known(services: Services) -> None:
    await entity(services, "Ada", "likes\ntea", "swims", kind="person")
    await relate(services, ("Ada", "knows", "Bob"))
    _, (row,) = await shown(services)
    assert (row.noun, row.title, row.kind, row.scope) == (Noun.ENTITY, "Ada", "person", "")
    assert row.detail == "2 observations, 1 relation"
    assert row.snippet == "likes tea · swims"


async def test_marks_show_the_words_that_matched_and_no_others(services: Services) -> None:
    await stored(
        services,
        "The cache policy of the shop",
        content="Caches are cleared at night. The policy of caching is simple: cache everything.",
    )
    listing, (row,) = await shown(services, "how to cache policies ")
    assert marked(row.title, row.title_marks) == ["cache", "policy"]
    assert marked(row.snippet, row.snippet_marks) == ["Caches", "policy", "caching", "cache"]
    assert row.explanation is not None
    assert row.explanation.words == ("cache", "policy", "caches", "caching")
    assert row.explanation.sentence == "Has the words cache, policy, caches and caching."
    assert row.explanation.relevance == 1.0
    assert listing.elapsed_ms >= 0


async def test_the_word_that_is_being_typed_is_marked(services: Services) -> None:
    await stored(services, "The configuration of the shop")
    _, (row,) = await shown(services, "conf")
    assert marked(row.title, row.title_marks) == ["configuration"]


async def test_an_entity_shows_its_observation_that_matched(services: Services) -> None:
    await entity(services, "Ada", "likes tea", "writes programs for the engine", "swims")
    listing, (row,) = await shown(services, "engine")
    assert row.snippet == "writes programs for the engine"
    assert marked(row.snippet, row.snippet_marks) == ["engine"]
    assert {noun for noun, count in listing.counts.items() if count} == {Noun.ENTITY}


async def test_an_entity_is_one_row_however_often_it_matches(services: Services) -> None:
    ada = await entity(services, "Ada", *(f"engine part {n}" for n in range(50)))
    listing, _ = await shown(services, "engine")
    assert (list(listing.ids), listing.total) == ([ada], 1)


@pytest.mark.parametrize(
    "text",
    [
        "\ue000 engine \ue001 and \ue001\ue001 \ue000",
        "\ue001\ue000\ue000 engine",
        "\ue001 x \ue000 engine\ue001 engine",
        "<b>engine</b> <script>alert('engine')</script>",
        "engine\0engine",
        "👩‍👩‍👧 engine e\u0301ngine ENGINE",
        "\u202eengine\u202c \u200bengine",
    ],
)
async def test_hostile_text_does_not_move_the_marks(services: Services, text: str) -> None:
    await stored(services, f"A title with {text}", content=f"{text} {CONTENT}")
    await entity(services, f"Name\n{text}", text)
    for query in ("engine", "", "zzz engine", "engin"):
        _, rows = await shown(services, query)
        assert len(rows) == 2
        for row in rows:
            for piece in (
                *marked(row.title, row.title_marks),
                *marked(row.snippet, row.snippet_marks),
            ):
                assert "ngine" in piece.lower() or "\ue000" in text or "\ue001" in text
            assert "\n" not in row.title


async def test_a_snippet_of_a_text_without_spaces_stays_short(services: Services) -> None:
    await stored(services, "数据库错误处理的全部规则说明", content="错误处理规则" * 800)
    await stored(services, "A word without an end", content="needle " + "x" * 4990)
    await stored(services, "Another word without an end", content="x" * 4900 + " needle")
    for query in ("错误", "needle", ""):
        _, rows = await shown(services, query)
        assert rows
        for row in rows:
            assert len(row.snippet) <= 480
            marked(row.snippet, row.snippet_marks)
            if query == "needle":
                assert marked(row.snippet, row.snippet_marks) == ["needle"]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("tag:api", ["Item about the api"]),
        ("tag:API", ["Item about the api"]),
        ("tag:ap", []),
        ("type:decision", ["Item about the web"]),
        ("type:knowledge", ["Item about the api", "Item about the web"]),
        ("type:entity", ["Ada"]),
        ("type:person", ["Ada"]),
        ("type:Person", ["Ada"]),
        ("scope:repo:a/b", ["Item about the web"]),
        ("before:2020", []),
        ("after:2020", ["Ada", "Item about the api", "Item about the web"]),
        ("type:person tea", ["Ada"]),
        ("type:entity tea", ["Ada"]),
        ("type:star tea", []),
        ("item tag:api", ["Item about the api"]),
        ("item -web", ["Item about the api"]),
        ("tag:api tag:web", []),
        ("tag:\ud800", []),
    ],
)
async def test_fields_narrow_with_and_without_words(
    services: Services, query: str, expected: list[str]
) -> None:
    await stored(services, "Item about the api", tags=("api",))
    await stored(
        services, "Item about the web", tags=("web",), category="decision", scope="repo:a/b"
    )
    await entity(services, "Ada", "likes tea", kind="Person")
    listing, rows = await shown(services, query)
    assert sorted(row.title for row in rows) == expected
    assert listing.total == len(expected)


@pytest.mark.parametrize("query", ["?", "-item", '"', "the", "\0", "(" * 500, "zzz", "\ud800"])
async def test_what_cannot_be_looked_up_shows_nothing(services: Services, query: str) -> None:
    await stored(services, "Item about an api")
    listing, _ = await shown(services, query + " ")
    assert (list(listing.ids), listing.total) == ([], 0)


async def test_rows_that_were_deleted_since_are_left_out(services: Services) -> None:
    first = await stored(services, "The first of the items")
    second = await stored(services, "The second of the items")
    for text in ("", "items"):
        listing = await services.listing.show(View(text))
        await services.knowledge.delete(first.id, ORIGIN)
        rows = await services.listing.rows(listing, [first.id, second.id, 4711])
        assert [row.id for row in rows] == [second.id]
        change = (await services.history.newest(1))[0]
        await services.history.undo(change.id, ORIGIN)


async def test_rows_come_in_the_order_that_was_asked_for(services: Services) -> None:
    ids = [(await stored(services, f"Item number {n}")).id for n in range(5)]
    listing = await services.listing.show(View())
    wanted = [ids[3], ids[0], ids[4]]
    assert [row.id for row in await services.listing.rows(listing, wanted)] == wanted
    assert await services.listing.rows(listing, []) == []


async def test_counts_say_how_much_there_is(services: Services) -> None:
    await stored(services, "Item about the api")
    await entity(services, "Ada", "a", "b")
    await entity(services, "Bob", "c")
    await relate(services, ("Ada", "knows", "Bob"))
    assert await services.listing.counts() == Counts(1, 2, 3, 1)


async def test_a_write_of_another_connection_is_noticed(services: Services) -> None:
    before = await services.listing.foreign_version()
    await stored(services, "Item about the api")
    assert await services.listing.foreign_version() == before
    async with Database.opened(services.paths.database) as other:
        await other.write(lambda c: c.execute("INSERT INTO meta VALUES ('a', 'b')").get)
    assert await services.listing.foreign_version() != before


async def test_five_thousand_items_are_listed_and_counted(services: Services) -> None:
    for start in range(0, 5000, 1000):
        names = [f"Node number {n}" for n in range(start, start + 1000)]
        await services.graph.create_entities([Entity(n, "thing") for n in names], ORIGIN)
    listing, _ = await shown(services)
    assert (len(listing.ids), listing.total) == (5000, 5000)
    listing = await services.listing.show(View("node"))
    assert (len(listing.ids), listing.total) == (MOST_RESULTS, 5000)
    rows = await services.listing.rows(listing, list(listing.ids[:50]))
    assert all(marked(row.title, row.title_marks) == ["Node"] for row in rows)
    listing = await services.listing.show(View("4321"))
    (row,) = await services.listing.rows(listing, list(listing.ids))
    assert row.title == "Node number 4321"
    assert listing.elapsed_ms < 1000
    assert row.updated_at <= datetime.now(UTC)
