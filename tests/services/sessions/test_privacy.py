"""Nothing is stored of an excluded project or session, from any door, until that is lifted."""

from collections.abc import Awaitable, Callable

import pytest

from kmem_desktop.bootstrap import Services
from kmem_desktop.domain.changes import Noun
from kmem_desktop.domain.found import EntryQuery
from kmem_desktop.domain.knowledge import Category
from kmem_desktop.domain.rule_library import SubmittedDocument
from kmem_desktop.domain.sessions.conversations import Role, TurnDraft
from kmem_desktop.domain.sessions.privacy import ExclusionKind
from kmem_desktop.errors import InvalidInputError
from kmem_desktop.events import Change
from kmem_desktop.services.sessions.exchanges import SessionDraft
from kmem_desktop.services.sessions.privacy import project_of
from tests.services.memory import ORIGIN, WINDOW, content_of, draft

TURNS = [TurnDraft(Role.USER, "The salary of Ada is secret.")]
PROJECT, SESSION = ExclusionKind.PROJECT, ExclusionKind.SESSION


async def a_session(services: Services, project: str = "") -> str:
    stored = await services.sessions.add_exchange(SessionDraft(project=project), TURNS, ORIGIN)
    return stored.session_uuid


def doors(services: Services, uuid: str) -> dict[str, Callable[[], Awaitable[object]]]:
    """Return every way by which something of the project or its session could come in."""
    item = draft("What belongs to the project", scope="project:salaries")
    return {
        "a new session": lambda: a_session(services, "Salaries"),
        "more turns": lambda: services.sessions.add_exchange(
            SessionDraft(uuid=uuid), TURNS, ORIGIN
        ),
        "chat": lambda: services.recall.chat("and Bob?", ORIGIN, session_uuid=uuid),
        "saved knowledge": lambda: services.saving.save(
            "Ada earns most.", Category.INSIGHT, ORIGIN, session_uuid=uuid
        ),
        "knowledge": lambda: services.knowledge.store(item, ORIGIN),
    }


@pytest.mark.parametrize(
    "door", ["a new session", "more turns", "chat", "saved knowledge", "knowledge"]
)
async def test_an_excluded_project_is_refused_in_words_that_say_how_to_lift_it(
    services: Services, door: str
) -> None:
    uuid = await a_session(services, "salaries")
    await services.privacy.exclude(PROJECT, "Salaries", WINDOW)
    before = await content_of(services), await services.recall.facts(uuid)
    with pytest.raises(InvalidInputError, match="Salaries is excluded: nothing of it") as caught:
        await doors(services, uuid)[door]()
    assert 'kmem privacy include project "Salaries"' in caught.value.hint
    assert caught.value.details == {"excluded": {"kind": "project", "name": "Salaries"}}
    assert (await content_of(services), await services.recall.facts(uuid)) == before
    assert len(await services.recall.list_sessions()) == 1
    await services.privacy.include(PROJECT, "salaries", WINDOW)
    await doors(services, uuid)[door]()


@pytest.mark.parametrize("door", ["more turns", "chat", "saved knowledge"])
async def test_an_excluded_session_is_refused_and_others_go_on(
    services: Services, door: str
) -> None:
    uuid, other = await a_session(services), await a_session(services)
    await services.privacy.exclude(SESSION, uuid.upper(), WINDOW)
    with pytest.raises(InvalidInputError, match="is excluded"):
        await doors(services, uuid)[door]()
    await doors(services, other)[door]()


async def test_knowledge_cannot_be_moved_into_an_excluded_project(services: Services) -> None:
    item = await services.knowledge.store(draft(), ORIGIN)
    await services.privacy.exclude(PROJECT, "salaries", WINDOW)
    with pytest.raises(InvalidInputError, match="is excluded"):
        await services.knowledge.update(item.id, {"scope": "project:salaries"}, WINDOW)


async def test_rules_that_a_client_submits_for_an_excluded_project_are_refused(
    services: Services,
) -> None:
    await services.privacy.exclude(PROJECT, "salaries", WINDOW)
    document = SubmittedDocument("a.md", "# Rules\n\n- Never tell salaries to anybody.\n")
    upsert = services.rules.ingestion.upsert
    report = await upsert([document], ORIGIN, scope="project:salaries")
    assert "is excluded" in report.errors[0]
    assert await services.rules.library.rules() == []
    assert (await upsert([document], ORIGIN)).errors == ()


async def test_what_is_asked_in_an_excluded_session_is_not_noted(services: Services) -> None:
    uuid = await a_session(services)
    await services.privacy.exclude(SESSION, uuid, WINDOW)
    await services.sessions.search(EntryQuery("salary", session_uuid=uuid), "Cursor")
    await services.sessions.search(EntryQuery("wages"), "Cursor")
    await services.sessions.settle()
    database = services.history._database
    asked = await database.read(lambda c: c.execute("SELECT query FROM search_history").fetchall())
    assert asked == [("wages",)]


async def test_the_list_of_exclusions_is_kept_and_changes_are_told(services: Services) -> None:
    changes: list[Change] = []
    services.feed.subscribe(changes.append)
    assert await services.privacy.exclude(PROJECT, " My  App ", WINDOW)
    assert not await services.privacy.exclude(PROJECT, "my app", WINDOW)
    assert [(each.kind, each.name) for each in await services.privacy.exclusions()] == [
        (PROJECT, "My App")
    ]
    assert await services.privacy.include(PROJECT, "MY APP", WINDOW)
    assert not await services.privacy.include(PROJECT, "MY APP", WINDOW)
    assert {change.noun for change in changes} == {Noun.SESSION}
    for name in ("", "x" * 201):
        with pytest.raises(InvalidInputError, match="name must be 1 to 200 characters"):
            await services.privacy.exclude(SESSION, name, WINDOW)


def test_a_scope_names_a_project_or_none() -> None:
    assert [project_of(scope) for scope in ("global", "project:shop", "repo:me/shop", "")] == [
        "",
        "shop",
        "me/shop",
        "",
    ]
