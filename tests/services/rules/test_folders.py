import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from kmem_desktop.bootstrap import Services
from kmem_desktop.domain.changes import Noun, Origin
from kmem_desktop.errors import InvalidInputError, NotFoundError
from kmem_desktop.events import Change

PATIENCE_S = 30.0


async def places(services: Services) -> list[str]:
    return [rule.place for rule in await services.rules.library.rules()]


@asynccontextmanager
async def watching(services: Services) -> AsyncIterator[asyncio.Queue[Change]]:
    """Watch the folders, and hear of what changes in the rules."""
    changes: asyncio.Queue[Change] = asyncio.Queue()

    def listen(change: Change) -> None:
        if change.noun is Noun.DIRECTIVE:
            changes.put_nowait(change)

    forget = services.feed.subscribe(listen)
    services.rules.folders.start()
    try:
        await services.rules.folders.watched()
        yield changes
    finally:
        forget()
        await services.rules.folders.stop()


async def heard(changes: asyncio.Queue[Change]) -> None:
    async with asyncio.timeout(PATIENCE_S):
        await changes.get()


async def test_a_folder_is_read_with_its_rule_files_and_no_others(
    services: Services, you: Origin, project: Path
) -> None:
    folder, report = await services.rules.folders.allow(str(project), you)
    assert folder.scope == "project:shopfront"
    assert (report.rules, report.errors) == (2, ())
    assert await places(services) == [".cursor/rules/database.mdc", "AGENTS.md"]


async def test_a_folder_is_added_once(services: Services, you: Origin, project: Path) -> None:
    await services.rules.folders.allow(str(project), you)
    await services.rules.folders.allow(str(project / "." / ".cursor" / ".."), you)
    (folder,) = await services.rules.folders.list_folders()
    assert (folder.path, folder.rules, folder.is_there) == (str(project), 2, True)


async def test_two_folders_of_one_name_have_scopes_of_their_own(
    services: Services, you: Origin, project: Path, tmp_path: Path
) -> None:
    other = tmp_path / "elsewhere" / "shopfront"
    other.mkdir(parents=True)
    await services.rules.folders.allow(str(project), you)
    folder, _ = await services.rules.folders.allow(str(other), you)
    assert folder.scope == "project:shopfront-2"


@pytest.mark.parametrize("path", ["/", "~", "/nowhere/at/all"])
async def test_what_is_no_projects_folder_is_refused(
    services: Services, you: Origin, path: str
) -> None:
    with pytest.raises(InvalidInputError):
        await services.rules.folders.allow(path, you)


async def test_forgetting_a_folder_takes_its_rules_and_leaves_its_files(
    services: Services, you: Origin, project: Path
) -> None:
    await services.rules.folders.allow(str(project), you)
    await services.rules.folders.forget(str(project), you)
    assert await places(services) == []
    assert (project / "AGENTS.md").exists()
    with pytest.raises(NotFoundError):
        await services.rules.folders.forget(str(project), you)


async def test_a_folder_that_is_not_there_keeps_what_was_read(
    services: Services, you: Origin, project: Path
) -> None:
    folder, _ = await services.rules.folders.allow(str(project), you)
    await asyncio.to_thread(project.rename, project.with_name("moved"))
    report = await services.rules.folders.read(folder)
    assert "not there" in report.errors[0]
    assert len(await places(services)) == 2


async def test_a_changed_file_is_read_again(services: Services, you: Origin, project: Path) -> None:
    await services.rules.folders.allow(str(project), you)
    async with watching(services) as changes:
        (project / "AGENTS.md").write_text("- Never guess a unit.\n", encoding="utf-8")
        await heard(changes)
    rules = await services.rules.library.rules()
    (rule,) = [rule for rule in rules if rule.place == "AGENTS.md"]
    (directive,) = await services.rules.library.directives(rule.id)
    assert directive.directive.text == "Never guess a unit."


async def test_a_file_that_goes_takes_its_rules_with_it(
    services: Services, you: Origin, project: Path
) -> None:
    await services.rules.folders.allow(str(project), you)
    async with watching(services) as changes:
        (project / "AGENTS.md").unlink()
        await heard(changes)
    assert await places(services) == [".cursor/rules/database.mdc"]


async def test_a_new_file_in_a_new_folder_is_found(
    services: Services, you: Origin, project: Path
) -> None:
    await services.rules.folders.allow(str(project), you)
    async with watching(services) as changes:
        (project / ".github").mkdir()
        file = project / ".github/copilot-instructions.md"
        file.write_text("- Prefer small functions.\n", encoding="utf-8")
        await heard(changes)
    assert ".github/copilot-instructions.md" in await places(services)


async def test_what_changed_while_nobody_watched_is_read_at_the_start(
    services: Services, you: Origin, project: Path
) -> None:
    await services.rules.folders.allow(str(project), you)
    (project / "AGENTS.md").unlink()
    async with watching(services):
        pass
    assert await places(services) == [".cursor/rules/database.mdc"]
