"""What a person edited, rejected or forgot stays so, whatever becomes of the file."""

from pathlib import Path

import pytest

from kmem_desktop.bootstrap import Services
from kmem_desktop.domain.changes import Origin
from kmem_desktop.domain.rule_library import RuleChanges, StoredDirective, SubmittedDocument
from kmem_desktop.domain.rules import RuleStatus, Severity
from kmem_desktop.errors import NotFoundError
from tests.services.rules.conftest import API_RULES

TRACE = "Never return a stack trace to a client of the endpoint."


async def directives(services: Services) -> list[StoredDirective]:
    """Return the directives of AGENTS.md."""
    library = services.rules.library
    rule = next(rule for rule in await library.rules() if rule.place == "AGENTS.md")
    return await library.directives(rule.id)


async def that_says(services: Services, words: str) -> StoredDirective:
    return next(each for each in await directives(services) if words in each.directive.text)


async def states(services: Services) -> dict[str, str]:
    return {each.directive.text: each.status.value for each in await directives(services)}


async def reject(services: Services, words: str, you: Origin) -> StoredDirective:
    stored = await that_says(services, words)
    await services.rules.library.set_status([stored.id], RuleStatus.REJECTED, you)
    return stored


async def edit(services: Services, words: str, text: str, you: Origin) -> StoredDirective:
    stored = await that_says(services, words)
    return await services.rules.library.edit(stored.id, RuleChanges(text=text), you)


async def read(services: Services, project: Path, text: str) -> None:
    """Let AGENTS.md say this, and read the project again."""
    (project / "AGENTS.md").write_text(text, encoding="utf-8")
    (folder,) = await services.rules.folders.list_folders()
    await services.rules.folders.read(folder)


@pytest.fixture
async def shop(services: Services, you: Origin, project: Path) -> Path:
    """A project whose rules are read."""
    await services.rules.folders.allow(str(project), you)
    return project


async def test_a_folder_that_was_just_added_knows_its_files(
    services: Services, you: Origin, shop: Path
) -> None:
    await services.rules.folders.forget(str(shop), you)
    folder, _ = await services.rules.folders.allow(str(shop), you)
    assert folder.rules == 2


async def test_taking_the_files_version_approves_nothing_that_was_rejected(
    services: Services, you: Origin, shop: Path
) -> None:
    edited = await edit(services, "stack trace", "Never show a stack trace.", you)
    await services.rules.library.set_status([edited.id], RuleStatus.REJECTED, you)
    await edit(services, "page by page", "Answer lists in pages of 50.", you)
    await read(services, shop, API_RULES + "- Always log the id of the request.\n")
    await services.rules.library.settle_news(edited.rule.id, you, take=True)
    found = await states(services)
    assert found[TRACE] == "rejected"
    assert found["Always log the id of the request."] == "approved"
    assert found["You SHOULD answer a list endpoint page by page."] == "approved"
    assert "Answer lists in pages of 50." not in found


@pytest.mark.parametrize("is_edited", [False, True])
async def test_what_was_rejected_and_says_it_in_other_words_now_waits_for_a_person(
    services: Services, you: Origin, shop: Path, is_edited: bool
) -> None:
    stored = await reject(services, "stack trace", you)
    new = API_RULES.replace(TRACE, "Never return stack traces to clients of the endpoint.")
    if is_edited:
        await edit(services, "page by page", "Answer lists in pages of 50.", you)
    await read(services, shop, new)
    if is_edited:
        await services.rules.library.settle_news(stored.rule.id, you, take=True)
    found = await states(services)
    assert found["Never return stack traces to clients of the endpoint."] == "proposed"
    assert TRACE not in found


async def test_the_difference_tells_what_would_be_lost_and_what_would_come(
    services: Services, you: Origin, shop: Path
) -> None:
    library = services.rules.library
    edited = await edit(services, "page by page", "Answer lists in pages of 50.", you)
    stricter = await that_says(services, "validate the body")
    await library.edit(stricter.id, RuleChanges(severity=Severity.MAY), you)
    new = API_RULES.replace(f"- {TRACE}\n", "- Always log the id of the request.\n")
    await read(services, shop, new)
    difference = await library.difference(edited.rule.id)
    pairs = [
        (
            each.here.directive.text if each.here else "",
            each.in_file.text if each.in_file else "",
        )
        for each in difference.changes
    ]
    assert sorted(pairs) == [
        ("", "Always log the id of the request."),
        ("Answer lists in pages of 50.", "You SHOULD answer a list endpoint page by page."),
        (TRACE, ""),
        (stricter.directive.text, stricter.directive.text),
    ]


@pytest.mark.usefixtures("shop")
async def test_a_document_that_nobody_edited_differs_in_nothing(services: Services) -> None:
    rule = (await directives(services))[0].rule
    assert (await services.rules.library.difference(rule.id)).changes == ()


async def test_a_file_that_was_away_finds_its_edits_and_rejections_again(
    services: Services, you: Origin, shop: Path
) -> None:
    await reject(services, "stack trace", you)
    await edit(services, "page by page", "Answer lists in pages of 50.", you)
    before = await states(services)
    (shop / "AGENTS.md").rename(shop / "elsewhere.txt")
    (folder,) = await services.rules.folders.list_folders()
    await services.rules.folders.read(folder)
    assert all(rule.place != "AGENTS.md" for rule in await services.rules.library.rules())
    await read(services, shop, API_RULES)
    assert await states(services) == before
    assert (await directives(services))[0].rule.is_edited


async def test_a_file_that_was_forgotten_is_not_read_again_unasked(
    services: Services, you: Origin, shop: Path
) -> None:
    await reject(services, "stack trace", you)
    before = await states(services)
    rule = (await directives(services))[0].rule
    await services.rules.library.delete(rule.id, you)
    await read(services, shop, API_RULES + "- Always log the id of the request.\n")
    await services.rules.folders.allow(str(shop), you)
    places = [rule.place for rule in await services.rules.library.rules()]
    assert places == [".cursor/rules/database.mdc"]
    (folder,) = await services.rules.folders.list_folders()
    assert folder.ignored == (str(shop / "AGENTS.md"),)

    _, report = await services.rules.folders.take_back(str(shop / "AGENTS.md"), you)
    assert report.rules == 1
    assert await states(services) == before | {"Always log the id of the request.": "approved"}
    (folder,) = await services.rules.folders.list_folders()
    assert folder.ignored == ()


async def test_only_a_person_takes_back_what_a_person_forgot(
    services: Services, you: Origin, origin: Origin, shop: Path
) -> None:
    rule = (await directives(services))[0].rule
    await services.rules.library.delete(rule.id, you)
    document = SubmittedDocument(str(shop / "AGENTS.md"))
    report = await services.rules.ingestion.upsert([document], origin, overwrite=True)
    assert "only the user can take it back" in report.errors[0]
    report = await services.rules.ingestion.upsert([document], you)
    assert (report.rules, report.errors) == (1, ())


async def test_what_was_not_forgotten_cannot_be_taken_back(
    services: Services, you: Origin, shop: Path
) -> None:
    with pytest.raises(NotFoundError, match="not forgotten"):
        await services.rules.folders.take_back(str(shop / "AGENTS.md"), you)


async def test_a_project_that_is_added_again_begins_anew(
    services: Services, you: Origin, shop: Path
) -> None:
    rule = (await directives(services))[0].rule
    await services.rules.library.delete(rule.id, you)
    await services.rules.folders.forget(str(shop), you)
    folder, _ = await services.rules.folders.allow(str(shop), you)
    assert (folder.rules, folder.ignored) == (2, ())
