"""The folders whose rules a person lets kmem read, and the watch over them.

A folder is added once; its rule files are read then, and again whenever one changes. Only the
places where rule files lie are watched, not all of a project: a tree of dependencies has more
folders than a system lets anyone watch. Where no notice comes, all is looked at now and then.
"""

import asyncio
import logging
from contextlib import aclosing
from datetime import UTC, datetime
from pathlib import Path

from kmem_desktop.domain.changes import Noun, Origin, OriginKind
from kmem_desktop.domain.rule_library import IngestionReport, RuleFolder
from kmem_desktop.errors import KmemError, NotFoundError
from kmem_desktop.events import Change, ChangeFeed
from kmem_desktop.platforms.watching import changed_files
from kmem_desktop.services.background import BackgroundTask
from kmem_desktop.services.rules.files import (
    approved_folder,
    is_rule_file,
    real_path,
    rule_files,
    watched_places,
)
from kmem_desktop.services.rules.ingestion import RuleIngestion, total
from kmem_desktop.store.connection import Connection
from kmem_desktop.store.database import Database
from kmem_desktop.store.rules import folders as rule_folders
from kmem_desktop.store.rules import set_aside
from kmem_desktop.text import one_line

log = logging.getLogger(__name__)

WATCHER = Origin(OriginKind.IMPORT, "Rule files")
QUIET_S = 1.0
"""How often it is asked whether another process has added a folder."""
LOOK_AGAIN_S = 300.0


class RuleFolders:
    """What can be done with folders of rules."""

    def __init__(self, database: Database, feed: ChangeFeed, ingestion: RuleIngestion) -> None:
        """Work on `database`, tell `feed` what changed, and read files by `ingestion`."""
        self._database = database
        self._feed = feed
        self._ingestion = ingestion
        self._work = BackgroundTask()
        self._is_watching = asyncio.Event()

    async def allow(self, path: str, origin: Origin) -> tuple[RuleFolder, IngestionReport]:
        """Let kmem read and watch a project's rule files; read them now.

        Raises:
            InvalidInputError: There is no such folder, or it is no project's.
        """
        folder_path = await asyncio.to_thread(approved_folder, path)
        now = datetime.now(UTC)

        def work(connection: Connection) -> RuleFolder:
            known = rule_folders.find(connection, str(folder_path))
            if known is not None:
                return known
            scope = _free_scope(connection, folder_path)
            return rule_folders.add(connection, str(folder_path), scope, now)

        added = await self._database.write(work)
        report = await self.read(added, origin)
        self._feed.publish(Change(Noun.DIRECTIVE, (), origin))
        folder = await self._database.read(lambda c: rule_folders.find(c, added.path))
        return folder or added, report

    async def forget(self, path: str, origin: Origin) -> RuleFolder:
        """Let go of a folder and of the rules that were read from it; its files stay.

        Raises:
            NotFoundError: kmem does not read this folder.
        """

        def work(connection: Connection) -> tuple[RuleFolder, list[int]]:
            folder = rule_folders.find(connection, path)
            if folder is None:
                folder = rule_folders.find(connection, str(real_path(path)))
            if folder is None:
                raise NotFoundError(f"kmem reads no rules in {path}.", details={"path": path})
            return folder, rule_folders.remove(connection, folder.id)

        folder, gone = await self._database.write(work)
        self._feed.publish(Change(Noun.DIRECTIVE, tuple(gone), origin))
        return folder

    async def take_back(self, path: str, origin: Origin) -> tuple[RuleFolder, IngestionReport]:
        """Read a file again that was forgotten, with what was edited and rejected in it.

        Raises:
            NotFoundError: No file of this path was forgotten.
        """

        def work(connection: Connection) -> tuple[RuleFolder, Path]:
            for folder in rule_folders.list_folders(connection):
                for name in (path, str(real_path(path))):
                    if set_aside.take_back(connection, name, folder.scope):
                        return folder, Path(name)
            raise NotFoundError(f"{path} was not forgotten.", details={"path": path})

        folder, file = await self._database.write(work)
        report = IngestionReport()
        if await asyncio.to_thread(file.is_file):
            report = await self._take(file, folder, origin)
        self._feed.publish(Change(Noun.DIRECTIVE, (), origin))
        return folder, report

    async def list_folders(self) -> list[RuleFolder]:
        """Return every folder, in the order they were added."""
        return await self._database.read(rule_folders.list_folders)

    async def read(self, folder: RuleFolder, origin: Origin = WATCHER) -> IngestionReport:
        """Read all rule files of a folder, and let go of those that are gone.

        A folder that is not there, such as one on another disk, keeps what was read from it.
        """
        root = Path(folder.path)
        if not await asyncio.to_thread(root.is_dir):
            return IngestionReport(errors=(f"{folder.path} is not there now.",))
        files = await asyncio.to_thread(lambda: list(rule_files(root)))
        known = await self._database.read(lambda c: rule_folders.paths_of(c, folder.id))
        report = IngestionReport()
        for path in files:
            report = total(report, await self._take(path, folder, origin))
        for gone in set(known) - {str(path) for path in files}:
            await self._ingestion.forget_file(Path(gone), folder, origin)
        return report

    async def _take(self, path: Path, folder: RuleFolder, origin: Origin) -> IngestionReport:
        try:
            return await self._ingestion.take_file(path, folder, origin)
        except KmemError as error:
            return IngestionReport(errors=(f"{path}: {error.message}",))

    def start(self) -> None:
        """Begin to watch."""
        self._work.begin(self._watch())

    async def watched(self) -> None:
        """Wait until every folder was read and is watched."""
        await self._is_watching.wait()

    async def stop(self) -> None:
        """End the watch."""
        await self._work.end()

    async def _watch(self) -> None:
        while True:
            try:
                folders = await self.list_folders()
                self._is_watching.clear()
                await self._read_all(folders)
                await self._watch_these(folders)
            except (KmemError, OSError) as error:
                log.info("The rule files are looked at again: %s", error)
                await asyncio.sleep(QUIET_S)
            except Exception:
                log.exception("The watch over rule files failed; it begins anew")
                await asyncio.sleep(LOOK_AGAIN_S)

    async def _watch_these(self, folders: list[RuleFolder]) -> None:
        """Read what changes, until the folders themselves change or it is time to look again."""
        known = {folder.path for folder in folders}
        places = await asyncio.to_thread(_places, folders)
        until = asyncio.get_running_loop().time() + LOOK_AGAIN_S
        if not places:
            self._is_watching.set()
            await asyncio.sleep(QUIET_S)
            return
        async with aclosing(changed_files(places, QUIET_S)) as notices:
            async for changed in notices:
                if not self._is_watching.is_set():
                    # What changed before the watch began was noticed by nobody.
                    await self._read_all(folders)
                    self._is_watching.set()
                for path in changed:
                    await self._on_change(path, folders)
                if any(path.is_dir() for path in changed):
                    return  # a new folder may hold rules, and is to be watched
                if {folder.path for folder in await self.list_folders()} != known:
                    return
                if asyncio.get_running_loop().time() > until:
                    return

    async def _read_all(self, folders: list[RuleFolder]) -> None:
        for folder in folders:
            await self.read(folder)

    async def _on_change(self, path: Path, folders: list[RuleFolder]) -> None:
        inside = [folder for folder in folders if path.is_relative_to(folder.path)]
        if not inside:
            return
        folder = max(inside, key=lambda each: len(each.path))
        if not is_rule_file(path.relative_to(folder.path).as_posix()):
            return
        if await asyncio.to_thread(path.is_file):
            report = await self._take(path, folder, WATCHER)
            for error in report.errors:
                log.info("%s", error)
        else:
            await self._ingestion.forget_file(path, folder, WATCHER)


def _places(folders: list[RuleFolder]) -> set[Path]:
    places: set[Path] = set()
    for folder in folders:
        root = Path(folder.path)
        if root.is_dir():
            places |= watched_places(root, rule_files(root))
    return places


def _free_scope(connection: Connection, folder: Path) -> str:
    """Return `project:<name>`, with a number where another folder has that name."""
    name = one_line(folder.name).casefold() or "project"
    used = rule_folders.scopes_in_use(connection, f"project:{name}")
    scope = f"project:{name}"
    number = 2
    while scope in used:
        scope = f"project:{name}-{number}"
        number += 1
    return scope
