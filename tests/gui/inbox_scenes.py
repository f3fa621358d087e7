"""Invented conversations that knowledge is taken from, and pictures of the inbox on them."""

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from kmem_desktop.bootstrap import Services
from kmem_desktop.domain.changes import Origin, OriginKind
from kmem_desktop.domain.knowledge import KnowledgeDraft
from kmem_desktop.domain.sessions.conversations import TurnDraft
from kmem_desktop.gui.inbox.inbox_page import InboxPage
from kmem_desktop.gui.main_window import MainWindow
from kmem_desktop.services.sessions.exchanges import SessionDraft

if TYPE_CHECKING:
    from tests.gui.gallery import Gallery

CLAUDE = Origin(OriginKind.CLIENT, "Claude Code", "add_exchange")
PROJECT = "shopfront"
ALERT = "Always alert on the age of the oldest job in `job_queue`, never on queue length alone."
DRAIN = (
    "We decided that the workers drain both queues, `redis_jobs` and `job`, before the switch is"
    " flipped."
)
STORM = (
    "The root cause of the retry storm was that `send_mail` retried without jitter, so 32 workers"
    " woke at once."
)
CENTS = "We decided to keep prices as integer cents in `order_line`, never as floats."
TEMPLATES = "Please always let support review e-mail templates in `templates/mail` before release."
CSV = "The fix was to read `orders.csv` with `utf-8-sig`, because Excel writes a mark at its start."

CONVERSATIONS = (
    (
        "Retry storm after the deploy",
        timedelta(days=20, hours=3),
        (
            ("user", "The queue went mad after the deploy this morning. Can you look at it?"),
            ("assistant", "Let me read the worker's log first."),
            ("assistant", f"Found it.\n\n{STORM} The log shows 4,100 attempts in a minute."),
            ("user", "Good. And what should page us next time?"),
            (
                "assistant",
                "Length alone says little: a long queue that moves is fine. What hurts is a job"
                " that waits.",
            ),
            ("user", f"Agreed, five minutes then. {ALERT} I do not want to be woken for nothing."),
            ("assistant", "Noted. Shall I write the rule for Prometheus?"),
        ),
    ),
    (
        "Moving the queue to PostgreSQL",
        timedelta(days=18),
        (
            ("user", "How do we switch without losing jobs?"),
            ("assistant", f"Two readers for a while.\n\n{DRAIN}\n\n1. Deploy\n2. Wait"),
        ),
    ),
    (
        "Rounding in the invoices",
        timedelta(days=3),
        (
            ("user", CENTS),
            ("assistant", "Understood: the invoice rounds once for each line."),
            ("user", TEMPLATES),
        ),
    ),
    (
        "Orders that Excel broke",
        timedelta(days=1),
        (
            ("user", "The import fails on the file from accounting."),
            ("assistant", CSV),
        ),
    ),
)


async def talk(services: Services) -> None:
    """Hold the conversations, and look them through."""
    known = KnowledgeDraft(
        "Prices are integers in the smallest unit",
        "We keep prices as integer cents in order_line with a currency code; floats never touch"
        " money.",
        ("money", "domain"),
        f"project:{PROJECT}",
        "rule",
    )
    if not (await services.listing.counts()).knowledge:
        await services.knowledge.store(known, CLAUDE)
    for title, age, turns in CONVERSATIONS:
        at = datetime.now(UTC) - age
        drafts = [
            TurnDraft(role, text, time=(at + timedelta(minutes=3 * number)).isoformat())
            for number, (role, text) in enumerate(turns)
        ]
        await services.sessions.add_exchange(
            SessionDraft(title=title, project=PROJECT), drafts, CLAUDE
        )
    await services.embedding.settled()
    await look_through(services)


async def look_through(services: Services) -> None:
    """Look every conversation through, as if it had rested."""
    while await services.inbox.look_through(datetime.now(UTC) + timedelta(hours=1)):
        pass


def inbox_page(window: MainWindow) -> InboxPage:
    """Go to the inbox."""
    window.show_page("inbox")
    page = window.current_page
    assert isinstance(page, InboxPage)
    return page


async def inbox_pictures(gallery: "Gallery", window: MainWindow, services: Services) -> None:
    """Picture the inbox: full, narrow, edited, merged, dark, and empty."""
    await talk(services)
    page = inbox_page(window)
    await gallery.take("inbox-light", window, (1, 2))
    gallery.look("dark")
    await gallery.take("inbox-dark", window, (1, 2))
    gallery.look("light")
    for row in range(page.model.rowCount()):
        proposal = page.model.at(row)
        if proposal is not None and proposal.like_uuid:
            page.list.select(row)
            await gallery.take("inbox-alike", window, (1, 2))
            break
    page.list.select(1)
    await gallery.settle()
    page.pane.view.source._on_around()
    await gallery.take("inbox-around", window)
    page.edit()
    await gallery.take("inbox-edit", window)
    page.pane.leave()
    page.pane.choose_target()
    await gallery.take("inbox-merge", window)
    page.pane.leave()
    window.resize(1024, 640)
    await gallery.take("inbox-1024", window)
    window.resize(800, 640)
    await gallery.take("inbox-800", window)
    page._on_chosen()
    await gallery.take("inbox-800-open", window)
    page._leave_pane()
    window.resize(1280, 800)
    gallery.look("light", 200)
    await gallery.take("inbox-200", window)
    gallery.look("light", 100)
    page.accept()
    await gallery.take("inbox-accepted", window)
    while page.model.rowCount():
        page.drop()
        await gallery.settle(3)
    await gallery.take("inbox-empty", window, (1, 2))
