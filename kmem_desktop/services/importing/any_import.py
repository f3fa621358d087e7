"""One door for every import: what a path holds is recognised, and the part that knows it is called.

What `kmem export` wrote goes to `copies`, conversations to `transcripts`, memories of other
programs to `memories`, and what is none of these is read as the reference memory server's file,
whose lines are reported where they make no sense.
"""

import asyncio
import os
from collections.abc import Callable
from pathlib import Path

from kmem_desktop.domain.changes import Origin, OriginKind
from kmem_desktop.domain.importing import ImportReport, MemoryProgram, MemoryProgress
from kmem_desktop.domain.library.copies import CopyFormat, CopyReport
from kmem_desktop.domain.sessions.importing import (
    ImportProgress,
    ImportRecord,
    SessionImportReport,
    TranscriptKind,
)
from kmem_desktop.errors import FormatError, NotFoundError
from kmem_desktop.services.importing.memories import MemoriesImport
from kmem_desktop.services.importing.reference_memory import ImportingService
from kmem_desktop.services.importing.transcripts import TranscriptService
from kmem_desktop.services.library.knowledge_import import KnowledgeImport, copy_format

Report = SessionImportReport | ImportReport | CopyReport
Progress = ImportProgress | MemoryProgress
Kind = TranscriptKind | MemoryProgram | CopyFormat


class AnyImport:
    """Imports whatever it is given."""

    def __init__(
        self,
        transcripts: TranscriptService,
        memories: MemoriesImport,
        reference: ImportingService,
        copies: KnowledgeImport,
    ) -> None:
        """Hand over to these."""
        self._transcripts = transcripts
        self._memories = memories
        self._reference = reference
        self._copies = copies

    async def kind_of(self, path: Path) -> Kind:
        """Return what a file or folder holds.

        Raises:
            FormatError: It is not there, or holds nothing that kmem can read.
        """
        if await asyncio.to_thread(_is_whole_disk, path):
            raise FormatError(f"{path} is a whole disk.", hint="Choose a folder on it.")
        written = await asyncio.to_thread(copy_format, path)
        if written is not None:
            return written
        conversations = await self._transcripts.recognised(path)
        if conversations is not None:
            return conversations
        program = await self._memories.program_of(path)
        if program is None and await asyncio.to_thread(path.is_dir):
            raise FormatError(
                f"{path} holds nothing that kmem can read.",
                hint="It reads conversations of Claude Code, Codex, Gemini, claude.ai and ChatGPT,"
                " memories of the reference server, ai-devkit, mark42, mcp-memory-service and"
                " basic-memory, and copies that kmem saved.",
            )
        return program or MemoryProgram.REFERENCE

    async def run(
        self,
        path: Path,
        origin: Origin,
        *,
        dry_run: bool = False,
        tell: Callable[[Progress], None] = lambda _progress: None,
        cancel: asyncio.Event | None = None,
    ) -> Report:
        """Import a file or folder.

        Args:
            path: Which one.
            origin: Who asked for it.
            dry_run: Only tell what would happen.
            tell: Hears how far it is, on the event loop.
            cancel: Ends it early once it is set; what was stored stays, and can be undone. Of a
                copy nothing is stored then.

        Raises:
            FormatError: It holds nothing that kmem can read.
            StoreError: Something could not be written.
        """
        kind = await self.kind_of(path)
        if isinstance(kind, CopyFormat):
            name = os.fsencode(path.name).decode("utf-8", "replace")  # it need not be text
            batch = Origin(OriginKind.IMPORT, f"Import of {name}", origin.tool)
            return await self._copies.bring_in_file(
                path, batch, dry_run=dry_run, tell=tell, cancel=cancel
            )
        if isinstance(kind, TranscriptKind):
            return await self._transcripts.run(
                path, origin, dry_run=dry_run, tell=tell, cancel=cancel
            )
        if kind is MemoryProgram.REFERENCE:
            return await self._reference.import_reference_memory(path, dry_run=dry_run)
        return await self._memories.run(
            path, dry_run=dry_run, tell=tell, cancel=cancel, origin=origin
        )

    async def list_imports(self) -> list[ImportRecord]:
        """Return every import that stored something, the last one first."""
        return await self._transcripts.imports()

    async def undo(
        self,
        uuid: str,
        origin: Origin,
        *,
        tell: Callable[[int, int], None] = lambda _done, _total: None,
    ) -> int:
        """Take an import back as a whole; return how many turns or changes were undone.

        Raises:
            NotFoundError: There is no such import, or it was undone.
        """
        wanted = uuid.strip().lower()
        record = next((each for each in await self.list_imports() if each.uuid == wanted), None)
        if record is None or record.undone_at is not None:
            raise NotFoundError(
                "There is no such import, or it was undone already.",
                details={"import": uuid[:80]},
            )
        if record.kind in set(TranscriptKind):
            return await self._transcripts.undo(wanted, origin, tell=tell)
        return await self._memories.undo(wanted, origin)


def _is_whole_disk(path: Path) -> bool:
    try:
        whole = path.resolve()
    except (OSError, RuntimeError):
        return False
    return whole.parent == whole
