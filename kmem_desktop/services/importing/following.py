"""Keeps transcripts of programs while they grow, where a person has said so.

What was written while nobody looked is read at the start; then the system tells of changes, and
now and then all is looked at, for such notices can get lost. Only what was added to a file is read.
A session that a person removed here stays away, however much its file grows.
"""

import asyncio
import contextlib
import logging
from collections.abc import Sequence
from contextlib import aclosing
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path, PurePath

from kmem_desktop.config import SettingsFile
from kmem_desktop.domain.changes import Origin, OriginKind
from kmem_desktop.domain.sessions.importing import (
    NAMES,
    PROGRAMS,
    TranscriptFile,
    TranscriptKind,
    TranscriptProgram,
)
from kmem_desktop.errors import KmemError
from kmem_desktop.events import ChangeFeed
from kmem_desktop.platforms.transcript_folders import TranscriptFolders
from kmem_desktop.platforms.watching import changed_files
from kmem_desktop.services.background import BackgroundTask
from kmem_desktop.services.importing.detecting import (
    Detected,
    is_transcript,
    look,
    program_files,
)
from kmem_desktop.services.importing.storing import Import, Wishes
from kmem_desktop.sessions.transcripts import claude_code
from kmem_desktop.store.database import Database
from kmem_desktop.store.sessions import imports as import_rows

log = logging.getLogger(__name__)

QUIET_S = 2.0
"""How often it is asked whether another process has changed what is followed."""
LOOK_AGAIN_S = 300.0
EXPIRES_WITHIN_DAYS = 7


class Following:
    """The programs on this computer, and the watch over those that are followed."""

    def __init__(
        self,
        database: Database,
        feed: ChangeFeed,
        settings: SettingsFile,
        folders: TranscriptFolders,
        one_at_a_time: asyncio.Lock,
    ) -> None:
        """Work on `database`, tell `feed` what changed, keep consent in `settings`.

        Args:
            database: Where to.
            feed: Hears of it.
            settings: Where it is kept which programs are followed.
            folders: Where the programs' transcripts are.
            one_at_a_time: Held by whoever imports or undoes.
        """
        self._database = database
        self._feed = feed
        self._settings = settings
        self._folders = folders
        self._one_at_a_time = one_at_a_time
        self._work = BackgroundTask()
        self._news = asyncio.Event()
        self._is_watching = asyncio.Event()

    def folder(self, kind: TranscriptKind) -> Path:
        """Return where a program keeps its transcripts."""
        if kind is TranscriptKind.CLAUDE_CODE:
            return self._folders.claude_code()
        return self._folders.codex() if kind is TranscriptKind.CODEX else self._folders.gemini()

    def followed(self) -> list[TranscriptKind]:
        """Return the programs that a person wants to be followed."""
        keys = self._settings.refresh().follows_transcripts
        return [kind for kind in PROGRAMS if kind in keys]

    def change(self, kind: TranscriptKind, *, on: bool) -> None:
        """Note whether a person wants a program to be followed."""
        others = [key for key in self._settings.refresh().follows_transcripts if key != kind]
        follows = [*others, kind.value] if on else others
        self._settings.change(follows_transcripts=follows, asked_about_transcripts=True)
        self._is_watching.clear()
        self._news.set()

    async def programs(self) -> list[TranscriptProgram]:
        """Return the programs that have transcripts on this computer."""
        followed = self.followed()
        found: list[TranscriptProgram] = []
        for kind in PROGRAMS:
            files = await asyncio.to_thread(program_files, self.folder(kind), kind)
            if files or kind in followed:
                found.append(await self._program(kind, files, is_followed=kind in followed))
        return found

    async def _program(
        self, kind: TranscriptKind, files: Sequence[TranscriptFile], *, is_followed: bool
    ) -> TranscriptProgram:
        known = await self._database.read(lambda c: import_rows.followed(c, kind))
        stored = {
            file.path for file in files if (row := known.get(file.path)) and row.is_as_read(file)
        }
        kept_days: int | None = None
        expiring: list[str] = []
        if kind is TranscriptKind.CLAUDE_CODE:
            kept_days = await asyncio.to_thread(
                self._folders.claude_code_kept_days, claude_code.RETENTION_DAYS
            )
            expiring = _expiring(files, kept_days)
        return TranscriptProgram(
            key=kind,
            name=NAMES[kind],
            folder=str(self.folder(kind)),
            session_count=len(files),
            stored_count=len(stored),
            expiring_count=len(expiring),
            expiring_stored_count=len(stored.intersection(expiring)),
            kept_days=kept_days,
            is_followed=is_followed,
        )

    def start(self) -> None:
        """Begin to follow what a person wants to be followed."""
        self._work.begin(self._watch())

    async def watched(self) -> None:
        """Wait until everything that is followed was read and is watched."""
        await self._is_watching.wait()

    async def stop(self) -> None:
        """End the watch; what is being stored is stored to its end."""
        await self._work.end()

    async def _watch(self) -> None:
        while True:
            try:
                self._news.clear()
                followed = self.followed()
                for kind in followed:
                    await self.catch_up(kind)
                await self._watch_these(followed)
            except (KmemError, OSError) as error:
                log.info("The transcripts are looked at again: %s", error)
                await asyncio.sleep(QUIET_S)
            except Exception:
                log.exception("Following the transcripts failed; it begins anew")
                await asyncio.sleep(LOOK_AGAIN_S)

    async def _watch_these(self, followed: list[TranscriptKind]) -> None:
        """Read what changes, until what is followed changes or it is time to look at all again."""
        folders = {kind: self.folder(kind) for kind in followed}
        there = [path for path in folders.values() if await asyncio.to_thread(path.is_dir)]
        until = asyncio.get_running_loop().time() + LOOK_AGAIN_S
        if not there:
            self._is_watching.set()
            while self.followed() == followed and asyncio.get_running_loop().time() < until:
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(QUIET_S):
                        await self._news.wait()
                        return
            return
        async with aclosing(changed_files(there, QUIET_S, is_deep=True)) as notices:
            async for changed in notices:
                if not self._is_watching.is_set():
                    for kind in followed:  # what changed before the watch began
                        await self.catch_up(kind)
                    self._is_watching.set()
                for kind, folder in folders.items():
                    await self._take_notice(kind, folder, changed)
                is_time = asyncio.get_running_loop().time() > until
                if is_time or self._news.is_set() or self.followed() != followed:
                    return

    async def _take_notice(self, kind: TranscriptKind, folder: Path, changed: set[Path]) -> None:
        inside = [path for path in changed if path.is_relative_to(folder)]
        if any([await asyncio.to_thread(path.is_dir) for path in inside]):
            # What is written into a new folder before it is watched is noticed by nobody.
            await self.catch_up(kind)
        elif paths := [path for path in inside if is_transcript(path, folder, kind)]:
            await self._read_on(kind, paths)

    async def catch_up(self, kind: TranscriptKind) -> None:
        """Read what was written to any transcript of a program since it was last read."""
        files = await asyncio.to_thread(program_files, self.folder(kind), kind)
        await self._take(kind, files)

    async def _read_on(self, kind: TranscriptKind, paths: Sequence[Path]) -> None:
        def looked_at() -> list[TranscriptFile]:
            return [file for path in sorted(paths) if (file := look(path, kind)) is not None]

        await self._take(kind, await asyncio.to_thread(looked_at), is_notice=True)

    async def _take(
        self, kind: TranscriptKind, files: Sequence[TranscriptFile], *, is_notice: bool = False
    ) -> None:
        async with self._one_at_a_time:
            known = await self._database.read(lambda c: import_rows.followed(c, kind))
            plan = await asyncio.to_thread(_plan, files, known, is_notice=is_notice)
            if not plan or kind not in self.followed():
                return
            found = Detected(str(self.folder(kind)), kind, tuple(plan))
            origin = Origin(OriginKind.IMPORT, NAMES[kind])
            report = await Import(
                self._database, self._feed, found, Wishes(origin, is_following=True)
            ).run()
            for problem in report.problems:
                log.info("%s, line %d: %s", problem.file, problem.line, problem.message)


def _plan(
    files: Sequence[TranscriptFile],
    known: dict[str, import_rows.FollowedFile],
    *,
    is_notice: bool,
) -> list[TranscriptFile]:
    """Return the files that say something new, each with the place to read it from.

    What was left out is read anew as a whole, so that is not done whenever a line is added to it.
    """
    plan: list[TranscriptFile] = []
    for file in files:
        row = known.get(file.path)
        if row is None:
            plan.append(file)
        elif row.is_left_out and not row.is_wanted_again:
            if not is_notice and row.modified_at != file.modified_at:
                plan.append(file)
        elif row.is_kept and not row.is_as_read(file):
            plan.append(_read_from(file, row))
    return plan


def _read_from(file: TranscriptFile, row: import_rows.FollowedFile) -> TranscriptFile:
    """Return a file with the place where it goes on; the beginning, should it be written anew."""
    is_read_on = file.kind is not TranscriptKind.GEMINI and row.offset_bytes > 0
    if not is_read_on or file.size_bytes < row.offset_bytes or file.modified_at < row.modified_at:
        return file
    if file.size_bytes == row.size_bytes:
        return file  # as long as before, but written to: not added to, but written anew
    try:
        with Path(file.path).open("rb") as stream:
            stream.seek(row.offset_bytes - 1)
            is_line_end = stream.read(1) == b"\n"
    except OSError:
        return file
    if not is_line_end:
        return file
    return replace(file, offset_bytes=row.offset_bytes, line=row.line)


def _expiring(files: Sequence[TranscriptFile], kept_days: int) -> list[str]:
    looked_at = [
        claude_code.TranscriptFile(PurePath(file.path), datetime.fromisoformat(file.modified_at))
        for file in files
    ]
    soon = claude_code.expires_soon(looked_at, datetime.now(UTC), kept_days, EXPIRES_WITHIN_DAYS)
    return [str(file.path) for file in soon]
