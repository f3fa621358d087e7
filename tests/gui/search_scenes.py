"""The faces of a search that finds conversations and rules beside knowledge and entities."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from kmem_desktop.bootstrap import Services
from kmem_desktop.domain.changes import Noun, Origin, OriginKind
from kmem_desktop.domain.rule_library import SubmittedDocument
from kmem_desktop.domain.sessions.conversations import TurnDraft
from kmem_desktop.gui.context import BY_WINDOW
from kmem_desktop.gui.main_window import MainWindow
from kmem_desktop.gui.pages.search_page import SearchPage
from kmem_desktop.services.sessions.exchanges import SessionDraft

if TYPE_CHECKING:
    from tests.gui.gallery import Gallery

BY_CLAUDE = Origin(OriginKind.CLIENT, "Claude Code", "add_exchange")
PHRASE = "why did we move off redis"
RETRY_STORM = (
    ("user", "Half of the jobs ran twice after the deploy, and the backlog still grows."),
    ("assistant", "The visibility timeout is 30 s while the handler takes 40 s."),
    ("user", "And where does the backlog come from?"),
    (
        "assistant",
        "It came from Redis evicting keys: `maxmemory-policy` is `allkeys-lru`, so that a job is"
        " a key like any other.\n\n```ini\nmaxmemory 2gb\nmaxmemory-policy allkeys-lru\n```\n\n"
        "So why not keep jobs in the database that we already back up?",
    ),
    ("user", "Agreed, let us move. Write the migration first."),
    ("assistant", "Done: `migrations/0007_queue.sql`, with both queues drained in one release."),
)
LOAD_TEST = (
    ("user", "Run the load test of the new queue with 32 workers."),
    ("assistant", "p95 stayed at 14 ms; nothing to gain from going back to Redis."),
)
STORES = """\
# Architecture

## Stores

- **MUST NOT** Add a new data store without a decision record.
  - Why: ADR-004 lists the stores in use; Redis was taken out in May, and two others never came.
- **SHOULD** Move data by a migration that can be run twice.
"""


async def fill_conversations(services: Services) -> None:
    """Store two conversations and a rule document."""
    now = datetime.now(UTC)
    for title, turns, days in (
        ("Retry storm after the deploy", RETRY_STORM, 9),
        ("Load test of the new queue", LOAD_TEST, 6),
    ):
        start = now - timedelta(days=days)
        drafts = [
            TurnDraft(role, text, time=(start + timedelta(minutes=2 * number)).isoformat())
            for number, (role, text) in enumerate(turns)
        ]
        draft = SessionDraft(title=title, project="shopfront")
        await services.sessions.add_exchange(draft, drafts, BY_CLAUDE)
    await services.rules.ingestion.upsert(
        [SubmittedDocument("docs/architecture.md", STORES)], BY_WINDOW, scope="project:shopfront"
    )


def select_noun(page: SearchPage, noun: Noun) -> None:
    """Select the first row of a noun."""
    for row in range(page.model.rowCount()):
        text = page.model.row_at(row)
        if text is not None and text.noun is noun:
            page.list.select_id(text.id)
            return
    raise LookupError(noun)


async def mixed_pictures(
    gallery: "Gallery", window: MainWindow, services: Services, folder: Path
) -> None:
    """Everything at once, then a turn, a directive, one noun alone, and nothing asked of it."""
    del folder
    await fill_conversations(services)
    window.show_page("search")
    page = window.current_page
    assert isinstance(page, SearchPage)
    page.field.edit.setText(PHRASE)
    await gallery.settle(40)
    await gallery.take("found-everything-light", window, (1, 2))
    gallery.look("dark")
    await gallery.take("found-everything-dark", window, (1, 2))
    gallery.look("light")
    select_noun(page, Noun.TURN)
    await gallery.settle()
    await gallery.take("found-turn-light", window, (1, 2))
    gallery.look("dark")
    await gallery.take("found-turn-dark", window)
    gallery.look("light")
    select_noun(page, Noun.DIRECTIVE)
    await gallery.settle()
    await gallery.take("found-directive", window, (1, 2))
    page.chips[Noun.TURN,].click()
    await gallery.settle()
    await gallery.take("found-sessions-only", window)
    page.field.edit.clear()
    await gallery.take("nothing-asked-of-sessions", window)
    page.widen()
    window.quick_search.field.edit.setText(PHRASE)
    window.open_quick_search()
    await gallery.settle()
    await gallery.take("quick-search-everything", window.quick_search, (1, 2))
    window.quick_search.hide()
    page.field.edit.clear()
