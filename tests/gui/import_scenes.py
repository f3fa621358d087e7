"""The page Import on programs of the test's own: to be followed, brought in, undone."""

import asyncio
import os
from pathlib import Path
from typing import TYPE_CHECKING
from unittest.mock import patch

from kmem_desktop.bootstrap import Services
from kmem_desktop.domain.sessions.importing import ImportProgress, TranscriptKind
from kmem_desktop.gui.main_window import MainWindow
from kmem_desktop.gui.pages.import_page import ImportPage
from tests.services.importing.transcripts import (
    SECRET,
    YOU,
    claude_export,
    claude_projects,
    grow,
    rollout,
    said,
    set_age,
)

if TYPE_CHECKING:
    from tests.gui.gallery import Gallery


def programs_in(folder: Path, count: int = 12) -> Path:
    """Write transcripts of two programs, some of them old; return Claude Code's folder."""
    sessions = [(f"{number:08d}-0000-4000-8000-000000000000", 9) for number in range(count)]
    projects = claude_projects(folder / "claude", *sessions)
    for number, file in enumerate(sorted(projects.rglob("*.jsonl"))[: count // 3]):
        set_age(file, 24 + number)
    rollout(folder / "codex", "5f0e0000-0000-4000-8000-000000000000", ["Fix it", "Done"])
    return projects


def page_of(window: MainWindow) -> ImportPage:
    """Go to the page."""
    window.show_page("import")
    page = window.current_page
    assert isinstance(page, ImportPage)
    return page


async def import_pictures(
    gallery: "Gallery", window: MainWindow, services: Services, folder: Path
) -> None:
    """Programs to follow, a dry run, an import while it runs, what was imported, all safe."""
    variables = {
        "CLAUDE_CONFIG_DIR": str(folder / "claude"),
        "CODEX_HOME": str(folder / "codex"),
    }
    with patch.dict(os.environ, variables):
        projects = programs_in(folder)
        page = page_of(window)
        page.go_back()
        window.notice.hide()
        await gallery.take("import-programs", window, (1, 2))
        gallery.look("dark")
        await gallery.take("import-programs-dark", window)
        gallery.look("light")
        export = claude_export(folder / "claude-export.zip", ("c1", 40), ("c2", 8))
        page.start(str(export))
        await reported(page)
        await gallery.take("import-export", window)
        transcript = min(projects.rglob("*.jsonl"))
        grow(transcript, ["cut of", said("x", 99, f"The key is {SECRET}.")])
        page.start(str(projects))
        await reported(page)
        await gallery.take("import-transcripts", window, (1, 2))
        gallery.look("dark")
        await gallery.take("import-transcripts-dark", window)
        gallery.look("light")
        page._begin("Claude Code", "It can be stopped, and undone later.")
        page.running.begin("")
        page.running.tell(ImportProgress(412, 2500, 410_000, 1_200_000, 60_512, 60_212))
        await gallery.take("import-running", window, (1, 2))
        page._on_import()
        await reported(page)
        await services.transcripts.follow(TranscriptKind.CLAUDE_CODE, YOU)
        page.leave()
        page_of(window).refresh()
        await gallery.settle()
        await gallery.take("import-safe", window, (1, 2))
        gallery.look("dark")
        await gallery.take("import-safe-dark", window)
        gallery.look("light")


async def reported(page: ImportPage) -> None:
    """Wait until the page shows a report."""
    while page.report is None or page._is_running:  # noqa: ASYNC110 - no event tells it
        await asyncio.sleep(0.01)
