"""Sessions that the tests of the window show, in the tests' own words."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import apsw
from pytestqt.qtbot import QtBot

from kmem_desktop.bootstrap import Services
from kmem_desktop.domain.changes import Origin
from kmem_desktop.domain.sessions.conversations import TurnDraft
from kmem_desktop.gui.main_window import MainWindow
from kmem_desktop.gui.sessions.restore_window import RestoreWindow
from kmem_desktop.gui.sessions.sessions_page import SessionsPage
from kmem_desktop.services.sessions.exchanges import SessionDraft
from tests.gui.conftest import Runner
from tests.gui.scenes import BY_CLIENT, wait_for

QUEUE = (
    ("user", "Half of the jobs ran twice after the deploy. Can you see why?"),
    (
        "assistant",
        "The handler takes 40 s while the visibility timeout is 30 s, so Redis hands the job out"
        " again.\n\n```python\nvisibility_timeout = 30  # worker/settings.py:14\n```",
    ),
    ("tool", "Read worker/settings.py\n14: visibility_timeout = 30"),
    ("tool", "Ran pytest: 41 passed"),
    ("user", "Why not keep jobs in the database we already back up?"),
    (
        "assistant",
        "Decision: the queue moves to PostgreSQL with SKIP LOCKED, and Redis is dropped. The"
        " migration is one release, with both queues drained.",
    ),
    ("user", "Agreed. Write the migration first."),
    (
        "assistant",
        "We decided: **D1** jobs stay in PostgreSQL. I wrote `migrations/0007_queue.sql`.",
    ),
    ("user", "Still open: who alerts on queue age?"),
    ("assistant", "Nobody yet."),
)


def long_talk(count: int) -> list[tuple[str, str]]:
    """Return a conversation of so many turns, each with its number in it."""
    words = "The lease is extended while the job runs, and no other worker takes it meanwhile. "
    return [
        ("assistant" if n % 2 else "user", f"Turn number {n}.\n\n{words * (1 + n % 9)}")
        for n in range(count)
    ]


def store_talk(
    run: Runner,
    services: Services,
    title: str,
    turns: Sequence[tuple[str, str]] = QUEUE,
    *,
    project: str = "",
    tags: Sequence[str] = (),
    origin: Origin = BY_CLIENT,
    gap: timedelta = timedelta(minutes=2),
    days_ago: float = 0,
) -> str:
    """Store a session; return its id."""
    end = datetime.now(UTC) - timedelta(days=days_ago)
    uuid: str | None = None
    for start in range(0, len(turns), 500):
        drafts = [
            TurnDraft(role, text, time=(end - gap * (len(turns) - start - n)).isoformat())
            for n, (role, text) in enumerate(turns[start : start + 500])
        ]
        draft = SessionDraft(uuid=uuid, title=title, project=project, tags=tuple(tags))
        uuid = run(services.sessions.add_exchange(draft, drafts, origin)).session_uuid
    assert uuid is not None
    if days_ago:
        connection = apsw.Connection(str(services.paths.database))
        connection.set_busy_timeout(5_000)
        connection.execute(
            "UPDATE sessions SET last_active = ?1, created_at = ?1 WHERE uuid = ?2",
            (end.isoformat(), uuid),
        )
        connection.close()
    return uuid


def store_many(services: Services, count: int) -> None:
    """Let there be so many sessions of today, without turns."""
    at = datetime.now(UTC).isoformat()
    connection = apsw.Connection(str(services.paths.database))
    connection.set_busy_timeout(5_000)
    with connection:
        connection.executemany(
            "INSERT INTO sessions (uuid, title, project, tags, client, created_at, last_active)"
            " VALUES (?1, ?2, '', '[]', 'Codex', ?3, ?3)",
            [(f"many-{number}", f"Session {number:03}", at) for number in range(count)],
        )
    connection.close()


def open_sessions(window: MainWindow, qtbot: QtBot) -> SessionsPage:
    """Show the page, once it has read what there is."""
    window.show_page("sessions")
    page = window.current_page
    assert isinstance(page, SessionsPage)
    wait_for(qtbot, lambda: page.list.isVisible() or page.empty.isVisible())
    return page


def listed(page: SessionsPage) -> list[str]:
    """Return what the list shows: headings and titles, as a reader goes through them."""
    rows = page.list.rows
    lines = []
    for line in range(rows.rowCount()):
        row = rows.row_at(line)
        lines.append(rows.heading_at(line) or (row.title if row is not None else ""))
    return lines


def open_talk(page: SessionsPage, qtbot: QtBot, uuid: str) -> RestoreWindow:
    """Open a session in its window, once it has been worked out what fits."""
    page.open_session(uuid)
    window = page.windows[uuid]
    wait_for(qtbot, lambda: bool(window.view.turns.items) and window.preview is not None)
    return window


def reads(window: RestoreWindow) -> str:
    """Return the text that is laid out in the part of the conversation in sight."""
    view = window.view
    texts = []
    for row, item in enumerate(view.turns.items):
        top = view.rowViewportPosition(row)
        if top >= view.viewport().height() or top + item.height <= 0:
            continue
        documents = [part.document for part in item.parts or ()]
        texts += [document.toPlainText() for document in documents if document is not None]
    return "\n".join(texts)
