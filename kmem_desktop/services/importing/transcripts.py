"""Conversations of other programs: importing them, keeping them while they grow, undoing.

    files --(process: read, redact, contexts)--> batches --(writer: one transaction each)--> store

While a batch is stored the next one is prepared. Each transaction is short and whole: whatever cuts
an import off, what was stored is as it should be, and the next import of the same path goes on, for
turns are known by the ids that their program gave them.
"""

import asyncio
import functools
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

from kmem_desktop.config import SettingsFile
from kmem_desktop.domain.changes import Noun, Origin
from kmem_desktop.domain.sessions.importing import (
    NAMES,
    PROGRAMS,
    ImportProgress,
    ImportRecord,
    SessionImportReport,
    TranscriptKind,
    TranscriptProgram,
)
from kmem_desktop.errors import FormatError, NotFoundError
from kmem_desktop.events import Change, ChangeFeed
from kmem_desktop.platforms.transcript_folders import TranscriptFolders
from kmem_desktop.services.importing.detecting import Detected, detected, program_files
from kmem_desktop.services.importing.following import Following
from kmem_desktop.services.importing.storing import Import, Wishes
from kmem_desktop.store.database import Database
from kmem_desktop.store.sessions import imports as import_rows

AT_ONCE = 2_000
"""Up to so many turns leave the index as they are removed: 3 ms each. More are merged out of it."""
AT_ONCE_STEP = 15
LATER_STEP = 600
MERGED_PAGES = 200


class TranscriptService:
    """What can be done with conversations of other programs."""

    def __init__(
        self,
        database: Database,
        feed: ChangeFeed,
        settings: SettingsFile,
        folders: TranscriptFolders | None = None,
    ) -> None:
        """Work on `database`, tell `feed` what changed, keep consent in `settings`.

        `folders` are where programs keep their transcripts; those of the user by default.
        """
        self._database = database
        self._feed = feed
        self._one_at_a_time = asyncio.Lock()
        self.following = Following(
            database, feed, settings, folders or TranscriptFolders(), self._one_at_a_time
        )

    async def recognised(self, path: Path) -> TranscriptKind | None:
        """Return what a file or folder of conversations is; None where it is none.

        Raises:
            FormatError: It is not there, or cannot be read.
        """
        found = await asyncio.to_thread(detected, path)
        return found.kind if found else None

    async def run(
        self,
        path: Path | TranscriptKind,
        origin: Origin,
        *,
        dry_run: bool = False,
        tell: Callable[[ImportProgress], None] = lambda _progress: None,
        cancel: asyncio.Event | None = None,
    ) -> SessionImportReport:
        """Import the conversations of a file or folder, or of a program on this computer.

        Args:
            path: A folder of transcripts, one transcript, an export (zip or JSON), or a program.
            origin: Who asked for it.
            dry_run: Only tell what would happen.
            tell: Hears how far it is, on the event loop.
            cancel: Ends it early once it is set: what was stored stays, can be undone, and is
                finished by the next import of the same path.

        Raises:
            FormatError: There are no conversations that kmem can read.
            StoreError: Something could not be written; what was stored before stays.
        """
        wishes = Wishes(origin, dry_run, tell=tell, cancel=cancel or asyncio.Event())
        found = await self._found(path)
        if dry_run:
            return await Import(self._database, self._feed, found, wishes).run()
        async with self._one_at_a_time:
            return await Import(self._database, self._feed, found, wishes).run()

    async def _found(self, path: Path | TranscriptKind) -> Detected:
        if isinstance(path, TranscriptKind):
            folder = self.following.folder(path)
            files = await asyncio.to_thread(program_files, folder, path)
            return Detected(str(folder), path, files)
        found = await asyncio.to_thread(detected, path)
        if found is None:
            raise FormatError(
                f"{path} holds no conversations that kmem can read.",
                hint="It reads transcripts of Claude Code, Codex CLI and Gemini CLI, and exports of"
                " claude.ai and ChatGPT (the zip file, or its conversations.json).",
            )
        return found

    async def programs(self) -> list[TranscriptProgram]:
        """Return the programs that have transcripts on this computer, and how safe these are."""
        return await self.following.programs()

    async def follow(
        self,
        program: TranscriptKind,
        origin: Origin,
        *,
        on: bool = True,
        tell: Callable[[ImportProgress], None] = lambda _progress: None,
        cancel: asyncio.Event | None = None,
    ) -> SessionImportReport | None:
        """Keep a program's transcripts from now on, and those that are there; or no longer.

        What was kept stays. Cancelling takes the consent back.

        Args:
            program: Which one.
            origin: Who asked for it.
            on: Whether they are to be kept.
            tell: Hears how far it is.
            cancel: Ends it early once it is set.

        Returns:
            What was brought in; None where they are no longer kept.

        Raises:
            NotFoundError: The program keeps no transcripts on this computer.
        """
        if program not in PROGRAMS:
            raise NotFoundError(f"{NAMES[program]} keeps no transcripts on this computer.")
        if not on:
            self.following.change(program, on=False)
            return None
        found = await self._found(program)
        wishes = Wishes(origin, is_following=True, tell=tell, cancel=cancel or asyncio.Event())
        async with self._one_at_a_time:
            report = await Import(self._database, self._feed, found, wishes).run()
        if not report.was_cancelled:
            self.following.change(program, on=True)
        return report

    async def imports(self) -> list[ImportRecord]:
        """Return every import that stored something, the last one first."""
        return await self._database.read(import_rows.records)

    async def undo(
        self,
        uuid: str,
        origin: Origin,
        *,
        tell: Callable[[int, int], None] = lambda _done, _total: None,
    ) -> int:
        """Take an import back: its turns, and the sessions that are left empty.

        What a person, an assistant or another import added stays. A program that it followed is no
        longer followed. What is cut off can be gone on with by undoing it again.

        Args:
            uuid: The import.
            origin: Who asked for it.
            tell: Hears how many turns are removed, of how many.

        Returns:
            How many turns were removed.

        Raises:
            NotFoundError: There is no such import, or it was undone.
        """
        async with self._one_at_a_time:
            found = await self._database.read(lambda c: import_rows.find(c, uuid.strip().lower()))
            if found is None or found[1].undone_at is not None:
                raise NotFoundError(
                    "There is no such import, or it was undone already.",
                    details={"import": uuid[:80]},
                )
            import_id, record = found
            if record.is_following:
                self.following.change(TranscriptKind(record.kind), on=False)
            removed = await self._remove(import_id, record.turn_count, tell)
            now = datetime.now(UTC)
            await self._database.write(lambda c: import_rows.mark_undone(c, import_id, now))
        for noun in (Noun.TURN, Noun.SESSION):
            self._feed.publish(Change(noun, (), origin))
        return removed

    async def _remove(self, import_id: int, total: int, tell: Callable[[int, int], None]) -> int:
        at_once = total <= AT_ONCE
        step = functools.partial(
            import_rows.remove_some,
            import_id=import_id,
            count=AT_ONCE_STEP if at_once else LATER_STEP,
            at_once=at_once,
        )
        removed = 0
        while gone := (await self._database.write(step)).turn_count:
            removed += gone
            tell(removed, max(total, removed))
        if not at_once:
            merge = functools.partial(import_rows.merge_index, pages=MERGED_PAGES)
            while await self._database.write(merge):
                pass
        return removed

    def start(self) -> None:
        """Begin to follow what a person wants to be followed."""
        self.following.start()

    async def stop(self) -> None:
        """End that."""
        await self.following.stop()
